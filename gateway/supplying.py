"""Hybrid points: the host's own path supplies what a provider chooses among."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from .cases import Supplied
from .errors import NothingToAsk, SetupError
from .offering import Given, Hybrid
from .points import DecisionPoint, Language
from .questions import Ask, Outcome, Value
from .returns import Read, Write


def supplying(
    point: DecisionPoint,
    given: object,
    language: Language,
    read: Read | None = None,
    write: Write | None = None,
) -> Callable[[Any], Supplied]:
    """
    Say how the host's value becomes what is asked, and an outcome the host's value again.

    Args:
        point: A hybrid one.
        given: The state of the call, or an `Ask` that holds it.
        language: In which it is asked.
        read: Host's value → extraction, or what the point's own `read` takes.
        write: Merged extraction → host's value; absent: the host's dict with the extraction's
            fields put into it where the host gave one, else the extraction itself.

    """
    assert point.hybrid is not None
    hybrid, state = point.hybrid, _mapping(point, given)

    def supply(value: Any) -> Supplied:  # noqa: ANN401 - the host's own
        extraction = hybrid.read(value if read is None else read(value))
        if extraction is None:
            raise NothingToAsk(f"{point.name}: the function's value supplies nothing")
        if hybrid.complete is not None:
            extraction = hybrid.complete(state, extraction)
        written = write or _written(point, value, extraction)
        ask = point.ask(hybrid.extend(state, extraction), language)

        def answered(outcome: Outcome, confidence: float) -> Any:  # noqa: ANN401 - the host's own
            return written(hybrid.merge(extraction, _by_name(ask, outcome), confidence))

        return Supplied(ask, answered)

    return supply


def outcome_reader(hybrid: Hybrid, read: Read | None) -> Read:
    """Say how what `current` itself decided is read from the host's value."""

    def outcome(value: object) -> Mapping[str, Value | None] | None:
        extraction = hybrid.read(value if read is None else read(value))
        if extraction is None or hybrid.outcome is None:
            return None
        return hybrid.outcome(extraction)

    return outcome


def _mapping(point: DecisionPoint, given: object) -> Given:
    state = given.state if isinstance(given, Ask) else given
    if isinstance(state, Mapping):
        return cast("Given", state)
    return {point.words: state}


def _by_name(ask: Ask, outcome: Outcome) -> Mapping[str, Value | None]:
    if isinstance(outcome, Mapping):
        return outcome
    return dict.fromkeys(ask.questions, outcome)


def _written(point: DecisionPoint, value: object, extraction: object) -> Write:
    if isinstance(value, type(extraction)):
        return _same
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        return lambda merged: {**given, **_plain(merged)}
    problem = f"its function returns {type(value).__name__}, which no answer can be put into"
    raise SetupError.of(point.name, problem, "Pass `write=` to the point")


def _plain(value: Any) -> Any:  # noqa: ANN401 - dicts and lists; the host's values as they were
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    elif isinstance(value, tuple):
        return [_plain(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, Mapping):
        entries: Mapping[Any, Any] = value  # pyright: ignore[reportUnknownVariableType]
        return {key: _plain(one) for key, one in entries.items()}
    return value


def _same(value: Any) -> Any:  # noqa: ANN401 - passes through
    return value
