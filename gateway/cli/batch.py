"""Many rows through one point at once, each written down as soon as it is decided."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import HumanNeeded, NoAnswer, Reason
from ..recording import outcome_of
from .results import Line, Results

if TYPE_CHECKING:
    from ..gateway import Gateway
    from ..records import Attempt
    from .rows import Row
    from .target import Target


class Batch:
    """
    One run.

    Attributes:
        results: Where lines are appended.

    """

    def __init__(
        self, gateway: Gateway, target: Target, results: Results, *, with_text: bool
    ) -> None:
        self._gateway = gateway
        self._target = target
        self._with_text = with_text
        # a user's own function needs the program around it, and is not run from here
        self._current = None if gateway.stands_in else _nothing
        self.results = results

    async def run(self, rows: list[Row], concurrency: int, advance: Callable[[Line], None]) -> None:
        """Decide *rows*, so many at once; *advance* is told of each."""
        waiting = iter(rows)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(rows))):
                    group.create_task(self._work(waiting, advance))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        finally:
            await self._gateway.aclose()

    async def _work(self, waiting: Iterator[Row], advance: Callable[[Line], None]) -> None:
        for row in waiting:
            line = await self._decided(row)
            self.results.append(line)
            advance(line)
            await asyncio.sleep(0)  # a provider in this process never waits: let Ctrl-C through

    async def _decided(self, row: Row) -> Line:
        ask = self._target.ask(row.words, row.fields)
        try:
            decision = await self._gateway.ask(self._target.point, ask, current=self._current)
        except NoAnswer as none:
            return self._line(row, none.attempts, reason=none.reason.value)
        except HumanNeeded as nobody:
            reason = nobody.attempts[0].reason.value if nobody.attempts else Reason.OK.value
            return self._line(row, nobody.attempts, undecided=True, reason=reason)
        record = decision.record
        return self._line(
            row,
            record.attempts,
            decision=record.outcome,
            provider=record.provider,
            undecided=record.undecided,
            reason=record.reason.value,
            seconds=record.seconds,
        )

    def _line(self, row: Row, attempts: tuple[Attempt, ...], **said: Any) -> Line:  # noqa: ANN401 - a line's fields
        first = attempts[0] if attempts else None
        costs = [one.usage.cost_usd or 0.0 for one in attempts if one.usage is not None]
        given: dict[str, Any] = {
            "decision": None,
            "provider": "",
            "seconds": sum(one.seconds for one in attempts),
            "top": outcome_of(first.answers) if first is not None and first.answers else None,
            "confidence": round(first.confidence, 6) if first is not None else 0.0,
            "model": first.model if first is not None else "",
            **said,
        }
        given["seconds"] = round(given["seconds"], 6)
        text = row.words if self._with_text else None
        return Line(row=row.number, label=row.label, cost_usd=sum(costs), text=text, **given)


def _nothing() -> None:
    """Stand where a program's own function would decide."""
