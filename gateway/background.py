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
import weakref
from contextvars import Context
from typing import TYPE_CHECKING

import msgspec

from .acceptance import Verdict
from .asking import Asking
from .calculators import Unfit
from .cases import Beside, Case
from .chance import new_id
from .engine import consult, drive_async
from .errors import NoAnswer, Reason
from .forks import Lock
from .plugins import Call
from .questions import Ask, Outcome
from .recording import attempt_of, held, outcome_of
from .records import Attempt, Record, Shadow
from .resilience import DEEPEST
from .steps import Sent

if TYPE_CHECKING:
    from .wiring import Wiring

WAITING = 1_000  # jobs; beyond that the host decides faster than its shadows answer
AT_ONCE = 16  # asks under way
NO_SHARE = 0.0  # of its deadline is kept for a fallback: there is none
ENDING = 2.0  # seconds that those which are ended may take to end
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
        self._pid = os.getpid()
        self._worker: Worker | None = None
        self.starved = 0

    def put(self, job: Job) -> None:
        """Ask the shadows of *job* when there is time; never waits, never raises."""
        with self._lock:
            if self._pid != os.getpid():  # a fork: the parent asks its own
                self._pid, self._worker = os.getpid(), None
            taken = self._takes(job)
            self.starved = starved = self.starved + (not taken)
        if not taken:
            job.wiring.telemetry.shadow_starved(job.record.point, starved)

    def _takes(self, job: Job) -> bool:
        try:
            if self._worker is None or not self._worker.alive:
                self._worker = Worker()
                weakref.finalize(self, self._worker.close, 0.0).atexit = False
            return self._worker.takes(job)
        except Exception:  # noqa: BLE001 - no more threads or files: the host has its decision
            return False

    def close(self, seconds: float) -> None:
        """Wait until all shadows have been asked, at most *seconds*; then end the rest."""
        until = time.monotonic() + seconds
        for _ in range(DEEPEST + 1):  # what one of them asked nested may have shadows of its own
            with self._lock:
                worker = self._worker if self._pid == os.getpid() else None
                self._worker = None
            if worker is None:
                return
            worker.close(max(0.0, until - time.monotonic()))


class Worker:
    """One thread with a loop and connections of its own, and what is under way on it."""

    def __init__(self) -> None:
        from .runtime import Runtime  # a gateway without shadows needs neither
        from .threads import LoopThread

        self._runtime = Runtime(daemons=True)
        self._thread = LoopThread("pointsman-shadows")
        self._places = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._lock = Lock()
        self._waiting = 0

    @property
    def alive(self) -> bool:
        """Whether it can still be given something to do."""
        return self._thread.alive

    def takes(self, job: Job) -> bool:
        """Take *job* in, unless too many are waiting."""
        with self._lock:
            if self._waiting >= WAITING:
                return False
            self._waiting += 1
        self._thread.soon(self._start, job)
        return True

    def _start(self, job: Job) -> None:
        loop = asyncio.get_running_loop()  # the host's turn and session are over for a shadow
        task = loop.create_task(self._ask(job), context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        with self._lock:
            self._waiting -= 1
        if not task.cancelled():
            task.result()  # a bug of ours surfaces in the loop's own handler

    async def _ask(self, job: Job) -> None:
        asking = Asking(self._runtime, job.wiring.telemetry, job.wiring.gateway)
        besides = job.case.besides
        await asyncio.gather(*(_shadow(job, one, asking, self._places) for one in besides))

    async def _drained(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)

    def close(self, seconds: float) -> None:
        """Wait for what is under way, at most *seconds*, and end the thread."""
        if self.alive:
            with contextlib.suppress(NoAnswer):  # each one that is ended now says so in its row
                self._thread.wait(self._drained, seconds)
        self._thread.close(ENDING)


async def _shadow(job: Job, beside: Beside, asking: Asking, places: asyncio.Semaphore) -> None:
    """Ask one shadow, and keep what it said beside what was decided."""
    wiring, case = job.wiring, _case(job, beside)
    try:
        async with places:
            until = time.monotonic() + (beside.plan.deadline or SECONDS)
            case.call = msgspec.structs.replace(case.call, deadline=until)
            with contextlib.suppress(NoAnswer):  # its attempt says why
                await drive_async(consult(case), asking.async_)
    except (Exception, SystemExit, KeyboardInterrupt) as bug:  # noqa: BLE001 - only a row may tell
        wiring.telemetry.provider_bug(beside.lane.name, bug)
    finally:
        if not case.attempts:  # ended while it waited for a place
            case.attempts.append(_unasked(case, beside))
        wiring.keeper.shadowed(case, _told(job, case))


def _unasked(case: Case, beside: Beside) -> Attempt:
    sent = Sent(time.perf_counter())
    verdict = Verdict(Reason.CANCELLED)
    return attempt_of(beside.lane, beside.plan.gate, verdict, None, case.call, sent)


def _case(job: Job, beside: Beside) -> Case:
    """The same question, as it was before anybody answered: the host may change its state."""
    case, ask = job.case, job.case.ask
    assert ask is not None
    if not isinstance(ask.state, str):
        ask = Ask(msgspec.json.decode(ask.text), ask.questions)
    given = case.call  # as deep as the decision: who asks on within it comes to an end
    call = Call(
        point=given.point,
        subject=given.subject,
        depth=given.depth,
        asking=given.asking,
        trial=True,
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
        rule=None,  # what it comes to is held to it below, where only its row tells a fault
        escalated=None,
        inbox=None,  # nobody acts on it, so no person is asked
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
        outcome=_outcome(job, attempt) if attempt.answers else None,
        beside=record.outcome,
        beside_provider=record.provider,
    )


def _outcome(job: Job, attempt: Attempt) -> Outcome:
    """What it would have come to, had it been acted on."""
    case = job.case
    try:
        return held(case, outcome_of(attempt.answers))
    except Unfit:  # it is told, and only its row can say so too
        return None


def _as_it_is(outcome: Outcome) -> Outcome:
    return outcome
