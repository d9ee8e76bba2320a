"""How the helpers read what was decided: the words it is meant by, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from ..gateway.questions import Outcome
from ..gateway.records import HUMAN
from ..gateway.settings import CURRENT

if TYPE_CHECKING:
    from ..gateway.points import DecisionPoint
    from ..gateway.records import Decision

Said: TypeAlias = Outcome | Enum
"""What a helper takes: an outcome, or the host's own enum, meant by its value or its name."""


def confidence_of(decision: Decision[Any]) -> float | None:
    """
    Say how sure a *decision* is, as the helpers with a host's threshold take it.

    None where the host's own path decided, which has applied its own threshold already, or a
    person, whose word has none.
    """
    return None if decision.provider in {CURRENT, HUMAN} else decision.confidence


def clears(point: DecisionPoint, confidence: float | None) -> bool:
    """Whether *confidence* is enough for the host of *point*; None always is."""
    return confidence is None or point.host is None or point.host.clears(confidence)


def plain(said: object) -> object:
    """Look through an enum that is no text, such as one of truths."""
    return said.value if isinstance(said, Enum) else said


def words(said: object) -> tuple[str, ...]:
    """Give the texts that *said* is meant by: its own, or an enum's value and name."""
    meant = (said.value, said.name) if isinstance(said, Enum) else (said,)
    return tuple(one for one in meant if isinstance(one, str))


def word(said: object, known: Iterable[str]) -> str:
    """Find *said* among the *known* words; empty if it is none of them."""
    among = {*known}
    return next((one for one in words(said) if one in among), "")
