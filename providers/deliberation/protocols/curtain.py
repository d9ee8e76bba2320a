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

from ..drafts import fenced
from .packets import Packet

__all__ = ["Curtain", "label"]

CAP = 1_500  # characters of one peer's text that a reader is shown
HIDDEN_NAME = "[a member]"
HIDDEN_ITEM = "[not shown]"

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

MODELS = re.compile(
    r"\b(?:chat)?gpt(?:[-\s]?[\w.]+)?\b|\b(?:claude|gemini|llama|mi[sx]tral|qwen|deepseek|grok)"
    r"(?:[-\s]?[\d][\w.\-]*)?\b|\b(?:openai|anthropic|deepmind|xai|jev|openrouter|litellm)\b",
    re.IGNORECASE,
)
"""Families and vendors by which a model speaks of itself, whatever it is served as."""

SHORT = 3  # letters: below, a model's name cannot be told from a word


class Curtain(msgspec.Struct, frozen=True, kw_only=True):
    """
    One deliberation's curtain.

    Attributes:
        seed: Permutes labels and orders; the same seed gives the same ones.
        case: What the deliberation is about, by its hash.
        names: What members are called, as providers and as models; taken out of their texts.
        items: Ids of all evidence.

    """

    seed: str
    case: str
    names: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, packet: Packet, case: str, seed: str, *, names: Iterable[str], served: Iterable[str]
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

        """
        said = {name for name in names if not name.isidentifier()}
        said |= {name for name in served if len(name) >= SHORT}
        items = {item.id for item in packet.items}
        return cls(seed=seed, case=case, names=_longest_first(said), items=_longest_first(items))

    def digest(self, *words: str) -> str:
        """Give a number that nobody can foretell without the seed, the same in every process."""
        text = "\x00".join((self.case, *words)).encode()
        return hmac.new(self.seed.encode(), text, "sha256").hexdigest()

    def labels(self, members: Iterable[str], round: int, reader: str) -> Mapping[str, str]:  # noqa: A002 - a debate's word
        """Label *members* for one *reader* in one round: label → member, in the table's order."""
        order = sorted(members, key=lambda one: (self.digest(str(round), reader, one), one))
        return {label(at): member for at, member in enumerate(order)}

    def drawn(self, text: str, seen: Iterable[str]) -> str:
        """Take out of a peer's *text* who it is and which evidence its reader may not see."""
        visible = frozenset(seen)
        for name in self.names:
            text = _without(text, name, HIDDEN_NAME, re.IGNORECASE)
        text = MODELS.sub(HIDDEN_NAME, text)
        for item in self.items:
            if item not in visible and item in text:
                text = _without(text, item, HIDDEN_ITEM)
        return fenced(text, CAP)


def label(at: int) -> str:
    """Name the row *at*: A to Z, then AA and so on."""
    head, tail = divmod(at, len(LETTERS))
    return (label(head - 1) if head else "") + LETTERS[tail]


def _longest_first(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(words, key=lambda one: (-len(one), one)))


def _without(text: str, word: str, put: str, flags: int = 0) -> str:
    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", put, text, flags=flags)
