"""What waits for a person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _number(name: str, *, null: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=null)


def upgrade() -> None:
    """Make its table."""
    op.create_table(
        "inbox",
        _text("id"),
        _number("at"),
        _text("point"),
        _text("subject", null=True),
        _text("body"),
        _text("resolution", null=True),
        _text("resolved_by", null=True),
        _text("note", null=True),
        _number("resolved_at", null=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("inbox_by_subject", "inbox", ["subject"])
    op.create_index("inbox_by_time", "inbox", ["at", "id"])
