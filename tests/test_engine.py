"""The laws of a decision, whatever the providers do."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faulty import ASK
from pointsman import (
    Ask,
    Call,
    Choice,
    Chosen,
    Decision,
    DecisionPoint,
    Gateway,
    Held,
    Limits,
    NoAnswer,
    Predicate,
    Reason,
    Recorder,
    Refused,
    Reply,
    Score,
    Scored,
    Usage,
    scripted,
)

OUTCOMES = ["billing", "tech", "none", "sales", 7, None]
NUMBERS = st.one_of(
    st.none(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(0, 1),
    st.integers(-(10**400), 10**400),
    st.booleans(),
    st.text(max_size=3),
)
SPREADS = st.one_of(
    st.none(), st.dictionaries(st.sampled_from(OUTCOMES), NUMBERS, max_size=4), st.text(max_size=3)
)
ANSWERS = st.one_of(
    st.builds(Chosen, st.sampled_from(OUTCOMES), SPREADS, NUMBERS),
    st.builds(Chosen, st.just("tech"), st.none(), st.floats(0, 1)),
    st.builds(Held, NUMBERS),
    st.builds(Scored, NUMBERS, st.one_of(st.none(), st.lists(NUMBERS, max_size=4)), NUMBERS),
    st.just(Refused()),
    st.none(),
    st.text(max_size=3),
)
NAMES = st.sampled_from(["team", "mood", "", None, 3])
REPLIES = st.one_of(
    st.builds(Reply, st.dictionaries(NAMES, ANSWERS, max_size=2)),
    st.builds(Reply, st.lists(st.tuples(NAMES, ANSWERS), max_size=2)),
    st.builds(Reply, st.builds(lambda one: {"team": one}, ANSWERS), st.text(max_size=2)),
    st.builds(Reply, ANSWERS),
    st.builds(
        Reply, st.just({}), NAMES, st.one_of(st.none(), st.just("usage"), st.just(Usage(1, 2, 3)))
    ),
    st.none(),
    st.text(max_size=3),
    st.dictionaries(NAMES, ANSWERS, max_size=2),
)
BUGS = st.sampled_from(
    [ValueError("bug"), KeyError("bug"), StopIteration(), RecursionError(), OSError("bug")]
)
LINES = st.one_of(st.sampled_from(list(Reason)), BUGS, REPLIES)

HYPOTHESIS = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Told:
    """Gives a line, whatever it is; may ask for current first."""

    limits = Limits()

    def __init__(self, name: str, line: object, *, peeks: bool = False) -> None:
        self.name, self._line, self._peeks = name, line, peeks
        self.asked = 0

    def answer(self, ask: Ask, call: Call) -> Any:
        self.asked += 1
        if self._peeks and call.current is not None:
            call.current()
        if isinstance(self._line, Reason):
            raise NoAnswer(self._line)
        if isinstance(self._line, BaseException):
            raise self._line
        return self._line


class Host:
    def __init__(self) -> None:
        self.runs = 0

    def __call__(self) -> str:
        self.runs += 1
        return "billing"


def decide(gateway: Gateway, colour: str, **given: Any) -> Decision[Any]:
    if colour == "sync":
        return gateway.ask_sync("TEAM", ASK, **given)
    return asyncio.run(gateway.ask("TEAM", ASK, **given))


def ending(gateway: Gateway, host: Host) -> Decision[Any] | NoAnswer:
    try:
        return gateway.ask_sync("TEAM", ASK, current=host)
    except NoAnswer as error:
        return error


@pytest.fixture
def gateway(gateway_of: Callable[..., Gateway]) -> Gateway:
    return gateway_of()


# --- whatever a provider says ------------------------------------------------------------


@HYPOTHESIS
@given(line=LINES, peeks=st.booleans(), colour=st.sampled_from(["sync", "async"]))
def test_any_line_is_believed_or_falls_back_once(
    gateway: Gateway, line: object, colour: str, *, peeks: bool
) -> None:
    """Accepted ⇒ confidence ≥ minimum; otherwise current decides, once; two steps at most."""
    provider, host = Told("told", line, peeks=peeks), Host()

    with gateway.override({"TEAM": provider}):
        decision = decide(gateway, colour, current=host)

    first, *rest = decision.attempts
    assert provider.asked == 1
    assert len(rest) <= 1
    assert isinstance(first.reason, Reason)
    if first.reason is Reason.OK:
        assert decision.provider == "told"
        assert decision.value in {"billing", "tech", "none"}
        assert 0.7 <= decision.confidence <= 1
        assert host.runs == int(peeks or line is Reason.NESTED)
    else:
        assert (decision.value, decision.provider, host.runs) == ("billing", "current", 1)
        assert [one.provider for one in rest] == ["current"]


@HYPOTHESIS
@given(line=LINES, peeks=st.booleans())
def test_any_line_without_fallback_is_believed_or_one_error(
    gateway_of: Callable[..., Gateway], line: object, *, peeks: bool
) -> None:
    """Without fallback nobody else decides; the error names reason and attempt."""
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    provider, host = Told("told", line, peeks=peeks), Host()

    with gateway.override({"TEAM": provider}):
        ended = ending(gateway, host)

    if isinstance(ended, NoAnswer):
        assert ended.reason is not Reason.OK
        assert [one.reason for one in ended.attempts] == [ended.reason]
    else:  # what is nested is `current`'s, also without fallback
        assert ended.provider == ("current" if line is Reason.NESTED else "told")
    assert host.runs == int(peeks or line is Reason.NESTED)


@HYPOTHESIS
@given(first=LINES, second=LINES)
def test_never_more_than_two_providers(first: object, second: object) -> None:
    """Whatever the planned one and the stand-in do, there is no third; accepted means sure."""
    planned, behind = Told("planned", first), Told("behind", second)
    gateway = stood_in(behind)
    with gateway, gateway.override({"TEAM": planned}):
        decision = gateway.ask_sync("TEAM", ASK)

    assert planned.asked == 1
    assert [one.provider for one in decision.attempts] in (["planned"], ["planned", "behind"])
    assert behind.asked == len(decision.attempts) - 1
    if decision.undecided:
        assert (decision.value, decision.provider) == (None, "")
        assert Reason.OK not in {one.reason for one in decision.attempts}
    else:
        assert decision.attempts[-1].reason is Reason.OK
        assert decision.confidence >= 0.7


def stood_in(behind: Told) -> Gateway:
    """A gateway whose stand-in is *behind*, offered by a plug-in."""
    from pointsman import Offer, hookimpl

    class Plugin:
        @hookimpl
        def pointsman_providers(self) -> list[Offer]:
            return [Offer("behind", lambda: lambda _: behind)]

    environ = {"DECISION_LOG": "off", "CURRENT_PROVIDER": "behind"}
    return Gateway.from_env(environ, plugins=[Plugin()], stand_in=True)


@HYPOTHESIS
@given(
    minimum=st.floats(0, 1),
    confidence=st.floats(0, 1),
    scale=st.sampled_from(["reported", "probability"]),
)
def test_the_threshold_is_inclusive_on_both_scales(
    minimum: float, confidence: float, scale: str
) -> None:
    """Accepted exactly if the number that counts reaches the minimum."""
    environ = {
        "DECISION_LOG": "off",
        "DECISION_CONFIDENCE": scale,
        "DECISION_TEAM_MIN_CONFIDENCE": repr(minimum),
    }
    two = {"tech": max(confidence, 1 - confidence), "billing": min(confidence, 1 - confidence)}
    given_ = Chosen("tech", two, confidence)
    counts = confidence if scale == "reported" else two["tech"]
    gateway = Gateway.from_env(environ)

    with gateway.override({"TEAM": scripted(given_)}):
        question = {"team": Choice("Which?", ["billing", "tech"])}
        decision = gateway.ask_sync("TEAM", Ask("hello", question), current=lambda: "billing")

    assert (decision.provider == "scripted") is (counts >= minimum)
    assert decision.attempts[0].confidence == counts


@HYPOTHESIS
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=5))
def test_several_questions_clear_the_gate_together(answers: list[tuple[float, bool]]) -> None:
    """The decision's confidence is the least of the live questions that are not advisory."""
    questions = {
        f"q{at}": Predicate("Is it so?", advisory=advisory)
        for at, (_, advisory) in enumerate(answers)
    }
    said = {f"q{at}": Held(probability) for at, (probability, _) in enumerate(answers)}
    gateway = Gateway.from_env({"DECISION_LOG": "off"})

    with gateway.override({"MANY": scripted(said)}):
        decision = gateway.ask_sync("MANY", Ask("hello", questions), current=lambda: None)

    gated = [max(p, 1 - p) for p, advisory in answers if not advisory]
    least = min(gated, default=1.0)
    assert (decision.provider == "scripted") is (least >= 0.7 or math.isclose(least, 0.7))
    if decision.provider == "scripted":
        assert decision.confidence == pytest.approx(least)


# --- current at most once ----------------------------------------------------------------


@pytest.mark.parametrize("line", [Reason.REFUSED, Reply({"team": Chosen("tech", None, 0.9)})])
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_what_a_provider_learnt_of_current_is_reused(
    gateway: Gateway, colour: str, line: object
) -> None:
    """A provider may look at current's value; the fallback takes the same one."""
    host = Host()

    with gateway.override({"TEAM": Told("told", line, peeks=True)}):
        decision = decide(gateway, colour, current=host)

    assert host.runs == 1
    assert decision.value == ("tech" if isinstance(line, Reply) else "billing")


def test_an_async_current_is_awaited_once(gateway: Gateway) -> None:
    """The same where the host is async: one task, awaited by provider and fallback."""
    runs: list[int] = []

    async def host() -> str:
        runs.append(1)
        await asyncio.sleep(0)
        return "billing"

    class Peeks:
        name, limits = "peeks", Limits()

        async def answer(self, ask: Ask, call: Call) -> Reply:
            assert call.current is not None
            seen = [await call.current(), await call.current()]
            assert seen == ["billing", "billing"]
            raise NoAnswer(Reason.REFUSED)

    with gateway.override({"TEAM": Peeks()}):
        decision = asyncio.run(gateway.ask("TEAM", ASK, current=host))

    assert (decision.value, runs) == ("billing", [1])


def test_a_current_that_failed_for_a_provider_fails_for_the_host(gateway: Gateway) -> None:
    """It does not run a second time: the host gets the same exception."""
    runs: list[int] = []
    error = ValueError("mine")

    def host() -> str:
        runs.append(1)
        raise error

    with (
        gateway.override({"TEAM": Told("told", Reason.REFUSED, peeks=True)}),
        pytest.raises(ValueError, match="mine") as caught,
    ):
        gateway.ask_sync("TEAM", ASK, current=host)

    assert (caught.value, runs) == (error, [1])


def test_a_current_begun_for_a_provider_ends_with_the_decision(gateway: Gateway) -> None:
    """A task that a provider began and nobody waits for is cancelled: no task is left."""

    async def host() -> str:
        await asyncio.Event().wait()
        return "billing"

    class Begins:
        name, limits = "begins", Limits()

        async def answer(self, ask: Ask, call: Call) -> Reply:
            assert call.current is not None
            call.current()
            await asyncio.sleep(0)
            return Reply({"team": Chosen("tech", None, 0.9)})

    async def main() -> set[asyncio.Task[Any]]:
        decision = await gateway.ask("TEAM", ASK, current=host)
        assert decision.value == "tech"
        await asyncio.sleep(0)
        return {one for one in asyncio.all_tasks() if one is not asyncio.current_task()}

    with gateway.override({"TEAM": Begins()}):
        assert asyncio.run(main()) == set()


# --- nesting -----------------------------------------------------------------------------


class Committee:
    """Asks other points, as a deliberating provider does."""

    limits = Limits()

    def __init__(self, name: str, gateway: Gateway, *points: str, deliberates: bool = True) -> None:
        self.name, self.deliberates = name, deliberates
        self._gateway, self._points = gateway, points
        self.calls: list[Call] = []
        self.inner: list[Decision[Any]] = []

    def answer(self, ask: Ask, call: Call) -> Reply:
        self.calls.append(call)
        for point in self._points:
            made = self._gateway.ask_sync(point, ask, current=lambda: "tech", within=call)
            self.inner.append(made)
        return Reply({"team": Chosen("tech", None, 0.9)})


def test_a_deliberating_provider_asks_others(gateway: Gateway) -> None:
    """It is entered, asks within its call, and decides."""
    committee = Committee("committee", gateway, "INNER")

    with gateway.override({"TEAM": committee, "INNER": scripted("tech")}):
        decision = gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    assert decision.provider == "committee"
    assert [one.provider for one in committee.inner] == ["scripted"]
    assert [(call.depth, call.asking) for call in committee.calls] == [(0, ("committee",))]


@pytest.mark.parametrize("inner", ["TEAM", "INNER"], ids=["itself", "another one"])
def test_deliberation_is_never_entered_twice(gateway: Gateway, inner: str) -> None:
    """Whatever the point and whoever deliberates there: `nested`, and current decides inside."""
    committee = Committee("committee", gateway, inner)
    debate = Committee("debate", gateway)

    with gateway.override({"TEAM": committee, "INNER": debate}):
        decision = gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    assert decision.provider == "committee"
    (made,) = committee.inner
    assert (made.provider, made.record.reason) == ("current", Reason.NESTED)
    assert (len(committee.calls), debate.calls) == (1, [])


def test_nesting_ends_at_depth_two(gateway: Gateway) -> None:
    """Also for a provider that asks others without saying that it deliberates: no recursion."""
    endless = Committee("endless", gateway, "TEAM", deliberates=False)

    with gateway.override({"TEAM": endless}):
        decision = gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    assert decision.provider == "endless"
    assert [call.depth for call in endless.calls] == [0, 1, 2]
    assert sorted(one.record.reason for one in endless.inner) == [
        Reason.NESTED,
        Reason.OK,
        Reason.OK,
    ]


def test_an_inner_decision_lives_within_the_outer_deadline(
    gateway_of: Callable[..., Gateway],
) -> None:
    """The nearer deadline wins; subject and depth are its own."""
    gateway = gateway_of(
        {"DECISION_TEAM_DEADLINE_SECONDS": "100", "DECISION_INNER_DEADLINE_SECONDS": "1000"}
    )
    inner = Committee("inner", gateway, deliberates=False)
    outer = Committee("outer", gateway, "INNER")

    with gateway.override({"TEAM": outer, "INNER": inner}):
        gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    (above,), (below,) = outer.calls, inner.calls
    assert above.deadline is not None
    assert below.deadline is not None
    assert below.deadline <= above.deadline
    assert (below.depth, below.asking) == (1, ("outer",))


# --- where nothing is left ---------------------------------------------------------------

SAFE = DecisionPoint(
    name="CONSENT", questions={"en": {"yes": Predicate("Is it a yes?")}}, safe=False
)


@pytest.mark.parametrize(
    ("given_", "value"),
    [({}, False), ({"on_undecided": "block"}, True), ({"on_undecided": "allow"}, False)],
    ids=["safe", "block", "allow"],
)
def test_the_safe_outcome_is_marked_undecided(
    gateway: Gateway, given_: dict[str, Any], *, value: bool
) -> None:
    """Where the host has no path and the provider fails, nobody decided, and it says so."""
    with gateway.override({"CONSENT": scripted(Reason.REFUSED)}):
        decision = gateway.ask_sync(SAFE, "maybe", **given_)

    assert (decision.value, decision.provider, decision.undecided) == (value, "", True)
    assert decision.record.reason is Reason.REFUSED


def test_the_record_says_who_was_assigned_and_who_answered(
    gateway_of: Callable[..., Gateway],
) -> None:
    """A fallback never changes the variant; every attempt is there, with its minimum."""
    recorder = Recorder()
    gateway = gateway_of({"DECISION_TEAM_MIN_CONFIDENCE": "0.9"}, observers=[recorder])

    with gateway.override({"TEAM": scripted("tech", confidence=0.8)}):
        decision = gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    (record,) = recorder.records
    assert record == decision.record
    assert (record.variant, record.provider, record.outcome) == ("scripted", "current", "billing")
    assert [(one.reason, one.confidence, one.minimum) for one in record.attempts] == [
        (Reason.LOW_CONFIDENCE, 0.8, 0.9),
        (Reason.OK, 0.0, None),
    ]


def test_a_score_is_carried_to_its_scale(gateway: Gateway) -> None:
    """The engine hands over what the point's vocabulary says."""
    ask = Ask("hello", {"how": Score("How much?", low=0, high=10)})
    with gateway.override({"RATE": scripted(7.0)}):
        assert gateway.ask_sync("RATE", ask, current=lambda: 0.0).value == pytest.approx(7.0)


@pytest.mark.parametrize(("policy", "value"), [("block", True), ("allow", False)])
def test_a_tie_takes_what_the_call_says_for_undecided(
    gateway_of: Callable[..., Gateway], policy: Any, *, value: bool
) -> None:
    """At exactly one half the call's own policy decides, not the point's."""
    gateway = gateway_of({"DECISION_GUARDRAIL_PINJ_MIN_CONFIDENCE": "0.5"})

    with gateway.override({"GUARDRAIL_PINJ": scripted({"injection": True}, confidence=0.5)}):
        decision = gateway.ask_sync("GUARDRAIL_PINJ", "a text", on_undecided=policy)

    assert (decision.value, decision.provider) == (value, "scripted")
