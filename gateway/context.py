"""What surrounds a call: its loop, its session and turn, and who collects its decisions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Generator
from contextvars import Context, ContextVar, copy_context
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from .errors import SetupError
from .records import Decision

if TYPE_CHECKING:
    from .asking import Shares
    from .plugins import Call

_session: ContextVar[_Bound | None] = ContextVar("pointsman_session", default=None)
_entered: ContextVar[_Entered | None] = ContextVar("pointsman_entered", default=None)
_collecting: ContextVar[tuple[_Collector, ...]] = ContextVar("pointsman_collecting", default=())


class _Bound:
    """One entry of a session; a left one counts no more, wherever its context was copied to."""

    def __init__(
        self, owner: object, subject: str | None, outer: _Bound | None, turn: Shares | None
    ) -> None:
        self.owner, self.subject, self.turn, self.left = owner, subject, turn, False
        self.outer = _open(outer)

    def leave(self) -> None:
        """Count no more, and hold nothing that others have left."""
        self.left, self.turn, self.outer = True, None, _open(self.outer)


def _open(bound: _Bound | None) -> _Bound | None:
    while bound is not None and bound.left:
        bound = bound.outer
    return bound


class Session:
    """
    Binds a subject to one gateway's decisions made inside; for `with` and `async with`.

    Some frameworks enter it in one task and leave it in another. It may be entered again.
    """

    def __init__(self, owner: object, subject: str | None) -> None:
        self._owner = owner
        self._subject = subject
        self._turn: Shares | None = None  # what a turn binds besides
        self._entered: list[_Bound] = []

    def __enter__(self) -> Self:
        bound = _Bound(self._owner, self._subject, _session.get(), self._turn)
        self._entered.append(bound)
        _session.set(bound)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        bound = _session.get()
        while bound is not None and bound not in self._entered:
            bound = bound.outer
        bound = bound or self._entered[-1]  # entered in a task that this one does not come from
        self._entered.remove(bound)
        bound.leave()
        _session.set(_open(_session.get()))

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)


def subject(owner: object) -> str | None:
    """The subject of *owner*'s session around this call, if there is one."""
    bound = _session.get()
    while bound is not None and (bound.left or bound.owner is not owner or bound.subject is None):
        bound = bound.outer
    return None if bound is None else bound.subject


def named() -> bool:
    """Whether a session around this call names a subject, whichever gateway's it is."""
    bound = _session.get()
    while bound is not None and (bound.left or bound.subject is None):
        bound = bound.outer
    return bound is not None


def turn(owner: object) -> Shares | None:
    """What the decisions of *owner*'s turn around this call share, if there is one."""
    bound = _session.get()
    if bound is None:  # almost always
        return None
    while bound is not None and (bound.left or bound.owner is not owner or bound.turn is None):
        bound = bound.outer
    return None if bound is None else bound.turn


def within(owner: object, subject: str | None, turn: Shares) -> tuple[Context, Callable[[], None]]:
    """
    Copy this context, for a task that is to run in *turn* wherever it was entered.

    Returns:
        The copy, and what ends the turn in it and in its copies.

    """
    copied = copy_context()
    inner = _Bound(owner, subject, _session.get(), turn)
    copied.run(_session.set, inner)
    return copied, inner.leave


@contextlib.contextmanager
def bound(owner: object, subject: str | None, turn: Shares) -> Generator[None]:
    """Run what is inside in *turn*, wherever it was entered."""
    inner = _Bound(owner, subject, _session.get(), turn)
    token = _session.set(inner)
    try:
        yield
    finally:
        inner.leave()
        _session.reset(token)


class _Entered:
    """One ask under way in a deliberation; one that has ended counts no more, as a left session."""

    def __init__(self, owner: object, call: Call, outer: _Entered | None) -> None:
        self.owner = owner
        self.call: Call | None = call
        self.outer = outer


@contextlib.contextmanager
def entered(owner: object, call: Call) -> Generator[None]:
    """
    Run what *owner* asks in a deliberation: a decision made inside is nested in *call*.

    So are those of tasks that are begun inside, and of threads with a copy of their context, until
    this ends.
    """
    outer = _entered.get()
    inner = _Entered(owner, call, outer)
    _entered.set(inner)
    try:
        yield
    finally:
        inner.call = None
        _entered.set(outer)  # no reset: what is thrown away may end in another context


def asking(owner: object) -> Call | None:
    """Give the call of *owner*'s deliberation that is under way around here, if there is one."""
    inner = _entered.get()
    if inner is None:  # almost always
        return None
    while inner is not None and (inner.call is None or inner.owner is not owner):
        inner = inner.outer
    return None if inner is None else inner.call


class _Collector:
    def __init__(self, owner: object) -> None:
        self.owner, self.left = owner, False
        self.decisions: list[Decision[Any]] = []


@contextlib.contextmanager
def collecting(owner: object) -> Generator[list[Decision[Any]]]:
    """Collect *owner*'s decisions made inside, in this task and those it starts."""
    collector = _Collector(owner)
    outer = _collecting.get()
    _collecting.set((*outer, collector))
    try:
        yield collector.decisions
    finally:
        collector.left = True
        _collecting.set(outer)


def collectors(owner: object) -> list[list[Decision[Any]]]:
    """Those who collect *owner*'s decisions here."""
    given = _collecting.get()
    return [one.decisions for one in given if not one.left and one.owner is owner] if given else []


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
