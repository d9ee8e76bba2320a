"""One question to a person, as that person reads it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec
from rich.text import Text

from .. import screen
from ..describing import kind, outcomes
from ..journal.times import clock
from ..journal.trail import printable, said

if TYPE_CHECKING:
    from ...inbox.entries import Entry, Item, Meanwhile, Resolution, Why
    from ...kinds import Question

Pairs: TypeAlias = "Iterator[tuple[str, str | Text]]"

SHORT = 16  # digits of an id
REASONS, TRANSCRIPT = "reasons", "transcript"  # of a provider's own word, what is known here


def shown(item: Item) -> None:
    """Print a question; it reads well at 80 columns."""
    entry = item.entry
    screen.line((printable(entry.point), "bold"), "  ", _state(item))
    screen.pairs(_about(item))
    if entry.declared:
        _headed("What this call offered is not known, since it could not be asked about")
    for name, question in entry.questions.items():
        _headed(kind(question), printable(name))
        screen.pairs(_question(question))
    if entry.state is not None:
        _headed("State", "JSON" if entry.structured else "words")
        screen.pairs([("", printable(entry.state))])
    transcript = entry.why.said.get(TRANSCRIPT)
    if isinstance(transcript, str) and transcript:
        screen.line()
        told = f"pointsman debate show {shlex.quote(printable(transcript))}"
        screen.line(("what was said: ", screen.FAINT), told)
    if item.resolution is None:
        screen.line()
        names = "".join(f" {printable(name)}=…" for name in entry.questions)
        value = names if len(entry.questions) > 1 else " …"
        screen.line((f"pointsman inbox resolve {entry.id[:SHORT]}{value}", screen.FAINT))


def because(why: Why) -> str:
    """Say why a person is asked: who asks for one, and its codes; else how everybody ended."""
    if why.kind == "escalated":
        who = printable(why.tried[-1].provider) if why.tried else "a provider"
        codes = ", ".join(_words(why.said.get(REASONS)))
        return f"{who} asks for a person{f': {codes}' if codes else ''}"
    tried = _tried(why)
    return f"nobody decided: {tried}" if tried else "nobody was asked"


def left(item: Item) -> str:
    """Say what became of it: a person's word, else what was decided without one."""
    if item.resolution is not None:
        by = f" by {printable(item.resolution.by)}" if item.resolution.by else ""
        return f"resolved{by}: {said(item.resolution.value)}"
    return decided(item.meanwhile)


def decided(meanwhile: Meanwhile | None) -> str:
    """Say what was decided without a person."""
    if meanwhile is None:
        return "not known yet"
    if meanwhile.undecided or not meanwhile.provider:
        safe = "" if meanwhile.outcome is None else f": {said(meanwhile.outcome)} stands"
        return f"nobody decided{safe}"
    return f"{printable(meanwhile.provider)}: {said(meanwhile.outcome)}"


def _state(item: Item) -> tuple[str, str]:
    if item.resolution is None:
        return "waits for a person", screen.OTHER
    return said(item.resolution.value), screen.GOOD


def _about(item: Item) -> Pairs:
    entry = item.entry
    yield "id", entry.id
    yield "waits since" if item.resolution is None else "asked", f"{clock(entry.at)} UTC"
    yield "because", because(entry.why)
    if entry.why.kind == "escalated" and entry.why.tried:
        yield "tried", _tried(entry.why)
    yield from _said(entry.why)
    yield "meanwhile", decided(item.meanwhile)
    if item.resolution is not None:
        yield from _resolution(item.resolution)
    yield from _whom(entry)


def _tried(why: Why) -> str:
    tried = (f"{printable(one.provider)} ended in {printable(one.reason)}" for one in why.tried)
    return ", ".join(tried)


def _said(why: Why) -> Pairs:
    for name, value in why.said.items():
        words = _words(value)
        if name == REASONS and words and why.kind == "escalated":
            continue  # told as what a person is asked for
        text = ", ".join(words) if words else printable(msgspec.json.encode(value).decode())
        yield printable(name), text if words else text.strip('"')


def _words(value: Any) -> list[str]:  # noqa: ANN401 - a provider's own
    if not isinstance(value, list | tuple):
        return []
    each = cast("list[Any]", value)
    return [printable(one) for one in each if isinstance(one, str)]


def _resolution(resolution: Resolution) -> Pairs:
    by = f"{printable(resolution.by)}, " if resolution.by else ""
    yield "resolved", f"{by}{clock(resolution.at)} UTC"
    yield "as", Text(said(resolution.value), screen.GOOD)
    if resolution.note:
        yield "note", printable(resolution.note)


def _whom(entry: Entry) -> Pairs:
    if entry.subject is not None:
        yield "subject", f"{entry.subject} (hash)"
    if entry.state is None:
        how = "its state is not kept: your own records know the decision by its id"
        yield "about", Text(how, screen.FAINT)


def _question(question: Question) -> Pairs:
    yield "", printable(question.instructions)
    if question.when is not None:
        values: Mapping[str, object] = {said(one): one for one in question.when.answers}
        how = f"only where {printable(question.when.question)} is {' or '.join(values)}"
        yield "", Text(how, screen.FAINT)
    if question.advisory:
        yield "", Text("advisory: it may be left out", screen.FAINT)
    listed = outcomes(question) or [("true", ""), ("false", "")]
    for name, text in listed:
        yield f"  {printable(name)}", printable(text)


def _headed(title: str, *more: str) -> None:
    screen.line()
    screen.line((title, screen.FAINT), *[(f"  {one}", "") for one in more if one])
