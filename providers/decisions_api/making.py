"""How a hosted decider is made from its variables, and what is an operator's fault in them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import quote

from ...gateway.errors import Fault, SetupError, raise_all
from ...gateway.remote import kept_from_the_clear, variable_of
from .endpoints import DIALECTS, Endpoint
from .provider import DecisionsApi
from .reaching import Elsewhere, Reached, own_row, reached
from .variables import ClefSettings, Hosted, PortkeySettings, missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...gateway.plugins import Make, Setup


def hosted(provider: str) -> Make:
    """Give what makes *provider*, a name of the table."""
    own = own_row(provider)

    def make(setup: Setup) -> DecisionsApi:
        """
        Make it; nothing is opened.

        Raises:
            SetupError: A variable is missing or wrong, or the base URL leads to a server that
                is spoken to otherwise.

        """
        settings = _read(setup, own)
        there = _found(setup, own, settings)
        model = settings.model or own.model or there.row.model
        raise_all(_unfit(setup, settings, there.row, model))
        if settings.api_key is not None:
            kept_from_the_clear(setup, there.url, allowed=settings.allow_http)
        filled = Reached(there.row, _filled(there.url, settings, model))
        return DecisionsApi(setup.name, settings, filled, model, _hash_key(setup))

    return make


def _read(setup: Setup, own: Endpoint) -> Hosted:
    """Read what is set, and find what is not, all at once."""
    unset = list(missing(setup, own.settings, own.needs))
    try:
        settings = setup.read(own.settings)
    except SetupError as wrong:
        raise SetupError(*unset, *wrong.faults) from None
    raise_all(unset)
    return settings


def _found(setup: Setup, own: Endpoint, settings: Hosted) -> Reached:
    try:
        return reached(own, settings.base_url)
    except Elsewhere as elsewhere:
        row = elsewhere.row
        if row.dialect == own.dialect:
            problem, fix = "what stands there wants variables of its own", ""
        else:
            problem = f"what stands there speaks the {DIALECTS[row.dialect]} dialect"
            fix = f", or a base URL of the {DIALECTS[own.dialect]} dialect"
        where = variable_of(setup, "BASE_URL")
        raise SetupError.of(where, problem, f"Select `{row.provider}`{fix}") from None


def _unfit(setup: Setup, settings: Hosted, row: Endpoint, model: str) -> Iterator[Fault]:
    """
    Find what every ask of what was reached would fail without: keys, and a model.

    Where the model served must be the one asked for, one has to be asked for.
    """
    unnamed = row.compares and not model
    yield from missing(setup, type(settings), (*row.needs, "model") if unnamed else row.needs)
    if isinstance(settings, PortkeySettings) and settings.provider_key is None and row.behind:
        fix = "Set it, or name a provider that Portkey keeps the key of: PORTKEY_PROVIDER=@slug"
        if not settings.provider.startswith("@"):
            yield Fault(variable_of(setup, "PROVIDER_KEY"), "it is not set", fix)


def _filled(url: str, settings: Hosted, model: str) -> str:
    if not isinstance(settings, ClefSettings) or settings.account is None:
        return url
    name = quote(model.rpartition("/")[2], safe="")
    return url.replace("{account}", settings.account).replace("{model}", name)


def _hash_key(setup: Setup) -> bytes:
    """Give the key that subjects are hashed with; without one, equal for everybody."""
    key = setup.settings.globals.journal_key
    return b"" if key is None else hashlib.blake2b(key.get_secret_value().encode()).digest()
