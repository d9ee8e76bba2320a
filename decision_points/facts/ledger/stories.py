"""The entries of facts as the log has them: of one, or of all, one fact after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from ....gateway.journal.lines import Line
from ..entries import Stored
from ..keys import FactKey
from . import rows
from .settings import Aliases

PAGE = 500  # facts read at once


def story(
    line: Line,
    keys: Sequence[FactKey],
    last: int,
    kinds: Sequence[str] = rows.FOLDED,
    after: int = 0,
) -> list[Stored]:
    """
    Give the entries about *keys*, which are one fact under several names, in their order.

    Args:
        line: In a transaction.
        keys: One, or with aliases several.
        last: What comes behind this position does not count.
        kinds: Of these kinds only.
        after: Behind this position.

    """
    found = line.execute(
        f"SELECT {rows.ENTRY} FROM facts_log {rows.by_key(line)} WHERE namespace = ?"  # noqa: S608 - fixed texts
        f" AND key IN ({rows.marks(len(keys))}) AND kind IN ({rows.marks(len(kinds))})"
        " AND position <= ? AND position > ? AND body <> '' ORDER BY position",
        (keys[0].namespace, *map(rows.written, keys), *kinds, last, after),
    ).fetchall()
    return [rows.stored(row) for row in found]


def names(line: Line, namespace: str, prefix: str = "", last: int | None = None) -> Iterator[str]:
    """Give the written keys that anybody said something about, sorted, a page at a time."""
    beyond = prefix
    bound = prefix + "\U0010ffff"
    until = "" if last is None else " AND position <= ?"
    given = () if last is None else (last,)
    first = True
    while True:
        page = line.execute(
            "SELECT DISTINCT key FROM facts_log WHERE namespace = ? AND key <> ''"  # noqa: S608 - fixed texts
            f" AND key {'>=' if first else '>'} ? AND key <= ?{until} ORDER BY key LIMIT {PAGE}",
            (namespace, beyond, bound, *given),
        ).fetchall()
        yield from (row[0] for row in page)
        if len(page) < PAGE:
            return
        beyond, first = page[-1][0], False


def stories(
    line: Line, namespace: str, aliases: Aliases, last: int, prefix: str = ""
) -> Iterator[tuple[FactKey, list[Stored]]]:
    """
    Give the entries of every fact that a fold sees, a page of facts at a time.

    Args:
        line: In a transaction.
        namespace: Of these facts.
        aliases: Facts of one entity under several names are one.
        last: What comes behind this position does not count.
        prefix: How the written key begins.

    """
    page: list[str] = []
    for written in names(line, namespace, prefix, last):
        page.append(written)
        if len(page) == PAGE:
            yield from _paged(line, namespace, aliases, last, page)
            page = []
    if page:
        yield from _paged(line, namespace, aliases, last, page)


def of_page(
    line: Line, namespace: str, aliases: Aliases, last: int, page: Sequence[str]
) -> Iterator[tuple[FactKey, list[Stored]]]:
    """
    Give the entries of the facts named in *page*, sorted, with nothing between them unnamed.

    Each is the one that stands for its entity; entries under other names are with it.
    """
    for written, some in _between(line, namespace, last, page):
        key = rows.key_in(namespace, written)
        if aliases and len(aliases.names(key.entity)) > 1:
            yield key, story(line, aliases.keys(key), last)
        else:
            yield key, [rows.stored(row) for row in some]


def _paged(
    line: Line, namespace: str, aliases: Aliases, last: int, page: Sequence[str]
) -> Iterator[tuple[FactKey, list[Stored]]]:
    for written, some in _between(line, namespace, last, page):
        key = rows.key_in(namespace, written)
        if not aliases or len(aliases.names(key.entity)) == 1:
            yield key, [rows.stored(row) for row in some]
        elif written == _first(line, aliases.keys(key), last):
            yield aliases.key(key), story(line, aliases.keys(key), last)


def _first(line: Line, keys: Sequence[FactKey], last: int) -> str:
    """Give the first name under which there are entries: of several, one brings the fact."""
    found: Any = line.execute(
        f"SELECT MIN(key) FROM facts_log WHERE namespace = ? AND key IN ({rows.marks(len(keys))})"  # noqa: S608 - fixed texts
        " AND position <= ?",
        (keys[0].namespace, *map(rows.written, keys), last),
    ).fetchone()
    return str(found[0])


def _between(
    line: Line, namespace: str, last: int, page: Sequence[str]
) -> Iterator[tuple[str, list[Sequence[Any]]]]:
    """Give the rows of each key of *page*, none where a fold sees nothing of it."""
    found = line.execute(
        f"SELECT {rows.ENTRY}, key FROM facts_log WHERE namespace = ? AND key >= ? AND key <= ?"  # noqa: S608 - fixed texts
        f" AND kind IN {rows.FOLDED} AND position <= ? AND body <> '' ORDER BY key, position",
        (namespace, page[0], page[-1], last),
    ).fetchall()
    grouped = {written: list(some) for written, some in groupby(found, key=itemgetter(4))}
    for written in page:
        yield written, grouped.get(written, [])
