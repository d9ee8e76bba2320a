"""How each seam of the SDK is seen as a decision: for `gateway.point(…, lens=…)` under its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents import (
    GuardrailFunctionOutput,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    ToolOutputGuardrailData,
)

from ...lens import Lens
from ...state import State
from ..words import BLOCKED
from .seen import Items, arguments, shown


def once_per_call(
    _ctx: RunContextWrapper[Any], params: Mapping[str, Any], call_id: str
) -> tuple[str, object]:
    """Name the tool call that an approval is about, for `once=`: a decision made stands."""
    return call_id, params


def tool_input(data: ToolInputGuardrailData) -> dict[str, Any]:
    """Show a tool call: which tool, with which arguments."""
    call = data.context
    return {"tool": call.tool_name, "arguments": arguments(call.tool_arguments)}


def tool_output(data: ToolOutputGuardrailData) -> dict[str, Any]:
    """Show what a tool gave, and to which call."""
    output: State = data.output if isinstance(data.output, str) else _json(data.output)
    return {**tool_input(data), "output": output}


def _json(output: object) -> State:
    plain = output is None or isinstance(output, str | int | float | bool | list | dict)
    return output if plain or hasattr(output, "model_dump") else str(output)


def _input(_ctx: RunContextWrapper[Any], _agent: object, given: Items) -> State:
    return shown(given)


def _output(_ctx: RunContextWrapper[Any], _agent: object, output: object) -> State:
    return output if isinstance(output, str) else {"answer": _json(output)}


def _approval(_ctx: RunContextWrapper[Any], params: Mapping[str, Any], _call_id: str) -> State:
    return {"arguments": dict(params)}


def _turn(ctx: RunContextWrapper[Any], _agent: object) -> State:
    return shown(ctx.turn_input)


def tripped(outcome: object) -> GuardrailFunctionOutput:
    """Write a truth as the SDK's own result."""
    return GuardrailFunctionOutput({"tripwire": bool(outcome)}, tripwire_triggered=bool(outcome))


def rejected(outcome: object) -> ToolGuardrailFunctionOutput:
    """Write a truth as the SDK's own result: true refuses the call's content."""
    made = ToolGuardrailFunctionOutput
    return made.reject_content(BLOCKED) if outcome else made.allow()


def _rejects(output: ToolGuardrailFunctionOutput) -> bool:
    return output.behavior["type"] != "allow"


def _trips(output: GuardrailFunctionOutput) -> bool:
    return output.tripwire_triggered


TRIPWIRE = Lens(state=_input, read=_trips, write=tripped, blocks=True)
"""Under `@input_guardrail`: true trips. A `def` runs on the event loop: write `async def`."""

OUTPUT_TRIPWIRE = Lens(state=_output, read=_trips, write=tripped, blocks=True)
"""Under `@output_guardrail`: true trips. What was streamed has been seen by then."""

TOOL_INPUT = Lens(state=tool_input, read=_rejects, write=rejected, blocks=True)
"""Under `@tool_input_guardrail`: true refuses the call, and the model is told so."""

TOOL_OUTPUT = Lens(state=tool_output, read=_rejects, write=rejected, blocks=True)
"""Under `@tool_output_guardrail`: true withholds what the tool gave."""

NEEDS_APPROVAL = Lens(state=_approval, blocks=True)
"""
Over the function given as `needs_approval`, with `once=once_per_call`: true asks a person.

It sees the arguments and not the tool, whose name the SDK does not tell; name it in the question.
"""

ENABLED = Lens(state=_turn, blocks=False)
"""Over the function given as `is_enabled`: one decision for each hand-off in each turn."""
