"""Two agents disagree about a contract: the page tells what a run of the example tells."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "facts-story.md"
TOLD = re.compile(r"^```text\n# ([^\n]+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.source


@pytest.fixture(scope="module")
def scenes() -> dict[str, str]:
    """Run the example; title → what it told."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "facts" / "story.py")],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, "")
    parts = re.split(r"^# (.+)\n", done.stdout, flags=re.MULTILINE)[1:]
    return {title: told.strip("\n") for title, told in zip(parts[::2], parts[1::2], strict=True)}


def test_the_page_is_what_the_example_tells(scenes: dict[str, str]) -> None:
    """RF-63: the same every time; `python examples/facts/story.py --write` writes it anew."""
    assert dict(TOLD.findall(PAGE.read_text("utf-8"))) == scenes


def test_a_late_message_does_not_stand_above_what_was_signed(scenes: dict[str, str]) -> None:
    """RF-26: whenever it comes."""
    told = scenes["Chat against contract"]

    assert "100" in told.split("\n\n")[1]
    assert "authority" in told


def test_a_renegotiation_follows_and_contradicts_nothing(scenes: dict[str, str]) -> None:
    """RF-31: each price holds in its own time."""
    _, june, july = scenes["A renegotiation"].split("\n\n")

    assert "100" in june
    assert "95" in july
    assert "disputed" not in june + july


def test_two_signed_documents_are_disputed_and_flag_what_rested_on_one(
    scenes: dict[str, str],
) -> None:
    """RF-32, RF-66: nothing is picked."""
    _, term, end = scenes["Two signed documents"].split("\n\n")

    assert "disputed" in term
    assert "contract" in term
    assert "annex" in term
    assert "STALE" in end


def test_a_tie_breaker_leaves_a_receipt_and_the_conclusion_is_drawn_anew(
    scenes: dict[str, str],
) -> None:
    """RF-38, RF-52: an agent chose among what was listed; the flag goes when it is re-derived."""
    receipt, term, stale, _, fresh = scenes["The tie-breaker"].split("\n\n")

    assert "agent" in receipt
    assert "24" in term
    assert "STALE" in stale
    assert "STALE" not in fresh
    assert "2028-01-31" in fresh
