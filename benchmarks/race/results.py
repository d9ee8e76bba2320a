"""What a race came to, as plain values."""

from __future__ import annotations

import statistics
from typing import NamedTuple


class Length(NamedTuple):
    """
    How long a race is.

    Attributes:
        rounds: Of the libraries.
        server_rounds: Of the servers.
        seconds: Of one round of a server.
        warm: Seconds that a server is asked before its first round.

    """

    rounds: int
    server_rounds: int
    seconds: float
    warm: float


class Cost(NamedTuple):
    """Microseconds of one decision, one figure for each round."""

    cpu: tuple[float, ...]
    wall: tuple[float, ...]
    wrong: int = 0

    @property
    def least(self) -> float:
        """CPU of the quietest round: what other programs do only ever adds."""
        return min(self.cpu)

    @property
    def median(self) -> float:
        """CPU of the middle round."""
        return statistics.median(self.cpu)

    @property
    def wall_median(self) -> float:
        """Time on the clock, of the middle round."""
        return statistics.median(self.wall)


class Ran(NamedTuple):
    """A library that took part: its version, and its cost by way (`sync`, `async`)."""

    version: str
    costs: dict[str, Cost]


class Round(NamedTuple):
    """One round of a server: right answers and errors, seconds on the clock and of CPU."""

    right: int
    errors: int
    seconds: float
    cpu: float
    latencies: tuple[float, ...]


class Served(NamedTuple):
    """A server that took part."""

    version: str
    rounds: tuple[Round, ...]

    @property
    def per_second(self) -> float:
        """Right answers per second, of the middle round."""
        return statistics.median(one.right / one.seconds for one in self.rounds)

    @property
    def per_cpu_second(self) -> float | None:
        """Right answers per second of the server's CPU, of the middle round."""
        rates = [one.right / one.cpu for one in self.rounds if one.cpu]
        return statistics.median(rates) if rates else None

    @property
    def errors(self) -> int:
        """Of all rounds."""
        return sum(one.errors for one in self.rounds)

    def latency(self, share: float) -> float:
        """Seconds within which *share* of all right answers came; NaN where none came."""
        ordered = sorted(one for each in self.rounds for one in each.latencies)
        if not ordered:
            return float("nan")
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


class Race(NamedTuple):
    """
    All of one run.

    Attributes:
        libraries: Those that took part, by key.
        servers: The same for servers.
        absent: Why a contestant did not take part, by its title.

    """

    libraries: dict[str, Ran]
    servers: dict[str, Served]
    absent: dict[str, str]
