"""Where a stranger's code runs: whatever it raises becomes its bug, told by its type alone."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING

from .errors import NoAnswer, Reason, SetupError

if TYPE_CHECKING:
    from .telemetry import Telemetry


class Stranger:
    """
    Lets `NoAnswer`, `SetupError` and a cancellation of the host's pass, and nothing else.

    Raises:
        NoAnswer: `provider_error` for anything else, also for a cancellation that the plug-in made
            up itself.

    """

    __slots__ = ("_name", "_telemetry")

    def __init__(self, telemetry: Telemetry, name: str) -> None:
        self._telemetry, self._name = telemetry, name

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.judge(error)

    def judge(self, error: BaseException) -> None:
        """
        Judge what was raised, where it is not raised within.

        Raises:
            NoAnswer: As above; what passes is the caller's to raise again.

        """
        if isinstance(error, NoAnswer | SetupError):
            return
        if isinstance(error, Exception) or is_made_up(error):
            self._telemetry.provider_bug(self._name, error)
            raise NoAnswer(Reason.PROVIDER_ERROR) from None


def is_made_up(error: BaseException) -> bool:
    """Whether it is a cancellation that nobody asked for of the task that runs here."""
    if not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs here
        return False
    return task is not None and not task.cancelling()
