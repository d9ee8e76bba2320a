"""What a replay asks about, and how an answer is written down beside it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from ...chance import new_id
from ...errors import DeclarationError, Reason, SetupError
from ...journal.rows import DecisionRow, FeedbackRow, ShadowRow, Trail
from ...keys import Keys
from ...points import DecisionPoint, find
from ...questions import Ask, Outcome
from ...recording import outcome_of
from ...records import Shadow

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...records import Attempt

TURNED_AWAY = frozenset({Reason.AUTH, Reason.PAYMENT})
UNASKED = frozenset({Reason.BREAKER_OPEN, Reason.OVER_BUDGET, *TURNED_AWAY})
"""Ends that say nothing about the row: it is left, to be asked about another time."""
PASSING = frozenset(
    {
        Reason.TIMEOUT,
        Reason.TRANSPORT,
        Reason.RATE_LIMITED,
        Reason.PROVIDER_ERROR,
        Reason.CANCELLED,  # of a shadow whose process was closed
        *UNASKED,  # also of a shadow
    }
)
"""Ends that another time need not come to; `--retry-failed` asks again."""


class Wanted(NamedTuple):
    """
    What a run is to do.

    Attributes:
        provider: Who is asked.
        point: Of the journal, this point only; of a file, of rows that name none.
        limit: Rows, at most; None: all.
        again: Ask again where an answer failed for a passing cause.

    """

    provider: str
    point: DecisionPoint | None
    limit: int | None
    again: bool

    def answered(self, trail: Trail) -> bool:
        """Whether there is an answer already that stands; one that was given live always does."""
        live = (one.provider for one in trail.decision.record.attempts)
        return self.provider in live or any(map(self._stands, trail.shadows))

    def _stands(self, row: ShadowRow) -> bool:
        shadow = row.shadow
        passing = self.again and shadow.attempt.reason in PASSING
        return shadow.provider == self.provider and not passing


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """
    One state that is asked about.

    Attributes:
        of: Id of the decision that the answer stands beside.
        point: Where.
        ask: What is asked.
        language: In which language.
        beside: What was decided then; None where nothing was.
        beside_provider: Who decided that; empty: nobody.
        rows: What is written with the answer: a file's row stands as a decision of nobody.

    """

    of: str
    point: DecisionPoint
    ask: Ask
    language: str
    beside: Outcome = None
    beside_provider: str = ""
    rows: tuple[DecisionRow | FeedbackRow, ...] = ()


class Survey(msgspec.Struct, frozen=True):
    """
    What there is to do, counted before anything is asked.

    Attributes:
        asked: How many have an answer of this provider already.
        left: How many are asked about now.
        later: How many are left for another time, by `--limit`.
        skipped: Why others are not asked about, and how many.
        points: The points of those that are.

    """

    asked: int
    left: int
    later: int
    skipped: Counter[str]
    points: tuple[str, ...]


class Source(Protocol):
    """Where states come from."""

    @property
    def survey(self) -> Survey:
        """What there is to do."""
        ...

    @property
    def late(self) -> Sequence[FeedbackRow]:
        """What is written before anything is asked."""
        ...

    def items(self) -> Iterator[Item]:
        """Give what is asked about now, a few in memory at a time."""
        ...


class Points:
    """The points that a gateway knows, by any name that was recorded."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._found: dict[str, DecisionPoint | None] = {}

    def get(self, name: str) -> DecisionPoint | None:
        """Find a point; None where there is none of this name here."""
        if name not in self._found:
            try:
                self._found[name] = find(name, self._gateway.points)
            except SetupError:  # nearly the name of another: whose question may be the opposite
                self._found[name] = None
        return self._found[name]


class Rows:
    """Makes the row of an answer."""

    def __init__(self) -> None:
        self._keys = Keys()

    def of(self, item: Item, attempt: Attempt) -> ShadowRow:
        """Write down how an ask about *item* ended."""
        shadow = Shadow(
            id=new_id(),
            of=item.of,
            at=time.time(),
            point=item.point.name,
            provider=attempt.provider,
            attempt=attempt,
            outcome=outcome_of(attempt.answers) if attempt.answers else None,
            beside=item.beside,
            beside_provider=item.beside_provider,
            source="replay",
        )
        keys = self._keys.of(item.point, item.ask.questions, item.language)
        return ShadowRow(shadow=shadow, language=item.language, keys=keys)


def asked_again(point: DecisionPoint, state: object, language: str) -> Ask | None:
    """Build the ask about a *state* once more; None where it is not enough for that."""
    try:
        return point.ask(state, language)
    except DeclarationError:
        return None
