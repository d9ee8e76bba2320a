"""Which moves of a dispute are legal, and who may make them: judged inside the write."""

from __future__ import annotations

import secrets
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from disputing import START, Clock
from journaled import schema_of, server
from pointsman.decision_points.facts import (
    Dispute,
    FactsError,
    FactStore,
    Receipt,
    Refused,
    Superseded,
)

POLICY: Mapping[str, Any] = {"attributes": {"city": {}, "region": {}}}
REGISTRY = {
    "order": ["signed", "erp", "chat"],
    "sources": {
        "contract": {"level": "signed"},
        "sap": {"level": "erp"},
        "oracle": {"level": "erp"},
        "totvs": {"level": "erp"},
        "bot": {"level": "chat"},
    },
}
MINUTE = 60_000_000  # microseconds
LEASE = 30 * MINUTE


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One database for all tests: each has a namespace of its own (RF-79)."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('facts') / 'facts.db'}"
        return
    with schema_of(server()) as made:
        yield made


@pytest.fixture(scope="module")
def anywhere(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database for what does not depend on which."""
    return f"sqlite:///{tmp_path_factory.mktemp('facts') / 'facts.db'}"


def opened(url: str, clock: Clock, policy: Mapping[str, Any] = POLICY) -> FactStore:
    """A store with nothing in it."""
    name = secrets.token_hex(6)
    return FactStore(url, policy=policy, registry=REGISTRY, namespace=name, clock=clock)


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[FactStore]:
    with opened(url, clock) as made:
        yield made


@pytest.fixture
def here(anywhere: str, clock: Clock) -> Iterator[FactStore]:
    with opened(anywhere, clock) as made:
        yield made


def clash(store: FactStore, entity: str = "acme") -> str:
    """Two systems contradict each other, each read by somebody; the dispute."""
    store.assert_(entity, "city", "Lisbon", source="sap", writer="reader-1")
    store.assert_(entity, "city", "Porto", source="oracle", writer="reader-2")
    return store.get(entity, "city").outcome.dispute


def choice(store: FactStore, text: str, id_: str) -> str:
    """The id of a candidate."""
    found = store.disputes.get(id_).candidates
    return next(one.id for one in found if one.value.text == text)


def standing(store: FactStore) -> tuple[str, str]:
    """What the fact is now, and why."""
    found = store.get("acme", "city").outcome
    return found.value.text if found.value else found.status, found.decided_by


# --- the table of moves --------------------------------------------------------------------------


def _third(store: FactStore, _: str) -> None:
    store.assert_("acme", "city", "Faro", source="totvs")


def _signed(store: FactStore, _: str) -> None:
    store.assert_("acme", "city", "Porto", source="contract")


def _resolved(party: str, by: str) -> Callable[[FactStore, str], object]:
    def resolve(store: FactStore, id_: str) -> object:
        return store.disputes.resolve(id_, choice(store, "lisbon", id_), by=by, party=party)  # type: ignore[arg-type]

    return resolve


def _withdrawn(store: FactStore, id_: str) -> None:
    _resolved("person", "ana")(store, id_)
    store.disputes.withdraw(id_, by="ana", reason="wrong")


STATES: dict[str, Callable[[FactStore, str], object]] = {
    "open": lambda *_: None,
    "a person's": lambda store, id_: store.disputes.assign(id_, "ana", party="person"),
    "an agent's": lambda store, id_: store.disputes.assign(id_, "robot"),
    "resolved by a person": _resolved("person", "ana"),
    "resolved by an agent": _resolved("agent", "robot"),
    "dismissed": lambda store, id_: store.disputes.dismiss(id_, by="ana", reason="two offices"),
    "decided by the rule": _signed,
    "revised": _third,
    "reopened": _withdrawn,
}
MOVES: dict[str, Callable[[FactStore, str], object]] = {
    "a person takes it": lambda store, id_: store.disputes.assign(id_, "bea", party="person"),
    "an agent takes it": lambda store, id_: store.disputes.assign(id_, "helper"),
    "another gives it back": lambda store, id_: store.disputes.release(id_, "bea"),
    "a person resolves": _resolved("person", "bea"),
    "an agent resolves": _resolved("agent", "helper"),
    "a person dismisses": lambda store, id_: store.disputes.dismiss(id_, by="bea", reason="both"),
    "a person withdraws": lambda store, id_: store.disputes.withdraw(id_, by="bea", reason="no"),
    "an agent withdraws": lambda store, id_: store.disputes.withdraw(
        id_, by="helper", party="agent", reason="no"
    ),
    "it needs a person": lambda store, id_: store.disputes.escalate(id_, "asked"),
}
NAMES = (
    "a person takes it",
    "an agent takes it",
    "another gives it back",
    "a person resolves",
    "an agent resolves",
    "a person dismisses",
    "a person withdraws",
    "an agent withdraws",
    "it needs a person",
)
OK, LATE = "ok", "superseded"
TABLE: dict[str, tuple[str, ...]] = {
    "open": (OK, OK, "assigned", OK, OK, OK, "nothing_given", "nothing_given", OK),
    "a person's": (
        *("assigned", "assigned", "assigned", "assigned", "assigned", "assigned"),
        *("nothing_given", "nothing_given", OK),
    ),
    "an agent's": (
        *(OK, "assigned", "assigned", OK, "assigned", OK),
        *("nothing_given", "nothing_given", OK),
    ),
    "resolved by a person": (LATE, LATE, "assigned", LATE, LATE, LATE, OK, "not_yours", LATE),
    "resolved by an agent": (LATE, LATE, "assigned", OK, LATE, LATE, OK, "not_yours", LATE),
    "dismissed": (
        *("dismissed", "dismissed", "assigned", "dismissed", "dismissed", "dismissed"),
        *(OK, "not_yours", "dismissed"),
    ),
    "decided by the rule": (
        *(LATE, LATE, "assigned", LATE, LATE, LATE, "nothing_given", "nothing_given", LATE),
    ),
    "revised": (
        *(LATE, LATE, "assigned", LATE, LATE, LATE, "nothing_given", "nothing_given", LATE),
    ),
    "reopened": (OK, OK, "assigned", OK, OK, OK, "nothing_given", "nothing_given", OK),
}
CASES = [
    (state, move, expected)
    for state, row in TABLE.items()
    for move, expected in zip(NAMES, row, strict=True)
]


@pytest.mark.parametrize(("state", "move", "expected"), CASES)
def test_a_move_is_made_or_refused_as_the_table_says(
    here: FactStore, state: str, move: str, expected: str
) -> None:
    """RF-51, RF-55: and what is refused writes nothing."""
    id_ = clash(here)
    STATES[state](here, id_)
    before = list(here.export())

    if expected == OK:
        MOVES[move](here, id_)
        assert len(list(here.export())) > len(before)
        return
    with pytest.raises(FactsError) as raised:
        MOVES[move](here, id_)
    code = raised.value.code if isinstance(raised.value, Refused) else LATE
    assert code == expected
    assert list(here.export()) == before


def test_what_there_is_not_is_refused_by_name(here: FactStore) -> None:
    for move in MOVES.values():
        with pytest.raises(Refused, match="no_dispute"):
            move(here, "0123456789abcdef")


# --- leases --------------------------------------------------------------------------------------


def test_a_lease_that_is_up_is_anybodys(store: FactStore, clock: Clock) -> None:
    """RF-51: by the clock that the store was given."""
    id_ = clash(store)
    store.disputes.assign(id_, "ana", party="person")
    clock.now += LEASE - 1
    with pytest.raises(Refused, match="assigned"):
        store.disputes.assign(id_, "bea", party="person")
    clock.now += 1

    assert store.disputes.get(id_).state == "open"
    assert [one.id for one in store.disputes.list(["open"])] == [id_]
    found = store.disputes.next("bea", party="person")
    assert found is not None
    assert (found.id, found.assigned_to) == (id_, "bea")


def test_ones_own_lease_is_renewed_and_given_back(here: FactStore, clock: Clock) -> None:
    id_ = clash(here)
    here.disputes.assign(id_, "ana", party="person", seconds=60)
    clock.now += MINUTE // 2
    assert here.disputes.assign(id_, "ana", party="person", seconds=60).until == clock.now + MINUTE

    assert here.disputes.release(id_, "ana").state == "open"


def test_the_queue_goes_by_what_hangs_on_a_fact_then_by_age(here: FactStore, clock: Clock) -> None:
    """RF-58: dependents × reads, then age."""
    ids = {}
    for name in ("old", "read", "used", "new"):
        ids[name] = clash(here, name)
        clock.now += MINUTE
    here.get("read", "city", decision="d1")
    for decision in ("d1", "d2", "d3"):
        here.get("used", "city", decision=decision)
    here.assert_(
        "used", "region", "North", source="sap", derived_from=(here.get("used", "city").as_input(),)
    )

    queue = [one.id for one in here.disputes.list()]

    assert queue == [ids[name] for name in ("used", "read", "old", "new")]


def test_who_asks_for_work_gets_the_most_urgent_that_is_nobodys(here: FactStore) -> None:
    """RF-58, RF-57: and never one between their own words."""
    first, second = clash(here, "a"), clash(here, "b")
    one, other = here.disputes.next("ana"), here.disputes.next("bea")

    assert [found and found.id for found in (one, other)] == [first, second]
    assert here.disputes.next("cid") is None
    here.disputes.release(first, "ana")
    assert here.disputes.next("reader-1") is None


def test_what_waits_too_long_is_overdue_by_the_bounds_of_the_policy(
    anywhere: str, clock: Clock
) -> None:
    """RF-58."""
    policy = {**POLICY, "disputes": {"escalate": ["1h", "1d"]}}
    with opened(anywhere, clock, policy) as store:
        id_ = clash(store)
        assert store.disputes.overdue() == ()
        clock.now += 61 * MINUTE
        assert [(one.id, times) for one, times in store.disputes.overdue()] == [(id_, 1)]
        clock.now += 24 * 60 * MINUTE
        assert [(one.id, times) for one, times in store.disputes.overdue()] == [(id_, 2)]


# --- receipts ------------------------------------------------------------------------------------


def test_a_receipt_says_who_what_and_of_which_candidates(store: FactStore) -> None:
    """RF-52."""
    id_ = clash(store)
    chosen = choice(store, "porto", id_)

    given = store.disputes.resolve(
        id_, chosen, by="ana", reason="saw the lease", evidence=["lease-7"], valid_for=60
    )

    assert (given.dispute, given.revision, given.choice) == (id_, 1, chosen)
    assert given.seen == store.disputes.get(id_).seen
    assert (given.resolver, given.party, given.reason) == ("ana", "person", "saw the lease")
    assert (given.evidence, given.at, given.until) == (("lease-7",), START, START + MINUTE)
    assert store.disputes.receipts(id_) == (given,)
    assert standing(store) == ("porto", "resolution")
    assert any(given.id in line for line in store.export())


def test_a_stale_set_is_answered_with_the_present_one_and_writes_nothing(store: FactStore) -> None:
    """RF-54: also where the id is the present one's, and only what was seen is stale."""
    id_ = clash(store)
    seen, chosen = store.disputes.get(id_).seen, choice(store, "porto", id_)
    _third(store, id_)
    now = store.get("acme", "city").outcome
    before = list(store.export())

    for dispute in (id_, now.dispute):
        with pytest.raises(Superseded) as raised:
            store.disputes.resolve(dispute, chosen, by="ana", seen=seen)
        assert raised.value.present == tuple(sorted(one.id for one in now.candidates))
    assert list(store.export()) == before


def test_what_is_no_candidate_cannot_be_chosen(here: FactStore) -> None:
    """RF-38."""
    id_ = clash(here)
    for wrong in ("0123456789ab", "porto"):
        with pytest.raises(Refused, match="no_candidate"):
            here.disputes.resolve(id_, wrong, by="ana")
    with pytest.raises(Refused, match="no_candidate"):
        here.disputes.resolve(id_, by="ana")
    with pytest.raises(Refused, match="no_candidate"):
        here.disputes.resolve(id_, by="ana", value="Faro")


def test_the_same_receipt_again_is_the_same_receipt(store: FactStore, clock: Clock) -> None:
    id_ = clash(store)
    chosen = choice(store, "porto", id_)
    given = store.disputes.resolve(id_, chosen, by="ana")
    clock.now += MINUTE

    assert store.disputes.resolve(id_, chosen, by="ana") == given
    assert len(store.disputes.receipts(id_)) == 1


def test_who_is_late_gets_the_receipt_of_the_winner(store: FactStore) -> None:
    """RF-55."""
    id_ = clash(store)
    given = store.disputes.resolve(id_, choice(store, "porto", id_), by="ana")

    with pytest.raises(Superseded) as raised:
        store.disputes.resolve(id_, choice(store, "lisbon", id_), by="bea")

    assert raised.value.receipt == given


def test_a_person_overrides_an_agent_and_not_the_reverse(store: FactStore) -> None:
    """RF-55: and taking it back, the agent's counts again (RF-49)."""
    id_ = clash(store)
    lisbon, porto = (choice(store, one, id_) for one in ("lisbon", "porto"))
    by_agent = store.disputes.resolve(id_, lisbon, by="robot", party="agent")

    by_person = store.disputes.resolve(id_, porto, by="ana")

    assert by_person.overrides == (by_agent.id,)
    assert standing(store)[0] == "porto"
    with pytest.raises(Superseded):
        store.disputes.resolve(id_, lisbon, by="robot-2", party="agent")
    store.disputes.withdraw(id_, by="ana", reason="wrong file")
    assert standing(store)[0] == "lisbon"


@pytest.mark.parametrize("who", ["reader-1", "reader-2", "sap"])
def test_who_wrote_a_candidate_does_not_resolve_it(here: FactStore, who: str) -> None:
    """RF-57: nor whose word it is."""
    id_ = clash(here)

    with pytest.raises(Refused, match="own_candidate"):
        here.disputes.resolve(id_, choice(here, "porto", id_), by=who)


def test_who_wrote_the_same_in_a_lesser_source_does_not_either(here: FactStore) -> None:
    """RF-57: it is beaten, and still their word."""
    here.assert_("acme", "city", "Porto", source="bot", writer="reader-3")
    id_ = clash(here)

    with pytest.raises(Refused, match="own_candidate"):
        here.disputes.resolve(id_, choice(here, "porto", id_), by="reader-3")


@pytest.mark.parametrize("wrong", ["", "   ", "x" * 201])
def test_somebody_has_to_be_named(here: FactStore, wrong: str) -> None:
    id_ = clash(here)
    chosen = choice(here, "porto", id_)
    for move in (
        lambda: here.disputes.resolve(id_, chosen, by=wrong),
        lambda: here.disputes.assign(id_, wrong),
        lambda: here.disputes.dismiss(id_, by=wrong, reason="both"),
        lambda: here.disputes.withdraw(id_, by=wrong, reason="no"),
    ):
        with pytest.raises(Refused) as raised:
            move()
        assert raised.value.code == ("too_long" if wrong.strip() else "no_resolver")


def test_reasons_and_references_have_a_length(here: FactStore) -> None:
    """RF-80: what is too much is refused, and nothing is cut."""
    id_ = clash(here)
    chosen, long = choice(here, "porto", id_), "x" * 2_001
    for move in (
        lambda: here.disputes.resolve(id_, chosen, by="ana", reason=long),
        lambda: here.disputes.resolve(id_, chosen, by="ana", evidence=["page 1", long]),
        lambda: here.disputes.dismiss(id_, by="ana", reason=long),
    ):
        with pytest.raises(Refused, match="too_long"):
            move()
    with pytest.raises(Refused, match="too_many"):
        here.disputes.resolve(id_, chosen, by="ana", evidence=["page"] * 1_001)


# --- a value that is brought ---------------------------------------------------------------------


def test_a_person_brings_a_value_with_a_source_of_its_own(store: FactStore) -> None:
    """RF-52: the assertion comes first, and the receipt is about the set with it."""
    id_ = clash(store)

    given = store.disputes.resolve(id_, by="ana", value="Faro", source="totvs", reason="asked them")

    assert standing(store) == ("faro", "resolution")
    assert given.dispute != id_
    assert given.dispute == store.get("acme", "city").outcome.dispute
    (brought,) = given.evidence
    said = {one.id: one for one in store.history("acme", "city")}[brought]
    assert (said.entry.assertion.source, said.entry.assertion.writer) == ("totvs", "ana")  # type: ignore[union-attr]
    assert said.entry.assertion.evidence == "human"  # type: ignore[union-attr]


def test_a_value_that_is_brought_and_beats_the_others_decides_by_the_rule(store: FactStore) -> None:
    id_ = clash(store)

    given = store.disputes.resolve(id_, by="ana", value="Faro", source="contract")

    assert standing(store)[0] == "faro"
    assert store.disputes.get(id_).state == "resolved"
    assert store.disputes.receipts(id_) == (given,)


def test_a_value_that_is_brought_may_come_from_a_lesser_source(store: FactStore) -> None:
    """RF-52: it is the receipt that decides, and the dispute is about the same candidates."""
    id_ = clash(store)

    given = store.disputes.resolve(id_, by="ana", value="Faro", source="bot")

    assert (given.dispute, standing(store)) == (id_, ("faro", "resolution"))


def test_a_value_that_is_brought_may_be_a_candidate_already(store: FactStore) -> None:
    id_ = clash(store)

    given = store.disputes.resolve(id_, by="ana", value="PORTO", source="totvs")

    assert (given.dispute, standing(store)[0]) == (id_, "porto")


@pytest.mark.parametrize("value", ["", "n/a", "to be defined"])
def test_what_is_no_value_is_not_brought(here: FactStore, value: str) -> None:
    """RF-10: and the dispute is as it was."""
    id_ = clash(here)
    before = list(here.export())

    with pytest.raises(Refused):
        here.disputes.resolve(id_, by="ana", value=value, source="totvs")

    assert list(here.export()) == before


def test_a_value_is_not_brought_to_a_dispute_that_has_changed(here: FactStore) -> None:
    """RF-54: nothing is asserted in vain."""
    id_ = clash(here)
    seen = here.disputes.get(id_).seen
    _third(here, id_)
    before = list(here.export())

    with pytest.raises(Superseded):
        here.disputes.resolve(id_, by="ana", value="Braga", source="bot", seen=seen)

    assert list(here.export()) == before


def test_a_value_is_not_brought_where_another_comes_meanwhile(here: FactStore) -> None:
    """RF-54: the receipt would be about a candidate that nobody had seen."""
    id_ = clash(here)

    def meanwhile(_: object) -> None:
        _third(here, id_)

    with pytest.raises(Superseded) as raised:
        here.disputes.resolve(id_, by="ana", value="Braga", source="bot", validate=meanwhile)

    assert raised.value.present == here.disputes.get(here.disputes.list()[0].id).seen
    assert standing(here)[0] == "disputed"


def test_what_is_taken_back_is_not_taken_back_again(here: FactStore) -> None:
    """RF-49: also by its own id."""
    id_ = clash(here)
    given = here.disputes.resolve(id_, choice(here, "porto", id_), by="ana")
    here.disputes.withdraw(id_, by="ana", reason="wrong", target=given.id)

    with pytest.raises(Refused, match="nothing_given"):
        here.disputes.withdraw(id_, by="ana", reason="wrong", target=given.id)


# --- what the business says ----------------------------------------------------------------------


@pytest.mark.parametrize("how", [{"choice": "porto"}, {"value": "Faro", "source": "totvs"}])
def test_business_validation_may_refuse_and_leaves_the_previous_outcome(
    here: FactStore, how: dict[str, str]
) -> None:
    """RF-68: it is shown what is proposed, and then nothing is written."""
    id_ = clash(here)
    given: dict[str, Any] = {**how}
    if "choice" in given:
        given["choice"] = choice(here, given["choice"], id_)
    before, shown = list(here.export()), []

    def against(proposal: Any) -> str:
        shown.append(proposal)
        return "no office there"

    with pytest.raises(Refused, match="not_valid: no office there"):
        here.disputes.resolve(id_, by="ana", validate=against, **given)

    assert list(here.export()) == before
    assert shown[0].value.text == (how.get("choice") or how["value"]).lower()
    here.disputes.resolve(id_, by="ana", validate=lambda _: None, **given)
    assert standing(here)[1] == "resolution"


# --- at once -------------------------------------------------------------------------------------


@pytest.mark.parametrize("entity", ["a", "b", "c", "d"])
def test_of_many_threads_that_resolve_at_once_one_wins(store: FactStore, entity: str) -> None:
    """RF-55: the others get the receipt of the winner."""
    id_, at_once = clash(store, entity), Barrier(8)
    chosen = [choice(store, one, id_) for one in ("lisbon", "porto")]

    def resolve(n: int) -> Receipt | None:
        at_once.wait()
        try:
            return store.disputes.resolve(id_, chosen[n % 2], by=f"person-{n}")
        except Superseded as late:
            return late.receipt

    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(resolve, range(8)))

    assert store.disputes.receipts(id_) == (given[0],)
    assert given == [given[0]] * 8


RESOLVER = """
    import sys
    from pointsman.decision_points.facts import FactStore, Superseded

    url, namespace, id_, who, *chosen = sys.argv[1:]
    with FactStore(url, namespace=namespace) as store:
        store.disputes.get(id_)
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            print(store.disputes.resolve(id_, chosen[int(who) % 2], by=f"person-{who}").id)
        except Superseded as late:
            print(late.receipt.id)
"""


def test_of_many_processes_that_resolve_at_once_one_wins(store: FactStore, url: str) -> None:
    """RF-55."""
    id_ = clash(store)
    chosen = [choice(store, one, id_) for one in ("lisbon", "porto")]
    code = textwrap.dedent(RESOLVER)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, url, store.namespace, id_, str(n), *chosen],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    for one in running:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    said = [one.communicate("go\n")[0].strip() for one in running]

    assert len(set(said)) == 1
    assert [one.id for one in store.disputes.receipts(id_)] == said[:1]


def test_of_many_who_ask_for_work_each_gets_another(store: FactStore) -> None:
    """RF-76: nothing is handed out twice."""
    ids, at_once = {clash(store, f"e{n}") for n in range(6)}, Barrier(6)

    def work(n: int) -> Dispute | None:
        at_once.wait()
        return store.disputes.next(f"worker-{n}")

    with ThreadPoolExecutor(6) as pool:
        given = list(pool.map(work, range(6)))

    assert {one.id for one in given if one} == ids


# --- finding -------------------------------------------------------------------------------------


def test_the_beginning_of_an_id_is_enough(here: FactStore) -> None:
    id_ = clash(here)

    assert here.disputes.find(id_[:6]) == id_
    assert here.disputes.find(id_) == id_
    for wrong in (id_[:3], "zzzz", ""):
        with pytest.raises(Refused, match="no_dispute"):
            here.disputes.find(wrong)


def test_disputes_are_listed_by_their_states(here: FactStore) -> None:
    resolved, waiting = clash(here, "a"), clash(here, "b")
    here.disputes.resolve(resolved, here.disputes.get(resolved).seen[0], by="ana")

    assert [one.id for one in here.disputes.list()] == [waiting]
    assert [one.id for one in here.disputes.list(["resolved"])] == [resolved]
