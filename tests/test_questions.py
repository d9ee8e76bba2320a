"""Questions and asks check themselves at birth."""

from __future__ import annotations

import decimal
import json
import math
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import Ask, Choice, DeclarationError, PointsmanError, Predicate, Score, When

TWO = ("a", "b")
NAN, INF = math.nan, math.inf
LEGAL = Predicate("Is it so?")

CONTRADICTIONS: Mapping[str, Callable[[], object]] = {
    "no instructions": lambda: Choice("", TWO),
    "blank instructions": lambda: Predicate(" \n"),
    "instructions that are no text": lambda: Score(None, TWO),  # type: ignore[arg-type]
    "no option": lambda: Choice("q", []),
    "one option": lambda: Choice("q", ["a"]),
    "256 options": lambda: Choice("q", [str(one) for one in range(256)]),
    "a text for options": lambda: Choice("q", "ab"),
    "an option twice": lambda: Choice("q", ["a", "b", "a"]),
    "an empty option": lambda: Choice("q", ["a", ""]),
    "a blank option": lambda: Choice("q", ["a", " "]),
    "an option that is no text": lambda: Choice("q", ["a", 1]),  # type: ignore[list-item]
    "a sentinel that is no option": lambda: Choice("q", TWO, "none"),
    "abstains without a sentinel": lambda: Choice("q", TWO, abstains=True),
    "open with 256 options": lambda: Choice("q", [str(one) for one in range(256)], open=True),
    "neither levels nor range": lambda: Score("q"),
    "one level": lambda: Score("q", ["a"]),
    "eleven levels": lambda: Score("q", [str(one) for one in range(11)]),
    "a level twice": lambda: Score("q", ["a", "a"]),
    "a text for levels": lambda: Score("q", "low"),
    "a falling range": lambda: Score("q", low=1, high=0),
    "an empty range": lambda: Score("q", low=1, high=1),
    "an endless range": lambda: Score("q", low=0, high=INF),
    "a range from nowhere": lambda: Score("q", low=-INF, high=0),
    "NaN below": lambda: Score("q", low=NAN, high=1),
    "NaN above": lambda: Score("q", low=0, high=NAN),
    "levels with an endless range": lambda: Score("q", TWO, high=INF),
    "levels under a falling range": lambda: Score("q", TWO, low=5),
    "a range wider than floats": lambda: Score("q", low=-1e308, high=1e308),
    "a range too narrow for six labels": lambda: Score("q", low=1e15, high=1e15 + 1),
    "no question": lambda: Ask("s", {}),
    "a question without a name": lambda: Ask("s", {"": LEGAL}),
    "an open question": lambda: Ask("s", {"q": Choice("q", TWO, open=True)}),
    "a question left with one option": lambda: Ask("s", {"q": Choice("q", TWO).without("a")}),
    "when: nothing of this name": lambda: Ask("s", {"q": Predicate("q", when=When("x", (True,)))}),
    "when: itself": lambda: Ask("s", {"q": Predicate("q", when=When("q", (True,)))}),
    "when: a later question": lambda: Ask(
        "s", {"q": Predicate("q", when=When("r", (True,))), "r": LEGAL}
    ),
    "a state that is no JSON": lambda: Ask({"at": object()}, {"q": LEGAL}),
    "a state that holds itself": lambda: Ask(_endless(), {"q": LEGAL}),
}


def _endless() -> list[object]:
    endless: list[object] = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize("born", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_contradiction_is_never_born(born: Callable[[], object]) -> None:
    """The programmer meets it where it is written, as one kind of error."""
    with pytest.raises(DeclarationError) as caught:
        born()

    assert isinstance(caught.value, PointsmanError)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value)


def test_the_smallest_and_the_largest_are_fine() -> None:
    """2–255 options and 2–10 levels can be asked, bounds included."""
    assert len(Choice("q", TWO).options) == 2
    assert len(Choice("q", [str(one) for one in range(255)]).options) == 255
    assert len(Score("q", TWO).levels) == 2
    assert len(Score("q", [str(one) for one in range(10)]).levels) == 10
    assert Choice("q", ["a"], "a", open=True).open


def test_options_may_be_names_or_a_mapping_and_keep_their_order() -> None:
    assert Choice("q", ["b", "a"]).options == {"b": "", "a": ""}
    assert list(Choice("q", {"b": "B", "a": "A"}).options.items()) == [("b", "B"), ("a", "A")]
    assert Choice("q", (name for name in TWO)) == Choice("q", TWO)


def test_an_open_choice_is_closed_by_the_call_with_its_sentinel_last() -> None:
    """ "None of these" stands at the end, where a reader looks for it."""
    open_one = Choice("q", {"none": "Neither"}, "none", open=True)

    closed = open_one.offering({"a": "A"})

    assert list(closed.options) == ["a", "none"]
    assert not closed.open
    with pytest.raises(DeclarationError, match="reserves"):
        open_one.offering({"none": "mine"})
    with pytest.raises(DeclarationError, match="256 options"):
        open_one.offering({str(one): "" for one in range(255)})


def test_impossible_options_can_be_left_out_but_not_the_sentinel() -> None:
    choice = Choice("q", ["a", "b", "none"], "none")

    assert list(choice.without(["a"]).options) == ["b", "none"]
    with pytest.raises(DeclarationError, match="sentinel"):
        choice.without(["none"])


def test_a_range_is_asked_in_six_even_steps_labelled_by_value() -> None:
    """0–10 in elevens does not fit on the wire."""
    score = Score("q", low=0, high=10)

    assert list(score.levels) == ["0", "2", "4", "6", "8", "10"]
    assert [score.value(index) for index in range(6)] == [0, 2, 4, 6, 8, 10]
    assert list(Score("q", low=100_000, high=100_001).levels)[1] == "100000.2"
    assert next(iter(Score("q", low=-0.5, high=0.5).levels)) == "-0.5"


def test_levels_count_from_zero_unless_a_scale_is_given() -> None:
    assert Score("q", ["low", "mid", "high"]).value(1.5) == 1.5
    assert Score("q", ["low", "mid", "high"], high=1).value(1.5) == 0.75
    assert Score("q", ["low", "mid", "high"], low=10, high=20).value(0) == 10


@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
    levels=st.integers(2, 10),
    share=st.floats(0, 1),
)
@settings(derandomize=True, deadline=None)
def test_value_and_index_are_each_others_inverse(
    low: float, width: float, levels: int, share: float
) -> None:
    score = Score("q", [str(one) for one in range(levels)], low=low, high=low + width)
    index = share * (levels - 1)

    assert score.index(score.value(index)) == pytest.approx(index, abs=1e-5)
    assert score.value(score.index(low + share * width)) == pytest.approx(
        low + share * width, rel=1e-9, abs=1e-6
    )


class Model:
    """Stands for a pydantic model of the host's."""

    def model_dump(self, *, mode: str) -> dict[str, str]:
        assert mode == "json"
        return {"name": "Ada"}


STATES: Mapping[str, tuple[Any, str]] = {
    "text": ("as it ís\n", "as it ís\n"),
    "empty text": ("", ""),
    "nothing": (None, "null"),
    "sorted and without blanks": ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
    "messages": ([{"role": "user", "content": "olá"}], '[{"content":"olá","role":"user"}]'),
    "decimals as text": ({"amount": decimal.Decimal("15.50")}, '{"amount":"15.50"}'),
    "a model": ({"customer": Model()}, '{"customer":{"name":"Ada"}}'),
}


@pytest.mark.parametrize(("state", "text"), STATES.values(), ids=STATES)
def test_a_state_is_sent_as_text_or_as_canonical_json(state: Any, text: str) -> None:
    """One state, one text: caches, digests and records rely on it."""
    assert Ask(state, {"q": LEGAL}).text == text


def test_a_state_is_frozen_at_birth() -> None:
    """What the caller changes afterwards is not seen."""
    state = {"message": "first"}
    ask = Ask(state, {"q": LEGAL})

    state["message"] = "second"

    assert ask.text == '{"message":"first"}'


def test_a_state_that_is_no_json_is_not_repeated_in_the_error() -> None:
    with pytest.raises(DeclarationError) as caught:
        Ask({"secret": "hunter2", "at": object()}, {"q": LEGAL})

    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(state=json_values)
@settings(derandomize=True, deadline=None)
def test_canonical_json_is_one_text_whatever_the_order_of_keys(state: Any) -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(list(value))}
        return [turned(one) for one in value] if isinstance(value, list) else value

    text = Ask(state, {"q": LEGAL}).text

    assert text == Ask(turned(state), {"q": LEGAL}).text
    assert isinstance(state, str) or json.loads(text) == state


QUESTIONS = [
    Choice("q", {"a": "A", "none": ""}, "none", abstains=True, when=When("x", ("y",))),
    Predicate("q", "yes", "no", tie=True, advisory=True),
    Score("q", ["low", "high"], high=10),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_questions_are_frozen_equal_by_value_and_survive_pickling(question: Any) -> None:
    assert pickle.loads(pickle.dumps(question)) == question
    with pytest.raises(AttributeError):
        question.instructions = "another"


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_questions_are_data_that_can_be_written_down(question: Any) -> None:
    """Journals and servers carry them as JSON."""
    read = msgspec.json.decode(msgspec.json.encode(question), type=Choice | Predicate | Score)

    assert read == question
