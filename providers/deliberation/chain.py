"""The form of a transcript: lines of canonical JSON, each sealed with those before it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...gateway.errors import Fault, SetupError
from ...gateway.state import frozen

VERSION = 1  # of the form
START = hashlib.sha256(b"pointsman.transcript.1").hexdigest()

KINDS = (
    "header",
    "turn",
    "verdict",
    "retrieval",
    "breaker",
    "synthesis",
    "council",
    "route",
    "note",
    "inbox",
    "late",
    "footer",
)


BEGINS = b'{"at":'  # a line, since keys are sorted
FIX = "Take the transcript of this very deliberation, or begin a new one"


class TranscriptError(SetupError):
    """A transcript cannot be read, written or gone on with; it says which line, and what."""

    @classmethod
    def at(cls, path: Path | None, line: int | None, problem: str, fix: str) -> TranscriptError:
        """Make the error for one file, or one line of it."""
        named = "the transcript" if path is None else str(path)
        return cls(Fault(named if line is None else f"{named}, line {line}", problem, fix))


class Mismatch(SetupError):
    """What is asked now is not what a transcript holds: nothing is answered from it."""

    @classmethod
    def at_key(cls, key: str, problem: str) -> Mismatch:
        """Make the error for one turn or entry."""
        return cls(Fault(key, problem, FIX))


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """
    One line.

    Attributes:
        n: Its number, from 0.
        kind: One of `KINDS`.
        key: Names it among those of its kind.
        at: Seconds from the beginning of the deliberation.
        body: What happened, as plain JSON.
        hash: SHA-256 of the line before and of this one, in hexadecimal.

    """

    n: int
    kind: str
    key: str
    at: float
    body: Mapping[str, Any]
    hash: str = ""


def sealed(previous: str, entry: Entry) -> tuple[Entry, bytes]:
    """
    Seal *entry* behind the line whose hash is *previous*; give it with its line.

    Raises:
        NoJson: Its body is no JSON.

    """
    plain = msgspec.to_builtins(entry)
    del plain["hash"]
    given, text = frozen(plain)
    digest = hashlib.sha256(f"{previous}{text}".encode()).hexdigest()
    line = frozen({**given, "hash": digest})[1]
    return msgspec.structs.replace(entry, body=given["body"], hash=digest), f"{line}\n".encode()


def verified(path: Path, *, cut: bool = False) -> list[Entry]:
    """
    Read a transcript and check every line against those before it.

    Args:
        path: The file.
        cut: A last line that was not written to its end is left out, rather than refused.

    Raises:
        TranscriptError: It cannot be read, a line is damaged or out of its order, or it does
            not begin with a header.

    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        problem = error.strerror or "it cannot be read"
        raise TranscriptError.at(path, None, problem, "Name a transcript") from None
    if lines[-1] and not cut:
        fix = "Go on with it, or cut it off there"
        raise TranscriptError.at(path, len(lines), "it was not written to its end", fix)
    found = list(_linked(path, lines[:-1]))
    if not found or found[0].kind != "header":
        raise TranscriptError.at(path, 1, "it does not begin with a header", "Name a transcript")
    return found


def unbegun(path: Path) -> bool:
    """Whether a file holds the beginning of a first line and nothing more, or nothing at all."""
    found = path.read_bytes()
    return b"\n" not in found and (found.startswith(BEGINS) or BEGINS.startswith(found))


def _linked(path: Path, lines: list[bytes]) -> Iterator[Entry]:
    previous = START
    for number, line in enumerate(lines):
        entry = _read(line)
        if entry is None or entry.n != number or sealed(previous, entry)[1] != line + b"\n":
            problem = "it was changed, or a line before it is missing"
            fix = "Trust nothing from here on; what stands before is as it was written"
            raise TranscriptError.at(path, number + 1, problem, fix)
        previous = entry.hash
        yield entry


def _read(line: bytes) -> Entry | None:
    try:
        return msgspec.json.decode(line, type=Entry)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def bytes_of(entries: list[Entry]) -> int:
    """Count the bytes of the lines of *entries*, as they were written."""
    previous, total = START, 0
    for entry in entries:
        total += len(sealed(previous, entry)[1])
        previous = entry.hash
    return total
