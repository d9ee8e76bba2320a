"""
Times: microseconds since the epoch inside; at the edge what people and libraries write.

A text is ISO 8601. A day, a month or a year is known no more precisely than that, and starts where
it starts in a zone (RF-44). A time of day without an offset is of the zone too, and where its
clocks are put back there are two of it: none is picked.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final, Literal, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from .assertions import When
from .errors import Refused

Precision: TypeAlias = Literal["year", "month", "day", "minute", "second", "microsecond"]

CALENDAR: Final = ("year", "month", "day")
SECOND: Final = 1_000_000
DAY: Final = 86_400 * SECOND

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - clocks are compared with clocks, offsets apart
_TICK = timedelta(microseconds=1)
_ALIKE = {"seconds": range(10**8, 10**11), "milliseconds": range(10**11, 10**14)}  # to year 5138
_FIX = "Write ISO 8601, as 2026-11-14 or 2026-11-14T12:30-03:00; or a datetime, or microseconds"

_ISO = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:[Tt ](?P<hour>\d\d):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r" ?(?P<zone>[Zz]|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?)?)?)?",
    re.ASCII,
)


class NoTime(ValueError):
    """
    A text is no time.

    Args:
        problem: What is wrong, without the text.
        ambiguous: It is two times, and nothing says which.

    """

    def __init__(self, problem: str, *, ambiguous: bool = False) -> None:
        self.ambiguous = ambiguous
        super().__init__(problem)


class Moment(msgspec.Struct, frozen=True):
    """
    A time as it was written.

    Attributes:
        precision: How precisely.
        start: Its first microsecond since the epoch, in the zone that it was read in.
        day: Its first day, as the calendar of that zone has it.

    """

    precision: Precision
    start: int
    day: date


def now() -> int:
    """Give the time, in microseconds since the epoch."""
    return time.time_ns() // 1_000


def when(given: When | datetime | date | str | float, zone: str = "UTC") -> When:
    """
    Read a time as precisely as it is given.

    Args:
        given: A date or the text of one, a month or a year is the whole of it; a float is seconds
            since the epoch; a whole number microseconds.
        zone: Where days start, and what a time of day without an offset is of.

    Raises:
        Refused: `bad_time`: it is none, or two, or whole seconds or milliseconds by its size.

    """
    if isinstance(given, When):
        return given
    try:
        return _when(given, zone)
    except (NoTime, OverflowError) as error:
        raise Refused("bad_time", str(error) or "it is out of range", _FIX) from None


def instant(given: When | datetime | date | str | float, zone: str = "UTC") -> int:
    """
    Give the first microsecond of a time; see `when`.

    Raises:
        Refused: `bad_time`.

    """
    return when(given, zone).start


def written(moment: When | int, zone: str = "UTC") -> str:
    """Write a time in ISO 8601: a day, a month or a year of *zone* as such, else instants."""
    if isinstance(moment, int):
        return _instant_text(moment, zone)
    if moment.end <= moment.start:
        return _instant_text(moment.start, zone)
    text = _instant_text(moment.start, zone)[:10]
    for length in (4, 7, 10):
        try:
            if when(text[:length], zone) == moment:
                return text[:length]
        except Refused:
            break
    return f"{_instant_text(moment.start, zone)}/{_instant_text(moment.end, zone)}"


def iso(text: str, zone: str = "UTC") -> Moment | None:
    """
    Read ISO 8601, digits behind the sixth of a fraction dropped; None: it looks like none.

    Raises:
        NoTime: It looks like one, and is none or is two.

    """
    found = _ISO.fullmatch(text)
    if found is None:
        return None
    try:
        clock = _clock(found)
    except ValueError:
        raise NoTime("there is no such day or time of day") from None
    if found["hour"] is None:
        named: Precision = "day" if found["day"] else "month" if found["month"] else "year"
        return calendar(clock.date(), named, zone)
    sharp: Precision = "minute" if found["second"] is None else _precision(clock)
    return placed(clock, sharp, found["zone"] or "", zone)


def _clock(found: re.Match[str]) -> datetime:
    year, month, day = (int(found[part] or 1) for part in ("year", "month", "day"))
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    fraction = (found["fraction"] or "")[:6].ljust(6, "0")
    return datetime(year, month, day, hour, minute, second, int(fraction))  # noqa: DTZ001 - its offset is apart


def placed(clock: datetime, precision: Precision, offset: str, zone: str) -> Moment:
    """
    Give the moment at which a *clock* showed what it shows, at an *offset*, or if empty in *zone*.

    Raises:
        NoTime: The clocks of the zone never showed it, or did twice.

    """
    away = _offset(offset) if offset else offset_of(clock, zone)
    if precision == "minute" and away % (60 * SECOND):
        precision = "second"  # in zones of old, whose minutes are not those of UTC
    return Moment(precision, (clock - _EPOCH) // _TICK - away, clock.date())


def calendar(first: date, precision: Precision, zone: str) -> Moment:
    """Give a day, or the month or year that starts with it."""
    return Moment(precision, _midnight(first, zone), first)


def end_of(moment: Moment, zone: str) -> int:
    """Give the microsecond behind the last one of a day, a month or a year."""
    first = moment.day
    if moment.precision == "year":
        last = first.replace(month=12, day=31)
    elif moment.precision == "month":
        behind = first.replace(day=28) + timedelta(days=4) if first.month < 12 else None  # noqa: PLR2004 - December
        last = behind - timedelta(days=behind.day) if behind else first.replace(day=31)
    else:
        last = first
    if last == date.max:
        return _midnight(last, zone) + DAY
    return _midnight(last + timedelta(days=1), zone)


def offset_of(clock: datetime, zone: str) -> int:
    """
    Give how far the clocks of *zone* were ahead of UTC when they showed *clock*, in microseconds.

    Raises:
        NoTime: They never did, or did twice; or there is no such zone.

    """
    place = zone_of(zone)
    once, again = (clock.replace(tzinfo=place, fold=fold).utcoffset() for fold in (0, 1))
    if once is None or again is None or once == again:
        return (once or timedelta()) // _TICK
    if once > again:
        raise NoTime("clocks are put back and showed it twice", ambiguous=True)
    raise NoTime("clocks are put forward and never showed it")


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo:
    """
    Give the zone called *name*, as `America/Sao_Paulo`.

    Raises:
        NoTime: There is none.

    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise NoTime(f"there is no zone {name[:40]!r}") from None


def clock_in(micros: int, zone: str) -> datetime:
    """
    Give what the clocks of *zone* show at a time, with the offset.

    Raises:
        OverflowError: It is before the year 1 or after the year 9999.

    """
    return (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=UTC).astimezone(zone_of(zone))


def _when(given: datetime | date | str | float, zone: str) -> When:
    if isinstance(given, datetime):
        moment = _of_datetime(given, zone)
    elif isinstance(given, date):
        moment = calendar(given, "day", zone)
    elif isinstance(given, str):
        moment = _of_text(given, zone)
    else:
        start = _micros(given)
        return When(start, start)
    if moment.precision in CALENDAR:
        return When(moment.start, end_of(moment, zone))
    return When(moment.start, moment.start)


def _of_text(given: str, zone: str) -> Moment:
    moment = iso(given.strip(), zone)
    if moment is None:
        raise NoTime("it is no time in ISO 8601")
    return moment


def _of_datetime(given: datetime, zone: str) -> Moment:
    clock, offset = given.replace(tzinfo=None), given.utcoffset()
    if offset is None:
        return placed(clock, _precision(clock), "", zone)
    return Moment("second", (clock - _EPOCH) // _TICK - offset // _TICK, clock.date())


def _micros(given: float) -> int:
    if isinstance(given, bool):
        raise NoTime("true and false are no times")
    if isinstance(given, float):
        if given != given or given in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
            raise NoTime("it is no number")
        return round(given * SECOND)
    for unit, alike in _ALIKE.items():
        if given in alike:
            raise NoTime(f"a whole number is microseconds since the epoch; this looks like {unit}")
    return given


def _midnight(day: date, zone: str) -> int:
    clock = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - its offset is apart
    offset = clock.replace(tzinfo=zone_of(zone)).utcoffset() or timedelta()
    return (clock - _EPOCH) // _TICK - offset // _TICK


def _precision(clock: datetime) -> Precision:
    return "microsecond" if clock.microsecond else "second"


def _offset(text: str) -> int:
    if text in "Zz":
        return 0
    digits = text[1:].replace(":", "").ljust(6, "0")
    hours, minutes, seconds = int(digits[:2]), int(digits[2:4]), int(digits[4:])
    if hours > 23 or minutes > 59 or seconds > 59:  # noqa: PLR2004 - of a clock
        raise NoTime("there is no such offset")
    micros = ((hours * 60 + minutes) * 60 + seconds) * SECOND
    return -micros if text[0] == "-" else micros


def _instant_text(micros: int, zone: str) -> str:
    try:
        text = clock_in(micros, zone).isoformat()
    except OverflowError:
        return f"{micros}us"  # the end of the last year that calendars have
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text
