"""What every integration is held to, as far as it can be said once."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from faulty import Server, replies
from fences import ROOT, page_runs
from pointsman import Gateway, Guard, Predicate
from upstream import KEY, WAYS, asked, decides, failing, failing_ways, hosted

__all__ = [
    "KEY",
    "PROMPT",
    "WAYS",
    "asked",
    "decides",
    "example_runs",
    "failing",
    "failing_ways",
    "hosted",
    "page_of",
    "page_runs",
    "ran",
    "telemetry_tells_nothing",
]

PROMPT = "zq7-planted-prompt"  # as the key: a leak, wherever it is found but in a request
SAYS = "zq7-planted-question"


class Ran(NamedTuple):
    """What a script printed."""

    out: str
    err: str


def ran(folder: str, script: str, environ: Mapping[str, str] | None = None) -> Ran:
    """Run `examples/<folder>/<script>` in a process of its own, under *environ* alone."""
    inherited = {name: one for name, one in os.environ.items() if not _steers(name)}
    given = {"DECISION_LOG": "off", "PYTHONIOENCODING": "utf-8", **(environ or {})}
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / folder / script)],
        env={**inherited, **given},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return Ran(run.stdout, run.stderr)


def _steers(name: str) -> bool:
    return name.startswith(("DECISION_", "LOCAL_", "JEV_", "AI_GATEWAY_", "CURRENT_"))


def example_runs(folder: str, script: str, environ: Mapping[str, str] | None = None) -> str:
    """Run an example, and give what it printed to standard output."""
    return ran(folder, script, environ).out


def page_of(name: str) -> Path:
    """Give the page of a framework, by the name it has in `docs/frameworks`."""
    return ROOT / "docs" / "frameworks" / f"{name}.md"


def telemetry_tells_nothing(run: Callable[[Guard, str], Awaitable[object]]) -> None:
    """
    Hold a traced run to frameworks §7: a `decide` span is made, and nothing tells what was said.

    Args:
        run: Lets a guard rule on a text inside of its framework. It is run twice: the provider
            finds no harm in the text, and the provider fails with both planted words in its error.

    """
    from spanning import Seen  # needs OpenTelemetry's SDK, which only these runs do

    echo = replies({"error": {"type": "server_error", "message": f"{KEY} {PROMPT}"}}, 500)
    for does in (decides(said=False), echo):
        seen, log = Seen(Gateway.from_env), io.StringIO()
        with Server() as server, contextlib.redirect_stderr(log):
            server.does(does)
            gateway = seen.gateway({**hosted(server.url, "RAIL"), "DECISION_LOG": "json"})
            with gateway:
                guard = Guard(gateway, "RAIL", Predicate(SAYS), on_undecided="allow")
                asyncio.run(_one_run(run, guard))
            (visit,) = server.seen
        assert PROMPT in visit.body.decode()
        assert KEY in str(visit.headers)
        assert [one.name for one in seen.spans if "decide" in one.name] == ["decide RAIL"]
        assert seen.points("gen_ai.client.operation.duration")
        assert "decision.made" in log.getvalue()
        for planted in (KEY, PROMPT, SAYS):
            assert planted not in seen.written() + log.getvalue()


async def _one_run(run: Callable[[Guard, str], Awaitable[object]], guard: Guard) -> None:
    async with guard.gateway.session("customer-7"):
        await run(guard, PROMPT)
