"""Which row of the table a base URL means: host and path tell the dialect, never the path alone."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from .endpoints import ENDPOINTS, Endpoint


class Elsewhere(Exception):
    """A base URL leads to an address that is spoken to otherwise; `row` says how."""

    def __init__(self, row: Endpoint) -> None:
        super().__init__(row.provider)
        self.row = row


class Reached(msgspec.Struct, frozen=True):
    """
    Where asks go.

    Attributes:
        row: How to speak there.
        url: Where; `{account}` and `{model}` may still have to be filled in.

    """

    row: Endpoint
    url: str


def own_row(provider: str) -> Endpoint:
    """Give the row where *provider* goes unless its base URL says otherwise."""
    rows = [row for row in ENDPOINTS if row.provider == provider]
    anywhere = [row for row in rows if not row.host]
    return (anywhere or rows)[0]


def reached(own: Endpoint, base: str | None) -> Reached:
    """
    Find what answers at *base*: a known host's own row, else *own* as if it stood there.

    A base URL may end before the path, in it, or hold all of it.

    Raises:
        Elsewhere: Nothing there speaks as *own* does.

    """
    if base is None:
        return Reached(own, f"https://{own.host}{own.path}")
    parts = urlsplit(base)
    given = parts.path.rstrip("/")
    origin = f"{parts.scheme}://{parts.netloc}"
    path = given if given.endswith(own.tail) else (given or own.prefix) + own.tail
    rows = [row for row in ENDPOINTS if row.stands_at(parts.hostname or "")]
    whole = [(row, given) for row in rows if row.covers(given)]
    usual = [(row, path) for row in rows if row.covers(path)]
    below = [(row, row.path) for row in rows if row.path.startswith(f"{given}/")]
    for found in (whole, usual + below):
        if found:
            row, at = _of_kind(own, found)
            return Reached(row, origin + at)
    return Reached(own, origin + path)


def _of_kind(own: Endpoint, found: Sequence[tuple[Endpoint, str]]) -> tuple[Endpoint, str]:
    for row, path in found:
        if row.dialect == own.dialect and _has_its_variables(own, row):
            return row, path
    raise Elsewhere(found[0][0])


def _has_its_variables(own: Endpoint, row: Endpoint) -> bool:
    """Whether *own* reads all that *row* sends: a second key, an account."""
    return set(row.settings.model_fields) <= set(own.settings.model_fields)
