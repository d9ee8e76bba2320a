"""What a reply to a paused workflow amounts to, and whether that uses it up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Required, TypeAlias, TypedDict, cast

import msgspec

from ..gateway.points import DecisionPoint
from ..gateway.questions import Choice
from .menus import ENGLISH, PORTUGUESE, UNMATCHED, expected_options, meanings, normal, texts
from .reading import Said, word, words
from .shares import ROUTING, fields


class ExpectedInputState(TypedDict, total=False):
    """
    What WORKFLOW_EXPECTED_INPUT sees.

    One more field may be given and is not sent: `option_descriptions`, allowed value → what
    it means, on one line.

    Attributes:
        pending_prompt: What the workflow asked.
        allowed_values: Answers that it takes; they are the options.
        unmatched_value: The contract's own word for none of them; never an allowed value.
        relevant_conversation_context: What was said since the pause, if the contract wants it.
        user_input: The reply.
        option_actions: Allowed value → its action, such as `contextual_reentry`.

    """

    pending_prompt: str
    allowed_values: Required[Sequence[str]]
    unmatched_value: str | None
    relevant_conversation_context: str
    user_input: Required[str]
    option_actions: Mapping[str, Any]


class ReentryState(TypedDict, total=False):
    """
    What WORKFLOW_REENTRY sees.

    Attributes:
        pending_prompt: What the workflow asked.
        classified_option: The option that the reply was read as.
        relevant_conversation_context: What was said since the pause.
        current_message: The reply.

    """

    pending_prompt: str
    classified_option: str
    relevant_conversation_context: str
    current_message: Required[str]


WORKFLOW_EXPECTED_INPUT = DecisionPoint(
    name="WORKFLOW_EXPECTED_INPUT",
    questions={
        "en": {
            "option": Choice(
                "The workflow is waiting for an answer to its question. Which option does the "
                "reply amount to?",
                {
                    **meanings(
                        ENGLISH + PORTUGUESE,
                        "The reply accepts or acknowledges what was asked",
                        "The reply denies it and adds nothing to work on",
                        "A coherent reply that carries the subject further (question, item, "
                        "amount, objection)",
                    ),
                    UNMATCHED: "Too little or no meaning to be any of the above",
                },
                sentinel=UNMATCHED,
                open=True,
            )
        },
        "pt": {
            "option": Choice(
                "O fluxo espera resposta à pergunta dele. A que opção a resposta equivale?",
                {
                    **meanings(
                        PORTUGUESE + ENGLISH,
                        "A resposta aceita ou reconhece o que foi perguntado",
                        "A resposta nega e não traz nada a tratar",
                        "Resposta coerente que leva o assunto adiante (pergunta, item, valor, "
                        "objeção)",
                    ),
                    UNMATCHED: "Sem sentido suficiente para ser alguma das anteriores",
                },
                sentinel=UNMATCHED,
                open=True,
            )
        },
    },
    reads=fields(ExpectedInputState),
    words="user_input",
    options={"option": expected_options},
    brings=("option_descriptions",),
    safe=UNMATCHED,  # no allowed value: the workflow stays paused and asks again
    share=ROUTING,
)

WORKFLOW_REENTRY = DecisionPoint(
    name="WORKFLOW_REENTRY",
    questions={
        "en": {
            "precedence": Choice(
                "The reply was read as the option shown. Is the whole message used up by that "
                "answer?",
                {
                    "RESUME": "Yes: only the answer, at most with a courtesy",
                    "REENTER": (
                        "No: it also brings a request, objection, correction, reason, item, amount "
                        "or other fact still to be understood"
                    ),
                },
            ),
        },
        "pt": {
            "precedence": Choice(
                "A resposta foi lida como a opção indicada. A mensagem inteira se esgota nessa "
                "resposta?",
                {
                    "RESUME": "Sim: só a resposta, no máximo com uma cortesia",
                    "REENTER": (
                        "Não: traz também pedido, objeção, correção, motivo, item, valor ou outro "
                        "fato ainda por entender"
                    ),
                },
            ),
        },
    },
    reads=fields(ReentryState),
    words="current_message",
    safe="RESUME",  # the option chosen before stands
    share=ROUTING,
)


class Resume(msgspec.Struct, frozen=True):
    """
    The workflow resumes, and its resume tool is called.

    Attributes:
        value: The allowed value, as the contract spells it.

    """

    value: str


class Reenter(msgspec.Struct, frozen=True):
    """
    The message leaves the pause and goes to ROUTER with bounded context, as a claim.

    Attributes:
        value: The allowed value whose action says so.

    """

    value: str


class Reprompt(msgspec.Struct, frozen=True):
    """The workflow keeps the turn: no tool, and it asks again."""


ExpectedInput: TypeAlias = Resume | Reenter | Reprompt


def expected_input(outcome: Said, state: Mapping[str, Any]) -> ExpectedInput:
    """
    Read a decision of WORKFLOW_EXPECTED_INPUT as the host does.

    Only an allowed value counts, compared without blanks and case; whatever says "none of
    these" never reaches the workflow (A15).

    Args:
        outcome: What was decided.
        state: Of the call: its allowed values and what they do.

    Raises:
        DeclarationError: The allowed values are no texts.

    """
    said = [normal(one) for one in words(outcome)]
    for value in texts(state, "allowed_values"):
        if normal(value) in said:
            reenters = _action(state, value) == "contextual_reentry"
            return Reenter(value) if reenters else Resume(value)
    return Reprompt()


def _action(state: Mapping[str, Any], value: str) -> object:
    actions: Mapping[str, Any] = state.get("option_actions") or {}
    declared: Any = actions.get(value)
    if isinstance(declared, Mapping):
        return cast("Mapping[str, Any]", declared).get("action")
    return declared


class Reentry(StrEnum):
    """
    What becomes of a reply that would resume the workflow.

    `RESUME` makes the host resume with the option chosen before; `REENTER` sends the message
    to ROUTER with bounded context instead.
    """

    RESUME = "RESUME"
    REENTER = "REENTER"


def reentry(outcome: Said) -> Reentry:
    """Read a decision of WORKFLOW_REENTRY: anything but `REENTER` resumes."""
    return Reentry.REENTER if word(outcome, ["REENTER"]) else Reentry.RESUME
