"""What users said that a guardrail has not ruled on yet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from .. import needs, rails
from .review import now
from .seeing import as_data, is_outside, messages_of, thread, value_of, words_of

try:
    from langchain_core.messages import BaseMessage
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from ...points import DecisionPoint
    from ...state import State

WITHHELD = "(withheld)"
RULED = "pointsman_ruled"  # in the graph's state: point → what it has ruled on, without its words


class Heard(NamedTuple):
    """What users said that was not ruled on yet."""

    new: Sequence[BaseMessage]
    text: str
    state: State
    once: tuple[str, object] | None
    since: float

    @property
    def call(self) -> str | None:
        """Give the id by which a review is remembered; None: the run cannot be resumed."""
        return None if self.once is None else self.once[0]


def heard_in(state: object, point: DecisionPoint) -> Heard | None:
    """
    Gather what users said that *point* has not ruled on; None: nothing.

    A message may stand before what agents said: handed over, or sent with the start of a reply.
    """
    messages = messages_of(state) if value_of(state, "messages") else ()
    known: Mapping[str, Sequence[str]] = value_of(state, RULED) or {}
    ruled = frozenset(known.get(point.name, ()))
    new = [one for one in messages if says(one) and digest(one) not in ruled]
    if not new:
        return None
    text = "\n\n".join(map(words_of, new))
    last = new[-1].id
    once = (last, text) if last and thread() else None
    return Heard(new, text, _shown(point, messages, new, text), once, now())


def _shown(
    point: DecisionPoint, messages: Sequence[BaseMessage], new: Sequence[BaseMessage], text: str
) -> State:
    """Show a point of your own the text; one that reads `text`, the history besides."""
    if "text" not in point.reads:
        return text
    before = [one for one in messages if one not in new and words_of(one)]
    return rails.input_state(point, [_plain(one) for one in (*before, *new)])


def _plain(message: BaseMessage) -> dict[str, str]:
    role = "user" if is_outside(message) else as_data(message)["role"]
    return {"role": role, "content": words_of(message)}


def says(message: BaseMessage) -> bool:
    """Whether it is to be ruled on."""
    return is_outside(message) and words_of(message) not in ("", WITHHELD)


def digest(message: BaseMessage) -> str:
    """Name a message and its text: one that a host edits is another."""
    return sha256(json.dumps([message.id, words_of(message)]).encode()).hexdigest()[:32]
