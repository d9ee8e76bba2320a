"""The example of a debate, and the benchmark of debates: both run, and say what they found."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman.providers.deliberation.replaying import rerun
from pointsman.providers.deliberation.transcript import read

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.source

WAYS = ("local alone", "a committee of four", "a debate of three")


def run(file: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: said for name, said in os.environ.items() if not name.startswith("DECISION_")}
    return subprocess.run(
        [sys.executable, str(ROOT / file), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=kept,
        timeout=100,
    )


def test_three_claims_are_decided_in_three_ways(tmp_path: Path) -> None:
    """It is offline, and every debate leaves a transcript that can be replayed from itself."""
    if importlib.util.find_spec("numpy") is None:
        pytest.skip("`local`, one of the deciders, needs numpy")
    folder = tmp_path / "said"
    folder.mkdir()
    (folder / "of-another-run.jsonl").touch()
    told = run("examples/debate.py", str(folder))
    assert (told.returncode, told.stderr) == (0, "")
    lines = re.findall(
        r"^    (\w[\w ]*?) {2,}(pay|inspect|refuse) +([\d.]*) +by (\w+)(?:   \((.+)\))?$",
        told.stdout,
        re.MULTILINE,
    )
    assert [one[0] for one in lines] == [*WAYS] * 3
    assert [by for way, _, _, by, _ in lines if "alone" in way].count("local") == 1
    assert all(bool(sure) is not bool(why) for _, _, sure, _, why in lines)
    assert all((by == "current") is bool(why) for _, _, _, by, why in lines)
    debates = [(value, sure, by) for way, value, sure, by, _ in lines if "debate" in way]
    assert debates == [
        ("pay", "0.85", "debate"),
        ("inspect", "0.85", "debate"),
        ("inspect", "", "current"),
    ]
    files = re.findall(r"pointsman debate show (.+)$", told.stdout, re.MULTILINE)
    footers = [read(Path(file))[-1].body["state"] for file in files]
    assert footers == ["EMITTED", "EMITTED", "HUMAN"]  # each below its claim
    assert all(asyncio.run(rerun(Path(file))).same for file in files)


def test_the_benchmark_counts_what_its_server_was_asked() -> None:
    """Every debate of it ends in one of the ways it knows; how long it takes is not judged here."""
    few = ("--debates", "2", "--at-once", "20", "--least", "0.02")
    told = run("benchmarks/deliberation.py", *few)
    assert told.returncode in (0, 1), told.stdout + told.stderr
    assert told.stderr == ""
    assert re.search(r"one debate, median of 2: 12 requests\n", told.stdout), told.stdout
    many = re.search(r"20 at once, on one core: (\d+) requests, \d+ failed", told.stdout)
    assert many is not None
    assert 100 <= int(many[1]) <= 240
    ends = re.search(r"ends: (.+)$", told.stdout, re.MULTILINE)
    assert ends is not None
    found = dict(re.findall(r"(\w+) (\d+)", ends[1]))
    assert found.keys() <= {"ok", "abstained", "low_confidence"}
    assert sum(map(int, found.values())) == 20
