"""
Who may use the server: bearer keys, what they may do, how often, and for how much.

A request is admitted from memory. A task reads the keys anew about twice a second, so that one
that was made or revoked anywhere holds within a second in every worker. While the database is
down, the last known keys stay in force.
"""

from __future__ import annotations

import asyncio
import hmac
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from ..errors import SetupError
from ..journal.addresses import WHERE
from ..journal.journal import spool_of
from ..journal.troubles import StoreDown
from ..journaling import journal_settings
from ..settings import Settings
from ..telemetry import Telemetry
from . import tokens
from .holders import Denied, Holder, presented
from .keyring import Key, Keyring, Stamp
from .meters import Meters, Taken

__all__ = ["Denied", "Holder", "Keys", "meters_of"]

EVERY = 0.5  # seconds between looks for what was made or revoked
HOUR = 3600.0  # seconds; no use of a key is told more exactly
AGAIN = 1.0  # seconds after which to ask again, where limits cannot be checked

Tell: TypeAlias = Callable[[str, str, Mapping[str, Any]], None]
"""`tell(level, event, fields)`: says an event."""


class _Entry(msgspec.Struct, frozen=True):
    key: Key
    digest: bytes
    holder: Holder
    limited: bool


class Keys:
    """
    The keys of one journal, in memory.

    Once a key was ever made, also one that is revoked or expired by now, nobody is admitted
    without: the last key that ends locks the door, and does not open it.

    Args:
        ring: Where they are kept; None: there are none.
        meters: What counts their limits; None where there are none.
        tell: Says events; they hold no key.
        locked: A key was made before, whatever is there now.

    Raises:
        SetupError: They cannot be read: who may come in is not known.

    """

    def __init__(
        self, ring: Keyring | None, meters: Meters | None, tell: Tell, *, locked: bool = False
    ) -> None:
        self._ring, self._meters, self._tell = ring, meters, tell
        self._entries: dict[str, _Entry] = {}
        self._stamp: Stamp | None = None
        self._seen: set[str] = set()
        self._made = locked
        self._down = self._unmetered = False
        try:
            self._read()
        except StoreDown as error:
            problem = f"the bearer keys cannot be read: {error}"
            raise SetupError.of(WHERE, problem, error.fix) from None
        if meters is not None and any(one.limited for one in self._entries.values()):
            meters.ready()

    def __repr__(self) -> str:
        return f"Keys({len(self._entries)} in memory)"

    @classmethod
    def of(cls, settings: Settings, tell: Tell | None = None, *, locked: bool = False) -> Keys:
        """
        Read the keys of the journal's database; none where no journal is kept.

        Args:
            settings: That name the journal.
            tell: Says events; absent: the log that the settings name.
            locked: A key was made before, whatever is there now.

        Raises:
            SetupError: The journal's variables are at fault, its database cannot be reached, or
                the file of the limits cannot be used.

        """
        say = tell or Telemetry(settings.globals.log, ()).said
        wanted = journal_settings(settings)
        if wanted is None:
            return cls(None, None, say, locked=locked)
        meters = Meters(meters_of(spool_of(wanted)))
        return cls(Keyring.open(wanted.url), meters, say, locked=locked)

    def any(self) -> bool:
        """Whether keys are asked for: one was made, even if it has ended since."""
        return self._made

    def admit(self, authorization: str | None, scope: str, *, spends: bool = True) -> Holder:
        """
        Let a request in, and take it out of what its key may ask for.

        Args:
            authorization: `Bearer <key>`, or the key alone, as `x-api-key` holds it.
            scope: What it wants to do.
            spends: It may cost something; else its budget is not looked at.

        Raises:
            Denied: With what to answer.

        """
        token = presented(authorization)
        entry = self._entries.get(tokens.id_of(token))
        against = NOBODY if entry is None else entry.digest
        right = hmac.compare_digest(tokens.digest(token), against)
        if entry is None or not right or not entry.key.in_force(time.time()):
            raise Denied(401, "invalid_api_key")
        self._seen.add(entry.key.id)
        if scope not in entry.holder.scopes:
            raise Denied(403, "insufficient_scope", key=entry.key.id)
        return self._metered(entry, spends=spends) if entry.limited else entry.holder

    def paid(self, holder: Holder, usd: float, *, unbilled: bool = False) -> None:
        """
        Count what a request did cost; has to follow every `admit` that spends, with 0 if free.

        Args:
            holder: As `admit` gave it.
            usd: US dollars, as far as they are known.
            unbilled: Something was sent whose cost is not known.

        """
        entry = self._entries.get(holder.id)
        if self._meters is None or entry is None or entry.key.budget is None:
            return
        cost = usd if math.isfinite(usd) and usd > 0 else 0.0
        try:
            self._meters.paid(holder.id, cost, holder.reserved, holder.day, unbilled=unbilled)
        except (OSError, SetupError) as error:
            self._say_unmetered(error)

    async def follow(self) -> None:
        """Read the keys anew about twice a second, until it is cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            look = asyncio.ensure_future(asyncio.to_thread(self.refresh))
            try:
                await asyncio.shield(look)
            finally:  # no thread outlives its owner
                await asyncio.wait([look])

    def refresh(self) -> None:
        """
        Read the keys if any was made or revoked, and note which were used.

        A database that cannot be reached is told once; what was known stays in force.
        """
        try:
            self._read()
            self._note_used()
        except (StoreDown, SetupError) as error:
            if not self._down:
                self._tell("error", "server.keys_unreachable", {"problem": str(error)})
            self._down = True
        else:
            if self._down:
                self._tell("info", "server.keys_reachable", {})
            self._down = False
        self._look_at_meters()

    def close(self) -> None:
        """Note which keys were used, as far as the database takes it, and close everything."""
        if self._ring is not None:
            with suppress(StoreDown, SetupError):  # the hour of a use keeps nobody from leaving
                self._note_used()
            self._ring.close()
        if self._meters is not None:
            self._meters.close()

    def _read(self) -> None:
        if self._ring is None or self._ring.missing:
            return
        stamp = self._ring.stamp()
        if stamp == self._stamp:
            return
        self._entries = {key.id: _entry(key) for key in self._ring.all()}
        self._stamp = stamp
        self._made = self._made or bool(self._entries)

    def _note_used(self) -> None:
        """Write it once an hour for each key: a database has better things to do."""
        hour = time.time() // HOUR * HOUR
        seen, self._seen = self._seen, set()
        # a list at once: requests go on, and one may still hold the set that it adds to
        known = [self._entries[one].key for one in list(seen) if one in self._entries]
        new = [key.id for key in known if key.used is None or key.used < hour]
        if self._ring is None or not new:
            return
        try:
            self._ring.used(new, hour)
        except (StoreDown, SetupError):
            self._seen |= seen
            raise
        for one in new:
            used = msgspec.structs.replace(self._entries[one].key, used=hour)
            self._entries[one] = msgspec.structs.replace(self._entries[one], key=used)

    def _metered(self, entry: _Entry, *, spends: bool) -> Holder:
        taken = self._taken(entry.key, entry.key.budget if spends else None)
        if taken.over:
            raise Denied(402, "over_budget", taken.wait, key=entry.key.id)
        if taken.wait:
            raise Denied(429, "rate_limited", taken.wait, key=entry.key.id)
        if not taken.reserved:
            return entry.holder
        return msgspec.structs.replace(entry.holder, reserved=taken.reserved, day=taken.day)

    def _taken(self, key: Key, budget: float | None) -> Taken:
        if self._meters is None or (key.rate is None and budget is None):
            return Taken()
        try:
            taken = self._meters.take(key.id, key.rate, budget)
        except (OSError, SetupError) as error:
            self._say_unmetered(error)
            raise Denied(503, "limits_unavailable", AGAIN, key=key.id) from None
        self._unmetered = False
        return taken

    def _look_at_meters(self) -> None:
        if self._meters is not None:
            try:
                self._meters.look()
            except OSError as error:
                self._say_unmetered(error)

    def _say_unmetered(self, error: OSError | SetupError) -> None:
        if not self._unmetered:
            self._unmetered = True
            problem = getattr(error, "strerror", None) or str(error)
            self._tell("error", "server.limits_unavailable", {"problem": problem})


NOBODY = bytes(32)
"""Stands for the digest of a key that does not exist: it takes as long to find it different."""


def meters_of(spool: Path) -> Path:
    """Name the file of the limits, beside the folder where rows wait."""
    return spool.with_name(f"{spool.name.removesuffix('.spool')}.meters")


def _entry(key: Key) -> _Entry:
    holder = Holder(key.id, key.name, frozenset(key.scopes))
    limited = key.rate is not None or key.budget is not None
    try:
        known = bytes.fromhex(key.digest)
    except ValueError:  # somebody wrote into the table: a key that opens nothing
        known = NOBODY
    return _Entry(key, known, holder, limited)
