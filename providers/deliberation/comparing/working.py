"""Works through the cases: bounded, and resumable at any moment."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ....gateway.cli import screen
from ....gateway.cli.replaying.ending import heard
from .arms import OF_ONE, Arm
from .cases import Case
from .experiment import Experiment
from .failures import Left
from .known import Known
from .ledger import Held, Ledger
from .lending import NOTHING, Lending
from .results import Results
from .rows import Maker, Part, Row
from .running import Runner

if TYPE_CHECKING:
    from ....gateway.plugins import Voices

Stopped: TypeAlias = Literal["", "cost", "calls", "down", "signal"]
"""Why a run ended early: what it may cost, a provider that is left alone, a signal; empty: not."""

Unit: TypeAlias = tuple[Case, Sequence[Arm]]

UNMATCHED = "the debate that it is matched with is not known"


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
        makers: Provider → who that is now.

    Attributes:
        stopped: Why it ended early.
        signal: The number of the signal that ended it; 0: none did.
        left: Why arms on items were left open → how many; what came of them is not kept.
        done: Rows that were added.

    """

    def __init__(
        self,
        voices: Voices,
        experiment: Experiment,
        results: Results,
        bounds: Bounds,
        makers: Mapping[str, Maker],
    ) -> None:
        self._runner = Runner(voices, experiment, makers, bounds.kept)
        self._of, self._results, self._bounds = experiment, results, bounds
        self._known = Known(experiment, results)
        self._ledger = Ledger(bounds.calls, bounds.usd)
        self._lending = Lending(experiment, (), self._known, bounds.kept)
        self._workers: set[asyncio.Task[None]] = set()
        self._fault: Exception | None = None
        self._told: set[str] = set()
        self.stopped: Stopped = ""
        self.signal = 0
        self.left: Counter[str] = Counter()
        self.done = 0

    async def run(self, cases: Sequence[Case], advance: Callable[[object], None]) -> None:
        """
        Run what is not known yet of *cases*; *advance* is told of each row that is written.

        Raises:
            SetupError: The results cannot be written, or a variable is wrong.

        """
        self._lending = Lending(self._of, cases, self._known, self._bounds.kept)
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
        late = {"placebo"} if self._of.placebo == "content" else set[str]()
        if self._of.reference in late:
            late |= {*OF_ONE}
        order = sorted(
            self._of.arms, key=lambda arm: (not arm.early, arm.name != self._of.reference)
        )
        for wanted in (False, True):
            if arms := [arm for arm in order if (arm.way in late) is wanted]:
                yield [(case, arms) for case in cases]

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
                    if self._known.row(case, arm) is None:
                        await self._one(case, arm, advance)
        except Exception as fault:  # noqa: BLE001 - raised once what is under way is kept
            self._fault = self._fault or fault

    async def _one(self, case: Case, arm: Arm, advance: Callable[[object], None]) -> None:
        """Run one arm on one case, or leave it for another time."""
        try:
            row = await self._paid(case, arm)
        except Left as left:
            self.left[str(left)] += 1
            if left.stops:
                self._stop("down")
            return
        if row is not None:
            self._results.append(row)
            self.done += 1
            advance(row)

    async def _paid(self, case: Case, arm: Arm) -> Row | None:
        """Run it if the ledger allows; None where it does not, or the run has ended meanwhile."""
        if self._known.lacks_debate(case, arm):
            raise Left("", UNMATCHED)
        debate = self._known.debate(case, arm)
        held = await self._ledger.leave(arm.name, self._of.reserved(arm, debate))
        if held is None:
            self._stop(self._ledger.over)
            return None
        return await self._settled(held, case, arm, debate)

    async def _settled(self, held: Held, case: Case, arm: Arm, debate: Row | None) -> Row | None:
        cost: Part | None = None
        row: Row | None = None
        try:
            if not self.stopped:
                row = await self._run(case, arm, debate)
                cost = row.cost
        except Left as left:
            cost = left.cost
            raise
        finally:
            await self._ledger.ended(held, cost, whole=row is not None)
            self._tell_unpriced()
        return row

    async def _run(self, case: Case, arm: Arm, debate: Row | None) -> Row:
        if arm.way != "placebo" or self._of.placebo != "content":
            return await self._runner.row(case, arm, debate)
        lent = self._lending.to(case)
        if lent is None:
            raise Left("", NOTHING)
        return await self._runner.row(case, arm, debate, lent)

    def _tell_unpriced(self) -> None:
        """Say as soon as it is known that a limit of money cannot hold for somebody."""
        for name in sorted(self._runner.unpriced - self._told) if self._bounds.usd else ():
            self._told.add(name)
            told = f"{name} tells no price: --max-cost does not count what it costs."
            screen.note(("! ", screen.OTHER), told)
