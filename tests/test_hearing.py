"""Asking one provider by name, past every plan: what is heard of it, and what it may not touch."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest
from opentelemetry.trace import SpanKind

from faulty import Server, hangs
from listening import ASK, TEAM, WITHIN, Listener, Member, listening
from pointsman import (
    Ask,
    Attempt,
    Call,
    Choice,
    Chosen,
    Decision,
    DecisionPoint,
    DeclarationError,
    Fault,
    Gateway,
    Limits,
    NoAnswer,
    Offer,
    Predicate,
    Reason,
    Recorder,
    Reply,
    Setup,
    SetupError,
    Usage,
)
from pointsman.gateway.plugins import Others
from spanning import Seen, seen
from telling import in_loop

__all__ = ["seen"]

CANARY = "zq7-planted"


def hear(gateway: Gateway, name: str = "member", ask: Ask = ASK, within: Call = WITHIN) -> Attempt:
    """Ask one provider, as a host without a loop would."""
    return asyncio.run(gateway.hear(name, ask, within=within))


# --- what is heard -------------------------------------------------------------------------


def test_an_answer_is_checked_and_has_its_price() -> None:
    """Contract of `hear`: the attempt carries checked answers, model, usage and the gate."""
    attempt = hear(listening(member=Member()))

    assert attempt.provider == "member"
    assert (attempt.reason, attempt.confidence, attempt.minimum) == (Reason.OK, 0.9, 0.7)
    assert attempt.answers["team"].value == "tech"
    assert (attempt.model, attempt.request_id) == ("m-1", "r-1")
    assert attempt.usage == Usage(10, 2, 0.25)


FAILING: dict[Reason, NoAnswer] = {
    reason: NoAnswer(reason) for reason in Reason if reason is not Reason.OK
}


@pytest.mark.parametrize("reason", FAILING)
def test_every_reason_of_a_provider_is_told_and_nothing_is_raised(reason: Reason) -> None:
    """DI-15: who asks a member gets its end, and no exception."""
    attempt = hear(listening(member=Member(fails=FAILING[reason])))

    assert (attempt.reason, attempt.answers) == (reason, {})


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (Member(confidence=0.69), Reason.LOW_CONFIDENCE),
        (Member(confidence=None), Reason.CONFIDENCE_MISSING),
        (Member("sales"), Reason.UNDECLARED_OPTION),
        (Member(7), Reason.MALFORMED),
        (Member(confidence=float("nan")), Reason.INVALID_NUMBER),
        (Member(fails=RuntimeError(CANARY)), Reason.PROVIDER_ERROR),
        (Member(limits=Limits(options=2)), Reason.UNSUPPORTED),
        (Member(limits=Limits(characters=3)), Reason.TOO_LARGE),
    ],
)
def test_what_is_wrong_with_an_answer_is_told_by_its_reason(member: Member, reason: Reason) -> None:
    attempt = hear(listening(member=member))

    assert attempt.reason is reason
    assert CANARY not in repr(attempt)


def test_an_unsure_answer_keeps_what_it_said_and_what_it_cost() -> None:
    """A below-minimum answer is heard: it may be shown to others, and was paid for."""
    attempt = hear(listening(member=Member(confidence=0.6)))

    assert attempt.reason is Reason.LOW_CONFIDENCE
    assert attempt.answers["team"].value == "tech"
    assert attempt.usage == Usage(10, 2, 0.25)


@in_loop
async def test_a_cancellation_that_a_provider_makes_up_is_its_bug() -> None:
    class Sulking(Member):
        async def answer(self, ask: Ask, call: Call) -> Any:
            raise asyncio.CancelledError

    attempt = await listening(member=Sulking()).hear("member", ASK, within=WITHIN)

    assert attempt.reason is Reason.PROVIDER_ERROR


def test_a_provider_that_keeps_failing_is_left_alone_and_so_is_an_empty_purse() -> None:
    """Its own lane counts: breaker and budget are those of every other ask of it."""
    failing = listening(member=Member(fails=NoAnswer(Reason.TRANSPORT)))
    reasons = [hear(failing).reason for _ in range(20)]
    assert reasons[0] is Reason.TRANSPORT
    assert reasons[-1] is Reason.BREAKER_OPEN

    poor = listening({"MEMBER_BUDGET_USD_PER_DAY": "0.25"}, member=Member())
    assert [hear(poor).reason for _ in range(2)] == [Reason.OK, Reason.OVER_BUDGET]


def test_what_is_too_late_is_not_sent() -> None:
    member = Member()

    attempt = hear(
        listening(member=member),
        within=msgspec.structs.replace(WITHIN, deadline=time.monotonic() - 1.0),
    )

    assert (attempt.reason, member.asked) == (Reason.SKIPPED, [])


@in_loop
async def test_a_deadline_bounds_whoever_waits() -> None:
    class Hanging(Member):
        async def answer(self, ask: Ask, call: Call) -> Any:
            await asyncio.Event().wait()

    soon = msgspec.structs.replace(WITHIN, deadline=time.monotonic() + 0.2)

    attempt = await listening(member=Hanging()).hear("member", ASK, within=soon)

    assert attempt.reason is Reason.TIMEOUT


def test_a_deliberating_provider_is_not_entered_within_another_and_depth_is_counted() -> None:
    """BR-20; DESIGN, step 3: never entered twice in one decision, whatever the point; depth ≤ 2."""
    deep = Member(deliberates=True)
    gateway = listening(member=deep, plain=(plain := Member()))

    for within, reason in (
        (Call(point="TEAM"), Reason.OK),
        (Call(point="TEAM", asking=("other",)), Reason.NESTED),
        (Call(point="TEAM", depth=1), Reason.NESTED),
        (Call(point="TEAM", depth=2), Reason.NESTED),
    ):
        assert hear(gateway, within=within).reason is reason
    assert [(one.depth, one.asking) for one in deep.calls] == [(1, ("member",))]
    assert hear(gateway, "plain", within=Call(point="TEAM", depth=1)).reason is Reason.OK
    assert hear(gateway, "plain", within=Call(point="TEAM", depth=2)).reason is Reason.NESTED
    assert [one.depth for one in plain.calls] == [2]


def test_the_call_of_who_asks_goes_along() -> None:
    member = Member()
    within = Call(point="TEAM", subject="ana", asking=("committee",))

    hear(listening(member=member), within=within)

    (call,) = member.calls
    assert (call.point, call.subject, call.asking) == ("TEAM", "ana", ("committee",))


def test_the_same_ask_is_asked_anew_each_time() -> None:
    """k samples of one member are k answers: neither a turn nor a cache gives one of them twice."""
    member = Member()
    gateway = listening({"DECISION_TEAM_CACHE_SECONDS": "60"}, member=member)

    async def often() -> list[Attempt]:
        async with gateway.turn():
            one = await gateway.hear("member", ASK, within=WITHIN)
            return [one, *await asyncio.gather(*(heard() for _ in range(2)))]

    async def heard() -> Attempt:
        return await gateway.hear("member", ASK, within=WITHIN)

    attempts = asyncio.run(often())

    assert len(member.asked) == 3
    assert {(one.cached, one.form) for one in attempts} == {(False, "single")}


def test_nothing_of_it_is_a_decision() -> None:
    recorder = Recorder()
    gateway = listening(member=Member(), observers=[recorder])

    with gateway.collect() as collected:
        hear(gateway)

    assert (recorder.records, collected) == ([], [])


def test_the_state_is_masked_for_whoever_is_heard() -> None:
    member = Member()
    ask = Ask("write to ana@example.org", {"team": TEAM})

    hear(listening({"MEMBER_MASK": "pii"}, member=member), ask=ask)

    assert "ana@example.org" not in member.asked[0].text


# --- whom -----------------------------------------------------------------------------------


def test_a_name_that_nobody_offers_is_the_operators_fault() -> None:
    gateway = listening(member=Member())

    with pytest.raises(SetupError, match="Did you mean member"):
        hear(gateway, "membre")
    with pytest.raises(SetupError, match="Did you mean member"):
        gateway.can_write("membre")
    assert gateway.knows_provider("member/one")
    assert not gateway.knows_provider("membre")
    assert gateway.knows_provider("current")


def test_a_provider_whose_variables_are_wrong_is_told_as_such() -> None:
    gateway = listening(member=Member())

    with pytest.raises(SetupError, match="CHAT_MODEL"):
        gateway.knows_provider("chat")
    with pytest.raises(SetupError, match="CHAT_MODEL"):
        hear(gateway, "chat")


def test_what_will_hardly_work_is_told_by_whom_it_concerns() -> None:
    """BR-09: legal variables of which a provider knows better; each is told once."""
    doubt = Fault("MEMBER_ROUNDS", "three rounds take longer than its deadline", "Allow more")
    gateway = listening({"DECISION_TEAM_PROVIDER": "member"}, member=Member(doubts=(doubt, doubt)))

    assert [one for one in gateway.check() if one.where == "MEMBER_ROUNDS"] == [doubt]


@pytest.mark.parametrize(
    ("environ", "minimums", "name", "expected"),
    [
        ({}, {}, "member", 0.7),
        ({}, {"member": 0.65}, "member", 0.65),
        ({}, {"member": 0.65}, "member/one", 0.65),
        ({}, {"member": 0.0}, "member", 0.0),
        ({"MEMBER_MIN_CONFIDENCE": "0.8"}, {"member": 0.65}, "member", 0.8),
        ({"MEMBER_MIN_CONFIDENCE": "0.8"}, {"member": 0.65}, "member/one", 0.8),
        ({"MEMBER__ONE__MIN_CONFIDENCE": "0.3"}, {"member": 0.65}, "member/one", 0.3),
        ({"DECISION_TEAM_MIN_CONFIDENCE": "0.9"}, {}, "member", 0.7),
    ],
)
def test_the_gate_is_the_providers_own(
    environ: dict[str, str], minimums: dict[str, float], name: str, expected: float
) -> None:
    """Its variable, then what its plug-in declares, then that of all; never the point's."""
    gateway = listening(environ, minimums=minimums, member=Member(confidence=0.5))

    assert hear(gateway, name).minimum == expected


def test_a_plan_takes_the_declared_minimum_and_says_whose_it_is() -> None:
    environ = {"DECISION_TEAM_PROVIDER": "member", "DECISION_OTHER_PROVIDER": "member/one"}
    gateway = listening(environ, minimums={"member": 0.65}, member=Member(confidence=0.66))

    team = gateway.plan(gateway.asks("TEAM", TEAM))
    assert (team.gate.minimum, team.why["minimum"]) == (0.65, "default of member")
    assert gateway.plan(gateway.asks("OTHER", TEAM)).gate.minimum == 0.65
    assert gateway.ask_sync("TEAM", ASK, current=lambda: "none").value == "tech"


@pytest.mark.parametrize("minimum", [-0.1, 1.1, float("nan")])
def test_a_minimum_that_is_no_probability_is_the_plug_ins_fault(minimum: float) -> None:
    with pytest.raises(DeclarationError, match="from 0 to 1"):
        Offer("member", lambda: lambda _: Member(), minimum=minimum)


# --- the host's own path --------------------------------------------------------------------


async def hears_current(gateway: Others, ask: Ask, call: Call) -> Attempt:
    """Hear the host."""
    return await gateway.hear("current", ask, within=call)


PLANNED = {"DECISION_TEAM_PROVIDER": "listener"}


class Host:
    """Today's path; it remembers where it ran."""

    def __init__(self, value: Any = "billing") -> None:
        self.value = value
        self.threads: list[int] = []

    def __call__(self) -> Any:
        self.threads.append(threading.get_ident())
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value

    async def later(self) -> Any:
        await asyncio.sleep(0)
        return self()


def decided(gateway: Gateway, host: Host, colour: str, ask: Ask = ASK) -> Decision[Any]:
    """Decide `TEAM` in one colour, with a current of one colour."""
    if colour == "sync":
        return gateway.ask_sync("TEAM", ask, current=host)
    current: Callable[[], Any] = host if colour == "async, plain" else host.later
    return asyncio.run(gateway.ask("TEAM", ask, current=current))


COLOURS = ("sync", "async", "async, plain")


@pytest.mark.parametrize("colour", COLOURS)
def test_current_is_heard_and_runs_once_on_the_callers_thread(colour: str) -> None:
    """Also for a caller without a loop, whose provider waits on another thread."""
    listener, host = Listener(hears_current), Host()

    decision = decided(listening(PLANNED, listener=listener), host, colour)

    (heard,) = listener.heard
    assert heard.provider == "current"
    assert (heard.reason, heard.minimum, heard.usage) == (Reason.OK, None, None)
    assert (heard.answers["team"].value, heard.answers["team"].source) == ("billing", "current")
    assert (decision.value, decision.provider) == ("billing", "current")  # the listener abstains
    assert host.threads == [threading.get_ident()]


@pytest.mark.parametrize("colour", COLOURS)
def test_what_current_raises_is_heard_as_a_failure_and_surfaces_where_the_host_falls_back(
    colour: str,
) -> None:
    listener, host = Listener(hears_current), Host(KeyError(CANARY))

    with pytest.raises(KeyError, match=CANARY):
        decided(listening(PLANNED, listener=listener), host, colour)

    assert [one.reason for one in listener.heard] == [Reason.PROVIDER_ERROR]
    assert CANARY not in repr(listener.heard)
    assert len(host.threads) == 1


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("whatever it says", Reason.MALFORMED),
        (None, Reason.MALFORMED),
        (NoAnswer(Reason.RATE_LIMITED), Reason.RATE_LIMITED),
    ],
)
def test_a_value_that_is_no_word_of_the_point_is_no_answer(
    colour: str, value: Any, reason: Reason
) -> None:
    listener = Listener(hears_current)

    with pytest.raises(NoAnswer) if isinstance(value, NoAnswer) else _nothing():
        decided(listening(PLANNED, listener=listener), Host(value), colour)

    assert [(one.reason, one.answers) for one in listener.heard] == [(reason, {})]


class _nothing:  # noqa: N801 - reads as a word where it is used
    """Expects nothing to be raised."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_a_value_is_read_as_the_host_reads_it_and_held_against_what_is_asked() -> None:
    """The host's own `read` counts; a narrower ask of the listener's need not have the option."""
    narrow = Ask("x", {"team": Choice("Which?", ["tech", "none"])})

    async def both(gateway: Others, ask: Ask, call: Call) -> list[Attempt]:
        return [await gateway.hear("current", one, within=call) for one in (ask, narrow)]

    listener = Listener(both)
    gateway = listening(PLANNED, listener=listener)
    gateway.ask_sync("TEAM", ASK, current=lambda: {"to": "billing"}, read=lambda said: said["to"])

    wide, narrowed = listener.heard[0]
    assert wide.answers["team"].value == "billing"
    assert (narrowed.reason, narrowed.answers) == (Reason.UNDECLARED_OPTION, {})


def test_several_questions_are_answered_by_name() -> None:
    """What the host does not say is left open; the rest is heard."""
    asked = Ask("x", {"team": TEAM, "angry": Predicate("Is the writer angry?")})
    listener = Listener(hears_current)

    listening(PLANNED, listener=listener).ask_sync("TEAM", asked, current=lambda: {"team": "tech"})

    (heard,) = listener.heard
    assert {name: one.value for name, one in heard.answers.items()} == {
        "team": "tech",
        "angry": None,
    }


def test_without_a_path_of_the_hosts_there_is_nobody_to_hear() -> None:
    """Unless a provider stands in: it is heard under its own name, with its own gate."""
    alone = listening(member=Member())
    assert hear(alone, "current").reason is Reason.UNSUPPORTED
    assert not alone.can_write("current")

    environ = {"CURRENT_PROVIDER": "member", "MEMBER_MIN_CONFIDENCE": "0.4"}
    standing = listening(environ, stand_in=True, member=Member())
    attempt = hear(standing, "current")
    assert (attempt.provider, attempt.reason, attempt.minimum) == ("member", Reason.OK, 0.4)


def test_who_does_not_ask_for_it_never_sees_current_on_another_thread() -> None:
    """Nor does it then run before it is needed."""
    listener, host = Listener(hears_current), Host()
    listener.hears_current = False

    decision = listening(PLANNED, listener=listener).ask_sync("TEAM", ASK, current=host)

    assert [one.reason for one in listener.heard] == [Reason.UNSUPPORTED]
    assert decision.value == "billing"
    assert len(host.threads) == 1


def test_a_plain_function_that_gives_a_coroutine_is_not_heard_elsewhere() -> None:
    """It would run on the provider's loop; it is the declaration's fault, which is told."""
    listener = Listener(hears_current)

    async def later() -> str:
        raise AssertionError("it must not run")

    def hidden() -> Any:
        return later()

    with pytest.raises(SetupError, match="returned a coroutine"):
        listening(PLANNED, listener=listener).ask_sync("TEAM", ASK, current=hidden)
    assert [one.reason for one in listener.heard] == [Reason.UNSUPPORTED]


@in_loop
async def test_a_cancellation_that_the_host_makes_up_is_heard_as_a_failure() -> None:
    async def sulking() -> str:
        raise asyncio.CancelledError

    listener = Listener(hears_current)
    with pytest.raises(asyncio.CancelledError):
        await listening(PLANNED, listener=listener).ask("TEAM", ASK, current=sulking)

    assert [one.reason for one in listener.heard] == [Reason.PROVIDER_ERROR]


@in_loop
async def test_who_leaves_current_early_does_not_end_it() -> None:
    """It runs once: the fallback waits for the run that was begun."""
    begun, left = asyncio.Event(), asyncio.Event()
    runs: list[int] = []

    async def slow() -> str:
        runs.append(1)
        begun.set()
        await left.wait()
        return "billing"

    async def impatient(gateway: Others, ask: Ask, call: Call) -> str:
        hearing = asyncio.create_task(hears_current(gateway, ask, call))
        await begun.wait()
        hearing.cancel()
        await asyncio.wait([hearing])
        left.set()
        return "cancelled" if hearing.cancelled() else "answered"

    listener = Listener(impatient)
    decision = await listening(PLANNED, listener=listener).ask("TEAM", ASK, current=slow)

    assert listener.heard == ["cancelled"]
    assert (decision.value, runs) == ("billing", [1])


@in_loop
async def test_the_deadline_bounds_who_hears_current_and_not_current_itself() -> None:
    left = asyncio.Event()

    async def slow() -> str:
        await left.wait()
        return "billing"

    async def until_soon(gateway: Others, ask: Ask, call: Call) -> Reason:
        soon = msgspec.structs.replace(call, deadline=time.monotonic() + 0.1)
        heard = await gateway.hear("current", ask, within=soon)
        left.set()
        return heard.reason

    listener = Listener(until_soon)
    decision = await listening(PLANNED, listener=listener).ask("TEAM", ASK, current=slow)

    assert listener.heard == [Reason.TIMEOUT]
    assert decision.value == "billing"


def test_what_was_heard_decides_where_the_listener_says_so() -> None:
    """Current has run then, and its value is not what the host gets."""

    async def overrules(gateway: Others, ask: Ask, call: Call) -> Reply:
        heard = await gateway.hear("current", ask, within=call)
        other = next(one for one in TEAM.options if one != heard.answers["team"].value)
        return Reply({"team": Chosen(other, None, 1.0)})

    host = Host("billing")
    gateway = listening(PLANNED, listener=Listener(overrules))

    assert gateway.ask_sync("TEAM", ASK, current=host).value == "tech"
    assert len(host.threads) == 1


# --- who leaves, and who is on trial ----------------------------------------------------------


@in_loop
async def test_leaving_closes_the_socket(server: Server) -> None:
    """BR-03: a cancelled member has stopped talking: its server sees that it hung up."""
    server.does(hangs())
    environ = {"CHAT_MODEL": "m", "CHAT_BASE_URL": server.url}
    async with listening(environ) as gateway:
        hearing = asyncio.create_task(gateway.hear("chat", ASK, within=WITHIN))
        await server.reached()

        hearing.cancel()

        with pytest.raises(asyncio.CancelledError):
            await hearing
        await server.abandoned()


def test_a_shadow_that_hears_never_touches_who_answers_live() -> None:
    """DESIGN, ownership: breaker and budget are keyed by lane, live or trial."""
    failing = Member(fails=NoAnswer(Reason.TRANSPORT))

    async def often(gateway: Others, ask: Ask, call: Call) -> list[Reason]:
        return [(await gateway.hear("member", ask, within=call)).reason for _ in range(20)]

    listener = Listener(often)
    with listening(
        {"DECISION_TEAM_SHADOW": "listener"}, member=failing, listener=listener
    ) as gateway:
        gateway.ask_sync("TEAM", ASK, current=lambda: "billing")
        gateway._background.close(20.0)  # pyright: ignore[reportPrivateUsage] - it is asked beside us

        assert listener.heard[0][-1] is Reason.BREAKER_OPEN
        assert hear(gateway).reason is Reason.TRANSPORT


# --- traces ------------------------------------------------------------------------------------


def test_each_one_who_is_heard_has_a_span_below_who_hears(seen: Seen) -> None:
    """One decision, one tree: the members stand below the attempt of the provider that asked."""

    async def two(gateway: Others, ask: Ask, call: Call) -> Awaitable[Any] | Any:
        return [await gateway.hear("member", ask, within=call) for _ in range(2)]

    gateway = listening(PLANNED, member=Member(confidence=0.5), listener=Listener(two))
    seen.traces(gateway)
    gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    spans = {one.context.span_id: one for one in seen.spans if one.context is not None}
    members = [one for one in spans.values() if one.name == "ask member"]
    assert len(members) == 2
    for one in members:
        assert one.parent is not None
        assert spans[one.parent.span_id].name == "ask listener"
        assert one.kind is SpanKind.INTERNAL
        assert one.attributes is not None
        assert one.attributes["pointsman.reason"] == "low_confidence"
        assert one.attributes["pointsman.point"] == "TEAM"


def test_an_escalation_reaches_whoever_hears_as_a_reason_alone() -> None:
    member = Member(fails=NoAnswer(Reason.ABSTAINED, escalates={"reasons": [CANARY]}))

    attempt = hear(listening(member=member))

    assert (attempt.reason, CANARY in repr(attempt)) == (Reason.ABSTAINED, False)


def test_a_point_asked_within_is_a_decision_of_its_own() -> None:
    """`ask` and `hear` go side by side: only the former is recorded."""
    other = DecisionPoint(name="OTHER", questions={"en": {"team": TEAM}}, safe="none")
    recorder = Recorder()

    async def asks_and_hears(gateway: Others, ask: Ask, call: Call) -> None:
        await gateway.hear("member", ask, within=call)
        await gateway.ask("OTHER", ask, within=call)

    gateway = listening(
        PLANNED, member=Member(), listener=Listener(asks_and_hears), observers=[recorder]
    )
    gateway.asks(other)
    gateway.ask_sync("TEAM", ASK, current=lambda: "billing")

    assert [one.point for one in recorder.records] == ["OTHER", "TEAM"]


def test_who_needs_each_other_to_be_made_is_named() -> None:
    """At start and later; a circle of one, too."""

    class Needs(Member):
        def __init__(self, other: str) -> None:
            super().__init__()
            self.other = other

        def made(self, setup: Setup) -> Needs:
            setup.provider(self.other)
            return self

    ring: dict[str, Any] = {"a": Needs("b"), "b": Needs("c"), "c": Needs("b"), "d": Needs("d")}
    with pytest.raises(SetupError, match="b → c → b") as raised:
        listening({"DECISION_TEAM_PROVIDER": "a"}, **ring)
    assert [fault.where for fault in raised.value.faults] == ["DECISION_TEAM_PROVIDER"]
    gateway = listening(**ring)
    for _ in range(2):
        with pytest.raises(SetupError, match="d → d"):
            gateway.knows_provider("d")
    with pytest.raises(SetupError, match="c → b → c"):
        hear(gateway, "c")


def test_what_nobody_awaits_is_closed() -> None:
    """A plain `def` gave a coroutine, and the provider decides."""

    async def later() -> str:
        return "tech"

    begun = later()

    async def answers(_: Others, __: Ask, ___: Call) -> Reply:
        return Reply({"team": Chosen("billing", None, 0.9)})

    gateway = listening({"DECISION_TEAM_PROVIDER": "listener"}, listener=Listener(answers))

    assert gateway.ask_sync("TEAM", ASK, current=lambda: begun).value == "billing"
    assert inspect.getcoroutinestate(begun) == inspect.CORO_CLOSED


def test_what_a_shadow_asks_on_is_on_trial_too() -> None:
    """However often that fails, whoever is asked live is asked on."""
    failing = Member(fails=NoAnswer(Reason.TRANSPORT))

    async def asks(gateway: Others, ask: Ask, call: Call) -> Any:
        for _ in range(8):
            with contextlib.suppress(NoAnswer):
                await gateway.ask("INNER", ask, within=call)
        return None

    environ = {
        "DECISION_TEAM_SHADOW": "listener",
        "DECISION_INNER_PROVIDER": "failing",
        "CURRENT_PROVIDER": "standing",
    }
    providers: dict[str, Any] = {
        "listener": Listener(asks),
        "failing": failing,
        "standing": Member(fails=NoAnswer(Reason.TRANSPORT)),
    }
    with listening(environ, stand_in=True, **providers) as gateway:
        gateway.asks("INNER", TEAM)
        assert gateway.ask_sync("TEAM", ASK, current=lambda: "tech").value == "tech"
        gateway.close()  # waits for the shadow
        seen = len(failing.calls)
        live = gateway.ask_sync("INNER", ASK, current=lambda: "tech")

    assert seen > 0
    assert all(call.trial for call in failing.calls[:seen])
    assert live.attempts[0].reason is Reason.TRANSPORT  # and not `breaker_open`
    assert not failing.calls[-1].trial
