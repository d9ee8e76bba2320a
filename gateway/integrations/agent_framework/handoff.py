"""`HandoffMiddleware`: a hand-off that a decision point makes, in place of the model's call."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from agent_framework import (
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionTool,
    Message,
    ResponseStream,
)

from ... import context as contexts
from ...questions import Ask
from ..words import STAY, WHO, takes_over
from .seeing import session_id, shown, user_spoke_last, words

if TYPE_CHECKING:
    from ...consulting import Consultation
    from ...gateway import Gateway
    from ...points import DecisionPoint

REMEMBERED: Final = 256  # hand-offs under way
_PREFIX: Final = "handoff_to_"  # of the tools that `HandoffBuilder` gives an agent


class HandoffMiddleware(ChatMiddleware):
    """
    Decides an agent's hand-offs by a point; for everything else the model goes on as today.

    For the agents of a `HandoffBuilder`. Where the user has just spoken, the planned provider
    chooses among the agent's hand-offs and `stay`; an agent that it chose is handed over to
    without a call of the model.

    An agent that was just handed over to is not asked about the same message again, or two of
    them could hand it to and fro. So give all agents of a builder the same object.

    Args:
        gateway: Decides who decides.
        point: Suffix of the point's variables, or a declaration.
        question: What is asked; the options are the hand-offs, described by their tools.

    """

    def __init__(
        self, gateway: Gateway, point: str | DecisionPoint, *, question: str = WHO
    ) -> None:
        self._gateway, self._question = gateway, question
        self._handed: OrderedDict[tuple[int, str | None, str], weakref.ref[Content]] = OrderedDict()
        self._point = gateway.asks(point, takes_over(question))

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Answer with the hand-off that was decided, else as the model does."""
        consultation = self._consultation(context)
        if consultation is None:
            await call_next()
            return
        decision = await consultation.ask()
        if decision is not None and decision.value != STAY:
            self._note(context, str(decision.value))
            context.result = _handing(context, str(decision.value), consultation.id)
            return
        await call_next()
        _watch(context, consultation)

    def _consultation(self, context: ChatContext) -> Consultation | None:
        if self._gateway.untouched(self._point) or not user_spoke_last(context.messages):
            return None
        options = _options(context.options)
        if not options or self._just_taken(context, options):
            return None
        question = takes_over(self._question).offering(options)
        ask = Ask(shown(context.messages), {"agent": question})
        subject = session_id(context.session)
        once = self._once(context, options, subject)
        return self._gateway.consultation(self._point, ask, subject=subject, once=once)

    def _once(
        self, context: ChatContext, options: Mapping[str, str], subject: str | None
    ) -> tuple[str, object] | None:
        """Name the message that is answered; nobody is told which agent asks but by its options."""
        message = context.messages[-1]
        if not message.message_id or self._gateway.left_to_current(self._point):
            return None
        if (subject or contexts.subject(self._gateway)) is None:
            return None
        return message.message_id, {"options": options, "said": words(message)}

    def _note(self, context: ChatContext, agent: str) -> None:
        while len(self._handed) >= REMEMBERED:  # of agents that never came to it
            self._handed.popitem(last=False)
        said = _said(context)
        self._handed[id(said), contexts.subject(self._gateway), agent] = weakref.ref(said)

    def _just_taken(self, context: ChatContext, options: Mapping[str, str]) -> bool:
        """
        Whether this message was handed to the agent that speaks now, which is none of its options.

        An agent sees a copy of it, in a session of its own: what it contains is the same object,
        in this conversation and in no other.
        """
        said, subject = _said(context), contexts.subject(self._gateway)
        mine = [
            key
            for key, held in self._handed.items()
            if key[:2] == (id(said), subject) and key[2] not in options and held() is said
        ]
        for key in mine[:1]:
            del self._handed[key]
        return bool(mine)


def _said(context: ChatContext) -> Content:
    return next(one for one in context.messages[-1].contents if one.type == "text")


def _options(options: Mapping[str, Any] | None) -> dict[str, str]:
    given = (options or {}).get("tools") or ()
    tools = [one for one in given if isinstance(one, FunctionTool)]
    found = {
        one.name.removeprefix(_PREFIX): one.description
        for one in tools
        if one.name.startswith(_PREFIX)
    }
    return found if STAY not in found else {}


def _handing(
    context: ChatContext, agent: str, decision: str
) -> ChatResponse[Any] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
    call = Content.from_function_call(
        call_id=f"call_{decision}", name=f"{_PREFIX}{agent}", arguments="{}"
    )
    if not context.stream:
        return ChatResponse(messages=[Message("assistant", [call])])
    update = ChatResponseUpdate(contents=[call], role="assistant")
    return ResponseStream(_each([update]), finalizer=ChatResponse.from_updates)


def _watch(context: ChatContext, consultation: Consultation) -> None:
    """Tell what the model did, so that shadows and splits can compare."""
    result = context.result
    if isinstance(result, ResponseStream):
        result.with_result_hook(lambda response: _observed(response, consultation))
    elif result is not None:
        _observed(result, consultation)


def _observed(response: ChatResponse[Any], consultation: Consultation) -> None:
    consultation.observe(_chosen(response.messages))


def _chosen(messages: Iterable[Message]) -> str:
    names = (one.name or "" for message in messages for one in message.contents)
    return next((one.removeprefix(_PREFIX) for one in names if one.startswith(_PREFIX)), STAY)


async def _each(updates: Sequence[ChatResponseUpdate]) -> AsyncIterator[ChatResponseUpdate]:
    for update in updates:
        yield update
