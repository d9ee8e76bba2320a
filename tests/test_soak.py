"""The soak of the server, cut short: nothing that a client was told of is lost."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parent.parent / "benchmarks" / "soak.py"
NEEDED = ("sqlalchemy", "alembic", "typer", "starlette", "uvicorn", "prometheus_client")


@pytest.mark.slow
@pytest.mark.source
def test_many_clients_of_several_workers_lose_nothing() -> None:
    """With faults of the provider, requests given up half-way, and an end while rows wait."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")

    run = subprocess.run(
        [sys.executable, str(SOAK), "--clients", "100", "--seconds", "1.5", "--waves", "3"],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"decisions +[1-9][\d,]* told to clients, 0 of them twice", run.stdout)
    assert re.search(r"journal +[1-9][\d,]* records, 0 lost", run.stdout)
