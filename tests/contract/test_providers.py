"""One contract for every provider that is offered, the built-in ones and any stranger's."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import random
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import msgspec
import pytest
import respx

from pointsman import (
    Ask,
    Call,
    Choice,
    Gateway,
    Limits,
    NoAnswer,
    Predicate,
    Provider,
    Reason,
    Reply,
    Score,
    scripted,
)
from pointsman.gateway import http
from pointsman.gateway.acceptance import accept
from pointsman.gateway.answers import Chosen, Held, Scored
from pointsman.gateway.discovery import discover
from pointsman.gateway.gates import Gate
from pointsman.gateway.resilience import check_limits, shape_of
from pointsman.gateway.wire import openai, systemone

NEEDED = {"local": "numpy"}
ASK = Ask(
    {"message": "my router is dead", "history": [{"role": "user", "content": "olá"}]},
    {
        "team": Choice("Which team?", {"billing": "Amounts", "tech": "Faults", "none": ""}, "none"),
        "angry": Predicate("Is the customer angry?", true="shouts", false="is calm"),
        "urgency": Score("How urgent?", ["low", "mid", "high"]),
        "mood": Score("How happy?", low=0, high=10),
    },
)
ASKS = {
    "everything": ASK,
    **{name: Ask(ASK.state, {name: question}) for name, question in ASK.questions.items()},
    "text": Ask("my router is dead", {"team": ASK.questions["team"]}),
    "empty": Ask("", {"team": ASK.questions["team"]}),
    "no words": Ask({"n": 1, "flags": [True, None]}, {"angry": ASK.questions["angry"]}),
    "255 options": Ask("s", {"q": Choice("?", [f"option {at}" for at in range(255)])}),
    "other letters": Ask("Olá, 你好 👋 \u200f\x00", {"angry": ASK.questions["angry"]}),
}
CALL = Call(point="TEAM")


def _answers(dialect: Any, request: httpx.Request) -> httpx.Response:
    """What a good server of the dialect says: the first option, yes, the middle level."""
    asked = dialect.decode_request(request.content)
    said: dict[str, Any] = {}
    for name, question in asked.questions.items():
        if isinstance(question, Choice):
            said[name] = Chosen(next(iter(question.options)), None, 0.9)
        elif isinstance(question, Predicate):
            said[name] = Held(0.9)
        else:
            said[name] = Scored((len(question.levels) - 1) / 2, None, 0.9)
    return httpx.Response(200, content=dialect.encode_reply(asked, said, model=asked.model))


def _chats(request: httpx.Request) -> httpx.Response:
    """What a good chat server says: the first outcome that the schema allows."""
    asked = msgspec.json.decode(request.content)
    fields = asked["response_format"]["json_schema"]["schema"]["properties"]
    said = {name: _filled(one) for name, one in fields.items()}
    message = {"role": "assistant", "content": msgspec.json.encode(said).decode()}
    tokens = [{"token": message["content"], "logprob": 0.0}]
    choice = {"message": message, "finish_reason": "stop", "logprobs": {"content": tokens}}
    return httpx.Response(200, json={"model": asked["model"], "choices": [choice]})


def _filled(field: dict[str, Any]) -> Any:
    """The first that may stand there."""
    plain: dict[Any, Any] = {"string": "so it is", "array": [], "number": 90, "integer": 18}
    return field["enum"][0] if "enum" in field else plain.get(field.get("type"), True)


_jev_answers = partial(_answers, openai)
ADDRESSES = {
    "https://ai-gateway.vercel.sh/v1/decisions": openai,
    "https://api.openai.com/v1/decisions": openai,
    "https://api.typesafe.ai/v1/systemone": systemone,
    "https://openrouter.ai/api/alpha/decisions": systemone,
    "https://api.portkey.ai/v1/decisions": systemone,
    "https://api.cloudflare.com/client/v4/accounts/acc0/ai/run/@cf/cloudflare/clef": systemone,
    "https://api.perplexity.ai/v1/decisions": systemone,
    "http://127.0.0.1:4000/v1/decisions": openai,
    "http://127.0.0.1:9/v1/decisions": openai,
    "http://127.0.0.1:9/v1/systemone": systemone,
}
"""Where each hosted decider goes of itself, and what is spoken there."""


@pytest.fixture
def upstream() -> Iterator[respx.MockRouter]:
    """The only network there is: whoever calls anything else fails."""
    with respx.mock(assert_all_called=False) as router:
        for url, dialect in ADDRESSES.items():
            router.post(url).mock(side_effect=partial(_answers, dialect))
        router.post("https://api.openai.com/v1/chat/completions").mock(side_effect=_chats)
        yield router


def environ(name: str) -> dict[str, str]:
    """What each provider needs to be made, and a log that is silent."""
    keys = ("AI_GATEWAY", "OPENAI", "TYPESAFE", "OPENROUTER", "PORTKEY", "PERPLEXITY", "LITELLM")
    return {
        "DECISION_LOG": "off",
        "DECISION_TEAM_PROVIDER": name if name not in ("current", "scripted") else "",
        "CURRENT_PROVIDER": "jev",
        **{f"{one}_API_KEY": "sk-contract" for one in keys},
        "PORTKEY_PROVIDER_KEY": "sk-contract",
        "CLOUDFLARE_API_TOKEN": "sk-contract",
        "CLOUDFLARE_ACCOUNT_ID": "acc0",
        "LITELLM_BASE_URL": "http://127.0.0.1:4000",
        "LITELLM_MODEL": "fast",
        "CHAT_MODEL": "gpt-4.1-mini",
        "CHAT_API_KEY": "sk-contract",
        "DECISIONS_BASE_URL": "http://127.0.0.1:9/v1",
        "SYSTEMONE_BASE_URL": "http://127.0.0.1:9/v1",
        "COMMITTEE_MEMBERS": "openai,typesafe,jev",
        "DEBATE_MEMBERS": "cfo=chat,cro=chat",
    }


OFFERED = sorted([*discover().offers, "scripted"])


@pytest.fixture(params=OFFERED)
def name(request: pytest.FixtureRequest) -> str:
    """Every name that can be selected, and `scripted`."""
    offered: str = request.param
    if offered in NEEDED:
        pytest.importorskip(NEEDED[offered])
    return offered


@pytest.fixture
def gateway(name: str, upstream: respx.MockRouter) -> Iterator[Gateway]:  # noqa: ARG001
    with Gateway.from_env(environ(name)) as made:
        yield made
    gc.collect(1)  # what a test leaves open is young


@pytest.fixture
def provider(name: str, gateway: Gateway) -> Provider:
    if name == "scripted":
        return scripted("tech")
    return gateway.provider(name)


def replies(gateway: Gateway, provider: Provider, ask: Ask) -> Reply | Reason:
    """Ask as the gateway asks, and give what comes back before it is judged."""
    told: list[Reply | Reason] = []

    class Listens:
        """Passes everything on, and keeps what it saw."""

        name, limits = "listens", Limits()

        def answer(self, ask: Ask, call: Call) -> Reply:
            try:
                told.append(_reply(provider, ask, call))
            except NoAnswer as fault:
                told.append(fault.reason)
                raise
            assert isinstance(told[0], Reply)
            return told[0]

    with gateway.override({"TEAM": Listens()}):
        gateway.ask_sync("TEAM", ask, current=lambda: None)
    return told[0]


def _reply(provider: Any, ask: Ask, call: Call) -> Reply:
    if shape_of(provider) == "answer":
        reply: Reply = provider.answer(ask, call)
        return reply
    if shape_of(provider) == "async":
        waited: Reply = asyncio.run(provider.answer(ask, call))
        return waited
    with http.sync_client() as client:
        exchange = provider.exchange(ask, call)
        until = time.monotonic() + provider.timeout
        sent: Reply = http.send_sync(exchange, client, until, provider.attempts)
        return sent


def test_it_says_who_it_is_and_what_it_takes(name: str, provider: Provider) -> None:
    stands_in = name == "current"  # it is the provider that it stands for
    assert provider.name == ("jev" if stands_in else name)
    assert isinstance(provider.limits, Limits)
    assert provider.limits.options >= 2
    assert provider.limits.levels >= 2
    assert isinstance(getattr(provider, "model", ""), str)


def test_it_has_one_of_the_three_shapes(provider: Any) -> None:
    shape = shape_of(provider)

    if shape == "exchange":
        assert provider.timeout > 0
        assert provider.attempts >= 1
        assert not hasattr(provider, "answer")


def test_making_it_is_deterministic_and_opens_nothing(
    name: str, upstream: respx.MockRouter
) -> None:
    """Two gateways of the same variables hold the same provider; no thread, no request."""
    if name == "scripted":
        pytest.skip("made by hand, not by a gateway")
    threads, environment = threading.active_count(), dict(os.environ)

    made = [Gateway.from_env(environ(name)).provider(name) for _ in range(2)]

    assert made[0] is not made[1]
    assert getattr(made[0], "model", "") == getattr(made[1], "model", "")
    assert made[0].limits == made[1].limits
    assert threading.active_count() == threads
    assert dict(os.environ) == environment
    assert not upstream.calls


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_an_ask_within_limits_gives_a_reply_that_can_be_judged(
    gateway: Gateway, provider: Provider, name: str, ask: Ask
) -> None:
    """Valid, if perhaps too unsure; or no answer, with a listed reason. Nothing else."""
    check_limits(ask, provider.limits)
    if name == "scripted":
        provider = scripted({one: _plain(q) for one, q in ask.questions.items()})

    reply = replies(gateway, provider, ask)

    if isinstance(reply, Reply):
        verdict = accept(ask, reply, Gate(0.0))
        assert verdict.reason is Reason.OK
        assert verdict.answers.keys() == ask.questions.keys()
    else:
        assert reply is not Reason.PROVIDER_ERROR


def _plain(question: Any) -> Any:
    if isinstance(question, Choice):
        return next(iter(question.options))
    return True if isinstance(question, Predicate) else question.high


def test_the_same_ask_gives_the_same_answers(gateway: Gateway, provider: Provider) -> None:
    ask = ASKS["team"]

    first, second = (replies(gateway, provider, ask) for _ in range(2))

    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert accept(ask, first, Gate(0)).answers == accept(ask, second, Gate(0)).answers


def test_through_the_gateway_it_ends_in_a_decision(gateway: Gateway, provider: Provider) -> None:
    """Sync and async, whoever answers in the end."""
    ask = ASKS["team"]

    async def main() -> Any:
        async with gateway:
            return await gateway.ask("TEAM", ask, current=lambda: "billing")

    with gateway.override({"TEAM": provider}):
        for made in (gateway.ask_sync("TEAM", ask, current=lambda: "billing"), asyncio.run(main())):
            assert made.value in ASK.questions["team"].options  # type: ignore[union-attr]
            assert made.attempts[0].provider == provider.name
            assert made.attempts[0].reason in (Reason.OK, Reason.LOW_CONFIDENCE)


def test_it_touches_nothing_that_belongs_to_the_process(
    gateway: Gateway, provider: Provider
) -> None:
    """No logging set up, no random state used, no warning filter, no variable."""
    random.seed(7)
    before = _process()
    expected = random.random()
    random.seed(7)

    replies(gateway, provider, ASKS["team"])

    assert random.random() == expected
    assert _process() == before


def _process() -> Any:
    root = logging.getLogger()
    return (
        list(root.handlers),
        root.level,
        list(warnings.filters),
        dict(os.environ),
        os.getcwd(),  # noqa: PTH109 - what a provider might change
        threading.excepthook,
    )


def test_it_can_be_closed_twice_and_be_used_again(gateway: Gateway, provider: Provider) -> None:
    close: Callable[[], None] | None = getattr(provider, "close", None)
    for _ in range(2):
        if close is not None:
            close()
        gateway.close()

    assert isinstance(replies(gateway, provider, ASKS["team"]), Reply)


def test_its_repr_and_its_replies_hold_no_secret(gateway: Gateway, provider: Provider) -> None:
    reply = replies(gateway, provider, ASKS["team"])

    assert "sk-contract" not in repr(provider) + repr(vars(provider)) + repr(reply)
    assert isinstance(reply, Reply)
    assert b"sk-contract" not in msgspec.json.encode(reply)


# --- jev ---------------------------------------------------------------------------------


def test_jev_asks_as_the_protocol_says(upstream: respx.MockRouter) -> None:
    """Key, model, one vendor only, and no second layer of fallbacks."""
    gateway = Gateway.from_env(environ("jev"))

    made = gateway.ask_sync("TEAM", ASK, current=lambda: None)
    gateway.close()

    assert made.provider == "jev"
    request = upstream.calls.last.request
    assert request.headers["authorization"] == "Bearer sk-contract"
    assert request.headers["content-type"] == "application/json"
    body = msgspec.json.decode(request.content)
    assert body["model"] == "typesafe-ai/jev"
    assert body["providerOptions"] == {"gateway": {"only": ["typesafe-ai"]}}
    assert body["input"] == ASK.text
    assert [question["name"] for question in body["questions"]] == list(ASK.questions)
    assert body["questions"][1]["instructions"].endswith("\ntrue: shouts\nfalse: is calm")
    assert [one["label"] for one in body["questions"][3]["levels"]] == [
        "0",
        "2",
        "4",
        "6",
        "8",
        "10",
    ]


@pytest.mark.parametrize(
    ("header", "model", "reason"),
    [
        ({}, "typesafe-ai/jev", Reason.OK),
        ({}, "typesafe-ai/jev-1.13.0", Reason.OK),
        ({}, "jev-1.14.0", Reason.OK),
        ({}, "", Reason.OK),
        ({}, "openai/gpt-6-luna-decisions", Reason.MISMATCHED),
        ({}, "typesafe-ai/jevelin", Reason.MISMATCHED),
        ({}, "acme/jev", Reason.MISMATCHED),
        ({}, "acme/jev-1.13.0", Reason.MISMATCHED),
        (
            {"x-ai-gateway-decision-fallback-triggered": "true"},
            "typesafe-ai/jev",
            Reason.MISMATCHED,
        ),
    ],
)
def test_jev_believes_only_the_model_it_asked_for(
    upstream: respx.MockRouter, header: dict[str, str], model: str, reason: Reason
) -> None:
    """A dated suffix is the same model; another one is not, and its cost is kept."""
    usage = {"input_tokens": 1000, "output_tokens": 0}
    held = {"type": "predicate", "name": "q", "probability": 0.9}
    content = msgspec.json.encode({"answers": [held], "model": model, "usage": usage})
    upstream.post("https://ai-gateway.vercel.sh/v1/decisions").mock(
        return_value=httpx.Response(200, content=content, headers={**header, "x-request-id": "r-1"})
    )
    gateway = Gateway.from_env(environ("jev"))

    made = gateway.ask_sync("TEAM", Ask("s", {"q": Predicate("?")}), current=lambda: True)
    gateway.close()

    (attempt, *_) = made.attempts
    assert attempt.reason is reason
    assert attempt.request_id == "r-1"
    assert attempt.usage is not None
    assert attempt.usage.estimated
    usd = 0.10e-6 if "luna" in model else 0.042e-6  # of the model that was paid
    assert made.record.cost_usd == pytest.approx(1000 * usd)


def test_a_model_without_a_vendor_names_none(upstream: respx.MockRouter) -> None:
    """`only: ["jev"]` would keep everybody out."""
    gateway = Gateway.from_env({**environ("jev"), "JEV_MODEL": "jev"})

    made = gateway.ask_sync("TEAM", ASK, current=lambda: None)
    gateway.close()

    body = msgspec.json.decode(upstream.calls.last.request.content)
    assert (body["model"], body.get("providerOptions")) == ("jev", None)
    assert made.provider == "jev"


def test_half_an_emoji_is_asked_all_the_same(upstream: respx.MockRouter) -> None:
    """A truncation by the host is no failure of the provider."""
    gateway = Gateway.from_env(environ("jev"))

    for state in ("cut \ud83d", {"said": "cut \ud83d"}):
        made = gateway.ask_sync("TEAM", Ask(state, ASK.questions), current=lambda: None)
        assert made.provider == "jev"
        assert "cut \ufffd" in msgspec.json.decode(upstream.calls.last.request.content)["input"]
    gateway.close()


def test_jev_takes_another_base_url_and_model(upstream: respx.MockRouter) -> None:
    """A proxy in front, or a model pinned by its date."""
    route = upstream.post("http://proxy.test/v1/decisions").mock(side_effect=_jev_answers)
    gateway = Gateway.from_env(
        {
            **environ("jev"),
            "JEV_BASE_URL": "http://proxy.test/v1/",
            "JEV_ALLOW_HTTP": "true",
            "JEV_MODEL": "liquid/d1-ultra",
        }
    )

    gateway.ask_sync("TEAM", ASK, current=lambda: None)
    gateway.close()

    body = msgspec.json.decode(route.calls.last.request.content)
    assert (body["model"], body["providerOptions"]) == (
        "liquid/d1-ultra",
        {"gateway": {"only": ["liquid"]}},
    )
