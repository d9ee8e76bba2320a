"""The series of one metric: found by their labels in one step, and bounded in number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from prometheus_client import Counter, Gauge, Histogram

OTHER = "other"
NAMES = 200  # of one label; a catalogue has some 30 points, and a plan few providers
SERIES = 2000  # of one metric, in one worker

M = TypeVar("M", Counter, Gauge, Histogram)


class Family(Generic[M]):
    """
    The series of one metric, looked up by their labels in one step, and bounded.

    Args:
        metric: With its labels declared.
        labels: How many it has.

    """

    def __init__(self, metric: M, labels: int) -> None:
        self._metric: M = metric
        self._series: dict[tuple[str, ...], M] = {}
        self._names: list[set[str]] = [set() for _ in range(labels)]

    def of(self, *labels: str) -> M:
        """Give the series of *labels*; of names that are too many, the one of `other`."""
        series = self._series.get(labels)
        return series if series is not None else self._met(labels)

    def _met(self, labels: tuple[str, ...]) -> M:
        named = tuple(map(_bounded, labels, self._names))
        if named not in self._series and len(self._series) >= SERIES:
            named = (OTHER,) * len(labels)
        if named not in self._series:
            self._series[named] = self._metric.labels(*named)
        return self._series[named]

    @property
    def series(self) -> Mapping[tuple[str, ...], M]:
        """Those that there are, by their labels."""
        return self._series


def _bounded(name: str, known: set[str]) -> str:
    if name in known:
        return name
    if len(known) >= NAMES:
        return OTHER
    known.add(name)
    return name
