"""
Several points asked at once: those that can share a call do, however they are scheduled.

Async, each decision is a task, and open batches are held until every one of them has asked
or need not ask. Sync, all flows are begun first; what they ask is then sent together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from . import context
from .batches import merged
from .cases import Case
from .deciding import run_async, run_sync
from .dividing import again, bills, portions, taken
from .engine import Flow, decide
from .errors import NoAnswer, SetupError
from .remembering import Open, Sharing, rides, together
from .sharing import Joint, Part, joined
from .steps import AskProvider, Step

if TYPE_CHECKING:
    from .asking import Asking
    from .records import Decision
    from .wiring import Wiring

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

    def sync(self, step: AskProvider, asking: Asking) -> object:
        """Ask as the turn does."""
        return self._sharing.sync(step, asking)

    async def async_(self, step: AskProvider, asking: Asking) -> object:
        """Ask as the turn does; it joins its batch before the loop goes on."""
        self.passes()
        return await self._sharing.async_(step, asking)


async def promise(cases: Cases, scope: Scope) -> dict[str, Decision[Any]]:
    """Decide all *cases* at once; the first error, in their order, is raised once all ended."""
    place = scope.sharing.here()
    tasks = {name: _begun(made, scope, place) for name, made in cases.items()}
    try:
        if tasks:
            await asyncio.wait(tasks.values())
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
    return {name: task.result() for name, task in tasks.items()}


def _begun(made: Made, scope: Scope, place: Open) -> asyncio.Task[Decision[Any]]:
    wiring, case = made
    promised = Promised(scope.sharing, place)
    around = context.within(scope.owner, scope.subject, promised)
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

    def put(self, step: AskProvider, given: object) -> None:
        """Keep what *step* was answered, a reply or an error."""
        self._given[id(step)] = given

    def sync(self, step: AskProvider, asking: Asking) -> object:
        """Give what is prepared for *step*; ask for anything else."""
        given = self._given.pop(id(step), None)
        if isinstance(given, BaseException):
            raise given
        return self._sharing.sync(step, asking) if given is None else given

    async def async_(self, step: AskProvider, asking: Asking) -> object:
        """Ask as the turn does."""
        return await self._sharing.async_(step, asking)


def promise_sync(cases: Cases, scope: Scope) -> dict[str, Decision[Any]]:
    """As `promise`, on this thread; each host's own path runs here, one after the other."""
    prepared = Prepared(scope.sharing)
    flows = {name: Begun(decide(case)) for name, (_, case) in cases.items()}
    try:
        steps = [(flows[name].step, wiring.asking) for name, (wiring, _) in cases.items()]
        _prepare([pair for pair in steps if _shares(pair[0], scope.sharing)], prepared, scope)
        with context.bound(scope.owner, scope.subject, prepared):
            return _driven(cases, flows)
    finally:
        for flow in flows.values():
            flow.close()


def _driven(cases: Cases, flows: Mapping[str, Begun]) -> dict[str, Decision[Any]]:
    decisions: dict[str, Decision[Any]] = {}
    first: Exception | None = None
    for name, (wiring, case) in cases.items():
        flow = cast("Flow[Decision[Any]]", flows[name])
        try:
            decisions[name] = run_sync(wiring, lambda _, flow=flow: flow, case)  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - raised once all have ended
            first = first or error
    if first is not None:
        raise first
    return decisions


def _shares(step: Step | None, sharing: Sharing) -> bool:
    return type(step) is AskProvider and rides(step) and sharing.recall(step) is None


def _prepare(asks: Sequence[tuple[Any, Asking]], prepared: Prepared, scope: Scope) -> None:
    groups: dict[object, list[AskProvider]] = {}
    for step, _ in asks:
        groups.setdefault(together(step), []).append(step)
    for steps in groups.values():
        parts = [Part(cast("Any", step.point), step.ask) for step in steps]
        for joint in joined(parts, steps[0].lane.provider.limits):
            if isinstance(joint, Joint):
                _ask([steps[at] for at in joint.parts], joint, asks[0][1], prepared, scope)


def _ask(
    steps: Sequence[AskProvider], joint: Joint, asking: Asking, prepared: Prepared, scope: Scope
) -> None:
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
            prepared.put(step, scope.sharing.remember(step, taken(given[at])))
        except NoAnswer as mismatched:
            prepared.put(step, mismatched)


def _hurried(steps: Sequence[AskProvider], joint: Joint) -> AskProvider:
    """Nobody can leave early on this thread, so that the most hurried one says when it ends."""
    step = merged(steps, joint)
    deadlines = [one.call.deadline for one in steps if one.call.deadline is not None]
    call = msgspec.structs.replace(step.call, deadline=min(deadlines, default=None))
    return msgspec.structs.replace(step, call=call)
