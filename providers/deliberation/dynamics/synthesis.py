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

from ..drafts import fenced
from ..measures.votes import weighted
from ..scopes import CALLER
from .briefs import SUMMARY
from .hall import Hall
from .minutes import Synthesis
from .penalties import adjusted
from .schemas import CRITERIA, Summary
from .stands import TOLD, Stand, Stands

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
    wanted = hall.wanted(
        hall.synthesizer,
        "synthesis",
        SUMMARY,
        {"case": hall.state, **account(hall, made)},
        (Summary, None),
        closing=True,
    )
    turn = await hall.floor.turn(wanted, _seconds(hall))
    if not turn.usable or turn.said is None:
        hall.transcript.note(f"no account was written: {turn.reason.value}")
        return made
    return msgspec.structs.replace(made, summary=turn.said["summary"])


def _seconds(hall: Hall) -> float:
    """Leave half of what is held back to the caller's fallback, where it is the caller's time."""
    scope, own = hall.floor.scope, hall.rules.timeout_per_agent
    left = scope.inner("synthesis", closing=True).left
    if left is None:
        return own
    return min(own, left / 2 if scope.limit == CALLER else left)


def account(hall: Hall, made: Synthesis) -> Mapping[str, Any]:
    """Give the debate as those are shown it who judge or tell it: no names, models or vendors."""
    labels = {name: f"role {at}" for at, name in enumerate(hall.stands, start=1)}
    positions = [
        {
            "label": labels[name],
            "round": one.round,
            "recommendation": one.recommendation,
            "position": fenced(one.position),
            "premises": [fenced(each, TOLD) for each in one.premises],
            "risks": [fenced(each, TOLD) for each in one.risks],
            "timing": fenced(one.timing, TOLD),
            "evidence": list(one.evidence),
            "confidence": one.confidence,
            "divergences": [_labelled(each, labels) for each in one.divergences],
        }
        for name, one in hall.stands.items()
    ]
    check = hall.check or {}
    return {
        "recommendation": made.recommendation,
        "tied": list(made.tied),
        "confidence": made.confidence.value,
        "rounds": len(hall.rounds),
        "convergence": check.get("score"),
        "agreed": list(made.consensus),
        "open": list(check.get("open", ())),
        "positions": positions,
    }


def _labelled(one: Mapping[str, Any], labels: Mapping[str, str]) -> Mapping[str, Any]:
    label = labels.get(one["label"], one["label"])
    return {**one, "label": label, "point": fenced(one["point"], TOLD)}
