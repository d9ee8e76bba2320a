"""States out of the journal: those of decisions that were kept with full content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from ...keys import keys_of
from ..reading import NotJson, parsed
from .items import Item, Points, Survey, asked_again

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...journal.rows import DecisionRow, Trail
    from ...journal.store import Store
    from ...points import DecisionPoint
    from .items import Wanted

PART = 200  # decisions whose states are in memory at once

ASKED = "asked already"
NO_STATE = "no state was kept (DECISION_JOURNAL_CONTENT=full keeps it)"
OF_A_FILE = "rows of a file, which holds their states"
NO_POINT = "no such decision point here (--app names your program)"
NOT_AGAIN = "their states do not hold all that is asked"
OTHERWISE = "their options were others than those of now"


class FromJournal:
    """
    The decisions of a journal, oldest first.

    Args:
        store: Where they are.
        gateway: Knows the points.
        wanted: What it answered already, live or beside, is not asked again.

    Attributes:
        late: What is written before anything is asked: nothing.

    """

    late = ()

    def __init__(self, store: Store, gateway: Gateway, wanted: Wanted) -> None:
        self._store = store
        self._points = Points(gateway)
        self._wanted = wanted

    @property
    def survey(self) -> Survey:
        """What there is to do."""
        return self._surveyed[0]

    @cached_property
    def _surveyed(self) -> tuple[Survey, list[str]]:
        skipped: Counter[str] = Counter()
        points: dict[str, None] = {}
        ids: list[str] = []
        only = self._wanted.point
        for trail in self._store.trails(point=None if only is None else only.name):
            item = self._item(trail)
            if isinstance(item, str):
                skipped[item] += 1
            else:
                points[item.point.name] = None
                ids.append(trail.decision.id)
        asked = skipped.pop(ASKED, 0)
        now = ids[: self._wanted.limit]
        later = len(ids) - len(now)
        return Survey(asked, len(now), later, skipped, tuple(points)), now

    def items(self) -> Iterator[Item]:
        """Give what is asked about now, part by part."""
        ids = self._surveyed[1]
        for start in range(0, len(ids), PART):
            for trail in self._store.trails(ids=ids[start : start + PART]):
                item = self._item(trail)
                if isinstance(item, Item):  # what a shadow has answered meanwhile is none
                    yield item

    def _item(self, trail: Trail) -> Item | str:
        """Make an item of a decision, or say why not."""
        row = trail.decision
        if self._wanted.answered(trail):
            return ASKED
        if row.kept.state is None:
            return NO_STATE if row.record.variant else OF_A_FILE
        point = self._points.get(row.record.point)
        return NO_POINT if point is None else _again(row, point)


def _again(row: DecisionRow, point: DecisionPoint) -> Item | str:
    """Ask the same again; instructions may have changed, options may not."""
    ask = asked_again(point, _state(row), row.language)
    if ask is None:
        return NOT_AGAIN
    then, now = row.keys, keys_of(point, ask.questions, row.language)
    if then.keys() != now.keys() or any(then[one].options != now[one].options for one in now):
        return OTHERWISE
    return Item(
        of=row.id,
        point=point,
        ask=ask,
        language=row.language,
        beside=row.record.outcome,
        beside_provider=row.record.provider,
    )


def _state(row: DecisionRow) -> object:
    text = row.kept.state or ""
    if not row.kept.structured:
        return text
    try:
        return parsed(text)
    except NotJson:
        return None
