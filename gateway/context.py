"""What surrounds a call: its loop, the session's subject, and who collects its decisions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from .errors import SetupError
from .records import Decision

_session: ContextVar[Session | None] = ContextVar("pointsman_session", default=None)
_collecting: ContextVar[tuple[list[Decision[Any]], ...]] = ContextVar(
    "pointsman_collecting", default=()
)


class Session:
    """
    Binds a subject to the calls made inside; for `with` and `async with`.

    Some frameworks enter it in one task and leave it in another. A left session counts no
    more, wherever its context was copied to.
    """

    def __init__(self, subject: str) -> None:
        self._subject: str | None = subject
        self._outer: Session | None = None

    @property
    def subject(self) -> str | None:
        """Its subject, or that of the session around it once it is left."""
        if self._subject is not None:
            return self._subject
        return self._outer.subject if self._outer is not None else None

    def __enter__(self) -> Self:
        self._outer = _session.get()
        _session.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._subject = None
        if _session.get() is self:
            _session.set(self._outer)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)


def subject() -> str | None:
    """The subject of the session around this call, if there is one."""
    session = _session.get()
    return None if session is None else session.subject


@contextlib.contextmanager
def collecting() -> Generator[list[Decision[Any]]]:
    """Collect the decisions made inside, in this task and those it starts."""
    decisions: list[Decision[Any]] = []
    outer = _collecting.get()
    _collecting.set((*outer, decisions))
    try:
        yield decisions
    finally:
        _collecting.set(outer)


def collectors() -> tuple[list[Decision[Any]], ...]:
    """Those who collect here."""
    return _collecting.get()


def running_loop() -> asyncio.AbstractEventLoop:
    """
    The asyncio loop that runs here.

    Raises:
        SetupError: None does, for example under trio.

    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        fix = "Under trio use the sync form (`decide_sync`, `ask_sync`, `consult_sync`) in a thread"
        raise SetupError.of("asyncio", "the async form needs asyncio's loop", fix) from None
