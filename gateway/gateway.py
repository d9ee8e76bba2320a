"""`Gateway`: what users hold. Three shapes: wrap a function, consult, or ask."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, TypeVar, overload

from . import context
from .asked import Asked
from .deciding import run_async, run_sync
from .engine import decide
from .errors import SetupError
from .lens import Asks, Lens, OnceOf
from .making import wrapped_case
from .points import DecisionPoint
from .questions import Ask, Question
from .records import Decision
from .turns.turn import Turn
from .wrapping import Wrapped, declared, wrap, wrapped_in

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


class Gateway(Asked):
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
        question: Question | Mapping[str, Question] | Asks | None = None,
        *,
        lens: Lens | None = None,
        read: Callable[[Any], Any] | None = None,
        write: Callable[[Any], Any] | None = None,
        subject: Callable[..., str | None] | None = None,
        once: OnceOf | None = None,
    ) -> Callable[[F], F]: ...

    @overload
    def point(
        self,
        name: str | DecisionPoint,
        question: Question | Mapping[str, Question] | None = None,
        *,
        ask: Callable[P, Ask],
        lens: Lens | None = None,
        read: Callable[[Any], Any] | None = None,
        write: Callable[[Any], Any] | None = None,
        subject: Callable[..., str | None] | None = None,
        once: OnceOf | None = None,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def point(
        self,
        name: str | DecisionPoint,
        question: Question | Mapping[str, Question] | Asks | None = None,
        **given: Any,
    ) -> Callable[[Any], Any]:
        """
        Wrap the function that decides today; it becomes `current`, the only fallback.

        Args:
            name: Suffix of the point's variables, or a declaration.
            question: What is asked, or a function of the call's own arguments that gives it
                where options are known only then; absent: the catalogue's own questions.
            **given: As follows.
            lens: How the call of an agent framework is seen as a decision; supplies what is
                not given here.
            ask: Builds the `Ask` from the call's arguments. Without it the function must
                have exactly one text or messages parameter, or parameters named like the
                point's state fields.
            read: The function's value → outcome in the point's vocabulary.
            write: Outcome → the function's value. Both have defaults for str, bool, int,
                float, Enum, Literal. Several questions: the outcome is a dict.
            subject: Names the subject of a call from its arguments.
            once: Call → its id and exact arguments: decided once for its subject, the
                decision stands, whoever decides by then. None: that call is not remembered.

        Raises:
            SetupError: No question, or nothing says what the deciders are shown.

        """
        point = declared(name, question, self.points, given.get("lens"))
        self._note(point, point.name if isinstance(name, DecisionPoint) else name)

        asks = question if callable(question) else None

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            wrapped = wrap(point, function, question=asks, **given)
            self._wrapped.append(wrapped)
            return self._around(wrapped)

        return decorate

    def _around(self, wrapped: Wrapped) -> Callable[..., Any]:
        function = wrapped.function

        @functools.wraps(function)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            wiring = self._wiring
            if (wired := self._touching(wiring, wrapped.point, wrapped.once)) is None:
                return await function(*args, **kwargs)
            case = wrapped_case(wiring, wired, wrapped, (args, kwargs))
            return (await run_async(wiring, decide, case)).value

        @functools.wraps(function)
        def synchronous(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            wiring = self._wiring
            if (wired := self._touching(wiring, wrapped.point, wrapped.once)) is None:
                return function(*args, **kwargs)
            if wrapped.is_async:  # a `def` that returns a coroutine
                return asynchronous(*args, **kwargs)
            case = wrapped_case(wiring, wired, wrapped, (args, kwargs))
            return run_sync(wiring, decide, case).value

        plain = not inspect.iscoroutinefunction(function)
        around: Any = synchronous if plain else asynchronous
        around.__pointsman__ = (self, wrapped)
        return around  # type: ignore[no-any-return]

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
