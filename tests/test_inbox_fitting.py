"""What a person says is an answer to what was asked, or nothing is written."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman import Choice, DeclarationError, Predicate, Score, When
from pointsman.gateway.inbox.fitting import answers, fitting, spoken
from pointsman.gateway.kinds import Question

NAMES = st.text("abcxyz=, é", min_size=1, max_size=6).filter(lambda one: one.strip() == one)
CHOICES = st.lists(NAMES, min_size=2, max_size=5, unique=True).map(
    lambda one: Choice("Which?", one)
)
PREDICATES = st.booleans().map(lambda one: Predicate("Is it?", advisory=one))
SCORES = st.one_of(
    st.lists(NAMES, min_size=2, max_size=5, unique=True).map(lambda one: Score("How?", one)),
    st.integers(-5, 5).map(lambda low: Score("How?", low=low, high=low + 7)),
)
QUESTIONS = st.one_of(CHOICES, PREDICATES, SCORES)
ASKED = st.lists(QUESTIONS, min_size=1, max_size=4).map(
    lambda each: {f"q{n}": one for n, one in enumerate(each)}
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def answer_to(question: Question) -> st.SearchStrategy[Any]:
    if isinstance(question, Choice):
        return st.sampled_from(list(question.options))
    if isinstance(question, Predicate):
        return st.booleans()
    return st.floats(question.low, question.high)


@st.composite
def answered(draw: st.DrawFn) -> tuple[dict[str, Question], dict[str, Any]]:
    asked = draw(ASKED)
    return asked, {name: draw(answer_to(question)) for name, question in asked.items()}


def outcome(said: Mapping[str, Any]) -> Any:
    return dict(said) if len(said) > 1 else next(iter(said.values()))


@given(answered())
def test_whatever_can_be_answered_can_be_said(case: tuple[dict[str, Question], Any]) -> None:
    """In the shape of an outcome; said once more it is the same."""
    asked, said = case
    found = fitting(asked, said)

    assert found == outcome(said)
    assert fitting(asked, found) == found


@given(answered())
def test_what_can_be_said_can_be_typed(case: tuple[dict[str, Question], Any]) -> None:
    asked, said = case

    def typed(one: Any) -> str:
        return {True: "true", False: "false"}[one] if isinstance(one, bool) else str(one)

    words = [f"{name}={typed(one)}" for name, one in said.items()]
    if len(asked) == 1:
        words = [typed(said["q0"])]

    found = spoken(asked, words)

    assert found == fitting(asked, {name: _as_typed(asked[name], said[name]) for name in said})


def _as_typed(question: Question, one: Any) -> Any:
    """A number that is written as a level's label means that level."""
    return str(one) if isinstance(question, Score) and str(one) in question.levels else one


@given(ASKED, ANYTHING)
def test_whatever_else_is_said_is_refused_in_words(asked: dict[str, Question], said: Any) -> None:
    """One of the declared answers comes out, or `DeclarationError`; never another error."""
    try:
        found = fitting(asked, said)
    except DeclarationError:
        return
    whole: Mapping[str, Any] = found if isinstance(found, Mapping) else {"q0": found}
    assert whole.keys() == asked.keys()
    for name, one in whole.items():
        assert _declared(asked[name], one)


def _declared(question: Question, one: Any) -> bool:
    if one is None:
        return question.advisory
    if isinstance(question, Choice):
        return one in question.options
    if isinstance(question, Predicate):
        return isinstance(one, bool)
    return isinstance(one, float) and question.low <= one <= question.high


TEAM = Choice("Which team?", ["billing", "tech"])
MAY = Predicate("May it run?")
RISK = Score("How risky?", ["low", "medium", "high"], low=0, high=10)


class Desk(enum.Enum):
    BILLING = "billing"


@pytest.mark.parametrize(
    ("question", "words", "value"),
    [
        (TEAM, "billing", "billing"),
        (MAY, "true", True),
        (MAY, "YES", True),
        (MAY, "no", False),
        (RISK, "medium", 5.0),
        (RISK, "2.5", 2.5),
        (RISK, "10", 10.0),
    ],
)
def test_words_are_read_as_their_question_is_meant(
    question: Question, words: str, value: object
) -> None:
    assert spoken({"q": question}, [words]) == value
    assert spoken({"q": question}, [f"q={words}"]) == value
    assert spoken({"q": question, "why": Predicate("?", advisory=True)}, [words]) == {
        "q": value,
        "why": None,
    }


@pytest.mark.parametrize(
    ("question", "words", "why"),
    [
        (TEAM, "biling", "did you mean 'billing'"),
        (TEAM, "", "one of 'billing', 'tech'"),
        (MAY, "maybe", "true or false"),
        (MAY, "1", "true or false"),
        (RISK, "11", "from 0 to 10"),
        (RISK, "nan", "from 0 to 10"),
        (RISK, "hgih", "did you mean 'high'"),
    ],
)
def test_what_is_no_answer_is_told_with_what_would_be(
    question: Question, words: str, why: str
) -> None:
    with pytest.raises(DeclarationError, match=why):
        spoken({"q": question}, [words])


def test_an_answer_may_hold_the_sign_that_parts_names_from_values() -> None:
    asked = {"q": Choice("Which?", ["q=a", "a"])}

    assert spoken(asked, ["q=a"]) == "q=a"
    assert spoken(asked, ["q=q=a"]) == "q=a"
    assert spoken(asked, ["a"]) == "a"


def test_values_of_a_program_are_read_as_outcomes_are() -> None:
    assert fitting({"q": TEAM}, Desk.BILLING) == "billing"
    assert fitting({"q": RISK}, 3) == 3.0
    for wrong in (True, math.inf, math.nan, 10**400, "3", b"x", object(), {1: 2}, [3]):
        with pytest.raises(DeclarationError):
            fitting({"q": RISK}, wrong)


SHIFT: dict[str, Question] = {
    "kind": Choice("What?", ["STAY", "MOVE"]),
    "to": Choice("Where?", ["a", "b"], when=When("kind", ("MOVE",))),
    "sure": Predicate("Sure?", advisory=True),
}


def test_what_counts_only_under_another_answer_is_asked_for_only_there() -> None:
    assert spoken(SHIFT, ["kind=STAY"]) == {"kind": "STAY", "to": None, "sure": None}
    assert spoken(SHIFT, ["kind=MOVE", "to=a"]) == {"kind": "MOVE", "to": "a", "sure": None}
    with pytest.raises(DeclarationError, match="'to' needs an answer"):
        spoken(SHIFT, ["kind=MOVE"])
    with pytest.raises(DeclarationError, match="leave it out"):
        spoken(SHIFT, ["kind=STAY", "to=a"])


def test_several_are_answered_by_name() -> None:
    with pytest.raises(DeclarationError, match="kind=… to=… sure=…"):
        spoken(SHIFT, ["MOVE", "a"])
    with pytest.raises(DeclarationError, match="by name"):
        fitting(SHIFT, "MOVE")
    with pytest.raises(DeclarationError, match="'kid' was not asked"):
        spoken(SHIFT, ["kid=MOVE"])


def test_every_kind_says_what_would_be_an_answer() -> None:
    assert answers(MAY) == "true or false"
    assert answers(RISK) == "a number from 0 to 10, or 'low', 'medium', 'high'"
    many = Choice("Which?", [f"o{n}" for n in range(40)])
    assert answers(many).endswith("… (40 in all)")
