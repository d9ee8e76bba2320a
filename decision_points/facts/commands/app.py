"""`pointsman facts`: what agents and sources say, what it comes to, and what is in dispute."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import typer

from . import changing, comparing, leaving, queue
from .carrying import export, import_
from .loading import load
from .looking import events, explain, get, history, impact, listed
from .opening import Facts

app = typer.Typer(
    cls=Facts,
    name="facts",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Load, read, explain and reconcile what sources say about facts.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: Mapping[str, Callable[..., None]] = {
    "load": load,
    "get": get,
    "list": listed,
    "explain": explain,
    "history": history,
    "disputes": queue.disputes,
    "resolve": queue.resolve,
    "assign": queue.assign,
    "dismiss": queue.dismiss,
    "withdraw": queue.withdraw,
    "retract": changing.retract,
    "what-if": comparing.what_if,
    "adopt": changing.adopt,
    "audit": comparing.audit,
    "verify": comparing.verify,
    "impact": impact,
    "events": events,
    "alias": changing.alias,
    "quarantine": leaving.quarantine,
    "quarantines": leaving.quarantines,
    "lift": leaving.lift,
    "erase": changing.erase,
    "export": export,
    "import": import_,
}

for name, command in COMMANDS.items():
    app.command(name)(command)
