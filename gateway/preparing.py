"""From a name and an ask to a case: of a decision point, or of one provider past every plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from . import checks, context
from .cases import Case
from .current import Current
from .deciding import run_async, run_sync
from .directory import DIRECT, Directory
from .engine import decide
from .errors import Fault, raise_all
from .inbox.inbox import unkept
from .making import Hosted, asked_case, case_of, untouched_case, wrapped_case
from .points import DecisionPoint, OnUndecided, find, suffix_of
from .questions import Ask, Question
from .state import State
from .watching import Watched
from .wired import Wired
from .wiring import Wiring
from .wrapping import Wrapped, declared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .records import Attempt, Decision, Record

LEAVING = 0.5  # seconds that are left of a request's time when no person is waited for any more


class Prepared:
    """
    A decision that is ready to be made: what is known of it before, and where it fails.

    Args:
        wiring: Plans and lanes as they stood when it was prepared.
        case: What the engine is given.

    """

    __slots__ = ("_case", "_wiring")

    def __init__(self, wiring: Wiring, case: Case) -> None:
        self._wiring, self._case = wiring, case

    @property
    def id(self) -> str:
        """The decision's id, also where nobody decides."""
        return self._case.id

    @property
    def attempts(self) -> Sequence[Attempt]:
        """What was tried so far."""
        return self._case.attempts

    def before(self, end: float) -> None:
        """Let it end before *end*, on the clock of `time.monotonic`, unless its plan is shorter."""
        call = self._case.call
        if call.deadline is None or end < call.deadline:
            self._case.call = msgspec.structs.replace(call, deadline=end)
        self._case.until = end - LEAVING

    @property
    def pause(self) -> float | None:
        """Seconds for which the planned provider is left alone; None: it is not."""
        planned = self._case.planned
        return None if planned is None else planned.breaker.remaining

    def uncertify(self) -> None:
        """Let no certificate set a threshold: deciders are shown what none was made for."""
        self._case.register = None
        self._case.besides = tuple(
            msgspec.structs.replace(one, register=None) for one in self._case.besides
        )

    async def made(self) -> Decision[Any]:
        """
        Make it, once.

        Raises:
            NoAnswer: The provider is not believed, and nothing stands behind it.
            HumanNeeded: Nobody decided, and its point wants a person then.

        """
        return await run_async(self._wiring, decide, self._case)

    def made_sync(self) -> Decision[Any]:
        """As `made`, on this thread."""
        return run_sync(self._wiring, decide, self._case)


class Preparing(Watched):
    """What `Gateway` decides with, and what a server asks of it."""

    _directory: Directory | None = None
    _doubts: Mapping[str, DecisionPoint] = {}  # asked without any current

    def prepared(
        self,
        point: DecisionPoint,
        ask: Ask | State,
        *,
        subject: str | None = None,
        state: State | None = None,
    ) -> Prepared:
        """
        Prepare the decision of a *point* that the host has no path for.

        Args:
            point: Which.
            ask: What is asked.
            subject: Who it is about.
            state: As it was given, where *ask* holds only what deciders see.

        Raises:
            SetupError: Nothing decides when a provider cannot.
            DeclarationError: The state lacks what the point's questions need.

        """
        return self.hosted(point, ask, Hosted(subject=subject, state=state))

    def hosted(self, point: DecisionPoint, ask: Ask | State, host: Hosted) -> Prepared:
        """As `prepared`, with what the host brings."""
        return Prepared(*self._asked_case(point, ask, host))

    def asks(
        self,
        name: str | DecisionPoint,
        question: Question | Mapping[str, Question] | None = None,
        on_undecided: OnUndecided | None = None,
    ) -> DecisionPoint:
        """
        Say that a point is asked here, and give its declaration.

        Raises:
            SetupError: No question is given and the catalogue has no point of this name.
            DeclarationError: The declaration contradicts itself.

        """
        point = declared(name, question, self.points)
        if on_undecided is not None:
            point = msgspec.structs.replace(point, on_undecided=on_undecided)
            self._doubts = {**self._doubts, point.name: point}
        self._note(point, point.name if isinstance(name, DecisionPoint) else name)
        return point

    def check(self) -> tuple[Fault, ...]:
        """
        Check what can be known once all points are declared; return what is merely odd.

        Raises:
            SetupError: Points that collide, return types that cannot hold an answer, and,
                with `DECISION_STRICT`, variables that nothing reads.

        """
        return (*super().check(), *checks.unasked(self._wiring, self._doubts.values()))

    def directly(self, name: str, ask: Ask, *, subject: str | None = None) -> Prepared:
        """
        Prepare to ask one provider past every plan: any confidence counts, nobody stands behind.

        The decision is recorded under a name that no variable can give a plan.

        Args:
            name: One of the `directory`.
            ask: What is asked.
            subject: Who it is about.

        Raises:
            KeyError: The directory has no such provider.

        """
        wiring = self._wiring
        wired = self._listed(wiring).providers[name]
        return Prepared(wiring, case_of(wiring, wired, DIRECT, ask, Hosted(subject=subject)))

    def directory(self) -> Directory:
        """Give whom a client may ask by name, as the variables stand now."""
        return self._listed(self._wiring)

    def _listed(self, wiring: Wiring) -> Directory:
        held = self._directory
        if held is None or held.wiring() is not wiring:
            held = self._directory = Directory.of(wiring)
        return held

    def knows(self, decision: str) -> bool:
        """
        Whether the journal has a decision of this id; may take a second, on a thread of its own.

        Raises:
            SetupError: No journal is kept.
            DeclarationError: It is no id.

        """
        return self._wiring.keeper.knows(decision)

    def record(self, decision: str) -> Record | None:
        """
        Read the record of a decision from the journal, on a thread of its own; None: it has none.

        Raises:
            SetupError: No journal is kept.

        """
        return self._wiring.keeper.record(decision)

    def tell(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        """Write an event of what stands around the gateway to its log."""
        self._wiring.telemetry.said(level, event, fields)

    def _asked_case(
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        host: Hosted,
        on_undecided: OnUndecided | None = None,
    ) -> tuple[Wiring, Case]:
        wiring, wired, asked = self._resolved(point, ask, on_undecided)
        host = host.at(asked, ask, wiring.telemetry)
        if host.current is None:
            if asked.on_undecided is not None:
                self._doubted(wiring, wired)
            return wiring, asked_case(wiring, wired, asked, ask, host)
        touching = self._touching(wiring, asked, host.once)
        if touching is None:
            return wiring, untouched_case(wiring, asked, host)
        return wiring, asked_case(wiring, touching, asked, ask, host)

    def _doubted(self, wiring: Wiring, wired: Wired) -> None:
        """Say, once for each point, that nobody decides it."""
        point = wired.point
        if point.name not in wiring.doubted:
            wiring.doubted.add(point.name)
            self._doubts = {**self._doubts, point.name: point}
            if wired.planned is None and not wired.arms:
                wiring.telemetry.setup(checks.unasked(wiring, [point]))

    def _resolved(
        self, point: str | DecisionPoint, ask: Ask | State, on_undecided: OnUndecided | None = None
    ) -> tuple[Wiring, Wired, DecisionPoint]:
        wiring = self._wiring
        if isinstance(point, DecisionPoint):
            asked = point
            if asked.name not in self._asked:  # a variant does not become what its name means
                self._note(wiring.plugins.points.get(asked.name, asked), asked.name)
        else:
            known = {**wiring.plugins.points, **self._asked}
            questions = ask.questions if isinstance(ask, Ask) else None
            found = find(suffix_of(point), known)
            asked = found or msgspec.structs.replace(declared(point, questions, known), adhoc=True)
            self._note(asked, asked.name)
        if on_undecided is not None:  # before the ask is built: a tie takes this outcome
            asked = msgspec.structs.replace(asked, on_undecided=on_undecided)
        if asked.on_undecided == "human":  # a variant is not what its name means
            raise_all(unkept(self.settings, asked.name))
        return wiring, self._wired(wiring, asked), asked

    def _wrapped_case(
        self, wrapped: Wrapped, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Wiring, Case]:
        wiring = self._wiring
        wired = self._touching(wiring, wrapped.point, wrapped.once)
        if wired is not None:
            return wiring, wrapped_case(wiring, wired, wrapped, (args, kwargs))
        host = Hosted(current=Current(wrapped.function, args, kwargs), read=wrapped.read)
        return wiring, untouched_case(wiring, wrapped.point, host)

    def _touching(self, wiring: Wiring, point: DecisionPoint, once: object) -> Wired | None:
        """None: current runs as if the gateway were not there."""
        if once is None and not self._layers and not context.collectors(self):
            wired = wiring.wired(point)
            if wired.planned is None and not wired.arms and not wiring.keeper.watched:
                return self._wired(wiring, point).certainly() if wired.shadowed() else None
        return self._wired(wiring, point)
