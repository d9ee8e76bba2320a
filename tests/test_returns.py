"""An answer is written into the function's own return type, and read back out of it."""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NewType, Optional, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import Choice, Predicate, Score
from pointsman.gateway.questions import Question
from pointsman.gateway.returns import CannotHold, reader, return_hint, writer

if TYPE_CHECKING:
    from collections.abc import Awaitable

    OnlyForCheckers = str

TEAM = Choice("Which team?", ["billing", "tech"])
DOUBT = Choice("Confirmed?", ["yes", "no"])
SURE = Predicate("Is it so?")
MOOD = Score("How?", low=0, high=10)
TeamId = NewType("TeamId", str)


class Team(enum.Enum):
    """Named like the options."""

    billing = 1
    tech = 2


class Desk(enum.StrEnum):
    """Valued like the options."""

    FINANCE = "billing"
    ENGINEERS = "tech"


class Half(enum.Enum):
    """Holds one option only."""

    billing = 1


HELD: Mapping[str, tuple[Any, Any, Any, Any]] = {
    "str": (str, TEAM, "tech", "tech"),
    "no annotation": (Any, TEAM, "tech", "tech"),
    "object": (object, SURE, True, True),
    "Enum by name": (Team, TEAM, "tech", Team.tech),
    "Enum by value": (Desk, TEAM, "tech", Desk.ENGINEERS),
    "Literal": (Literal["billing", "tech"], TEAM, "tech", "tech"),
    "wider Literal": (Literal["billing", "tech", "sales"], TEAM, "tech", "tech"),
    "bool for yes and no": (bool, DOUBT, "yes", True),
    "bool": (bool, SURE, False, False),
    "float": (float, MOOD, 7.4, 7.4),
    "int": (int, MOOD, 7.4, 7),
    "Optional": (Optional[str], TEAM, "tech", "tech"),  # noqa: UP045 - as hosts write it
    "Union with None": (Union[Team, None], TEAM, "tech", Team.tech),  # noqa: UP007 - the same
    "str | None": (str | None, TEAM, "tech", "tech"),
    "bool | None": (bool | None, SURE, True, True),
    "Annotated": (Annotated[str, "team"], TEAM, "tech", "tech"),
    "Annotated Optional": (Annotated[Desk | None, 1], TEAM, "billing", Desk.FINANCE),
    "NewType": (TeamId, TEAM, "tech", "tech"),
}


@pytest.mark.parametrize(("hint", "question", "outcome", "value"), HELD.values(), ids=HELD)
def test_a_type_holds_what_the_question_may_answer(
    hint: Any, question: Any, outcome: Any, value: Any
) -> None:
    written = writer(hint, {"q": question})(outcome)

    assert written == value
    assert type(written) is type(value)


READ = {name: row[1:] for name, row in HELD.items() if name != "int"}  # 7 is not 7.4


@pytest.mark.parametrize(("question", "outcome", "value"), READ.values(), ids=READ)
def test_what_was_written_is_read_back(question: Any, outcome: Any, value: Any) -> None:
    """Records keep the point's vocabulary, whatever type the host has."""
    assert reader({"q": question})(value) == outcome


CANNOT: Mapping[str, tuple[Any, Any, str]] = {
    "int for a choice": (int, TEAM, "int cannot hold the option 'billing'"),
    "a narrow Enum": (Half, TEAM, "Half cannot hold the option 'tech'"),
    "a narrow Literal": (Literal["tech"], TEAM, "cannot hold the option 'billing'"),
    "bool for teams": (bool, TEAM, "bool cannot hold the option 'billing'"),
    "nothing": (None, TEAM, "cannot hold"),
    "a list": (list[str], TEAM, "cannot hold the option"),
    "two types": (str | int, TEAM, "cannot hold the option"),
    "str for a truth": (str, SURE, "str cannot hold the answer to a Predicate"),
    "int for a truth": (int, SURE, "int cannot hold the answer to a Predicate"),
    "str for a score": (str, MOOD, "str cannot hold the answer to a Score"),
    "bool for a score": (bool, MOOD, "bool cannot hold the answer to a Score"),
}


@pytest.mark.parametrize(("hint", "question", "why"), CANNOT.values(), ids=CANNOT)
def test_a_type_that_cannot_hold_an_answer_says_why(hint: Any, question: Any, why: str) -> None:
    """It is said in `check`, before a decision is lost."""
    with pytest.raises(CannotHold) as caught:
        writer(hint, {"q": question})

    assert why in str(caught.value)


class Unhashable(enum.Enum):
    """Named like one option, and valued by what has no hash."""

    billing = ["b"]  # noqa: RUF012 - that is the case
    tech = ["t"]  # noqa: RUF012


class Other(enum.Enum):
    """Named like none."""

    sales = ["s"]  # noqa: RUF012


def test_an_enum_of_values_without_a_hash_is_held_by_its_names() -> None:
    assert writer(Unhashable, {"q": TEAM})("tech") is Unhashable.tech
    with pytest.raises(CannotHold, match="billing"):
        writer(Other, {"q": TEAM})


def test_several_answers_are_a_mapping() -> None:
    several: Mapping[str, Question] = {"team": TEAM, "sure": SURE}
    outcome = {"team": "tech", "sure": True}

    for hint in (dict[str, Any], dict, Mapping[str, Any], Any, dict[str, Any] | None):
        assert writer(hint, several)(outcome) == outcome
    with pytest.raises(CannotHold, match="str cannot hold several answers"):
        writer(str, several)
    assert reader(several)(outcome) == outcome
    assert reader(several)({"team": Desk.FINANCE}) == {"team": "billing", "sure": None}
    assert reader(several)("tech") is None


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (TEAM, "sales"),
        (TEAM, None),
        (TEAM, 1),
        (TEAM, True),
        (TEAM, Half),
        (SURE, "true"),
        (SURE, 1),
        (SURE, None),
        (MOOD, True),
        (MOOD, "7"),
        (MOOD, None),
    ],
)
def test_what_is_no_word_of_the_point_is_read_as_nothing(question: Any, value: Any) -> None:
    """The host's value is never bent into an answer it did not give."""
    assert reader({"q": question})(value) is None


@pytest.mark.parametrize(
    ("option", "truth"),
    [("true", True), ("false", False), ("yes", True), ("no", False), ("sim", True), ("não", False)],
)
def test_yes_and_no_are_truths_in_both_languages(option: str, truth: bool) -> None:  # noqa: FBT001
    question = Choice("?", [option, "no" if truth else "yes"])

    assert writer(bool, {"q": question})(option) is truth
    assert reader({"q": question})(truth) == option


@given(score=st.floats(0, 10))
@settings(derandomize=True, deadline=None)
def test_numbers_keep_their_value_and_integers_their_nearest(score: float) -> None:
    assert writer(float, {"q": MOOD})(score) == score
    assert abs(writer(int, {"q": MOOD})(score) - score) <= 0.5


# --- annotations -------------------------------------------------------------------------


def plain() -> Team:
    return Team.tech


async def coloured() -> Team:
    return Team.tech


def late() -> Coroutine[Any, Any, Team]:
    return coloured()


def bare():  # type: ignore[no-untyped-def]  # noqa: ANN201 - that is the case
    return Team.tech


def unknown() -> OnlyForCheckers:
    return "tech"


def unknown_argument(message: OnlyForCheckers) -> Team:
    return Team[message]


def guarded() -> Awaitable[Team]:
    return coloured()


@pytest.mark.parametrize(
    ("function", "hint"),
    [(plain, Team), (coloured, Team), (late, Team), (bare, Any), (unknown_argument, Team)],
)
def test_only_the_return_annotation_is_resolved(function: Callable[..., Any], hint: Any) -> None:
    """Arguments may name what they like; an awaitable is looked through."""
    assert return_hint(function) is hint


@pytest.mark.parametrize("function", [unknown, guarded])
def test_an_annotation_that_exists_only_for_type_checkers_says_so(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(CannotHold, match="cannot be resolved"):
        return_hint(function)


def test_a_callable_without_annotations_may_return_anything() -> None:
    assert return_hint(types.SimpleNamespace()) is Any  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "read"), [("Tech", "tech"), (" BILLING ", "billing"), ("x", None)]
)
def test_a_word_is_read_in_whatever_letters(said: str, read: str | None) -> None:
    question = Choice("Which team?", ["billing", "tech"])
    assert reader({"team": question})(said) == read


def test_words_that_only_letters_tell_apart_are_read_exactly() -> None:
    read = reader({"team": Choice("Which team?", ["IT", "it"])})
    assert [read(one) for one in ("IT", "it", "It")] == ["IT", "it", None]
