"""The shipped table is the one that was measured: a fifth of two public test sets."""

from __future__ import annotations

import csv
import hashlib
import json
import os
from pathlib import Path

import pytest

from pointsman import Ask, Call, Choice, Chosen, Gateway
from pointsman.providers.local import Local
from pointsman.providers.local.encoders import packaged

VOCABULARY = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
SLACK = 0.04  # a fifth of the rows; the whole sets, and the bars, are the benchmark's


def test_the_vocabulary_is_berts() -> None:
    assert hashlib.sha256(packaged("vocab.txt")).hexdigest() == VOCABULARY


def test_the_notices_travel_with_the_table() -> None:
    notice = packaged("NOTICE.md").decode()
    assert "Apache License 2.0" in notice
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in notice


@pytest.mark.parametrize(
    ("name", "figure"), [("banking77", 0.644), ("clinc150", 0.693), ("snips", 0.823)]
)
def test_it_is_as_often_right_as_measured(name: str, figure: float) -> None:
    data = os.environ.get("POINTSMAN_DATA")
    if not data:
        pytest.skip("POINTSMAN_DATA does not name the folder of the test sets")
    folder = Path(data) / name
    question = Choice("What is wanted?", json.loads((folder / "descriptions.json").read_text()))
    with (folder / "test.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[::5]
    with Gateway.from_env({"DECISION_LOG": "off"}) as gateway:
        local = gateway.provider("local")
        assert isinstance(local, Local)
        right = sum(chosen(local, row["text"], question) == row["label"] for row in rows)
    assert right / len(rows) > figure - SLACK


def chosen(local: Local, text: str, question: Choice) -> str:
    answers = local.answer(Ask(text, {"q": question}), Call(point="BENCH")).answers
    answer = dict(answers)["q"]  # type: ignore[call-overload,unused-ignore]
    assert isinstance(answer, Chosen)
    return answer.option
