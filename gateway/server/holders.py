"""Who a request comes from, as its bearer key says, and how it is turned away."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from . import tokens

BEARER = "bearer "

Code: TypeAlias = Literal[
    "missing_api_key",
    "invalid_api_key",
    "insufficient_scope",
    "over_budget",
    "rate_limited",
    "limits_unavailable",
]


class Holder(msgspec.Struct, frozen=True):
    """
    Whose key opened the door.

    Attributes:
        id: The key's public part; it may be logged.
        name: Who it was made for.
        scopes: What it may do.
        reserved: US dollars that were set aside for this request.
        day: For which day, since the epoch.

    """

    id: str
    name: str
    scopes: frozenset[str]
    reserved: float = 0.0
    day: int = 0


class Denied(Exception):
    """
    A request is turned away.

    Attributes:
        status: Of the response: 401, 402, 403, 429 or 503.
        code: Why; of a wrong key it never tells what is wrong with it.
        retry_after: Seconds until it may be tried again; None: trying again changes nothing.
        key: Id of the key that it came with, once that is known to be the key; else None.

    """

    def __init__(
        self, status: int, code: Code, retry_after: float | None = None, *, key: str | None = None
    ) -> None:
        super().__init__(status, code, retry_after)
        self.key = key
        self.status, self.code, self.retry_after = status, code, retry_after


def presented(authorization: str | None) -> str:
    """
    Give the key that was sent, cut to the length of one.

    Raises:
        Denied: None was.

    """
    said = (authorization or "").strip()
    if said[: len(BEARER)].lower() == BEARER:
        said = said[len(BEARER) :].lstrip()
    if not said or said.lower() == BEARER.strip():
        raise Denied(401, "missing_api_key")
    return said if len(said) == tokens.LENGTH else "-" * tokens.LENGTH
