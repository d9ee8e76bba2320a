"""Where traces lead: to providers over HTTP, through any context, never with what is private."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import subprocess
import sys
from itertools import product
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs opentelemetry-sdk")

from opentelemetry import baggage
from opentelemetry.context import attach, detach, get_current
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Sampler
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    TraceState,
    set_span_in_context,
)

from faulty import ASK, Server, failed, replies
from pointsman import (
    Ask,
    Call,
    Chosen,
    Gateway,
    Limits,
    NoAnswer,
    Reason,
    Reply,
    SetupError,
    scripted,
)
from pointsman.gateway.tracing.carrying import carried
from spanning import Breaks, Makes, Seen, jev, own, parent, said, seen, traceparent
from test_canary import ASK as SECRET
from test_canary import BODY, MARK, PLANTED, SPEAKING, environ
from trialling import Offers

__all__ = ["seen"]

COLOURS = ("sync", "async")
BUG = RuntimeError("zq7 in an exporter")
ODD = (BUG, SystemExit(3), asyncio.CancelledError())
FAULTS = [("sampler", BUG), ("exporter", BUG), *product(("start", "end"), ODD)]


def decide(gateway: Gateway, colour: str, **given: Any) -> Any:
    given.setdefault("current", lambda: "none")
    if colour == "sync":
        return gateway.ask_sync("TEAM", ASK, **given)
    return asyncio.run(gateway.ask("TEAM", ASK, **given))


def provided(seen: Seen, provider: Any, **environ: str) -> Gateway:
    variables = {"DECISION_TEAM_PROVIDER": "one", **environ}
    return seen.gateway(variables, plugins=[Offers({"one": provider})])


# --- over HTTP ---------------------------------------------------------------------------


@pytest.mark.parametrize("colour", COLOURS)
def test_a_provider_is_sent_its_attempts_context_and_no_baggage(
    seen: Seen, server: Server, colour: str
) -> None:
    """What a host keeps in its baggage, a vendor must not see."""
    token = attach(baggage.set_baggage("user.email", "ana@example.com"))
    try:
        decide(seen.gateway(jev(server)), colour)
    finally:
        detach(token)

    (arrived,) = server.seen
    assert arrived.headers["traceparent"] == traceparent(seen.one("ask jev"))
    assert "baggage" not in arrived.headers
    assert "ana@example.com" not in repr(arrived)


@pytest.mark.parametrize("colour", COLOURS)
def test_every_retry_carries_the_same_context(seen: Seen, server: Server, colour: str) -> None:
    server.does(replies({}, 503), replies())

    decide(seen.gateway(jev(server, JEV_MAX_ATTEMPTS="2")), colour)

    attempt = traceparent(seen.one("ask jev"))
    assert [one.headers["traceparent"] for one in server.seen] == [attempt, attempt]


def test_the_state_of_a_trace_goes_along(seen: Seen, server: Server) -> None:
    context = SpanContext(
        int("a" * 32, 16),
        int("b" * 16, 16),
        is_remote=True,
        trace_flags=TraceFlags(1),
        trace_state=TraceState([("vendor", "1")]),
    )
    token = attach(set_span_in_context(NonRecordingSpan(context)))
    try:
        decide(seen.gateway(jev(server)), "sync")
    finally:
        detach(token)

    assert server.seen[0].headers["tracestate"] == "vendor=1"
    assert server.seen[0].headers["traceparent"].split("-")[1] == "a" * 32


@pytest.mark.parametrize("colour", COLOURS)
def test_who_is_not_sampled_says_so_and_is_counted(
    gateway_of: Makes, seen: Seen, server: Server, colour: str
) -> None:
    gateway = gateway_of(jev(server))
    tracers = TracerProvider(ALWAYS_OFF, shutdown_on_exit=False)
    gateway.instrument(tracer_provider=tracers, meter_provider=seen.meters)

    decide(gateway, colour)

    assert int(server.seen[0].headers["traceparent"][-2:], 16) & 1 == 0
    assert seen.points("pointsman.decisions")[0].value == 1


def test_without_tracing_nothing_goes_along(gateway_of: Makes, seen: Seen, server: Server) -> None:
    """Also within a span of the host's."""
    with seen.tracer().start_as_current_span("host"):
        decide(gateway_of(jev(server)), "sync")

    assert not {"traceparent", "tracestate", "baggage"} & server.seen[0].headers.keys()


def test_another_gateway_without_tracing_carries_nothing_of_ours(
    gateway_of: Makes, seen: Seen, server: Server
) -> None:
    """Its ask is none of the attempt around it, whose content it is not."""
    plain = gateway_of(jev(server))
    seen.content = True

    def current() -> str:
        assert carried.get() is None
        return str(decide(plain, "sync").value)

    decide(seen.gateway(), "sync", current=current)

    assert "traceparent" not in server.seen[0].headers


class Uses:
    """Asks by another gateway, of the host's own, that nothing traces."""

    name, limits = "uses", Limits()

    def __init__(self, other: Gateway) -> None:
        self._other = other

    def answer(self, ask: Ask, call: Call) -> Reply:
        asked = Ask("what is nobody's business", ask.questions)
        made = self._other.ask_sync("TEAM", asked, current=lambda: "none")
        return Reply(dict.fromkeys(ask.questions, Chosen(made.value, None, 0.9)))


def test_what_another_gateway_asks_within_an_attempt_is_not_the_attempts(
    gateway_of: Makes, seen: Seen, server: Server
) -> None:
    seen.content = True

    decide(provided(seen, Uses(gateway_of(jev(server)))), "sync")

    attempt = said(seen.one("ask one"))
    assert "my router is dead" in attempt["input.value"]
    assert "server.address" not in attempt
    assert "traceparent" not in server.seen[0].headers


def test_whoever_serves_a_request_in_a_span_of_its_own_goes_on_with_that(seen: Seen) -> None:
    gateway = seen.gateway()
    headers = {b"traceparent": f"00-{'a' * 32}-{'b' * 16}-01".encode()}

    with seen.tracer().start_as_current_span("server"), gateway.continued(headers):
        decide(gateway, "sync")
    with gateway.continued(headers):
        decide(gateway, "sync")

    below, apart = [one for one in seen.spans if one.name == "decide TEAM"]
    assert parent(below) == own(seen.one("server"))
    assert parent(apart) == int("b" * 16, 16)


# --- contexts ----------------------------------------------------------------------------


def test_a_decision_may_go_on_in_another_context_than_it_began_in(
    seen: Seen, caplog: pytest.LogCaptureFixture
) -> None:
    """Some frameworks resume a task elsewhere; neither context is left with a stale span."""

    class Twice:
        def __await__(self) -> Any:
            yield
            yield

    async def current() -> str:
        await Twice()
        return "tech"

    async def begun() -> Any:
        return await seen.gateway().ask("TEAM", ASK, current=current)

    first, second = contextvars.copy_context(), contextvars.Context()

    async def in_loop() -> Any:
        task = begun()
        first.run(task.send, None)
        second.run(task.send, None)
        try:
            second.run(task.send, None)
        except StopIteration as end:
            return end.value
        raise AssertionError

    made = asyncio.run(in_loop())

    assert made.value == "tech"
    assert second.run(get_current) == {}
    assert parent(seen.one("current")) == own(seen.one("decide TEAM"))
    assert not [one for one in caplog.records if one.name.startswith("opentelemetry")]


def test_nothing_is_left_current_behind_a_decision(seen: Seen) -> None:
    before = get_current()

    decide(provided(seen, scripted("tech", Reason.TRANSPORT)), "sync")

    assert get_current() is before
    assert carried.get() is None


# --- what fails --------------------------------------------------------------------------


class Broken(SpanExporter):
    def export(self, spans: Any) -> Any:
        raise BUG


class Unsampled(Sampler):
    def should_sample(self, *args: Any, **given: Any) -> Any:
        raise BUG

    def get_description(self) -> str:
        return "fails"


def tracers_that_fail(how: str, error: BaseException) -> TracerProvider:
    if how == "sampler":
        return TracerProvider(Unsampled(), shutdown_on_exit=False)
    tracers = TracerProvider(shutdown_on_exit=False)
    exporter = SimpleSpanProcessor(Broken())
    tracers.add_span_processor(exporter if how == "exporter" else Breaks(how, error))
    return tracers


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize(("how", "error"), FAULTS)
def test_what_traces_can_fail_and_the_decision_is_made(
    gateway_of: Makes,
    server: Server,
    caplog: pytest.LogCaptureFixture,
    how: str,
    error: BaseException,
    colour: str,
) -> None:
    caplog.set_level(logging.CRITICAL)
    gateway = gateway_of(jev(server))
    gateway.instrument(
        tracer_provider=tracers_that_fail(how, error),
        meter_provider=MeterProvider(shutdown_on_exit=False),
    )

    made = decide(gateway, colour)

    assert (made.value, made.provider) == ("tech", "jev")


def test_a_fault_of_what_traces_is_told_once_by_its_type(
    gateway_of: Makes, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway = gateway_of({"DECISION_LOG": "json"})
    gateway.instrument(
        tracer_provider=tracers_that_fail("end", BUG),
        meter_provider=MeterProvider(shutdown_on_exit=False),
    )

    for _ in range(3):
        decide(gateway, "sync")

    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (told,) = [one for one in lines if one["event"] == "decision.observer_failed"]
    assert (told["plugin"], told["error"]) == ("opentelemetry", "RuntimeError")
    assert MARK not in json.dumps(lines)


# --- switches ----------------------------------------------------------------------------


def test_it_is_off_until_it_is_switched_on_and_after_it_is_switched_off(seen: Seen) -> None:
    gateway = seen.gateway()
    decide(gateway, "sync")
    seen.forget()

    gateway.uninstrument()
    decide(gateway, "sync")
    gateway.reload()
    decide(gateway, "sync")

    assert not seen.spans


def test_a_reload_and_an_override_keep_it(seen: Seen) -> None:
    gateway = seen.gateway()

    gateway.reload()
    with gateway.override({"TEAM": scripted("tech")}):
        decide(gateway, "sync")

    assert said(seen.one("ask scripted"))["pointsman.reason"] == "ok"


def test_content_may_be_wanted_by_a_variable(seen: Seen) -> None:
    gateway = seen.gateway({"DECISION_OTEL_CONTENT": "on"})
    decide(gateway, "sync")
    seen.content = True

    assert "router is dead" in said(seen.one("decide TEAM"))["input.value"]


def ran(program: str, *before: str) -> list[str]:
    lines = "\n".join([*before, program])
    run = subprocess.run(
        [sys.executable, "-c", lines], check=True, capture_output=True, text=True, timeout=60
    )
    return run.stdout.splitlines()


DECIDES = """
import sys
from pointsman import Ask, Choice, Gateway, SetupError
def gateway(**variables):
    return Gateway.from_env({"DECISION_LOG": "off", **variables})
def decide(gateway):
    asked = Ask("hello", {"team": Choice("Who?", ["billing", "tech"])})
    return gateway.ask_sync("TEAM", asked, current=lambda: "tech").value
"""


def test_switched_off_nothing_of_opentelemetry_is_loaded() -> None:
    program = (
        "print(decide(gateway()), 'opentelemetry' in {one.split('.')[0] for one in sys.modules})"
    )

    assert ran(program, DECIDES) == ["tech False"]


def test_a_variable_switches_it_on_with_the_providers_of_the_process() -> None:
    """Also where these are set after the gateway was made."""
    program = """
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
early, other = gateway(DECISION_OTEL="on"), gateway(DECISION_OTEL="on")
exporter, reader, tracers = InMemorySpanExporter(), InMemoryMetricReader(), TracerProvider()
tracers.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(tracers)
metrics.set_meter_provider(MeterProvider([reader]))
decide(early), decide(other), decide(gateway(DECISION_OTEL="on")), decide(gateway())
print([one.name for one in exporter.get_finished_spans()])
(scope,) = reader.get_metrics_data().resource_metrics[0].scope_metrics
print({one.name: one.data.data_points[0].value for one in scope.metrics if one.name.endswith("ns")})
"""

    assert ran(program, DECIDES) == [
        str(["current", "decide TEAM"] * 3),
        str({"pointsman.decisions": 3}),
    ]


@pytest.mark.parametrize("how", ["gateway(DECISION_OTEL='on')", "gateway().instrument()"])
def test_without_the_extra_the_fault_names_it(how: str) -> None:
    program = f"""
sys.modules["opentelemetry"] = None
try:
    {how}
except SetupError as error:
    print(error)
"""

    (line,) = ran(program, DECIDES)
    assert "pip install 'pointsman[otel]'" in line
    assert ("DECISION_OTEL" if "DECISION" in how else "instrument") in line


def test_it_is_told_with_all_other_faults() -> None:
    program = """
sys.modules["opentelemetry"] = None
try:
    gateway(DECISION_OTEL="on", DECISION_PROVIDER="nobody")
except SetupError as error:
    print([one.where for one in error.faults])
"""

    assert ran(program, DECIDES) == [str(["DECISION_PROVIDER", "DECISION_OTEL"])]


def test_a_switch_that_is_no_switch_is_a_fault(gateway_of: Makes) -> None:
    with pytest.raises(SetupError, match="DECISION_OTEL"):
        gateway_of({"DECISION_OTEL": "perhaps"})


# --- the canary --------------------------------------------------------------------------


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("fallback", ["true", "false"])
@pytest.mark.parametrize("does", SPEAKING.values(), ids=SPEAKING)
def test_nothing_that_is_exported_tells(
    seen: Seen, server: Server, *, does: Any, fallback: str, colour: str
) -> None:
    """No prompt, key, subject or body in any attribute, event, status, link, resource or label."""
    server.does(does)
    gateway = seen.gateway(environ(server, "off", DECISION_FALLBACK_TO_CURRENT=fallback))

    def ask() -> Any:
        given: dict[str, Any] = {"current": lambda: "none", "subject": PLANTED[4]}
        if colour == "sync":
            return gateway.ask_sync("TEAM", SECRET, **given)
        return asyncio.run(gateway.ask("TEAM", SECRET, **given))

    try:
        ask()
    except NoAnswer:
        assert fallback == "false"

    assert said(seen.one("decide TEAM"))
    assert seen.points("pointsman.decisions")
    assert MARK not in seen.written()


def test_with_content_there_is_still_no_key_and_no_body(seen: Seen, server: Server) -> None:
    seen.content = True
    server.does(replies(failed("invalid_request_error", BODY, BODY), 400))
    gateway = seen.gateway(environ(server, "off"))

    gateway.ask_sync("TEAM", SECRET, current=lambda: "none")

    written = seen.written()
    assert PLANTED[1] in written  # the prompt, as was wanted
    assert PLANTED[0] not in written
    assert BODY not in written
