"""What persons said in the inbox meanwhile, taken before a command looks at a dispute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....gateway.cli import screen

if TYPE_CHECKING:
    from ..store import FactStore


def heed(store: FactStore) -> None:
    """Take what persons said; tell of each word that does not count, and why."""
    for one in store.disputes.heard():
        if one.ending != "resolved":
            what = f"What was said in the inbox about {one.dispute} does not count"
            screen.note((f"{what}: {one.why.replace('_', ' ')}.", screen.FAINT))
