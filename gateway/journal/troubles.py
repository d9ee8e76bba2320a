"""
What can be wrong with a database, ordered by who must act.

No message repeats the database's own words: they may hold an address, a path or a row.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ..errors import SetupError
from .addresses import WHERE
from .places import NO_DATABASE, NO_DATABASE_FIX

AGAIN = "Nothing is lost by it; try again"
LOCKED = "another process holds its lock"
NO_HOST = (
    "it cannot be reached: its host is unknown",
    "Correct the host in its URL, or this machine's DNS",
)
START = "Start it, or correct host and port in its URL"
NO_SERVER = "it cannot be reached: nothing answers at its host and port", START
NO_RIGHT = "its user has no right to do this", "Let it, or name another user in its URL"
FULL = "its disk is full", "Make room on it"
READ_ONLY = "it cannot be written", "Let this user write it and its folder, or name another"
FORKED = (
    "its file was in use by another thread, or by this one, when this process was forked",
    "Fork before it is used or while nothing is read from it, or start processes with spawn",
)
ALL_LENT = (
    "all of this process's connections to it are in use",
    "End what is being read (views, lists that were begun), or read in fewer threads at once",
)
HELD = LOCKED, "Nothing is lost by it; try again, or end that process"
STRANGER = "the server turns its user away", "Correct user and password in its URL"

KNOWN = {
    "locked": HELD,
    "busy": HELD,
    "lock timeout": HELD,
    "statement timeout": ("it is too slow", AGAIN),
    "full": FULL,
    "no space left": FULL,
    "readonly": READ_ONLY,
    "read-only": READ_ONLY,
    "unable to open": (
        "its file cannot be opened",
        "Let this user read and write it and its folder, or name another",
    ),
    "disk i/o": ("its disk does not read or write", "See to the disk, or name a file on another"),
    "permission denied": NO_RIGHT,
    "authentication": STRANGER,
    "no password": ("the server asks for a password", "Write it into its URL"),
    "does not exist": ("there is no such database or user", "Make it, or correct its URL"),
    "too many": ("the server takes no more connections", "Allow more, or try again"),
    "name or service": NO_HOST,
    "resolve": NO_HOST,
    "translate host": NO_HOST,
    "getaddrinfo": NO_HOST,
    "refused": NO_SERVER,
    "unreachable": NO_SERVER,
    "no route": NO_SERVER,
    "timeout": ("the server does not answer", START),
}
"""Part of a database's message → what is said of it, and what to do; the first that is found."""

DRIVERS = ("sqlite3", "psycopg")
OF_VALUES = ("DataError", "IntegrityError")

DAMAGED = ("not a database", "malformed", "encrypted")


class StoreDown(Exception):
    """
    The database cannot be reached, or is locked or full beyond its patience.

    Nothing is lost by it: what was to be written is still to be written. Try again later.

    Attributes:
        fix: What an operator does about it.

    """

    def __init__(self, problem: str, fix: str = AGAIN) -> None:
        super().__init__(problem)
        self.fix = fix


def is_locked(error: Exception) -> bool:
    """Whether a database said that another's lock outlasted its patience."""
    return _meaning(error) == HELD


@contextmanager
def told(where: str = WHERE) -> Generator[None]:
    """
    Turn the errors of a database into ours; one about a row's own values passes unchanged.

    Args:
        where: What the database is called.

    Raises:
        StoreDown: It cannot be reached now.
        SetupError: The file is no database.

    """
    from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

    try:
        yield
    except (DataError, IntegrityError):
        raise
    except DBAPIError as error:
        raise _ours(error.orig, where) from None
    except Exception as error:
        if not _of_driver(error):
            raise
        raise _ours(error, where) from None


REFUSED = {  # by PostgreSQL's code of the error
    "3F000": (
        "it has none of the schemas that the URL's search_path names: CREATE SCHEMA one",
        "Make one, or correct the URL",
    ),
    "42501": ("its user may not make or write the journal's tables", "GRANT it the right to"),
}


def _of_driver(error: Exception) -> bool:
    """Whether a statement that went straight to the driver failed, but not by a row's values."""
    named = [one for one in type(error).__mro__ if one.__module__.split(".")[0] in DRIVERS]
    return bool(named) and not any(one.__name__ in OF_VALUES for one in named)


def _ours(error: BaseException | None, where: str) -> Exception:
    said = str(error).lower()
    if any(part in said for part in DAMAGED):
        return SetupError.of(where, NO_DATABASE, NO_DATABASE_FIX)
    return StoreDown(*_meaning(error))


def _meaning(error: BaseException | None) -> tuple[str, str]:
    state = getattr(error, "sqlstate", None)
    if state in REFUSED:
        return REFUSED[state]
    said = str(error).lower()
    known = (meaning for part, meaning in KNOWN.items() if part in said)
    return next(known, (f"it cannot be reached ({type(error).__name__})", AGAIN))
