"""The bearer keys of the server."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _number(name: str, *, null: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=null)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=True)


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "access_keys",
        _text("id"),
        _text("name"),
        _text("digest"),
        _text("scopes"),
        _count("rate"),
        _number("rate_seconds", null=True),
        _number("budget_usd", null=True),
        _number("created"),
        _number("expires", null=True),
        _number("revoked", null=True),
        _number("used", null=True),
        sa.PrimaryKeyConstraint("id"),
    )
