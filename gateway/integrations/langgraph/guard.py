"""`GuardMiddleware`: guardrails of what users say, and of what the model replies."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, cast

from ...errors import HumanNeeded, SetupError
from ...state import frozen
from .. import needs, rails
from ..words import BLOCKED
from .hearing import RULED, WITHHELD, Heard, digest, heard_in
from .review import Reviews
from .seeing import is_outside, messages_of, text_of, thread, value_of

try:
    from langchain.agents.middleware import (
        AgentMiddleware,
        AgentState,
        ModelRequest,
        ModelResponse,
        hook_config,
    )
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.runnables.config import ensure_config, var_child_runnable_config
    from langgraph.constants import TAG_NOSTREAM
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from ...guarding import Guard, Ruling

MARK = "pointsman_blocked"  # in the `response_metadata` of what stands in place: the point


class Guarded(AgentState[Any]):
    """A state that says which messages were ruled on, as plain data."""

    pointsman_ruled: NotRequired[Annotated[dict[str, list[str]], PrivateStateAttr]]  # type: ignore[valid-type]


class GuardMiddleware(AgentMiddleware[Any, Any, Any]):
    """
    Blocks what a user said before a model reads it, and a reply before anybody does.

    A blocked user's message is replaced in the graph's state, so that no later turn shows it
    to a model, and the run ends with *message*. A reply is held back until it is ruled on:
    with *output*, `stream_mode="messages"` gives it whole, not token by token.

    Args:
        input: Rules on the text of what users said, on each message once, wherever it stands.
        output: Rules on the text of each reply; tool calls are for `ApprovalMiddleware`.
        message: What the user reads in place of what was blocked.

    Raises:
        SetupError: *output* wants a person: on resume the model would reply anew, and what was
            approved would be another text.

    """

    state_schema = Guarded

    def __init__(
        self,
        *,
        input: Guard | None = None,  # noqa: A002 - the shared word of all integrations
        output: Guard | None = None,
        message: str = BLOCKED,
    ) -> None:
        super().__init__()
        if output is not None and output.point.on_undecided == "human":
            fix = 'Pass `on_undecided="block"` or "allow" to the guard of `output`'
            problem = "a person cannot approve a reply that is made anew on resume"
            raise SetupError.of(output.point.name, problem, fix)
        self._input, self._output, self._message = input, output, message
        self._reviews = None if input is None else Reviews.of(input)

    @property
    def name(self) -> str:
        """Of its points, so that an agent may have several."""
        guards = (one for one in (self._input, self._output) if one is not None)
        return "-".join((type(self).__name__, *(one.point.name for one in guards)))

    # --- what users say ------------------------------------------------------------------

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Rule on what users said that was not ruled on yet."""
        if self._input is None or (heard := heard_in(state, self._input.point)) is None:
            return None
        try:
            ruling = self._input.rule_sync(heard.state, subject=thread(), once=heard.once)
        except HumanNeeded as needed:
            return self._reviewed(needed.id, state, heard)
        return self._ended(ruling, state, heard)

    @hook_config(can_jump_to=["end"])
    async def abefore_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """As `before_model`."""
        if self._input is None or (heard := heard_in(state, self._input.point)) is None:
            return None
        try:
            ruling = await self._input.rule(heard.state, subject=thread(), once=heard.once)
        except HumanNeeded as needed:
            return self._reviewed(needed.id, state, heard)
        return self._ended(ruling, state, heard)

    def _ended(self, ruling: Ruling, state: object, heard: Heard) -> dict[str, Any]:
        if ruling.blocked:
            return self._stopped(heard)
        record = ruling.decision.record
        if self._reviews and self._reviews.due(record, heard.since, heard.call):
            return self._reviewed(record.id, state, heard)
        return self._passed(state)

    def _reviewed(self, decision: str, state: object, heard: Heard) -> dict[str, Any]:
        assert self._reviews is not None
        shown = {"type": "guardrail", "text": heard.text}
        said = self._reviews.rejection(decision, heard.call, shown)
        return self._passed(state) if said is None else self._stopped(heard)

    def _held(self, request: ModelRequest[Any]) -> dict[str, Any]:
        """Give what the model is about to read, and what of it was ruled on."""
        return {"messages": request.messages, RULED: value_of(request.state, RULED)}

    def _unread(
        self, request: ModelRequest[Any], ended: dict[str, Any] | None
    ) -> ModelResponse[Any] | None:
        """Answer in the model's place, if what came after `before_model` is blocked."""
        if ended is None or "jump_to" not in ended:
            return None
        kept = {one.id for one in messages_of(request.state)}
        said = ended["messages"]
        return ModelResponse(result=[one for one in said if one is said[-1] or one.id in kept])

    def _passed(self, state: object) -> dict[str, Any]:
        assert self._input is not None
        ruled = [digest(one) for one in messages_of(state) if is_outside(one)]
        others = value_of(state, RULED) or {}
        return {RULED: {**others, self._input.point.name: ruled}}

    def _stopped(self, heard: Heard) -> dict[str, Any]:
        assert self._input is not None
        withheld = [HumanMessage(WITHHELD, id=one.id, name=one.name) for one in heard.new]
        instead = self._instead(self._input.point.name)
        return {"messages": [*withheld, instead], "jump_to": "end"}

    # --- what the model replies ----------------------------------------------------------

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Rule on what came since `before_model`, and on the reply before it is given out."""
        ended = self.before_model(cast("Any", self._held(request)), request.runtime)
        if (unread := self._unread(request, ended)) is not None:
            return unread
        if self._output is None:
            return handler(request)
        with _unstreamed():
            response = handler(request)
        text = _replied(response)
        if not text:
            return response
        shown = rails.output_state(self._output.point, text)
        return self._let(response, self._output.rule_sync(shown, subject=thread()))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """As `wrap_model_call`."""
        ended = await self.abefore_model(cast("Any", self._held(request)), request.runtime)
        if (unread := self._unread(request, ended)) is not None:
            return unread
        if self._output is None:
            return await handler(request)
        with _unstreamed():
            response = await handler(request)
        text = _replied(response)
        if not text:
            return response
        shown = rails.output_state(self._output.point, text)
        return self._let(response, await self._output.rule(shown, subject=thread()))

    def _let(self, response: ModelResponse[Any], ruling: Ruling) -> ModelResponse[Any]:
        if not ruling.blocked:
            return response
        replied = next(one for one in response.result if isinstance(one, AIMessage))
        return ModelResponse(result=[self._instead(ruling.decision.record.point, replied)])

    def _instead(self, point: str, reply: AIMessage | None = None) -> AIMessage:
        """Keep a reply's id, which replaces, and its tokens, which were paid; nothing else."""
        marked = {MARK: point}
        if reply is None:
            return AIMessage(self._message, response_metadata=marked)
        return AIMessage(
            self._message,
            id=reply.id,
            name=reply.name,
            usage_metadata=reply.usage_metadata,
            response_metadata=marked,
        )

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """End the run after a blocked reply: one that lacks what it was to fill is asked anew."""
        last = state["messages"][-1]
        blocked = isinstance(last, AIMessage) and MARK in last.response_metadata
        return {"jump_to": "end"} if blocked else None

    @hook_config(can_jump_to=["end"])
    async def aafter_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """As `after_model`."""
        return self.after_model(state, runtime)


def _replied(response: ModelResponse[Any]) -> str:
    said = (one for one in response.result if isinstance(one, AIMessage))
    replied = (text_of(one) for one in said if MARK not in one.response_metadata)
    structured = response.structured_response
    written = () if structured is None else (frozen(structured)[1],)
    return "\n\n".join(filter(None, (*replied, *written)))


@contextlib.contextmanager
def _unstreamed() -> Generator[None]:
    """Keep tokens of the model calls inside out of the stream, by LangGraph's own tag."""
    config = ensure_config()
    quiet = {**config, "tags": [*(config.get("tags") or ()), TAG_NOSTREAM]}
    token = var_child_runnable_config.set(cast("Any", quiet))
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)
