"""`pointsman doctor`: what is wrong, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ..discovery import discover
from ..errors import Fault, Reason, SetupError
from ..journaling import JOURNAL, journal_settings, store_of
from ..points import DecisionPoint
from ..questions import Choice
from ..settings import CURRENT, PREFIX
from . import screen
from .points import checked
from .session import Session

if TYPE_CHECKING:
    from ..gateway import Gateway
    from ..records import Attempt

PROBE = DecisionPoint(
    name="DOCTOR",
    questions={
        "": {
            "team": Choice(
                "Which team should handle this message?",
                {
                    "billing": "Invoices, amounts, payments and refunds",
                    "technical": "Faults, outages, a connection that does not work",
                },
            )
        }
    },
    safe="billing",
)
STANDS_IN = "CURRENT_PROVIDER"
PROBED = "My last invoice was twice as high as usual, and I would like a refund."

# What an operator does about a failed question; an answer that is too unsure is no failure.
REMEDIES = {
    Reason.AUTH: "Check the provider's key",
    Reason.PAYMENT: "Top up the account of the provider's key",
    Reason.TRANSPORT: "Check the provider's base URL, and this machine's network or proxy",
    Reason.TIMEOUT: "Try again; if it stays, raise the provider's TIMEOUT_SECONDS",
    Reason.RATE_LIMITED: "Wait, or ask the provider for a higher limit",
    Reason.REJECTED: "Check the provider's model and base URL",
    Reason.BREAKER_OPEN: "Wait half a minute, and try again",
    Reason.PROVIDER_ERROR: "The provider is at fault: try again, or tell its makers",
}
WORKS = frozenset({Reason.OK, Reason.LOW_CONFIDENCE, Reason.CONFIDENCE_MISSING, Reason.ABSTAINED})


def doctor(
    ctx: typer.Context,
    *,
    live: Annotated[
        bool, typer.Option("--live", help="Ask each selected provider one real question.")
    ] = False,
) -> None:
    """Check variables, plug-ins and providers, and say what to do."""
    session: Session = ctx.obj
    _good("variables", f"{session.env_file or 'no .env'}, and the environment")
    try:
        gateway = session.gateway(keeps=False)
    except SetupError as error:
        screen.faults(error.faults, console=screen.out())
        _finish(len(error.faults))
        return
    odd, wrong = checked(session, gateway)
    found = [*wrong, *odd]
    installed = discover(gateway.settings.globals.allowed)
    _good("plug-ins", f"{len(installed.offers)} providers, {len(installed.points)} decision points")
    found += _journal(gateway)
    for name, variable in _selected(gateway).items():
        found += _provider(gateway, name, variable, live=live)
    screen.faults(found, console=screen.out())
    _finish(len(found), unread=session.own and any(one.where.startswith(PREFIX) for one in odd))


def _journal(gateway: Gateway) -> list[Fault]:
    """Try the journal, if one is kept: its database and its spool."""
    wanted = journal_settings(gateway.settings)
    if wanted is None:
        return []
    from ..journal.store import StoreDown
    from ..journal.trial import tried

    store = store_of(gateway.settings)
    try:
        tried(wanted)
        kept = sum(store.points().values())
    except SetupError as error:
        return list(error.faults)
    except StoreDown as down:
        return [Fault(JOURNAL, f"its database cannot be used now: {down}", down.fix)]
    finally:
        store.close()
    _good("journal", f"{kept:,} decision{'' if kept == 1 else 's'}")
    return []


def _selected(gateway: Gateway) -> dict[str, str]:
    """Name every selected provider once, with a variable that selects it."""
    behind = [(STANDS_IN, gateway.provider(CURRENT).name)] if gateway.stands_in else []
    return {name: variable for variable, name in (*behind, *gateway.settings.selected())}


def _provider(gateway: Gateway, name: str, variable: str, *, live: bool) -> list[Fault]:
    model = getattr(gateway.provider(name), "model", "")
    if not live:
        _good(name, f"{model}, {_why(variable)}; --live asks it a question")
        return []
    attempt = _asked(gateway, name)
    told = f"{attempt.reason.value} in {screen.duration(attempt.seconds)}"
    if attempt.reason in WORKS:
        usd = attempt.usage.cost_usd if attempt.usage is not None else None
        paid = f", {screen.cost(usd)}" if usd is not None else ""
        _good(name, f"{attempt.model or model}  {told}{paid}")
        return []
    fix = REMEDIES.get(attempt.reason, "Its replies cannot be believed: tell its makers")
    return [Fault(name, f"a real question failed: {told}", fix)]


def _why(variable: str) -> str:
    return "stands in for current" if variable == STANDS_IN else f"selected by {variable}"


def _asked(gateway: Gateway, name: str) -> Attempt:
    with gateway.override({PROBE.name: name}):
        return gateway.ask_sync(PROBE, PROBED, current=_nobody).attempts[0]


def _nobody() -> str:
    """Stand behind the probe, so that a failure ends here."""
    return "billing"


def _good(name: str, said: str) -> None:
    screen.line(("✓ ", screen.GOOD), (name, "bold"), (f"  {said}", screen.FAINT))


def _finish(faults: int, *, unread: bool = False) -> None:
    out = screen.out()
    if not faults:
        out.print(Text("Nothing has to be done.", screen.GOOD))
        return
    if unread:
        known = "Points of your own program are known with --app module:gateway."
        out.print(Text(known, screen.FAINT))
    have = "thing has" if faults == 1 else "things have"
    out.print(Text(f"{faults} {have} to be done.", "bold"))
    raise typer.Exit(1)
