"""What is asked by the command: a point of the catalogue, or a question given ad hoc."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ..errors import DeclarationError, SetupError
from ..gateway import Gateway
from ..kinds import OPTIONS
from ..points import DecisionPoint, suffix_of
from ..questions import Ask, Choice, Predicate
from ..wrapping import QUESTION
from .points import known
from .reading import json_file, whole


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

    def unread(self, state: object) -> list[str]:
        """
        Name the fields of a whole *state* that no decider is shown.

        Raises:
            SetupError: It holds nothing that the point reads, or not the options it needs.

        """
        reads = self.point.reads
        if not reads:
            return []
        if isinstance(state, str):
            fields: dict[str, Any] = {self.point.words: state}
        elif isinstance(state, dict):
            fields = cast("dict[str, Any]", state)
        else:
            raise self._unlike("it is no object")
        if not any(name in fields for name in reads):
            raise self._unlike(f"it has {', '.join(map(repr, fields)) or 'nothing'}")
        self.need_options(fields)
        return [name for name in fields if name not in reads]

    def _unlike(self, problem: str) -> SetupError:
        wanted = f"Give an object with {', '.join(self.point.reads)}, or words with --text"
        return SetupError.of("the state", f"{problem}, and {self.point.name} reads fields", wanted)

    def need_options(self, *states: dict[str, Any]) -> None:
        """
        Make sure that options come from somewhere.

        Raises:
            SetupError: There is no --options, and no state among *states* that lists them.

        """
        for source in self.point.options.values() if self.options is None else ():
            if not any(state.get(source.field) for state in states):
                shape = f'[{{"{source.name}": "…", "{source.description}": "…"}}, …]'
                problem = "its options come with the call, and none are given"
                fix = f"Give --options a,b,c or a file, or a state with {source.field!r}: {shape}"
                raise SetupError.of(self.point.name, problem, fix)

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
        _offered(point, given or {})
        return Target(point, language, given)
    asked = _asked(question, given)
    there = gateway.points.get(suffix_of(name))
    chain, internal = (there.chain, there.internal) if there is not None else ((), False)
    questions = {"": {QUESTION: asked}}
    point = DecisionPoint(name=suffix_of(name), questions=questions, chain=chain, internal=internal)
    return Target(point, language)


def _asked(question: str, given: dict[str, str] | None) -> Predicate | Choice:
    if given is None:
        return Predicate(whole(question))
    try:
        return Choice(whole(question), given)
    except DeclarationError as error:
        raise SetupError.of("--options", str(error), "Correct it") from None


def _offered(point: DecisionPoint, given: dict[str, str]) -> None:
    """
    Check the options *given* beside those that *point* has of its own.

    Raises:
        SetupError: One is the point's own, or together they are too many.

    """
    for question in point.spoken(next(iter(point.questions))).values() if given else ():
        if not isinstance(question, Choice) or not question.open:
            continue
        own = question.options
        clash = [name for name in own if name in given]
        if clash:
            problem = f"{clash[0]!r} is what {point.name} reserves for itself"
            raise SetupError.of("--options", problem, "Leave it out: it is added to yours")
        most = OPTIONS[1] - len(own)
        if len(given) > most:
            added = ", ".join(map(repr, own))
            problem = f"{len(given)} options, and {point.name} adds {added}: {OPTIONS[1]} is most"
            raise SetupError.of("--options", problem, f"Give {most} or fewer")


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
    if path.suffix != ".json" and not _is_file(path):
        return _named([part.strip() for part in given.split(",") if part.strip()], given)
    return _described(json_file(path, f"--options {given}", "Correct it", list), given)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # many names are too long for one of a file
        return False


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
    return {whole(name): whole(text) for name, text in entries}


def _named(names: list[str], given: str) -> dict[str, str]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _unread(given, f"{twice[0]!r} is named twice")
    if not names:
        fix = "Give names with commas (a,b,c), or a JSON file: label → description"
        raise SetupError.of("--options", "there are none", fix)
    return dict.fromkeys(map(whole, names), "")


def _unread(given: str, problem: str) -> SetupError:
    return SetupError.of(f"--options {given}", problem, "Correct it")
