"""
What the input rails of one turn cost upstream, shared and one by one, side by side in one run.

python benchmarks/turn.py [--rounds N]

Six rails are asked about one message, against a local server that takes 100 ms for every
request. Each round asks in every way, one after the other: one plain call; the six inside a turn,
at once and with `turn.ask`; the six without a turn, at once and in sequence. Medians are compared.
Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import http.server
import json
import multiprocessing
import os
import socket
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from local_api import wait_for

from pointsman import Decision, DecisionPoint, Gateway
from pointsman.decision_points import (
    GUARDRAIL_COER,
    GUARDRAIL_DLEX_IN,
    GUARDRAIL_GUARDRAIL,
    GUARDRAIL_OOS,
    GUARDRAIL_PINJ,
    GUARDRAIL_TOX,
)

RAILS = (
    GUARDRAIL_PINJ,
    GUARDRAIL_COER,
    GUARDRAIL_TOX,
    GUARDRAIL_OOS,
    GUARDRAIL_DLEX_IN,
    GUARDRAIL_GUARDRAIL,
)
LATENCY = 0.1  # seconds that the server takes for a request
CALLS, RATIO = 1, 1.2  # the bars: upstream calls of a turn, its wall time beside one call's
STATE = {
    "text": "why did my invoice double this month?",
    "history": [{"role": "assistant", "content": "Hello, how can I help?"}],
    "stage": "input",
}


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers every question after `LATENCY`, and counts the requests."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one write, or each answer waits for a delayed ACK
    calls: Any  # a number in memory that both processes see

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.calls.get_lock():
            self.calls.value += 1
        time.sleep(LATENCY)
        answers = [
            {"type": "predicate", "name": one["name"], "probability": 0.04}
            for one in request["questions"]
        ]
        usage = {"input_tokens": 200, "output_tokens": 0}
        body = {"answers": answers, "model": "typesafe-ai/jev-1.13.0", "usage": usage}
        content = json.dumps(body).encode()
        self.send_response_only(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()


def _serve(port: int, calls: Any) -> None:
    _Handler.calls = calls
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - for its life
    http.server.ThreadingHTTPServer(("127.0.0.1", port), _Handler).serve_forever()


def served(calls: Any) -> tuple[multiprocessing.Process, str]:
    """Start the server in a process of its own; give its base URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = multiprocessing.Process(target=_serve, args=(port, calls), daemon=True)
    server.start()
    wait_for(port)
    return server, f"http://127.0.0.1:{port}/v1"


class Ways:
    """The ways to ask; each gives the decisions of one message."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def one(self) -> list[Decision[Any]]:
        """Ask one rail: a plain call."""
        return [await self._ask(GUARDRAIL_PINJ)]

    async def shared(self) -> list[Decision[Any]]:
        """Ask all at once inside a turn, as concurrent rails do, without a promise."""
        async with self._gateway.turn(subject="benchmark"):
            return await self.at_once()

    async def promised(self) -> list[Decision[Any]]:
        """Ask all with `turn.ask`."""
        async with self._gateway.turn(subject="benchmark") as turn:
            return [*(await turn.ask(*RAILS, state=STATE)).values()]

    async def at_once(self) -> list[Decision[Any]]:
        """Ask all at once."""
        return [*await asyncio.gather(*map(self._ask, RAILS))]

    async def in_sequence(self) -> list[Decision[Any]]:
        """Ask one after the other."""
        return [await self._ask(rail) for rail in RAILS]

    async def _ask(self, rail: DecisionPoint) -> Decision[Any]:
        return await self._gateway.ask(rail, STATE, current=_silent)


def _silent() -> bool:
    """Stand for the host's own path, which must never be needed here."""
    raise AssertionError("a rail was not decided upstream")


async def timed(way: Callable[[], Awaitable[list[Decision[Any]]]], calls: Any) -> tuple[float, int]:
    """Wall seconds and upstream calls of one message."""
    calls.value = 0
    begun = time.perf_counter()
    decisions = await way()
    seconds = time.perf_counter() - begun
    assert all(decision.provider == "jev" for decision in decisions)
    return seconds, calls.value


async def measured(base: str, calls: Any, rounds: int) -> dict[str, list[tuple[float, int]]]:
    """Ask each way in turn, round by round."""
    variables = {
        "DECISION_LOG": "off",
        "DECISION_PROVIDER": "jev",
        "AI_GATEWAY_API_KEY": "benchmark",
        "JEV_BASE_URL": base,
    }
    async with Gateway.from_env(variables) as gateway:
        ways = Ways(gateway)
        rows = {
            "one plain call": ways.one,
            "six in a turn, at once": ways.shared,
            "six in a turn, turn.ask": ways.promised,
            "six without, at once": ways.at_once,
            "six without, in sequence": ways.in_sequence,
        }
        for way in rows.values():
            await way()  # connections are open from here on
        found: dict[str, list[tuple[float, int]]] = {name: [] for name in rows}
        for _ in range(rounds):
            for name, way in rows.items():
                found[name].append(await timed(way, calls))
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--rounds", type=int, default=15)
    rounds, calls = parser.parse_args().rounds, multiprocessing.Value("i", 0)
    server, base = served(calls)
    try:
        found = asyncio.run(measured(base, calls, rounds))
    finally:
        server.terminate()
        server.join()
    walls = {name: statistics.median(wall for wall, _ in runs) for name, runs in found.items()}
    plain = walls["one plain call"]
    missed = False
    print(f"{'':28}{'calls':>8}{'bar':>6}{'wall ms':>10}{'× one':>8}{'bar':>6}")
    for name, runs in found.items():
        most, ratio = max(count for _, count in runs), walls[name] / plain
        barred = "in a turn" in name
        bars = (f"{CALLS:6}", f"{RATIO:6g}") if barred else (f"{'':6}", "")
        fails = barred and (most > CALLS or ratio > RATIO)
        missed |= fails
        row = f"{name:28}{most:8}{bars[0]}{walls[name] * 1000:10.1f}{ratio:8.2f}{bars[1]}"
        print(f"{row}{'   MISSED' if fails else ''}".rstrip())
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
