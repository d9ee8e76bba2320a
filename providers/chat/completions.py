"""
What a chat server says, read: the object that the model wrote, and what it cost.

A model may think aloud in front of its answer, or put it in a fence; both are taken off. Anything
else around the object, or a second value of one key, makes it unreadable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import msgspec

from ...gateway.answers import Reply, Usage
from ...gateway.errors import NoAnswer, Reason
from ...gateway.wire.bills import NO_ERROR, money
from ...gateway.wire.faults import UNREADABLE, fault_inside

THOUGHTS = ("<think>", "</think>")
FENCE = "```"
_BLANKS = re.compile(r"[ \t\r\n]*")
_FENCED = re.compile(r"```\w*[ \t\r\n]*")


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None


class _Said(msgspec.Struct, frozen=True):
    message: _Message
    finish_reason: str | None = None
    logprobs: msgspec.Raw = NO_ERROR
    error: msgspec.Raw = NO_ERROR


class _Completion(msgspec.Struct, frozen=True):
    choices: Sequence[_Said]


class _Used(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: str | float | None = None


class _Bill(msgspec.Struct, frozen=True):
    model: str | None = None
    usage: _Used | None = None
    error: msgspec.Raw = NO_ERROR


class Written(msgspec.Struct, frozen=True):
    """
    What a model wrote.

    Attributes:
        text: As it was written.
        logprobs: Of its tokens, as JSON; `null` where the server sent none.

    """

    text: str
    logprobs: msgspec.Raw


def written(body: bytes) -> Written:
    """
    Read what the model wrote.

    Raises:
        NoAnswer: `refused`, `incomplete` where it was cut off, `malformed` for all that is no
            answer; for an error inside a success what its codes say, else `provider_error`.

    """
    if _billed(body).error != NO_ERROR:
        raise fault_inside(body)
    try:
        said, *_ = msgspec.json.decode(body, type=_Completion).choices
    except (*UNREADABLE, ValueError):
        raise NoAnswer(_why_unreadable(body)) from None
    if said.error != NO_ERROR or said.finish_reason == "error":
        raise fault_inside(b'{"error":%b}' % bytes(said.error))
    if said.message.refusal or said.finish_reason == "content_filter":
        raise NoAnswer(Reason.REFUSED)
    if said.finish_reason == "length":
        raise NoAnswer(Reason.INCOMPLETE)
    if not said.message.content:
        raise NoAnswer(Reason.MALFORMED)
    return Written(said.message.content, said.logprobs)


def _why_unreadable(body: bytes) -> Reason:
    """Tell a literal NaN or Infinity, which some servers write, from other unreadable bodies."""
    try:
        json.loads(body, parse_constant=_no_number)
    except NoAnswer as fault:
        return fault.reason
    except (ValueError, RecursionError):
        pass
    return Reason.MALFORMED


def bill(body: bytes) -> Reply:
    """Read the model and what it used, whatever it wrote; no answers."""
    billed = _billed(body)
    if billed.usage is None:
        return Reply({}, billed.model or "")
    used, cost = billed.usage, billed.usage.cost
    usage = Usage(
        used.prompt_tokens or 0, used.completion_tokens or 0, None if cost is None else money(cost)
    )
    return Reply({}, billed.model or "", usage)


def _billed(body: bytes) -> _Bill:
    try:
        return msgspec.json.decode(body, type=_Bill)
    except UNREADABLE:
        return _Bill()


class Found(NamedTuple):
    """A value of an object, and the character that it begins at."""

    value: Any
    at: int


def values(text: str) -> Mapping[str, Found]:
    """
    Read the one object in *text*.

    Raises:
        NoAnswer: `malformed`; `invalid_number` for a NaN; `mismatched` where a key comes twice.

    """
    try:
        found, end = _object(text, _begins(text))
    except (ValueError, RecursionError):
        raise NoAnswer(Reason.MALFORMED) from None
    if text[end:].strip() not in ("", FENCE):
        raise NoAnswer(Reason.MALFORMED)
    return found


def bare(text: str) -> str:
    """
    Take thoughts and a fence off what was written; what is left is not read.

    Raises:
        NoAnswer: `malformed`: thoughts that do not end, or nothing besides.

    """
    try:
        left = text[_begins(text) :].strip()
    except ValueError:
        raise NoAnswer(Reason.MALFORMED) from None
    if not (left := left.removesuffix(FENCE).strip()):
        raise NoAnswer(Reason.MALFORMED)
    return left


def _begins(text: str) -> int:
    """Say where the object begins, behind thoughts and a fence."""
    at = _next(text, 0)
    if text.startswith(THOUGHTS[0], at):
        at = _next(text, text.index(THOUGHTS[1]) + len(THOUGHTS[1]))
    fence = _FENCED.match(text, at)
    return at if fence is None else fence.end()


def _next(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    assert blanks is not None  # none at all is a match too
    return blanks.end()


def _object(text: str, at: int) -> tuple[dict[str, Found], int]:
    """Read the object at *at*, and say where it ends."""
    found: dict[str, Found] = {}
    at = _past(text, at, "{")
    while text[at : at + 1] != "}":
        if found:
            at = _past(text, at, ",")
        key, end = _decoder.raw_decode(text, at)
        begins = _past(text, end, ":")
        value, end = _decoder.raw_decode(text, begins)
        if not isinstance(key, str):
            raise NoAnswer(Reason.MALFORMED)
        if key in found:
            raise NoAnswer(Reason.MISMATCHED)
        found[key] = Found(value, begins)
        at = _next(text, end)
    return found, at + 1


def _past(text: str, at: int, mark: str) -> int:
    """Go past *mark*, which must come next, and past blanks."""
    at = _next(text, at)
    if text[at : at + 1] != mark:
        raise ValueError
    return _next(text, at + 1)


def _no_number(_: str) -> NoReturn:
    raise NoAnswer(Reason.INVALID_NUMBER)


_decoder = json.JSONDecoder(parse_constant=_no_number)
