"""
The file of results: a header, then one JSON line for each arm on each case.

Another experiment does not go on in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ....gateway.cli.appending import Appending
from ....gateway.errors import SetupError
from .cases import Case
from .rows import Row

SCHEMA = 2


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """
    What made a file of results; cases count one by one.

    Attributes:
        pointsman_arms: Version of this layout.
        members: The panel, as it was named.
        settings: Option → value, of everything that an arm's answer depends on.

    """

    pointsman_arms: int = SCHEMA
    members: str
    settings: Mapping[str, str]


class Results:
    """
    A file of results that is open for appending.

    Attributes:
        rows: (case, arm) → row, of what is known by now.

    Args:
        path: The file.
        header: What makes it.
        resume: It may be there already, and is gone on with.

    Raises:
        SetupError: It is there and is not to be gone on with, was made otherwise, is no file of
            results, cannot be written, or is in use.

    """

    def __init__(self, path: Path, header: Header, *, resume: bool) -> None:
        if not resume and path.is_file() and path.stat().st_size:
            fix = "Go on with it by --resume, or name another file"
            raise SetupError.of(f"--out {path}", "there are results already", fix)
        again = "the same command with --resume goes on from there"
        self._file = Appending(path, header, Row, _differing, again)
        self.rows = {(row.case, row.arm): row for row in self._file.found}

    def of(self, case: Case, arm: str) -> Row | None:
        """Give what an arm made of a case; None where it is not known of the case as it is now."""
        row = self.rows.get((case.id, arm))
        return row if row is not None and row.digest == case.digest else None

    def append(self, row: Row) -> None:
        """Write one row, whole, before anything else is asked."""
        self.rows[row.case, row.arm] = row
        self._file.append(row)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _differing(there: Header, here: Header) -> str:
    was, now = _flat(there), _flat(here)
    found = [name for name in sorted({*was, *now}) if was.get(name) != now.get(name)]
    return f"another experiment made it; different: {', '.join(found)}" if found else ""


def _flat(header: Header) -> dict[str, str]:
    return {
        "layout": str(header.pointsman_arms),
        "--members": header.members,
        **header.settings,
    }
