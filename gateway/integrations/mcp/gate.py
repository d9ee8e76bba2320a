"""One choke point for a server's tools: a guard decides about each call before it runs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
)
from mcp_types.methods import is_input_required
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ... import context as sessions
from ...errors import HumanNeeded
from ..named import Named
from .calls import ToolCall, called, session_of, shown
from .rounds import KEY, PROCEED, Round, agreed, opened

if TYPE_CHECKING:
    from mcp.server.session import ServerSession
    from mcp_types import InputRequests, RequestId

    from ...guarding import Guard
    from ...state import State

DENIED = "This call was stopped by the server's policy."
FAILED = "The server could not decide about this call, so that it was not made."
MALFORMED = "The call names no tool, or its arguments are no object."
LONGEST = 2000  # characters of arguments that a person is shown
ASTRAL = 0x10000  # JSON writes what begins here as two numbers
FORM = {
    "type": "object",
    "properties": {PROCEED: {"type": "boolean", "title": "Let it run"}},
    "required": [PROCEED],
}

Verdict: TypeAlias = Literal["run", "stop", "person"]


def question(call: ToolCall) -> str:
    """
    Write what a person is asked about *call*; what is too long to show is said to be cut.

    What would not be seen, or would turn what is seen about, is written by its number.
    """
    written = json.dumps(dict(call.arguments), ensure_ascii=False, default=repr)
    written = "".join(one if one.isprintable() else _number(one) for one in written)
    cut = f" (the first {LONGEST} of {len(written)} characters)" if len(written) > LONGEST else ""
    return f"May the tool {call.tool!r} run with these arguments?{cut}\n{written[:LONGEST]}"


def _number(glyph: str) -> str:
    return f"\\u{ord(glyph):04x}" if ord(glyph) < ASTRAL else json.dumps(glyph)[1:-1]


class Gate:
    """
    What the gates of both servers share.

    Args:
        guard: Decides; what it blocks does not run.
        tools: Names of the tools that are decided about, as clients write them; None: all.
        state: The call → what deciders are shown; absent: its name and arguments.
        subject: A middleware's context → who it is about; absent: the session, if the transport
            has one, else the gateway's own; a call without either is a subject of its own.
        message: What the client is told of a call that is stopped.
        ask: The call → what a person is asked about it.

    Raises:
        SetupError: *tools* is a text, or names none.

    """

    def __init__(
        self,
        guard: Guard,
        *,
        tools: Collection[str] | None = None,
        state: Callable[[ToolCall], State] = shown,
        subject: Callable[[Any], str | None] = session_of,
        message: str = DENIED,
        ask: Callable[[ToolCall], str] = question,
    ) -> None:
        self._guard, self._tools, self._state = guard, Named(guard, tools, "mcp"), state
        self._subject, self._message, self._ask = subject, message, ask

    async def _judged(self, context: Any, call: ToolCall, turn: Round) -> Verdict:  # noqa: ANN401 - of either server
        """
        Decide about one round of a call; what was decided in an earlier one stands.

        Raises:
            MCPError: It cannot be decided. An exception's own text would reach the client.

        """
        if turn.said == "no":
            return "stop"
        with self._discreet():
            try:
                ruling = await self._guard.rule(
                    self._state(call),
                    subject=self._about(context, turn),
                    once=(turn.call, dict(call.arguments)),
                )
            except HumanNeeded:
                return "run" if turn.said == "yes" else "person"
        return "stop" if ruling.blocked else "run"

    async def _asked(self, session: ServerSession, call: ToolCall, request: RequestId) -> Verdict:
        """Ask the person within the request, as before 2026-07-28."""
        with self._discreet():
            reply = await session.elicit_form(self._ask(call), FORM, request)
        return "run" if agreed(reply.action, reply.content) == "yes" else "stop"

    def _required(self, call: ToolCall, turn: Round) -> InputRequiredResult:
        """Ask the person by ending the request, as since 2026-07-28."""
        with self._discreet():
            return required(self._ask(call), turn)

    @contextlib.contextmanager
    def _discreet(self) -> Iterator[None]:
        """
        Let no exception's own text reach the client; the log is told of its type.

        Raises:
            MCPError: With a fixed text, for whatever is raised within.

        """
        try:
            yield
        except Exception as error:
            told = {"point": self._guard.point.name, "error": type(error).__name__}
            self._guard.gateway.tell("error", "mcp.gate_failed", told)
            raise MCPError(INTERNAL_ERROR, FAILED) from error

    def _about(self, context: Any, turn: Round) -> str | None:  # noqa: ANN401 - of either server
        named = self._subject(context) or sessions.subject(self._guard.gateway)
        return named or turn.call


class ToolGate(Gate):
    """
    A middleware of `MCPServer`, and of the low-level `Server`: `MCPServer(middleware=[gate])`.

    A call that is stopped ends as `MCPError`. Where a person must decide, the one behind the
    client is asked if the client can; else the call is stopped.
    """

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """
        Let a call of a tool through, or stop it.

        Raises:
            MCPError: It is stopped, or is no call.

        """
        if ctx.method == "tools/list":
            return self._listed(await call_next(ctx))
        if ctx.method != "tools/call":
            return await call_next(ctx)
        call = called(ctx)
        if call is None:  # nobody decided about it, so that it must not depend on others
            raise MCPError(INVALID_PARAMS, MALFORMED)
        if call.tool not in self._tools:
            return await call_next(ctx)
        params = ctx.params or {}
        turn = opened(params.get("requestState"), params.get("inputResponses"))
        verdict = await self._judged(ctx, call, turn)
        if verdict == "person":
            if not can_ask(ctx.session):
                verdict = "stop"
            elif ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return self._required(call, turn)
            else:
                verdict = await self._asked(ctx.session, call, ctx.request_id or "")
        if verdict == "stop":
            raise MCPError(INVALID_REQUEST, self._message)
        return carried(await call_next(replace(ctx, params=own(params, turn))), turn)

    def _listed(self, result: HandlerResult) -> HandlerResult:
        if isinstance(result, Mapping):  # as on the wire
            tools, cursor = (one["name"] for one in result["tools"]), result.get("nextCursor")
            self._tools.listed(tools, last=cursor is None)
        return result


def can_ask(session: ServerSession) -> bool:
    """Whether the client can put a form before a person, and be asked to."""
    capabilities = session.client_capabilities
    can = None if capabilities is None else capabilities.elicitation
    modern = session.protocol_version in MODERN_PROTOCOL_VERSIONS  # asked by ending the request
    forms = can is not None and (can.form is not None or can.url is None)
    return forms and (modern or session.can_send_request)


def required(message: str, turn: Round) -> InputRequiredResult:
    """End a round with a question to the person."""
    form = ElicitRequestFormParams(message=message, requested_schema=FORM)
    asked: InputRequests = {KEY: ElicitRequest(params=form)}
    return InputRequiredResult(input_requests=asked, request_state=turn.carried(turn.state))


def carried(result: HandlerResult, turn: Round) -> HandlerResult:
    """Keep what the round knows, where the tool itself asks for another one."""
    if not is_input_required(result):
        return result
    if isinstance(result, Mapping):
        return {**result, "requestState": turn.carried(result.get("requestState"))}
    assert isinstance(result, InputRequiredResult)
    return result.model_copy(update={"request_state": turn.carried(result.request_state)})


def own(params: Mapping[str, Any], turn: Round) -> dict[str, Any]:
    """Give a request as the tool behind the gate expects it: without our part."""
    kept = {name: value for name, value in params.items() if name not in _ROUND}
    ours = {"requestState": turn.state, "inputResponses": turn.answers}
    return {**kept, **{name: value for name, value in ours.items() if value is not None}}


_ROUND = ("requestState", "inputResponses")
