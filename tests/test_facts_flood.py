"""One source that says ever another value of one fact makes neither the store nor a write grow."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pointsman.decision_points.facts import FactStore
from pointsman.decision_points.facts.disputes import Dispute
from pointsman.decision_points.facts.outcomes import dispute_id

pytest.importorskip("sqlalchemy")

MANY = 60
POLICY: dict[str, Any] = {
    "schema": 1,
    "attributes": {"price": {"type": "number", "change": "over_time"}},
    "limits": {"per_key": 1000, "per_source_per_key": 1000},
}
REGISTRY: dict[str, Any] = {"schema": 1, "order": ["erp"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "facts.db"


@pytest.fixture
def store(file: Path) -> Iterator[FactStore]:
    with closing(FactStore(str(file), policy=POLICY, registry=REGISTRY)) as opened:
        yield opened


def said(store: FactStore, values: range) -> list[str]:
    return [store.assert_("acme", "price", one, source="erp").id for one in values]


def listed(file: Path) -> int:
    """How many bytes disputes take."""
    with closing(sqlite3.connect(file)) as line:
        return int(line.execute("SELECT SUM(LENGTH(body)) FROM facts_disputes").fetchone()[0])


def standing(store: FactStore) -> Dispute:
    (one,) = store.disputes.list()
    return one


def test_twice_as_many_values_take_about_twice_the_room(store: FactStore, file: Path) -> None:
    """RF-80: each revision listed all values before it, and each write read all revisions."""
    said(store, range(MANY))
    before = listed(file)

    said(store, range(MANY, 2 * MANY))

    assert listed(file) < 2.6 * before
    assert standing(store).revision == 2 * MANY - 1
    assert len(standing(store).candidates) == 2 * MANY
    assert store.verify().same


def test_a_revision_that_comes_back_is_the_same_and_lists_all(store: FactStore) -> None:
    """RF-50, RF-80: also where its long list was left out while others followed."""
    ids = said(store, range(MANY - 2))
    former = standing(store)
    ids += said(store, range(MANY - 2, MANY))
    assert store.disputes.get(former.id).candidates == ()

    for one in reversed(ids[-2:]):
        store.retract(one, by="erp", reason="a mistake")

    back = standing(store)
    assert (back.id, back.revision, back.state) == (former.id, former.revision, "reopened")
    assert back.candidates == former.candidates
    assert back.id == dispute_id(back.key, back.seen)
    said(store, range(MANY, MANY + 1))
    assert standing(store).revision == MANY
    assert store.verify().same


def test_a_load_leaves_what_single_writes_leave(store: FactStore, tmp_path: Path) -> None:
    """RF-68, RF-80: whether disputes were read anew for each entry or kept is no matter."""
    said(store, range(MANY))
    with closing(FactStore(str(tmp_path / "other.db"), policy=POLICY, registry=REGISTRY)) as other:
        loaded = other.load(other.entry("acme", "price", one, source="erp") for one in range(MANY))

        assert (loaded.new, loaded.there, loaded.refused) == (MANY, 0, ())
        assert standing(other).id == standing(store).id
        assert standing(other).candidates == standing(store).candidates
        assert other.verify().same
