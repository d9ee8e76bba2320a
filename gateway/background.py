"""
Shadows: the same asked of others in the background, recorded, never acted on.

They are asked once a decision has been made, on a thread of their own with connections of its
own, at most so many at once; what cannot be taken in is counted and told, never waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from typing import TYPE_CHECKING

import msgspec

from .cases import Beside, Case
from .chance import new_id
from .engine import consult, drive_async
from .errors import NoAnswer
from .forks import Lock
from .plugins import Call
from .questions import Ask, Outcome
from .recording import outcome_of
from .records import Record, Shadow

if TYPE_CHECKING:
    from .runtime import LoopThread
    from .wiring import Wiring

WAITING = 1_000  # jobs; beyond that the host decides faster than its shadows answer
AT_ONCE = 16  # asks under way
NO_SHARE = 0.0  # of its deadline is kept for a fallback: there is none
SECONDS = 30.0  # that a shadow may take where its point has no deadline


class Job(msgspec.Struct, frozen=True):
    """
    One decision whose shadows are still to be asked.

    Attributes:
        wiring: Plans and lanes as they were when it was made.
        case: Its question and its circumstances.
        record: What was decided.

    """

    wiring: Wiring
    case: Case
    record: Record


class Background:
    """
    Asks shadows, for one gateway.

    Attributes:
        starved: Decisions whose shadows were not asked, since too many were waiting.

    """

    def __init__(self) -> None:
        self._lock = Lock()
        self.starved = 0
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._thread: LoopThread | None = None
        self._waiting = 0
        self._places: asyncio.Semaphore | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, job: Job) -> None:
        """Ask the shadows of *job* when there is time; never waits."""
        with self._lock:
            if self._pid != os.getpid():  # a fork: the parent asks its own
                self._forget()
            full = self._waiting >= WAITING
            if full:
                self.starved += 1
            else:
                self._waiting += 1
                thread = self._thread = self._thread or self._begun()
        if full:
            job.wiring.telemetry.shadow_starved(job.record.point, self.starved)
        else:
            thread.soon(self._start, job)

    def _begun(self) -> LoopThread:
        from .runtime import LoopThread

        return LoopThread("pointsman-shadows")

    def _start(self, job: Job) -> None:
        self._places = self._places or asyncio.Semaphore(AT_ONCE)
        task = asyncio.get_running_loop().create_task(self._ask(job, self._places))
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        with self._lock:
            self._waiting -= 1

    async def _ask(self, job: Job, places: asyncio.Semaphore) -> None:
        async with places:
            await asyncio.gather(*(_shadow(job, one) for one in job.case.besides))

    def close(self, seconds: float) -> None:
        """Wait until all shadows have been asked, at most *seconds*; then end the rest."""
        with self._lock:
            thread, here = self._thread, self._pid == os.getpid()
            self._thread = None
        if thread is None or not here:
            return
        with contextlib.suppress(NoAnswer):  # each one that is ended now says so in its own row
            thread.wait(self._drained, seconds)
        thread.close()
        self._places = None

    async def _drained(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)


async def _shadow(job: Job, beside: Beside) -> None:
    """Ask one shadow, and keep what it said beside what was decided."""
    wiring, case = job.wiring, _case(job, beside)
    try:
        with contextlib.suppress(NoAnswer):  # its attempt says why
            await drive_async(consult(case), wiring.asking.async_)
    finally:
        if case.attempts:
            wiring.keeper.shadowed(case, _told(job, case))


def _case(job: Job, beside: Beside) -> Case:
    """The same question, as it was before anybody answered: the host may change its state."""
    case, ask = job.case, job.case.ask
    assert ask is not None
    if not isinstance(ask.state, str):
        ask = Ask(msgspec.json.decode(ask.text), ask.questions)
    seconds = beside.plan.deadline or SECONDS
    call = Call(
        point=case.point.name, subject=case.call.subject, deadline=time.monotonic() + seconds
    )
    return msgspec.structs.replace(
        case,
        plan=msgspec.structs.replace(beside.plan, fallback=True, share=NO_SHARE),
        ask=ask,
        call=call,
        planned=beside.lane,
        register=beside.register,
        id=new_id(),
        begun=time.perf_counter(),
        attempts=[],
        supply=None,
        hosted=None,
        supplied=None,
        write=_as_it_is,
        exposure=None,
        besides=(),
    )


def _told(job: Job, case: Case) -> Shadow:
    attempt, record = case.attempts[-1], job.record
    return Shadow(
        id=case.id,
        of=record.id,
        at=time.time(),
        point=record.point,
        provider=attempt.provider,
        attempt=attempt,
        outcome=outcome_of(attempt.answers) if attempt.answers else None,
        beside=record.outcome,
        beside_provider=record.provider,
    )


def _as_it_is(outcome: Outcome) -> Outcome:
    return outcome
