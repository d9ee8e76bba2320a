"""Every public set about agreement stands on its page, asked of every decider; and it runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "benchmarks" / "convergence.py"
PAGE = ROOT / "docs" / "convergence-accuracy.md"
SETS = ("convergence_delidata", "convergence_perspectrum")
DECIDERS = 6  # beside the yardstick and the calculator

pytestmark = pytest.mark.source


def _data() -> Path:
    data = os.environ.get("POINTSMAN_DATA")
    if not data:
        pytest.skip("POINTSMAN_DATA does not name the folder of the test sets")
    return Path(data)


def _rows(page: str, name: str) -> list[list[str]]:
    """The cells of one set's table, without its head."""
    part = page.partition(f"### `{name}`")[2].partition("### ")[0]
    lines = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("|")]
    return lines[2:]


def _complete(page: str, name: str) -> None:
    rows = _rows(page, name)
    assert len(rows) == DECIDERS + 2
    assert sum("committee" in row[0] for row in rows) == 3
    assert rows[-1][1] == "not applicable: needs structured positions"
    for row in rows[1:-1]:
        assert re.fullmatch(r"[01]\.\d{3} \([01]\.\d{3}–[01]\.\d{3}\)", row[1])
    assert f"### `{name}`" in page


@pytest.mark.parametrize("name", SETS)
def test_every_set_stands_on_the_page_with_every_decider(name: str) -> None:
    page = PAGE.read_text("utf-8")

    _complete(page, name)


@pytest.mark.parametrize("name", SETS)
def test_the_page_tells_of_all_the_rows_that_there_are(name: str) -> None:
    eval_ = _data() / "eval"
    rows = [json.loads(line) for line in (eval_ / f"{name}.jsonl").read_text("utf-8").splitlines()]
    key = rows[0]["question"]
    question: dict[str, Any] = json.loads((eval_ / "questions.json").read_text("utf-8"))[key]
    test = [row for row in rows if row["split"] == "test"]

    told = f"{len(test)} rows of `test`, {sum(row['gold'] for row in test)} of them true"

    assert f"*{question['instructions']}* {told}" in PAGE.read_text("utf-8")


def test_the_script_measures_what_the_page_shows() -> None:
    """A few rows, with every decider; the committee is really asked."""
    environ = {**os.environ, "POINTSMAN_DATA": str(_data())}
    command = [sys.executable, str(SCRIPT), "--limit", "6"]

    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    for name in SETS:
        _complete(done.stdout, name)
