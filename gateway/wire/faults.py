"""
What a refused call means: the status, and the codes in its body that say more.

Every vendor has its own shape: `error`, `detail` as an object, a text or a list, `errors`, or
`error_type` beside `message`. Only codes are read; a message never leaves this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from ..errors import NoAnswer, Reason
from ..http import reason_of
from ..plugins import HttpResponse

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_CODES: Mapping[str, tuple[Reason, bool]] = {  # → reason, and whether the operator must act
    "insufficient_quota": (Reason.PAYMENT, True),
    "quota_for_entity_exceeded": (Reason.PAYMENT, True),
    "model_not_found": (Reason.REJECTED, True),
    "api_usage_error": (Reason.REJECTED, True),  # TypeSafe: no such model
    "max_tokens_exceeded": (Reason.TOO_LARGE, False),
    "context_length_exceeded": (Reason.TOO_LARGE, False),
    "4006": (Reason.PAYMENT, True),  # Cloudflare: the day's free neurons are gone
    "5021": (Reason.TOO_LARGE, False),  # Cloudflare
    "7000": (Reason.REJECTED, True),  # Cloudflare: no such route, so no such model
    "10000": (Reason.AUTH, True),  # Cloudflare
}
_STATUSES: Mapping[str, int] = {  # which an error has elsewhere, where it came as a success
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "insufficient_funds": 402,
    "customer_verification_required": 403,
    "forbidden": 403,
    "not_found": 404,
    "rate_limit_exceeded": 429,
}
_STATUS = re.compile("[45][0-9]{2}")
_WRAPPED = (b"max_tokens_exceeded", b"context_length_exceeded")
_REFUSED = b"refused to answer"  # OpenRouter, where OpenAI refuses one question of a call
_NAMES = ("code", "type", "error_type")
_HEALS = frozenset({Reason.RATE_LIMITED, Reason.PROVIDER_ERROR, Reason.TIMEOUT})


def fault_of(response: HttpResponse) -> NoAnswer:
    """Say why *response*, which is no success, is no answer."""
    for code in _codes(response.content):
        if code in _CODES:
            reason, operator = _CODES[code]
            return NoAnswer(reason, operator=operator)
    if wrapped := _by_text(response):
        return NoAnswer(wrapped)
    # 404: the model, or the base URL
    return NoAnswer(reason_of(response.status), operator=response.status == 404)  # noqa: PLR2004


def fault_inside(body: bytes) -> NoAnswer:
    """
    Say why *body*, which came with a status of success, is no answer.

    It is judged as if it had come with the status that its codes name, else with 500.
    """
    named = (status for code in _codes(body) if (status := _status_of(code)))
    return fault_of(HttpResponse(next(named, 500), {}, body))


def is_final(response: HttpResponse) -> bool:
    """Whether it must not be sent again although its status looks as if it would heal."""
    return fault_of(response).reason not in _HEALS


def _status_of(code: str) -> int:
    """Read a code as a status; 0: it names none."""
    return int(code) if _STATUS.fullmatch(code) else _STATUSES.get(code, 0)


def _by_text(response: HttpResponse) -> Reason | None:
    """Look for what gateways wrap in a message of their own."""
    if any(code in response.content for code in _WRAPPED):
        return Reason.TOO_LARGE
    if response.status == 502 and _REFUSED in response.content:  # noqa: PLR2004
        return Reason.REFUSED
    return None


def _codes(content: bytes) -> Iterator[str]:
    try:
        body = msgspec.json.decode(content)
    except UNREADABLE:
        return
    for one in _objects(body):
        for name in _NAMES:
            code = one.get(name)
            if isinstance(code, str | int):
                yield str(code)


def _objects(body: object) -> Iterator[Mapping[str, Any]]:
    """Every object in which a vendor writes a code."""
    if not isinstance(body, dict):
        return
    whole = cast("dict[str, Any]", body)
    for one in (whole, whole.get("error"), whole.get("detail"), *_listed(whole.get("errors"))):
        if isinstance(one, dict):
            yield cast("dict[str, Any]", one)


def _listed(errors: object) -> list[object]:
    return cast("list[object]", errors) if isinstance(errors, list) else []
