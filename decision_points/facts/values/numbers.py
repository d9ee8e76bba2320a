"""
Numbers: one canonical text for each, and no guess which sign parts thousands (RF-15, RF-16).

A text with an exponent, `1.5E0`, is how machines write; all others are of the locale that is
declared, and without one only forms are read that are a number in one way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Context, Decimal, InvalidOperation, localcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ....gateway.errors import SetupError
from .texts import ambiguous, malformed

if TYPE_CHECKING:
    from babel import Locale

LARGEST: Final = 100  # digits before the decimal sign, and behind it

_MACHINE = re.compile(r"[+-]?\d+(?:(?:\.\d+)?[Ee][+-]?\d{1,4})?", re.ASCII)
_SHAPE = re.compile(r"[+-]?[\d.,' ]*\d", re.ASCII)
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?P<group>[.,' ])\d{3}(?:(?P=group)\d{3})*", re.ASCII)
_DECIMAL = re.compile(r"[+-]?\d*[.,]\d+", re.ASCII)

_SIGNS = str.maketrans(
    {"\u2212": "-", "\u2019": "'", "\xa0": " ", "\u202f": " ", "\u2009": " ", "\u2007": " "}
)
"""Signs that are written in several ways: minus, the apostrophe, spaces of a fixed width."""


def number_of(text: str, locale: str = "") -> Decimal:
    """
    Read a number.

    Args:
        text: As it was written, without spaces around it.
        locale: Whose signs it is written with, as `pt_BR`; empty: not known.

    Raises:
        Refused: `malformed_value`, or `ambiguous_value`: without a locale it is two numbers.

    """
    plain = text if text.isascii() else text.translate(_SIGNS)
    if _MACHINE.fullmatch(plain):
        return bounded(Decimal(plain))
    if not _SHAPE.fullmatch(plain):
        malformed("it is no number")
    return bounded(_of_locale(plain, locale) if locale else _in_one_way(plain))


def written_number(number: Decimal) -> str:
    """Write a number that was `bounded`: `-1.1`, without an exponent and zeros behind it."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def machine_text(number: Decimal) -> str:
    """Write a number so that it is read the same under any locale: `12`, `1.5E0`."""
    if not number.is_finite() or abs(number.adjusted()) > LARGEST:
        return str(number)
    text = written_number(number)
    return f"{text}E0" if "." in text else text


def bounded(number: Decimal) -> Decimal:
    """
    Give *number*, with no minus before zero, unless it has more digits than anybody counts with.

    Raises:
        Refused: `malformed_value`.

    """
    if not number.is_finite():
        malformed("it is no finite number")
    behind = number.as_tuple().exponent
    if (isinstance(behind, int) and behind < -LARGEST) or number.adjusted() >= LARGEST:
        malformed(f"it has more than {LARGEST} digits before or behind the decimal sign")
    return number or Decimal(0)


def _in_one_way(plain: str) -> Decimal:
    """Read what no locale reads otherwise: of two signs the last parts the decimals."""
    if _EITHER.fullmatch(plain):
        ambiguous("its sign parts thousands or decimals", "Declare the attribute's locale")
    if _DECIMAL.fullmatch(plain):
        return Decimal(plain.replace(",", "."))
    if grouped := _GROUPED.fullmatch(plain):
        return Decimal(plain.replace(grouped["group"], ""))
    at = max(plain.rfind("."), plain.rfind(","))
    grouped, behind = _GROUPED.fullmatch(plain[: max(at, 0)]), plain[at + 1 :]
    if grouped is None or grouped["group"] == plain[at] or not behind.isdigit():
        malformed("it is no number that is grouped by thousands")
    return Decimal(f"{plain[:at].replace(grouped['group'], '')}.{behind}")


def _of_locale(plain: str, locale: str) -> Decimal:
    from babel.numbers import NumberFormatError, parse_decimal

    group = _group_sign(locale)
    plain = plain.replace(group.translate(_SIGNS), group)  # a space or an apostrophe of its own
    try:
        with localcontext(Context(prec=3 * LARGEST)):  # Babel writes it again, to compare
            return parse_decimal(plain, locale=locale_of(locale), strict=True)
    except (NumberFormatError, InvalidOperation):
        return malformed(f"it is no number as {locale} writes them", "Write it so, or as 1.5E0")


@lru_cache(maxsize=64)
def _group_sign(locale: str) -> str:
    from babel.numbers import get_group_symbol

    return get_group_symbol(locale_of(locale))


@lru_cache(maxsize=64)
def locale_of(name: str) -> Locale:
    """
    Give what Babel knows about a locale, as `pt_BR`.

    Raises:
        SetupError: Babel does not know it, or is not installed.

    """
    try:
        from babel import Locale, UnknownLocaleError
    except ImportError:
        raise lacking("Babel") from None
    try:
        return Locale.parse(name.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        problem = f"there is no locale {name[:40]!r}"
        raise SetupError.of("locale", problem, "Write it like pt_BR or en_US") from None


def lacking(library: str) -> SetupError:
    """Say that a *library* for values is not installed."""
    return SetupError.of(
        "values", f"{library} is not installed", 'Install it: pip install "pointsman[facts]"'
    )


Reader = Callable[[str], str]
"""Gives the canonical text of what was written, without spaces around it, or refuses it."""


def numbers(locale: str) -> Reader:
    """Read numbers of *locale*."""

    def read(raw: str) -> str:
        if raw.isdigit() and raw.isascii() and raw[0] != "0" and len(raw) < LARGEST:
            return raw
        return written_number(number_of(raw, locale))

    return read
