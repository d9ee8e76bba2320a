"""A person's word in the inbox is never lost; and what is settled gives the dispute back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from boxed import items
from commanding import clean
from pointsman import Gateway, Reason, Reply, scripted
from pointsman.decision_points.facts import FactStore, Superseded
from pointsman.gateway.answers import Chosen, Usage

POLICY: Mapping[str, Any] = {"attributes": {"city": {}}, "limits": {"text_characters": 2000}}
REGISTRY = {
    "order": ["erp"],
    "sources": {one: {"level": "erp"} for one in ("sap", "oracle", "totvs")},
}
Make = Callable[..., Gateway]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'decisions.db'}"


@pytest.fixture
def store(url: str) -> Iterator[FactStore]:
    with FactStore(url, policy=POLICY, registry=REGISTRY) as made:
        yield made


@pytest.fixture
def gateway(url: str, gateway_of: Make) -> Gateway:
    """A gateway whose journal is the store's database."""
    return gateway_of({"DECISION_JOURNAL": url})


def clash(store: FactStore) -> str:
    """Two systems contradict each other; the dispute."""
    store.assert_("acme", "city", "Lisbon", source="sap", writer="reader-1", confidence=0.9)
    store.assert_("acme", "city", "Porto", source="oracle", writer="reader-2", confidence=0.9)
    return store.get("acme", "city").outcome.dispute


def choice(store: FactStore, text: str, id_: str) -> str:
    """The id of a candidate."""
    found = store.disputes.get(id_).candidates
    return next(one.id for one in found if one.value.text == text)


def left(store: FactStore, gateway: Gateway) -> tuple[str, str]:
    """A dispute that waits for a person; it, and under which decision."""
    id_ = clash(store)
    return id_, store.disputes.settle_sync(gateway, id_).decision


def answering(store: FactStore, id_: str, confidence: float | None, **usage: Any) -> Any:
    """A provider that chooses Porto."""
    chosen = Chosen(choice(store, "porto", id_), None, confidence)
    return scripted(Reply({"candidate": chosen}, usage=Usage(**usage) if usage else None))


# --- a word that counts --------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["list", "next"])
def test_a_word_in_the_inbox_is_heard_before_work_is_looked_for(
    store: FactStore, gateway: Gateway, how: str
) -> None:
    """RF-58: nobody has to call `heard` for it."""
    id_, waiting = left(store, gateway)
    gateway.resolve(waiting, choice(store, "porto", id_), by="bea")

    found = store.disputes.list() if how == "list" else store.disputes.next("robot")

    assert not found
    assert store.get("acme", "city").value == "Porto"


@pytest.mark.parametrize("how", ["resolve", "settle"])
def test_a_word_in_the_inbox_comes_before_whoever_resolves(
    store: FactStore, gateway: Gateway, how: str
) -> None:
    """RF-55: they are told whose receipt counts."""
    id_, waiting = left(store, gateway)
    porto, lisbon = choice(store, "porto", id_), choice(store, "lisbon", id_)
    gateway.resolve(waiting, porto, by="bea")
    moves: dict[str, Callable[[], object]] = {
        "resolve": lambda: store.disputes.resolve(id_, lisbon, by="jev", party="agent"),
        "settle": lambda: store.disputes.settle_sync(gateway, id_),
    }

    with pytest.raises(Superseded) as late:
        moves[how]()

    assert late.value.receipt is not None
    assert (late.value.receipt.resolver, late.value.receipt.choice) == ("bea", porto)


def test_a_persons_word_overrides_an_agent_that_resolved_it_meanwhile(
    store: FactStore, gateway: Gateway
) -> None:
    """RF-55."""
    id_, waiting = left(store, gateway)
    store.disputes.resolve(id_, choice(store, "lisbon", id_), by="jev", party="agent")
    gateway.resolve(waiting, choice(store, "porto", id_), by="bea")

    (end,) = store.disputes.heard()

    assert (end.ending, store.get("acme", "city").value) == ("resolved", "Porto")
    assert end.receipt is not None
    assert end.receipt.overrides == store.disputes.get(id_).receipts[:1]
    assert store.disputes.heard() == ()


def test_a_word_that_waits_is_heard_also_after_the_dispute_was_opened_again(
    store: FactStore, gateway: Gateway
) -> None:
    """RF-49: taking back an agent's receipt takes back no question."""
    id_, waiting = left(store, gateway)
    store.disputes.resolve(id_, choice(store, "lisbon", id_), by="jev", party="agent")
    store.disputes.withdraw(id_, by="ana", reason="no")
    gateway.resolve(waiting, choice(store, "porto", id_), by="bea")

    assert [one.ending for one in store.disputes.heard()] == ["resolved"]
    assert store.get("acme", "city").value == "Porto"


def test_a_long_note_is_cut_and_the_word_counts(store: FactStore, gateway: Gateway) -> None:
    """RF-52: the inbox takes 4,000 characters; signs that nobody sees are left out."""
    id_, waiting = left(store, gateway)
    note = "\x1bI was there. " + "x" * 3900
    gateway.resolve(waiting, choice(store, "porto", id_), by="be\u200ba", note=note)

    (end,) = store.disputes.heard()

    assert end.receipt is not None
    assert (end.receipt.resolver, len(end.receipt.reason)) == ("bea", 2000)
    assert end.receipt.reason.startswith("I was there. x")
    assert end.receipt.reason.endswith("x…")


def test_a_word_waits_while_the_dispute_is_another_persons(
    store: FactStore, gateway: Gateway
) -> None:
    """RF-51: it is heard once the other gives it back."""
    id_, waiting = left(store, gateway)
    store.disputes.assign(id_, "ana", party="person")
    gateway.resolve(waiting, choice(store, "porto", id_), by="bea")

    (end,) = store.disputes.heard()
    assert (end.ending, end.why, end.waiting) == ("refused", "assigned", True)

    store.disputes.release(id_, "ana")
    assert [one.ending for one in store.disputes.heard()] == ["resolved"]


# --- a word that does not ------------------------------------------------------------------------


@pytest.mark.parametrize("asks", [True, False])
def test_a_refused_word_is_noted_once_and_the_question_put_again(
    store: FactStore, gateway: Gateway, url: str, *, asks: bool
) -> None:
    """RF-57: an author's; where no inbox can be written to it stays open, and says why."""
    id_, waiting = left(store, gateway)
    gateway.resolve(waiting, choice(store, "porto", id_), by="reader-1")
    before, told = len(items(url)), list(store.subscribe())[-1].id

    (end,) = store.disputes.heard(gateway if asks else None)

    assert (end.ending, end.why, end.waiting) == ("refused", "own_candidate", asks)
    assert store.disputes.heard(gateway if asks else None) == ()
    found = store.disputes.get(id_)
    assert (found.live, found.escalated, bool(found.waiting)) == (True, "own_candidate", asks)
    assert found.waiting != waiting
    assert len(items(url)) == before + asks
    assert [one.kind for one in store.subscribe(told)] == ["escalated"]
    if asks:
        gateway.resolve(found.waiting, choice(store, "porto", id_), by="bea")
        assert [one.ending for one in store.disputes.heard()] == ["resolved"]


@pytest.mark.parametrize("asks", [True, False])
def test_a_word_about_former_candidates_is_answered_and_the_new_ones_are_asked_about(
    store: FactStore, gateway: Gateway, url: str, *, asks: bool
) -> None:
    """RF-54, RF-50: it is no word about the revision."""
    id_, waiting = left(store, gateway)
    store.assert_("acme", "city", "Faro", source="totvs", confidence=0.9)
    gateway.resolve(waiting, choice(store, "porto", id_), by="bea")

    (end,) = store.disputes.heard(gateway if asks else None)

    assert (end.dispute, end.ending, end.why) == (id_, "superseded", "superseded")
    assert store.disputes.heard(gateway) == ()
    (new,) = store.disputes.list()
    assert (new.former, new.escalated, bool(new.waiting)) == (id_, "superseded", asks)
    if asks:
        (item,) = [one for one in items(url) if one.entry.id == new.waiting]
        assert {*new.seen} < {*item.entry.questions["candidate"].options}  # type: ignore[union-attr]


def test_a_word_that_comes_after_another_person_is_answered(
    store: FactStore, gateway: Gateway
) -> None:
    """RF-55: the first person's receipt is told."""
    id_, waiting = left(store, gateway)
    first = store.disputes.resolve(id_, choice(store, "lisbon", id_), by="ana")
    gateway.resolve(waiting, choice(store, "porto", id_), by="bea")

    (end,) = store.disputes.heard(gateway)

    assert (end.ending, end.receipt) == ("superseded", first)
    assert (store.disputes.get(id_).state, store.disputes.heard(gateway)) == ("resolved", ())


def test_the_command_hears_before_it_shows_and_tells_what_does_not_count(
    store: FactStore, gateway: Gateway, url: str
) -> None:
    """RF-57, RF-55: `disputes`, `get`, `explain` and `resolve`."""
    id_, waiting = left(store, gateway)
    gateway.resolve(waiting, choice(store, "porto", id_), by="reader-1")

    def facts(*words: str) -> str:
        run = subprocess.run(
            [sys.executable, "-m", "pointsman.gateway.cli", "facts", *words],
            env=clean({"DECISION_JOURNAL": url, "DECISION_LOG": "off"}),
            capture_output=True,
            text=True,
            check=False,
        )
        return run.stdout + run.stderr

    said = facts("disputes")
    assert "does not count: own candidate." in said
    assert "own_candidate" in said
    assert "does not count" not in facts("disputes")
    again = store.disputes.settle_sync(gateway, id_).decision
    gateway.resolve(again, choice(store, "porto", id_), by="bea")
    assert "value         Porto\n" in facts("get", "acme/city")
    late = facts("resolve", id_, "--choose", "Lisbon", "--by", "bob", "--reason", "no")
    assert "'bea' resolved it before" in late


# --- settling ------------------------------------------------------------------------------------


@pytest.mark.parametrize("waits", [True, False])
def test_who_asks_gives_the_dispute_back_whatever_is_raised(
    store: FactStore, gateway_of: Make, *, waits: bool
) -> None:
    """RF-51: also where the business cannot be asked."""
    id_ = clash(store)
    gateway = gateway_of()

    def down(_: object) -> str:
        raise ConnectionError

    def ask() -> None:
        if waits:
            store.disputes.settle_sync(gateway, id_, validate=down)
        else:
            asyncio.run(store.disputes.settle(gateway, id_, validate=down))

    with (
        gateway.override({"FACT_DISPUTE": answering(store, id_, 0.9)}),
        pytest.raises(ConnectionError),
    ):
        ask()

    found = store.disputes.get(id_)
    assert (found.state, found.assigned_to) == ("open", "")


@pytest.mark.parametrize(("many", "why"), [(254, "timeout"), (255, "too_many")])
def test_more_candidates_than_can_be_asked_about_go_to_a_person(
    store: FactStore, gateway: Gateway, many: int, why: str
) -> None:
    """RF-38: nothing is raised, and the fact stays as it was."""
    for one in range(many):
        store.assert_("acme", "town", f"Town {one}", source=f"feed {one}", confidence=0.9)
    store.adopt({"attributes": {"town": {}}}, by="ana")  # declared late: it is folded once
    (dispute,) = store.disputes.list()

    with gateway.override({"FACT_DISPUTE": scripted(Reason.TIMEOUT)}):
        end = store.disputes.settle_sync(gateway, dispute.id)

    found = store.disputes.get(dispute.id)
    assert (end.ending, end.why, end.waiting) == ("unresolved", why, why == "timeout")
    assert (found.state, found.escalated) == ("open", why)


def test_an_answer_without_a_confidence_is_none_where_no_minimum_holds_it_back(
    store: FactStore, gateway_of: Make
) -> None:
    """RF-38."""
    id_ = clash(store)
    gateway = gateway_of({"DECISION_FACT_DISPUTE_MIN_CONFIDENCE": "0"})

    with gateway.override({"FACT_DISPUTE": answering(store, id_, None)}):
        end = store.disputes.settle_sync(gateway, id_)

    assert (end.ending, end.why) == ("unresolved", "confidence_missing")
    assert store.get("acme", "city").status == "disputed"


def test_a_cost_that_is_no_number_is_not_known(store: FactStore, gateway_of: Make) -> None:
    """RF-59: a provider's fault never reaches the log."""
    id_ = clash(store)
    gateway = gateway_of()
    usage = {"input_tokens": 5, "output_tokens": 1, "cost_usd": float("nan")}

    with gateway.override({"FACT_DISPUTE": answering(store, id_, 0.9, **usage)}):
        end = store.disputes.settle_sync(gateway, id_)

    assert end.receipt is not None
    assert end.receipt.cost_usd is None
    assert store.disputes.get(id_).cost_usd == 0
    assert not store.verify().differences
