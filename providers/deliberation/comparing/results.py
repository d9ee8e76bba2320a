"""
The file of results: a header, then one JSON line for each arm on each case.

Appended as they come, so that a process that is killed leaves whole lines and at most a torn one.
The header says what made the file: another experiment does not go on in it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

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
        self._path = path
        self._descriptor = _opened(path, resume=resume)
        self.rows: dict[tuple[str, str], Row] = {}
        try:
            _alone(path, self._descriptor)
            for row in self._recovered(header):
                self.rows[row.case, row.arm] = row
        except BaseException:
            self.close()
            raise

    def of(self, case: Case, arm: str) -> Row | None:
        """Give what an arm made of a case; None where it is not known of the case as it is now."""
        row = self.rows.get((case.id, arm))
        return row if row is not None and row.digest == case.digest else None

    def append(self, row: Row) -> None:
        """Write one row, whole, before anything else is asked."""
        self.rows[row.case, row.arm] = row
        self._write(msgspec.json.encode(row))

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _write(self, content: bytes) -> None:
        rest = memoryview(content + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            problem = f"it cannot be written ({error.strerror})"
            fix = "Make room; the same command with --resume goes on from there"
            raise SetupError.of(str(self._path), problem, fix) from None

    def _recovered(self, header: Header) -> Sequence[Row]:
        content = self._path.read_bytes()
        first, *lines = content.split(b"\n")
        written = msgspec.json.encode(header, order="deterministic")
        if not lines and written.startswith(first):  # empty, or torn while it was begun
            os.ftruncate(self._descriptor, 0)
            self._write(written)
            return []
        self._agrees(first, header)
        return self._read([line for line in lines[:-1] if line], lines[-1] if lines else b"")

    def _read(self, whole: Sequence[bytes], torn: bytes) -> list[Row]:
        try:
            read = [msgspec.json.decode(line, type=Row) for line in whole]
        except msgspec.MsgspecError as error:
            raise self._foreign(f"a line of it is none of ours ({error})") from None
        if not torn:
            return read
        try:  # only its line end is missing: it was paid for, and is not asked again
            read.append(msgspec.json.decode(torn, type=Row))
            os.write(self._descriptor, b"\n")
        except msgspec.MsgspecError:
            os.ftruncate(self._descriptor, self._path.stat().st_size - len(torn))
        return read

    def _agrees(self, first: bytes, header: Header) -> None:
        try:
            there = msgspec.json.decode(first, type=Header)
        except msgspec.MsgspecError:
            raise self._foreign("it is no file of results") from None
        here, made = _flat(header), _flat(there)
        differs = [name for name in sorted({*here, *made}) if here.get(name) != made.get(name)]
        if differs:
            raise self._foreign(f"another experiment made it; different: {', '.join(differs)}")

    def _foreign(self, problem: str) -> SetupError:
        fix = "Nothing was asked or written. Name another file with --out, or remove this one"
        return SetupError.of(str(self._path), problem, fix)


def _flat(header: Header) -> dict[str, str]:
    return {
        "layout": str(header.pointsman_arms),
        "--members": header.members,
        **header.settings,
    }


def _opened(path: Path, *, resume: bool) -> int:
    where = f"--out {path}"
    if path.exists() and not path.is_file():  # a device or a pipe cannot be read again
        raise SetupError.of(where, "it is no regular file", "Name another file")
    if path.exists() and path.stat().st_size and not resume:
        fix = "Go on with it by --resume, or name another file"
        raise SetupError.of(where, "there are results already", fix)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, 0o666)
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise SetupError.of(where, problem, "Name another file") from None


def _alone(path: Path, descriptor: int) -> None:
    with contextlib.suppress(ImportError):  # no such lock on Windows
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            problem = "another run is writing it"
            raise SetupError.of(f"--out {path}", problem, "Wait for it, or stop it") from None
