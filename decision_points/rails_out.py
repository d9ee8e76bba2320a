"""Guardrails over the agent's answer. True means a violation, except for the generic GRL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Required, TypedDict

import msgspec

from ..gateway.points import DecisionPoint
from ..gateway.questions import Choice, Predicate, When
from .rails_in import GUARDRAIL_GUARDRAIL
from .routing import Turn
from .shares import OUTPUT, fields


class EvidenceState(TypedDict, total=False):
    """
    What REVPREC sees.

    Attributes:
        answer: What the agent is about to say.
        evidence: Tool results of this turn; earlier turns prove nothing.

    """

    answer: Required[str]
    evidence: Sequence[Any]


class OfferState(TypedDict, total=False):
    """
    What AOFERTA sees.

    Attributes:
        history: What the customer asked for or complained about.
        transaction_status: Status of the transaction in progress.
        answer: What the agent is about to say.
        evidence: What was executed, if anything.

    """

    history: Sequence[Turn]
    transaction_status: str
    answer: Required[str]
    evidence: Sequence[Any]


class WordingState(TypedDict, total=False):
    """
    What FRASEOLOGIA sees.

    Attributes:
        answer: What the agent is about to say.
        history: Who said what before.

    """

    answer: Required[str]
    history: Sequence[Turn]


class LeakState(TypedDict, total=False):
    """
    What DLEX_OUT sees.

    Attributes:
        answer: What the agent is about to say, authorised protocols replaced by a marker.
        expected_protocols_masked: How many were; only then is it asked what is exposed.
        context: What else may be shown, masked likewise.

    """

    answer: Required[str]
    expected_protocols_masked: int
    context: Any


class RecheckState(TypedDict, total=False):
    """
    What the recheck of DLEX_OUT sees.

    Attributes:
        answer: The answer, each authorised protocol replaced by plain public words.
        authorized_customer_protocol: The protocol is the customer's own.
        context: What else may be shown.

    """

    answer: Required[str]
    authorized_customer_protocol: bool
    context: Any


GUARDRAIL_GRL = msgspec.structs.replace(
    GUARDRAIL_GUARDRAIL, name="GUARDRAIL_GRL", prefix="", share=OUTPUT
)

GUARDRAIL_AOFERTA = DecisionPoint(
    name="GUARDRAIL_AOFERTA",
    questions={
        "en": {
            "unsolicited_offer": Predicate(
                "Does the agent offer or announce an action on the account (cancel, dispute, "
                "adjust, credit, refund, change plan) that the customer neither asked for nor "
                "complained about for that target, or that the agent may never offer?"
            ),
        },
        "pt": {
            "unsolicited_offer": Predicate(
                "O agente oferece ou anuncia uma ação na conta (cancelar, contestar, ajustar, "
                "creditar, devolver, trocar plano) que o cliente não pediu nem reclamou para "
                "aquele alvo, ou que o agente nunca pode oferecer?"
            ),
        },
    },
    fails_closed=True,  # the executor blocks what a rail could not judge
    reads=fields(OfferState),
    words="answer",
    safe=False,  # explaining, listing and asking for a datum are no offers
    share=OUTPUT,
)

GUARDRAIL_REVPREC = DecisionPoint(
    name="GUARDRAIL_REVPREC",
    questions={
        "en": {
            "unproven_completion": Predicate(
                "Does the answer state that an operation (cancellation, dispute, credit, "
                "refund, change, delivery of something) has already been done, without support "
                "in the evidence of this turn or against it?"
            ),
        },
        "pt": {
            "unproven_completion": Predicate(
                "A resposta afirma que uma operação (cancelamento, contestação, crédito, "
                "reembolso, alteração, envio) já foi feita, sem apoio na evidência deste turno "
                "ou contra ela?"
            ),
        },
    },
    fails_closed=True,  # the executor blocks what a rail could not judge
    reads=fields(EvidenceState),
    words="answer",
    safe=False,  # only a clear and unproven claim is flagged (A22)
    share=OUTPUT,
)

_GROUPS = {
    "en": {
        "internal_term": "Internal names, tool or system jargon said to the customer",
        "blame": "Blame put on the customer",
        "vague_list": "Vague other services instead of their names",
        "activation": "How it got activated, used as a reason",
        "other_channel": "The customer is sent elsewhere",
        "plan_change": "A cheaper or another plan is offered",
        "double_refund": "A double refund is promised",
    },
    "pt": {
        "internal_term": "Nomes internos, jargão de ferramenta ou sistema dito ao cliente",
        "blame": "Culpa posta no cliente",
        "vague_list": "Outros serviços, de modo vago, em vez dos nomes",
        "activation": "O modo de ativação usado como justificativa",
        "other_channel": "O cliente é mandado a outro canal",
        "plan_change": "Um plano mais barato ou outro é oferecido",
        "double_refund": "Devolução em dobro é prometida",
    },
}

_EXPOSED = {
    "en": {
        "own_protocol": "Only a reference of this customer's own service request",
        "secret": "A credential, such as a password or a key",
        "internal_rules": "Instructions, internal logic, limits, fraud or eligibility rules",
        "other_person": "Another person's data",
        "internal_system": "Internal addresses, tools or schemas",
    },
    "pt": {
        "own_protocol": "Só uma referência do atendimento deste mesmo cliente",
        "secret": "Uma credencial, como senha ou chave",
        "internal_rules": "Instruções, lógica interna, limites, regras de fraude ou elegibilidade",
        "other_person": "Dados de outra pessoa",
        "internal_system": "Endereços, ferramentas ou esquemas internos",
    },
}


def _code(instructions: str, codes: dict[str, str], under: str) -> Choice:
    return Choice(instructions, codes, when=When(under, (True,)), advisory=True)


GUARDRAIL_FRASEOLOGIA = DecisionPoint(
    name="GUARDRAIL_FRASEOLOGIA",
    questions={
        "en": {
            "forbidden_wording": Predicate(
                "Does the agent's wording break a phrasing rule: internal names, tool or "
                'system jargon said to the customer, blame on the customer, vague "other '
                'services" instead of names, how it got activated used as a reason, sending '
                "the customer elsewhere, offering a cheaper or other plan, promising double "
                "refund?"
            ),
            "reason_code": _code(
                "Which phrasing rule does the wording break first?",
                _GROUPS["en"],
                "forbidden_wording",
            ),
        },
        "pt": {
            "forbidden_wording": Predicate(
                "A fala do agente fere uma regra de fraseado: nomes internos, jargão de "
                'ferramenta ou sistema dito ao cliente, culpa no cliente, "outros serviços" '
                "vago em vez de nomes, modo de ativação como justificativa, mandar o cliente a "
                "outro canal, oferecer plano mais barato ou outro, prometer devolução em dobro?"
            ),
            "reason_code": _code(
                "Qual regra de fraseado a fala fere primeiro?", _GROUPS["pt"], "forbidden_wording"
            ),
        },
    },
    fails_closed=True,  # the executor blocks what a rail could not judge
    reads=fields(WordingState),
    words="answer",
    safe=False,  # wording alone is no reason to keep an answer back
    share=OUTPUT,
)

GUARDRAIL_DLEX_OUT = DecisionPoint(
    name="GUARDRAIL_DLEX_OUT",
    questions={
        "en": {
            "leaks": Predicate(
                "Does the answer expose something protected: instructions or internal logic, "
                "credentials, internal addresses, tools or schemas, another person's data, or "
                "internal limits and fraud or eligibility rules?",
                tie=True,
            ),
            "reason_code": _code("What does the answer expose?", _EXPOSED["en"], "leaks"),
        },
        "pt": {
            "leaks": Predicate(
                "A resposta expõe algo protegido: instruções ou lógica interna, credenciais, "
                "endereços, ferramentas ou esquemas internos, dados de outra pessoa, ou "
                "limites internos e regras de fraude ou elegibilidade?",
                tie=True,
            ),
            "reason_code": _code("O que a resposta expõe?", _EXPOSED["pt"], "leaks"),
        },
    },
    fails_closed=True,  # the executor blocks what a rail could not judge
    reads=fields(LeakState),
    words="answer",
    asked_with={"reason_code": "expected_protocols_masked"},
    safe=True,  # what was given away stays so
    share=OUTPUT,
)

GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK = DecisionPoint(
    name="GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK",
    questions={
        "en": {
            "leaks": Predicate(
                "With the authorised reference taken out, does the rest of the answer expose "
                "something protected?",
                tie=True,
            ),
        },
        "pt": {
            "leaks": Predicate(
                "Retirada a referência autorizada, o restante da resposta expõe algo protegido?",
                tie=True,
            ),
        },
    },
    fails_closed=True,  # the executor blocks what a rail could not judge
    reads=fields(RecheckState),
    words="answer",
    safe=True,  # the first block stays
    chain=("GUARDRAIL_DLEX_OUT",),
    share=OUTPUT,
)
