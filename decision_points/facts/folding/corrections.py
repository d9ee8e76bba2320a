"""
What sources took the place of in their own word, before anything is compared (RF-13).

By name, an assertion replaces another whole, whenever either holds. By time, what a source said
later replaces another value that it said earlier, among what holds; the same value again confirms
the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ..assertions import Recorded, Value, When
from ..outcomes import Witness
from .claims import Claim, future_dated, moment, readable
from .ranks import Moment, Rank, Rules


class Given(NamedTuple):
    """
    What is said of a fact.

    Attributes:
        every: All of it, by id.
        replaced: The id of each that is corrected by name → that of what replaces it.

    """

    every: Mapping[str, Recorded]
    replaced: Mapping[str, str]

    @property
    def left(self) -> list[Recorded]:
        """What is not replaced."""
        return [one for name, one in self.every.items() if name not in self.replaced]

    @property
    def witnesses(self) -> list[Witness]:
        """Why what is replaced does not count."""
        pairs = self.replaced.items()
        return [Witness(lost=name, to=by, on="correction") for name, by in pairs]


def replaced_by_name(
    said: Mapping[str, Recorded], rules: Rules
) -> tuple[dict[str, str], list[str]]:
    """
    Tell what is corrected by name, by one who may (RF-14).

    What cannot be read is left out altogether, and replaces nothing (RF-15).

    Returns:
        The id of each that is replaced → that of what replaces it; and flags of those that name
        what they may not correct.

    """
    replaced: dict[str, str] = {}
    notes: list[str] = []
    for name, one in said.items():
        target = said.get(one.assertion.corrects) if one.assertion.corrects else None
        if target is None or not readable(one.assertion, rules):
            continue
        if rules.registry.may(one.assertion.source, target.assertion.source):
            replaced[target.id] = min(name, replaced.get(target.id, name))
        else:
            notes.append(f"not_allowed:{name}")
    return replaced, notes


def last_words(
    claims: list[Claim], rules: Rules, at: int
) -> tuple[list[Claim], list[tuple[Claim, str]]]:
    """
    Leave out what its own source corrected later.

    Where the world changes, two that hold from different times are no correction but a
    succession; and a word that does not say from when it holds speaks of the time at which it was
    observed, so it corrects nothing that was to hold only from a later time on. To read today's
    price again does not take back one that is announced. An observation that is dated ahead has
    no known time (RF-43), and corrects nothing.

    Args:
        claims: What holds.
        rules: Of the attribute.
        at: The point in time, in microseconds.

    Returns:
        What is left; and what is not, with the id of what corrects it.

    """
    by_source: defaultdict[str, list[Claim]] = defaultdict(list)
    for one in claims:
        by_source[one.said.source].append(one)
    corrected = {
        one.id: (one, by)
        for several in by_source.values()
        if len(several) > 1
        for one, by in _corrected(several, at, timed=rules.timed)
    }
    if not corrected:
        return claims, []
    return [one for one in claims if one.id not in corrected], list(corrected.values())


class _Word(NamedTuple):
    """What a source said at a known time, in microseconds: between *start* and *last*."""

    claim: Claim
    start: int
    last: int


def _corrected(claims: list[Claim], at: int, *, timed: bool) -> Iterable[tuple[Claim, str]]:
    if all(one.value == claims[0].value for one in claims):
        return
    pools: defaultdict[When | None, list[_Word]] = defaultdict(list)
    for word in _words(claims, at):
        pools[word.claim.said.valid_from if timed else None].append(word)
    latest = {since: _latest(pool) for since, pool in pools.items()}
    overall = _latest([one for pair in latest.values() for one in pair])
    undated = latest.get(None, ())
    for since, pool in pools.items():
        of_then = overall if since is None else latest[since]
        for word in pool:
            now = (one for one in undated if since is None or one.start >= since.start)
            after = [one for one in (*of_then, *now) if _replaces(one, word)]
            if after:
                yield word.claim, min(after, key=_newest_first).claim.id


def _words(claims: Iterable[Claim], at: int) -> Iterable[_Word]:
    for one in claims:
        seen = one.said.observed_at
        if seen is not None and not future_dated(one.said, at, one.speaker.skew):
            yield _Word(one, seen.start, moment(seen, 0, holds=False).last)


def _replaces(one: _Word, word: _Word) -> bool:
    return one.claim.value != word.claim.value and one.start > word.last


def _latest(pool: Iterable[_Word]) -> tuple[_Word, ...]:
    """Give what was observed last, and the last that says something else."""
    ranked = sorted(pool, key=_newest_first)
    other = next((one for one in ranked if one.claim.value != ranked[0].claim.value), None)
    return (*ranked[:1], *(() if other is None else (other,)))


def _newest_first(one: _Word) -> tuple[int, str]:
    return -one.start, one.claim.id


def joined(claims: list[Claim], rules: Rules) -> None:
    """
    Let what a source read again and again have one time: its first, or its last (RF-30).

    It changes the ranks of *claims*.
    """
    runs: defaultdict[tuple[str, Value, When | None], list[Claim]] = defaultdict(list)
    for one in claims:
        seen = one.rank.times.seen
        if seen is not None and not seen.holds:
            runs[one.said.source, one.value, one.said.valid_from].append(one)
    pick = max if rules.attribute.basis == "confirmed" else min
    for run in runs.values():
        if len(run) > 1:
            seen = _between([one.rank.times.seen for one in run], pick)
            for one in run:
                one.rank = Rank(one.rank.standing, one.rank.times._replace(seen=seen))


def _between(
    moments: Iterable[Moment | None], pick: Callable[[Iterable[int]], int]
) -> Moment | None:
    known = [one for one in moments if one is not None]
    start, last = pick(one.start for one in known), pick(one.last for one in known)
    return known[0]._replace(start=start, last=last)
