"""How good an answer was. A judge that is undecided has not passed it."""

from __future__ import annotations

from ..gateway.points import DecisionPoint
from ..gateway.questions import Score

JUDGE_RQLT = DecisionPoint(
    name="JUDGE_RQLT",
    questions={
        "en": {
            "quality": Score(
                "How good is the answer to the question, by clarity, completeness and "
                "usefulness? A short correct answer is a good answer.",
                ("useless", "poor", "weak", "acceptable", "good", "excellent"),
                high=10,  # score10; a host is handed score10 / 10, since it divides only above 1
            )
        },
        "pt": {
            "quality": Score(
                "Quão boa é a resposta à pergunta, em clareza, completude e utilidade? Resposta "
                "curta e correta é boa resposta.",
                ("inútil", "ruim", "fraca", "aceitável", "boa", "excelente"),
                high=10,
            )
        },
    },
    reads=("question", "answer"),
    words="answer",
    safe=0.0,  # an undecided judge has not passed the answer
)
