"""`pointsman debate`: what happened in a deliberation, read from its transcript."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from ....gateway.cli import screen
from ....gateway.errors import SetupError
from ..chain import verified
from ..replaying import rerun
from .showing import show_entries, summed
from .telling import short

app = typer.Typer(
    name="debate",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Read, check and run again what a committee or a debate wrote down.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[Path, typer.Argument(help="A transcript.")]
Json = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


@app.command()
def show(
    file: File,
    *,
    full: Annotated[bool, typer.Option("--full", help="Everything that was said.")] = False,
    as_json: Json = False,
) -> None:
    """Show who said what and when, how far they agreed, and why it stopped."""
    entries = verified(file, cut=True)
    if as_json:
        screen.data(summed(entries))
    else:
        show_entries(entries, full=full)


@app.command()
def verify(file: File, *, as_json: Json = False) -> None:
    """Check that a transcript is as it was written, line by line."""
    entries = verified(file)
    ended = entries[-1].kind == "footer"
    if as_json:
        screen.data({"entries": len(entries), "ended": ended, "hash": entries[-1].hash})
        return
    how = "to its end" if ended else "and it was broken off"
    screen.line(("✓ ", screen.GOOD), f"{len(entries)} entries, as they were written, {how}")
    screen.line((f"  {entries[-1].hash}", screen.FAINT))


@app.command()
def replay(
    file: File,
    *,
    about: Annotated[
        Path | None,
        typer.Option(
            help="JSON, where the transcript has only its hash: the state; of compare-arms, "
            "an object of `subject` (the item's id) and `state`."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a deliberation again from its transcript, asking nobody, and compare the endings."""
    again = asyncio.run(rerun(file, None if about is None else _read(about)))
    if as_json:
        screen.data({"same": again.same, "differs": again.differs, "unused": again.unused})
    elif again.same:
        screen.line(("✓ ", screen.GOOD), "it comes to the same")
    else:
        screen.line(("✗ ", screen.BAD), "it comes to something else")
        screen.pairs((name, _both(again.recorded, again.again, name)) for name in again.differs)
        for one in again.unused:
            screen.line(("  not come to again: ", screen.FAINT), one)
    if not again.same:
        raise typer.Exit(1)


def _both(recorded: Mapping[str, Any], again: Mapping[str, Any], name: str) -> str:
    return f"{short(recorded.get(name))} then, {short(again.get(name))} now"


def _read(path: Path) -> Any:  # noqa: ANN401 - any JSON
    """
    Read what a deliberation was about.

    Raises:
        SetupError: The file cannot be read, or is no JSON.

    """
    try:
        return msgspec.json.decode(path.read_bytes())
    except OSError as error:
        problem = error.strerror or "it cannot be read"
    except (msgspec.MsgspecError, UnicodeDecodeError):
        problem = "it is no JSON"
    raise SetupError.of(str(path), problem, "Name a file that holds the state as JSON")
