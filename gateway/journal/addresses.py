"""Where the journal is: a URL, checked without opening anything or loading a library."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import msgspec

from ..errors import SetupError

WHERE = "DECISION_JOURNAL"
FORMS = "sqlite:///path/to/journal.db or postgresql://user@host/name"
SQLITE = "sqlite"
POSTGRES = "postgresql+psycopg"
KINDS = {SQLITE: SQLITE, **dict.fromkeys(("postgresql", "postgres", POSTGRES), POSTGRES)}
"""How a URL may begin → the driver."""

# as SQLAlchemy reads it, which takes too long to load for a check at the start
_PARTS = re.compile(
    r"""
    (?P<kind>[\w+]+)://
    (?: (?P<username>[^:/]*) (?: :(?P<password>[^@]*) )? @ )?
    (?: (?: \[(?P<v6>[^/?]+)\] | (?P<host>[^/:?]+) )? (?: :(?P<port>[^/?]*) )? )?
    (?: /(?P<database>[^?]*) )?
    (?: \?(?P<query>.*) )?
    """,
    re.VERBOSE,
)


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """
    A URL, taken apart.

    Attributes:
        driver: What reaches it.
        username: Of the server.
        password: Of the server.
        host: The server.
        port: Of the server.
        database: Its name on the server; a SQLite file's absolute path.
        query: Options of the driver; one that is given several times has several values.

    """

    driver: str
    username: str | None = None
    password: str | None = None
    host: str | None = None
    port: int | None = None
    database: str | None = None
    query: Mapping[str, tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return f"Address({self.driver})"  # never where it is, nor its password

    @property
    def file(self) -> Path | None:
        """The SQLite file; None for a server."""
        return Path(str(self.database)) if self.driver == SQLITE else None


def address(url: str) -> Address:
    """
    Check where the journal is; a SQLite file's path is made absolute.

    Raises:
        SetupError: The URL is malformed, of an unknown kind, or its library is not installed.

    """
    _present("sqlalchemy", "journal")
    parts = _PARTS.match(url)
    if parts is None:
        raise _malformed("it is no URL")
    kind = parts["kind"]
    if kind not in KINDS:
        raise _malformed(f"{kind!r} is no kind of database that it can be kept in")
    made = _taken_apart(KINDS[kind], parts.groupdict())
    if made.driver == SQLITE:
        return _sqlite(made)
    _present("psycopg", "postgres")
    return made


def _taken_apart(driver: str, parts: Mapping[str, str | None]) -> Address:
    port = parts["port"]
    if port and not (port.isascii() and port.isdigit()):
        raise _malformed("it is no URL")
    query: dict[str, tuple[str, ...]] = {}
    for name, value in parse_qsl(parts["query"] or ""):
        query[name] = (*query.get(name, ()), value)
    return Address(
        driver=driver,
        username=_plain(parts["username"]),
        password=_plain(parts["password"]),
        host=parts["host"] or parts["v6"],
        port=int(port) if port else None,
        database=_plain(parts["database"]),
        query=query,
    )


def _plain(part: str | None) -> str | None:
    return None if part is None else unquote(part)


def _sqlite(made: Address) -> Address:
    if not made.database or made.database == ":memory:" or made.host:
        raise _malformed("it names no file (three slashes begin a path, four an absolute one)")
    if made.query:
        raise _malformed("a SQLite file takes no options")
    path = Path(made.database).expanduser().absolute()
    return msgspec.structs.replace(made, database=str(path))


def _malformed(problem: str) -> SetupError:
    return SetupError.of(WHERE, problem, f"Write {FORMS}, or `off`")


def _present(library: str, extra: str) -> None:
    """Make sure that a library is installed, without loading it."""
    if importlib.util.find_spec(library) is None:
        fix = f'pip install "pointsman[{extra}]", or set it to `off`'
        raise SetupError.of(WHERE, f"{library} is not installed", fix)
