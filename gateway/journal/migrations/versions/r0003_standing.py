"""What stands of the decisions that are made once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _number(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=False)


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "standing",
        _text("id"),
        _text("decision"),
        _number("at"),
        _text("point"),
        _text("subject", null=True),
        _text("body"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("standing_by_subject", "standing", ["subject"])
    op.create_index("standing_by_time", "standing", ["at"])
