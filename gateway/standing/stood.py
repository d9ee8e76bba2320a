"""How a decision ended that was made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from ..recording import recorded
from ..records import Record
from ..settings import CURRENT

if TYPE_CHECKING:
    from ..cases import Case
    from ..records import Decision

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


def held_of(case: Case, end: Decision[Any] | None) -> Held:
    """Say what stands of *case* from now on, which has come to its *end*."""
    if end is None:
        return Held(Stood(how="carries_on", record=_bare(recorded(case, CURRENT))))
    human = end.undecided and case.point.on_undecided == "human"
    stood = Stood(how="human" if human else "decided", record=_bare(end.record))
    hosts = end.provider == CURRENT or case.supply is not None
    return Held(stood, end.value, whole=True) if hosts else Held(stood)


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
