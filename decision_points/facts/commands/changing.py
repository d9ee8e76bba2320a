"""`retract`, `erase`, `alias`, `adopt`: what an entry of the log changes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ....gateway.cli import screen
from ....gateway.errors import SetupError
from ..errors import Refused
from ..keys import FactKey
from ..telling import escaped
from .naming import entry_of, nearest
from .opening import (
    By,
    Db,
    Json,
    Namespace,
    Place,
    Reason,
    RegistryFile,
    Why,
    Yes,
    facts_of,
    person,
    rules_of,
)
from .printing import whole
from .showing import SHORT

if TYPE_CHECKING:
    from ..ledger.writing import Appended
    from ..store import FactStore

SEEN = 10_000  # entities among which one is looked for that may be meant

Id = Annotated[
    str,
    typer.Argument(metavar="ID", help="Of the assertion, or how it begins: `facts history KEY`."),
]


def told(done: Appended, said: str, *, as_json: bool) -> None:
    """Say what became of an entry: as JSON, or in words."""
    if as_json:
        whole(done)
    else:
        screen.line(("✓ ", screen.GOOD), said)


def retract(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    assertion: Id,
    *,
    reason: Why,
    by: By = None,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Take an assertion back: its source may, and who the registry lets. It can be taken back."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        id_ = entry_of(store, assertion, ("asserted", "retracted"))
        done = store.retract(id_, by=person(by), reason=reason)
    told(done, f"{id_} counts as never said", as_json=as_json)


def erase(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    assertion: Id,
    *,
    reason: Why,
    by: By = None,
    yes: Yes = False,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Remove the content of an assertion for good; its id stays. It cannot be undone."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        id_ = entry_of(store, assertion, ("asserted",))
        if not yes:
            typer.confirm(f"Remove what {id_} says for good?", abort=True, err=True)
        done = store.erase(id_, by=person(by), reason=reason)
    told(done, f"{id_} is erased", as_json=as_json)


def alias(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    entity: Annotated[str, typer.Argument(metavar="OTHER", help="The other name.")],
    of: Annotated[str, typer.Argument(metavar="ENTITY", help="Whose facts it shares.")],
    *,
    by: By = None,
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Say that one entity is another: their facts are compared from now on."""
    with facts_of(ctx, Place(db=db, namespace=namespace)) as store:
        names = [store.key(one, "alias").entity for one in (entity, of)]
        if names[0] == names[1]:
            fix = "Name two entities: the other name first, then whose facts it shares"
            raise Refused("bad_key", "it is the same entity already", fix)
        with store.view() as view:
            joined = view.canonical(names[0]) == view.canonical(names[1])
            stands = view.canonical(names[1])
        _strangers(store, names)
        done = store.alias(entity, of, by=person(by))
    if joined and not as_json:
        screen.note(f"They were one entity before; {escaped(stands)} stands for both.")
    told(done, f"{escaped(entity)} is {escaped(of)}", as_json=as_json)


def _strangers(store: FactStore, names: list[str]) -> None:
    """Warn of entities that nobody has said anything about: one may be misspelt."""
    with store.view() as view:
        unknown = [
            one
            for one in names
            if not any(
                next(view.keys(str(FactKey(store.namespace, each, ""))), None)
                for each in view.names(one)
            )
        ]
        known = _entities(view.keys()) if unknown else set[str]()
    for one in unknown:
        near = nearest(one, known)
        meant = f": did you mean {escaped(near)}?" if near else ""
        screen.note(("! ", screen.OTHER), f"nothing was ever said of {escaped(one)}{meant}")


def _entities(keys: Iterable[FactKey]) -> set[str]:
    found: set[str] = set()
    for key in keys:
        found.add(key.entity)
        if len(found) >= SEEN:
            break
    return found


def adopt(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    policy: Annotated[
        Path | None, typer.Argument(help="TOML that declares attributes; absent: as it is.")
    ] = None,
    *,
    registry: RegistryFile = None,
    by: By = None,
    reason: Reason = "",
    db: Db = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Decide by another policy or registry from now on; `what-if` shows first what that changes."""
    if policy is None and registry is None:
        raise SetupError.of("POLICY", "no file is named", "Name a policy, --registry or both")
    rules, sources = rules_of(Place(policy=policy, registry=registry))
    with facts_of(ctx, Place(db=db, namespace=namespace), new=True) as store:
        with store.view() as view:
            now = view.settings
        rules, sources = rules or now.policy, sources or now.registry
        same = (rules.version, sources.version) == (now.policy.version, now.registry.version)
        new = not (same and now.adopted)
        if new:
            store.adopt(policy=rules, registry=sources, by=person(by), reason=reason)
    versions = {"policy": rules.version, "registry": sources.version}
    if as_json:
        whole({"new": new, **versions})
        return
    listed = ", ".join(f"{name} {version[:SHORT]}" for name, version in versions.items())
    screen.line(("✓ ", screen.GOOD), listed if new else f"{listed}: adopted already")
