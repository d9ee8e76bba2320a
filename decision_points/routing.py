"""Where a message goes: stay with the active agent, or find the intent it pursues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Required, TypedDict

import msgspec

from ..gateway.points import DecisionPoint, HostMinimum, OptionsFrom
from ..gateway.questions import Choice
from .reading import Said, clears, word
from .shares import ROUTING, fields


class Turn(TypedDict, total=False):
    """
    One message of a conversation.

    Attributes:
        role: `user` or `assistant`.
        content: What was said.

    """

    role: Required[str]
    content: Required[str]


class Intent(TypedDict, total=False):
    """
    One entry of the local catalogue.

    Attributes:
        intent: Its name, an option.
        description: One line; deciders do markedly better with it.
        agent: Who serves it; never asked, always read from here.
        domain: To which business domain it belongs.
        tools: Which tools its agent may use for it.
        examples: A few messages that pursue it.

    """

    intent: Required[str]
    description: str
    agent: str
    domain: str
    tools: Sequence[str]
    examples: Sequence[str]


class ContinuityState(TypedDict, total=False):
    """
    What ROUTE_CONTINUITY sees.

    Attributes:
        active_agent: Who has the conversation; absent or empty: nobody has.
        active_agent_capabilities: What that agent's intents are about.
        other_agents: Agent → what its intents are about.
        previous_intent: Intent of the turn before.
        previous_domain: Domain of the turn before.
        recent_history: The last turns, a handful.
        current_message: What is to be decided about.

    """

    active_agent: str | None
    active_agent_capabilities: Sequence[str]
    other_agents: Mapping[str, Sequence[str]]
    previous_intent: str | None
    previous_domain: str | None
    recent_history: Sequence[Turn]
    current_message: Required[str]


class RouterState(TypedDict, total=False):
    """
    What ROUTER sees.

    Attributes:
        message: What is to be routed; on re-entry the labelled bundle.
        allowed_intents: The enabled intents, whose names are the options.
        session_context: What the session knows; empty after a reset.
        transaction_context: Status, intent, tool and missing parameters of one in progress.

    """

    message: Required[str]
    allowed_intents: Required[Sequence[Intent]]
    session_context: Mapping[str, Any] | None
    transaction_context: Mapping[str, Any] | None


ROUTE_CONTINUITY = DecisionPoint(
    name="ROUTE_CONTINUITY",
    questions={
        "en": {
            "decision": Choice(
                "What should happen with the current message as a whole?",
                {
                    "CONTINUE": (
                        "It goes on with what the active agent is already handling: follow-up, "
                        "detail, correction or reference to it"
                    ),
                    "ROUTE": (
                        "New subject, possibly another agent's work, too little context, or any "
                        "doubt"
                    ),
                    "HUMAN_HANDOFF": "The person openly asks to speak to a human being",
                    "END_SESSION": "The person clearly wants to finish and needs nothing else",
                },
            ),
        },
        "pt": {
            "decision": Choice(
                "Que tratamento a mensagem atual deve receber como um todo?",
                {
                    "CONTINUE": (
                        "Segue no que o agente ativo já está tratando: desdobramento, detalhe, "
                        "correção ou referência a isso"
                    ),
                    "ROUTE": (
                        "Assunto novo, talvez de outro agente, contexto insuficiente ou qualquer "
                        "dúvida"
                    ),
                    "HUMAN_HANDOFF": "A pessoa pede abertamente para falar com um ser humano",
                    "END_SESSION": "A pessoa quer claramente terminar e não precisa de mais nada",
                },
            ),
        },
    },
    reads=fields(ContinuityState),
    words="current_message",
    needs={"CONTINUE": "active_agent"},  # nobody is active: there is nothing to go on with
    safe="ROUTE",  # more routing is the failure that costs least
    share=ROUTING,
    host=HostMinimum(0.90, "stickiness: below it the normal router runs, whatever the label"),
)

ROUTER = DecisionPoint(
    name="ROUTER",
    questions={
        "en": {
            "intent": Choice(
                "Which of these intents does the message pursue?",
                {"fallback": "None of them, or not enough to tell"},
                sentinel="fallback",
                open=True,
            ),
        },
        "pt": {
            "intent": Choice(
                "Qual destas intenções a mensagem busca?",
                {"fallback": "Nenhuma delas, ou não dá para saber"},
                sentinel="fallback",
                open=True,
            ),
        },
    },
    reads=fields(RouterState),
    words="message",
    options={"intent": OptionsFrom("allowed_intents", "intent", "description")},
    safe="fallback",  # the fallback agent asks; a guessed intent would act
    share=ROUTING,
)


class Continuity(StrEnum):
    """
    What becomes of a message as a whole.

    `CONTINUE` makes the host keep the active agent, with intent, domain and tools of the turn
    before, and skip the router. `ROUTE` decides nothing: the normal router runs.
    `HUMAN_HANDOFF` hands the conversation to a person. `END_SESSION` ends it: later messages
    are refused.
    """

    CONTINUE = "CONTINUE"
    ROUTE = "ROUTE"
    HUMAN_HANDOFF = "HUMAN_HANDOFF"
    END_SESSION = "END_SESSION"


def continuity(
    outcome: Said, confidence: float | None, *, active_agent: str | None, probe: bool = False
) -> Continuity:
    """
    Read a decision of ROUTE_CONTINUITY as the host does.

    Below the host's own threshold, whatever the label, it is `ROUTE`; so is `CONTINUE` while
    nobody is active (A13).

    Args:
        outcome: What was decided.
        confidence: Of the decision, 0 where none is known; None (`confidence_of`): the host's
            own path decided, and no threshold is applied again.
        active_agent: Who has the conversation.
        probe: While a workflow is paused: only a handoff counts (A37).

    """
    said = word(outcome, Continuity)
    if not said or not clears(ROUTE_CONTINUITY, confidence):
        return Continuity.ROUTE
    label = Continuity(said)
    stays = label is Continuity.CONTINUE and not active_agent
    return Continuity.ROUTE if stays or (probe and label != "HUMAN_HANDOFF") else label


class Destination(msgspec.Struct, frozen=True):
    """
    Where a message is routed, all of it from the local catalogue.

    Attributes:
        intent: Its name, or `fallback`.
        agent: Who takes the message.
        domain: The intent's; empty for the fallback.
        tools: What the agent may use; nothing for the fallback.

    """

    intent: str
    agent: str
    domain: str = ""
    tools: tuple[str, ...] = ()


def destination(outcome: Said, catalogue: Sequence[Intent], fallback_agent: str) -> Destination:
    """
    Say where ROUTER's *outcome* leads; an intent without an agent leads to the fallback.

    Args:
        outcome: What was decided.
        catalogue: The enabled intents.
        fallback_agent: Who asks back, without tools.

    """
    said = word(outcome, [entry["intent"] for entry in catalogue])
    for entry in catalogue:
        agent = entry.get("agent")
        if entry["intent"] == said and agent:
            tools = tuple(entry.get("tools") or ())
            return Destination(entry["intent"], agent, entry.get("domain") or "", tools)
    return Destination("fallback", fallback_agent)
