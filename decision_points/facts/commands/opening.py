"""How a command reaches facts: the database, the namespace, and whose word a person's is."""

from __future__ import annotations

import getpass
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from msgspec.structs import replace
from typer.core import TyperGroup

from ....gateway.cli import screen
from ....gateway.cli.beside import HERE
from ....gateway.cli.journal.opening import reached
from ....gateway.cli.session import Session
from ....gateway.environment import Environment
from ....gateway.errors import SetupError
from ....gateway.journaling import JOURNAL
from ..errors import FactsError, Refused
from ..settings import facts_settings
from ..telling import escaped

if TYPE_CHECKING:
    from ..store import FactStore

DB, NAMESPACE = "--db", "--namespace"
SHORT = 12  # digits of an id in a table
TOLD = 500  # characters of an error

Db = Annotated[
    str | None,
    typer.Option(DB, help="Database: a URL or a SQLite file. Absent: DECISION_JOURNAL."),
]
Namespace = Annotated[
    str | None, typer.Option(NAMESPACE, help="Whose facts. Absent: FACTS_NAMESPACE.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Lines = Annotated[bool, typer.Option("--json", help="Print a line of JSON for each.")]
By = Annotated[str | None, typer.Option(help="Who says so; absent: you.")]
Reason = Annotated[str, typer.Option(help="Why, for whoever reads it later.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Key = Annotated[
    str, typer.Argument(metavar="KEY", help="ENTITY/ATTRIBUTE, or E/A?name=value&name=value.")
]
PolicyFile = Annotated[Path | None, typer.Option("--policy", help="TOML that declares attributes.")]
RegistryFile = Annotated[Path | None, typer.Option("--registry", help="TOML that ranks sources.")]


class Facts(TyperGroup):
    """The sub-commands; what facts refuse is told with what to do about it, and no traceback."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's context has no public base
        """Run one."""
        try:
            return super().invoke(ctx)
        except Refused as error:
            told = f" {escaped(error.fix, TOLD)}" if error.fix else ""
            problem = f"{error.code}: {escaped(error.problem, TOLD)}."
            screen.note(("✗ ", screen.BAD), problem, (told, screen.FAINT))
        except FactsError as error:
            screen.note(("✗ ", screen.BAD), escaped(str(error), TOLD))
        raise typer.Exit(1)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """
    What the options of a command say about where facts are.

    Attributes:
        db: A URL or a path; None: what the variables say, else beside the project.
        namespace: Whose facts; None: what the variable says.
        policy: A file of attributes; None: what was adopted.
        registry: A file of sources; None: what was adopted.
        adopt: Files that differ from what was adopted are adopted.

    """

    db: str | None = None
    namespace: str | None = None
    policy: Path | None = None
    registry: Path | None = None
    adopt: bool = False


@contextmanager
def facts_of(ctx: typer.Context, place: Place, *, new: bool = False) -> Generator[FactStore]:
    """
    Lend the facts of a namespace.

    Args:
        ctx: Of the command.
        place: What its options say.
        new: Whether the database may be made; absent: it must be there.

    Raises:
        SetupError: There is none, it cannot be reached, or a variable or file is at fault.

    """
    from ..store import FactStore

    session = ctx.obj if isinstance(ctx.obj, Session) else Session()
    given = facts_settings(None, session.env_file)
    url = place.db or Environment.read(None, session.env_file).values.get(JOURNAL, HERE)
    store = FactStore(
        url if "://" in url else Path(url),
        policy=place.policy,
        registry=place.registry,
        namespace=place.namespace or given.namespace,
        adopt=place.adopt,
    )
    try:
        with store, reached():
            if store.missing and not new:
                raise _none_yet()
            yield store
    except SetupError as error:
        raise SetupError(*(_named(one, place) for one in error.faults)) from None


def _named(fault: Any, place: Place) -> Any:  # noqa: ANN401 - a Fault, replaced
    return replace(fault, where=DB) if place.db and fault.where == JOURNAL else fault


def _none_yet() -> SetupError:
    problem = "there are no facts yet"
    fix = "`pointsman facts load FILE` or a program's first assertion makes them"
    return SetupError.of(JOURNAL, problem, fix)


def person(by: str | None) -> str:
    """Name who gives a command."""
    if by is not None:
        return by
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # nobody knows, as in some containers
        return ""
