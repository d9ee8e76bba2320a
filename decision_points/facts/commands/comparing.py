"""`what-if`, `audit`, `verify`: long looks over everything that was said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ....gateway.errors import SetupError
from . import compared
from .opening import Db, Json, Namespace, Place, RegistryFile, facts_of, rules_of
from .printing import whole
from .watching import counting


def what_if(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    policy: Annotated[
        Path | None, typer.Argument(help="TOML that declares attributes; absent: as it is.")
    ] = None,
    *,
    registry: RegistryFile = None,
    count: Annotated[int, typer.Option("-n", "--lines", min=0, help="Facts shown.")] = 20,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Show what another policy or registry would change, without changing it."""
    if policy is None and registry is None:
        raise SetupError.of("POLICY", "no file is named", "Name a policy, --registry or both")
    rules, sources = rules_of(Place(policy=policy, registry=registry))
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        with counting("facts") as progress:
            found = store.what_if(rules, sources, progress=progress)
        if as_json:
            whole(found)
        else:
            compared.what_if(found, count, lambda key: store.get(key).spelt)


def audit(
    ctx: typer.Context,
    *,
    writers: Annotated[
        bool, typer.Option("--writers", help="Who read it, too: a source may be read badly.")
    ] = False,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Show how often each source was right where persons decided, and what order that suggests."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store, counting("facts") as progress:
        found = store.audit(progress=progress)
    if as_json:
        whole(found)
    else:
        compared.audit(found, writers=writers)


def verify(
    ctx: typer.Context,
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="Write anew what differs; the log is never touched.")
    ] = False,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Work out everything again from the log and compare; ends with 1 where something differs."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store, counting("facts") as progress:
        found = store.verify(repair=repair, progress=progress)
    if as_json:
        whole(found)
    else:
        compared.verified(found)
    if not found.same and not found.repaired:
        raise typer.Exit(1)
