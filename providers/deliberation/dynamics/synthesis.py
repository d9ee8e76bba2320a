"""
What a debate comes to: always there, by plain counting; a model may write an account beside it.

The recommendation is that of most roles, each by its last usable position. Where several share the
lead nobody leads: a tie is an outcome, and a critical divergence.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from ..drafts import POINTS, fenced
from ..measures.votes import weighted
from ..roles import Role
from ..scopes import CALLER
from .briefs import SUMMARY
from .citing import founded
from .critiques import SOMEBODY, shown
from .hall import Hall
from .minutes import Held, Synthesis
from .penalties import adjusted
from .schemas import CRITERIA, Summary
from .stands import TOLD, Stand, Stands, Veil, lines, state_for, visible

REDUCED = "REDUCED BY TIMEOUT"


def synthesis(hall: Hall) -> Synthesis:
    """Count where the roles stand now, and take off what the way there cost (TR-18)."""
    stands = hall.stands
    tally = weighted([one.recommendation for one in stands.values()], _weights(hall, stands))
    leads = tally.winner or ""
    check = hall.check
    over = hall.ended == "timeout_total"
    return Synthesis(
        recommendation=leads,
        tied=tally.tied,
        votes=dict(tally.counts),
        confidence=adjusted(
            _raw(hall, stands),
            hall.rules.penalties,
            timeout=over or any(held.timeouts for held in hall.rounds),
            loop=hall.ended == "loop",
            breaker=hall.breaker is not None,
            retrieval=hall.retrieval.failed,
        ),
        consensus=() if check is None else tuple(check["agreed"]),
        divergences=divergences(hall),
        conflict=tuple(name for name, one in stands.items() if one.recommendation != leads),
        stale=tuple(name for name, one in stands.items() if one.round < _current(hall)),
        tags=(REDUCED,) if over else (),
    )


def _current(hall: Hall) -> int:
    return 0 if hall.last is None else hall.last.number


def _weights(hall: Hall, stands: Mapping[str, Stand]) -> list[float]:
    """Count the skeptic as the rules say, and as one where nobody else has spoken."""
    given = [hall.weight(name) for name in stands]
    return given if any(given) else [1.0] * len(given)


def _raw(hall: Hall, stands: Mapping[str, Stand]) -> float:
    """
    Take the median of the confidences of the roles that answered in the last round.

    Where nobody did, it is that of all last positions. A part that was cut off before it has 0.
    """
    fresh: Stands = {} if hall.last is None else hall.last.fresh
    voices = fresh or stands
    counted = [one.confidence for name, one in voices.items() if hall.weight(name)]
    return statistics.median(counted or [one.confidence for one in voices.values()])


def divergences(hall: Hall) -> tuple[Mapping[str, Any], ...]:
    """
    List what is still disputed.

    What the roles say of it, as far as its criterion is open; and each open criterion with what the
    roles hold, so that it is explicit even where nobody wrote it down.
    """
    still = _open(hall)
    told = [
        {"member": name, **one}
        for name, stand in hall.stands.items()
        for one in stand.divergences
        if one["about"] in still or one["critical"]
    ]
    held = [
        {"about": criterion, "held": {name: _of(one, criterion) for name, one in found.items()}}
        for criterion in still
        if (found := hall.stands)
    ]
    return (*told, *held)


def _of(stand: Stand, criterion: str) -> Any:  # noqa: ANN401 - a text, or texts
    value = getattr(stand, criterion)
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value


def _open(hall: Hall) -> Sequence[str]:
    if not hall.applies:
        return ()
    return CRITERIA if hall.check is None else tuple(hall.check["open"])


def critical(hall: Hall) -> bool:
    """
    Whether a divergence is one that nobody here may decide over (AM-35).

    One about data or risk on the recommendation, while roles recommend different things; one that a
    role calls critical; a tie; or the host's policy calls the question itself so.
    """
    assert hall.synthesis is not None
    differ = len({one.recommendation for one in hall.stands.values()}) > 1
    said = [one for stand in hall.stands.values() for one in stand.divergences]
    graves = [one for one in said if _is_grave(one, differ=differ)]
    policy = hall.risk.critical or hall.facts.lane == "COUNCIL"
    return bool(graves) or policy or not hall.synthesis.recommendation


def _is_grave(one: Mapping[str, Any], *, differ: bool) -> bool:
    on_advice = one["about"] == "recommendation" and one["kind"] in ("data", "risk")
    return one["critical"] or (differ and on_advice)


async def summarised(hall: Hall, made: Synthesis) -> Synthesis:
    """
    Let a model write an account; without one, or where it fails, the counting stands (BR-19).

    It changes no number. It speaks from the slice that was held back, and after the total time not
    at all (AM-11).
    """
    if hall.synthesizer is None or made.tags:
        return made
    role = hall.synthesizer.role
    wanted = hall.wanted(
        hall.synthesizer,
        "synthesis",
        SUMMARY,
        {"case": state_for(role, hall.state), **account(hall, made, role)},
        (Summary, None),
        closing=True,
    )
    turn = await hall.floor.turn(wanted, _seconds(hall))
    if not turn.usable or turn.said is None:
        hall.transcript.note(f"no account was written: {turn.reason.value}")
        return made
    summary = founded(turn.said["summary"], hall.retrieval.known)
    return msgspec.structs.replace(made, summary=summary)


def _seconds(hall: Hall) -> float:
    """Leave half of what is held back to the caller's fallback, where it is the caller's time."""
    scope, own = hall.floor.scope, hall.rules.timeout_per_agent
    left = scope.inner("synthesis", closing=True).left
    if left is None:
        return own
    return min(own, left / 2 if scope.limit == CALLER else left)


def account(hall: Hall, made: Synthesis, role: Role) -> Mapping[str, Any]:
    """
    Give the debate as those are shown it who judge or tell it: no names, models or vendors.

    Last positions, and how they came about, round by round; evidence as far as *role* may see it.
    """
    labels = {name: f"role {at}" for at, name in enumerate(hall.stands, start=1)}
    check, veil = hall.check or {}, hall.veil(role)
    return {
        "recommendation": made.recommendation,
        "tied": list(made.tied),
        "confidence": made.confidence.value,
        "rounds": len(hall.rounds),
        "convergence": check.get("score"),
        "agreed": list(made.consensus),
        "open": list(check.get("open", ())),
        "positions": [_position(one, labels, role, veil) for one in hall.stands.values()],
        "history": [_round(held, labels, veil) for held in hall.rounds],
    }


def _position(one: Stand, labels: Mapping[str, str], role: Role, veil: Veil) -> Mapping[str, Any]:
    return {
        "label": labels[one.member],
        "round": one.round,
        "recommendation": one.recommendation,
        "position": fenced(veil(one.position)),
        "premises": lines(one.premises, veil),
        "risks": lines(one.risks, veil),
        "timing": fenced(veil(one.timing), TOLD),
        "evidence": list(visible(one.evidence, role, veil)),
        "confidence": one.confidence,
        "divergences": [_labelled(each, labels, role, veil) for each in one.divergences[:POINTS]],
    }


def _labelled(
    one: Mapping[str, Any], labels: Mapping[str, str], role: Role, veil: Veil
) -> Mapping[str, Any]:
    return {
        **one,
        "label": labels.get(one["label"], SOMEBODY),
        "point": fenced(veil(one["point"]), TOLD),
        "evidence": list(visible(one["evidence"], role, veil)),
    }


def _round(held: Held, labels: Mapping[str, str], veil: Veil) -> Mapping[str, Any]:
    """Tell how a round went: where each role stood, and what it made of the others (DD-30)."""
    check = held.check or {}
    return {
        "round": held.number,
        "convergence": check.get("score"),
        "open": list(check.get("open", ())),
        "unheard": len(held.silent),
        "said": [
            {
                "label": labels[name],
                "recommendation": one.recommendation,
                "confidence": one.confidence,
                **shown(held.critiques[name], labels, veil),
            }
            for name, one in sorted(held.fresh.items())
        ],
    }
