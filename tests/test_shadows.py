"""Shadows: asked in the background, recorded, and never able to change what the host gets."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Mapping
from contextvars import ContextVar
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty import ASK, PATIENCE, TEAM, Server, replies, waits
from pointsman import (
    Ask,
    Call,
    Choice,
    DecisionPoint,
    DeclarationError,
    Gateway,
    Hybrid,
    NoAnswer,
    Offer,
    Predicate,
    Reason,
    Recorder,
    Repeat,
    Reply,
    Score,
    SetupError,
    hookimpl,
    scripted,
)
from pointsman.gateway import background, lifecycle
from pointsman.gateway.answers import Chosen, Held
from pointsman.gateway.breaker import FAILURES
from pointsman.gateway.records import Shadow
from telling import RAILS, STATE, Teller, in_loop
from trialling import POINT, Kept, offering

PROVIDER = f"DECISION_{POINT}_PROVIDER"
SHADOW = f"DECISION_{POINT}_SHADOW"
SAMPLE = f"DECISION_{POINT}_SHADOW_SAMPLE"
CANARY = "canary-7f3a"
HTTP = {"AI_GATEWAY_API_KEY": "key", "JEV_MAX_ATTEMPTS": "1"}


class Pending(Teller):
    """Answers once it is let go, from whatever thread."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Semaphore(0)
        self.cancelled = 0
        self._gates: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """Wait, then answer."""
        gate = asyncio.Event()
        self._gates.append((asyncio.get_running_loop(), gate))
        self.begun.release()
        try:
            await gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.told(ask, call)

    def wait(self, count: int = 1) -> None:
        """Wait until *count* more asks are under way."""
        assert all(self.begun.acquire(timeout=PATIENCE) for _ in range(count))

    def let_go(self) -> None:
        """Let those answer who wait."""
        for loop, gate in self._gates:
            loop.call_soon_threadsafe(gate.set)


class Fails(Teller):
    """Fails where it is asked as a shadow, or at the one point that is named."""

    def __init__(self, at: str, *reasons: Reason) -> None:
        super().__init__()
        self._at, self._reasons = at, [*reasons]

    def answer(self, ask: Ask, call: Call) -> Reply:
        """Fail with the next reason, the last one again; answer elsewhere."""
        if call.point != self._at:
            return self.told(ask, call)
        raise NoAnswer(self._reasons.pop(0) if len(self._reasons) > 1 else self._reasons[0])


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def decide(gateway: Gateway, point: str | DecisionPoint = POINT) -> Any:
    return gateway.ask_sync(point, ASK, current=lambda: "billing")


def shadows(kept: Kept) -> list[Shadow]:
    """Give what shadows came to, oldest decision first."""
    return [one.shadow for trail in kept.trails() for one in trail.shadows]


# --- what it is shown ------------------------------------------------------------------------


def test_a_shadow_answers_beside_current() -> None:
    """The host gets what it gets today; the shadow was asked the same."""
    nova = Teller()
    gateway = offering({SHADOW: "nova"}, nova=nova)

    decision = decide(gateway)
    gateway.close()

    assert (decision.value, decision.provider) == ("billing", "current")
    assert [one.text for one in nova.asked] == [ASK.text]
    assert [one.questions for one in nova.asked] == [ASK.questions]


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_nothing_of_the_answer_reaches_the_shadow(colour: str) -> None:
    """The state is frozen before `current` runs, which may write its answer into it."""
    nova = Teller()
    gateway = offering({SHADOW: "nova"}, nova=nova)
    given = {"said": ["my router is dead"], "seen": {"times": 1}}
    before = json.loads(json.dumps(given))

    def decides(state: dict[str, Any]) -> str:
        state["said"].append(CANARY)
        state["seen"][CANARY] = CANARY
        state["team"] = CANARY
        return "billing"

    async def later(state: dict[str, Any]) -> str:
        return decides(state)

    def ask(state: dict[str, Any]) -> Ask:
        return Ask(state, {"team": TEAM})

    if colour == "sync":
        gateway.point(POINT, TEAM, ask=ask)(decides)(given)
    else:
        asyncio.run(gateway.point(POINT, TEAM, ask=ask)(later)(given))
    gateway.close()

    (asked,) = nova.asked
    assert asked.state == before
    assert CANARY not in asked.text
    assert CANARY in json.dumps(given)


def _extended(state: Mapping[str, Any], parts: list[str]) -> Mapping[str, Any]:
    return {**state, "parts": parts}


PARTS = DecisionPoint(
    name=POINT,
    questions={"en": {"part": Choice("What is part {n}?", ["request", "remark"])}},
    reads=("messages", "parts"),
    repeats={"part": Repeat("parts", "part_{n}")},
    hybrid=Hybrid(
        lambda value: value["parts"],
        _extended,
        lambda parts, outcome, _: [f"{part}: {outcome}" for part in parts],
        outcome=lambda parts: {f"part_{n}": "remark" for n in range(1, len(parts) + 1)},
    ),
)


def test_a_hybrid_point_is_shadowed_about_what_the_host_found(kept: Kept) -> None:
    """What it found is asked about; what it wrote into its argument is not shown."""
    nova = Teller()
    gateway = offering({SHADOW: "nova", **kept.variables}, nova=nova)

    @gateway.point(PARTS)
    def parts(messages: list[dict[str, str]]) -> dict[str, Any]:
        messages.append({"role": "assistant", "content": CANARY})
        return {"parts": ["see my bill", "and fast"]}

    with gateway:
        parts([{"role": "user", "content": "see my bill and fast"}])

    (asked,) = nova.asked
    assert list(asked.questions) == ["part_1", "part_2"]
    assert CANARY not in asked.text
    (row,) = shadows(kept)
    assert row.beside == {"part_1": "remark", "part_2": "remark"}
    assert row.outcome == {"part_1": "request", "part_2": "request"}


request: ContextVar[str] = ContextVar("request", default="none")


def test_a_shadow_runs_in_no_context_of_the_host_s() -> None:
    """Neither the host's request nor its turn: a shadow lives longer than they do."""
    seen: list[str] = []

    class Looks(Teller):
        def answer(self, ask: Ask, call: Call) -> Reply:
            seen.append(request.get())
            return self.told(ask, call)

    gateway = offering({SHADOW: "nova"}, nova=Looks())
    token = request.set(CANARY)
    decide(gateway)
    gateway.close()
    request.reset(token)

    assert seen == ["none"]


@in_loop
async def test_what_a_turn_shares_its_shadows_ask_one_by_one() -> None:
    """They join neither the turn's call nor its memory."""
    live, nova = Teller(), Teller()
    said = {"DECISION_PROVIDER": "live", **{f"DECISION_{one.name}_SHADOW": "nova" for one in RAILS}}
    gateway = offering(said, live=live, nova=nova)

    async with gateway.turn() as turn:
        await turn.ask(*RAILS, state=STATE)
        await gateway.aclose()

    assert len(live.asked) == 1
    assert sorted(len(one.questions) for one in nova.asked) == [1] * len(RAILS)


# --- what it cannot do -----------------------------------------------------------------------


def test_the_host_does_not_wait(kept: Kept) -> None:
    """The decision is there while the shadow has not answered."""
    nova = Pending()
    gateway = offering({SHADOW: "nova", **kept.variables}, nova=nova)

    assert decide(gateway).value == "billing"
    nova.wait()
    assert nova.asked == []
    nova.let_go()
    gateway.close()

    assert [(one.attempt.reason, one.outcome) for one in shadows(kept)] == [(Reason.OK, "billing")]


def test_a_server_that_hangs_holds_nobody_up(server: Server, kept: Kept) -> None:
    """The same over HTTP: the client of the background is its own."""
    server.does(waits(replies()))
    gateway = offering({SHADOW: "jev", "JEV_BASE_URL": server.url, **HTTP, **kept.variables})

    assert decide(gateway).value == "billing"
    server.wait()
    assert decide(gateway).value == "billing"
    server.let_go()
    gateway.close()

    assert [(one.attempt.reason, one.outcome) for one in shadows(kept)] == [(Reason.OK, "tech")] * 2
    assert {one.attempt.model for one in shadows(kept)} == {"typesafe-ai/jev-1.13.0"}


lines = st.one_of(
    st.sampled_from(["billing", "tech", "none", "nobody", 7, None]),
    st.sampled_from(list(Reason)[1:]),
    st.sampled_from(
        [
            Reply({}),
            Reply({"other": Chosen("tech", None, 0.9)}),
            Reply({"team": Held(0.9)}),
            Reply({"team": Chosen("tech", {"tech": float("nan")}, 2.0)}),
        ]
    ),
    st.sampled_from([ValueError(), KeyError("x"), StopIteration(), TimeoutError(), OSError()]),
    st.sampled_from([SetupError.of("X", "y", "z"), DeclarationError("no"), RecursionError()]),
    st.sampled_from([SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()]),
)


@given(st.lists(lines, min_size=1, max_size=3), st.lists(lines, min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_no_answer_and_no_fault_of_a_shadow_changes_an_outcome(
    said: list[Any], beside: list[Any]
) -> None:
    """With a shadow that does anything, each decision is what it is without one."""
    live = [one for one in said if isinstance(one, str | Reason | Reply)] or ["tech"]
    seen = []
    for variables in ({PROVIDER: "live"}, {PROVIDER: "live", SHADOW: "nova,other"}):
        given = {"live": scripted(*live), "nova": scripted(*beside), "other": scripted("tech")}
        with offering(variables, **given) as gateway:
            decisions = [decide(gateway) for _ in range(3)]
        seen.append(
            [
                (one.value, one.provider, [(a.provider, a.reason) for a in one.attempts])
                for one in decisions
            ]
        )
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("bug", "reason"),
    [
        (RuntimeError(CANARY), Reason.PROVIDER_ERROR),
        (SetupError.of("X", "y", "z"), Reason.CANCELLED),
        (SystemExit(CANARY), Reason.CANCELLED),
    ],
)
def test_a_shadow_s_bug_is_told_and_keeps_no_other_from_being_asked(
    bug: BaseException, reason: Reason, kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    """Type and place, never its message; the next decision is shadowed as well."""
    said = {SHADOW: "nova,other", **kept.variables, "DECISION_LOG": "json"}
    with offering(said, nova=scripted(bug), other=scripted("tech")) as gateway:
        assert [decide(gateway).value for _ in range(2)] == ["billing"] * 2

    rows = [(one.provider, one.attempt.reason) for one in shadows(kept)]
    assert sorted(rows) == sorted([("nova", reason), ("other", Reason.OK)] * 2)
    told = capsys.readouterr().err
    assert told.count("decision.provider_bug") == 2
    assert CANARY not in told


def test_the_host_s_own_fault_reaches_the_host_and_nobody_is_asked_beside_it() -> None:
    nova = Teller()
    gateway = offering({SHADOW: "nova"}, nova=nova)

    def fails() -> str:
        raise KeyError(CANARY)

    with pytest.raises(KeyError, match=CANARY):
        gateway.ask_sync(POINT, ASK, current=fails)
    gateway.close()

    assert nova.asked == []


def test_who_asks_its_own_point_again_comes_to_an_end() -> None:
    """A shadow is as deep in as its decision: its nested asks are shadowed no deeper than asked."""
    asked: list[int] = []

    class Echoes(Teller):
        async def answer(self, ask: Ask, call: Call) -> Reply:
            asked.append(call.depth)
            await gateway.ask(POINT, ASK, current=lambda: "billing", within=call)
            return self.told(ask, call)

    gateway = offering({SHADOW: "nova"}, nova=Echoes())
    decide(gateway)
    gateway.close()

    assert asked == [0, 1, 2]


# --- lanes ----------------------------------------------------------------------------------


def live(gateway: Gateway) -> Any:
    """Ask the same provider where it decides."""
    return gateway.ask_sync("LIVE", ASK, current=lambda: "none")


LIVE = {SHADOW: "nova", "DECISION_LIVE_PROVIDER": "nova"}


def test_a_failing_shadow_opens_no_breaker_but_its_own(kept: Kept) -> None:
    nova = Fails(POINT, Reason.TIMEOUT)
    with offering({**LIVE, **kept.variables}, nova=nova) as gateway:
        for _ in range(FAILURES + 1):
            decide(gateway)
            gateway.close()  # waits for the shadow
            assert live(gateway).record.reason is Reason.OK

    reasons = [one.attempt.reason for one in shadows(kept)]
    assert reasons == [Reason.TIMEOUT] * FAILURES + [Reason.BREAKER_OPEN]


def test_a_failing_provider_is_asked_on_as_a_shadow(kept: Kept) -> None:
    """The other way round: its live breaker is open, its trial goes on."""
    nova = Fails("LIVE", Reason.TIMEOUT)
    with offering({**LIVE, **kept.variables}, nova=nova) as gateway:
        live_reasons = [live(gateway).record.reason for _ in range(FAILURES + 1)]
        decide(gateway)

    assert live_reasons[-1] is Reason.BREAKER_OPEN
    assert [one.attempt.reason for one in shadows(kept)] == [Reason.OK]


@pytest.mark.parametrize("reason", [Reason.RATE_LIMITED, Reason.AUTH, Reason.PAYMENT])
@pytest.mark.parametrize("where", [POINT, "LIVE"])
def test_who_is_told_to_slow_down_asks_nothing_for_trial(
    where: str, reason: Reason, kept: Kept
) -> None:
    """In either lane it pauses the shadow; the live lane keeps to its own breaker's rules."""
    nova = Fails(where, reason)
    with offering({**LIVE, **kept.variables}, nova=nova) as gateway:
        decide(gateway)
        gateway.close()
        live(gateway)
        decide(gateway)
        gateway.close()
        after = live(gateway).record.reason

    assert shadows(kept)[-1].attempt.reason is Reason.BREAKER_OPEN
    if where == POINT:
        assert after is Reason.OK
    else:
        opened = reason is not Reason.RATE_LIMITED
        assert after is (Reason.BREAKER_OPEN if opened else reason)


# --- who is asked ---------------------------------------------------------------------------


def test_who_decides_is_not_asked_twice() -> None:
    nova, other = Teller(), Teller()
    with offering({PROVIDER: "nova", SHADOW: "nova,other"}, nova=nova, other=other) as gateway:
        decide(gateway)

    assert (len(nova.asked), len(other.asked)) == (1, 1)


def test_in_a_split_each_arm_is_shadowed_by_the_others(kept: Kept) -> None:
    """So that every decision has an answer of the candidate, acted on or not."""
    said = {PROVIDER: "current:50,nova:50", SHADOW: "nova", **kept.variables}
    with offering(said, nova=scripted("tech")) as gateway:
        for number in range(40):
            gateway.ask_sync(POINT, ASK, current=lambda: "billing", subject=f"session-{number}")

    pairs = {
        (trail.decision.record.variant, tuple(one.shadow.provider for one in trail.shadows))
        for trail in kept.trails()
    }
    assert pairs == {("current", ("nova",)), ("nova", ())}


@pytest.mark.parametrize("share", ["0", "0.2", "1"])
def test_a_share_of_the_decisions_is_shadowed(share: str) -> None:
    """What is not sampled is not touched: its ask is not even built. Bound: 6 σ of drawing."""
    nova, built = Teller(), 0
    gateway = offering({SHADOW: "nova", SAMPLE: share}, nova=nova)

    def ask(text: str) -> Ask:
        nonlocal built
        built += 1
        return Ask(text, {"team": TEAM})

    team = gateway.point(POINT, TEAM, ask=ask)(_returns_billing)

    assert {team("hello") for _ in range(900)} == {"billing"}
    gateway.close()

    many, deviation = 900 * float(share), (900 * float(share) * (1 - float(share))) ** 0.5
    assert abs(built - many) <= 6 * deviation
    assert len(nova.asked) == built


def test_the_sample_is_drawn_once_for_a_decision(kept: Kept) -> None:
    """All shadows of a point answer beside the same decisions; the journal keeps the others too."""
    said = {SHADOW: "nova,other", SAMPLE: "0.5", **kept.variables}
    with offering(said, nova=Teller(), other=Teller()) as gateway:
        for _ in range(100):
            decide(gateway)

    beside = [sorted(one.shadow.provider for one in trail.shadows) for trail in kept.trails()]
    assert len(beside) == 100
    assert {tuple(one) for one in beside} == {(), ("nova", "other")}


# --- its end --------------------------------------------------------------------------------


def test_closing_waits_for_what_is_under_way(kept: Kept) -> None:
    with offering({SHADOW: "nova", **kept.variables}, nova=Teller()) as gateway:
        ids = [decide(gateway).record.id for _ in range(60)]

    assert [one.of for one in shadows(kept)] == ids


def test_what_the_drain_ends_has_a_row_that_says_so(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what only waited for a place among the sixteen."""
    monkeypatch.setattr(lifecycle, "DRAINING", 0.05)
    nova = Pending()
    gateway = offering({SHADOW: "nova", **kept.variables}, nova=nova)
    for _ in range(background.AT_ONCE + 4):
        decide(gateway)
    nova.wait(background.AT_ONCE)

    gateway.close()

    rows = shadows(kept)
    assert [one.attempt.reason for one in rows] == [Reason.CANCELLED] * (background.AT_ONCE + 4)
    assert {one.beside for one in rows} == {"billing"}
    assert nova.cancelled == background.AT_ONCE


def test_what_cannot_be_taken_in_is_counted_and_told(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the first, the tenth, the hundredth; the decisions themselves are kept."""
    monkeypatch.setattr(background, "WAITING", 2)
    nova = Pending()
    said = {SHADOW: "nova", **kept.variables, "DECISION_LOG": "json"}
    gateway = offering(said, nova=nova)

    assert {decide(gateway).value for _ in range(14)} == {"billing"}
    nova.wait(2)
    nova.let_go()
    gateway.close()

    assert len(shadows(kept)) == 2
    assert len(kept.trails()) == 14
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    starved = [one["starved"] for one in told if one["event"] == "decision.shadow_starved"]
    assert starved == [1, 10]


class Hangs(Teller):
    """Blocks its thread until it is set free."""

    blocking = True

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()

    def answer(self, ask: Ask, call: Call) -> Reply:
        """Wait as long as it takes."""
        self.free.wait()
        return self.told(ask, call)


class Blocks(Teller):
    """Answers on a thread."""

    blocking = True


@in_loop
async def test_shadows_that_hang_take_no_thread_of_those_who_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And closing the gateway does not wait for them longer than it says."""
    monkeypatch.setattr(lifecycle, "DRAINING", 0.05)
    monkeypatch.setattr(background, "ENDING", 0.05)
    slow = Hangs()
    gateway = offering({PROVIDER: "nova", SHADOW: "slow"}, nova=Blocks(), slow=slow)

    made = [await gateway.ask(POINT, ASK, current=lambda: "billing") for _ in range(8)]
    await gateway.aclose()
    slow.free.set()

    assert {one.provider for one in made} == {"nova"}


class OneLoop(Teller):
    """Belongs to the loop that it is first asked on, as a client with open connections does."""

    def __init__(self, asked: threading.Semaphore) -> None:
        super().__init__()
        self._asked = asked
        self._loop: asyncio.AbstractEventLoop | None = None

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """Answer at home."""
        here = asyncio.get_running_loop()
        self._loop = self._loop or here
        self._asked.release()
        if self._loop is not here:
            raise RuntimeError("another loop")
        return self.told(ask, call)


@in_loop
async def test_a_provider_that_waits_is_made_anew_for_the_shadows_loop() -> None:
    asked = threading.Semaphore(0)

    class Offering:
        @hookimpl
        def pointsman_providers(self) -> list[Offer]:
            return [Offer("one", lambda: lambda _: OneLoop(asked))]

    given = {"DECISION_LOG": "off", "DECISION_OTHER_PROVIDER": "one", SHADOW: "one"}
    async with Gateway.from_env(given, plugins=[Offering()]) as gateway:
        await gateway.ask(POINT, ASK, current=lambda: "billing")
        assert await asyncio.to_thread(asked.acquire, timeout=PATIENCE)

        decision = await gateway.ask("OTHER", ASK, current=lambda: "billing")

    assert decision.provider == "one"


def test_where_no_thread_can_be_begun_the_host_has_its_decision(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Out of threads, or of files for a loop: it is counted and told."""

    def refuse(*_: object) -> None:
        raise OSError(24, "")

    monkeypatch.setattr("pointsman.gateway.threads.LoopThread.__init__", refuse)
    with offering({SHADOW: "nova", "DECISION_LOG": "json"}, nova=Teller()) as gateway:
        assert decide(gateway).value == "billing"

    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one["starved"] for one in told if one["event"] == "decision.shadow_starved"] == [1]


def test_a_closed_gateway_shadows_again(kept: Kept) -> None:
    gateway = offering({SHADOW: "nova", **kept.variables}, nova=Teller())
    for _ in range(3):
        decide(gateway)
        gateway.close()

    assert len(shadows(kept)) == 3


def test_decisions_while_the_gateway_is_closed_lose_no_shadow(kept: Kept) -> None:
    """One thread closes, others decide: neither raises, and every decision has its row."""
    gateway = offering({SHADOW: "nova", **kept.variables}, nova=Teller())
    faults: list[BaseException] = []
    done = threading.Event()

    def decides() -> None:
        try:
            for _ in range(60):
                decide(gateway)
        except BaseException as fault:  # noqa: BLE001 - the test names it
            faults.append(fault)

    def closes() -> None:
        while not done.is_set():
            gateway.close()

    threads = [threading.Thread(target=decides) for _ in range(3)]
    closing = threading.Thread(target=closes)
    for thread in (*threads, closing):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    closing.join()
    gateway.close()

    assert faults == []
    assert [one.attempt.reason for one in shadows(kept)] == [Reason.OK] * 180


def test_a_reload_leaves_the_shadows_under_way(kept: Kept) -> None:
    nova = Pending()
    said = {"DECISION_LOG": "off", **kept.variables}
    gateway = offering({SHADOW: "nova", **said}, nova=nova)
    decide(gateway)
    nova.wait()

    gateway.reload(said)
    nova.let_go()
    decide(gateway)
    gateway.close()

    assert [one.attempt.reason for one in shadows(kept)] == [Reason.OK]
    assert len(kept.trails()) == 2


def test_a_host_s_loop_may_end_before_its_shadows(kept: Kept) -> None:
    """`asyncio.run` five times, each over before the shadow has answered."""
    nova = Pending()
    gateway = offering({SHADOW: "nova", **kept.variables}, nova=nova)

    for _ in range(5):
        asyncio.run(gateway.ask(POINT, ASK, current=lambda: "billing"))
    nova.wait(5)
    nova.let_go()
    gateway.close()

    assert [one.attempt.reason for one in shadows(kept)] == [Reason.OK] * 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_after_a_fork_each_asks_its_own(kept: Kept) -> None:
    """The child neither waits for its parent's shadows nor asks them again."""
    nova = Pending()
    gateway = offering({SHADOW: "nova", **kept.variables}, nova=nova)
    decide(gateway)
    nova.wait()

    child = os.fork()
    if child == 0:
        with gateway.override({"OTHER": "current"}):
            decide(gateway)
        nova.wait()
        nova.let_go()
        gateway.close()
        os._exit(0 if len(nova.asked) == 1 else 1)
    _, status = os.waitpid(child, 0)
    nova.let_go()
    gateway.close()

    assert os.waitstatus_to_exitcode(status) == 0
    assert [one.attempt.reason for one in shadows(kept)] == [Reason.OK] * 2
    assert len({one.of for one in shadows(kept)}) == 2


# --- its row --------------------------------------------------------------------------------


class Where(Enum):
    """A host's own type."""

    BILLING = "billing"
    TECH = "tech"


SEVERAL = {"team": TEAM, "angry": Predicate("Is the customer angry?")}


@pytest.mark.parametrize(
    ("question", "returned", "kind", "beside", "outcome"),
    [
        (TEAM, Where.TECH, Where, "tech", "billing"),
        (TEAM, "tech", str, "tech", "billing"),
        (Predicate("Is it?"), False, bool, False, True),
        (Score("How much?", ["low", "mid", "high"]), 2, int, 2, None),
        (
            SEVERAL,
            {"team": "tech", "angry": False},
            dict[str, Any],
            {"team": "tech", "angry": False},
            {"team": "billing", "angry": True},
        ),
    ],
    ids=["enum", "str", "bool", "score", "several"],
)
def test_a_row_stands_beside_what_was_decided(
    question: Any, returned: Any, kind: Any, beside: Any, outcome: Any, kept: Kept
) -> None:
    """In the point's vocabulary, whatever the host's function returns."""

    def team(_: str) -> Any:
        return returned

    team.__annotations__["return"] = kind
    with offering({SHADOW: "nova", **kept.variables}, nova=Teller()) as gateway:
        assert gateway.point(POINT, question)(team)("hello") == returned

    (trail,) = kept.trails()
    (row,) = [one.shadow for one in trail.shadows]
    assert (row.of, row.point, row.provider) == (trail.decision.record.id, POINT, "nova")
    assert (row.beside, row.beside_provider) == (beside, "current")
    assert row.outcome == outcome
    assert trail.decision.record.outcome == beside


def test_an_answer_too_unsure_to_count_still_has_its_outcome(kept: Kept) -> None:
    """With the gate that a live answer would have met: thresholds are made of such rows."""
    nova = scripted("tech", confidence=0.4)
    with offering({SHADOW: "nova", **kept.variables}, nova=nova) as gateway:
        decide(gateway)

    (row,) = shadows(kept)
    assert (row.attempt.reason, row.outcome) == (Reason.LOW_CONFIDENCE, "tech")
    assert (row.attempt.confidence, row.attempt.minimum) == (0.4, 0.7)


def test_a_shadow_beside_a_provider_that_failed_stands_beside_the_fallback(kept: Kept) -> None:
    said = {PROVIDER: "live", SHADOW: "nova", **kept.variables}
    with offering(said, live=scripted(Reason.TIMEOUT), nova=Teller()) as gateway:
        decide(gateway)

    (row,) = shadows(kept)
    assert (row.beside, row.beside_provider) == ("billing", "current")


def test_where_nobody_decided_a_shadow_stands_beside_the_safe_outcome(kept: Kept) -> None:
    """Else candidates would be compared on those decisions only that the live one could make."""
    point = DecisionPoint(name=POINT, questions={"en": {"team": TEAM}}, safe="none")
    said = {PROVIDER: "live", SHADOW: "nova", **kept.variables}
    with offering(said, live=scripted(Reason.REFUSED), nova=Teller()) as gateway:
        assert gateway.ask_sync(point, ASK).undecided

    (row,) = shadows(kept)
    assert (row.outcome, row.beside, row.beside_provider) == ("billing", "none", "")


def test_where_the_host_gets_an_exception_nobody_is_asked_beside_it() -> None:
    """A plan without fallback: there is no decision to stand beside."""
    nova = Teller()
    said = {PROVIDER: "live", SHADOW: "nova", "DECISION_FALLBACK_TO_CURRENT": "false"}
    with (
        offering(said, live=scripted(Reason.REFUSED), nova=nova) as gateway,
        pytest.raises(NoAnswer),
    ):
        decide(gateway)

    assert nova.asked == []


def test_no_fallback_is_needed_to_record_a_shadow_that_failed(kept: Kept) -> None:
    """What happens to a live answer is no matter of a shadow's."""
    said = {SHADOW: "nova", "DECISION_FALLBACK_TO_CURRENT": "false", **kept.variables}
    with offering(said, nova=scripted(Reason.REFUSED)) as gateway:
        decide(gateway)

    assert [one.attempt.reason for one in shadows(kept)] == [Reason.REFUSED]


@pytest.mark.parametrize("told", [True, False])
def test_a_consultation_is_shadowed_once_its_current_is_known(told: bool, kept: Kept) -> None:  # noqa: FBT001
    """`observe` says what the host decided; a shadow beside nothing would compare with nothing."""
    nova = Teller()
    with offering({SHADOW: "nova", **kept.variables}, nova=nova) as gateway:
        consultation = gateway.consultation(POINT, ASK)
        assert consultation.ask_sync() is None
        if told:
            consultation.observe("tech")

    assert [one.beside for one in shadows(kept)] == (["tech"] if told else [])
    assert len(nova.asked) == told


def test_a_consultation_that_decides_is_shadowed_beside_that(kept: Kept) -> None:
    said = {PROVIDER: "live", SHADOW: "nova", **kept.variables}
    with offering(said, live=scripted("none"), nova=Teller()) as gateway:
        assert gateway.consult_sync(POINT, ASK) is not None

    assert [(one.beside, one.beside_provider) for one in shadows(kept)] == [("none", "live")]


def test_no_shadow_is_an_observer_s_decision() -> None:
    """Observers and collectors are told of decisions; an event tells of shadows."""
    recorder = Recorder()
    gateway = offering({SHADOW: "nova"}, nova=Teller(), observers=[recorder])

    with gateway.collect() as decisions:
        decide(gateway)
    gateway.close()

    assert [one.record for one in decisions] == recorder.records
    assert [one.provider for one in recorder.records] == ["current"]


def test_the_event_says_whether_they_agree(capsys: pytest.CaptureFixture[str]) -> None:
    nova = scripted("billing", "tech", Reason.REFUSED)
    gateway = offering({SHADOW: "nova", "DECISION_LOG": "json"}, nova=nova)
    for _ in range(3):
        decide(gateway)
        gateway.close()

    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    agreed = [one["agrees"] for one in told if one["event"] == "decision.shadow"]
    assert agreed == [True, False, None]


# --- faults at start ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (SHADOW, "current"),
        (SHADOW, "nova,current"),
        (SHADOW, "nova,nova"),
        (SHADOW, "nova,"),
        (SHADOW, "nova:10"),
        (SHADOW, "nobody"),
        (SAMPLE, "-0.1"),
        (SAMPLE, "1.1"),
        (SAMPLE, "nan"),
        (SAMPLE, "half"),
    ],
)
def test_what_cannot_be_shadowed_is_a_fault_at_start(variable: str, value: str) -> None:
    with pytest.raises(SetupError) as caught:
        offering({variable: value}, nova=Teller())

    assert [fault.where for fault in caught.value.faults] == [variable]


def test_a_shadow_that_nothing_keeps_is_named_at_start() -> None:
    """Its answers are logged and gone: most likely the journal was forgotten."""
    gateway = offering({SHADOW: "nova"}, nova=Teller())
    gateway.point(POINT, TEAM)(_returns_billing)

    (odd,) = gateway.check()

    assert odd.where == SHADOW
    assert "DECISION_JOURNAL" in odd.fix


def _returns_billing(text: str) -> str:  # noqa: ARG001 - as hosts are called
    return "billing"
