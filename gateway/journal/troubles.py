"""
What can be wrong with a database, ordered by who must act.

No message repeats the database's own words: they may hold an address, a path or a row.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import SetupError
from .addresses import WHERE
from .places import NO_DATABASE, NO_DATABASE_FIX

if TYPE_CHECKING:
    from sqlalchemy.exc import DBAPIError

KNOWN = {
    "locked": "another process holds its lock",
    "busy": "another process holds its lock",
    "lock timeout": "another process holds its lock",
    "statement timeout": "it is too slow",
    "full": "its disk is full",
    "no space left": "its disk is full",
    "readonly": "it cannot be written",
    "read-only": "it cannot be written",
    "permission denied": "its user has no right to do this",
    "authentication": "the server turns its user away",
    "no password": "the server asks for a password",
    "does not exist": "there is no such database or user",
    "too many": "the server takes no more connections",
    "timeout": "the server does not answer",
}
"""Part of a database's message → what is said of it; the first that is found."""

DAMAGED = ("not a database", "malformed", "encrypted")


class StoreDown(Exception):
    """
    The database cannot be reached, or is locked or full beyond its patience.

    Nothing is lost by it: what was to be written is still to be written. Try again later.
    """


@contextmanager
def told() -> Generator[None]:
    """
    Turn the errors of a database into ours; one about a row's own values passes unchanged.

    Raises:
        StoreDown: It cannot be reached now.
        SetupError: The file is no database.

    """
    from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
    from sqlalchemy.exc import TimeoutError as NoConnection

    try:
        yield
    except (DataError, IntegrityError):
        raise
    except DBAPIError as error:
        raise _ours(error) from None
    except NoConnection:
        raise StoreDown("all connections are in use") from None


REFUSED = {  # by PostgreSQL's code of the error
    "3F000": "it has none of the schemas that the URL's search_path names: CREATE SCHEMA one",
    "42501": "its user may not make or write the journal's tables",
}


def _ours(error: DBAPIError) -> Exception:
    said = str(error.orig).lower()
    if any(part in said for part in DAMAGED):
        return SetupError.of(WHERE, NO_DATABASE, NO_DATABASE_FIX)
    state = getattr(error.orig, "sqlstate", None)
    if state in REFUSED:
        return StoreDown(REFUSED[state])
    known = (meaning for part, meaning in KNOWN.items() if part in said)
    return StoreDown(next(known, f"it cannot be reached ({type(error.orig).__name__})"))
