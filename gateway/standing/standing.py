"""What stands in this process, and how a flow ends as it did the first time."""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ..engine import consult
from ..forks import Lock
from ..records import Decision
from .confirming import apart
from .identity import identity_of
from .stood import Claim, Held, copied, held_of, lasting
from .waiters import Waiters

if TYPE_CHECKING:
    from ..cases import Case
    from ..engine import Flow
    from ..journal.journal import Journal
    from ..wiring import Wiring

D = TypeVar("D", bound="Decision[Any] | None")

MOST = 100_000  # that are remembered: who resumes after so many others finds it in the journal


class Standing:
    """
    Remembers what stands, for one gateway in one process; safe for threads and forks.

    Neither arguments nor subjects are kept: only a hash, with a key that nobody else has.

    Args:
        most: How many are remembered; the one that was not asked for the longest goes first.

    Attributes:
        waiters: Wait for the journal.

    """

    def __init__(self, most: int = MOST) -> None:
        self._lock = Lock()
        self._key = secrets.token_bytes(32)
        self._most = most
        self._held: OrderedDict[bytes, Held] = OrderedDict()
        self._told: set[str] = set()
        self.waiters = Waiters()

    def known(self, identity: str) -> Held | None:
        """Give what is remembered; None if nothing is."""
        key = self._hashed(identity)
        with self._lock:
            held = self._held.get(key)
            if held is not None:
                self._held.move_to_end(key)
            return held

    def keep(self, identity: str, held: Held) -> Held:
        """
        Remember *held*, unless something stands already; give what stands.

        That current was to carry on gives way to what came of it.
        """
        key = self._hashed(identity)
        with self._lock:
            there = self._held.get(key)
            if there is None or there.open > held.open or _says_more(held, there):
                self._held[key] = there = held
            self._held.move_to_end(key)
            if len(self._held) > self._most:
                self._held.popitem(last=False)
            return there

    def first_time(self, point: str) -> bool:
        """Whether it is the first time that this is asked for *point*."""
        with self._lock:
            first = point not in self._told
            self._told.add(point)
            return first

    def _hashed(self, identity: str) -> bytes:
        return hmac.digest(self._key, identity.encode(), "sha256")


def _says_more(held: Held, there: Held) -> bool:
    """Of the same decision, one that another thread read from the journal lacks the value."""
    return held.whole and not there.whole and held.stood.record.id == there.stood.record.id


def flowing(wiring: Wiring, flow: Callable[[Case], Flow[D]], case: Case) -> Flow[D]:
    """
    Begin *flow*; of a case that is decided once it gives what stands, or lets its end stand.

    Raises:
        DeclarationError: The arguments are no JSON.
        JournalDown: It cannot be known, or not be written, what stands.

    """
    return flow(case) if case.once is None else _once(wiring, flow, case)


def _once(wiring: Wiring, flow: Callable[[Case], Flow[D]], case: Case) -> Flow[D]:
    identity = identity_of(case)
    held = yield from _known(wiring, case, identity)
    if held is None or (held.open and flow is not consult):
        if held is not None and case.call.current is not None:
            case.planned = case.supply = None  # the host was told to go its own way
        end = yield from flow(case)
        held = yield from _settled(wiring, case, identity, held_of(case, end))
        if held.stood.record.id == case.id:
            return end
    given: D = _given(wiring, case, held)
    return given


def _known(wiring: Wiring, case: Case, identity: str) -> Flow[Held | None]:
    standing, journal = wiring.standing, wiring.keeper.journal
    held = standing.known(identity)
    if journal is None or not (held is None or held.open):
        return held
    found = yield from apart(standing.waiters, case, partial(_read, standing, journal, identity))
    return found or held


def _settled(wiring: Wiring, case: Case, identity: str, held: Held) -> Flow[Held]:
    """Let *held* stand, unless another was first; give what stands."""
    standing, journal = wiring.standing, wiring.keeper.journal
    if journal is None:
        return standing.keep(identity, held)
    written = lasting(held, hybrid=case.supply is not None)
    if written is None:
        if standing.first_time(case.point.name):
            said = {"point": case.point.name}
            wiring.telemetry.said("warning", "decision.not_standing", said)
        return standing.keep(identity, held)
    claim = Claim(identity, case.call.subject, held.stood, written)
    work = partial(_write, standing, journal, claim, held)
    held = yield from apart(standing.waiters, case, work)
    return held


def _read(standing: Standing, journal: Journal, identity: str) -> Held | None:
    stood = journal.ledger().find(identity)
    return None if stood is None else standing.keep(identity, Held(stood))


def _write(standing: Standing, journal: Journal, claim: Claim, held: Held) -> Held:
    stood = journal.ledger().claim(claim)
    ours = stood.record.id == held.stood.record.id
    return standing.keep(claim.identity, held if ours else Held(stood))


def _given(wiring: Wiring, case: Case, held: Held) -> Any:  # noqa: ANN401 - a decision, or None
    """Give what stands: nothing was asked now, and nothing of it is told as a decision."""
    how, record = held.stood.how, held.stood.record
    case.stands, case.id = True, record.id
    case.attempts, case.exposure, case.besides = [], None, ()
    said = {"point": case.point.name, "id": record.id, "provider": record.provider}
    wiring.telemetry.said("info", "decision.stands", said)
    if how == "carries_on":
        return None
    if how == "human":  # also where the point has come to say something else
        case.point = msgspec.structs.replace(case.point, on_undecided="human")
    return Decision(_value(case, held), record)


def _value(case: Case, held: Held) -> Any:  # noqa: ANN401 - the host's own
    if held.whole:
        return copied(held.value, held.value)
    outcome = held.stood.record.outcome
    return None if outcome is None else case.write(outcome)
