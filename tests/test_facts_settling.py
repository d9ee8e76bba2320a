"""A dispute is settled by a provider, a person in the inbox, or one more source; or it stays."""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from boxed import escalating, items, person, ready
from commanding import clean
from disputing import Clock
from pointsman import Gateway, NoAnswer, Reason, Reply, SetupError, scripted
from pointsman.decision_points.facts import Dispute, FactStore, Refused, Superseded
from pointsman.decision_points.facts.disputes import Settled
from pointsman.gateway.answers import Chosen, Usage

POLICY: Mapping[str, Any] = {"attributes": {"city": {}}}
REGISTRY = {
    "order": ["signed", "erp", "chat"],
    "sources": {
        "sap": {"level": "erp"},
        "oracle": {"level": "erp"},
        "totvs": {"level": "erp"},
        "bot": {"level": "chat"},
        "notes": {"level": "chat"},
    },
}
SECOND = 1_000_000  # microseconds
Make = Callable[..., Gateway]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One database for the journal and all facts: each test has a namespace of its own."""
    return f"sqlite:///{tmp_path_factory.mktemp('facts') / 'decisions.db'}"


def opened(url: str, clock: Clock, policy: Mapping[str, Any] = POLICY) -> FactStore:
    name = secrets.token_hex(6)
    return FactStore(url, policy=policy, registry=REGISTRY, namespace=name, clock=clock)


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[FactStore]:
    with opened(url, clock) as made:
        yield made


@pytest.fixture
def journaled(url: str, gateway_of: Make) -> Gateway:
    """A gateway whose journal is the store's database."""
    return gateway_of({"DECISION_JOURNAL": url})


def clash(store: FactStore) -> str:
    """Two systems contradict each other; the dispute."""
    store.assert_(
        "acme",
        "city",
        "Lisbon",
        source="sap",
        writer="reader-1",
        confidence=0.9,
        source_ref="row 7",
        observed_at="2026-05-01",
    )
    store.assert_("acme", "city", "Porto", source="oracle", writer="reader-2", confidence=0.9)
    return store.get("acme", "city").outcome.dispute


def choice(store: FactStore, text: str, id_: str) -> str:
    """The id of a candidate."""
    found = store.disputes.get(id_).candidates
    return next(one.id for one in found if one.value.text == text)


def standing(store: FactStore) -> tuple[str, str]:
    """What the fact is now, and why."""
    found = store.get("acme", "city").outcome
    return found.value.text if found.value else found.status, found.decided_by


def settled(store: FactStore, gateway: Gateway, id_: str, provider: Any, **how: Any) -> Settled:
    """Let a provider settle it."""
    with gateway.override({"FACT_DISPUTE": provider}):
        return store.disputes.settle_sync(gateway, id_, **how)


# --- a provider ----------------------------------------------------------------------------------


def test_a_provider_chooses_a_candidate_and_a_receipt_says_so(
    store: FactStore, gateway_of: Make
) -> None:
    """RF-38, RF-40, RF-52: of an agent, with the decision, what it cost, and no fallback."""
    id_ = clash(store)
    chosen = choice(store, "porto", id_)
    usage = Usage(input_tokens=200, output_tokens=5, cost_usd=0.002)
    reply = Reply({"candidate": Chosen(chosen, None, 0.93)}, usage=usage)

    end = settled(store, gateway_of(), id_, scripted(reply))

    given = end.receipt
    assert (end.ending, end.waiting, standing(store)) == (
        "resolved",
        False,
        ("porto", "resolution"),
    )
    assert given is not None
    assert (given.resolver, given.party, given.choice) == ("scripted", "agent", chosen)
    assert (given.decision, given.cost_usd, given.fallback) == (end.decision, 0.002, False)
    found = store.disputes.get(id_)
    assert (found.state, found.assigned_to, found.tokens) == ("resolved", "", 205)
    assert found.cost_usd == 0.002


def test_it_is_shown_who_says_what_how_and_when(store: FactStore, gateway_of: Make) -> None:
    """RF-38: candidates and provenance, and nothing that says which one was last."""
    id_ = clash(store)
    provider = scripted(choice(store, "porto", id_))

    settled(store, gateway_of(), id_, provider)

    (ask,) = provider.asked
    assert ask.state["fact"] == "acme/city"
    assert ask.state["reason"] == "tie"
    lisbon = next(one for one in ask.state["candidates"] if one["value"].casefold() == "lisbon")
    assert lisbon["voices"] == 1
    (said,) = lisbon["statements"]
    assert (said["source"], said["level"], said["evidence"]) == ("sap", "erp", "explicit")
    assert (said["confidence"], said["writer"], said["reference"]) == (90, "reader-1", "row 7")
    assert said["observed"].startswith("2026-05-01")


def test_it_is_settled_from_async_code_alike(store: FactStore, gateway_of: Make) -> None:
    id_ = clash(store)
    gateway = gateway_of()
    with gateway.override({"FACT_DISPUTE": scripted(choice(store, "porto", id_))}):
        end = asyncio.run(store.disputes.settle(gateway, id_))

    assert (end.ending, standing(store)[0]) == ("resolved", "porto")


FAILURES: dict[str, tuple[Any, str]] = {
    "no candidate": ("cccccccccccc", "undeclared_option"),
    "unresolved": ("unresolved", "abstained"),
    "no confidence": (Reply({"candidate": Chosen("unresolved", None, None)}), "abstained"),
    "down": (Reason.TIMEOUT, "timeout"),
    "a stranger's bug": (ZeroDivisionError("boom"), "provider_error"),
}


@pytest.mark.parametrize("journal", [True, False])
@pytest.mark.parametrize("what", FAILURES)
def test_where_nobody_answers_the_fact_stays_as_it_was(
    store: FactStore, gateway_of: Make, url: str, what: str, *, journal: bool
) -> None:
    """RF-40: the fold's own outcome, never the last write; it needs a person, and that is told."""
    id_ = clash(store)
    line, why = FAILURES[what]
    gateway = gateway_of({"DECISION_JOURNAL": url} if journal else {})
    before = store.get("acme", "city").outcome

    end = settled(store, gateway, id_, scripted(line))

    assert (end.ending, end.why, end.waiting) == ("unresolved", why, journal)
    assert store.get("acme", "city").outcome == before
    found = store.disputes.get(id_)
    assert (found.state, found.escalated, found.waiting) == (
        "open",
        why,
        end.decision if journal else "",
    )
    assert [one.kind for one in store.subscribe() if one.kind == "escalated"] == ["escalated"]


@pytest.mark.parametrize("journal", [True, False])
def test_an_answer_without_a_confidence_is_none(
    store: FactStore, gateway_of: Make, url: str, *, journal: bool
) -> None:
    """RF-38: also where no minimum would hold it back."""
    id_ = clash(store)
    reply = Reply({"candidate": Chosen(choice(store, "porto", id_), None, None)})
    gateway = gateway_of({"DECISION_JOURNAL": url} if journal else {})

    end = settled(store, gateway, id_, scripted(reply))

    assert (end.ending, end.why, end.waiting) == ("unresolved", "confidence_missing", journal)
    assert standing(store)[0] == "disputed"


def test_without_a_fallback_it_is_left_to_a_person_as_well(
    store: FactStore, gateway_of: Make, url: str
) -> None:
    id_ = clash(store)
    more = {"DECISION_FACT_DISPUTE_FALLBACK_TO_CURRENT": "false", "DECISION_JOURNAL": url}

    end = settled(store, gateway_of(more), id_, scripted(Reason.TIMEOUT))

    assert (end.ending, end.why, end.waiting) == ("unresolved", "timeout", True)


def test_by_default_nobody_decides_and_a_person_is_asked(
    store: FactStore, journaled: Gateway
) -> None:
    """`current` leaves every dispute unresolved."""
    id_ = clash(store)

    end = store.disputes.settle_sync(journaled, id_)

    assert (end.ending, end.why, end.waiting) == ("unresolved", "unresolved", True)


def _meanwhile(act: Callable[[], object], answer: str) -> Any:
    """A provider during whose answer something happens."""

    class Slow:
        name = "slow"
        model = "slow-1"
        limits = scripted().limits

        def answer(self, ask: Any, call: Any) -> Reply:
            act()
            return Reply({"candidate": Chosen(answer, None, 0.9)})

    return Slow()


def test_an_answer_about_candidates_that_changed_meanwhile_does_not_count(
    store: FactStore, gateway_of: Make
) -> None:
    """RF-54: nothing is written of it but what it cost."""
    id_ = clash(store)
    chosen = choice(store, "porto", id_)
    third = _meanwhile(lambda: store.assert_("acme", "city", "Faro", source="totvs"), chosen)

    end = settled(store, gateway_of(), id_, third)

    assert (end.ending, end.receipt) == ("superseded", None)
    assert standing(store)[0] == "disputed"


def test_a_person_who_was_first_meanwhile_wins(store: FactStore, gateway_of: Make) -> None:
    """RF-55: and the agent gets that receipt; its lease holds no person back."""
    id_ = clash(store)
    lisbon, porto = (choice(store, one, id_) for one in ("lisbon", "porto"))
    slow = _meanwhile(lambda: store.disputes.resolve(id_, lisbon, by="ana"), porto)

    end = settled(store, gateway_of(), id_, slow)

    assert end.ending == "superseded"
    assert end.receipt is not None
    assert (end.receipt.resolver, standing(store)[0]) == ("ana", "lisbon")


def test_what_is_being_settled_is_nobody_elses(store: FactStore, gateway_of: Make) -> None:
    """RF-51: for as long as a lease, and it is given back afterwards."""
    id_ = clash(store)
    seen: list[Dispute] = []
    slow = _meanwhile(lambda: seen.append(store.disputes.get(id_)), "unresolved")

    settled(store, gateway_of(), id_, slow)

    assert seen[0].state == "assigned"
    assert seen[0].assigned_to.startswith("FACT_DISPUTE-")
    assert store.disputes.get(id_).state == "open"
    store.disputes.assign(id_, "robot")
    with pytest.raises(Refused, match="assigned"):
        store.disputes.settle_sync(gateway_of(), id_)


def test_of_two_who_have_it_settled_at_once_one_asks(store: FactStore, gateway_of: Make) -> None:
    """RF-55: what is asked already is not asked, and paid for, twice."""
    id_ = clash(store)
    porto = choice(store, "porto", id_)
    refused: list[str] = []

    def again() -> None:
        with pytest.raises(Refused) as raised:
            store.disputes.settle_sync(gateway_of(), id_)
        refused.append(raised.value.code)

    end = settled(store, gateway_of(), id_, _meanwhile(again, porto))

    assert (refused, end.ending) == (["assigned"], "resolved")


def test_a_fault_of_the_operator_gives_the_dispute_back(store: FactStore, gateway_of: Make) -> None:
    id_ = clash(store)

    def broken() -> None:
        raise SetupError.of("DECISION_X", "wrong", "Correct it")

    with pytest.raises(SetupError):
        settled(store, gateway_of(), id_, _meanwhile(broken, "unresolved"))

    assert store.disputes.get(id_).state == "open"


def test_an_agent_that_wrote_a_candidate_does_not_settle_it(
    store: FactStore, journaled: Gateway
) -> None:
    """RF-57: a person is asked."""
    store.assert_("acme", "city", "Lisbon", source="sap", writer="scripted")
    store.assert_("acme", "city", "Porto", source="oracle")
    id_ = store.get("acme", "city").outcome.dispute

    end = settled(store, journaled, id_, scripted(choice(store, "porto", id_)))

    assert (end.ending, end.why, end.waiting) == ("refused", "own_candidate", True)
    assert standing(store)[0] == "disputed"


def test_the_business_may_refuse_what_a_provider_says(store: FactStore, journaled: Gateway) -> None:
    """RF-68: the previous outcome stays, and a person is asked."""
    id_ = clash(store)
    porto = choice(store, "porto", id_)

    end = settled(store, journaled, id_, scripted(porto), validate=lambda _: "no office there")

    assert (end.ending, end.why, end.waiting) == ("refused", "not_valid", True)
    assert standing(store)[0] == "disputed"


@pytest.mark.parametrize(
    ("bound", "why"), [("tokens", "budget:tokens"), ("cost_usd", "budget:cost")]
)
def test_a_dispute_whose_budget_is_used_up_goes_to_a_person(
    url: str, clock: Clock, journaled: Gateway, bound: str, why: str
) -> None:
    """RF-59: no provider is asked any more."""
    policy = {**POLICY, "disputes": {bound: 205 if bound == "tokens" else 0.02}}
    usage = Usage(input_tokens=200, output_tokens=5, cost_usd=0.02)
    unsure = scripted(Reply({"candidate": Chosen("unresolved", None, 0.9)}, usage=usage))
    with opened(url, clock, policy) as store:
        id_ = clash(store)
        settled(store, journaled, id_, unsure)

        end = settled(store, journaled, id_, unsure)

        assert (end.ending, end.why, end.waiting) == ("unresolved", why, True)
        assert len(unsure.asked) == 1
        assert store.disputes.get(id_).tokens == 205


# --- a person in the inbox -----------------------------------------------------------------------


def left(store: FactStore, gateway: Gateway) -> tuple[str, str]:
    """A dispute that waits for a person; it, and under which decision."""
    id_ = clash(store)
    return id_, settled(store, gateway, id_, scripted(Reason.TIMEOUT)).decision


def test_it_waits_in_the_same_inbox_as_everything_else(
    store: FactStore, journaled: Gateway, url: str
) -> None:
    """With the candidates as options, why a person is asked, and who failed before."""
    id_, waiting = left(store, journaled)

    (item,) = [one for one in items(url, point="FACT_DISPUTE") if one.entry.id == waiting]

    assert set(item.entry.questions["candidate"].options) == {  # type: ignore[union-attr]
        *store.disputes.get(id_).seen,
        "unresolved",
    }
    assert item.entry.why.said == {"reasons": ["tie", "timeout", f"dispute:{id_}"]}
    assert [(one.provider, one.reason) for one in item.entry.why.tried] == [("scripted", "timeout")]


def test_what_a_person_says_with_the_command_becomes_their_receipt(
    store: FactStore, journaled: Gateway, url: str
) -> None:
    """RF-52: of a person, under the decision that waited."""
    id_, waiting = left(store, journaled)
    porto = choice(store, "porto", id_)
    words = ("inbox", "resolve", waiting, porto, "--by", "bea", "--note", "I was there")
    said = subprocess.run(
        [sys.executable, "-m", "pointsman.gateway.cli", *words],
        env=clean({"DECISION_JOURNAL": url, "DECISION_LOG": "off"}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr

    (end,) = store.disputes.heard()

    assert end.receipt is not None
    assert (end.receipt.resolver, end.receipt.party) == ("bea", "person")
    assert (end.receipt.reason, end.receipt.decision) == ("I was there", waiting)
    assert standing(store) == ("porto", "resolution")
    assert store.disputes.heard() == ()


def test_it_is_heard_of_a_gateway_whose_journal_is_elsewhere(
    store: FactStore, gateway_of: Make, tmp_path: Path
) -> None:
    gateway = gateway_of({"DECISION_JOURNAL": f"sqlite:///{tmp_path / 'journal.db'}"})
    id_, waiting = left(store, gateway)
    gateway.resolve(waiting, choice(store, "porto", id_), by="bea")

    assert store.disputes.heard() == ()
    (end,) = store.disputes.heard(gateway)

    assert (end.ending, standing(store)[0]) == ("resolved", "porto")


def test_a_person_who_cannot_say_leaves_it_open(store: FactStore, journaled: Gateway) -> None:
    id_, waiting = left(store, journaled)
    journaled.resolve(waiting, "unresolved", by="bea")

    assert store.disputes.heard(journaled) == ()
    assert store.disputes.get(id_).live


def test_a_persons_word_about_candidates_that_changed_does_not_count(
    store: FactStore, journaled: Gateway
) -> None:
    """RF-54: it is answered so, and a person is asked about the revision."""
    id_, waiting = left(store, journaled)
    store.assert_("acme", "city", "Faro", source="totvs")
    journaled.resolve(waiting, choice(store, "porto", id_), by="bea")

    (end,) = store.disputes.heard(journaled)

    assert (end.dispute, end.ending) == (id_, "superseded")
    assert standing(store)[0] == "disputed"
    assert [one.waiting not in {"", waiting} for one in store.disputes.list()] == [True]


def test_the_word_of_who_wrote_a_candidate_does_not_count(
    store: FactStore, journaled: Gateway
) -> None:
    """RF-57."""
    id_, waiting = left(store, journaled)
    journaled.resolve(waiting, choice(store, "porto", id_), by="reader-1")

    (end,) = store.disputes.heard(journaled)

    assert (end.ending, end.why) == ("refused", "own_candidate")


def test_what_waits_already_is_not_put_to_a_person_twice(
    store: FactStore, journaled: Gateway, url: str
) -> None:
    """RF-58: asking a provider again leaves the one question; once it is answered, a new one."""
    id_, waiting = left(store, journaled)
    before = len(items(url))

    again = settled(store, journaled, id_, scripted("unresolved"))

    assert (again.decision, len(items(url))) == (waiting, before)
    journaled.resolve(waiting, "unresolved", by="bea")
    third = settled(store, journaled, id_, scripted("unresolved"))
    assert third.decision != waiting
    assert store.disputes.get(id_).waiting == third.decision


def test_a_person_who_is_waited_for_decides_in_time(
    store: FactStore, gateway_of: Make, tmp_path: Path
) -> None:
    """RF-52: a provider that escalates is no author of what the person says then."""
    id_ = clash(store)
    porto = choice(store, "porto", id_)
    journal = ready(f"sqlite:///{tmp_path / 'journal.db'}")
    more = {"DECISION_JOURNAL": journal, "DECISION_FACT_DISPUTE_INBOX_WAIT_SECONDS": "60"}
    gateway = gateway_of(more)

    with person(journal, lambda one: gateway.resolve(one.entry.id, porto, by="bea", note="seen")):
        end = settled(store, gateway, id_, escalating())

    assert end.receipt is not None
    assert (end.receipt.resolver, end.receipt.party, end.receipt.reason) == (
        "bea",
        "person",
        "seen",
    )


def test_where_the_inbox_is_off_the_dispute_itself_says_that_it_needs_a_person(
    store: FactStore, gateway_of: Make, url: str
) -> None:
    id_ = clash(store)
    gateway = gateway_of({"DECISION_JOURNAL": url, "DECISION_INBOX": "off"})

    end = settled(store, gateway, id_, scripted(Reason.TIMEOUT))

    assert (end.waiting, store.disputes.get(id_).escalated) == (False, "timeout")


def test_a_question_is_left_to_a_person_beside_a_decision(journaled: Gateway, url: str) -> None:
    """`Gateway.leave`: under the decision's id, with who was tried; else under one of its own."""
    candidates = [{"id": "0" * 12, "value": "a"}, {"id": "1" * 12, "value": "b"}]
    state = {"fact": "a/b", "reason": "tie", "candidates": candidates}
    with journaled.override({"FACT_DISPUTE": scripted(Reason.TIMEOUT)}):
        decision = journaled.ask_sync("FACT_DISPUTE", state)

    beside = journaled.leave("FACT_DISPUTE", state, decision=decision, reasons=["tie"])
    alone = journaled.leave("FACT_DISPUTE", state)

    assert beside == decision.record.id
    found = {one.entry.id: one.entry for one in items(url)}
    assert [one.provider for one in found[beside].why.tried] == ["scripted"]
    assert (found[alone].why.tried, found[alone].why.said) == ((), {})
    assert journaled.resolve(alone, "1" * 12, by="bea").first


def test_without_an_inbox_nothing_is_left_to_a_person(gateway_of: Make) -> None:
    with pytest.raises(SetupError, match="DECISION_JOURNAL"):
        gateway_of().leave("FACT_DISPUTE", {"fact": "a/b", "reason": "", "candidates": []})


# --- one more source -----------------------------------------------------------------------------


def test_a_further_source_that_confirms_a_candidate_closes_the_dispute(store: FactStore) -> None:
    """RF-56: what it said is the evidence, and who read it resolved it."""
    id_ = clash(store)
    read: list[tuple[str, str]] = []

    def reader(key: Any, source: str) -> dict[str, Any]:
        read.append((str(key), source))
        return {"value": "porto", "source_ref": "page 3", "tokens": 40, "cost_usd": 0.01}

    end = store.disputes.investigate(id_, reader, by="robot")

    assert read == [("acme/city", "totvs")]  # the highest that was not read
    assert end.receipt is not None
    assert (end.receipt.resolver, end.receipt.party) == ("robot", "agent")
    assert standing(store) == ("porto", "resolution")
    (evidence,) = end.receipt.evidence
    said = next(one.entry for one in store.history("acme", "city") if one.id == evidence)
    assert said.assertion.source_ref == "page 3"  # type: ignore[union-attr]
    found = store.disputes.get(id_)
    assert (found.reads, found.tokens, found.cost_usd) == (1, 40, 0.01)


def test_a_third_value_stays_listed_and_nothing_is_closed(store: FactStore) -> None:
    """RF-56: and the revision knows what was spent."""
    id_ = clash(store)

    end = store.disputes.investigate(id_, lambda *_: "Faro", by="robot")

    assert (end.ending, end.why, end.receipt) == ("unresolved", "third_value", None)
    found = store.disputes.get(end.dispute)
    assert {one.value.text for one in found.candidates} == {"lisbon", "porto", "faro"}
    assert (found.former, found.reads, found.state) == (id_, 1, "open")


def test_a_source_that_says_nothing_leaves_all_as_it_was(store: FactStore) -> None:
    id_ = clash(store)
    before = store.get("acme", "city").outcome

    end = store.disputes.investigate(id_, lambda *_: None, by="robot")

    assert (end.ending, end.why) == ("unresolved", "nothing_read")
    assert store.get("acme", "city").outcome == before
    found = store.disputes.get(id_)
    assert (found.reads, found.state) == (1, "open")


def test_a_lesser_source_confirms_as_well(store: FactStore) -> None:
    """RF-56: it adds a voice, whatever its level; it is the receipt that decides."""
    id_ = clash(store)

    store.disputes.investigate(id_, lambda *_: "Lisbon", by="robot", source="bot")

    assert standing(store) == ("lisbon", "resolution")


@pytest.mark.parametrize("source", ["sap", "oracle"])
def test_a_source_that_has_spoken_already_confirms_nothing(store: FactStore, source: str) -> None:
    """RF-56: it has to come from outside the candidates."""
    id_ = clash(store)

    with pytest.raises(Refused, match="not_independent"):
        store.disputes.investigate(id_, lambda *_: "Porto", by="robot", source=source)

    assert store.disputes.get(id_).state == "open"


def test_where_every_source_has_spoken_none_is_left(store: FactStore) -> None:
    id_ = clash(store)
    for source in ("bot", "notes"):
        store.assert_("acme", "city", "Braga", source=source)
    store.assert_("acme", "city", "Porto", source="totvs")

    with pytest.raises(Refused, match="no_source"):
        store.disputes.investigate(id_, lambda *_: "Porto", by="robot")


def test_the_source_that_was_right_most_often_is_read_first(store: FactStore) -> None:
    """RF-56: by the audit of what persons resolved; `notes` ranks below all others."""
    for n in range(4):
        entity = f"checked-{n}"
        for source, value in (("sap", "Lisbon"), ("oracle", "Porto"), ("notes", "Porto")):
            store.assert_(entity, "city", value, source=source)
        store.assert_(entity, "city", "Faro", source="bot")
        dispute = store.get(entity, "city").outcome.dispute
        store.disputes.resolve(dispute, choice(store, "porto", dispute), by="ana")
    id_ = clash(store)
    read: list[str] = []

    store.disputes.investigate(id_, lambda _, source: read.append(source), by="robot")

    assert read == ["notes"]


def test_an_investigation_has_a_number_of_reads_then_a_person_decides(
    url: str, clock: Clock
) -> None:
    """RF-59."""
    with opened(url, clock, {**POLICY, "disputes": {"reads": 1}}) as store:
        id_ = clash(store)
        store.disputes.investigate(id_, lambda *_: None, by="robot")

        end = store.disputes.investigate(id_, lambda *_: "Porto", by="robot")

        assert (end.ending, end.why) == ("unresolved", "budget:reads")
        assert store.disputes.get(id_).escalated == "budget:reads"
        assert standing(store)[0] == "disputed"


def test_who_reads_a_source_is_no_author_of_a_candidate(store: FactStore) -> None:
    """RF-57: a second reading by the same agent is its own word again."""
    id_ = clash(store)

    read: list[object] = []

    with pytest.raises(Refused, match="own_candidate"):
        store.disputes.investigate(id_, lambda *given: read.append(given), by="reader-2")

    assert read == []


def test_a_reader_that_fails_gives_the_dispute_back(store: FactStore) -> None:
    id_ = clash(store)

    def broken(*_: object) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        store.disputes.investigate(id_, broken, by="robot")

    assert store.disputes.get(id_).state == "open"


def test_what_is_over_is_not_investigated(store: FactStore) -> None:
    id_ = clash(store)
    store.disputes.resolve(id_, choice(store, "porto", id_), by="ana")

    with pytest.raises(Superseded):
        store.disputes.investigate(id_, lambda *_: "Porto", by="robot")


def test_a_provider_that_raises_no_answer_itself_is_not_believed(
    store: FactStore, gateway_of: Make
) -> None:
    id_ = clash(store)

    end = settled(store, gateway_of(), id_, scripted(NoAnswer(Reason.REFUSED)))

    assert (end.ending, end.why) == ("unresolved", "refused")
