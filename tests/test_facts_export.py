"""A namespace carried off and taken in: the union of two logs is one that had both writers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from journaled import schema_of, server
from pointsman.decision_points.facts import FactStore, Refused
from pointsman.decision_points.facts.entries import AnyEntry, Receipt

sqlalchemy = pytest.importorskip("sqlalchemy")

POLICY: dict[str, Any] = {
    "schema": 1,
    "attributes": {"city": {"type": "text"}, "seat": {"type": "text", "dissent": "guard"}},
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
}
Open = Callable[..., FactStore]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    stores: list[FactStore] = []

    def make(name: str, **given: Any) -> FactStore:
        usual: dict[str, Any] = {"policy": POLICY, "registry": REGISTRY}
        stores.append(FactStore(tmp_path / f"{name}.db", **{**usual, **given}))
        return stores[-1]

    yield make
    for one in stores:
        one.close()


def filled(store: FactStore) -> FactStore:
    """A store in which something of every kind happened."""
    store.assert_("acme", "city", "Milan", source="sap", confidence=0.9)
    lost = store.assert_("acme", "city", "Rome", source="oracle", confidence=0.9)
    secret = store.assert_("acme", "city", "Sekretstadt", source="chat")
    store.assert_("b", "city", "Milan", source="sap")
    store.retract(lost.id, by="oracle", reason="misread")
    store.erase(secret.id, by="dpo", reason="asked")
    store.quarantine(source="chat", by="maria")
    store.alias("acme inc", "acme", by="maria")
    store.get("acme", "city", decision="d1")
    return store


def outcomes(store: FactStore) -> dict[str, Any]:
    """What every fact comes to, at one time."""
    return {str(one.key): one.outcome for one in store.facts()}


def test_rf_77_an_export_restores_everything(opened: Open) -> None:
    """RF-77: with the times of the store that wrote it, and byte for byte what it worked out."""
    one = filled(opened("one"))
    lines = list(one.export())
    other = opened("other", policy=None, registry=None)

    done = other.import_(lines, restore=True)

    assert (done.new, done.there) == (len(lines) - 1, 0)
    assert list(other.export()) == lines
    assert [*other.subscribe()] == [*one.subscribe()]
    assert outcomes(other) == outcomes(one)
    assert other.verify().same
    known = one.history("acme", "city")[0].recorded_at
    then = [store.get("acme", "city", valid_at=known, known_at=known) for store in (one, other)]
    assert then[0].outcome == then[1].outcome


def test_rf_77_importing_again_changes_nothing(opened: Open) -> None:
    """RF-77: what is there is there once."""
    one = filled(opened("one"))
    before = list(one.export())

    done = one.import_(before)

    assert (done.new, done.there) == (0, len(before) - 1)
    assert list(one.export()) == before


VALUES = st.sampled_from(["Milan", "Rome", "Turin"])
SOURCES = st.sampled_from(["sap", "oracle", "contract", "chat", "stranger"])
SAID = st.tuples(
    st.sampled_from(["city", "seat"]), VALUES, SOURCES, st.sampled_from([None, 0.5, 0.9])
)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(mine=st.lists(SAID, max_size=6), theirs=st.lists(SAID, max_size=6), back=st.booleans())
def test_rf_77_a_union_is_as_one_store(
    opened: Open,
    mine: list[Any],
    theirs: list[Any],
    back: bool,  # noqa: FBT001 - drawn
) -> None:
    """RF-77: whichever takes in the other, it comes to what one that had both would."""
    name = str(next(NUMBERS))
    one, other, both = (opened(f"{name}-{which}") for which in ("one", "other", "both"))
    for store, said in ((one, mine), (other, theirs)):
        _said(store, said, back=back)
        _said(both, said, back=back)

    one.import_(list(other.export()))
    other.import_(list(one.export()))

    at = both.get("x", "city").valid_at
    assert _folded(one, at) == _folded(other, at) == _folded(both, at)
    assert one.verify().same
    for store in (one, other, both):
        store.close()


def _folded(store: FactStore, at: int) -> dict[str, Any]:
    with store.view() as view:
        keys = list(view.keys())
        return {str(key): view.outcome(key, at) for key in keys}


NUMBERS = iter(range(10_000))


def _said(store: FactStore, said: list[Any], *, back: bool) -> None:
    for attribute, value, source, confidence in said:
        done = store.assert_("e", attribute, value, source=source, confidence=confidence)
        if back and value == "Turin":
            store.retract(done.id, by=source, reason="x")


def test_rf_77_two_resolutions_that_meet(opened: Open) -> None:
    """RF-77: a person counts before an agent; of one kind and different, none does."""
    one = opened("one")
    one.assert_("acme", "city", "Milan", source="sap", confidence=0.9)
    one.assert_("acme", "city", "Rome", source="oracle", confidence=0.9)
    lines = list(one.export())
    other = opened("other", policy=None, registry=None)
    other.import_(lines)
    (dispute,) = one.disputes.list()
    milan, rome = (
        next(c.id for c in dispute.candidates if c.value.text == text) for text in ("milan", "rome")
    )

    one.disputes.resolve(dispute.id, milan, by="ana", party="person", reason="seen")
    other.disputes.resolve(dispute.id, rome, by="bot", party="agent", reason="guess")
    one.import_(list(other.export()))
    other.import_(list(one.export()))
    assert one.get("acme", "city").value == other.get("acme", "city").value == "Milan"

    third = opened("third", policy=None, registry=None)
    third.import_(lines)
    third.disputes.resolve(dispute.id, rome, by="bo", party="person", reason="seen too")
    one.import_(list(third.export()))

    assert one.get("acme", "city").status == "disputed"
    assert one.disputes.get(dispute.id).state == "reopened"
    receipts = [x.entry for x in one.history("acme", "city") if isinstance(x.entry, Receipt)]
    assert {receipt.resolver for receipt in receipts} == {"ana", "bot", "bo"}
    assert one.verify().same


def test_rf_77_of_two_policies_the_later_one_holds_in_both(opened: Open) -> None:
    """RF-77: whichever took in the other; and what is adopted next holds, whatever the clock."""
    clock = iter(range(1_000_000, 9_000_000))
    one, other = (
        opened("one", clock=lambda: next(clock)),
        opened("other", clock=lambda: next(clock)),
    )
    for store in (one, other):
        store.assert_("acme", "city", "Milan", source="sap")
        store.assert_("acme", "city", "Rome", source="chat")
    one.adopt(registry={**REGISTRY, "order": ["crm", "erp", "signed"]}, by="boss")

    other.import_(list(one.export()))
    one.import_(list(other.export()))
    assert one.get("acme", "city").value == other.get("acme", "city").value == "Rome"

    late = opened("other", clock=lambda: 5, policy=None, registry=None)
    late.adopt(registry=REGISTRY, by="boss")
    assert late.get("acme", "city", valid_at=10**15).value == "Milan"
    assert one.verify().same
    assert other.verify().same


def test_rf_77_limits_do_not_keep_a_union_from_being_one(opened: Open) -> None:
    """RF-77, RF-80: what was let in there is let in here."""
    narrow = {**POLICY, "limits": {"per_key": 3}}
    one, other = opened("one", policy=narrow), opened("other", policy=narrow)
    for store, name in ((one, "a"), (other, "b")):
        for n in range(3):
            store.assert_("acme", "city", "Milan", source="sap", writer=f"{name}{n}")

    one.import_(list(other.export()))

    assert len(one.history("acme", "city")) == 6
    with pytest.raises(Refused, match="too_many"):
        one.assert_("acme", "city", "Milan", source="sap", writer="c")


def test_rf_48_what_one_store_erased_does_not_come_back(opened: Open) -> None:
    """RF-48, RF-77: neither by taking in a copy that has it, nor the other way round."""
    one = opened("one")
    secret = one.assert_("acme", "city", "Sekretstadt", source="sap")
    copy = list(one.export())
    other = opened("other", policy=None, registry=None)
    other.import_(copy)
    one.erase(secret.id, by="dpo", reason="asked")

    one.import_(copy)
    other.import_(list(one.export()))

    for store in (one, other):
        assert "ekretstadt" not in "".join(store.export())
        assert store.get("acme", "city").stale == "redacted"
        assert store.verify().same


def _altered(lines: list[str], number: int, **fields: Any) -> list[str]:
    changed = json.loads(lines[number])
    changed.update(fields)
    return [*lines[:number], json.dumps(changed), *lines[number + 1 :]]


def test_an_altered_line_is_refused(opened: Open) -> None:
    """An entry is known by its content: nobody can put words into another's mouth."""
    one = opened("one")
    one.assert_("acme", "city", "Milan", source="sap")
    lines = list(one.export())
    other = opened("other", policy=None, registry=None)

    with pytest.raises(Refused, match="line 3 was altered"):
        other.import_(_altered(lines, 2, id="0" * 32))
    with pytest.raises(Refused, match="line 3 is no entry"):
        other.import_([*lines[:2], "{}"])
    with pytest.raises(Refused, match="line 1 is no header"):
        other.import_(lines[1:])
    with pytest.raises(Refused, match="other_namespace"):
        other.import_(_altered(lines, 0, namespace="else"))
    with pytest.raises(Refused, match="schema 2"):
        other.import_(_altered(lines, 0, schema=2))
    with pytest.raises(Refused, match="not_empty"):
        one.import_(lines, restore=True)
    assert other.history("acme", "city") == ()


def test_rf_52_receipts_are_exported_as_they_are(opened: Open) -> None:
    """RF-52: immutable, and with all that they say."""
    one = opened("one")
    one.assert_("acme", "city", "Milan", source="sap", confidence=0.9)
    one.assert_("acme", "city", "Rome", source="oracle", confidence=0.9)
    (dispute,) = one.disputes.list()
    choice = dispute.candidates[0].id
    receipt = one.disputes.resolve(dispute.id, choice, by="ana", reason="the deed says so")

    (line,) = [json.loads(x) for x in one.export() if '"resolved"' in x]

    assert line["id"] == receipt.id
    assert line["entry"]["reason"] == "the deed says so"
    assert line["entry"]["seen"] == sorted(c.id for c in dispute.candidates)


def test_rf_76_from_sqlite_to_postgresql_and_back(opened: Open) -> None:
    """RF-76: a log is the same wherever it is kept."""
    one = filled(opened("one"))
    lines = list(one.export())
    with schema_of(server()) as url, FactStore(url) as there:
        there.import_(lines, restore=True)
        assert there.verify().same
        assert outcomes(there) == outcomes(one)
        assert list(there.export()) == lines


def entries_of(store: FactStore) -> list[AnyEntry]:
    with store.view() as view:
        return [one.entry for one in view.entries()]


def test_nothing_is_archived_unasked(opened: Open) -> None:
    """RF-73: every entry that was written is still there, in its order."""
    one = filled(opened("one"))

    assert len(entries_of(one)) == len(list(one.export())) - 2  # the header, and what was erased


def test_rf_77_a_part_of_an_export_is_refused_whole(opened: Open) -> None:
    """RF-77: nothing of it is written, however it is taken in."""
    lines = list(filled(opened("one")).export())
    blank = [n for n, line in enumerate(lines) if '"erased"' in line]
    torn = [lines[0].replace(f":{len(lines) - 1}", f":{len(lines) - 2}"), *lines[1:]]
    del torn[blank[0]]
    for part, code in (
        (lines[:-1], "not_whole"),
        ([*lines[:3], "{bad"], "bad_line"),
        (torn, "bad_line"),
    ):
        other = opened(f"{code}{len(part)}")
        before = list(other.export())
        with pytest.raises(Refused, match=code):
            other.import_(part)
        assert list(other.export()) == before
