"""
CrewAI: routers of flows, guardrails of tasks, and hooks.

CrewAI calls all of them but the routers synchronously, on the running loop too: a provider asked
there has its timeout, and the loop waits as long. Hooks swallow every exception but `HookAborted`;
what is made here raises nothing else, so that no failure lets through what it should have stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..errors import HumanNeeded
from ..lens import Lens
from . import needs
from .rails import input_state, output_state
from .words import BLOCKED

try:
    from crewai.hooks import HookAborted
except ImportError as missing:
    raise needs("crewai", "CrewAI") from missing

if TYPE_CHECKING:
    from ..guarding import Guard
    from ..points import DecisionPoint
    from ..state import State

__all__ = [
    "BLOCKED",
    "ROUTER",
    "TURN",
    "input_guardrail",
    "model_guardrail",
    "output_guardrail",
    "task_guardrail",
    "tool_guardrail",
]

FAILED = "A guardrail could not decide, so that this was stopped."
SOURCE = "pointsman"
NOTHING: Any = object()  # is there to be judged

Hook: TypeAlias = Callable[[Any], None]
Once: TypeAlias = Callable[[Any], tuple[str, object] | None]
Person: TypeAlias = Callable[[HumanNeeded, Any], bool]
Shows: TypeAlias = "Callable[[Any], State]"
Subject: TypeAlias = Callable[[Any], str | None]


# --- flows -------------------------------------------------------------------------------


def _flow_state(flow: Any, result: Any = None, *_: Any, **__: Any) -> State:  # noqa: ANN401 - the flow's own
    """Show what the trigger gave the router; a router that takes nothing shows the flow's state."""
    if result is not None:
        return cast("State", getattr(result, "raw", result))
    state = flow.state
    fields = state if isinstance(state, Mapping) else state.model_dump(mode="json")
    return {name: value for name, value in fields.items() if name != "id"}


def _flow_id(flow: Any, *_: Any, **__: Any) -> str | None:  # noqa: ANN401 - the flow's own
    return flow.flow_id or None


def _turn_state(flow: Any, context: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001, ANN401 - the flow's own
    """Show the words of the user; what the system is told is no state."""
    return {"message": context["current_user_message"], "history": context["message_history"]}


ROUTER = Lens(state=_flow_state, session=_flow_id)
"""
For a method below `@router(…)`: what its trigger gave it, else the flow's state, is shown.

The subject is the flow's id, which persistence keeps.
"""

TURN = Lens(state=_turn_state, session=_flow_id)
"""For an override of `route_turn` of a conversational flow; the message and what came before it."""


# --- tasks -------------------------------------------------------------------------------


def task_guardrail(
    guard: Guard,
    *,
    state: Shows | None = None,
    subject: Subject | None = None,
    message: str = BLOCKED,
) -> Callable[[Any], tuple[bool, Any]]:
    """
    Make the guardrail of a task or an agent: `Task(guardrail=task_guardrail(guard))`.

    Args:
        guard: Looks at the output; its *current* must not be async.
        state: The output → what deciders are shown; absent: its text.
        subject: The output → who it is about; absent: the gateway's session.
        message: What the agent is told when it has to try again.

    Returns:
        A function that raises `HumanNeeded` where a person must decide: the task ends with it.

    """
    shows = state or partial(_raw, guard.point)

    def guardrail(output: Any) -> Any:  # noqa: ANN401 - annotated below
        about = None if subject is None else subject(output)
        if guard.rule_sync(shows(output), subject=about).blocked:
            return False, message
        return True, output.raw  # as text: CrewAI parses what passes, and no whole output

    guardrail.__annotations__ = {"output": Any, "return": tuple[bool, Any]}  # CrewAI reads it raw
    return guardrail


def _raw(point: DecisionPoint, output: Any) -> State:  # noqa: ANN401 - a task's or an agent's
    return output_state(point, str(output.raw))


# --- hooks -------------------------------------------------------------------------------


def tool_guardrail(
    guard: Guard,
    *,
    state: Shows | None = None,
    subject: Subject | None = None,
    once: Once | None = None,
    person: Person | None = None,
) -> Hook:
    """
    Make a hook that decides about calls of tools: `before_tool_call(tool_guardrail(guard))`.

    Args:
        guard: Decides; what it blocks does not run, and CrewAI tells the agent so.
        state: The hook's context → what deciders are shown; absent: tool and arguments.
        subject: The context → who it is about; absent: the gateway's session.
        once: The context → the call's id and its exact arguments, to decide it once. CrewAI gives
            its hooks no id; absent: each call is decided on its own.
        person: Asks a person where one must decide; only True lets the call run. Absent: stopped.

    """
    return _hook(guard, state or _tool_call, subject, once, person)


def input_guardrail(
    guard: Guard,
    *,
    state: Shows | None = None,
    subject: Subject | None = None,
    person: Person | None = None,
    message: str = BLOCKED,
) -> Hook:
    """
    Make a hook for `@on(InterceptionPoint.INPUT)`: what is blocked ends `kickoff` before it begins.

    *state* is made of the hook's context; absent: the inputs, and to a point that reads words the
    texts of all of them. A run without inputs is not asked about. *message* is the reason that
    `HookAborted` brings; the other arguments are those of `tool_guardrail`.
    """
    return _hook(guard, state or partial(_inputs, guard.point), subject, None, person, message)


def model_guardrail(
    guard: Guard,
    *,
    state: Shows | None = None,
    subject: Subject | None = None,
    person: Person | None = None,
    message: str = BLOCKED,
) -> Hook:
    """As `input_guardrail`, for `@on(InterceptionPoint.PRE_MODEL_CALL)`: the messages are shown."""
    return _hook(guard, state or partial(_messages, guard.point), subject, None, person, message)


def output_guardrail(
    guard: Guard,
    *,
    state: Shows | None = None,
    subject: Subject | None = None,
    person: Person | None = None,
    message: str = BLOCKED,
) -> Hook:
    """As `input_guardrail`, for `@on(InterceptionPoint.OUTPUT)`: the result's text is shown."""
    return _hook(guard, state or partial(_output, guard.point), subject, None, person, message)


def _hook(
    guard: Guard,
    state: Shows,
    subject: Subject | None,
    once: Once | None,
    person: Person | None,
    message: str = BLOCKED,
) -> Hook:
    stops = partial(_stops, guard, state, subject, once, person)

    def hook(context: Any) -> None:  # noqa: ANN401 - of whichever point it is registered for
        try:
            stopped = stops(context)
        except Exception as error:
            told = {"point": guard.point.name, "error": type(error).__name__}
            guard.gateway.tell("error", "crewai.hook_failed", told)
            raise HookAborted(FAILED, SOURCE) from error
        if stopped:
            raise HookAborted(message, SOURCE)

    return hook


def _stops(
    guard: Guard,
    state: Shows,
    subject: Subject | None,
    once: Once | None,
    person: Person | None,
    context: Any,  # noqa: ANN401 - the same
) -> bool:
    shown = state(context)
    if shown is NOTHING:
        return False
    try:
        ruling = guard.rule_sync(
            shown,
            subject=None if subject is None else subject(context),
            once=None if once is None else once(context),
        )
    except HumanNeeded as need:
        return person is None or person(need, context) is not True
    return ruling.blocked


def _tool_call(context: Any) -> dict[str, Any]:  # noqa: ANN401 - CrewAI's
    return {"tool": context.tool_name, "arguments": context.tool_input}


def _inputs(point: DecisionPoint, context: Any) -> State:  # noqa: ANN401 - CrewAI's
    """
    Show the inputs; to a point that reads words, the texts of all of them.

    A task's template may take any of them, whichever of their names the point reads as well.
    """
    inputs = context.payload
    if not isinstance(inputs, Mapping):
        return NOTHING if inputs is None else cast("State", inputs)
    given = {name: one for name, one in inputs.items() if one is not None}
    if not given:
        return NOTHING  # type: ignore[no-any-return]
    if not point.words:
        return cast("State", inputs)
    text = "\n\n".join(_text(one) for one in given.values())
    return input_state(point, [{"role": "user", "content": text}])


def _text(value: object) -> str:
    """Give a text as it is, and anything else as JSON, which has the texts within it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _messages(point: DecisionPoint, context: Any) -> State:  # noqa: ANN401 - CrewAI's
    given = context.messages
    every = [given] if isinstance(given, str | Mapping) else given
    return input_state(point, [_message(one) for one in every])


def _message(given: object) -> dict[str, str]:
    """Read one message, whatever a model's own code made of it; what has no role is the user's."""
    if not isinstance(given, Mapping):
        return {"role": "user", "content": _said(given)}
    message = cast("Mapping[str, Any]", given)
    return {"role": str(message.get("role") or "user"), "content": _said(message.get("content"))}


def _said(content: object) -> str:
    """Give the texts of a content, and the types of what is no text; None is a call of tools."""
    if content is None:
        return ""
    if isinstance(content, Mapping):
        part = cast("Mapping[str, Any]", content)
        inner = part.get("text", part.get("content"))
        return f"[{part.get('type', 'part')}]" if inner is None else _said(inner)
    if isinstance(content, Sequence) and not isinstance(content, str):
        return "\n".join(_said(one) for one in cast("Sequence[object]", content))
    return str(content)


def _output(point: DecisionPoint, context: Any) -> State:  # noqa: ANN401 - CrewAI's
    said = getattr(context.payload, "raw", context.payload)
    return NOTHING if said is None else output_state(point, str(said))
