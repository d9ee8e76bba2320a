"""Whom imported rows are about: they are found later only with the key that hashed them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...journal.places import KEY
from ...journal.rows import DecisionRow, Row

if TYPE_CHECKING:
    from ...journal.journal import JournalSettings
    from ...journal.store import Store

MANY = 100  # of them are looked for: what comes back to its own journal is not told from a few


def hashed(rows: Iterable[Row]) -> set[str]:
    """Go through all rows, and give the hashes of some subjects that they are about."""
    found: set[str] = set()
    for row in rows:
        subject = row.kept.subject if isinstance(row, DecisionRow) else None
        if subject is not None and len(found) < MANY:
            found.add(subject)
    return found


def strange(store: Store, found: Iterable[str]) -> bool:
    """
    Whether there are subjects and the journal knows none: a hash does not tell its key.

    Raises:
        StoreDown: The database cannot be reached.

    """
    subjects = sorted(found)
    if not subjects or store.missing:
        return bool(subjects)
    return not any(store.about(one) for one in subjects)


def warning(kept: JournalSettings) -> str | None:
    """
    Say what finding them takes; None where no subject is found anyway.

    Raises:
        SetupError: The journal's address is at fault.

    """
    from ...journal.journal import key_file

    if kept.content == "none":
        return None
    file = key_file(kept)
    given = kept.key is not None
    if given or (file is not None and file.exists()):
        name = KEY if given or file is None else file.name
        return (
            "None of their subjects was known here. If they were hashed with another key than "
            f"{name}, keep that one too: `forget` finds them only while {KEY} is set to it"
        )
    beside = "" if file is None else f"bring it along as {file.name}, or "
    return (
        "Their subjects were hashed with the key of another journal, and `forget` finds nobody "
        f"without it. It is in a file that ends in .key beside that journal, if it was made "
        f"there: before the next decision {beside}set {KEY} to what it holds"
    )
