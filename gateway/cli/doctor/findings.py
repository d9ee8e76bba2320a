"""What the doctor finds: what works, what is worth knowing, what has to be done."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import Fault
from .. import screen


class Findings:
    """
    What was found so far; what works is told at once, unless it is kept for a program.

    Args:
        quiet: Tell nothing before the end.

    Attributes:
        hints: What is only worth knowing.
        faults: What has to be done.
        unread: There are variables that no point known here reads.

    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._good: list[tuple[str, str]] = []
        self.hints: list[Fault] = []
        self.faults: list[Fault] = []
        self.unread = False

    def good(self, name: str, said: str) -> None:
        """Take what works."""
        self._good.append((name, said))
        if not self._quiet:
            screen.line(("✓ ", screen.GOOD), (name, "bold"), (f"  {said}", screen.FAINT))

    def add(self, faults: Iterable[Fault] = (), hints: Iterable[Fault] = ()) -> None:
        """Take what has to be done, and what is only worth knowing; the same thing once."""
        self.faults += [one for one in dict.fromkeys(faults) if one not in self.faults]
        self.hints += [one for one in dict.fromkeys(hints) if one not in self.hints]

    def tell(self) -> None:
        """Print what has to be done last, where a person looks first."""
        if not self._quiet:
            screen.faults(self.hints, "!", screen.OTHER, console=screen.out())
            screen.faults(self.faults, console=screen.out())

    def data(self) -> dict[str, Any]:
        """Give all of it for a program."""
        works = [{"what": name, "said": said} for name, said in self._good]
        return {"works": works, "hints": self.hints, "to_do": self.faults}
