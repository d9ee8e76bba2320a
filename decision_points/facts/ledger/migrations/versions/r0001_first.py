"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _text(name: str) -> sa.Column[str]:
    by_bytes = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    return sa.Column(name, by_bytes, nullable=False)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [_text(name) for name in names]


def _whole(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=null)


def _small(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "facts_log",
        _text("namespace"),
        _whole("position"),
        *_texts("id", "kind", "key", "source"),
        _whole("recorded_at"),
        _text("body"),
        sa.PrimaryKeyConstraint("namespace", "position"),
        sqlite_with_rowid=False,
    )
    op.create_index("facts_log_by_id", "facts_log", ["namespace", "id"], unique=True)
    op.create_index("facts_log_by_key", "facts_log", ["namespace", "key", "kind", "position"])
    op.create_table(
        "facts_heads",
        _text("namespace"),
        _whole("position"),
        _whole("projected"),
        _whole("recorded_at"),
        *_texts("wide", "resume"),
        sa.PrimaryKeyConstraint("namespace"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "facts_current",
        *_texts("namespace", "key"),
        _whole("position"),
        _whole("at"),
        *_texts("status", "hash"),
        _whole("due", null=True),
        *_texts("stale", "body"),
        sa.PrimaryKeyConstraint("namespace", "key"),
    )
    due = sa.text("due IS NOT NULL")
    op.create_index(
        "facts_current_by_due",
        "facts_current",
        ["namespace", "due"],
        sqlite_where=due,
        postgresql_where=due,
    )
    op.create_table(
        "facts_events",
        _text("namespace"),
        _whole("position"),
        _small("n"),
        *_texts("key", "kind"),
        _whole("at"),
        _text("body"),
        sa.PrimaryKeyConstraint("namespace", "position", "n"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "facts_disputes",
        *_texts("namespace", "id", "key", "state"),
        _small("revision"),
        _whole("opened_at"),
        _text("body"),
        sa.PrimaryKeyConstraint("namespace", "id"),
    )
    op.create_index("facts_disputes_by_key", "facts_disputes", ["namespace", "key"])
    op.create_index(
        "facts_disputes_by_state", "facts_disputes", ["namespace", "state", "opened_at"]
    )
    op.create_table(
        "facts_inputs",
        *_texts("namespace", "key", "assertion", "input", "outcome"),
        sa.PrimaryKeyConstraint("namespace", "key", "assertion", "input"),
    )
    op.create_index("facts_inputs_by_input", "facts_inputs", ["namespace", "input"])
