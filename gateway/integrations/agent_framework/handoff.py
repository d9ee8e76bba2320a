"""`HandoffMiddleware`: a hand-off that a decision point makes, in place of the model's call."""

from __future__ import annotations

from collections import Counter
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

from ...questions import Ask, Choice
from ..aside import stands_aside
from .seeing import last_user_text, session_id, shown, user_spoke_last

if TYPE_CHECKING:
    from ...consulting import Consultation
    from ...gateway import Gateway
    from ...points import DecisionPoint

WHO: Final = "Which agent should take over the conversation?"
STAY: Final = "stay"
_STAYS: Final = "None of them: the agent that has the conversation goes on"
REMEMBERED: Final = 256  # hand-offs under way
_PREFIX: Final = "handoff_to_"  # of the tools that `HandoffBuilder` gives an agent


class HandoffMiddleware(ChatMiddleware):
    """
    Decides an agent's hand-offs by a point; for everything else the model goes on as today.

    For the agents of a `HandoffBuilder`. Where the user has just spoken, the planned provider
    chooses among the agent's hand-offs and `stay`; an agent that it chose is handed over to
    without a call of the model.

    An agent that was just handed over to is not asked about the same words again, or two of
    them could hand one message to and fro. So give all agents of a builder the same object.

    Args:
        gateway: Decides who decides.
        point: Suffix of the point's variables, or a declaration.
        question: What is asked; the options are the hand-offs, described by their tools.

    """

    def __init__(
        self, gateway: Gateway, point: str | DecisionPoint, *, question: str = WHO
    ) -> None:
        self._gateway, self._question = gateway, question
        self._handed: Counter[tuple[str, str]] = Counter()
        self._point = gateway.asks(point, Choice(question, {STAY: _STAYS}, STAY, open=True))

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
        if stands_aside(self._gateway, self._point) or not user_spoke_last(context.messages):
            return None
        options = _options(context.options)
        if not options or self._just_taken(context, options):
            return None
        question = Choice(self._question, {**options, STAY: _STAYS}, STAY)
        ask = Ask(shown(context.messages), {"agent": question})
        subject = session_id(context.session)
        return self._gateway.consultation(self._point, ask, subject=subject)

    def _note(self, context: ChatContext, agent: str) -> None:
        while len(self._handed) >= REMEMBERED:  # of agents that never came to it
            self._handed.pop(next(iter(self._handed)))
        self._handed[last_user_text(context.messages), agent] += 1

    def _just_taken(self, context: ChatContext, options: Mapping[str, str]) -> bool:
        """
        Whether these words were handed to the agent that speaks now, which is none of its options.

        An agent sees copies of messages in a session of its own: only the words are the same.
        """
        said = last_user_text(context.messages)
        mine = [one for one in self._handed if one[0] == said and one[1] not in options]
        if not mine:
            return False
        self._handed -= Counter(mine[:1])
        return True


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
