"""Every public set stands in the map and on the page; what the map names exists."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pointsman import Choice, DecisionPoint
from pointsman.decision_points import pointsman_points
from pointsman.gateway.questions import may_answer

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "points-accuracy.md"

pytestmark = pytest.mark.source


def _map() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    told: Mapping[str, Mapping[str, Mapping[str, Any]]] = json.loads(
        (BENCHMARKS / "points_map.json").read_text("utf-8")
    )
    return told


def _points() -> dict[str, DecisionPoint]:
    return {point.name: point for point in pointsman_points()}


def _entries() -> list[Mapping[str, Any]]:
    return [entry for questions in _map().values() for entry in questions.values()]


def _data() -> Path:
    data = os.environ.get("POINTSMAN_DATA")
    if not data:
        pytest.skip("POINTSMAN_DATA does not name the folder of the test sets")
    return Path(data) / "eval"


def test_every_set_and_question_stands_in_the_map() -> None:
    found: dict[str, set[str]] = {}
    for file in _data().glob("*.jsonl"):
        rows = map(json.loads, file.read_text("utf-8").splitlines())
        found[file.stem] = {row["question"] for row in rows}
    assert {name: set(questions) for name, questions in _map().items()} == found


def test_every_set_stands_in_the_pages_tables() -> None:
    """Once for its own question, once in the map, once more where a point asks it."""
    page = PAGE.read_text("utf-8")
    for name, questions in _map().items():
        asked = sum("asks" in entry for entry in questions.values())
        lines = re.findall(rf"^\| `{name}` \|", page, re.MULTILINE)
        assert len(lines) == 2 * len(questions) + asked, name


def test_the_map_gives_a_reason_for_everything() -> None:
    for entry in _entries():
        known = entry["point"] not in ("no equivalent", "not yet")
        assert entry["why"]
        assert known == (("asks" in entry) != ("unfit" in entry))


def test_what_the_map_asks_is_in_the_catalogue() -> None:
    points = _points()
    for entry in _entries():
        if entry["point"] in ("no equivalent", "not yet"):
            continue
        point = points[entry["point"]]
        if "asks" not in entry:
            continue
        how = entry["asks"]
        assert set(how["state"]) <= {*point.reads, *point.brings}
        question = point.questions["en"][how["question"]]
        for label in how["labels"].values():
            for answer in label if isinstance(label, list) else [label]:
                listed = how["state"].get("allowed_values", [])
                assert may_answer(question, answer)
                assert not isinstance(question, Choice) or not listed or answer in listed


def test_every_label_of_an_asked_set_is_translated() -> None:
    data = _data()
    for name, questions in _map().items():
        for key, entry in questions.items():
            if "asks" not in entry:
                continue
            rows = map(json.loads, (data / f"{name}.jsonl").read_text("utf-8").splitlines())
            golds = {json.dumps(row["gold"]).strip('"') for row in rows if row["question"] == key}
            assert golds <= set(entry["asks"]["labels"])
