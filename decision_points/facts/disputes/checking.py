"""What a move of a dispute is given, checked before the log has it for good."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, cast, get_args

from ..entries import Party
from ..errors import Refused
from ..keys import tidy
from ..values.texts import unfit

if TYPE_CHECKING:
    from ..ledger.view import View

SECOND = 1_000_000  # microseconds
NAME = 200  # characters of who does something
YEAR = 366 * 86_400  # seconds: nothing is leased, or holds by itself, for longer
JOINERS = "\u200c\u200d"  # which some scripts need to be written in
CUT = "…"


def named(who: object) -> None:
    """
    Check who does something.

    Raises:
        Refused: Nobody is named, at too great a length, or with signs that nobody sees.

    """
    if not isinstance(who, str) or not who.strip():
        raise Refused("no_resolver", "nobody is named", "Say who: `by=`")
    if len(who) > NAME:
        raise Refused("too_long", f"a name has at most {NAME} characters")
    if not _shown(who) or not who.isprintable():
        raise Refused("bad_text", "a name has signs that nobody sees", "Write one people can read")


def sort_of(party: object) -> None:
    """
    Check what sort of resolver somebody is.

    Raises:
        Refused: Of none.

    """
    if party not in get_args(Party):
        raise Refused("bad_party", "it is neither a person nor an agent", "Say `person` or `agent`")


def bounded(view: View, *texts: object) -> None:
    """
    Check reasons and references.

    Raises:
        Refused: One is no text, nothing that a person can read, or longer than the policy lets it
            be; or there are too many.

    """
    limits = view.versions()[0].limits
    if len(texts) > limits.inputs:
        raise Refused("too_many", f"at most {limits.inputs:,} references are kept")
    for one in texts:
        if not isinstance(one, str) or not _shown(one):
            fix = "Write a text without signs that nobody sees"
            raise Refused("bad_text", "a reason or a reference is no text to read", fix)
        if len(one) > limits.text_characters:
            most = f"{limits.text_characters:,}"
            raise Refused("too_long", f"a reason or a reference has at most {most} characters")


def texts(given: object) -> tuple[str, ...]:
    """
    Take several texts.

    Raises:
        Refused: They are not several, or one is no text.

    """
    apart = isinstance(given, Iterable) and not isinstance(given, str)
    several = tuple(cast("Iterable[object]", given)) if apart else (0,)
    if not all(isinstance(one, str) for one in several):
        raise Refused("bad_text", "it is no sequence of ids or references", "Give texts in a list")
    return tuple(str(one) for one in several)


def micros(seconds: object) -> int:
    """
    Give a span of time in microseconds.

    Raises:
        Refused: It is no number above 0, or more than a year.

    """
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not (number and 0 < seconds <= YEAR and round(seconds * SECOND)):  # type: ignore[operator]
        fix = f"Give seconds, up to {YEAR:,}"
        raise Refused("bad_duration", "it is no span of time above 0 and up to a year", fix)
    return round(seconds * SECOND)  # type: ignore[operator]


def counted(number: object, *, whole: bool) -> bool:
    """Whether it is a number of things, or of US dollars, that somebody can have spent."""
    kinds = int if whole else int | float
    if not isinstance(number, kinds) or isinstance(number, bool):
        return False
    return 0 <= number < 2**53  # which is false for NaN


def fitting(said: str, most: int) -> str:
    """Give of a text what may be written: without signs that nobody sees, cut to *most*."""
    fit = "".join(one for one in said if _shown(one)).strip()
    return fit if len(fit) <= most else fit[: most - 1] + CUT


def among(who: str, names: Collection[str]) -> bool:
    """Whether somebody is one of *names*, however these write them."""
    return tidy(who) in {tidy(one) for one in names}


def _shown(text: str) -> bool:
    """Whether all of a text is seen where it stands."""
    if text.isascii() and text.isprintable():
        return True
    hidden = (unicodedata.category(one) == "Cf" and one not in JOINERS for one in text)
    return not unfit(text) and not any(hidden)
