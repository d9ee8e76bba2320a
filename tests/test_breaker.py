"""A failing provider is left alone for a while; the operator is told once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from faulty import ASK, Server, answered, chosen, drops, failed, hangs, replies
from pointsman import Ask, Call, Gateway, Limits, NoAnswer, Predicate, Reason, Reply, scripted
from pointsman.gateway.breaker import FAILURES, OPERATOR_PAUSE, PAUSE, Breaker

FAILING = [Reason.TRANSPORT, Reason.TIMEOUT, Reason.RATE_LIMITED, Reason.PROVIDER_ERROR]
OPERATOR = [Reason.AUTH, Reason.PAYMENT]
NOTHING_SEEN = [
    Reason.CANCELLED,
    Reason.SKIPPED,
    Reason.NESTED,
    Reason.UNSUPPORTED,
    Reason.BREAKER_OPEN,
    Reason.OVER_BUDGET,
]
WORKING = [one for one in Reason if one not in {*FAILING, *OPERATOR, *NOTHING_SEEN}]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(clock)


def asked(breaker: Breaker, reason: Reason) -> bool:
    """Ask and see it end with *reason*; whether the breaker opened by it."""
    breaker.enter()
    return breaker.saw(reason)


def opened(breaker: Breaker) -> None:
    """Open it by failures in a row."""
    assert [asked(breaker, Reason.TRANSPORT) for _ in range(FAILURES)][-1]


def refuses(breaker: Breaker) -> bool:
    try:
        breaker.enter()
    except NoAnswer as fault:
        return fault.reason is Reason.BREAKER_OPEN
    return False


@pytest.mark.parametrize("reason", FAILING)
def test_five_failures_in_a_row_open_it_for_thirty_seconds(
    breaker: Breaker, clock: Clock, reason: Reason
) -> None:
    """Transport, timeout, rate-limit and server failures count; the fifth opens."""
    assert [asked(breaker, reason) for _ in range(5)] == [False] * 4 + [True]

    assert breaker.is_open
    assert refuses(breaker)
    clock.now += PAUSE - 0.001
    assert refuses(breaker)
    clock.now += 0.001
    assert not refuses(breaker)
    assert PAUSE == 30


@pytest.mark.parametrize("reason", OPERATOR)
def test_what_nothing_heals_opens_it_at_once_for_five_minutes(
    breaker: Breaker, clock: Clock, reason: Reason
) -> None:
    """A bad key or an empty purse is not asked again and again."""
    assert asked(breaker, reason)

    clock.now += OPERATOR_PAUSE - 0.001
    assert refuses(breaker)
    clock.now += 0.001
    assert not refuses(breaker)
    assert OPERATOR_PAUSE == 300


@pytest.mark.parametrize("reason", WORKING)
def test_a_working_provider_resets_it(breaker: Breaker, reason: Reason) -> None:
    """An answer closes it, also a rejected one, and a 400: the provider works."""
    for _ in range(4):
        asked(breaker, Reason.TIMEOUT)
    asked(breaker, reason)

    assert [asked(breaker, Reason.TIMEOUT) for _ in range(4)] == [False] * 4
    assert not breaker.is_open


@pytest.mark.parametrize("reason", NOTHING_SEEN)
def test_what_says_nothing_of_the_provider_counts_for_nothing(
    breaker: Breaker, reason: Reason
) -> None:
    """A cancelled or skipped ask neither opens it nor resets the row of failures."""
    for _ in range(4):
        asked(breaker, Reason.TIMEOUT)
    assert not any(asked(breaker, reason) for _ in range(20))

    assert asked(breaker, Reason.TIMEOUT)


def test_one_probe_is_let_through(breaker: Breaker, clock: Clock) -> None:
    """After the pause one ask tries; all others are refused until it has ended."""
    opened(breaker)
    clock.now += PAUSE

    breaker.enter()

    assert [refuses(breaker) for _ in range(3)] == [True] * 3
    assert not breaker.saw(Reason.OK)
    assert [refuses(breaker) for _ in range(3)] == [False] * 3


@pytest.mark.parametrize("reason", FAILING)
def test_a_failing_probe_opens_it_again(breaker: Breaker, clock: Clock, reason: Reason) -> None:
    """One failure is enough then, for a whole pause; it counts as a new opening."""
    opened(breaker)
    clock.now += PAUSE

    assert asked(breaker, reason)

    clock.now += PAUSE - 0.001
    assert refuses(breaker)
    clock.now += 0.001
    assert not refuses(breaker)


@pytest.mark.parametrize("reason", NOTHING_SEEN)
def test_a_probe_that_saw_nothing_frees_its_place(
    breaker: Breaker, clock: Clock, reason: Reason
) -> None:
    """The next ask is the probe; otherwise a cancelled one would close the provider for ever."""
    opened(breaker)
    clock.now += PAUSE
    asked(breaker, reason)

    breaker.enter()

    assert refuses(breaker)
    breaker.saw(Reason.OK)
    assert not refuses(breaker)


def test_a_late_failure_does_not_shorten_the_operators_pause(
    breaker: Breaker, clock: Clock
) -> None:
    """Asks that were under way when the key was refused end in timeouts; it stays refused."""
    breaker.enter()
    breaker.enter()
    assert breaker.saw(Reason.AUTH)
    for _ in range(5):
        assert not breaker.saw(Reason.TIMEOUT)

    clock.now += PAUSE

    assert refuses(breaker)


# --- through the gateway -----------------------------------------------------------------


@pytest.fixture
def jev(server: Server, gateway_of: Callable[..., Gateway]) -> Callable[..., Gateway]:
    def make(**environ: str) -> Gateway:
        ours = {
            "DECISION_PROVIDER": "jev",
            "DECISION_LOG": "json",
            "AI_GATEWAY_API_KEY": "key",
            "JEV_BASE_URL": server.url,
            "JEV_MAX_ATTEMPTS": "1",
        }
        return gateway_of({**ours, **environ})

    return make


def reasons(gateway: Gateway, times: int, ask: Ask = ASK) -> list[Reason]:
    """Decide several times; why each first attempt ended."""
    asks = range(times)
    return [gateway.ask_sync("TEAM", ask, current=lambda: "none").record.reason for _ in asks]


def events(text: str, name: str) -> list[dict[str, Any]]:
    """The events of one name that were logged."""
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if line["event"] == name]


def test_a_server_that_hangs_up_is_left_alone(
    server: Server, jev: Callable[..., Gateway], capsys: pytest.CaptureFixture[str]
) -> None:
    """From the sixth decision on nothing is sent; no operator is called for it."""
    server.does(drops())

    seen = reasons(jev(), 8)

    assert seen == [Reason.TRANSPORT] * 5 + [Reason.BREAKER_OPEN] * 3
    assert len(server.seen) == 5
    assert events(capsys.readouterr().err, "decision.operator_fault") == []


@pytest.mark.parametrize(("status", "reason"), [(401, Reason.AUTH), (402, Reason.PAYMENT)])
def test_the_operator_is_told_once_for_each_opening(
    server: Server,
    jev: Callable[..., Gateway],
    capsys: pytest.CaptureFixture[str],
    status: int,
    reason: Reason,
) -> None:
    """A bad key falls back and is not hidden: one event, and one request."""
    server.does(replies(failed("authentication_error"), status))

    seen = reasons(jev(), 10)

    assert seen == [reason] + [Reason.BREAKER_OPEN] * 9
    assert len(server.seen) == 1
    (event,) = events(capsys.readouterr().err, "decision.operator_fault")
    assert (event["provider"], event["reason"], event["level"]) == ("jev", reason.value, "error")
    assert event["model"] == "typesafe-ai/jev"


def test_an_unknown_model_is_told_once_and_opens_nothing(
    server: Server, jev: Callable[..., Gateway], capsys: pytest.CaptureFixture[str]
) -> None:
    """A 404 falls back each time; it is told again only after an answer in between."""
    unknown = replies(failed("model_not_found"), 404)
    server.does(unknown, unknown, unknown, replies(), unknown, unknown)

    seen = reasons(jev(), 6)

    assert seen == [Reason.REJECTED] * 3 + [Reason.OK] + [Reason.REJECTED] * 2
    assert len(server.seen) == 6
    assert len(events(capsys.readouterr().err, "decision.operator_fault")) == 2


@pytest.mark.parametrize(
    "does",
    [replies(failed("invalid_request_error"), 400), replies(answered(chosen(confidence=0.1)))],
    ids=["400", "rejected answer"],
)
def test_what_is_no_failure_of_the_provider_opens_nothing(
    server: Server, jev: Callable[..., Gateway], does: Any
) -> None:
    """A bad request is ours, a rejected answer is an answer."""
    server.does(does)

    assert Reason.BREAKER_OPEN not in reasons(jev(), 12)
    assert len(server.seen) == 12


def test_a_rejected_answer_breaks_the_row(server: Server, jev: Callable[..., Gateway]) -> None:
    """Four failures, a rejected answer, four failures: still asked."""
    refused = replies(answered({"type": "refusal", "name": "team"}))
    server.does(*[drops()] * 4, refused, *[drops()] * 4, replies())

    assert reasons(jev(), 10)[-1] is Reason.OK


def test_what_was_not_asked_does_not_close_it(server: Server, jev: Callable[..., Gateway]) -> None:
    """A state too large for the provider is refused here, and heals no bad key."""
    server.does(replies(failed("authentication_error"), 401))
    gateway = jev()
    reasons(gateway, 1)

    assert reasons(gateway, 1, Ask("x" * 200_000, ASK.questions)) == [Reason.TOO_LARGE]
    assert reasons(gateway, 1) == [Reason.BREAKER_OPEN]
    assert len(server.seen) == 1


def test_a_cancelled_decision_is_no_failure(server: Server, jev: Callable[..., Gateway]) -> None:
    """Ten callers that give up say nothing about the provider."""
    server.does(*[hangs()] * 10, replies())
    gateway = jev()

    async def main() -> Reason:
        for at in range(10):
            asking = asyncio.create_task(gateway.ask("TEAM", ASK, current=lambda: "none"))
            await server.reached(at + 1)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        return (await gateway.ask("TEAM", ASK, current=lambda: "none")).record.reason

    assert asyncio.run(main()) is Reason.OK


class Flaky:
    """Fails as told; offered by a plug-in, so that it stays between decisions."""

    limits = Limits()

    def __init__(self, name: str, model: str) -> None:
        self.name, self.model = name, model

    def answer(self, ask: Ask, call: Call) -> Reply:
        raise NoAnswer(Reason.TRANSPORT)


def test_each_provider_has_its_own_breaker(gateway_of: Callable[..., Gateway]) -> None:
    """An open breaker concerns one provider, at all its points, and nobody else."""
    gateway = gateway_of()
    other = scripted("billing")
    with gateway.override({"TEAM": Flaky("one", "a"), "OTHER": other}):
        seen = reasons(gateway, 6)
        asked = gateway.ask_sync("OTHER", ASK, current=lambda: "none")

    assert seen[-1] is Reason.BREAKER_OPEN
    assert asked.provider == "scripted"


def test_a_breaker_is_shared_by_the_points_of_a_provider(
    server: Server, jev: Callable[..., Gateway]
) -> None:
    """What one point has learnt of a provider, all know."""
    server.does(drops())
    gateway = jev()
    reasons(gateway, 5)

    yes = Ask("ok", {"yes": Predicate("Is it a yes?")})
    decision = gateway.ask_sync("CONSENT", yes, current=lambda: False)

    assert decision.record.reason is Reason.BREAKER_OPEN
    assert len(server.seen) == 5


def test_an_old_ask_that_is_cancelled_does_not_free_the_probes_slot() -> None:
    """Only the probe's own end lets the next probe through."""
    clock = Clock()
    breaker = Breaker(clock)
    for _ in range(FAILURES):
        breaker.saw(Reason.TIMEOUT, probe=False)
    clock.now += PAUSE
    assert breaker.enter()

    breaker.saw(Reason.CANCELLED, probe=False)

    with pytest.raises(NoAnswer):
        breaker.enter()


def test_a_bad_key_while_the_breaker_is_open_is_told() -> None:
    """What only the operator can mend is not hidden behind an outage."""
    breaker = Breaker(Clock())
    for _ in range(FAILURES):
        breaker.saw(Reason.TIMEOUT, probe=False)

    assert breaker.saw(Reason.AUTH, probe=False)
    assert not breaker.saw(Reason.AUTH, probe=False)
