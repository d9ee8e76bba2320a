"""
What sources took the place of in their own word, before anything is compared (RF-13).

By name, an assertion replaces another whole, whenever either holds. By time, what a source said
later replaces another value that it said earlier, among what holds; the same value again confirms
the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from ..assertions import Recorded, Value, When
from ..registry import Registry
from .claims import Claim, moment
from .ranks import Moment, Rank, Rules


def replaced_by_name(
    said: Mapping[str, Recorded], registry: Registry
) -> tuple[dict[str, str], list[str]]:
    """
    Tell what is corrected by name, by one who may (RF-14).

    Returns:
        The id of each that is replaced → that of what replaces it; and flags of those that name
        what they may not correct.

    """
    replaced: dict[str, str] = {}
    notes: list[str] = []
    for name, one in said.items():
        target = said.get(one.assertion.corrects) if one.assertion.corrects else None
        if target is None:
            continue
        if registry.may(one.assertion.source, target.assertion.source):
            replaced[target.id] = min(name, replaced.get(target.id, name))
        else:
            notes.append(f"not_allowed:{name}")
    return replaced, notes


def last_words(claims: list[Claim], rules: Rules) -> tuple[list[Claim], list[tuple[Claim, str]]]:
    """
    Leave out what its own source corrected later.

    Two that hold from different times are no correction but a succession, where the world changes.

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
        for one, by in _corrected(several, timed=rules.timed)
    }
    if not corrected:
        return claims, []
    return [one for one in claims if one.id not in corrected], list(corrected.values())


def _corrected(claims: list[Claim], *, timed: bool) -> Iterable[tuple[Claim, str]]:
    if all(one.value == claims[0].value for one in claims):
        return
    pools: defaultdict[When | None, list[Claim]] = defaultdict(list)
    for one in claims:
        if one.said.observed_at is not None:
            pools[one.said.valid_from if timed else None].append(one)
    latest = {since: _latest(pool) for since, pool in pools.items()}
    overall = _latest([one for pair in latest.values() for one in pair])
    for one in claims:
        if one.said.observed_at is None:
            continue
        since = one.said.valid_from if timed else None
        rivals = overall if since is None else (*latest[since], *latest.get(None, ()))
        end = moment(one.said.observed_at, 0, holds=False).last
        after = [other for other in rivals if other.value != one.value and _start(other) > end]
        if after:
            yield one, min(after, key=_newest_first).id


def _latest(pool: Iterable[Claim]) -> tuple[Claim, ...]:
    """Give the one that was observed last, and the last that says something else."""
    ranked = sorted(pool, key=_newest_first)
    other = next((one for one in ranked if one.value != ranked[0].value), None)
    return (*ranked[:1], *(() if other is None else (other,)))


def _newest_first(one: Claim) -> tuple[int, str]:
    return -_start(one), one.id


def _start(one: Claim) -> int:
    return one.said.observed_at.start if one.said.observed_at is not None else 0


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
