"""Work that waits for the journal's database: never for long, and never taken for done."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import KNOWS, JournalDown
from ..steps import Apart, Step

if TYPE_CHECKING:
    from ..cases import Case
    from .waiters import Waiters

T = TypeVar("T")

PATIENCE = 5.5  # seconds for the journal; its own words, if it has any, come after 5
LEAST = 1.0  # that it has in any case: a decision that is late must be written, too


def apart(
    waiters: Waiters, case: Case, work: Callable[[], T], told: str = KNOWS
) -> Generator[Step, Any, T]:
    """
    Do *work* on a thread of its own, within what the decision has left.

    It has that time once it is begun, and as long as the database answers others.

    Raises:
        JournalDown: The database cannot be reached, or not in time; *told* says what that means.

    """
    left = PATIENCE if case.call.deadline is None else case.call.deadline - time.monotonic()
    seconds = max(LEAST, min(PATIENCE, left))
    with confirmed(case.point.name, seconds, told):
        more = partial(waiters.more, seconds=seconds)
        done: T = yield Apart(partial(waiters.begin, work), seconds, more)
    return done


@contextmanager
def confirmed(point: str, seconds: float, told: str = KNOWS) -> Generator[None]:
    """
    Never let a database that is down stand for one that knows nothing.

    Raises:
        JournalDown: It cannot be reached, or not in so many *seconds*.

    """
    from ..journal.troubles import StoreDown

    try:
        yield
    except StoreDown as down:
        raise JournalDown(point, str(down), down.fix, told) from None
    except TimeoutError:
        problem = f"its database did not answer within {seconds:.1f} s"
        fix = "See to its server, its locks and the network between"
        raise JournalDown(point, problem, fix, told) from None
    except OSError as error:  # the key beside the journal
        problem = f"its key cannot be read ({error.strerror or type(error).__name__})"
        fix = "Let the journal's folder be read and written"
        raise JournalDown(point, problem, fix, told) from None
