"""How two values of an attribute stand that are not the same: finer, or within its tolerance."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import time
from decimal import Context, Decimal
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ..assertions import Value
from ..files.durations import duration
from ..keys import tidy
from ..times import CALENDAR, DAY, SECOND, Moment, NoTime, end_of, iso
from .money import money_of
from .plainly import table_of
from .showing import NO_VALUES

if TYPE_CHECKING:
    from ..policy import Attribute, Policy

_EXACT: Final = Context(prec=400)  # the digits of two numbers that are as long as any may be
_LENGTHS: Final = {"minute": 60 * SECOND, "second": SECOND, "microsecond": 1}
_NONE: Final[Mapping[str, str]] = {}


def finer(a: Value, b: Value, attribute: Attribute, policy: Policy) -> Value | None:
    """
    Give the one of two values that represents both.

    That is the more precise of two dates, one of which is in the other (RF-84); of two names in a
    declared hierarchy the lower, if the higher is above it (RF-85); of two records the one that
    is finer, or the same, in every field that the other has.

    Returns:
        One of the two; None: they are in conflict.

    """
    if a == b:
        return a
    if a.form != b.form or a.form in NO_VALUES:
        return None
    if _in(a, b, attribute, policy):
        return a
    return b if _in(b, a, attribute, policy) else None


def within(a: Value, b: Value, attribute: Attribute) -> bool:
    """
    Say whether two values are within the attribute's tolerance (RF-83).

    A tolerance in percent is of the larger of the two. It is no equality: of three values the
    first and the last may be further apart.
    """
    if a == b:
        return True
    near = _NEAR.get(a.form)
    if near is None or not attribute.tolerance or a.form != b.form:
        return False
    return near(a.text, b.text, attribute)


def all_within(values: Collection[Value], attribute: Attribute) -> bool:
    """
    Say whether each two of several values are within the attribute's tolerance (RF-83).

    Not all of them are compared: those are that lie furthest apart, and neighbours.
    """
    one, *others = values
    alike = one.form in _NEAR and all(other.form == one.form for other in others)
    if not others or not alike:
        return not others
    return all(
        within(a, b, attribute) for a, b in _FURTHEST.get(one.form, _ends)(values, attribute)
    )


def _ends(values: Collection[Value], attribute: Attribute) -> Iterator[tuple[Value, Value]]:
    """
    Pair the least and the greatest, and each with the next in size, whatever their signs.

    Neighbours show what is of another currency or precision, and of numbers on both sides of zero
    those that are furthest apart for their size, where a tolerance is 100% or more.
    """
    sizes = {value: _size(value, attribute) for value in values}
    yield min(values, key=sizes.__getitem__), max(values, key=sizes.__getitem__)
    yield from pairwise(sorted(values, key=lambda value: sizes[value].copy_abs()))


def _size(value: Value, attribute: Attribute) -> Decimal:
    if value.form == "date":
        return Decimal(_moment(value.text, attribute.zone).start)
    return money_of(value.text).amount if value.form == "money" else Decimal(value.text)


def _opposite(values: Collection[Value], _: Attribute) -> Iterator[tuple[Value, Value]]:
    """Pair each time of day with those next to where the clock shows half a day more."""
    row = sorted(values, key=lambda value: _micros(value.text))
    clocks = [_micros(value.text) for value in row]
    for value, clock in zip(row, clocks, strict=True):
        at = bisect_left(clocks, (clock + DAY // 2) % DAY)
        yield value, row[at % len(row)]
        yield value, row[at - 1]


_FURTHEST: Final = {"time": _opposite}


def _in(a: Value, b: Value, attribute: Attribute, policy: Policy) -> bool:
    """Whether *a* is within *b* or the same."""
    if a == b:
        return True
    if a.form != b.form:
        return False
    if a.form == "date":
        return _date_in(a.text, b.text, attribute.zone)
    if a.form == "record":
        return _record_in(a, b, attribute, policy)
    if attribute.hierarchy:
        tree = policy.hierarchies.get(attribute.hierarchy, _NONE)
        return _below(tidy(a.text), tidy(b.text), tree)
    return False


def _below(name: str, other: str, tree: Mapping[str, str]) -> bool:
    for _ in range(len(tree)):
        above = tree.get(name)
        if above is None:
            return False
        if above == other:
            return True
        name = above
    return False


def _date_in(a: str, b: str, zone: str) -> bool:
    if len(b) >= len(a):
        return False
    if "T" not in a:
        return a.startswith(f"{b}-")
    start, end = _reach(a, zone)
    first, behind = _reach(b, zone)
    return first <= start and end <= behind


def _record_in(a: Value, b: Value, attribute: Attribute, policy: Policy) -> bool:
    ours, others = table_of(a.text), table_of(b.text)
    return others.keys() <= ours.keys() and all(
        _in(Value(*ours[name]), Value(*others[name]), attribute.fields[name], policy)
        for name in others
    )


@lru_cache(maxsize=4_096)
def _reach(text: str, zone: str) -> tuple[int, int]:
    moment = _moment(text, zone)
    if moment.precision in CALENDAR:
        return moment.start, end_of(moment, zone)
    return moment.start, moment.start + _LENGTHS[moment.precision]


def _moment(text: str, zone: str) -> Moment:
    found = iso(text, zone)
    if found is None:
        raise NoTime("it is no canonical date")
    return found


def _near(a: Decimal, b: Decimal, tolerance: str) -> bool:
    apart = _EXACT.subtract(a, b).copy_abs()
    allowed = Decimal(tolerance.rstrip("% "))
    if tolerance.rstrip().endswith("%"):
        largest = max(a.copy_abs(), b.copy_abs())
        allowed = _EXACT.multiply(allowed.scaleb(-2), largest)
    return apart <= allowed


def _near_numbers(a: str, b: str, attribute: Attribute) -> bool:
    return _near(Decimal(a), Decimal(b), attribute.tolerance or "0")


def _near_money(a: str, b: str, attribute: Attribute) -> bool:
    one, other = money_of(a), money_of(b)
    alike = (one.currency, one.period, one.tax) == (other.currency, other.period, other.tax)
    return alike and _near(one.amount, other.amount, attribute.tolerance or "0")


def _near_dates(a: str, b: str, attribute: Attribute) -> bool:
    one, other = _moment(a, attribute.zone), _moment(b, attribute.zone)
    kinds = {one.precision, other.precision} & {*CALENDAR}
    if kinds and one.precision != other.precision:
        return False
    return abs(one.start - other.start) <= _span(attribute.tolerance or "0s")


def _near_clocks(a: str, b: str, attribute: Attribute) -> bool:
    apart = abs(_micros(a) - _micros(b))
    return min(apart, DAY - apart) <= _span(attribute.tolerance or "0s")


_NEAR: Final[Mapping[str, Callable[[str, str, Attribute], bool]]] = {
    "number": _near_numbers,
    "money": _near_money,
    "date": _near_dates,
    "time": _near_clocks,
}


def _micros(clock: str) -> int:
    shown = time.fromisoformat(clock)
    return ((shown.hour * 60 + shown.minute) * 60 + shown.second) * SECOND


@lru_cache(maxsize=256)
def _span(tolerance: str) -> int:
    return duration(tolerance)
