"""
The output of a run: a header, then one JSON line a row, appended as decisions are made.

The header says what made the file, so that a rerun goes on only where it would have written
the same. A process that is killed leaves whole lines and at most one torn one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..errors import Fault, SetupError

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
        self._path = path
        self._descriptor = _opened(path)
        try:
            _alone(path, self._descriptor)
            self.lines = self._recovered(header)
        except BaseException:
            self.close()
            raise

    @property
    def done(self) -> set[int]:
        """The rows that are written down by now."""
        return {line.row for line in self.lines}

    def append(self, line: Line) -> None:
        """Write one line, whole, so that a kill cannot lose what was decided before it."""
        self.lines.append(line)
        self._write(msgspec.json.encode(line))

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
            fix = "Make room; the same command goes on from there"
            raise SetupError.of(str(self._path), problem, fix) from None

    def _recovered(self, header: Header) -> list[Line]:
        content = self._path.read_bytes()
        first, *lines = content.split(b"\n")
        written = msgspec.json.encode(header)
        if not lines and written.startswith(first):  # empty, or torn while it was begun
            os.ftruncate(self._descriptor, 0)
            self._write(written)
            return []
        self._agrees(first, header)
        return self._read([line for line in lines[:-1] if line], lines[-1] if lines else b"")

    def _read(self, whole: list[bytes], torn: bytes) -> list[Line]:
        try:
            read = [msgspec.json.decode(line, type=Line) for line in whole]
        except msgspec.MsgspecError as error:
            raise self._foreign(f"a line of it is none of ours ({error})") from None
        if not torn:
            return read
        try:  # only its line end is missing: the row was decided, and is not asked again
            read.append(msgspec.json.decode(torn, type=Line))
            os.write(self._descriptor, b"\n")
        except msgspec.MsgspecError:
            os.ftruncate(self._descriptor, self._path.stat().st_size - len(torn))
        return read

    def _agrees(self, first: bytes, header: Header) -> None:
        try:
            there = msgspec.json.decode(first, type=Header)
        except msgspec.MsgspecError:
            raise self._foreign("it is no file of results") from None
        differing = [
            f"{WHAT.get(name, name)}{_which(name, there, header)}"
            for name in Header.__struct_fields__
            if getattr(there, name) != getattr(header, name)
        ]
        if differing:
            raise self._foreign(f"another run made it; different: {'; '.join(differing)}")

    def _foreign(self, problem: str) -> SetupError:
        fix = "Nothing was asked or written. Name another file with --out, or remove this one"
        return SetupError(Fault(str(self._path), problem, fix))


def _which(name: str, there: Header, here: Header) -> str:
    if name != "variables":
        return ""
    both = {*there.variables, *here.variables}
    changed = [one for one in both if there.variables.get(one) != here.variables.get(one)]
    return f" ({', '.join(sorted(changed))})"


def _opened(path: Path) -> int:
    if path.exists() and not path.is_file():  # a device or a pipe cannot be read again
        raise SetupError.of(f"--out {path}", "it is no regular file", "Name another file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, 0o666)
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise SetupError.of(f"--out {path}", problem, "Name another file") from None


def _alone(path: Path, descriptor: int) -> None:
    with contextlib.suppress(ImportError):  # no such lock on Windows
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            problem = "another run is writing it"
            raise SetupError.of(f"--out {path}", problem, "Wait for it, or stop it") from None
