"""What a fact comes to for one who asks: its value, or why there is none, and how fresh it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from .assertions import Input, Recorded, Value
from .dependents import stale_of
from .entries import Erased, Stored
from .errors import Refused
from .folding import Living, fold, living
from .keys import FactKey
from .outcomes import Candidate, Outcome, Status
from .telling.crediting import Credit, credits_of
from .telling.spelling import spellings
from .values import plain

if TYPE_CHECKING:
    from .ledger.view import View

PROVISIONAL = ("most_voices", "newest")
"""How a value may be shown while a fact is disputed, marked as such (RF-32)."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """
    A fact as it was read (RF-60).

    Attributes:
        key: The fact.
        status: Whether there is a value, and why not.
        value: The value as plain Python; a text as its source wrote it. None unless resolved, or
            `provisional`.
        outcome: What it comes to, with its candidates, versions and trace.
        stale: Why it should not be trusted: `age` (RF-62), `input_changed` (RF-66), `redacted`
            (RF-48); empty: no reason.
        valid_at: The point in time, in microseconds since the epoch.
        known_at: What was recorded until then counts, in microseconds; asked for again, with the
            same `valid_at`, the same is read.
        last_confirmed: When the value was last said to hold, in microseconds; None: it is not
            known, or there is none.
        provisional: The rule by which there is a value although it is disputed; empty: none.
        spelt: How sources wrote texts.
        credits: Member of a set → who affirms it, and the resolution that settled it.
        sources: Whose word it rests on, down to the roots of what was derived.

    """

    key: FactKey
    status: Status
    value: Any = None
    outcome: Outcome
    stale: str = ""
    valid_at: int
    known_at: int
    last_confirmed: int | None = None
    provisional: str = ""
    spelt: Mapping[Value, str] = {}
    credits: Mapping[Value, Credit] = {}
    sources: tuple[str, ...] = ()

    @property
    def dissent(self) -> tuple[tuple[str, int], ...]:
        """Candidate ids, and how many lineages say so against what was resolved (RF-33)."""
        return self.outcome.trace.dissent

    @property
    def standing(self) -> str:
        """How it stands, in words: `disputed (tie)`."""
        from .telling.lines import standing

        return standing(self.status, self.outcome.reason, self.stale)

    @property
    def fresh(self) -> bool:
        """Whether it is resolved, and nothing speaks against trusting it."""
        return self.status == "resolved" and not self.stale

    def as_input(self) -> Input:
        """Give it as what something else is derived from."""
        return Input(key=self.key, outcome=self.outcome.hash, sources=self.sources)

    def text(self, language: str = "en") -> str:
        """
        Tell it as a prompt takes it; a dispute is always told (RF-61).

        Raises:
            DeclarationError: Another language than `en` and `pt`.

        """
        from .telling.lines import prompt

        return prompt(self, language)


def read(view: View, key: FactKey, at: int, provisional: str = "") -> Reading:
    """
    Read a fact.

    Args:
        view: What is known.
        key: The fact.
        at: The point in time, in microseconds.
        provisional: A rule of `PROVISIONAL`, for a value while it is disputed; empty: none.

    Raises:
        Refused: There is no such rule.

    """
    return _of_story(view, view.settings.aliases.key(key), view.story(key), at, provisional)


def read_all(view: View, at: int, prefix: str = "") -> Iterator[Reading]:
    """
    Read every fact of which something was said, a page of them at a time.

    Args:
        view: What is known.
        at: The point in time, in microseconds.
        prefix: How their written keys begin.

    """
    for key, story in view.stories(prefix):
        yield _of_story(view, key, story, at, "")


def _of_story(
    view: View, key: FactKey, story: Iterable[Stored], at: int, provisional: str
) -> Reading:
    story = tuple(story)
    erased = max((one.recorded_at for one in story if isinstance(one.entry, Erased)), default=None)
    counts = living(story, view.settings.registry)
    return reading(view, key, counts, at, provisional, erased)


def reading(
    view: View,
    key: FactKey,
    counts: Living,
    at: int,
    provisional: str = "",
    erased: int | None = None,
) -> Reading:
    """
    Read a fact of which it is known what counts.

    Args:
        view: What is known.
        key: The one that stands for it.
        counts: What counts of it.
        at: The point in time, in microseconds.
        provisional: As of `read`.
        erased: When content about it was erased last, in microseconds; None: never.

    """
    policy, registry = view.versions()
    outcome = fold(key, counts, policy, registry, at)
    said = _held(outcome, counts.assertions)
    spelt = spellings(outcome, counts.assertions, policy)
    chosen = _provisional(outcome, counts, provisional) if provisional else None
    resolved = outcome.status == "resolved"
    confirmed = (outcome.last_confirmed or _taken_in(said)) if resolved else None
    attribute = policy.attribute(key.attribute)
    limit = None if attribute is None else attribute.freshness
    aged = limit is not None and confirmed is not None and at - confirmed > limit
    return Reading(
        key=key,
        status=outcome.status,
        value=_plain(outcome, spelt) if chosen is None else _shown(chosen.value, spelt),
        outcome=outcome,
        stale=_stale(view, key, counts, at, erased) or ("age" if aged else ""),
        valid_at=at,
        known_at=view.recorded_at if view.known is None else view.known,
        last_confirmed=confirmed,
        provisional=provisional if chosen is not None else "",
        spelt=spelt,
        credits=credits_of(outcome, counts, policy),
        sources=_roots(said),
    )


def _held(outcome: Outcome, said: Iterable[Recorded]) -> list[Recorded]:
    """Give the assertions that what it comes to rests on: those that say the same."""
    named = {name for one in outcome.candidates for name in one.assertions}
    values = {outcome.value, *(outcome.members or ())} - {None}
    return [
        one
        for one in said
        if (one.assertion.value in values if outcome.status == "resolved" else False)
        or (one.id in named and (outcome.status != "resolved" or not values))
    ] or [one for one in said if one.id in named]


def _plain(outcome: Outcome, spelt: Mapping[Value, str]) -> object:
    if outcome.members is not None and outcome.status == "resolved":
        return tuple(_shown(one, spelt) for one in outcome.members)
    return None if outcome.value is None else _shown(outcome.value, spelt)


def _shown(value: Value, spelt: Mapping[Value, str]) -> object:
    return spelt[value] if value in spelt else plain(value)


def _taken_in(said: Iterable[Recorded]) -> int | None:
    """Give when it was last written, where nobody says when it was observed."""
    return max((one.recorded_at for one in said), default=None)


def _roots(said: Iterable[Recorded]) -> tuple[str, ...]:
    """Name whose word it is; of what was derived, whose word that rests on (RF-36)."""
    found: set[str] = set()
    for one in said:
        inputs = one.assertion.derived_from
        found.update(name for it in inputs for name in it.sources)
        if not inputs:
            found.add(one.assertion.source)
    return tuple(sorted(found))


def _stale(view: View, key: FactKey, counts: Living, at: int, erased: int | None) -> str:
    if counts.redacted and not any(one.recorded_at > (erased or 0) for one in counts.assertions):
        return "redacted"
    if any(one.assertion.derived_from for one in counts.assertions):
        return stale_of(view, key, at)
    return ""


def _provisional(outcome: Outcome, counts: Living, rule: str) -> Candidate | None:
    """Choose among the candidates by a rule that was asked for; None: it does not decide."""
    if rule not in PROVISIONAL:
        fix = f"There are {' and '.join(PROVISIONAL)}"
        raise Refused("bad_provisional", "there is no such rule", fix)
    if outcome.status != "disputed":
        return None
    times = {
        one.id: one.assertion.observed_at.start
        for one in counts.assertions
        if one.assertion.observed_at is not None
    }

    def rank(one: Candidate) -> int:
        if rule == "most_voices":
            return one.voices
        return max((times[name] for name in one.assertions if name in times), default=-1)

    best = max(map(rank, outcome.candidates), default=-1)
    first = [one for one in outcome.candidates if rank(one) == best and best >= 0]
    return first[0] if len(first) == 1 and first[0].value.form != "kind" else None
