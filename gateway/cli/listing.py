"""`pointsman points`: many points, one line each where the width allows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from ..settings import CURRENT, DEFAULT
from . import screen

if TYPE_CHECKING:
    from ..points import DecisionPoint
    from ..settings import Plan

Planned: TypeAlias = "tuple[DecisionPoint, Plan]"

TITLES = ("decision point", "who decides", "believed from", "set by")
GAP = "  "
LONGEST = 36  # of a name that shares its line with the rest


def listed(plans: Sequence[Planned]) -> None:
    """Print *plans*, parted by family."""
    width = screen.out().width
    names = [point.name for point, _ in plans if len(point.name) <= LONGEST]
    columns = (
        max(map(len, (*names, TITLES[0]))),
        max(len(one) for one in (TITLES[1], *(plan.provider for _, plan in plans))),
        len(TITLES[2]),
    )
    room = width - sum(columns) - len(GAP) * len(columns)
    if room < len(DEFAULT):
        _stacked(plans)
        return
    titles = [f"{title:<{size}}" for title, size in zip(TITLES, columns, strict=False)]
    screen.line((GAP.join([*titles, TITLES[3]]), "bold"))
    for number, family in enumerate(_families(plans)):
        if number:
            screen.line()
        for point, plan in family:
            _row(point, plan, columns, room)


def _families(plans: Sequence[Planned]) -> Iterator[Sequence[Planned]]:
    """Part points where a run of names that begin with one word begins or ends."""
    runs = [[*run] for _, run in groupby(plans, lambda one: one[0].name.partition("_")[0])]
    for alone, several in groupby(runs, lambda run: len(run) == 1):
        near = [*several]
        yield from [[one for run in near for one in run]] if alone else near


def _row(point: DecisionPoint, plan: Plan, columns: Sequence[int], room: int) -> None:
    name, who, least = columns
    style = "" if plan.provider == CURRENT else screen.GOOD
    if len(point.name) > name:  # it has a line of its own, so that the others stay narrow
        screen.line((point.name, "bold"))
    title = "" if len(point.name) > name else point.name
    variables = list(dict.fromkeys((plan.why["provider"], plan.why["minimum"])))
    set_by = [one for one in variables if one != DEFAULT] or [DEFAULT]
    inline = sum(map(len, set_by)) + len(GAP) * (len(set_by) - 1) <= room
    screen.line(
        (f"{title:<{name}}{GAP}", "bold"),
        (f"{plan.provider:<{who}}{GAP}", style),
        f"{plan.gate.minimum:.2f}".ljust(least),
        (f"{GAP}{GAP.join(set_by)}" if inline else "", screen.FAINT),
    )
    for variable in () if inline else set_by:
        screen.line((f"{GAP}{variable}", screen.FAINT))


def _stacked(plans: Iterable[Planned]) -> None:
    """List points one below the other, where even their names are too long for a line."""
    for point, plan in plans:
        style = "" if plan.provider == CURRENT else screen.GOOD
        screen.line((point.name, "bold"))
        for title, value, field, how in (
            ("who decides", plan.provider, "provider", style),
            ("believed from", f"{plan.gate.minimum:.2f}", "minimum", ""),
        ):
            why = (f"  {plan.why[field]}", screen.FAINT)
            screen.line((f"  {title:<15}", screen.FAINT), (value, how), why)
