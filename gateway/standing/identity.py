"""Which call a decision was made for: point, subject, call id and exact arguments, as one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import DeclarationError
from .exact import NotExactError, written

if TYPE_CHECKING:
    from ..cases import Case


def identity_of(case: Case) -> str:
    """
    Write down which call *case* is decided for; two are the same only where all of it is.

    Raises:
        DeclarationError: The arguments have no one written form; the value is not repeated.

    """
    once = case.once
    assert once is not None
    try:
        return written([case.point.name, case.call.subject, once.call, once.arguments])
    except NotExactError as why:
        problem = f"the arguments hold {why}, which has no exact form"
    except ValueError:  # not finite, or of more digits than Python writes
        problem = "the arguments hold a number that JSON cannot write"
    fix = "Let `once` give what JSON knows instead of it"
    raise DeclarationError(f"{case.point.name}: {problem}. {fix}")
