"""The file of a SQLite database: made, told apart from another of its name, read as it is."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import msgspec

from ..errors import SetupError
from .addresses import WHERE, Address

Identity: TypeAlias = tuple[int, ...]
"""A file's device and number on it; behind these, where it is read as it is, its state."""


def made(file: Path, where: str = WHERE) -> Identity | None:
    """
    Have a file there, empty if need be, so that it is known which one is opened.

    Args:
        file: The database's.
        where: What the database is called.

    Raises:
        SetupError: It cannot be made, or not be written.

    """
    _make_folder(file, where)
    with suppress(OSError):  # it is there, or SQLite will say what is wrong
        # only a new one is touched: closing it takes SQLite's locks off a file that others use
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    return identity_of(file)


def writable(file: Path) -> bool:
    """Whether SQLite can write: into the file, and its log beside it."""
    return all(os.access(one, os.W_OK) for one in (file, file.parent))


def as_it_is(address: Address, file: Path) -> Address:
    """Read *file* without making anything beside it; its log, if there is one, is heeded."""
    query = {"mode": ("ro",), "uri": ("true",)}
    if not _log(file).exists():
        query["immutable"] = ("1",)  # else SQLite wants to make a log to read without one
    return msgspec.structs.replace(address, database=f"file:{quote(str(file))}", query=query)


def identity_of(file: Path) -> Identity | None:
    """Tell *file* from another of its name; None where it is not there."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def state_of(file: Path) -> Identity | None:
    """Tell *file* from itself as others wrote it meanwhile; None where it is not there."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size, _log(file).exists()


def _log(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


def _make_folder(file: Path, where: str) -> None:
    fix = "Name a file in a folder that can be written"
    if file.is_dir():
        raise SetupError.of(where, "it names a folder", "Name a file in it")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"its folder cannot be made ({error.strerror})"
        raise SetupError.of(where, problem, fix) from None
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise SetupError.of(where, "the file cannot be written", fix)
