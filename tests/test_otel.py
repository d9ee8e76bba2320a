"""Spans: one for each decision, one below it for each attempt, by the names of the conventions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs opentelemetry-sdk")

from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.trace import SpanKind, StatusCode

from faulty import ASK, PATIENCE, TEAM, Server, answered, chosen, hangs, replies
from pointsman import (
    Ask,
    Call,
    Choice,
    Chosen,
    DecisionPoint,
    Gateway,
    Limits,
    MaskOffer,
    NoAnswer,
    Predicate,
    Reason,
    Reply,
    Score,
    Usage,
    hookimpl,
    scripted,
)
from pointsman.decision_points import JUDGE_LLM_JUDGE
from pointsman.gateway.breaker import FAILURES
from pointsman.gateway.questions import Question
from pointsman.gateway.tracing import names, tracing
from spanning import CONTENT, SPEC, Seen, jev, own, parent, said, seen
from trialling import Offers

__all__ = ["seen"]

Decides = Callable[..., Any]
COLOURS = ("sync", "async")


def decide(gateway: Gateway, colour: str, **given: Any) -> Any:
    ask = given.pop("ask", ASK)
    given.setdefault("current", lambda: "none")
    if colour == "sync":
        return gateway.ask_sync("TEAM", ask, **given)
    return asyncio.run(gateway.ask("TEAM", ask, **given))


def provided(seen: Seen, provider: Any, **environ: str) -> Gateway:
    variables = {"DECISION_TEAM_PROVIDER": "one", **environ}
    return seen.gateway(variables, plugins=[Offers({"one": provider})])


# --- frameworks §7, row by row -----------------------------------------------------------


@pytest.mark.parametrize("colour", COLOURS)
def test_a_decision_is_a_span_and_each_attempt_one_below_it(
    seen: Seen, server: Server, colour: str
) -> None:
    server.does(replies(headers={"x-request-id": "req_1"}))

    made = decide(seen.gateway(jev(server)), colour)

    decision, attempt = seen.one("decide TEAM"), seen.one("ask jev")
    assert (decision.kind, attempt.kind) == (SpanKind.INTERNAL, SpanKind.CLIENT)
    assert (parent(decision), parent(attempt)) == (None, own(decision))
    assert decision.status.status_code is attempt.status.status_code is StatusCode.UNSET
    told = made.attempts[0]
    assert said(attempt) == {
        "gen_ai.operation.name": "decide",
        "gen_ai.provider.name": "jev",
        "gen_ai.request.model": "typesafe-ai/jev",
        "gen_ai.response.model": told.model,
        "gen_ai.response.id": "req_1",
        "gen_ai.usage.input_tokens": told.usage.input_tokens,
        "gen_ai.usage.output_tokens": told.usage.output_tokens,
        "server.address": "127.0.0.1",
        "server.port": server.port,
        "openinference.span.kind": "DECISION",
        "decision.provider": "jev",
        "decision.model_name": told.model,
        "decision.request.model_name": "typesafe-ai/jev",
        "decision.response.model_name": told.model,
        "decision.token_count.input": told.usage.input_tokens,
        "decision.token_count.output": told.usage.output_tokens,
        "pointsman.point": "TEAM",
        "pointsman.reason": "ok",
        "pointsman.confidence": told.confidence,
        "pointsman.threshold": 0.7,
    } | {name: value for name, value in said(attempt).items() if name == "decision.system"}


def test_a_decisions_span_says_who_was_planned_who_decided_and_how_sure(seen: Seen) -> None:
    made = decide(provided(seen, scripted("tech")), "sync")

    assert said(seen.one("decide TEAM")) == {
        "gen_ai.operation.name": "decide",
        "gen_ai.provider.name": "one",
        "gen_ai.request.model": "scripted-1",
        "gen_ai.response.model": "scripted-1",
        "openinference.span.kind": "DECISION",
        "decision.provider": "one",
        "decision.model_name": "scripted-1",
        "decision.request.model_name": "scripted-1",
        "decision.response.model_name": "scripted-1",
        "feature_flag.key": "TEAM",
        "feature_flag.provider.name": "env",
        "feature_flag.result.variant": "one",
        "feature_flag.result.reason": "static",
        "pointsman.point": "TEAM",
        "pointsman.decision.id": made.record.id,
        "pointsman.question.type": "choice",
        "pointsman.confidence": 0.99,
        "pointsman.threshold": 0.7,
        "pointsman.fallback": False,
        "pointsman.undecided": False,
    }


def test_tokens_stand_on_one_span_only(seen: Seen) -> None:
    """Whoever sums over a trace counts them once: frameworks §7, tokens."""
    reply = Reply({"team": Chosen("tech", None, 0.9)}, "m", Usage(120, 3, 0.1), "req")

    decide(provided(seen, scripted(reply)), "sync")

    counted = [one.name for one in seen.spans if "gen_ai.usage.input_tokens" in said(one)]
    assert counted == ["ask one"]


def test_current_is_a_span_too_and_what_it_does_stands_below(seen: Seen) -> None:
    def current() -> str:
        with seen.tracer().start_as_current_span("host"):
            return "billing"

    decide(seen.gateway(), "sync", current=current)

    host, ran, decision = seen.one("host"), seen.one("current"), seen.one("decide TEAM")
    assert (parent(host), parent(ran)) == (own(ran), own(decision))
    assert said(ran)["openinference.span.kind"] == "CHAIN"
    assert said(decision)["feature_flag.result.variant"] == "current"
    assert said(decision)["feature_flag.result.reason"] == "default"


def test_a_wrapped_function_is_traced_where_current_decides(seen: Seen) -> None:
    """Tracing watches, as a journal does: what costs nothing without it is seen with it."""
    gateway = seen.gateway()

    @gateway.point("TEAM", TEAM)
    def team(message: str) -> str:
        return "tech" if "router" in message else "none"

    assert team("my router is dead") == "tech"
    assert [one.name for one in seen.spans] == ["current", "decide TEAM"]


def test_a_split_is_a_flag_that_was_split(seen: Seen) -> None:
    gateway = provided(seen, scripted("tech"), DECISION_TEAM_PROVIDER="one:100")

    decide(gateway, "sync", subject="ana")

    flag = said(seen.one("decide TEAM"))
    assert flag["feature_flag.result.reason"] == "split"
    assert flag["feature_flag.result.variant"] == "one"
    assert "feature_flag.context.id" not in flag


def test_all_names_are_those_of_the_conventions() -> None:
    """OpenInference's and OpenTelemetry's own constants, where their packages have them."""
    semconv = pytest.importorskip("openinference.semconv.trace", reason="needs openinference")
    theirs = vars(semconv.SpanAttributes)
    if "DECISION_SYSTEM" not in theirs:
        pytest.skip("this version knows no decisions yet")
    ours = {
        "OPENINFERENCE_SPAN_KIND": names.SPAN_KIND,
        "DECISION_SYSTEM": names.DECISION_SYSTEM,
        "DECISION_PROVIDER": names.DECISION_PROVIDER,
        "DECISION_MODEL_NAME": names.DECISION_MODEL,
        "DECISION_REQUEST_MODEL_NAME": names.DECISION_REQUEST_MODEL,
        "DECISION_RESPONSE_MODEL_NAME": names.DECISION_RESPONSE_MODEL,
        "DECISION_TOKEN_COUNT_INPUT": names.DECISION_INPUT_TOKENS,
        "DECISION_TOKEN_COUNT_OUTPUT": names.DECISION_OUTPUT_TOKENS,
        "INPUT_VALUE": names.INPUT_VALUE,
        "INPUT_MIME_TYPE": names.INPUT_TYPE,
        "OUTPUT_VALUE": names.OUTPUT_VALUE,
        "OUTPUT_MIME_TYPE": names.OUTPUT_TYPE,
    }
    assert {name: theirs[name] for name in ours} == ours
    kinds = {one.value for one in semconv.OpenInferenceSpanKindValues}
    assert {names.DECISION, names.CHAIN} <= kinds
    systems = {one.value for one in semconv.OpenInferenceDecisionSystemValues}
    assert {*names.SYSTEMS.values()} == systems


def test_flags_and_gen_ai_are_named_as_opentelemetry_names_them() -> None:
    within = "opentelemetry.semconv._incubating.attributes"
    flag = pytest.importorskip(f"{within}.feature_flag_attributes")
    gen_ai = pytest.importorskip(f"{within}.gen_ai_attributes")
    if not hasattr(gen_ai, "GEN_AI_EVALUATION_NAME"):
        pytest.skip("this version is older than the names")
    values = [value for module in (flag, gen_ai) for value in vars(module).values()]
    theirs = {one for one in values if isinstance(one, str)}

    ours = {one for one in SPEC if one.startswith(("feature_flag.", "gen_ai."))}
    ours -= {"feature_flag.context.id"}  # of the specification, not yet of the package
    assert ours <= theirs
    reasons = {one.value for one in flag.FeatureFlagResultReasonValues}
    assert {"static", "split", "default"} <= reasons


class Tells:
    """A provider over HTTP that says beforehand where it asks, and in which dialect."""

    name, model, limits = "tells", "tells-1", Limits()
    timeout, attempts = 5.0, 1
    url, dialect = "https://decisions.example/v1/systemone", "systemone"

    def exchange(self, ask: Ask, call: Call) -> Any:
        raise NoAnswer(Reason.TRANSPORT)
        yield  # a generator


def test_a_sampler_sees_who_is_asked_where(seen: Seen) -> None:
    """frameworks §7: operation, provider, model and server are set at a span's start."""
    started: dict[str, Mapping[str, Any]] = {}

    class Notes(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:
            started[span.name] = dict(span.attributes or {})

    seen.tracers.add_span_processor(Notes())
    decide(provided(seen, Tells()), "sync")

    first = started["ask one"]
    assert first["gen_ai.operation.name"] == "decide"
    assert (first["gen_ai.provider.name"], first["gen_ai.request.model"]) == ("one", "tells-1")
    assert (first["server.address"], first["server.port"]) == ("decisions.example", 443)
    assert first["decision.system"] == "typesafe"
    assert started["decide TEAM"]["gen_ai.provider.name"] == "one"
    assert started["decide TEAM"]["feature_flag.result.variant"] == "one"


# --- how it ended ------------------------------------------------------------------------


def test_an_answer_too_unsure_is_no_error(seen: Seen) -> None:
    decide(provided(seen, scripted("tech", confidence=0.1)), "sync")

    attempt, decision = seen.one("ask one"), seen.one("decide TEAM")
    assert attempt.status.status_code is StatusCode.UNSET
    assert said(attempt)["pointsman.reason"] == "low_confidence"
    assert "error.type" not in said(attempt) | said(decision)
    assert said(decision)["pointsman.fallback"] is True
    assert said(decision)["pointsman.fallback.reason"] == "low_confidence"
    assert said(decision)["gen_ai.provider.name"] == "one"  # as planned
    assert said(decision)["decision.provider"] == "current"  # who decided
    assert "pointsman.confidence" not in said(decision)


@pytest.mark.parametrize("colour", COLOURS)
def test_a_failed_attempt_is_an_error_and_the_decision_none_where_current_decides(
    seen: Seen, server: Server, colour: str
) -> None:
    server.does(replies({}, 500))

    decide(seen.gateway(jev(server)), colour)

    attempt, decision = seen.one("ask jev"), seen.one("decide TEAM")
    assert attempt.status.status_code is StatusCode.ERROR
    assert attempt.status.description is None
    assert said(attempt)["error.type"] == "provider_error"
    assert decision.status.status_code is StatusCode.UNSET
    assert [one.name for one in seen.spans] == ["ask jev", "current", "decide TEAM"]


@pytest.mark.parametrize("colour", COLOURS)
def test_a_decision_that_nobody_made_is_an_error(seen: Seen, colour: str) -> None:
    gateway = provided(seen, scripted(Reason.RATE_LIMITED), DECISION_FALLBACK_TO_CURRENT="false")

    with pytest.raises(NoAnswer):
        decide(gateway, colour)

    decision = seen.one("decide TEAM")
    assert decision.status.status_code is StatusCode.ERROR
    assert said(decision)["error.type"] == "rate_limited"


@pytest.mark.parametrize("colour", COLOURS)
def test_what_the_host_raises_is_told_by_its_type_alone(seen: Seen, colour: str) -> None:
    def current() -> str:
        raise KeyError("canary in a message")

    with pytest.raises(KeyError):
        decide(seen.gateway(), colour, current=current)

    for name in ("current", "decide TEAM"):
        span = seen.one(name)
        assert span.status.status_code is StatusCode.ERROR
        assert said(span)["error.type"] == "KeyError"
        assert not span.events
    assert "canary" not in seen.written()


def test_what_is_given_up_is_cancelled_and_no_error(seen: Seen, server: Server) -> None:
    async def given_up() -> None:
        server.does(hangs())
        task = asyncio.create_task(seen.gateway(jev(server)).ask("TEAM", ASK, current=str))
        await server.reached()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(given_up())

    for name in ("ask jev", "decide TEAM"):
        span = seen.one(name)
        assert span.status.status_code is StatusCode.UNSET
        assert said(span)["error.type"] == "cancelled"


def test_a_current_that_is_cut_off_timed_out(seen: Seen) -> None:
    async def never() -> str:
        await asyncio.Event().wait()
        return "never"

    gateway = provided(seen, scripted(Reason.TRANSPORT), DECISION_TEAM_DEADLINE_SECONDS="0.2")
    with pytest.raises(NoAnswer):
        decide(gateway, "async", current=never)

    ran = seen.one("current")
    assert said(ran)["error.type"] == said(seen.one("decide TEAM"))["error.type"] == "timeout"
    assert ran.status.status_code is StatusCode.ERROR


def test_an_attempt_for_which_nothing_was_sent_has_its_span(seen: Seen) -> None:
    gateway = provided(seen, scripted(Reason.TRANSPORT))
    for _ in range(FAILURES):
        decide(gateway, "sync")
    seen.forget()

    decide(gateway, "sync")

    attempt, decision = seen.one("ask one"), seen.one("decide TEAM")
    assert (attempt.kind, parent(attempt)) == (SpanKind.INTERNAL, own(decision))
    assert said(attempt)["error.type"] == "breaker_open"


def test_a_cached_answer_has_its_span_and_no_tokens(seen: Seen) -> None:
    reply = Reply({"team": Chosen("tech", None, 0.9)}, "m", Usage(120, 3, 0.1), "req")
    gateway = provided(seen, scripted(reply), DECISION_TEAM_CACHE_SECONDS="60")
    decide(gateway, "sync")
    seen.forget()

    decide(gateway, "sync")

    attempt = said(seen.one("ask one"))
    assert attempt["pointsman.cached"] is True
    assert "gen_ai.usage.input_tokens" not in attempt


def test_a_consultation_in_vain_is_a_span(seen: Seen) -> None:
    gateway = provided(seen, scripted("tech", confidence=0.1))

    assert gateway.consult_sync("TEAM", ASK) is None
    assert said(seen.one("decide TEAM"))["decision.provider"] == "current"
    assert said(seen.one("ask one"))["pointsman.reason"] == "low_confidence"


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("journal", ["off", "on"])
def test_a_decision_that_stands_is_a_span_that_says_so(
    seen: Seen, tmp_path: Path, journal: str, colour: str
) -> None:
    """Whether it stands in memory, or in a journal that is read beside the loop."""
    url = f"sqlite:///{tmp_path / 'journal.db'}" if journal == "on" else "off"
    gateway = provided(seen, scripted("tech", "billing"), DECISION_JOURNAL=url)
    given: dict[str, Any] = {"subject": "ana", "once": ("call-1", {"a": 1})}
    first = decide(gateway, colour, **given)
    assert {one.name for one in seen.spans} == {"ask one", "decide TEAM"}
    seen.forget()

    again = decide(gateway, colour, **given)

    assert again.value == first.value
    (span,) = seen.spans
    assert said(span)["pointsman.standing"] is True
    assert said(span)["pointsman.decision.id"] == first.record.id


# --- structure ---------------------------------------------------------------------------


class Below:
    """Starts a span of its own wherever it runs."""

    name, limits = "below", Limits()

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def answer(self, ask: Ask, call: Call) -> Reply:
        with self._seen.tracer().start_as_current_span("below"):
            return Reply(dict.fromkeys(ask.questions, Chosen("tech", None, 0.9)))


class Blocking(Below):
    blocking = True


class Waits(Below):
    async def answer(self, ask: Ask, call: Call) -> Reply:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().answer(ask, call)


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("shape", [Below, Blocking, Waits])
def test_what_a_provider_does_stands_below_its_attempt(
    seen: Seen, shape: type[Below], colour: str
) -> None:
    """On this thread, in a thread of the pool, on the loop, through the loop's own thread."""
    decide(provided(seen, shape(seen)), colour)

    below, attempt = seen.one("below"), seen.one("ask one")
    assert parent(below) == own(attempt)
    assert parent(attempt) == own(seen.one("decide TEAM"))


def test_a_decision_stands_below_the_hosts_span_and_leaves_it_current(seen: Seen) -> None:
    gateway = provided(seen, scripted("tech"))

    with seen.tracer().start_as_current_span("host"):
        decide(gateway, "sync")
        with seen.tracer().start_as_current_span("after"):
            pass

    host = own(seen.one("host"))
    assert parent(seen.one("decide TEAM")) == host
    assert parent(seen.one("after")) == host


class Asks:
    """A deliberating provider: asks another point within its own attempt."""

    name, limits, deliberates = "asks", Limits(), True
    gateway: Gateway

    def answer(self, ask: Ask, call: Call) -> Reply:
        inner = self.gateway.ask_sync("INNER", ASK, within=call)
        return Reply(dict.fromkeys(ask.questions, Chosen(inner.value, None, 0.9)))


def test_a_nested_decision_stands_below_the_attempt_that_asked_it(seen: Seen) -> None:
    asks, inner = Asks(), scripted("tech")
    variables = {"DECISION_TEAM_PROVIDER": "asks", "DECISION_INNER_PROVIDER": "inner"}
    plugins = [Offers({"asks": asks, "inner": inner})]
    asks.gateway = seen.gateway(variables, plugins=plugins)
    asks.gateway.point(DecisionPoint(name="INNER", questions={"en": {"team": TEAM}}, safe="none"))

    decide(asks.gateway, "sync")

    assert parent(seen.one("decide INNER")) == own(seen.one("ask asks"))
    assert parent(seen.one("ask inner")) == own(seen.one("decide INNER"))


def test_a_thousand_decisions_at_once_have_each_their_own_tree(seen: Seen) -> None:
    async def all_at_once(gateway: Gateway) -> None:
        async def one() -> None:
            await gateway.ask("TEAM", ASK, current=lambda: "none")

        await asyncio.gather(*(one() for _ in range(1_000)))

    asyncio.run(all_at_once(provided(seen, Waits(seen))))

    decisions = {own(one): one for one in seen.spans if one.name == "decide TEAM"}
    attempts = {own(one): one for one in seen.spans if one.name == "ask one"}
    assert len(decisions) == len(attempts) == 1_000
    assert {parent(one) for one in decisions.values()} == {None}
    assert {parent(one) for one in attempts.values()} == decisions.keys()
    below = [one for one in seen.spans if one.name == "below"]
    assert {parent(one) for one in below} == attempts.keys()
    assert len({one.context.trace_id for one in decisions.values() if one.context}) == 1_000


def test_threads_have_each_their_own_tree(seen: Seen) -> None:
    gateway = provided(seen, Waits(seen))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: decide(gateway, "sync"), range(50)))

    decisions = [own(one) for one in seen.spans if one.name == "decide TEAM"]
    attempts = [one for one in seen.spans if one.name == "ask one"]
    assert sorted(filter(None, map(parent, attempts))) == sorted(decisions)
    assert len(set(decisions)) == 50


# --- shadows -----------------------------------------------------------------------------


@pytest.mark.parametrize(("says", "agrees"), [("tech", True), ("billing", False)])
def test_a_shadow_is_a_trace_of_its_own_that_links_to_its_decision(
    seen: Seen, says: str, *, agrees: bool
) -> None:
    variables = {"DECISION_TEAM_SHADOW": "one"}
    gateway = seen.gateway(variables, plugins=[Offers({"one": scripted(says)})])
    decide(gateway, "sync", current=lambda: "tech")
    gateway.close()

    shadow, decision = seen.one("shadow TEAM"), seen.one("decide TEAM")
    assert parent(shadow) is None
    assert [link.context for link in shadow.links] == [decision.context]
    assert shadow.context is not None
    assert decision.context is not None
    assert shadow.context.trace_id != decision.context.trace_id
    assert said(shadow)["pointsman.shadow.agree"] is agrees
    assert said(shadow)["gen_ai.provider.name"] == "one"
    assert said(shadow)["pointsman.decision.id"] == said(decision)["pointsman.decision.id"]


class Held(Blocking):
    """Answers once it is let go."""

    def __init__(self, seen: Seen) -> None:
        super().__init__(seen)
        self.gate = threading.Event()

    def answer(self, ask: Ask, call: Call) -> Reply:
        assert self.gate.wait(PATIENCE)
        return super().answer(ask, call)


def test_each_of_several_shadows_links_to_the_decision(seen: Seen) -> None:
    variables = {"DECISION_TEAM_SHADOW": "one,two"}
    offers = Offers({"one": scripted("tech"), "two": scripted("tech")})
    gateway = seen.gateway(variables, plugins=[offers])
    decide(gateway, "sync")
    gateway.close()

    decision = seen.one("decide TEAM")
    links = [one.links for one in seen.spans if one.name == "shadow TEAM"]
    assert [[link.context for link in each] for each in links] == [[decision.context]] * 2


def test_shadows_that_never_come_are_not_waited_for_without_end(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "LINKED", 1)
    held = Held(seen)
    gateway = seen.gateway({"DECISION_TEAM_SHADOW": "one"}, plugins=[Offers({"one": held})])
    decide(gateway, "sync")
    decide(gateway, "sync")
    held.gate.set()
    gateway.close()

    links = [len(one.links) for one in seen.spans if one.name == "shadow TEAM"]
    assert sorted(links) == [0, 1]


def test_a_shadow_within_the_hosts_span_is_still_a_trace_of_its_own(seen: Seen) -> None:
    gateway = seen.gateway(
        {"DECISION_TEAM_SHADOW": "one"}, plugins=[Offers({"one": scripted("tech")})]
    )
    with seen.tracer().start_as_current_span("host"):
        decide(gateway, "sync")
        gateway.close()

    assert parent(seen.one("shadow TEAM")) is None


def test_a_shadow_without_an_answer_neither_agrees_nor_differs(seen: Seen) -> None:
    variables = {"DECISION_TEAM_SHADOW": "one"}
    gateway = seen.gateway(variables, plugins=[Offers({"one": scripted(Reason.TRANSPORT)})])
    decide(gateway, "sync")
    gateway.close()

    shadow = seen.one("shadow TEAM")
    assert "pointsman.shadow.agree" not in said(shadow)
    assert said(shadow)["error.type"] == "transport"


# --- content -----------------------------------------------------------------------------


def test_no_content_unless_it_is_wanted(seen: Seen) -> None:
    decide(provided(seen, scripted("tech")), "sync", subject="ana")

    assert not CONTENT & {name for one in seen.spans for name in said(one)}
    assert "router" not in seen.written()
    assert "ana" not in seen.written()


@pytest.mark.parametrize("colour", COLOURS)
def test_content_is_what_left_not_what_came(seen: Seen, colour: str) -> None:
    """Masked for a provider, it is masked for who reads the spans."""
    seen.content = True
    gateway = provided(seen, scripted("tech"), ONE_MASK="pii")
    ask = Ask({"message": "write to ana@example.com"}, {"team": TEAM})

    decide(gateway, colour, ask=ask, subject="u-7")

    attempt, decision = said(seen.one("ask one")), said(seen.one("decide TEAM"))
    assert "<EMAIL_ADDRESS>" in attempt["input.value"]
    assert "Which team" in attempt["input.value"]
    assert '"tech"' in attempt["output.value"]
    assert (decision["output.value"], decision["pointsman.answer"]) == ('"tech"', "tech")
    assert decision["gen_ai.conversation.id"] == decision["feature_flag.context.id"] == "u-7"
    assert "ana@example.com" not in seen.written()


class Fails:
    """Offers a mask that fails."""

    @hookimpl
    def pointsman_masks(self) -> list[MaskOffer]:
        return [MaskOffer("bad", lambda: self._fail)]

    def _fail(self, text: str) -> str:
        raise ValueError(text)


def test_a_mask_that_fails_leaves_no_content(seen: Seen) -> None:
    """Also where current decides then: nothing shows what the mask was there for."""
    seen.content = True
    broken = scripted("tech")
    plugins = [Offers({"one": broken}), Fails()]
    gateway = seen.gateway({"DECISION_TEAM_PROVIDER": "one", "ONE_MASK": "bad"}, plugins=plugins)
    ask = Ask({"message": "write to ana@example.com"}, {"team": TEAM})

    gateway.ask_sync("TEAM", ask, current=lambda: "none")

    assert broken.asked == []
    assert "ana@example.com" not in seen.written()


def test_where_current_decides_content_is_what_it_is_asked_about(seen: Seen) -> None:
    seen.content = True

    decide(seen.gateway(), "sync", current=lambda: "tech")

    decision = said(seen.one("decide TEAM"))
    assert "my router is dead" in decision["input.value"]
    assert decision["output.value"] == '"tech"'


# --- judges ------------------------------------------------------------------------------

STATE = {"question": "When does it come?", "answer": "On Monday."}


def judged(seen: Seen, point: Any, provider: Any) -> Any:
    gateway = seen.gateway({"DECISION_PROVIDER": "one"}, plugins=[Offers({"one": provider})])
    name = point if isinstance(point, str) else point.name
    gateway.ask_sync(point, STATE, current=lambda: None)
    return [(one.name, dict(one.attributes or {})) for one in seen.one(f"decide {name}").events]


def test_a_judge_says_its_score_in_an_event(seen: Seen) -> None:
    ((event, found),) = judged(seen, JUDGE_LLM_JUDGE, scripted(0.8))

    assert event == "gen_ai.evaluation.result"
    assert found["gen_ai.evaluation.name"] == "JUDGE_LLM_JUDGE"
    assert found["gen_ai.evaluation.score.value"] == 0.8
    assert "gen_ai.evaluation.score.label" not in found


def test_a_judgement_that_stands_is_told_once(seen: Seen) -> None:
    """Averages of a judge would count it again."""
    plugins = [Offers({"one": scripted(0.8)})]
    gateway = seen.gateway({"DECISION_PROVIDER": "one"}, plugins=plugins)
    for _ in range(2):
        given: dict[str, Any] = {"subject": "s", "once": ("call", {})}
        gateway.ask_sync(JUDGE_LLM_JUDGE, STATE, current=lambda: None, **given)

    told = [len(one.events) for one in seen.spans if one.name == "decide JUDGE_LLM_JUDGE"]
    assert told == [1, 0]


@pytest.mark.parametrize("name", ["JUDGE_LLM_JUDGE", "JUDGE_MINE", "JUDGE_MINE_TOO"])
def test_a_name_of_the_generic_judge_evaluates(seen: Seen, name: str) -> None:
    ((_, found),) = judged(seen, name, scripted(0.8))

    assert found["gen_ai.evaluation.name"] == name


def test_a_name_makes_no_judge(seen: Seen) -> None:
    """The gateway knows no point by its name: a judge is declared."""
    point = DecisionPoint(name="JUDGE_ME", questions={"en": {"go": Predicate("Go on?")}})

    assert judged(seen, point, scripted(True)) == []  # noqa: FBT003 - an answer


def test_a_judge_of_ones_own_is_declared(seen: Seen) -> None:
    questions: dict[str, Question] = {
        "polite": Predicate("Is it polite?"),
        "tone": Choice("Which tone?", ["warm", "cold"]),
        "clear": Score("How clear?", ("not", "half", "fully")),
    }
    point = DecisionPoint(name="MANNERS", questions={"en": questions}, evaluates=True)
    seen.content = True

    found = judged(seen, point, scripted({"polite": True, "tone": "warm", "clear": 2}))

    assert [one["gen_ai.evaluation.name"] for _, one in found] == [
        "MANNERS.polite",
        "MANNERS.tone",
        "MANNERS.clear",
    ]
    assert found[0][1]["gen_ai.evaluation.score.value"] == 0.99
    assert found[1][1]["gen_ai.evaluation.score.label"] == "warm"
    assert "gen_ai.evaluation.score.value" not in found[1][1]


def test_only_judges_evaluate(seen: Seen) -> None:
    decide(provided(seen, scripted("tech")), "sync")

    assert not seen.one("decide TEAM").events


# --- turns -------------------------------------------------------------------------------


def test_those_who_share_a_call_have_each_their_attempt(seen: Seen, server: Server) -> None:
    """The call goes along with the first who asked it; each attempt says which form it had."""
    from pointsman.decision_points import GUARDRAIL_PINJ, GUARDRAIL_TOX

    both = [chosen() for _ in range(2)]
    server.does(replies(answered(*both)))
    gateway = seen.gateway(jev(server, DECISION_PROVIDER="jev"))

    async def shared() -> None:
        async with gateway.turn("ana"):
            asked = (gateway.ask(one, "hello", current=lambda: False) for one in rails)
            await asyncio.gather(*asked)

    rails = (GUARDRAIL_PINJ, GUARDRAIL_TOX)
    asyncio.run(shared())

    attempts = [one for one in seen.spans if one.name == "ask jev"]
    assert len(server.seen) == 1
    assert len(attempts) == 2
    assert {said(one)["pointsman.form"] for one in attempts} == {
        said(attempts[0])["pointsman.form"]
    }
    decisions = {own(one) for one in seen.spans if one.name.startswith("decide ")}
    assert {parent(one) for one in attempts} == decisions
    spans = [one.context.span_id for one in attempts if one.context]
    assert int(server.seen[0].headers["traceparent"].split("-")[2], 16) in spans


def test_a_thread_of_the_hosts_that_waits_stands_below_nobody(seen: Seen) -> None:
    """A bare thread has no context: frameworks §6.4. The decision is a trace of its own."""
    gateway = provided(seen, scripted("tech"))

    with seen.tracer().start_as_current_span("host"):
        thread = threading.Thread(target=decide, args=(gateway, "sync"))
        thread.start()
        thread.join()

    assert parent(seen.one("decide TEAM")) is None
