"""What one worker of the server is made of: whom it asks, whom it lets in, what it tells."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

import msgspec

from .. import remote
from ..declaring import suffix_of
from ..errors import DeclarationError
from ..points import DecisionPoint
from .settings import ServerLimits

if TYPE_CHECKING:
    from ..gateway import Gateway
    from .access import Access
    from .keys import Keys
    from .metrics import Metrics

POINT = "point:"  # what a model's name begins with where a decision point is meant


class House(msgspec.Struct, kw_only=True):
    """
    One worker.

    Attributes:
        gateway: Decides.
        keys: Who may ask; None: whoever reaches it under a loopback name.
        limits: What it takes.
        metrics: Counts; None: nothing is counted.
        access: Tells of each request; None: nothing is told.
        draining: It is being shut down: connections are closed after their answer.
        busy: Requests that are being answered now.
        since: When it was made, in seconds since the epoch.

    """

    gateway: Gateway
    keys: Keys | None = None
    limits: ServerLimits = msgspec.field(default_factory=ServerLimits)
    metrics: Metrics | None = None
    access: Access | None = None
    draining: bool = False
    busy: int = 0
    since: float = msgspec.field(default_factory=time.time)
    _points: dict[str, DecisionPoint] = {}
    _told: set[str] = msgspec.field(default_factory=set[str])

    @property
    def keyed(self) -> bool:
        """Whether a key is asked for."""
        return self.keys is not None and self.keys.any()

    def point(self, name: str) -> DecisionPoint | None:
        """
        Give the declared point that *name* means, by its own name or an alias.

        A name that only a generic point's prefix would cover means none: a client could make
        plans without end.
        """
        found = self._points.get(name)
        if found is None:
            self._points = _by_name(self.gateway.points.values())
            try:
                found = self._points.get(suffix_of(name))
            except DeclarationError:
                return None
        return found

    def tell_once(self, event: str, **fields: Any) -> None:  # noqa: ANN401 - as events are
        """Tell the operator of what clients meet again and again, the first time."""
        said = repr((event, fields))
        if said not in self._told:
            self._told.add(said)
            self.gateway.tell("error", event, fields)


def _by_name(points: Any) -> dict[str, DecisionPoint]:  # noqa: ANN401 - points, in any order
    points = list(points)
    return {alias: one for one in points for alias in one.aliases} | {
        one.name: one for one in points
    }


@functools.lru_cache(maxsize=64)
def is_loopback(host: bytes) -> bool:
    """
    Whether a request's `Host` names this machine to itself.

    A page from elsewhere can let its own name point to 127.0.0.1 (DNS rebinding); then the
    browser says that name.
    """
    name, _, rest = host.decode("latin-1").lower().partition("]")
    if name.startswith("["):
        name = name[1:]
    else:
        name, _, rest = name.partition(":")
    return not rest.lstrip(":").strip("0123456789") and remote.is_loopback(name)
