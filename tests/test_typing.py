"""The API's types: `typing/api.py` is only checked, by two checkers, both strict."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

API = Path(__file__).parent / "typing" / "api.py"
CHECKERS = {
    "mypy": ["--strict", str(API)],
    "pyright": ["--pythonpath", sys.executable, "--project", str(API.parent)],
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_signatures_survive_wrapping_and_wrong_calls_are_rejected(checker: str) -> None:
    """A wrapped function keeps its signature, `decide` is checked against it, `ask` too."""
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed here")

    run = subprocess.run(
        [sys.executable, "-m", checker, *CHECKERS[checker]],
        cwd=API.parent.parent.parent,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
