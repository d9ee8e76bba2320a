"""Which core runs what: the measured on one, the upstream and the load on another."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple


class Cores(NamedTuple):
    """The two cores; None where this system cannot pin a process."""

    measured: int | None
    load: int | None

    @property
    def apart(self) -> bool:
        """Whether the load takes nothing from what is measured."""
        return self.measured is not None and self.measured != self.load


def cores() -> Cores:
    """Choose the first two cores that this process may use; one alone serves for both."""
    if not hasattr(os, "sched_getaffinity"):
        return Cores(None, None)
    allowed = sorted(os.sched_getaffinity(0))
    return Cores(allowed[0], allowed[1] if len(allowed) > 1 else allowed[0])


@contextmanager
def on_core(core: int | None) -> Generator[None, None, None]:
    """Start children on *core*: they inherit where their parent runs."""
    if core is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
