"""
What a threshold belongs to: a question, told apart by digests of its words and its options.

Two questions with the same key were asked in the same words about the same options; for an
open catalogue, whose options come with each call, about as many of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from .kinds import Choice, Predicate
from .offering import KEY
from .questions import Question, Questions

if TYPE_CHECKING:
    from .points import DecisionPoint

DIGITS = 12  # hexadecimal, 48 bits: a process knows thousands of questions, not millions
REMEMBERED = 256  # sets of questions whose keys are kept; fixed points ask the same object


class QuestionKey(msgspec.Struct, frozen=True):
    """
    One question, by what decides how sure an answer to it can be.

    Attributes:
        question: Its name as declared; one that is asked for each entry has one name.
        template: Digest of kind, words, levels and conditions, without a choice's options.
        options: Digest of the exact options with their descriptions; of an open catalogue
            `open:<digest of the declared ones>:<size>`, the size rounded up to a power of
            two; empty for other kinds.

    """

    question: str
    template: str
    options: str = ""


class Keys:
    """The keys of the questions asked so far; those of a fixed point are computed once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Mapping[str, Question], Mapping[str, QuestionKey]]] = {}

    def of(
        self, point: DecisionPoint, asked: Mapping[str, Question], language: str
    ) -> Mapping[str, QuestionKey]:
        """Give question → key for the *asked* questions of *point*."""
        known = self._known.get(id(asked))
        if known is not None and known[0] is asked:
            return known[1]
        keys = keys_of(point, asked, language)
        if type(asked) is Questions:
            if len(self._known) >= REMEMBERED:
                self._known = {}
            self._known[id(asked)] = (asked, keys)
        return keys


def keys_of(
    point: DecisionPoint, asked: Mapping[str, Question], language: str
) -> Mapping[str, QuestionKey]:
    """Give question → key for the *asked* questions of *point*."""
    declared = point.questions.get(spoken_language(point, language), {})
    return {name: _key(point, name, one, declared) for name, one in asked.items()}


def spoken_language(point: DecisionPoint, language: str) -> str:
    """Name the language that *point* is asked in where *language* is set."""
    if language in point.questions or len(point.questions) > 1:
        return language
    return next(iter(point.questions))


def _key(
    point: DecisionPoint, name: str, asked: Question, declared: Mapping[str, Question]
) -> QuestionKey:
    origin = _declared(point, name, asked, declared)
    meant = None if origin is None else declared[origin]
    words = asked.instructions if meant is None else meant.instructions  # `{n}`, not the entry
    said: list[object] = [type(asked).__name__, words, asked.when, asked.advisory]
    if isinstance(asked, Choice):
        is_open = isinstance(meant, Choice) and meant.open
        template = digest([*said, asked.sentinel, asked.abstains, is_open])
        return QuestionKey(origin or name, template, _options(asked, meant))
    if isinstance(asked, Predicate):
        return QuestionKey(origin or name, digest([*said, asked.true, asked.false, asked.tie]))
    levels = list(asked.levels.items())  # a scale turned round is another scale
    return QuestionKey(origin or name, digest([*said, levels, asked.low, asked.high]))


def _options(asked: Choice, meant: Question | None) -> str:
    if isinstance(meant, Choice) and meant.open:
        size = 1 << (len(asked.options) - 1).bit_length()
        return f"open:{digest(meant.options)}:{size}"
    return digest(asked.options)


def _declared(
    point: DecisionPoint, name: str, asked: Question, declared: Mapping[str, Question]
) -> str | None:
    """Name what the *asked* question was made of; None where its words are the call's own."""
    for origin, question in declared.items():
        repeat = point.repeats.get(origin)
        if repeat is None:
            made = question.instructions if name == origin else None
        else:
            before, _, after = repeat.name.partition(KEY)
            fits = name.startswith(before) and name.endswith(after)
            entry = name[len(before) : len(name) - len(after)]
            made = question.instructions.replace(KEY, entry) if fits and entry else None
        if made == asked.instructions and type(question) is type(asked):
            return origin
    return None


def digest(value: object) -> str:
    """Give the first hexadecimal digits of SHA-256 over *value*, written as canonical JSON."""
    written = msgspec.json.encode(value, order="deterministic")
    return hashlib.sha256(written).hexdigest()[:DIGITS]
