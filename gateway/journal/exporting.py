"""
Rows in files: JSON lines, plain or compressed, and Parquet.

A line is the row's exact JSON, the same as in the database; in Parquet it is the column `body`,
beside columns for queries. Nothing in it names a subject: there is only its keyed hash.
"""

from __future__ import annotations

import gzip
import secrets
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from ..errors import SetupError
from .rows import Row

SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")
PARQUET = SUFFIXES[2]
FIX = f"Give it one of these endings: {', '.join(SUFFIXES)}"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Row).decode


def suffix_of(path: Path) -> str:
    """
    Tell a file's kind by its ending.

    Raises:
        SetupError: It has none of those that are known.

    """
    for suffix in SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise SetupError.of(str(path), "its name does not say what kind of file it is", FIX)


def check_place(path: Path) -> None:
    """
    Check whether a file can be written there, before anything is read for it.

    Raises:
        SetupError: Its ending is unknown, or its folder is not there.

    """
    suffix_of(path)
    if not path.parent.is_dir():
        raise SetupError.of(str(path.parent), "there is no such folder", "Make it, or name another")


def write_lines(rows: Iterable[Row], stream: IO[bytes]) -> None:
    """Write each row as a line of JSON."""
    for row in rows:
        stream.write(_encode(row))
        stream.write(b"\n")


def write_file(rows: Iterable[Row], path: Path) -> None:
    """
    Write *rows* into a file; whoever looks finds all of it, or what was there before.

    Raises:
        SetupError: The file's ending is unknown, its folder is not there, or its library is not
            installed.
        OSError: It cannot be written.

    """
    check_place(path)
    suffix = suffix_of(path)
    with _whole(path) as draft:
        if suffix == PARQUET:
            from .parquet import write_parquet

            write_parquet(rows, draft)
            return
        with _opened(draft, suffix, "wb") as stream:
            write_lines(rows, stream)


def read_file(path: Path) -> Iterator[Row]:
    """
    Read the rows of a file.

    Raises:
        SetupError: The file's ending is unknown, its library is not installed, or a line is no
            row: it is named.
        OSError: It cannot be read.

    """
    suffix = suffix_of(path)
    for number, line in _lines(path, suffix):
        try:
            yield _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            where = f"{path.name}, {'row' if suffix == PARQUET else 'line'} {number}"
            raise SetupError.of(where, f"it is no row of a journal ({error})", _MEND) from None


_MEND = "Nothing was imported; correct the line, or take it out"


def _lines(path: Path, suffix: str) -> Iterator[tuple[int, bytes | str]]:
    """Give what stands in a file, counted from 1; empty lines are passed over."""
    if suffix == PARQUET:
        from .parquet import read_parquet

        yield from enumerate(read_parquet(path), 1)
        return
    with _opened(path, suffix, "rb") as stream:
        try:
            yield from ((number, line) for number, line in enumerate(stream, 1) if line.strip())
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            problem = f"it is no whole gzip file ({error})"
            raise SetupError.of(str(path), problem, "Export it again") from None


def _opened(path: Path, suffix: str, mode: str) -> IO[bytes]:
    opened: Any = gzip.open if suffix.endswith(".gz") else Path.open
    return cast("IO[bytes]", opened(path, mode))


@contextmanager
def _whole(path: Path) -> Generator[Path]:
    """Lend a draft that takes the place of *path* once it is complete."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        if str(error.filename) == str(draft):
            error.filename = str(path)  # the one that was asked for
        raise
    finally:
        with suppress(OSError):  # what went wrong before is told
            draft.unlink(missing_ok=True)
