"""The fold of a fact that is a set: each member is asserted and denied by itself (RF-04)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import msgspec

from ..assertions import Recorded, Value
from ..outcomes import Candidate, Outcome, Trace, dispute_id
from .claims import read
from .ranks import Rules
from .settled import Settled
from .settling import Asked, case
from .single import confirmed, fold_one


def fold_set(asked: Asked, every: Mapping[str, Recorded], notes: Collection[str]) -> Outcome:
    """
    Work out which members of a set hold; it is in dispute while any of them is.

    The candidates of a member in dispute are its value and, in the form `deny`, `ended` or
    `unknown`, the same text; a resolution chooses one of them, and so settles that member.

    Args:
        asked: What is asked.
        every: What is said about it, by id; what names no member is said of each.
        notes: Flags of what does not count.

    """
    members: defaultdict[Value, dict[str, Recorded]] = defaultdict(dict)
    of_all: dict[str, Recorded] = {}
    unread: dict[str, Recorded] = {}
    for name, one in every.items():
        said = one.assertion
        member = read(said, asked.rules.attribute, asked.rules.policy)
        if member is not None:
            members[member][name] = one
        else:
            (unread if said.raw else of_all)[name] = one
    cases = {one: case(asked, members[one] | of_all, one) for one in sorted(members)}
    settled = {one: found.settled for one, found in cases.items() if found.settled is not None}
    flags = {*notes, *(f"unreadable:{name}" for name in unread)}
    if not settled:
        said_of_all = {name: one for name, one in every.items() if name not in unread}
        return fold_one(asked, said_of_all, flags)
    flags.update(note for found in cases.values() for note in found.notes)
    confirmations = [confirmed(found, asked.at) for found in cases.values()]
    known = [one for one in confirmations if one is not None]
    return msgspec.structs.replace(
        _outcome(asked, settled, flags), last_confirmed=min(known, default=None)
    )


def _outcome(asked: Asked, settled: Mapping[Value, Settled], notes: Collection[str]) -> Outcome:
    open_ = [one for one in settled.values() if one.value is None]
    ruled = [one for one in settled.values() if one.receipt]
    holding = {member: one for member, one in settled.items() if one.value == member}
    listed = open_ or ruled or list(holding.values())
    candidates = sorted((one for case_ in listed for one in case_.candidates), key=_id)
    last = max(ruled, key=lambda one: one.receipt) if ruled and not open_ else Settled()
    dispute = last.dispute
    if open_:
        dispute = dispute_id(asked.key, tuple(one.id for one in candidates))
    return Outcome(
        key=asked.key,
        status="disputed" if open_ else "resolved",
        members=tuple(holding),
        decided_by="" if open_ else _decided_by(settled.values(), asked.rules),
        reason="denied" if open_ else "",
        candidates=tuple(candidates),
        dispute=dispute,
        receipt=last.receipt,
        policy=asked.rules.policy.version,
        registry=asked.rules.registry.version,
        trace=_trace(settled.values(), notes),
    )


def _id(one: Candidate) -> str:
    return one.id


def _decided_by(settled: Iterable[Settled], rules: Rules) -> str:
    """Give what decided last: a resolution, else the last key that some member needed."""
    order = ("unanimous", "correction", *rules.sequence, "evidence", "succession", "recency")
    order = (*order, "compatible", "tolerance", "corroboration", "resolution")
    return max((one.decided_by for one in settled), key=order.index)


def _trace(settled: Iterable[Settled], notes: Collection[str]) -> Trace:
    several = tuple(settled)
    unbeaten = {name for one in several for name in one.unbeaten}
    beaten = {one.lost: one for case_ in several for one in sorted(case_.beaten, reverse=True)}
    return Trace(
        unbeaten=tuple(sorted(unbeaten)),
        beaten=tuple(sorted(one for name, one in beaten.items() if name not in unbeaten)),
        runner_up=min((one.runner_up for one in several if one.runner_up), default=""),
        ties=tuple(sorted(tie for one in several for tie in one.ties)),
        notes=tuple(sorted(notes)),
        dissent=tuple(sorted(pair for one in several for pair in one.dissent)),
    )
