"""
The tables of the journal, the same in SQLite and PostgreSQL.

A row's `body` is the truth: its exact JSON, from which it is read back. The other columns
repeat parts of it, for queries and for people with a SQL client. Nothing refers to a row that
must be there first: feedback and shadows may arrive before their decision.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)

HEAD = "0004"
"""The newest revision of `migrations/versions`; a database that says so is up to date."""

VERSIONS = "journal_version"
"""Table that holds the revision; not Alembic's own name, which a shared database may have."""

metadata = MetaData()


def _text(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, Text, nullable=null)


def _number(name: str, *, null: bool = False) -> Column[float]:
    return Column(name, Double, nullable=null)


def _measured() -> list[Column[float] | Column[int] | Column[bool]]:
    """Columns of what an attempt came to: confidence, time, tokens and US dollars."""
    return [
        _number("reported", null=True),
        _number("probability", null=True),
        _number("confidence"),
        _number("minimum", null=True),
        _number("seconds"),
        Column("input_tokens", BigInteger),
        Column("output_tokens", BigInteger),
        _number("cost_usd", null=True),
        Column("estimated", Boolean),
    ]


decisions = Table(
    "decisions",
    metadata,
    Column("id", Text, primary_key=True),
    _number("at"),
    _text("point"),
    _text("variant"),
    _text("provider"),
    _text("reason"),
    _text("language"),
    _text("outcome", null=True),
    _number("confidence"),
    _number("seconds"),
    Column("undecided", Boolean, nullable=False),
    _number("cost_usd"),
    _text("experiment", null=True),
    _text("subject", null=True),
    _text("digest", null=True),
    _text("state", null=True),
    _text("body"),
    Index("decisions_by_time", "at", "id"),
    Index("decisions_by_point", "point", "at", "id"),
    Index("decisions_by_subject", "subject"),
    Index("decisions_by_state", "state"),
)
"""One row for each decision; `outcome` is JSON, `state` the id of a row of `states`."""

attempts = Table(
    "attempts",
    metadata,
    _text("decision"),
    Column("n", Integer, nullable=False),
    _text("provider"),
    _text("model"),
    _text("reason"),
    *_measured(),
    Column("late", Boolean, nullable=False),
    _text("form"),
    Column("cached", Boolean, nullable=False),
    PrimaryKeyConstraint("decision", "n"),
)
"""Every attempt of a decision, in order; `reported` and `probability` of its weakest answer."""

states = Table(
    "states",
    metadata,
    Column("id", Text, primary_key=True),
    _text("text"),
    Column("escaped", Boolean, nullable=False),
)
"""Texts that were kept, each once; `escaped` where it is written as a JSON string."""

exposures = Table(
    "exposures",
    metadata,
    _text("point"),
    _text("experiment"),
    _text("subject"),
    _text("variant"),
    Column("bucket", Integer),
    _number("at"),
    _text("decision"),
    PrimaryKeyConstraint("point", "experiment", "subject"),
)
"""The first time that a split decided for a subject, by the decisions' time."""

shadows = Table(
    "shadows",
    metadata,
    Column("id", Text, primary_key=True),
    _text("decision"),
    _number("at"),
    _text("point"),
    _text("provider"),
    _text("model"),
    _text("reason"),
    _text("outcome", null=True),
    _text("beside", null=True),
    _text("source"),
    *_measured(),
    _text("body"),
    Index("shadows_by_decision", "decision"),
    Index("shadows_by_provider", "point", "provider", "decision"),
    Index("shadows_by_time", "at", "id"),
)
"""Answers that were never acted on; `outcome` and `beside` are JSON."""

feedback = Table(
    "feedback",
    metadata,
    Column("id", Text, primary_key=True),
    _text("decision"),
    _number("at"),
    Column("was_right", Boolean),
    _text("label", null=True),
    _text("body"),
    Index("feedback_by_decision", "decision"),
    Index("feedback_by_time", "at", "id"),
)
"""What was found out later; `label` is JSON."""

standing = Table(
    "standing",
    metadata,
    Column("id", Text, primary_key=True),
    _text("decision"),
    _number("at"),
    _text("point"),
    _text("subject", null=True),
    _text("body"),
    Index("standing_by_subject", "subject"),
    Index("standing_by_time", "at"),
)
"""How decisions ended that are made once; `id` and `subject` are keyed hashes."""

inbox = Table(
    "inbox",
    metadata,
    Column("id", Text, primary_key=True),
    _number("at"),
    _text("point"),
    _text("subject", null=True),
    _text("body"),
    _text("resolution", null=True),
    _text("resolved_by", null=True),
    _text("note", null=True),
    _number("resolved_at", null=True),
    Index("inbox_by_subject", "subject"),
    Index("inbox_by_time", "at", "id"),
)
"""What waits for a person, and what one said; `id` is the decision's, `resolution` is JSON."""

access_keys = Table(
    "access_keys",
    metadata,
    Column("id", Text, primary_key=True),
    _text("name"),
    _text("digest"),
    _text("scopes"),
    Column("rate", BigInteger),
    _number("rate_seconds", null=True),
    _number("budget_usd", null=True),
    _number("created"),
    _number("expires", null=True),
    _number("revoked", null=True),
    _number("used", null=True),
)
"""Who may use the server: one row for each bearer key, which is not in it; only its digest is."""
