"""What all providers over the network share: an address, a key, and who served an ask."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr

from .environment import variables_of
from .errors import SetupError

if TYPE_CHECKING:
    from .plugins import Setup

_MOVES = re.compile("-(?:latest|preview)$")
_VERSION = re.compile(r"-v?[0-9]+(?:[.-][0-9]+)*")  # -1.13.0, -20260917, -2026-10-06, -v1.2


def _whole(url: str) -> str:
    parts = urlsplit(url)
    blank = any(character.isspace() for character in url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or blank:
        raise ValueError("give a whole URL: https://host/path")
    if parts.username is not None or parts.password is not None:
        raise ValueError("give a URL without a user or password; the key has its own variable")
    if "?" in url or "#" in url:
        raise ValueError("give a URL without a query or fragment")
    return url


def _sendable(key: SecretStr) -> SecretStr:
    """A header takes no more; found here, it is one fault at start, not one at each decision."""
    if not all("!" <= character <= "~" for character in key.get_secret_value()):
        raise ValueError("a key is printable ASCII without blanks; see that it was copied whole")
    return key


Url = Annotated[str, AfterValidator(_whole)]
"""A variable that holds an absolute http or https URL, without user, query or fragment."""

Key = Annotated[SecretStr, AfterValidator(_sendable)]
"""A variable that holds a secret which a header can carry."""


def is_loopback(host: str) -> bool:
    """Whether *host*, as a URL names it, is this machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def kept_from_the_clear(setup: Setup, url: str, *, allowed: bool) -> None:
    """
    Refuse to send a key to *url* where everybody on the way could read it.

    Args:
        setup: Of the provider, whose variables the error names.
        url: Where its key would go.
        allowed: The operator says that the network in between is trusted.

    Raises:
        SetupError: *url* is plain http to another machine, which is not allowed.

    """
    parts = urlsplit(url)
    if allowed or parts.scheme == "https" or is_loopback(parts.hostname or ""):
        return
    permit = variables_of(setup.name, "ALLOW_HTTP")[0]
    problem = "a key would go to another machine over plain http"
    fix = f"Use https, or say {permit}=true where the network in between is trusted"
    raise SetupError.of(variable_of(setup, "BASE_URL"), problem, fix)


def variable_of(setup: Setup, suffix: str) -> str:
    """Name the variable that gives a provider's *suffix*; the first that could, if none does."""
    candidates = variables_of(setup.name, suffix)
    values = setup.settings.variables.values
    return next((one for one in candidates if one in values), candidates[0])


def is_served_as_asked(asked: str, served: str) -> bool:
    """
    Whether the model *served* is the one *asked* for.

    It is where the names are the same, or a version or date stands behind the name asked for:
    `jev` may be served as `jev-1.13.0`, never as `jevelin` or `jev-mini`. `x-latest` and
    `x-preview` move by their nature. A vendor in front counts where both names have one. Where
    no model was asked for, any is right.
    """
    if not asked:
        return True
    vendor, _, name = asked.removeprefix("~").rpartition("/")
    server, _, given = served.removeprefix("~").rpartition("/")
    if vendor and server and vendor != server:
        return False
    family = _MOVES.sub("", name)
    return given in (name, family) or (
        given.startswith(family) and _VERSION.fullmatch(given[len(family) :]) is not None
    )
