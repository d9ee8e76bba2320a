"""The bars, and whether a run met them."""

from __future__ import annotations

from typing import NamedTuple

from .entries import LIBRARIES
from .results import Race

CURRENT, CACHED, IN_PROCESS, OVER_HTTP = 5.0, 20.0, 30.0, 80.0  # µs of CPU added
SERVER_RATIO = 5.0  # Pointsman's requests per second beside LiteLLM proxy's
OURS, RIVAL = "pointsman", "litellm"
WAYS = ("sync", "async")

# Rust below a Python interface: its HTTP client is no Python, and the bare one already costs more
NO_PYTHON = frozenset({"tensorzero"})


class Bar(NamedTuple):
    """
    One promise.

    Attributes:
        what: It is about.
        told: What was measured; why not, where it was not.
        bar: What was promised.
        met: None where it was not measured.

    """

    what: str
    told: str
    bar: str
    met: bool | None

    @property
    def verdict(self) -> str:
        """MET, MISSED or `not measured`."""
        return "not measured" if self.met is None else "MET" if self.met else "MISSED"


def added(race: Race, key: str, way: str) -> float | None:
    """CPU µs of *key* more than what it is compared with, each at its least; None: not measured."""
    beside = race.libraries.get(LIBRARIES[key].beside)
    ran = race.libraries.get(key)
    if ran is None or beside is None or way not in ran.costs or way not in beside.costs:
        return None
    return ran.costs[way].least - beside.costs[way].least


def bars(race: Race) -> list[Bar]:
    """Judge every bar."""
    judged = [
        _cost(race, what, key, way, most)
        for what, key, most in (
            ("`current`, added to a call", "current", CURRENT),
            ("in-process provider, added to a call", "in-process", IN_PROCESS),
            ("cached answer, added to a call", "cached", CACHED),
            ("over HTTP, added to bare httpx", "http", OVER_HTTP),
        )
        for way in WAYS
    ]
    return [*judged, *(_ahead(race, way) for way in WAYS), _server(race)]


def _cost(race: Race, what: str, key: str, way: str, most: float) -> Bar:
    cost = added(race, key, way)
    bar = f"≤ {most:g} µs"
    if cost is None:
        why = race.absent.get(LIBRARIES[key].title, "did not take part")
        return Bar(f"{what}, {way}", why, bar, None)
    return Bar(f"{what}, {way}", f"{cost:.1f} µs", bar, cost <= most)


def _ahead(race: Race, way: str) -> Bar:
    """Judge whether each Python peer adds more than we do."""
    what, bar = f"over HTTP, beside every Python peer, {way}", "less than each"
    ours = added(race, "http", way)
    costs = {
        LIBRARIES[key].title: cost
        for key in race.libraries
        if LIBRARIES[key].environment and key not in NO_PYTHON
        if (cost := added(race, key, way)) is not None
    }
    if ours is None or not costs:
        return Bar(what, "no peer took part" if ours is not None else "not run", bar, None)
    nearest = min(costs, key=lambda title: costs[title])
    told = f"{ours:.1f} µs; the nearest of {len(costs)}: {nearest}, {costs[nearest]:.1f} µs"
    return Bar(what, told, bar, ours < costs[nearest])


def _server(race: Race) -> Bar:
    what = "requests per second of the server, beside LiteLLM proxy's"
    bar = f"≥ {SERVER_RATIO:g} ×"
    ours, rival = race.servers.get(OURS), race.servers.get(RIVAL)
    if ours is None or rival is None:
        return Bar(what, "one of the two did not take part", bar, None)
    if not rival.per_second:
        return Bar(what, "LiteLLM's proxy gave no answer in its time", bar, None)
    ratio = ours.per_second / rival.per_second
    return Bar(what, f"{ratio:.1f} ×", bar, ratio >= SERVER_RATIO)
