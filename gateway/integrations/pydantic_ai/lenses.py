"""How each seam is seen as a decision: for `gateway.point(…, lens=…)` over its own function."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai.models import ModelSelectionContext
from pydantic_graph import StepContext

from ... import context
from ...lens import Lens
from ...state import State
from .seen import call_of, conversation_of, shown


def once_per_call(
    ctx: RunContext[Any], tool: ToolDefinition, args: Mapping[str, Any]
) -> tuple[str, object] | None:
    """Name the tool call that an approval is about, for `once=`: a decision made stands."""
    if ctx.tool_call_id is None:
        return None
    return call_of(ctx.messages, ctx.tool_call_id), {"tool": tool.name, "arguments": dict(args)}


def _conversation(ctx: RunContext[Any], *_: object) -> str | None:
    if ctx.tool_call_id is None or context.named():
        return None  # the session's
    return conversation_of(ctx, ctx.tool_call_id)


def _call(_ctx: RunContext[Any], tool: ToolDefinition, args: Mapping[str, Any]) -> State:
    return {"tool": tool.name, "arguments": dict(args)}


def _selecting(ctx: ModelSelectionContext[Any]) -> State:
    return shown(ctx.messages)


def _node(node: object, _ctx: object) -> State:
    if not dataclasses.is_dataclass(node) or isinstance(node, type):
        return {}
    return {one.name: getattr(node, one.name) for one in dataclasses.fields(node)}


def _step(ctx: StepContext) -> State:
    return ctx.inputs


NEEDS_APPROVAL = Lens(state=_call, session=_conversation, blocks=True)
"""
Over the function given to `toolset.approval_required(…)`, with `once=once_per_call`: true asks.

That function is a `def`, and runs on the event loop; `tool_approval` is the async form.
"""

SELECT_MODEL = Lens(state=_selecting)
"""Over the function given to `SelectModel`: with `write=` where the options are no model ids."""

STEP = Lens(state=_step)
"""Under a step of `GraphBuilder`: its inputs are the state, its `Literal` the options."""

NODE = Lens(state=_node)
"""Over `BaseNode.run`: the node's fields are the state; `write=` makes the next node."""
