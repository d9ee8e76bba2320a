"""What a move of a dispute is given is checked before the log has it; and what a move may touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from disputing import START, Clock
from pointsman.decision_points.facts import FactStore, Receipt, Refused, Superseded
from pointsman.decision_points.facts.entries import Spent

POLICY: Mapping[str, Any] = {
    "attributes": {"city": {}, "term": {"strict": True}, "tags": {"cardinality": "many"}}
}
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
SECOND = 1_000_000  # microseconds
NAN = float("nan")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[FactStore]:
    url = f"sqlite:///{tmp_path / 'facts.db'}"
    with FactStore(url, policy=POLICY, registry=REGISTRY, clock=clock) as made:
        yield made


def clash(store: FactStore, attribute: str = "city") -> str:
    """Two systems contradict each other; the dispute."""
    store.assert_("acme", attribute, "Lisbon", source="sap", writer="Robot-1", confidence=0.9)
    store.assert_("acme", attribute, "Porto", source="oracle", confidence=0.9)
    return store.get("acme", attribute).outcome.dispute


def choice(store: FactStore, text: str, id_: str) -> str:
    """The id of a candidate."""
    found = store.disputes.get(id_).candidates
    return next(one.id for one in found if one.value.text == text)


# --- arguments -----------------------------------------------------------------------------------

Wrong = tuple[str, Callable[[Any, str, str], object]]

WRONG: dict[str, Wrong] = {
    "a party to resolve": (
        "bad_party",
        lambda of, id_, one: of.resolve(id_, one, by="ana", party="human"),
    ),
    "a party to assign": ("bad_party", lambda of, id_, _: of.assign(id_, "ana", party="human")),
    "a party to ask for work": ("bad_party", lambda of, *_: of.next("ana", party="human")),
    "a party to dismiss": (
        "bad_party",
        lambda of, id_, _: of.dismiss(id_, by="ana", party="human", reason="r"),
    ),
    "a party to withdraw": (
        "bad_party",
        lambda of, id_, _: of.withdraw(id_, by="ana", party="human", reason="r"),
    ),
    "a reason that is a number": (
        "bad_text",
        lambda of, id_, one: of.resolve(id_, one, by="ana", reason=5),
    ),
    "half a character in a reason": (
        "bad_text",
        lambda of, id_, one: of.resolve(id_, one, by="ana", reason="\ud800"),
    ),
    "a control in a reason": (
        "bad_text",
        lambda of, id_, _: of.dismiss(id_, by="ana", reason="\x1b[31mred"),
    ),
    "a sign that turns a reason round": (
        "bad_text",
        lambda of, id_, _: of.escalate(id_, "a\u2067b"),
    ),
    "evidence that is a number": (
        "bad_text",
        lambda of, id_, one: of.resolve(id_, one, by="ana", evidence=[1]),
    ),
    "evidence that is one text": (
        "bad_text",
        lambda of, id_, one: of.resolve(id_, one, by="ana", evidence="row 7"),
    ),
    "candidates that are numbers": (
        "bad_text",
        lambda of, id_, one: of.resolve(id_, one, by="ana", seen=[1, "a"]),
    ),
    "a name with an end of line": ("bad_text", lambda of, id_, _: of.assign(id_, "ana\nbea")),
    "a name with an unseen space": (
        "bad_text",
        lambda of, id_, one: of.resolve(id_, one, by="an\u200ba"),
    ),
    "a name that turns round": ("bad_text", lambda of, id_, _: of.assign(id_, "a\u202eb")),
    "a name that is a number": ("no_resolver", lambda of, id_, _: of.assign(id_, 5)),
    "an id of half a character": ("no_dispute", lambda of, *_: of.get("\ud800")),
    "an id that is a number": ("no_dispute", lambda of, *_: of.get(5)),
    "a source that is a number": (
        "bad_text",
        lambda of, id_, _: of.resolve(id_, value="Faro", source=5, by="ana"),
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_not_as_it_has_to_be_is_refused_and_nothing_is_written(
    store: FactStore, what: str
) -> None:
    """RF-51, RF-52, RF-81: with a code of its own, and never a row that cannot be read again."""
    id_ = clash(store)
    before = len(list(store.export()))
    code, move = WRONG[what]

    with pytest.raises(Refused) as refused:
        move(store.disputes, id_, choice(store, "porto", id_))

    assert refused.value.code == code
    assert len(list(store.export())) == before
    assert not store.verify().differences


@pytest.mark.parametrize("span", [0, -5, NAN, float("inf"), 1e12, 1e300, True, "60"])
def test_a_span_of_time_is_above_nothing_and_at_most_a_year(store: FactStore, span: Any) -> None:
    """RF-53, RF-51: of a receipt and of a lease."""
    id_ = clash(store)
    porto = choice(store, "porto", id_)

    for move in (
        lambda: store.disputes.resolve(id_, porto, by="ana", valid_for=span),
        lambda: store.disputes.assign(id_, "ana", seconds=span),
        lambda: store.disputes.next("ana", seconds=span),
    ):
        with pytest.raises(Refused, match="bad_duration"):
            move()

    assert store.disputes.get(id_).state == "open"


@pytest.mark.parametrize("cost", [NAN, "0.1"])
def test_an_entry_that_could_not_be_read_again_is_never_written(
    store: FactStore, cost: Any
) -> None:
    """RF-73: whoever made it."""
    id_ = clash(store)
    key = store.get("acme", "city").key
    entry = Spent(key=key, dispute=id_, by="robot", cost_usd=cost, at=START)

    with pytest.raises(Refused, match="bad_entry"):
        store.ledger.append(entry)

    assert store.disputes.get(id_).cost_usd == 0
    assert not store.verify().differences


def test_what_is_taken_back_is_named_by_characters(store: FactStore) -> None:
    """RF-47: half of one is none."""
    made = store.assert_("acme", "city", "Lisbon", source="sap")

    with pytest.raises(Refused, match="unknown_id"):
        store.retract("\ud800", by="sap", reason="wrong")
    with pytest.raises(Refused, match="bad_text"):
        store.retract(made.id, by="sap", reason="wrong \ud800")

    assert store.get("acme", "city").status == "resolved"


# --- a reader ------------------------------------------------------------------------------------

ODD: dict[str, Any] = {
    "a cost that is no number": {"value": "Porto", "cost_usd": NAN},
    "a cost that is a text": {"value": "Porto", "cost_usd": "0.1"},
    "tokens below nothing": {"value": "Porto", "tokens": -100},
    "a source of its own": {"value": "Porto", "source": "contract"},
    "what nobody asked for": {"value": "Porto", "truth": 1},
    "a text that is a number": {"raw": 7},
    "evidence that is a list": {"value": "Porto", "evidence": []},
}


@pytest.mark.parametrize("what", ODD)
def test_what_a_reader_gives_is_counted_and_then_refused_where_it_is_odd(
    store: FactStore, what: str
) -> None:
    """RF-56, RF-59: a read is a read."""
    id_ = clash(store)

    with pytest.raises(Refused, match="bad_reading"):
        store.disputes.investigate(id_, lambda *_: ODD[what], by="robot", source="totvs")

    found = store.disputes.get(id_)
    assert (found.state, found.reads, found.tokens, found.cost_usd) == ("open", 1, 0, 0)
    assert not store.verify().differences


def test_a_reader_that_fails_has_read(store: FactStore) -> None:
    """RF-59: so that one that fails for good comes to an end."""
    id_ = clash(store)

    def broken(*_: object) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        store.disputes.investigate(id_, broken, by="robot")

    assert (store.disputes.get(id_).state, store.disputes.get(id_).reads) == ("open", 1)


# --- whose word, and which receipt ---------------------------------------------------------------


@pytest.mark.parametrize("by", ["Robot-1", "robot-1", " ROBOT-1 ", "SAP"])
def test_an_author_is_known_however_the_name_is_written(store: FactStore, by: str) -> None:
    """RF-57."""
    id_ = clash(store)

    with pytest.raises(Refused, match="own_candidate"):
        store.disputes.resolve(id_, choice(store, "lisbon", id_), by=by, party="agent")

    assert store.disputes.next(by) is None


@pytest.mark.parametrize("named", [False, True])
def test_only_a_disputes_own_receipt_is_taken_back(store: FactStore, *, named: bool) -> None:
    """RF-49: never that of a dispute which it has become since."""
    first = clash(store)
    store.disputes.resolve(first, choice(store, "porto", first), by="ana")
    store.assert_("acme", "city", "Faro", source="totvs", confidence=0.9)
    second = store.get("acme", "city").outcome.dispute
    given = store.disputes.resolve(second, choice(store, "faro", second), by="bob")

    with pytest.raises(Refused, match="nothing_given"):
        store.disputes.withdraw(first, by="ana", reason="wrong", target=given.id if named else "")

    assert store.disputes.get(second).state == "resolved"
    assert store.get("acme", "city").value == "Faro"


@pytest.mark.parametrize("source", ["contract", "bot"])
def test_who_brings_the_same_value_again_is_given_the_same_receipt(
    store: FactStore, source: str
) -> None:
    """RF-52: whether the rule decides by it, or the receipt does."""
    id_ = clash(store)

    def bring(reason: str = "") -> Receipt:
        given: dict[str, Any] = {"source": source, "by": "ana", "reason": reason}
        return store.disputes.resolve(id_, value="Faro", **given)

    first, entries = bring("seen there"), len(list(store.export()))

    assert bring() == first
    assert len(list(store.export())) == entries
    with pytest.raises(Superseded):
        store.disputes.resolve(id_, value="Faro", source="totvs", by="ana")


@pytest.mark.parametrize(("given", "sure"), [(None, 1.0), (0.7, 0.7)])
def test_a_person_who_brings_a_value_is_sure_of_it_where_somebody_has_to_be(
    store: FactStore, given: float | None, sure: float
) -> None:
    """RF-08, RF-52: an agent has to say how sure it is."""
    id_ = clash(store, "term")
    with pytest.raises(Refused, match="confidence_missing"):
        store.disputes.resolve(id_, value="Faro", source="bot", by="jev", party="agent")

    store.disputes.resolve(id_, value="Faro", source="bot", by="ana", confidence=given)

    (brought,) = [one for one in store.explain("acme", "term").claims if one.source == "bot"]
    assert (store.get("acme", "term").value, brought.confidence) == ("Faro", sure)


def test_a_receipt_whose_time_is_up_is_in_the_queue_again(store: FactStore, clock: Clock) -> None:
    """RF-53, RF-58: nobody has to note that time has passed."""
    for look in (
        lambda id_: [one.id for one in store.disputes.list()] == [id_],
        lambda id_: store.disputes.get(id_).state == "reopened",
        lambda id_: cast("Any", store.disputes.next("robot")).id == id_,
    ):
        id_ = store.disputes.list()[0].id if store.disputes.list() else clash(store)
        store.disputes.resolve(id_, choice(store, "porto", id_), by="ana", valid_for=10)
        assert store.disputes.list() == ()
        clock.now += 20 * SECOND

        assert look(id_)


# --- sets ----------------------------------------------------------------------------------------


def members(store: FactStore, *names: str) -> str:
    """Each member of a set is affirmed and denied; the dispute."""
    for one in names:
        store.assert_("acme", "tags", one, source="sap", confidence=0.9)
        store.assert_("acme", "tags", one, source="oracle", kind="deny", confidence=0.9)
    store.assert_("acme", "tags", "sure", source="sap", confidence=0.9)
    return store.get("acme", "tags").outcome.dispute


def member(store: FactStore, id_: str, text: str) -> str:
    """The id of the candidate that it is a member."""
    found = store.disputes.get(id_).candidates
    return next(one.id for one in found if (one.value.form, one.value.text) == ("text", text))


def test_of_a_set_each_member_in_dispute_is_resolved_and_told_by_itself(store: FactStore) -> None:
    """RF-04, RF-51, RF-64: what is left is a dispute of its own."""
    first = members(store, "a", "b", "c")
    last = list(store.subscribe())[-1].id
    for text in ("b", "a", "c"):
        (one,) = store.disputes.list()
        given = store.disputes.resolve(one.id, member(store, one.id, text), by="ana")

        happened = {each.kind: each.ids for each in store.subscribe(last)}
        last = list(store.subscribe())[-1].id
        assert happened["resolved"] == (one.id, given.id)
        left = [each.id for each in store.disputes.list()]
        assert [happened.get("disputed")] == ([(left[0], one.id)] if left else [None])
        assert store.disputes.get(one.id).state == "resolved"

    assert {*store.get("acme", "tags").value} == {"a", "b", "c", "sure"}
    states = [one.state for one in store.disputes.list(("resolved", "auto_closed"))]
    assert states.count("resolved") == 3

    store.disputes.withdraw(first, by="ana", reason="not sure of b")
    assert {*(store.get("acme", "tags").outcome.members or ())} == {
        one
        for one in store.get("acme", "tags").outcome.members or ()
        if one.text in {"a", "c", "sure"}
    }
    assert store.get("acme", "tags").status == "disputed"
    assert not store.verify().differences


def test_no_member_is_brought_that_is_not_in_dispute(store: FactStore) -> None:
    """RF-52: a receipt that settles nothing is none."""
    id_ = members(store, "a")
    before = len(list(store.export()))

    with pytest.raises(Refused, match="no_candidate"):
        store.disputes.resolve(id_, value="z", source="bot", by="ana")

    assert len(list(store.export())) == before
