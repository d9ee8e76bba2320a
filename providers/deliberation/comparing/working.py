"""Works through the cases: bounded, and resumable at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ....gateway.answers import Answer, Usage
from ....gateway.cli import screen
from ....gateway.cli.replaying.ending import heard
from ....gateway.cli.replaying.limits import Purse
from ....gateway.records import Attempt
from .arms import DEBATES, Arm
from .cases import Case
from .experiment import Experiment
from .results import Results
from .rows import Row, Values
from .running import Left, Runner

if TYPE_CHECKING:
    from ....gateway.plugins import Voices

Stopped: TypeAlias = Literal["", "cost", "calls", "down", "signal"]
"""Why a run ended early: what it may cost, a provider that is left alone, a signal; empty: not."""

Unit: TypeAlias = tuple[Case, Sequence[Arm]]


class Bounds(NamedTuple):
    """
    What bounds a run, and what is kept of it.

    Attributes:
        concurrency: Cases at once.
        calls: Calls of this run; None: no bound.
        usd: US dollars of this run; None: no bound.
        kept: The folder of transcripts; None: they are not kept.

    """

    concurrency: int = 4
    calls: int | None = None
    usd: float | None = None
    kept: Path | None = None


class Working:
    """
    One run over the cases. However it ends, an arm that is under way is waited for and kept.

    Args:
        voices: Reaches the providers.
        experiment: What is tried.
        results: Where rows go; what is there is not asked again.
        bounds: What bounds it, and what is kept of it.

    Attributes:
        stopped: Why it ended early.
        signal: The number of the signal that ended it; 0: none did.
        left: Why a provider was left alone; None: none was.
        done: Rows that were added.

    """

    def __init__(
        self, voices: Voices, experiment: Experiment, results: Results, bounds: Bounds
    ) -> None:
        self._runner = Runner(voices, experiment, bounds.kept)
        self._of, self._results, self._bounds = experiment, results, bounds
        self._purse = Purse(bounds.usd)
        self._calls = self._reserved = 0
        self._order: list[str] = []
        self._workers: set[asyncio.Task[None]] = set()
        self._fault: Exception | None = None
        self.stopped: Stopped = ""
        self.signal = 0
        self.left: Left | None = None
        self.done = 0

    async def run(self, cases: Sequence[Case], advance: Callable[[object], None]) -> None:
        """
        Run what is not known yet of *cases*; *advance* is told of each row that is written.

        Raises:
            SetupError: The results cannot be written, or a variable is wrong.

        """
        self._order = [case.id for case in cases]
        with heard(self):
            for units in self._phases(cases):
                await self._together(iter(units), advance)
        if self._fault is not None:
            raise self._fault

    def soon(self, by: int) -> None:
        """Begin nothing more, because of the signal *by*; what is under way is waited for."""
        self.signal = by
        self._stop("signal")
        screen.note("Waiting for what is under way; Ctrl-C again ends at once.")

    def now(self) -> None:
        """Wait for nothing any more."""
        for one in self._workers:
            one.cancel()

    def _stop(self, why: Stopped) -> None:
        self.stopped = self.stopped or why

    def _phases(self, cases: Sequence[Case]) -> Iterator[list[Unit]]:
        """First what others are measured by; a placebo of content needs all of that."""
        late = self._of.placebo == "content"
        first = [arm for arm in self._of.arms if not (late and arm.way == "placebo")]
        first.sort(key=lambda arm: (not arm.early, arm.name != self._of.reference))
        yield [(case, first) for case in cases]
        if rest := [arm for arm in self._of.arms if arm not in first]:
            yield [(case, rest) for case in cases]

    async def _together(self, units: Iterator[Unit], advance: Callable[[object], None]) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._bounds.concurrency):
                worker = group.create_task(self._work(units, advance))
                self._workers.add(worker)
                worker.add_done_callback(self._workers.discard)

    async def _work(self, units: Iterator[Unit], advance: Callable[[object], None]) -> None:
        try:
            for case, arms in units:
                for arm in arms:
                    if self.stopped or self._fault:
                        return
                    if self._results.of(case, arm.name) is None:
                        await self._one(case, arm, advance)
        except Left as left:
            self.left = self.left or left
            self._stop("down")
        except Exception as fault:  # noqa: BLE001 - raised once what is under way is kept
            self._fault = self._fault or fault

    async def _one(self, case: Case, arm: Arm, advance: Callable[[object], None]) -> None:
        debate = self._debate(case, arm)
        most = self._of.reserved(arm, debate)
        if not self._may(most):
            return
        try:
            row = await self._paid(case, arm, debate)
        finally:
            self._reserved -= most
        if row is not None:
            self._calls += row.cost.calls
            self._results.append(row)
            self.done += 1
            advance(row)

    def _may(self, most: int) -> bool:
        """Set calls aside; where they might not be enough, nothing more is begun."""
        limit = self._bounds.calls
        if limit is not None and self._calls + self._reserved + most > limit:
            self._stop("calls")
            return False
        self._reserved += most
        return True

    async def _paid(self, case: Case, arm: Arm, debate: Row | None) -> Row | None:
        """Run it if the purse allows; None where it does not, or the run has ended meanwhile."""
        if not await self._purse.leave():
            self._stop("cost")
            return None
        row: Row | None = None
        try:
            if not self.stopped:
                row = await self._runner.row(case, arm, debate, self._other(case, arm))
        finally:
            await self._purse.ended(None if row is None else _priced(row))
        return row

    def _debate(self, case: Case, arm: Arm) -> Row | None:
        """Give the debate that costs are held against; it is nothing to itself."""
        name = self._of.reference
        return None if not name or name == arm.name else self._results.of(case, name)

    def _other(self, case: Case, arm: Arm) -> Sequence[Values]:
        """Give another case's first answers: of the next one that has some, in the file's order."""
        if arm.way != "placebo" or self._of.placebo != "content":
            return ()
        names = [one.name for one in self._of.arms if one.way in (*DEBATES[:2], "independent")]
        return next(self._openings(case, names), ())

    def _openings(self, case: Case, names: Sequence[str]) -> Iterator[Sequence[Values]]:
        at = self._order.index(case.id)
        for other in (*self._order[at + 1 :], *self._order[:at]):
            for name in names:
                row = self._results.rows.get((other, name))
                if row is not None and row.opening:
                    yield list(row.opening.values())


def _priced(row: Row) -> Attempt:
    """Tell a purse what a row cost, as it counts asks."""
    cost = row.cost
    usd = None if cost.unpriced == cost.calls else cost.usd
    counted = {"arm": Answer(value=True)}
    return Attempt(provider=row.arm, answers=counted, usage=Usage(cost_usd=usd))
