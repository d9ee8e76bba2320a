"""What is asked by the command: a point of the catalogue, or a question given ad hoc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ..errors import DeclarationError, SetupError
from ..gateway import Gateway
from ..kinds import OPTIONS
from ..offering import OptionsFrom
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
        return self.about({**(fields or {}), self.point.words: words})

    def unread(self, state: object) -> list[str]:
        """
        Name the fields of a whole *state* that the point takes no notice of.

        Raises:
            SetupError: It holds nothing that the point reads, or lacks what its questions or
                their options are made from.

        """
        reads = self.point.reads
        if not reads:
            return []
        fields = self._fields(state)
        if not any(name in fields for name in reads):
            raise self._unlike(f"it has {', '.join(map(repr, fields)) or 'nothing'}")
        self.need_options(fields)
        if len(self._listings) < len(self.point.options):
            return []  # what it takes notice of is its own affair
        used = {*reads, *self._made_from}
        return [name for name in fields if name not in used]

    @property
    def _listings(self) -> list[OptionsFrom]:
        return [one for one in self.point.options.values() if isinstance(one, OptionsFrom)]

    @property
    def _made_from(self) -> set[str]:
        """The fields that decide what is asked, whether they are sent or not."""
        point = self.point
        return {
            *(one.field for one in self._listings),
            *(one.field for one in point.repeats.values()),
            *point.asked_with.values(),
            *(path.partition(".")[0] for path in point.needs.values()),
        }

    def _fields(self, state: object) -> dict[str, Any]:
        if isinstance(state, dict):
            return cast("dict[str, Any]", state)
        if not isinstance(state, str):
            raise self._unlike("it is no object")
        if not self.point.words:
            raise self._unlike("it is words alone")
        return {self.point.words: state}

    def _unlike(self, problem: str) -> SetupError:
        words = ", or words with --text" if self.point.words else ""
        wanted = f"Give an object with {', '.join(self.point.reads)}{words}"
        return SetupError.of("the state", f"{problem}, and {self.point.name} reads fields", wanted)

    def need_options(self, *states: dict[str, Any]) -> None:
        """
        Make sure that options come from somewhere, and that there is something to ask about.

        Raises:
            SetupError: There is no --options, and no state among *states* that lists them; or
                none has an entry for a question that is repeated.

        """
        name = self.point.name
        for repeat in self.point.repeats.values():
            if not any(state.get(repeat.field) for state in states):
                problem = f"it asks about each entry of {repeat.field!r}, and there is none"
                raise SetupError.of(name, problem, "Give a state that has them, with --state")
        for source in self._listings if self.options is None else ():
            if not any(state.get(source.field) for state in states):
                shape = f'[{{"{source.name}": "…", "{source.description}": "…"}}, …]'
                problem = "its options come with the call, and none are given"
                fix = f"Give --options a,b,c or a file, or a state with {source.field!r}: {shape}"
                raise SetupError.of(name, problem, fix)

    def about(self, state: object) -> Ask:
        """Build the ask about a whole *state*."""
        if self.options is None or not self.point.options:
            return self.point.ask(state, self.language)
        return offering(self.point, self._fields(state), self.options, self.language)


def offering(
    point: DecisionPoint, state: Mapping[str, Any], options: Mapping[str, str], language: str
) -> Ask:
    """
    Build the ask about *state* with *options* in the place of those that it lists.

    Raises:
        DeclarationError: It cannot be asked so.

    """
    (source,) = point.options.values()
    assert isinstance(source, OptionsFrom)
    entries = [{source.name: key, source.description: text} for key, text in options.items()]
    return point.ask({**state, source.field: entries}, language)


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
        if given is not None:
            _takes_options(point)
        _offered(point, given or {})
        return Target(point, language, given)
    asked = _asked(question, given)
    there = gateway.points.get(suffix_of(name))
    chain, internal = (there.chain, there.internal) if there is not None else ((), False)
    questions = {"": {QUESTION: asked}}
    point = DecisionPoint(name=suffix_of(name), questions=questions, chain=chain, internal=internal)
    return Target(point, language)


def _takes_options(point: DecisionPoint) -> None:
    """
    Make sure that options may be given beside the state.

    Raises:
        SetupError: They are fixed, or made of several fields of the state.

    """
    sources = list(point.options.values())
    if len(sources) == 1 and isinstance(sources[0], OptionsFrom):
        return
    if sources:
        problem, fix = "its options are made from its state", "Give them there, with --state"
    else:
        problem = "its options are fixed"
        fix = "Leave --options out, or give a question of your own with --question"
    raise SetupError.of(point.name, problem, fix)


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
