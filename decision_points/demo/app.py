"""The sub-command `demo`: three passes over one conversation, one variable changed each time."""

from __future__ import annotations

from typing import Annotated

import typer
from msgspec.structs import replace

from ...gateway.cli.session import Session
from ...gateway.environment import Environment
from ...gateway.errors import SetupError
from ...gateway.settings import CURRENT
from . import show
from .conversation import Turn, conversation
from .desk import Desk, Replay
from .passes import POINTS, VARIABLE, down, switched, tally

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    ctx: typer.Context,
    provider: Annotated[
        str, typer.Option(help="Who takes over in the second pass; configured as usual.")
    ] = "local",
) -> None:
    """Watch a service desk's decisions change hands. Needs no key and no network."""
    session = ctx.obj if isinstance(ctx.obj, Session) else Session()
    values = Environment.read(None, session.env_file).values
    other = _desk(switched(values, provider))  # what is wrong with it is told before anything else
    turns = conversation()
    show.opening(len(turns), len({turn.customer for turn in turns}))
    first = _today(turns)
    second = _switched(turns, first, other, provider)
    _down(turns, first)
    _next(first, second, provider)


def _desk(variables: dict[str, str]) -> Desk:
    """
    Set up the desk of the second pass.

    Raises:
        SetupError: The provider is not there; the option is named, not the variable behind it.

    """
    try:
        return Desk(variables)
    except SetupError as error:
        named = [
            replace(one, where="--provider") if one.where == VARIABLE else one
            for one in error.faults
        ]
        raise SetupError(*named) from None


def _today(turns: list[Turn]) -> Replay:
    show.heading(1, "Today's functions decide", f"{VARIABLE}=current")
    first = Desk({}).replay(turns)
    show.first_pass(first)
    return first


def _switched(turns: list[Turn], first: Replay, other: Desk, provider: str) -> Replay:
    show.heading(2, "One variable is changed, and no line of the desk", f"{VARIABLE}={provider}")
    then = other.replay(turns)
    show.switch(first, then, provider)
    if provider != CURRENT:
        show.say(
            "An answer counts from confidence 0.70 on; below that your function decides, once. "
            f"{provider} is asked everywhere, and believed only where it is sure."
        )
    show.routed(first, then, provider)
    show.languages(first, then, provider)
    return then


def _down(turns: list[Turn], first: Replay) -> None:
    show.heading(3, "The new provider is down", f"{VARIABLE}=jev, at a port where nobody listens")
    show.fallen(first, Desk(down()).replay(turns))
    show.say(
        "After five failures in a row the breaker opens: the provider is left alone for half a "
        "minute, and nobody waits for it."
    )


def _next(first: Replay, second: Replay, provider: str) -> None:
    counted = {point: tally(first, second, point) for point in POINTS}
    better = [point for point, one in counted.items() if one.after > one.before]
    worse = [point for point, one in counted.items() if one.after < one.before]
    show.closing(better, worse, provider)
