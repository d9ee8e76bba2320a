"""
Dates as precisely as they are written, and instants, which are equal across zones (RF-84).

ISO 8601 is read as it is. Numbers alone, `03/04/2026`, are of the declared locale, and without one
only where day first and month first are the same day. Names of months may be English, Portuguese
or the locale's. A year has four digits, but for formats that the attribute declares.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from ..errors import Refused
from ..times import CALENDAR, Moment, NoTime, Precision, calendar, clock_in, iso, placed
from .numbers import Reader, lacking, locale_of
from .texts import ambiguous, malformed

if TYPE_CHECKING:
    from dateutil.parser import parserinfo

LONGEST: Final = 80  # characters of a date

_YEAR_FIRST = re.compile(r"(\d{4})([/.])(\d{1,2})\2(\d{1,2})(?!\d)", re.ASCII)
_WORD = r"[^\W\d_]+\.?"
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th|º|\.)?"
_GAP = r"(?:[\s,./-]+(?:(?:of|de|do|del)\s+)?)"
_CLOCK = (
    r"(?:,?\s+(?:(?:at|às|as)\s+)?[0-9]{1,2}"
    r"(?:(?::[0-9]{2}){1,2}(?:\.[0-9]+)?|\s?h(?:\s?[0-9]{2})?|(?=\s?[ap]\.?m))"
    r"(?:\s?[ap]\.?m\.?)?(?:\s?[A-Z]{1,5}|\s?[+-][0-9]{2}:?[0-9]{2})?)?"
)
_NAMED = re.compile(
    rf"(?P<date>(?:{_WORD}(?:-feira)?,?\s+)?(?:{_DAY}{_GAP}{_WORD}{_GAP}[0-9]{{4}}"
    rf"|{_WORD}{_GAP}(?:{_DAY}{_GAP})?[0-9]{{4}}|[0-9]{{4}}{_GAP}{_WORD}(?:{_GAP}{_DAY})?)){_CLOCK}",
    re.IGNORECASE,
)
"""Dates with the name of a month in them."""

_NUMBERS = re.compile(
    r"(?:[0-9]{1,2}(?P<sign>[/.\- ])[0-9]{1,2}(?P=sign)|[0-9]{1,2}[/.-])[0-9]{4}" + _CLOCK,
    re.IGNORECASE,
)
"""Dates of numbers between one sign, the year last."""

_TWO_DIGITS = re.compile(r"[0-9]{1,2}([/.-])[0-9]{1,2}\1[0-9]{2}(?![0-9]).*", re.DOTALL)
_PAIR = re.compile(r"\s*(\d{1,2})\s*[/.\- ]\s*(\d{1,2})\s*[/.\- ]\s*\d{4}\b", re.ASCII)
_BLANKS = datetime(2001, 1, 1), datetime(2004, 2, 2, 1, 1, 1, 1)  # noqa: DTZ001 - what is missing differs
_WEEKDAYS: Final = (
    ("segunda", "seg"),
    ("terça", "ter"),
    ("quarta", "qua"),
    ("quinta", "qui"),
    ("sexta", "sex"),
    ("sábado", "sáb"),
    ("domingo", "dom"),
)
_COUNTED: Final = ("year", "month", "day", "hour", "minute", "second", "microsecond")


class Habits(NamedTuple):
    """
    How dates of an attribute are written.

    Attributes:
        locale: In which, as `pt_BR`; empty: not known.
        zone: Where a time of day without a zone is meant.
        formats: For `strptime`.

    """

    locale: str
    zone: str
    formats: tuple[str, ...]


def dates(habits: Habits) -> Reader:
    """Give what reads dates that are written with these habits."""

    def read(raw: str) -> str:
        try:
            return date_text(_moment(raw, habits))
        except NoTime as error:
            code = "ambiguous_value" if error.ambiguous else "malformed_value"
            raise Refused(code, str(error), "Write ISO 8601, with an offset") from None
        except OverflowError:
            return malformed("it is out of the years that calendars have")

    return read


def date_text(moment: Moment) -> str:
    """Write a moment: `2026`, `2026-11`, `2026-11-14`, or in UTC `2026-11-14T12:30Z`."""
    if moment.precision in CALENDAR:
        return moment.day.isoformat()[: {"year": 4, "month": 7, "day": 10}[moment.precision]]
    clock = clock_in(moment.start, "UTC").replace(tzinfo=None)
    spec = {"minute": "minutes", "second": "seconds"}.get(moment.precision, "microseconds")
    return f"{clock.isoformat(timespec=spec)}Z"


def _moment(raw: str, habits: Habits) -> Moment:
    text = _YEAR_FIRST.sub(lambda one: f"{one[1]}-{one[3]:0>2}-{one[4]:0>2}", raw, count=1)
    found = iso(text, habits.zone)
    if found is None and habits.formats:
        found = _formatted(raw, habits)
    return found or _in_words(text, habits)


def _formatted(raw: str, habits: Habits) -> Moment | None:
    found: set[Moment] = set()
    for one in habits.formats:
        try:
            clock = datetime.strptime(raw, one)  # noqa: DTZ007 - its zone is told or declared
        except ValueError:
            continue
        found.add(_of_clock(clock, _precision_of(one), habits.zone))
    if len(found) > 1:
        ambiguous("it is another day under each of the declared formats")
    return found.pop() if found else None


def _precision_of(form: str) -> Precision:
    """Give how precisely a format of `strptime` says a time."""
    signs = set(re.findall(r"%(.)", form))
    if signs & set("cfXS"):
        return "microsecond" if "f" in signs else "second"
    if signs & set("MHI"):
        return "minute"
    return "day" if signs & set("djxD") else "month" if signs & set("mbB") else "year"


def _of_clock(clock: datetime, precision: Precision, zone: str) -> Moment:
    if precision in CALENDAR:
        return calendar(clock.date(), precision, zone)
    away = clock.utcoffset()
    bare = clock.replace(tzinfo=None)
    if away is None:
        return placed(bare, precision, "", zone)
    return placed(bare - away, precision, "Z", zone)


def _in_words(text: str, habits: Habits) -> Moment:
    _check(text, habits.locale)
    order = _day_first(habits.locale) if habits.locale else None
    found = {_parsed(text, one, habits) for one in ((True, False) if order is None else (order,))}
    if len(found) > 1:
        ambiguous("day and month could be either", "Declare the attribute's locale, or its formats")
    return found.pop()


def _check(text: str, locale: str) -> None:
    if _TWO_DIGITS.fullmatch(text):
        ambiguous("its year has two digits", "Write all four of them, or declare formats")
    named = _NAMED.fullmatch(text[:LONGEST])
    if len(text) > LONGEST or not (named or _NUMBERS.fullmatch(text)):
        malformed("it is no date")
    month = _names(locale).month
    if named and sum(bool(month(one)) for one in _words(named["date"])) != 1:
        malformed("it has no month of a name that is known")


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text)


def _parsed(text: str, day_first: bool, habits: Habits) -> Moment:  # noqa: FBT001 - one of both
    blank, other = (_read(text, day_first, habits.locale, one) for one in _BLANKS)
    told = {one for one in _COUNTED if getattr(blank, one) == getattr(other, one)}
    precision = _told(told, blank)
    digits = {int(one) for one in re.findall(r"\d+", text)}
    if blank.year not in digits or ("day" in told and blank.day not in digits):
        malformed("it does not say which day")
    pair = _PAIR.match(text)
    if pair and habits.locale and blank.day != int(pair[1 if day_first else 2]):
        malformed(f"it is no date as {habits.locale} writes them")
    return _of_clock(blank, precision, habits.zone)


def _told(told: set[str], clock: datetime) -> Precision:
    if "year" not in told:
        malformed("it does not say which year")
    if "hour" in told:
        if not {"month", "day"} <= told:
            malformed("it says a time of day, and not which day")
        if "second" not in told:
            return "minute"
        return "microsecond" if clock.microsecond else "second"
    if "day" in told:
        return "day" if "month" in told else malformed("it says a day, and not which month")
    return "month" if "month" in told else "year"


def _read(text: str, day_first: bool, locale: str, blank: datetime) -> datetime:  # noqa: FBT001 - one of both
    try:
        from dateutil.parser import parse
    except ImportError:
        raise lacking("python-dateutil") from None
    info = _names(locale)
    try:
        clock: datetime = parse(text, info, default=blank, dayfirst=day_first, tzinfos=_zone)
    except NoTime:
        raise
    except (ValueError, OverflowError, TypeError, ArithmeticError):
        return malformed("it is no date")
    days = {info.weekday(word) for word in _words(text)} - {None}
    if days - {clock.weekday()}:
        malformed("it was another day of the week")
    return clock


def _zone(name: str | None, offset: int | None) -> tzinfo | None:
    if offset is None and name is None:
        return None
    if offset is None:
        raise NoTime("its zone is an abbreviation, which several zones share", ambiguous=True)
    from dateutil.tz import tzoffset

    zone: tzinfo = tzoffset(None, timedelta(seconds=offset))
    return zone


@lru_cache(maxsize=64)
def _day_first(locale: str) -> bool:
    pattern: str = locale_of(locale).date_formats["short"].pattern
    return pattern.find("d") < pattern.find("M")


@lru_cache(maxsize=64)
def _names(locale: str) -> parserinfo:
    """Give dateutil names of months and days, in English, Portuguese and as the locale has them."""
    from dateutil.parser import parserinfo

    own = _months(locale) if locale else [()] * 12
    taken = {name for names in own for name in names}
    others = zip(parserinfo.MONTHS, _months("pt"), strict=True)
    named = [{one for one in (*en, *pt) if one.lower() not in taken} for en, pt in others]
    tables = {
        "MONTHS": [(*one, *more) for one, more in zip(own, named, strict=True)],
        "WEEKDAYS": [(*en, *pt) for en, pt in zip(parserinfo.WEEKDAYS, _WEEKDAYS, strict=True)],
        "JUMP": [*parserinfo.JUMP, "de", "do", "da", "del", "dia", "às", "as", "º", "feira"],
    }
    return type("Names", (parserinfo,), tables)()


def _months(locale: str) -> list[tuple[str, ...]]:
    months = locale_of(locale).months
    names = [months[where][how] for where in months for how in ("wide", "abbreviated")]
    return [tuple({one[month].lower().rstrip(".") for one in names}) for month in range(1, 13)]
