"""A fact while entries about it are worked out, and how it is read from what is kept of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from ....gateway.journal.lines import Line
from ..disputes import Dispute
from ..entries import Asserted, Stored
from ..keys import FactKey
from ..outcomes import Outcome
from . import rows

KEPT = (
    "SELECT c.body, c.stale,"
    " EXISTS (SELECT 1 FROM facts_disputes WHERE namespace = ? AND key = ?),"
    " EXISTS (SELECT 1 FROM facts_inputs WHERE namespace = ? AND input = ?)"
    " FROM (SELECT 1 AS one) AS o LEFT JOIN facts_current AS c ON c.namespace = ? AND c.key = ?"
)
"""All that is kept of a fact, and whether there is more."""

DISPUTES = (
    "SELECT key, body FROM facts_disputes WHERE namespace = ? AND key >= ? AND key <= ?"
    " AND (state <> 'auto_closed' OR (key, revision) IN (SELECT key, MAX(revision)"
    " FROM facts_disputes WHERE namespace = ? AND key >= ? AND key <= ? GROUP BY key))"
    " ORDER BY revision, id"
)
"""Of a fact that is contested again and again nearly all disputes are over for good (RF-80)."""


class Fact(msgspec.Struct):
    """
    A fact while entries about it are worked out.

    Attributes:
        key: The one that stands for it.
        story: Its entries so far that a fold sees.
        outcome: What it came to so far; None: nothing is worked out yet.
        disputes: Those of its disputes so far that another entry may move.
        stale: As in its row.
        derived: Whether any of its assertions was derived from others.
        used: Whether any other fact was derived from it.

    """

    key: FactKey
    story: list[Stored]
    outcome: Outcome | None
    disputes: tuple[Dispute, ...]
    stale: str
    derived: bool
    used: bool


def read_fact(line: Line, namespace: str, key: FactKey, story: list[Stored]) -> Fact:
    """
    Read what is kept of a fact.

    Args:
        line: In a transaction.
        namespace: Of the fact.
        key: The one that stands for it.
        story: Its entries.

    """
    where = namespace, rows.written(key)
    body, stale, disputed, used = line.execute(KEPT, where * 3).fetchone()
    outcome = None if body is None else rows.decode_outcome(body)
    disputes: tuple[Dispute, ...] = ()
    if disputed:
        found = _disputes(line, (*where, where[1]))
        disputes = tuple(found.get(where[1], ()))
    return Fact(key, story, outcome, disputes, stale or "", _derived(story), bool(used))


def read_page(
    line: Line, namespace: str, told: Sequence[tuple[FactKey, list[Stored]]], page: Sequence[str]
) -> list[Fact]:
    """
    Read what is kept of many facts at once.

    Args:
        line: In a transaction.
        namespace: Of the facts.
        told: The facts, and the entries of each.
        page: Their written keys and perhaps others', sorted.

    """
    between = namespace, page[0], page[-1]
    found = line.execute(
        "SELECT key, body, stale FROM facts_current WHERE namespace = ? AND key >= ? AND key <= ?",
        between,
    ).fetchall()
    kept = {key: (rows.decode_outcome(body), stale) for key, body, stale in found}
    disputes = _disputes(line, between)
    found = line.execute(
        "SELECT DISTINCT input FROM facts_inputs WHERE namespace = ? AND input >= ? AND input <= ?",
        between,
    ).fetchall()
    used = {row[0] for row in found}
    return [
        Fact(key, story, *_kept(kept, disputes, name), _derived(story), name in used)
        for key, story in told
        for name in [rows.written(key)]
    ]


def mattering(disputes: tuple[Dispute, ...]) -> tuple[Dispute, ...]:
    """Leave out of a fact's *disputes* what would not be read of it either."""
    last = max((one.revision for one in disputes), default=0)
    return tuple(one for one in disputes if one.state != "auto_closed" or one.revision == last)


def read_dispute(line: Line, namespace: str, key: FactKey, id_: str) -> Dispute | None:
    """
    Read one dispute of a fact, whether it matters or not.

    Args:
        line: In a transaction.
        namespace: Of the fact.
        key: The fact; a dispute of another is none.
        id_: Of the dispute.

    """
    found = line.execute(
        "SELECT body FROM facts_disputes WHERE namespace = ? AND id = ? AND key = ?",
        (namespace, id_, rows.written(key)),
    ).fetchone()
    return None if found is None else rows.decode_dispute(found[0])


def _kept(
    kept: dict[str, tuple[Outcome, str]], disputes: dict[str, list[Dispute]], name: str
) -> tuple[Outcome, tuple[Dispute, ...], str]:
    outcome, stale = kept[name]
    return outcome, tuple(disputes.get(name, ())), stale


def _disputes(line: Line, between: tuple[str, str, str]) -> dict[str, list[Dispute]]:
    found = line.execute(DISPUTES, between * 2).fetchall()
    disputes: dict[str, list[Dispute]] = defaultdict(list)
    for key, body in found:
        disputes[key].append(rows.decode_dispute(body))
    return disputes


def _derived(story: Iterable[Stored]) -> bool:
    """Whether any assertion was derived from other facts."""
    said = (one.entry.assertion for one in story if isinstance(one.entry, Asserted))
    return any(one.derived_from for one in said)
