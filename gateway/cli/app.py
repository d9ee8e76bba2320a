"""The command's frame: global options, sub-commands of our own and of plug-ins, errors."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from ..discovery import discover
from ..errors import DeclarationError, Fault, HumanNeeded, JournalDown, NoAnswer, SetupError
from ..settings import Settings
from . import USAGE, screen
from .ask import ask
from .calibration.command import app as calibrate
from .comparison.command import report
from .doctor import doctor
from .inbox.command import inbox
from .journal.command import journal
from .keys.command import keys
from .mcp import mcp
from .points import points
from .replay import replay_vectors
from .replaying.command import replay
from .run import run
from .serve import serve
from .session import Session, default_env_file, readable


class Commands(TyperGroup):
    """Our own sub-commands and those that plug-ins offer; what they raise is printed readably."""

    _offered: dict[str, Any] | None = None

    def main(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - Typer's own signature
        """Run; every fault is told with what to do about it, and no traceback."""
        try:
            return super().main(*args, **kwargs)
        except SetupError as error:
            screen.faults(error.faults)
        except DeclarationError as error:
            screen.note(("✗ ", screen.BAD), str(error))
        except (NoAnswer, HumanNeeded, JournalDown) as error:
            screen.note(("✗ ", screen.BAD), str(error))
            sys.exit(1)
        except OSError as error:  # a full disk, a closed pipe: no fault of the program
            where = str(error.filename or "the output")
            screen.note(("✗ ", screen.BAD), f"{where}: {error.strerror or error}")
        sys.exit(USAGE)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's context has no public base
        """Name all sub-commands, our own first."""
        own = super().list_commands(ctx)
        return [*own, *sorted(name for name in self._all(ctx) if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - the same
        """Give a sub-command; a plug-in's is loaded when it is needed."""
        return super().get_command(ctx, cmd_name) or self._all(ctx).get(cmd_name)

    def _all(self, ctx: Any) -> dict[str, Any]:  # noqa: ANN401 - the same
        if self._offered is None:
            self._offered = _offered(ctx.params.get("env_file"))
        return self._offered


def _offered(env_file: Path | None) -> dict[str, Any]:
    """Load the sub-commands of plug-ins; one that is broken costs a warning and no more."""
    file = _file(env_file)
    plugins = discover(Settings.read(None, file).globals.allowed)
    broken = dict(plugins.broken)
    commands: dict[str, Any] = {}
    for name, make in plugins.commands.items():
        try:
            commands[name] = get_command(make())
        except Exception as error:  # noqa: BLE001 - a stranger's command may raise anything
            broken[name] = type(error).__name__
    fix = "Repair or uninstall it, or leave it out of DECISION_PLUGINS"
    told = [Fault(name, f"cannot be loaded ({why})", fix) for name, why in broken.items()]
    if told:
        screen.faults(told, "!", screen.OTHER)
    return commands


def _file(env_file: Path | None) -> Path | None:
    file = env_file or default_env_file()
    return None if file is None else readable(file)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - an option's callback
    if wanted:
        typer.echo(f"pointsman {version('pointsman')}")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    env_file: Annotated[
        Path | None, typer.Option(help="File of variables; absent: .env, if there is one.")
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(metavar="MODULE:GATEWAY", help="Use the gateway of your own program."),
    ] = None,
    *,
    _show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Decide who decides, one decision point at a time."""
    ctx.obj = Session(_file(env_file), app)


for command in (points, ask, run, serve, mcp, replay, replay_vectors, report, doctor):
    app.command()(command)
for name, family in {
    "calibrate": calibrate,
    "inbox": inbox,
    "journal": journal,
    "keys": keys,
}.items():
    app.add_typer(family, name=name)
