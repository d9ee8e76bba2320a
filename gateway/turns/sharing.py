"""
Many asks as one: pure functions, for the calls that a turn shares.

Questions are named `<POINT>.<question>` in a shared call; where a point stands in it several
times, `<POINT>.<question>.<n>`, counted from 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from ..errors import DeclarationError
from ..frames import Frame
from ..plugins import Limits
from ..points import DecisionPoint
from ..questions import Ask, Question, Questions, When

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
    drafts = _Drafts()
    alone: list[int] = []
    for at, part in enumerate(parts):
        given = _given(part)
        if given is None:
            alone.append(at)
        elif not any(draft.takes(at, part, given, limits) for draft in drafts.of(given)):
            drafts.add(_Draft(at, part, given), given)
    joints: list[Joint | int] = []
    for draft in drafts.all:
        joints += [*draft.places] if (joint := draft.joint()) is None else [joint]
    return [*joints, *alone]


def alike(one: Mapping[str, Question], other: Mapping[str, Question]) -> bool:
    """Whether two question sets are written alike: the order of levels and options counts."""
    if one is other:
        return True
    pairs, others = list(one.items()), list(other.items())
    return pairs == others and msgspec.json.encode(pairs) == msgspec.json.encode(others)


class _Given(msgspec.Struct, frozen=True):
    """A part's state as its frame has it; *words* apart where they are listed."""

    state: dict[str, Any]
    frame: Frame
    words: Any = None
    field: str = ""  # under which the words stand, which are then equal in all that share a call


class _Drafts:
    """Joints in the making, found by their words: most parts need not try most of them."""

    def __init__(self) -> None:
        self.all: list[_Draft] = []
        self._fields: dict[str, dict[bytes, list[_Draft]]] = {}

    def add(self, draft: _Draft, given: _Given) -> None:
        """Add the draft that *given* begins."""
        self.all.append(draft)
        self._fields.setdefault(given.field, {}).setdefault(_key(given), []).append(draft)

    def of(self, given: _Given) -> Sequence[_Draft]:
        """Give the drafts that may take *given*, in order."""
        if not given.field or self._fields.keys() != {given.field}:
            return self.all
        return self._fields[given.field].get(_key(given), ())


def _key(given: _Given) -> bytes:
    return _encoder.encode(given.state[given.field]) if given.field else b""


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
    field = frame.words or point.words
    merged = _merged(fields, {field: words}, ())
    if merged is None:
        return None
    return _Given(merged, frame, field="" if field in frame.merges else field)


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
        self._asked = len(part.ask.questions)
        self._most = _room(part, given.frame)
        self._entries: dict[bytes, Any] = {}  # what is listed, by how it is written
        self._words: list[bytes] = []  # of each part
        self._length = 0  # of all entries, in characters
        self._list(given.words)

    def takes(self, at: int, part: Part, given: _Given, limits: Limits) -> bool:
        """Take one more part, if it fits."""
        asked = self._asked + len(part.ask.questions)
        if limits.questions is not None and asked > limits.questions:
            return False
        merges = (*self._frame.merges, *given.frame.merges)
        merged = _merged(self._state, given.state, merges)
        if merged is None or self._frame.lists != given.frame.lists:
            return False
        most = self._most + _room(part, given.frame)
        limit = limits.characters
        if (
            limit is not None
            and most > limit  # else there is no need to count exactly
            and self._characters(merged, given.words) > limit
        ):
            return False
        self.places.append(at)
        self._parts.append(part)
        self._state, self._asked, self._most = merged, asked, most
        self._list(given.words)
        return True

    def _list(self, words: object) -> None:
        written = _encoder.encode(words)
        self._words.append(written)
        if written not in self._entries:
            self._entries[written] = words
            self._length += len(written.decode())

    def _characters(self, state: Mapping[str, Any], words: object) -> int:
        """How long the text is with *state*, and *words* too."""
        written = _encoder.encode(words)
        new = written not in self._entries
        if len(self._entries) + new == 1:
            return _length(_listed(state, [words], self._frame))
        length = self._length + (len(written.decode()) if new else 0)
        commas = len(self._entries) + new - 1
        return _length(_listed(state, [], self._frame)) + length + commas

    def joint(self) -> Joint | None:
        """Build the ask; None where there is nothing to share, or it cannot be built."""
        if len(self._parts) == 1:
            return None
        names, prefixes = self._named()
        position = {written: at for at, written in enumerate(self._entries)}
        questions: dict[str, Question] = {}
        owners: dict[str, tuple[int, str]] = {}
        for at, (part, named) in enumerate(zip(self._parts, names, strict=True)):
            about = ""
            if self._frame.lists and len(position) > 1:
                about = f"{self._frame.lists}[{position[self._words[at]]}]: "
            for own, question in part.ask.questions.items():
                owners[named[own]] = at, own
                questions[named[own]] = _renamed(question, named, about)
        try:
            state = _listed(self._state, list(self._entries.values()), self._frame)
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
        met = dict.fromkeys(prefixes, -1)
        for part in self._parts:
            prefix = f"{part.point.name}."
            met[prefix] += 1
            n = f".{met[prefix]}" if len(prefixes[prefix]) > 1 else ""
            names.append({own: f"{prefix}{own}{n}" for own in part.ask.questions})
        return names, prefixes


def _room(part: Part, frame: Frame) -> int:
    return len(part.ask.text) + len(frame.words) + len(frame.lists) + ROOM


def _length(state: Mapping[str, Any]) -> int:
    return len(_encoder.encode(state).decode())


def _listed(state: Mapping[str, Any], entries: Sequence[Any], frame: Frame) -> dict[str, Any]:
    """Add the entries that the frame lists; where there is one only, as the words."""
    if not frame.lists:
        return dict(state)
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
