"""Vectors: states whose right answers are known, and what an answer is worth against them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from ..errors import DeclarationError, Fault, Reason, SetupError
from ..offering import OptionsFrom
from ..points import find, suffix_of
from ..questions import Choice
from .reading import NotJson, parsed
from .rows import refuse
from .target import offering

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..gateway import Gateway
    from ..points import DecisionPoint
    from ..questions import Ask
    from ..records import Attempt

FIX = "Nothing was asked. Correct the file"
UNSURE = frozenset(
    {Reason.LOW_CONFIDENCE, Reason.CONFIDENCE_MISSING, Reason.REFUSED, Reason.ABSTAINED}
)

Verdict: TypeAlias = Literal["right", "wrong", "unsure", "failed"]
"""What the provider's attempt was: `unsure` declines to answer, `failed` gives nothing valid."""


class Range(msgspec.Struct, frozen=True):
    """Which scores are right, both ends included, on the point's own scale."""

    min: float
    max: float


class Expected(msgspec.Struct, frozen=True):
    """
    What is right.

    Attributes:
        answers: Question → option, truth, or range of a score.
        abstain_ok: Not to answer is right, too.

    """

    answers: dict[str, bool | str | Range]
    abstain_ok: bool = False


class Vector(msgspec.Struct, frozen=True):
    """
    One line of a file; what it holds besides is not read.

    Attributes:
        point: Name of a decision point.
        language: In which it is asked.
        state: What deciders are shown.
        expected: What is right.
        question: The questions as the file writes them; options that the state does not
            list are taken from here.

    """

    point: str
    language: str
    state: dict[str, Any]
    expected: Expected
    question: list[dict[str, Any]] = []


@dataclass(frozen=True)
class Case:
    """A vector that can be asked: the point as it is declared here, and its questions."""

    vector: Vector
    point: DecisionPoint
    ask: Ask


@dataclass(frozen=True)
class Mark:
    """
    What one answer was worth.

    Attributes:
        point: Name of the point.
        language: In which it was asked.
        verdict: Believed and as expected, believed and not, not sure enough, not valid.
        good: It is right, or unsure where that is right, too.
        likely: Whether the most likely answer is the expected one, believed or not; None
            without a valid answer.
        confidence: Of a valid answer, in [0, 1].
        reason: `ok`, or why it was not believed.
        model: As served; empty if unknown.
        cost_usd: Of the attempt, as far as it is known.

    """

    point: str
    language: str
    verdict: Verdict
    good: bool
    likely: bool | None
    confidence: float | None
    reason: str
    model: str
    cost_usd: float


def read_cases(file: Path, gateway: Gateway) -> list[Case]:
    """
    Read a file of vectors, one JSON object a line, and build every ask.

    Raises:
        SetupError: It cannot be read, or lines are no vectors, name no point that *gateway*
            knows, or cannot be asked; each fault names file and line.

    """
    cases: list[Case] = []
    faults: list[Fault] = []
    for number, line in _lines(file):
        try:
            cases.append(_case(line, gateway))
        except (NotJson, msgspec.ValidationError, DeclarationError) as error:
            faults.append(Fault(f"{file}:{number}", str(error), FIX))
    if not faults and not cases:
        faults = [Fault(str(file), "it has no vectors", "Name another file")]
    refuse(file, faults, FIX)
    return cases


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        text = file.read_text("utf-8-sig")
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
        raise SetupError.of(str(file), problem, "Correct the path") from None
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 (byte {error.start})"
        raise SetupError.of(str(file), problem, "Convert it") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _case(line: str, gateway: Gateway) -> Case:
    vector = msgspec.convert(parsed(line), Vector)
    point = find(suffix_of(vector.point), gateway.points)
    if point is None:
        raise DeclarationError(f"there is no decision point {vector.point!r} here")
    ask = _asked(point, vector)
    for name in vector.expected.answers:
        if name not in ask.questions:
            problem = f"{point.name} does not ask {name!r}, of which an answer is expected"
            raise DeclarationError(problem)
    return Case(vector, point, ask)


def _asked(point: DecisionPoint, vector: Vector) -> Ask:
    listed = [
        (name, source)
        for name, source in point.options.items()
        if isinstance(source, OptionsFrom) and not vector.state.get(source.field)
    ]
    if len(listed) != 1 or len(point.options) != 1:
        return point.ask(vector.state, vector.language)
    ((name, _),) = listed
    question = point.spoken(vector.language)[name]
    own = list(question.options) if isinstance(question, Choice) else []
    options = {key: text for key, text in _choices(vector, name).items() if key not in own}
    if not options:
        return point.ask(vector.state, vector.language)
    return offering(point, vector.state, options, vector.language)


def _choices(vector: Vector, name: str) -> dict[str, str]:
    """Read the options that the file writes for question *name*."""
    for question in vector.question:
        if question.get("name") == name:
            choices = msgspec.convert(question.get("choices", []), list[dict[str, str]])
            return {one.get("value", ""): one.get("description", "") for one in choices}
    return {}


def marked(case: Case, attempt: Attempt) -> Mark:
    """Say what the provider's *attempt* at *case* was worth."""
    abstained = attempt.reason is Reason.ABSTAINED and _nothing_fits(case)
    likely = _is_expected(case, attempt.answers) if attempt.answers else (abstained or None)
    verdict = _verdict(case, attempt, likely=likely)
    may_abstain = case.vector.expected.abstain_ok
    usage = attempt.usage
    return Mark(
        point=case.point.name,
        language=case.vector.language,
        verdict=verdict,
        good=verdict == "right" or (verdict == "unsure" and (abstained or may_abstain)),
        likely=likely,
        confidence=attempt.confidence if attempt.answers else None,
        reason=attempt.reason.value,
        model=attempt.model,
        cost_usd=(usage.cost_usd or 0.0) if usage is not None else 0.0,
    )


def _nothing_fits(case: Case) -> bool:
    """Whether to abstain is the very answer that is expected: "none of these"."""
    expected = case.vector.expected.answers
    asked = {name: case.ask.questions[name] for name in expected}
    return all(
        isinstance(one, Choice) and one.abstains and one.sentinel == expected[name]
        for name, one in asked.items()
    )


def _verdict(case: Case, attempt: Attempt, *, likely: bool | None) -> Verdict:
    if attempt.reason in UNSURE:
        return "unsure"
    if attempt.reason is not Reason.OK or likely is None:
        return "failed"
    if likely:
        return "right"
    return "unsure" if _declined(case, attempt.answers) else "wrong"


def _is_expected(case: Case, answers: Mapping[str, Any]) -> bool:
    """Compare every answer that counts, where the expected ones are given."""
    expected = case.vector.expected.answers
    return all(
        _fits(value, answers[name].value)
        for name, value in expected.items()
        if _counts(case, name, expected)
    )


def _counts(case: Case, name: str, values: Mapping[str, Any]) -> bool:
    when = case.ask.questions[name].when
    return when is None or values.get(when.question) in when.answers


def _fits(expected: bool | str | Range, value: Any) -> bool:  # noqa: ANN401, FBT001 - an outcome
    if isinstance(expected, Range):
        return isinstance(value, float | int) and expected.min <= value <= expected.max
    return type(value) is type(expected) and value == expected


def _declined(case: Case, answers: Mapping[str, Any]) -> bool:
    """Whether it chose "none of these" wherever it is wrong, and not to answer is right."""
    expected = case.vector.expected
    if not expected.abstain_ok:
        return False
    wrong = [
        name
        for name, value in expected.answers.items()
        if _counts(case, name, expected.answers) and not _fits(value, answers[name].value)
    ]
    return all(
        isinstance(question := case.ask.questions[name], Choice)
        and question.sentinel is not None
        and answers[name].value == question.sentinel
        for name in wrong
    )
