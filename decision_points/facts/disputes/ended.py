"""What came of a try at a dispute."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ..entries import Receipt

Ending: TypeAlias = Literal["resolved", "unresolved", "superseded", "refused"]


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """
    What came of settling a dispute.

    Attributes:
        dispute: Its id.
        ending: `resolved`: there is a receipt; `unresolved`: it stays open; `superseded`:
            somebody was first, or the candidates are others; `refused`: the answer may not count.
        receipt: The one that counts, where there is one.
        decision: The id of the decision that was asked for; empty: none was.
        waiting: Whether it waits in the inbox, under that id.
        why: Why it is not resolved, as a code.

    """

    dispute: str
    ending: Ending
    receipt: Receipt | None = None
    decision: str = ""
    waiting: bool = False
    why: str = ""
