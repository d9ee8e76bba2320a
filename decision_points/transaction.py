"""A transaction in progress: was it confirmed, answered, left; which value fits which field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

from ..gateway.points import DecisionPoint, HostMinimum, OptionsFrom
from ..gateway.questions import Choice, When
from .menus import ENGLISH, NEITHER, PORTUGUESE, confirmation_options, meanings
from .routing import Intent
from .shares import ROUTING, fields


class ConfirmationState(TypedDict, total=False):
    """
    What TRANSACTION_CONFIRMATION sees.

    One more field may be given and is not sent: `option_descriptions`, allowed value → what
    it means, on one line.

    Attributes:
        pending_prompt: The last thing the assistant said; it carries what is to be confirmed.
        allowed_values: The configured options; absent: yes, no and neither.
        confirm_values: Which of them confirm.
        reject_values: Which of them reject.
        active_arguments: What the action would be done with.
        relevant_conversation_context: What was said before.
        user_input: The reply.

    """

    pending_prompt: str
    allowed_values: Sequence[str]
    confirm_values: Sequence[str]
    reject_values: Sequence[str]
    active_arguments: Mapping[str, Any]
    relevant_conversation_context: str
    user_input: Required[str]


class RelevanceState(TypedDict, total=False):
    """
    What TRANSACTION_PARAMETER_RELEVANCE sees.

    Attributes:
        message: What the user said.
        transaction: Intent, tool, missing parameters, their schema, known arguments, context.

    """

    message: Required[str]
    transaction: Mapping[str, Any]


class ShiftState(TypedDict, total=False):
    """
    What TRANSACTION_INTENT_SHIFT sees.

    Attributes:
        message: What the user said.
        transaction: Agent, current intent, status, tool, arguments, missing parameters, hint.
        allowed_intents: The enabled intents, whose names are possible destinations.
        session_context: What the session knows.

    """

    message: Required[str]
    transaction: Required[Mapping[str, Any]]
    allowed_intents: Required[Sequence[Intent]]
    session_context: Mapping[str, Any] | None


TRANSACTION_CONFIRMATION = DecisionPoint(
    name="TRANSACTION_CONFIRMATION",
    questions={
        "en": {
            "option": Choice(
                "The system asked permission for an action. What does the reply amount to?",
                {
                    **meanings(
                        ENGLISH + PORTUGUESE,
                        "Clear agreement to the action exactly as described",
                        "Clear refusal of the action",
                        "Neither: doubt, a question, a pause, a condition, a smaller or different "
                        "scope, another subject",
                    ),
                    NEITHER: "Neither of them, or not enough to tell",
                },
                sentinel=NEITHER,
                open=True,
            )
        },
        "pt": {
            "option": Choice(
                "O sistema pediu permissão para uma ação. A que a resposta equivale?",
                {
                    **meanings(
                        PORTUGUESE + ENGLISH,
                        "Concordância clara com a ação exatamente como descrita",
                        "Recusa clara da ação",
                        "Nem uma coisa nem outra: dúvida, pergunta, pausa, condição, alcance menor "
                        "ou diferente, outro assunto",
                    ),
                    NEITHER: "Nenhuma delas, ou não dá para saber",
                },
                sentinel=NEITHER,
                open=True,
            )
        },
    },
    reads=fields(ConfirmationState),
    words="user_input",
    options={"option": confirmation_options},
    brings=("option_descriptions",),
    safe=NEITHER,  # pending, nothing executed, asked again: a wrong yes has a side effect
    share=ROUTING,
)

TRANSACTION_PARAMETER_RELEVANCE = DecisionPoint(
    name="TRANSACTION_PARAMETER_RELEVANCE",
    questions={
        "en": {
            "relevance": Choice(
                "Is the message an answer to the data the transaction is asking for?",
                {
                    "RELEVANT": (
                        "It gives, clarifies, corrects or plausibly points to that data, in any "
                        "wording"
                    ),
                    "NOT_RELEVANT": (
                        "It gives the action up, starts another goal, asks something else, or does "
                        "not touch the data"
                    ),
                },
            ),
        },
        "pt": {
            "relevance": Choice(
                "A mensagem responde ao dado que a transação está pedindo?",
                {
                    "RELEVANT": (
                        "Fornece, esclarece, corrige ou aponta de modo plausível para esse dado, "
                        "com quaisquer palavras"
                    ),
                    "NOT_RELEVANT": (
                        "Desiste da ação, inicia outro objetivo, pergunta outra coisa ou não toca "
                        "no dado"
                    ),
                },
            ),
        },
    },
    reads=fields(RelevanceState),
    words="message",
    safe={"relevance": None},  # unknown, which is neither yes nor no: the extractor runs first
    share=ROUTING,
    host=HostMinimum(0.70, "the router's threshold (templates ship 0.65): below it, unknown"),
)

TRANSACTION_INTENT_SHIFT = DecisionPoint(
    name="TRANSACTION_INTENT_SHIFT",
    questions={
        "en": {
            "kind": Choice(
                "How does the message relate to the transaction in progress?",
                {
                    "CONTINUE": (
                        "It belongs to it: a value, a plain yes or no, the same target again, or "
                        "one more item for the same operation"
                    ),
                    "REPLACE": (
                        "Same kind of operation, but started over for a different target instead "
                        "of the current one"
                    ),
                    "SHIFT": "Another goal now, without giving the current action up",
                    "ABANDON": (
                        "The person openly gives the current action up, with or without a new goal"
                    ),
                },
            ),
            "destination": Choice(
                "If the message pursues a goal other than continuing the transaction, which "
                "intent is it?",
                {"NONE": "No other goal is stated"},
                sentinel="NONE",
                when=When("kind", ("REPLACE", "SHIFT", "ABANDON")),
                open=True,
            ),
        },
        "pt": {
            "kind": Choice(
                "Como a mensagem se relaciona com a transação em curso?",
                {
                    "CONTINUE": (
                        "Pertence a ela: um valor, um sim ou não puro, o mesmo alvo, ou mais um "
                        "item da mesma operação"
                    ),
                    "REPLACE": (
                        "Mesmo tipo de operação, mas recomeçada para outro alvo no lugar do atual"
                    ),
                    "SHIFT": "Outro objetivo agora, sem desistir da ação atual",
                    "ABANDON": (
                        "A pessoa desiste abertamente da ação atual, com ou sem objetivo novo"
                    ),
                },
            ),
            "destination": Choice(
                "Se a mensagem busca um objetivo que não seja continuar a transação, qual é a "
                "intenção?",
                {"NONE": "Nenhum outro objetivo é dito"},
                sentinel="NONE",
                when=When("kind", ("REPLACE", "SHIFT", "ABANDON")),
                open=True,
            ),
        },
    },
    reads=fields(ShiftState),
    words="message",
    options={"destination": OptionsFrom("allowed_intents", "intent", "description")},
    safe={"kind": "CONTINUE"},  # the transaction keeps the turn
    share=ROUTING,
    host=HostMinimum(0.70, "the router's threshold (templates ship 0.65): below it, continue"),
)
