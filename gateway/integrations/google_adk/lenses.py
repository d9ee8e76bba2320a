"""How ADK's own function seams are seen: nodes of a workflow, and who approves a tool's call."""

from __future__ import annotations

from typing import Any

from google.adk.agents import Context
from google.adk.events import Event

from ...errors import SetupError
from ...lens import Lens
from ...state import State
from .seeing import context_of, plain

CALLED_BY_NAME = "node_input"  # what ADK calls the parameter of a node that takes its input


def arguments(*args: Any, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401 - the tool's own
    """Give what a tool is called with, as JSON; ADK's context is none of it."""
    named = {f"argument_{at}": one for at, one in enumerate(args)} | kwargs
    return {name: plain(one) for name, one in named.items() if not isinstance(one, Context)}


def session(*args: Any, **kwargs: Any) -> str | None:  # noqa: ANN401 - the call's own
    """Give the id of ADK's session, where the call brings a context."""
    context = context_of(args, kwargs)
    return None if context is None else context.session.id


def tool_call(*args: Any, **kwargs: Any) -> tuple[str, object]:  # noqa: ANN401 - the tool's own
    """
    Name a tool's call, for `once=`: the same before and after a person has been asked.

    Raises:
        SetupError: The call brings no context, so that it is like any other.

    """
    context = context_of(args, kwargs)
    if context is None:
        problem = "its calls cannot be told apart, so that a rejected one might run after all"
        fix = "Give the tool's function and the predicate a parameter `tool_context: ToolContext`"
        raise SetupError.of("require_confirmation", problem, fix)
    return call_id(context), arguments(*args, **kwargs)


def call_id(context: Context) -> str:
    """
    Name a tool's call within its session.

    A model may use a call's id again in a later turn, so that the event that brought the call
    is named too. Both are kept in the session, also over a restart.
    """
    call = context.function_call_id or ""
    for event in reversed(context.session.events):
        if any(one.id == call for one in event.get_function_calls()):
            return f"{event.id}/{call}"
    return call


def _shown(*args: Any, **kwargs: Any) -> State:  # noqa: ANN401 - the node's own
    if CALLED_BY_NAME in kwargs:
        shown: State = plain(kwargs[CALLED_BY_NAME])
        return shown
    given = arguments(*args, **kwargs)
    return given if len(given) != 1 else next(iter(given.values()))  # type: ignore[no-any-return]


def _route(event: Any) -> Any:  # noqa: ANN401 - what a node returns
    return event.actions.route if isinstance(event, Event) else event


def _routed(outcome: Any) -> Event:  # noqa: ANN401 - an option or a truth
    given: dict[str, Any] = {"route": outcome}  # a keyword of ADK's own, and no field
    return Event(**given)


ROUTE = Lens(state=_shown, session=session, read=_route, write=_routed)
"""A function node that returns `Event(route=…)`: the node's input is shown."""

NEEDS_APPROVAL = Lens(state=arguments, session=session)
"""A predicate for `require_confirmation=`: it is shown the arguments. Needs `once=tool_call`."""
