"""What is asked by the command: a point of the catalogue, or a question given ad hoc."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SetupError
from ..gateway import Gateway
from ..points import DecisionPoint, suffix_of
from ..questions import Ask, Choice, Predicate
from ..wrapping import QUESTION
from .points import known


@dataclass(frozen=True)
class Target:
    """
    A point and the options of this run.

    Attributes:
        point: What is asked.
        language: In which language.
        options: Label → description, for a point that takes its options from the call.

    """

    point: DecisionPoint
    language: str
    options: dict[str, str] | None = None

    def ask(self, words: object, fields: dict[str, Any] | None = None) -> Ask:
        """Build the ask about *words*, with the further *fields* of the state that it reads."""
        if not self.point.reads:
            return self.point.ask(words, self.language)
        state = {name: value for name, value in (fields or {}).items() if name in self.point.reads}
        state[self.point.words] = words
        return self.about(state)

    def about(self, state: object) -> Ask:
        """Build the ask about a whole *state*."""
        if self.options is None or not self.point.options:
            return self.point.ask(state, self.language)
        (source,) = self.point.options.values()
        fields: dict[str, Any] = (
            dict(state) if isinstance(state, dict) else {self.point.words: state}  # pyright: ignore[reportUnknownArgumentType]
        )
        fields[source.field] = [
            {source.name: name, source.description: text} for name, text in self.options.items()
        ]
        return self.point.ask(fields, self.language)


def target(gateway: Gateway, name: str, question: str | None, options: str | None) -> Target:
    """
    Find what is meant.

    Raises:
        SetupError: An unknown point without a question, options that it does not take, or
            an options file that is none.

    """
    given = None if options is None else read_options(options)
    language = gateway.settings.globals.language
    if question is None:
        point = known(gateway, name)
        if given is not None and len(point.options) != 1:
            fix = "Leave --options out, or give a question of your own with --question"
            raise SetupError.of(point.name, "its options are fixed", fix)
        return Target(point, language, given)
    asked = Predicate(question) if given is None else Choice(question, given)
    there = gateway.points.get(suffix_of(name))
    chain, internal = (there.chain, there.internal) if there is not None else ((), False)
    questions = {"": {QUESTION: asked}}
    point = DecisionPoint(name=suffix_of(name), questions=questions, chain=chain, internal=internal)
    return Target(point, language)


def sentinels(ask: Ask) -> list[str]:
    """Name the options of *ask* that mean "none of these"."""
    questions = [one for one in ask.questions.values() if isinstance(one, Choice)]
    return [one.sentinel for one in questions if one.sentinel is not None]


def read_options(given: str) -> dict[str, str]:
    """
    Read options: a JSON file of names, or of label → description, or names with commas.

    Raises:
        SetupError: The file is missing, no JSON, or of another shape.

    """
    path = Path(given)
    if path.suffix != ".json" and not path.is_file():
        return _named([part.strip() for part in given.split(",") if part.strip()], given)
    try:
        read = json.loads(path.read_text("utf-8-sig"), object_pairs_hook=list)
    except OSError as error:
        raise _unread(given, f"it cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise _unread(given, f"it is no JSON ({error})") from None
    return _described(read, given)


def _described(read: Any, given: str) -> dict[str, str]:  # noqa: ANN401 - any JSON
    shape = "it must be {label: description, …} or [label, …]"
    entries: list[Any] = [*read] if isinstance(read, list) else []
    if entries and all(isinstance(one, str) for one in entries):
        return _named(entries, given)
    if not entries or not all(
        isinstance(one, tuple) and isinstance(one[1], str) for one in entries
    ):
        raise _unread(given, shape)
    _named([name for name, _ in entries], given)
    return dict(entries)


def _named(names: list[str], given: str) -> dict[str, str]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _unread(given, f"{twice[0]!r} is named twice")
    return dict.fromkeys(names, "")


def _unread(given: str, problem: str) -> SetupError:
    return SetupError.of(f"--options {given}", problem, "Correct it")
