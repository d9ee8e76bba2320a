"""
`local`: the embedded decider behind the gateway's face.

It chooses well among clearly different, described options, and says how sure it is. It does not
judge: without examples its predicates and scores carry so little confidence that the default
threshold rejects them. With `LOCAL_EXAMPLES` it learns both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
from pydantic import BaseModel, ConfigDict

from ...gateway.answers import Chosen, Held, RawAnswer, Reply, Scored
from ...gateway.errors import Fault, SetupError
from ...gateway.plugins import Call, Limits, Setup
from ...gateway.points import suffix_of
from ...gateway.questions import Ask, Choice, Predicate, Question, Score
from .bounds import LONGEST
from .encoders import Encoder, MissingExtra, Vectors, encoder
from .examples import Answer, Examples, Flawed, read
from .fits import Fits
from .meaning import Reader
from .outcomes import SCORE_CONFIDENCE, Lessons, Menu, choice_menu, judged_menu, weak_truth
from .words import Said, part, said

TRUTHS = {"false": 0, "true": 1}  # the rows of a predicate's menu
CACHED_MENUS = 64  # questions as offered; one of 255 options takes 0.25 MB and its texts

Judged: TypeAlias = tuple[RawAnswer, Menu, float]
"""An answer, what it was read from, and the cosine of the nearest outcome."""


class LocalSettings(BaseModel):
    """
    The variables of `local`.

    Attributes:
        encoder: `LOCAL_ENCODER`: `static` (ships with Pointsman), `minilm` or `e5` (extras).
        examples: `LOCAL_EXAMPLES`: folder of `<POINT>.jsonl` with labelled examples; the name is
            read as that of the point's variables is, so `guardrail-pinj.jsonl` is one too.
        fit: `LOCAL_FIT`: `wait` (the first ask of a point waits for its head) or `background`
            (it is answered without examples until the head is there).

    """

    model_config = ConfigDict(frozen=True)

    encoder: Literal["static", "minilm", "e5"] = "static"
    examples: Path | None = None
    fit: Literal["wait", "background"] = "wait"


class Local:
    """
    Answers from the meaning of words, in this process.

    Attributes:
        name: As selected.
        model: The encoder, `static256-<digest of the table>`; an answer that examples helped
            names them too: `…+<digest of the file>`.
        limits: A megabyte of state; more would take long only to be read.
        blocking: True if an ask may take more than a millisecond: with an encoder other than
            `static`, and where the first ask waits for a head.

    Raises:
        SetupError: An extra is missing, or the examples cannot be read.

    """

    limits = Limits(characters=1_000_000)
    shares = False  # its examples are by point, and in this process a shared call saves nothing

    def __init__(self, setup: Setup) -> None:
        settings = setup.read(LocalSettings)
        self.name = setup.name
        self._examples = _read_examples(settings.examples)
        self._reader = Reader(_load_encoder(settings.encoder))
        waits = bool(self._examples) and settings.fit == "wait"
        self.model = self._reader.encoder.model
        self.blocking = self._reader.encoder.blocking or waits
        self._fits: Fits[Menu] = Fits(background=settings.fit == "background")
        self._plain = lru_cache(CACHED_MENUS)(self._untaught)

    def answer(self, ask: Ask, call: Call) -> Reply:
        """
        Answer every question.

        The notes hold, for each, the `cosine` of its nearest outcome (low: out of scope), and
        where there are examples how many were used (`examples`) and how many of those about it
        name no outcome offered (`unused`). Where not one row of the point's file fits, the answer
        is that without examples and `unused` counts the whole file: its labels, or the names
        of its questions, are misspelt, or it is meant for other options.
        """
        state = ask.state if isinstance(ask.state, str) else msgspec.json.decode(ask.text)
        whole = said(state)
        vector = self._reader.state(whole)
        alone = len(ask.questions) == 1
        answers: dict[str, RawAnswer] = {}
        notes: dict[str, float] = {}
        for name, question in ask.questions.items():
            about = self._about(state, name, whole, vector)
            menu = self._menu(call.point, name, question, alone=alone, heard=bool(about.any()))
            answers[name], notes[f"{name}.cosine"] = self._judge(question, menu, about)
            notes |= _told(name, menu)
        return Reply(answers, model=self._served(call.point, notes), notes=notes)

    def close(self) -> None:
        """Wait for a head that is being fitted, forget those that are not begun."""
        self._fits.close()

    def _about(self, state: Any, name: str, whole: Said, vector: Vectors) -> Vectors:  # noqa: ANN401 - any JSON
        entry = part(state, name)
        if entry is None:
            return vector
        one = said(entry)
        return self._reader.state(Said(one.last, (*one.earlier, whole.last)))

    def _served(self, point: str, notes: dict[str, float]) -> str:
        taught = any(note.endswith(".examples") for note in notes)
        return f"{self.model}+{self._examples[point].digest}" if taught else self.model

    def _menu(self, point: str, name: str, question: Question, *, alone: bool, heard: bool) -> Menu:
        key = _described(question)
        plain = self._plain(key)
        examples = self._examples.get(point)
        if examples is None or not heard:  # a head would answer silence with its base rates
            return plain
        teach = partial(self._taught, key, name, question, examples, alone=alone)
        return self._fits.get((point, name, alone, key), teach) or plain

    def _untaught(self, key: _Key) -> Menu:
        return self._prepared(key, None)

    def _taught(
        self, key: _Key, name: str, question: Question, examples: Examples, *, alone: bool
    ) -> Menu:
        rows = examples.about(name, alone=alone)
        positions = [_position(question, row.answer) for row in rows]
        known = [(row, at) for row, at in zip(rows, positions, strict=True) if at is not None]
        if not known:
            return replace(self._plain(key), unused=len(examples.rows))
        vectors = np.stack([self._reader.state(said(row.state)) for row, _ in known])
        lessons = Lessons(vectors, np.array([at for _, at in known], np.intp))
        return replace(self._prepared(key, lessons), unused=len(rows) - len(known))

    def _prepared(self, key: _Key, lessons: Lessons | None) -> Menu:
        described, sentinel, chosen = key
        rows, encoder = self._reader.options(described), self._reader.encoder
        if chosen:
            return choice_menu(rows, encoder.scale, sentinel, encoder.floor, lessons)
        return judged_menu(rows, encoder.scale, lessons)

    def _judge(self, question: Question, menu: Menu, vector: Vectors) -> tuple[RawAnswer, float]:
        cosines = menu.cosines(vector)
        shares = menu.shares(cosines, vector)
        best = menu.best(cosines)
        match question:
            case Choice(options=options):
                names = list(options)
                chosen = int(shares.argmax())
                distribution = dict(zip(names, shares.tolist(), strict=True))
                sure = menu.sure(float(shares[chosen]), best)
                return Chosen(names[chosen], distribution, sure), best
            case Predicate():
                slope_and_middle = self._reader.encoder.truth
                weak = weak_truth(float(cosines[1]), *slope_and_middle)
                return Held(weak if menu.head is None else float(shares[1])), float(cosines[1])
            case Score():
                expected = float(shares @ np.arange(len(shares)))
                most = SCORE_CONFIDENCE if menu.head is None else 1.0
                confidence = min(most, float(shares.max()))
                return Scored(expected, tuple(shares.tolist()), confidence), best


def _told(name: str, menu: Menu) -> dict[str, float]:
    told = {f"{name}.examples": menu.examples, f"{name}.unused": menu.unused}
    return {note: float(count) for note, count in told.items() if count}


_Key: TypeAlias = tuple[tuple[tuple[str, str], ...], int | None, bool]
"""What a menu depends on: described outcomes, the sentinel's position, whether it is a choice."""


def _described(question: Question) -> _Key:
    match question:
        case Choice(options=options, sentinel=sentinel):
            position = None if sentinel is None else list(options).index(sentinel)
            return _short(options.items()), position, True
        case Predicate(instructions=instructions, true=true, false=false):
            return _short((("", false), (instructions, true))), None, False
        case Score(levels=levels):
            return _short(levels.items()), None, False


def _short(described: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Cut to what an encoder reads: open options come with the state, and menus are kept."""
    return tuple((name[:LONGEST], text[:LONGEST]) for name, text in described)


def _position(question: Question, answer: Answer) -> int | None:
    """Find the outcome that an example's *answer* names; None if the question has none such."""
    match question:
        case Choice(options=options):
            return _place(answer, options)
        case Predicate():
            return TRUTHS.get(str(answer).lower())
        case Score(levels=levels):
            if isinstance(answer, str | bool):
                return _place(answer, levels)
            nearest = round(question.index(answer))
            return nearest if 0 <= nearest < len(levels) else None


def _place(name: Answer, names: Iterable[str]) -> int | None:
    return next((at for at, one in enumerate(names) if one == name), None)


def _load_encoder(name: str) -> Encoder:
    try:
        return encoder(name)
    except MissingExtra as error:
        fix = f'Run: pip install "pointsman[{error.extra}]"'
        raise SetupError.of("LOCAL_ENCODER", error.problem, fix) from error


def _read_examples(folder: Path | None) -> dict[str, Examples]:
    if folder is None:
        return {}
    try:
        return read(folder, suffix_of)
    except Flawed as error:
        fix = "Correct LOCAL_EXAMPLES or the file"
        faults = (Fault("LOCAL_EXAMPLES", f"{where}: {what}", fix) for where, what in error.flaws)
        raise SetupError(*faults) from error
