"""The event loop of what carries the race: uvloop where it is installed, so that it is not slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


def fastest() -> Callable[[], asyncio.AbstractEventLoop]:
    """Give the factory of the fastest loop there is."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop
