"""What is noted about assertions of a fact, in words: who is meant, and not by which id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..entries import Asserted
from ..telling import escaped
from .showing import NAME, SHORT

if TYPE_CHECKING:
    from ..store import FactStore

NAMED = 5  # sources that are named of those that a note is about
WORDS: Mapping[str, str] = {
    "unknown_source": "in no registry, below all",
    "quarantined": "left out by quarantine",
    "redacted": "erased",
    "future_dated": "observed in the future",
    "unreadable": "not readable as the policy is now",
    "not_allowed": "taken back by somebody who may not",
    "resolutions_differ": "resolved in two ways at once",
}


def told(store: FactStore, notes: Iterable[str]) -> list[str]:
    """
    Say what *notes* say, a line for each kind.

    Args:
        store: Where the ids that they name are looked up.
        notes: As outcomes and explanations have them: `quarantined:<id>`.

    """
    by_flag: dict[str, list[str]] = defaultdict(list)
    for note in notes:
        flag, _, id_ = note.partition(":")
        by_flag[flag].append(id_)
    return [_line(store, flag, ids) for flag, ids in by_flag.items()]


def _line(store: FactStore, flag: str, ids: list[str]) -> str:
    names = list(dict.fromkeys(_names(store, ids)))
    listed = ", ".join(names[:NAMED])
    more = ", …" if len(names) > NAMED else ""
    words = WORDS.get(flag, flag.replace("_", " "))
    return f"{len(ids):,} {words}: {listed}{more}"


def _names(store: FactStore, ids: Iterable[str]) -> Iterable[str]:
    """Give the source of each, or how its id begins where its content is gone."""
    with store.view() as view:
        for id_ in ids:
            found = view.entry(id_)
            if found is not None and isinstance(found.entry, Asserted):
                yield escaped(found.entry.assertion.source, NAME)
            else:
                yield id_[:SHORT]
