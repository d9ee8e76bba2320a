"""Disputes and events follow from the log alone: the same log, the same disputes and events."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from disputing import KEY, START, STEP, Log, choice, clash, kinds, on, receipt, retracted, said
from pointsman.decision_points.facts.disputes import Dispute, announced, gone_stale
from pointsman.decision_points.facts.entries import (
    Adopted,
    AnyEntry,
    Assigned,
    Dismissed,
    Escalated,
    Passed,
    Spent,
    Stored,
    Withdrawn,
)

LISBON, PORTO, FARO = (
    said(city, source)
    for city, source in (
        ("lisbon", "sap"),
        ("porto", "oracle"),
        ("faro", "totvs"),
    )
)
TWO = clash("lisbon", "porto")
THREE = clash("lisbon", "porto", "faro")


def disputed() -> Log:
    """Two sources of one level contradict each other."""
    log = Log()
    log.add(LISBON, PORTO)
    return log


def assigned(until: int = START + 100 * STEP, at: int = START, to: str = "ana") -> Assigned:
    return Assigned(key=KEY, dispute=TWO, to=to, party="person", until=until, at=at)


DISMISSED = Dismissed(
    key=KEY, dispute=TWO, by="ana", party="person", reason="two offices", at=START
)


# --- opening -------------------------------------------------------------------------------------


@given(st.permutations([LISBON, PORTO, said("lisbon", "totvs"), said("porto", "bot"), LISBON]))
def test_the_same_clash_is_one_dispute_that_is_opened_once(entries: list[AnyEntry]) -> None:
    """RF-50: in whatever order, and however often it comes."""
    log = Log()
    log.add(*entries)

    assert [(one.id, one.state) for one in log.disputes] == [(TWO, "open")]
    assert kinds(log.events).count("disputed") == 1
    assert log.disputes[0].seen == tuple(sorted((choice("lisbon"), choice("porto"))))


def test_a_third_value_makes_a_revision_that_links_to_the_former() -> None:
    """RF-50, RF-58: and of one fact one dispute is open."""
    log = disputed()

    happened = log.add(FARO)

    first, second = log.disputes
    assert (first.id, first.state) == (TWO, "auto_closed")
    assert (second.id, second.state, second.revision, second.former) == (THREE, "open", 2, TWO)
    assert kinds(happened) == ["asserted", "disputed"]
    assert happened[-1].ids == (THREE, TWO)


def test_what_was_spent_on_a_dispute_counts_for_its_revision() -> None:
    """RF-59: a third value is no new budget."""
    log = disputed()
    log.add(Spent(key=KEY, dispute=TWO, by="bot", reads=2, tokens=50, cost_usd=0.25, at=START))
    log.add(Spent(key=KEY, dispute=TWO, by="bot", reads=1, at=START), FARO)

    found = log.disputes[-1]
    assert (found.id, found.reads, found.tokens, found.cost_usd) == (THREE, 3, 50, 0.25)


def test_succession_is_no_conflict() -> None:
    """RF-31: nothing is told but what was said, and what it comes to."""
    log = Log()
    log.add(said("lisbon", "sap", valid_from=on(-30)))

    happened = log.add(said("porto", "sap", valid_from=on(-1)))

    assert (kinds(happened), log.disputes) == (["asserted", "decided"], ())


# --- ends ----------------------------------------------------------------------------------------


def test_where_the_rule_decides_the_dispute_is_over() -> None:
    """RF-51: it closed by itself."""
    log = disputed()

    happened = log.add(said("porto", "contract"))

    assert log.states == ["auto_closed"]
    assert kinds(happened) == ["asserted", "decided", "closed"]
    assert happened[1].rule == "authority"


def test_the_same_clash_that_comes_back_is_the_same_dispute_again() -> None:
    """RF-51: any → reopened."""
    signed = said("porto", "contract")
    log = disputed()
    log.add(signed)

    happened = log.add(retracted(signed))

    assert [(one.id, one.state, one.reopened) for one in log.disputes] == [(TWO, "reopened", 1)]
    assert kinds(happened) == ["reopened", "retracted"]


def test_a_receipt_resolves_and_says_so() -> None:
    """RF-52, RF-64: with before, after, rule, ids and cause."""
    log = disputed()
    given_ = receipt("porto", "lisbon", "porto")

    happened = log.add(given_)

    assert (log.states, log.disputes[0].receipts) == (["resolved"], (given_.id,))
    decided, resolved = happened
    assert (decided.kind, decided.rule, decided.cause) == ("decided", "resolution", "resolved")
    assert decided.before is not None
    assert decided.after is not None
    assert (decided.before.status, decided.after.status) == ("disputed", "resolved")
    assert decided.after.value == PORTO.assertion.value
    assert (resolved.kind, resolved.ids) == ("resolved", (TWO, given_.id))


def test_a_new_assertion_with_the_chosen_value_confirms_it() -> None:
    """RF-53."""
    log = disputed()
    log.add(receipt("porto", "lisbon", "porto"))

    assert kinds(log.add(said("porto", "totvs"))) == ["asserted"]
    assert log.states == ["resolved"]


def test_a_new_value_of_a_lower_rank_is_noted_and_changes_nothing() -> None:
    """RF-53."""
    log = disputed()
    log.add(receipt("porto", "lisbon", "porto"))

    assert kinds(log.add(said("faro", "bot"))) == ["asserted"]
    assert log.states == ["resolved"]


def test_a_new_value_of_equal_rank_reopens() -> None:
    """RF-53: with the cause `new_evidence`; what was settled stays told as it was."""
    log = disputed()
    log.add(receipt("porto", "lisbon", "porto"))

    happened = log.add(FARO)

    assert [(one.id, one.state) for one in log.disputes] == [(TWO, "resolved"), (THREE, "reopened")]
    assert kinds(happened) == ["asserted", "reopened"]
    assert (happened[-1].cause, happened[-1].ids) == ("new_evidence", (THREE, TWO))


def test_a_receipt_that_holds_for_a_time_ends_with_it() -> None:
    """RF-53: `valid_for`."""
    log = disputed()
    log.add(receipt("porto", "lisbon", "porto", until=START + 4 * STEP))
    assert log.states == ["resolved"]

    happened = log.add(Passed(key=KEY, at=START + 4 * STEP))

    assert (log.states, kinds(happened)) == (["reopened"], ["reopened"])


def test_a_receipt_that_is_withdrawn_leaves_all_as_before_it() -> None:
    """RF-49: the log is longer by one, and the outcome is the one of before."""
    log = disputed()
    before = log.outcome
    given_ = receipt("porto", "lisbon", "porto")
    log.add(given_)

    happened = log.add(Withdrawn(key=KEY, target=given_.id, by="ana", reason="wrong", at=START))

    assert log.outcome == before
    assert (log.states, kinds(happened)) == (["reopened"], ["reopened", "withdrawn"])


def test_of_two_persons_who_chose_differently_none_counts() -> None:
    """RF-77: two stores meet; it is open again, with both receipts and never with the later one."""
    log = disputed()
    one = receipt("porto", "lisbon", "porto")
    other = receipt("lisbon", "lisbon", "porto", by="bea", at=START + 5)

    happened = log.add(one, other)

    (found,) = log.disputes
    assert (found.state, found.receipts) == ("reopened", (one.id, other.id))
    assert kinds(happened) == ["reopened"]
    assert log.outcome is not None
    assert log.outcome.value is None


def test_a_person_comes_before_an_agent_whoever_was_first() -> None:
    """RF-55, RF-77."""
    by_agent = receipt("lisbon", "lisbon", "porto", by="jev", party="agent")
    by_person = receipt("porto", "lisbon", "porto")
    for order in ((by_agent, by_person), (by_person, by_agent)):
        log = disputed()
        log.add(*order)
        assert log.outcome is not None
        assert log.outcome.receipt == by_person.id
        assert log.states == ["resolved"]


def test_a_dismissed_dispute_stays_disputed_and_is_nobodys() -> None:
    """RF-51: both are legitimate; the scope has to be split."""
    log = disputed()
    log.add(assigned())

    happened = log.add(DISMISSED)

    assert (log.states, kinds(happened)) == (["dismissed"], ["dismissed"])
    assert log.disputes[0].assigned_to == ""
    assert log.outcome is not None
    assert log.outcome.status == "disputed"


def test_a_clash_that_was_put_aside_and_comes_back_is_told() -> None:
    """RF-64: also where it was put aside before it came, as in a union of stores."""
    log = disputed()
    log.add(DISMISSED)
    log.add(retracted(PORTO))
    assert log.states == ["auto_closed"]

    happened = log.add(said("porto", "totvs"))

    assert (log.states, "dismissed" in kinds(happened)) == (["dismissed"], True)

    other = Log()
    happened = other.add(DISMISSED, LISBON, PORTO)
    assert (other.states, "dismissed" in kinds(happened)) == (["dismissed"], True)


def test_a_dismissal_that_is_withdrawn_opens_it_again() -> None:
    """RF-49; also where the withdrawal came first, as in a union of stores."""
    taken_back = Withdrawn(key=KEY, target=DISMISSED.id, by="ana", reason="no", at=START)
    log = disputed()
    log.add(DISMISSED, taken_back)
    assert log.states == ["reopened"]

    other = disputed()
    other.add(taken_back, DISMISSED)
    assert other.states == ["open"]


# --- leases and persons --------------------------------------------------------------------------


def test_a_lease_ends_with_its_time() -> None:
    """RF-51: the clock that is given says so; no entry is needed."""
    log = disputed()
    happened = log.add(assigned(until=START + 60 * STEP))
    (found,) = log.disputes

    assert (found.state, found.assigned_to, kinds(happened)) == ("assigned", "ana", ["assigned"])
    assert found.at(START + 59 * STEP).state == "assigned"
    assert found.at(START + 60 * STEP).state == "open"
    assert found.holder(START + 60 * STEP) == ""


def test_a_lease_that_is_given_back_is_told() -> None:
    log = disputed()
    log.add(assigned())

    happened = log.add(assigned(until=START, at=START))

    assert (log.states, kinds(happened)) == (["open"], ["released"])


def test_a_dispute_that_needs_a_person_says_so_until_it_is_another() -> None:
    """RF-59: and under which decision it waits."""
    log = disputed()

    happened = log.add(
        Escalated(key=KEY, dispute=TWO, decision="d1", reason="budget:reads", at=START)
    )

    (found,) = log.disputes
    assert (found.escalated, found.waiting, found.state) == ("budget:reads", "d1", "open")
    assert (kinds(happened), happened[0].ids) == (["escalated"], (TWO, "d1"))
    log.add(FARO)
    assert (log.disputes[-1].escalated, log.disputes[-1].waiting) == ("", "")


# --- events --------------------------------------------------------------------------------------


def test_the_first_word_is_asserted_and_decides() -> None:
    """RF-64."""
    log = Log()

    happened = log.add(LISBON)

    assert kinds(happened) == ["asserted", "decided"]
    assert happened[1].before is None
    assert happened[1].rule == "unanimous"


def test_who_agrees_decides_nothing_anew() -> None:
    """RF-64: `decided` only where the outcome changes."""
    log = Log()
    log.add(LISBON)

    assert kinds(log.add(said("lisbon", "contract"))) == ["asserted"]


def test_a_conflict_is_detected_once_also_where_the_rule_decides_it() -> None:
    """RF-64."""
    log = Log()
    log.add(LISBON)

    assert kinds(log.add(said("porto", "bot"))) == ["asserted", "conflict_detected"]
    assert kinds(log.add(said("faro", "bot", observed_at=on(1)))) == ["asserted"]


def test_what_happens_at_once_is_told_in_one_order() -> None:
    """RF-64: asserted, conflict_detected, decided, disputed, …"""
    log = Log()
    log.add(LISBON)

    happened = log.add(PORTO)

    assert kinds(happened) == ["asserted", "conflict_detected", "disputed"]
    assert {one.cause for one in happened} == {"asserted"}


ANYTHING: list[AnyEntry] = [
    LISBON,
    PORTO,
    FARO,
    said("porto", "contract"),
    said("faro", "bot"),
    retracted(LISBON),
    retracted(PORTO),
    receipt("porto", "lisbon", "porto"),
    receipt("lisbon", "lisbon", "porto", by="jev", party="agent"),
    receipt("faro", "lisbon", "porto", "faro"),
    DISMISSED,
    assigned(),
    Escalated(key=KEY, dispute=TWO, reason="budget:reads", at=START),
    Withdrawn(key=KEY, target=DISMISSED.id, by="ana", reason="no", at=START),
    Passed(key=KEY, at=START),
]


@given(st.lists(st.sampled_from(ANYTHING), max_size=12))
@example([DISMISSED, LISBON, PORTO])
@example([LISBON, PORTO, DISMISSED, retracted(PORTO), said("porto", "totvs")])
def test_of_one_fact_one_dispute_is_open_and_it_is_the_one_that_there_is(
    entries: list[AnyEntry],
) -> None:
    """RF-58: whatever comes, and in whatever order."""
    log = Log()
    for entry in entries:
        log.add(entry)
        waiting = [one.id for one in log.disputes if one.live or one.state == "dismissed"]
        open_now = log.outcome is not None and log.outcome.status == "disputed"
        assert waiting == ([log.outcome.dispute] if open_now and log.outcome else [])


@given(st.lists(st.sampled_from(ANYTHING), max_size=12))
def test_every_event_has_an_id_of_its_own_and_comes_in_the_order_of_the_log(
    entries: list[AnyEntry],
) -> None:
    """RF-65: position, fact and kind."""
    log = Log()
    log.add(*entries)

    ids = [one.id for one in log.events]
    assert len(set(ids)) == len(ids)
    assert [one.position for one in log.events] == sorted(one.position for one in log.events)


@given(st.lists(st.sampled_from(ANYTHING), max_size=12))
def test_the_same_log_gives_the_same_disputes_and_events(entries: list[AnyEntry]) -> None:
    """RF-73: byte by byte; and what is read back from its bytes is the same."""
    one, other = Log(), Log()
    one.add(*entries)
    other.add(*entries)

    written = msgspec.json.encode(one.disputes)
    assert written == msgspec.json.encode(other.disputes)
    assert one.events == other.events
    assert msgspec.json.decode(written, type=tuple[Dispute, ...]) == one.disputes


@given(st.lists(st.sampled_from(ANYTHING), max_size=12))
@example([DISMISSED, LISBON, PORTO])
@example([LISBON, PORTO, DISMISSED, retracted(PORTO), said("porto", "totvs")])
def test_decided_tells_every_change_that_ends_in_no_dispute(entries: list[AnyEntry]) -> None:
    """RF-64: who follows `decided` and the opening of disputes misses no change of the outcome."""
    log = Log()
    for entry in entries:
        before = log.outcome
        happened = log.add(entry)
        changed = before is None or (log.outcome is not None and before.hash != log.outcome.hash)
        told = {"decided", "disputed", "reopened", "dismissed"} & {*kinds(happened)}
        assert bool(told) >= (changed and bool(happened))
        assert ("decided" in told) <= changed


# --- beside the disputes -------------------------------------------------------------------------


def _stored(entry: AnyEntry) -> Stored:
    return Stored(position=7, id=entry.id, recorded_at=START, entry=entry)


def test_adopting_other_rules_is_told_once_for_the_namespace() -> None:
    """RF-64, RF-71: `policy_changed` is about no single fact."""
    entry = Adopted(policy={}, registry={}, by="ops", reason="new order", at=START)

    (event,) = announced(_stored(entry))

    assert (event.kind, event.key, event.id) == ("policy_changed", None, "7::policy_changed")
    assert announced(_stored(LISBON)) == ()


def test_facts_that_went_stale_are_named_by_the_fact_that_changed() -> None:
    """RF-64: `dependents_stale`."""
    event = gone_stale(_stored(LISBON), KEY, ("acme/region",), "")

    assert (event.kind, event.ids, event.cause) == (
        "dependents_stale",
        ("acme/region",),
        "asserted",
    )


@pytest.mark.parametrize("state", ["resolved", "dismissed", "auto_closed"])
def test_what_is_over_is_nobodys(state: str) -> None:
    log = disputed()
    log.add(assigned())
    ends: dict[str, AnyEntry] = {
        "resolved": receipt("porto", "lisbon", "porto"),
        "dismissed": DISMISSED,
        "auto_closed": said("porto", "contract"),
    }
    log.add(ends[state])

    (found,) = log.disputes
    assert (found.state, found.assigned_to, found.until, found.live) == (state, "", 0, False)
