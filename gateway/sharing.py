"""
Many asks as one: pure functions, for the calls that a turn shares.

Questions are named `<POINT>.<question>` in a shared call; where a point stands in it several
times, `<POINT>.<question>.<n>`, counted from 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from .errors import DeclarationError
from .frames import Frame
from .plugins import Limits
from .points import DecisionPoint
from .questions import Ask, Question, Questions, When

_encoder = msgspec.json.Encoder(order="deterministic")
ROOM = 16  # characters that a field costs beside its name and value: quotes, commas, brackets
DIGITS = 12  # of the digest in a form


class Part(msgspec.Struct, frozen=True, gc=False):
    """
    One point's ask within a shared call.

    Attributes:
        point: Whose.
        ask: As it would be sent alone.

    """

    point: DecisionPoint
    ask: Ask


class Joint(msgspec.Struct, frozen=True):
    """
    Several parts as one ask.

    Attributes:
        parts: Positions of the parts, as they were given.
        ask: What is sent.
        form: `shared:<digest of the question set>`.
        owners: Wire name → which of *parts*, and the question's own name there.
        prefixes: `<POINT>.` → which of *parts* it stands for.

    """

    parts: Sequence[int]
    ask: Ask
    form: str
    owners: Mapping[str, tuple[int, str]]
    prefixes: Mapping[str, Sequence[int]]


def joined(parts: Sequence[Part], limits: Limits) -> list[Joint | int]:
    """
    Put compatible parts together within *limits*, in order; one that stays alone is its position.

    Parts are compatible when the state fields that they have in common are equal.
    """
    drafts: list[_Draft] = []
    alone: list[int] = []
    for at, part in enumerate(parts):
        given = _given(part)
        if given is None:
            alone.append(at)
        elif not any(draft.takes(at, part, given, limits) for draft in drafts):
            drafts.append(_Draft(at, part, given))
    joints: list[Joint | int] = []
    for draft in drafts:
        joints += [*draft.places] if (joint := draft.joint()) is None else [joint]
    return [*joints, *alone]


class _Given(msgspec.Struct, frozen=True):
    """A part's state as its frame has it; *words* apart where they are listed."""

    state: dict[str, Any]
    frame: Frame
    words: Any = None


def _given(part: Part) -> _Given | None:
    """Read a part's state back from its text, which no caller can change any more."""
    frame, point = part.point.share, part.point
    if frame is None or frame.alone or isinstance(part.ask.state, str):
        return None
    state: Any = msgspec.json.decode(part.ask.text)
    if type(state) is not dict:
        return None
    fields = cast("dict[str, Any]", state)
    if point.words not in fields:
        return None if frame.lists else _Given(fields, frame)
    words = fields.pop(point.words)
    if frame.lists:
        return None if frame.lists in fields else _Given(fields, frame, words)
    merged = _merged(fields, {frame.words or point.words: words}, ())
    return None if merged is None else _Given(merged, frame)


def _same(one: object, other: object) -> bool:
    """Equal as they are written: 1 is not true."""
    return one == other and (type(one) is str or _encoder.encode(one) == _encoder.encode(other))


def _merged(
    one: Mapping[str, Any], other: Mapping[str, Any], merges: Sequence[str]
) -> dict[str, Any] | None:
    """Both, or None where they contradict each other."""
    merged = dict(one)
    for field, value in other.items():
        if field not in one or _same(one[field], value):
            merged[field] = value
        elif field in merges and isinstance(one[field], dict) and isinstance(value, dict):
            inner = _merged(one[field], cast("dict[str, Any]", value), ())
            if inner is None:
                return None
            merged[field] = inner
        else:
            return None
    return merged


class _Draft:
    """A joint in the making."""

    def __init__(self, at: int, part: Part, given: _Given) -> None:
        self.places = [at]
        self._parts = [part]
        self._frame = given.frame
        self._state = given.state
        self._words = [given.words]  # of each part
        self._most = _room(part, given.frame)

    def takes(self, at: int, part: Part, given: _Given, limits: Limits) -> bool:
        """Take one more part, if it fits."""
        asked = sum(len(one.ask.questions) for one in (*self._parts, part))
        if limits.questions is not None and asked > limits.questions:
            return False
        merges = (*self._frame.merges, *given.frame.merges)
        merged = _merged(self._state, given.state, merges)
        if merged is None or self._frame.lists != given.frame.lists:
            return False
        words, most = [*self._words, given.words], self._most + _room(part, given.frame)
        if limits.characters is not None and most > limits.characters:
            text = _encoder.encode(_listed(merged, words, self._frame)).decode()
            if len(text) > limits.characters:
                return False
        self.places.append(at)
        self._parts.append(part)
        self._state, self._words, self._most = merged, words, most
        return True

    def joint(self) -> Joint | None:
        """Build the ask; None where there is nothing to share, or it cannot be built."""
        if len(self._parts) == 1:
            return None
        names, prefixes = self._named()
        entries = _entries(self._words)
        questions: dict[str, Question] = {}
        owners: dict[str, tuple[int, str]] = {}
        for at, (part, named) in enumerate(zip(self._parts, names, strict=True)):
            about = ""
            if self._frame.lists and len(entries) > 1:
                about = f"{self._frame.lists}[{_position(entries, self._words[at])}]: "
            for own, question in part.ask.questions.items():
                owners[named[own]] = at, own
                questions[named[own]] = _renamed(question, named, about)
        try:
            state = _listed(self._state, self._words, self._frame)
            ask = Ask(state, Questions(questions, narrowed=True))
        except DeclarationError:
            return None
        return Joint(self.places, ask, form(questions), owners, prefixes)

    def _named(self) -> tuple[list[dict[str, str]], dict[str, list[int]]]:
        """Own name → wire name of each part; and who stands behind each prefix."""
        prefixes: dict[str, list[int]] = {}
        for at, part in enumerate(self._parts):
            prefixes.setdefault(f"{part.point.name}.", []).append(at)
        names: list[dict[str, str]] = []
        for at, part in enumerate(self._parts):
            prefix = f"{part.point.name}."
            times = prefixes[prefix]
            n = f".{times.index(at)}" if len(times) > 1 else ""
            names.append({own: f"{prefix}{own}{n}" for own in part.ask.questions})
        return names, prefixes


def _room(part: Part, frame: Frame) -> int:
    return len(part.ask.text) + len(frame.words) + len(frame.lists) + ROOM


def _entries(words: Sequence[Any]) -> list[Any]:
    entries: list[Any] = []
    for one in words:
        if not any(_same(one, known) for known in entries):
            entries.append(one)
    return entries


def _position(entries: Sequence[Any], words: object) -> int:
    return next(at for at, one in enumerate(entries) if _same(one, words))


def _listed(state: Mapping[str, Any], words: Sequence[Any], frame: Frame) -> dict[str, Any]:
    """Add the words that the frame lists; where they are all equal, once."""
    if not frame.lists:
        return dict(state)
    entries = _entries(words)
    if len(entries) == 1 and frame.words and frame.words not in state:
        return {**state, frame.words: entries[0]}
    return {**state, frame.lists: entries}


def _renamed(question: Question, named: Mapping[str, str], about: str) -> Question:
    when = question.when
    if when is not None:
        when = When(named[when.question], when.answers)
        question = msgspec.structs.replace(question, when=when)
    if about:
        instructions = f"{about}{question.instructions}"
        question = msgspec.structs.replace(question, instructions=instructions)
    return question


def form(questions: Mapping[str, Question]) -> str:
    """Name a question set by a digest of its wire names and all that its questions say."""
    import hashlib

    content = msgspec.json.encode(sorted(questions.items(), key=_name))
    return f"shared:{hashlib.sha256(content).hexdigest()[:DIGITS]}"


def _name(pair: tuple[str, Question]) -> str:
    return pair[0]
