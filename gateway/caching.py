"""
Answers that are kept beyond their decision, where `DECISION_<POINT>_CACHE_SECONDS` says so.

An entry belongs to a provider's lane, a point, its questions as they are worded, and a state.
It holds a reply and digests, never the state. Only what acceptance believed is kept, whole, and
only of calls that carried this ask alone: in a shared call a provider reads other points' fields
too, so that its answer is no answer about this state.

Acceptance is a function of the questions, the reply and the gate alone. So what it said of a
kept reply stands beside it, with the gate that it was said under; another gate asks it again.
"""

from __future__ import annotations

import hashlib
import os
import time
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from .acceptance import Verdict, accept
from .answers import Refused, Reply, Unread
from .current import looked
from .flights import Flights
from .forks import Lock
from .turns.dividing import spare

if TYPE_CHECKING:
    from .gates import Gate
    from .questions import Ask, Question
    from .resilience import Lane
    from .steps import AskProvider, Sent

ENTRIES = 10_000  # of one gateway; the one that was used least recently goes first
BYTES = 16 * 1024 * 1024  # of all answers together, as they would be written
SINGLE = "single"  # the form of a call that carried one ask

Key: TypeAlias = "tuple[Lane, str, bytes, bool, bytes]"


class Entry(msgspec.Struct, gc=False):
    """
    One kept reply.

    Attributes:
        reply: Without usage and request id; no host and no provider can write into it.
        at: When it was kept, on `time.monotonic`.
        era: The lane's era, which ends when another model is served.
        size: Bytes of its answers, as they would be written.
        judged: A gate, and what acceptance said under it; swapped whole. None: not yet asked.

    """

    reply: Reply
    at: float
    era: int
    size: int
    judged: tuple[Gate, Verdict] | None = None

    def accept(self, ask: Ask, gate: Gate) -> Verdict:
        """Say what acceptance says of the reply under *gate*; nobody else has what it gives."""
        judged = self.judged
        if judged is None or judged[0] != gate:
            self.judged = judged = gate, accept(ask, self.reply, gate)
        return judged[1].copied()


class Slot(msgspec.Struct, gc=False):
    """
    The place in a cache that one ask has.

    Attributes:
        cache: Where.
        key: Lane, point, digest of the questions, whether the state is text, its digest.
        seconds: How old an answer may be.
        epoch: What was kept before it counts no more.
        entry: What was found here, and is now this ask's answer.

    """

    cache: Cache
    key: Key
    seconds: float
    epoch: int
    entry: Entry | None = None

    @property
    def flights(self) -> Flights:
        """The asks under way, of which each is sent once."""
        return self.cache.flights

    def recall(self, sent: Sent) -> Reply | None:
        """Give what is kept here, to be judged by `accept`; say in *sent* that it was."""
        entry = self.entry = self.cache.recall(self)
        if entry is None:
            return None
        sent.cached = True
        return _apart(entry.reply)

    def accept(self, ask: Ask, reply: Reply, gate: Gate) -> Verdict:
        """Believe *reply* or not, as `acceptance.accept` does; of what is kept here it is known."""
        entry = self.entry
        return accept(ask, reply, gate) if entry is None else entry.accept(ask, gate)


class Cache:
    """
    The answers that one gateway keeps, for one reading of its variables.

    A fork starts with an empty one, a closed gateway keeps nothing, and reading the variables
    again makes a new one: another key, address, model or mask may stand behind a name then.

    Attributes:
        flights: The asks under way.

    """

    def __init__(self, entries: int = ENTRIES, size: int = BYTES) -> None:
        """Keep at most so many *entries*, of at most *size* bytes together."""
        self._most, self._largest = entries, size
        self._lock = Lock()
        self._epoch = 0
        self._forget()
        _caches.add(self)

    def _forget(self) -> None:
        self._epoch += 1
        self._size = 0
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._eras: dict[Lane, tuple[str, int]] = {}
        self._digests: dict[str, tuple[Mapping[str, Question], bytes]] = {}
        self.flights = Flights()

    def slot(self, lane: Lane, point: str, ask: Ask, seconds: float) -> Slot:
        """Give the place of *ask*, put to *lane* for *point*; its answers hold for *seconds*."""
        digest = hashlib.sha256(ask.text.encode()).digest()
        questions = self._digest(point, ask.questions)
        key = (lane, point, questions, type(ask.state) is str, digest)
        return Slot(self, key, seconds, self._epoch)

    def _digest(self, point: str, questions: Mapping[str, Question]) -> bytes:
        """Digest all that the questions say, in their order; a fixed point asks the same object."""
        known = self._digests.get(point)
        if known is not None and known[0] is questions:
            return known[1]
        digest = hashlib.sha256(msgspec.json.encode(list(questions.items()))).digest()
        self._digests[point] = questions, digest
        return digest

    def recall(self, slot: Slot) -> Entry | None:
        """Give what is kept in *slot*, unless it is too old or another model is served now."""
        key = slot.key
        entry = self._entries.get(key)
        if entry is None:
            return None
        if time.monotonic() - entry.at >= slot.seconds or entry.era != self._era(key[0]):
            with self._lock:
                if self._entries.get(key) is entry:
                    self._drop(key)
            return None
        try:  # noqa: SIM105 - `suppress` costs more than the move
            self._entries.move_to_end(key)
        except KeyError:  # no lock: another thread may have dropped it just now
            pass
        return entry

    def learn(self, step: AskProvider, reply: Reply | None, *, ok: bool) -> None:
        """
        Learn what *step* was replied, now; keep it where it is *ok* and its point has a cache.

        Whatever a reply is worth, it tells which model is served, unless it is a partial one: who
        failed for once is back the next time.
        """
        lane, slot = step.lane, step.slot
        if slot is None and lane not in self._eras:
            return
        with self._lock:
            if reply is not None and reply.partial is not True:
                self._saw(lane, reply.model)
                if slot is not None and ok and self._may_keep(step, slot):
                    self._keep(slot.key, reply)
        if slot is not None:
            self.flights.landed(slot.key)

    def _may_keep(self, step: AskProvider, slot: Slot) -> bool:
        """Whether the answer is one to this ask alone, and nothing was cleared meanwhile."""
        alone = slot.epoch == self._epoch and step.sent.form == SINGLE
        return alone and not looked(step.call)

    def _saw(self, lane: Lane, model: str) -> None:
        known, era = self._eras.get(lane, ("", 0))
        if model and model != known:
            era += 1
        self._eras[lane] = model or known, era

    def _era(self, lane: Lane) -> int:
        return self._eras.get(lane, ("", 0))[1]

    def _keep(self, key: Key, reply: Reply) -> None:
        size = _size(reply)
        self._drop(key)
        if size is None or size > self._largest:
            return
        self._entries[key] = Entry(_apart(spare(reply)), time.monotonic(), self._era(key[0]), size)
        self._size += size
        while self._size > self._largest or len(self._entries) > self._most:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: Key) -> None:
        gone = self._entries.pop(key, None)
        self._size -= 0 if gone is None else gone.size

    def clear(self) -> None:
        """Keep nothing of what is known, or under way."""
        with self._lock:
            self._forget()


def _raws(reply: Reply) -> list[Any]:
    given: Any = reply.answers
    return [*given.values()] if isinstance(given, dict) else [raw for _, raw in given]


def _apart(reply: Reply) -> Reply:
    """Copy its notes, which end up in the record of whoever gets it."""
    notes = reply.notes
    return reply if notes is None else msgspec.structs.replace(reply, notes={**notes})


def _size(reply: Reply) -> int | None:
    """Count the bytes of the answers; None for a reply that is not whole."""
    if any(isinstance(raw, Refused | Unread) for raw in _raws(reply)):
        return None
    try:
        return len(msgspec.json.encode((reply.answers, reply.notes)))
    except Exception:  # noqa: BLE001 - a stranger's values; what cannot be written is not kept
        return None


_caches: weakref.WeakSet[Cache] = weakref.WeakSet()


def _clear_all() -> None:
    for cache in list(_caches):
        cache.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_clear_all)  # after the locks, which are renewed first
