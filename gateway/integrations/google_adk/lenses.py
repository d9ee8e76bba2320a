"""How ADK's own function seams are seen: nodes of a workflow, and who approves a tool's call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.adk.agents import Context
from google.adk.events import Event
from google.genai.types import FunctionCall

from ...errors import SetupError
from ...lens import Lens
from ...state import State
from .seeing import context_of, plain, readable

CALLED_BY_NAME = "node_input"  # what ADK calls the parameter of a node that takes its input


def arguments(*args: Any, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401 - the tool's own
    """Show what a tool is called with, as JSON: what JSON cannot say by its type."""
    return {name: plain(one) for name, one in exactly(*args, **kwargs).items()}


def exactly(*args: Any, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401 - the tool's own
    """Give what a tool is called with, as it is; ADK's context is none of it."""
    named = {f"argument_{at}": one for at, one in enumerate(args)} | kwargs
    return {name: one for name, one in named.items() if not isinstance(one, Context)}


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
    return call_id(context), exactly(*args, **kwargs)


def call_id(context: Context) -> str:
    """
    Name a tool's call within its session.

    A model may use a call's id again, so that the invocation that brought the call is named too,
    and how often this one has brought it. The session keeps all of it, also over a restart; the
    ids of its events some services give anew.
    """
    call = context.function_call_id or ""
    bringing = [
        event.invocation_id
        for event in _until_asked(context)
        if any(one.id == call for one in event.get_function_calls())
    ]
    return f"{bringing[-1]}/{bringing.count(bringing[-1])}/{call}" if bringing else call


def _until_asked(context: Context) -> list[Event]:
    """Give the events up to the question that a person has just answered; all where none is."""
    events = context.session.events
    if context.tool_confirmation is None:
        return events
    said = [event for event in events if event.author == "user"][-1:]
    answered = {one.id for event in said for one in event.get_function_responses()}
    for at, event in enumerate(events):
        asked = [one for one in event.get_function_calls() if one.id in answered]
        if any(_asks_about(one) == context.function_call_id for one in asked):
            return events[:at]
    return events


def _asks_about(request: FunctionCall) -> object:
    original = (request.args or {}).get("originalFunctionCall")
    return original.get("id") if isinstance(original, Mapping) else None


def _shown(*args: Any, **kwargs: Any) -> State:  # noqa: ANN401 - the node's own
    if CALLED_BY_NAME in kwargs:
        return readable(kwargs[CALLED_BY_NAME])
    given = exactly(*args, **kwargs)
    return readable(given if len(given) != 1 else next(iter(given.values())))


def _route(event: Any) -> Any:  # noqa: ANN401 - what a node returns
    return event.actions.route if isinstance(event, Event) else event


def _routed(outcome: Any) -> Event:  # noqa: ANN401 - an option or a truth
    given: dict[str, Any] = {"route": outcome}  # a keyword of ADK's own, and no field
    return Event(**given)


ROUTE = Lens(state=_shown, session=session, read=_route, write=_routed)
"""
A function node that returns `Event(route=…)`: the node's input is shown.

Input that holds more than words, or none, is left to the node.
"""

NEEDS_APPROVAL = Lens(state=arguments, session=session, blocks=True)
"""A predicate for `require_confirmation=`: it is shown the arguments. Needs `once=tool_call`."""
