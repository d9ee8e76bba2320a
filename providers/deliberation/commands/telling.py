"""What an entry of a transcript says, in few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ....gateway.answers import Answer
from ..turns import Turn

SHORT = 48  # characters of a value that stands among others
LONG = 80  # … of one that goes on in the next line if it has to
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


LEADING = (  # what is told first of what happened
    "lane",
    "route",
    "verdict",
    "score",
    "trigger",
    "recommendation",
    "confidence",
    "votes",
    "reasons",
    "agreed",
    "open",
    "responded",
    "expected",
)
KNOWN = ("point", "round")
"""What the line says already, by its kind and key."""

GLUE = "\u00a0"  # no text holds it once it is printable


def printable(text: str) -> str:
    """Put a blank for each end of a line, and U+FFFD for what would steer a terminal."""
    flat = " ".join(text.split())
    return "".join(one if one.isprintable() else "\ufffd" for one in flat)


def short(value: object, most: int = SHORT) -> str:
    """Write a value on one line; what is longer is cut."""
    text = _text(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


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


def fields(body: Mapping[str, Any], most: int = SHORT) -> Iterator[tuple[str, str]]:
    """Name what a body holds, each with its value on one line; what is empty is left out."""
    for name, value in body.items():
        if value is None or value in ("", [], {}):
            continue
        seconds = name == "seconds" and isinstance(value, float)
        yield printable(name), _seconds(value) if seconds else short(value, most)


def _seconds(value: float) -> str:
    """Write a time by the figures that matter: 0.01, 4.5, 120."""
    return f"{value:.2f}" if value < 1 else f"{value:.3g}"


def facts(body: Mapping[str, Any], most: int = SHORT) -> str:
    """Write a body on one line."""
    return " · ".join(f"{name} {value}" for name, value in fields(body, most))


def event(body: Mapping[str, Any]) -> str:
    """Write what happened on one line: what matters first, and nothing that goes without saying."""
    order = {name: at for at, name in enumerate(LEADING)}
    names = sorted(body, key=lambda name: (order.get(name, len(order)), name))
    told = {name: body[name] for name in names if name not in KNOWN and body[name] is not False}
    if told.get("by") == "current":
        del told["by"]
    if told.get("responded") == told.get("expected"):
        told.pop("expected", None)
    return facts(told, LONG)


def glued(told: str, width: int) -> str:
    """Hold each fact of a line together by `GLUE`, where it is no longer than *width*."""
    given = told.split(" · ")
    ended = [f"{one} ·" for one in given[:-1]] + given[-1:]
    return " ".join(one.replace(" ", GLUE) if len(one) <= width else one for one in ended)


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
