"""Whatever a decision API does wrong: exactly one fallback, or exactly one clear error."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec
import pytest

from faulty import (
    ASK,
    Does,
    Server,
    answered,
    chosen,
    cuts,
    drips,
    drops,
    failed,
    floods,
    hangs,
    replies,
)
from pointsman import Decision, Gateway, NoAnswer, Reason, Usage

Colour = Literal["async", "sync"]
BILLED = Usage(212, 0, 0.0000089)  # what every answer of the server says it cost


class Fault(msgspec.Struct):
    """
    One row of the table.

    Attributes:
        does: What the server does.
        reason: How the attempt is recorded.
        calls: How many requests reach the server: retries are bounded by two attempts.
        billed: Whether the rejected answer says what it cost.
        seconds: The provider's timeout.
        url: Where the provider is sent; `here` is the server.

    """

    does: Does
    reason: Reason
    calls: int = 1
    billed: bool = False
    seconds: float = 10.0
    url: str = "{here}"


def says(reason: Reason, *answers: object, **said: object) -> Fault:
    """A row whose answer is readable, costs money, and may not be believed."""
    return Fault(replies(answered(*answers, **said)), reason, billed=True)


def status(code: int, reason: Reason, calls: int = 1, body: object = None, **headers: str) -> Fault:
    """A row that is no success."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(replies(body or failed("some_error"), code, named), reason, calls)


def literal(number: str) -> Fault:
    """A row with a number that Python would write, and JSON does not know."""
    body = msgspec.json.encode(answered()).replace(b"0.93", number.encode())
    return Fault(replies(body), Reason.INVALID_NUMBER, billed=True)


def spread(billing: float, tech: float, none: float) -> object:
    return chosen(spread={"billing": billing, "tech": tech, "none": none})


TWICE = [{"value": "tech", "probability": 0.5}, {"value": "tech", "probability": 0.5}]

FAULTS: dict[str, Fault] = {
    # nobody there
    "refused connection": Fault(replies(), Reason.TRANSPORT, 0, url="{refused}"),
    "DNS failure": Fault(replies(), Reason.TRANSPORT, 0, url="http://nowhere.invalid/v1"),
    "TLS failure": Fault(replies(), Reason.TRANSPORT, 0, url="https://127.0.0.1:{port}/v1"),
    "hung up": Fault(drops(), Reason.TRANSPORT),
    "cut off": Fault(cuts(), Reason.TRANSPORT),
    # nobody in time
    "read timeout": Fault(hangs(), Reason.TIMEOUT, seconds=0.3),
    "slow drip, head": Fault(drips("head"), Reason.TIMEOUT, seconds=0.3),
    "slow drip, body": Fault(drips("body"), Reason.TIMEOUT, seconds=0.3),
    # no success
    "307": status(307, Reason.REJECTED, location="/v1/elsewhere"),
    "400": status(400, Reason.REJECTED),
    "400, too long": status(400, Reason.TOO_LARGE, body=failed("e", None, "max_tokens_exceeded")),
    "401": status(401, Reason.AUTH),
    "402": status(402, Reason.PAYMENT),
    "403": status(403, Reason.AUTH),
    "404": status(404, Reason.REJECTED, body=failed("model_not_found")),
    "408": status(408, Reason.TIMEOUT, 2),
    "413": status(413, Reason.TOO_LARGE),
    "422": status(422, Reason.REJECTED),
    "424": status(424, Reason.PROVIDER_ERROR),
    "429": status(429, Reason.RATE_LIMITED),
    "429, quota": status(429, Reason.PAYMENT, body=failed("insufficient_quota")),
    "429, Retry-After fits": status(429, Reason.RATE_LIMITED, 2, retry_after="0"),
    "429, Retry-After does not": status(429, Reason.RATE_LIMITED, retry_after="3600"),
    "500": status(500, Reason.PROVIDER_ERROR, 2),
    "503": status(503, Reason.PROVIDER_ERROR, 2),
    "529": status(529, Reason.PROVIDER_ERROR, 2),
    # no decision
    "empty": Fault(replies(b""), Reason.MALFORMED),
    "not JSON": Fault(replies(b"<html>Bad gateway</html>"), Reason.MALFORMED),
    "not UTF-8": Fault(replies(b'{"answers": "\xff"}'), Reason.MALFORMED),
    "truncated JSON": Fault(replies(msgspec.json.encode(answered())[:-9]), Reason.MALFORMED),
    "wrong shape": says(Reason.MALFORMED, answers={"team": "tech"}),
    "wrong shape inside": says(Reason.MALFORMED, chosen(confidence="high")),
    "unknown kind": says(Reason.MALFORMED, chosen(type="ranking")),
    "oversized body": Fault(floods(9 * 1024 * 1024), Reason.MALFORMED),
    "error inside 200": says(Reason.PROVIDER_ERROR, **failed("server_error")),
    # another decision
    "wrong type": says(Reason.WRONG_TYPE, {"type": "predicate", "name": "team", "probability": 1}),
    "missing answer": says(Reason.INCOMPLETE, empty=True),
    "extra answer": says(Reason.MISMATCHED, chosen(), chosen(name="mood")),
    "renamed answer": says(Reason.MISMATCHED, chosen(name="squad")),
    "duplicate name": says(Reason.MISMATCHED, chosen(), chosen()),
    "another model": says(Reason.MISMATCHED, model="openai/gpt-6-luna-decisions"),
    "another model, near": says(Reason.MISMATCHED, model="typesafe-ai/jevelin"),
    "vendor's fallback": Fault(
        replies(answered(), headers={"x-ai-gateway-decision-fallback-triggered": "true"}),
        Reason.MISMATCHED,
        billed=True,
    ),
    # numbers and options
    "undeclared option": says(Reason.UNDECLARED_OPTION, chosen("sales")),
    "undeclared in spread": says(Reason.UNDECLARED_OPTION, chosen(spread={"sales": 1.0})),
    "NaN": literal("NaN"),
    "Infinity": literal("-Infinity"),
    "1.7": says(Reason.INVALID_NUMBER, chosen(confidence=1.7)),
    "1.7 in spread": says(Reason.INVALID_NUMBER, spread(0.0, 1.7, 0.0)),
    "percent": says(Reason.INVALID_NUMBER, chosen(confidence=93)),
    "negative": says(Reason.INVALID_NUMBER, chosen(confidence=-0.1)),
    "negative in spread": says(Reason.INVALID_NUMBER, spread(-0.03, 0.95, 0.08)),
    "sum of 0.8": says(Reason.INCONSISTENT, spread(0.1, 0.6, 0.1)),
    "sum of 1.2": says(Reason.INCONSISTENT, spread(0.1, 0.8, 0.3)),
    "option twice in spread": says(Reason.INCONSISTENT, chosen(probabilities=TWICE)),
    "chosen is not maximal": says(Reason.INCONSISTENT, chosen("billing")),
    # valid, and not to be acted on
    "missing confidence": says(Reason.CONFIDENCE_MISSING, chosen(confidence=None)),
    "low confidence": says(Reason.LOW_CONFIDENCE, chosen(confidence=0.69)),
    "refusal": says(Reason.REFUSED, {"type": "refusal", "name": "team"}),
}


@pytest.fixture(scope="module")
def refused() -> Iterator[str]:
    """An address that nobody listens at, and that nobody else can take meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@pytest.fixture
def jev(server: Server, refused: str, gateway_of: Callable[..., Gateway]) -> Callable[..., Gateway]:
    """Make a gateway whose decisions `jev` makes, at the server or where the row says."""

    def make(fault: Fault, **environ: str) -> Gateway:
        server.does(fault.does)
        url = fault.url.format(here=server.url, refused=refused, port=server.port)
        ours = {
            "DECISION_PROVIDER": "jev",
            "AI_GATEWAY_API_KEY": "key",
            "JEV_BASE_URL": url,
            "JEV_TIMEOUT_SECONDS": str(fault.seconds),
        }
        return gateway_of({**ours, **environ})

    return make


def decide(gateway: Gateway, colour: Colour, current: Callable[[], str]) -> Decision[Any]:
    """Decide `TEAM` in one of the two colours, with a current of the same colour."""
    if colour == "sync":
        return gateway.ask_sync("TEAM", ASK, current=current)

    async def later() -> str:
        await asyncio.sleep(0)
        return current()

    return asyncio.run(gateway.ask("TEAM", ASK, current=later))


class Host:
    """Today's path; it counts how often it runs."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self) -> str:
        self.runs += 1
        return "billing"


@pytest.mark.parametrize("colour", ["async", "sync"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_fault_falls_back_once(
    server: Server, jev: Callable[..., Gateway], fault: Fault, colour: Colour
) -> None:
    """Whatever the service does wrong, current decides, once, and the record says why."""
    host = Host()

    decision = decide(jev(fault), colour, host)

    assert (decision.value, decision.provider, host.runs) == ("billing", "current", 1)
    assert [(one.provider, one.reason) for one in decision.attempts] == [
        ("jev", fault.reason),
        ("current", Reason.OK),
    ]
    assert (decision.record.variant, decision.record.fallback) == ("jev", True)
    assert len(server.seen) == fault.calls
    assert decision.attempts[0].usage == (BILLED if fault.billed else None)
    assert decision.record.cost_usd == (BILLED.cost_usd if fault.billed else 0)


@pytest.mark.parametrize("colour", ["async", "sync"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_without_fallback_every_fault_is_one_clear_error(
    server: Server, jev: Callable[..., Gateway], fault: Fault, colour: Colour
) -> None:
    """The host's own failure policy gets point, reason and attempts; current does not run."""
    host = Host()
    gateway = jev(fault, DECISION_TEAM_FALLBACK_TO_CURRENT="false")

    with pytest.raises(NoAnswer) as caught:
        decide(gateway, colour, host)

    error = caught.value
    assert (error.reason, error.point, host.runs) == (fault.reason, "TEAM", 0)
    assert [(one.provider, one.reason) for one in error.attempts] == [("jev", fault.reason)]
    assert str(error) == f"TEAM: no answer that may be believed: jev ({fault.reason})"
    assert len(server.seen) == fault.calls
    assert error.attempts[0].usage == (BILLED if fault.billed else None)
    assert (error.__cause__, error.__context__) == (None, None)


@pytest.mark.parametrize("colour", ["async", "sync"])
def test_a_handshake_that_fails_is_tried_again_and_never_in_the_clear(
    server: Server, jev: Callable[..., Gateway], colour: Colour
) -> None:
    """A connect error may be retried, within the attempts; no byte of the question is sent."""
    decision = decide(jev(FAULTS["TLS failure"]), colour, Host())

    assert decision.record.reason is Reason.TRANSPORT
    assert (server.connections, server.seen) == (2, [])


@pytest.mark.parametrize("colour", ["async", "sync"])
@pytest.mark.parametrize("first", ["500", "408", "429, Retry-After fits"])
def test_a_second_attempt_may_succeed(
    server: Server, jev: Callable[..., Gateway], first: str, colour: Colour
) -> None:
    """One bounded retry heals a passing fault: one attempt of the record, two requests."""
    gateway = jev(FAULTS[first])
    server.does(FAULTS[first].does, replies())

    decision = decide(gateway, colour, Host())

    assert (decision.value, decision.provider) == ("tech", "jev")
    assert [one.reason for one in decision.attempts] == [Reason.OK]
    assert len(server.seen) == 2


@pytest.mark.parametrize("colour", ["async", "sync"])
def test_one_attempt_means_one_request(
    server: Server, jev: Callable[..., Gateway], colour: Colour
) -> None:
    """`JEV_MAX_ATTEMPTS=1` switches retries off."""
    decide(jev(FAULTS["503"], JEV_MAX_ATTEMPTS="1"), colour, Host())

    assert len(server.seen) == 1


@pytest.mark.parametrize("colour", ["async", "sync"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_stand_in_is_the_end(
    server: Server,
    gateway_of: Callable[..., Gateway],
    refused: str,
    fault: Fault,
    colour: Colour,
) -> None:
    """Where a provider stands in for current and fails too: safe outcome, both steps paid."""
    there = fault.url.format(here=server.url, refused=refused, port=server.port)
    environ = {
        "DECISION_PROVIDER": "jev",
        "CURRENT_PROVIDER": "jev/spare",
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": server.url,
        "JEV__SPARE__BASE_URL": there,
        "JEV__SPARE__TIMEOUT_SECONDS": str(fault.seconds),
    }
    gateway = gateway_of(environ, stand_in=True)
    server.does(replies(answered(chosen(confidence=0.5))), fault.does)

    if colour == "sync":
        decision = gateway.ask_sync("TEAM", ASK)
    else:
        decision = asyncio.run(gateway.ask("TEAM", ASK))

    assert (decision.value, decision.provider, decision.undecided) == (None, "", True)
    assert [(one.provider, one.reason) for one in decision.attempts] == [
        ("jev", Reason.LOW_CONFIDENCE),
        ("jev/spare", fault.reason),
    ]
    assert len(server.seen) == 1 + fault.calls
    assert decision.attempts[0].usage == BILLED
    assert decision.record.cost_usd == pytest.approx(0.0000089 * (2 if fault.billed else 1))


@pytest.mark.parametrize("colour", ["async", "sync"])
def test_both_steps_are_paid_where_the_stand_in_decides(
    server: Server, gateway_of: Callable[..., Gateway], colour: Colour
) -> None:
    """The rejected attempt costs as well as the one that decided."""
    environ = {
        "DECISION_PROVIDER": "jev",
        "CURRENT_PROVIDER": "jev/spare",
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": server.url,
    }
    gateway = gateway_of(environ, stand_in=True)
    server.does(replies(answered(chosen("sales"))), replies())

    if colour == "sync":
        decision = gateway.ask_sync("TEAM", ASK)
    else:
        decision = asyncio.run(gateway.ask("TEAM", ASK))

    assert (decision.value, decision.provider) == ("tech", "jev/spare")
    assert [one.usage for one in decision.attempts] == [BILLED, BILLED]
    assert decision.record.cost_usd == pytest.approx(0.0000178)


@pytest.mark.parametrize("colour", ["async", "sync"])
def test_a_provider_behind_itself_is_asked_once(
    server: Server, gateway_of: Callable[..., Gateway], colour: Colour
) -> None:
    """Where the planned provider is also `CURRENT_PROVIDER` there is no fallback to it."""
    environ = {
        "DECISION_PROVIDER": "jev",
        "CURRENT_PROVIDER": "jev",
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": server.url,
    }
    gateway = gateway_of(environ, stand_in=True)
    server.does(replies(answered(chosen(confidence=0.1))))

    if colour == "sync":
        decision = gateway.ask_sync("TEAM", ASK)
    else:
        decision = asyncio.run(gateway.ask("TEAM", ASK))

    assert decision.undecided
    assert len(server.seen) == len(decision.attempts) == 1
