"""Feedback: what was found out about a decision, later or elsewhere, by its id alone."""

from __future__ import annotations

import subprocess
import sys
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from faulty import ASK
from pointsman import DeclarationError, Gateway, SetupError, scripted
from pointsman.gateway.journal.rows import FeedbackRow
from pointsman.gateway.journal.store import Store
from trialling import POINT, Kept, offering

PROVIDER = f"DECISION_{POINT}_PROVIDER"


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def decide(gateway: Gateway) -> str:
    """Decide once; give the decision's id."""
    return gateway.ask_sync(POINT, ASK, current=lambda: "billing").record.id


def told(kept: Kept) -> list[tuple[FeedbackRow, ...]]:
    """Give the feedback of each decision, in their order."""
    return [trail.feedback for trail in kept.trails()]


@pytest.mark.parametrize(
    "said",
    [
        {"right": True},
        {"right": False},
        {"label": "tech"},
        {"label": False},
        {"label": 0},
        {"label": {"team": "tech", "angry": None}},
        {"right": False, "label": "tech"},
    ],
)
def test_what_was_found_out_stands_beside_its_decision(said: dict[str, Any], kept: Kept) -> None:
    """Whether it was right, what would have been right, or both; no false label is dropped."""
    with offering({PROVIDER: "nova", **kept.variables}, nova=scripted("tech")) as gateway:
        other, decision = decide(gateway), decide(gateway)
        gateway.feedback(decision, **said)

    by_id = {trail.decision.id: trail.feedback for trail in kept.trails()}
    (row,) = by_id[decision]
    assert by_id[other] == ()
    assert (row.right, row.label) == (said.get("right"), said.get("label"))


def test_without_a_journal_feedback_is_refused() -> None:
    """It would be lost in silence; the fix names the variable."""
    gateway = offering()
    with pytest.raises(SetupError) as caught:
        gateway.feedback("0" * 32, right=True)

    assert [fault.where for fault in caught.value.faults] == ["DECISION_JOURNAL"]


def test_feedback_that_says_nothing_is_refused(kept: Kept) -> None:
    with (
        offering(kept.variables) as gateway,
        pytest.raises(DeclarationError, match=r"`right=`.*`label=`"),
    ):
        gateway.feedback("0" * 32)


class Where(Enum):
    """A host's own type."""

    TECH = "tech"


def test_a_label_may_be_the_host_s_own_enum(kept: Kept) -> None:
    with offering(kept.variables) as gateway:
        gateway.feedback(decide(gateway), label=Where.TECH)  # type: ignore[arg-type]

    assert [one.label for (one,) in told(kept)] == ["tech"]


@pytest.mark.parametrize(
    "said",
    [
        {"label": object()},
        {"label": {"team": object()}},
        {"label": {1: "tech"}},
        {"label": ["tech"]},
        {"label": b"tech"},
        {"label": float("nan")},
        {"label": {"risk": float("inf")}},
        {"right": "yes"},
        {"right": True, "decision": 7},
        {"right": True, "decision": None},
        {"right": True, "decision": ""},
        {"right": True, "decision": "18ecc8b981ea1b1c"},  # as a table shows it
        {"label": "half an emoji \ud83d"},
        {"label": {"team": "a\0b"}},
        {"right": True, "decision": FeedbackRow(id="", of="", at=0.0)},
    ],
)
def test_what_no_row_can_hold_is_refused_at_once(said: dict[str, Any], kept: Kept) -> None:
    """Taken, it would be lost in the background, where nobody could put it right."""
    with offering(kept.variables) as gateway:
        given = {"decision": decide(gateway), **said}
        with pytest.raises(DeclarationError, match="feedback"):
            gateway.feedback(**given)

    assert told(kept) == [()]


def test_of_several_the_latest_counts(kept: Kept) -> None:
    """All are kept, in the order in which they were told."""
    with offering(kept.variables) as gateway:
        decision = decide(gateway)
        for label in ("tech", "none", "billing"):
            gateway.feedback(decision, label=label)

    (rows,) = told(kept)
    assert [one.label for one in rows] == ["tech", "none", "billing"]
    assert len({one.id for one in rows}) == 3


def test_another_process_needs_only_the_id(kept: Kept) -> None:
    """A review tool days later: no state, no point, no provider."""
    with offering(kept.variables) as gateway:
        decision = decide(gateway)
    code = (
        "import sys\nfrom pointsman import Gateway\n"
        'with Gateway.from_env({"DECISION_JOURNAL": sys.argv[1], "DECISION_LOG": "off"}) as one:\n'
        "    one.feedback(sys.argv[2], right=False)\n"
    )

    subprocess.run([sys.executable, "-c", code, kept.url, decision], check=True)

    (rows,) = told(kept)
    assert [(one.of, one.right) for one in rows] == [(decision, False)]


def test_it_may_come_before_its_decision_is_in_the_database(kept: Kept, tmp_path: Path) -> None:
    """A user may correct an answer at once, in another process than the one that decided."""
    (tmp_path / "elsewhere").mkdir()
    elsewhere = Kept(tmp_path / "elsewhere")
    with offering(elsewhere.variables) as gateway:
        decision = decide(gateway)
    with offering(kept.variables) as gateway:
        gateway.feedback(decision, label="tech")
    assert told(kept) == []

    written, late = Store.open(kept.url), Store.open(elsewhere.url)
    written.write(list(late.rows()))
    written.close()
    late.close()

    assert [[one.label for one in rows] for rows in told(kept)] == [["tech"]]


def test_feedback_of_a_decision_that_nobody_kept_is_no_fault(kept: Kept) -> None:
    """Pruned, or of another journal: it stands beside nothing and disturbs nothing."""
    with offering(kept.variables) as gateway:
        gateway.feedback("0" * 32, right=True)
        decide(gateway)

    assert told(kept) == [()]


def test_a_consultation_has_an_id_for_feedback(kept: Kept) -> None:
    """Also where `current` decided, once it was told."""
    with offering(kept.variables) as gateway:
        consultation = gateway.consultation(POINT, ASK)
        consultation.ask_sync()
        consultation.observe("tech")
        gateway.feedback(consultation.id, right=True)

    (trail,) = kept.trails()
    assert (trail.decision.record.outcome, trail.feedback[0].right) == ("tech", True)
