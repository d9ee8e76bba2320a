"""`retract`, `alias`, `erase`, `quarantine`, `lift`, `adopt`: what an entry of the log changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ....gateway.cli import screen
from ....gateway.errors import SetupError
from ..entries import Quarantined
from ..telling import escaped
from ..times import instant
from . import compared
from .opening import (
    By,
    Db,
    Namespace,
    Place,
    PolicyFile,
    Reason,
    RegistryFile,
    Yes,
    facts_of,
    person,
)
from .showing import SHORT
from .watching import counting

if TYPE_CHECKING:
    from ..store import FactStore

ROWS = 20  # facts that are shown of those that would change

Id = Annotated[
    str, typer.Argument(metavar="ID", help="Of the assertion, whole: `facts history KEY --json`.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and stop.")]
Why = Annotated[str, typer.Option("--reason", help="Why, for whoever reads it later.")]


def retract(
    ctx: typer.Context,
    assertion: Id,
    *,
    reason: Why,
    by: By = None,
    db: Db = None,
    namespace: Namespace = None,
) -> None:
    """Take an assertion back: its source may, and who the registry lets. It can be taken back."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        store.retract(assertion, by=person(by), reason=reason)
    screen.line(("✓ ", screen.GOOD), f"{escaped(assertion)} counts as never said")


def erase(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    assertion: Id,
    *,
    reason: Why,
    by: By = None,
    yes: Yes = False,
    db: Db = None,
    namespace: Namespace = None,
) -> None:
    """Remove the content of an assertion for good; its id stays. It cannot be undone."""
    if not yes:
        typer.confirm("Remove what it says for good?", abort=True, err=True)
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        store.erase(assertion, by=person(by), reason=reason)
    screen.line(("✓ ", screen.GOOD), f"{escaped(assertion)} is erased")


def alias(
    ctx: typer.Context,
    entity: Annotated[str, typer.Argument(help="The other name.")],
    of: Annotated[str, typer.Argument(metavar="ENTITY", help="Whose facts it shares.")],
    *,
    by: By = None,
    db: Db = None,
    namespace: Namespace = None,
) -> None:
    """Say that one entity is another: their facts are compared from now on."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        store.alias(entity, of, by=person(by))
    screen.line(("✓ ", screen.GOOD), f"{escaped(entity)} is {escaped(of)}")


def quarantine(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    *,
    source: Annotated[str, typer.Option(help="Whose word counts as never said.")] = "",
    writer: Annotated[str, typer.Option(help="Or who read it.")] = "",
    since: Annotated[str | None, typer.Option(help="What was written from then on.")] = None,
    until: Annotated[str | None, typer.Option(help="What was written before then.")] = None,
    dry_run: DryRun = False,
    by: By = None,
    reason: Reason = "",
    db: Db = None,
    namespace: Namespace = None,
) -> None:
    """Leave out what a source or a writer said; `lift` brings it back."""
    if not (source or writer):
        raise SetupError.of("--source", "nobody is named", "Add --source or --writer")
    said = {"source": source, "writer": writer, "by": person(by), "reason": reason}
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        if dry_run:
            from_, to = (None if one is None else instant(one) for one in (since, until))
            _moved(store, Quarantined(since=from_, until=to, at=0, **said))
            return
        made = store.quarantine(since=since, until=until, **said)
    told = f"{escaped(source or writer)} is left out"
    screen.line(("✓ ", screen.GOOD), told)
    screen.note((f"`pointsman facts lift {made.id}` undoes it", screen.FAINT))


def lift(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    quarantined: Annotated[str, typer.Argument(metavar="ID", help="Of the quarantine, whole.")],
    *,
    dry_run: DryRun = False,
    by: By = None,
    reason: Reason = "",
    db: Db = None,
    namespace: Namespace = None,
) -> None:
    """End a quarantine: what was left out counts again."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        if dry_run:
            _moved(store, Quarantined(lifts=quarantined, by=person(by), reason=reason, at=0))
            return
        store.lift(quarantined, by=person(by), reason=reason)
    screen.line(("✓ ", screen.GOOD), f"{escaped(quarantined)} is over")


def _moved(store: FactStore, entry: Quarantined) -> None:
    """Print what a quarantine, or its end, would move; nothing is written (RF-22)."""
    with counting("facts") as progress:
        found = store.what_if(quarantine=entry, progress=progress)
    compared.what_if(found, ROWS, lambda key: store.get(key).spelt)


def adopt(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    *,
    policy: PolicyFile = None,
    registry: RegistryFile = None,
    by: By = None,
    reason: Reason = "",
    db: Db = None,
    namespace: Namespace = None,
) -> None:
    """Decide by another policy or registry from now on; `what-if` shows first what that changes."""
    if policy is None and registry is None:
        raise SetupError.of("--policy", "no file is named", "Add --policy, --registry or both")
    with facts_of(ctx, Place(db=db, namespace=namespace), new=True) as store:
        store.adopt(policy=policy, registry=registry, by=person(by), reason=reason)
        with store.view() as view:
            rules, sources = view.versions()
    screen.line(
        ("✓ ", screen.GOOD), f"policy {rules.version[:SHORT]}, registry {sources.version[:SHORT]}"
    )
