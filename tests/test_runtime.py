"""One gateway, wherever it is used from: loops, threads, forks; and nothing is left behind."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from faulty import ASK, PATIENCE, Server, hangs, replies
from pointsman import (
    Ask,
    Call,
    Chosen,
    Decision,
    Gateway,
    Limits,
    NoAnswer,
    Reason,
    Recorder,
    Reply,
    SetupError,
    scripted,
)

TECH = Reply({"team": Chosen("tech", None, 0.9)})

Answer = Callable[[Any, Call], Reply]


class InProcess:
    """Answers where it stands."""

    name, limits = "inside", Limits()

    def __init__(self, does: Answer | None = None, *, blocking: bool = False) -> None:
        self._does, self.blocking = does, blocking

    def answer(self, ask: Any, call: Call) -> Reply:
        return TECH if self._does is None else self._does(ask, call)


class Waiting:
    """Is of the async shape; it says where it ran, and whether it was cancelled."""

    name, limits = "waiting", Limits()

    def __init__(self, does: Callable[[Call], Awaitable[Reply]] | None = None) -> None:
        self._does = does
        self.cancelled = threading.Event()
        self.begun = threading.Event()

    async def answer(self, ask: Any, call: Call) -> Reply:
        self.begun.set()
        await asyncio.sleep(0)
        if self._does is not None:
            return await self._does(call)
        return TECH

    async def for_ever(self, call: Call) -> Reply:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise AssertionError


def stuck() -> Waiting:
    """A provider of the async shape that never answers."""
    made = Waiting()
    made._does = made.for_ever
    return made


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    """Unclosed sockets and loops are warnings, and a warning is an error."""
    before = set(threading.enumerate())
    yield
    gc.collect()
    left = [one.name for one in threading.enumerate() if one not in before]
    assert [name for name in left if "faulty" not in name] == []


@pytest.fixture
def jev(server: Server, gateway_of: Callable[..., Gateway]) -> Iterator[Gateway]:
    environ = {
        "DECISION_PROVIDER": "jev",
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": server.url,
    }
    gateway = gateway_of(environ)
    yield gateway
    gateway.close()


def current() -> str:
    return "billing"


def by(decision: Decision[Any]) -> tuple[Any, str]:
    return decision.value, decision.provider


FROM_JEV = ("tech", "jev")


# --- loops, threads, forks ---------------------------------------------------------------


def test_two_loops_at_once(jev: Gateway) -> None:
    """Clients belong to the loop that made them: neither meets the other's."""
    both = threading.Barrier(2)

    async def main() -> list[tuple[Any, str]]:
        asked = [by(await jev.ask("TEAM", ASK, current=current))]
        await asyncio.to_thread(both.wait, PATIENCE)
        asked += [
            by(one)
            for one in await asyncio.gather(
                *[jev.ask("TEAM", ASK, current=current) for _ in "12345"]
            )
        ]
        return asked

    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(asyncio.run, main()) for _ in range(2)]

        assert [run.result(PATIENCE) for run in runs] == [[FROM_JEV] * 6] * 2


def test_asyncio_run_called_twenty_times(server: Server, jev: Gateway) -> None:
    """Each run has its own client, and closes it: no closed-loop error, no open socket."""
    for _ in range(20):
        assert by(asyncio.run(jev.ask("TEAM", ASK, current=current))) == FROM_JEV

    assert server.connections == 20


def test_a_loop_keeps_its_connections(server: Server, jev: Gateway) -> None:
    """Within one loop a connection is used again."""

    async def main() -> None:
        for _ in range(5):
            await jev.ask("TEAM", ASK, current=current)

    asyncio.run(main())

    assert (server.connections, len(server.seen)) == (1, 5)


def test_many_threads(server: Server, jev: Gateway) -> None:
    """Sync callers share one client."""
    with ThreadPoolExecutor(16) as threads:
        asked = list(
            threads.map(lambda _: by(jev.ask_sync("TEAM", ASK, current=current)), range(200))
        )

    assert asked == [FROM_JEV] * 200
    assert server.most <= 16


def test_many_threads_of_an_async_provider(gateway_of: Callable[..., Gateway]) -> None:
    """Sync callers of the async shape share one loop thread."""
    gateway = gateway_of()
    with gateway.override({"TEAM": Waiting()}), ThreadPoolExecutor(16) as threads:
        asked = list(
            threads.map(lambda _: gateway.ask_sync("TEAM", ASK, current=current).value, range(200))
        )
    gateway.close()

    assert asked == ["tech"] * 200


@pytest.mark.parametrize("colour", ["sync", "async", "async shape"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_after_a_fork(server: Server, jev: Gateway, colour: str) -> None:
    """A child opens its own connections and threads, and the parent keeps its own."""

    def decide() -> bool:
        if colour == "sync":
            return by(jev.ask_sync("TEAM", ASK, current=current)) == FROM_JEV
        if colour == "async":
            return by(asyncio.run(jev.ask("TEAM", ASK, current=current))) == FROM_JEV
        with jev.override({"TEAM": Waiting()}):
            return bool(jev.ask_sync("TEAM", ASK, current=current).value == "tech")

    assert decide()
    before = server.connections

    child = os.fork()
    if child == 0:
        os._exit(0 if decide() and decide() else 1)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert decide()
    if colour == "sync":
        assert server.connections == before + 1  # the child's; the parent still has its own


@pytest.mark.parametrize(
    "provider",
    [InProcess(), InProcess(blocking=True), Waiting(), None],
    ids=["in-process", "blocking", "async shape", "HTTP"],
)
def test_sync_code_inside_a_running_loop(jev: Gateway, provider: Any) -> None:
    """A framework's sync hook runs on its loop: the sync form works there, with every shape."""

    async def main() -> list[Any]:
        return [jev.ask_sync("TEAM", ASK, current=current).value for _ in range(3)]

    if provider is None:
        assert asyncio.run(main()) == ["tech"] * 3
    else:
        with jev.override({"TEAM": provider}):
            assert asyncio.run(main()) == ["tech"] * 3


@pytest.mark.parametrize(
    "provider",
    [InProcess(), InProcess(blocking=True), Waiting(), None],
    ids=["in-process", "blocking", "async shape", "HTTP"],
)
def test_a_wrapped_function_inside_a_running_loop(jev: Gateway, provider: Any) -> None:
    """`decide_sync` in a coroutine, with every shape."""

    @jev.point("TEAM", ASK.questions)
    def team(message: str) -> str:  # noqa: ARG001 - what the deciders are shown
        return "billing"

    async def main() -> Any:
        return jev.decide_sync(team, "my router is dead").value

    if provider is None:
        assert asyncio.run(main()) == "tech"
    else:
        with jev.override({"TEAM": provider}):
            assert asyncio.run(main()) == "tech"


def test_a_provider_on_our_own_loop_may_use_the_sync_form(
    gateway_of: Callable[..., Gateway],
) -> None:
    """An async provider under a sync caller asks another one synchronously: no deadlock."""
    gateway = gateway_of()

    async def asks_on(call: Call) -> Reply:
        inner = gateway.ask_sync("INNER", ASK, current=current, within=call)
        return Reply({"team": Chosen(inner.value, None, 0.9)})

    outer = Waiting(asks_on)
    with gateway.override({"TEAM": outer, "INNER": Waiting()}):
        decision = gateway.ask_sync("TEAM", ASK, current=current)
    gateway.close()

    assert by(decision) == ("tech", "waiting")


def test_the_callers_context_reaches_the_provider(gateway_of: Callable[..., Gateway]) -> None:
    """Context variables of a sync caller are seen by a provider of the async shape."""
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant")
    gateway = gateway_of()

    async def reads(_: Call) -> Reply:
        return Reply({"team": Chosen(tenant.get("none"), None, 0.9)})

    tenant.set("tech")
    with gateway.override({"TEAM": Waiting(reads)}):
        decision = gateway.ask_sync("TEAM", ASK, current=current)
    gateway.close()

    assert decision.value == "tech"


# --- trio --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["ask", "decide", "consult"])
def test_without_asyncio_the_async_form_names_the_sync_one(
    gateway_of: Callable[..., Gateway], form: str
) -> None:
    """Under trio there is no asyncio loop: a `SetupError` that says what to do instead."""
    gateway = gateway_of()

    @gateway.point("OTHER", ASK.questions)
    async def other(message: str) -> str:  # noqa: ARG001 - what the deciders are shown
        return "billing"

    forms: dict[str, Callable[[], Any]] = {
        "ask": lambda: gateway.ask("TEAM", ASK, current=current),
        "decide": lambda: gateway.decide(other, "hello"),
        "consult": lambda: gateway.consult("TEAM", ASK),
    }
    with (
        gateway.override({"TEAM": scripted("tech"), "OTHER": scripted("tech")}),
        pytest.raises(SetupError, match="decide_sync"),
    ):
        forms[form]().send(None)  # as trio would begin it


def test_without_asyncio_the_untouched_path_runs(gateway_of: Callable[..., Gateway]) -> None:
    """Where nobody but current decides, a wrapped function does not care whose loop it is."""
    gateway = gateway_of()

    @gateway.point("OTHER", ASK.questions)
    async def other(message: str) -> str:  # noqa: ARG001 - what the deciders are shown
        return "billing"

    with pytest.raises(StopIteration) as end:
        other("hello").send(None)

    assert end.value.value == "billing"


# --- cancellation ------------------------------------------------------------------------


def test_cancelling_reaches_the_socket_and_is_no_failure(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """The server sees the client hang up; the record says `cancelled`, and nobody decided."""
    recorder = Recorder()
    environ = {"DECISION_PROVIDER": "jev", "AI_GATEWAY_API_KEY": "k", "JEV_BASE_URL": server.url}
    gateway = gateway_of(environ, observers=[recorder])
    server.does(hangs(), replies())

    async def main() -> Decision[Any]:
        asking = asyncio.create_task(gateway.ask("TEAM", ASK, current=current))
        await server.reached()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.abandoned()
        return await gateway.ask("TEAM", ASK, current=current)

    assert by(asyncio.run(main())) == FROM_JEV
    first, _ = recorder.records
    assert [one.reason for one in first.attempts] == [Reason.CANCELLED]
    assert (first.provider, first.reason, first.undecided) == ("", Reason.CANCELLED, False)


def test_a_host_that_is_cancelled_is_recorded_so(gateway_of: Callable[..., Gateway]) -> None:
    """Cancelled while current runs: its attempt says `cancelled`, too."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])

    async def main() -> None:
        begun = asyncio.Event()

        async def slow() -> str:
            begun.set()
            await asyncio.Event().wait()
            return "billing"

        asking = asyncio.create_task(gateway.ask("TEAM", ASK, current=slow))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    with gateway.override({"TEAM": scripted(Reason.REFUSED)}):
        asyncio.run(main())

    (record,) = recorder.records
    assert [one.reason for one in record.attempts] == [Reason.REFUSED, Reason.CANCELLED]


def test_a_sync_caller_that_gives_up_cancels_its_call(gateway_of: Callable[..., Gateway]) -> None:
    """The coroutine of an async provider does not go on behind the caller's back."""
    gateway = gateway_of({"DECISION_TEAM_DEADLINE_SECONDS": "0.4"})
    provider = stuck()

    with gateway.override({"TEAM": provider}):
        decision = gateway.ask_sync("TEAM", ASK, current=current)

    assert by(decision) == ("billing", "current")
    assert decision.record.reason is Reason.TIMEOUT
    assert provider.cancelled.wait(PATIENCE)
    gateway.close()


def test_closing_ends_a_sync_caller_that_waits(gateway_of: Callable[..., Gateway]) -> None:
    """Nobody waits for ever for a loop that is gone; current decides."""
    gateway = gateway_of()
    provider = stuck()

    with gateway.override({"TEAM": provider}), ThreadPoolExecutor(1) as threads:
        asking = threads.submit(gateway.ask_sync, "TEAM", ASK, current=current)
        assert provider.begun.wait(PATIENCE)
        gateway.close()
        decision = asking.result(PATIENCE)

    assert by(decision) == ("billing", "current")
    assert decision.record.reason is Reason.CANCELLED
    assert provider.cancelled.is_set()


@pytest.mark.parametrize("error", [TimeoutError("its own"), asyncio.CancelledError()])
def test_a_providers_own_timeout_is_not_the_gateways(
    gateway_of: Callable[..., Gateway], error: BaseException
) -> None:
    """What a provider raises by itself ends in current, not in the caller's thread."""
    gateway = gateway_of({"DECISION_TEAM_DEADLINE_SECONDS": "100"})

    async def fails(_: Call) -> Reply:
        raise error

    with gateway.override({"TEAM": Waiting(fails)}):
        decision = gateway.ask_sync("TEAM", ASK, current=current)
    gateway.close()

    assert by(decision) == ("billing", "current")
    assert decision.record.reason in {Reason.PROVIDER_ERROR, Reason.CANCELLED}


# --- deadlines ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "part"),
    [
        ({}, 0.5),
        ({"DECISION_FALLBACK_SHARE": "0.2"}, 0.8),
        ({"DECISION_FALLBACK_TO_CURRENT": "false"}, 1.0),
    ],
    ids=["half", "share", "no fallback"],
)
def test_the_provider_gets_its_part_of_the_deadline(
    gateway_of: Callable[..., Gateway], environ: dict[str, str], part: float
) -> None:
    """deadline × (1 − share); all of it where nothing follows."""
    seen: list[float] = []

    def looks(_: Any, call: Call) -> Reply:
        assert call.deadline is not None
        seen.append(call.deadline - time.monotonic())
        return TECH

    gateway = gateway_of({"DECISION_TEAM_DEADLINE_SECONDS": "1000", **environ})
    with gateway.override({"TEAM": InProcess(looks)}):
        gateway.ask_sync("TEAM", ASK, current=current)

    assert seen == [pytest.approx(1000 * part, abs=60)]


def test_without_a_deadline_there_is_none(gateway_of: Callable[..., Gateway]) -> None:
    """Nothing is bounded that nobody asked to bound."""
    seen: list[float | None] = []

    def looks(_: Any, call: Call) -> Reply:
        seen.append(call.deadline)
        return TECH

    gateway = gateway_of()
    with gateway.override({"TEAM": InProcess(looks)}):
        gateway.ask_sync("TEAM", ASK, current=current)

    assert seen == [None]


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_less_than_the_least_is_skipped(gateway_of: Callable[..., Gateway], colour: str) -> None:
    """Below 50 ms a provider is not asked at all; current decides."""
    gateway = gateway_of({"DECISION_TEAM_DEADLINE_SECONDS": "0.09"})  # half of it is 45 ms
    provider = scripted("tech")

    with gateway.override({"TEAM": provider}):
        if colour == "sync":
            decision = gateway.ask_sync("TEAM", ASK, current=current)
        else:
            decision = asyncio.run(gateway.ask("TEAM", ASK, current=current))

    assert by(decision) == ("billing", "current")
    assert decision.record.reason is Reason.SKIPPED
    assert provider.asked == []


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_the_deadline_bounds_a_provider_over_http(
    server: Server, gateway_of: Callable[..., Gateway], colour: str
) -> None:
    """Its own timeout may be longer; the decision's deadline wins."""
    environ = {
        "DECISION_PROVIDER": "jev",
        "AI_GATEWAY_API_KEY": "k",
        "JEV_BASE_URL": server.url,
        "JEV_TIMEOUT_SECONDS": "1000",
        "DECISION_TEAM_DEADLINE_SECONDS": "0.4",
    }
    gateway = gateway_of(environ)
    server.does(hangs())

    if colour == "sync":
        decision = gateway.ask_sync("TEAM", ASK, current=current)
    else:
        decision = asyncio.run(gateway.ask("TEAM", ASK, current=current))

    assert by(decision) == ("billing", "current")
    assert decision.record.reason is Reason.TIMEOUT
    gateway.close()


def test_an_async_current_is_cancelled_at_the_deadline(gateway_of: Callable[..., Gateway]) -> None:
    """The host gets one clear error, with the point and both attempts."""
    gateway = gateway_of({"DECISION_TEAM_DEADLINE_SECONDS": "0.3"})
    cancelled: list[bool] = []

    async def slow() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return "billing"

    with gateway.override({"TEAM": scripted(Reason.REFUSED)}), pytest.raises(NoAnswer) as caught:
        asyncio.run(gateway.ask("TEAM", ASK, current=slow))

    assert cancelled == [True]
    assert (caught.value.reason, caught.value.point) == (Reason.TIMEOUT, "TEAM")
    assert [(one.provider, one.reason) for one in caught.value.attempts] == [
        ("scripted", Reason.REFUSED),
        ("current", Reason.TIMEOUT),
    ]


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_sync_current_is_never_interrupted_but_late(
    gateway_of: Callable[..., Gateway], colour: str
) -> None:
    """It ends, its value counts, and the overrun is a flag of the record."""
    gateway = gateway_of({"DECISION_TEAM_DEADLINE_SECONDS": "0.2"})
    until = time.monotonic() + 0.3

    def slow() -> str:
        threading.Event().wait(until - time.monotonic())
        return "billing"

    with gateway.override({"TEAM": scripted(Reason.REFUSED)}):
        if colour == "sync":
            decision = gateway.ask_sync("TEAM", ASK, current=slow)
        else:
            decision = asyncio.run(gateway.ask("TEAM", ASK, current=slow))

    assert by(decision) == ("billing", "current")
    assert [one.late for one in decision.attempts] == [False, True]
    assert decision.record.late


def test_a_plan_that_is_current_has_no_deadline(gateway_of: Callable[..., Gateway]) -> None:
    """The host's own path is not bounded where nobody else is asked."""
    gateway = gateway_of({"DECISION_TEAM_DEADLINE_SECONDS": "0.001"}, observers=[Recorder()])

    async def slow() -> str:
        await asyncio.sleep(0.05)
        return "billing"

    decision = asyncio.run(gateway.ask("TEAM", ASK, current=slow))

    assert (decision.value, decision.record.late) == ("billing", False)


def test_a_blocking_provider_is_left_behind_at_the_deadline(
    gateway_of: Callable[..., Gateway],
) -> None:
    """Its thread ends by itself; the host's own path is not its to run, there or later."""
    gateway = gateway_of({"DECISION_TEAM_DEADLINE_SECONDS": "0.3"})
    go_on, told = threading.Event(), threading.Event()
    runs: list[int] = []

    def waits(_: Any, call: Call) -> Reply:
        go_on.wait(PATIENCE)
        assert call.current is None
        told.set()
        return TECH

    def counted() -> str:
        runs.append(1)
        return "billing"

    with gateway.override({"TEAM": InProcess(waits, blocking=True)}):
        decision = asyncio.run(gateway.ask("TEAM", ASK, current=counted))
    go_on.set()

    assert told.wait(PATIENCE)
    assert (decision.value, decision.record.reason, runs) == ("billing", Reason.TIMEOUT, [1])
    gateway.close()


# --- closing -----------------------------------------------------------------------------


def test_close_leaves_nothing_and_the_gateway_opens_again(server: Server, jev: Gateway) -> None:
    """Threads are joined, sockets closed; a later decision opens them again."""
    before = threading.active_count()
    for _ in range(3):
        with jev.override({"OTHER": Waiting()}):
            jev.ask_sync("OTHER", ASK, current=current)
        assert by(jev.ask_sync("TEAM", ASK, current=current)) == FROM_JEV
        jev.close()
        assert threading.active_count() == before

    assert server.connections == 3


def test_aclose_leaves_nothing_and_the_gateway_opens_again(server: Server, jev: Gateway) -> None:
    """The same inside a loop: no task, no connection."""

    async def main() -> None:
        for _ in range(3):
            with jev.override({"OTHER": InProcess(blocking=True)}):
                await jev.ask("OTHER", ASK, current=current)
            assert by(await jev.ask("TEAM", ASK, current=current)) == FROM_JEV
            await jev.aclose()
            assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())

    assert server.connections == 3


def test_the_gateway_is_a_context_manager_in_both_colours(server: Server, jev: Gateway) -> None:
    """Entering checks, leaving closes."""
    with jev as entered:
        assert by(entered.ask_sync("TEAM", ASK, current=current)) == FROM_JEV

    async def main() -> None:
        async with jev as entered:
            assert by(await entered.ask("TEAM", ASK, current=current)) == FROM_JEV

    asyncio.run(main())
    assert server.connections == 2


def test_an_executor_of_the_providers_own_is_joined(gateway_of: Callable[..., Gateway]) -> None:
    """A provider of the async shape may use its loop's threads; closing joins them."""
    gateway = gateway_of()

    async def threaded(_: Call) -> Reply:
        return await asyncio.to_thread(lambda: TECH)

    with gateway.override({"TEAM": Waiting(threaded)}):
        assert gateway.ask_sync("TEAM", ASK, current=current).value == "tech"
    gateway.close()


def test_providers_are_closed_with_the_gateway(gateway_of: Callable[..., Gateway]) -> None:
    """A provider's own `close` is called."""
    gateway = gateway_of({"DECISION_PROVIDER": "jev", "AI_GATEWAY_API_KEY": "k"})
    closed: list[bool] = []
    provider: Any = gateway.provider("jev")
    provider.close = lambda: closed.append(True)

    gateway.close()

    assert closed == [True]


# --- the host's own exceptions -----------------------------------------------------------


class Interruption(BaseException):
    """A framework's own, such as one that unwinds to an approval."""


RAISED = [
    ValueError("mine"),
    StopIteration("mine"),
    StopAsyncIteration("mine"),
    TimeoutError("mine"),
    KeyError("mine"),
    NoAnswer(Reason.REFUSED, point="ANOTHER"),
    NoAnswer(Reason.REFUSED),
    SetupError.of("mine", "is", "so"),
    KeyboardInterrupt(),
    SystemExit(3),
    GeneratorExit(),
    Interruption("mine"),
]
REACHED = [None, Reason.REFUSED]  # by itself; after a provider that was asked in vain


@pytest.mark.parametrize("before", REACHED, ids=["current", "fallback"])
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_the_hosts_own_exception_passes_untouched(
    gateway_of: Callable[..., Gateway], error: BaseException, before: Reason | None
) -> None:
    """The very same object, without cause or context, and the record tells of it."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])

    def fails() -> str:
        raise error

    layer: dict[str, Any] = {} if before is None else {"TEAM": scripted(before)}
    with gateway.override(layer), pytest.raises(type(error)) as caught:
        gateway.ask_sync("TEAM", ASK, current=fails)

    assert caught.value is error
    assert (error.__cause__, error.__context__) == (None, None)
    (record,) = recorder.records
    assert (record.provider, record.attempts[-1].provider) == ("", "current")
    assert record.attempts[-1].reason is not Reason.OK


ASYNC_RAISED = [
    error
    for error in RAISED
    if not isinstance(error, StopIteration | GeneratorExit)  # Python's coroutines cannot
]


@pytest.mark.parametrize("before", REACHED, ids=["current", "fallback"])
@pytest.mark.parametrize("error", ASYNC_RAISED, ids=lambda error: type(error).__name__)
def test_the_hosts_own_exception_passes_untouched_async(
    gateway_of: Callable[..., Gateway], error: BaseException, before: Reason | None
) -> None:
    """The same for an awaited current."""
    gateway = gateway_of()

    async def fails() -> str:
        raise error

    async def main() -> BaseException:
        try:
            await gateway.ask("TEAM", ASK, current=fails)
        except BaseException as same:  # noqa: BLE001 - the very object is the point
            return same
        raise AssertionError

    layer: dict[str, Any] = {} if before is None else {"TEAM": scripted(before)}
    with gateway.override(layer):
        assert asyncio.run(main()) is error
    assert (error.__cause__, error.__context__) == (None, None)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Interruption()])
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_an_interruption_inside_a_provider_is_no_fault_of_it(
    gateway_of: Callable[..., Gateway], error: BaseException, colour: str
) -> None:
    """Control-C while a provider works ends the decision; current does not run behind it."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])
    runs: list[int] = []

    def interrupted(*_: Any) -> Reply:
        raise error

    def decide() -> object:
        if colour == "sync":
            return gateway.ask_sync("TEAM", ASK, current=lambda: runs.append(1))
        return asyncio.run(gateway.ask("TEAM", ASK, current=lambda: runs.append(1)))

    with gateway.override({"TEAM": InProcess(interrupted)}), pytest.raises(type(error)) as caught:
        decide()

    assert (caught.value, runs) == (error, [])
    assert [one.reason for one in recorder.records[0].attempts] == [Reason.CANCELLED]


def test_nothing_is_opened_at_construction(gateway_of: Callable[..., Gateway]) -> None:
    """No thread, no client, no loop: a gateway may be made at import."""
    before = threading.active_count()
    gateway_of({"DECISION_PROVIDER": "jev", "AI_GATEWAY_API_KEY": "k"})

    assert threading.active_count() == before


# --- what a provider may do to its caller ------------------------------------------------------


def test_a_providers_own_cancellation_is_not_the_hosts(gateway_of: Callable[..., Gateway]) -> None:
    """An inner task of its own that was cancelled is its bug; the host falls back."""

    class Cancels:
        name, limits = "cancels", Limits()

        async def answer(self, ask: Ask, call: Call) -> Reply:
            inner = asyncio.ensure_future(asyncio.Event().wait())
            inner.cancel()
            await inner
            raise AssertionError

    gateway = gateway_of()
    with gateway.override({"TEAM": Cancels()}):
        decision = asyncio.run(gateway.ask("TEAM", ASK, current=lambda: "billing"))

    assert (decision.value, decision.record.reason) == ("billing", Reason.PROVIDER_ERROR)


def test_a_system_exit_ends_the_caller_and_not_the_loop_thread(
    gateway_of: Callable[..., Gateway],
) -> None:
    """A sync caller of an async provider meets it; the next one is served as before."""

    class Exits:
        name, limits = "exits", Limits()

        async def answer(self, ask: Ask, call: Call) -> Reply:
            raise SystemExit(3)

    gateway = gateway_of()
    with gateway.override({"TEAM": Exits()}), pytest.raises(SystemExit):
        gateway.ask_sync("TEAM", ASK, current=lambda: "billing")
    with gateway.override({"TEAM": Waiting()}):
        assert gateway.ask_sync("TEAM", ASK, current=lambda: "billing").value == "tech"
    gateway.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_while_others_declare_points_does_not_hang(
    gateway_of: Callable[..., Gateway],
) -> None:
    """A lock that another thread holds at the fork is open in the child."""
    gateway = gateway_of()
    ended = threading.Event()

    def declares() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            gateway.ask_sync(f"POINT_{number % 50}", ASK, current=lambda: "tech")

    threads = [threading.Thread(target=declares) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            if (child := os.fork()) == 0:
                done = gateway.ask_sync("IN_CHILD", ASK, current=lambda: "tech").value == "tech"
                os._exit(0 if done else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        ended.set()
        for thread in threads:
            thread.join()
