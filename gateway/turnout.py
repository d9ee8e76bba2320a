"""Who had a part in one answer of several, and who was missing, as its notes tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from .errors import Reason

if TYPE_CHECKING:
    from .records import Attempt

REASONS = frozenset(map(str, Reason))
STOP = "stop"  # `stop.timeout` says why a debate ended, and is nobody's


class Turnout(msgspec.Struct, frozen=True):
    """
    How many of those who were to answer did.

    Attributes:
        responded: Whose answers count.
        expected: How many there should be.
        missing: Who has none that counts → why.

    """

    responded: int
    expected: int
    missing: Mapping[str, str]

    def __str__(self) -> str:
        absent = ", ".join(f"{who} {why}" for who, why in self.missing.items())
        told = f"responded {self.responded} of {self.expected}"
        return f"{told}: {absent}" if absent else told


def turnout(attempts: Iterable[Attempt]) -> Turnout | None:
    """Give that of the first of *attempts* in which several had a part; None: there is none."""
    return next(filter(None, (_read(one.notes or {}) for one in attempts)), None)


def _read(notes: Mapping[str, float]) -> Turnout | None:
    if "responded" not in notes or "expected" not in notes:
        return None
    pairs = ((who, why) for who, _, why in (name.rpartition(".") for name in notes))
    missing = {who: why for who, why in pairs if who and who != STOP and why in REASONS}
    return Turnout(int(notes["responded"]), int(notes["expected"]), missing)
