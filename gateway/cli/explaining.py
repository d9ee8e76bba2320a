"""`pointsman points --explain`: one point, whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from . import describing, screen

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..gateway import Gateway
    from ..points import DecisionPoint
    from ..questions import Question
    from ..settings import Plan
    from .session import Session


def explained(session: Session, gateway: Gateway, point: DecisionPoint, plan: Plan) -> None:
    """Print who decides *point* and why, what it may be answered, and what follows in doubt."""
    language = gateway.settings.globals.language
    screen.line((point.name, "bold"))
    screen.pairs(
        (title, value)
        for title, value in (*_planned(session, gateway, plan), *_declared(point))
        if str(value)
    )
    for name, question in point.spoken(language).items():
        _question(point, name, question)
    screen.line()


def _planned(session: Session, gateway: Gateway, plan: Plan) -> list[tuple[str, str | Text]]:
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
        *_kept(plan, because),
        *_waited(plan, because),
    ]


def _kept(plan: Plan, because: Callable[[str, str], Text]) -> list[tuple[str, str | Text]]:
    if plan.cache_seconds is None:
        return []
    return [("answers kept", because(f"{plan.cache_seconds:g} s", "cache"))]


def _waited(plan: Plan, because: Callable[[str, str], Text]) -> list[tuple[str, str | Text]]:
    if not plan.inbox_wait:
        return []
    return [("a person", because(f"is waited for, {plan.inbox_wait:g} s", "inbox_wait"))]


def _declared(point: DecisionPoint) -> list[tuple[str, str | Text]]:
    return [
        ("asked in order", " → ".join(describing.order(point))),
        ("names", describing.names(point, str)),
        ("reads", ", ".join(point.reads) or "the whole state"),
        ("current", describing.current(point)),
        ("the host's own", describing.host(point)),
        ("shares", describing.shares(point, str)),
        ("in doubt", describing.in_doubt(point)),
    ]


def _question(point: DecisionPoint, name: str, question: Question) -> None:
    out = screen.out()
    out.print(Text.assemble((f"  {describing.kind(question)} ", "dim"), (name, "bold")))
    screen.pairs([("", question.instructions)])
    told = describing.conditions(point, name, question, repr)
    screen.pairs(("", Text(one, screen.FAINT)) for one in told)
    none = describing.sentinel(question)
    screen.pairs(
        (f"    {key}", f"{text}{'  (sentinel)' if key == none else ''}".strip())
        for key, text in describing.outcomes(question)
    )
