"""`Gateway`: what users hold. Three shapes: wrap a function, consult, or ask."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, TypeVar, overload

from . import context
from .consulting import Consultation
from .current import path
from .deciding import Hosted, built_by, case_of, run_async, run_sync, wrapped_case
from .engine import decide
from .errors import SetupError
from .plugins import Call
from .points import DecisionPoint, OnUndecided
from .preparing import Preparing
from .questions import Ask, Question
from .records import Decision
from .state import State
from .turns.turn import Turn
from .wired import Wired
from .wiring import Wiring
from .wrapping import Wrapped, declared, wrap, wrapped_in

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


class Gateway(Preparing):
    """
    Decides who decides, one decision point at a time, by environment variables.

    Several gateways in one process do not disturb each other. Nothing is opened before the
    first decision that needs it.

    >>> gateway = Gateway.from_env({"DECISION_LOG": "off"})
    >>> @gateway.point("TEAM", Choice("Who takes it?", ["billing", "tech"]))
    ... def team(message: str) -> str:
    ...     return "billing" if "invoice" in message else "tech"
    >>> team("my invoice doubled")
    'billing'
    """

    # --- declaring -----------------------------------------------------------------------

    @overload
    def point(
        self,
        name: str | DecisionPoint,
        question: Question | Mapping[str, Question] | None = None,
        *,
        read: Callable[[Any], Any] | None = None,
        write: Callable[[Any], Any] | None = None,
        subject: Callable[..., str | None] | None = None,
    ) -> Callable[[F], F]: ...

    @overload
    def point(
        self,
        name: str | DecisionPoint,
        question: Question | Mapping[str, Question] | None = None,
        *,
        ask: Callable[P, Ask],
        read: Callable[[Any], Any] | None = None,
        write: Callable[[Any], Any] | None = None,
        subject: Callable[..., str | None] | None = None,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def point(
        self,
        name: str | DecisionPoint,
        question: Question | Mapping[str, Question] | None = None,
        **given: Any,
    ) -> Callable[[Any], Any]:
        """
        Wrap the function that decides today; it becomes `current`, the only fallback.

        Args:
            name: Suffix of the point's variables, or a declaration.
            question: What is asked; absent: the catalogue's own questions.
            **given: As follows.
            ask: Builds the `Ask` from the call's arguments. Without it the function must
                have exactly one text or messages parameter, or parameters named like the
                point's state fields.
            read: The function's value → outcome in the point's vocabulary.
            write: Outcome → the function's value. Both have defaults for str, bool, int,
                float, Enum, Literal. Several questions: the outcome is a dict.
            subject: Names the subject of a call from its arguments.

        Raises:
            SetupError: No question, or nothing says what the deciders are shown.

        """
        point = declared(name, question, self.points)
        self._note(point, point.name if isinstance(name, DecisionPoint) else name)

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            wrapped = wrap(point, function, **given)
            self._wrapped.append(wrapped)
            return self._around(wrapped)

        return decorate

    def _around(self, wrapped: Wrapped) -> Callable[..., Any]:
        point, function = wrapped.point, wrapped.function

        @functools.wraps(function)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            wiring = self._wiring
            if (wired := self._touching(wiring, point)) is None:
                return await function(*args, **kwargs)
            case = wrapped_case(wiring, wired, wrapped, (args, kwargs))
            return (await run_async(wiring, decide, case)).value

        @functools.wraps(function)
        def synchronous(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            wiring = self._wiring
            if (wired := self._touching(wiring, point)) is None:
                return function(*args, **kwargs)
            if wrapped.is_async:  # a `def` that returns a coroutine
                return asynchronous(*args, **kwargs)
            case = wrapped_case(wiring, wired, wrapped, (args, kwargs))
            return run_sync(wiring, decide, case).value

        plain = not inspect.iscoroutinefunction(function)
        around: Any = synchronous if plain else asynchronous
        around.__pointsman__ = (self, wrapped)
        return around  # type: ignore[no-any-return]

    def _touching(self, wiring: Wiring, point: DecisionPoint) -> Wired | None:
        """None: the function runs as if the gateway were not there."""
        if not self._layers and not context.collectors(self):
            wired = wiring.wired(point)
            if wired.planned is None and not wired.arms and not wiring.keeper.watched:
                return self._wired(wiring, point).certainly() if wired.shadowed() else None
        return self._wired(wiring, point)

    # --- deciding ------------------------------------------------------------------------

    @overload
    async def decide(
        self, fn: Callable[P, Awaitable[R]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Decision[R]: ...

    @overload
    async def decide(
        self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> Decision[R]: ...

    async def decide(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Decision[Any]:
        """
        Call a wrapped function and get the whole decision: value, provider, attempts.

        Raises:
            NoAnswer: The provider is not believed, and the plan has no fallback.
            SetupError: *fn* is not wrapped by this gateway.

        """
        wrapped, bound = wrapped_in(self, fn)
        wiring, case = self._wrapped_case(wrapped, (*bound, *args), kwargs)
        return await run_async(wiring, decide, case)

    def decide_sync(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Decision[R]:
        """As `decide`, for a wrapped function that is not async, on this thread."""
        wrapped, bound = wrapped_in(self, fn)
        if wrapped.is_async:
            fix = "Use `await gateway.decide(…)`"
            raise SetupError.of(wrapped.where, "it is async, and cannot be run without a loop", fix)
        wiring, case = self._wrapped_case(wrapped, (*bound, *args), kwargs)
        return run_sync(wiring, decide, case)

    async def ask(
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        *,
        current: Callable[[], Any] | None = None,
        subject: str | None = None,
        on_undecided: OnUndecided | None = None,
        within: Call | None = None,
    ) -> Decision[Any]:
        """
        Decide without a wrapped function.

        Args:
            point: A declaration, or the name of one, or any name if *ask* is an `Ask`.
            ask: An `Ask`, or the state for the point's own questions.
            current: What the host runs today, without arguments.
            subject: Who it is about; absent: the session's.
            on_undecided: What happens when nobody decides, for a point of one predicate.
            within: The call that this one is nested in.

        Raises:
            NoAnswer: The provider is not believed, and the plan has no fallback.
            SetupError: Nothing decides when a provider cannot.

        """
        host = Hosted(current=path(current), subject=subject, within=within)
        wiring, case = self._asked_case(point, ask, host, on_undecided)
        return await run_async(wiring, decide, case)

    def ask_sync(
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        *,
        current: Callable[[], Any] | None = None,
        subject: str | None = None,
        on_undecided: OnUndecided | None = None,
        within: Call | None = None,
    ) -> Decision[Any]:
        """As `ask`, on this thread."""
        host = Hosted(current=path(current), subject=subject, within=within)
        wiring, case = self._asked_case(point, ask, host, on_undecided)
        return run_sync(wiring, decide, case)

    async def consult(self, point: str | DecisionPoint, ask: Ask | State) -> Decision[Any] | None:
        """
        Ask the planned provider beside the host's own path; None: current carries on.

        Raises:
            NoAnswer: The provider is not believed, and the plan has no fallback.

        """
        return await self.consultation(point, ask).ask()

    def consult_sync(self, point: str | DecisionPoint, ask: Ask | State) -> Decision[Any] | None:
        """As `consult`, on this thread."""
        return self.consultation(point, ask).ask_sync()

    def consultation(
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        *,
        subject: str | None = None,
        within: Call | None = None,
    ) -> Consultation:
        """Prepare a consultation whose handle can be told what current decided."""
        host = Hosted(subject=subject, within=within)
        wiring, wired, asked = self._resolved(point, ask)
        built = built_by(asked, ask, wiring)
        return Consultation(wiring, case_of(wiring, wired, asked, built, host))

    # --- surroundings --------------------------------------------------------------------

    def session(self, subject: str) -> context.Session:
        """Bind *subject* to the decisions made inside, with `with` or `async with`."""
        return context.Session(self, subject)

    def turn(self, subject: str | None = None) -> Turn:
        """Let decisions made inside share calls and answers, with `with` or `async with`."""
        return Turn(self, subject, self._asked_case)

    def collect(self) -> AbstractContextManager[list[Decision[Any]]]:
        """Collect the decisions made inside, in this task and those it starts."""
        return context.collecting(self)
