"""
How often keys asked and what they cost, shared by all workers of one machine.

One small file beside the journal's spool: 64 bytes for each key that has a limit, read and
written under the file's lock. What is there outlives every process and ends with the disk; after
a power cut the last half minute may be missing. Several machines count each for itself.

Reads and writes are used and no memory map: a full disk is then an error, and not a signal that
ends the process.
"""

from __future__ import annotations

import math
import os
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from ..errors import SetupError
from ..forks import Lock
from ..journal.places import SPOOL, SPOOL_FIX
from .held import Held, read_at, write_at
from .keyring import Rate

DAY = 86_400.0  # seconds
SLOT = struct.Struct("<8sddqdddq")
"""Id; tokens, and when they were counted; day, spent on it; dearest; set aside; owed."""
MAGIC = b"pointsman meters 1\n".ljust(SLOT.size, b"\0")
FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
FIX = "Stop the server and remove it (its name ends in .meters); what was spent today is forgotten"
SOON = 1.0  # seconds after which to ask again, where asks under way may cost the rest of a budget
OWED = 16  # asks that a key may have cut off before it had one whose cost is known
KEPT = 0.9  # of the dearest ask, from day to day: one that is never seen again fades in weeks


class Slot(msgspec.Struct):
    """
    What is counted for one key.

    Attributes:
        tokens: Requests that may come now; infinite before the first one, which is full.
        at: When they were counted, in seconds of the machine's clock that is never set.
        day: Since the epoch, UTC.
        spent: US dollars on that day, with what is reserved for asks under way.
        dearest: US dollars of the dearest ask, of this day or, faded, of those before.
        aside: US dollars of what was spent that are set aside for asks under way.
        owed: Asks that were cut off while nobody knew what one costs; they are paid once it is.

    """

    tokens: float
    at: float
    day: int
    spent: float = 0.0
    dearest: float = 0.0
    aside: float = 0.0
    owed: int = 0

    def refill(self, rate: Rate, now: float) -> None:
        """Add the requests that time has brought; a clock that went back brings none."""
        grown = max(0.0, now - self.at) * rate.count / rate.seconds
        self.tokens, self.at = min(float(rate.count), self.tokens + grown), now

    def turn(self, day: int) -> None:
        """Begin a new day with nothing spent."""
        if day != self.day:
            self.dearest *= KEPT ** max(1, day - self.day)
            self.day, self.spent, self.aside, self.owed = day, 0.0, 0.0, 0

    def takes(self, spent: float, budget: float) -> bool:
        """Whether another ask may cost something."""
        return spent < budget and self.owed < OWED

    def pay(self, usd: float, *, unbilled: bool) -> None:
        """Count what an ask did cost, and those that waited for anybody to know it."""
        if unbilled and self.dearest:
            usd += self.dearest
        elif unbilled:
            self.owed += 1
        self.dearest = max(self.dearest, usd)
        if self.dearest:
            usd, self.owed = usd + self.owed * self.dearest, 0
        self.spent += usd


class Taken(msgspec.Struct, frozen=True):
    """
    What came of asking for one request more.

    Attributes:
        wait: Seconds until it may be asked for again; 0: it was taken.
        over: Whether the budget is spent; else it is the rate, or asks under way may spend it.
        reserved: US dollars that were set aside for it.
        day: For which day.

    """

    wait: float = 0.0
    over: bool = False
    reserved: float = 0.0
    day: int = 0


class Meters:
    """
    The meters of one machine; for any number of threads and processes.

    Every method but `close` raises `OSError` where the file can be neither read nor written,
    and `SetupError` where it is none of ours.

    Args:
        file: Where they are; it is made when it is needed.
        clock: Seconds since the epoch.
        ticks: Seconds of a clock that is never set, the same for all processes.

    """

    def __init__(
        self,
        file: Path,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file, self._clock, self._ticks = file, clock, ticks
        self._lock = Lock()
        self._descriptor = -1
        self._process = 0
        self._places: dict[str, int] = {}
        self._end = 0

    def __repr__(self) -> str:
        return f"Meters({len(self._places)} keys)"

    def take(self, key: str, rate: Rate | None, budget: float | None) -> Taken:
        """
        Take one request out of what *key* may ask for, and its likely cost out of its budget.

        Many at once do not overdraw a budget: each sets aside what the dearest did cost, until
        `paid` says what it does cost itself. No mean would do: cheap asks in between, as many as
        one likes, would make room for dear ones. Nothing is taken where either has not enough.
        """
        with self._lock, self._held():
            place, slot = self._slot(key)
            now = self._clock()
            slot.turn(int(now // DAY))
            if budget is not None and not slot.takes(slot.spent, budget):
                frees = slot.takes(slot.spent - slot.aside, budget)  # if they cost less
                return Taken(SOON) if frees else Taken(DAY - now % DAY, over=True)
            if rate is not None:
                slot.refill(rate, self._ticks())
                if slot.tokens < 1:
                    return Taken((1 - slot.tokens) * rate.seconds / rate.count)
                slot.tokens -= 1
            reserved = 0.0 if budget is None else slot.dearest
            slot.spent += reserved
            slot.aside += reserved
            self._write(place, key, slot)
            return Taken(reserved=reserved, day=slot.day)

    def paid(
        self, key: str, usd: float, reserved: float, day: int, *, unbilled: bool = False
    ) -> None:
        """
        Count what a request did cost in place of what was set aside for it.

        Args:
            key: Whose it was.
            usd: US dollars, as far as they are known.
            reserved: As `take` gave it.
            day: For which day that was; yesterday's is no part of today.
            unbilled: Something was sent whose cost is not known: it counts as the dearest.

        """
        with self._lock, self._held():
            place, slot = self._slot(key)
            slot.turn(int(self._clock() // DAY))
            back = reserved if day == slot.day else 0.0
            slot.spent = max(0.0, slot.spent - back)
            slot.aside = max(0.0, slot.aside - back)
            slot.pay(usd, unbilled=unbilled)
            self._write(place, key, slot)

    def spent(self, key: str) -> float:
        """Give what *key* has cost today, in US dollars."""
        with self._lock, self._held():
            _, slot = self._slot(key)
            slot.turn(int(self._clock() // DAY))
            return slot.spent

    def ready(self) -> None:
        """
        Open the file, or make it.

        Raises:
            SetupError: It can be neither read nor written, or is none of ours.

        """
        try:
            with self._lock, self._held():
                pass
        except OSError as error:
            problem = f"the keys' limits cannot be kept ({error.strerror or type(error).__name__})"
            raise SetupError.of(SPOOL, problem, SPOOL_FIX) from None

    def look(self) -> None:
        """Open the file that is there now, where somebody took away the one that was."""
        with self._lock:
            if self._descriptor < 0:
                return
            ours = os.fstat(self._descriptor)
            try:
                there = self._file.stat()
            except FileNotFoundError:
                self.close()
                return
            if (ours.st_dev, ours.st_ino) != (there.st_dev, there.st_ino):
                self.close()

    def close(self) -> None:
        """Let go of the file; a later use opens it again."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
            self._descriptor = -1

    def _held(self) -> Held:
        if self._descriptor < 0 or self._process != os.getpid():
            self._open()
        return Held(self._descriptor)

    def _open(self) -> None:
        """A forked child opens it anew: the parent's lock would be its own too."""
        self.close()
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self._file, FLAGS, 0o600)
        self._process = os.getpid()
        self._places, self._end = {}, len(MAGIC)
        with Held(self._descriptor):
            begins = os.read(self._descriptor, len(MAGIC))
            whole = MAGIC.startswith(begins)
            if whole:  # nothing, or what a killed process began
                write_at(self._descriptor, 0, MAGIC)
        if not whole:
            self.close()
            raise SetupError.of(SPOOL, "the file of the keys' limits is damaged", FIX)

    def _slot(self, key: str) -> tuple[int, Slot]:
        """Find the slot of *key*; a new one will be at the end."""
        place = self._places.get(key)
        if place is None:
            place = self._looked_for(key)
        data = read_at(self._descriptor, place, SLOT.size)
        return place, _read(data) if len(data) == SLOT.size else Slot(math.inf, 0.0, 0)

    def _looked_for(self, key: str) -> int:
        """Learn of the slots that other processes made, and give where this one is or will be."""
        data = read_at(self._descriptor, self._end, sys.maxsize)
        for at in range(0, len(data) - SLOT.size + 1, SLOT.size):
            name = data[at : at + 8].rstrip(b"\0").decode("ascii", "replace")
            self._places[name] = self._end
            self._end += SLOT.size
        return self._places.get(key, self._end)

    def _write(self, place: int, key: str, slot: Slot) -> None:
        data = SLOT.pack(key.encode(), *msgspec.structs.astuple(slot))
        write_at(self._descriptor, place, data)


def _read(data: bytes) -> Slot:
    slot = Slot(*SLOT.unpack(data)[1:])
    amounts = (slot.at, slot.spent, slot.dearest, slot.aside)
    sane = slot.tokens >= 0 and all(map(math.isfinite, amounts))
    return slot if sane else Slot(0.0, 0.0, 0)
