"""Claims about one value, settled: by what they say, by the rules, or by a resolution."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from ..assertions import Value
from ..entries import Receipt
from ..keys import FactKey
from ..outcomes import Status, Witness, candidate_id
from .claims import Claim, Present
from .conflicts import Conflict
from .contest import Contest
from .corrections import joined, last_words
from .ranks import Rules
from .settled import Settled, candidate, voices_of

NONE: Mapping[str, Any] = {}
"""Nothing by id."""


class Case(NamedTuple):
    """
    One value in question, settled at a point in time.

    Attributes:
        settled: What it comes to; None: nothing that is said holds.
        otherwise: The status then.
        claims: What holds.
        notes: Flags.

    """

    settled: Settled | None
    otherwise: Status
    claims: list[Claim]
    notes: list[str]


class Asked(NamedTuple):
    """
    What is asked: a fact, by its rules, at a point in time.

    Attributes:
        key: The fact.
        rules: Of its attribute.
        receipts: Resolutions that were not withdrawn.
        at: The point in time, in microseconds.
        alike: Id of a claim that stands for several which differ in nothing → all of their ids.

    """

    key: FactKey
    rules: Rules
    receipts: tuple[Receipt, ...]
    at: int
    alike: Mapping[str, Collection[str]] = NONE


def case(asked: Asked, here: Present, replaced: Mapping[str, Value | None] = NONE) -> Case:
    """
    Settle the value of a fact, or whether a member is in a set.

    Args:
        asked: What is asked.
        here: What holds then.
        replaced: What was corrected by name: id → the value that it said.

    """
    if not here.claims:
        return Case(None, here.otherwise, [], here.notes)
    claims, beaten, values = here.claims, list[Witness](), dict(replaced)
    if len({one.said.source for one in claims}) < len(claims):
        claims, corrected = last_words(claims, asked.rules, asked.at)
        for one, by in corrected:
            values[one.id] = one.value
            beaten.append(Witness(lost=one.id, to=by, on="correction"))
        if asked.rules.recent:
            joined(claims, asked.rules)
    settled = _settled(asked, claims, values)
    if beaten:
        settled.beaten = [*settled.beaten, *beaten]
    return Case(settled, here.otherwise, claims, [*here.notes, *settled.notes])


def _settled(asked: Asked, claims: list[Claim], corrected: Mapping[str, Value | None]) -> Settled:
    """
    Settle what holds: by what it says, by the rules, or by a resolution.

    One value is all that is needed, whatever else is missing (RF-25). Several are decided by what
    nothing beats, and only if that is one value, or values of which one represents all (RF-24).
    """
    value = claims[0].value
    if all(one.value == value for one in claims):
        return _unanimous(asked.key, value, claims, corrected)
    conflict = Conflict(asked.key, Contest(claims, asked.rules))
    settled = conflict.settled()
    if not asked.receipts:
        return settled
    if settled.value is not None and len(conflict.left) == 1:
        return _upheld(asked, settled, claims)
    # what was resolved stays so where the candidates left would now agree well enough (RF-34)
    listed = settled if settled.value is None else conflict.listed()
    found = ruled(asked, listed, claims)
    return settled if found.value is None and settled.value is not None else found


def _upheld(asked: Asked, settled: Settled, claims: list[Claim]) -> Settled:
    """
    Let a person's word stand against rules that decide only since others were adopted (RF-71).

    It does as long as nothing is unbeaten that the person did not have before them; a new word,
    also one for a value that they refused, is new evidence, and the rules decide.
    """
    unbeaten = {name for one in settled.unbeaten for name in asked.alike.get(one, (one,))}
    known = [one for one in asked.receipts if unbeaten <= set(one.upon)]
    persons = tuple(one for one in known if one.party == "person")
    if not persons:
        return settled
    found = ruled(asked._replace(receipts=persons), settled, claims)
    if not found.receipt or found.value is None or found.value == settled.value:
        return settled
    chosen = [one for one in claims if one.value == found.value]
    one = candidate(asked.key, found.value, chosen, voices_of(chosen))
    both = sorted((*settled.candidates, one), key=lambda each: each.id)
    return msgspec.structs.replace(found, candidates=tuple(both))


def _unanimous(
    key: FactKey, value: Value, claims: list[Claim], corrected: Mapping[str, Value | None]
) -> Settled:
    others = sorted(name for name, other in corrected.items() if other != value)
    return Settled(
        value=value,
        decided_by="correction" if others else "unanimous",
        candidates=(candidate(key, value, claims, voices_of(claims)),),
        unbeaten=[one.id for one in claims],
        runner_up=others[0] if others else "",
    )


def ruled(asked: Asked, before: Settled, claims: Iterable[Claim]) -> Settled:
    """
    Let a resolution decide what the rules do not.

    One counts while every unbeaten candidate that it did not choose is one that its resolver saw,
    and something that holds still says what was chosen (RF-53). So another that says so, one
    candidate less, or one more that is beaten and only dissents, changes nothing; a new one that
    nothing beats does. Persons go before agents; where two of a kind chose differently, none
    counts (RF-77).

    Args:
        asked: What is asked.
        before: What the rules came to: a dispute.
        claims: What holds.

    """
    named = {one.id: one for one in asked.receipts}
    if not named:
        return before
    held = {candidate_id(asked.key, value): value for value in {one.value for one in claims}}
    unbeaten = set(before.unbeaten)
    left = {one.id for one in before.candidates if not unbeaten.isdisjoint(one.assertions)}
    gone = _overridden(named)
    counting = {
        name: one
        for name, one in named.items()
        if name not in gone
        and (one.until is None or asked.at < one.until)
        and one.choice in held
        and left - {one.choice} <= set(one.seen)
    }
    parties = {one.party for one in counting.values()}
    foremost = "person" if "person" in parties else "agent"
    counting = {name: one for name, one in counting.items() if one.party == foremost}
    if len({one.choice for one in counting.values()}) != 1:
        notes = [f"resolutions_differ:{name}" for name in sorted(counting)]
        return msgspec.structs.replace(before, notes=[*before.notes, *notes])
    name, one = min(counting.items(), key=lambda pair: (pair[1].at, pair[0]))
    return msgspec.structs.replace(
        before,
        value=held[one.choice],
        decided_by="resolution",
        reason="",
        receipt=name,
        dispute=one.dispute,
    )


def _overridden(receipts: dict[str, Receipt]) -> set[str]:
    """Name those whose place others took; an agent never takes a person's (RF-55)."""
    return {
        name
        for one in receipts.values()
        for name in one.overrides
        if name in receipts and not (one.party == "agent" and receipts[name].party == "person")
    }
