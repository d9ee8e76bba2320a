"""What is refused at the log's door: too much, too long, or nothing that could be read again."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..entries import AnyEntry, Asserted, Erased, Stored
from ..errors import Refused
from ..policy import Policy
from . import rows


def id_of(entry: AnyEntry) -> str:
    """Give an entry's id; refuse one whose texts are none."""
    try:
        return entry.id
    except UnicodeEncodeError:  # half of a character that takes two
        raise Refused("bad_text", "it has a character that is none") from None


def legible(entry: AnyEntry, body: str) -> None:
    """
    Refuse what could not be read again: one such row of a log that keeps all would end its use.

    Assertions are many, and `stating` makes each of them of what it has checked.
    """
    if isinstance(entry, Asserted) or not body:
        return
    try:
        rows.decode_entry(body)
    except msgspec.DecodeError as fault:
        raise Refused("bad_entry", "it is no entry of a log; nothing is written") from fault


def bounded(entry: AnyEntry, story: Sequence[Stored], policy: Policy) -> None:
    """Refuse more assertions about a fact, or a longer text, than the policy lets in (RF-80)."""
    limits = policy.limits
    if not isinstance(entry, Asserted):
        _short(entry, limits.text_characters)
        return
    source = entry.assertion.source
    if len(story) < min(limits.per_key, limits.per_source_per_key):
        return
    said = [one.entry.assertion.source for one in story if isinstance(one.entry, Asserted)]
    of_source = said.count(source)
    for there, most, whose, limit in (
        (of_source, limits.per_source_per_key, "this source", "per_source_per_key"),
        (len(said), limits.per_key, "all sources", "per_key"),
    ):
        if there >= most:
            problem = f"{there} assertions of {whose} about this fact are there; {most} are let in"
            fix = f"Tell them apart by a qualifier, as a day, or raise limits.{limit} in the policy"
            raise Refused("too_many", problem, fix)


def _short(entry: AnyEntry, most: int) -> None:
    for name in entry.__struct_fields__:
        text = getattr(entry, name)
        if isinstance(text, str) and len(text) > most:
            raise Refused("too_long", f"{name} is longer than {most} characters", "Shorten it")


def erased(story: Sequence[Stored], id_: str) -> bool:
    """Whether an assertion was erased before it came, or came again."""
    return any(isinstance(one.entry, Erased) and one.entry.target == id_ for one in story)
