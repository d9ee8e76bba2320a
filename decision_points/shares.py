"""Which points may ask together: the share groups of one turn, and what they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..gateway.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Mapping

INPUT = Frame("input", words="text")
"""Rails over what the user said; the customer's sentiment may ride along."""

ROUTING = Frame("routing", words="message", merges=("transaction",))
"""Who takes the message: never with the input rails, which see another text and fail otherwise."""

OUTPUT = Frame("output", words="answer")
"""Rails over the agent's answer; a rewritten answer is another text, hence another call."""

JUDGES = Frame("judges", words="answer")
"""Judges of the final answer."""

RETRIEVAL = Frame("retrieval", words="text", lists="passages")
"""Rails over retrieved passages: one question for each, over a state that lists them."""

INTERRUPTION = Frame("interruption", alone=True)  # it ends the turn or starts it

SUPERVISOR = Frame("supervisor", alone=True)  # another service asks it, before any backend


def fields(state: type[Mapping[str, object]]) -> tuple[str, ...]:
    """Name the fields of a typed *state*, in order: what a point over it reads."""
    return tuple(state.__annotations__)
