"""
Probabilities of a question's outcomes: without examples, with a few, and with a head.

* **Without**: `softmax(scale * cosine)` over the options or levels. A predicate has one cosine,
  which goes through a fixed flat map and is clipped: similarity alone tells injections or
  toxicity from harmless text with an AUROC of 0.6 to 0.75, which must not block anything.
* **A few** (a choice, below 50 answers or one an option): each option's vector moves towards its
  examples; the scale stays. SNIPS with 21 answers, mean of three draws: .88 right against .84 for
  a regression, whose own scale, fitted on 21 answers, is far too timid or too bold.
* **A head** from then on; for predicates and scores from 10 answers an outcome.

A choice whose best cosine lies below the encoder's floor is never sure, with a head or without:
there the encoder knows too little of the message, of its language, or of options as abstract as
"go on". On the test sets it keeps 0 to 4 % of all messages from passing a threshold of 0.7.

The sentinel of a choice ("none of these") has no place among words: its own description is never
the nearest (0 to 2 % of out-of-scope messages). It stands at a fixed cosine instead, until it has
examples: whatever is nearer to no option than that is none of them. That is a predicate by
similarity again, so its share is clipped as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .encoders import Vectors, normalised
from .heads import Head, Matrix, Outcomes, fit, softmax

FEW = 50  # answers of a choice below which neither a threshold nor a scale can be fitted
PER_OUTCOME = 10  # answers an outcome of a predicate or score: AUROC .71 to .77, and timid
DESCRIPTION_COUNTS = 3.0  # examples, while there are few; 1 falls below none at all, 10 learns late
CLIPPED = (0.35, 0.65)  # P(true) of a predicate without a head: the default threshold rejects it
SCORE_CONFIDENCE = 0.5  # most for a score without a head, likewise


@dataclass(frozen=True, slots=True)
class Lessons:
    """
    Examples as numbers.

    Attributes:
        vectors: One row for each example.
        outcomes: The position of each one's right outcome.

    """

    vectors: Vectors
    outcomes: Outcomes

    def counts(self, outcomes: int) -> npt.NDArray[np.intp]:
        """Count the examples of each outcome."""
        return np.bincount(self.outcomes, minlength=outcomes)


@dataclass(frozen=True, slots=True)
class Menu:
    """
    Everything that is ready before a state is seen.

    Attributes:
        rows: A vector for each outcome, `[outcomes, dimensions]`.
        scale: What cosines are multiplied by.
        sentinel: Position of the outcome that stands at a fixed cosine; None: there is none.
        floor: That cosine; a choice below it is never sure.
        head: Gives the probabilities, if it is there; it knows of no sentinel at a fixed cosine.
        examples: How many went into it.
        unused: How many name an outcome that is not offered.

    """

    rows: Vectors
    scale: float
    sentinel: int | None = None
    floor: float = 0.0
    head: Head | None = None
    examples: int = 0
    unused: int = 0

    def cosines(self, vector: Vectors) -> Vectors:
        """Compare *vector* with each outcome."""
        found: Vectors = self.rows @ vector
        if self.sentinel is not None:
            found[self.sentinel] = self.floor
        return found

    def shares(self, cosines: Vectors, vector: Vectors) -> Matrix:
        """Return the probability of each outcome, `[outcomes]`."""
        scores = self.scale * cosines.astype(np.float64)
        taught = None if self.head is None else self.head.probabilities(vector[None])[0]
        if self.sentinel is None:
            return softmax(scores) if taught is None else taught
        none = min(float(softmax(scores)[self.sentinel]), CLIPPED[1])
        # among themselves: beside a sentinel far above them, their shares would all be zero
        others = softmax(np.delete(scores, self.sentinel)) if taught is None else taught
        return np.insert(others * (1 - none), self.sentinel, none)

    def sure(self, share: float, best: float) -> float:
        """Return how sure a choice of this *share* is, given the *best* cosine."""
        return share if best >= self.floor else min(share, CLIPPED[1])

    def best(self, cosines: Vectors) -> float:
        """Return the cosine of the nearest outcome that has a vector: low means out of scope."""
        others = cosines if self.sentinel is None else np.delete(cosines, self.sentinel)
        return float(others.max())


def choice_menu(
    rows: Vectors, scale: float, sentinel: int | None, floor: float, lessons: Lessons | None = None
) -> Menu:
    """Prepare a choice among *rows*, with what *lessons* there are."""
    if lessons is None:
        return Menu(rows, scale, sentinel, floor)
    counts = lessons.counts(len(rows))
    if sentinel is not None and counts[sentinel]:
        sentinel = None  # its examples say what it looks like
    moved = centroids(rows, lessons)
    head = _choice_head(rows, sentinel, lessons) if len(lessons.outcomes) >= enough(rows) else None
    return Menu(moved, scale, sentinel, floor, head, len(lessons.outcomes))


def enough(rows: Vectors) -> int:
    """Count the answers that a choice needs for a head."""
    return max(FEW, len(rows))


def _choice_head(rows: Vectors, sentinel: int | None, lessons: Lessons) -> Head:
    if sentinel is None:
        return fit(lessons.vectors, lessons.outcomes, rows)
    shifted = lessons.outcomes - (lessons.outcomes > sentinel)
    return fit(lessons.vectors, shifted, np.delete(rows, sentinel, axis=0))


def judged_menu(rows: Vectors, scale: float, lessons: Lessons | None = None) -> Menu:
    """Prepare a predicate (false, true) or a score (its levels)."""
    if lessons is None or not _tell_apart(lessons.counts(len(rows))):
        return Menu(rows, scale)
    head = fit(lessons.vectors, lessons.outcomes, rows)
    return Menu(rows, scale, head=head, examples=len(lessons.outcomes))


def _tell_apart(counts: npt.NDArray[np.intp]) -> bool:
    """Ten an outcome on average, and of two outcomes at least."""
    return bool(counts.sum() >= PER_OUTCOME * len(counts) and np.sort(counts)[-2] >= PER_OUTCOME)


def centroids(rows: Vectors, lessons: Lessons) -> Vectors:
    """Move each of *rows* towards its examples."""
    sums = DESCRIPTION_COUNTS * rows
    np.add.at(sums, lessons.outcomes, lessons.vectors)
    return normalised(sums)


def weak_truth(cosine: float, slope: float, middle: float) -> float:
    """Make a cautious probability of a predicate's *cosine*; *middle* is where it says nothing."""
    low, high = CLIPPED
    return float(np.clip(1 / (1 + np.exp(-slope * (cosine - middle))), low, high))
