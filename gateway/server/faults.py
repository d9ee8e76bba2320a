"""What goes wrong, as a client is told: a status, a code of a closed list, one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from ..errors import Reason

STATUSES: Mapping[Reason, int] = {
    Reason.UNSUPPORTED: 400,
    Reason.TOO_LARGE: 413,
    Reason.TRANSPORT: 502,
    Reason.PROVIDER_ERROR: 502,
    Reason.TIMEOUT: 504,
    Reason.RATE_LIMITED: 429,
    Reason.BREAKER_OPEN: 503,
    Reason.OVER_BUDGET: 503,
    Reason.SKIPPED: 503,
    Reason.CANCELLED: 503,
    Reason.REFUSED: 422,
    Reason.ABSTAINED: 422,
    Reason.LOW_CONFIDENCE: 422,
    Reason.CONFIDENCE_MISSING: 422,
}
"""
Of a reason; any other is `FAILED`. 401 and 403 are those of our own keys, and a 5xx is sent again
by clients that look at nothing but the status.
"""

FAILED = 424
"""An answer came, and was billed, but is not believed; or the fault heals by no repetition."""

REFUSALS = frozenset(
    {Reason.REFUSED, Reason.ABSTAINED, Reason.LOW_CONFIDENCE, Reason.CONFIDENCE_MISSING}
)
"""Ends of an ask that are an answer nobody acts on, where the dialect has a word for it."""

PASSING = frozenset({Reason.RATE_LIMITED, Reason.BREAKER_OPEN, Reason.SKIPPED, Reason.CANCELLED})
"""
What may be over when the client asks again; anything else costs it the same once more. Where a
provider cannot be reached or fails, the attempts that it is worth have been made.
"""

WAIT = 1.0  # seconds after which to try again where a provider is asked too often

SENTENCES: Mapping[Reason, str] = {
    Reason.UNSUPPORTED: "the provider does not take as many questions, options or levels",
    Reason.TOO_LARGE: "the state is longer than the provider takes",
    Reason.TIMEOUT: "the provider did not answer in time",
    Reason.RATE_LIMITED: "the provider takes no more requests for now",
    Reason.BREAKER_OPEN: "the provider failed repeatedly and is left alone for a while",
    Reason.OVER_BUDGET: "the provider's budget is used up for today",
    Reason.SKIPPED: "the server has more to ask than its connections carry",
    Reason.REFUSED: "the provider refused to answer",
    Reason.ABSTAINED: "the provider abstained",
    Reason.LOW_CONFIDENCE: "nobody was sure enough",
    Reason.CONFIDENCE_MISSING: "the answer came without a confidence, and one is needed",
    Reason.AUTH: "the provider does not take this server's credentials",
    Reason.PAYMENT: "the provider wants to be paid by this server's operator",
    Reason.REJECTED: "the provider rejected the request",
    Reason.TRANSPORT: "the provider could not be reached",
    Reason.PROVIDER_ERROR: "the provider failed",
}
_OTHERWISE = "the provider's answer cannot be believed"

UNDECIDED = "undecided"

_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    424: "server_error",
    429: "rate_limit_exceeded",
}
_SERVER = 500
_NUMBERED = re.compile(r"^questions\[(\d+)\](\.?)")


class Problem(Exception):
    """
    Why a request gets no answer; ends it.

    Attributes:
        status: Of the response.
        code: From a closed list; a provider's fault by its reason.
        message: One sentence; names places, never contents.
        param: The place in the request; None: none is meant.
        retry_after: Seconds; None: nobody knows.
        again: Whether the same request may fare better later.
        ends: The connection cannot be used any more: its request was not read.

    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        retry_after: float | None = None,
        again: bool = False,
    ) -> None:
        super().__init__(status, code)
        self.status, self.code, self.message = status, code, message
        self.param = param
        self.retry_after = retry_after
        self.again = again or retry_after is not None
        self.ends = status in (408, 413)


def problem_of(reason: Reason, pause: float | None = None) -> Problem:
    """
    Say that a decision ended for *reason*.

    Args:
        reason: Why.
        pause: Seconds for which its provider is left alone; None: it is not.

    """
    status = STATUSES.get(reason, FAILED)
    message = SENTENCES.get(reason, _OTHERWISE)
    wait = {Reason.RATE_LIMITED: WAIT, Reason.BREAKER_OPEN: pause}.get(reason)
    return Problem(status, reason.value, message, retry_after=wait, again=reason in PASSING)


def undecided() -> Problem:
    """Say that nobody decided, in a dialect that has no answer for it."""
    return Problem(422, UNDECIDED, "nobody was sure enough to decide")


def unknown() -> Problem:
    """Say that a model's name means nothing here."""
    message = "no such model; GET /v1/models lists them"
    return Problem(404, "model_not_found", message, param="model")


def in_openai(problem: Problem) -> bytes:
    """Write *problem* as the OpenAI dialect does."""
    kind = _TYPES.get(problem.status)
    if kind is None:
        kind = "server_error" if problem.status >= _SERVER else "invalid_request_error"
    said = {
        "message": problem.message,
        "type": kind,
        "param": problem.param,
        "code": problem.code,
    }
    return msgspec.json.encode({"error": said})


def _counted(found: re.Match[str]) -> str:
    """Count what stands in a map, and has no index there."""
    number = int(found[1]) + 1
    tens = number % 100 // 10
    ending = "th" if tens == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"the {number}{ending} question{', ' if found[2] else ''}"


def in_systemone(problem: Problem) -> bytes:
    """Write *problem* as the TypeSafe dialect does; the place stands in the sentence."""
    place = f"{_NUMBERED.sub(_counted, problem.param)}: " if problem.param else ""
    said = {"error_type": problem.code, "message": f"{place}{problem.message}"}
    return msgspec.json.encode({"detail": said})
