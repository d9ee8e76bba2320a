"""
What rows say of a provider, as values, ready for JSON: how often it is right, and how sure.

Shares are in [0, 1]. Where labels are `agreement`, "right" means "the same as `current`" in all
of them, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec


class Share(msgspec.Struct, frozen=True):
    """A part of a whole with its Wilson interval of 95 %: `count` of `of` rows."""

    count: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share itself; 0 of nothing."""
        return self.count / self.of if self.of else 0.0


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 1: how many rows there are.

    Attributes:
        rows: Samples of this key.
        labelled: Those with a label.
        answered: Those with a valid answer.
        judged: Those with an answer that is known to be right or wrong, and with the number that
            is compared.
        aside: Labelled samples that were set aside: others of the same subject or text.
        doubtful: Judged answers that count as wrong because the right one is not known.
        unanswered: Reason → samples without a valid answer.
        unsure: Answers without the number that is compared; they can never be accepted.
        gold: Label → labelled rows.
        answers: Answer → answered rows.
        strange: Labels that name nothing that can be answered.
        provisional: Fewer than 200 judged rows.
        more: Judged rows that are still missing until it is provisional no longer.

    """

    rows: int
    labelled: int
    answered: int
    judged: int
    aside: int
    doubtful: int
    unanswered: Mapping[str, int]
    unsure: int
    gold: Mapping[str, int]
    answers: Mapping[str, int]
    strange: int
    provisional: bool
    more: int


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 2: how often answers are right.

    Attributes:
        right: Of the judged answers.
        macro_f1: Over the labels, each of equal weight; no answer is a miss. None without labels.
        labels: Names of rows and columns of `confusion`, the most frequent first; `–` stands for
            no answer.
        confusion: Labels (rows) against answers (columns).
        distance: Of a score: mean distance in levels.
        within_one: Of a score: share at most one level off.
        rps: Of a score: mean ranked probability score, 0 best.

    """

    right: Share
    macro_f1: float | None
    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    distance: float | None = None
    within_one: float | None = None
    rps: float | None = None


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 3: proper scores.

    Attributes:
        log_loss: Of the whole distribution, cut off at 1e-9; None without one.
        brier: Of the whole distribution, in the form that `form` names; None without one.
        form: `binary`, 0 to 1, of the probability of *true*; or `multi-class`, 0 to 2.
        top: Binary Brier score of the confidence that the answer is right, 0 to 1.
        reliability: Part of `top`: how far confidence is from the share that is right; 0 best.
        resolution: Part of `top`: how well confidence tells rows apart.
        uncertainty: Part of `top`: what the rows leave to nobody.

    """

    log_loss: float | None
    brier: float | None
    form: Literal["binary", "multi-class"]
    top: float
    reliability: float
    resolution: float
    uncertainty: float


class Bar(msgspec.Struct, frozen=True):
    """Rows of neighbouring confidence: their mean; the share that is right, with its interval."""

    rows: int
    confidence: float
    share: float
    low: float
    high: float


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 4: how far confidence is from the share that is right.

    Attributes:
        ece: Expected calibration error over ten equal widths.
        ece_mass: The same over ten parts of equal count.
        mce: Gap of the worst width.
        floor: `ece` that a perfectly calibrated provider shows on as many rows.
        confidence: Mean confidence.
        over: Mean confidence less the share that is right: above 0 is overconfident.
        bars: The ten widths; empty ones are left out.

    """

    ece: float
    ece_mass: float
    mce: float
    floor: float
    confidence: float
    over: float
    bars: tuple[Bar, ...]


class Remap(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 5: whether a recalibrator pays.

    Attributes:
        kind: `temperature` or `platt`.
        kept: The log loss falls by more than its standard error, on rows it was not fitted on.
        gain: Mean fall of the log loss there.
        error: Standard error of that.
        parameters: Of the formula, where it is kept.
        why: Why it could not be fitted; empty if it could.
        bars: As in `Gap`, after it; empty if it is not kept.

    """

    kind: str
    kept: bool
    gain: float
    error: float
    parameters: tuple[float, ...] = ()
    why: str = ""
    bars: tuple[Bar, ...] = ()


class Point(msgspec.Struct, frozen=True):
    """What one threshold does to the labelled rows."""

    threshold: float
    coverage: float
    accepted: int
    errors: int

    @property
    def risk(self) -> float:
        """The share of errors among the accepted."""
        return self.errors / self.accepted if self.accepted else 0.0


class Selective(msgspec.Struct, frozen=True, kw_only=True):
    """
    Item 6: risk against coverage.

    Attributes:
        curve: At most a hundred thresholds, strictest first.
        aurc: Mean risk over all coverages.
        excess: What of it better sorting could save.
        augrc: Mean share of all rows that is accepted and wrong, in [0, 0.5].
        coverage_at: Error rate in percent → largest coverage measured at it; a description of
            these rows and no promise.

    """

    curve: tuple[Point, ...]
    aurc: float
    excess: float
    augrc: float
    coverage_at: Mapping[str, float]
