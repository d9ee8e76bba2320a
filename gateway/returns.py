"""
A wrapped function's return type: how an outcome is written into it, and read back.

str, bool, int, float, Enum, Literal, and Optional of these; anything else needs the
`write` and `read` of `Gateway.point`.
"""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from .questions import Choice, Predicate, Question, Score, Value, principal

Write: TypeAlias = Callable[[Any], Any]
Read: TypeAlias = Callable[[Any], Any]

TRUTHS = {"true": True, "false": False, "yes": True, "no": False, "sim": True, "não": False}


class CannotHold(Exception):
    """The return type cannot hold what the question may answer; the text says why."""


def return_hint(function: Callable[..., Any]) -> Any:  # noqa: ANN401 - any type may stand there
    """
    Resolve a function's return annotation, and only that; `Any` if there is none.

    Raises:
        CannotHold: It names something that exists only for type checkers.

    """
    annotations = getattr(function, "__annotations__", {})
    if "return" not in annotations:
        return Any
    holder = types.SimpleNamespace(__annotations__={"return": annotations["return"]})
    try:
        namespace = getattr(function, "__globals__", {})
        hint = typing.get_type_hints(holder, globalns=namespace)["return"]
    except Exception as error:  # noqa: BLE001 - evaluating an annotation may raise anything
        raise CannotHold(f"its return annotation cannot be resolved ({error})") from None
    return _awaited(hint)


def writer(hint: Any, questions: Mapping[str, Question]) -> Write:  # noqa: ANN401 - any type
    """
    Say how an outcome becomes a value of *hint*.

    Raises:
        CannotHold: It cannot, for some answer.

    """
    hint = _bare(hint)
    if hint is Any or hint is object:
        return _same
    if len(questions) > 1:
        if typing.get_origin(hint) in (dict, Mapping) or hint is dict:
            return _same
        main = principal(questions)
        if main is not None:  # the others say more of it; the host's own type holds it alone
            alone = writer(hint, {main: questions[main]})
            return lambda outcome: alone(outcome[main])
        raise CannotHold(f"{_name(hint)} cannot hold several answers")
    (question,) = questions.values()
    if isinstance(question, Choice):
        return _choice_writer(hint, question)
    if isinstance(question, Predicate) and hint is bool:
        return _same
    if isinstance(question, Score) and hint in (int, float):
        return round if hint is int else float
    raise CannotHold(f"{_name(hint)} cannot hold the answer to a {type(question).__name__}")


def _choice_writer(hint: Any, question: Choice) -> Write:  # noqa: ANN401 - any type
    if hint is str:
        return _same
    table: Mapping[str, Any] = {}
    if typing.get_origin(hint) is typing.Literal:
        table = {one: one for one in typing.get_args(hint)}
    elif isinstance(hint, type) and issubclass(hint, enum.Enum):
        valued = {one.value: one for one in hint if isinstance(one.value, str)}
        table = {one.name: one for one in hint} | valued
    elif hint is bool:
        table = TRUTHS
    missing = [option for option in question.options if option not in table]
    if missing:
        raise CannotHold(f"{_name(hint)} cannot hold the option {missing[0]!r}")
    return table.__getitem__


def holds_fields(hint: Any) -> bool:  # noqa: ANN401 - any type
    """Whether a value of *hint* has named fields: a dict, a `Struct`, or nothing is said."""
    hint = _bare(hint)
    if hint is Any or hint is object:
        return True
    origin = typing.get_origin(hint) or hint
    return isinstance(origin, type) and issubclass(origin, Mapping | msgspec.Struct)


def reader(questions: Mapping[str, Question]) -> Read:
    """Say how a host's value is read into the point's vocabulary; None if it is no word of it."""
    if len(questions) > 1:
        return lambda value: _several(questions, value)
    (question,) = questions.values()
    return lambda value: _one(question, value)


def _several(questions: Mapping[str, Question], value: object) -> dict[str, Value | None] | None:
    main = principal(questions)
    if main is not None and not isinstance(value, Mapping):
        said = _one(questions[main], value)
        return (
            None if said is None else {name: said if name == main else None for name in questions}
        )
    if not isinstance(value, Mapping):
        return None
    given = cast("Mapping[str, object]", value)
    return {name: _one(question, given.get(name)) for name, question in questions.items()}


def _one(question: Question, value: object) -> Value | None:
    if isinstance(question, Choice):
        return _option(question, value)
    if isinstance(question, Predicate):
        return value if isinstance(value, bool) else None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number else None  # type: ignore[arg-type]


def _option(question: Choice, value: object) -> str | None:
    names = [value.value, value.name] if isinstance(value, enum.Enum) else [value]
    if isinstance(value, bool):
        names = [name for name, truth in TRUTHS.items() if truth is value]
    said = [one for one in names if isinstance(one, str)]
    exact = next((one for one in said if one in question.options), None)
    return exact or next(filter(None, (_alike(question, one) for one in said)), None)


def _alike(question: Choice, word: str) -> str | None:
    """Read a word in other letters than the option's, where only one can be meant."""
    alike = [one for one in question.options if one.casefold() == word.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def _awaited(hint: Any) -> Any:  # noqa: ANN401 - any type
    """Look through the annotation of a `def` that returns a coroutine."""
    origin = typing.get_origin(hint)
    if isinstance(origin, type) and issubclass(origin, typing.Awaitable):
        return typing.get_args(hint)[-1]
    return hint


def _bare(hint: Any) -> Any:  # noqa: ANN401 - any type
    """Look through Optional, Annotated and NewType."""
    if typing.get_origin(hint) is typing.Annotated:
        return _bare(typing.get_args(hint)[0])
    if isinstance(hint, typing.NewType):
        return _bare(hint.__supertype__)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = [one for one in typing.get_args(hint) if one is not type(None)]
        return _bare(parts[0]) if len(parts) == 1 else hint
    return hint


def _name(hint: Any) -> str:  # noqa: ANN401 - any type
    return getattr(hint, "__name__", None) or str(hint)


def _same(value: Any) -> Any:  # noqa: ANN401 - passes through
    return value
