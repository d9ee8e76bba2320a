"""
Several points asked at once: those that can share a call do, however they are scheduled.

Async, each decision is a task, and open batches are held until every one of them has asked
or need not ask. Sync, what rides together is sent first; then each flow is driven to its end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from .. import context
from ..cases import Case
from ..deciding import run_async, run_sync
from ..engine import Flow, decide
from ..errors import NoAnswer, Reason, SetupError
from ..steps import AskProvider, Step
from .batches import merged
from .dividing import again, bills, portions, taken
from .remembering import Open, Sharing, rides, together
from .sharing import Joint, Part, joined

if TYPE_CHECKING:
    from ..answers import Reply
    from ..asking import Asking
    from ..records import Decision
    from ..wiring import Wiring

Made: TypeAlias = "tuple[Wiring, Case]"
Cases: TypeAlias = Mapping[str, Made]


class Scope(msgspec.Struct, frozen=True):
    """Whose turn it is, about whom, and what its decisions share."""

    owner: object
    subject: str | None
    sharing: Sharing


# --- async -------------------------------------------------------------------------------


class Promised:
    """The sharing of one decision whose ask others wait for."""

    def __init__(self, sharing: Sharing, place: Open) -> None:
        self._sharing, self._place, self._open = sharing, place, True
        place.promised += 1

    def passes(self) -> None:
        """Keep the promise: nobody waits for this decision's ask any more."""
        if self._open:
            self._open = False
            self._place.promised -= 1

    def known(self, step: AskProvider) -> Reply | None:
        """Give what the turn knows."""
        return self._sharing.known(step)

    def sync(self, step: AskProvider, asking: Asking) -> object:
        """Ask as the turn does."""
        return self._sharing.sync(step, asking)

    async def async_(self, step: AskProvider, asking: Asking) -> object:
        """Ask as the turn does; the promise is kept once it joins its batch, or joins none."""
        return await self._sharing.async_(step, asking, self.passes)


async def promise(cases: Cases, scope: Scope) -> dict[str, Decision[Any]]:
    """Decide all *cases* at once; the first error, in their order, is raised once all ended."""
    place = scope.sharing.here()
    ends: list[Callable[[], None]] = []
    tasks = {name: _begun(made, scope, place, ends) for name, made in cases.items()}
    try:
        if tasks:
            await asyncio.wait(tasks.values())
    finally:
        for task in tasks.values():
            task.cancel()
        try:
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        finally:
            for end in ends:  # what the host's own paths started goes on outside
                end()
    return {name: task.result() for name, task in tasks.items()}


def _begun(
    made: Made, scope: Scope, place: Open, ends: list[Callable[[], None]]
) -> asyncio.Task[Decision[Any]]:
    wiring, case = made
    promised = Promised(scope.sharing, place)
    around, end = context.within(scope.owner, scope.subject, promised)
    ends.append(end)
    task = asyncio.create_task(run_async(wiring, decide, case), context=around)
    task.add_done_callback(lambda _: promised.passes())
    return task


# --- sync --------------------------------------------------------------------------------


class Begun:
    """A flow that stands at its first step, and is then driven as any other."""

    def __init__(self, flow: Flow[Decision[Any]]) -> None:
        self._flow = flow
        self._ended: Exception | None = None
        self._driven = False
        self.step: Step | None = None
        try:
            self.step = next(flow)
        except Exception as ended:  # noqa: BLE001 - given to whoever drives it
            self._ended = ended

    def send(self, given: object) -> Step:
        """Give the first step; then go on with what was *given* for it."""
        if self._driven:
            return self._flow.send(given)
        self._driven = True
        if self._ended is not None:
            raise self._ended
        assert self.step is not None
        return self.step

    def throw(self, fault: BaseException) -> Step:
        """Throw *fault* into the flow."""
        return self._flow.throw(fault)

    def close(self) -> None:
        """End the flow where it stands."""
        self._flow.close()


class Prepared:
    """The sharing of decisions whose first asks were answered together."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._given: dict[int, object] = {}

    def passes(self) -> None:
        """Nobody waits on this thread."""

    def known(self, step: AskProvider) -> Reply | None:
        """Give what the turn knows."""
        return self._sharing.known(step)

    def put(self, step: AskProvider, given: object) -> None:
        """Keep what *step* was answered, a reply or an error."""
        step.sent.keeper = self._sharing
        self._given[id(step)] = given

    def sync(self, step: AskProvider, asking: Asking) -> object:
        """Give what is prepared for *step*; ask for anything else while there is time."""
        given = self._given.pop(id(step), None)
        if isinstance(given, BaseException):
            raise given
        if given is not None:
            return given
        if step.call.deadline is not None and step.call.deadline <= time.monotonic():
            raise NoAnswer(Reason.SKIPPED)  # nothing was sent
        return self._sharing.sync(step, asking)

    async def async_(self, step: AskProvider, asking: Asking) -> object:
        """Ask as the turn does."""
        return await self._sharing.async_(step, asking)


def promise_sync(cases: Cases, scope: Scope) -> dict[str, Decision[Any]]:
    """As `promise`, on this thread; each host's own path runs here, one after the other."""
    prepared = Prepared(scope.sharing)
    begun: dict[str, Begun] = {}
    try:
        for riders in _riders(cases, scope.sharing):
            _prepare(riders, begun, prepared)
        with context.bound(scope.owner, scope.subject, prepared):
            return _driven(cases, begun)
    finally:
        for flow in begun.values():
            flow.close()


def _driven(cases: Cases, begun: Mapping[str, Begun]) -> dict[str, Decision[Any]]:
    decisions: dict[str, Decision[Any]] = {}
    first: Exception | None = None
    for name, (wiring, case) in cases.items():
        if name in begun:
            flow = cast("Flow[Decision[Any]]", begun[name])
        else:
            _renew(case)
            flow = decide(case)
        try:
            decisions[name] = run_sync(wiring, lambda _, flow=flow: flow, case)  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - raised once all have ended
            first = first or error
    if first is not None:
        raise first
    return decisions


class Rider(msgspec.Struct, frozen=True):
    """A decision that may share a call with others: its *step* as it would be asked now."""

    name: str
    case: Case
    asking: Asking
    step: AskProvider


def _renew(case: Case) -> None:
    """Let the time of a decision begin when it begins: others were asked before it."""
    case.begun = time.perf_counter()
    if case.call.deadline is not None and case.plan.deadline is not None:
        until = time.monotonic() + case.plan.deadline
        case.call = msgspec.structs.replace(case.call, deadline=until)


def _riders(cases: Cases, sharing: Sharing) -> Iterable[Sequence[Rider]]:
    """Give those that may share a call, group by group; what is known need not be asked."""
    groups: dict[object, list[Rider]] = {}
    for name, (wiring, case) in cases.items():
        if case.planned is None or case.ask is None or case.supply is not None:
            continue
        step = AskProvider(case.planned, case.ask, case.call, case.point)
        if not rides(step) or sharing.recall(step) is not None:
            continue
        try:
            masked = wiring.asking.masked_sync(step)
        except NoAnswer:
            continue  # it will fail alone
        groups.setdefault(together(step), []).append(Rider(name, case, wiring.asking, masked))
    return groups.values()


def _prepare(riders: Sequence[Rider], begun: dict[str, Begun], prepared: Prepared) -> None:
    for joint, some in _joints(riders):
        steps: dict[str, AskProvider] = {}
        for rider in some:
            _renew(rider.case)
            flow = begun[rider.name] = Begun(decide(rider.case))
            if type(flow.step) is AskProvider:
                steps[rider.name] = flow.step
        if len(steps) == len(some):
            _ask(list(steps.values()), joint, some[0].asking, prepared)
            continue
        rest = [rider for rider in some if rider.name in steps]  # the others may not ask now
        for fewer, those in _joints(rest):
            _ask([steps[rider.name] for rider in those], fewer, some[0].asking, prepared)


def _joints(riders: Sequence[Rider]) -> Iterable[tuple[Joint, Sequence[Rider]]]:
    if not riders:
        return
    parts = [Part(one.case.point, one.step.ask) for one in riders]
    for joint in joined(parts, riders[0].step.lane.provider.limits):
        if isinstance(joint, Joint):
            yield joint, [riders[at] for at in joint.parts]


def _ask(steps: Sequence[AskProvider], joint: Joint, asking: Asking, prepared: Prepared) -> None:
    present = [True] * len(steps)
    fault: Exception | None = None
    try:
        given = portions(joint, asking.alone_sync(_hurried(steps, joint)), present)
    except (NoAnswer, SetupError) as error:
        fault, given = error, []
        if isinstance(error, NoAnswer):
            given = bills(joint, error, present)
    for at, step in enumerate(steps):
        step.sent.form = joint.form
        if fault is not None:
            step.sent.counted = at > 0
            prepared.put(step, again(fault, given[at].reply if given else None))
            continue
        try:
            prepared.put(step, taken(given[at]))
        except NoAnswer as mismatched:
            prepared.put(step, mismatched)


def _hurried(steps: Sequence[AskProvider], joint: Joint) -> AskProvider:
    """Nobody can leave early on this thread, so that the most hurried one says when it ends."""
    step = merged(steps, joint)
    deadlines = [one.call.deadline for one in steps if one.call.deadline is not None]
    call = msgspec.structs.replace(step.call, deadline=min(deadlines, default=None))
    return msgspec.structs.replace(step, call=call)
