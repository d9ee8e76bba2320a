"""The names of the tools that a guard rules on, and whether there are such tools."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ..errors import SetupError

if TYPE_CHECKING:
    from ..guarding import Guard


class Named:
    """
    Selects tools by name; without names, all of them.

    A name that no tool has would guard nothing, and nobody would notice: the log tells of it once
    it is known which tools there are.

    Args:
        guard: Rules on them.
        tools: Their names; None: all.
        framework: Whose tools they are, as events are called: `mcp` tells `mcp.tool_unknown`.

    Raises:
        SetupError: *tools* is a text, which has letters and no names, or names no tool.

    """

    def __init__(self, guard: Guard, tools: Collection[str] | None, framework: str) -> None:
        name = guard.point.name
        if isinstance(tools, str):
            fix = f"Pass `tools=[{tools!r}]`"
            raise SetupError.of(name, "`tools` is a text and no collection of names", fix)
        self._guard, self._event = guard, f"{framework}.tool_unknown"
        self._named = None if tools is None else frozenset(tools)
        if self._named is not None and not self._named:
            fix = "Name them, or leave `tools` out to decide about all"
            raise SetupError.of(name, "`tools` names no tool, so that none is guarded", fix)
        self._unseen = self._named or frozenset()

    def __contains__(self, tool: str) -> bool:
        return self._named is None or tool in self._named

    def listed(self, tools: Iterable[str], *, last: bool = True) -> None:
        """Take note of a page of the tools that there are; tell, after the *last*, what is none."""
        self._unseen = self._unseen.difference(tools)
        if last and self._unseen:
            told = {"point": self._guard.point.name, "tools": sorted(self._unseen)}
            self._guard.gateway.tell("warning", self._event, told)
            self._unseen = frozenset()

    def rules(self, tool: str, bound: Iterable[str]) -> bool:
        """Say whether *tool* is among them; *bound* are the tools there are, none if unknown."""
        if there := frozenset(bound):
            self.listed(there)
        return tool in self
