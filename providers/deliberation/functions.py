"""
Functions of the host's as members: `Gateway.from_env(plugins=[members(analyst=analyst)])`.

A function takes a `Draft` and returns what it says, so one function serves where typed answers
are wanted and where something is to be written. It runs on the loop of the deliberation.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, cast

import msgspec

from ...gateway.answers import (
    Chosen,
    Held,
    RawAnswer,
    Refused,
    Reply,
    Scored,
    Stated,
    Unread,
)
from ...gateway.errors import DeclarationError, NoAnswer, Reason
from ...gateway.plugins import Call, Draft, Limits, Make, Offer, Provider, Setup, Written, hookimpl
from ...gateway.questions import Ask, Predicate, Question, Score, principal
from .drafts import handed, own

Speaks: TypeAlias = Callable[[Draft], Any]
"""
`async def fn(draft)`, or an asynchronous generator, each of whose values replaces the former.

What it returns for a typed ask (`draft.task == "answer"`, `draft.questions` says what is asked):
an option, a truth, a number on the score's scale, for a predicate also the probability that it is
true; that and a confidence, `("billing", 0.9)`; a mapping question → one of these; a `Reply`; or
None, which abstains. For anything else: a mapping or a struct that fits `draft.schema`, or the
JSON text itself.
"""

RAW = (Chosen, Held, Stated, Scored, Refused, Unread)


class Functions:
    """A plug-in whose providers are functions; made by `members`."""

    def __init__(self, functions: Mapping[str, Speaks]) -> None:
        self._functions = functions

    @hookimpl
    def pointsman_providers(self) -> Sequence[Offer]:
        """Offer each function; it has no threshold of its own."""
        return [
            Offer(name, partial(_make, function), minimum=0.0)
            for name, function in self._functions.items()
        ]


def members(**functions: Speaks) -> Functions:
    """
    Offer asynchronous functions as providers, each under the name it is given by.

    Raises:
        DeclarationError: None is given, a name is none that a variable could say, or one is not
            asynchronous.

    """
    if not functions:
        raise DeclarationError("members(…) takes functions by name: members(analyst=analyst)")
    for name, function in functions.items():
        if not re.fullmatch("[a-z0-9][a-z0-9_]*", name):
            raise DeclarationError(f"{name!r}: call a member by lower-case letters, digits and _")
        if not (_waits(function) or _streams(function)):
            raise DeclarationError(f"{name!r} is not asynchronous: declare it `async def`")
    return Functions(functions)


def _waits(function: Any) -> bool:  # noqa: ANN401 - whatever was given
    return inspect.iscoroutinefunction(function) or (
        not inspect.isfunction(function)
        and inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
    )


def _streams(function: Any) -> bool:  # noqa: ANN401 - the same
    return inspect.isasyncgenfunction(function) or (
        not inspect.isfunction(function)
        and inspect.isasyncgenfunction(getattr(function, "__call__", None))  # noqa: B004
    )


def _make(function: Speaks) -> Make:
    return partial(_provider, function)


def _provider(function: Speaks, setup: Setup) -> Provider:
    made = Streaming if _streams(function) else Speaking
    return made(setup.name, function)


class Speaking:
    """A coroutine function as a provider that answers and writes."""

    model = ""
    limits = Limits()

    def __init__(self, name: str, function: Speaks) -> None:
        self.name, self._function = name, function

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """Ask the function as a draft with the ask's questions."""
        return reply_of(ask, await self._function(asked_as_draft(ask)))

    async def write(self, draft: Draft, call: Call) -> Written:
        """Let the function write."""
        return written_of(await self._function(handed(draft)))


class Streaming:
    """An asynchronous generator function as a provider that answers and writes in parts."""

    model = ""
    limits = Limits()

    def __init__(self, name: str, function: Speaks) -> None:
        self.name, self._function = name, function

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """Ask the function as a draft with the ask's questions; its last value counts."""
        said: object = None
        async for value in self._function(asked_as_draft(ask)):
            said = value
        return reply_of(ask, said)

    async def write(self, draft: Draft, call: Call) -> AsyncIterator[Written]:
        """Let the function write, part by part."""
        async for value in self._function(handed(draft)):
            yield written_of(value)


def asked_as_draft(ask: Ask) -> Draft:
    """Write a typed *ask* as the draft that a function is handed."""
    asked = "\n".join(question.instructions for question in ask.questions.values())
    return Draft(
        task="answer",
        instructions=asked,
        state=own(ask.state, ask.text),
        schema={},
        questions=ask.questions,
    )


def written_of(value: object) -> Written:
    """
    Take what a function gave as what it wrote; whether that fits is found out by who asked.

    Raises:
        NoAnswer: `abstained` for None; `malformed` for what is no JSON.

    """
    if isinstance(value, Written):
        return value
    if value is None:
        raise NoAnswer(Reason.ABSTAINED)
    if isinstance(value, str):
        return Written(text=value)
    try:
        return Written(text=json.dumps(msgspec.to_builtins(value), ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        raise NoAnswer(Reason.MALFORMED) from None


def reply_of(ask: Ask, value: object) -> Reply:
    """
    Take what a function gave as its reply; whether it is valid is found out by acceptance.

    Raises:
        NoAnswer: `abstained` for None.

    """
    if isinstance(value, Reply):
        return value
    if value is None:
        raise NoAnswer(Reason.ABSTAINED)
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        return Reply({name: _raw(ask.questions.get(name), one) for name, one in given.items()})
    asked = next(iter(ask.questions)) if len(ask.questions) == 1 else principal(ask.questions)
    answers: dict[str, RawAnswer] = dict.fromkeys(ask.questions, Unread(Reason.INCOMPLETE))
    if asked is not None:
        answers[asked] = _raw(ask.questions[asked], value)
    return Reply(answers)


def _raw(question: Question | None, value: Any) -> RawAnswer:  # noqa: ANN401 - any value
    if isinstance(value, RAW):
        return value
    pair: tuple[Any, ...] = (value, None)
    if isinstance(value, tuple):
        pair = value  # pyright: ignore[reportUnknownVariableType]
    if len(pair) != 2:  # noqa: PLR2004 - a value and how sure it is
        return Unread(Reason.MALFORMED)
    return _sure(question, *pair)


def _sure(question: Question | None, said: Any, sure: float | None) -> RawAnswer:  # noqa: ANN401
    """Read a value by its own type; one of the wrong type is refused by acceptance."""
    if isinstance(said, bool):
        return Stated(said) if sure is None else Held(sure if said else 1.0 - sure)
    if isinstance(said, int | float):
        if isinstance(question, Predicate):
            return Held(said)
        at = question.index(said) if isinstance(question, Score) else said
        return Scored(at, None, sure)
    return Chosen(said, None, sure)
