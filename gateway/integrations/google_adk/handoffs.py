"""`Handoff`: who takes a conversation over, decided in the place of an ADK agent's model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Never

from google.adk.agents import Context
from google.adk.events import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from ...consulting import Consultation
from ...errors import DeclarationError
from ...gateway import Gateway
from ...lens import Lens
from ...points import DecisionPoint
from ...questions import Ask, Choice
from .lenses import session
from .seeing import readable, text_of, worded

OPEN: Final = 1000  # models at work; beyond it the oldest is taken for one that never answers
WHO: Final = "Which agent takes the user's message?"
_NAME: Final = "agent"
_STAYS: Final = "Has the conversation, and keeps it"
_TRANSFER: Final = "transfer_to_agent"  # ADK's own tool


class Handoff:
    """
    The callbacks of an agent with sub-agents, whose hand-offs a decision point makes.

    Asked only where the user spoke last: after a tool's result or a hand-off the model goes on.
    It goes on as well where the plan is `current`, where nobody was sure, where the answer is no
    agent that this one may hand over to, and where a provider cannot be asked: the message holds
    more than words, or there are more agents than a choice may have options.

    What was decided stands for the invocation: resumed by its id, nobody is asked again.

    Args:
        gateway: Decides who answers.
        point: Suffix of the point's variables, or a declaration.
        question: Its options are names of agents; any other means that the agent keeps the
            conversation. Absent: the agent itself and its sub-agents, by their descriptions.

    """

    def __init__(
        self, gateway: Gateway, point: str | DecisionPoint, question: Choice | None = None
    ) -> None:
        self._gateway, self._point, self._question = gateway, point, question
        self._unasked = gateway.point(point, question or _whom, lens=_UNASKED)(_goes_on)
        self._open: dict[str, Consultation] = {}  # by invocation, until its model has answered

    async def before_model_callback(
        self,
        callback_context: Context,
        llm_request: LlmRequest,  # ADK passes it by name
    ) -> LlmResponse | None:
        """
        Hand over in the model's place, where a provider decides; else let it go on.

        Raises:
            NoAnswer: The provider is not believed, and the plan has no fallback.

        """
        if self._gateway.untouched(self._point):
            return None
        agent: Any = callback_context.get_invocation_context().agent
        if not agent.sub_agents or not _spoke_last(callback_context.session.events):
            return None
        try:
            shown = readable(callback_context.user_content)
            question = self._question or _whom(agent)
            ask = Ask(shown, {_NAME: question})
        except DeclarationError as why:
            await self._gateway.decide(self._unasked, callback_context, why)
            return None
        subject = session(callback_context)
        call = f"{callback_context.invocation_id}/{agent.name}"
        stands = subject and not self._gateway.left_to_current(self._point)
        once = (call, {"options": question.options, "said": shown}) if stands else None
        consultation = self._gateway.consultation(self._point, ask, subject=subject, once=once)
        decision = await consultation.ask()
        if decision is None:
            self._await(callback_context.invocation_id, consultation)
        if decision is None or decision.value not in [one.name for one in agent.sub_agents]:
            return None
        part = types.Part.from_function_call(name=_TRANSFER, args={"agent_name": decision.value})
        return LlmResponse(content=types.Content(role="model", parts=[part]))

    async def after_model_callback(
        self, callback_context: Context, llm_response: LlmResponse
    ) -> None:
        """Tell what the model did where it went on, so that shadows and splits can compare."""
        if llm_response.partial:
            return
        consultation = self._open.pop(callback_context.invocation_id, None)
        if consultation is not None:
            agent: Any = callback_context.get_invocation_context().agent
            consultation.observe(self._went(llm_response) or self._stayed(agent))

    def _await(self, invocation: str, consultation: Consultation) -> None:
        self._open[invocation] = consultation
        if len(self._open) > OPEN:
            del self._open[next(iter(self._open))]

    def _went(self, response: LlmResponse) -> str | None:
        content = response.content
        parts = [] if content is None else content.parts or []
        calls = [part.function_call for part in parts if part.function_call is not None]
        args = [call.args or {} for call in calls if call.name == _TRANSFER]
        return args[0].get("agent_name") if args else None

    def _stayed(self, agent: Any) -> str:  # noqa: ANN401 - an agent of any kind
        question = self._question
        return agent.name if question is None else question.sentinel or agent.name  # type: ignore[no-any-return]


def _spoke_last(events: Sequence[Event]) -> bool:
    said = (event for event in reversed(events) if event.content is not None)
    last = next(said, None)  # others hold only what a callback wrote into the state
    return last is not None and last.author == "user" and bool(text_of(last.content))


def _whom(agent: Any) -> Choice:  # noqa: ANN401 - an agent of any kind
    options = {one.name: worded(one.description) for one in agent.sub_agents}
    return Choice(WHO, {**options, agent.name: _STAYS})


def _goes_on(context: Context, why: DeclarationError) -> None:
    """Let the model decide."""


def _unaskable(_: Context, why: DeclarationError) -> Never:
    raise why


_UNASKED = Lens(state=_unaskable, session=session, write=str)
