"""How the journal of one process does, for who watches it."""

from __future__ import annotations

from typing import Literal

import msgspec


class Backlog(msgspec.Struct, frozen=True):
    """
    What one process has not brought into the database.

    Attributes:
        fault: What does not write now; None: nothing that is known. Nobody knows before the
            first entry.
        waiting: Entries in memory and rows in the spool.
        lost: Entries that were put and can never be read.

    """

    fault: Literal["spool_down", "database_down"] | None = None
    waiting: int = 0
    lost: int = 0
