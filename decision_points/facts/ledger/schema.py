"""
The tables of facts, the same in SQLite and PostgreSQL.

`facts_log` is the truth; nothing of it is changed, but for the content of what is erased. All
others are worked out from it, and can be dropped and made again (RF-73). A row's `body` is JSON.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

from ....gateway.journal.revisions import Tables

HEAD = "0001"
"""The newest revision of `migrations/versions`."""

VERSIONS = "facts_version"
"""Table that holds the revision."""

metadata = MetaData()

AS_KEYED: dict[str, Any] = {"sqlite_with_rowid": False}
"""In SQLite a row stands where its key does, so that a transaction writes fewer pages."""

WHERE_DUE: dict[str, Any] = dict.fromkeys(
    ("sqlite_where", "postgresql_where"), text("due IS NOT NULL")
)
"""Most facts never change by themselves."""


def _text(name: str) -> Column[str]:
    """Make a column that is compared byte by byte, as SQLite does it anyway."""
    by_bytes = Text().with_variant(Text(collation="C"), "postgresql")
    return Column(name, by_bytes, nullable=False)


def _whole(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


log = Table(
    "facts_log",
    metadata,
    _text("namespace"),
    _whole("position"),
    _text("id"),
    _text("kind"),
    _text("key"),
    _text("source"),
    _whole("recorded_at"),
    _text("body"),
    PrimaryKeyConstraint("namespace", "position"),
    Index("facts_log_by_id", "namespace", "id", unique=True),
    Index("facts_log_by_key", "namespace", "key", "kind", "position"),
    **AS_KEYED,
)
"""Every entry; `key` is empty for one of the whole namespace, `body` for one that was erased."""

heads = Table(
    "facts_heads",
    metadata,
    _text("namespace"),
    _whole("position"),
    _whole("projected"),
    _whole("recorded_at"),
    _text("wide"),
    _text("resume"),
    PrimaryKeyConstraint("namespace"),
    **AS_KEYED,
)
"""
How far each namespace is.

`position` and `recorded_at` are those of the last entry, `wide` names the last one of the whole
namespace. What is worked out holds up to `projected`, and of the next entry, where that is of
the whole namespace, up to the key `resume`.
"""

current = Table(
    "facts_current",
    metadata,
    _text("namespace"),
    _text("key"),
    _whole("position"),
    _whole("at"),
    _text("status"),
    _text("hash"),
    _whole("due", null=True),
    _text("stale"),
    _text("body"),
    PrimaryKeyConstraint("namespace", "key"),
    Index("facts_current_by_due", "namespace", "due", **WHERE_DUE),
)
"""What each fact came to at the time `at` of the entry that touched it last."""

events = Table(
    "facts_events",
    metadata,
    _text("namespace"),
    _whole("position"),
    Column("n", Integer, nullable=False),
    _text("key"),
    _text("kind"),
    _whole("at"),
    _text("body"),
    PrimaryKeyConstraint("namespace", "position", "n"),
    **AS_KEYED,
)
"""What happened, in order."""

disputes = Table(
    "facts_disputes",
    metadata,
    _text("namespace"),
    _text("id"),
    _text("key"),
    _text("state"),
    Column("revision", Integer, nullable=False),
    _whole("opened_at"),
    _text("body"),
    PrimaryKeyConstraint("namespace", "id"),
    Index("facts_disputes_by_key", "namespace", "key"),
    Index("facts_disputes_by_state", "namespace", "state", "opened_at"),
)
"""Every dispute there ever was."""

inputs = Table(
    "facts_inputs",
    metadata,
    _text("namespace"),
    _text("key"),
    _text("assertion"),
    _text("input"),
    _text("outcome"),
    PrimaryKeyConstraint("namespace", "key", "assertion", "input"),
    Index("facts_inputs_by_input", "namespace", "input"),
)
"""What derived assertions were derived from: a fact, and the hash of the outcome that was used."""

PROJECTED = (current, events, disputes, inputs)
"""The tables that are worked out."""

WHERE = "the facts' database"
FACTS = Tables(HEAD, VERSIONS, metadata, Path(__file__).parent / "migrations", WHERE)
