"""The names of the tools that an approval rules on: a wrong one would let its tool run unruled."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable

from ..errors import SetupError


class Named:
    """
    Selects tools by name; without names, all of them.

    Args:
        tools: The names; absent: all.
        point: Of the guard that rules on them.

    Raises:
        SetupError: The names are one text, each letter of which would be taken for a name.

    """

    def __init__(self, tools: Collection[str] | None, point: str) -> None:
        if isinstance(tools, str):
            fix = f"Pass `tools=[{tools!r}]`"
            raise SetupError.of(point, "`tools` is one text, not a collection of names", fix)
        self._names = None if tools is None else frozenset(tools)
        self._point = point
        self._unseen = set(self._names or ())

    def rules(self, tool: str, bound: Iterable[str]) -> bool:
        """Say whether *tool* is among them; warn once of names that no *bound* tool has."""
        if self._names is None:
            return True
        if bound := frozenset(bound):
            unknown, self._unseen = sorted(self._unseen - bound), set()
            if unknown:
                said = f"{self._point}: no tool here is called {', '.join(unknown)}"
                warnings.warn(f"{said}; nobody rules on what was meant", stacklevel=2)
        return tool in self._names
