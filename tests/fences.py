"""What pages show, as a reader would take it: Python to run, and what an example changes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DIFF = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page_runs(page: Path, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Run a page's Python from top to bottom in one namespace, and give what it leaves there."""
    namespace: dict[str, Any] = {"__name__": "__main__", **(given or {})}
    for snippet in PYTHON.findall(page.read_text("utf-8")):
        exec(compile(snippet, str(page), "exec"), namespace)  # noqa: S102 - our own documents
    return namespace


def changes(today: Path, switched: Path) -> list[str]:
    """Give the lines that lead from one script to the other, with one line around them."""
    before, after = (one.read_text("utf-8").splitlines() for one in (today, switched))
    return list(difflib.unified_diff(before, after, n=1, lineterm=""))[2:]
