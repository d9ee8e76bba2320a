"""What a touched fact does to those that rest on it, however far (RF-66)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..keys import FactKey
from .sights import STALE, Projected, Read
from .staleness import stale

if TYPE_CHECKING:
    from ..ledger.view import View


def stale_of(view: View, key: FactKey, at: int) -> str:
    """
    Say whether *key* rests on what no longer holds: `input_changed`, or nothing.

    Args:
        view: A consistent read of the log.
        key: The fact.
        at: The valid time, in microseconds since the epoch.

    """
    sight = Read(view, at)
    if not sight.derived(key):
        return ""
    return STALE if stale([key], sight)[key] else ""


def propagate(view: View, touched: Iterable[FactKey]) -> tuple[tuple[FactKey, bool], ...]:
    """
    Say of which facts the projected staleness has to change, and to what.

    Nothing is deleted: a stale fact keeps its value.

    Args:
        view: What was projected, with the outcomes of *touched* already written.
        touched: Facts whose outcome, or what it rests on, may be another now.

    """
    reached = downstream(view, touched)
    sight = Projected(view, reached)
    found = stale(reached, sight)
    return tuple((key, found[key]) for key in reached if found[key] != sight.flagged(key))


def downstream(view: View, keys: Iterable[FactKey]) -> dict[FactKey, FactKey | None]:
    """
    Give *keys* and every fact that was ever derived from one of them, through others too.

    Returns:
        Fact → the one nearer to *keys* through which it was found; of themselves None.

    """
    found: dict[FactKey, FactKey | None] = dict.fromkeys(keys)
    todo = deque(found)
    while todo:
        key = todo.popleft()
        for other in view.dependents(key):
            if other not in found:
                found[other] = key
                todo.append(other)
    return found
