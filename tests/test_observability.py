"""What is told of decisions: events with constant names, observers, and never a word of content."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import structlog

from pointsman import (
    Ask,
    Call,
    Choice,
    Chosen,
    Decision,
    Gateway,
    Limits,
    NoAnswer,
    Predicate,
    Reason,
    Record,
    Recorder,
    Reply,
    Usage,
    scripted,
)

Gateways = Callable[..., Gateway]
Events = Callable[[], list[dict[str, Any]]]

TEAM = Choice("Which canary-instruction team?", {"billing": "canary-description", "tech": ""})
ASK = Ask({"message": "canary-state"}, {"team": TEAM})

MADE = {
    *("event", "level", "timestamp", "id", "point", "variant", "provider", "model", "reason"),
    *("confidence", "undecided", "duration_ms", "tokens", "cost_usd", "attempts", "cached"),
}
ATTEMPT = {
    *("event", "level", "timestamp", "id", "point", "provider", "model", "reason"),
    *("confidence", "duration_ms", "tokens", "cost_usd", "request_id", "form"),
}


class Billed:
    """A provider that costs money, as one that leaves the process does."""

    name, model, limits = "billed", "billed-1", Limits()

    def __init__(self, confidence: float = 0.9) -> None:
        self._confidence = confidence

    def answer(self, ask: Ask, call: Call) -> Reply:
        raw = Chosen("tech", None, self._confidence)
        answers = dict.fromkeys(ask.questions, raw)
        return Reply(answers, "billed-1.2", Usage(120, 3, 0.00025), "req-7")


@pytest.fixture
def events(capsys: pytest.CaptureFixture[str]) -> Events:
    """Every line of the log so far, as JSON; nothing may go to standard output."""

    def read() -> list[dict[str, Any]]:
        out, err = capsys.readouterr()
        assert out == ""
        return [json.loads(line) for line in err.splitlines()]

    return read


def decided(gateway: Gateway, provider: Any, **given: Any) -> Decision[Any]:
    with gateway.override({"TEAM": provider}):
        return gateway.ask_sync("TEAM", ASK, current=lambda: "billing", **given)


# --- events ------------------------------------------------------------------------------


def test_a_decision_is_one_event_with_constant_fields(gateway_of: Gateways, events: Events) -> None:
    made = decided(gateway_of({"DECISION_LOG": "json"}), scripted("tech"))

    (event,) = events()
    assert event.keys() == MADE
    assert (event["event"], event["level"]) == ("decision.made", "info")
    assert event["id"] == made.record.id
    assert (event["point"], event["variant"], event["provider"]) == ("TEAM", "scripted", "scripted")
    assert (event["model"], event["reason"], event["confidence"]) == ("scripted-1", "ok", 0.99)
    assert (event["undecided"], event["tokens"], event["cost_usd"]) == (False, 0, 0)
    assert (event["attempts"], event["cached"]) == (1, False)
    assert 0 < event["duration_ms"] < 10_000


def test_an_ask_that_left_the_process_is_an_event_of_its_providers_name(
    gateway_of: Gateways, events: Events
) -> None:
    decided(gateway_of({"DECISION_LOG": "json"}), Billed())

    asked, made = events()
    assert asked.keys() == ATTEMPT
    assert asked["event"] == "decision.billed"
    assert (asked["model"], asked["request_id"]) == ("billed-1.2", "req-7")
    assert (asked["tokens"], asked["cost_usd"]) == (120, 0.00025)
    assert (made["event"], made["tokens"], made["cost_usd"]) == ("decision.made", 120, 0.00025)
    assert asked["id"] == made["id"]


def test_a_fallback_is_a_warning_with_the_reason(gateway_of: Gateways, events: Events) -> None:
    """The variant is who was assigned, the provider who answered; what was spent counts."""
    decided(gateway_of({"DECISION_LOG": "json"}), Billed(0.2))

    asked, fallback, made = events()
    assert [one["event"] for one in (asked, fallback, made)] == [
        "decision.billed",
        "decision.fallback",
        "decision.made",
    ]
    assert fallback["level"] == "warning"
    assert fallback.keys() == ATTEMPT
    assert (fallback["reason"], fallback["confidence"]) == ("low_confidence", 0.2)
    assert (made["variant"], made["provider"], made["reason"]) == (
        "billed",
        "current",
        "low_confidence",
    )
    assert (made["attempts"], made["cost_usd"]) == (2, 0.00025)


def test_a_decision_that_fails_is_an_event_too(gateway_of: Gateways, events: Events) -> None:
    gateway = gateway_of({"DECISION_LOG": "json", "DECISION_FALLBACK_TO_CURRENT": "false"})

    with pytest.raises(NoAnswer):
        decided(gateway, scripted(Reason.TIMEOUT))

    assert [one["event"] for one in events()] == ["decision.failed"]


def test_nobody_decided_is_said(gateway_of: Gateways, events: Events) -> None:
    gateway = gateway_of({"DECISION_LOG": "json"})

    with gateway.override({"RAIL": scripted(Reason.REFUSED)}):
        rail = Ask("s", {"q": Predicate("Unsafe?")})
        made = gateway.ask_sync("RAIL", rail, on_undecided="block")

    assert made.value is True
    event = events()[-1]
    assert (event["event"], event["provider"], event["undecided"]) == ("decision.made", "", True)


OPERATOR = {
    "auth": (NoAnswer(Reason.AUTH), "auth"),
    "payment": (NoAnswer(Reason.PAYMENT), "payment"),
    "unknown model": (NoAnswer(Reason.REJECTED, operator=True), "rejected"),
}


@pytest.mark.parametrize(("fault", "reason"), OPERATOR.values(), ids=OPERATOR)
def test_the_operators_fault_is_told_once_though_the_fallback_works(
    gateway_of: Gateways, events: Events, fault: NoAnswer, reason: str
) -> None:
    gateway = gateway_of({"DECISION_LOG": "json"})
    refuses = scripted(fault)

    with gateway.override({"TEAM": refuses}):
        for _ in range(3):
            assert gateway.ask_sync("TEAM", ASK, current=lambda: "billing").value == "billing"

    told = [one for one in events() if one["event"] == "decision.operator_fault"]
    assert [(one["provider"], one["reason"], one["level"]) for one in told] == [
        ("scripted", reason, "error")
    ]


def test_a_strangers_bug_is_told_by_type_and_place(gateway_of: Gateways, events: Events) -> None:
    decided(gateway_of({"DECISION_LOG": "json"}), scripted(KeyError("canary-message")))

    bug = events()[0]
    assert (bug["event"], bug["level"]) == ("decision.provider_bug", "error")
    assert (bug["provider"], bug["error"]) == ("scripted", "KeyError")
    assert bug["where"].startswith("answer:")


def test_current_alone_is_no_event(gateway_of: Gateways, events: Events) -> None:
    gateway = gateway_of({"DECISION_LOG": "json"})

    assert gateway.consult_sync("TEAM", ASK) is None
    assert gateway.point("TEAM", TEAM)(_route)("x") == "billing"

    assert events() == []


def _route(message: str) -> str:
    return "billing" if message else "tech"


def test_no_event_holds_content(gateway_of: Gateways, capsys: pytest.CaptureFixture[str]) -> None:
    """No state, instruction, option, description, key or foreign message, whatever happens."""
    for log in ("json", "console"):
        gateway = gateway_of(
            {
                "DECISION_LOG": log,
                "DECISION_OTHER_PROVIDER": "jev",
                "AI_GATEWAY_API_KEY": "canary-key",
            }
        )
        for provider in (
            scripted("tech"),
            scripted(Reason.AUTH),
            scripted(ValueError("canary-message")),
            scripted({"team": Chosen("canary-option", None, 1.0)}),
            Billed(),
        ):
            decided(gateway, provider)

    out, err = capsys.readouterr()
    assert "decision.made" in err
    assert "canary" not in out + err


# --- where it goes -----------------------------------------------------------------------


class Terminal(io.StringIO):
    """A standard error that is, or is not, a terminal."""

    def __init__(self, *, tty: bool) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


@pytest.mark.parametrize(
    ("log", "tty", "is_json"),
    [
        (None, False, True),
        (None, True, False),
        ("json", True, True),
        ("console", False, False),
    ],
)
def test_people_read_a_console_and_machines_json(
    gateway_of: Gateways,
    monkeypatch: pytest.MonkeyPatch,
    log: str | None,
    *,
    tty: bool,
    is_json: bool,
) -> None:
    terminal = Terminal(tty=tty)
    monkeypatch.setattr(sys, "stderr", terminal)

    decided(gateway_of({"DECISION_LOG": log or ""}), Billed())

    lines = terminal.getvalue().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("{") == is_json for line in lines)
    assert ("\x1b[" in lines[0]) == (tty and not is_json)
    if not is_json:
        for field in ("decision.billed", "point", "TEAM", "model", "billed-1.2", "0.00025"):
            assert field in lines[0]


def test_off_is_off_and_does_not_even_load_the_logger() -> None:
    program = (
        "import sys, pointsman as p\n"
        "gateway = p.Gateway.from_env({'DECISION_LOG': 'off'})\n"
        "ask = p.Ask('s', {'q': p.Predicate('?')})\n"
        "with gateway.override({'A': p.scripted(True)}):\n"
        "    assert gateway.ask_sync('A', ask, current=lambda: False).value is True\n"
        "assert 'structlog' not in sys.modules\n"
    )

    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )

    assert (run.stdout, run.stderr) == ("", "")


def test_the_log_goes_to_where_standard_error_is_at_that_moment(
    gateway_of: Gateways, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test runners and servers move it; a closed one costs no decision."""
    gateway = gateway_of({"DECISION_LOG": "json"})
    first, second, closed = Terminal(tty=False), Terminal(tty=False), Terminal(tty=False)
    closed.close()

    for stderr in (first, second, closed, None):
        monkeypatch.setattr(sys, "stderr", stderr)
        assert decided(gateway, scripted("tech")).value == "tech"

    assert len(first.getvalue().splitlines()) == len(second.getvalue().splitlines()) == 1


def test_the_hosts_own_logging_is_left_alone(
    gateway_of: Gateways, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only our own logger is configured."""
    heard: list[Any] = []

    def hears(_: Any, __: str, event: Any) -> Any:
        heard.append(event)
        raise structlog.DropEvent

    before = structlog.get_config()
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    structlog.configure(processors=[hears])
    try:
        configured = structlog.get_config()
        decided(gateway_of({"DECISION_LOG": "json"}), scripted("tech"))
        assert structlog.get_config() == configured
        structlog.get_logger().info("the host's own")
    finally:
        structlog.configure(**before)

    assert [event["event"] for event in heard] == ["the host's own"]
    assert (list(root.handlers), root.level) == (handlers, level)
    assert "decision.made" in capsys.readouterr().err


# --- observers ---------------------------------------------------------------------------


def test_observers_are_told_of_every_decision_in_order(gateway_of: Gateways) -> None:
    seen = Recorder()
    gateway = gateway_of(observers=[seen])
    route = gateway.point("TEAM", TEAM)(_route)

    route("x")
    made = decided(gateway, scripted("tech"))
    back = decided(gateway, scripted(Reason.TIMEOUT))

    assert [one.provider for one in seen.records] == ["current", "scripted", "current"]
    assert [one.variant for one in seen.records] == ["current", "scripted", "scripted"]
    assert [one.outcome for one in seen.records] == ["billing", "tech", "billing"]
    assert [one.fallback for one in seen.records] == [False, False, True]
    assert seen.records[1:] == [made.record, back.record]
    ids = [one.id for one in seen.records]
    assert sorted(ids) == ids
    assert len(set(ids)) == 3


def test_a_record_holds_numbers_and_names_but_no_content(gateway_of: Gateways) -> None:
    seen = Recorder()
    decided(gateway_of(observers=[seen]), Billed())

    (record,) = seen.records
    assert "canary" not in repr(record)
    assert record.answers["team"].value == "tech"
    assert record.attempts[0].minimum == 0.7
    assert record.cost_usd == 0.00025
    assert record.at > 0
    assert record.seconds >= record.attempts[0].seconds


def test_a_failed_decision_is_recorded(gateway_of: Gateways) -> None:
    seen = Recorder()
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"}, observers=[seen])

    with pytest.raises(NoAnswer):
        decided(gateway, scripted(Reason.REFUSED))

    (record,) = seen.records
    assert (record.provider, record.variant, record.reason) == ("", "scripted", Reason.REFUSED)
    assert record.outcome is None


def test_a_consultation_tells_what_current_did_under_the_same_id(gateway_of: Gateways) -> None:
    seen = Recorder()
    gateway = gateway_of(observers=[seen])

    with gateway.override({"TEAM": scripted(Reason.TIMEOUT)}):
        beside = gateway.consultation("TEAM", ASK)
        assert beside.ask_sync() is None
        beside.observe("billing")

    first, second = seen.records
    assert first.id == second.id == beside.id
    assert (first.outcome, second.outcome) == (None, "billing")
    assert (second.variant, second.provider) == ("scripted", "current")


def test_each_observers_fault_is_its_own(gateway_of: Gateways, events: Events) -> None:
    """In whatever order they stand."""
    seen: list[Record] = []

    def bad(record: Record) -> None:
        raise LookupError("canary-message" + record.id)

    gateway = gateway_of({"DECISION_LOG": "json"}, observers=[seen.append, bad, seen.append])

    assert decided(gateway, scripted("tech")).value == "tech"

    assert len(seen) == 2
    (failed,) = [one for one in events() if one["event"] == "decision.observer_failed"]
    assert (failed["plugin"], failed["error"], failed["level"]) == ("bad", "LookupError", "error")


def test_a_recorder_takes_records_from_any_thread() -> None:
    recorder = Recorder()
    record = Record(id="1", at=0.0, point="A", variant="x", provider="x")

    def many() -> None:
        for _ in range(500):
            recorder(record)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(recorder.records) == 2000
    recorder.records.clear()
    assert len(recorder.records) == 2000


def test_several_gateways_tell_their_own_observers(gateway_of: Gateways) -> None:
    first, second = Recorder(), Recorder()
    one, two = gateway_of(observers=[first]), gateway_of(observers=[second])

    decided(one, scripted("tech"))
    decided(two, scripted(Reason.TIMEOUT))

    assert [record.reason for record in first.records] == [Reason.OK]
    assert [record.reason for record in second.records] == [Reason.TIMEOUT]


NAMES: Mapping[str, str] = {
    "decision.made": "every decision",
    "decision.fallback": "the assigned provider was not believed",
    "decision.failed": "nobody decided, and the host gets the error",
    "decision.operator_fault": "a key, a purse or a model is wrong",
    "decision.setup": "what is odd about variables and plug-ins",
}


@pytest.mark.parametrize("name", NAMES, ids=NAMES)
def test_event_names_are_constants_that_the_module_lists(name: str) -> None:
    from pointsman.gateway import telemetry

    assert f"`{name}`" in (telemetry.__doc__ or "")
