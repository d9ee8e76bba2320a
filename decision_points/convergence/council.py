"""
COUNCIL: whether a council of three lets a synthesis stand.

Critic, devil's advocate and synthesizer judge how an answer was reached; the score is plain
arithmetic over what they found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, TypedDict

import msgspec

from ...gateway.calculators import Calculator
from ...gateway.errors import DeclarationError
from ...gateway.points import DecisionPoint
from ...gateway.questions import Choice, Outcome
from ..reading import word
from .given import Percent, below, clamped, protective, taken

Ruling: TypeAlias = Literal["HUMAN", "EMIT_WITH_CAVEATS", "EMIT"]

RULINGS: Final[tuple[Ruling, ...]] = ("HUMAN", "EMIT_WITH_CAVEATS", "EMIT")
"""Most protective first."""

Resolution: TypeAlias = Literal["strong", "partial", "resolved", "unresolved"]

CONSENSUS: Final[Mapping[Resolution, float]] = {
    "strong": 20.0,
    "partial": 10.0,
    "resolved": 0.0,
    "unresolved": -10.0,
}
"""What the synthesizer found → points."""

CRITERIA: Final = 5  # of the critic, 20 points each, so that they add up to 100

Points: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=20)]


class Advocate(msgspec.Struct, frozen=True, kw_only=True):
    """
    What the devil's advocate found.

    Attributes:
        weak_premise: A critical premise is weak: −10.
        unmitigated_risk: A high risk cannot be mitigated: −15.
        ignored_alternative: An alternative was not looked at: −5.

    """

    weak_premise: bool
    unmitigated_risk: bool
    ignored_alternative: bool


class CouncilRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The numbers of policy; never sent to a provider.

    Attributes:
        emit: Score from which the synthesis stands, 0–100.
        caveats: Score from which it stands with caveats (DD-22, AM-06); with both at 60 it
            stands plainly from there (DD-63).
        approve: The critic's total from which nothing is taken off.
        revise: From which 10 points are; below it 20.

    """

    emit: Percent = 70.0
    caveats: Percent = 60.0
    approve: Percent = 70.0
    revise: Percent = 50.0


class CouncilState(msgspec.Struct, frozen=True, kw_only=True):
    """
    What COUNCIL is given, as a mapping; all but the rule is sent.

    Attributes:
        question: What the synthesis answers.
        base: Confidence of the synthesis, 0–100.
        critic: Criterion → 0–20 points, five of them.
        advocate: What the devil's advocate found.
        resolution: What the synthesizer made of the differences.
        adjustments: Points that are added to the critic's total, mostly negative.
        rule: The numbers of policy.

    """

    question: str = ""
    base: Percent
    critic: Mapping[str, Points]
    advocate: Advocate
    resolution: Resolution
    adjustments: tuple[float, ...] = ()
    rule: CouncilRule = CouncilRule()


class Council(TypedDict):
    """
    The value of COUNCIL.

    Attributes:
        score: 0–100, unrounded.
        critic: The critic's total with its adjustments, 0–100.
        critic_verdict: What the critic's total means.
        parts: `base`, `consensus`, `critic`, `advocate`: what the score is the sum of.
        route: What becomes of the synthesis.

    """

    score: float
    critic: float
    critic_verdict: Literal["approve", "revise", "reject"]
    parts: dict[str, float]
    route: Ruling


def council_of(state: Mapping[str, Any]) -> Council:
    """
    Add up: base + consensus + critic + advocate, held within 0–100.

    Consensus: strong +20, partial +10, resolved 0, unresolved −10. Critic: approve 0,
    revise −10, reject −20. Advocate: −10, −15, −5 for what was found.

    Raises:
        DeclarationError: The state or its rule lacks something or contradicts itself.

    """
    given = _given(state)
    critic = clamped(sum(given.critic.values()) + sum(given.adjustments))
    verdict = _verdict(critic, given.rule)
    parts = {
        "base": given.base,
        "consensus": CONSENSUS[given.resolution],
        "critic": {"approve": 0.0, "revise": -10.0, "reject": -20.0}[verdict],
        "advocate": _advocate(given.advocate),
    }
    score = clamped(sum(parts.values()))
    route = _ruling(score, given.rule)
    return {
        "score": score,
        "critic": critic,
        "critic_verdict": verdict,
        "parts": parts,
        "route": route,
    }


def ruled_council(state: Mapping[str, Any], outcome: Outcome) -> Outcome:
    """Take the more protective of what the score says and what was judged."""
    return protective(council_of(state)["route"], outcome, RULINGS)


def _given(state: Mapping[str, Any]) -> CouncilState:
    given = taken("COUNCIL", state, CouncilState)
    rule = given.rule
    if len(given.critic) != CRITERIA:
        raise DeclarationError("COUNCIL: the critic scores five criteria - at `$.critic`")
    if rule.caveats > rule.emit or rule.revise > rule.approve:
        raise DeclarationError("COUNCIL: its bounds are not in order - at `$.rule`")
    return given


def _verdict(total: float, rule: CouncilRule) -> Literal["approve", "revise", "reject"]:
    if below(total, rule.revise):
        return "reject"
    return "revise" if below(total, rule.approve) else "approve"


def _advocate(found: Advocate) -> float:
    weak, risk, alternative = found.weak_premise, found.unmitigated_risk, found.ignored_alternative
    return 0.0 - 10.0 * weak - 15.0 * risk - 5.0 * alternative


def _ruling(score: float, rule: CouncilRule) -> Ruling:
    if below(score, rule.caveats):
        return "HUMAN"
    return "EMIT_WITH_CAVEATS" if below(score, rule.emit) else "EMIT"


def _read(value: Any) -> Outcome:  # noqa: ANN401 - the point's own value
    return word(value["route"], RULINGS)


def _written(state: Mapping[str, Any], outcome: Outcome) -> Council:
    found = council_of(state)
    return {**found, "route": protective(found["route"], outcome, RULINGS)}


COUNCIL = DecisionPoint(
    name="COUNCIL",
    questions={
        "en": {
            "route": Choice(
                "After this review, may the conclusion stand?",
                {
                    "EMIT": "Sound method, answered objections: give it as it is",
                    "EMIT_WITH_CAVEATS": "It stands, but its weaknesses must be said with it",
                    "HUMAN": "Weak method or open objections: a person decides",
                },
            ),
        },
        "pt": {
            "route": Choice(
                "Depois desta revisão, a conclusão pode valer?",
                {
                    "EMIT": "Método sólido, objeções respondidas: entregar como está",
                    "EMIT_WITH_CAVEATS": "Vale, mas suas fraquezas devem ir junto",
                    "HUMAN": "Método fraco ou objeções em aberto: uma pessoa decide",
                },
            ),
        },
    },
    reads=tuple(name for name in CouncilState.__struct_fields__ if name != "rule"),
    brings=("rule",),
    safe="HUMAN",  # the most protective
    current=Calculator(decide=council_of, read=_read, write=_written),
    after=ruled_council,
    internal=True,
)
