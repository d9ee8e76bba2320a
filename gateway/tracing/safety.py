"""What a tracer, a processor or an exporter does wrong never reaches a decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

Say = Callable[[str, str, Mapping[str, Any]], None]
"""`say(level, event, fields)`."""


class Safe:
    """
    Calls what is not ours, and tells of each kind of fault once.

    Args:
        say: Writes an event to the gateway's log.

    """

    def __init__(self, say: Say) -> None:
        self._say = say
        self._told: set[str] = set()

    def __call__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Call *function*; None where it raised."""
        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - its fault never reaches a decision
            self._tell(type(error).__name__)
            return None

    def _tell(self, error: str) -> None:
        if error not in self._told:
            self._told.add(error)
            said = {"plugin": "opentelemetry", "error": error}
            self._say("error", "decision.observer_failed", said)
