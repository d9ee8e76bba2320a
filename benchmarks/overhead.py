"""
What a decision costs beside a bare call, in CPU microseconds, side by side in one run.

python benchmarks/overhead.py [--rounds N]

Each pair (bare, through the gateway) is timed in turn, round by round, so that a machine that
slows down slows both. What other programs do only ever adds to a figure, so the least of each is
compared. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable

from fixed import Fixed
from local_api import request, served, variables

from pointsman import Ask, Call, Choice, Gateway, Limits, Offer, Record, Reply, hookimpl

QUESTION = Choice("Which team?", {"billing": "Amounts, refunds", "tech": "Faults", "none": "-"})
KEPT = {f"DECISION_{point}_CACHE_SECONDS": "3600" for point in ("TEAM", "TEAM_ASYNC")}


def cpu(run: Callable[[], object], times: int) -> float:
    """CPU microseconds of one run."""
    begun = time.process_time_ns()
    for _ in range(times):
        run()
    return (time.process_time_ns() - begun) / 1000 / times


async def cpu_async(run: Callable[[], Awaitable[object]], times: int) -> float:
    """CPU microseconds of one awaited run."""
    begun = time.process_time_ns()
    for _ in range(times):
        await run()
    return (time.process_time_ns() - begun) / 1000 / times


def added(bare: Callable[[], float], through: Callable[[], float], rounds: int) -> float:
    """What *through* costs more than *bare*, each at its least."""
    bare(), through()
    gc.collect()
    pairs = [(bare(), through()) for _ in range(rounds)]
    return min(cost for _, cost in pairs) - min(cost for cost, _ in pairs)


async def added_async(
    bare: Callable[[], Awaitable[float]], through: Callable[[], Awaitable[float]], rounds: int
) -> float:
    """As `added`, on a loop that runs already."""
    await bare(), await through()
    gc.collect()
    pairs = [(await bare(), await through()) for _ in range(rounds)]
    return min(cost for _, cost in pairs) - min(cost for cost, _ in pairs)


def route(message: str) -> str:
    return "billing" if "invoice" in message else "tech"


async def route_async(message: str) -> str:
    return "billing" if "invoice" in message else "tech"


def gateway(log: str = "off", **variables: str) -> Gateway:
    return Gateway.from_env({"DECISION_LOG": log, **variables})


def in_process(log: str, *, rounds: int, **kept: str) -> tuple[float, float]:
    """Sync and async: plan, ask or recall, accept, record in memory, beside a bare call."""
    chosen = {"DECISION_PROVIDER": "fixed", "DECISION_LOG": log, **kept}
    held = Gateway.from_env(chosen, plugins=[Fixed()], observers=[_forget])
    decided = held.point("TEAM", QUESTION)(route)
    decided_async = held.point("TEAM_ASYNC", QUESTION)(route_async)
    loop = asyncio.new_event_loop()
    for known in (False, bool(kept)):
        given = held.decide_sync(decided, "my invoice")
        given_async = loop.run_until_complete(held.decide(decided_async, "my invoice"))
        assert given.provider == given_async.provider == "fixed"
        assert given.attempts[0].cached == given_async.attempts[0].cached == known
    sync = added(
        lambda: cpu(lambda: route("my invoice"), 500),
        lambda: cpu(lambda: decided("my invoice"), 500),
        rounds,
    )
    asynchronous = added(
        lambda: loop.run_until_complete(cpu_async(lambda: route_async("my invoice"), 500)),
        lambda: loop.run_until_complete(cpu_async(lambda: decided_async("my invoice"), 500)),
        rounds,
    )
    loop.close()
    return sync, asynchronous


def told(
    what: str, bars: tuple[float, float], *, rounds: int, **kept: str
) -> list[tuple[str, float, float]]:
    """Rows without a log, and with an event for each decision, written where nobody reads it."""
    rows: list[tuple[str, float, float]] = []
    for log, name, bar in (("off", what, bars[0]), ("json", f"{what} + event", bars[1])):
        with open(os.devnull, "w", encoding="utf-8") as void, contextlib.redirect_stderr(void):  # noqa: PTH123
            sync, asynchronous = in_process(log, rounds=rounds, **kept)
        rows += [(f"{name}, sync", sync, bar), (f"{name}, async", asynchronous, bar)]
    return rows


def own_cpu(run: Callable[[], object], times: int) -> float:
    """CPU microseconds of one run on the thread that decides: the journal writes on its own."""
    begun = time.thread_time_ns()
    for _ in range(times):
        run()
    return (time.thread_time_ns() - begun) / 1000 / times


def recording(*, rounds: int) -> float:
    """What a journal adds to an in-process decision, on the thread that decides."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = {"DECISION_PROVIDER": "fixed", "DECISION_LOG": "off"}
        bare = Gateway.from_env(chosen, plugins=[Fixed()], observers=[_forget])
        kept = Gateway.from_env(
            {**chosen, "DECISION_JOURNAL": f"sqlite:///{folder}/journal.db"},
            plugins=[Fixed()],
            observers=[_forget],
        )
        without, within = bare.point("TEAM", QUESTION)(route), kept.point("TEAM", QUESTION)(route)
        cost = added(
            lambda: own_cpu(lambda: without("my invoice"), 500),
            lambda: own_cpu(lambda: within("my invoice"), 500),
            rounds,
        )
        kept.close()
    return cost


def _forget(record: Record) -> None:
    """Take a record as a recorder does, and keep nothing, so that a long run does not grow."""


class Waiting:
    """As `Fixed`, of the shape that waits: a sync caller reaches it over the bridge."""

    name = "waiting"
    limits = Limits()

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """Give the one reply."""
        return Fixed.reply

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        """Offer it."""
        return [Offer("waiting", lambda: lambda _: Waiting())]


def bridged(*, rounds: int) -> dict[str, float]:
    """What the bridge adds for sync callers: beside the same decision by a provider in-process."""
    direct, over = _decided_by("fixed"), _decided_by("waiting")
    loop = asyncio.new_event_loop()

    async def on_a_loop(decided: Callable[[str], str]) -> float:
        return cpu(lambda: decided("my invoice"), 500)

    async def beside_a_loop(decided: Callable[[str], str]) -> float:
        return await asyncio.to_thread(cpu, lambda: decided("my invoice"), 500)

    costs = {
        "on a thread": added(
            lambda: cpu(lambda: direct("my invoice"), 500),
            lambda: cpu(lambda: over("my invoice"), 500),
            rounds,
        )
    }
    for where, run in (("on a loop", on_a_loop), ("in to_thread", beside_a_loop)):
        costs[where] = added(
            lambda run=run: loop.run_until_complete(run(direct)),  # type: ignore[misc]
            lambda run=run: loop.run_until_complete(run(over)),  # type: ignore[misc]
            rounds,
        )
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    return costs


def _decided_by(provider: str) -> Callable[[str], str]:
    chosen = {"DECISION_PROVIDER": provider, "DECISION_LOG": "off"}
    held = Gateway.from_env(chosen, plugins=[Fixed(), Waiting()], observers=[_forget])
    decided = held.point("TEAM", QUESTION)(route)
    assert held.decide_sync(decided, "my invoice").provider == provider
    return decided


def zero_touch(*, rounds: int) -> tuple[float, float]:
    held = gateway()
    decided = held.point("TEAM", QUESTION)(route)
    decided_async = held.point("TEAM_ASYNC", QUESTION)(route_async)
    loop = asyncio.new_event_loop()
    sync = added(
        lambda: cpu(lambda: route("my invoice"), 5000),
        lambda: cpu(lambda: decided("my invoice"), 5000),
        rounds,
    )
    asynchronous = added(
        lambda: loop.run_until_complete(cpu_async(lambda: route_async("my invoice"), 5000)),
        lambda: loop.run_until_complete(cpu_async(lambda: decided_async("my invoice"), 5000)),
        rounds,
    )
    loop.close()
    return sync, asynchronous


def over_http(*, rounds: int) -> tuple[float, float]:
    """Sync and async, `jev` beside the bare client, at the same local server."""
    import httpx

    with served() as base:
        held = gateway(**variables(base))
        decided = held.point("TEAM", QUESTION)(route)
        decided_async = held.point("TEAM_ASYNC", QUESTION)(route_async)
        given = request(base)
        with httpx.Client() as client:
            sync = added(
                lambda: cpu(lambda: client.post(**given).json(), 200),
                lambda: cpu(lambda: decided("my invoice"), 200),
                rounds,
            )

        async def asynchronous() -> float:
            async with httpx.AsyncClient() as client:
                return await added_async(
                    lambda: cpu_async(lambda: client.post(**given), 200),
                    lambda: cpu_async(lambda: decided_async("my invoice"), 200),
                    rounds,
                )

        both = sync, asyncio.run(asynchronous())
        assert held.decide_sync(decided, "my invoice").provider == "jev"
        held.close()
    return both


def import_ratio(*, rounds: int) -> tuple[float, list[str]]:
    """CPU time of `import pointsman` beside `import pydantic_settings`, and what it pulls in."""
    _import("pointsman")  # writes the bytecode that an installed package has
    ratios = [_import("pointsman") / _import("pydantic_settings") for _ in range(rounds)]
    code = (
        "import sys, pydantic_settings; before = set(sys.modules); import pointsman; "
        "print(' '.join(sorted({m.partition('.')[0] for m in set(sys.modules) - before})))"
    )
    return statistics.median(ratios), _python(code).split()


def _import(module: str) -> float:
    code = f"import time; b = time.process_time(); import {module}; print(time.process_time() - b)"
    return float(_python(code))


def _python(code: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=kept).stdout


def shown(title: str, rows: list[tuple[str, float, float]]) -> bool:
    """Print a table of costs and bars, and tell whether any bar is missed."""
    print(f"{title:44}{'':>8}{'bar':>8}")
    for name, cost, bar in rows:
        print(f"{name:44}{cost:8.2f}{bar:8g}   {'MET' if cost <= bar else 'MISSED'}")
    return any(cost > bar for _, cost, bar in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    rows: list[tuple[str, float, float]] = []
    sync, asynchronous = zero_touch(rounds=rounds)
    rows += [("current path, sync", sync, 5.0), ("current path, async", asynchronous, 5.0)]
    rows += told("in-process", (15.0, 30.0), rounds=rounds)
    rows += told("cached", (20.0, 20.0), rounds=rounds, **KEPT)
    sync, asynchronous = over_http(rounds=rounds)
    rows += [("over HTTP, sync", sync, 80.0), ("over HTTP, async", asynchronous, 80.0)]
    rows.append(("a journal, on the decision's thread", recording(rounds=rounds), 10.0))
    across = bridged(rounds=rounds)
    rows += [(f"bridge to async, {where}", cost, 120.0) for where, cost in across.items()]
    ratio, pulled = import_ratio(rounds=min(rounds, 11))
    rows.append(("import / pydantic-settings", ratio, 1.3))
    missed = shown("CPU µs added", rows)
    print(f"import pulls in: {' '.join(pulled)}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
