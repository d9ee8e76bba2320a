"""
What can be known of the journal's files at the start: without a connection, and making nothing.

A fault that is found here is one that nobody has to look for in the log, after the first
decisions were lost to it.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import Fault, SetupError
from .addresses import WHERE

SPOOL = "DECISION_JOURNAL_SPOOL"
KEY = "DECISION_JOURNAL_KEY"
SPOOL_FIX = "Name a folder on the local disk that can be written"
LATER = {
    SPOOL: "Make room in its folder and let it be written, or name another on the local disk",
    KEY: "Let the journal's folder be read and written, or set it",
}
"""Variable → what to do where that fails which was fine at the start."""
NO_DATABASE = "the file is no database, or is damaged"
NO_DATABASE_FIX = "Name another file, or move this one away; a new one is made"
MAGIC = b"SQLite format 3\0"  # https://www.sqlite.org/fileformat.html#magic_header_string


def of_folder(folder: Path, where: str = SPOOL) -> Fault | None:
    """
    Say why *folder*, which need not be there yet, could not be written; None if it can.

    Args:
        folder: Where rows would wait, or the key be.
        where: The variable that says so.

    """
    there = next((one for one in (folder, *folder.parents) if os.path.lexists(one)), folder)
    if not os.path.isdir(there):  # noqa: PTH112 - raises nothing where it may not look
        problem = f"rows cannot be kept: {there.name!r} is no folder"
    elif not os.access(there, os.W_OK | os.X_OK):
        problem = f"rows cannot be kept: the folder {there.name!r} cannot be written"
    else:
        return None
    fix = SPOOL_FIX if where == SPOOL else f"Name a file where one can, set {SPOOL}, or write `off`"
    return Fault(where, problem, fix)


def of_file(file: Path) -> Fault | None:
    """Say why there can be no SQLite database at *file*, which need not be there yet."""
    if os.path.isdir(file):  # noqa: PTH112 - as above
        return Fault(WHERE, "it names a folder", "Name a file in it")
    try:
        begins = _beginning(file)
    except OSError as error:
        problem = f"the file cannot be read ({error.strerror})"
        return Fault(WHERE, problem, "Name a file that can be read and written")
    if begins in {b"", MAGIC}:
        return None
    return Fault(WHERE, NO_DATABASE, NO_DATABASE_FIX)


def told(fault: BaseException, variable: str) -> str:
    """Say what keeps rows from being written, without a path, and what to do."""
    if isinstance(fault, SetupError):
        return str(fault)
    why = getattr(fault, "strerror", None) or type(fault).__name__
    return str(Fault(variable, f"its file cannot be written ({why})", LATER[variable]))


def _beginning(file: Path) -> bytes:
    """
    Read how a file begins; nothing where it is not there, is empty, or is in use.

    A file with a log beside it is SQLite's and may be open in this process: who closes it once
    more takes the locks off it (https://www.sqlite.org/howtocorrupt.html § 2.2).
    """
    if file.with_name(f"{file.name}-wal").exists() or not file.exists() or not file.stat().st_size:
        return b""
    with file.open("rb") as stream:
        return stream.read(len(MAGIC))
