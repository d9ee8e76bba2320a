"""Every vendor's error body on the protocol page, the reason it has, and whether it heals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty import ASK
from pointsman import HttpResponse, NoAnswer, Reason, Usage
from pointsman.gateway.wire import openai as openai_dialect
from pointsman.gateway.wire import systemone as systemone_dialect
from pointsman.gateway.wire.faults import fault_inside, fault_of, is_final


def openai(code: object = None, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": "secret", "type": kind, "param": None, "code": code}}


def vercel(kind: str) -> dict[str, Any]:
    return {**openai(None, kind), "generationId": "gen_x"}


def typesafe(kind: str | None) -> dict[str, Any]:
    return {"detail": {"error_type": kind, "message": "secret"}}


def openrouter(code: int, message: str = "secret") -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "metadata": {"provider_name": "x"}}}


def clef(code: int) -> dict[str, Any]:
    return {
        "result": None,
        "success": False,
        "errors": [{"code": code, "message": "secret"}],
        "messages": [],
    }


WRAPPED = "AI_APICallError: 400 {'detail': {'error_type': 'max_tokens_exceeded'}}"

# what is said → (status, body, reason, whether the operator must act, whether it is final)
FAULTS: Mapping[str, tuple[int, Any, Reason, bool, bool]] = {
    # OpenAI, §3.3
    "openai 400": (400, openai(), Reason.REJECTED, False, True),
    "openai 400, context": (
        400,
        openai("context_length_exceeded"),
        Reason.TOO_LARGE,
        False,
        True,
    ),
    "openai 401": (401, openai("invalid_api_key"), Reason.AUTH, False, True),
    "openai 403": (403, openai(), Reason.AUTH, False, True),
    "openai 404": (404, openai("model_not_found"), Reason.REJECTED, True, True),
    "openai 400, model": (400, openai("model_not_found"), Reason.REJECTED, True, True),
    "openai 409": (409, openai(), Reason.REJECTED, False, True),
    "openai 422": (422, openai(), Reason.REJECTED, False, True),
    "openai 429": (429, openai("rate_limit_exceeded"), Reason.RATE_LIMITED, False, False),
    "openai 429, no money": (429, openai("insufficient_quota"), Reason.PAYMENT, True, True),
    "openai 429, no money by type": (
        429,
        openai(None, "insufficient_quota"),
        Reason.PAYMENT,
        True,
        True,
    ),
    "openai 500": (500, openai(None, "server_error"), Reason.PROVIDER_ERROR, False, False),
    "openai 503": (503, openai(None, "server_error"), Reason.PROVIDER_ERROR, False, False),
    # Vercel, §2.6
    "vercel 400": (400, vercel("invalid_request_error"), Reason.REJECTED, False, True),
    "vercel 400, no provider": (
        400,
        vercel("no_providers_available"),
        Reason.REJECTED,
        False,
        True,
    ),
    "vercel 401": (401, vercel("authentication_error"), Reason.AUTH, False, True),
    "vercel 402": (402, vercel("insufficient_funds"), Reason.PAYMENT, False, True),
    "vercel 402, quota": (402, vercel("quota_for_entity_exceeded"), Reason.PAYMENT, True, True),
    "vercel 403": (403, vercel("forbidden"), Reason.AUTH, False, True),
    "vercel 403, no card": (
        403,
        vercel("customer_verification_required"),
        Reason.AUTH,
        False,
        True,
    ),
    "vercel 404": (404, vercel("not_found"), Reason.REJECTED, True, True),
    "vercel 422": (422, vercel("request rejected"), Reason.REJECTED, False, True),
    "vercel 424": (424, vercel("failed_dependency"), Reason.PROVIDER_ERROR, False, False),
    "vercel 429": (429, vercel("rate_limit_exceeded"), Reason.RATE_LIMITED, False, False),
    "vercel 500": (500, vercel("internal_server_error"), Reason.PROVIDER_ERROR, False, False),
    "vercel, a vendor's error in a message": (
        400,
        {"error": {"message": WRAPPED, "type": "AI_APICallError"}},
        Reason.TOO_LARGE,
        False,
        True,
    ),
    "vercel 422, wrapped": (422, {"error": {"message": WRAPPED}}, Reason.TOO_LARGE, False, True),
    **{
        f"vercel {status}, wrapped": (
            status,
            {"error": {"message": WRAPPED, "type": "internal_server_error"}},
            Reason.TOO_LARGE,
            False,
            True,
        )
        for status in (404, 424, 429, 500, 502, 503)
    },
    "vercel /typesafe": (
        400,
        {"message": "secret", "error_type": "max_tokens_exceeded"},
        Reason.TOO_LARGE,
        False,
        True,
    ),
    # TypeSafe, §4.3: `detail` as an object, a text or a list
    "typesafe 400": (400, typesafe("api_usage_error"), Reason.REJECTED, True, True),
    "typesafe 400, too long": (
        400,
        {"detail": {"error_type": "max_tokens_exceeded"}},
        Reason.TOO_LARGE,
        False,
        True,
    ),
    "typesafe 400, a text": (400, {"detail": "too many choices"}, Reason.REJECTED, False, True),
    "typesafe 401": (401, typesafe("authentication_error"), Reason.AUTH, False, True),
    "typesafe 403": (403, {"detail": "Not authenticated"}, Reason.AUTH, False, True),
    "typesafe 422": (
        422,
        {"detail": [{"loc": ["body", "state"], "msg": "Field required", "type": "missing"}]},
        Reason.REJECTED,
        False,
        True,
    ),
    "typesafe 429": (429, typesafe("rate_limit"), Reason.RATE_LIMITED, False, False),
    "typesafe 529": (529, typesafe("overloaded"), Reason.PROVIDER_ERROR, False, False),
    # OpenRouter, §5
    **{
        f"openrouter {status}": (status, openrouter(status), reason, operator, final)
        for status, reason, operator, final in (
            (400, Reason.REJECTED, False, True),
            (401, Reason.AUTH, False, True),
            (402, Reason.PAYMENT, False, True),
            (403, Reason.AUTH, False, True),
            (404, Reason.REJECTED, True, True),
            (413, Reason.TOO_LARGE, False, True),
            (429, Reason.RATE_LIMITED, False, False),
            (500, Reason.PROVIDER_ERROR, False, False),
            (502, Reason.PROVIDER_ERROR, False, False),
            (503, Reason.PROVIDER_ERROR, False, False),
            (524, Reason.PROVIDER_ERROR, False, False),
            (529, Reason.PROVIDER_ERROR, False, False),
        )
    },
    "openrouter 502, OpenAI refused": (
        502,
        openrouter(502, "OpenAI refused to answer question team"),
        Reason.REFUSED,
        False,
        True,
    ),
    # Portkey and Perplexity, §6 and §10: the same statuses
    "perplexity 401": (401, {"error": "secret"}, Reason.AUTH, False, True),
    "portkey 408": (408, {"status": "failure", "message": "x"}, Reason.TIMEOUT, False, False),
    # Cloudflare Clef, §7
    "clef 401": (401, clef(10000), Reason.AUTH, True, True),
    "clef 400, questions": (400, clef(5006), Reason.REJECTED, False, True),
    "clef 400, route": (400, clef(7000), Reason.REJECTED, True, True),
    "clef 400, JSON": (400, clef(6003), Reason.REJECTED, False, True),
    "clef 422": (422, clef(5012), Reason.REJECTED, False, True),
    "clef 413": (413, clef(5021), Reason.TOO_LARGE, False, True),
    "clef 429, capacity": (429, clef(3040), Reason.RATE_LIMITED, False, False),
    "clef 429, no more today": (429, clef(4006), Reason.PAYMENT, True, True),
    "clef 529": (529, clef(5012), Reason.PROVIDER_ERROR, False, False),
    # whoever else
    "a redirect": (302, None, Reason.REJECTED, False, True),
    "a page": (502, b"<html>secret</html>", Reason.PROVIDER_ERROR, False, False),
    "nothing": (503, b"", Reason.PROVIDER_ERROR, False, False),
    "a list": (400, [], Reason.REJECTED, False, True),
    "codes of other types": (
        429,
        {"error": {"code": ["insufficient_quota"], "type": {}}, "errors": [7, None]},
        Reason.RATE_LIMITED,
        False,
        False,
    ),
    "nested without end": (500, b"[" * 50_000, Reason.PROVIDER_ERROR, False, False),
}


def response(status: int, body: Any) -> HttpResponse:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpResponse(status, {}, content)


@pytest.mark.parametrize(
    ("status", "body", "reason", "operator", "final"), FAULTS.values(), ids=FAULTS
)
def test_an_error_body_says_why_and_whether_to_ask_again(
    status: int,
    body: Any,
    reason: Reason,
    operator: bool,  # noqa: FBT001
    final: bool,  # noqa: FBT001
) -> None:
    """Protocols §2.6, §3.3, §4.3, §5, §7, §11.3; a message stays behind."""
    fault = fault_of(response(status, body))

    assert (fault.reason, fault.operator) == (reason, operator)
    assert is_final(response(status, body)) is final
    assert "secret" not in str(fault)


# an error that came as a success → reason, whether the operator must act
INSIDE: Mapping[str, tuple[Any, Reason, bool]] = {
    "authentication": (openai(None, "authentication_error"), Reason.AUTH, False),
    "the key": (openai("invalid_api_key"), Reason.AUTH, False),
    "no card": (vercel("customer_verification_required"), Reason.AUTH, False),
    "quota": (openai("insufficient_quota"), Reason.PAYMENT, True),
    "rate": (vercel("rate_limit_exceeded"), Reason.RATE_LIMITED, False),
    "model": (openai("model_not_found"), Reason.REJECTED, True),
    "nothing there": (vercel("not_found"), Reason.REJECTED, True),
    "usage": (typesafe("api_usage_error"), Reason.REJECTED, True),
    "typesafe, the key": (typesafe("authentication_error"), Reason.AUTH, False),
    "typesafe, long": (typesafe("max_tokens_exceeded"), Reason.TOO_LARGE, False),
    "wrapped": ({"error": {"message": WRAPPED}}, Reason.TOO_LARGE, False),
    "refused": (openrouter(502, "OpenAI refused to answer question"), Reason.REFUSED, False),
    "a status as a text": (openai("401"), Reason.AUTH, False),
    "the first one counts": ({"error": {"code": 402, "type": "forbidden"}}, Reason.PAYMENT, False),
    "no status": (openrouter(200), Reason.PROVIDER_ERROR, False),
    "no status either": (openrouter(600), Reason.PROVIDER_ERROR, False),
    "who knows": (openai(None, "server_error"), Reason.PROVIDER_ERROR, False),
    "a text": ({"error": "secret"}, Reason.PROVIDER_ERROR, False),
    "clef, the key": (clef(10000), Reason.AUTH, True),
    "clef, capacity": (clef(3040), Reason.PROVIDER_ERROR, False),
    **{
        f"openrouter {status}": (openrouter(status), reason, operator)
        for status, reason, operator in (
            (400, Reason.REJECTED, False),
            (401, Reason.AUTH, False),
            (402, Reason.PAYMENT, False),
            (403, Reason.AUTH, False),
            (404, Reason.REJECTED, True),
            (413, Reason.TOO_LARGE, False),
            (429, Reason.RATE_LIMITED, False),
            (502, Reason.PROVIDER_ERROR, False),
        )
    },
}


@pytest.mark.parametrize(("body", "reason", "operator"), INSIDE.values(), ids=INSIDE)
@pytest.mark.parametrize("dialect", [openai_dialect, systemone_dialect])
def test_an_error_inside_a_success_is_judged_as_if_it_had_the_status_that_it_names(
    dialect: Any,
    body: Any,
    reason: Reason,
    operator: bool,  # noqa: FBT001
) -> None:
    """protocols §3.3, §14.3: an empty purse or a bad key is none the less one for its 200."""
    said = {"model": "m", "usage": {"input_tokens": 7}, **body}
    if "errors" in body:  # Cloudflare's envelope, taken off before
        assert fault_inside(json.dumps(body).encode()).reason is reason
        return
    with pytest.raises(NoAnswer) as caught:
        dialect.decode(ASK, json.dumps(said).encode())

    fault = caught.value
    assert (fault.reason, fault.operator) == (reason, operator)
    assert fault.reply is not None
    assert fault.reply.usage == Usage(7)
    assert "secret" not in str(fault)


@given(
    status=st.sampled_from([302, 400, 401, 402, 403, 404, 408, 413, 422, 424, 429, 500, 529]),
    content=st.binary(max_size=40)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["error", "detail", "errors", "code", "type", "error_type"]), inner
            )
        ),
        max_leaves=6,
    ).map(lambda value: json.dumps(value).encode()),
)
@settings(derandomize=True, deadline=None)
def test_any_body_is_a_fault_with_a_listed_reason(status: int, content: bytes) -> None:
    fault = fault_of(HttpResponse(status, {}, content))

    assert isinstance(fault, NoAnswer)
    assert fault.reason in Reason
    assert is_final(HttpResponse(status, {}, content)) in (True, False)
    assert fault_inside(content).reason in Reason
