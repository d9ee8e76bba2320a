"""Conditional edges and nodes that return a `Command`, for `gateway.point(…, lens=…)`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ...errors import DeclarationError
from ...lens import Lens, OnceOf
from .. import needs
from .seeing import configured, last_user_text, states, thread, value_of

try:
    from langgraph.types import Command
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...records import Decision

F = TypeVar("F", bound=Callable[..., Any])

_TASK = "checkpoint_ns"  # `node:task id`, the innermost last


def _goto(command: object) -> object:
    return command.goto if isinstance(command, Command) else None


def _going(outcome: str) -> Command[Any]:
    return Command(goto=outcome)


def _alone(gone: object) -> object:
    """Several targets are no answer to one choice."""
    return gone[0] if isinstance(gone, list) and len(gone) == 1 else None


EDGE = Lens(state=last_user_text, session=thread)
"""A function of `add_conditional_edges` whose options are the names that it returns."""

COMMAND = Lens(state=last_user_text, session=thread, read=_goto, write=_going)
"""A node that returns `Command(goto=…)`; what a provider decides updates nothing."""

FAN_OUT = Lens(state=last_user_text, session=thread, read=_alone, write=lambda option: [option])
"""An edge that returns a list of names, under `fan_out`."""


def showing(lens: Lens, *keys: str) -> Lens:
    """
    Give the same lens, where deciders are shown these *keys* of the state and nothing else.

    One key is shown as it is, several as a mapping.
    """

    def state(*args: object, **kwargs: object) -> Any:  # noqa: ANN401 - a host's own state
        for one in states(*args, **kwargs):
            shown = {key: value_of(one, key) for key in keys}
            if any(value is not None for value in shown.values()):
                return shown[keys[0]] if len(keys) == 1 else shown
        raise DeclarationError(f"the state has none of: {', '.join(keys)}")

    return msgspec.structs.replace(lens, state=state)


def per_task(lens: Lens) -> OnceOf:
    """
    Let a decision stand for the task of the graph that makes it: `once=per_task(EDGE)`.

    A node that decides before `interrupt()` is run again on resume; so is a task that is
    retried. Nothing is remembered where the run has no `thread_id`, outside of a graph, or
    where there is nothing that deciders could be shown.
    """

    def once(*args: object, **kwargs: object) -> tuple[str, object] | None:
        task = str(configured().get(_TASK, "")).rpartition(":")[2]
        if not task or not thread():
            return None
        try:
            return task, lens.state(*args, **kwargs)
        except DeclarationError:  # today's function decides
            return None

    return once


def fan_out(
    gateway: Gateway,
    *,
    least: float,
    to: Callable[..., Any] | None = None,
) -> Callable[[F], F]:
    """
    Go to every option that is likely enough; put it over `gateway.point(…, lens=FAN_OUT)`.

    Where the function itself decides, what it returns is left untouched.

    Args:
        gateway: Whose point it is.
        least: The least probability of an option, in (0, 1]. The chosen one is always taken.
        to: Option and the call's own arguments → what the edge returns for it, such as
            `lambda option, state: Send(option, state)`; absent: the option's name.

    """

    def decorate(function: F) -> F:
        def written(decision: Decision[Any], args: Any, kwargs: Any) -> Any:  # noqa: ANN401
            if not decision.answers:
                return decision.value
            gone = _likely(decision, least)
            return [to(one, *args, **kwargs) for one in gone] if to else gone

        @functools.wraps(function)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            return written(await gateway.decide(function, *args, **kwargs), args, kwargs)

        @functools.wraps(function)
        def synchronous(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            return written(gateway.decide_sync(function, *args, **kwargs), args, kwargs)

        around: Any = asynchronous if iscoroutinefunction(function) else synchronous
        return around  # type: ignore[no-any-return]

    return decorate


def _likely(decision: Decision[Any], least: float) -> list[str]:
    (answer,) = decision.answers.values()
    spread: Mapping[str, float] = answer.distribution or {}
    return [str(answer.value), *(o for o, p in spread.items() if p >= least and o != answer.value)]
