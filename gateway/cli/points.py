"""`pointsman points`: every point, who decides it, and the variable that said so."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from ..errors import Fault, SetupError, raise_all
from ..points import DecisionPoint, find, suffix_of
from ..settings import CURRENT, Plan
from . import USAGE, screen
from .explaining import explained
from .listing import listed
from .markdown import page
from .session import Session

if TYPE_CHECKING:
    from ..gateway import Gateway


def points(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(help="One point; absent: all of them.")] = None,
    *,
    explain: Annotated[
        bool, typer.Option(help="Show questions, chain and every variable.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a page that describes what is declared.")
    ] = False,
) -> None:
    """Show every decision point: who decides, from which confidence on, and why."""
    session: Session = ctx.obj
    gateway = session.gateway(keeps=False)
    shown = [known(gateway, name)] if name else list(gateway.points.values())
    if markdown and as_json:
        raise SetupError.of("--markdown", "there is --json too", "Give one of them")
    if markdown:
        screen.plain(page(shown))
        return
    plans = [(point, gateway.plan(point)) for point in shown]
    odd, wrong = checked(session, gateway)
    if as_json:
        screen.data({"points": [_as_data(*one) for one in plans], "warnings": [*wrong, *odd]})
    elif explain:
        for point, plan in plans:
            explained(session, gateway, point, plan)
    else:
        _listed(session, gateway, plans)
    if not as_json:
        screen.faults(wrong)
        screen.faults(odd, "!", screen.OTHER)
    if wrong:
        raise typer.Exit(USAGE)


def known(gateway: Gateway, name: str) -> DecisionPoint:
    """
    Find a declared point by name.

    Raises:
        SetupError: There is none; the nearest name is suggested.

    """
    suffix, there = suffix_of(name), gateway.points
    found = find(suffix, there)
    if found is not None:
        if suffix not in found.aliases and suffix not in there:
            _stands_for(found)
        return found
    near = difflib.get_close_matches(suffix, there, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    problem = "there is no such decision point"
    fix = f"{hint}There are: {', '.join(there)}. Your own are known with --app module:gateway"
    raise SetupError.of(name, problem, fix)


def _stands_for(found: DecisionPoint) -> None:
    """Say that a generic point answers to this name, in case that another was meant."""
    told = "no point of its own: the generic questions of its kind are asked."
    screen.note(("! ", screen.OTHER), f"{found.name}: {told}")


Checked: TypeAlias = tuple[list[Fault], list[Fault]]
"""What is odd, and what is wrong."""


def checked(session: Session, gateway: Gateway) -> Checked:
    """Check the gateway; what an option of this very command sets is none of its faults."""

    def others(faults: Iterable[Fault]) -> list[Fault]:
        return [fault for fault in faults if fault.where not in session.options]

    try:
        return others(gateway.check()), []
    except SetupError as error:
        return [], others(error.faults)


def warned(session: Session, gateway: Gateway) -> None:
    """
    Tell what is odd, before anything is asked.

    Raises:
        SetupError: Something is wrong.

    """
    odd, wrong = checked(session, gateway)
    screen.faults(odd, "!", screen.OTHER)
    raise_all(wrong)


def _as_data(point: DecisionPoint, plan: Plan) -> dict[str, Any]:
    return {
        "point": point.name,
        "chain": point.names,
        "provider": plan.provider,
        "minimum": plan.gate.minimum,
        "scale": plan.gate.scale,
        "fallback": plan.fallback,
        "deadline": plan.deadline,
        "cache_seconds": plan.cache_seconds,
        "inbox_wait_seconds": plan.inbox_wait,
        "calculates": point.current is not None,
        "host_minimum": None if point.host is None else point.host.value,
        "shares": None if point.share is None or point.share.alone else point.share.group,
        "why": plan.why,
    }


def _listed(session: Session, gateway: Gateway, plans: list[tuple[DecisionPoint, Plan]]) -> None:
    listed(plans)
    current = [point for point, plan in plans if plan.provider == CURRENT]
    if current:
        own = any(point.current is not None for point in current)
        calculated = " A point with a calculator of its own needs neither." if own else ""
        screen.note((f"{_about_current(session, gateway)}{calculated}", screen.FAINT))


def _about_current(session: Session, gateway: Gateway) -> str:
    if not session.own:
        return "current: the function that your program wraps."
    name = gateway.provider(CURRENT).name
    return (
        f"current: what a program runs today. No program is wrapped here, so {name} stands in "
        "(CURRENT_PROVIDER)."
    )
