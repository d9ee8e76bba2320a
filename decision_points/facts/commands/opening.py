"""How a command reaches facts: the database, the namespace, and whose word a person's is."""

from __future__ import annotations

import getpass
import shlex
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
    from ....gateway.errors import Fault
    from ..policy import Policy
    from ..registry import Registry
    from ..store import FactStore

DB, NAMESPACE = "--db", "--namespace"
SHORT = 12  # digits of an id in a table
TOLD = 500  # characters of an error
ALONE, BOTH = 'pip install "pointsman[facts]"', 'pip install "pointsman[cli,facts]"'

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
Why = Annotated[str, typer.Option("--reason", help="Why, for whoever reads it later.")]
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
    try:
        given = facts_settings(None, session.env_file)
        url = url_of(session, place)
        policy, registry = rules_of(place)
        store = FactStore(
            url if "://" in url else Path(url),
            policy=policy,
            registry=registry,
            namespace=place.namespace or given.namespace,
            adopt=place.adopt,
        )
        with store, reached():
            if store.missing and not new:
                raise _none_yet(url)
            yield store
    except SetupError as error:
        raise SetupError(*(_fitted(one, place) for one in error.faults)) from None


def url_of(session: Session, place: Place) -> str:
    """
    Say where facts are, or would be: a URL or a path.

    Raises:
        SetupError: The variable turns the journal off.

    """
    url = place.db or Environment.read(None, session.env_file).values.get(JOURNAL, HERE)
    if url == "off":
        fix = f"Name a database, or add {DB} FILE"
        raise SetupError.of(JOURNAL, "it is off, and facts need a database", fix)
    return url


def where(url: str) -> str:
    """Name a database for people: a file by its path, of a server neither user nor password."""
    kind, _, rest = url.partition("://")
    if not rest:
        return url
    if kind == "sqlite":
        return rest.partition("?")[0].removeprefix("/")
    return f"{kind}://{rest.rpartition('@')[2].partition('?')[0]}"


def rules_of(place: Place) -> tuple[Policy | None, Registry | None]:
    """
    Read the files that are named, and tell of one that says nothing.

    Raises:
        SetupError: One is faulty; every fault is listed.

    """
    from ..policy import policy_of
    from ..registry import registry_of

    policy = None if place.policy is None else policy_of(place.policy)
    registry = None if place.registry is None else registry_of(place.registry)
    if policy is not None and not policy.attributes:
        _empty(place.policy, "declares no attribute: every fact stays unreconciled")
    if registry is not None and not registry.sources:
        _empty(place.registry, "names no source: every source ranks below all")
    return policy, registry


def _empty(file: Path | None, told: str) -> None:
    screen.note(("! ", screen.OTHER), (str(file), "bold"), f" {told}")


def _fitted(fault: Fault, place: Place) -> Fault:
    """Tell a fault in the words of the command line: the option or the file, and what to type."""
    if place.db and fault.where == JOURNAL:
        return replace(fault, where=DB)
    if fault.fix == ALONE:
        return replace(fault, fix=BOTH)
    file = {"policy": place.policy, "registry": place.registry}.get(fault.where)
    return fault if file is None else replace(fault, where=str(file), fix=_adopting(place))


def _adopting(place: Place) -> str:
    """Say how the files that are named are adopted."""
    named = [] if place.policy is None else [str(place.policy)]
    named += [] if place.registry is None else ["--registry", str(place.registry)]
    named += [] if place.db is None else [DB, place.db]
    named += [] if place.namespace is None else [NAMESPACE, place.namespace]
    told = shlex.join(named)
    look = f"`pointsman facts what-if {told}` shows what that changes"
    return f"{look}; `pointsman facts adopt {told}` adopts it"


def _none_yet(url: str) -> SetupError:
    problem = f"there are no facts yet in {where(url)}"
    fix = (
        f"`pointsman facts load FILE` or a program's first assertion makes them; {DB} names another"
    )
    return SetupError.of(JOURNAL, problem, fix)


def person(by: str | None) -> str:
    """Name who gives a command."""
    if by is not None:
        return by
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # nobody knows, as in some containers
        return ""
