"""Ten thousand decisions at once against a server of its own process, one in ten faulty."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

import faulty
from faulty import ASK, Server, drops, replies, waits
from pointsman import Gateway, Reason
from pointsman.gateway.http import MAX_CONNECTIONS

DECISIONS = 10_000
FAULTS = 0.1
AGAIN = 1_000  # decisions of the waves whose memory is compared
GROWTH = AGAIN  # blocks that one may leave behind: a record kept by mistake is a dozen


@pytest.fixture
def far() -> Iterator[str]:
    """A server in another process, so that it does not compete for our loop."""
    here = Path(faulty.__file__)
    command = [sys.executable, str(here), str(FAULTS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.terminate()


def counts(url: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url}/counts") as response:  # noqa: S310 - our own server
        return cast("dict[str, int]", json.load(response))


@pytest.mark.slow
@pytest.mark.timeout(400)  # twenty seconds on two idle cores
def test_ten_thousand_at_once(far: str, gateway_of: Callable[..., Gateway]) -> None:
    """All resolve; no task is left, connections stay bounded, a further wave costs no memory."""
    environ = {
        "DECISION_PROVIDER": "jev",
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": f"{far}/v1",
        "JEV_TIMEOUT_SECONDS": "1000",
    }
    gateway = gateway_of(environ)

    async def one() -> tuple[str, Reason]:
        decision = await gateway.ask("TEAM", ASK, current=lambda: "billing")
        return decision.provider, decision.record.reason

    async def wave(size: int) -> Counter[tuple[str, Reason]]:
        ended = Counter(await asyncio.gather(*[one() for _ in range(size)]))
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return ended

    async def held_after(size: int) -> int:
        await wave(size)
        gc.collect()
        return sys.getallocatedblocks()

    async def main() -> tuple[Counter[tuple[str, Reason]], int]:
        ended = await wave(DECISIONS)
        held = [await held_after(AGAIN) for _ in range(4)]
        # what is lost with each decision is lost in every wave; a connection opened anew is not
        return ended, min(after - before for before, after in pairwise(held))

    ended, growth = asyncio.run(main())

    assert ended.total() == DECISIONS
    assert ended["jev", Reason.OK] > 0.8 * DECISIONS
    assert all((who == "jev") is (why is Reason.OK) for who, why in ended)
    assert {who for who, _ in ended} == {"jev", "current"}
    assert counts(far)["most"] <= MAX_CONNECTIONS + 1  # one asks for the counts
    assert growth < GROWTH


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_crowd_of_our_own_is_no_failure_of_the_provider(
    server: Server, gateway_of: Callable[..., Gateway], colour: str
) -> None:
    """Who waits for a connection until the time is up was never sent: `skipped`."""
    environ = {
        "DECISION_PROVIDER": "jev",
        "DECISION_HURRIED_DEADLINE_SECONDS": "0.4",
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": server.url,
        "JEV_TIMEOUT_SECONDS": "1000",
    }
    gateway = gateway_of(environ)
    server.does(waits(replies()))

    async def one(point: str) -> Reason:
        if colour == "async":
            return (await gateway.ask(point, ASK, current=lambda: "billing")).record.reason
        asked = asyncio.to_thread(gateway.ask_sync, point, ASK, current=lambda: "billing")
        return (await asked).record.reason

    async def main() -> tuple[Counter[Reason], Counter[Reason]]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MAX_CONNECTIONS + 21))
        patient = [asyncio.create_task(one("PATIENT")) for _ in range(MAX_CONNECTIONS)]
        await server.reached(MAX_CONNECTIONS)
        hurried = await asyncio.gather(*[one("HURRIED") for _ in range(20)])
        server.let_go()
        return Counter(hurried), Counter(await asyncio.gather(*patient))

    hurried, patient = asyncio.run(main())

    assert hurried == {Reason.SKIPPED: 20}
    assert patient == {Reason.OK: MAX_CONNECTIONS}
    assert len(server.seen) == MAX_CONNECTIONS


def test_connections_stay_bounded_for_threads(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """The sync client has the same bound; further threads wait for a connection."""
    gateway = gateway_of(
        {"DECISION_PROVIDER": "jev", "AI_GATEWAY_API_KEY": "key", "JEV_BASE_URL": server.url}
    )

    async def main() -> list[Any]:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(150))
        asks = [
            asyncio.to_thread(gateway.ask_sync, "TEAM", ASK, current=lambda: "billing")
            for _ in range(300)
        ]
        return [one.provider for one in await asyncio.gather(*asks)]

    assert asyncio.run(main()) == ["jev"] * 300
    assert server.most <= MAX_CONNECTIONS


def test_one_waits_for_no_other(server: Server, gateway_of: Callable[..., Gateway]) -> None:
    """A hundred decisions that fail take nothing from the hundred beside them."""
    environ = {
        "DECISION_PROVIDER": "jev",
        "DECISION_OTHER_PROVIDER": "jev/other",
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": f"{server.url}/down",
        "JEV__OTHER__BASE_URL": server.url,
    }
    gateway = gateway_of(environ)
    down, good = drops(), replies()

    async def by_path(visit: faulty.Visit) -> bool:
        return await (down if "down" in visit.seen.path else good)(visit)

    server.does(by_path)

    async def main() -> tuple[set[str], set[str]]:
        failing = [gateway.ask("TEAM", ASK, current=lambda: "billing") for _ in range(100)]
        passing = [gateway.ask("OTHER", ASK, current=lambda: "billing") for _ in range(100)]
        ended = await asyncio.gather(*failing, *passing)
        return {one.provider for one in ended[:100]}, {one.provider for one in ended[100:]}

    assert asyncio.run(main()) == ({"current"}, {"jev/other"})
