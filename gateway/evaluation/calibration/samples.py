"""
Samples: what one provider answered to one question, beside what would have been right.

What was asked and not answered is a sample too: nothing was decided there, and it is never
dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import msgspec

from ...certificates import Key
from ...errors import Reason
from ...gates import Scale
from ...keys import QuestionKey
from ...questions import Value

Beside: TypeAlias = Literal["", "same", "other", "decided", "passed on"]


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """
    One answer, or its absence.

    Attributes:
        id: The decision's.
        at: Seconds since the epoch, when the answer was complete.
        point: The decision point.
        name: The question's name in its ask; one for each entry where it is repeated.
        asked: The question: its declared name, digests of its words and options.
        language: What it was asked in.
        form: `single`, or `shared:<digest of the question set>`.
        provider: Who was asked.
        model: The model as served; as configured where nothing came back.
        reason: Why the whole reply was not believed, or `ok`; an answer that was too unsure is
            an answer.
        value: The answer; None if there is no valid one.
        gold: What would have been right; None if unknown.
        right: Whether the answer is; None without an answer, or without a label. One in doubt
            counts as wrong: such rows are the hard ones, and a promise has to hold whatever
            they are.
        doubtful: What was decided was wrong, this answer is another one, and nobody knows what
            would have been right.
        strange: A label that names nothing that can be answered. Where it is known what can, it
            is left out: `gold` and `right` are None.
        decided: What was decided in the end, by whomever.
        told: When the label was first known, in seconds since the epoch.
        probability: That of the answer, if a distribution was given.
        reported: The provider's own confidence; of a predicate the probability.
        distribution: Outcome → probability; a score's levels from low to high.
        level: Index of a score, counted from 0.
        gold_level: That of the right one.
        subject: Keyed hash of who it was about.
        digest: Hash of the state's text.
        beside: How it stands to what was decided: `same` or `other` for an answer that was given
            in the background, `decided` or `passed on` for a live one; empty if not known.
        seconds: What the answer took.
        cost_usd: What it cost in US dollars, if known.
        length: Characters of the state's text, if that was kept.
        slices: Name → value, of what the row can be told apart by.

    """

    id: str
    at: float
    point: str
    name: str
    asked: QuestionKey
    language: str
    form: str
    provider: str
    model: str
    reason: Reason
    value: Value | None = None
    gold: Value | None = None
    right: bool | None = None
    doubtful: bool = False
    strange: str = ""
    decided: Value | None = None
    told: float = 0.0
    probability: float | None = None
    reported: float | None = None
    distribution: Mapping[str, float] | None = None
    level: float | None = None
    gold_level: float | None = None
    subject: str | None = None
    digest: str | None = None
    beside: Beside = ""
    seconds: float = 0.0
    cost_usd: float | None = None
    length: int | None = None
    slices: Mapping[str, str] = {}

    @property
    def answered(self) -> bool:
        """Whether there is a valid answer."""
        return self.value is not None

    @property
    def labelled(self) -> bool:
        """Whether it is known what would have been right, or that the answer was wrong."""
        return self.gold is not None or self.right is not None

    @property
    def predicate(self) -> bool:
        """Whether the question is answered by true or false."""
        return isinstance(self.gold if self.value is None else self.value, bool)

    def confidence(self, scale: Scale) -> float | None:
        """Give the number that a gate of this *scale* compares; None if it is missing."""
        return self.probability if scale == "probability" or self.predicate else self.reported

    def key(self, scale: Scale) -> Key:
        """Give what a certificate for this question on this *scale* belongs to."""
        return Key(
            point=self.point,
            question=self.asked.question,
            template=self.asked.template,
            options=self.asked.options,
            language=self.language,
            form=self.form,
            scale=scale,
            provider=self.provider,
            model=self.model,
        )


def by_key(samples: Iterable[Sample], scale: Scale) -> Mapping[Key, tuple[Sample, ...]]:
    """
    Part *samples* by what a certificate belongs to; they are never mixed.

    Where nothing came back the model is not known; such a sample goes to the model that served
    the same question last before it, or first after it.
    """
    bare: defaultdict[Key, list[Sample]] = defaultdict(list)
    for one in samples:
        bare[msgspec.structs.replace(one.key(scale), model="")].append(one)
    parted: defaultdict[Key, list[Sample]] = defaultdict(list)
    for group in bare.values():
        served = sorted((one.at, one.model) for one in group if one.answered)
        for one in group:
            model = one.model if one.answered or not served else _serving(served, one.at)
            placed = msgspec.structs.replace(one, model=model)
            parted[placed.key(scale)].append(placed)
    return {key: tuple(group) for key, group in sorted(parted.items(), key=_order)}


def _serving(served: list[tuple[float, str]], at: float) -> str:
    before = bisect_right(served, at, key=lambda one: one[0])
    return served[max(0, before - 1)][1]


def _order(item: tuple[Key, list[Sample]]) -> tuple[str, ...]:
    return msgspec.structs.astuple(item[0])
