"""How samples are made: what was answered, beside what is known of the right answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ...answers import Answer
from ...keys import QuestionKey
from ...kinds import Question, Score
from ...questions import Value, principal
from .labelling import Given, Told, alike, in_order, of_question, place
from .samples import Beside, Sample

OPTIONS = "options"  # the slice by how many there were


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the samples of one decision share; fields as in `Sample`."""

    id: str
    point: str
    language: str
    provider: str
    subject: str | None = None
    digest: str | None = None
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
            known = _known(told, name, sole)
            bare = _bare(about, given, (name, key), known.gold, told)
            beside = of_question(given.beside, name, sole)
            one = bare if answer is None else _answered(bare, answer, known, question)
            made.append(_placed(one, given, beside, question))
    return made


class Known(NamedTuple):
    """What is known of one question: its label; a wrong answer; that the label is in doubt."""

    gold: Value | None = None
    wrong: Value | None = None
    doubtful: bool = False


def _known(told: Told | None, name: str, sole: str | None) -> Known:
    if told is None:
        return Known()
    gold, wrong = of_question(told.label, name, sole), of_question(told.wrong, name, sole)
    about = told.wrong is None or wrong is not None
    return Known(gold, wrong, told.doubtful and about)


def _placed(one: Sample, given: Given, beside: Value | None, question: Question | None) -> Sample:
    """Say how a sample stands to what was decided in the end."""
    place_: Beside = ""
    if given.live:
        place_ = "decided" if given.decided else "passed on"
    elif beside is not None and one.value is not None:
        place_ = "same" if _same(one, beside, question) else "other"
    return msgspec.structs.replace(one, beside=place_, decided=beside)


def _same(one: Sample, beside: Value, question: Question | None) -> bool:
    assert one.value is not None
    if one.level is None:
        return alike(beside, one.value) == one.value
    score = question if isinstance(question, Score) else None
    level = place(beside, in_order(one.distribution or {}, score), score)
    return level is not None and nearest(one.level, level)


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
        model=attempt.served,
        reason=attempt.reason,
        gold=gold,
        told=0.0 if told is None else told.at,
        subject=about.subject,
        digest=about.digest,
        seconds=attempt.seconds,
        cost_usd=None if attempt.usage is None else attempt.usage.cost_usd,
        length=about.length,
        slices=about.slices,
    )


def _answered(bare: Sample, answer: Answer, told: Known, question: Question | None) -> Sample:
    value = answer.value
    assert value is not None
    gold = None if bare.gold is None else alike(bare.gold, value)
    known = msgspec.structs.replace(
        bare,
        value=value,
        gold=gold,
        right=_right(value, gold, told),
        doubtful=told.doubtful and value != told.wrong,
        probability=answer.probability,
        reported=answer.reported,
        distribution=answer.distribution,
    )
    if isinstance(value, bool) or not isinstance(value, str):
        return known if isinstance(value, bool) else _scored(known, question)
    count = len(answer.distribution or ())
    return msgspec.structs.replace(known, slices=_counted(known.slices, count))


def _right(value: Value, gold: Value | None, told: Known) -> bool | None:
    if gold is not None:
        return value == gold
    return False if told.doubtful or value == told.wrong else None


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
