"""A log of facts in memory, and what its entries make of the disputes of one fact."""

from __future__ import annotations

from typing import Any

from pointsman.decision_points.facts import FactKey, Policy, Registry, fold
from pointsman.decision_points.facts.assertions import Assertion, Value, When
from pointsman.decision_points.facts.disputes import Dispute, Event, advanced
from pointsman.decision_points.facts.entries import AnyEntry, Asserted, Receipt, Retracted, Stored
from pointsman.decision_points.facts.folding import living
from pointsman.decision_points.facts.outcomes import Outcome, candidate_id, dispute_id

KEY = FactKey("here", "acme", "city")
START = 1_700_000_000_000_000  # microseconds
STEP = 1_000_000  # from one entry to the next, in microseconds


class Clock:
    """A time that moves when it is told."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


POLICY = Policy.of({"attributes": {"city": {"change": "over_time"}}})
REGISTRY = Registry.of(
    {
        "order": ["signed", "erp", "chat"],
        "sources": {
            "contract": {"level": "signed"},
            "sap": {"level": "erp"},
            "oracle": {"level": "erp"},
            "totvs": {"level": "erp"},
            "bot": {"level": "chat"},
        },
    }
)


def said(value: str, source: str, **more: Any) -> Asserted:
    """A source says where it is."""
    given = {"value": Value("text", value), "raw": value, "normaliser": "", **more}
    return Asserted(assertion=Assertion(key=KEY, source=source, **given))


def on(day: int) -> When:
    """A day, as an instant."""
    at = START + day * 86_400_000_000
    return When(at, at)


def choice(value: str) -> str:
    """The id of a candidate."""
    return candidate_id(KEY, Value("text", value))


def clash(*values: str) -> str:
    """The id of the dispute between values."""
    return dispute_id(KEY, tuple(choice(one) for one in values))


def receipt(chosen: str, *seen: str, by: str = "ana", **more: Any) -> Receipt:
    """Somebody chooses one of what they saw."""
    given = {"party": "person", "at": START, **more}
    ids = tuple(sorted(choice(one) for one in seen))
    return Receipt(
        key=KEY, dispute=clash(*seen), seen=ids, choice=choice(chosen), resolver=by, **given
    )


def retracted(entry: Asserted) -> Retracted:
    """The source takes back what it said."""
    return Retracted(key=KEY, target=entry.id, by=entry.assertion.source, reason="a mistake")


class Log:
    """Entries of one fact in their order, and what each made of its disputes."""

    def __init__(self) -> None:
        self.stored: list[Stored] = []
        self.disputes: tuple[Dispute, ...] = ()
        self.events: list[Event] = []
        self.outcome: Outcome | None = None

    def add(self, *entries: AnyEntry) -> list[Event]:
        """Append entries; give what happened by the last of them."""
        happened: tuple[Event, ...] = ()
        for entry in entries:
            if any(one.id == entry.id for one in self.stored):
                happened = ()
                continue
            at = len(self.stored) + 1
            stored = Stored(position=at, id=entry.id, recorded_at=START + at * STEP, entry=entry)
            self.stored.append(stored)
            counts = living(self.stored, REGISTRY)
            new = fold(KEY, counts, POLICY, REGISTRY, stored.recorded_at)
            self.disputes, happened = advanced(
                self.disputes, stored, self.outcome, new, dismissed=counts.dismissed
            )
            self.outcome = new
            self.events += happened
        return list(happened)

    @property
    def states(self) -> list[str]:
        """The state of each dispute, by revision."""
        return [one.state for one in self.disputes]


def kinds(events: list[Event]) -> list[str]:
    """What happened."""
    return [one.kind for one in events]
