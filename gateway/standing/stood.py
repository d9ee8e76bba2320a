"""How a decision ended that was made once."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import msgspec

from ..recording import recorded
from ..records import Record
from ..settings import CURRENT

if TYPE_CHECKING:
    from ..cases import Case
    from ..records import Decision

T = TypeVar("T")
_NONE: Any = object()

How: TypeAlias = Literal["decided", "carries_on", "human"]


class Stood(msgspec.Struct, frozen=True, kw_only=True):
    """
    What stands.

    Attributes:
        how: Somebody or the point's safe outcome decided; the host was told to carry on with
            its own path; or a person must decide.
        record: The decision's, without its attempts and its split.

    """

    how: How
    record: Record


class Held(msgspec.Struct, frozen=True):
    """
    What stands, as this process knows it.

    Attributes:
        stood: How it ended.
        value: What the host was given, where its outcome does not say it all.
        whole: Whether `value` is that.

    """

    stood: Stood
    value: Any = None
    whole: bool = False

    @property
    def open(self) -> bool:
        """Whether current was told to carry on, and it is not known yet what came of it."""
        return self.stood.how == "carries_on"


class Claim(msgspec.Struct, frozen=True):
    """
    What is to stand from now on.

    Attributes:
        identity: The call that it was decided for.
        subject: Who that is about.
        stood: How it ended.
        written: The same, as JSON.

    """

    identity: str
    subject: str | None
    stood: Stood
    written: bytes


def held_of(case: Case, end: Decision[Any] | None) -> Held:
    """Say what stands of *case* from now on, which has come to its *end*."""
    if end is None:
        return Held(Stood(how="carries_on", record=_bare(recorded(case, CURRENT))))
    human = end.undecided and case.point.on_undecided == "human"
    stood = Stood(how="human" if human else "decided", record=_bare(end.record))
    if end.provider != CURRENT and case.supply is None:
        return Held(stood)
    value = copied(end.value, _NONE)
    if value is not _NONE:
        return Held(stood, value, whole=True)
    return Held(stood, end.value, whole=True) if stood.record.outcome is None else Held(stood)


def copied(value: T, otherwise: T) -> T:
    """Copy the host's own *value*, which the host may change; *otherwise*: it cannot be copied."""
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - a stranger's class may raise anything
        return otherwise


def _bare(record: Record) -> Record:
    return msgspec.structs.replace(record, attempts=(), exposure=None)


def lasting(held: Held, *, hybrid: bool) -> bytes | None:
    """
    Write *held* for another process; None where it would come back as something else.

    That is so of a value that could not be read into the point's vocabulary, and of a *hybrid*
    point's, which is made of what the host's own path gave.
    """
    record = held.stood.record
    if hybrid or (held.whole and record.outcome is None):
        return None
    try:
        written = msgspec.json.encode(held.stood)
        same = msgspec.json.decode(written, type=Stood) == held.stood
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return None  # a `read` of the host's own may give anything
    return written if same else None
