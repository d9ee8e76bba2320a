"""Whether a tool may be called: a function middleware, and rules of automatic approval."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from agent_framework import (
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    MiddlewareFailure,
    MiddlewareTermination,
)

from ...errors import HumanNeeded
from ...lens import Lens
from ..named import Named
from ..words import REFUSED
from .seeing import call_of, session_id

if TYPE_CHECKING:
    from ...guarding import Guard


Rule: TypeAlias = Callable[[Content], Awaitable[bool]]


def _called(call: Content) -> dict[str, Any]:
    return call_of(call.name, call.parse_arguments())


AUTO_APPROVAL = Lens(state=_called, blocks=False)
"""A rule of `ToolApprovalMiddleware(auto_approval_rules=[…])`: true lets one call run unasked."""


def once_per_call(call: Content) -> tuple[str, object]:
    """
    Name the call that a rule is about, for `once=`: what was decided stands.

    The framework's own id of a call tells it from others of the same session, where a model
    repeats its ids, and is kept in the session. Rules are not told of the session: it has to be
    bound, by `SessionMiddleware` or `gateway.session`.
    """
    return _named(call.id, call.call_id), _called(call)


def auto_approval(guard: Guard) -> Rule:
    """
    Make a rule for `ToolApprovalMiddleware`: what *guard* does not block needs no person.

    A call that waits behind others is asked about again; what was decided stands, whatever the
    provider or the variables say by then. `on_undecided="human"` asks a person too.
    """

    async def rule(call: Content) -> bool:
        try:
            return not (await guard.rule(_called(call), once=once_per_call(call))).blocked
        except HumanNeeded:
            return False

    return rule


class ApprovalMiddleware(FunctionMiddleware):
    """
    Rules on tool calls before they run; the model reads *message* in place of a blocked one.

    Where *guard* wants a person, the run ends with the framework's own request for approval,
    and goes on when it is run again with the response. A ruling stands over that, also in another
    process where a journal is kept. It needs a session: of the run, or of `gateway.session`.

    A guard that fails aborts the run, by `MiddlewareFailure`: any other exception would become
    the tool's result, which a model may talk its way around.

    Args:
        guard: Rules on the tool and its arguments.
        tools: Names of the tools that it rules on; absent: all.
        message: What the model reads in place of the tool's result.

    Raises:
        SetupError: *tools* is a text, or names none.

    """

    def __init__(
        self, guard: Guard, *, tools: Collection[str] | None = None, message: str = REFUSED
    ) -> None:
        self._guard, self._message = guard, message
        self._tools = Named(guard, tools, "agent_framework")

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Run the tool unless its call is blocked."""
        bound = filter(None, (getattr(one, "name", None) for one in context.tools or ()))
        if not self._tools.rules(context.function.name, bound):
            await call_next()
        elif await self._blocked(context):
            context.result = self._message
        else:
            await call_next()

    async def _blocked(self, context: FunctionInvocationContext) -> bool:
        try:
            return await self._ruled(context)
        except HumanNeeded as needed:
            if _approved(context.metadata):
                return False
            context.result = _asked_for(context)
            raise MiddlewareTermination("a person must approve this call") from needed
        except Exception as error:
            problem = f"the guard of {self._guard.point.name} could not rule on a tool call"
            raise MiddlewareFailure(problem) from error

    async def _ruled(self, context: FunctionInvocationContext) -> bool:
        state, subject = _seen(context), session_id(context.session)
        once = _id_of(context.metadata), state
        return (await self._guard.rule(state, subject=subject, once=once)).blocked


def _seen(context: FunctionInvocationContext) -> dict[str, Any]:
    return call_of(context.function.name, context.arguments)


def _asked_for(context: FunctionInvocationContext) -> Content:
    """Ask as the framework does; its id binds the response to this very call."""
    metadata, state = context.metadata, _seen(context)
    occurrence = metadata.get("function_call_occurrence_id") or metadata["call_id"]
    call = Content.from_function_call(
        call_id=metadata["call_id"],
        name=state["tool"],
        arguments=dict(state["arguments"]),
        id=occurrence,
    )
    return Content.from_function_approval_request(id=occurrence, function_call=call)


def _approved(metadata: Mapping[str, Any]) -> bool:
    """Whether a person has approved: the framework has bound the response to this call."""
    response = metadata.get("approval_response")
    return isinstance(response, Content) and response.approved is True


def _id_of(metadata: Mapping[str, Any]) -> str:
    return _named(metadata.get("function_call_occurrence_id"), metadata.get("call_id"))


def _named(occurrence: object, call_id: object) -> str:
    return f"{occurrence or ''}/{call_id or ''}"
