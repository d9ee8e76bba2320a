"""The variables of hosted deciders; `<PROVIDER>__<INSTANCE>__…` wins over `<PROVIDER>_…`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings

from ...gateway.errors import Fault
from ...gateway.remote import Key, Url, variable_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...gateway.plugins import Setup

TIMEOUT = 15  # seconds for all attempts: cold starts above 2 s are seen, above 10 s are not


def _segment(text: str) -> str:
    if not text.isascii() or not text.replace("-", "").replace("_", "").isalnum():
        raise ValueError("it is letters, digits, - and _, as the dashboard shows it")
    return text


Segment = Annotated[str, AfterValidator(_segment)]


class Hosted(BaseSettings):
    """
    What every hosted decider reads; which of it must be set, its row of the table says.

    Attributes:
        api_key: Sent as a bearer token; None: no `authorization` header at all.
        model: None: the one that the table names.
        base_url: None: the vendor's own.
        timeout_seconds: For all attempts of one ask together.
        max_attempts: How often one request may be sent.
        allow_http: A key may go over plain http to another machine.

    """

    api_key: Key | None = None
    model: str | None = None
    base_url: Url | None = None
    timeout_seconds: float = Field(TIMEOUT, gt=0, allow_inf_nan=False)
    max_attempts: int = Field(2, ge=1, le=5)
    allow_http: bool = False


class JevSettings(Hosted):
    """`jev`: the key is that of Vercel AI Gateway."""

    api_key: Key | None = Field(None, alias="AI_GATEWAY_API_KEY")


class PortkeySettings(Hosted):
    """
    `portkey`: its own key, and that of the vendor behind it.

    Attributes:
        provider: The vendor: `typesafe`, `openrouter`, or `@…` for one that Portkey keeps.
        provider_key: The vendor's key; not needed where Portkey keeps it.

    """

    provider: str = "typesafe"
    provider_key: Key | None = None


class ClefSettings(Hosted):
    """
    `clef`: Workers AI's token, and the account that it belongs to.

    Attributes:
        account: A part of the URL.

    """

    api_key: Key | None = Field(None, alias="CLOUDFLARE_API_TOKEN")
    account: Segment | None = Field(None, alias="CLOUDFLARE_ACCOUNT_ID")


def missing(setup: Setup, settings: type[Hosted], needed: Iterable[str]) -> Iterator[Fault]:
    """Find the *needed* fields of *settings* that no variable sets."""
    for field in needed:
        alias = settings.model_fields[field].alias
        variable = alias or variable_of(setup, field.upper())
        if variable not in setup.settings.variables.values:
            yield Fault(variable, "it is not set", "Set it, or select another provider")
