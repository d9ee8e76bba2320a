"""What a debate costs, which single model costs as much, and how many items tell them apart."""

from __future__ import annotations

from ....gateway.evaluation.statistics.comparing import more_pairs_needed
from .weights import NEAR

CHAIN = 2  # turns of the self-refine chain: a critique and a refined estimate


def independent_calls(members: int) -> int:
    """Calls of a panel that answers once."""
    return members


def debate_calls(members: int, rounds: int, skeptics: int = 0) -> int:
    """Calls of a debate with so many rounds run: n(1 + 2R) + s."""
    return members * (1 + 2 * rounds) + skeptics


def single_calls(samples: int) -> int:
    """Calls of one model with k samples and its self-refine chain: k + 2."""
    return samples + CHAIN


def matched_k(debate: float, sample: float = 1, chain: float = CHAIN) -> int:
    """
    Samples of one model that cost, with its chain, no more than a debate: at least 1.

    ⌊(debate − chain) / sample⌋. All three in one unit: calls (the defaults of sample and chain:
    k = n(1 + 2R) + s − 2), tokens, or money. By tokens and money k is larger than by calls,
    because a debate's prompts grow.

    Raises:
        ValueError: A sample costs nothing: no number of them would match.

    """
    if not sample > 0:
        raise ValueError(f"one sample costs {sample}: nothing can be matched by it")
    return max(1, int((debate - chain) / sample + NEAR))


def cost_ratio(single: float | None, debate: float | None) -> float | None:
    """Cost of the matched arm over the debate's; None where one is unknown or the debate free."""
    return single / debate if single is not None and debate else None


def worst_case_seconds(
    members: int,
    rounds: int = 3,
    *,
    turn: float = 30.0,
    round_cap: float = 120.0,
    total: float | None = None,
) -> float:
    """
    Longest time of a debate whose first round is parallel and whose others are sequential.

    Seconds. A round ends at its cap even where members are cut off by it; a council after the
    debate has its own time.

    Args:
        members: Who speaks in each round.
        rounds: That may be run.
        turn: One member's limit.
        round_cap: One round's limit.
        total: The debate's limit; None for none.

    """
    first, later = min(turn, round_cap), min(members * turn, round_cap)
    longest = first + (rounds - 1) * later if rounds else 0.0
    return longest if total is None else min(total, longest)


def mcnemar_items(discordance: float, difference: float) -> int | None:
    """
    Items needed to show a difference of accuracies: McNemar's test, 5 %, power 80 %.

    Args:
        discordance: Share of the items that exactly one of both arms has right.
        difference: Of their accuracies; its sign does not matter.

    Returns:
        None without a difference: no number would do.

    Raises:
        ValueError: A difference larger than the discordance, or one outside [0, 1].

    """
    return more_pairs_needed(discordance, difference)
