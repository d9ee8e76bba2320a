"""Questions and asks check themselves at birth."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
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
from pointsman.gateway.questions import Question, Questions

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
    "a state nested too deep": lambda: Ask(_deep(5000), {"q": LEGAL}),
    "questions that are one": lambda: Ask("s", LEGAL),  # type: ignore[arg-type]
    "questions that are texts": lambda: Ask("s", {"a": "b"}),  # type: ignore[dict-item]
    "options that are nothing": lambda: Choice("q", None),  # type: ignore[arg-type]
    "options that are a number": lambda: Choice("q", 5),  # type: ignore[arg-type]
    "options without an order": lambda: Choice("q", {"a", "b"}),
    "options frozen without an order": lambda: Choice("q", frozenset(TWO)),
    "a description that is no text": lambda: Choice("q", {"a": 1, "b": ""}),
    "levels that are a number": lambda: Score("q", 5),  # type: ignore[arg-type]
    "a range of texts": lambda: Score("q", low="0", high="1"),  # type: ignore[arg-type]
    "a meaning that is no text": lambda: Predicate("q", true=5),  # type: ignore[arg-type]
    "when: a bare text": lambda: When("k", "billing"),  # type: ignore[arg-type]
    "when: a bare truth": lambda: When("k", True),  # type: ignore[arg-type]  # noqa: FBT003
    "when: no value": lambda: When("k", ()),
    "when: no option": lambda: _waiting(Choice("q", TWO), "nope"),
    "when: a truth of a choice": lambda: _waiting(Choice("q", TWO), True),  # noqa: FBT003
    "when: a text of a truth": lambda: _waiting(LEGAL, "true"),
    "when: off the scale": lambda: _waiting(Score("q", TWO), 1.5),
}


def _waiting(first: Question, value: Any) -> Ask:
    return Ask("s", {"k": first, "q": Predicate("q", when=When("k", (value,)))})


def _deep(levels: int) -> list[Any]:
    deep: list[Any] = []
    for _ in range(levels):
        deep = [deep]
    return deep


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


class Colour(enum.StrEnum):
    """Valued by texts."""

    RED = "red"
    BLUE = "blue"


class Size(enum.Enum):
    """Valued by numbers."""

    SMALL = 1
    LARGE = 2


class Failing:
    """Stands for a model with a field that cannot be dumped."""

    def model_dump(self, *, mode: str) -> dict[str, str]:
        raise RuntimeError("hunter2" + mode)


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


HALF = "\ud83d"  # of an emoji, cut off by a truncation to so many units


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (f"olá {HALF}", "olá \ufffd"),
        ([{"role": "user", "content": HALF}], '[{"content":"\ufffd","role":"user"}]'),
        ({HALF: (1, None, True, 1.5)}, '{"\ufffd":[1,null,true,1.5]}'),
        (
            {"a": {3: "x", None: "y", True: "z", 2.5: ""}},
            '{"a":{"2.5":"","3":"x","null":"y","true":"z"}}',
        ),
        ({"at": dt.date(2025, 1, 2), "why": HALF}, '{"at":"2025-01-02","why":"\ufffd"}'),
        (Colour.RED, "red"),
    ],
)
def test_what_cannot_be_sent_is_replaced_in_state_and_text(state: Any, text: str) -> None:
    """Half an emoji must not cost a provider its breaker; the fast path stays as it was."""
    ask = Ask(state, {"q": LEGAL})

    assert ask.text == text
    assert ask.text.encode()
    assert type(ask.text) is str
    assert ask.state == (text if isinstance(state, str) else json.loads(text))


def test_a_pair_of_surrogates_is_the_emoji() -> None:
    assert Ask("\ud83d\ude00", {"q": LEGAL}).text == "😀"


def test_half_an_emoji_in_a_question_is_replaced_too() -> None:
    """Menus come with calls."""
    assert Choice(HALF, {HALF: HALF, "b": ""}) == Choice("\ufffd", {"\ufffd": "\ufffd", "b": ""})
    assert Predicate(HALF, HALF) == Predicate("\ufffd", "\ufffd")


OFFENDERS: Mapping[str, tuple[Any, str]] = {
    "complex": ({"messages": [{"extra": 1j}]}, "state.messages[0].extra is of type complex"),
    "an exception": ([ValueError("hunter2")], "state[0] is of type ValueError"),
    "NaN": ({"a": [None, NAN]}, "state.a[1] is nan"),
    "infinity": (INF, "state is inf"),
    "nesting": (_deep(5000), "is nested more than 100 deep"),
    "a key": ({"a": {("hunter2",): 1}}, "a key of state.a is of type tuple"),
    "two keys": ({"a": {1: 1, "1": 2}}, "state.a has two keys that are written alike"),
    "a field with blanks": ({"hunter2 said": 1j}, "state[…] is of type complex"),
    "a model that fails": ({"model": Failing()}, "state.model is of type Failing"),
}


@pytest.mark.parametrize(("state", "told"), OFFENDERS.values(), ids=OFFENDERS)
def test_what_is_no_json_is_found_and_named_but_never_repeated(state: Any, told: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        Ask(state, {"q": LEGAL})

    assert told in str(caught.value)
    assert "`ask=`" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_an_enum_gives_its_options_as_plain_texts() -> None:
    """By value where that is a text, else by name."""
    for options in (Colour, list(Colour), dict.fromkeys(Colour, "")):
        choice = Choice("q", options)
        assert list(choice.options) == ["red", "blue"]
        assert {type(name) for name in choice.options} == {str}
    assert list(Choice("q", Size).options) == ["SMALL", "LARGE"]


def test_a_question_may_wait_for_what_this_call_leaves_out() -> None:
    """The menu of a call need not hold every option that a declaration knows."""
    kind = Choice("q", ["a", "b", "c"])
    waits = Predicate("q", when=When("kind", ("c",)))
    narrowed = Questions({"kind": kind.without(["c"]), "q": waits}, narrowed=True)

    assert Ask("s", narrowed).questions == narrowed


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
