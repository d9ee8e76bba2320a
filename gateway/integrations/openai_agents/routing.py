"""`RoutedModel`: a hand-off that a decision point makes, in place of the model's tool call."""

from __future__ import annotations

import contextlib
import inspect
import sys
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from types import FrameType
from typing import Any, Final, TypeAlias

from agents import Handoff, Model, ModelResponse, Usage
from agents.items import TResponseStreamEvent
from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest
from agents.strict_schema import ensure_strict_json_schema
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
)

from ... import context as contexts
from ...consulting import Consultation
from ...errors import SetupError
from ...gateway import Gateway
from ...points import DecisionPoint
from ...questions import Ask
from ..words import STAY, WHO, takes_over
from .seen import shown, user_spoke_last

_SIGNATURE: Final = inspect.signature(Model.get_response)
_NO_INPUT: Final[tuple[dict[str, Any], ...]] = ({}, ensure_strict_json_schema({}))
_TURNS: Final = ("get_new_response", "run_single_turn_streamed")  # of the SDK's runner
_Begun: TypeAlias = tuple[Mapping[str, Any], Consultation | None]


class RoutedModel(Model):
    """
    A model whose hand-offs are decided by a point; for everything else it is *model*.

    Where the user has just spoken, the planned provider chooses among the hand-offs of the
    call and `STAY`. An agent that it chose is handed over to without a call of *model*. In all
    other cases *model* goes on as today: the plan is `current`, nobody was sure, `STAY`, or a
    hand-off that needs arguments, which only a model can write.

    Not asked either: where the server keeps the conversation (`conversation_id`,
    `previous_response_id`, `auto_previous_response_id`), which would lack the hand-off's call
    and the user's words; where the settings force or forbid tools, or set a `timeout`, under which
    it cannot be told whether the server keeps it.

    Args:
        model: Of the agent that hands off.
        gateway: Who decides.
        point: Suffix of the point's variables, or a declaration.
        question: What is asked; the options are the hand-offs, by their agents' names.

    Raises:
        SetupError: *model* is a model's name.

    """

    def __init__(
        self, model: Model, gateway: Gateway, point: str | DecisionPoint, *, question: str = WHO
    ) -> None:
        if not isinstance(model, Model):  # the host may be untyped
            where = point if isinstance(point, str) else point.name
            problem = "`model` is a Model, and not the name of one"
            raise SetupError.of(where, problem, 'MultiProvider().get_model("…") makes one of it')
        self.model = model
        self._gateway = gateway
        self._question = question
        self._point = gateway.asks(point, takes_over(question))

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:  # noqa: ANN401 - of the runner
        """Answer with the hand-off that was decided, else as the model does."""
        call, consultation = self._begun(args, kwargs)
        if consultation is not None and (to := await _chosen(consultation, call)) is not None:
            return ModelResponse(output=[to], usage=Usage(), response_id=None)
        response = await self.model.get_response(*args, **kwargs)
        _observe(consultation, call, response.output)
        return response

    async def stream_response(
        self,
        *args: Any,  # noqa: ANN401 - of the runner
        **kwargs: Any,  # noqa: ANN401 - of the runner
    ) -> AsyncIterator[TResponseStreamEvent]:
        """As `get_response`, in events."""
        call, consultation = self._begun(args, kwargs)
        if consultation is not None and (to := await _chosen(consultation, call)) is not None:
            for event in _events(to):
                yield event
            return
        async with _closing(self.model.stream_response(*args, **kwargs)) as stream:
            async for event in stream:
                if isinstance(event, ResponseCompletedEvent):
                    _observe(consultation, call, event.response.output)
                yield event

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        """As the model advises."""
        return self.model.get_retry_advice(request)

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()

    async def _cleanup_on_run_end(self, owner: object) -> None:
        await self.model._cleanup_on_run_end(owner)  # noqa: SLF001 - its runner calls it on each model

    def _begun(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _Begun:
        call = _SIGNATURE.bind(self, *args, **kwargs).arguments
        return call, self._consultation(call)

    def _consultation(self, call: Mapping[str, Any]) -> Consultation | None:
        if self._gateway.untouched(self._point):
            return None
        if not _open(call) or not (options := _options(call["handoffs"])):
            return None
        question = takes_over(self._question).offering(options)
        ask = Ask(shown(call["input"]), {"agent": question})
        return self._gateway.consultation(self._point, ask, once=self._once(call, options))

    def _once(
        self, call: Mapping[str, Any], options: Mapping[str, str]
    ) -> tuple[str, object] | None:
        """Name the message that is answered; a model is not told which agent asks."""
        message = _id_of_last(call["input"])
        if message is None or self._gateway.left_to_current(self._point):
            return None
        if contexts.subject(self._gateway) is None:
            return None
        return message, {"options": options, "said": shown(call["input"])}


def _open(call: Mapping[str, Any]) -> bool:
    kept = call.get("conversation_id") or call.get("previous_response_id")
    settings = call["model_settings"]
    free = settings.tool_choice in (None, "auto", "required")
    hidden = getattr(settings, "timeout", None) is not None  # in a task that hides its runner
    return free and not (kept or hidden or _server_keeps()) and user_spoke_last(call["input"])


def _id_of_last(given: str | Sequence[Any]) -> str | None:
    """Give the id of the newest item, where it brings one: the SDK gives users' messages none."""
    item = None if isinstance(given, str) else given[-1]
    its_id = item.get("id") if isinstance(item, Mapping) else getattr(item, "id", None)
    return its_id if isinstance(its_id, str) and its_id else None


def _server_keeps() -> bool:
    """
    Whether the runner sends the next model only what the server has not seen yet.

    With `auto_previous_response_id` the first call of a run looks like any other: the SDK tells
    a model nothing of it, and it is found only where the runner holds it.
    """
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - there is no other sign of it
    while frame is not None:
        if frame.f_code.co_name in _TURNS:
            return frame.f_locals.get("server_conversation_tracker") is not None
        frame = frame.f_back
    return False


def _options(handoffs: Sequence[Handoff[Any, Any]]) -> dict[str, str]:
    plain = [one for one in handoffs if one.input_json_schema in _NO_INPUT]
    options = {one.agent_name: one.tool_description for one in plain}
    clear = len(options) == len(plain) and STAY not in options
    return options if clear else {}  # two ways of one name: that choice is the model's


async def _chosen(
    consultation: Consultation, call: Mapping[str, Any]
) -> ResponseFunctionToolCall | None:
    decision = await consultation.ask()
    if decision is None or decision.value == STAY:
        return None
    tool = next(one for one in call["handoffs"] if one.agent_name == decision.value).tool_name
    return ResponseFunctionToolCall(  # without an `id`: those are the server's own to give
        call_id=f"call_{consultation.id}", name=tool, arguments="{}", type="function_call"
    )


def _observe(
    consultation: Consultation | None, call: Mapping[str, Any], output: Iterable[object]
) -> None:
    """Tell what the model did, so that shadows and splits can compare."""
    if consultation is None:
        return
    agents = {one.tool_name: one.agent_name for one in call["handoffs"]}
    called = (agents.get(getattr(one, "name", "")) for one in output)
    consultation.observe(next((agent for agent in called if agent is not None), STAY))


def _events(to: ResponseFunctionToolCall) -> Iterable[TResponseStreamEvent]:
    response = Response(
        id=to.call_id,
        created_at=time.time(),
        model="",
        object="response",
        output=[to],
        parallel_tool_calls=False,
        tool_choice="auto",
        tools=[],
    )
    yield ResponseOutputItemAddedEvent(
        item=to, output_index=0, sequence_number=0, type="response.output_item.added"
    )
    yield ResponseOutputItemDoneEvent(
        item=to, output_index=0, sequence_number=1, type="response.output_item.done"
    )
    yield ResponseCompletedEvent(response=response, sequence_number=2, type="response.completed")


@contextlib.asynccontextmanager
async def _closing(
    stream: AsyncIterator[TResponseStreamEvent],
) -> AsyncIterator[AsyncIterator[TResponseStreamEvent]]:
    """Close the model's stream with ours, where it can be closed."""
    try:
        yield stream
    finally:
        if (close := getattr(stream, "aclose", None)) is not None:
            await close()
