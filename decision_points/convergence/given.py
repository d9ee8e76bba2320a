"""How the calculators read what they are given, and how they compare numbers with bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypeAlias, TypeVar, cast

import msgspec

from ...gateway.errors import DeclarationError

T = TypeVar("T")
R = TypeVar("R", bound=str)

Percent: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=100)]
"""A confidence or a score, 0–100."""

TOLERANCE: Final = 1e-9
"""AM-07: 0.7 * 100 is 70, not 69.999…; a bound that is met within this is met."""

_VALUE: Final = re.compile(r"^Invalid enum value .*?(?= - at |$)", re.DOTALL)


def taken(point: str, state: Mapping[str, Any], form: type[T]) -> T:
    """
    Read a *state* as *form*, strictly: a text is no number, a flag is no number.

    Raises:
        DeclarationError: A field lacks, is of the wrong kind, out of its range or not
            finite; a rule has an unknown name. It names the field, never its value.

    """
    try:
        given = msgspec.convert(state, form)
    except msgspec.ValidationError as why:
        problem = _VALUE.sub("Not one of its words", str(why))
        raise DeclarationError(f"{point}: {problem}") from None
    if (where := _not_finite(given, "$")) is not None:
        raise DeclarationError(f"{point}: Expected a finite number - at `{where}`")
    return given


def _not_finite(value: object, at: str) -> str | None:
    """Name the first number that is none: ranges alone let NaN pass."""
    if isinstance(value, float):
        return None if math.isfinite(value) else at
    inner = [(f"{at}{step}", one) for step, one in _parts(value)]
    return next((found for where, one in inner if (found := _not_finite(one, where))), None)


def _parts(value: object) -> list[tuple[str, object]]:
    if isinstance(value, msgspec.Struct):
        return [(f".{name}", getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, Mapping):
        return [("[...]", one) for one in cast("Mapping[str, object]", value).values()]
    if isinstance(value, list | tuple):
        several = cast("Sequence[object]", value)
        return [(f"[{place}]", one) for place, one in enumerate(several)]
    return []


def below(value: float, bound: float) -> bool:
    """Whether *value* falls short of *bound*: bands are half-open, unrounded (AM-07)."""
    return value < bound - TOLERANCE


def above(value: float, bound: float) -> bool:
    """Whether *value* is strictly more than *bound*."""
    return value > bound + TOLERANCE


def fired(triggers: Mapping[str, bool]) -> list[str]:
    """Name the triggers that fire, in their order."""
    return [name for name, fires in triggers.items() if fires]


def clamped(value: float) -> float:
    """Hold *value* within 0–100."""
    return min(100.0, max(0.0, value))


def protective(first: R, said: object, order: tuple[R, ...]) -> R:
    """Give the more protective of two routes; *order* lists them, most protective first."""
    return next(one for one in order if one in (first, said))


def meant(said: object, words: tuple[R, ...]) -> R:
    """Give the one of the *words* that was said."""
    return next(one for one in words if one == said)
