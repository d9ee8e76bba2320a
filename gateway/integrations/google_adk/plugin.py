"""`PointsmanPlugin`: a whole ADK app behind decision points."""

from __future__ import annotations

import weakref
from typing import Any

from google.adk.agents import Context, InvocationContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.tools.base_tool import BaseTool

from ...context import Session
from ...gateway import Gateway
from ...guarding import Guard
from ..words import BLOCKED
from .callbacks import input_guardrail, output_guardrail, tool_guardrail


class PointsmanPlugin(BasePlugin):
    """
    Binds ADK's session to every decision of an app, and guards all of its agents.

    Plugins go before the callbacks of agents. What ADK raises from a plugin is a RuntimeError
    whose cause is the error itself.

    Args:
        gateway: Whose decisions are about ADK's session.
        input: Asked about each user message, as by `input_guardrail`.
        output: Asked about each answer of a model, as by `output_guardrail`.
        tools: Asked about each call of a tool, as by `tool_guardrail`.
        message: What is said in place of what is blocked.
        name: Of the plugin, once an app.

    """

    def __init__(
        self,
        gateway: Gateway,
        *,
        input: Guard | None = None,  # noqa: A002 - named as its seam is
        output: Guard | None = None,
        tools: Guard | None = None,
        message: str = BLOCKED,
        name: str = "pointsman",
    ) -> None:
        super().__init__(name=name)
        self._gateway = gateway
        self._input = None if input is None else input_guardrail(input, message=message)
        self._output = None if output is None else output_guardrail(output, message=message)
        self._tools = None if tools is None else tool_guardrail(tools, message=message)
        self._sessions: dict[str, Session] = {}

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Bind ADK's session, until the run ends."""
        bound, run = self._gateway.session(invocation_context.session.id), invocation_context
        self._sessions[run.invocation_id] = bound.__enter__()
        # of the end of a run that is cancelled, ADK tells no plugin
        weakref.finalize(run, self._leave, run.invocation_id).atexit = False

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Let go of the session."""
        self._leave(invocation_context.invocation_id)

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Let go of the session."""
        self._leave(invocation_context.invocation_id)

    def _leave(self, invocation: str) -> None:
        bound = self._sessions.pop(invocation, None)
        if bound is not None:
            bound.__exit__(None, None, None)

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Guard the user's message."""
        if self._input is None:
            return None
        return await self._input(callback_context, llm_request)

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Guard what a model wrote."""
        if self._output is None:
            return None
        return await self._output(callback_context, llm_response)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> dict[str, Any] | None:
        """Guard the call of a tool."""
        if self._tools is None:
            return None
        return await self._tools(tool, tool_args, tool_context)
