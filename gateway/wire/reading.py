"""
How a success is read, whatever its dialect: one unreadable answer leaves the others.

First strictly and fast; where that fails, the answers stay raw and each is read alone.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import msgspec

from ..answers import RawAnswer, Reply, Unread
from ..errors import NoAnswer, Reason
from ..questions import Ask, Question
from .bills import Bill
from .faults import UNREADABLE, fault_inside

MARK = "not-a-finite-number"  # a text where a number should stand
_LITERALS = re.compile(rb'"(?:[^"\\]|\\.)*+"|-?Infinity|NaN', re.DOTALL)
_bill = msgspec.json.Decoder(Bill)

Loose = TypeVar("Loose", bound=Bill)
Strict = TypeVar("Strict", bound=Bill)
Given = TypeVar("Given")


class Key:
    """
    A name in a JSON object; each is its own, so that one that comes twice is seen twice.

    Attributes:
        name: As written.

    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def keyed(kind: type, value: object) -> object:
    """Decode keys, for msgspec's `dec_hook`."""
    if kind is not Key or not isinstance(value, str):
        raise NotImplementedError
    return Key(value)


def replied(read: Callable[[Ask, bytes], Reply], ask: Ask, body: bytes) -> Reply:
    """
    Read a success.

    Raises:
        NoAnswer: As *read* does, with what the call cost all the same.

    """
    try:
        return read(ask, body)
    except NoAnswer as fault:
        raise NoAnswer(fault.reason, operator=fault.operator, reply=_billed(body)) from None


def _billed(body: bytes) -> Reply | None:
    try:
        bill = _bill.decode(body)
    except UNREADABLE:
        return None
    return Reply((), bill.model or "", bill.used(), bill.id)


def response(
    body: bytes, strict: msgspec.json.Decoder[Strict], loose: msgspec.json.Decoder[Loose]
) -> Strict | Loose:
    """
    Decode all, or all but the answers.

    Raises:
        NoAnswer: `malformed`, `invalid_number` for a literal NaN outside the answers,
            for an error inside a success what its codes say, else `provider_error`.

    """
    try:
        read: Strict | Loose = strict.decode(body)
    except UNREADABLE:
        read = _loosely(body, loose)
    if read.failed:
        raise fault_inside(body)
    return read


def _loosely(body: bytes, loose: msgspec.json.Decoder[Loose]) -> Loose:
    with contextlib.suppress(*UNREADABLE):
        return loose.decode(body)
    with contextlib.suppress(*UNREADABLE):
        if _bill.decode(body).failed:
            raise fault_inside(body)
    readable = marked(body)
    if readable is None:
        raise NoAnswer(Reason.MALFORMED)
    with contextlib.suppress(*UNREADABLE):
        return loose.decode(readable)
    raise NoAnswer(Reason.INVALID_NUMBER)


def marked(body: bytes) -> bytes | None:
    """Write MARK for each literal NaN or Infinity; None where that is not what is wrong."""
    literals: list[str] = []
    try:
        json.loads(body, parse_constant=literals.append)
    except (ValueError, RecursionError):
        return None
    return _LITERALS.sub(_mark, body) if literals else None


def _mark(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].startswith(b'"') else f'"{MARK}"'.encode()


def entry(
    read: Callable[[Given, Question | None], RawAnswer], given: Given, question: Question | None
) -> RawAnswer:
    """Read one answer; one that cannot be read is `Unread`."""
    try:
        return read(given, question)
    except UNREADABLE:
        spoilt = isinstance(given, msgspec.Raw) and MARK.encode() in bytes(given)
        return Unread(Reason.INVALID_NUMBER if spoilt else Reason.MALFORMED)
    except NoAnswer as fault:
        return Unread(fault.reason)


def sure(confidence: float | None, probabilities: Collection[object] | None) -> float | None:
    """Read a confidence; 0 without a distribution is how gateways say that there is none."""
    return None if confidence == 0 and not probabilities else confidence


def by_level(
    given: Sequence[tuple[int | None, str | None, float]], levels: Sequence[str]
) -> list[float] | None:
    """
    Order (level, label, probability) by level; one left out counts as 0, as for options.

    Raises:
        NoAnswer: `inconsistent` for a level that comes twice, or under the label of another;
            `undeclared_option` for one that nobody asked.

    """
    if not given or not levels:
        return None
    named: dict[int, float] = {}
    for level, label, probability in given:
        if level is None or not 0 <= level < len(levels):
            raise NoAnswer(Reason.UNDECLARED_OPTION)
        if level in named or (label != levels[level] and label in levels):
            raise NoAnswer(Reason.INCONSISTENT)
        named[level] = probability
    return [named.get(level, 0.0) for level in range(len(levels))]
