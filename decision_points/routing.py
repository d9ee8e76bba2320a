"""Where a message goes: stay with the active agent, or find the intent it pursues."""

from __future__ import annotations

from ..gateway.points import DecisionPoint, OptionsFrom
from ..gateway.questions import Choice

ROUTE_CONTINUITY = DecisionPoint(
    name="ROUTE_CONTINUITY",
    questions={
        "en": {
            "decision": Choice(
                "What should happen with the current message as a whole?",
                {
                    "CONTINUE": "It goes on with what the active agent is already handling: "
                    "follow-up, detail, correction or reference to it",
                    "ROUTE": "New subject, possibly another agent's work, too little context, "
                    "or any doubt",
                    "HUMAN_HANDOFF": "The person openly asks to speak to a human being",
                    "END_SESSION": "The person clearly wants to finish and needs nothing else",
                },
            )
        },
        "pt": {
            "decision": Choice(
                "Que tratamento a mensagem atual deve receber como um todo?",
                {
                    "CONTINUE": "Segue no que o agente ativo já está tratando: desdobramento, "
                    "detalhe, correção ou referência a isso",
                    "ROUTE": "Assunto novo, talvez de outro agente, contexto insuficiente ou "
                    "qualquer dúvida",
                    "HUMAN_HANDOFF": "A pessoa pede abertamente para falar com um ser humano",
                    "END_SESSION": "A pessoa quer claramente terminar e não precisa de mais nada",
                },
            )
        },
    },
    reads=(
        "active_agent",
        "active_agent_capabilities",
        "other_agents",
        "previous_intent",
        "previous_domain",
        "recent_history",
        "current_message",
    ),
    words="current_message",
    needs={"CONTINUE": "active_agent"},  # nobody is active: there is nothing to go on with
    safe="ROUTE",  # more routing is the failure that costs least
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
            )
        },
        "pt": {
            "intent": Choice(
                "Qual destas intenções a mensagem busca?",
                {"fallback": "Nenhuma delas, ou não dá para saber"},
                sentinel="fallback",
                open=True,
            )
        },
    },
    reads=("message", "allowed_intents", "session_context", "transaction_context"),
    words="message",
    options={"intent": OptionsFrom("allowed_intents", "intent", "description")},
    safe="fallback",  # the fallback agent asks; a guessed intent would act
)
