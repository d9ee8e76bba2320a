"""
What a calibration promises, as values, ready for JSON: thresholds, costs, slices, stability.

Shares are in [0, 1]. Where labels are `agreement`, an error is an answer that differs from that
of `current`, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from ...certificates import AtRisk, Certificate, Key
from ...gates import Gate, Scale
from .descriptions import Counts, Gap, Quality, Remap, Scores, Selective, Share
from .labelling import Labels

Kind: TypeAlias = Literal["choice", "predicate", "score"]
"""What a question asks for; read from its answers."""


class Costs(msgspec.Struct, frozen=True):
    """
    What mistakes and fallbacks cost, in any one unit.

    Attributes:
        error: A wrong answer that is acted on; above 0.
        fallback: Asking `current` instead, at least 0.
        fallback_error: Chance that `current` is wrong, in [0, 1].

    """

    error: float
    fallback: float
    fallback_error: float = 0.0


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """
    How a calibration is done.

    Attributes:
        date: ISO day that the certificates bear.
        scale: Which number is the confidence.
        risk: The error rate that is to be used, between 0 and 1.
        delta: Chance that a promise is broken, between 0 and 1.
        two_sided: Predicates get two cut-points, not one minimum.
        labels: Whether labels are the truth, or what `current` decided.
        costs: For the threshold that costs least; None if they are not known.
        force: The gate in force today, to compare with; None if another provider decides.
        seed: Of everything that is drawn by lot.
        draws: Bootstrap samples at the most; fewer where there are many rows.
        accept_selection: Certify also where rows that may be the worse ones lack labels.

    """

    date: str
    scale: Scale = "probability"
    risk: float = 0.05
    delta: float = 0.05
    two_sided: bool = True
    labels: Labels = "gold"
    costs: Costs | None = None
    force: Gate | None = None
    seed: int = 0
    draws: int = 200
    accept_selection: bool = False


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 8: one cut-point of a predicate at one error rate.

    Attributes:
        alpha: The error rate that is promised not to be exceeded.
        side: `no` or `yes`: what is answered beyond it.
        at: The cut, on the probability of *true*; None if none could be certified.
        errors: Rows of the other truth beyond it.
        of: Rows of the other truth.
        bound: Exact upper bound of their share.
        coverage: Share of all labelled rows that are answered so.
        why: Why nothing was certified.
        needed: About how many more rows of the other truth could change that; None: none would.

    """

    alpha: float
    side: Literal["no", "yes"]
    at: float | None = None
    errors: int = 0
    of: int = 0
    bound: float = 1.0
    coverage: float = 0.0
    why: str = ""
    needed: int | None = None


class Priced(msgspec.Struct, frozen=True):
    """
    What a threshold does to the labelled rows, and what that costs.

    Attributes:
        threshold: Least raw confidence that is acted on; None for two cut-points, and for one on
            another scale.
        coverage: Share of the rows that is acted on.
        accepted: Those rows.
        errors: Wrong ones among them.
        cost: Per decision: errors that are acted on, fallbacks, and the errors of those.

    """

    threshold: float | None
    coverage: float
    accepted: int
    errors: int
    cost: float


class Economy(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 9: what thresholds cost. The provider's own price is the same at all and left out.

    Attributes:
        costs: What was given.
        chance: Act from this probability of being right on.
        optimal: The raw threshold that this comes to; 1 at the most, where nothing is acted on.
        points: Name (`in force`, `certified`, `cheapest`, `used`) → what it does and costs.
        curve: The same for at most a hundred thresholds, strictest first.
        stricter: The cost threshold is stricter than the certified one: what is certified from
            it on takes its place, if anything is.

    """

    costs: Costs
    chance: float
    optimal: float
    points: Mapping[str, Priced]
    curve: tuple[Priced, ...]
    stricter: bool


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 10: rows that have something in common.

    Attributes:
        name: What they are told apart by.
        value: What they have in common.
        right: Of their judged answers.
        ece: As in `Gap`.
        decided: Rows that the threshold to be used accepts.
        errors: Wrong ones among them.
        low: Exact lower bound of their error rate.
        flagged: The error rate is above the budget, beyond chance and beyond the number of
            slices looked at (Holm).

    """

    name: str
    value: str
    right: Share
    ece: float
    decided: int
    errors: int
    low: float
    flagged: bool


class Slices(msgspec.Struct, frozen=True):
    """All slices, and those that could not be made, each with the reason."""

    slices: tuple[Slice, ...]
    skipped: Mapping[str, str]


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 11: where a threshold comes to lie on rows drawn anew.

    Attributes:
        name: `minimum`, `no_below` or `yes_from`.
        low: 5 % of the draws lie below.
        middle: Half of them do.
        high: 5 % lie above.
        none: Share of the draws in which nothing could be certified.
        risk: Mean error rate of that threshold on the rows left out; None if never measured.

    """

    name: str
    low: float | None
    middle: float | None
    high: float | None
    none: float
    risk: float | None


class Stability(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 11: what would be otherwise with other rows, or asked once more.

    Attributes:
        draws: Bootstrap samples drawn.
        spreads: One for each threshold in use.
        repeated: Of the rows that were asked again: those whose answers differ. None if that was
            not measured.
        shuffled: Of the rows that were asked with their options in another order: those whose
            answer changed. None if that was not measured.

    """

    draws: int
    spreads: tuple[Spread, ...]
    repeated: Share | None = None
    shuffled: Share | None = None


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is known of one question asked of one provider.

    Attributes:
        key: What it holds for.
        kind: Of the question.
        labels: What answers were held against.
        counts: Item 1.
        quality: Item 2.
        scores: Item 3.
        gap: Item 4.
        remap: Item 5.
        selective: Item 6.
        levels: Item 7, each error rate that was tried.
        minima: What one minimum would be in place of two cut-points; else empty.
        sides: Item 8; empty for anything but a predicate.
        economy: Item 9; None without costs.
        slices: Item 10.
        stability: Item 11.
        certificate: Item 12, as it is written to the file.

    """

    key: Key
    kind: Kind
    labels: Labels
    counts: Counts
    quality: Quality
    scores: Scores
    gap: Gap
    remap: Remap
    selective: Selective
    levels: tuple[AtRisk, ...]
    minima: tuple[AtRisk, ...]
    sides: tuple[Side, ...]
    economy: Economy | None
    slices: Slices
    stability: Stability
    certificate: Certificate

    @property
    def used(self) -> AtRisk:
        """The level that is to be used."""
        used = self.certificate.used
        assert used is not None
        return used

    @property
    def certified(self) -> bool:
        """Whether anything may be decided at the error rate that is to be used."""
        used = self.used
        if self.certificate.two_sided:
            return used.no_below is not None or used.yes_from is not None
        return used.minimum is not None


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """
    A question about which nothing can be said.

    Attributes:
        key: Which one.
        rows: Its samples.
        judged: Those with an answer that is known to be right or wrong.
        why: In one sentence.
        needed: How many more judged rows there must be at least.

    """

    key: Key
    rows: int
    judged: int
    why: str
    needed: int
