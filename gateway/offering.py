"""
What a call brings to a point's questions: their options, their number, which of them are asked.

Options are programmer's words too: they come from the host's catalogues, never from what
users said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from .errors import DeclarationError, NothingToAsk
from .questions import OPTIONS, Choice, Question, Questions, Value

if TYPE_CHECKING:
    from .points import DecisionPoint

KEY = "{n}"  # where a repeated question's name, instructions and needs say which entry is meant

Given: TypeAlias = Mapping[str, Any]
"""A state as the host gave it, before the fields that a point reads are picked."""


class OptionsFrom(msgspec.Struct, frozen=True):
    """
    Where an open choice finds its options in the state.

    Attributes:
        field: The state field that lists them.
        name: Key of an entry's option name.
        description: Key of its one-line description.

    """

    field: str
    name: str
    description: str

    def __call__(self, question: Choice, given: Given) -> Choice:
        """Close *question* with the options of this call."""
        return question.offering(self.read(given))

    def read(self, state: Given) -> dict[str, str]:
        """
        Read the options of this call.

        Raises:
            DeclarationError: The field is absent, or an entry has no name.

        """
        entries: Any = state.get(self.field)
        try:
            return {entry[self.name]: entry.get(self.description) or "" for entry in entries}
        except (TypeError, KeyError, AttributeError):
            shape = f"[{{{self.name!r}: …, {self.description!r}: …}}, …]"
            raise DeclarationError(f"the state's {self.field!r} must be {shape}") from None


Close: TypeAlias = Callable[[Choice, Given], Choice]
"""Closes an open choice with what this call offers."""


class Repeat(msgspec.Struct, frozen=True):
    """
    A question that is asked once for each entry of a state field.

    Attributes:
        field: A list, whose entries count from 1, or a mapping, gone through by key.
        name: Each one's name; `{n}` stands for the entry, as in the question's instructions
            and in `needs`.

    """

    field: str
    name: str

    def keys(self, given: Given) -> list[str]:
        """
        Name the entries of this call.

        Raises:
            DeclarationError: The field is absent, or neither a list nor a mapping.

        """
        entries = given.get(self.field)
        if isinstance(entries, Mapping):
            return [str(key) for key in entries]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(entries, list | tuple):
            return [str(at + 1) for at in range(len(cast("list[Any]", entries)))]
        raise DeclarationError(f"the state's {self.field!r} must be a list or a mapping")


class Hybrid(msgspec.Struct, frozen=True):
    """
    A point whose provider only chooses: what it chooses among is supplied by `current`.

    The wrapped function runs once: what it returns is the extraction, and the answer where
    the provider is not believed.

    Attributes:
        read: Host's value → extraction; None or an exception where it is none.
        extend: State of the call and extraction → the state that is asked about. Raises
            `DeclarationError` where the extraction must not be used.
        merge: Extraction, question → value, the decision's confidence → what the function
            returns in place of its own value.
        outcome: Extraction → question → value: what `current` itself decided; None where
            the extraction does not say.
        complete: State of the call and extraction → the extraction with what the state knows
            besides; None: as it is.

    """

    read: Callable[[Any], Any]
    extend: Callable[[Given, Any], Given]
    merge: Callable[[Any, Mapping[str, Value | None], float], Any]
    outcome: Callable[[Any], Mapping[str, Value | None]] | None = None
    complete: Callable[[Given, Any], Any] | None = None


class HostMinimum(msgspec.Struct, frozen=True):
    """
    The threshold that a host has of its own, behind the gateway's.

    Applied by the helper that the host calls with the decision, never by the gateway.

    Attributes:
        value: Least confidence or score, in [0, 1]; inclusive.
        why: Where it comes from, and what it holds back.

    """

    value: float
    why: str

    def clears(self, number: float) -> bool:
        """Whether *number* is enough."""
        return number >= self.value


def offered(point: DecisionPoint, asked: Mapping[str, Question], given: Given) -> Questions:
    """
    Build the questions of this call.

    Raises:
        NothingToAsk: None is left.
        DeclarationError: The state lacks what the options need, or offers too many.

    """
    questions: dict[str, Question] = {}
    for name, question in asked.items():
        field = point.asked_with.get(name)
        if field is None or given.get(field):
            questions.update(_built(point, name, question, given))
    if not questions:
        raise NothingToAsk("this call leaves nothing to decide")
    return Questions(questions, narrowed=True)


def _built(
    point: DecisionPoint, name: str, question: Question, given: Given
) -> Iterator[tuple[str, Question]]:
    if name not in point.repeats:
        closed, absent = _closed(point, name, question, given, "")
        yield name, closed.without(absent) if absent and isinstance(closed, Choice) else closed
        return
    repeat = point.repeats[name]
    for key in repeat.keys(given):
        text = question.instructions.replace(KEY, key)
        one = msgspec.structs.replace(question, instructions=text)
        closed, absent = _closed(point, name, one, given, key)
        if isinstance(closed, Choice):
            if len(closed.options) - len(absent) < OPTIONS[0]:
                continue  # with one option left it is no question
            closed = closed.without(absent)
        yield repeat.name.replace(KEY, key), closed


def _closed(
    point: DecisionPoint, name: str, question: Question, given: Given, key: str
) -> tuple[Question, list[str]]:
    """Close a choice, and name its options that are impossible in this call."""
    if not isinstance(question, Choice):
        return question, []
    if name in point.options:
        question = point.options[name](question, given)
    needs = point.needs.items()
    absent = [one for one, path in needs if not _there(given, path, key)]
    return question, [one for one in absent if one in question.options]


def _there(given: Given, path: str, key: str) -> bool:
    """Whether something stands at *path*; 0 and False are values, an empty text is none."""
    value: Any = given
    for step in path.split("."):
        name = key if step == KEY else step
        value = cast("Given", value).get(name) if isinstance(value, Mapping) else None
    return value is not None and value != ""
