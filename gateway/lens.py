"""`Lens`: how the call of an agent framework is seen as a decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from .questions import Question
from .returns import Read, Write
from .state import State

Asks: TypeAlias = Callable[..., Question | Mapping[str, Question]]
"""The call's own arguments → what is asked: options that are known only then."""

OnceOf: TypeAlias = Callable[..., tuple[str, object] | None]
"""The call's own arguments → call id and exact arguments; None: nothing is remembered."""


class Lens(msgspec.Struct, frozen=True, kw_only=True):
    """
    How the call of a framework is seen as a decision: four pure functions.

    Those that see the call are given its own arguments, a method's object included.

    Attributes:
        state: The call → what deciders are shown: a text, messages or a mapping.
        session: The call → the subject, or None where it has none.
        read: The framework's value → outcome: an option, a truth, a number.
        write: Outcome → the framework's value.

    """

    state: Callable[..., State]
    session: Callable[..., str | None] | None = None
    read: Read | None = None
    write: Write | None = None

    def completing(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Put into what a point is *given* explicitly what the lens supplies besides."""
        own = {"read": self.read, "write": self.write, "subject": self.session}
        said = {name: one for name, one in given.items() if one is not None}
        return {**own, "state": self.state, **said}
