"""Which extracted value fits which field: `current` extracts, a provider says what holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

import msgspec

from ..gateway.points import DecisionPoint, Hybrid, Repeat
from ..gateway.questions import Choice
from .extraction import completed, extended, merged, outcome, read_parameters
from .shares import fields


class FieldSchema(TypedDict, total=False):
    """
    What a parameter is.

    Attributes:
        type: Its type, as in JSON Schema.
        description: What it means; the only source of meaning.

    """

    type: str
    description: str


class Found(TypedDict, total=False):
    """
    A candidate value.

    Attributes:
        value: As it was extracted.
        source: Where: `current`, `history:N`, `state`.

    """

    value: Required[Any]
    source: str


class ReconciliationState(TypedDict, total=False):
    """
    What TRANSACTION_PARAMETER_RECONCILIATION sees.

    Attributes:
        current_user_message: What the user said.
        tool_name: For which tool the parameters are.
        parameter_schema: Parameter → what it is; each of them is asked about.
        known_arguments: Parameter → the value known so far.
        candidates: Parameter → what was extracted; the extraction puts it here.
        tied_candidates: Parameter → what was extracted, where that differs; the extraction puts
            it here, and none of it can be `resolved`.
        conversation_newest_first: What was said before, ranked.

    """

    current_user_message: Required[str]
    tool_name: str
    parameter_schema: Required[Mapping[str, FieldSchema]]
    known_arguments: Mapping[str, Any]
    candidates: Mapping[str, Found]
    tied_candidates: Mapping[str, Sequence[Found]]
    conversation_newest_first: Sequence[str]


TRANSACTION_PARAMETER_RECONCILIATION = DecisionPoint(
    name="TRANSACTION_PARAMETER_RECONCILIATION",
    questions={
        "en": {
            "field": Choice(
                'What should happen to parameter "{n}"?',
                {
                    "resolved": (
                        "The extracted candidate fits this field and the latest context points to "
                        "it alone"
                    ),
                    "preserve": "Keep the known value: nothing newer touches it",
                    "clear": (
                        "The newer context breaks the old value and no safe replacement exists"
                    ),
                    "unresolved": "No safe candidate, or two candidates tie",
                },
                sentinel="unresolved",
            )
        },
        "pt": {
            "field": Choice(
                'O que fazer com o parâmetro "{n}"?',
                {
                    "resolved": (
                        "O candidato extraído cabe neste campo e o contexto mais recente aponta só "
                        "para ele"
                    ),
                    "preserve": "Manter o valor conhecido: nada mais novo o afeta",
                    "clear": (
                        "O contexto mais novo desfaz o valor antigo e não há substituto seguro"
                    ),
                    "unresolved": "Nenhum candidato seguro, ou dois empatam",
                },
                sentinel="unresolved",
            )
        },
    },
    reads=fields(ReconciliationState),
    words="current_user_message",
    repeats={"field": Repeat("parameter_schema", "{n}")},
    needs={
        "resolved": "candidates.{n}",  # never a value that was not extracted
        "preserve": "known_arguments.{n}",
        "clear": "known_arguments.{n}",
    },
    safe="unresolved",  # the transaction keeps collecting
    hybrid=Hybrid(read_parameters, extended, merged, outcome, complete=completed),
)


def by_field(point: DecisionPoint) -> DecisionPoint:
    """
    Let an unsure field be unresolved alone, instead of the whole decision falling back (A7).

    Its questions become advisory: checked, never gated; one that fails has no value, and
    the merge takes that for `unresolved`.
    """
    questions = {
        language: {
            name: msgspec.structs.replace(question, advisory=True)
            for name, question in asked.items()
        }
        for language, asked in point.questions.items()
    }
    return msgspec.structs.replace(point, questions=questions)
