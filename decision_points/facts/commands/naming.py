"""What is meant by how it begins, or nearly: ids of entries, names of sources and writers."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from ..entries import Asserted
from ..errors import Refused

if TYPE_CHECKING:
    from ..ledger.view import View
    from ..store import FactStore

SHORTEST = 4  # digits of an id that may be enough
CUTOFF = 0.6  # how alike two names are of which one may be meant
BEYOND = "\U0010ffff"  # behind every id that begins so
HISTORY = "`pointsman facts history KEY` shows ids"
QUARANTINES = "`pointsman facts quarantines` shows ids"


def entry_of(store: FactStore, begun: str, kinds: Sequence[str], where: str = HISTORY) -> str:
    """
    Find the id of an entry by how it begins.

    Args:
        store: Whose log is looked at.
        begun: The first digits, at least `SHORTEST`, or all.
        kinds: Of which the entry may be, as the log names them.
        where: What shows such ids.

    Raises:
        Refused: `unknown_id`: none begins so, several do, or they are too few digits.

    """
    wanted = begun.strip().lower()
    if len(wanted) < SHORTEST:
        fix = f"Give {SHORTEST} digits or more: {where}"
        raise Refused("unknown_id", f"{len(wanted)} digits of an id are too few", fix)
    with store.view() as view:
        found = _begun(view, wanted, kinds)
    if len(found) > 1:
        raise Refused("unknown_id", "several ids begin so", f"Give more digits: {where}")
    if not found:
        what = " or ".join(kinds)
        raise Refused("unknown_id", f"nothing {what} has an id that begins so", where)
    return found[0]


def _begun(view: View, wanted: str, kinds: Sequence[str]) -> list[str]:
    named = ", ".join("?" * len(kinds))
    rows = view.line.execute(
        "SELECT id FROM facts_log WHERE namespace = ? AND id >= ? AND id <= ?"  # noqa: S608 - marks
        f" AND kind IN ({named}) AND position <= ? ORDER BY id LIMIT 2",
        (view.namespace, wanted, wanted + BEYOND, *kinds, view.position),
    ).fetchall()
    return [str(row[0]) for row in rows]


def nearest(name: str, known: Iterable[str]) -> str:
    """Give the one of *known* that is most like *name*; empty: none is."""
    by_folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=CUTOFF)
    return by_folded[near[0]] if near else ""


def stranger(store: FactStore, what: str, name: str) -> str | None:
    """
    Say whether a source or a writer never said anything.

    Args:
        store: Whose log is looked at.
        what: `source` or `writer`.
        name: Its name.

    Returns:
        None: it did. Else the nearest of those who did; empty: none is near.

    """
    with store.view() as view:
        if _spoke(view, what, name):
            return None
        said = view.entries(kinds=("asserted",))
        names = {_said(one.entry, what) for one in said if isinstance(one.entry, Asserted)}
    return nearest(name, names - {""})


def _said(entry: Asserted, what: str) -> str:
    return str(getattr(entry.assertion, what))


def _spoke(view: View, what: str, name: str) -> bool:
    text = msgspec.json.encode({what: name}).decode()[1:-1]
    wild = text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    wanted, given = ("source = ?", name) if what == "source" else ("body LIKE ? ESCAPE '!'", wild)
    row = view.line.execute(
        f"SELECT 1 FROM facts_log WHERE namespace = ? AND kind = 'asserted' AND {wanted}"  # noqa: S608 - fixed texts
        " AND position <= ? LIMIT 1",
        (view.namespace, given if what == "source" else f"%{given}%", view.position),
    ).fetchone()
    return row is not None
