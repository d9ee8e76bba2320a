"""`pointsman points`: every point, who decides it, and the variable that said so."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.text import Text

from ..errors import Fault, SetupError, raise_all
from ..points import DecisionPoint, suffix_of
from ..questions import Choice, Predicate, Question, Score
from ..settings import CURRENT, DEFAULT, PREFIX, Plan
from . import USAGE, screen
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
) -> None:
    """Show every decision point: who decides, from which confidence on, and why."""
    session: Session = ctx.obj
    gateway = session.gateway()
    shown = [known(gateway, name)] if name else list(gateway.points.values())
    plans = [(point, gateway.plan(point)) for point in shown]
    odd, wrong = checked(session, gateway)
    if as_json:
        screen.data({"points": [_as_data(*one) for one in plans], "warnings": [*wrong, *odd]})
    elif explain:
        for point, plan in plans:
            _explained(session, gateway, point, plan)
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
    if suffix in there:
        return there[suffix]
    near = difflib.get_close_matches(suffix, there, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    problem = "there is no such decision point"
    fix = f"{hint}There are: {', '.join(there)}. Your own are known with --app module:gateway"
    raise SetupError.of(name, problem, fix)


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
        "why": plan.why,
    }


def _listed(session: Session, gateway: Gateway, plans: list[tuple[DecisionPoint, Plan]]) -> None:
    listed = screen.table("decision point", "who decides", "believed from")
    for point, plan in plans:
        style = "" if plan.provider == CURRENT else screen.GOOD
        listed.add_row(
            Text(point.name, "bold"),
            _decided(plan.provider, plan.why["provider"], style),
            _decided(f"{plan.gate.minimum:.2f}", plan.why["minimum"]),
        )
    if screen.fits(listed):
        screen.out().print(listed)
    else:
        _stacked(plans)
    if any(plan.provider == CURRENT for _, plan in plans):
        screen.note((_about_current(session, gateway), screen.FAINT))


def _stacked(plans: list[tuple[DecisionPoint, Plan]]) -> None:
    """List points one below the other, where their variables' names are too long for a table."""
    for point, plan in plans:
        style = "" if plan.provider == CURRENT else screen.GOOD
        screen.line((point.name, "bold"))
        for title, value, field, how in (
            ("who decides", plan.provider, "provider", style),
            ("believed from", f"{plan.gate.minimum:.2f}", "minimum", ""),
        ):
            why = (f"  {plan.why[field]}", screen.FAINT)
            screen.line((f"  {title:<15}", screen.FAINT), (value, how), why)


def _decided(value: str, variable: str, style: str = "") -> Text:
    gap = "\n" if variable != DEFAULT else "  "
    return Text.assemble((value, style), (f"{gap}{variable}", screen.FAINT))


def _about_current(session: Session, gateway: Gateway) -> str:
    if not session.own:
        return "current: the function that your program wraps."
    name = gateway.provider(CURRENT).name
    return (
        f"current: what a program runs today. No program is wrapped here, so {name} stands in "
        "(CURRENT_PROVIDER)."
    )


def _explained(session: Session, gateway: Gateway, point: DecisionPoint, plan: Plan) -> None:
    language = gateway.settings.globals.language
    screen.line((point.name, "bold"))
    screen.pairs(_facts(session, gateway, point, plan))
    for name, question in point.spoken(language).items():
        _question(point, name, question)
    screen.line()


def _facts(
    session: Session, gateway: Gateway, point: DecisionPoint, plan: Plan
) -> list[tuple[str, str | Text]]:
    def because(value: str, field: str) -> Text:
        variable = plan.why[field]
        origin = session.origin(gateway, variable)
        return Text.assemble(value, (f"   {variable}{f' ({origin})' if origin else ''}", "dim"))

    deadline = "none" if plan.deadline is None else f"{plan.deadline:g} s"
    return [
        ("who decides", because(plan.provider, "provider")),
        ("believed from", because(f"{plan.gate.minimum:.2f} {plan.gate.scale}", "minimum")),
        ("falls back", because("to current, once" if plan.fallback else "no", "fallback")),
        ("deadline", because(deadline, "deadline")),
        ("asked in order", " → ".join(_order(point))),
        ("reads", ", ".join(point.reads) or "the whole state"),
        ("in doubt", "no outcome" if point.undecided is None else _word(point.undecided)),
    ]


def _order(point: DecisionPoint) -> list[str]:
    named = [f"{PREFIX}{name}_PROVIDER" for name in point.names]
    return [*named, *([] if point.internal else [f"{PREFIX}PROVIDER"]), CURRENT]


def _question(point: DecisionPoint, name: str, question: Question) -> None:
    out = screen.out()
    out.print(Text.assemble((f"  {type(question).__name__} ", "dim"), (name, "bold")))
    out.print(Text(f"  {question.instructions}"))
    screen.pairs((f"    {key}", text) for key, text in _outcomes(question))
    if name in point.options:
        source = point.options[name]
        shape = f'[{{"{source.name}": …, "{source.description}": …}}, …]'
        screen.line((f"    and those of the state's {source.field!r}: {shape}", screen.FAINT))


def _outcomes(question: Question) -> list[tuple[str, str]]:
    match question:
        case Choice(options=options, sentinel=sentinel):
            return [
                (key, f"{text}{'  (sentinel)' if key == sentinel else ''}")
                for key, text in options.items()
            ]
        case Predicate(true=true, false=false):
            return [pair for pair in (("true", true), ("false", false)) if pair[1]]
        case Score(levels=levels, low=low, high=high):
            return [("from … to", f"{low:g} … {high:g}"), ("levels", ", ".join(levels))]


def _word(value: Any) -> str:  # noqa: ANN401 - an option, a truth, a number
    return str(value).lower() if isinstance(value, bool) else str(value)
