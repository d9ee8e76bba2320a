"""The keys: those that cannot be one, and those that nobody uses. None is ever printed."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec.structs import replace

from ...discovery import load
from ...errors import Fault
from ...plugins import Offer, Setup
from ...settings import PREFIX

if TYPE_CHECKING:
    from ...gateway import Gateway

SECRET = re.compile(r"(?:^|_)(?:KEY|TOKEN)$")
KEYED = re.compile(r"(?:API_)?(?:KEY|TOKEN)$")
QUOTED = re.compile(r"""(["'`]).*\1""")
STANDS_FOR_ONE = re.compile(
    r"<.*>|\$\{?\w+\}?|\{\{.*\}\}|x{3,}|\.{3,}|\*{3,}"
    r"|(?:sk-)?(?:your|my|insert|enter|paste|put)[-_].*|.*[-_.](?:here|\.\.\.)"
    r"|(?:change|replace)[-_]?(?:me|this)|none|null|nil|undefined|todo|fixme|secret|placeholder",
    re.IGNORECASE,
)
"""What examples and templates write in a key's place; a short key is none of them."""


def mistaken(gateway: Gateway) -> Iterator[Fault]:
    """List the selected providers' keys that cannot be keys."""
    values = gateway.settings.variables.values
    for name in sorted(gateway.settings.read_of_providers & set(values)):
        if not SECRET.search(name):
            continue
        if QUOTED.fullmatch(values[name].strip()):
            problem = "there are quotes around the key, which are sent with it"
            yield Fault(name, problem, "Write it without quotes: `docker --env-file` keeps them")
        elif STANDS_FOR_ONE.fullmatch(values[name].strip()) and not _local(values, name):
            yield Fault(name, "it is no key, but what an example has in its place", "Set the key")


def _local(values: Mapping[str, str], name: str) -> bool:
    """Whether the key is for a server on this machine, which takes any, or wants a word."""
    host = urlsplit(values.get(KEYED.sub("BASE_URL", name), "")).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def unused(gateway: Gateway, offers: Iterable[Offer]) -> Iterator[Fault]:
    """Hint at keys that are set for providers that nothing selects."""
    settings = gateway.settings
    idle = {
        name
        for name in settings.variables.values
        if SECRET.search(name) and not name.startswith(PREFIX)
    } - settings.read_of_providers
    found: dict[str, list[str]] = {}
    for offer in offers if idle else ():
        for name in idle & read_by(gateway, offer):
            found.setdefault(name, []).append(offer.name)
    for name, providers in sorted(found.items()):
        which = " and ".join(map(repr, providers))
        problem = f"it is the key of {which}, which no variable selects: a key alone selects nobody"
        yield Fault(name, problem, f"Select one, as in {PREFIX}PROVIDER={providers[0]}, or go on")


def read_by(gateway: Gateway, offer: Offer) -> set[str]:
    """Name the variables that a provider would read: it is made, which opens nothing, and left."""
    settings = replace(gateway.settings, read_of_providers=set[str]())
    with contextlib.suppress(Exception):  # it lacks what it needs, or is a stranger's
        load(offer)(Setup(offer.name, settings, gateway, gateway.provider))
    return settings.read_of_providers
