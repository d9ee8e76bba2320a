"""The questions of a request about a decision point: they must be the point's, in its names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from ..errors import DeclarationError
from ..offering import KEY
from ..questions import Ask, Choice, Predicate, Question, Questions, Score
from ..state import State
from .faults import Problem

if TYPE_CHECKING:
    from ..points import DecisionPoint
    from ..wire.requests import Asked

KINDS = {Choice: "choice", Predicate: "predicate", Score: "score"}


class Match(NamedTuple):
    """
    A request about a point, as it is asked.

    Attributes:
        ask: With the point's names and in its order.
        asked: The request with the point's names, in its own order, to be answered by.
        shown: Deciders are shown what the point shows them; else no certificate holds.

    """

    ask: Ask
    asked: Asked
    shown: bool = True


def matched(point: DecisionPoint, asked: Asked, language: str) -> Match:
    """
    Ask *point* what the request says, or the point's own questions if it says none.

    Instructions, options and levels are the request's; what a point lays down besides — which
    question waits for which, what a tie is, what abstains — stays.

    Raises:
        Problem: They are not the point's questions, or the state is not what it reads.

    """
    if not asked.questions:
        ask = _own(point, asked.state, language)
        return Match(ask, asked.about(ask.questions))
    declared = point.spoken(language)
    names = _names(point, asked, declared)
    merged = {
        name: _merged(declared[origin_of(point, name, declared)], asked.questions[given])
        for name, given in names.items()
    }
    order = list(declared)
    ordered = sorted(merged, key=lambda name: order.index(origin_of(point, name, declared)))
    state = _projected(point, asked.state)
    try:
        questions = Questions({name: merged[name] for name in ordered}, narrowed=True)
        ask = Ask(asked.state if state is None else state, questions)
    except DeclarationError:
        raise _mismatch(point, declared) from None
    booleans = {
        name: asked.booleans[given] for name, given in names.items() if given in asked.booleans
    }
    asked = msgspec.structs.replace(asked.about(merged), booleans=booleans)
    return Match(ask, asked, state is not None)


def _projected(point: DecisionPoint, state: State) -> State | None:
    """Give what *point* shows of *state* with its own questions; None: it is nothing of its."""
    if not point.reads:
        return state
    if isinstance(state, str):
        return {point.words: state} if point.words else None
    if not isinstance(state, dict):
        return None
    fields = cast("dict[str, Any]", state)
    lacks = point.words and fields.get(point.words) is None
    return None if lacks else {name: fields[name] for name in point.reads if name in fields} or None


def _own(point: DecisionPoint, state: Any, language: str) -> Ask:  # noqa: ANN401 - any JSON
    if point.reads and isinstance(state, dict) and not any(name in state for name in point.reads):
        wanted = ", ".join(point.reads)
        raise Problem(400, "state_mismatch", f"{point.name} reads {wanted}", param="state")
    try:
        return point.ask(state, language)
    except DeclarationError as error:  # of the state: names its fields, never what they hold
        raise Problem(400, "state_mismatch", str(error), param="state") from None


def _names(
    point: DecisionPoint, asked: Asked, declared: Mapping[str, Question]
) -> Mapping[str, str]:
    """Pair the request's questions with the point's, by name, or by position if none has one."""
    if any(name is not None for name in asked.names):
        names = {str(name): given for name, given in zip(asked.names, asked.questions, strict=True)}
    elif len(asked.questions) == len(declared) and not point.repeats:
        names = dict(zip(declared, asked.questions, strict=True))
    else:
        raise _mismatch(point, declared)
    origins = {name: origin_of(point, name, declared) for name in names}
    needed = {name for name in declared if name not in {*point.repeats, *point.asked_with}}
    whole = len(names) == len(asked.questions) and needed <= set(origins.values())
    same = whole and all(
        origin in declared and type(declared[origin]) is type(asked.questions[names[name]])
        for name, origin in origins.items()
    )
    if not same:
        raise _mismatch(point, declared)
    return names


def origin_of(point: DecisionPoint, name: str, declared: Mapping[str, Question]) -> str:
    """Name the declared question that *name* is, or is one of; empty: none."""
    if name in declared and name not in point.repeats:
        return name
    for origin, repeat in point.repeats.items():
        before, _, after = repeat.name.partition(KEY)
        entry = len(name) > len(before) + len(after)
        if entry and name.startswith(before) and name.endswith(after):
            return origin
    return ""


def _merged(declared: Question, given: Question) -> Question:
    """Put the request's words and options into the point's question."""
    if isinstance(declared, Choice) and isinstance(given, Choice):
        kept = declared.sentinel in given.options
        return msgspec.structs.replace(
            declared,
            instructions=given.instructions,
            options=given.options,
            sentinel=declared.sentinel if kept else None,
            abstains=declared.abstains and kept,
            open=False,
        )
    if isinstance(declared, Score) and isinstance(given, Score):
        return msgspec.structs.replace(
            declared, instructions=given.instructions, levels=given.levels
        )
    assert isinstance(given, Predicate)
    said = given if given.true or given.false else declared  # OpenAI's dialect has no place for it
    assert isinstance(said, Predicate)
    return msgspec.structs.replace(
        declared, instructions=given.instructions, true=said.true, false=said.false
    )


def _mismatch(point: DecisionPoint, declared: Mapping[str, Question]) -> Problem:
    asks = ", ".join(
        f"{point.repeats[name].name if name in point.repeats else name} ({KINDS[type(one)]})"
        for name, one in declared.items()
    )
    message = f"{point.name} asks {asks}; ask the same, or nothing; names must be these, or none"
    return Problem(400, "questions_mismatch", message, param="questions")
