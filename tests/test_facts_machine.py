"""
Whatever is done to a store, it says what a naive model says that works everything out anew.

The model (`facts_naive`) shares no line with the package. It is held against the pure fold, and
against a store on a file that is written to, taken back from, resolved in, put under other
policies, closed and opened again, and merged with another.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from facts_naive import REGISTRY, SOURCES, Came, Rule, Ruling, Said, comes_to
from pointsman.decision_points.facts import Dispute, FactStore, fold
from pointsman.decision_points.facts.assertions import Assertion, Value, When, recorded
from pointsman.decision_points.facts.disputes.dispute import State
from pointsman.decision_points.facts.keys import FactKey
from pointsman.decision_points.facts.outcomes import Outcome
from pointsman.decision_points.facts.policy import policy_of
from pointsman.decision_points.facts.registry import registry_of

MINUTE = 60_000_000
DAWN = 1_772_000_000_000_000  # a morning of 2026, in microseconds; nothing is known of before
VALUES = ("x", "y", "z")
SEQUENCES = (
    ("authority", "confidence", "recency"),
    ("authority", "recency"),
    ("confidence", "authority"),
    ("recency",),
    ("authority",),
    (),
)
FACTS = ("fixed", "moving", "undeclared")  # attributes: never changes, changes over time, neither
RESOLVED: tuple[State, ...] = ("resolved",)

rules = st.builds(Rule, keys=st.sampled_from(SEQUENCES), over_time=st.booleans())
minutes = st.integers(0, 12).map(lambda at: DAWN + at * MINUTE)


@st.composite
def statements(draw: st.DrawFn, *, since: bool = True) -> dict[str, Any]:
    """Draw what a source says, as a store takes it."""
    starts = st.none() | minutes if since else st.none()
    return {
        "source": draw(st.sampled_from(SOURCES)),
        "value": draw(st.sampled_from(VALUES)),
        "confidence": draw(st.sampled_from((None, 0.3, 0.5, 0.7, 0.9))),
        "observed_at": draw(st.none() | minutes),
        "valid_from": draw(starts),
        "evidence": draw(st.sampled_from(("explicit", "explicit", "absence"))),
    }


def model_of(name: str, said: dict[str, Any]) -> Said:
    """Say the same to the model."""
    return Said(
        name,
        said["source"],
        said["value"],
        said["confidence"],
        said["observed_at"],
        said["valid_from"],
        said["evidence"] == "absence",
    )


def came(outcome: Outcome) -> Came:
    """Say what an outcome is in the model's words."""
    left = frozenset(one.value.text for one in outcome.candidates)
    value = outcome.value.text if outcome.value is not None else None
    return Came(outcome.status, value, left)


# --- the fold ----------------------------------------------------------------------------


def _assertion(said: dict[str, Any]) -> Assertion:
    given: dict[str, Any] = {name: said[name] for name in ("source", "confidence", "evidence")}
    for name in ("observed_at", "valid_from"):
        given[name] = None if said[name] is None else When(said[name], said[name])
    value = Value("text", said["value"])
    return Assertion(key=KEY, value=value, raw=value.text, **given)


KEY = FactKey("default", "acme", "fixed")


@given(st.lists(statements(), max_size=6), rules, minutes)
@settings(max_examples=400, deadline=None)
def test_the_fold_says_what_the_naive_model_says(
    said: Sequence[dict[str, Any]], how: Rule, at: int
) -> None:
    """RF-23, RF-24, RF-26, RF-27, RF-29, RF-31, RF-13, RF-11: the same rules, written twice."""
    policy = policy_of({"schema": 1, "attributes": {"fixed": how.table()}})
    every = {one.id: (one, told) for told in said for one in (recorded(_assertion(told)),)}

    outcome = fold(KEY, [one for one, _ in every.values()], policy, registry_of(REGISTRY), at)

    expected = comes_to([model_of(name, told) for name, (_, told) in every.items()], how, at)
    assert came(outcome) == expected


# --- the store ---------------------------------------------------------------------------


class Clock:
    """It stands while something is done, and moves on between."""

    def __init__(self) -> None:
        self.time = DAWN

    def __call__(self) -> int:
        return self.time

    def moves(self) -> None:
        """Let half a minute pass."""
        self.time += MINUTE // 2


class Model:
    """
    What was written into a store, and nothing worked out from it.

    Attributes:
        said: Attribute → id → what was said.
        back: Id of a retraction → what it takes back.
        ruled: Attribute → id of a receipt → what it says; what is withdrawn is not there.
        rules: Attribute → how it is reconciled now.

    """

    def __init__(self) -> None:
        self.said: dict[str, dict[str, Said]] = {name: {} for name in FACTS}
        self.back: dict[str, str] = {}
        self.ruled: dict[str, dict[str, Ruling]] = {name: {} for name in FACTS}
        self.rules: dict[str, Rule | None] = {
            "fixed": Rule(),
            "moving": Rule(over_time=True),
            "undeclared": None,
        }

    def alive(self, name: str) -> bool:
        """Nothing that is alive takes it back."""
        return not any(self.alive(by) for by, target in self.back.items() if target == name)

    def came(self, attribute: str, at: int) -> Came:
        """Work a fact out anew."""
        said = [one for name, one in self.said[attribute].items() if self.alive(name)]
        rulings = list(self.ruled[attribute].values())
        return comes_to(said, self.rules[attribute], at, rulings)

    def says(self, attribute: str, values: frozenset[str], at: int) -> frozenset[str]:
        """Give ids of what holds at a time and says one of *values*."""
        return frozenset(
            name
            for name, one in self.said[attribute].items()
            if self.alive(name) and one.value in values and (one.since is None or one.since <= at)
        )

    def policy(self) -> dict[str, Any]:
        """Write the rules as a policy."""
        declared = {name: one.table() for name, one in self.rules.items() if one is not None}
        return {"schema": 1, "attributes": declared}


class Stores(RuleBasedStateMachine):
    """A store and its model; another store, which is merged into the first now and then."""

    said = Bundle("said")
    back = Bundle("back")

    @initialize()
    def opens(self) -> None:
        """Both begin empty, under the same policy."""
        self.folder = tempfile.TemporaryDirectory()
        self.clock, self.model = Clock(), Model()
        self.elsewhere: list[tuple[str, str, Said]] = []
        given: dict[str, Any] = {"policy": self.model.policy(), "registry": REGISTRY}
        self.store = FactStore(self.place("one"), **given, clock=self.clock)
        self.other = FactStore(self.place("two"), **given, clock=self.clock)
        for one in (self.store, self.other):
            one.counts()  # adopts now: of two stores in one, the rules adopted last hold

    def place(self, name: str) -> Path:
        return Path(self.folder.name, f"{name}.db")

    @rule(target=said, attribute=st.sampled_from(FACTS), told=statements())
    def asserts(self, attribute: str, told: dict[str, Any]) -> tuple[str, str]:
        """Once or again: the same content is one assertion (RF-08)."""
        written = self.store.assert_("acme", attribute, **told)
        assert written.new == (written.id not in self.model.said[attribute])
        self.model.said[attribute][written.id] = model_of(written.id, told)
        return written.id, told["source"]

    @rule(target=back, told=said)
    def retracts(self, told: tuple[str, str]) -> tuple[str, str]:
        """From then on it was never said (RF-47)."""
        name, source = told
        written = self.store.retract(name, by=source, reason="misread")
        self.model.back[written.id] = name
        return written.id, source

    @rule(told=consumes(back))
    def takes_a_retraction_back(self, told: tuple[str, str]) -> None:
        name, source = told
        written = self.store.retract(name, by=source, reason="it was right")
        self.model.back[written.id] = name

    @precondition(lambda self: bool(self.store.disputes.list()))
    @rule(data=st.data(), person=st.booleans())
    def resolves(self, data: st.DataObject, *, person: bool) -> None:
        """A receipt is bound to the candidates that it saw (RF-53)."""
        dispute = data.draw(st.sampled_from(self.store.disputes.list()), label="dispute")
        self.rules_on(dispute, data, person=person)

    def rules_on(self, dispute: Dispute, data: st.DataObject, *, person: bool) -> None:
        chosen = data.draw(st.sampled_from(dispute.candidates), label="choice")
        receipt = self.store.disputes.resolve(
            dispute.id,
            chosen.id,
            by="judge" if person else "robot",
            party="person" if person else "agent",
            reason="as the file says",
        )
        seen = frozenset(one.value.text for one in dispute.candidates)
        attribute = dispute.key.attribute
        upon = self.model.says(attribute, seen, receipt.at)
        ruling = Ruling(seen, chosen.value.text, person, upon)
        self.model.ruled[attribute][receipt.id] = ruling

    def decided(self, *, by_agent: bool) -> list[tuple[Dispute, str]]:
        """Give disputes that a receipt decides now, with its id: those of agents, or all."""
        found = []
        for one in self.store.disputes.list(RESOLVED):
            outcome = self.store.get(one.key).outcome
            ruling = self.model.ruled[one.key.attribute].get(outcome.receipt)
            if outcome.dispute == one.id and ruling and not (by_agent and ruling.person):
                found.append((one, outcome.receipt))
        return found

    @precondition(lambda self: bool(self.decided(by_agent=True)))
    @rule(data=st.data())
    def is_overridden(self, data: st.DataObject) -> None:
        """By a person, where an agent resolved (RF-55)."""
        dispute, _ = data.draw(st.sampled_from(self.decided(by_agent=True)), label="dispute")
        self.rules_on(dispute, data, person=True)

    @precondition(lambda self: bool(self.decided(by_agent=False)))
    @rule(data=st.data())
    def withdraws(self, data: st.DataObject) -> None:
        """All is as before the receipt, and the log is longer by one (RF-49)."""
        dispute, name = data.draw(st.sampled_from(self.decided(by_agent=False)), label="dispute")
        self.store.disputes.withdraw(dispute.id, by="judge", party="person", reason="hasty")
        del self.model.ruled[dispute.key.attribute][name]

    @rule(attribute=st.sampled_from(("fixed", "moving")), how=rules)
    def adopts(self, attribute: str, how: Rule) -> None:
        """Another policy folds the same log (RF-71)."""
        self.model.rules[attribute] = how
        self.store.adopt(policy=self.model.policy(), by="operator", reason="trying")

    @rule()
    def restarts(self) -> None:
        """A process ends, another opens the file and is told of no policy."""
        self.store.close()
        self.store = FactStore(self.place("one"), clock=self.clock)

    @rule(attribute=st.sampled_from(FACTS), told=statements())
    def is_told_elsewhere(self, attribute: str, told: dict[str, Any]) -> None:
        """The other store hears what this one does not."""
        written = self.other.assert_("acme", attribute, **told)
        self.elsewhere.append((attribute, written.id, model_of(written.id, told)))

    @rule()
    def merges(self) -> None:
        """The union of two stores is one that received both (RF-77)."""
        self.store.import_(self.other.export())
        for attribute, name, said in self.elsewhere:
            self.model.said[attribute][name] = said

    @invariant()
    def says_what_the_model_says(self) -> None:
        """Whatever was done, and when time has passed since."""
        self.clock.moves()
        for attribute in FACTS:
            reading = self.store.get("acme", attribute)
            assert came(reading.outcome) == self.model.came(attribute, self.clock()), attribute

    @invariant()
    def the_projection_is_what_a_new_one_would_be(self) -> None:
        """RF-73."""
        assert self.store.verify().same

    @invariant()
    def what_is_open_is_what_is_disputed(self) -> None:
        """Once it is in the log that time has passed: one open dispute a fact (RF-58)."""
        self.store.advance()
        open_ = [one.key.attribute for one in self.store.disputes.list()]
        disputed = [
            name for name in FACTS if self.model.came(name, self.clock()).status == "disputed"
        ]
        assert sorted(open_) == sorted(disputed)

    def teardown(self) -> None:
        """Close both."""
        if hasattr(self, "store"):
            self.store.close()
            self.other.close()
            self.folder.cleanup()


def test_a_store_says_what_the_naive_model_says() -> None:
    """RF-08, RF-23, RF-41, RF-47, RF-49, RF-53, RF-55, RF-71, RF-73, RF-74, RF-77."""
    run_state_machine_as_test(
        Stores,
        settings=settings(
            max_examples=20,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("wrong", ["last write", "no correction"])
def test_the_model_would_notice(wrong: str) -> None:
    """A model that agreed with anything would prove nothing."""
    first = Said("1", "contract", "x", None, DAWN)
    second = Said("2", "sap" if wrong == "last write" else "contract", "y", None, DAWN + MINUTE)

    found = comes_to([first, second], Rule(("authority",)), DAWN + 2 * MINUTE)

    assert found.value == ("x" if wrong == "last write" else "y")
