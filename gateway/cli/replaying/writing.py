"""Answers into the journal, each before its asker goes on: what a kill can cost is bounded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...errors import SetupError
from ...journal.troubles import StoreDown

if TYPE_CHECKING:
    from ...journal.rows import Row
    from ...journal.store import Store

PATIENCE = 60.0  # seconds that a journal may be down until the run gives up
PAUSE = 1.0  # seconds until it is tried again


class Writing:
    """
    Writes rows for many askers at once.

    What comes while one transaction is written goes into the next, together. `write` returns
    when its rows are in the database; so no more answers are outside of it than askers wait.

    Args:
        store: Where rows go.
        patience: Seconds that it may be down.
        sleep: Waits so many seconds, on the thread that writes.

    """

    def __init__(
        self,
        store: Store,
        patience: float = PATIENCE,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self._patience = patience
        self._sleep = sleep
        self._waiting: list[tuple[Sequence[Row], asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None
        self._hurried = False
        self._untold: Exception | None = None

    async def write(self, rows: Sequence[Row]) -> None:
        """
        Write *rows*, and wait until they are safe from a kill.

        Raises:
            SetupError: The journal stays down, or cannot hold them.

        """
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((rows, written))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())
        await written

    async def drained(self) -> None:
        """
        Wait until everything is written that was handed over, also by askers that are gone.

        Raises:
            SetupError: What those handed over could not be written.

        """
        if self._task is not None:
            await self._task
        if self._untold is not None:
            raise self._untold

    def hurry(self) -> None:
        """Have no more patience with a journal that is down."""
        self._hurried = True

    async def _drain(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            rows = [row for some, _ in batch for row in some]
            fault: Exception | None = None
            try:
                await asyncio.to_thread(self._written, rows)
            except Exception as error:  # noqa: BLE001 - every asker in the batch is told
                fault = error
            told = [_tell(written, fault) for _, written in batch]
            if not any(told):
                self._untold = fault

    def _written(self, rows: Sequence[Row]) -> None:
        until = time.monotonic() + self._patience
        while True:
            try:
                refused = self._store.write(rows)
            except StoreDown as down:
                if self._hurried or time.monotonic() >= until:
                    problem = f"{len(rows)} rows could not be written: {down}"
                    fix = "See to it; the same command goes on, and asks about these again"
                    raise SetupError.of("the journal", problem, fix) from None
                self._sleep(PAUSE)
            else:
                break
        if refused:
            problem = "it cannot hold what the provider answered"
            raise SetupError.of("the journal", problem, "Tell who made the provider")


def _tell(written: asyncio.Future[None], fault: Exception | None) -> bool:
    if written.done():  # its asker was interrupted
        return False
    if fault is None:
        written.set_result(None)
    else:
        written.set_exception(fault)
    return True
