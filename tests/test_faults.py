"""Whatever a decision API does wrong: exactly one fallback, or exactly one clear error."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest

from dialects import JEV, Fault, faults_of
from faulty import ASK, Server, answered, chosen, replies
from pointsman import Decision, Gateway, NoAnswer, Reason

Colour = Literal["async", "sync"]
BILLED = JEV.billed  # what every answer of the server says it cost


FAULTS = faults_of(JEV)


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
