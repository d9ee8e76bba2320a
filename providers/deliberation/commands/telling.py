"""What an entry of a transcript says, in few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ....gateway.answers import Answer
from ..turns import Turn

SHORT = 48  # characters of a value that stands among others
FIRST = (  # what is told first of what was said
    "recommendation",
    "option",
    "point_estimate",
    "keeps",
    "maintains",
    "confidence",
    "stance",
)
MAIN = ("position", "answer", "summary", "rationale", "reasoning", "remarks", "text")
"""Fields that hold what was said in sentences, the most telling first."""


def printable(text: str) -> str:
    """Put a blank for each end of a line, and U+FFFD for what would steer a terminal."""
    flat = " ".join(text.split())
    return "".join(one if one.isprintable() else "\ufffd" for one in flat)


def short(value: object) -> str:
    """Write a value on one line; what is longer is cut."""
    text = _text(value)
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return ", ".join(f"{printable(str(name))} {_text(one)}" for name, one in pairs)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(map(_text, cast("Sequence[object]", value)))
    return printable(str(value))


def fields(body: Mapping[str, Any], *, without: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Name what a body holds, each with its value on one line; what is empty is left out."""
    for name, value in body.items():
        if name in without or value is None or value in ("", [], {}):
            continue
        yield printable(name), short(value)


def facts(body: Mapping[str, Any], *, without: Sequence[str] = ()) -> str:
    """Write a body on one line."""
    return " · ".join(f"{name} {value}" for name, value in fields(body, without=without))


def stand_of(turn: Turn) -> str:
    """Write where a turn stands: the option, the number, the answers; empty if it says none."""
    if turn.answers:
        return ", ".join(f"{name} {_answer(one)}" for name, one in turn.answers.items())
    said = turn.said or {}
    return next((short(said[name]) for name in FIRST[:3] if name in said), "")


def _answer(answer: Answer) -> str:
    if answer.source in ("missing", "current"):
        return short(answer.value)
    return f"{short(answer.value)} ({answer.confidence:.2f})"


def headline(turn: Turn) -> str:
    """Write what a turn comes to."""
    stand = stand_of(turn)
    said = turn.said or {}
    more = [f"{name} {short(said[name])}" for name in FIRST[3:] if name in said]
    return " · ".join(part for part in (stand, *more) if part)


def sentences(turn: Turn, *, full: bool) -> Iterator[tuple[str, str]]:
    """Give what a turn says at length: all of it, or the one field that tells most."""
    said = turn.said or {}
    if full:
        for name, value in said.items():
            if name not in FIRST and value not in ("", [], {}, None):
                yield name, _text(value)
        return
    main = next((name for name in MAIN if isinstance(said.get(name), str)), None)
    if main is not None:
        yield main, printable(said[main])


def seats(header: Mapping[str, Any]) -> str:
    """Name the members of a header, each with its provider."""
    return ", ".join(map(_seat, header.get("members", ())))


def _seat(member: object) -> str:
    if isinstance(member, Mapping):
        given = cast("Mapping[str, Any]", member)
        names = [given.get("name", ""), given.get("provider", "")]
    elif isinstance(member, str):
        names = [member]
    else:
        names = list(cast("Sequence[Any]", member))[:2]
    told = list(dict.fromkeys(printable(str(one)) for one in names if one))
    return "=".join(told)
