"""Rows for tests of the journal, and the databases that they are kept in."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import pytest

from pointsman.gateway.answers import Answer, Usage
from pointsman.gateway.errors import Reason
from pointsman.gateway.journal.rows import DecisionRow, FeedbackRow, Kept, ShadowRow
from pointsman.gateway.keys import QuestionKey
from pointsman.gateway.records import Attempt, Exposure, Record, Shadow

START = 1_700_000_000.0
VARIABLE = "POINTSMAN_TEST_POSTGRES"
USUAL = (
    "postgresql://postgres:postgres@127.0.0.1/postgres",
    "postgresql://postgres@127.0.0.1/postgres",
)


def decision(
    n: int,
    point: str = "ROUTER",
    *,
    subject: str | None = None,
    experiment: str | None = None,
    state: str | None = None,
    **given: Any,
) -> DecisionRow:
    """The *n*-th decision, made *n* seconds after the start."""
    usage = Usage(120, 3, 0.00001, estimated=True)
    answer = Answer(
        value="billing",
        confidence=0.9,
        source="reported",
        reported=0.9,
        probability=0.95,
        distribution={"billing": 0.95, "tech": 0.05},
    )
    told: dict[str, Any] = {
        "variant": "jev",
        "provider": "jev",
        "outcome": "billing",
        "answers": {"team": answer},
        "attempts": (
            Attempt(
                provider="jev",
                model="jev-1",
                answers={"team": answer},
                confidence=0.9,
                minimum=0.7,
                seconds=0.125,
                usage=usage,
            ),
        ),
        "exposure": None if experiment is None else Exposure(experiment, n % 10_000),
    }
    named = {"id": f"{n:032x}", "at": START + n, "point": point}
    record = Record(**{**named, **told, **given})
    digest = None if state is None else f"{len(state):032x}"
    keys = {"team": QuestionKey("team", "0123456789ab", "ba9876543210")}
    kept = Kept(subject=subject, digest=digest, state=state)
    return DecisionRow(record=record, language="en", keys=keys, kept=kept)


def shadow(n: int, of: int, provider: str = "local", **given: Any) -> ShadowRow:
    """The *n*-th answer given in the background, beside decision *of*."""
    attempt = Attempt(provider=provider, model="m-1", reason=Reason.LOW_CONFIDENCE, seconds=0.01)
    told: dict[str, Any] = {"point": "ROUTER", "outcome": "tech", "beside": "billing"}
    named = {"id": f"5{n:031x}", "of": f"{of:032x}", "at": START + n, "provider": provider}
    made = Shadow(attempt=attempt, **{**named, **told, **given})
    return ShadowRow(shadow=made, language="en")


def verdict(n: int, of: int, label: Any = "billing", *, right: bool | None = None) -> FeedbackRow:
    """The *n*-th thing found out later, about decision *of*."""
    return FeedbackRow(id=f"f{n:031x}", of=f"{of:032x}", at=START + n, right=right, label=label)


def server() -> str:
    """The PostgreSQL to test with; where there is none, the test is skipped, and says so."""
    psycopg = pytest.importorskip("psycopg")
    given = os.environ.get(VARIABLE)
    for url in (given,) if given else USUAL:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            continue
        return url
    pytest.skip(f"no PostgreSQL: {VARIABLE} names none, and there is none at 127.0.0.1")


@contextmanager
def schema_of(url: str) -> Iterator[str]:
    """A schema of our own in the database at *url*, gone afterwards."""
    import psycopg

    name = f"pointsman_{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        try:
            yield f"{url}{'&' if '?' in url else '?'}options={quote(f'-csearch_path={name}')}"
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")
