"""`GuardMiddleware`: guardrails of what users say, and of what the model replies."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, cast

from ...errors import HumanNeeded, SetupError
from ...state import frozen
from .. import needs
from .review import rejection
from .seeing import messages_of, text_of, thread, value_of

try:
    from langchain.agents.middleware import (
        AgentMiddleware,
        AgentState,
        ModelRequest,
        ModelResponse,
        hook_config,
    )
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.runnables.config import ensure_config, var_child_runnable_config
    from langgraph.constants import TAG_NOSTREAM
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from ...guarding import Guard, Ruling

MESSAGE = "I cannot help with that."
WITHHELD = "(withheld)"
BLOCKED = "pointsman_blocked"  # in the `response_metadata` of what stands in place: the point


class GuardMiddleware(AgentMiddleware[Any, Any, Any]):
    """
    Blocks what a user said before a model reads it, and a reply before anybody does.

    A blocked user's message is replaced in the graph's state, so that no later turn shows it
    to a model, and the run ends with *message*. A reply is held back until it is ruled on:
    with *output*, `stream_mode="messages"` gives it whole, not token by token.

    Args:
        input: Rules on the text of what users said since the model spoke last.
        output: Rules on the text of each reply; tool calls are for `ApprovalMiddleware`.
        message: What the user reads in place of what was blocked.

    Raises:
        SetupError: *output* wants a person: on resume the model would reply anew, and what was
            approved would be another text.

    """

    def __init__(
        self,
        *,
        input: Guard | None = None,  # noqa: A002 - the shared word of all integrations
        output: Guard | None = None,
        message: str = MESSAGE,
    ) -> None:
        super().__init__()
        if output is not None and output.point.on_undecided == "human":
            fix = 'Pass `on_undecided="block"` or "allow" to the guard of `output`'
            problem = "a person cannot approve a reply that is made anew on resume"
            raise SetupError.of(output.point.name, problem, fix)
        self._input, self._output, self._message = input, output, message

    @property
    def name(self) -> str:
        """Of its points, so that an agent may have several."""
        guards = (one for one in (self._input, self._output) if one is not None)
        return "-".join((type(self).__name__, *(one.point.name for one in guards)))

    # --- what users say ------------------------------------------------------------------

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Rule on what users said since the model spoke last."""
        new = _new(state)
        if self._input is None or not new:
            return None
        text, once = _heard(new)
        try:
            ruling = self._input.rule_sync(text, subject=thread(), once=once)
        except HumanNeeded as needed:
            return None if _approved(needed, text) else self._stopped(new)
        return self._stopped(new) if ruling.blocked else None

    @hook_config(can_jump_to=["end"])
    async def abefore_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """As `before_model`."""
        new = _new(state)
        if self._input is None or not new:
            return None
        text, once = _heard(new)
        try:
            ruling = await self._input.rule(text, subject=thread(), once=once)
        except HumanNeeded as needed:
            return None if _approved(needed, text) else self._stopped(new)
        return self._stopped(new) if ruling.blocked else None

    def _stopped(self, new: Sequence[HumanMessage]) -> dict[str, Any]:
        assert self._input is not None
        withheld = [HumanMessage(WITHHELD, id=one.id, name=one.name) for one in new]
        instead = self._instead(self._input.point.name)
        return {"messages": [*withheld, instead], "jump_to": "end"}

    # --- what the model replies ----------------------------------------------------------

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Rule on the model's reply before it is given out."""
        if self._output is None:
            return handler(request)
        with _unstreamed():
            response = handler(request)
        text = _replied(response)
        return self._let(response, text and self._output.rule_sync(text, subject=thread()))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """As `wrap_model_call`."""
        if self._output is None:
            return await handler(request)
        with _unstreamed():
            response = await handler(request)
        text = _replied(response)
        return self._let(response, text and await self._output.rule(text, subject=thread()))

    def _let(self, response: ModelResponse[Any], ruling: Ruling | str) -> ModelResponse[Any]:
        if isinstance(ruling, str) or not ruling.blocked:
            return response
        replied = next(one for one in response.result if isinstance(one, AIMessage))
        return ModelResponse(result=[self._instead(ruling.decision.record.point, replied)])

    def _instead(self, point: str, reply: AIMessage | None = None) -> AIMessage:
        """Keep a reply's id, which replaces, and its tokens, which were paid; nothing else."""
        marked = {BLOCKED: point}
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
        blocked = isinstance(last, AIMessage) and BLOCKED in last.response_metadata
        return {"jump_to": "end"} if blocked else None

    @hook_config(can_jump_to=["end"])
    async def aafter_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """As `after_model`."""
        return self.after_model(state, runtime)


def _new(state: object) -> Sequence[HumanMessage]:
    """List what users said since the model spoke last; also what was added on resume."""
    new: list[HumanMessage] = []
    for message in reversed(messages_of(state) if value_of(state, "messages") else ()):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, HumanMessage) and message.text:
            new.insert(0, message)
    return new


def _heard(new: Sequence[HumanMessage]) -> tuple[str, tuple[str, object] | None]:
    """Give the text to be ruled on, and what makes the ruling stand over a resume."""
    text = "\n\n".join(map(text_of, new))
    last = new[-1].id
    return text, (last, text) if last and thread() else None


def _approved(needed: HumanNeeded, text: str) -> bool:
    return rejection(needed, {"type": "guardrail", "text": text}) is None


def _replied(response: ModelResponse[Any]) -> str:
    said = (one for one in response.result if isinstance(one, AIMessage))
    replied = (text_of(one) for one in said if BLOCKED not in one.response_metadata)
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
