"""One contract for each row of the table of endpoints, against a real server that misbehaves."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable
from typing import Any

import pytest

from dialects import COST, TOKENS, VENDORS, Fault, Vendor, faults_of, written
from faulty import ASK, Does, Server, chosen, failed, hangs, replies
from pointsman import Ask, Choice, Decision, Gateway, Predicate, Reason, Score, Usage
from pointsman.gateway.retries import RETRIED

SUBJECT = "zq7-subject"
STATE = {"message": "zq7-state my router is dead"}
EVERYTHING = Ask(
    STATE,
    {
        "team": Choice("Which team?", {"billing": "Amounts", "tech": "Faults", "none": ""}, "none"),
        "angry": Predicate("Is the customer angry?", true="shouts", false="is calm"),
        "calm": Predicate("Is the customer calm?"),
        "urgency": Score("How urgent?", ["low", "mid", "high"]),
        "mood": Score("How happy?", {"sad": "weeps", "glad": "laughs"}),
    },
)
Make = Callable[..., Gateway]

each = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.id)


@pytest.fixture
def make(server: Server, gateway_of: Make, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a gateway whose decisions a vendor makes; strange hosts are reached by a proxy."""
    for name in [one for one in os.environ if one.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)

    def of(vendor: Vendor, does: Does, **environ: str) -> Gateway:
        server.does(does)
        here = f"127.0.0.1:{server.port}"
        if "{here}" not in vendor.base:
            monkeypatch.setenv("HTTP_PROXY", f"http://{here}")
        prefix = vendor.provider.upper()
        own = {f"{prefix}_{name}": value for name, value in environ.items() if name.isupper()}
        return gateway_of({**vendor.environ(here), **own})

    return of


def decide(gateway: Gateway, ask: Ask = ASK, colour: str = "sync") -> Decision[Any]:
    def current() -> str:
        return "billing"

    if colour == "sync":
        return gateway.ask_sync("TEAM", ask, current=current, subject=SUBJECT)
    return asyncio.run(gateway.ask("TEAM", ask, current=current, subject=SUBJECT))


# --- what is sent ------------------------------------------------------------------------


@each
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_good_answers_of_every_type_are_believed(
    server: Server, make: Make, vendor: Vendor, colour: str
) -> None:
    """protocols §3.2, §4.2: all kinds in one call, read as they are meant."""
    decision = decide(make(vendor, vendor.speaks()), EVERYTHING, colour)

    assert [one.reason for one in decision.attempts] == [Reason.OK]
    assert decision.value == {
        "team": "billing",
        "angry": True,
        "calm": True,
        "urgency": 1.0,
        "mood": 0.5,
    }
    assert len(server.seen) == 1


@each
def test_the_body_decides_and_not_what_it_is_labelled_as(make: Make, vendor: Vendor) -> None:
    """A proxy may call JSON a text; a page that is none is among the faults."""
    labelled = vendor.replies(vendor.answered(chosen("tech")), 200, content_type="text/plain")

    assert decide(make(vendor, labelled)).value == "tech"


@each
def test_a_request_is_what_the_vendor_documents(server: Server, make: Make, vendor: Vendor) -> None:
    """protocols §2.2, §3.1, §4.1, §5–§8: path, keys, model, routing, and nothing else beside."""
    decide(make(vendor, vendor.speaks()))

    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", vendor.path)
    assert seen.headers["content-type"] == "application/json"
    told = {name for name in seen.headers if name.startswith(("authorization", "x-"))}
    assert {name: seen.headers[name] for name in told} == vendor.headers
    body = json.loads(seen.body)
    assert body.pop("model", "") == vendor.model
    assert (body.pop("input", None) or body.pop("state")) == ASK.text
    assert len(body.pop("questions")) == 1
    body.pop(vendor.subject, None)
    assert body == vendor.beside


@each
def test_the_subject_is_sent_as_a_hash_and_only_where_it_is_wanted(
    server: Server, make: Make, vendor: Vendor
) -> None:
    """protocols §2.5: at most 64 characters, the same for the same subject, never itself."""
    gateway = make(vendor, vendor.speaks())
    for _ in range(2):
        decide(gateway)
    gateway.ask_sync("TEAM", ASK, current=lambda: "billing", subject="somebody else")
    gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    bodies = [json.loads(seen.body) for seen in server.seen]
    assert SUBJECT not in b"".join(seen.body for seen in server.seen).decode()
    hashes = [body.get(vendor.subject) if vendor.subject else None for body in bodies]
    if not vendor.subject:
        assert not any({"safety_identifier", "user"} & body.keys() for body in bodies)
        return
    first, again, other, nobody = hashes
    assert first == again != other
    assert nobody is None
    assert re.fullmatch("[0-9a-f]{64}", str(first))


# --- what comes back ---------------------------------------------------------------------


@each
def test_an_answers_own_story_is_recorded(server: Server, make: Make, vendor: Vendor) -> None:
    """protocols §11.2: model served, request id, tokens, cost; estimated where it is not told."""
    (attempt,) = decide(make(vendor, vendor.says())).attempts

    assert attempt.reason is Reason.OK
    assert (attempt.model, attempt.request_id) == (vendor.served, "req_1")
    assert attempt.usage == vendor.billed
    assert len(server.seen) == 1


@each
def test_a_model_that_is_not_told_is_the_one_asked_for(make: Make, vendor: Vendor) -> None:
    (attempt,) = decide(make(vendor, vendor.says(model=""))).attempts

    assert (attempt.reason, attempt.model) == (Reason.OK, vendor.model)


def _thirds(first: float, second: float, third: float, option: str = "tech") -> dict[str, Any]:
    spread = {"billing": first, "tech": second, "none": third}
    return chosen(option, spread=spread)


def _levels(score: float, *probabilities: float) -> dict[str, Any]:
    labels = ("low", "mid", "high")
    listed = [
        {"value": at, "label": labels[at], "probability": p} for at, p in enumerate(probabilities)
    ]
    said = {"score": score, "confidence": 0.9, "probabilities": listed}
    return {"type": "score", "name": "urgency", **said}


ROUNDED = {
    "sum of 0.99": _thirds(0.33, 0.33, 0.33),
    "sum of 1.01": _thirds(0.34, 0.34, 0.33),
    "0.01 below the maximum": _thirds(0.5, 0.49, 0.01),
    "a level's mean off by 0.01": _levels(1.71, 0.05, 0.2, 0.75),
    "levels that sum to 0.99": _levels(0.99, 0.33, 0.33, 0.33),
    "a level left out": _levels(1.0, 0.0, 1.0),
}


@each
@pytest.mark.parametrize("answer", ROUNDED.values(), ids=ROUNDED)
def test_numbers_rounded_to_two_decimals_are_believed(
    make: Make, vendor: Vendor, answer: dict[str, Any]
) -> None:
    """protocols §4.2: every number is rounded by itself; sums of 0.99 and 1.01 are no fault."""
    name = answer["name"]
    ask = Ask(STATE, {name: EVERYTHING.questions[name]})

    assert decide(make(vendor, vendor.says(answer)), ask).attempts[0].reason is Reason.OK


@each
def test_the_whole_table_of_faults(server: Server, make: Make, vendor: Vendor) -> None:
    """Whatever it does wrong: one request, one listed reason, current decides; what it cost."""
    faults = faults_of(vendor)
    here = {name: one for name, one in faults.items() if one.url == "{here}"}
    colours = ("sync", "async")

    wrong = {
        name: found
        for at, (name, fault) in enumerate(here.items())
        if (found := _met(server, make, vendor, fault, colours[at % 2])) != _expected(vendor, fault)
    }

    assert wrong == {}


def _met(server: Server, make: Make, vendor: Vendor, fault: Fault, colour: str) -> object:
    seconds = "10" if fault.seconds > 1 else "0.1"
    gateway = make(vendor, fault.does, MAX_ATTEMPTS="1", TIMEOUT_SECONDS=seconds)
    decision = decide(gateway, colour=colour)
    first = decision.attempts[0]
    return len(server.seen), decision.provider, first.reason, first.usage


def _expected(vendor: Vendor, fault: Fault) -> object:
    return 1, "current", fault.reason, vendor.billed if fault.billed else None


# --- money -------------------------------------------------------------------------------


@each
def test_a_cost_of_nothing_is_estimated_where_the_price_is_known(
    make: Make, vendor: Vendor
) -> None:
    """protocols §2.6: while free credit lasts `cost` is "0"; a guard computes from tokens."""
    told = {"provider_metadata": {"gateway": {"cost": "0"}}}
    (attempt,) = decide(make(vendor, vendor.says(**told))).attempts

    usage = attempt.usage
    assert usage is not None
    if vendor.id in ("decisions", "systemone"):
        assert usage == Usage(TOKENS, 0, 0.0)  # one's own machine: as it says
    elif vendor.cost == "usage":
        assert usage == Usage(TOKENS, 0, COST)
    elif vendor.id == "litellm":
        assert usage.cost_usd == pytest.approx(TOKENS * 0.042e-6)
        assert usage.estimated
    else:
        usd = vendor.usd_per_million or 0.042
        assert usage.cost_usd == pytest.approx(TOKENS * usd * 1e-6)
        assert usage.estimated


@each
def test_the_cost_of_a_model_that_nobody_knows_is_none(make: Make, vendor: Vendor) -> None:
    """A guess would be counted as money."""
    if vendor.cost:
        pytest.skip("this vendor tells it")
    (attempt,) = decide(make(vendor, vendor.says(model="acme"), MODEL="acme")).attempts

    assert attempt.reason is Reason.OK
    assert attempt.usage == Usage(TOKENS, 0)


# --- errors ------------------------------------------------------------------------------


def _detail(error: object) -> bytes:
    return json.dumps({"detail": error}).encode()


def _errors(code: int, message: str = "zq7") -> bytes:
    body = {"result": None, "success": False, "errors": [{"code": code, "message": message}]}
    return json.dumps(body).encode()


def _error(code: object, message: str = "zq7", kind: str | None = None) -> bytes:
    return json.dumps({"error": {"code": code, "type": kind, "message": message}}).encode()


LONG = "AI_APICallError: max_tokens_exceeded"
ERRORS: dict[str, list[tuple[int, bytes, Reason]]] = {
    "jev": [  # §2.6
        (400, _error(None, "zq7", "invalid_request_error"), Reason.REJECTED),
        (400, _error("no_providers_available"), Reason.REJECTED),
        (400, _error(None, LONG), Reason.TOO_LARGE),
        (401, _error(None, "zq7", "authentication_error"), Reason.AUTH),
        (402, _error(None, "zq7", "quota_for_entity_exceeded"), Reason.PAYMENT),
        (403, _error("customer_verification_required"), Reason.AUTH),
        (404, _error(None, "zq7", "model_not_found"), Reason.REJECTED),
        (422, _error(None, "request rejected"), Reason.REJECTED),
        (424, _error(None, "zq7", "failed_dependency"), Reason.PROVIDER_ERROR),
        (429, _error(None, "Rate limit exceeded", "rate_limit_exceeded"), Reason.RATE_LIMITED),
        (500, _error(None, "zq7", "internal_server_error"), Reason.PROVIDER_ERROR),
    ],
    "systemone, Vercel": [  # §2.7
        (400, b'{"message": "zq7", "error_type": "max_tokens_exceeded"}', Reason.TOO_LARGE),
        (401, b'{"message": "zq7", "error_type": "authentication_error"}', Reason.AUTH),
        (404, b'{"message": "zq7", "error_type": "model_not_found"}', Reason.REJECTED),
    ],
    "openai": [  # §3.3
        (400, _error("invalid_value", "zq7", "invalid_request_error"), Reason.REJECTED),
        (401, _error("invalid_api_key"), Reason.AUTH),
        (403, _error("unsupported_country_region_territory"), Reason.AUTH),
        (404, _error("model_not_found"), Reason.REJECTED),
        (422, _error(None), Reason.REJECTED),
        (429, _error("insufficient_quota"), Reason.PAYMENT),
        (429, _error("rate_limit_exceeded"), Reason.RATE_LIMITED),
        (
            503,
            _error(None, "Decision inference is unavailable.", "server_error"),
            Reason.PROVIDER_ERROR,
        ),
    ],
    "typesafe": [  # §4.3
        (400, _detail({"error_type": "api_usage_error", "message": "zq7"}), Reason.REJECTED),
        (400, _detail({"error_type": "max_tokens_exceeded"}), Reason.TOO_LARGE),
        (400, _detail("too many choices"), Reason.REJECTED),
        (401, _detail({"error_type": "authentication_error"}), Reason.AUTH),
        (403, _detail({"error_type": "authentication_error"}), Reason.AUTH),
        (
            422,
            _detail([{"loc": ["body"], "msg": "zq7", "type": "missing"}]),
            Reason.REJECTED,
        ),
        (429, _detail("zq7"), Reason.RATE_LIMITED),
        (529, _detail("zq7"), Reason.PROVIDER_ERROR),
    ],
    "openrouter": [  # §5
        *((code, _error(code), Reason.REJECTED) for code in (400, 404)),
        *((code, _error(code), Reason.AUTH) for code in (401, 403)),
        (402, _error(402), Reason.PAYMENT),
        (413, _error(413), Reason.TOO_LARGE),
        (429, _error(429), Reason.RATE_LIMITED),
        *((code, _error(code), Reason.PROVIDER_ERROR) for code in (500, 502, 503, 524, 529)),
        (502, _error(502, "OpenAI refused to answer question 'team'"), Reason.REFUSED),
    ],
    "clef": [  # §7
        (401, _errors(10000), Reason.AUTH),
        (400, _errors(5006), Reason.REJECTED),
        (400, _errors(7000), Reason.REJECTED),
        (400, _errors(6003), Reason.REJECTED),
        (422, _errors(5012), Reason.REJECTED),
        (413, _errors(5021), Reason.TOO_LARGE),
        (429, _errors(3040), Reason.RATE_LIMITED),
        (429, _errors(4006), Reason.PAYMENT),
        (529, _errors(5012), Reason.PROVIDER_ERROR),
        (200, _errors(10000), Reason.AUTH),
        (200, _errors(1), Reason.PROVIDER_ERROR),
    ],
    "litellm": [  # §8
        (400, _error("400", "safety_identifier is not supported"), Reason.REJECTED),
        (500, _error("500", "no confidence"), Reason.PROVIDER_ERROR),
    ],
}
SAID = [
    pytest.param(vendor, *row, id=f"{vendor.id}: {row[0]} {at}")
    for vendor in VENDORS
    for at, row in enumerate(ERRORS.get(vendor.id, ()))
]


@pytest.mark.parametrize(("vendor", "status", "body", "reason"), SAID)
def test_every_error_body_that_is_documented(
    server: Server, make: Make, vendor: Vendor, status: int, body: bytes, reason: Reason
) -> None:
    """protocols §11.3: the codes in a body say more than its status; its words are never kept."""
    gateway = make(vendor, replies(body, status))

    decision = decide(gateway)

    assert decision.attempts[0].reason is reason
    assert len(server.seen) == (2 if status in RETRIED and status != 429 and _heals(reason) else 1)


def _heals(reason: Reason) -> bool:
    return reason in (Reason.PROVIDER_ERROR, Reason.TIMEOUT)


FINAL = {
    "insufficient_quota": ("openai", _error("insufficient_quota")),
    "Clef 4006": ("clef", _errors(4006)),
    "a refusal": ("openrouter", _error(502, "OpenAI refused to answer question 'team'")),
}


@pytest.mark.parametrize(("vendor", "body"), FINAL.values(), ids=FINAL)
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_what_no_waiting_heals_is_never_sent_again(
    server: Server, make: Make, vendor: str, body: bytes, colour: str
) -> None:
    """protocols §11.3: an empty quota looks like a rate limit, and says when to come back."""
    (one,) = [each for each in VENDORS if each.id == vendor]
    status = 502 if vendor == "openrouter" else 429
    gateway = make(one, replies(body, status, {"retry-after": "0"}), MAX_ATTEMPTS="5")

    decide(gateway, colour=colour)

    assert len(server.seen) == 1


@each
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_rate_limit_that_says_when_is_waited_for(
    server: Server, make: Make, vendor: Vendor, colour: str
) -> None:
    """protocols §11.3: once, inside the deadline."""
    gateway = make(vendor, vendor.speaks())
    busy = replies(failed("rate_limit_exceeded"), 429, {"retry-after": "0"})
    server.does(busy, vendor.speaks())

    decision = decide(gateway, colour=colour)

    assert decision.attempts[0].reason is Reason.OK
    assert len(server.seen) == 2


@each
def test_cancellation_reaches_the_socket(server: Server, make: Make, vendor: Vendor) -> None:
    gateway = make(vendor, hangs())

    async def main() -> None:
        task = asyncio.create_task(gateway.ask("TEAM", ASK, current=lambda: "billing"))
        await server.reached()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.abandoned()
        await gateway.aclose()

    asyncio.run(main())


@each
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ({"type": "authentication_error"}, Reason.AUTH),
        ({"code": 402}, Reason.PAYMENT),
        ({"code": "model_not_found"}, Reason.REJECTED),
    ],
    ids=["key", "purse", "model"],
)
def test_an_error_inside_a_success_is_told_to_the_operator(
    make: Make, vendor: Vendor, error: dict[str, Any], reason: Reason
) -> None:
    """protocols §3.3: it keeps its meaning, and the fallback does not hide it."""
    gateway = make(vendor, vendor.says(error=error))

    (attempt, _) = decide(gateway).attempts

    assert (attempt.reason, attempt.usage) == (reason, vendor.billed)
    assert [one.fault for one in gateway.health()] == [reason]


# --- served by somebody else -------------------------------------------------------------


def _routed(**routing: object) -> dict[str, Any]:
    return {"provider_metadata": {"gateway": {"routing": routing, "cost": "0.0000089"}}}


ROUTED: dict[str, dict[str, Any]] = {
    "jev": _routed(finalProvider="digitalocean"),
    "systemone, Vercel": _routed(finalProvider="digitalocean", resolvedProvider="digitalocean"),
    "openrouter": {"provider": "DigitalOcean"},
    "openrouter, systemone": {"provider": "DigitalOcean"},
}
KEPT: dict[str, dict[str, Any]] = {
    "jev": _routed(finalProvider="typesafe-ai", modelAttempts=[{"modelId": "typesafe-ai/jev"}]),
    "systemone, Vercel": _routed(finalProvider="typesafe-ai", modelAttempts=None),
    "openrouter": {"provider": "TypeSafe"},
    "openrouter, systemone": {"provider": None},
}


@pytest.mark.parametrize("vendor", [one for one in VENDORS if one.id in ROUTED], ids=str)
def test_another_vendor_than_the_one_asked_for_is_not_believed(make: Make, vendor: Vendor) -> None:
    """protocols §2.4, §14.5: the same model elsewhere is another contract about the data."""
    reason = {
        row: decide(make(vendor, vendor.says(**told[vendor.id]))).attempts[0].reason
        for row, told in (("elsewhere", ROUTED), ("here", KEPT))
    }

    assert reason == {"elsewhere": Reason.MISMATCHED, "here": Reason.OK}


TRIGGERED = [{"modelId": "a"}, {"modelId": "b", "triggeredBy": [{"question": "team"}]}]


@pytest.mark.parametrize(
    "vendor", [one for one in VENDORS if "ai-gateway" in one.fallback], ids=str
)
def test_a_fallback_that_the_body_alone_tells_is_not_believed(make: Make, vendor: Vendor) -> None:
    """protocols §2.4: `modelAttempts[].triggeredBy`, with the headers or without them."""
    told = _routed(finalProvider="typesafe-ai", modelAttempts=TRIGGERED)
    spoilt = chosen(name="angry", confidence=float("nan"))
    bodies = [vendor.says(**told), vendor.says(chosen(), spoilt, **told)]

    for does in bodies:
        (attempt, _) = decide(make(vendor, does)).attempts
        assert (attempt.reason, attempt.usage) == (Reason.MISMATCHED, vendor.billed)


@pytest.mark.parametrize(
    ("resolved", "reason"), [("typesafe-ai", Reason.MISMATCHED), ("baseten", Reason.OK)]
)
def test_a_model_without_a_vendor_is_held_to_the_one_first_meant(
    make: Make, resolved: str, reason: Reason
) -> None:
    """protocols §2.7: TypeSafe's own clients send a bare name."""
    (vercel,) = [one for one in VENDORS if one.id == "systemone, Vercel"]
    told = _routed(resolvedProvider=resolved, finalProvider="baseten")
    gateway = make(vercel, vercel.says(model="jev-1.13.0", **told), MODEL="jev-1.13.0")

    assert decide(gateway).attempts[0].reason is reason


# --- names -------------------------------------------------------------------------------


@each
def test_names_that_a_vendor_does_not_take_come_back_as_they_were(
    server: Server, make: Make, vendor: Vendor
) -> None:
    """protocols §7: Clef takes `[A-Za-z0-9_.-]`, at most 100; the caller notices nothing."""
    question = ASK.questions["team"]
    names = ["team", "q0", "é quem?", "ROUTER.team.1", "a" * 101, "two words"]
    ask = Ask(STATE, dict.fromkeys(names, question))

    decision = decide(make(vendor, vendor.speaks()), ask)

    assert decision.value == dict.fromkeys(names, "billing")
    questions = json.loads(server.seen[0].body)["questions"]
    sent = list(questions) if isinstance(questions, dict) else [one["name"] for one in questions]
    if vendor.id == "clef":
        assert all(one.isascii() and len(one) <= 100 and " " not in one for one in sent)
        assert [one for one in sent if one in names] == ["team", "q0", "ROUTER.team.1"]
    else:
        assert sent == names


def test_an_answer_under_a_name_that_was_not_sent_is_not_taken(make: Make) -> None:
    """Of a renamed question the server knows the new name alone."""
    (clef,) = [one for one in VENDORS if one.id == "clef"]
    ask = Ask(STATE, {"two words": ASK.questions["team"]})

    decision = decide(make(clef, clef.says(chosen(name="two words"))), ask)

    assert decision.attempts[0].reason is Reason.MISMATCHED


def test_written_keeps_both_of_two_names() -> None:
    """The helper of these tests can say what a JSON library would not."""
    (clef,) = [one for one in VENDORS if one.id == "clef"]

    assert clef.answered(chosen(), chosen()).count(b'"team"') == 2
    assert json.loads(written({"a": [1, None, "é"]})) == {"a": [1, None, "é"]}
