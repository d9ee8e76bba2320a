"""Many entries at once, and how others get their turn meanwhile."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ....gateway.journal.database import Database
from ..entries import AnyEntry
from ..errors import Refused
from .writing import SPAN, Writing

REST = 0.25  # of a transaction's time in which others find the database free
SHORT, LONGEST = 0.02, 0.1  # seconds: below the one it does not matter; at most the other


class Loaded(NamedTuple):
    """
    What became of many entries.

    Attributes:
        new: How many were written.
        there: How many were there already.
        refused: What was not written: its number from 0, and why.

    """

    new: int
    there: int
    refused: tuple[tuple[int, Refused], ...]


@contextmanager
def pausing(database: Database) -> Generator[None]:
    """Rest behind a long transaction: SQLite has no queue, and others look now and then."""
    began = time.monotonic()
    yield
    if database.file is not None:
        took = time.monotonic() - began
        time.sleep(min(REST * took, LONGEST) if took > SHORT else 0)


def written(
    writing: Writing, some: Sequence[AnyEntry], first: int
) -> tuple[int, int, list[tuple[int, Refused]]]:
    """
    Write *some*, or as many of them as a transaction has time for, and one at least.

    Returns:
        How many were looked at, how many of these are new, and what is refused, by number from
        *first*.

    """
    until = time.monotonic() + SPAN
    done = new = 0
    refused: list[tuple[int, Refused]] = []
    for done, entry in enumerate(some, 1):
        try:
            new += writing.append(entry).new
        except Refused as fault:
            refused.append((first + done - 1, fault))
        if time.monotonic() > until:
            break
    return done, new, refused
