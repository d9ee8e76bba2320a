"""How the providers of a wiring are closed: each once, and none keeps another open."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .resilience import Lane
    from .runtime import Runtime
    from .telemetry import Telemetry

CLOSING = 5.0  # seconds for an async close; a sync one cannot be stopped, and is waited for


def close_lanes(lanes: Mapping[str, Lane], telemetry: Telemetry, runtime: Runtime) -> None:
    """Close the providers of *lanes*; one that cannot does not keep the others open."""
    for lane, close in _closes(lanes):
        with _told(lane, telemetry):
            if inspect.iscoroutinefunction(close):
                runtime.wait(close, CLOSING)
            else:
                close()


async def aclose_lanes(lanes: Mapping[str, Lane], telemetry: Telemetry) -> None:
    """As `close_lanes`, with the async ones on the running loop."""
    loop = asyncio.get_running_loop()
    for lane, close in _closes(lanes):
        with _told(lane, telemetry):
            if inspect.iscoroutinefunction(close):
                await asyncio.wait_for(close(), CLOSING)
            else:
                await loop.run_in_executor(None, close)


def _closes(lanes: Mapping[str, Lane]) -> list[tuple[Lane, Any]]:
    made = {id(lane.provider): lane for lane in lanes.values()}.values()
    closes = [(lane, getattr(lane.provider, "close", None)) for lane in made]
    return [(lane, close) for lane, close in closes if callable(close)]


@contextlib.contextmanager
def _told(lane: Lane, telemetry: Telemetry) -> Generator[None]:
    try:
        yield
    except Exception as bug:  # noqa: BLE001 - a stranger's plug-in may raise anything
        telemetry.provider_bug(lane.name, bug)
