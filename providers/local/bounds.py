"""
How much of a state is read: a bound on time and memory, whoever wrote it.

Of one text the first `LONGEST` characters count: some 400 words, three times what `minilm` reads
and about what `e5` reads; a mean of more words hardly moves. The longest message of BANKING77,
CLINC150 and SNIPS has 368. What comes later is not seen: split a long document and ask about its
parts if all of it matters.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any, TypeAlias, TypeGuard

Json: TypeAlias = Any

LONGEST = 2_000  # characters of one text
WIDEST = 200  # entries of one list, fields of one object
MOST = 100_000  # characters of a state; an entry counts as at least `EACH`
EACH = 50  # what a field costs to look at, in characters


def bounded(state: Json, cut: Callable[[str], str]) -> Json:
    """
    Copy as much of *state* as is ever read.

    Outer levels come first, so that no list within a field can hide the field beside it. Of a
    long list both ends are kept, since the newest turn may stand at either.

    Args:
        state: Any JSON.
        cut: Shortens one text.

    """
    root = [state]
    waiting: deque[Json] = deque([root])
    left = MOST
    while waiting:
        copy = waiting.popleft()
        if left <= 0:
            copy.clear()
        keys: list[Any] = [*copy] if is_object(copy) else [*range(len(copy))]
        for key in keys:
            copy[key] = one = _short(copy[key], cut) if left > 0 else None
            left -= EACH + _size(one)
            if is_object(one) or is_list(one):
                waiting.append(one)
    return root[0]


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Whether *value* is a JSON object."""
    return isinstance(value, dict)


def is_list(value: Json) -> TypeGuard[list[Json]]:
    """Whether *value* is a JSON array."""
    return isinstance(value, list)


def _size(value: Json) -> int:
    return len(value) if isinstance(value, str) or is_object(value) or is_list(value) else 0


def _short(value: Json, cut: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return cut(value)
    if is_object(value):
        return dict(islice(value.items(), WIDEST))
    return _ends(value) if is_list(value) else value


def _ends(entries: list[Json]) -> list[Json]:
    half = WIDEST // 2
    return [*entries] if len(entries) <= WIDEST else entries[:half] + entries[-half:]
