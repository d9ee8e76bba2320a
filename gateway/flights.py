"""
One upstream call for what is asked at the same time: in one loop, in several, on threads.

An ask that is under way is a flight. In a loop it is a task of the gateway's, which ends when
the last of those who wait has left. On a thread it is the first asker's own call; where that
ends with its asker's deadline or error, those who have more time ask again. Nobody waits for a
thread that has ended, or for a loop that stands still.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import msgspec

from .answers import Reply, sound
from .current import looked
from .deadlines import bounded, left
from .errors import NoAnswer, Reason, SetupError
from .flight import Flight, Loop, Waiter, loop_here, soon
from .forks import Lock
from .resilience import LEAST_LEFT
from .turns.dividing import again, spare

if TYPE_CHECKING:
    from .asking import Asking
    from .steps import AskProvider

TICK = 1.0  # seconds after which a waiter looks whether the flight still moves
GRACE = 1.0  # seconds for a call that was ended, to clean up before its asker goes on
EARLY = 0.01  # seconds; a socket's timeout may come that much before the deadline it is made of


class Flights:
    """The asks of one cache that are under way, by their place in it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flights: dict[object, Flight] = {}

    def ask_sync(self, step: AskProvider, asking: Asking) -> object:
        """Ask on this thread; where the same is being asked, wait for what comes of it."""
        alone = not flies(step) or loop_here() is not None  # a loop that waits could be waited for
        while not alone and (boarded := self._boarded(step, None)) is not None:
            flight, waiter = boarded
            if waiter is None:
                return self._led(flight, step, asking)
            self._waited_sync(flight, waiter, step)
            if flight.over and not flight.lost:
                return self._given(flight, step)
            if (known := _later(step)) is not None:
                return known
        return asking.alone_sync(step)

    async def ask(self, step: AskProvider, asking: Asking) -> object:
        """Ask for this task; where the same is being asked, wait for what comes of it."""
        loop = asyncio.get_running_loop()
        at_once = step.lane.shape == "answer" and not step.lane.blocking  # nobody can come between
        while flies(step) and not at_once and (boarded := self._boarded(step, loop)) is not None:
            flight, waiter = boarded
            own = waiter is None
            if waiter is None:
                waiter = self._begun(flight, step, asking, loop)
            await self._waited(flight, waiter, step, loop)
            failed = flight.fault is not None and flight.loop is loop
            if flight.over and (own or failed or not flight.lost):
                return self._given(flight, step)
            if (known := _later(step)) is not None:
                return known
        return await asking.alone(step)

    def landed(self, key: object) -> None:
        """Forget what has ended: it is known now whether its reply is kept."""
        with self._lock:
            flight = self._flights.get(key)
            if flight is not None and flight.over:
                del self._flights[key]

    # --- getting on, and off ---------------------------------------------------------

    def _boarded(self, step: AskProvider, loop: Loop | None) -> tuple[Flight, Waiter | None] | None:
        """Join what is under way; begin where nothing is; None: waiting here would hold it up."""
        key = _key(step)
        with self._lock:
            flight = self._flights.get(key)
            if flight is None or not flight.moves:
                flight = self._flights[key] = Flight(loop)
                return flight, None
            return None if flight.held_up(loop) else (flight, flight.joined(loop))

    def _left(self, key: object, flight: Flight, waiter: Waiter) -> asyncio.Task[object] | None:
        """Go without *waiter*; if it was the last, end the call; give what then ends here."""
        with self._lock:
            if waiter in flight.waiters:
                flight.waiters.remove(waiter)
            if flight.waiters or (flight.loop is None and not flight.over):
                return None
            self._forgotten(key, flight)
        task = flight.task
        if task is None or task.done() or flight.loop is None:
            return None
        if flight.loop is loop_here():
            task.cancel()
            return task
        soon(flight.loop, task.cancel)
        return None

    def _forgotten(self, key: object, flight: Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]

    def _ended(
        self,
        key: object,
        flight: Flight,
        reply: object,
        fault: BaseException | None,
        *,
        lost: bool = False,
    ) -> None:
        """A reply stays to be had until it is known whether it is kept; a failure does not."""
        with self._lock:
            flight.ended(reply, fault, lost=lost)
            if flight.fault is not None or lost:
                self._forgotten(key, flight)
            waiters = list(flight.waiters)
        for waiter in waiters:
            waiter.wake()

    # --- asking ----------------------------------------------------------------------

    def _led(self, flight: Flight, step: AskProvider, asking: Asking) -> object:
        key = _key(step)
        try:
            reply = sound(asking.alone_sync(step))
        except NoAnswer as fault:
            flight.paid = True
            self._told(flight, step)
            self._ended(key, flight, None, fault, lost=_hurried(step, fault) or looked(step.call))
            raise
        except BaseException as error:
            lost = not isinstance(error, SetupError)
            self._ended(key, flight, None, error, lost=lost)
            raise
        flight.paid = True
        self._ended(key, flight, reply, None, lost=looked(step.call))
        return reply

    def _begun(self, flight: Flight, step: AskProvider, asking: Asking, loop: Loop) -> Waiter:
        """Ask in a task that may take as long as the most patient of those who wait."""
        key = _key(step)
        with self._lock:
            waiter = flight.joined(loop)
        call = msgspec.structs.replace(step.call, deadline=None)
        flight.task = asking.started(msgspec.structs.replace(step, call=call))

        def ended(task: asyncio.Task[object]) -> None:
            if task.cancelled():
                self._ended(key, flight, None, NoAnswer(Reason.CANCELLED), lost=True)
            elif (fault := task.exception()) is not None:
                self._ended(key, flight, None, fault, lost=looked(step.call))
            else:
                self._ended(key, flight, task.result(), None, lost=looked(step.call))

        flight.task.add_done_callback(ended)
        return waiter

    # --- waiting ---------------------------------------------------------------------

    def _waited_sync(self, flight: Flight, waiter: Waiter, step: AskProvider) -> None:
        """Wait until it has ended, or stands still; not beyond the caller's own deadline."""
        try:
            while not waiter.event.wait(_tick(step)) and flight.moves:
                _in_time(step)
            self._given_up(flight, waiter, step)
        except BaseException as why:
            if isinstance(why, NoAnswer):
                self._told(flight, step)
            self._left(_key(step), flight, waiter)
            raise

    async def _waited(self, flight: Flight, waiter: Waiter, step: AskProvider, loop: Loop) -> None:
        """As `_waited_sync`; whoever is the last to leave waits a little for the call to end."""
        assert waiter.future is not None
        try:
            if flight.loop is loop:
                await bounded(waiter.future, step.call.deadline)
                return
            while not waiter.future.done() and flight.moves:
                await asyncio.wait([waiter.future], timeout=_tick(step))
                if not waiter.future.done():
                    _in_time(step)
            self._given_up(flight, waiter, step)
        except (NoAnswer, asyncio.CancelledError) as why:
            if isinstance(why, NoAnswer):
                self._told(flight, step)
            if (task := self._left(_key(step), flight, waiter)) is not None:
                await asyncio.wait([task], timeout=GRACE)  # what takes longer, the gateway ends
            raise
        except BaseException:  # a coroutine that is closed cannot wait
            self._left(_key(step), flight, waiter)
            raise

    def _given_up(self, flight: Flight, waiter: Waiter, step: AskProvider) -> None:
        """Leave what stands still: when it goes on, nobody may seem to wait for it."""
        if not flight.over:
            self._left(_key(step), flight, waiter)

    def _told(self, flight: Flight, step: AskProvider) -> None:
        with self._lock:
            step.sent.counted, flight.told = flight.told, True

    def _given(self, flight: Flight, step: AskProvider) -> Reply:
        """
        Give what came of it: the first who takes it pays for it, the others get it for nothing.

        Raises:
            NoAnswer: It failed; a new one for each, of which one counts.

        """
        with self._lock:
            first, flight.paid = not flight.paid, True
        if flight.fault is not None:
            self._told(flight, step)
            bill = flight.fault.reply if first and isinstance(flight.fault, NoAnswer) else None
            raise again(flight.fault, bill)
        assert flight.reply is not None
        step.sent.cached = not first
        return flight.reply if first else spare(flight.reply)


def flies(step: AskProvider) -> bool:
    """Whether *step* may share a call: who asks others, hears current, or is asked within, not."""
    lane = step.lane
    return not (step.call.depth or step.call.asking or lane.deliberates or lane.hears_current)


def _key(step: AskProvider) -> object:
    assert step.slot is not None
    return step.slot.key


def _tick(step: AskProvider) -> float:
    rest = left(step.call.deadline)
    return TICK if rest is None else min(rest, TICK)


def _in_time(step: AskProvider) -> None:
    """
    Hold a caller to its own deadline.

    Raises:
        NoAnswer: `timeout`.

    """
    if left(step.call.deadline) == 0.0:
        raise NoAnswer(Reason.TIMEOUT)


def _later(step: AskProvider) -> Reply | None:
    """
    Go on after a flight that was lost: perhaps another has brought the answer.

    Raises:
        NoAnswer: `timeout`: there is no time to ask again. Whose call it was has told so.

    """
    rest = left(step.call.deadline)
    if rest is not None and rest < LEAST_LEFT:
        step.sent.counted = True
        raise NoAnswer(Reason.TIMEOUT)
    assert step.slot is not None
    return step.slot.recall(step.sent)


def _hurried(step: AskProvider, fault: NoAnswer) -> bool:
    """Whether it was the asker's own deadline that ended a call."""
    if step.call.deadline is None or fault.reason not in (Reason.TIMEOUT, Reason.SKIPPED):
        return False
    return time.monotonic() >= step.call.deadline - EARLY
