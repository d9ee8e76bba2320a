"""`pointsman doctor`: what is wrong, and what to do about it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ...discovery import discover
from ...errors import Fault, Reason, SetupError
from ...journaling import JOURNAL, journal_settings, store_of
from ...settings import CURRENT, PREFIX
from .. import USAGE, screen
from ..points import checked
from ..session import Session
from . import certified, secrets
from .asking import WORKS, asked
from .findings import Findings
from .misspelt import misspelt
from .reaching import address_of, unmade, unreached
from .remedies import MAKERS, REMEDIES

if TYPE_CHECKING:
    from ...gateway import Gateway
    from .history import Watched

STANDS_IN = "CURRENT_PROVIDER"
LIVE, OFFLINE = "--live", "--offline"


def doctor(
    ctx: typer.Context,
    *,
    live: Annotated[
        bool, typer.Option(LIVE, help="Ask each selected provider one real question.")
    ] = False,
    offline: Annotated[bool, typer.Option(OFFLINE, help="Connect to no provider.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check variables, keys, providers, thresholds and the journal, and say what to do."""
    session: Session = ctx.obj
    if live and offline:
        screen.faults([Fault(LIVE, f"there is {OFFLINE} too", "Give one of them")])
        raise typer.Exit(USAGE)
    found = Findings(quiet=as_json)
    found.good("variables", f"{session.env_file or 'no .env'}, and the environment")
    try:
        made = session.gateway(keeps=False)
    except SetupError as error:
        found.add(error.faults)
    else:
        with contextlib.closing(made) as gateway:
            _examine(session, gateway, found, live=live, offline=offline)
    found.tell()
    _finish(found, as_json=as_json)


def _examine(
    session: Session, gateway: Gateway, found: Findings, *, live: bool, offline: bool
) -> None:
    odd, wrong = checked(session, gateway)
    found.add([*wrong, *odd])
    found.unread = session.own and any(one.where.startswith(PREFIX) for one in odd)
    installed = discover(gateway.settings.globals.allowed)
    offered = f"{len(installed.offers)} providers, {len(installed.points)} decision points"
    found.good("plug-ins", offered)
    offers = installed.offers.values()
    found.add(secrets.mistaken(gateway), secrets.unused(gateway, offers))
    found.add(misspelt(gateway, offers, [one.where for one in found.faults]))
    served = _journal(gateway, found)
    certified.stale(gateway, served, found)
    selected = _selected(gateway)
    addresses = _addresses(gateway, selected)
    if addresses and (fault := unmade()) is not None:  # no provider's fault, so none is told
        found.add([fault])
        selected = {name: one for name, one in selected.items() if name not in addresses}
        addresses = {}
    away = {} if offline or live else unreached(addresses)
    for name, variable in selected.items():
        if live:
            _live(gateway, name, found)
        elif name in away:
            found.add([away[name]])
        else:
            _provider(gateway, name, variable, found, offline=offline)


def _journal(gateway: Gateway, found: Findings) -> Mapping[tuple[str, str], str]:
    """Try the journal, if one is kept, and read what goes on; give who answers as which model."""
    wanted = journal_settings(gateway.settings)
    if wanted is None:
        return {}
    from ...journal.store import StoreDown
    from ...journal.trial import looked_at
    from .history import examine, served, watched

    store = store_of(gateway.settings)
    points: list[Watched] = []
    try:
        there = looked_at(wanted)
        kept = sum(store.points().values()) if there else 0
        points = watched(gateway, store) if there else []
    except SetupError as error:
        found.add(error.faults)
    except StoreDown as down:
        found.add([Fault(JOURNAL, f"its database cannot be used now: {down}", down.fix)])
    else:
        counted = f"{kept:,} decision{'' if kept == 1 else 's'}"
        found.good("journal", counted if there else "not there yet: the first decision makes it")
    finally:
        store.close()
    examine(points, found)
    return served(points)


def _selected(gateway: Gateway) -> dict[str, str]:
    """Name every selected provider once, with a variable that selects it."""
    behind = [(STANDS_IN, gateway.provider(CURRENT).name)] if gateway.stands_in else []
    return {name: variable for variable, name in (*behind, *gateway.settings.selected())}


def _addresses(gateway: Gateway, selected: Mapping[str, str]) -> dict[str, str]:
    found = {name: address_of(gateway.provider(name)) for name in selected}
    return {name: url for name, url in found.items() if url}


def _provider(
    gateway: Gateway, name: str, variable: str, found: Findings, *, offline: bool
) -> None:
    provider = gateway.provider(name)
    reached = "" if offline or not address_of(provider) else ", it can be reached"
    model = getattr(provider, "model", "")
    said = f"{_why(variable)}{reached}; {LIVE} asks it a question"
    found.good(name, f"{model}, {said}" if model else said)


def _live(gateway: Gateway, name: str, found: Findings) -> None:
    attempt = asked(gateway, name)
    told = f"{attempt.reason.value} in {screen.duration(attempt.seconds)}"
    if attempt.reason in WORKS:
        usd = attempt.usage.cost_usd if attempt.usage is not None else None
        paid = f", {screen.cost(usd)}" if usd is not None else ""
        model = attempt.model or getattr(gateway.provider(name), "model", "")
        found.good(name, f"{model}  {told}{paid}")
        return
    fix = REMEDIES.get(attempt.reason, MAKERS)
    if attempt.reason is Reason.TRANSPORT:
        for fault in unreached(_addresses(gateway, {name: ""})).values():
            told, fix = f"{told} ({fault.problem})", fault.fix
    found.add([Fault(name, f"a real question failed: {told}", fix)])


def _why(variable: str) -> str:
    return "stands in for current" if variable == STANDS_IN else f"selected by {variable}"


def _finish(found: Findings, *, as_json: bool) -> None:
    if as_json:
        screen.data(found.data())
    else:
        _say(found.faults, unread=found.unread)
    if found.faults:
        raise typer.Exit(1)


def _say(faults: Sequence[Fault], *, unread: bool) -> None:
    out = screen.out()
    if not faults:
        out.print(Text("Nothing has to be done.", screen.GOOD))
        return
    if unread:
        known = "Points of your own program are known with --app module:gateway."
        out.print(Text(known, screen.FAINT))
    have = "thing has" if len(faults) == 1 else "things have"
    out.print(Text(f"{len(faults)} {have} to be done.", "bold"))
