"""Which parameters of a wrapped function are what the deciders are shown."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .errors import DeclarationError, SetupError
from .points import DecisionPoint, OptionsFrom


def taken(point: DecisionPoint, function: Callable[..., Any], where: str) -> dict[str, str]:
    """
    Map state fields to the parameters of *function*; the empty field is the whole state.

    Raises:
        SetupError: Nothing says which of them is the state.
        DeclarationError: The point's rule reads fields, and the state is a text or messages.

    """
    parameters = _parameters(function)
    names = [parameter.name for parameter in parameters]
    fields = {*point.reads, *point.brings, *_option_fields(point)}
    if point.reads and names and set(names) <= fields:
        if point.words and point.words not in names:
            problem = f"{point.name} reads its words from {point.words!r}, which is no parameter"
            raise SetupError.of(where, problem, "Name the parameter so, or pass `ask=`")
        return {name: name for name in names}
    texts = [one.name for one in parameters if _is_text(one, function)]
    if len(texts) == 1:
        _ruled(point, next(one for one in parameters if one.name == texts[0]))
        return {"": texts[0]}
    found = f"it has {len(texts)}: {', '.join(texts)}" if texts else "it has none"
    problem = f"without `ask`, exactly one parameter must be text or messages; {found}"
    raise SetupError.of(where, problem, "Pass `ask=` or `lens=` to say what the deciders are shown")


def _ruled(point: DecisionPoint, whole: inspect.Parameter) -> None:
    if point.after is not None and whole.annotation is not inspect.Parameter.empty:
        problem = f"its rule reads a mapping of fields, and {whole.name!r} is a text or messages"
        raise DeclarationError(f"{point.name}: {problem}: pass `ask=` or `state=`")


def functions(point: DecisionPoint, given: Mapping[str, Any], of: str = "") -> None:
    """
    Check what is *given* to be called, by name.

    Raises:
        DeclarationError: It cannot be called.
        SetupError: It is async.

    """
    for what, one in given.items():
        if one is not None and not callable(one):
            problem = f"`{of}{what}` is a function of the call; got {type(one).__name__}"
            raise DeclarationError(f"{point.name}: {problem}")
        if inspect.iscoroutinefunction(one) or inspect.iscoroutinefunction(type(one).__call__):
            raise unawaited(point, f"{of}{what}")


def called(point: str, current: object) -> None:
    """
    Check what the host runs today.

    Raises:
        DeclarationError: It cannot be called.

    """
    if current is not None and not callable(current):
        raise DeclarationError(f"{point}: `current` is a function; got {type(current).__name__}")


def settled(point: DecisionPoint, what: str, value: Any) -> Any:  # noqa: ANN401 - the host's own
    """
    Give the *value* that a function of the call gave.

    Raises:
        SetupError: It is awaitable, and nothing awaits it.

    """
    if not inspect.isawaitable(value):
        return value
    if inspect.iscoroutine(value):
        value.close()
    raise unawaited(point, what)


def unawaited(point: DecisionPoint, what: str) -> SetupError:
    """Say that a function of the call, named *what*, is async."""
    fix = "Write a plain `def`; what has to be awaited is read before the call"
    return SetupError.of(point.name, f"`{what}` is async, and nothing awaits it", fix)


def _option_fields(point: DecisionPoint) -> Iterable[str]:
    return (one.field for one in point.options.values() if isinstance(one, OptionsFrom))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    return [one for one in parameters if one.kind not in kinds]


def _is_text(parameter: inspect.Parameter, function: Callable[..., Any]) -> bool:
    hint = parameter.annotation
    if hint is inspect.Parameter.empty:
        return True
    if isinstance(hint, str):
        try:
            hint = eval(hint, getattr(function, "__globals__", {}))  # noqa: S307 - own annotation
        except Exception:  # noqa: BLE001 - exists only for type checkers: read it as a word
            return hint.partition("[")[0] in ("str", "list", "Sequence")
    return hint is str or typing.get_origin(hint) in (list, Sequence) or hint is list
