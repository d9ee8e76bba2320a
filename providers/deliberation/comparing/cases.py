"""Cases: what is asked, and what is right. Read whole and checked before anything is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

import msgspec

from ....gateway.cli.reading import line_of, lines_of
from ....gateway.cli.rows import refuse
from ....gateway.errors import DeclarationError, Fault, SetupError
from ....gateway.points import DecisionPoint
from ....gateway.questions import Ask, Question, Score, Value, may_answer, principal
from .questions import ANSWER, Named, question_of

FIX = "Nothing was asked. Correct the file"
SHAPE = '{"id": …, "state": …, "gold": …}'
HALF = 0.5  # of a level: a score nearer to another level is wrong


class Range(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which scores are right, both ends included, on the question's own scale."""

    min: float
    max: float


Gold: TypeAlias = Value | Range


class Line(msgspec.Struct, frozen=True):
    """
    One line of a file; what it holds besides is not read.

    Attributes:
        state: What deciders are shown.
        gold: What is right: a value, a score's level or `{"min": …, "max": …}`; question →
            one of these where several are asked.
        id: What the case is called; absent: the number of its line.
        question: A question of its own, or the key of one in `--questions`.
        split: The part of the file that it belongs to.

    """

    state: Any
    gold: Any
    id: str | int | None = None
    question: Any = None
    split: str = ""


class Case(msgspec.Struct, frozen=True):
    """
    One item of an experiment.

    Attributes:
        id: Unique in its file.
        ask: What is asked about it.
        gold: Question → what is right.
        digest: Of all three: a result counts only for the case that it was found on.

    """

    id: str
    ask: Ask
    gold: Mapping[str, Gold]
    digest: str

    def right(self, given: Mapping[str, Value | None] | None) -> bool:
        """Whether an outcome is right wherever something is known; no outcome never is."""
        if given is None:
            return False
        return all(
            _fits(self.ask.questions[name], gold, given.get(name))
            for name, gold in self.gold.items()
            if self._live(name)
        )

    def _live(self, name: str) -> bool:
        when = self.ask.questions[name].when
        return when is None or self.gold.get(when.question) in when.answers


class Asks(Protocol):
    """Makes the ask of a line."""

    def ask(self, line: Line) -> Ask:
        """
        Make it.

        Raises:
            DeclarationError: The line cannot be asked about.

        """
        ...


class OfPoint(msgspec.Struct, frozen=True):
    """Asks what a decision point asks, in a language."""

    point: DecisionPoint
    language: str

    def ask(self, line: Line) -> Ask:
        """Build the point's ask about the state."""
        return self.point.ask(line.state, self.language)


class OfFile(msgspec.Struct, frozen=True):
    """
    Asks what files say.

    Attributes:
        asked: The same of every case; None: each names its own.
        listed: Key → question, for cases that name one.

    """

    asked: Named | None = None
    listed: Mapping[str, Named] = {}

    def ask(self, line: Line) -> Ask:
        """Put the question to the state."""
        return Ask(line.state, self._questions(line.question))

    def _questions(self, own: object) -> Named:
        if self.asked is not None:
            return self.asked
        if isinstance(own, str) and own in self.listed:
            return self.listed[own]
        if own is None or isinstance(own, str):
            problem = "it names no question" if own is None else f"there is no question {own!r}"
            raise DeclarationError(f"{problem}: give --point, --question or --questions")
        return {ANSWER: question_of(own)}


def read_cases(
    file: Path, asks: Asks, *, split: str | None = None, limit: int | None = None
) -> list[Case]:
    """
    Read the cases of a file, in its order.

    Args:
        file: JSON lines.
        asks: Makes the asks.
        split: Only cases of this part; None: all.
        limit: At most so many; None: all.

    Raises:
        SetupError: It cannot be read, has no cases, or lines of it are none; each fault names
            file and line.

    """
    cases: dict[str, Case] = {}
    faults: list[Fault] = []
    for number, text in lines_of(file, str(file), "Correct the path"):
        if limit is not None and len(cases) >= limit:
            break
        try:
            line = _line(text)
            if split is None or line.split == split:
                _add(cases, _case(number, line, asks))
        except DeclarationError as error:
            faults.append(Fault(f"{file}:{number}", str(error), FIX))
    refuse(file, faults, FIX)
    if not cases:
        problem = "it has no items" if split is None else f"it has no items of split {split!r}"
        raise SetupError.of(str(file), problem, "Name another file")
    return list(cases.values())


def _add(cases: dict[str, Case], case: Case) -> None:
    if case.id in cases:
        raise DeclarationError(f"its id {case.id!r} is that of an earlier line")
    cases[case.id] = case


def _line(text: str) -> Line:
    line = line_of(text, Line, SHAPE)
    if line.state is None or line.gold is None:
        raise DeclarationError(f"not of the form {SHAPE} (its state or its gold is null)")
    return line


def _case(number: int, line: Line, asks: Asks) -> Case:
    ask = asks.ask(line)
    gold = _golds(ask.questions, line.gold)
    own = str(number if line.id is None else line.id)
    known = msgspec.json.encode((own, ask.text, dict(ask.questions), gold))
    return Case(own, ask, gold, hashlib.sha256(known).hexdigest()[:16])


def _golds(questions: Mapping[str, Question], given: object) -> Mapping[str, Gold]:
    """
    Read what is right: a value for the question that decides, or question → value.

    Raises:
        DeclarationError: It is no answer to what is asked.

    """
    several = isinstance(given, dict) and not given.keys() <= {"min", "max"}
    if not several:
        name = next(iter(questions)) if len(questions) == 1 else principal(questions)
        if name is None:
            raise DeclarationError(f"its gold is an object of {', '.join(questions)}")
        return {name: _gold(name, questions[name], given)}
    named = cast("Mapping[str, Any]", given)
    for name in named:
        if name not in questions:
            raise DeclarationError(f"its gold names {name!r}; asked is {', '.join(questions)}")
    return {name: _gold(name, questions[name], one) for name, one in named.items()}


def _gold(name: str, question: Question, value: Any) -> Gold:  # noqa: ANN401 - any JSON
    if isinstance(question, Score) and isinstance(value, dict):
        try:
            return msgspec.convert(value, Range)
        except msgspec.ValidationError as error:
            raise DeclarationError(f"its gold for {name!r} is no range ({error})") from None
    if isinstance(question, Score) and isinstance(value, str) and value in question.levels:
        return question.value(list(question.levels).index(value))
    if not may_answer(question, value):
        raise DeclarationError(f"its gold {value!r} is no answer to {name!r}")
    right: Value = value
    return right


def _fits(question: Question, gold: Gold, given: Value | None) -> bool:
    if isinstance(question, Score):
        return isinstance(given, float | int) and _near(question, gold, given)
    return type(given) is type(gold) and given == gold


def _near(question: Score, gold: Gold, given: float) -> bool:
    if isinstance(gold, Range):
        return gold.min <= given <= gold.max
    return abs(question.index(given) - question.index(float(gold))) < HALF
