"""States out of a file: JSON lines with a state, and perhaps its right answer."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ...errors import DeclarationError, Fault
from ...journal.rows import DecisionRow, FeedbackRow
from ...keys import keys_of, spoken_language
from ...points import DecisionPoint, suffix_of
from ...questions import Ask, Outcome, Question, Score, Value, may_answer
from ...records import Record
from ..reading import line_of, lines_of
from ..rows import refuse
from .items import Item, Points, Survey, Wanted

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...journal.store import Store

FIX = "Nothing was asked. Correct the file"
SHAPE = '{"point": …, "id": …, "state": …, "label": …}'
OLDEST = "0" * 12  # before every id that holds a time: a file's row has none
DIGITS = 20  # hexadecimal, 80 bits


class Line(msgspec.Struct, frozen=True):
    """
    One line of a file; what it holds besides is not read.

    Attributes:
        state: What the point is asked about.
        point: Its name; absent: what `--point` says.
        id: What the file calls the row; absent: the number of its line.
        label: What would be right; question → value for several questions; None if unknown.
        language: In which it is asked; absent: the language that is set.

    """

    state: Any
    point: str | None = None
    id: str | int | None = None
    label: Any = None
    language: str | None = None


class FromFile:
    """
    The rows of a file.

    A row is known by its point, its language, its `id` (or its place in the file) and its state,
    so that a file may grow, and a row that is corrected is asked about anew. It stands in the
    journal as a decision that nobody made; its label as what was found out about it. Its text
    stays in the file.

    Args:
        file: JSON lines.
        store: Knows what was asked already.
        gateway: Knows the points.
        wanted: Whom to ask; what it answered already is not asked again.

    Raises:
        SetupError: The file cannot be read, or lines of it cannot be asked; each fault names
            file and line.

    """

    def __init__(self, file: Path, store: Store, gateway: Gateway, wanted: Wanted) -> None:
        items = _Reader(file, gateway, wanted.point).items()
        points = dict.fromkeys(item.point.name for item in items)
        answered = _answered(items, store, wanted, points)
        left = [item for item in items if item.of not in answered]
        now = left[: wanted.limit]
        self._now = now
        self._done = [item for item in items if item.of in answered]
        there, later = len(self._done), len(left) - len(now)
        self.survey = Survey(there, len(now), later, Counter(), tuple(points))

    def items(self) -> Iterator[Item]:
        """Give what is asked about now."""
        return iter(self._now)

    @property
    def late(self) -> list[FeedbackRow]:
        """The labels of rows that were asked about already: a label may have come later."""
        rows = [row for item in self._done for row in item.rows]
        return [row for row in rows if isinstance(row, FeedbackRow)]


class _Reader:
    """Makes items of lines."""

    def __init__(self, file: Path, gateway: Gateway, point: DecisionPoint | None) -> None:
        self._file = file
        self._points = Points(gateway)
        self._point = point
        self._language = gateway.settings.globals.language

    def items(self) -> list[Item]:
        """
        Read the whole file.

        Raises:
            SetupError: With its faults.

        """
        items: dict[str, Item] = {}
        faults: list[Fault] = []
        for number, text in lines_of(
            self._file, f"--from {self._file}", "Correct it; or say `journal`"
        ):
            try:
                item = self._item(number, _line(text))
            except DeclarationError as error:
                faults.append(Fault(f"{self._file}:{number}", str(error), FIX))
            else:
                if _contradicts(items.setdefault(item.of, item), item):
                    problem = "an earlier row has the same id and state, and another label"
                    faults.append(Fault(f"{self._file}:{number}", problem, FIX))
        if not faults and not items:
            faults = [Fault(str(self._file), "it has no rows", "Name another file")]
        refuse(self._file, faults, FIX)
        return list(items.values())

    def _item(self, number: int, line: Line) -> Item:
        point = self._named(line)
        language = spoken_language(point, line.language or self._language)
        ask = point.ask(line.state, language)
        own = number if line.id is None else str(line.id)
        known = _digest([point.name, language, own, ask.text])
        label = None if line.label is None else _label(ask.questions, line.label)
        decision = _decision(known, point, ask, language)
        rows: tuple[DecisionRow | FeedbackRow, ...] = (decision, *_feedback(known, label))
        return Item(of=known, point=point, ask=ask, language=language, rows=rows)

    def _named(self, line: Line) -> DecisionPoint:
        if line.point is None:
            if self._point is None:
                raise DeclarationError('it names no "point"; name one there, or with --point')
            return self._point
        point = self._points.get(suffix_of(line.point))
        if point is None:
            raise DeclarationError(f"there is no decision point {line.point!r} here")
        return point


def _answered(
    items: Iterable[Item], store: Store, wanted: Wanted, points: Iterable[str]
) -> set[str]:
    """Name the rows that are not asked about again."""
    there = {known for name in points for known in store.shadowed(name, wanted.provider)}
    if not wanted.again:
        return there
    trails = store.trails(ids=[item.of for item in items if item.of in there])
    return {trail.decision.id for trail in trails if wanted.answered(trail)}


def _line(text: str) -> Line:
    line = line_of(text, Line, SHAPE)
    if line.state is None:
        raise DeclarationError(f"not of the form {SHAPE} (its state is null)")
    return line


def _contradicts(one: Item, other: Item) -> bool:
    """Whether two rows that are one and the same say that different answers are right."""
    labels = [
        [row.id for row in item.rows if isinstance(row, FeedbackRow)] for item in (one, other)
    ]
    return labels[0] != labels[1]


def _decision(known: str, point: DecisionPoint, ask: Ask, language: str) -> DecisionRow:
    record = Record(id=known, at=time.time(), point=point.name, variant="", provider="")
    keys = keys_of(point, ask.questions, language)
    return DecisionRow(record=record, language=language, keys=keys)


def _feedback(known: str, label: Outcome) -> tuple[FeedbackRow, ...]:
    if label is None:
        return ()
    return (FeedbackRow(id=_digest([known, label]), of=known, at=time.time(), label=label),)


def _digest(told: object) -> str:
    written = msgspec.json.encode(told, order="deterministic")
    return f"{OLDEST}{hashlib.sha256(written).hexdigest()[:DIGITS]}"


def _label(questions: Mapping[str, Question], label: Any) -> Outcome:  # noqa: ANN401 - any JSON
    """
    Read a label: a value for the only question, or question → value.

    Raises:
        DeclarationError: It is no answer to what is asked.

    """
    if not isinstance(label, Mapping):
        if len(questions) > 1:
            raise DeclarationError(f"its label is an object of {', '.join(questions)}")
        ((name, question),) = questions.items()
        return _value(name, question, label)
    named = cast("Mapping[str, Any]", label)
    for name in named:
        if name not in questions:
            raise DeclarationError(f"its label names {name!r}; asked is {', '.join(questions)}")
    values = {name: _value(name, questions[name], one) for name, one in named.items()}
    return values if len(questions) > 1 else next(iter(values.values()), None)


def _value(name: str, question: Question, value: Any) -> Value:  # noqa: ANN401 - any JSON
    if isinstance(question, Score) and isinstance(value, str) and value in question.levels:
        return question.value(list(question.levels).index(value))
    if not may_answer(question, value):
        raise DeclarationError(f"its label {value!r} is no answer to {name!r}")
    answer: Value = value
    return answer
