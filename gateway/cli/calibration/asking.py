"""Asks a provider about labelled states now, once or more often: no journal is needed."""

from __future__ import annotations

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from ...certificates import Key
from ...errors import DeclarationError, Fault, NoAnswer, Reason, SetupError
from ...evaluation.calibration.collecting import sliced
from ...evaluation.calibration.describing import share
from ...evaluation.calibration.descriptions import Share
from ...evaluation.calibration.labelling import Given, Told
from ...evaluation.calibration.samples import Sample
from ...evaluation.calibration.sampling import About, samples_of
from ...keys import digest, keys_of, spoken_language
from ...questions import Ask, Choice, Value
from ..rows import refuse

if TYPE_CHECKING:
    from pathlib import Path

    from ...gates import Scale
    from ...gateway import Gateway
    from ...records import Attempt
    from ..target import Target
    from .file import Labelled

TURNED_AWAY = (Reason.AUTH, Reason.PAYMENT)


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """
    How rows are asked.

    Attributes:
        provider: Who.
        repeat: How often each row is asked once more as it is.
        shuffle: Whether it is asked once more with its options in another order.
        fields: Fields by which rows are told apart.
        concurrency: Rows that are asked at once.
        seed: Of the other orders.

    """

    provider: str
    repeat: int = 0
    shuffle: bool = False
    fields: tuple[str, ...] = ()
    concurrency: int = 8
    seed: int = 0


class Answers(msgspec.Struct, frozen=True):
    """
    What came.

    Attributes:
        samples: One for each question of each row, of the first ask.
        again: Sample's index → its values in further asks as it was.
        moved: Sample's index → its value with the options in another order.

    """

    samples: list[Sample]
    again: dict[int, list[Value | None]]
    moved: dict[int, Value | None]

    def repeated(self, scale: Scale) -> Mapping[Key, Share]:
        """Count, by key, the rows whose answers were not always the same."""
        differing = {
            index: any(value != self.samples[index].value for value in values)
            for index, values in self.again.items()
        }
        return self._counted(differing, scale)

    def shuffled(self, scale: Scale) -> Mapping[Key, Share]:
        """Count, by key, the rows whose answer changed with the order of the options."""
        differing = {
            index: value != self.samples[index].value
            for index, value in self.moved.items()
            if value is not None and self.samples[index].answered
        }
        return self._counted(differing, scale)

    def _counted(self, differing: Mapping[int, bool], scale: Scale) -> Mapping[Key, Share]:
        parts: defaultdict[Key, list[bool]] = defaultdict(list)
        for index, differs in differing.items():
            if self.samples[index].answered:
                parts[self.samples[index].key(scale)].append(differs)
        return {key: share(sum(part), len(part)) for key, part in parts.items()}


Found: TypeAlias = tuple[list[Sample], list["Attempt"], "Attempt | None"]
"""Of one row: its samples, what came when it was asked again, and in another order."""


class Asking:
    """
    One run over labelled states.

    Args:
        gateway: Asks; its journal is off.
        target: The point.
        wish: How.

    """

    def __init__(self, gateway: Gateway, target: Target, wish: Wish) -> None:
        self._gateway, self._target, self._wish = gateway, target, wish
        self._found: dict[int, Found] = {}

    @property
    def answers(self) -> Answers:
        """What came, in the order of the rows."""
        answers = Answers([], {}, {})
        for _, (first, again, moved) in sorted(self._found.items()):
            for one in first:
                index = len(answers.samples)
                answers.samples.append(one)
                if again:
                    answers.again[index] = [_value(attempt, one.name) for attempt in again]
                if moved is not None:
                    answers.moved[index] = _value(moved, one.name)
        return answers

    def asks(self, file: Path, rows: Sequence[Labelled]) -> list[tuple[Labelled, Ask]]:
        """
        Build every ask before the first is sent.

        Raises:
            SetupError: With every row that cannot be asked.

        """
        built: list[tuple[Labelled, Ask]] = []
        faults: list[Fault] = []
        for row in rows:
            try:
                built.append((row, self._target.about(row.state)))
            except (DeclarationError, SetupError) as error:
                fix = "Nothing was asked. Correct the row"
                faults.append(Fault(f"{file}:{row.line}", str(error), fix))
        refuse(file, faults, "Nothing was asked. Correct the file")
        return built

    async def run(
        self, asks: Sequence[tuple[Labelled, Ask]], advance: Callable[[object], None]
    ) -> None:
        """
        Ask them all; *advance* is told of each row.

        Raises:
            SetupError: The provider turns the key away.

        """
        waiting = iter(asks)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._wish.concurrency):
                    group.create_task(self._work(waiting, advance))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        finally:
            await self._gateway.aclose()

    async def _work(
        self, waiting: Iterator[tuple[Labelled, Ask]], advance: Callable[[object], None]
    ) -> None:
        for row, ask in waiting:
            first = self._samples(row, ask, await self._attempt(ask))
            again = [await self._attempt(ask) for _ in range(self._wish.repeat)]
            moved = await self._moved(row, ask)
            self._found[row.line] = first, again, moved
            advance(row)
            await asyncio.sleep(0)  # a provider in this process never waits: let Ctrl-C through

    async def _moved(self, row: Labelled, ask: Ask) -> Attempt | None:
        """Ask with each choice's options in another order."""
        choices = [name for name, one in ask.questions.items() if isinstance(one, Choice)]
        if not (self._wish.shuffle and choices):
            return None
        dice = random.Random(f"{self._wish.seed}:{row.line}")  # noqa: S311 - an order
        questions = dict(ask.questions)
        for name in choices:
            one = questions[name]
            assert isinstance(one, Choice)
            order = list(one.options)
            while order == list(one.options):
                dice.shuffle(order)
            options = {option: one.options[option] for option in order}
            questions[name] = msgspec.structs.replace(one, options=options)
        return await self._attempt(Ask(ask.state, questions))

    async def _attempt(self, ask: Ask) -> Attempt:
        try:
            decision = await self._gateway.ask(self._target.point, ask, current=_nothing)
            attempt = decision.attempts[0]
        except NoAnswer as none:
            attempt = none.attempts[0]
        if attempt.reason in TURNED_AWAY:
            problem = f"{attempt.provider} turns the ask away ({attempt.reason.value})"
            raise SetupError.of("--provider", problem, "See to its key or its purse")
        return attempt

    def _samples(self, row: Labelled, ask: Ask, attempt: Attempt) -> list[Sample]:
        point, language = self._target.point, self._target.language
        about = About(
            id=row.id,
            point=point.name,
            language=spoken_language(point, language),
            provider=self._wish.provider,
            digest=digest(ask.text),
            length=len(ask.text),
            slices={
                **sliced(row.state, self._wish.fields),
                **sliced(row.fields, self._wish.fields),
            },
        )
        now = time.time()
        keys, given = keys_of(point, ask.questions, language), Given(attempt, now, live=False)
        known = {**point.questions.get(about.language, {}), **ask.questions}
        return samples_of(about, given, keys, Told(row.label, None, now), known)


def _value(attempt: Attempt, question: str) -> Value | None:
    answer: Any = attempt.answers.get(question)
    return None if answer is None else answer.value


def _nothing() -> None:
    """Stand where a fallback would decide: it would cost, and is not what is asked for."""
