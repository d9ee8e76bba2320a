"""The numbers and choices of a debate: every parameter, its default, and two profiles of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from ....gateway.errors import DeclarationError

Profile: TypeAlias = Literal["brief", "companion"]
Agreement: TypeAlias = Literal["trilevel", "unanimous", "pairwise", "plurality"]
Penalties: TypeAlias = Literal["dedup", "sum", "off"]
CriticalLane: TypeAlias = Literal["council_only", "r1_then_council"]
OptionalCouncil: TypeAlias = Literal["always", "emit_with_caveats", "ask"]

EQUAL = (1.0, 1.0, 1.0, 1.0)  # DD-34: every criterion counts the same
WEIGHED = (30.0, 25.0, 25.0, 20.0)  # B.1: recommendation, premises, risks, timing

COMPANION: dict[str, Any] = {
    "weights": WEIGHED,
    "critical_lane": "r1_then_council",
    "skeptic_weight": 0.0,
}
"""
What the profile `companion` sets otherwise; a variable of its own wins over it.

It is for panels whose recommendation matters most, which are heard once before the council takes a
critical question, and whose skeptic is heard and not counted.
"""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a debate is held by; the defaults are those of the profile `brief`.

    Attributes:
        rounds_min: Rounds that are held even where everybody agrees (DD-08).
        rounds_max: Most rounds (DD-10); 1: positions, 2: rebuttals, 3 and more: refinements.
        convergence_threshold: Percent from which a debate has converged (DD-11).
        timeout_per_agent: Seconds for one role in one round, its retrievals and a re-ask among
            them (DD-12, AM-13); and for a provider that decides a point on the way.
        timeout_per_round: Seconds for one round (DD-13).
        timeout_total: Seconds for all rounds and the synthesis; the council has its own (DD-14).
        circuit_breaker_max_iterations: Rounds and refinements together at which it stops and a
            person decides (DD-15).
        circuit_breaker_max_refinements: Refinements at which an impasse is declared (DD-16).
        rag_internal_queries: Whether roles may retrieve at all (DD-17).
        rag_max_queries: Retrievals of the whole debate; the next one is refused (DD-18).
        rag_timeout: Seconds for one retrieval (DD-19).
        rag_scopes: Where may be retrieved from; everything else is refused (DD-46, AM-34).
        council_timeout: Seconds for the council, outside of the debate's own (DD-21).
        council_acceptance: The council's score from which a recommendation is emitted (DD-22).
        council_before_human: Ask the council for an opinion where a person decides (AM-02); it
            changes nothing of the route.
        value_bound: Value at risk above which the council decides; the bound itself does not
            (DD-23).
        value_currency: The bound's currency; amounts of another one are unknown (AM-33).
        loop_repeats: How often one state of the positions is seen where it is a loop (AM-14);
            3 is the counter of DD-24, read to the letter.
        loop_compare: Compare with every earlier round, or with the one before (AM-15).
        agreement: How much of a point is agreed on by several roles (AM-22).
        require_same_recommendation: No convergence on opposite advice (AM-21); `partial`: more than
            half of the roles on the same is enough.
        weights: Of recommendation, premises, risks and timing (AM-20).
        thresholds_emit: Percent from which a synthesis is emitted (DD-06, AM-05).
        thresholds_human: Percent below which a person decides (DD-53).
        optional_council: What becomes of a synthesis between both that nothing else stops (AM-04).
        on_total_timeout: Go on by the usual routes, or to a person (AM-10).
        penalties: Whether one cause counts once, each time, or not at all (AM-27, AM-39).
        visibility: What a speaker of a later round sees: the round before, or also what was said
            in this one (AM-29).
        round2: Whether the roles of later rounds speak one after another (DD-29) or at once.
        critical_lane: A critical question goes to the council at once (DD-04), or after a first
            round (AM-30).
        on_missing_round: A role that falls silent is left out of the round, or stands by its last
            position (AM-38).
        skeptic_weight: What the role `skeptic` counts in the synthesis (AP-06); convergence takes
            it for a role as every other.
        quorum: Fewest roles that must have answered, besides half of them (AM-24).
        verify: Ask a role once more that cites what nobody retrieved (AM-19); one such pass of a
            round is one refinement.
        max_calls: Most texts asked for; None: no bound.
        max_tokens: Most tokens read and written; None: no bound.
        max_cost_usd: Most US dollars; None: no bound.
        reserve: The share of money, and of the caller's time, kept for synthesis, council and
            fallback (BR-08).
        seed: Orders what readers are shown of each other (BR-14), and who speaks first where not
            all fit into a round.

    Raises:
        DeclarationError: Values that contradict each other.

    """

    rounds_min: int = 1
    rounds_max: int = 3
    convergence_threshold: float = 70.0
    timeout_per_agent: float = 30.0
    timeout_per_round: float = 120.0
    timeout_total: float = 300.0
    circuit_breaker_max_iterations: int = 5
    circuit_breaker_max_refinements: int = 2
    rag_internal_queries: bool = True
    rag_max_queries: int = 5
    rag_timeout: float = 15.0
    rag_scopes: tuple[str, ...] = ("knowledge/", "processing/insights/")
    council_timeout: float = 180.0
    council_acceptance: float = 60.0
    council_before_human: bool = False
    value_bound: float = 100_000.0
    value_currency: str = "BRL"
    loop_repeats: int = 2
    loop_compare: Literal["every", "previous"] = "every"
    agreement: Agreement = "trilevel"
    require_same_recommendation: bool | Literal["partial"] = True
    weights: tuple[float, ...] = EQUAL
    thresholds_emit: float = 70.0
    thresholds_human: float = 50.0
    optional_council: OptionalCouncil = "always"
    on_total_timeout: Literal["route", "human"] = "route"
    penalties: Penalties = "dedup"
    visibility: Literal["previous_round", "live"] = "previous_round"
    round2: Literal["sequential", "parallel"] = "sequential"
    critical_lane: CriticalLane = "council_only"
    on_missing_round: Literal["exclude", "carry"] = "exclude"
    skeptic_weight: float = 1.0
    quorum: int = 2
    verify: bool = True
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    reserve: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        if found := next(contradictions(msgspec.structs.asdict(self)), None):
            raise DeclarationError(f"{found[0]}: {found[1]}")

    @classmethod
    def of(cls, profile: Profile = "brief", **values: Any) -> Rules:  # noqa: ANN401 - any field
        """
        Give the rules of a *profile*, with *values* of its own.

        Raises:
            DeclarationError: Values that contradict each other.

        """
        return cls(**{**(COMPANION if profile == "companion" else {}), **values})


def contradictions(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """List what cannot go together, as the field to change and what is wrong with it."""
    if given["rounds_min"] > given["rounds_max"]:
        yield "rounds_min", "more rounds are wanted than rounds_max"
    if given["thresholds_human"] > given["thresholds_emit"]:
        yield (
            "thresholds_human",
            "it is above thresholds_emit: a person would decide what is emitted as well",
        )
    if given["council_acceptance"] > given["thresholds_emit"]:
        yield "council_acceptance", "it is above thresholds_emit, from which there are no caveats"
    if given["visibility"] == "live" and given["round2"] == "parallel":
        yield "visibility", "round2 is parallel: who speaks at the same time cannot hear the others"
    if given["on_missing_round"] == "carry" and given["rounds_max"] == 1:
        yield (
            "on_missing_round",
            "rounds_max is 1: there is no later round to carry a position into",
        )
    if (
        len(given["weights"]) != len(EQUAL)
        or not all(map(math.isfinite, given["weights"]))
        or min(given["weights"]) < 0
        or not sum(given["weights"])
    ):
        yield "weights", "they are four finite numbers from 0, not all of them 0"
