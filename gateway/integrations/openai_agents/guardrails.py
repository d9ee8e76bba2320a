"""The SDK's guardrails and approvals, made of a `Guard`: for hosts that have none today."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import agents
from agents import (
    AgentsException,
    GuardrailFunctionOutput,
    InputGuardrail,
    OutputGuardrail,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
)

from ...errors import HumanNeeded
from ...guarding import Guard, Ruling
from ...state import State
from ..rails import input_state, output_state
from ..words import BLOCKED
from .lenses import tool_input, tool_output
from .seen import Items, messages

SessionOf: TypeAlias = Callable[[Any], str | None]
"""The user's own context object, as given to `Runner.run(context=…)` → the subject."""

Approval: TypeAlias = Callable[[RunContextWrapper[Any], dict[str, Any], str], Awaitable[bool]]


class _PersonNeeded(HumanNeeded, AgentsException):
    """One of the SDK's own errors too: around a tool it wraps all others in a `UserError`."""


def input_guardrail(
    guard: Guard,
    *,
    name: str | None = None,
    run_in_parallel: bool = False,
    session: SessionOf | None = None,
    state: Callable[[Items], State] | None = None,
) -> InputGuardrail[Any]:
    """
    Make an input guardrail, for `Agent(input_guardrails=[…])`.

    It runs before the agent. In parallel, the SDK's own default, the model has already spoken
    and a tool may have run when the guard blocks; whoever streams has shown it.

    Args:
        guard: What blocks.
        name: Used in traces; the point's name if absent.
        run_in_parallel: Beside the agent, for speed: what it blocks may have happened.
        session: Context object → subject; absent: that of `gateway.session`.
        state: Input → what deciders are shown; absent: its words.

    """

    async def guardrail(
        ctx: RunContextWrapper[Any], _agent: agents.Agent[Any], given: Items
    ) -> GuardrailFunctionOutput:
        seen = state(given) if state else input_state(guard.point, messages(given))
        return _output(guard, await guard.rule(seen, subject=_subject(session, ctx)))

    return InputGuardrail(guardrail, name or guard.point.name, run_in_parallel)


def output_guardrail(
    guard: Guard,
    *,
    name: str | None = None,
    session: SessionOf | None = None,
) -> OutputGuardrail[Any]:
    """
    Make an output guardrail, for `Agent(output_guardrails=[…])`.

    It judges the final output, when all of it is there: where a run is streamed, its text has
    been shown by then. The arguments are those of `input_guardrail`.
    """

    async def guardrail(
        ctx: RunContextWrapper[Any], _agent: agents.Agent[Any], output: object
    ) -> GuardrailFunctionOutput:
        seen = output_state(guard.point, output)
        return _output(guard, await guard.rule(seen, subject=_subject(session, ctx)))

    return OutputGuardrail(guardrail, name or guard.point.name)


def tool_input_guardrail(
    guard: Guard,
    *,
    message: str = BLOCKED,
    name: str | None = None,
    session: SessionOf | None = None,
) -> ToolInputGuardrail[Any]:
    """
    Make a guardrail over a tool's call, for `function_tool(tool_input_guardrails=[…])`.

    A blocked call does not run; the model is told *message* and carries on.
    """

    async def guardrail(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        ruling = await _ruled(guard, tool_input(data), _subject(session, data.context))
        return _content(guard, ruling, message)

    return ToolInputGuardrail(guardrail, name or guard.point.name)


def tool_output_guardrail(
    guard: Guard,
    *,
    message: str = BLOCKED,
    name: str | None = None,
    session: SessionOf | None = None,
) -> ToolOutputGuardrail[Any]:
    """
    Make a guardrail over what a tool gave, for `function_tool(tool_output_guardrails=[…])`.

    The tool has run by then; of a blocked output the model sees *message* and nothing else.
    """

    async def guardrail(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        ruling = await _ruled(guard, tool_output(data), _subject(session, data.context))
        return _content(guard, ruling, message)

    return ToolOutputGuardrail(guardrail, name or guard.point.name)


def needs_approval(guard: Guard, *, tool: str, session: SessionOf | None = None) -> Approval:
    """
    Make the function for `function_tool(needs_approval=…)`: a blocked call asks a person.

    Asked again for the same call, by a resumed run or in another process, it says the same,
    whatever the provider or the variables say by then. Such a decision needs a subject.
    `on_undecided="human"` asks a person too.

    Args:
        guard: Whose block means that a person must approve.
        tool: The tool's name, which the SDK does not tell.
        session: Context object → subject; absent: that of `gateway.session`.

    """

    async def approval(ctx: RunContextWrapper[Any], params: dict[str, Any], call_id: str) -> bool:
        state = {"tool": tool, "arguments": params}
        try:
            subject = _subject(session, ctx)
            return (await guard.rule(state, subject=subject, once=(call_id, state))).blocked
        except HumanNeeded:
            return True

    return approval


def _subject(session: SessionOf | None, ctx: RunContextWrapper[Any]) -> str | None:
    return None if session is None else session(ctx.context)


async def _ruled(guard: Guard, state: State, subject: str | None) -> Ruling:
    try:
        return await guard.rule(state, subject=subject)
    except HumanNeeded as why:
        raise _PersonNeeded(why.point, why.id, why.attempts) from None


def _told(guard: Guard, ruling: Ruling) -> dict[str, Any]:
    """Tell in plain data what was decided: it goes into the SDK's traces and results."""
    record = ruling.decision.record
    told = {"point": guard.point.name, "blocked": ruling.blocked, "provider": record.provider}
    return {**told, "decision": record.id}


def _output(guard: Guard, ruling: Ruling) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput(_told(guard, ruling), tripwire_triggered=ruling.blocked)


def _content(guard: Guard, ruling: Ruling, message: str) -> ToolGuardrailFunctionOutput:
    told, made = _told(guard, ruling), ToolGuardrailFunctionOutput
    return made.reject_content(message, told) if ruling.blocked else made.allow(told)
