"""What a deliberation is about: one subject with its evidence, and who may see which part."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import msgspec

from ....gateway.errors import DeclarationError
from ....gateway.state import State, frozen
from ..roles import Role

__all__ = ["Item", "Packet", "content_hash", "role_view", "visible_ids"]


class Item(msgspec.Struct, frozen=True):
    """
    One piece of evidence.

    Attributes:
        id: How it is cited, unique in its packet.
        text: What it says: untrusted, so that it goes into the state and nowhere else.
        tags: Words by which a role may be given it; none may be an item's id.

    """

    id: str
    text: str
    tags: tuple[str, ...] = ()


class Packet(msgspec.Struct, frozen=True, kw_only=True):
    """
    The evidence about one subject.

    Attributes:
        subject: Id of what is deliberated on, such as a transaction's.
        question: What is to be estimated, in the programmer's words; typed questions bring
            their own.
        state: What the host shows of the subject: text, or anything that is JSON.
        items: Evidence with ids that can be cited.
        unit: Of the number that is asked for.
        plausible: The lowest and the highest value that would not be absurd, if known.

    Raises:
        DeclarationError: Two items share an id, an id is empty, a tag is an id, a range that
            does not rise.

    """

    subject: str
    question: str = ""
    state: State = None
    items: tuple[Item, ...] = ()
    unit: str = ""
    plausible: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        ids = Counter(item.id for item in self.items)
        twice = [one for one, times in ids.items() if times > 1 or not one]
        if twice:
            raise DeclarationError(f"an item's id is a text of its own; got {twice[0]!r}")
        clash = sorted({tag for item in self.items for tag in item.tags} & ids.keys())
        if clash:
            raise DeclarationError(f"{clash[0]!r} is both a tag and an item's id")
        if self.plausible is not None and not self.plausible[0] < self.plausible[1]:
            raise DeclarationError("`plausible` is a range that rises")


def visible_ids(packet: Packet, role: Role) -> frozenset[str]:
    """Name the items that *role* may see: all, or those whose id or tag it is given."""
    given = role.evidence
    if given is None:
        return frozenset(item.id for item in packet.items)
    return frozenset(item.id for item in packet.items if given & {item.id, *item.tags})


def role_view(packet: Packet, role: Role) -> Packet:
    """Give the part of *packet* that *role* may see; what two roles see may differ by design."""
    seen = visible_ids(packet, role)
    items = tuple(item for item in packet.items if item.id in seen)
    return msgspec.structs.replace(packet, items=items)


def content_hash(packet: Packet) -> str:
    """
    Hash *packet*, stable between processes: SHA-256 over canonical JSON, in hexadecimal.

    Raises:
        NoJson: Its state holds something that is no JSON.

    """
    fields: dict[str, Any] = {
        name: getattr(packet, name) for name in packet.__struct_fields__ if name != "state"
    }
    text = frozen({**msgspec.to_builtins(fields), "state": frozen(packet.state)[0]})[1]
    return hashlib.sha256(text.encode()).hexdigest()
