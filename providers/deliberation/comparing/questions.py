"""Questions as files give them: `kind`, `instructions`, and what the kind needs besides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from ....gateway.cli.reading import json_file
from ....gateway.errors import DeclarationError, SetupError
from ....gateway.questions import Choice, Predicate, Question, Score

ANSWER = "answer"  # what the only question of a file is called
SHAPE = '{"kind": "choice", "instructions": "Which team?", "options": ["billing", "tech"]}'

Named = Mapping[str, Question]


class Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """
    A question as it is written.

    Attributes:
        kind: Which of the three.
        instructions: What is asked.
        options: Of a choice: names, or name → description. Of a score: its levels, low to high.
        sentinel: The option that means "none of these".
        true: What *true* means, of a predicate.
        false: What *false* means.
        low: Value of a score's lowest level.
        high: Value of its highest level; absent: the number of levels less 1.

    """

    kind: Literal["choice", "predicate", "score"]
    instructions: str
    options: dict[str, str] | list[str] = []
    sentinel: str | None = None
    true: str = ""
    false: str = ""
    low: float = 0.0
    high: float | None = None

    def question(self) -> Question:
        """
        Make the question.

        Raises:
            DeclarationError: It contradicts itself.

        """
        if self.kind == "choice":
            return Choice(self.instructions, self.options, self.sentinel)
        if self.kind == "predicate":
            return Predicate(self.instructions, self.true, self.false)
        if self.high is None:
            return Score(self.instructions, self.options, low=self.low)
        return Score(self.instructions, self.options, low=self.low, high=self.high)


def question_of(given: object) -> Question:
    """
    Read one question.

    Raises:
        DeclarationError: It is none; the message says what one looks like.

    """
    try:
        return msgspec.convert(given, Written).question()
    except msgspec.ValidationError as error:
        raise DeclarationError(f"a question is written like {SHAPE} ({error})") from None


def asked_in(path: Path, option: str) -> Named:
    """
    Read a file of one question, or of several that are asked together, by name.

    Raises:
        SetupError: It cannot be read, or is none.

    """
    given = _object(path, option)
    one = isinstance(given.get("kind"), str)
    return _named({ANSWER: given} if one else given, option)


def listed_in(path: Path, option: str) -> Mapping[str, Named]:
    """
    Read a file of questions, of which each case names one by its key.

    Raises:
        SetupError: It cannot be read, or one is none.

    """
    return {key: {ANSWER: one} for key, one in _named(_object(path, option), option).items()}


def _object(path: Path, option: str) -> Mapping[str, Any]:
    fix = f"Write it like {SHAPE}"
    given = json_file(path, f"{option} {path}", fix)
    if not isinstance(given, dict) or not given:
        raise SetupError.of(f"{option} {path}", "it is no JSON object", fix)
    return cast("Mapping[str, Any]", given)


def _named(given: Mapping[str, Any], option: str) -> Named:
    found: dict[str, Question] = {}
    for name, one in given.items():
        try:
            found[name] = question_of(one)
        except DeclarationError as error:
            raise SetupError.of(f"{option}, {name!r}", str(error), "Correct it") from None
    return found
