"""The framework's capabilities and validators, made of a `Guard`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic_ai import ModelRetry, RunContext, ToolDefinition
from pydantic_ai.capabilities import (
    AbstractCapability,
    CapabilityOrdering,
    WrapModelRequestHandler,
)
from pydantic_ai.exceptions import ApprovalRequired, ContentFilterError, SkipToolExecution
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import ModelRequestContext

from ... import context
from ...errors import HumanNeeded
from ...guarding import Guard
from ...state import State
from ..named import Named
from ..rails import input_state, output_state
from ..words import BLOCKED
from .seen import call_of, conversation_of, messages, refusal, refused, user_spoke_last

SessionOf: TypeAlias = Callable[[RunContext[Any]], str | None]
"""The run's context → the subject."""

Validator: TypeAlias = Callable[[RunContext[Any], Any], Awaitable[Any]]


@dataclass
class _Guarded(AbstractCapability[Any]):
    guard: Guard
    message: str
    session: SessionOf | None

    @classmethod
    def get_serialization_name(cls) -> str | None:
        return None  # it holds a gateway: none of a file's

    def subject(self, ctx: RunContext[Any]) -> str | None:
        return _subject(self.guard, self.session, ctx)


@dataclass
class _Input(_Guarded):
    async def wrap_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        handler: WrapModelRequestHandler,
    ) -> ModelResponse:
        if refused(ctx, self.guard.point.name):
            raise ContentFilterError(self.message)  # a validator has asked for another answer
        if not user_spoke_last(request_context.messages):
            return await handler(request_context)
        state = input_state(self.guard.point, messages(request_context.messages))
        ruling = await self.guard.rule(state, subject=self.subject(ctx))
        if not ruling.blocked:
            return await handler(request_context)
        asked_for = request_context.model_request_parameters
        if not asked_for.allow_text_output or asked_for.output_object is not None:
            raise ContentFilterError(self.message)  # a text would only be asked for again
        return refusal(self.message, self.guard.point.name)


@dataclass
class _Innermost(_Guarded):
    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering("innermost")  # sees the arguments that the tool will get


@dataclass
class _Tool(_Innermost):
    async def before_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
    ) -> dict[str, Any]:
        ruling = await self.guard.rule(_call(call, args), subject=self.subject(ctx))
        if ruling.blocked:
            raise SkipToolExecution(self.message)
        return args


@dataclass
class _Approval(_Innermost):
    tools: Named

    async def prepare_tools(
        self, ctx: RunContext[Any], tool_defs: list[ToolDefinition]
    ) -> list[ToolDefinition]:
        if tool_defs:
            self.tools.listed(one.name for one in tool_defs)
        return tool_defs

    async def before_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
    ) -> dict[str, Any]:
        asked = call.tool_name in self.tools
        if asked and not ctx.tool_call_approved and await self._needs(ctx, _call(call, args), call):
            raise ApprovalRequired
        return args

    async def _needs(self, ctx: RunContext[Any], state: State, call: ToolCallPart) -> bool:
        once = (call_of(ctx.messages, call.tool_call_id), state)
        subject = self._whose(ctx, call.tool_call_id)
        try:
            return (await self.guard.rule(state, subject=subject, once=once)).blocked
        except HumanNeeded:
            return True

    def _whose(self, ctx: RunContext[Any], call_id: str) -> str | None:
        if self.session is not None:
            return self.session(ctx)
        bound = context.subject(self.guard.gateway)
        return conversation_of(ctx, call_id) if bound is None else bound


def input_guardrail(
    guard: Guard, *, message: str = BLOCKED, session: SessionOf | None = None
) -> AbstractCapability[Any]:
    """
    Make an input guardrail, for `Agent(capabilities=[…])`.

    It judges what the user has just said before the model is asked, streamed or not; a blocked
    prompt is answered with *message*. An agent that can only give structured output raises
    `ContentFilterError` with it, and so does one whose validator sends that answer back.

    Args:
        guard: What blocks.
        message: The answer to what is blocked.
        session: The run's context → subject; absent: that of `gateway.session`, else the run's
            `conversation_id`.

    """
    return _Input(guard, message, session)


def output_guardrail(
    guard: Guard, *, message: str = BLOCKED, session: SessionOf | None = None
) -> Validator:
    """
    Make an output guardrail, for `agent.output_validator(…)`.

    A blocked output goes back to the model with *message*; where that is blocked as often as
    the agent retries, the run fails. While an output is streamed, its parts are let pass: only
    the whole is judged. The arguments are those of `input_guardrail`.
    """

    async def validate(ctx: RunContext[Any], output: Any) -> Any:  # noqa: ANN401 - the host's own
        if ctx.partial_output:
            return output
        state = output_state(guard.point, output)
        if (await guard.rule(state, subject=_subject(guard, session, ctx))).blocked:
            raise ModelRetry(message)
        return output

    return validate


def tool_guardrail(
    guard: Guard, *, message: str = BLOCKED, session: SessionOf | None = None
) -> AbstractCapability[Any]:
    """
    Make a guardrail over tool calls, for `Agent(capabilities=[…])`.

    A blocked call does not run; the model gets *message* as its result. The arguments are those
    of `input_guardrail`.
    """
    return _Tool(guard, message, session)


def tool_approval(
    guard: Guard, *, tools: Collection[str] | None = None, session: SessionOf | None = None
) -> AbstractCapability[Any]:
    """
    Let a person approve the tool calls that *guard* blocks, for `Agent(capabilities=[…])`.

    The agent needs `DeferredToolRequests` among its output types. A call that a person has
    decided is not asked about again; one that nobody has decided yet stays so, by whatever
    process the run is resumed and whatever the variables say by then. `on_undecided="human"`
    asks a person too. Such a decision needs a subject: without one the run ends in a
    `SetupError`, and the tool does not run.

    Args:
        guard: Whose block means that a person must approve.
        tools: Names of the tools it is about, the log telling of one that no tool has; None: all.
        session: The run's context → subject; absent: that of `gateway.session`, else the
            conversation which the call was written down in, or that the host names.

    Raises:
        SetupError: *tools* is a text, or names none.

    """
    return _Approval(guard, "", session, Named(guard, tools, "pydantic_ai"))


def _call(call: ToolCallPart, args: dict[str, Any]) -> dict[str, Any]:
    return {"tool": call.tool_name, "arguments": args}


def _subject(guard: Guard, session: SessionOf | None, ctx: RunContext[Any]) -> str | None:
    if session is not None:
        return session(ctx)
    bound = context.subject(guard.gateway)
    return ctx.conversation_id if bound is None else bound
