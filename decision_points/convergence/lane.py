"""DEBATE_LANE: how much deliberation a question gets, before anybody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

import msgspec

from ...gateway.calculators import Calculator
from ...gateway.points import DecisionPoint
from ...gateway.questions import Choice, Outcome
from ..reading import word
from .given import meant, taken

Lane: TypeAlias = Literal["SIMPLE", "DEBATE", "COUNCIL"]

LANES: tuple[Lane, ...] = ("SIMPLE", "DEBATE", "COUNCIL")

PANEL = 2  # DD-01, AM-32: one role answers alone; it takes two to debate


class LaneState(msgspec.Struct, frozen=True, kw_only=True):
    """
    What DEBATE_LANE is given, as a mapping.

    Attributes:
        question: What is to be decided.
        options: What may be recommended.
        roles: How many roles could take part, at least one.
        critical: The host knows the question to be critical.
        reasons: Why it is critical, in the host's words.

    """

    question: str
    options: tuple[str, ...] = ()
    roles: Annotated[int, msgspec.Meta(ge=1)]
    critical: bool
    reasons: tuple[str, ...] = ()


class DebateLane(TypedDict):
    """
    The value of DEBATE_LANE.

    Attributes:
        lane: Where the question goes.
        reasons: `critical`, `roles`, or `judged` where neither says so.

    """

    lane: Lane
    reasons: list[str]


def lane_of(state: Mapping[str, Any]) -> DebateLane:
    """
    Send a critical question to the council, one for two or more roles to debate (AM-31).

    Raises:
        DeclarationError: The state lacks something, or no role could take part.

    """
    given = _given(state)
    lane: Lane = "COUNCIL" if given.critical else "DEBATE" if given.roles >= PANEL else "SIMPLE"
    return {"lane": lane, "reasons": ["critical" if given.critical else "roles"]}


def ruled_lane(state: Mapping[str, Any], outcome: Outcome) -> Outcome:
    """
    Hold a judgement to what is possible: critical is COUNCIL, one role cannot debate (AM-32).

    A judgement may send a question with many roles to one of them, or straight to the council.
    """
    given = _given(state)
    if given.critical:
        return "COUNCIL"
    return "SIMPLE" if outcome == "DEBATE" and given.roles < PANEL else outcome


def _given(state: Mapping[str, Any]) -> LaneState:
    return taken("DEBATE_LANE", state, LaneState)


def _read(value: Any) -> Outcome:  # noqa: ANN401 - the point's own value
    return word(value["lane"], LANES)


def _written(state: Mapping[str, Any], outcome: Outcome) -> DebateLane:
    found = lane_of(state)
    if outcome == found["lane"]:
        return found
    return {"lane": meant(outcome, LANES), "reasons": ["judged"]}


DEBATE_LANE = DecisionPoint(
    name="DEBATE_LANE",
    questions={
        "en": {
            "lane": Choice(
                "How much deliberation does this question need?",
                {
                    "SIMPLE": "Plain question; one informed role can answer it alone",
                    "DEBATE": "Real trade-offs; several roles should argue before it is answered",
                    "COUNCIL": "Critical: a wrong answer is costly or cannot be undone",
                },
            ),
        },
        "pt": {
            "lane": Choice(
                "De quanta deliberação esta pergunta precisa?",
                {
                    "SIMPLE": "Pergunta simples; um papel bem informado responde sozinho",
                    "DEBATE": "Há dilemas reais; vários papéis devem debater antes da resposta",
                    "COUNCIL": "Crítica: uma resposta errada custa caro ou não tem volta",
                },
            ),
        },
    },
    reads=LaneState.__struct_fields__,
    safe="COUNCIL",  # the most protective, and the only one that any number of roles allows
    current=Calculator(decide=lane_of, read=_read, write=_written),
    after=ruled_lane,
    internal=True,
)
