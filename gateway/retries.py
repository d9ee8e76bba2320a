"""
What is sent again: bounded retries by tenacity, inside the provider's own timeout.

Connect errors, since nothing was sent; 408, 500, 502, 503, 504, 524 and 529; a 429 only if the
server says when. Never another 4xx, never past the deadline, never what the request calls final,
nor where the server says `x-should-retry: false`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from .exchanging import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from tenacity import RetryCallState

RETRIED = frozenset({408, 429, 500, 502, 503, 504, 524, 529})
FIRST_WAIT, LONGEST_WAIT = 0.2, 2.0  # seconds between attempts, where the server names none

Sent: TypeAlias = HttpResponse | Exception
"""What one attempt came to; an error where no connection was made, so that nothing was sent."""


def heals(sent: Sent, request: HttpRequest) -> bool:
    """Whether it may go better when *request* is sent again; a 429 only if the server says when."""
    if not isinstance(sent, HttpResponse):
        return True
    if sent.status not in RETRIED or sent.headers.get("x-should-retry", "").lower() == "false":
        return False
    if sent.status == 429 and retry_after(sent.headers) is None:  # noqa: PLR2004
        return False
    return request.final is None or not request.final(sent)


def again_sync(once: Callable[[], Sent], first: Sent, policy: dict[str, Any]) -> Sent:
    """Go on from the *first* attempt, which has been made; tenacity costs only who needs it."""
    from tenacity import Retrying

    made = [first]
    retrying: Any = Retrying(**policy)
    return retrying(lambda: made.pop() if made else once())  # type: ignore[no-any-return]


async def again_async(
    once: Callable[[], Awaitable[Sent]], first: Sent, policy: dict[str, Any]
) -> Sent:
    """As `again_sync`, in this task."""
    from tenacity import AsyncRetrying

    made = [first]

    async def again() -> Sent:
        return made.pop() if made else await once()

    retrying: Any = AsyncRetrying(**policy)
    return await retrying(again)  # type: ignore[no-any-return]


def policy(request: HttpRequest, attempts: int, until: float) -> dict[str, Any]:
    """Say to tenacity what is retried, how long to wait, and when to stop."""

    def stop(state: RetryCallState) -> bool:
        late = time.monotonic() + state.upcoming_sleep >= until
        return state.attempt_number >= attempts or late

    def again(state: RetryCallState) -> bool:
        assert state.outcome is not None
        return not state.outcome.failed and heals(state.outcome.result(), request)

    return {"retry": again, "stop": stop, "wait": _wait, "retry_error_callback": _last}


def _last(state: RetryCallState) -> Sent:
    assert state.outcome is not None
    return state.outcome.result()  # type: ignore[no-any-return]


def _wait(state: RetryCallState) -> float:
    from tenacity import wait_random_exponential

    assert state.outcome is not None
    sent: Sent = state.outcome.result()
    named = retry_after(sent.headers) if isinstance(sent, HttpResponse) else None
    return wait_random_exponential(FIRST_WAIT, LONGEST_WAIT)(state) if named is None else named


def retry_after(headers: Mapping[str, str]) -> float | None:
    """
    Read how many seconds a server asks to wait.

    `retry-after-ms` is the finer one and comes first; `retry-after` is a number or an HTTP date.

    Returns:
        None where neither can be read.

    """
    finer, text = _number(headers.get("retry-after-ms", "")), headers.get("retry-after", "")
    if finer is not None:
        return finer / 1000
    seconds = _number(text)
    return _until(text) if seconds is None else seconds


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else max(0.0, number)


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
