"""
Asks of one turn that wait for each other, and the call that they then share.

A batch belongs to one event loop. It is sent after three passes of the loop without a new
ask, at most sixteen, and never by a clock. The shared call belongs to the gateway: each
waiter has its own deadline, leaving early affects nobody, and the last to leave cancels it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ..answers import Reply
from ..deadlines import bounded
from ..errors import NoAnswer, Reason
from ..plugins import Call
from ..steps import AskProvider
from .dividing import Portion, again, bills, portions, taken, unpaid
from .sharing import Joint, Part, alike, joined

if TYPE_CHECKING:
    from ..asking import Asking

QUIET = 3  # passes of the loop without a new ask, until a batch is sent
PASSES = 16  # at most


class Waiter:
    """One decision that waits for its portion."""

    def __init__(self, step: AskProvider, loop: asyncio.AbstractEventLoop) -> None:
        self.step = step
        self.ready: asyncio.Future[Shared | None] = loop.create_future()
        self.call: Shared | None = None  # once it is sent
        self.at = 0  # which of its members this one waits for


class Member:
    """An ask, and those who wait for it: the same one is sent once."""

    def __init__(self, first: Waiter) -> None:
        self.step = first.step
        self.waiters = [first]

    @property
    def part(self) -> Part:
        """The ask, as sharing takes it."""
        assert self.step.point is not None
        return Part(self.step.point, self.step.ask)


class Batch:
    """
    Asks that may share a call, until it is sent.

    Args:
        asking: Performs the steps.
        held: Whether somebody has promised an ask that has not come yet.
        gone: Called when the batch takes no more.

    """

    def __init__(
        self,
        asking: Asking,
        held: Callable[[], bool],
        gone: Callable[[], object],
    ) -> None:
        self._asking, self._held, self._gone = asking, held, gone
        self._loop = asyncio.get_running_loop()
        self._members: list[Member] = []
        self._asked: dict[tuple[str, str], list[Member]] = {}  # by point and text
        self._quiet = self._passes = 0
        self._next = self._loop.call_soon(self._passed)

    async def ask(self, step: AskProvider) -> object:
        """
        Wait for the portion of *step*, until its own deadline.

        Raises:
            NoAnswer: The call failed, or this waiter's deadline has come.

        """
        waiter = self._joined(step)
        try:
            call = await bounded(waiter.ready, step.call.deadline)
        except NoAnswer:
            await _over(self._left(waiter))
            if waiter.call is None:  # nothing was sent
                raise NoAnswer(Reason.SKIPPED) from None
            step.sent.counted, waiter.call.told = waiter.call.told, True
            raise
        except asyncio.CancelledError:
            await _over(self._left(waiter))
            raise
        except BaseException:  # a coroutine that is closed cannot wait
            self._left(waiter)
            raise
        if call is None:
            return await self._asking.single(step)
        return call.give(waiter)

    def _joined(self, step: AskProvider) -> Waiter:
        self._quiet = 0
        waiter = Waiter(step, self._loop)
        assert step.point is not None
        asked = self._asked.setdefault((step.point.name, step.ask.text), [])
        for member in asked:
            if member.waiters and alike(member.step.ask.questions, step.ask.questions):
                member.waiters.append(waiter)
                return waiter
        member = Member(waiter)
        asked.append(member)
        self._members.append(member)
        return waiter

    def _left(self, waiter: Waiter) -> asyncio.Task[object] | None:
        """Leave; whoever is the last ends what nobody waits for, and gets what then ends."""
        if waiter.call is not None:
            return waiter.call.left(waiter)
        for member in self._members:
            if waiter in member.waiters:
                member.waiters.remove(waiter)
        self._members = [member for member in self._members if member.waiters]
        if not self._members:
            self._next.cancel()
            self._gone()
        return None

    def _passed(self) -> None:
        self._quiet += 1
        self._passes += 1
        if not self._held() and (self._quiet >= QUIET or self._passes >= PASSES):
            self._gone()
            self._send()
        else:
            self._next = self._loop.call_soon(self._passed)

    def _send(self) -> None:
        members, self._members = self._members, []
        for joint in _joints(members):
            if isinstance(joint, Joint):
                Shared(self._asking, [members[at] for at in joint.parts], joint)
            elif len(members[joint].waiters) == 1:
                _resolve(members[joint].waiters[0], None)  # asks in its own task
            else:
                Shared(self._asking, [members[joint]], None)


async def _over(task: asyncio.Task[object] | None) -> None:
    if task is not None:
        await asyncio.wait([task])


def _joints(members: Sequence[Member]) -> Iterable[Joint | int]:
    limits = members[0].step.lane.provider.limits
    try:
        return joined([member.part for member in members], limits)
    except Exception:  # noqa: BLE001 - sharing only saves; nobody may wait in vain for it
        return range(len(members))


def _resolve(waiter: Waiter, call: Shared | None) -> None:
    if not waiter.ready.done():
        waiter.ready.set_result(call)


class Shared:
    """
    A call under way that several wait for.

    Attributes:
        told: The breaker knows of this call's failure.

    """

    def __init__(
        self,
        asking: Asking,
        members: Sequence[Member],
        joint: Joint | None,
    ) -> None:
        self.told = False
        self._members, self._joint = members, joint
        self._portions: Sequence[Portion] = ()
        self._fault: BaseException | None = None
        for at, member in enumerate(members):
            for waiter in member.waiters:
                waiter.call, waiter.at = self, at
        self._task = asking.started(merged([one.step for one in self._waiters()], joint))
        self._task.add_done_callback(self._ended)

    def _waiters(self) -> Iterable[Waiter]:
        return (waiter for member in self._members for waiter in member.waiters)

    def left(self, waiter: Waiter) -> asyncio.Task[object] | None:
        """Go without *waiter*; if it was the last, cancel, and give the task that then ends."""
        waiters = self._members[waiter.at].waiters
        if waiter in waiters:
            waiters.remove(waiter)
        if any(self._waiters()) or self._task.done():
            return None
        self._task.cancel()
        return self._task

    def _ended(self, task: asyncio.Task[object]) -> None:
        self._fault = NoAnswer(Reason.CANCELLED) if task.cancelled() else task.exception()
        present = [bool(member.waiters) for member in self._members]
        try:
            if self._fault is None:
                self._portions = portions(self._joint, task.result(), present)
            elif isinstance(self._fault, NoAnswer):
                self._portions = bills(self._joint, self._fault, present)
        except NoAnswer as fault:
            self._fault = fault
        except Exception:  # noqa: BLE001 - what a stranger replied cannot be divided
            self._fault = NoAnswer(Reason.MALFORMED)
        for waiter in self._waiters():
            _resolve(waiter, self)

    def give(self, waiter: Waiter) -> Reply:
        """
        Give *waiter* its portion.

        Raises:
            NoAnswer: The call failed; a new one for each waiter, of which one counts.

        """
        at, sent = waiter.at, waiter.step.sent
        if self._joint is not None:
            sent.form = self._joint.form
        first = self._members[at].waiters[0] is waiter  # the others are given what it paid for
        if self._fault is not None:
            sent.counted, self.told = self.told, True
            bill = self._portions[at].reply if self._portions and first else None
            raise again(self._fault, bill)
        portion = self._portions[at]
        sent.cached = not first
        return taken(portion if first else Portion(unpaid(portion.reply), portion.fault))


def merged(steps: Sequence[AskProvider], joint: Joint | None) -> AskProvider:
    """Make one step of several: it may take as long as the most patient of them."""
    ask = steps[0].ask if joint is None else joint.ask
    deadlines = [step.call.deadline for step in steps]
    latest = None if None in deadlines else max(one for one in deadlines if one is not None)
    name = "+".join(dict.fromkeys(step.call.point for step in steps))
    call = Call(point=name, subject=steps[0].call.subject, deadline=latest)
    return AskProvider(steps[0].lane, ask, call, masked=True)
