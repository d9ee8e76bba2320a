"""
What debates cost beside what their members take: wall clock, memory, a thousand at once.

python benchmarks/deliberation.py [--debates N] [--at-once N] [--least SECONDS]

Members are chat models on a server of ours, a process of its own, that answers after 200–600 ms.
First one decision after the other, by a committee and by a debate: its wall clock beside the
seconds in which the server was busy for it, which is the critical path, since nothing waits for
anything but an answer; and, so that a busy machine is not taken for a slow debate, the same
requests by a bare HTTP client. Then many debates at once, on one core, with the server on another
and a share of its answers failing: how long they take, how much memory, how they end. Exits 1
when the bar is missed, or a debate is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import os
import resource
import statistics
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import httpx
from chatting import LEAST, chatting
from race.cores import cores

from pointsman import Choice, DecisionPoint, Gateway

BAR = 1.01  # of the critical path
FAULTS = 0.02  # of the answers, where many debate at once
POINT = DecisionPoint(
    name="PAYOUT",
    questions={
        "en": {"decision": Choice("What happens to the claim?", ["pay", "refuse", "inspect"])}
    },
    reads=("claim", "amount"),
)
STATE = {"claim": "A pipe burst while the owner was away.", "amount": 12_000}
STEPS = {  # requests at once, one step after the other
    "committee": (3,),
    "debate": (3, 1, 1, 1, 1, 1, 1, 2, 1),  # positions, rebuttals, refinements, council
}
SEATS = ("claims", "fraud", "customer")
MIB = 2**20


def gateway_of(port: int, provider: str = "debate") -> Gateway:
    """Make a gateway whose *provider* has three chat models of the server at *port*."""
    chats = {
        f"CHAT__{name.upper()}__MODEL": f"seat-{at}" for at, name in enumerate((*SEATS, "council"))
    }
    members = ",".join(f"{name}=chat/{name}" for name in SEATS)
    council = ",".join(f"{seat}=chat/council" for seat in ("critic", "advocate", "synthesizer"))
    return Gateway.from_env(
        {
            **chats,
            "CHAT_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "CHAT_CONFIDENCE": "none",
            "CHAT_MAX_ATTEMPTS": "1",
            "CHAT_MIN_CONFIDENCE": "0",
            "DECISION_PAYOUT_PROVIDER": provider,
            "COMMITTEE_MEMBERS": members,
            "DEBATE_MEMBERS": members,
            "DEBATE_COUNCIL": council,
            "DECISION_LOG": "off",
        }
    )


def told(port: int) -> dict[str, Any]:
    """Ask the server what it did since it was asked last."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/told") as response:
        return json.load(response)  # type: ignore[no-any-return]


async def decided(gateway: Gateway, case: int) -> str:
    """Decide one claim; say how the debate ended."""
    state = {**STATE, "claim": f"{STATE['claim']} Case {case}."}
    decision = await gateway.ask(POINT, state, current=lambda: "inspect")
    return decision.attempts[0].reason.value


async def alone(port: int, provider: str, debates: int) -> list[tuple[float, float, int]]:
    """Decide by *provider*, one after the other: wall clock, critical path, requests."""
    async with gateway_of(port, provider) as gateway:
        await decided(gateway, -1)  # connections are opened, modules are loaded
        measured: list[tuple[float, float, int]] = []
        for case in range(debates):
            await asyncio.to_thread(told, port)
            begun = time.perf_counter()
            await decided(gateway, case)
            wall = time.perf_counter() - begun
            server = await asyncio.to_thread(told, port)
            measured.append((wall, server["busy"], server["requests"]))
    return measured


async def bare(port: int, steps: tuple[int, ...], debates: int) -> list[tuple[float, float, int]]:
    """Send as many requests in the same order by a bare HTTP client: what this machine adds."""
    measured: list[tuple[float, float, int]] = []
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        for case in range(-1, debates):
            await asyncio.to_thread(told, port)
            begun = time.perf_counter()
            for step, at_once in enumerate(steps):
                posts = (client.post("/", content=body(case, step, one)) for one in range(at_once))
                await asyncio.gather(*posts)
            wall = time.perf_counter() - begun
            server = await asyncio.to_thread(told, port)
            measured.append((wall, server["busy"], server["requests"]))
    return measured[1:]  # in the first one connections are opened


def body(case: int, step: int, one: int) -> bytes:
    """Write a request of about the size that a debate's have."""
    fields = {name: {"type": "string"} for name in ("position", "premises", "risks", "timing")}
    form = {"name": "bare", "schema": {"type": "object", "properties": fields}}
    return json.dumps(
        {
            "model": f"seat-{one}",
            "messages": [{"role": "user", "content": f"{case} {step} " + "words " * 600}],
            "response_format": {"type": "json_schema", "json_schema": form},
        }
    ).encode()


async def crowd(port: int, debates: int) -> dict[str, Any]:
    """Hold *debates* at once."""
    async with gateway_of(port) as gateway:
        await decided(gateway, -1)
        await asyncio.to_thread(told, port)
        before, begun, cpu = resident(), time.perf_counter(), time.process_time()
        ends = await asyncio.gather(*(decided(gateway, case) for case in range(debates)))
        wall, spent = time.perf_counter() - begun, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    server = await asyncio.to_thread(told, port)
    return {"wall": wall, "cpu": spent, "grown": peak - before, "ends": ends, **server}


def resident() -> int:
    """Bytes of memory that this process holds."""
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def tell_alone(
    provider: str, measured: list[tuple[float, float, int]], plain: list[tuple[float, float, int]]
) -> bool:
    """Print what one decision takes; whether the bar is met."""
    floor = statistics.median(wall / path for wall, path, _ in plain)
    ratio = statistics.median(wall / path for wall, path, _ in measured)
    wall, path = (statistics.median(one[at] for one in measured) for at in (0, 1))
    requests = statistics.median(one[2] for one in measured)
    print(f"one {provider}, median of {len(measured)}: {requests:.0f} requests")
    print(f"  critical path {1000 * path:8.1f} ms")
    print(f"  wall clock    {1000 * wall:8.1f} ms   x {ratio:.4f}   bar {BAR}")
    print(f"  a bare HTTP client, the same requests   x {floor:.4f}")
    return ratio <= BAR


def tell_crowd(debates: int, found: dict[str, Any]) -> bool:
    """Print what many at once take; whether each of them came to an end that is one."""
    ends: collections.Counter[str] = collections.Counter(found["ends"])
    print(f"{debates} at once, on one core: {found['requests']} requests, {found['faults']} failed")
    print(f"  wall clock {found['wall']:7.1f} s, CPU {found['cpu']:.1f} s")
    each = found["grown"] / debates / 1024
    print(f"  memory at its peak {found['grown'] / MIB:.0f} MiB more, {each:.0f} KiB a debate")
    print(f"  ends: {', '.join(f'{name} {many}' for name, many in ends.most_common())}")
    return sum(ends.values()) == debates and not ends.keys() - {"ok", "abstained", "low_confidence"}


def main() -> int:
    """Run both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--debates", type=int, default=10)
    parser.add_argument("--at-once", type=int, default=1000)
    parser.add_argument("--least", type=float, default=LEAST, help="seconds until an answer")
    given = parser.parse_args()
    on = cores()
    if on.measured is not None:
        os.sched_setaffinity(0, {on.measured})
    met = True
    with chatting(on.load, least=given.least) as port:
        for provider, steps in STEPS.items():
            measured = asyncio.run(alone(port, provider, given.debates))
            plain = asyncio.run(bare(port, steps, given.debates))
            met &= tell_alone(provider, measured, plain)
    with chatting(on.load, FAULTS, given.least) as port:
        whole = tell_crowd(given.at_once, asyncio.run(crowd(port, given.at_once)))
    print("met" if met and whole else "MISSED")
    return 0 if met and whole else 1


if __name__ == "__main__":
    sys.exit(main())
