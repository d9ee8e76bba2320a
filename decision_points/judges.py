"""How good an answer was, how it sounded, how the customer feels: recorded, changing nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Required, TypedDict

from ..gateway.points import DecisionPoint, HostMinimum
from ..gateway.questions import Choice, Predicate, Score
from .shares import INPUT, JUDGES, fields


class SentimentState(TypedDict, total=False):
    """
    What CSI sees.

    Attributes:
        text: What the customer said; no answer, no context.

    """

    text: Required[str]


class ToneState(TypedDict, total=False):
    """
    What VCTN sees.

    Attributes:
        answer: What the agent said.

    """

    answer: Required[str]


class GroundednessState(TypedDict, total=False):
    """
    What ALUC sees.

    Attributes:
        answer: What the agent said.
        evidence: Tool results that it may rest on.

    """

    answer: Required[str]
    evidence: Sequence[Any]


class QualityState(TypedDict, total=False):
    """
    What RQLT sees.

    Attributes:
        question: What the customer asked.
        answer: What the agent said.

    """

    question: str
    answer: Required[str]


class JudgedState(TypedDict, total=False):
    """
    What the generic judge sees.

    Attributes:
        question: What the customer asked.
        answer: What the agent said.
        evidence: What it may rest on.

    """

    question: str
    answer: Required[str]
    evidence: Sequence[Any]


JUDGE_CSI = DecisionPoint(
    name="JUDGE_CSI",
    questions={
        "en": {
            "sentiment": Choice(
                "Which feeling dominates the customer's message?",
                {
                    "NEGATIVE": "Anger, frustration, complaint, distrust, threat to leave",
                    "NEUTRAL": "Plain question or operational message without clear feeling",
                    "POSITIVE": "Thanks, satisfaction, praise, relief",
                },
            ),
            "satisfaction": Score(
                "How does the customer feel?",
                ("very negative", "negative", "neutral", "positive", "very positive"),
                high=10,
            ),
        },
        "pt": {
            "sentiment": Choice(
                "Que sentimento predomina na mensagem do cliente?",
                {
                    "NEGATIVO": "Raiva, frustração, queixa, desconfiança, ameaça de sair",
                    "NEUTRO": "Pergunta simples ou mensagem operacional sem emoção clara",
                    "POSITIVO": "Agradecimento, satisfação, elogio, alívio",
                },
            ),
            "satisfaction": Score(
                "Como o cliente se sente?",
                ("muito negativo", "negativo", "neutro", "positivo", "muito positivo"),
                high=10,
            ),
        },
    },
    reads=fields(SentimentState),
    words="text",
    safe={"satisfaction": 5.0},  # the middle of 0–10; without a label the helper says neutral
    aliases=("JUDGE_SENTIMENT",),
    share=INPUT,
    evaluates=True,
)

JUDGE_VCTN = DecisionPoint(
    name="JUDGE_VCTN",
    questions={
        "en": {
            "appropriate": Predicate(
                "Is the agent's tone polite, with no rudeness, aggression or blame?"
            ),
        },
        "pt": {
            "appropriate": Predicate(
                "O tom do agente é educado, sem grosseria, agressividade ou culpa?"
            ),
        },
    },
    reads=fields(ToneState),
    words="answer",
    safe=False,  # an undecided judge has not passed the answer
    blocks=False,
    aliases=("JUDGE_TONE",),
    share=JUDGES,
    evaluates=True,
)

JUDGE_ALUC = DecisionPoint(
    name="JUDGE_ALUC",
    questions={
        "en": {
            "unsupported_fact": Predicate(
                "Does the answer contain a factual statement (amount, date, number, name, "
                "status, result, cause, rule) that the evidence neither holds nor implies?",
                tie=True,
            ),
        },
        "pt": {
            "unsupported_fact": Predicate(
                "A resposta contém afirmação factual (valor, data, número, nome, status, "
                "resultado, causa, regra) que a evidência não traz nem permite concluir?",
                tie=True,
            ),
        },
    },
    reads=fields(GroundednessState),
    words="answer",
    safe=True,  # not passed: what may be invented is not called grounded
    aliases=("JUDGE_GROUNDEDNESS",),
    share=JUDGES,
    host=HostMinimum(0.6, "bites only where a score is handed over, hence none is (A27)"),
    evaluates=True,
)

JUDGE_RQLT = DecisionPoint(
    name="JUDGE_RQLT",
    # 0–10 in six levels (A25); a host is handed a tenth of it, since it divides only above 1
    questions={
        "en": {
            "quality": Score(
                "How good is the answer to the question, by clarity, completeness and "
                "usefulness? A short correct answer is a good answer.",
                ("useless", "poor", "weak", "acceptable", "good", "excellent"),
                high=10,
            ),
        },
        "pt": {
            "quality": Score(
                "Quão boa é a resposta à pergunta, em clareza, completude e utilidade? "
                "Resposta curta e correta é boa resposta.",
                ("inútil", "ruim", "fraca", "aceitável", "boa", "excelente"),
                high=10,
            ),
        },
    },
    reads=fields(QualityState),
    words="answer",
    safe=0.0,  # an undecided judge has not passed the answer
    aliases=("JUDGE_RESPONSE_QUALITY",),
    share=JUDGES,
    host=HostMinimum(0.7, "of 1: what a prompt may call good, 5 to 7 of 10, mostly fails it"),
    evaluates=True,
)

JUDGE_LLM_JUDGE = DecisionPoint(
    name="JUDGE_LLM_JUDGE",
    questions={
        "en": {
            "score": Score(
                "How well does the answer serve the question, given the evidence?",
                ("useless", "poor", "weak", "acceptable", "good", "excellent"),
                high=1,
            ),
        },
        "pt": {
            "score": Score(
                "Quão bem a resposta atende à pergunta, dada a evidência?",
                ("inútil", "ruim", "fraca", "aceitável", "boa", "excelente"),
                high=1,
            ),
        },
    },
    reads=fields(JudgedState),
    words="answer",
    safe=0.0,  # an undecided judge has not passed the answer
    prefix="JUDGE_",
    share=JUDGES,
    host=HostMinimum(0.7, "the host derives from it whether the answer passed"),
    evaluates=True,
)
