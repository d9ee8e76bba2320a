"""
Samples: what one provider answered to one question, beside what would have been right.

What was asked and not answered is a sample too: nothing was decided there, and it is never
dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from ...answers import Answer
from ...certificates import Key
from ...errors import Reason
from ...gates import Scale
from ...keys import QuestionKey
from ...kinds import Question, Score
from ...questions import Value, principal
from .labelling import Given, Told, alike, in_order, of_question, place

OPTIONS = "options"  # the slice by how many there were


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
        right: Whether the answer is; None without an answer, or if nobody knows.
        told: When the label was first known, in seconds since the epoch.
        probability: That of the answer, if a distribution was given.
        reported: The provider's own confidence; of a predicate the probability.
        distribution: Outcome → probability; a score's levels from low to high.
        level: Index of a score, counted from 0.
        gold_level: That of the right one.
        subject: Keyed hash of who it was about.
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
    told: float = 0.0
    probability: float | None = None
    reported: float | None = None
    distribution: Mapping[str, float] | None = None
    level: float | None = None
    gold_level: float | None = None
    subject: str | None = None
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


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the samples of one decision share; fields as in `Sample`."""

    id: str
    point: str
    language: str
    provider: str
    subject: str | None = None
    length: int | None = None
    slices: Mapping[str, str] = {}


def samples_of(
    about: About,
    given: Given,
    keys: Mapping[str, QuestionKey],
    told: Told | None,
    questions: Mapping[str, Question],
) -> list[Sample]:
    """
    Make one sample for each question that was asked and was live.

    Args:
        about: Which decision.
        given: How the provider's attempt ended.
        keys: The questions that were asked.
        told: What is known of the right outcome.
        questions: The point's questions, as far as they are known; those that are advisory have
            no gate, and no sample.

    """
    sole = next(iter(keys)) if len(keys) == 1 else principal(questions) if questions else None
    made: list[Sample] = []
    for name, key in keys.items():
        answer, question = given.attempt.answers.get(name), questions.get(key.question)
        advisory = question is not None and question.advisory
        if not advisory and (answer is None or answer.value is not None):
            gold, wrong = _known(told, name, sole)
            bare = _bare(about, given, (name, key), gold, told)
            made.append(bare if answer is None else _answered(bare, answer, wrong, question))
    return made


def _known(told: Told | None, name: str, sole: str | None) -> tuple[Value | None, Value | None]:
    if told is None:
        return None, None
    return of_question(told.label, name, sole), of_question(told.wrong, name, sole)


def _bare(
    about: About,
    given: Given,
    asked: tuple[str, QuestionKey],
    gold: Value | None,
    told: Told | None,
) -> Sample:
    attempt = given.attempt
    return Sample(
        id=about.id,
        at=given.at,
        point=about.point,
        name=asked[0],
        asked=asked[1],
        language=about.language,
        form=attempt.form,
        provider=about.provider,
        model=attempt.model,
        reason=attempt.reason,
        gold=gold,
        told=0.0 if told is None else told.at,
        subject=about.subject,
        seconds=attempt.seconds,
        cost_usd=None if attempt.usage is None else attempt.usage.cost_usd,
        length=about.length,
        slices=about.slices,
    )


def _answered(
    bare: Sample, answer: Answer, wrong: Value | None, question: Question | None
) -> Sample:
    value = answer.value
    assert value is not None
    gold = None if bare.gold is None else alike(bare.gold, value)
    known = msgspec.structs.replace(
        bare,
        value=value,
        gold=gold,
        right=_right(value, gold, wrong),
        probability=answer.probability,
        reported=answer.reported,
        distribution=answer.distribution,
    )
    if isinstance(value, bool) or not isinstance(value, str):
        return known if isinstance(value, bool) else _scored(known, question)
    count = len(answer.distribution or ())
    return msgspec.structs.replace(known, slices=_counted(known.slices, count))


def _right(value: Value, gold: Value | None, wrong: Value | None) -> bool | None:
    if gold is not None:
        return value == gold
    return False if wrong is not None and value == wrong else None


def _counted(slices: Mapping[str, str], options: int) -> Mapping[str, str]:
    return {**slices, OPTIONS: str(options)} if options else slices


def _scored(known: Sample, question: Question | None) -> Sample:
    """Carry a score and its label to level indices: right is who comes to the same level."""
    score = question if isinstance(question, Score) else None
    levels = in_order(known.distribution or {}, score)
    value, gold = known.value, known.gold
    level = None if value is None else place(value, levels, score)
    gold_level = None if gold is None else place(gold, levels, score)
    spread = known.distribution
    return msgspec.structs.replace(
        known,
        level=level,
        gold_level=gold_level,
        right=known.right if level is None or gold_level is None else nearest(level, gold_level),
        distribution=None if spread is None else {name: spread.get(name, 0.0) for name in levels},
    )


def nearest(level: float, gold: float) -> bool:
    """Whether both levels round to the same one; a half goes up."""
    return int(level + 0.5) == int(gold + 0.5)


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
