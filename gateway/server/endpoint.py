"""
How a request is served, whatever it asks: let in, read, answered, told of.

Spoken to by the ASGI server itself: what Starlette would make of each request first costs more
than all that is done here.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..chance import new_id
from . import bodies
from .access import OTHER
from .bodies import Gone, Headers, Receive
from .faults import Problem
from .holders import Denied
from .house import House, is_loopback
from .visits import Response, Visit, Watch

if TYPE_CHECKING:
    from .holders import Holder

Scope: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Handle: TypeAlias = Callable[[Visit, bytes], Awaitable[Response]]
"""Answers a request by its body; raises `Problem` where it cannot."""

Pairs: TypeAlias = Sequence[tuple[bytes, bytes]]
"""A head as it came, with what is repeated in it."""

ONCE = frozenset(
    {
        b"authorization",
        b"content-encoding",
        b"content-type",
        b"host",
        b"x-api-key",
        b"x-pointsman-subject",
    }
)
FULL = 1.0  # seconds after which to try again where too many are served at once
SPARED = 0.05  # of the time is kept for writing the answer: a decision ends before its request

DENIED: Mapping[str, str] = {
    "missing_api_key": "send a key, as in Authorization: Bearer pm_…",
    "invalid_api_key": "this key is not valid",
    "insufficient_scope": "this key may not do that",
    "over_budget": "this key's budget is used up for today",
    "rate_limited": "this key has to wait: it asked often, or what it asked is not paid yet",
    "limits_unavailable": "this key's limits cannot be checked for now",
}


class Endpoint:
    """
    Serves one route.

    Args:
        house: Of this worker.
        route: As it is told of.
        scope: What a key must be good for; empty: no key is needed.
        handle: Answers.
        fails: Writes why there is no answer.

    """

    def __init__(
        self,
        house: House,
        route: str,
        scope: str,
        handle: Handle,
        fails: Callable[[Problem], bytes],
    ) -> None:
        self._house, self._route, self._scope = house, route, scope
        self._handle, self._fails = handle, fails

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        house, head, method = self._house, scope["headers"], scope["method"]
        end = time.monotonic() + house.limits.max_seconds * (1.0 - SPARED)
        visit = Visit(dict(head), end, scope["path"])
        status, reason = 499, "cancelled"
        try:
            problem, response = await self._answered(visit, head, method, receive)
            status, reason = response.status, response.reason
            headers = list(_head(response, visit, problem, closes=house.draining))
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": response.content})
        except Gone:
            pass
        finally:
            self._told(method, visit, status, reason)

    async def _answered(
        self, visit: Visit, head: Pairs, method: str, receive: Receive
    ) -> tuple[Problem | None, Response]:
        self._house.busy += 1
        try:
            if len(head) != len(visit.headers):
                _unambiguous(head)
            return None, await self._served(visit, method, receive)
        except Problem as found:
            content = self._fails(found)
            return found, Response(found.status, content, visit.decision, "", found.code)
        finally:
            self._house.busy -= 1

    async def _served(self, visit: Visit, method: str, receive: Receive) -> Response:
        house, holder = self._house, None
        spends = self._scope == "decide" and method == "POST"
        try:
            holder = self._admitted(visit, spends=spends)
            return await self._bounded(visit, method, receive)
        except (Problem, Gone):
            raise
        except Exception as bug:  # noqa: BLE001 - whatever it is, the client gets an answer
            raise self._bug(visit, bug) from None
        finally:
            if spends and holder is not None and house.keys is not None:
                house.keys.paid(holder, visit.cost, unbilled=visit.unbilled)

    async def _bounded(self, visit: Visit, method: str, receive: Receive) -> Response:
        limits, body = self._house.limits, None
        if self._scope and self._house.busy > limits.max_concurrent:
            raise Problem(503, "overloaded", "too much is asked at once", retry_after=FULL)
        scope = asyncio.timeout(limits.max_seconds)
        try:
            async with scope:
                if method == "POST":
                    bodies.expected(visit.headers, limits)
                    body = await bodies.received(receive, visit.headers, limits)
                async with Watch(receive):
                    return await self._handle(visit, body or b"")
        except TimeoutError:
            if not scope.expired():
                raise
            if body is None and method == "POST":
                raise Problem(408, "request_timeout", "the body did not arrive in time") from None
            raise Problem(504, "timeout", "it could not be decided in time") from None

    def _admitted(self, visit: Visit, *, spends: bool) -> Holder | None:
        """
        Let the request in, by its key; without keys, by the name that it calls us.

        Args:
            visit: The request.
            spends: It may cost something.

        Raises:
            Problem: It is turned away.

        """
        house, headers = self._house, visit.headers
        if not self._scope:
            return None
        if house.keys is None or not house.keys.any():
            if not is_loopback(headers.get(b"host", b"")):
                message = "without keys only requests to localhost are answered"
                raise Problem(403, "host_not_allowed", message)
            return None
        given = _given(headers)
        try:
            holder = house.keys.admit(given, self._scope, spends=spends)
        except Denied as why:
            visit.key = why.key
            raise Problem(
                why.status, why.code, DENIED[why.code], retry_after=why.retry_after
            ) from None
        visit.key = holder.id
        return holder

    def _bug(self, visit: Visit, bug: Exception) -> Problem:
        """Tell of a bug of ours by its type and place alone; the client gets its number."""
        number = visit.decision or new_id()
        visit.decision = number
        frames = traceback.extract_tb(bug.__traceback__)
        where = f"{frames[-1].name}:{frames[-1].lineno}" if frames else ""
        said = {"id": number, "route": self._route, "error": type(bug).__name__, "where": where}
        self._house.gateway.tell("error", "server.bug", said)
        return Problem(
            500, "internal_error", f"this is a bug of the server; it is logged as {number}"
        )

    def _told(self, method: str, visit: Visit, status: int, reason: str) -> None:
        house, seconds = self._house, time.perf_counter() - visit.begun
        if house.metrics is not None:
            house.metrics.request(self._route, status, seconds)
        if house.access is not None:
            decision = visit.decision or None
            house.access.said(
                method, self._route, status, seconds, visit.key, decision, reason or None
            )


def tell_elsewhere(house: House, method: str, status: int) -> None:
    """Count and tell of a request that no route took, or that was no request."""
    if house.metrics is not None:
        house.metrics.request(OTHER, status, 0.0)
    if house.access is not None:
        house.access.said(method, OTHER, status, 0.0)


def _unambiguous(head: Pairs) -> None:
    """
    Refuse a head that says twice what can be only one: a proxy may have believed the other.

    Raises:
        Problem: It does.

    """
    names = [name for name, _ in head if name in ONCE]
    if len(names) != len(set(names)):
        raise Problem(400, "repeated_header", f"{_listed()} may be sent once")


def _listed() -> str:
    return ", ".join(sorted(name.decode() for name in ONCE))


def _given(headers: Headers) -> str | None:
    """Give the key that was sent; what a proxy before us asks for is none."""
    named, other = headers.get(b"authorization"), headers.get(b"x-api-key")
    if other is not None and (named is None or named[:7].lower() != b"bearer "):
        named = other
    return None if named is None else named.decode("latin-1")


_CLOSE = (b"connection", b"close")
_NEVER = (b"x-should-retry", b"false")
_BEARER = (b"www-authenticate", b"Bearer")


def _head(
    response: Response, visit: Visit, problem: Problem | None, *, closes: bool
) -> Iterator[tuple[bytes, bytes]]:
    yield b"content-type", response.kind.encode()
    yield b"content-length", b"%d" % len(response.content)
    if visit.decision:
        number = visit.decision.encode()
        yield b"x-request-id", number
        yield b"x-typesafe-request-id", number  # the name that TypeSafe's client reads
    if response.provider:
        yield b"x-pointsman-provider", response.provider.encode("latin-1", "replace")
    if closes or (problem is not None and problem.ends):
        yield _CLOSE
    if problem is not None:
        yield from _of_problem(problem)


def _of_problem(problem: Problem) -> Iterator[tuple[bytes, bytes]]:
    if problem.status == 401:  # noqa: PLR2004 - as RFC 9110 asks for
        yield _BEARER
    if problem.retry_after is not None:
        yield b"retry-after", b"%d" % max(1, -int(-problem.retry_after // 1))
    if not problem.again:
        yield _NEVER  # clients that retry by the status alone would pay again for the same
