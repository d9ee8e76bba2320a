"""What a search of LangGraph's means, without its vectors."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def matches(found: Any, wanted: Any) -> bool:  # noqa: ANN401 - any JSON
    """
    Say whether *found* is as a filter wants it, as LangGraph's own stores do.

    Raises:
        ValueError: The filter has an operator that there is not.

    """
    if not isinstance(wanted, Mapping):
        return bool(found == wanted)
    every = cast("Mapping[str, Any]", wanted)
    if any(name.startswith("$") for name in every):
        return all(_compared(found, name, one) for name, one in every.items())
    inside = cast("Mapping[str, Any]", found if isinstance(found, Mapping) else {})
    return all(matches(inside.get(name), one) for name, one in every.items())


def _compared(found: Any, name: str, wanted: Any) -> bool:  # noqa: ANN401 - any JSON
    if name in ("$eq", "$ne"):
        return bool(found == wanted) == (name == "$eq")
    if name not in _COMPARED:
        raise ValueError(f"a filter has no operator {name!r}: $eq, $ne, {', '.join(_COMPARED)}")
    try:
        return _COMPARED[name](float(found), float(wanted))
    except (TypeError, ValueError):
        return False  # no number: neither more nor less


def fits(labels: Sequence[str], where: str, path: Sequence[str]) -> bool:
    """Say whether a namespace begins (`prefix`) or ends (`suffix`) as *path*; `*` is any label."""
    if len(labels) < len(path):
        return False
    part = labels[: len(path)] if where == "prefix" else labels[len(labels) - len(path) :]
    pairs = zip(part, path, strict=True)
    return all(wanted in ("*", label) for label, wanted in pairs)


def score(query: str, text: str) -> float:
    """Give the share of the query's words that stand in *text*."""
    words = set(_words(query))
    return len(words & set(_words(text))) / len(words) if words else 0.0


def _words(text: str) -> Sequence[str]:
    return re.findall(r"\w+", text.casefold())
