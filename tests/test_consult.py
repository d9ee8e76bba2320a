"""Consulting beside the host's own path, and what surrounds a call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from faulty import ASK, PATIENCE, Server, answered, chosen, replies, waits
from pointsman import (
    Ask,
    Call,
    Chosen,
    Decision,
    Gateway,
    Limits,
    NoAnswer,
    Reason,
    Record,
    Recorder,
    Reply,
    SetupError,
    scripted,
)

COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])


def consult(gateway: Gateway, colour: str) -> Decision[Any] | None:
    if colour == "sync":
        return gateway.consult_sync("TEAM", ASK)
    return asyncio.run(gateway.consult("TEAM", ASK))


def value_of(gateway: Gateway, point: str = "TEAM") -> Any:
    return gateway.ask_sync(point, ASK, current=lambda: "billing").value


# --- consult -----------------------------------------------------------------------------


@COLOURS
def test_a_believed_provider_is_handed_over(
    gateway_of: Callable[..., Gateway], colour: str
) -> None:
    """The decision is the provider's; the host acts on it."""
    gateway = gateway_of()

    with gateway.override({"TEAM": scripted("tech")}):
        decision = consult(gateway, colour)

    assert decision is not None
    assert (decision.value, decision.provider) == ("tech", "scripted")


@COLOURS
@pytest.mark.parametrize("line", [Reason.REFUSED, Reason.TRANSPORT, "sales", ValueError("bug")])
def test_current_carries_on_where_the_provider_is_not_believed(
    gateway_of: Callable[..., Gateway], line: object, colour: str
) -> None:
    """None, whatever went wrong."""
    gateway = gateway_of()

    with gateway.override({"TEAM": scripted(line)}):
        assert consult(gateway, colour) is None


@COLOURS
def test_current_carries_on_where_nobody_else_is_planned(
    gateway_of: Callable[..., Gateway], colour: str
) -> None:
    """A point that is reached through `consult` has the host as its current: no start error."""
    assert consult(gateway_of(), colour) is None


@COLOURS
def test_without_fallback_consulting_raises(
    gateway_of: Callable[..., Gateway], colour: str
) -> None:
    """The error reaches the host's own failure policy."""
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})

    with (
        gateway.override({"TEAM": scripted(Reason.REFUSED)}),
        pytest.raises(NoAnswer) as caught,
    ):
        consult(gateway, colour)

    assert (caught.value.reason, caught.value.point) == (Reason.REFUSED, "TEAM")


@COLOURS
def test_what_current_did_completes_the_record(
    gateway_of: Callable[..., Gateway], colour: str
) -> None:
    """`observe` writes the record of the same id again, with current's outcome."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])

    with gateway.override({"TEAM": scripted(Reason.REFUSED)}):
        handle = gateway.consultation("TEAM", ASK)
        asked = handle.ask_sync() if colour == "sync" else asyncio.run(handle.ask())
    handle.observe("none")

    assert asked is None
    first, second = recorder.records
    assert {first.id, second.id} == {handle.id}
    assert (first.provider, first.outcome) == ("current", None)
    assert (second.provider, second.outcome, second.variant) == ("current", "none", "scripted")
    assert first.attempts == second.attempts


class Counts:
    """An observer that counts, and that wants to know what current did then."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.then: list[object] = []

    def __call__(self, record: Record) -> None:
        self.told.append(record.id)

    def completed(self, record: Record) -> None:
        self.then.append(record.outcome)


@COLOURS
@pytest.mark.parametrize("line", [Reason.REFUSED, None])
def test_a_consultation_in_vain_is_counted_once(
    gateway_of: Callable[..., Gateway], line: Reason | None, colour: str
) -> None:
    """A function that is told is told once; who has `completed` hears there what came of it."""
    plain: list[str] = []
    counts = Counts()
    gateway = gateway_of(observers=[lambda record: plain.append(record.id), counts])

    with gateway.override({"TEAM": "current" if line is None else scripted(line)}):
        handle = gateway.consultation("TEAM", ASK)
        assert (handle.ask_sync() if colour == "sync" else asyncio.run(handle.ask())) is None
    handle.observe("tech")

    assert plain == counts.told == [handle.id]
    assert counts.then == ["tech"]


def test_what_is_told_without_having_asked_is_counted_too(
    gateway_of: Callable[..., Gateway],
) -> None:
    counts = Counts()
    handle = gateway_of(observers=[counts]).consultation("TEAM", ASK)

    handle.observe("tech")

    assert (counts.told, counts.then) == ([handle.id], [])


def test_nothing_is_observed_of_what_the_provider_decided(
    gateway_of: Callable[..., Gateway],
) -> None:
    """The record stands; the host's value is the decision's."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])

    with gateway.override({"TEAM": scripted("tech")}):
        handle = gateway.consultation("TEAM", ASK)
        decision = handle.ask_sync()
    handle.observe("tech")

    assert decision is handle.decision
    assert [record.outcome for record in recorder.records] == ["tech"]


def test_what_current_did_alone_is_observed_where_somebody_watches(
    gateway_of: Callable[..., Gateway],
) -> None:
    """With an observer also the plan `current` leaves a record, with the outcome told."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])

    handle = gateway.consultation("TEAM", ASK)
    assert handle.ask_sync() is None
    handle.observe("tech")

    assert [one.outcome for one in recorder.records][-1] == "tech"
    assert {one.id for one in recorder.records} == {handle.id}


def test_a_value_outside_the_vocabulary_is_no_outcome(gateway_of: Callable[..., Gateway]) -> None:
    """What current says in other words is recorded as unknown; nothing is invented."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])

    with gateway.override({"TEAM": scripted(Reason.REFUSED)}):
        handle = gateway.consultation("TEAM", ASK)
        handle.ask_sync()
    handle.observe({"anything": "else"})

    assert recorder.records[-1].outcome is None


def test_an_observer_that_raises_never_reaches_the_decision(
    gateway_of: Callable[..., Gateway],
) -> None:
    """The decision is made, and the next observer is told."""

    def broken(_: object) -> None:
        raise ValueError

    recorder = Recorder()
    gateway = gateway_of(observers=[broken, recorder])

    with gateway.override({"TEAM": scripted("tech")}):
        assert value_of(gateway) == "tech"
    assert len(recorder.records) == 1


# --- collect -----------------------------------------------------------------------------


def test_decisions_are_collected_where_they_are_made(gateway_of: Callable[..., Gateway]) -> None:
    """In order, nested collectors each get theirs, and afterwards nobody collects."""
    gateway = gateway_of()

    with gateway.override({"TEAM": scripted("tech")}), gateway.collect() as outer:
        value_of(gateway)
        with gateway.collect() as inner:
            value_of(gateway, "OTHER")
        value_of(gateway)
    value_of(gateway)

    assert [one.record.point for one in outer] == ["TEAM", "OTHER", "TEAM"]
    assert [one.record.point for one in inner] == ["OTHER"]


def test_tasks_collect_apart(gateway_of: Callable[..., Gateway]) -> None:
    """A task collects its own decisions and those of the tasks it starts, not its sibling's."""
    gateway = gateway_of()

    async def turn(point: str) -> list[str]:
        with gateway.collect() as decisions:
            await asyncio.gather(
                *[gateway.ask(point, ASK, current=lambda: "billing") for _ in range(3)]
            )
        return [one.record.point for one in decisions]

    async def main() -> tuple[list[str], list[str]]:
        one, two = await asyncio.gather(turn("ONE"), turn("TWO"))
        return one, two

    assert asyncio.run(main()) == (["ONE"] * 3, ["TWO"] * 3)


def test_an_untouched_function_is_collected_too(gateway_of: Callable[..., Gateway]) -> None:
    """Who collects wants to see current's decisions as well."""
    gateway = gateway_of()

    @gateway.point("TEAM", ASK.questions)
    def team(message: str) -> str:  # noqa: ARG001 - what the deciders are shown
        return "billing"

    with gateway.collect() as decisions:
        assert team("hello") == "billing"

    (made,) = decisions
    assert (made.provider, made.record.outcome, made.record.fallback) == (
        "current",
        "billing",
        False,
    )


# --- session -----------------------------------------------------------------------------


class Subjects:
    """Notes whom each call is about."""

    name, limits = "subjects", Limits()

    def __init__(self) -> None:
        self.seen: list[str | None] = []

    def answer(self, ask: Any, call: Call) -> Reply:
        self.seen.append(call.subject)
        return Reply({"team": Chosen("tech", None, 0.9)})


def test_a_session_binds_its_subject(gateway_of: Callable[..., Gateway]) -> None:
    """Inside it, nested, and as an explicit argument, which wins."""
    gateway, subjects = gateway_of(), Subjects()

    with gateway.override({"TEAM": subjects}):
        value_of(gateway)
        with gateway.session("ana"):
            value_of(gateway)
            with gateway.session("bob"):
                value_of(gateway)
                gateway.ask_sync("TEAM", ASK, current=lambda: "billing", subject="eve")
            value_of(gateway)
        value_of(gateway)

    assert subjects.seen == [None, "ana", "bob", "eve", "ana", None]


def test_a_session_may_be_entered_and_left_in_different_tasks(
    gateway_of: Callable[..., Gateway],
) -> None:
    """Some frameworks do; a left session counts no more, wherever its context was copied to."""
    gateway, subjects = gateway_of(), Subjects()
    session = gateway.session("ana")

    async def ask() -> None:
        await gateway.ask("TEAM", ASK, current=lambda: "billing")

    async def main() -> None:
        asked, left = asyncio.Event(), asyncio.Event()

        async def beside() -> None:
            await ask()
            asked.set()
            await left.wait()
            await ask()

        async def enters() -> asyncio.Task[None]:
            await session.__aenter__()
            await ask()
            return asyncio.create_task(beside())

        task = await asyncio.create_task(enters())
        await asked.wait()
        await asyncio.create_task(session.__aexit__(None, None, None))
        left.set()
        await task

    with gateway.override({"TEAM": subjects}):
        asyncio.run(main())

    assert subjects.seen == ["ana", "ana", None]


def test_sessions_of_threads_and_tasks_are_apart(gateway_of: Callable[..., Gateway]) -> None:
    """A hundred customers at once, each with its own subject."""
    gateway, subjects = gateway_of(), Subjects()

    async def customer(name: str) -> None:
        async with gateway.session(name):
            await asyncio.sleep(0)
            await gateway.ask("TEAM", ASK, current=lambda: "billing")

    async def main() -> None:
        await asyncio.gather(*[customer(str(at)) for at in range(100)])

    with gateway.override({"TEAM": subjects}):
        asyncio.run(main())

    assert sorted(map(str, subjects.seen)) == sorted(map(str, range(100)))


# --- override ----------------------------------------------------------------------------


def test_overrides_nest(gateway_of: Callable[..., Gateway]) -> None:
    """The inner one wins where it names the point; leaving restores the outer one."""
    gateway = gateway_of()

    with gateway.override({"TEAM": scripted("tech"), "OTHER": scripted("none")}):
        with gateway.override({"team": "current"}):
            assert (value_of(gateway), value_of(gateway, "OTHER")) == ("billing", "none")
        assert value_of(gateway) == "tech"
    assert value_of(gateway) == "billing"


def test_overrides_may_be_left_in_any_order(gateway_of: Callable[..., Gateway]) -> None:
    """Fixtures of a test suite do not always nest."""
    gateway = gateway_of()
    first = gateway.override({"TEAM": scripted("tech")})
    second = gateway.override({"TEAM": scripted("none")})

    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert value_of(gateway) == "none"
    second.__exit__(None, None, None)
    assert value_of(gateway) == "billing"


def test_an_override_reaches_every_thread(gateway_of: Callable[..., Gateway]) -> None:
    """It belongs to the gateway: the code under test may use threads of its own."""
    gateway = gateway_of()

    with gateway.override({"TEAM": scripted("tech")}), ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: value_of(gateway), range(20))) == ["tech"] * 20


def test_an_override_says_so_in_the_plan(gateway_of: Callable[..., Gateway]) -> None:
    """Provenance: `override`, and the rest as the variables say."""
    gateway = gateway_of({"DECISION_TEAM_MIN_CONFIDENCE": "0.9"})
    value_of(gateway)

    with gateway.override({"TEAM": scripted("tech", confidence=0.8)}):
        plan = gateway.plan("TEAM")
        assert (plan.provider, plan.why["provider"]) == ("scripted", "override")
        assert plan.gate.minimum == 0.9
        assert value_of(gateway) == "billing"


def test_an_override_with_an_unknown_name_changes_nothing(
    gateway_of: Callable[..., Gateway],
) -> None:
    """The error comes at once, before anything is replaced."""
    gateway = gateway_of()

    with (
        pytest.raises(SetupError, match="nobody"),
        gateway.override({"TEAM": scripted("tech"), "OTHER": "nobody"}),
    ):
        raise AssertionError
    assert value_of(gateway) == "billing"


# --- reload and neighbours ---------------------------------------------------------------


def jev(server: Server, **environ: str) -> dict[str, str]:
    ours = {"AI_GATEWAY_API_KEY": "k", "JEV_BASE_URL": server.url, "DECISION_LOG": "off"}
    return {**ours, **environ}


def test_reload_swaps_the_plans(server: Server, gateway_of: Callable[..., Gateway]) -> None:
    """The same functions, another decider."""
    gateway = gateway_of(jev(server))
    assert value_of(gateway) == "billing"

    gateway.reload(jev(server, DECISION_PROVIDER="jev"))
    assert value_of(gateway) == "tech"

    gateway.reload(jev(server, DECISION_PROVIDER="jev", DECISION_TEAM_MIN_CONFIDENCE="0.99"))
    assert value_of(gateway) == "billing"


@pytest.mark.parametrize(
    "wrong",
    [
        {"DECISION_PROVIDER": "nobody"},
        {"DECISION_PROVIDER": "current", "DECISION_TEAM_MIN_CONFIDENCE": "high"},
        {"DECISION_PROVIDER": "jev", "AI_GATEWAY_API_KEY": ""},
        {"DECISION_PLUGINS": "nothing-of-that-name"},
    ],
    ids=["unknown provider", "no number", "no key", "no plug-in"],
)
def test_a_wrong_environment_leaves_the_old_plans(
    server: Server, gateway_of: Callable[..., Gateway], wrong: dict[str, str]
) -> None:
    """`SetupError`, and nothing has changed."""
    gateway = gateway_of(jev(server, DECISION_PROVIDER="jev"))
    before = gateway.settings

    with pytest.raises(SetupError):
        gateway.reload(jev(server, **wrong))

    assert gateway.settings is before
    assert value_of(gateway) == "tech"


def test_a_running_decision_keeps_its_plan(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """Reload while an answer is under way: gate and provider are those of its beginning."""
    gateway = gateway_of(jev(server, DECISION_PROVIDER="jev", DECISION_TEAM_MIN_CONFIDENCE="0.1"))
    server.does(waits(replies(answered(chosen(confidence=0.2)))))
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(value_of, gateway)
        server.wait()
        gateway.reload(jev(server, DECISION_TEAM_MIN_CONFIDENCE="0.9"))
        server.let_go()

        assert running.result(PATIENCE) == "tech"
    assert value_of(gateway) == "billing"


def test_reload_is_atomic_for_threads(server: Server, gateway_of: Callable[..., Gateway]) -> None:
    """Each decision sees one environment whole: never one's provider with another's gate."""
    strict = jev(server, DECISION_PROVIDER="jev", DECISION_MIN="", DECISION_TEAM_MIN_CONFIDENCE="1")
    loose = jev(server, DECISION_TEAM_MIN_CONFIDENCE="0", DECISION_FALLBACK_TO_CURRENT="false")
    gateway = gateway_of(strict)
    seen: set[tuple[str, float | None]] = set()
    stop = threading.Event()

    def asks() -> None:
        while not stop.is_set():
            decision = gateway.ask_sync("TEAM", ASK, current=lambda: "billing")
            seen.add((decision.record.variant, decision.attempts[0].minimum))

    with ThreadPoolExecutor(3) as threads:
        running = [threads.submit(asks) for _ in range(3)]
        for _ in range(10):
            gateway.reload(loose)
            gateway.reload(strict)
        server.wait()
        stop.set()
        for one in running:
            one.result(PATIENCE)

    assert seen <= {("jev", 1.0), ("current", None)}


def test_two_gateways_do_not_disturb_each_other(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """Own settings, observers, overrides, breakers and connections."""
    mine, theirs = Recorder(), Recorder()
    one = gateway_of(jev(server, DECISION_PROVIDER="jev"), observers=[mine])
    two = gateway_of(jev(server), observers=[theirs])

    with two.override({"TEAM": scripted("none")}):
        assert (value_of(one), value_of(two)) == ("tech", "none")
    two.close()
    two.reload(jev(server, DECISION_PROVIDER="jev"))
    server.does(replies(b"", 401))
    assert (value_of(one), value_of(two)) == ("billing", "billing")

    assert [record.reason for record in mine.records] == [Reason.OK, Reason.AUTH]
    assert [record.reason for record in theirs.records] == [Reason.OK, Reason.AUTH]


def test_a_function_belongs_to_its_gateway(gateway_of: Callable[..., Gateway]) -> None:
    """Another gateway's function is no decision point here."""
    one, two = gateway_of(), gateway_of()

    @one.point("TEAM", ASK.questions)
    def team(message: str) -> str:  # noqa: ARG001 - what the deciders are shown
        return "billing"

    with pytest.raises(SetupError, match="no decision point of this gateway"):
        two.decide_sync(team, "hello")


# --- sessions and collectors that outlive their place ----------------------------------------


def test_two_thousand_turns_entered_and_left_elsewhere(gateway_of: Callable[..., Gateway]) -> None:
    """A framework that leaves each turn in another task must not pile up sessions."""
    gateway = gateway_of()

    async def turns() -> None:
        for _ in range(2000):
            session = gateway.session("ana")
            session.__enter__()
            await asyncio.create_task(_leave(session))
        with gateway.collect() as decisions:
            await gateway.ask("TEAM", ASK, current=lambda: "tech")
        assert [one.value for one in decisions] == ["tech"]

    async def _leave(session: Any) -> None:
        session.__exit__(None, None, None)

    asyncio.run(turns())


def test_a_session_may_be_entered_again(gateway_of: Callable[..., Gateway]) -> None:
    """Nested in itself, and once more after it was left: it binds its subject each time."""
    gateway, seen = gateway_of(), Seen()
    session = gateway.session("ana")

    with gateway.override({"TEAM": seen}):
        with session, session:
            gateway.ask_sync("TEAM", ASK, current=lambda: "tech")
        with session:
            gateway.ask_sync("TEAM", ASK, current=lambda: "tech")
        gateway.ask_sync("TEAM", ASK, current=lambda: "tech")

    assert seen.subjects == ["ana", "ana", None]


def test_one_gateways_session_and_collector_are_not_anothers(
    gateway_of: Callable[..., Gateway],
) -> None:
    """Several gateways in one process do not disturb each other."""
    one, other, seen = gateway_of(), gateway_of(), Seen()

    with one.session("ana"), one.collect() as decisions, other.override({"TEAM": seen}):
        other.ask_sync("TEAM", ASK, current=lambda: "tech")

    assert (seen.subjects, decisions) == ([None], [])


def test_a_task_that_outlives_its_collector_is_not_collected(
    gateway_of: Callable[..., Gateway],
) -> None:
    """The list is the caller's once the block is left."""
    gateway = gateway_of()

    async def main() -> None:
        go_on = asyncio.Event()

        async def later() -> None:
            await go_on.wait()
            await gateway.ask("TEAM", ASK, current=lambda: "tech")

        with gateway.collect() as decisions:
            task = asyncio.create_task(later())
            await asyncio.sleep(0)
        go_on.set()
        await task
        assert decisions == []

    asyncio.run(main())


def test_nested_asks_are_about_the_same_subject(gateway_of: Callable[..., Gateway]) -> None:
    """What a provider asks on is about whom it was asked about."""
    gateway, seen = gateway_of(), Seen()

    class AsksOn:
        name, limits = "asks-on", Limits()

        def answer(self, ask: Ask, call: Call) -> Reply:
            gateway.ask_sync("INNER", ASK, current=lambda: "tech", within=call)
            raise NoAnswer(Reason.ABSTAINED)

    with gateway.override({"TEAM": AsksOn(), "INNER": seen}):
        gateway.ask_sync("TEAM", ASK, current=lambda: "tech", subject="ana")

    assert seen.subjects == ["ana"]


class Seen:
    """Declines, and keeps the subjects it was asked about."""

    name, limits = "seen", Limits()

    def __init__(self) -> None:
        self.subjects: list[str | None] = []

    def answer(self, ask: Ask, call: Call) -> Reply:
        self.subjects.append(call.subject)
        raise NoAnswer(Reason.ABSTAINED)
