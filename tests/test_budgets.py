"""Budgets: what a provider may cost in a day, live and for trial apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faulty import ASK, Server, answered, chosen, failed, replies
from pointsman import (
    Ask,
    Call,
    Gateway,
    NoAnswer,
    Offer,
    Reason,
    Reply,
    SetupError,
    Usage,
    hookimpl,
    scripted,
)
from pointsman.gateway.answers import Chosen
from pointsman.gateway.budgets import DAY, Budget
from telling import RAILS, STATE, Teller
from trialling import POINT, Kept, offering

PROVIDER = f"DECISION_{POINT}_PROVIDER"
BUDGET = "NOVA_BUDGET_USD_PER_DAY"
CENT = 0.01  # what `Teller` costs each time
START = 20_000 * DAY  # a midnight


class Clock:
    """Stands still until told."""

    def __init__(self, now: float = START + 3600) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def decide(gateway: Gateway, **given: Any) -> Any:
    return gateway.ask_sync(POINT, ASK, current=lambda: "billing", **given).record


# --- the purse -------------------------------------------------------------------------------


def asks(budget: Budget, *costs: float | None) -> list[bool]:
    """One ask after the other: whether there was enough for it."""
    taken = []
    for cost in costs:
        taken.append(budget.take())
        if taken[-1]:
            budget.paid(cost)
    return taken


def test_a_purse_is_empty_once_its_limit_is_reached() -> None:
    assert asks(Budget(0.02, Clock()), 0.0199, 0.0001, 0.0001) == [True, True, False]


def test_it_is_full_again_at_midnight_utc() -> None:
    """The day is the epoch's: no time zone, no summer time."""
    clock = Clock(START + DAY - 1)
    budget = Budget(1, clock)
    assert asks(budget, 5, 5) == [True, False]

    clock.now = START + DAY

    assert asks(budget, 5) == [True]


@pytest.mark.parametrize("unknown", [None, 0.0])
def test_what_nobody_knows_the_cost_of_costs_nothing(unknown: float | None) -> None:
    assert asks(Budget(1e-9, Clock()), unknown, unknown) == [True, True]


def test_many_at_once_do_not_overdraw_it() -> None:
    """Each takes what one costs on average, as soon as anybody knows what that is."""
    budget = Budget(1.0, Clock())
    assert asks(budget, 0.1) == [True]

    at_once = [budget.take() for _ in range(200)]

    assert sum(at_once) == 9


def test_an_empty_purse_is_told_once_a_day() -> None:
    clock = Clock()
    budget = Budget(0, clock)
    told = []
    for _ in range(2):
        told += [not budget.take() and budget.first_told() for _ in range(3)]
        clock.now += DAY

    assert told == [True, False, False] * 2


# --- through the gateway ---------------------------------------------------------------------


def test_an_empty_purse_falls_back_and_tells_the_operator_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is asked any more; every decision is still made."""
    nova = Teller()
    said = {PROVIDER: "nova", BUDGET: str(2.5 * CENT), "DECISION_LOG": "json"}
    with offering(said, nova=nova) as gateway:
        records = [decide(gateway) for _ in range(6)]

    assert [one.reason for one in records] == [Reason.OK] * 3 + [Reason.OVER_BUDGET] * 3
    assert [one.provider for one in records] == ["nova"] * 3 + ["current"] * 3
    assert len(nova.asked) == 3
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    faults = [one for one in told if one["event"] == "decision.operator_fault"]
    assert [(one["provider"], one["reason"]) for one in faults] == [("nova", "over_budget")]


def test_the_next_day_it_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("time.time", clock)
    monkeypatch.setattr(Budget.__init__, "__defaults__", (clock,))
    with offering({PROVIDER: "nova", BUDGET: str(CENT)}, nova=Teller()) as gateway:
        before = [decide(gateway).reason for _ in range(2)]
        clock.now += DAY
        after = decide(gateway).reason

    assert (before, after) == ([Reason.OK, Reason.OVER_BUDGET], Reason.OK)


def test_reading_the_variables_again_refills_no_purse() -> None:
    nova = Teller()
    given = {PROVIDER: "nova", BUDGET: str(CENT)}
    with offering(given, nova=nova) as gateway:
        reasons = [decide(gateway).reason]
        gateway.reload(given)
        reasons.append(decide(gateway).reason)
        gateway.reload({**given, BUDGET: str(10 * CENT)})
        reasons.append(decide(gateway).reason)

    assert reasons == [Reason.OK, Reason.OVER_BUDGET, Reason.OK]


def test_a_budget_of_nothing_asks_nothing() -> None:
    nova = Teller()
    with offering({PROVIDER: "nova", BUDGET: "0"}, nova=nova) as gateway:
        assert decide(gateway).reason is Reason.OVER_BUDGET

    assert nova.asked == []


def test_an_empty_purse_opens_no_breaker() -> None:
    """It says nothing of whether the provider works; another's purse is another's."""
    said = {PROVIDER: "nova", BUDGET: "0", "DECISION_OTHER_PROVIDER": "other"}
    with offering(said, nova=Teller(), other=Teller()) as gateway:
        reasons = {decide(gateway).reason for _ in range(8)}
        beside = gateway.ask_sync("OTHER", ASK, current=lambda: "billing").record.reason

    assert reasons == {Reason.OVER_BUDGET}
    assert beside is Reason.OK


UNBELIEVED = Reply({"team": Chosen("nobody", None, 0.9)}, usage=Usage(100, 1, CENT))


class Billed(Teller):
    """Fails, and is paid for it."""

    def answer(self, ask: Ask, call: Call) -> Reply:
        """Say no, with what it cost."""
        self.told(ask, call)
        raise NoAnswer(Reason.REFUSED, reply=UNBELIEVED)


@pytest.mark.parametrize("provider", [scripted(UNBELIEVED), Billed()], ids=["rejected", "failed"])
def test_what_is_not_believed_is_paid_for_too(provider: Any) -> None:
    with offering({PROVIDER: "nova", BUDGET: str(CENT)}, nova=provider) as gateway:
        reasons = [decide(gateway).reason for _ in range(2)]

    assert reasons[0] in (Reason.UNDECLARED_OPTION, Reason.REFUSED)
    assert reasons[1] is Reason.OVER_BUDGET


def test_a_hosted_api_is_paid_by_what_it_says(server: Server) -> None:
    """The cost that came with the answer; a failure that cost nothing takes nothing."""
    said = {"provider_metadata": {"gateway": {"cost": "0.004"}}}
    server.does(replies(failed("server_error"), 503), *[replies(answered(chosen(), **said))] * 3)
    variables = {
        PROVIDER: "jev",
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": server.url,
        "JEV_MAX_ATTEMPTS": "1",
        "JEV_BUDGET_USD_PER_DAY": "0.008",
    }
    with offering(variables) as gateway:
        reasons = [decide(gateway).reason for _ in range(4)]

    assert reasons == [Reason.PROVIDER_ERROR, Reason.OK, Reason.OK, Reason.OVER_BUDGET]
    assert len(server.seen) == 3


def test_live_and_trial_have_purses_of_their_own(tmp_path: Path) -> None:
    """A shadow never spends what decides, nor the other way round; each has the whole amount."""
    kept = Kept(tmp_path)
    said = {
        "DECISION_LIVE_PROVIDER": "nova",
        f"DECISION_{POINT}_SHADOW": "nova",
        BUDGET: str(2 * CENT),
        **kept.variables,
    }
    with offering(said, nova=Teller()) as gateway:
        for _ in range(4):
            decide(gateway)
            gateway.close()  # waits for the shadow
        live = [
            gateway.ask_sync("LIVE", ASK, current=lambda: "billing").record.reason for _ in range(3)
        ]

    rows = [one.shadow for trail in kept.trails() for one in trail.shadows]
    assert [one.attempt.reason for one in rows] == [Reason.OK] * 2 + [Reason.OVER_BUDGET] * 2
    assert {one.beside for one in rows} == {"billing"}
    assert live == [Reason.OK] * 2 + [Reason.OVER_BUDGET]


def test_a_shared_call_is_paid_once() -> None:
    """Its parts sum up to what was paid, and what a turn knows already costs nothing."""
    said = {"DECISION_PROVIDER": "nova", BUDGET: str(1.5 * CENT)}
    nova = Teller()
    with offering(said, nova=nova) as gateway:
        for _ in range(3):
            with gateway.turn() as turn:
                turn.ask_sync(*RAILS, state=STATE)
                turn.ask_sync(*RAILS, state=STATE)

    assert len(nova.asked) == 2


def test_an_instance_s_own_budget_counts_before_its_provider_s() -> None:
    said = {
        PROVIDER: "nova/eu",
        "DECISION_OTHER_PROVIDER": "nova/us",
        BUDGET: "0",
        "NOVA__EU__BUDGET_USD_PER_DAY": "1",
    }

    class Instances:
        @hookimpl
        def pointsman_providers(self) -> list[Offer]:
            return [Offer("nova", lambda: lambda _: Teller())]

    gateway = Gateway.from_env({"DECISION_LOG": "off", **said}, plugins=[Instances()])
    reasons = [
        gateway.ask_sync(one, ASK, current=lambda: "billing").record.reason
        for one in (POINT, "OTHER")
    ]

    assert reasons == [Reason.OK, Reason.OVER_BUDGET]


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "-inf", "much", "1 USD", "1,5"])
def test_what_is_no_amount_is_a_fault_at_start(value: str) -> None:
    with pytest.raises(SetupError) as caught:
        offering({PROVIDER: "nova", BUDGET: value}, nova=Teller())

    assert [fault.where for fault in caught.value.faults] == [BUDGET]


def test_a_shadow_s_budget_is_checked_at_start_too() -> None:
    with pytest.raises(SetupError) as caught:
        offering({f"DECISION_{POINT}_SHADOW": "nova", BUDGET: "-1"}, nova=Teller())

    assert [fault.where for fault in caught.value.faults] == [BUDGET]


def test_the_budget_of_a_provider_that_nobody_selects_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A limit that limits nothing: most likely a name was mistyped."""
    said = {PROVIDER: "nova", "NOVA__UE__BUDGET_USD_PER_DAY": "1", "DECISION_LOG": "json"}
    gateway = offering(said, nova=Teller())
    decide(gateway)

    odd = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    where = [one["where"] for one in odd if one["event"] == "decision.setup"]
    assert where == ["NOVA__UE__BUDGET_USD_PER_DAY"]
