"""What users may rely on is a list, and the list is tested."""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
import types
from typing import Any

import msgspec
import pytest

import pointsman
from pointsman import (
    Answer,
    Ask,
    Attempt,
    Choice,
    Decision,
    DecisionPoint,
    DeclarationError,
    Fault,
    HumanNeeded,
    NoAnswer,
    Predicate,
    Reason,
    Record,
    SetupError,
    Usage,
)

ROOMS = {"gateway", "providers", "decision_points"}
each_name = pytest.mark.parametrize("name", pointsman.__all__)


def test_all_is_sorted_and_complete() -> None:
    public = {name for name in vars(pointsman) if not name.startswith("_")} - ROOMS

    assert pointsman.__all__ == sorted(public)


def test_star_import_gives_the_list() -> None:
    space: dict[str, Any] = {}
    exec("from pointsman import *", space)  # noqa: S102 - what users may write

    assert set(space) - {"__builtins__"} == set(pointsman.__all__)


@each_name
def test_every_name_is_documented(name: str) -> None:
    thing = getattr(pointsman, name)

    assert isinstance(thing, type | types.FunctionType) or callable(thing)
    if name != "hookimpl":  # pluggy's own marker
        assert inspect.getdoc(thing)


def _classes() -> list[type]:
    things = [getattr(pointsman, name) for name in pointsman.__all__]
    return [thing for thing in things if isinstance(thing, type)]


@pytest.mark.parametrize("one", _classes(), ids=lambda one: one.__name__)
def test_every_method_users_meet_is_documented(one: type) -> None:
    own = {
        name: member
        for name, member in inspect.getmembers(one)
        if not name.startswith("_")
        if (inspect.isfunction(member) or inspect.ismethod(member) or isinstance(member, property))
        if (getattr(member, "__module__", None) or "pointsman").startswith("pointsman")
    }

    assert [name for name, member in own.items() if not inspect.getdoc(member)] == []


@pytest.mark.parametrize(
    "one",
    [one for one in _classes() if issubclass(one, msgspec.Struct)],
    ids=lambda one: one.__name__,
)
def test_every_field_users_meet_is_explained(one: type[msgspec.Struct]) -> None:
    """In the docstring's `Attributes`, by name."""
    for field in one.__struct_fields__:
        assert re.search(rf"^\s*{field}: ", one.__doc__ or "", re.MULTILINE), field


@each_name
def test_a_public_name_is_at_home_in_the_package(name: str) -> None:
    """Where a traceback or a pickle finds it."""
    thing = getattr(pointsman, name)
    if name == "hookimpl":
        return

    home = importlib.import_module(thing.__module__)

    assert home.__name__.startswith("pointsman.")
    assert getattr(home, name) is thing


def test_the_package_says_its_version() -> None:
    from importlib.metadata import version

    assert version("pointsman")


ERRORS = [
    NoAnswer(Reason.TIMEOUT),
    NoAnswer(Reason.AUTH, point="ROUTER", attempts=[Attempt(provider="jev", reason=Reason.AUTH)]),
    SetupError(Fault("A", "wrong", "Correct it"), Fault("B", "wrong", "Correct it")),
    DeclarationError("contradicts itself"),
    HumanNeeded("ROUTER", "1", [Attempt(provider="jev", reason=Reason.TIMEOUT)]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling(error: Exception) -> None:
    """Process pools and task queues carry them."""
    again = pickle.loads(pickle.dumps(error))

    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == {**vars(error), "reply": None} if "reply" in vars(error) else True


RECORD = Record(
    id="1",
    at=1.0,
    point="ROUTER",
    variant="jev",
    provider="jev",
    outcome={"a": "b", "c": True, "d": 0.5, "e": None},
    answers={"a": Answer(value="b", confidence=0.9, source="reported", distribution={"b": 1.0})},
    attempts=(Attempt(provider="jev", usage=Usage(1, 2, 0.5), notes={"best_cosine": 0.4}),),
)


def test_records_and_decisions_survive_pickling_and_writing_down() -> None:
    decision = Decision("billing", RECORD)

    assert pickle.loads(pickle.dumps(decision)) == decision
    assert msgspec.json.decode(msgspec.json.encode(RECORD), type=Record) == RECORD
    assert RECORD.schema == 1


def test_points_and_asks_survive_pickling() -> None:
    point = DecisionPoint(name="A", questions={"": {"q": Choice("?", ["a", "b"])}}, safe="a")
    ask = Ask({"a": 1}, {"q": Predicate("?")})

    assert pickle.loads(pickle.dumps(point)) == point
    assert pickle.loads(pickle.dumps(ask)) == ask
    assert hash(Fault("a", "b", "c"))


def test_an_error_of_the_operator_reads_as_what_to_do() -> None:
    one = SetupError.of("JEV_MODEL", "it is wrong", "Correct it")
    two = SetupError(*one.faults, Fault("B", "so is this", "Unset it"))

    assert str(one) == "JEV_MODEL: it is wrong. Correct it"
    assert str(two) == (
        "2 things must be put right:"
        "\n  - JEV_MODEL: it is wrong. Correct it"
        "\n  - B: so is this. Unset it"
    )


def test_an_error_without_fallback_tells_what_was_tried() -> None:
    attempts = [Attempt(provider="jev", reason=Reason.TIMEOUT)]

    assert str(NoAnswer(Reason.TIMEOUT, point="ROUTER", attempts=attempts)) == (
        "ROUTER: no answer that may be believed: jev (timeout)"
    )
    assert str(NoAnswer(Reason.REFUSED)) == "no answer that may be believed: refused"
