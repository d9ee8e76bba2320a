"""What every integration is held to, as far as it can be said once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from fences import ROOT, page_runs
from upstream import KEY, WAYS, asked, decides, failing, failing_ways, hosted

__all__ = [
    "KEY",
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
]


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
