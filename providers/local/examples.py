"""
Labelled examples: `<folder>/<POINT>.jsonl`, one JSON object a line.

A file belongs to the point whose variables its name would make: `guardrail-pinj.jsonl` is
GUARDRAIL_PINJ's, as `GUARDRAIL_PINJ.jsonl` is; both together are a mistake. Which points a program
has is not known here: a file of none of them is never asked for.

`{"state": …, "answer": …}`, where the state is what the point is asked about (text, messages or
an object) and the answer an option's name, true or false, a level's label or a number on the
score's scale. `"question": "name"` is needed where a point asks several questions, and must be
left out or right where it asks one. `{"text": …, "label": …}` says the same.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from .encoders import digest

Answer: TypeAlias = str | bool | float
SHAPE = '{"state": …, "answer": …} or {"text": …, "label": …}'
LARGEST = 1e15  # number on a scale; more is a slip
MOST_FLAWS = 20  # that are told at once


class Flawed(Exception):
    """
    The examples cannot be used.

    Attributes:
        flaws: Where (file:line) and what is wrong; at most 20 of them.

    """

    def __init__(self, *flaws: tuple[str, str]) -> None:
        super().__init__(*flaws)
        self.flaws = flaws


@dataclass(frozen=True, slots=True)
class Example:
    """
    One labelled example.

    Attributes:
        state: What the question was about.
        answer: The right answer.
        question: Name of the question; empty: the point's only one.

    """

    state: Any
    answer: Answer
    question: str = ""


@dataclass(frozen=True, slots=True)
class Examples:
    """
    The examples of one point.

    Attributes:
        digest: Names the file's content.
        rows: In the order of the file.

    """

    digest: str
    rows: tuple[Example, ...]

    def about(self, question: str, *, alone: bool) -> tuple[Example, ...]:
        """Pick the rows about *question*; nameless ones count if it is asked *alone*."""
        names = {question, ""} if alone else {question}
        return tuple(row for row in self.rows if row.question in names)


def read(folder: Path, point_of: Callable[[str], str]) -> dict[str, Examples]:
    """
    Read all examples in *folder*: point → examples.

    Args:
        folder: Holds the files.
        point_of: Makes a point's name of a file's; ValueError if nothing is left of it.

    Raises:
        Flawed: There is no such folder, no file in it, a name of no point or two files of one,
            or a line that is no example.

    """
    if not folder.is_dir():
        raise Flawed((str(folder), "there is no such folder"))
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() == ".jsonl")
    if not files:
        raise Flawed((str(folder), "it holds no <POINT>.jsonl"))
    flaws: list[tuple[str, str]] = []
    read = {
        point: _examples(file, flaws) for point, file in _by_point(files, point_of, flaws).items()
    }
    if flaws:
        raise Flawed(*flaws[:MOST_FLAWS])
    return read


def _by_point(
    files: list[Path], point_of: Callable[[str], str], flaws: list[tuple[str, str]]
) -> dict[str, Path]:
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for file in files:
        try:
            found[point_of(file.stem)].append(file)
        except ValueError as error:
            flaws.append((file.name, str(error)))
    for point, same in found.items():
        if len(same) > 1:
            names = ", ".join(file.name for file in same)
            flaws.append((names, f"more than one file holds the examples of {point}"))
    return {point: same[0] for point, same in found.items()}


def _examples(file: Path, flaws: list[tuple[str, str]]) -> Examples:
    content = file.read_bytes()
    rows: list[Example] = []
    for number, line in _lines(content):
        try:
            rows.append(_example(json.loads(line)))
        except (ValueError, RecursionError) as error:
            flaws.append((f"{file.name}:{number}", _told(error)))
    if not rows:
        flaws.append((file.name, "it holds no example"))
    return Examples(digest(content), tuple(rows))


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, line


def _example(row: Any) -> Example:  # noqa: ANN401 - any JSON
    fields = cast("dict[str, Any]", row if isinstance(row, dict) else {})
    state = fields.get("state", fields.get("text"))
    answer = fields.get("answer", fields.get("label"))
    question = fields.get("question", "")
    if state is None or answer is None:
        raise ValueError(f"not of the form {SHAPE}")
    number = isinstance(answer, int | float) and abs(answer) <= LARGEST  # false for NaN
    if not (isinstance(answer, str) or number) or not isinstance(question, str):
        raise ValueError("the answer is no text, truth or finite number, or the question no text")
    return Example(state, answer, question)


def _told(error: Exception) -> str:
    return f"no JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else str(error)
