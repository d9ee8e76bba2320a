"""What an answer of FACT_DISPUTE is worth, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....gateway.records import HUMAN
from ....gateway.settings import CURRENT
from ..fact_dispute import UNRESOLVED
from .checking import counted

if TYPE_CHECKING:
    from ....gateway.records import Attempt, Decision
    from ..policy import DisputeRules
    from .dispute import Dispute

QUESTION = "candidate"


def tokens_of(attempts: Sequence[Attempt]) -> int:
    """Add up the tokens that attempts read and wrote; what is no number of them is not known."""
    usage = [one.usage for one in attempts if one.usage is not None]
    read = [tokens for one in usage for tokens in (one.input_tokens, one.output_tokens)]
    return sum(one for one in read if counted(one, whole=True))


def cost_of(attempts: Sequence[Attempt]) -> float | None:
    """Add up what attempts cost, in US dollars; None: nobody knows."""
    known = [one.usage.cost_usd for one in attempts if one.usage is not None]
    costs = [one for one in known if one is not None and counted(one, whole=False)]
    return sum(costs) if costs else None


def exhausted(dispute: Dispute, rules: DisputeRules) -> str:
    """Say which budget of a dispute is used up (RF-59); empty: none is."""
    used = (
        ("tokens", dispute.tokens, rules.tokens),
        ("cost", dispute.cost_usd, rules.cost_usd),
    )
    over = [name for name, spent, bound in used if bound is not None and spent >= bound]
    return f"budget:{over[0]}" if over else ""


def unbelieved(decision: Decision[Any]) -> str:
    """Say why a decision is no candidate; empty: it is one."""
    if decision.value == UNRESOLVED or decision.provider in {"", CURRENT}:
        first = decision.attempts[0] if decision.attempts else None
        failed = first is not None and first.provider != CURRENT
        return str(first.reason) if failed and first is not None else UNRESOLVED
    if decision.provider == HUMAN:  # whose word has no confidence
        return ""
    answer = decision.record.answers.get(QUESTION)
    if answer is None or answer.source == "missing":  # a minimum of 0 lets it through
        return "confidence_missing"
    return ""
