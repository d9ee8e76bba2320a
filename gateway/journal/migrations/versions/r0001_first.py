"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _number(name: str, *, null: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=null)


def _small(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=null)


def _count(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=null)


def _truth(name: str, *, null: bool = False) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=null)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "attempts",
        _text("decision"),
        _small("n"),
        _text("provider"),
        _text("model"),
        _text("reason"),
        _number("reported", null=True),
        _number("probability", null=True),
        _number("confidence"),
        _number("minimum", null=True),
        _number("seconds"),
        _count("input_tokens", null=True),
        _count("output_tokens", null=True),
        _number("cost_usd", null=True),
        _truth("estimated", null=True),
        _truth("late"),
        _text("form"),
        _truth("cached"),
        sa.PrimaryKeyConstraint("decision", "n"),
    )
    op.create_table(
        "decisions",
        _text("id"),
        _number("at"),
        _text("point"),
        _text("variant"),
        _text("provider"),
        _text("reason"),
        _text("language"),
        _text("outcome", null=True),
        _number("confidence"),
        _number("seconds"),
        _truth("undecided"),
        _number("cost_usd"),
        _text("experiment", null=True),
        _text("subject", null=True),
        _text("digest", null=True),
        _text("state", null=True),
        _text("body"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("decisions_by_point", "decisions", ["point", "at", "id"])
    op.create_index("decisions_by_state", "decisions", ["state"])
    op.create_index("decisions_by_subject", "decisions", ["subject"])
    op.create_index("decisions_by_time", "decisions", ["at", "id"])
    op.create_table(
        "exposures",
        _text("point"),
        _text("experiment"),
        _text("subject"),
        _text("variant"),
        _small("bucket", null=True),
        _number("at"),
        _text("decision"),
        sa.PrimaryKeyConstraint("point", "experiment", "subject"),
    )
    op.create_table(
        "feedback",
        _text("id"),
        _text("decision"),
        _number("at"),
        _truth("was_right", null=True),
        _text("label", null=True),
        _text("body"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("feedback_by_decision", "feedback", ["decision"])
    op.create_index("feedback_by_time", "feedback", ["at", "id"])
    op.create_table(
        "shadows",
        _text("id"),
        _text("decision"),
        _number("at"),
        _text("point"),
        _text("provider"),
        _text("model"),
        _text("reason"),
        _text("outcome", null=True),
        _text("beside", null=True),
        _text("source"),
        _number("reported", null=True),
        _number("probability", null=True),
        _number("confidence"),
        _number("minimum", null=True),
        _number("seconds"),
        _count("input_tokens", null=True),
        _count("output_tokens", null=True),
        _number("cost_usd", null=True),
        _truth("estimated", null=True),
        _text("body"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("shadows_by_decision", "shadows", ["decision"])
    op.create_index("shadows_by_provider", "shadows", ["point", "provider", "decision"])
    op.create_index("shadows_by_time", "shadows", ["at", "id"])
    op.create_table(
        "states",
        _text("id"),
        _text("text"),
        _truth("escaped"),
        sa.PrimaryKeyConstraint("id"),
    )
