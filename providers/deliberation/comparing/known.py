"""What is known by now of an experiment, and still holds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from ....gateway.errors import SetupError
from .arms import MATCHED
from .rows import Maker, Row

if TYPE_CHECKING:
    from .arms import Arm
    from .cases import Case
    from .experiment import Experiment
    from .results import Results


def mark(debate: Row | None) -> str:
    """Name the debate that a row is matched with, as it was run; empty: none was."""
    if debate is None:
        return ""
    told = msgspec.json.encode(dict(debate.parts), order="deterministic")
    return f"{debate.arm}/{hashlib.sha256(told).hexdigest()[:8]}"


class Known:
    """
    The rows that hold for an experiment.

    A row of a matched arm holds for the debate that it was matched with, and for no other.
    """

    def __init__(self, experiment: Experiment, results: Results) -> None:
        self._of, self._results = experiment, results

    def row(self, case: Case, arm: Arm) -> Row | None:
        """Give what *arm* made of *case*; None where it is to be run."""
        row = self._results.of(case, arm.name)
        if row is None or arm.way not in MATCHED:
            return row
        return row if row.against == mark(self.debate(case, arm)) else None

    def debate(self, case: Case, arm: Arm) -> Row | None:
        """Give the debate that costs are held against; it is nothing to itself."""
        name = self._of.reference
        return None if not name or name == arm.name else self._results.of(case, name)

    def lacks_debate(self, case: Case, arm: Arm) -> bool:
        """Whether *arm* is to be matched with a debate that is not known."""
        awaited = arm.way in MATCHED and bool(self._of.reference)
        return awaited and self.debate(case, arm) is None


def same_makers(rows: Mapping[tuple[str, str], Row], makers: Mapping[str, Maker], out: str) -> None:
    """
    Make sure that what is there was made by the providers as they are now.

    Raises:
        SetupError: A provider had another model, or another minimum of its own.

    """
    for row in rows.values():
        for name, was in row.asked.items():
            now = makers.get(name)
            if now is None or (now.model, now.minimum) == (was.model, was.minimum):
                continue
            told = f"{name} was {_told(was)} there, and is {_told(now)}"
            fix = "Nothing was asked. Name another file with --out, or set it as it was"
            raise SetupError.of(out, told, fix)


def _told(one: Maker) -> str:
    return f"{one.model or 'a provider'} from {one.minimum:g} on"


def served(rows: Mapping[tuple[str, str], Row]) -> dict[str, dict[str, int]]:
    """Count rows by provider and by the model that it was served by, where it says so."""
    found: dict[str, dict[str, int]] = {}
    for row in rows.values():
        for name, one in row.asked.items():
            if one.served:
                counts = found.setdefault(name, {})
                counts[one.served] = counts.get(one.served, 0) + 1
    return found
