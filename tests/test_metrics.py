"""What the server counts, how its labels are bounded, and when it is degraded."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from commanding import clean
from pointsman import (
    Ask,
    Call,
    Choice,
    Chosen,
    Gateway,
    Limits,
    NoAnswer,
    Offer,
    Reason,
    Reply,
    Usage,
    hookimpl,
    scripted,
)
from pointsman.gateway.records import Attempt, Record, Shadow
from pointsman.gateway.server.families import NAMES, SERIES
from pointsman.gateway.server.health import ready
from pointsman.gateway.server.house import House
from pointsman.gateway.server.metrics import Metrics

Gateways = Callable[..., Gateway]
TEAM = Choice("canary-instruction", {"billing": "canary-description", "tech": ""})
ASK = Ask("canary-state", {"team": TEAM})
LABELS = {
    "point": "TEAM",
    "variant": "told",
    "provider": "told",
    "reason": "ok",
    "fallback": "false",
    "undecided": "false",
    "cached": "false",
}


class Told:
    """A provider that does what it is told, and costs money."""

    name, model, limits = "told", "told-1", Limits()

    def __init__(self) -> None:
        self.fails: NoAnswer | None = None

    def answer(self, ask: Ask, call: Call) -> Reply:
        if self.fails is not None:
            raise self.fails
        answers = dict.fromkeys(ask.questions, Chosen("tech", None, 0.9))
        return Reply(answers, "told-1.2", Usage(120, 3, 0.25), "req-7")


class Plugin:
    """Offers one."""

    def __init__(self) -> None:
        self.told = Told()

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        return [Offer("told", lambda: lambda _: self.told)]


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def plugin() -> Plugin:
    return Plugin()


@pytest.fixture
def house(gateway_of: Gateways, metrics: Metrics, plugin: Plugin) -> House:
    variables = {"DECISION_TEAM_PROVIDER": "told", "DECISION_FALLBACK_TO_CURRENT": "true"}
    gateway = gateway_of(variables, plugins=[plugin], observers=[metrics])
    metrics.watch(gateway.health)
    return House(gateway=gateway, metrics=metrics)


def decided(house: House, provider: Any = None) -> None:
    over = {} if provider is None else {"TEAM": provider}
    with house.gateway.override(over):
        house.gateway.ask_sync("TEAM", ASK, current=lambda: "billing")


def series(metrics: Metrics) -> dict[str, float]:
    """Each series as it is written → its value."""
    page, kind = metrics.page()
    assert kind.startswith("text/plain")
    pairs = (
        line.rpartition(" ") for line in page.decode().splitlines() if not line.startswith("#")
    )
    return {name: float(value) for name, _, value in pairs}


def named(name: str, **labels: str) -> str:
    told = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return f"{name}{{{told}}}"


def test_a_decision_is_counted_by_who_decided_and_why(house: House, metrics: Metrics) -> None:
    """Point, arm, who answered, reason, fallback, undecided, from a cache; and what it cost."""
    decided(house)
    decided(house, scripted(Reason.TIMEOUT))

    seen = series(metrics)
    assert seen[named("pointsman_decisions_total", **LABELS)] == 1
    fell = {"variant": "scripted", "provider": "current", "reason": "timeout", "fallback": "true"}
    assert seen[named("pointsman_decisions_total", **{**LABELS, **fell})] == 1
    assert seen[named("pointsman_cost_usd_total", provider="told")] == 0.25


def test_an_ask_is_counted_by_opentelemetrys_names(house: House, metrics: Metrics) -> None:
    """Seconds and tokens, by provider, model asked for and model served; failures by reason."""
    decided(house)
    decided(house, scripted(Reason.TIMEOUT))

    seen = series(metrics)
    asked = {
        "gen_ai_operation_name": "decide",
        "gen_ai_provider_name": "told",
        "gen_ai_request_model": "told-1",
        "gen_ai_response_model": "told-1.2",
    }
    seconds = "gen_ai_client_operation_duration_seconds_count"
    assert seen[named(seconds, **asked, error_type="")] == 1
    tokens = "gen_ai_client_token_usage_sum"
    assert seen[named(tokens, **asked, gen_ai_token_type="input")] == 120
    assert seen[named(tokens, **asked, gen_ai_token_type="output")] == 3
    failed = [name for name in seen if seconds in name and 'error_type="timeout"' in name]
    assert len(failed) == 1


def test_what_was_not_sent_is_no_operation(metrics: Metrics) -> None:
    """An open breaker, a budget, a cached answer: nothing left the process."""
    for attempt in (
        Attempt(provider="told", reason=Reason.BREAKER_OPEN),
        Attempt(provider="told", reason=Reason.OVER_BUDGET),
        Attempt(provider="told", cached=True, usage=Usage(120, 3, 0.0)),
    ):
        metrics(record(attempts=(attempt,)))

    assert not [name for name in series(metrics) if name.startswith("gen_ai_")]


def record(**given: Any) -> Record:
    told = {"id": "0" * 32, "at": 0.0, "point": "TEAM", "variant": "told", "provider": "told"}
    return Record(**{**told, **given})


@pytest.mark.parametrize(
    ("outcome", "agree"), [("billing", "true"), ("tech", "false"), (None, "none")]
)
def test_a_shadow_is_counted_by_whether_it_agrees(
    metrics: Metrics, outcome: str | None, agree: str
) -> None:
    attempt = Attempt(provider="told", usage=Usage(1, 0, 0.5))
    given: dict[str, Any] = {"id": "1" * 32, "of": "0" * 32, "at": 0.0, "point": "TEAM"}
    metrics.shadowed(
        Shadow(**given, provider="told", attempt=attempt, outcome=outcome, beside="billing")
    )

    seen = series(metrics)
    assert seen[named("pointsman_shadow_total", point="TEAM", provider="told", agree=agree)] == 1
    assert seen[named("pointsman_cost_usd_total", provider="told")] == 0.5


def test_a_gateways_shadow_reaches_it(
    gateway_of: Gateways, metrics: Metrics, plugin: Plugin
) -> None:
    """What is asked in the background is no record of its own, and is told all the same."""
    variables = {"DECISION_TEAM_SHADOW": "told"}
    gateway = gateway_of(variables, plugins=[plugin], observers=[metrics])
    gateway.ask_sync("TEAM", ASK, current=lambda: "billing")
    gateway.close()

    agreed = named("pointsman_shadow_total", point="TEAM", provider="told", agree="false")
    assert series(metrics)[agreed] == 1


def test_a_request_is_counted_by_route_and_status(metrics: Metrics) -> None:
    metrics.request("/v1/decisions", 200, 0.003)
    metrics.request("/v1/decisions", 200, 0.003)

    seen = series(metrics)
    route = "/v1/decisions"
    assert seen[named("pointsman_http_requests_total", route=route, status="200")] == 2
    assert seen[named("pointsman_http_request_duration_seconds_count", route=route)] == 2
    shorter = named("pointsman_http_request_duration_seconds_bucket", le="0.002", route=route)
    assert seen[shorter] == 0


@pytest.mark.parametrize("count", [1, NAMES, NAMES + 1, 3 * NAMES])
def test_no_name_makes_series_without_end(metrics: Metrics, count: int) -> None:
    """The first names keep their own series, later ones share one; nothing is left uncounted."""
    for _ in range(2):
        for name in range(count):
            metrics(record(point=str(name)))

    seen = series(metrics)
    counted = [value for name, value in seen.items() if "pointsman_decisions_total" in name]
    assert len(counted) == min(count, NAMES + 1)
    assert sum(counted) == 2 * count
    others = named("pointsman_decisions_total", **{**LABELS, "point": "other"})
    assert seen.get(others, 0) == 2 * max(0, count - NAMES)


def test_no_combination_of_names_does_either() -> None:
    """Each label may be bounded, and their product still be large."""
    metrics = Metrics()
    side = int(SERIES**0.5) + 5
    for point in range(side):
        for variant in range(side):
            metrics(record(point=str(point), variant=str(variant)))

    counted = [
        value for name, value in series(metrics).items() if "pointsman_decisions_total" in name
    ]
    assert len(counted) == SERIES + 1
    assert sum(counted) == side * side


def test_content_never_becomes_a_label(house: House, metrics: Metrics) -> None:
    decided(house)
    assert b"canary" not in metrics.page()[0]


# --- readiness ---------------------------------------------------------------------------

FAULTS = {
    "a bad key": (NoAnswer(Reason.AUTH), "auth", False),
    "an empty purse": (NoAnswer(Reason.PAYMENT), "payment", False),
    "an unknown model": (NoAnswer(Reason.REJECTED, operator=True), "rejected", True),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_an_operators_fault_degrades_until_an_answer_comes(
    house: House, metrics: Metrics, plugin: Plugin, fault: tuple[NoAnswer, str, bool]
) -> None:
    """The fallback hides it from the host, and not from who asks whether all is well."""
    fails, reason, heals = fault
    assert ready(house) == {"status": "ok"}
    plugin.told.fails = fails
    decided(house)

    told = {"provider": "told", "reason": reason}
    assert ready(house) == {"status": "degraded", "faults": [told]}
    assert series(metrics)[named("pointsman_operator_fault", **told)] == 1
    paused = series(metrics)[named("pointsman_breaker_open", provider="told")] if not heals else 0
    assert paused == (not heals)  # a bad key is not tried again for five minutes

    plugin.told.fails = None
    decided(house)
    assert (ready(house) == {"status": "ok"}) is heals
    assert series(metrics)[named("pointsman_operator_fault", **told)] == (not heals)


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.PROVIDER_ERROR, Reason.MALFORMED])
def test_a_providers_fault_is_none_of_the_operators(
    house: House, plugin: Plugin, reason: Reason
) -> None:
    """It neither degrades, nor heals what the operator has to see to, unless it is an answer."""
    plugin.told.fails = NoAnswer(reason)
    decided(house)
    assert ready(house) == {"status": "ok"}

    plugin.told.fails = NoAnswer(Reason.REJECTED, operator=True)
    decided(house)
    plugin.told.fails = NoAnswer(reason)
    decided(house)
    answered = reason is Reason.MALFORMED  # a bad answer, but the model is known
    assert (ready(house)["status"] == "ok") is answered


def test_an_empty_budget_degrades_and_asking_for_it_takes_nothing(
    gateway_of: Gateways, metrics: Metrics, plugin: Plugin
) -> None:
    variables = {"DECISION_TEAM_PROVIDER": "told", "TOLD_BUDGET_USD_PER_DAY": "0.3"}
    gateway = gateway_of(variables, plugins=[plugin], observers=[metrics])
    metrics.watch(gateway.health)
    house = House(gateway=gateway, metrics=metrics)
    decided(house)
    assert [ready(house)["status"] for _ in range(3)] == ["ok"] * 3
    decided(house)
    assert ready(house) == {"status": "ok"}  # it has paid more than it had, but was never refused
    decided(house)

    fault = {"provider": "told", "reason": "over_budget"}
    assert ready(house) == {"status": "degraded", "faults": [fault]}


def test_a_server_that_is_ending_is_not_ready(house: House) -> None:
    """Whatever its providers do: requests are to be sent elsewhere."""
    house.draining = True
    assert ready(house) == {"status": "draining"}


def test_without_metrics_faults_are_told_too(house: House, plugin: Plugin) -> None:
    plugin.told.fails = NoAnswer(Reason.AUTH)
    decided(house)
    house.metrics = None
    assert ready(house)["faults"] == [{"provider": "told", "reason": "auth"}]


def until(seen: Callable[[], object]) -> None:
    """Wait for what another thread does; the bound is none that a machine comes near."""
    end = time.monotonic() + 60.0
    while not seen():
        assert time.monotonic() < end
        time.sleep(0.01)


BROKEN: Mapping[str, str] = {"database_down": "journal.db", "spool_down": "journal.db.spool"}


@pytest.mark.parametrize("counted", [True, False], ids=["with metrics", "without"])
@pytest.mark.parametrize(("fault", "name"), BROKEN.items(), ids=BROKEN)
def test_a_journal_that_does_not_write_degrades_until_it_does(
    gateway_of: Gateways, metrics: Metrics, tmp_path: Path, fault: str, name: str, *, counted: bool
) -> None:
    """What waits is counted: decisions go on, and their records are still to be written."""
    pytest.importorskip("alembic")
    gateway = gateway_of({"DECISION_JOURNAL": f"sqlite:///{tmp_path / 'journal.db'}"})
    metrics.watch(gateway.health, gateway.backlog)
    house = House(gateway=gateway, metrics=metrics if counted else None)
    assert ready(house) == {"status": "ok"}
    wrong = tmp_path / name
    if fault == "spool_down":
        wrong.touch()
    else:
        wrong.mkdir()
    decided(house)

    until(lambda: ready(house) != {"status": "ok"})
    assert ready(house) == {"status": "degraded", "journal": fault}
    told = series(metrics)
    assert told[named("pointsman_journal_fault", reason=fault)] == 1
    assert told["pointsman_journal_waiting"] == 1
    assert told["pointsman_journal_lost"] == 0

    wrong.unlink() if fault == "spool_down" else wrong.rmdir()
    until(lambda: ready(house) == {"status": "ok"})
    until(lambda: series(metrics)["pointsman_journal_waiting"] == 0)


# --- several workers ---------------------------------------------------------------------

WORKER = """
import sys
from pathlib import Path
from pointsman.gateway.errors import Reason
from pointsman.gateway.journal.backlog import Backlog
from pointsman.gateway.resilience import Health
from pointsman.gateway.server.metrics import Metrics

metrics = Metrics(Path(sys.argv[1]))
fault = Reason(sys.argv[2]) if sys.argv[2] else None
kept = Backlog("database_down" if fault else None, 3, 2)
metrics.watch(lambda: [Health("jev", "jev-1", fault, True)], lambda: kept)
metrics.request("/v1/decisions", 200, 0.003)
metrics.refresh()
print("said", flush=True)
sys.stdin.readline()
print(metrics.faults(), metrics.unkept(), metrics.page()[0].decode(), flush=True)
"""


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Two, of which the first knows of a fault."""
    environ = clean({"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)})
    made = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), reason],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for reason in ("auth", "")
    ]
    yield made
    for one in made:
        one.communicate(timeout=60)


def test_each_worker_tells_of_all(workers: list[subprocess.Popen[str]]) -> None:
    """Counters are summed up, and a fault that one knows of is known to whoever is asked."""
    for one in workers:
        assert one.stdout is not None
        assert one.stdout.readline() == "said\n"
    for one in workers:
        said, _ = one.communicate("\n", timeout=60)
        assert said.startswith("[('jev', 'auth')] database_down ")
        assert "pointsman_journal_waiting " in said
        assert 'pointsman_http_requests_total{route="/v1/decisions",status="200"} 2.0' in said
        assert 'pointsman_operator_fault{provider="jev",reason="auth"} 1.0' in said
