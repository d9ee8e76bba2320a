"""
What hides who is who: opaque labels, an order of their own for each reader, and words taken out.

Who is shown a table does not learn which member, which vendor or which model said what; only
its own row is marked.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Mapping

import msgspec

from ....gateway.state import frozen
from ..drafts import fenced
from .packets import Packet
from .vendors import spoken, unnamed, vendors_of, written

__all__ = ["Curtain", "label"]

CAP = 1_500  # characters of one peer's text that a reader is shown
HIDDEN_NAME = "[a member]"
HIDDEN_ITEM = "[not shown]"

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Curtain(msgspec.Struct, frozen=True, kw_only=True):
    """
    One deliberation's curtain.

    Attributes:
        seed: Permutes labels and orders; the same seed gives the same ones.
        case: What the deliberation is about, by its hash.
        names: What members are called, as providers and as models; taken out of their texts.
        vendors: Words for the vendors and families of this panel's models.
        about: What it is about, in lower case: whoever is named there is no member.
        items: Ids of all evidence.

    """

    seed: str
    case: str
    names: tuple[str, ...] = ()
    vendors: frozenset[str] = frozenset()
    about: str = ""
    items: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        packet: Packet,
        case: str,
        seed: str,
        *,
        names: Iterable[str],
        served: Iterable[str],
        about: str = "",
    ) -> Curtain:
        """
        Draw the curtain for *packet*.

        Args:
            packet: The whole evidence.
            case: Its hash.
            seed: As in the attributes.
            names: What members and their providers are called; those that are plain words stay
                in texts, where they most likely are one.
            served: The models that have answered by now.
            about: What else is in question, beside the packet.

        """
        called, models = set(names), set(served)
        said = {name for name in called if not name.isalpha()} | spoken(models)
        items = {item.id for item in packet.items}
        said -= items
        texts = (packet.subject, packet.question, *(item.text for item in packet.items))
        return cls(
            seed=seed,
            case=case,
            names=_longest_first(said),
            vendors=vendors_of(called | models),
            about="\n".join((*texts, frozen(packet.state)[1], about)).lower(),
            items=_longest_first(items),
        )

    def digest(self, *words: str) -> str:
        """Give a number that nobody can foretell without the seed, the same in every process."""
        text = "\x00".join((self.case, *words)).encode()
        return hmac.new(self.seed.encode(), text, "sha256").hexdigest()

    def labels(self, members: Iterable[str], round: int, reader: str) -> Mapping[str, str]:  # noqa: A002 - a debate's word
        """Label *members* for one *reader* in one round: label → member, in the table's order."""
        order = sorted(members, key=lambda one: (self.digest(str(round), reader, one), one))
        return {label(at): member for at, member in enumerate(order)}

    def bare(self, text: str, seen: Iterable[str]) -> str:
        """Take out of a peer's *text* who it is and which evidence its reader may not see."""
        visible = frozenset(seen)
        for name in self.names:
            text = re.sub(written(name), HIDDEN_NAME, text, flags=re.IGNORECASE)
        text = unnamed(text, HIDDEN_NAME, self.vendors, self.about)
        for item in self.items:
            if item not in visible and item in text:
                text = re.sub(rf"(?<!\w){re.escape(item)}(?!\w)", HIDDEN_ITEM, text)
        return text

    def drawn(self, text: str, seen: Iterable[str]) -> str:
        """Do so, and put it between fences."""
        return fenced(self.bare(text, seen), CAP)


def label(at: int) -> str:
    """Name the row *at*: A to Z, then AA and so on."""
    head, tail = divmod(at, len(LETTERS))
    return (label(head - 1) if head else "") + LETTERS[tail]


def _longest_first(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(words, key=lambda one: (-len(one), one)))
