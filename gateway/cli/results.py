"""
The output of a run: a header, then one JSON line a row, appended as decisions are made.

A rerun goes on only where it would have written the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from .appending import Appending

SCHEMA = 1
WHAT = {
    "input": "the input file",
    "rows": "how rows are read (--text, --label)",
    "point": "the decision point",
    "questions": "the question, its language or its options",
    "plan": "the provider, its threshold or its fallback",
    "variables": "a provider's variables",
}


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """
    What made a file of results; all but the point are digests, since variables may be secret.

    Attributes:
        pointsman_run: Version of this layout.
        input: Of the input file.
        rows: Of the columns that are read.
        point: Name of the decision point.
        questions: Of what is asked besides the row itself.
        plan: Of who is asked, and what is believed.
        variables: Variable → digest of its value.

    """

    pointsman_run: int = SCHEMA
    input: str
    rows: str
    point: str
    questions: str
    plan: str
    variables: Mapping[str, str]


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    One row's decision.

    Attributes:
        row: Number of the row, from 1.
        label: The right answer, if the input has one.
        top: What the asked provider held most likely, believed or not; None if its reply was
            not valid.
        confidence: Of that.
        decision: What was decided.
        provider: Who decided; empty: nobody.
        reason: `ok`, or why the asked provider was not believed.
        undecided: Nobody decided, and the point has an outcome for that.
        model: The model that was asked, as served.
        seconds: For the whole decision.
        cost_usd: Of all attempts.
        text: The words, if they were wanted.

    """

    row: int
    label: str | None = None
    top: Any
    confidence: float
    decision: Any
    provider: str
    reason: str
    undecided: bool = False
    model: str = ""
    seconds: float
    cost_usd: float = 0.0
    text: Any = None


class Results:
    """A file of results that is open for appending."""

    def __init__(self, path: Path, header: Header) -> None:
        """
        Open or begin the file.

        Raises:
            SetupError: It is no file of results, was made by another run, or is in use.

        """
        self._file = Appending(path, header, Line, _differing)
        self.lines = self._file.found

    @property
    def done(self) -> set[int]:
        """The rows that are written down by now."""
        return {line.row for line in self.lines}

    def append(self, line: Line) -> None:
        """Write one line, whole, so that a kill cannot lose what was decided before it."""
        self.lines.append(line)
        self._file.append(line)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _differing(there: Header, here: Header) -> str:
    found = [
        f"{WHAT.get(name, name)}{_which(name, there, here)}"
        for name in Header.__struct_fields__
        if getattr(there, name) != getattr(here, name)
    ]
    return f"another run made it; different: {'; '.join(found)}" if found else ""


def _which(name: str, there: Header, here: Header) -> str:
    if name != "variables":
        return ""
    both = {*there.variables, *here.variables}
    changed = [one for one in both if there.variables.get(one) != here.variables.get(one)]
    return f" ({', '.join(sorted(changed))})"
