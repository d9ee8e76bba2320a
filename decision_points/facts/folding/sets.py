"""The fold of a fact that is a set: each member is asserted and denied by itself (RF-04)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping

import msgspec

from ..assertions import Recorded, Value
from ..outcomes import Candidate, Outcome, Trace, candidate_id, dispute_id
from .claims import Claim, Present, present, read, visible
from .corrections import Given
from .ranks import Rules
from .settled import Settled
from .settling import Asked, case
from .single import confirmed, fold_one


def fold_set(asked: Asked, given: Given, notes: Collection[str]) -> Outcome:
    """
    Work out which members of a set hold; it is in dispute while any of them is.

    The candidates of a member in dispute are its value and, in the form `deny`, `ended` or
    `unknown`, the same text; a resolution chooses one of them, and so settles that member. A
    member of which nothing holds at the time is none that is asked about.

    Args:
        asked: What is asked.
        given: What is said about it; what names no member is said of each.
        notes: Flags of what does not count.

    """
    members: defaultdict[Value, list[Recorded]] = defaultdict(list)
    of_all: list[Recorded] = []
    unread: set[str] = set()
    for one in given.left:
        member = read(one.assertion, asked.rules.attribute, asked.rules.policy)
        if member is not None:
            members[member].append(one)
        elif one.assertion.raw:
            unread.add(one.id)
        else:
            of_all.append(one)
    flags = {*notes, *(f"unreadable:{name}" for name in unread)}
    here = sorted(name for name, said in members.items() if _any_visible(said, asked.at))
    if not here:
        every = {name: one for name, one in given.every.items() if name not in unread}
        return fold_one(asked, given._replace(every=every), flags)
    whole = present(of_all, asked.rules, asked.at)
    first, asked = _merged(whole.claims, asked)
    cases = {
        one: case(asked, _beside(present(members[one], asked.rules, asked.at, one), first, one))
        for one in here
    }
    settled = {one: found.settled for one, found in cases.items() if found.settled is not None}
    flags.update(whole.notes, *(found.notes for found in cases.values()))
    confirmations = [confirmed(found, asked.at) for found in cases.values()]
    known = [one for one in confirmations if one is not None]
    return msgspec.structs.replace(
        _outcome(asked, given, settled, flags), last_confirmed=min(known, default=None)
    )


def _any_visible(said: Iterable[Recorded], at: int) -> bool:
    return any(visible(one.assertion, at) for one in said)


def _merged(claims: Iterable[Claim], asked: Asked) -> tuple[list[Claim], Asked]:
    """Let one stand for all that differ in their ids alone: each is compared for each member."""
    found: defaultdict[Hashable, list[Claim]] = defaultdict(list)
    for one in claims:
        said = one.said
        found[
            one.value, said.source, said.observed_at, said.valid_from, one.rank, one.voices
        ].append(one)
    names = [sorted(one.id for one in several) for several in found.values()]
    alike = {several[0]: several for several in names if len(several) > 1}
    first = [min(several, key=lambda one: one.id) for several in found.values()]
    return first, asked._replace(alike=alike)


def _beside(here: Present, of_all: Iterable[Claim], member: Value) -> Present:
    """Put what is said of all members beside what is said of one."""
    here.claims.extend(
        msgspec.structs.replace(one, value=Value(one.said.kind, member.text)) for one in of_all
    )
    return here


def _outcome(
    asked: Asked, given: Given, settled: Mapping[Value, Settled], notes: Collection[str]
) -> Outcome:
    open_ = [one for one in settled.values() if one.value is None]
    ruled = [one for one in settled.values() if one.receipt]
    holding = {member: one for member, one in settled.items() if one.value == member}
    listed = open_ or ruled or list(holding.values())
    candidates = sorted(
        (_spread(one, asked) for each in listed for one in each.candidates), key=_id
    )
    last = max(ruled, key=lambda one: one.receipt) if ruled and not open_ else Settled()
    dispute = last.dispute
    if open_:
        dispute = dispute_id(asked.key, tuple(one.id for one in candidates))
    corrected = _corrected(given, asked.rules)
    return Outcome(
        key=asked.key,
        status="disputed" if open_ else "resolved",
        members=tuple(holding),
        decided_by="" if open_ else _decided_by(settled.values(), asked.rules, corrected),
        reason="denied" if open_ else "",
        candidates=tuple(candidates),
        dispute=dispute,
        receipt=last.receipt,
        policy=asked.rules.policy.version,
        registry=asked.rules.registry.version,
        trace=_trace(asked, given, settled.values(), notes),
    )


def _spread(one: Candidate, asked: Asked) -> Candidate:
    if asked.alike.keys().isdisjoint(one.assertions):
        return one
    return msgspec.structs.replace(one, assertions=tuple(sorted(_all(one.assertions, asked))))


def _all(names: Iterable[str], asked: Asked) -> Iterator[str]:
    """Give the ids of all that *names* stand for."""
    for name in names:
        yield from asked.alike.get(name, (name,))


def _corrected(given: Given, rules: Rules) -> bool:
    """Whether something was replaced by name by what says something else."""
    every = given.every
    return any(
        _said(every[name], rules) != _said(every[by], rules) for name, by in given.replaced.items()
    )


def _said(one: Recorded, rules: Rules) -> tuple[str, Value | None]:
    return one.assertion.kind, read(one.assertion, rules.attribute, rules.policy)


def _id(one: Candidate) -> str:
    return one.id


def _decided_by(settled: Iterable[Settled], rules: Rules, corrected: bool) -> str:  # noqa: FBT001 - a fact
    """Give what decided last: a resolution, else the last key that some member needed."""
    order = ("unanimous", "correction", *rules.sequence, "evidence", "succession", "recency")
    order = (*order, "compatible", "tolerance", "corroboration", "resolution")
    first = "correction" if corrected else "unanimous"
    return max((first, *(one.decided_by for one in settled)), key=order.index)


def _ruled(asked: Asked, settled: Iterable[Settled]) -> Iterator[tuple[str, str]]:
    """Say which resolution settled what: the choice, and its receipt."""
    for one in settled:
        if one.receipt and one.value is not None:
            yield candidate_id(asked.key, one.value), one.receipt


def _trace(asked: Asked, given: Given, settled: Iterable[Settled], notes: Collection[str]) -> Trace:
    several = tuple(settled)
    unbeaten = {name for one in several for name in one.unbeaten}
    beaten = {one.lost: one for case_ in several for one in sorted(case_.beaten, reverse=True)}
    lost = (one for name, one in beaten.items() if name not in unbeaten)
    every = [
        msgspec.structs.replace(one, lost=name) for one in lost for name in _all([one.lost], asked)
    ]
    return Trace(
        unbeaten=tuple(sorted(_all(unbeaten, asked))),
        beaten=tuple(sorted((*every, *given.witnesses))),
        runner_up=min((one.runner_up for one in several if one.runner_up), default=""),
        ties=tuple(sorted(tie for one in several for tie in one.ties)),
        notes=tuple(sorted(notes)),
        dissent=tuple(sorted(pair for one in several for pair in one.dissent)),
        ruled=tuple(sorted(_ruled(asked, several))),
    )
