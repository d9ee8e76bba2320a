"""The access log: one event for each request, of constant fields, without content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Tell: TypeAlias = Callable[[str, str, Mapping[str, Any]], None]
"""`tell(level, event, fields)`: writes an event."""

EVENT = "server.request"
OTHER = "other"  # the route of what no route takes
FAILED = 500  # from this status on it is our fault, or a provider's


class Access:
    """
    Tells of requests. No path, query, header, subject, state or answer is ever a field.

    Args:
        tell: Writes an event, as `Gateway.tell` does.

    """

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def said(  # noqa: PLR0913, PLR0917 - the fields of one event
        self,
        method: str,
        route: str,
        status: int,
        seconds: float,
        key_id: str | None = None,
        decision_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        """
        Tell of a request that was answered.

        Args:
            method: Of HTTP.
            route: As declared, such as `/v1/decisions`; never what the client wrote.
            status: Of the answer; 499: the client had gone.
            seconds: From its whole head to its whole answer.
            key_id: Of the key that it came with; None: without one.
            decision_id: Of what was decided.
            reason: Of the closed list, where a decision was made or failed.

        """
        level = "warning" if status >= FAILED else "info"
        said = {
            "method": method,
            "route": route,
            "status": status,
            "duration_ms": round(seconds * 1000, 3),
            "key": key_id,
            "decision": decision_id,
            "reason": reason,
        }
        self._tell(level, EVENT, said)
