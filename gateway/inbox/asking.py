"""
A case, put to a person: the question is in the journal before anything else happens.

Where the plan says so the caller waits. What the person says in time is the decision; else the
point's policy holds, as where there is no inbox.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from ..calculators import Unfit
from ..errors import ASKS, JournalDown, SetupError
from ..recording import recorded, unfit
from ..records import HUMAN, Attempt, Decision
from ..standing.confirming import apart
from ..steps import Apart, Step

if TYPE_CHECKING:
    from ..cases import Case
    from .entries import Resolution

D = TypeVar("D", bound="Decision[Any] | None")
T = TypeVar("T")
Flow: TypeAlias = Generator[Step, Any, T]

SURE = 1.0  # how sure a person's word is to a hybrid point that merges it; no record says so


def escalated(case: Case) -> Flow[Decision[Any] | None]:
    """
    Put *case* to a person where a provider said so; None: nobody has decided yet.

    A question that cannot be kept never costs the decision: it is told, and the plan goes on.
    """
    if case.inbox is None or case.escalated is None or case.put:
        return None
    try:
        said = yield from _filed(case, "escalated")
    except (JournalDown, SetupError) as down:
        case.inbox.lost(case, down)
        case.escalated, case.down = None, down
        return None
    begun = time.perf_counter()
    said = said or (yield from _waited(case))
    return None if said is None else _decided(case, said, time.perf_counter() - begun)


def ended(case: Case, flow: Flow[D]) -> Flow[D]:
    """
    Run *flow*; where nobody decided and its point wants a person, put it to one.

    Raises:
        JournalDown: The question cannot be kept, so that nobody would ever see it.

    """
    end = yield from flow
    if end is None or case.inbox is None or not end.undecided:
        return end
    if case.point.on_undecided != "human":
        return end
    if case.down is not None:  # it did not take the escalation: to try again takes as long
        raise case.down
    begun, put = time.perf_counter(), case.put
    said = yield from _filed(case, "undecided")
    if said is None and not put:  # else it was waited for, in vain
        said = yield from _waited(case)
    if said is None:
        return end
    if not case.stands:
        return _decided(case, said, time.perf_counter() - begun) or end  # type: ignore[return-value]
    told = {"provider": HUMAN, "outcome": said.value, "undecided": False}
    record = msgspec.structs.replace(end.record, **told)
    return Decision(_value(case, said), record)  # type: ignore[return-value]


def _filed(case: Case, kind: str) -> Flow[Resolution | None]:
    """
    Write it down, once; give what was said to it already.

    Raises:
        JournalDown: It cannot be.
        SetupError: The database is none.

    """
    from .inbox import why_of

    inbox = case.inbox
    assert inbox is not None
    work = partial(inbox.file, case, why_of(case, kind))
    said: Resolution | None = yield from apart(inbox.waiters, case, work, ASKS)
    if not case.put and not case.stands:
        inbox.told("decision.escalated", case.point.name, case.id, why=kind)
    case.put = True
    return said


def _waited(case: Case) -> Flow[Resolution | None]:
    """Wait as long as the plan says; what the providers have left is theirs afterwards too."""
    inbox, seconds = case.inbox, _patience(case)
    assert inbox is not None
    if seconds <= 0:
        return None
    begun = time.monotonic()
    try:
        said: Resolution = yield Apart(partial(inbox.said, case.id), seconds)
    except TimeoutError:
        return None
    finally:
        _postpone(case, time.monotonic() - begun)
    inbox.told("decision.resolved", case.point.name, case.id)
    return said


def _patience(case: Case) -> float:
    """Say how long; who is asked within another decision has its host's deadline, and waits not."""
    if case.call.depth:
        return 0.0
    left = None if case.until is None else case.until - time.monotonic()
    return case.plan.inbox_wait if left is None else min(case.plan.inbox_wait, left)


def _postpone(case: Case, seconds: float) -> None:
    """A deadline bounds those who decide by themselves, not how long a person takes."""
    end = case.call.deadline
    if end is None:
        return
    end = end + seconds if case.until is None else min(end + seconds, case.until)
    case.call = msgspec.structs.replace(case.call, deadline=end)


def _decided(case: Case, said: Resolution, seconds: float) -> Decision[Any] | None:
    """Take a person's word; None: the point's own functions can make no value of it."""
    case.attempts.append(Attempt(provider=HUMAN, seconds=seconds))
    try:
        return Decision(_value(case, said), recorded(case, HUMAN, said.value))
    except Unfit:
        unfit(case)
        return None


def _value(case: Case, said: Resolution) -> Any:  # noqa: ANN401 - the host's own
    if case.supplied is not None:
        return case.supplied.write(said.value, SURE)
    return case.write(said.value)
