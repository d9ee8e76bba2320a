"""
CONVERGENCE: whether the positions of a round agree enough to stop.

The verdict is one formula over four criteria, whoever judges them: the calculator compares
the words of structured positions, a provider answers four predicates. Quorum, the
recommendation gate and the number of rounds are never the provider's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, TypedDict

import msgspec

from ...gateway.calculators import Calculator
from ...gateway.errors import DeclarationError
from ...gateway.points import DecisionPoint
from ...gateway.questions import Outcome, Predicate
from .agreement import SAME, Agreement, on_sets, on_words, shared
from .given import TOLERANCE, below, taken

Verdict: TypeAlias = Literal["CONVERGED", "DIVERGED", "NO_QUORUM"]

CRITERIA: Final = ("recommendation", "premises", "risks", "timing")
"""DD-35: the four points on which positions agree or not, in the order of the weights."""

EQUAL: Final = (1.0, 1.0, 1.0, 1.0)
"""DD-34: the plain ratio of agreement points."""

WEIGHTED: Final = (30.0, 25.0, 25.0, 20.0)
"""AM-20: the recommendation weighs most, the timing least."""

Weight: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """
    What one role holds at the end of a round.

    Attributes:
        label: Who holds it, once in a round; say nothing of vendors or models.
        recommendation: One of the question's options.
        premises: What it rests on.
        risks: What it sees coming.
        timing: When; empty if it does not matter.
        partial: Cut off: it counts for the recommendation alone (AM-26).

    """

    label: str
    recommendation: Annotated[str, msgspec.Meta(min_length=1)]
    premises: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    timing: str = ""
    partial: bool = False


class ConvergenceRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The numbers of policy; never sent to a provider.

    Attributes:
        weights: Of the four criteria, none negative, not all zero.
        threshold: Score from which positions have converged, 0–100 (DD-11).
        agreement: How several voices on one criterion become one number (AM-22).
        same_recommendation: AM-21: whatever the score, no convergence unless all recommend
            the same; `partial`: more than half of them (FV-05c); false: no such gate.
        quorum: Fewest positions, at least two: one alone agrees with itself.
        quorum_share: Least share of the roles that must have answered (AM-24).

    """

    weights: tuple[Weight, Weight, Weight, Weight] = EQUAL
    threshold: Annotated[float, msgspec.Meta(ge=0, le=100)] = 70.0
    agreement: Agreement = "trilevel"
    same_recommendation: bool | Literal["partial"] = True
    quorum: Annotated[int, msgspec.Meta(ge=2)] = 2
    quorum_share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5


class ConvergenceState(msgspec.Struct, frozen=True, kw_only=True):
    """
    What CONVERGENCE is given, as a mapping; all but the rule is sent.

    Attributes:
        question: What is debated.
        options: What may be recommended.
        round: Which round ended, from 1; the verdict does not depend on it.
        expected: How many roles were asked.
        positions: Of the roles that answered; who gave none is left out (DD-39).
        rule: The numbers of policy.

    """

    question: str = ""
    options: tuple[str, ...] = ()
    round: Annotated[int, msgspec.Meta(ge=1)] = 1
    expected: Annotated[int, msgspec.Meta(ge=1)]
    positions: tuple[Position, ...]
    rule: ConvergenceRule = ConvergenceRule()


class Convergence(TypedDict):
    """
    The value of CONVERGENCE.

    Attributes:
        score: 0–100, unrounded; None without a quorum.
        criteria: Criterion → agreement in [0, 1].
        verdict: What follows.
        hollow: The score alone would have converged, on different recommendations (AM-21).
        agreed: Criteria that are settled.
        open: The others.
        responded: How many positions there are.
        expected: How many roles were asked (AM-25).

    """

    score: float | None
    criteria: dict[str, float]
    verdict: Verdict
    hollow: bool
    agreed: list[str]
    open: list[str]
    responded: int
    expected: int


def convergence_of(state: Mapping[str, Any]) -> Convergence:
    """
    Compare the words of structured positions: C = 100 · Σ w·c / Σ w over the four criteria.

    A criterion that fewer than two whole positions speak to is open. Two positions that name
    no premise, no risk or no timing agree on that.

    Raises:
        DeclarationError: The state or its rule lacks something or contradicts itself.

    """
    given = _given(state)
    return _judged(given, _levels(given))


def ruled_convergence(state: Mapping[str, Any], outcome: Outcome) -> Outcome:
    """Let no judgement call recommendations the same that are written differently (AM-21)."""
    assert isinstance(outcome, Mapping)
    if outcome["same_recommendation"] is not True or _gated(_given(state)):
        return outcome
    return {**outcome, "same_recommendation": False}


def _given(state: Mapping[str, Any]) -> ConvergenceState:
    given = taken("CONVERGENCE", state, ConvergenceState)
    labels = [one.label for one in given.positions]
    if len(set(labels)) < len(labels):
        raise DeclarationError("CONVERGENCE: one position a label - at `$.positions`")
    if len(labels) > given.expected:
        raise DeclarationError("CONVERGENCE: more positions than roles - at `$.expected`")
    if not sum(given.rule.weights):
        raise DeclarationError("CONVERGENCE: all weights are zero - at `$.rule.weights`")
    return given


def _levels(given: ConvergenceState) -> dict[str, float]:
    how, everybody = given.rule.agreement, given.positions
    whole = [one for one in everybody if not one.partial]
    return {
        "recommendation": on_words((one.recommendation for one in everybody), how),
        "premises": on_sets((one.premises for one in whole), how),
        "risks": on_sets((one.risks for one in whole), how),
        "timing": on_words((one.timing for one in whole), how),
    }


def _gated(given: ConvergenceState) -> bool:
    """Whether the recommendations, as written, may be called the same."""
    found = shared(one.recommendation for one in given.positions)
    return found == "same" or (found == given.rule.same_recommendation == "partial")


def _judged(given: ConvergenceState, levels: dict[str, float]) -> Convergence:
    """Apply the formula, then what no judge may overrule."""
    score = _score(levels, given.rule.weights) if _quorate(given) else None
    near = score is not None and not below(score, given.rule.threshold)
    gated = _gated(given) and levels["recommendation"] > 0
    passes = gated or given.rule.same_recommendation is False
    ends: Verdict = "CONVERGED" if near and passes else "DIVERGED"
    agreed = [name for name in CRITERIA if _settled(name, levels[name])]
    return {
        "score": score,
        "criteria": levels,
        "verdict": "NO_QUORUM" if score is None else ends,
        "hollow": near and not gated,
        "agreed": agreed,
        "open": [name for name in CRITERIA if name not in agreed],
        "responded": len(given.positions),
        "expected": given.expected,
    }


def _score(levels: Mapping[str, float], weights: Sequence[float]) -> float:
    met = sum(weight * levels[name] for name, weight in zip(CRITERIA, weights, strict=True))
    return 100 * met / sum(weights)


def _quorate(given: ConvergenceState) -> bool:
    answered, rule = len(given.positions), given.rule
    enough = answered >= rule.quorum_share * given.expected - TOLERANCE
    return enough and answered >= rule.quorum


def _settled(criterion: str, level: float) -> bool:
    """Sets are settled from where they count as the same, whatever scale the rule has."""
    least = SAME if criterion in ("premises", "risks") else 1.0
    return level >= least - TOLERANCE


def _read(value: Any) -> Outcome:  # noqa: ANN401 - the point's own value
    return {f"same_{name}": name in value["agreed"] for name in CRITERIA}


def _written(state: Mapping[str, Any], outcome: Outcome) -> Convergence:
    """Count a truth as 1 and a falsehood as 0, of the recommendation no more than is written."""
    assert isinstance(outcome, Mapping)
    given = _given(state)
    said = {name: float(outcome[f"same_{name}"] is True) for name in CRITERIA}
    structural = _levels(given)
    said["recommendation"] = min(said["recommendation"], structural["recommendation"])
    found = _judged(given, said)
    return found if _gated(given) else _no_further(found, _judged(given, structural))


def _no_further(found: Convergence, structural: Convergence) -> Convergence:
    """Where recommendations differ, a judge ends a debate only if the words do, too."""
    if found["verdict"] != "CONVERGED" or structural["verdict"] == "CONVERGED":
        return found
    return {**found, "verdict": "DIVERGED"}


CONVERGENCE = DecisionPoint(
    name="CONVERGENCE",
    questions={
        "en": {
            "same_recommendation": Predicate(
                "Do all positions recommend the same thing?",
                "Every role recommends the same option",
                "At least one role recommends something else",
            ),
            "same_premises": Predicate(
                "Do all positions rest on the same premises?",
                "The same facts and assumptions, however they are worded",
                "A premise that matters is missing or denied in one of them",
            ),
            "same_risks": Predicate(
                "Do all positions see the same risks?",
                "The same risks, however they are worded",
                "A risk that matters is missing or denied in one of them",
            ),
            "same_timing": Predicate(
                "Do all positions propose the same timing?",
                "The same time or deadline, or none in all of them",
                "Different times, or a time in some of them alone",
            ),
        },
        "pt": {
            "same_recommendation": Predicate(
                "Todas as posições recomendam a mesma coisa?",
                "Todos os papéis recomendam a mesma opção",
                "Ao menos um papel recomenda outra coisa",
            ),
            "same_premises": Predicate(
                "Todas as posições se apoiam nas mesmas premissas?",
                "Os mesmos fatos e suposições, seja qual for a redação",
                "Falta em uma delas uma premissa que importa, ou ela é negada",
            ),
            "same_risks": Predicate(
                "Todas as posições veem os mesmos riscos?",
                "Os mesmos riscos, seja qual for a redação",
                "Falta em uma delas um risco que importa, ou ele é negado",
            ),
            "same_timing": Predicate(
                "Todas as posições propõem o mesmo prazo?",
                "O mesmo momento ou prazo, ou nenhum em todas elas",
                "Prazos diferentes, ou um prazo só em algumas delas",
            ),
        },
    },
    reads=tuple(name for name in ConvergenceState.__struct_fields__ if name != "rule"),
    brings=("rule",),
    safe=dict.fromkeys((f"same_{name}" for name in CRITERIA), False),  # a round more, never less
    current=Calculator(decide=convergence_of, read=_read, write=_written),
    after=ruled_convergence,
    internal=True,
)
