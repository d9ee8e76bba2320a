"""Where each role stands in a round, and what of it the others are shown."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, TypeAlias, cast

import msgspec

from ..drafts import POINTS, fenced
from ..measures.positions import Position, position_hash
from ..roles import Role
from ..turns import Turn
from .retrieval import CITATION

TOLD = 600  # characters of one line of a peer; what somebody says is shown, not all that he says


class Stand(msgspec.Struct, frozen=True, kw_only=True):
    """
    What one role holds at the end of a round.

    Attributes:
        member: Whose it is.
        round: In which it was said; earlier than the round it is counted in: stale.
        recommendation: One of the question's options.
        premises: What it rests on.
        risks: What is feared.
        timing: When.
        confidence: In percent; 0 where it was cut off before it.
        position: In two or three sentences.
        evidence: What is cited.
        divergences: Where it differs from others, by their names.
        keeps: Whether it kept its position: `yes`, `no`, `partly`; empty in a first round.
        partial: It was cut off, and counts for the recommendation alone (AM-26).

    """

    member: str
    round: int
    recommendation: str
    premises: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    timing: str = ""
    confidence: float = 0.0
    position: str = ""
    evidence: tuple[str, ...] = ()
    divergences: tuple[Mapping[str, Any], ...] = ()
    keeps: str = ""
    partial: bool = False

    @property
    def canonical(self) -> Position:
        """What tells a repetition; confidence and prose do not (AM-16)."""
        return Position(
            recommendation=self.recommendation,
            premises=self.premises,
            risks=self.risks,
            timing=self.timing,
        )


Stands = Mapping[str, Stand]
"""Member → where it stands."""

Veil: TypeAlias = Callable[[str], str]
"""Takes out of a text who said it."""


def stand_of(turn: Turn, before: Stand | None, names: Mapping[str, str]) -> Stand:
    """
    Read where a role stands from what it said.

    Args:
        turn: A usable one.
        before: Where it stood; a refinement leaves alone what is agreed on (DD-32).
        names: Label of the others, as this role saw them → their names.

    """
    said = {name: value for name, value in (turn.said or {}).items() if value is not None}
    kept = {} if before is None else _kept(before)
    fresh = {name: said[name] for name in Stand.__struct_fields__ if name in said}
    fresh |= {
        name: tuple(fresh[name]) for name in ("premises", "risks", "evidence") if name in said
    }
    if "divergences" in said:
        fresh["divergences"] = tuple(_named(one, names) for one in said["divergences"])
    fresh.setdefault("confidence", 0.0)
    partial = turn.ending == "partial"
    given: dict[str, Any] = {
        **kept,
        **fresh,
        "member": turn.member,
        "round": turn.round,
        "partial": partial,
    }
    return Stand(**given)


def _kept(before: Stand) -> dict[str, Any]:
    return {
        "recommendation": before.recommendation,
        "premises": before.premises,
        "risks": before.risks,
        "timing": before.timing,
    }


def _named(divergence: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    label = divergence["label"]
    return {**divergence, "label": names.get(label, label)}


def state_hash(stands: Stands) -> str:
    """One hash for one state of the positions, whoever spoke first (DD-71, AM-16)."""
    return position_hash({member: one.canonical for member, one in stands.items()})


def changed(before: Stands, now: Stands) -> int:
    """Count the roles whose position is another one than before, both being known (DD-78)."""
    moved = [name for name in now if name in before and _moved(before[name], now[name])]
    return len(moved)


def _moved(before: Stand, now: Stand) -> bool:
    return state_hash({"": before}) != state_hash({"": now})


def signs(before: Stands, now: Stands) -> tuple[str, ...]:
    """
    List the signs of a loop between two rounds (DD-74); they are advice and decide nothing.

    `same_positions`, `same_arguments`, `same_confidence`.
    """
    both = [(before[name], now[name]) for name in now if name in before]
    told = {
        "same_positions": all(not _moved(*pair) for pair in both),
        "same_arguments": all(old.position == new.position for old, new in both),
        "same_confidence": all(old.confidence == new.confidence for old, new in both),
    }
    return tuple(sign for sign, holds in told.items() if both and holds)


# --- what others are shown ---------------------------------------------------------------


def labels(members: Sequence[str], reader: str, key: tuple[object, ...]) -> Mapping[str, str]:
    """
    Name the others for *reader*: label → member, in an order that only *key* decides (BR-14).

    Neither the seat nor who answered first can be told from it.
    """
    others = [one for one in members if one != reader]
    others.sort(key=lambda one: hashlib.sha256(repr((*key, reader, one)).encode()).digest())
    return {_letters(at): member for at, member in enumerate(others)}


def _letters(at: int) -> str:
    head, last = divmod(at, len(ascii_uppercase))
    return (_letters(head - 1) if head else "") + ascii_uppercase[last]


def peers(
    stands: Stands, named: Mapping[str, str], role: Role, veil: Veil = str
) -> list[Mapping[str, Any]]:
    """
    Give the rows of the table that *role* is shown: labels, never names, models or vendors.

    A role that has said nothing has no row. What others said is in fences, and goes through *veil*
    first.
    """
    rows = [(label, stands[member]) for label, member in named.items() if member in stands]
    return [_row(label, stand, named, role, veil) for label, stand in rows]


def _row(
    label: str, stand: Stand, named: Mapping[str, str], role: Role, veil: Veil
) -> Mapping[str, Any]:
    back = {member: one for one, member in named.items()}
    told = [
        f"{one['about']} ({one['kind']}), on {back.get(one['label'], 'you')}: {one['point']}"
        for one in stand.divergences[:POINTS]
    ]
    return {
        "label": label,
        "recommendation": stand.recommendation,
        "position": fenced(veil(stand.position)),
        "premises": lines(stand.premises, veil),
        "risks": lines(stand.risks, veil),
        "timing": fenced(veil(stand.timing), TOLD),
        "confidence": stand.confidence,
        "evidence": list(visible(stand.evidence, role, veil)),
        "divergences": lines(told, veil),
    }


def lines(texts: Sequence[str], veil: Veil = str) -> list[str]:
    """Give *texts* in fences, as many and as long as may be passed on (BR-14)."""
    return [fenced(veil(one), TOLD) for one in texts[:POINTS]]


def visible(evidence: Sequence[str], role: Role, veil: Veil = str) -> tuple[str, ...]:
    """
    Give what is cited, without what *role* may not see; what was retrieved here everybody may.

    A look-up's citation and an id that the role was given stand as they are; anything else is what
    somebody wrote, in fences.
    """
    if role.evidence is not None:
        ids = role.evidence
        return tuple(one for one in evidence if one in ids or _is_citation(one))[:POINTS]
    return tuple(one if _is_citation(one) else fenced(veil(one), TOLD) for one in evidence[:POINTS])


def _is_citation(text: str) -> bool:
    return CITATION.fullmatch(text) is not None


def state_for(role: Role, state: object, field: str = "evidence") -> object:
    """
    Give the *state*, in plain values, as *role* may see it.

    Entries of its field *field* that have an `id` which the role may not see are left out.
    """
    if role.evidence is None or not isinstance(state, Mapping):
        return state
    given = cast("Mapping[str, Any]", state)
    listed = given.get(field)
    if not isinstance(listed, list | tuple):
        return given
    entries = cast("Sequence[Any]", listed)
    return {**given, field: [one for one in entries if _may_see(role, one)]}


def evidence_ids(state: object, field: str = "evidence") -> frozenset[str]:
    """Name the entries of the field *field* of a *state* in plain values."""
    given: Any = state
    listed: Any = given.get(field) if isinstance(state, Mapping) else None
    entries: list[Any] = cast("Any", listed) if isinstance(listed, list) else []
    ids: list[Any] = [one["id"] for one in entries if isinstance(one, dict) and "id" in one]
    return frozenset(one for one in ids if isinstance(one, str) and one)


def _may_see(role: Role, entry: object) -> bool:
    if not isinstance(entry, Mapping) or "id" not in entry:
        return True
    return role.evidence is None or cast("Mapping[str, Any]", entry)["id"] in role.evidence
