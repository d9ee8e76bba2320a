"""What stands in this process, and how a flow ends as it did the first time."""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ..engine import consult
from ..errors import JournalDown
from ..forks import Lock
from ..records import Decision
from ..steps import Apart
from .identity import identity_of
from .stood import Held, held_of, lasting

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

    """

    def __init__(self, most: int = MOST) -> None:
        self._lock = Lock()
        self._key = secrets.token_bytes(32)
        self._most = most
        self._held: OrderedDict[bytes, Held] = OrderedDict()
        self._told: set[str] = set()

    def known(self, identity: str) -> Held | None:
        """Give what is remembered; None if nothing is."""
        key = self._hashed(identity)
        with self._lock:
            held = self._held.get(key)
            if held is not None:
                self._held.move_to_end(key)
            return held

    def keep(self, identity: str, held: Held) -> Held:
        """Remember *held*, unless something stands already; give what stands."""
        key = self._hashed(identity)
        with self._lock:
            there = self._held.get(key)
            if there is None or _says_more(held, there):
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
    if held is None:
        end = yield from flow(case)
        held = yield from _settled(wiring, case, identity, held_of(case, end))
        if held.stood.record.id == case.id:
            return end
    if held.stood.how == "carries_on" and flow is not consult:
        case.planned = case.supply = None  # no provider; the host's own path is asked here
        return (yield from flow(case))
    given: D = _given(wiring, case, held)
    return given


def _known(wiring: Wiring, case: Case, identity: str) -> Flow[Held | None]:
    held, journal = wiring.standing.known(identity), wiring.keeper.journal
    if held is None and journal is not None:
        held = yield Apart(partial(_read, wiring.standing, journal, case, identity))
    return held


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
    held = yield Apart(partial(_write, standing, journal, case, identity, held, written))
    return held


def _read(standing: Standing, journal: Journal, case: Case, identity: str) -> Held | None:
    with _confirmed(case):
        stood = journal.ledger().find(identity)
    return None if stood is None else standing.keep(identity, Held(stood))


def _write(
    standing: Standing, journal: Journal, case: Case, identity: str, held: Held, written: bytes
) -> Held:
    with _confirmed(case):
        stood = journal.ledger().claim(identity, case.call.subject, held.stood.record, written)
    ours = stood.record.id == held.stood.record.id
    return standing.keep(identity, held if ours else Held(stood))


@contextmanager
def _confirmed(case: Case) -> Generator[None]:
    """
    Never let a database that is down stand for one that knows nothing.

    Raises:
        JournalDown: It cannot be reached.

    """
    from ..journal.troubles import StoreDown

    try:
        yield
    except StoreDown as down:
        raise JournalDown(case.point.name, str(down), down.fix) from None
    except OSError as error:  # the key beside the journal
        problem = f"its key cannot be read ({error.strerror or type(error).__name__})"
        fix = "Let the journal's folder be read and written"
        raise JournalDown(case.point.name, problem, fix) from None


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
        return held.value
    outcome = held.stood.record.outcome
    return None if outcome is None else case.write(outcome)
