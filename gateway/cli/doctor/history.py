"""What the journal shows: points that always fall back, shadows that never arrive."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ...errors import Fault, Reason
from ...settings import CURRENT, Plan
from .. import screen
from .findings import Findings
from .remedies import lasting

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...journal.rows import Trail
    from ...journal.store import Store
    from ...records import Attempt, Record

DAYS = 7  # how far back; what is older says little of what is set now
NEWEST = 100  # decisions of each point that are looked at
LEAST = 20  # of them, before anything is said
FEW = 5  # of the latest: where these are believed, it may have been mended just now
ALWAYS, OFTEN = 0.9, 0.5  # shares
UNDER_WAY = 60.0  # seconds in which a shadow may still come


class Watched(msgspec.Struct, frozen=True):
    """
    One point, as it is planned and as it went.

    Attributes:
        plan: Its plan.
        trails: Its newest decisions, the latest first.
        certified: A file sets its thresholds, so that its plan does not.

    """

    plan: Plan
    trails: Sequence[Trail]
    certified: bool = False

    @property
    def asked(self) -> list[str]:
        """Who is asked as things are set now, beside current."""
        named = [arm.provider for arm in self.plan.arms] or [self.plan.provider]
        return [one for one in named if one != CURRENT]

    def tried(self, provider: str) -> list[Record]:
        """Give the decisions in which *provider* was assigned and asked."""
        records = [one.decision.record for one in self.trails]
        return [one for one in records if one.variant == provider and _was_asked(one, provider)]

    def unbelieved(self, records: Sequence[Record]) -> float:
        """Give the share of *records* whose answer would not be believed as things are set now."""
        return sum(not self.believes(one) for one in records) / max(1, len(records))

    def believes(self, record: Record) -> bool:
        """Whether its answer was believed, or would be under a threshold that is lower by now."""
        if record.reason != Reason.LOW_CONFIDENCE or self.certified:
            return record.reason == Reason.OK
        attempt, minimum = record.attempts[0], self.plan.gate.minimum
        lower = attempt.minimum is not None and minimum < attempt.minimum
        return lower and attempt.confidence >= minimum

    def shadowed(self, provider: str) -> list[Attempt]:
        """Give what *provider* answered in the background, the latest first."""
        rows = [row.shadow for one in self.trails for row in one.shadows]
        live = [one for one in rows if one.source == "live" and one.provider == provider]
        return [one.attempt for one in live]


def watched(gateway: Gateway, store: Store) -> list[Watched]:
    """
    Read the newest decisions of the points that somebody is asked for.

    Raises:
        StoreDown: The database cannot be read.

    """
    since = time.time() - DAYS * 24 * 3600
    plans = [gateway.settings.plan(point) for point in gateway.points.values()]
    kept = store.points()
    certified = gateway.settings.globals.thresholds is not None
    return [
        Watched(plan, _newest(store, plan.point, since), certified and plan.certifiable)
        for plan in plans
        if plan.point in kept and (plan.provider != CURRENT or plan.shadows)
    ]


def _newest(store: Store, point: str, since: float) -> list[Trail]:
    return list(store.trails(point=point, since=since, newest_first=True, limit=NEWEST))


def served(points: Iterable[Watched]) -> Mapping[tuple[str, str], str]:
    """Give point and provider → the model that answered last."""
    known: dict[tuple[str, str], str] = {}
    for one in points:
        for provider in one.asked:
            models = (record.attempts[0].served for record in one.tried(provider))
            if newest := next((model for model in models if model), ""):
                known[one.plan.point, provider] = newest
    return known


def examine(points: Iterable[Watched], found: Findings) -> None:
    """Find what goes on for long and helps nobody."""
    for one in points:
        for provider in one.asked:
            _falling(one, provider, found)
        for provider in one.plan.shadows:
            found.add(_missing(one, provider))


def _falling(one: Watched, provider: str, found: Findings) -> None:
    tried = one.tried(provider)
    latest = tried[:LEAST]
    share = one.unbelieved(tried)
    if len(tried) < LEAST or min(share, one.unbelieved(latest)) < OFTEN:  # or it has recovered
        return
    reason = _main(record.reason for record in tried if not one.believes(record))
    problem = (
        f"{one.plan.point} does without its answer in {_percent(share)} of {len(tried)} decisions"
        f", mostly: {reason.value}"
    )
    told = [Fault(provider, problem, lasting(reason))]
    always = share >= ALWAYS and one.unbelieved(tried[:FEW]) > 0.0
    found.add(told if always else (), () if always else told)


def _missing(one: Watched, provider: str) -> Iterator[Fault]:
    """A shadow that does not come, or never with an answer."""
    answers, where = one.shadowed(provider), one.plan.why["shadow"]
    due = _due(one, provider)
    if not answers and due >= LEAST and one.plan.sample * due >= OFTEN * LEAST:
        problem = f"{provider} answered beside none of the newest {due} decisions"
        fix = (
            "If it is set for longer than they are old, see that the program runs with it, that "
            "its log has no decision.shadow_starved, and that a consulted point calls `observe`"
        )
        yield Fault(where, f"{problem} of {one.plan.point}", fix)
    elif len(answers) >= OFTEN * LEAST and not any(each.answers for each in answers):
        reason = _main(each.reason for each in answers)
        problem = f"{provider} never answers: {len(answers)} times in vain, mostly: {reason.value}"
        yield Fault(where, problem, lasting(reason))


def _due(one: Watched, provider: str) -> int:
    """Count decisions beside which it should be by now: never beside itself, or beside nobody."""
    before = time.time() - UNDER_WAY
    records = [each.decision.record for each in one.trails]
    return sum(
        each.at < before and each.variant != provider and bool(each.provider) for each in records
    )


def _was_asked(record: Record, provider: str) -> bool:
    return bool(record.attempts) and record.attempts[0].provider == provider


def _main(reasons: Iterable[Reason]) -> Reason:
    """Give the most frequent reason; that it is left alone only follows from another one."""
    counted = Counter(one for one in reasons if one != Reason.OK)
    if len(counted) > 1:
        counted.pop(Reason.BREAKER_OPEN, None)
    return counted.most_common(1)[0][0]


def _percent(share: float) -> str:
    return screen.percent(share, 1.0)
