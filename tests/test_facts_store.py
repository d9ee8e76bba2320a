"""The store of facts keeps its promises on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from journaled import schema_of, server
from pointsman.decision_points.facts import (
    FactKey,
    FactStore,
    NotResolved,
    Refused,
)
from pointsman.decision_points.facts.entries import Asserted, Retracted
from pointsman.gateway.errors import SetupError

sqlalchemy = pytest.importorskip("sqlalchemy")

DAY = 24 * 3600 * 1_000_000
NOON = 1_750_000_000_000_000

POLICY: dict[str, Any] = {
    "schema": 1,
    "entities": {"book": "isbn"},
    "attributes": {
        "city": {"type": "text"},
        "price": {"type": "number", "locale": "en", "change": "over_time", "freshness": "30d"},
        "total": {"type": "number", "locale": "en"},
        "sure": {"type": "text", "strict": True},
    },
    "limits": {"per_source_per_key": 20, "per_key": 30, "value_characters": 200},
}
REGISTRY: dict[str, Any] = {
    "schema": 1,
    "order": ["signed", "erp", "crm"],
    "sources": {
        "contract": {"level": "signed"},
        "sap": {"level": "erp"},
        "oracle": {"level": "erp"},
        "chat": {"level": "crm"},
    },
    "actors": {"maria": {"may_correct": ["sap"]}},
}


class Clock:
    """A clock that a test moves."""

    def __init__(self, at: int = NOON) -> None:
        self.at = at

    def __call__(self) -> int:
        self.at += 1
        return self.at


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'room' / 'facts.db'}"
        return
    with schema_of(server()) as made:
        yield made


@pytest.fixture
def clock() -> Clock:
    return Clock()


Open = Callable[..., FactStore]


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Open]:
    """Opens a store on the test's database."""
    stores: list[FactStore] = []

    def make(**given: Any) -> FactStore:
        usual: dict[str, Any] = {"policy": POLICY, "registry": REGISTRY, "clock": clock}
        stores.append(FactStore(url, **{**usual, **given}))
        return stores[-1]

    yield make
    for one in stores:
        one.close()


@pytest.fixture
def store(opened: Open) -> FactStore:
    return opened()


def rows(url: str, query: str) -> list[Any]:
    """What a person with a SQL client sees."""
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        done = connection.execute(sqlalchemy.text(query))
        found = [tuple(row) for row in done] if done.returns_rows else []
    engine.dispose()
    return found


def kinds(store: FactStore, cursor: int | str = 0) -> list[str]:
    return [one.kind for one in store.subscribe(cursor)]


# --- writing -------------------------------------------------------------------------------


def test_rf_07_an_assertion_is_kept_as_it_was_made(store: FactStore) -> None:
    """RF-07: with every field, the raw text byte for byte, and the store's own time."""
    written = store.assert_(
        "acme",
        "price",
        "1,250.50",
        source="sap",
        writer="reader-1",
        evidence="inferred",
        confidence=0.8,
        observed_at="2025-06-01T10:00:00Z",
        valid_from="2025-06-01",
        source_ref="mail 7",
    )

    (kept,) = store.history("acme", "price")

    assert isinstance(kept.entry, Asserted)
    assert kept.id == written.id
    said = kept.entry.assertion
    assert (said.raw, said.source, said.writer) == ("1,250.50", "sap", "reader-1")
    assert said.normaliser.startswith("number@")
    assert kept.recorded_at >= NOON


def test_rf_08_the_same_content_is_there_once(store: FactStore) -> None:
    """RF-08: whoever writes it and however often; outcome and events are as before."""
    first = store.assert_("acme", "city", "Milan", source="sap")
    events = list(store.subscribe())

    again = store.assert_("Acme ", "city", "Milan", source="sap")

    assert (first.new, again.new) == (True, False)
    assert (again.id, again.position, again.outcome) == (first.id, first.position, first.outcome)
    assert list(store.subscribe()) == events
    assert len(store.history("acme", "city")) == 1


def test_rf_09_a_rank_in_the_payload_is_ignored_and_noted(store: FactStore) -> None:
    """RF-09: authority comes from the registry; an unknown source is below all, and flagged."""
    store.assert_("acme", "city", "Milan", source="chat")

    written = store.assert_("acme", "city", "Rome", source="stranger", rank=99)

    assert written.notes == ("rank_ignored", "unknown_source:stranger")
    assert store.get("acme", "city").value == "Milan"


def test_rf_12_source_and_writer_are_apart(store: FactStore) -> None:
    """RF-12: the same word read by two is two assertions of one source."""
    one = store.assert_("acme", "city", "Milan", source="sap", writer="a")
    other = store.assert_("acme", "city", "Milan", source="sap", writer="b")

    assert one.id != other.id
    (candidate,) = store.get("acme", "city").outcome.candidates
    assert (candidate.sources, candidate.voices) == (("sap",), 1)


REFUSED: Mapping[str, tuple[dict[str, Any], str]] = {
    "nobody's word": ({"value": "x", "source": " "}, "no_source"),
    "no value": ({"value": None}, "nothing_given"),
    "a placeholder": ({"value": "N/A"}, "not_a_value"),
    "confidence over one": ({"value": "x", "confidence": 1.01}, "bad_confidence"),
    "confidence no number": ({"value": "x", "confidence": float("nan")}, "bad_confidence"),
    "confidence a truth": ({"value": "x", "confidence": True}, "bad_confidence"),
    "evidence of no kind": ({"value": "x", "evidence": "rumour"}, "bad_evidence"),
    "no kind": ({"value": "x", "kind": "maybe"}, "bad_kind"),
    "a value that is unknown": ({"value": "x", "kind": "unknown"}, "bad_kind"),
    "too long": ({"value": "x" * 201}, "too_long"),
    "two values": ({"value": "x", "raw": "y"}, "malformed_value"),
    "ends before it begins": (
        {"value": "x", "valid_from": "2025-06-02", "valid_to": "2025-06-01"},
        "bad_interval",
    ),
    "no time": ({"value": "x", "observed_at": "soon"}, "bad_time"),
    "too many inputs": (
        {
            "value": "x",
            "derived_from": [],
            "source_ref": "r" * 2001,
        },
        "too_long",
    ),
}


def test_rf_81_texts_are_bounded_and_are_texts(store: FactStore) -> None:
    """RF-81: also who and why; nothing that cannot be written down breaks anything."""
    one = store.assert_("acme", "city", "Milan", source="sap", source_ref="\0")
    for name in ("s\0a", "s\u202ea"):
        with pytest.raises(Refused, match="bad_text"):
            store.assert_("acme", "city", "Milan", source=name)
    with pytest.raises(Refused, match="too_long"):
        store.retract(one.id, by="sap", reason="r" * 2001)
    with pytest.raises(Refused, match="bad_text"):
        store.assert_("acme", "city", "Milan", source="sap", source_ref="\ud800")
    with pytest.raises(Refused, match="bad_text"):
        store.adopt(by="\ud800")

    assert store.get("acme", "city").value == "Milan"
    assert store.verify().same


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_not_written(store: FactStore, name: str) -> None:
    said, code = REFUSED[name]
    given = {"source": "sap", **said}

    with pytest.raises(Refused) as refused:
        store.assert_("acme", "city", given.pop("value"), **given)

    assert refused.value.code == code
    assert store.history("acme", "city") == ()


def test_a_strict_attribute_wants_a_confidence(store: FactStore) -> None:
    with pytest.raises(Refused, match="confidence_missing"):
        store.assert_("acme", "sure", "x", source="sap")

    assert store.assert_("acme", "sure", "x", source="sap", confidence=0).new


def test_rf_80_a_flood_is_refused_with_its_counts(store: FactStore) -> None:
    """RF-80: nothing is dropped silently, and a flood displaces nothing that is ranked higher."""
    store.assert_("acme", "city", "Milan", source="contract")
    for n in range(20):
        store.assert_(
            "acme", "city", f"town {n}", source="chat", observed_at=f"2025-06-01T{n:02}:00Z"
        )

    with pytest.raises(Refused, match="too_many: 20 assertions of this source") as refused:
        store.assert_("acme", "city", "one more", source="chat")
    store.assert_("acme", "city", "town 3", source="chat", observed_at="2025-06-01T03:00Z")  # there
    for n in range(9):
        store.assert_("acme", "city", f"burgh {n}", source="sap")
    with pytest.raises(Refused, match="30 assertions of all sources") as full:
        store.assert_("acme", "city", "one more", source="oracle")

    assert "limits.per_source_per_key" in refused.value.fix
    assert "limits.per_key" in full.value.fix
    assert store.get("acme", "city").value == "Milan"
    assert len(store.history("acme", "city")) == 30


def test_rf_80_a_flood_of_the_same_is_one_row(store: FactStore) -> None:
    """RF-80: loaded in one go or written one by one."""
    entry = store.entry("acme", "city", "Milan", source="chat")

    loaded = store.load([entry] * 2500)

    assert (loaded.new, loaded.there, loaded.refused) == (1, 2499, ())
    assert len(store.history("acme", "city")) == 1


def test_loading_keeps_what_is_good_and_names_what_is_not(store: FactStore) -> None:
    entries = [
        store.entry("acme", "city", f"t{n}", source="chat", writer=f"w{n}") for n in range(22)
    ]
    told: list[int] = []

    loaded = store.load(
        [*entries, store.entry("b", "city", "X", source="sap")], progress=told.append
    )

    assert (loaded.new, [number for number, _ in loaded.refused]) == (21, [20, 21])
    assert {fault.code for _, fault in loaded.refused} == {"too_many"}
    assert told == [23]
    assert store.verify().same


def test_loading_is_as_writing_one_by_one(opened: Open) -> None:
    """RF-73: the same rows, but for the namespace and the times."""
    one, other = opened(namespace="one"), opened(namespace="other")
    said = [
        ("acme", "city", value, source)
        for value, source in [("Milan", "sap"), ("Rome", "oracle"), ("Milan", "contract")] * 3
    ]
    for entity, attribute, value, source in said:
        one.assert_(entity, attribute, value, source=source)

    other.load(other.entry(e, a, v, source=s) for e, a, v, s in said)

    assert [e.kind for e in one.subscribe()] == [e.kind for e in other.subscribe()]
    assert one.counts() == other.counts() == {"resolved": 1}


# --- reading -------------------------------------------------------------------------------


def test_rf_60_a_reading_tells_its_standing(store: FactStore) -> None:
    """RF-60: status, value or none, candidates, versions, dispute; `require` raises."""
    store.assert_("acme", "total", "10", source="sap", confidence=0.9)
    assert store.require("acme", "total").value == Decimal(10)

    store.assert_("acme", "total", "12", source="oracle", confidence=0.9)
    reading = store.get("acme", "total")

    assert (reading.status, reading.value) == ("disputed", None)
    assert len(reading.outcome.candidates) == 2
    assert reading.outcome.dispute
    assert reading.outcome.policy == store.ledger.settings().policy.version
    with pytest.raises(NotResolved) as raised:
        store.require("acme", "total")
    assert raised.value.reading.status == "disputed"
    assert "disputed" in str(raised.value)
    assert store.get("acme", "nobody").status in {"absent", "unreconciled"}


def test_a_dispute_shows_a_provisional_value_only_when_asked(store: FactStore) -> None:
    store.assert_("acme", "city", "Milan", source="sap", observed_at="2025-06-01", confidence=0.9)
    store.assert_("acme", "city", "Rome", source="oracle", observed_at="2025-06-02", confidence=0.9)

    newest = store.get("acme", "city", provisional="newest")

    assert (newest.status, newest.value, newest.provisional) == ("disputed", "Rome", "newest")
    assert store.get("acme", "city", provisional="most_voices").value is None
    assert store.get("acme", "city").value is None
    with pytest.raises(Refused, match="bad_provisional"):
        store.get("acme", "city", provisional="coin")


def test_rf_62_a_value_that_was_not_confirmed_for_long_is_stale(store: FactStore) -> None:
    """RF-62: the value is kept, and `require` does not hand it out."""
    store.assert_("acme", "price", "10", source="sap", observed_at="2025-01-01T00:00:00Z")

    fresh = store.get("acme", "price", valid_at="2025-01-30T00:00:00Z")
    old = store.get("acme", "price", valid_at="2025-02-02T00:00:00Z")

    assert (fresh.stale, old.stale) == ("", "age")
    assert old.value == Decimal(10)
    assert old.standing != fresh.standing
    with pytest.raises(NotResolved):
        store.require("acme", "price", valid_at="2025-02-02T00:00:00Z")


def test_rf_41_the_past_is_read_as_it_was_answered(store: FactStore, clock: Clock) -> None:
    """RF-41: a reading asked for again at its own two times is the same, whatever came later."""
    store.assert_("acme", "city", "Milan", source="chat")
    first = store.get("acme", "city")
    clock.at += DAY
    store.assert_("acme", "city", "Rome", source="sap")
    second = store.get("acme", "city")
    store.adopt(registry={**REGISTRY, "order": ["crm", "erp", "signed"]}, by="boss")
    third = store.get("acme", "city")

    assert [one.value for one in (first, second, third)] == ["Milan", "Rome", "Milan"]
    for reading in (first, second, third):
        again = store.get("acme", "city", valid_at=reading.valid_at, known_at=reading.known_at)
        assert again.outcome == reading.outcome


def test_rf_46_what_lost_is_kept_with_the_reason(store: FactStore) -> None:
    """RF-46: the row of the log is as it was, and the trace says what beats it."""
    low = store.assert_("acme", "city", "Rome", source="chat")
    before = store.history("acme", "city")
    high = store.assert_("acme", "city", "Milan", source="sap")

    assert store.history("acme", "city")[:1] == before
    (witness,) = store.get("acme", "city").outcome.trace.beaten
    assert (witness.lost, witness.to, witness.on) == (low.id, high.id, "authority")


def test_rf_79_namespaces_see_nothing_of_each_other(opened: Open) -> None:
    """RF-79: neither reads, folds, events nor disputes; and positions are counted apart."""
    one, other = opened(namespace="one"), opened(namespace="other")
    one.assert_("acme", "city", "Milan", source="sap", confidence=0.9)
    one.assert_("acme", "city", "Rome", source="oracle", confidence=0.9)
    other.assert_("acme", "city", "Rome", source="chat")

    assert other.get("acme", "city").value == "Rome"
    assert len(one.disputes.list()) == 1
    assert other.disputes.list() == ()
    assert kinds(other) == ["policy_changed", "asserted", "decided"]
    with pytest.raises(Refused, match="other_namespace"):
        other.get(FactKey("one", "acme", "city"))
    assert one.verify().same
    assert other.verify().same


def test_facts_are_listed_with_what_they_come_to(store: FactStore) -> None:
    store.load(store.entry(f"e{n:04}", "city", "Milan", source="sap") for n in range(1200))

    assert [str(one.key) for one in store.facts("e000")] == [f"e000{n}/city" for n in range(10)]
    assert len(list(store.facts())) == 1200
    with store.view() as view:
        assert len(list(view.keys("e01"))) == 100


# --- taking back ---------------------------------------------------------------------------


def test_rf_47_a_retraction_counts_as_never_made(store: FactStore) -> None:
    """RF-47: by the source or an allowed actor; an earlier known_at still shows what it took."""
    store.assert_("acme", "city", "Rome", source="chat")
    wrong = store.assert_("acme", "city", "Milan", source="sap")
    before = store.get("acme", "city")

    with pytest.raises(Refused, match="not_allowed"):
        store.retract(wrong.id, by="chat", reason="no")
    store.retract(wrong.id, by="maria", reason="misread")

    assert store.get("acme", "city").value == "Rome"
    known = store.get("acme", "city", known_at=before.known_at, valid_at=before.valid_at)
    assert known.value == "Milan"
    assert store.verify().same


def test_rf_47_a_retraction_can_be_retracted_and_said_again(store: FactStore) -> None:
    """RF-47: each time anew; the same one twice is there once."""
    wrong = store.assert_("acme", "city", "Milan", source="sap")
    first = store.retract(wrong.id, by="sap", reason="misread")
    assert not store.retract(wrong.id, by="sap", reason="misread").new
    assert store.get("acme", "city").status == "absent"

    store.retract(first.id, by="sap", reason="was right")
    assert store.get("acme", "city").value == "Milan"

    again = store.retract(wrong.id, by="sap", reason="misread")
    assert again.new
    assert store.get("acme", "city").status == "absent"
    assert store.verify().same


def test_rf_47_a_retraction_may_come_first(store: FactStore) -> None:
    """RF-47: it takes back what is written later; without a fact to name it is refused."""
    entry = store.entry("acme", "city", "Milan", source="sap")
    with pytest.raises(Refused, match="unknown_id"):
        store.retract(entry.id, by="sap", reason="x")

    store.retract(entry.id, by="sap", reason="x", key=entry.assertion.key)
    store.load([entry])

    assert store.get("acme", "city").status == "absent"
    retracted = [one for one in store.history("acme", "city") if isinstance(one.entry, Retracted)]
    assert len(retracted) == 1


def test_rf_48_erasure_leaves_the_id_and_nothing_else(store: FactStore, url: str) -> None:
    """RF-48: no table holds the text any more; the answer says so; writing it again is no use."""
    secret = store.assert_("acme", "city", "Sekretstadt", source="sap", writer="w")
    store.assert_("acme", "city", "Rome", source="oracle")
    before = store.get("acme", "city")

    store.erase(secret.id, by="dpo", reason="asked")

    tables = ["facts_log", "facts_current", "facts_events", "facts_disputes"]
    for table in tables:
        assert "ekretstadt" not in str(rows(url, f"SELECT * FROM {table}")).lower()  # noqa: S608
    assert rows(url, f"SELECT body FROM facts_log WHERE id = '{secret.id}'") == [("",)]  # noqa: S608
    assert store.get("acme", "city").value == "Rome"
    known = store.get("acme", "city", known_at=before.known_at, valid_at=before.valid_at)
    assert known.stale == "redacted"
    assert not store.assert_("acme", "city", "Sekretstadt", source="sap", writer="w").new
    assert store.get("acme", "city").value == "Rome"
    assert store.verify().same


def test_rf_48_what_was_derived_from_it_is_flagged(store: FactStore) -> None:
    """RF-48: dependents of an erased fact are stale."""
    base = store.assert_("acme", "city", "Milan", source="sap")
    used = store.get("acme", "city")
    store.assert_("acme", "total", "5", source="bot", evidence="derived", derived_from=[used])
    assert store.get("acme", "total").stale == ""

    store.erase(base.id, by="dpo", reason="asked")

    assert store.get("acme", "city").stale == "redacted"
    assert store.get("acme", "total").stale == "input_changed"
    assert store.verify().same


def test_erasure_of_what_comes_later_keeps_it_out(store: FactStore, url: str) -> None:
    entry = store.entry("acme", "city", "Sekretstadt", source="sap")
    from pointsman.decision_points.facts.entries import Erased

    store.load([Erased(key=entry.assertion.key, target=entry.id, by="dpo", reason="asked"), entry])

    assert "ekretstadt" not in str(rows(url, "SELECT * FROM facts_log")).lower()
    assert store.get("acme", "city").status == "absent"
    assert store.verify().same


# --- rules ---------------------------------------------------------------------------------


def test_rf_02_an_alias_joins_the_facts_of_both_names(store: FactStore) -> None:
    """RF-02: on replay too; both ids stay visible, and one key answers for both."""
    store.assert_("acme inc", "city", "Milan", source="sap", confidence=0.9)
    store.assert_("acme", "city", "Rome", source="oracle", confidence=0.9)
    store.assert_("acme inc", "total", "5", source="sap")
    before = store.get("acme inc", "city")

    joined = store.alias("ACME Inc", "acme", by="maria")

    for name in ("acme", "acme inc"):
        reading = store.get(name, "city")
        assert (str(reading.key), reading.status) == ("acme/city", "disputed")
    said = [one.entry for one in store.history("acme", "city")]
    assert {one.assertion.key.entity for one in said if isinstance(one, Asserted)} == {
        "acme",
        "acme inc",
    }
    assert store.get("acme", "total").value == Decimal(5)
    known = store.get("acme inc", "city", known_at=before.known_at, valid_at=before.valid_at)
    assert known.value == "Milan"
    assert [str(one.key) for one in store.facts()] == ["acme/city", "acme/total"]
    assert store.counts() == {"disputed": 1, "resolved": 1}
    assert [str(one.key) for one in store.disputes.list()] == ["acme/city"]
    told = [(str(one.key), one.kind) for one in store.subscribe(joined.position)]
    assert ("acme/city", "disputed") in told
    assert store.assert_("acme inc", "city", "Rome", source="contract").outcome.value is not None
    assert store.verify().same


def test_rf_02_ids_are_brought_into_one_form_first(store: FactStore) -> None:
    """RF-02: before the key is made."""
    store.assert_("book:0-306-40615-2", "city", "Milan", source="sap")

    assert store.get("book:9780306406157", "city").value == "Milan"


def test_rf_22_a_quarantine_is_as_if_never_said_and_can_be_lifted(store: FactStore) -> None:
    """RF-22: of a source, for a span of time; lifted, everything is as before."""
    store.assert_("acme", "city", "Milan", source="sap")
    store.assert_("acme", "city", "Rome", source="chat")
    store.assert_("b", "city", "Rome", source="chat")
    before = store.get("acme", "city").outcome

    made = store.quarantine(source="sap", by="maria", reason="a bad feed")
    assert store.get("acme", "city").value == "Rome"
    assert store.get("b", "city").value == "Rome"
    assert {one.cause for one in store.subscribe(made.position)} == {"quarantine"}

    lifted = store.lift(made.id, by="maria")
    assert store.get("acme", "city").outcome == before
    with pytest.raises(Refused, match="unknown_id"):
        store.lift("0" * 32, by="maria")
    with pytest.raises(Refused, match="unknown_id") as refused:
        store.lift(lifted.id, by="maria", reason="it was right")
    assert "quarantine again" in refused.value.fix
    store.quarantine(source="sap", by="maria", reason="it was right")
    assert store.get("acme", "city").value == "Rome"
    with pytest.raises(Refused, match="nothing_given"):
        store.quarantine(by="maria")
    assert store.verify().same


def test_rf_71_adopting_rules_is_an_event_and_changes_carry_its_cause(store: FactStore) -> None:
    """RF-71: every fact is folded anew, once; nothing of what was said is touched."""
    for n in range(600):
        store.load([store.entry(f"e{n}", "city", "Milan", source="sap")])
    store.assert_("e7", "city", "Rome", source="chat")
    log = list(store.export())[1:]

    done = store.adopt(registry={**REGISTRY, "order": ["crm", "erp", "signed"]}, by="boss")

    told = list(store.subscribe(done.position))
    assert [one.kind for one in told] == ["policy_changed", "decided"]
    assert (str(told[1].key), told[1].cause) == ("e7/city", "policy")
    assert list(store.export())[1:-1] == log
    assert store.verify().same


def test_rf_49_undoing_a_policy_is_a_new_event(store: FactStore) -> None:
    """RF-49: the state equals the one before, and the log is longer."""
    store.assert_("acme", "city", "Milan", source="sap")
    store.assert_("acme", "city", "Rome", source="chat")
    before = store.get("acme", "city").outcome

    store.adopt(registry={**REGISTRY, "order": ["crm", "erp", "signed"]}, by="boss")
    assert store.get("acme", "city").value == "Rome"
    store.adopt(registry=REGISTRY, by="boss", reason="undone")

    assert store.get("acme", "city").outcome == before
    assert kinds(store).count("policy_changed") == 3


def test_other_files_than_were_adopted_are_an_error(opened: Open) -> None:
    opened().assert_("acme", "city", "Milan", source="sap")
    other = {**REGISTRY, "order": ["crm", "erp", "signed"]}

    with pytest.raises(SetupError) as raised:
        opened(registry=other).get("acme", "city")

    assert "pointsman facts what-if" in str(raised.value)
    assert "pointsman facts adopt" in str(raised.value)
    assert opened(policy=None, registry=None).get("acme", "city").value == "Milan"
    adopted = opened(registry=other, adopt=True)
    assert adopted.get("acme", "city").value == "Milan"
    assert kinds(adopted).count("policy_changed") == 2
    with pytest.raises(SetupError):
        opened().get("acme", "city")


def test_without_files_nothing_is_declared_until_some_come(opened: Open) -> None:
    bare = opened(policy=None, registry=None)
    bare.assert_("acme", "city", "Milan", source="sap")
    assert bare.get("acme", "city").status == "unreconciled"

    assert opened().get("acme", "city").value == "Milan"
    assert bare.get("acme", "city").value == "Milan"


def test_the_first_assertion_is_read_under_the_rules_that_it_brings(opened: Open) -> None:
    """The process that adopts them is bound by them at once."""
    store = opened()

    assert store.entry("acme", "total", "1,500", source="sap").assertion.normaliser.startswith(
        "num"
    )
    with pytest.raises(Refused, match="confidence_missing"):
        opened(namespace="b").assert_("acme", "sure", "x", source="sap")


def test_a_second_store_sees_rules_adopted_by_the_first(opened: Open) -> None:
    """Also one that has looked already, and has the old ones at hand."""
    one, other = opened(), opened()
    assert other.assert_("acme", "sure", "x", source="sap", confidence=0.5).new

    attributes = {**POLICY["attributes"], "city": {"type": "text", "strict": True}}
    one.adopt({**POLICY, "attributes": attributes}, by="boss")

    with pytest.raises(Refused, match="confidence_missing"):
        other.assert_("acme", "city", "Milan", source="sap")


# --- events --------------------------------------------------------------------------------


def test_rf_64_events_tell_what_happened_and_no_more(store: FactStore) -> None:
    """RF-64: `decided` comes only where the outcome changes."""
    store.assert_("acme", "total", "10", source="sap", confidence=0.9)
    store.assert_("acme", "total", "10.0", source="oracle", confidence=0.9)  # agrees
    store.assert_("acme", "total", "12", source="contract", confidence=0.9)
    lost = store.assert_("acme", "total", "13", source="chat", confidence=0.9)
    store.retract(lost.id, by="chat", reason="x")

    assert kinds(store) == [
        "policy_changed",
        *("asserted", "decided"),
        "asserted",
        *("asserted", "conflict_detected", "decided"),
        "asserted",
        "retracted",
    ]


def test_rf_65_a_follower_goes_on_where_it_was(store: FactStore) -> None:
    """RF-65: from an id exactly behind it, from a position at least once; no gaps, in order."""
    for n in range(5):
        store.assert_(f"e{n}", "city", "Milan", source="sap")
    told = list(store.subscribe())

    for n, one in enumerate(told):
        assert list(store.subscribe(one.id)) == told[n + 1 :]
        assert next(store.subscribe(one.position)).position == one.position
    assert len({one.id for one in told}) == len(told)
    assert [one.position for one in told] == sorted(one.position for one in told)
    with pytest.raises(Refused, match="bad_cursor"):
        list(store.subscribe("yesterday"))


def test_rf_65_a_slow_follower_keeps_nobody_from_writing(store: FactStore) -> None:
    """RF-65: it may wait between two events as long as it likes."""
    store.assert_("e", "city", "Milan", source="sap")
    following = store.subscribe(wait=5)
    next(following)

    store.assert_("f", "city", "Milan", source="sap")

    assert [next(following).kind for _ in range(4)] == ["asserted", "decided"] * 2


def test_rf_31_time_passes_into_the_log(store: FactStore, clock: Clock) -> None:
    """A value that holds from tomorrow on is told of when its time has come, once."""
    store.assert_("acme", "price", "10", source="sap", valid_from="2025-01-01")
    store.assert_("acme", "price", "12", source="sap", valid_from="2025-06-16")
    assert store.get("acme", "price").value == Decimal(10)
    assert store.advance() == 0

    clock.at += 2 * DAY

    assert store.get("acme", "price").value == Decimal(12)
    assert store.advance() == 1
    assert store.advance() == 0
    assert kinds(store)[-1] == "decided"
    assert store.verify().same


# --- what is worked out ----------------------------------------------------------------------


def test_rf_73_the_projection_is_what_the_log_says_and_is_mended(
    store: FactStore, url: str
) -> None:
    """RF-73: altered, missing and surplus rows are found, and written anew."""
    for n in range(3):
        store.assert_(f"e{n}", "city", "Milan", source="sap", confidence=0.9)
        store.assert_(f"e{n}", "city", "Rome", source="oracle", confidence=0.9)
    assert store.verify().same

    rows(url, "UPDATE facts_current SET status = 'resolved' WHERE key = 'e0/city'")
    rows(url, "DELETE FROM facts_events WHERE position = 3")
    rows(url, "UPDATE facts_disputes SET state = 'closed'")
    rows(url, "INSERT INTO facts_inputs VALUES ('default', 'a/b', 'x', 'c/d', 'y')")
    found = store.verify()

    assert not found.same
    faults = {(one.table, one.fault) for one in found.differences}
    assert faults == {
        ("facts_current", "other"),
        ("facts_events", "missing"),
        ("facts_disputes", "other"),
        ("facts_inputs", "extra"),
    }
    assert store.verify(repair=True).repaired
    assert store.verify().same


@pytest.mark.parametrize(
    ("tampering", "told"),
    [
        ("UPDATE facts_log SET body = replace(body, '\"Milan\"', '\"Bari\"')", "2 id is other"),
        ("UPDATE facts_log SET body = '{'", "2 body is other"),
        ("UPDATE facts_log SET body = ''", "2 body is other"),
        ("UPDATE facts_log SET id = 'another'", "2 id is other"),
        ("UPDATE facts_log SET kind = 'retracted'", "2 kind is other"),
        ("UPDATE facts_log SET key = 'other/city'", "2 key is other"),
        ("UPDATE facts_log SET source = 'chat'", "2 source is other"),
        ("UPDATE facts_log SET recorded_at = 99", "2 recorded_at is other"),
        ("UPDATE facts_log SET position = 9", "2 is missing"),
        ("DELETE FROM facts_log", "2 is missing"),
    ],
)
def test_rf_73_a_log_that_was_altered_is_told_and_stays_as_it_is(
    store: FactStore, url: str, tampering: str, told: str
) -> None:
    """RF-73: whichever column it is; nothing is worked out anew from such a log."""
    for source in ("sap", "oracle"):
        store.assert_("acme", "city", "Milan", source=source)
    assert store.verify().same
    before = rows(url, "SELECT * FROM facts_current")
    rows(url, f"{tampering} WHERE position = 2")
    altered = rows(url, "SELECT * FROM facts_log")

    found = store.verify(repair=True)

    assert f"facts_log: {told}" in map(str, found.differences)
    assert found.broken
    assert not found.same
    assert not found.repaired
    assert rows(url, "SELECT * FROM facts_log") == altered
    assert rows(url, "SELECT * FROM facts_current") == before


def test_rf_73_entries_missing_at_the_end_are_told(store: FactStore, url: str) -> None:
    """RF-73: the head knows how many there were."""
    for source in ("sap", "oracle"):
        store.assert_("acme", "city", "Milan", source=source)
    rows(url, "DELETE FROM facts_log WHERE position = 3")

    found = store.verify(repair=True)

    assert "facts_log: 3 is missing" in map(str, found.differences)
    assert not found.repaired


@pytest.mark.parametrize(
    ("tampering", "told"),
    [
        ("UPDATE facts_heads SET position = 2, projected = 2", "position is other"),
        ("UPDATE facts_heads SET projected = 1", "projected is other"),
        ("UPDATE facts_heads SET projected = 99", "projected is other"),
        ("UPDATE facts_heads SET recorded_at = 1", "recorded_at is other"),
        ("UPDATE facts_heads SET wide = ''", "wide is other"),
        ("DELETE FROM facts_heads", "default is missing"),
    ],
)
def test_rf_73_a_head_that_was_altered_is_written_anew_from_the_log(
    store: FactStore, url: str, tampering: str, told: str
) -> None:
    """RF-73: then everything is as it was, and can be written to."""
    for source in ("sap", "oracle"):
        store.assert_("acme", "city", "Milan", source=source)
    queries = [f"SELECT * FROM {name}" for name in ("facts_heads", "facts_current", "facts_events")]  # noqa: S608 - fixed texts
    before = [rows(url, query) for query in queries]
    rows(url, tampering)

    found = store.verify(repair=True)

    assert f"facts_heads: {told}" in map(str, found.differences)
    assert found.repaired
    assert not found.broken
    assert [rows(url, query) for query in queries] == before
    assert store.verify().same


def test_rf_73_what_was_erased_is_no_fault_of_the_log(store: FactStore, url: str) -> None:
    """RF-73, RF-48: content that is gone without anybody's word is one."""
    done = store.assert_("acme", "city", "Milan", source="sap")
    store.erase(done.id, by="maria", reason="asked for")
    assert store.verify().same

    rows(url, "UPDATE facts_log SET source = 'sap' WHERE body = ''")

    assert [str(one) for one in store.verify().differences] == ["facts_log: 2 source is other"]


def test_rf_73_entries_that_nobody_worked_out_are_by_whoever_comes(opened: Open, url: str) -> None:
    """RF-73: a process that died between the two left only work, and nothing wrong."""
    writer, reader = opened(), opened()
    for n in range(5):
        entry = writer.entry("acme", "city", f"town {n}", source="sap", writer=f"w{n}")
        writer.ledger.append(entry, later=True)
    assert rows(url, "SELECT position - projected FROM facts_heads") == [(5,)]

    assert reader.get("acme", "city").status == "disputed"
    assert len(reader.disputes.list()) >= 0
    reader.assert_("b", "city", "Milan", source="sap")

    assert rows(url, "SELECT position - projected FROM facts_heads") == [(0,)]
    assert reader.verify().same


def test_positions_have_no_gaps_and_times_grow(store: FactStore, url: str, clock: Clock) -> None:
    """Also where the clock stands still or goes back, and where something was refused."""
    for n in range(4):
        store.assert_("acme", "city", f"t{n}", source="sap")
        clock.at = NOON
        with pytest.raises(Refused):
            store.assert_("acme", "city", "n/a", source="sap")

    found = rows(url, "SELECT position, recorded_at FROM facts_log ORDER BY position")

    assert [row[0] for row in found] == [1, 2, 3, 4, 5]
    assert [row[1] for row in found] == sorted({row[1] for row in found})


def test_rf_76_many_threads_write_at_once(opened: Open, url: str) -> None:
    """RF-76: on either database every distinct assertion is there once, in a gapless order."""
    stores = [opened() for _ in range(4)]
    stores[0].assert_("first", "city", "Milan", source="sap")

    def write(n: int) -> None:
        for m in range(25):
            source = ("sap", "chat", "oracle")[m % 3]
            about = f"e{m % 7}", "city", f"town {m % 4}"
            stores[n].assert_(*about, source=source, writer=f"w{m % 5}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, [n % 4 for n in range(8)]))

    distinct = {(m % 7, m % 4, m % 3, m % 5) for m in range(25)}
    (counted,) = rows(url, "SELECT COUNT(*), MAX(position) FROM facts_log WHERE kind = 'asserted'")
    assert counted[0] == len(distinct) + 1
    assert rows(url, "SELECT MAX(position) - COUNT(*) FROM facts_log") == [(0,)]
    assert stores[0].verify().same


def test_two_processes_open_an_empty_database_at_once(opened: Open, url: str) -> None:
    """The rules are adopted once."""
    stores = [opened() for _ in range(6)]
    gate = threading.Barrier(6)

    def look(store: FactStore) -> str:
        gate.wait()
        return store.get("acme", "city").status

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(look, stores)) == {"absent"}

    assert rows(url, "SELECT COUNT(*) FROM facts_log") == [(1,)]


# --- where it is -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_a_namespace_has_a_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(SetupError, match="FACTS_NAMESPACE"):
        FactStore(tmp_path / "facts.db", namespace=name)


def test_nothing_is_made_before_the_first_use(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    with FactStore(path, policy=POLICY) as store:
        assert store.missing
        assert not path.exists()
        store.get("acme", "city")
        assert not store.missing


def test_facts_and_records_live_in_one_file(tmp_path: Path) -> None:
    """Each with its own tables and its own versions of them."""
    from pointsman.gateway.journal.store import Store

    path = tmp_path / "journal.db"
    journal = Store.open(f"sqlite:///{path}")
    assert list(journal.trails()) == []
    with FactStore(path) as store:
        store.assert_("acme", "city", "Milan", source="sap")
    assert list(journal.trails()) == []
    journal.close()

    versions = rows(f"sqlite:///{path}", "SELECT version_num FROM facts_version")
    assert versions == [("0001",)]


def test_the_revisions_lead_to_the_tables_that_are_used(url: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    from pointsman.decision_points.facts.ledger import schema
    from pointsman.gateway.journal import revisions

    config = Config()
    config.set_main_option("script_location", str(schema.FACTS.scripts))
    assert ScriptDirectory.from_config(config).get_heads() == [schema.HEAD]
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).parent.mkdir()
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        revisions.upgrade(connection, tables=schema.FACTS)
        assert revisions.revision(connection, schema.FACTS) == schema.HEAD
    with engine.connect() as connection:
        options = {
            "version_table": schema.VERSIONS,
            "compare_type": True,
            "include_name": lambda name, kind, _: kind != "table" or name.startswith("facts_"),
        }
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, schema.metadata) == []
    engine.dispose()


def test_tables_of_another_program_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    rows(f"sqlite:///{path}", "CREATE TABLE facts_log (a TEXT)")

    with pytest.raises(SetupError, match="tables of another program"):
        FactStore(path).get("acme", "city")


MOUNTED = """\
21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 21 0:44 / /mnt/share rw - nfs4 host:/export rw
31 30 0:45 / /mnt/share/local rw - ext4 /dev/sdb1 rw
32 21 0:46 / /home/me/with\\040space rw - fuse.sshfs me@host: rw
33 21 0:47 / /mnt/share/local/far rw - cifs //host/x rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/data/facts.db", ""),
        ("/mnt/share/facts.db", "nfs4"),
        ("/mnt/share/local/facts.db", ""),
        ("/mnt/share/local/far/facts.db", "cifs"),
        ("/mnt/shared/facts.db", ""),
        ("/home/me/with space/facts.db", "fuse.sshfs"),
        ("//server/share/facts.db", "a share"),
        ("\\\\server\\share\\facts.db", "a share"),
    ],
)
def test_rf_75_a_file_on_a_network_is_known_by_its_mount(path: str, kind: str) -> None:
    """RF-75: SQLite's locks do not hold there."""
    from pointsman.decision_points.facts.ledger.places import on_network

    assert on_network(Path(path), MOUNTED) == kind


def test_rf_75_a_share_is_refused() -> None:
    """RF-75: with what to do instead, before anything is opened there."""
    with pytest.raises(SetupError, match="on a network") as raised:
        FactStore("sqlite://///server/share/facts.db").get("acme", "city")

    assert "PostgreSQL" in str(raised.value)


def test_rf_75_sqlite_is_in_wal_mode_and_waits_for_its_turn(tmp_path: Path) -> None:
    """RF-75: a writer that finds the file locked waits, and loses nothing."""
    import sqlite3

    path = tmp_path / "facts.db"
    with FactStore(path, policy=POLICY, registry=REGISTRY) as store:
        store.assert_("acme", "city", "Milan", source="sap")
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.3, other.execute, ["ROLLBACK"])
        release.start()

        assert store.assert_("acme", "city", "Rome", source="chat").new
        release.join()
        other.close()


def test_importing_facts_loads_no_databases_library() -> None:
    program = (
        "import sys\n"
        "import pointsman.decision_points.facts as facts\n"
        "facts.FactStore\n"
        "assert 'sqlalchemy' not in sys.modules\n"
        "assert 'alembic' not in sys.modules\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


def test_rf_73_a_file_that_was_taken_away_is_no_store_without_rules(tmp_path: Path) -> None:
    """RF-73: the rules given hold in a new file too; with none given nothing is written."""
    file = tmp_path / "facts.db"
    with FactStore(file, policy=POLICY, registry=REGISTRY) as given, FactStore(file) as bare:
        given.assert_("acme", "price", "1,000.00", source="sap")
        bare.assert_("acme", "price", "2,000.00", source="oracle")
        for one in tmp_path.iterdir():
            one.unlink()
        with pytest.raises(SetupError, match="taken away"):
            bare.assert_("acme", "price", "3,000.00", source="oracle")
        found = given.assert_("acme", "price", "1,000.00", source="oracle").outcome.value

    assert found is not None
    assert found.form == "number"


def test_rf_71_two_halves_adopted_at_once_both_hold(store: FactStore) -> None:
    """RF-71: who adopts a policy does not undo the registry that another adopts meanwhile."""
    _ = store.ledger
    for number in range(10):
        policy = {**POLICY, "limits": {"per_key": 100 + number}}
        registry = {**REGISTRY, "order": ["signed", "erp", "crm", f"level{number}"]}
        start = threading.Barrier(2)

        def adopt(half: str, rules: Any, start: threading.Barrier = start) -> None:
            start.wait()
            store.adopt(**{half: rules}, by=half)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(adopt, ("policy", "registry"), (policy, registry)))
        with store.view() as view:
            held, sources = view.versions()
        assert held.limits.per_key == 100 + number
        assert f"level{number}" in str(sources.plain())


@pytest.mark.parametrize(
    ("key", "found"),
    [
        (FactKey("default", "ACME", "City"), "acme/city"),
        (FactKey("default", "a", "x", (("b", "1"), ("a", "2"))), "a/x?a=2&b=1"),
        (FactKey("default", "", "x"), ""),
        (FactKey("default", "a", "x", (("c", "1"), ("c", "2"))), ""),
        (FactKey("default", "a" * 501, "x"), ""),
    ],
)
def test_rf_01_a_key_made_by_hand_is_brought_into_form(
    store: FactStore, key: FactKey, found: str
) -> None:
    """RF-01: and refused where there is no such form."""
    if found:
        assert str(store.assert_(key, value="x", source="sap").key) == found
    else:
        with pytest.raises(Refused, match="bad_key"):
            store.assert_(key, value="x", source="sap")


def test_rf_48_a_follower_hears_what_is_left_of_what_was_erased(store: FactStore) -> None:
    """RF-48, RF-64: also one who had read everything."""
    first = store.assert_("acme", "city", "Rome", source="sap")
    store.assert_("acme", "city", "Milan", source="oracle")
    cursor = list(store.subscribe())[-1].id

    store.erase(first.id, by="dpo", reason="asked")

    told = [one for one in store.subscribe(cursor) if one.cause == "erased"]
    assert [(one.kind, one.after and one.after.status) for one in told] == [("decided", "resolved")]
    assert store.verify().same


def test_rf_48_what_is_erased_while_somebody_reads_goes_later(tmp_path: Path) -> None:
    """RF-48: it is said that it is still there, and the next write takes it out."""
    file = tmp_path / "facts.db"
    with FactStore(file, policy=POLICY, registry=REGISTRY) as store, FactStore(file) as other:
        word = store.assert_("acme", "city", "zebrasecret", source="sap")
        with other.view() as view:
            assert list(view.entries())
            assert store.erase(word.id, by="dpo", reason="asked").notes == ("not_gone_yet",)
        store.assert_("acme", "city", "Rome", source="sap")
        for one in tmp_path.iterdir():
            assert b"zebrasecret" not in one.read_bytes()


def test_rf_47_a_chain_of_retractions_may_be_long(store: FactStore) -> None:
    """RF-47: longer than Python's stack."""
    word = store.assert_("acme", "city", "Rome", source="sap")
    key, last, chain = word.key, word.id, list[Retracted]()
    for _ in range(1100):
        chain.append(Retracted(key=key, target=last, by="sap", reason="no"))
        last = chain[-1].id
    store.load(chain[:1])
    store.ledger.take((one.id, one, None) for one in chain[1:])

    assert store.get(key).status == "resolved"  # the last stands, and so not the first
    assert store.retract(word.id, by="sap", reason="no").new
    assert store.get(key).status == "absent"
