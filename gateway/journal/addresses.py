"""Where the journal is: a URL, checked without opening anything."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import SetupError

if TYPE_CHECKING:
    from sqlalchemy import URL

WHERE = "DECISION_JOURNAL"
FORMS = "sqlite:///path/to/journal.db or postgresql://user@host/name"
POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")


def address(url: str) -> URL:
    """
    Check where the journal is; a SQLite file's path is made absolute.

    Raises:
        SetupError: The URL is malformed, of an unknown kind, or its library is not installed.

    """
    _present("sqlalchemy", "journal")
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        made = make_url(url)
    except (ArgumentError, ValueError):
        raise _malformed("it is no URL") from None
    if made.drivername == "sqlite":
        return _sqlite(made)
    if made.drivername in POSTGRES:
        _present("psycopg", "postgres")
        return made.set(drivername="postgresql+psycopg")
    raise _malformed(f"{made.drivername!r} is no kind of database that it can be kept in")


def _sqlite(url: URL) -> URL:
    if not url.database or url.database == ":memory:" or url.host:
        raise _malformed("it names no file (three slashes begin a path, four an absolute one)")
    if url.query:
        raise _malformed("a SQLite file takes no options")
    return url.set(database=str(Path(url.database).expanduser().absolute()))


def _malformed(problem: str) -> SetupError:
    return SetupError.of(WHERE, problem, f"Write {FORMS}, or `off`")


def _present(library: str, extra: str) -> None:
    """Make sure that a library is installed, without loading it."""
    if importlib.util.find_spec(library) is None:
        fix = f'pip install "pointsman[{extra}]", or set it to `off`'
        raise SetupError.of(WHERE, f"{library} is not installed", fix)
