"""
DEBATE_ESCALATION: what becomes of a synthesis, the most protective reason first.

HUMAN > COUNCIL > EMIT_WITH_CAVEATS > EMIT. Any trigger of a council is mandatory, however
sure the synthesis is (AM-01); confidence alone decides only where no trigger fired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, TypedDict

import msgspec

from ...gateway.calculators import Calculator
from ...gateway.errors import DeclarationError
from ...gateway.points import DecisionPoint
from ...gateway.questions import Choice, Outcome
from ..reading import word
from .given import Percent, above, below, fired, protective, taken

Route: TypeAlias = Literal["HUMAN", "COUNCIL", "EMIT_WITH_CAVEATS", "EMIT"]

ROUTES: Final[tuple[Route, ...]] = ("HUMAN", "COUNCIL", "EMIT_WITH_CAVEATS", "EMIT")
"""Most protective first."""

Amount: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]

Breaker: TypeAlias = Literal[
    "",
    "timeout_total",
    "max_iterations",
    "loop",
    "max_refinements",
    "max_rounds",
    "no_quorum",
    "budget",
]
"""What ended the debate by force; empty if nothing did."""


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """
    What roles still differ about.

    Attributes:
        criterion: `recommendation`, `premises`, `risks` or `timing`.
        type: What kind of difference it is: `data` and `risk` are the grave ones.
        critical: A role or a policy called it critical.

    """

    criterion: str
    type: str = ""
    critical: bool = False


class EscalationRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The numbers of policy; never sent to a provider.

    Attributes:
        emit: Confidence from which an answer may stand, 0–100 (DD-06, AM-05).
        human: Confidence below which a person decides (DD-53).
        convergence: Below it a council meets (DD-52).
        value_bound: A value at risk strictly above it calls the council (DD-23).
        currency: Of the bound; an amount in another one is not compared (AM-33).
        optional_council: AM-04, for a confidence between `human` and `emit` and nothing
            else: the council, the answer with caveats, or a person who is asked which.
        on_total_timeout: AM-10: what a debate out of time becomes, beside its numbers.
        council_before_human: AM-02: a person may be shown a council's advice first.

    """

    emit: Percent = 70.0
    human: Percent = 50.0
    convergence: Percent = 70.0
    value_bound: Amount = 100_000.0
    currency: str = "BRL"
    optional_council: Literal["always", "emit_with_caveats", "ask"] = "always"
    on_total_timeout: Literal["route", "human"] = "route"
    council_before_human: bool = False


class EscalationState(msgspec.Struct, frozen=True, kw_only=True):
    """
    What DEBATE_ESCALATION is given, as a mapping; all but the rule is sent.

    Flags have no default: one that is misspelt would protect nobody.

    Attributes:
        convergence: Score of the last round, 0–100; None where there is none.
        diverged: The last checkpoint did not find them agreed, whatever the score (AM-21, DD-33).
        applies: There was something to converge: more than one role (AM-37).
        quorum: Enough roles answered (AM-24).
        confidence: Of the synthesis, 0–100, penalties taken off.
        value: What is at risk; None if nobody knows (AM-33).
        currency: Of the value.
        irreversible: It cannot be undone.
        critical_divergence: The roles differ about something critical.
        divergences: What they differ about, where that is to be found out here (AM-35).
        out_of_scope: Nobody here can know.
        catastrophic: The class of its risk.
        breaker: What ended the debate by force.
        rule: The numbers of policy.

    """

    convergence: Percent | None
    diverged: bool = False
    applies: bool
    quorum: bool
    confidence: Percent
    value: Amount | None
    currency: str = ""
    irreversible: bool
    critical_divergence: bool
    divergences: tuple[Divergence, ...] = ()
    out_of_scope: bool
    catastrophic: bool
    breaker: Breaker
    rule: EscalationRule = EscalationRule()


class Escalation(TypedDict):
    """
    The value of DEBATE_ESCALATION.

    Attributes:
        route: What becomes of the synthesis.
        reasons: Why, in the order of the rules: `conv<70`, `diverged` (scored high enough and
            not agreed nonetheless), `conf<70`, `value`, …; `judged` where a provider was more
            protective than they are.
        impasse: Positions stood still without agreement (DD-42, DD-58).
        notes: What triggered nothing and should be known: `value_unknown`,
            `other_currency`, `not_applicable`, `advisory_council`.

    """

    route: Route
    reasons: list[str]
    impasse: bool
    notes: list[str]


def escalation_of(state: Mapping[str, Any]) -> Escalation:
    """
    Route a synthesis by the rules alone.

    Raises:
        DeclarationError: The state or its rule lacks something or contradicts itself.

    """
    given = _given(state)
    route, reasons = _routed(given)
    return {
        "route": route,
        "reasons": reasons,
        "impasse": given.breaker in ("loop", "max_refinements"),
        "notes": _notes(given, route),
    }


def ruled_escalation(state: Mapping[str, Any], outcome: Outcome) -> Outcome:
    """Take the more protective of what the rules say and what was judged."""
    return protective(escalation_of(state)["route"], outcome, ROUTES)


def critical(divergences: Sequence[Divergence]) -> bool:
    """AM-35: about data or risk on the recommendation itself, or called critical by somebody."""
    return any(
        one.critical or (one.criterion == "recommendation" and one.type in ("data", "risk"))
        for one in divergences
    )


def _given(state: Mapping[str, Any]) -> EscalationState:
    given = taken("DEBATE_ESCALATION", state, EscalationState)
    if given.rule.human > given.rule.emit:
        problem = "a person's bound is above the one to emit"
        raise DeclarationError(f"DEBATE_ESCALATION: {problem} - at `$.rule.human`")
    return given


def _routed(given: EscalationState) -> tuple[Route, list[str]]:
    if human := _human(given):
        return "HUMAN", human
    reasons = _council(given)
    if not reasons:
        return "EMIT", []
    if below(given.confidence, given.rule.emit) and len(reasons) == 1:
        return _optional(given.rule, reasons)
    return "COUNCIL", reasons


def _optional(rule: EscalationRule, doubt: list[str]) -> tuple[Route, list[str]]:
    """DD-56: nothing speaks for a council but a middling confidence."""
    if rule.optional_council == "emit_with_caveats":
        return "EMIT_WITH_CAVEATS", doubt
    return ("COUNCIL", doubt) if rule.optional_council == "always" else ("HUMAN", [*doubt, "ask"])


def _human(given: EscalationState) -> list[str]:
    """DD-53, and AM-10 where it is so ruled."""
    rule = given.rule
    late = given.breaker == "timeout_total" and rule.on_total_timeout == "human"
    return fired(
        {
            f"conf<{rule.human:g}": below(given.confidence, rule.human),
            "max_iterations": given.breaker == "max_iterations",
            "scope": given.out_of_scope,
            "catastrophic": given.catastrophic,
            "timeout_total": late,
        }
    )


def _council(given: EscalationState) -> list[str]:
    """DD-33, DD-52, DD-42 and DD-58, and AM-24: without a quorum nobody has agreed."""
    score, rule = given.convergence, given.rule
    unheard = not given.quorum or given.breaker == "no_quorum"
    apart = given.applies and score is not None and below(score, rule.convergence)
    return fired(
        {
            f"conv<{rule.convergence:g}": apart,
            "diverged": given.applies and given.diverged and score is not None and not apart,
            "conv_undefined": given.applies and score is None and not unheard,
            f"conf<{rule.emit:g}": below(given.confidence, rule.emit),
            "value": _comparable(given) and above(given.value or 0.0, rule.value_bound),
            "irreversible": given.irreversible,
            "critical": given.critical_divergence or critical(given.divergences),
            "no_quorum": unheard,
            "loop": given.breaker == "loop",
            "max_refinements": given.breaker == "max_refinements",
        }
    )


def _comparable(given: EscalationState) -> bool:
    """AM-33: an amount is compared in its own currency; nothing is converted in silence."""
    return given.value is not None and given.currency == given.rule.currency


def _notes(given: EscalationState, route: Route) -> list[str]:
    return fired(
        {
            "value_unknown": not _comparable(given),
            "other_currency": given.value is not None and not _comparable(given),
            "not_applicable": not given.applies,
            "advisory_council": route == "HUMAN" and given.rule.council_before_human,
        }
    )


def _read(value: Any) -> Outcome:  # noqa: ANN401 - the point's own value
    return word(value["route"], ROUTES)


def _written(state: Mapping[str, Any], outcome: Outcome) -> Escalation:
    found = escalation_of(state)
    route: Route = protective(found["route"], outcome, ROUTES)
    if route == found["route"]:
        return found
    notes = _notes(_given(state), route)
    return {**found, "route": route, "reasons": [*found["reasons"], "judged"], "notes": notes}


DEBATE_ESCALATION = DecisionPoint(
    name="DEBATE_ESCALATION",
    questions={
        "en": {
            "route": Choice(
                "What should become of this conclusion?",
                {
                    "EMIT": "Roles agree, it is sure enough, little is at stake: give it",
                    "EMIT_WITH_CAVEATS": "Good enough to give, if its doubts are said with it",
                    "COUNCIL": "Disagreement, doubt or high stakes: others review it first",
                    "HUMAN": "Too unsure, out of scope or catastrophic: a person decides",
                },
            ),
        },
        "pt": {
            "route": Choice(
                "O que deve ser feito com esta conclusão?",
                {
                    "EMIT": "Os papéis concordam, há segurança e pouco em jogo: entregar",
                    "EMIT_WITH_CAVEATS": "Boa para entregar, desde que com as ressalvas",
                    "COUNCIL": "Divergência, dúvida ou muito em jogo: outros revisam antes",
                    "HUMAN": "Incerta demais, fora do escopo ou catastrófica: uma pessoa decide",
                },
            ),
        },
    },
    reads=tuple(name for name in EscalationState.__struct_fields__ if name != "rule"),
    brings=("rule",),
    safe="HUMAN",  # the most protective
    current=Calculator(decide=escalation_of, read=_read, write=_written),
    after=ruled_escalation,
    internal=True,
)
