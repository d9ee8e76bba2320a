"""The decision points that a debate meets: what each is told, and what its word is worth here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....gateway.questions import Score
from ..measures.dispersion import dispersion, should_stop
from .hall import Hall
from .minutes import Held
from .stands import Stand


async def lane(hall: Hall) -> Mapping[str, Any]:
    """Ask DEBATE_LANE: one role, a debate, or the council (DD-01, AM-31)."""

    def state() -> Mapping[str, Any]:
        return {
            "question": hall.question.instructions,
            "options": list(hall.options),
            "roles": len(hall.panel),
            "critical": hall.risk.critical,
            "reasons": ["risk"] if hall.risk.critical else [],
        }

    return await hall.verdict("DEBATE_LANE", state, "lane")


async def convergence(hall: Hall, held: Held) -> Mapping[str, Any]:
    """Ask CONVERGENCE about a round: those who said nothing are left out (DD-39)."""
    rules = hall.rules

    def state() -> Mapping[str, Any]:
        return {
            "question": hall.question.instructions,
            "options": list(hall.options),
            "round": held.number,
            "expected": len(hall.seats),
            "positions": [_row(at, one) for at, one in enumerate(held.stands.values(), start=1)],
            "rule": {
                "weights": list(rules.weights),
                "threshold": rules.convergence_threshold,
                "agreement": rules.agreement,
                "same_recommendation": rules.require_same_recommendation,
                "quorum": rules.quorum,
            },
        }

    return await hall.verdict("CONVERGENCE", state, f"check/{held.number}")


def _row(at: int, stand: Stand) -> Mapping[str, Any]:
    return {
        "label": f"role {at}",
        "recommendation": stand.recommendation,
        "premises": list(stand.premises),
        "risks": list(stand.risks),
        "timing": stand.timing,
        "partial": stand.partial,
    }


async def escalation(hall: Hall, *, critical: bool) -> Mapping[str, Any]:
    """Ask DEBATE_ESCALATION what becomes of the synthesis (A.4)."""
    assert hall.synthesis is not None
    rules, risk, check = hall.rules, hall.risk, hall.check
    confidence, applies = hall.synthesis.confidence.value, hall.applies
    value, currency = _stake(hall)

    def state() -> Mapping[str, Any]:
        return {
            "convergence": None if check is None else check["score"],
            "diverged": check is not None and check["verdict"] == "DIVERGED",
            "applies": applies,
            "quorum": not applies or (check is not None and check["score"] is not None),
            "confidence": confidence,
            "value": value,
            "currency": currency,
            "irreversible": risk.irreversible,
            "critical_divergence": critical,
            "out_of_scope": risk.out_of_scope,
            "catastrophic": risk.catastrophic,
            "breaker": hall.ended if hall.breaker is not None else "",
            "rule": {
                "emit": rules.thresholds_emit,
                "human": rules.thresholds_human,
                "convergence": rules.convergence_threshold,
                "value_bound": rules.value_bound,
                "currency": rules.value_currency,
                "optional_council": rules.optional_council,
                "on_total_timeout": rules.on_total_timeout,
                "council_before_human": rules.council_before_human,
            },
        }

    return await hall.verdict("DEBATE_ESCALATION", state, "route", "route")


def _stake(hall: Hall) -> tuple[float | None, str]:
    """Give the amount in the bound's currency, or in its own, which is said so (AM-33)."""
    bound, told = hall.rules.value_currency, hall.risk.value
    known = hall.risk.known(bound)
    if known is not None or told is None or not told.currency.strip():
        return known, bound
    return told.amount, told.currency


async def council(
    hall: Hall, marks: Mapping[str, int], findings: Mapping[str, bool], resolution: str, key: str
) -> Mapping[str, Any]:
    """Ask COUNCIL whether the synthesis may stand (DD-63)."""
    assert hall.synthesis is not None
    base, rules = hall.synthesis.confidence.value, hall.rules

    def state() -> Mapping[str, Any]:
        return {
            "question": hall.question.instructions,
            "base": base,
            "critic": dict(marks),
            "advocate": dict(findings),
            "resolution": resolution,
            "rule": {"emit": rules.thresholds_emit, "caveats": rules.council_acceptance},
        }

    return await hall.verdict("COUNCIL", state, key)


def settled(hall: Hall) -> bool:
    """Whether the numbers of a score have stopped moving between the last two rounds (TR-15)."""
    if not isinstance(hall.question, Score) or len(hall.rounds) < 2:  # noqa: PLR2004 - a pair
        return False
    levels = list(hall.options)
    spreads = [
        dispersion([levels.index(one.recommendation) for one in held.fresh.values()], "linear")
        for held in hall.rounds[-2:]
    ]
    return should_stop(spreads[0], spreads[1])
