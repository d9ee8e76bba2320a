"""`pointsman report`: two deciders held against each other at one decision point."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ... import certificates
from ...discovery import discover
from ...errors import SetupError
from ...points import DecisionPoint, find, suffix_of
from ...settings import CURRENT, EXPERIMENT, PREFIX, Settings
from ...trials import WHOLE, Arm, arms_of, is_split
from .. import screen
from ..journal.opening import journal_of
from ..journal.times import moment
from ..session import Session

if TYPE_CHECKING:
    from ...certificates import Thresholds
    from ...evaluation.comparison.report import Report
    from ...journal.store import Store


class Split(NamedTuple):
    """The split that is looked at: its id, None for the one seen last, and arm → share."""

    experiment: str | None
    shares: Mapping[str, float]


def report(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    point: Annotated[str, typer.Argument(help="Decision point: ROUTER.")],
    *,
    a: Annotated[str, typer.Option("--a", help="Who decides today.")] = CURRENT,
    b: Annotated[
        str | None, typer.Option("--b", help="Who might; absent: who answered most beside it.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="From then on: 7d, 2026-11-30.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Up to then.")] = None,
    risk: Annotated[
        float | None,
        typer.Option(
            min=0.001, max=0.5, help="Errors allowed of what is decided; absent: as certified."
        ),
    ] = None,
    effect: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Least difference that matters, as a share.")
    ] = 0.02,
    thresholds: Annotated[
        Path | None, typer.Option(help="Certificates; absent: DECISION_THRESHOLDS.")
    ] = None,
    experiment: Annotated[
        str | None, typer.Option(help="Id of the split; absent: the one that is set.")
    ] = None,
    shares: Annotated[
        str | None, typer.Option(help="Its shares, current:90,jev:10; absent: as recorded.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page there, too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two deciders: who agrees, who is right, at what risk, time and cost."""
    from ...evaluation.comparison.report import Wanted, compare

    session: Session = ctx.obj
    now, named = time.time(), suffix_of(point)
    _two(a, b)
    settings = Settings.gathered(dict(os.environ), session.env_file)
    declared = _declared(session, settings, named)
    name = named if declared is None else declared.name
    planned = _planned(settings, declared, named)
    split = _split(planned, experiment, shares)
    held = _thresholds(settings, thresholds)
    with journal_of(ctx) as store:
        wanted = Wanted(
            point=name,
            a=a,
            b=b,
            alpha=risk,
            effect=effect,
            thresholds=held,
            experiment=split.experiment,
            shares={} if shares is None else split.shares,
            set=split.shares,
            running=None if planned is None else planned.experiment,
            declared=declared,
        )
        trails = store.trails(
            point=name,
            since=None if since is None else moment(since, "--since", now),
            until=None if until is None else moment(until, "--until", now),
        )
        made = compare(trails, wanted)
        _comparable(made, store, b)
        _known(made, experiment)
    _shown(made, html, as_json=as_json)


def _declared(session: Session, settings: Settings, name: str) -> DecisionPoint | None:
    """Find the point's declaration; a journal may hold points that nobody declares any more."""
    if not session.own:
        return find(name, session.gateway(keeps=False).points)
    return find(name, discover(settings.globals.allowed).points)


def _planned(settings: Settings, declared: DecisionPoint | None, name: str) -> Split | None:
    """Say which split the variables set; None where they set none."""
    if declared is not None:
        plan = settings.plan(declared)
        return Split(plan.experiment, _weights(plan.arms)) if plan.arms else None
    group = settings.points.get(name)
    if group is None or group.provider is None or not is_split(group.provider):
        return None
    return Split(group.experiment or EXPERIMENT, _weights(arms_of(group.provider)))


def _weights(arms: Sequence[Arm]) -> Mapping[str, float]:
    return {arm.provider: arm.weight / WHOLE for arm in arms}


def _split(planned: Split | None, experiment: str | None, shares: str | None) -> Split:
    """
    Read which split is looked at; options go before variables.

    Raises:
        SetupError: `--shares` is no split.

    """
    if shares is not None:
        try:
            weights = _weights(arms_of(shares))
        except ValueError as error:
            raise SetupError.of("--shares", f"{shares!r}: {error}", "Correct it") from None
        return Split(experiment or (None if planned is None else planned.experiment), weights)
    if planned is None or experiment not in (None, planned.experiment):
        return Split(experiment, {})
    return planned


def _thresholds(settings: Settings, given: Path | None) -> Thresholds:
    """
    Read the certificates.

    Raises:
        SetupError: The file cannot be read.

    """
    if given is None:
        path = settings.globals.thresholds
        return certificates.Thresholds() if path is None else certificates.read(path)
    return certificates.read(given, "--thresholds")


def _two(a: str, b: str | None) -> None:
    """
    Make sure that two are named.

    Raises:
        SetupError: Both are the same.

    """
    if a == b:
        problem = f"{b} is held against itself"
        raise SetupError.of("--b", problem, "Name another one, or leave --b out")


def _known(made: Report, experiment: str | None) -> None:
    """
    Make sure that the split that is asked for assigned decisions.

    Raises:
        SetupError: It did not, in that time.

    """
    if experiment is not None and experiment not in made.experiments:
        there = ", ".join(f"{name} ({count:,})" for name, count in made.experiments.items())
        fix = f"Splits that did: {there}" if there else "No split did; leave --experiment out"
        problem = f"no decision of {made.point} in that time was assigned by split {experiment!r}"
        raise SetupError.of("--experiment", problem, fix)


def _comparable(made: Report, store: Store, b: str | None) -> None:
    """
    Make sure that there is something to compare.

    Raises:
        SetupError: No decision, or nobody beside whoever decides today.

    """
    if not made.decisions:
        there = ", ".join(f"{name} ({count:,})" for name, count in store.points().items())
        fix = f"It holds: {there}" if there else "Decisions are recorded as your program runs"
        raise SetupError.of(made.point, "the journal holds no decision of it in that time", fix)
    answered = {one.provider: one.asked for one in made.efforts}
    if made.split is None and not answered.get(made.a) and made.b:
        problem = f"{made.a} has answered none of its {made.decisions:,} decisions"
        others = ", ".join((made.b, *made.others))
        raise SetupError.of(made.point, problem, f"Say with --a who decides today: {others}")
    if not answered.get(made.b):
        who = "nobody else has" if b is None else f"{b} has not"
        problem = f"{who} answered any of its {made.decisions:,} decisions"
        ways = f"Set {PREFIX}{made.point}_SHADOW, or ask about them again with `pointsman replay`"
        raise SetupError.of(made.point, problem, ways)


def _shown(made: Report, html: Path | None, *, as_json: bool) -> None:
    from .page import page_of
    from .screen import show

    if html is not None:
        html.write_text(page_of(made), "utf-8")
        screen.note(f"Written: {html}")
    if as_json:
        screen.data(made)
    else:
        show(made)
