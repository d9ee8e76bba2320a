"""Callbacks of ADK agents that a guard stands behind: what goes in, what comes out, tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from google.adk.agents import Context
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.base_tool import BaseTool

from ...errors import HumanNeeded
from ...guarding import Guard
from ..rails import output_state
from ..words import BLOCKED
from .lenses import arguments, call_id, exactly, session, tool_call
from .seeing import heard, reply, response_words, words_of

_PENDING: Final = {"error": "This tool call requires confirmation, please approve or reject."}
_REJECTED: Final = {"error": "This tool call is rejected."}  # both as ADK says them itself

BeforeModel: TypeAlias = Callable[[Context, LlmRequest], Awaitable[LlmResponse | None]]
AfterModel: TypeAlias = Callable[[Context, LlmResponse], Awaitable[LlmResponse | None]]
BeforeTool: TypeAlias = Callable[
    [BaseTool, dict[str, Any], Context], Awaitable[dict[str, Any] | None]
]


def input_guardrail(guard: Guard, *, message: str = BLOCKED) -> BeforeModel:
    """
    Make a `before_model_callback` that asks *guard* about the user's message.

    It is asked once an invocation, however many model calls and agents that has. A point of your
    own is shown the text; one that reads `text`, what was said before as its history besides. A
    blocked message is answered with *message*, without a call of the model.

    Raises:
        HumanNeeded: When called: nobody decided, and the guard wants a person then; the run ends.

    """

    async def guarded(
        callback_context: Context,
        llm_request: LlmRequest,  # noqa: ARG001 - ADK passes it by name
    ) -> LlmResponse | None:
        if not (said := words_of(callback_context.user_content)):
            return None
        once = (callback_context.invocation_id, said)
        shown = heard(guard.point, callback_context, said)
        ruling = await guard.rule(shown, subject=session(callback_context), once=once)
        return reply(message) if ruling.blocked else None

    return guarded


def output_guardrail(guard: Guard, *, message: str = BLOCKED) -> AfterModel:
    """
    Make an `after_model_callback` that asks *guard* about what the model wrote.

    Chunks of a stream are withheld, so that nothing is seen before the guard has read it all:
    the answer comes at once, at the end. Every word of it is read: the model's thoughts, code,
    documents of text, what its sound was heard to say, an error's message. A blocked answer is
    replaced by *message*, with the tool calls that came along. Pictures and sound are not read.

    Raises:
        HumanNeeded: When called: nobody decided, and the guard wants a person then; the run ends.

    """

    async def guarded(callback_context: Context, llm_response: LlmResponse) -> LlmResponse | None:
        if llm_response.partial:
            return LlmResponse()
        if not (said := response_words(llm_response)):
            return None
        shown = output_state(guard.point, said)
        ruling = await guard.rule(shown, subject=session(callback_context))
        return reply(message) if ruling.blocked else None

    return guarded


def tool_guardrail(guard: Guard, *, message: str = BLOCKED) -> BeforeTool:
    """
    Make a `before_tool_callback` that asks *guard* about a tool's name and arguments, once a call.

    A blocked call is answered with *message* as its error. Where nobody decided and the guard
    wants a person then, ADK's own confirmation is requested; what the person says counts.
    """

    async def guarded(
        tool: BaseTool, args: dict[str, Any], tool_context: Context
    ) -> dict[str, Any] | None:
        state = {"tool": tool.name, "arguments": arguments(**args)}
        once = (call_id(tool_context), {"tool": tool.name, "arguments": exactly(**args)})
        subject = session(tool_context)
        try:
            ruling = await guard.rule(state, subject=subject, once=once)
        except HumanNeeded:
            return _confirmed(tool, tool_context)
        return {"error": message} if ruling.blocked else None

    return guarded


def _confirmed(tool: BaseTool, context: Context) -> dict[str, Any] | None:
    given = context.tool_confirmation
    if given is not None:
        return None if given.confirmed else dict(_REJECTED)
    context.request_confirmation(hint=f"Approve or reject the call of {tool.name}.")
    context.actions.skip_summarization = True
    return dict(_PENDING)


def confirmation(guard: Guard) -> Callable[..., Awaitable[bool]]:
    """
    Make a predicate for `require_confirmation=`: a person confirms what *guard* blocks.

    So does a person where nobody decided and the guard wants one then. The tool's function
    needs a parameter `tool_context: ToolContext`: without it a call cannot be told from
    another, and one that a person rejected would be decided anew.

    Raises:
        SetupError: When called: the tool's function has no such parameter.

    """

    async def required(**given: Any) -> bool:  # noqa: ANN401 - the tool's own arguments
        once, shown = tool_call(**given), arguments(**given)
        try:
            ruling = await guard.rule(shown, subject=session(**given), once=once)
        except HumanNeeded:
            return True
        return ruling.blocked

    return required
