"""The catalogue and the vectors of the host's own cases, for the tests of both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pointsman.decision_points import Goal, GoalPlan, Parameters, pointsman_points

Vector = dict[str, Any]

VECTORS = Path(__file__).parent / "vectors" / "decision-points.jsonl"
ALL: list[Vector] = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]
NAMED = {f"{vector['point']}-{vector['language']}-{at}": vector for at, vector in enumerate(ALL)}
EVERY = {point.name: point for point in pointsman_points()}
CATALOGUE = {name: point for name, point in EVERY.items() if not point.internal}
"""The points that hosts ask, which the vectors are about; a debate asks the others itself."""

REASON_CODE = "reason_code"  # asked beside the vectors' questions (A24)


def given(vector: Vector) -> dict[str, Any]:
    """The state as a host gives it: the supervisor's registry is not part of what is sent."""
    if vector["point"] != "GLOBAL_SUPERVISOR":
        return {**vector["state"]}
    choices = vector["question"][0]["choices"][:-1]
    registry = [{"id": one["value"], "description": one["description"]} for one in choices]
    return {**vector["state"], "backends": registry}


def expected(vector: Vector) -> dict[str, Any]:
    """The expected answers, as values on the questions' own scales."""
    return {name: _middle(answer) for name, answer in vector["expected"]["answers"].items()}


def _middle(answer: Any) -> Any:
    """The middle of a range of scores; anything else as it is."""
    if not isinstance(answer, dict):
        return answer
    scores = cast("dict[str, Any]", answer)
    return (scores["min"] + scores["max"]) / 2


def line(vector: Vector) -> Mapping[str, Any]:
    """What a provider says that answers as expected, whatever else it is asked."""
    point, language = CATALOGUE[vector["point"]], vector["language"]
    asked = point.ask(given(vector), language).questions
    code = {REASON_CODE: _first(asked[REASON_CODE])} if REASON_CODE in asked else {}
    return {**expected(vector), **code}


def _first(question: Any) -> str:
    return str(next(iter(question.options)))


def extraction(vector: Vector) -> object:
    """What the function of a hybrid point returns for the vector's state; else any value."""
    state = vector["state"]
    if vector["point"] == "MULTI_INTENT":
        return GoalPlan(tuple(Goal(one["source_text"]) for one in state["goals"]), 0.9)
    if vector["point"] == "TRANSACTION_PARAMETER_RECONCILIATION":
        found = {"candidates": state["candidates"], "known": state["known_arguments"]}
        return _parameters(found)
    return object()


def _parameters(found: dict[str, Any]) -> Parameters:
    import msgspec

    return msgspec.convert(found, Parameters)
