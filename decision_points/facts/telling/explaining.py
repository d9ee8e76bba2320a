"""Why a fact stands as it does: from an outcome to its explanation (RF-63)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..times import written
from .crediting import credits_of
from .escaping import escaped
from .explanation import Claim, Counts, Explanation, Membership, Option, Ruling
from .sentences import sentence
from .spelling import SAID_OF_MEMBERS, as_read, spellings, spelt_apart
from .words import LANGUAGES

if TYPE_CHECKING:
    from ..assertions import Assertion, Recorded, Value
    from ..entries import Receipt
    from ..folding import Living
    from ..outcomes import Candidate, Outcome
    from ..policy import Policy
    from ..registry import Registry
    from .crediting import Credit

WHOLE = 2000  # characters of a value that is the subject itself


def explanation_of(  # noqa: PLR0913 - what a reading is made of
    outcome: Outcome,
    living: Living | Iterable[Recorded],
    registry: Registry,
    *,
    policy: Policy | None = None,
    stale: str = "",
    receipt: Receipt | None = None,
    valid_at: int | None = None,
    known_at: int | None = None,
) -> Explanation:
    """
    Explain *outcome*.

    Args:
        outcome: As it was folded.
        living: What it was folded from.
        registry: Under which.
        policy: The same policy; None: what was written is as it reads it.
        stale: Why it is stale; empty: it is not.
        receipt: The resolution that counts; None: none does.
        valid_at: The point in time that was asked for, in microseconds; None: now.
        known_at: Up to when was looked, in microseconds; None: now.

    """
    said = living if isinstance(living, Iterable) else living.assertions
    held = tuple({one.id: one for one in as_read(said, policy)}.values())
    how = spellings(outcome, held)
    credited = credits_of(outcome, _as_living(living), policy)
    values = {
        *(outcome.value, *(outcome.members or ()), *credited),
        *(one.value for one in outcome.candidates),
        *(one.assertion.value for one in held),
    }
    every = sorted(one for one in values if one is not None)
    shown = {language: _In(spelt_apart(every, how, language, WHOLE)) for language in LANGUAGES}
    told = {
        language: Explanation(
            **_known(outcome, show),
            memberships=tuple(_membership(one, its, show) for one, its in credited.items()),
            claims=_claims(outcome, held, registry, show),
            stale=stale,
            resolution=None if receipt is None else _ruling(receipt),
            valid_at="" if valid_at is None else written(valid_at),
            known_at="" if known_at is None else written(known_at),
        )
        for language, show in shown.items()
    }
    sentences = {language: sentence(one, language) for language, one in told.items()}
    return msgspec.structs.replace(told["en"], sentences=sentences)


class _In(NamedTuple):
    """How values are written in a language."""

    shown: Mapping[Value, str]

    def text(self, value: Value) -> str:
        """Write *value*."""
        return self.shown[value]


def _as_living(given: Living | Iterable[Recorded]) -> Living:
    from ..folding import Living

    return given if isinstance(given, Living) else Living(assertions=tuple(given))


def _membership(value: Value, credit: Credit, show: _In) -> Membership:
    return Membership(
        member=show.text(value),
        holds=value.form not in SAID_OF_MEMBERS,
        sources=tuple(map(escaped, credit.sources)),
        resolution=None if credit.receipt is None else _ruling(credit.receipt),
    )


def _known(outcome: Outcome, show: _In) -> dict[str, Any]:
    """Give what an outcome says of itself."""
    trace, members = outcome.trace, outcome.members
    return {
        "key": str(outcome.key),
        "status": outcome.status,
        "value": None if outcome.value is None else show.text(outcome.value),
        "members": None if members is None else tuple(map(show.text, members)),
        "decided_by": outcome.decided_by,
        "reason": outcome.reason,
        "candidates": tuple(_option(one, show) for one in outcome.candidates),
        "runner_up": trace.runner_up,
        "ties": trace.ties,
        "dissent": trace.dissent,
        "notes": tuple(escaped(one) for one in trace.notes),
        "dispute": outcome.dispute,
        "policy": outcome.policy,
        "registry": outcome.registry,
    }


def _option(candidate: Candidate, show: _In) -> Option:
    return Option(
        id=candidate.id,
        form=candidate.value.form,
        value=show.text(candidate.value),
        sources=tuple(map(escaped, candidate.sources)),
        voices=candidate.voices,
    )


def _ruling(receipt: Receipt) -> Ruling:
    return Ruling(
        id=receipt.id,
        by=escaped(receipt.resolver),
        party=receipt.party,
        at=written(receipt.at),
        reason=escaped(receipt.reason),
    )


def _claims(
    outcome: Outcome, held: Sequence[Recorded], registry: Registry, show: _In
) -> tuple[Claim, ...]:
    beaten = {one.lost: (one.on, one.to) for one in outcome.trace.beaten}
    unbeaten = frozenset(outcome.trace.unbeaten)

    def counted(one: Recorded) -> tuple[Counts, str, str]:
        if outcome.receipt and one.assertion.value == outcome.value:
            return "unbeaten", "", ""
        if one.id in unbeaten:
            lost = outcome.receipt and outcome.value is not None
            return ("beaten", "resolution", outcome.receipt) if lost else ("unbeaten", "", "")
        return ("beaten", *beaten[one.id]) if one.id in beaten else ("left_out", "", "")

    made = [_claim(one, counted(one), registry, show) for one in held]
    order = {"unbeaten": 0, "beaten": 1, "left_out": 2}
    return tuple(sorted(made, key=lambda one: (order[one.counts], one.source, one.id)))


def _claim(one: Recorded, counted: tuple[Counts, str, str], registry: Registry, show: _In) -> Claim:
    said = one.assertion
    times = (said.observed_at, said.valid_from, said.valid_to)
    observed, since, until = ("" if at is None else written(at) for at in times)
    return Claim(
        id=one.id,
        kind=said.kind,
        says=_says(said, show),
        raw=escaped(said.raw),
        source=escaped(said.source),
        level=registry.level(said.source, said.key.attribute),
        writer=escaped(said.writer),
        evidence=said.evidence,
        confidence=said.confidence,
        observed_at=observed,
        valid_from=since,
        valid_to=until,
        source_ref=escaped(said.source_ref),
        counts=counted[0],
        on=counted[1],
        by=counted[2],
    )


def _says(said: Assertion, show: _In) -> str:
    if said.value is not None:
        return show.text(said.value)
    return escaped(said.raw) if said.kind == "value" else ""
