"""Share frames: what may ride together, what is sent, and how a reply is divided."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import (
    Ask,
    Choice,
    DecisionPoint,
    DeclarationError,
    Held,
    Limits,
    Reason,
    Reply,
    Usage,
    When,
)
from pointsman.gateway.acceptance import accept
from pointsman.gateway.answers import Chosen
from pointsman.gateway.frames import Frame
from pointsman.gateway.gates import Gate
from pointsman.gateway.turns.dividing import Portion, billed, divided
from pointsman.gateway.turns.sharing import Joint, Part, joined
from telling import INPUT, ROUTING, rail, router

ANY = Limits()
GATE = Gate(0.7)
PASSAGES = Frame("retrieval", words="text", lists="passages")


def part(point: DecisionPoint, **state: Any) -> Part:
    return Part(point, point.ask(state))


def one(parts: Sequence[Part], limits: Limits = ANY) -> Joint:
    """The only joint of *parts*."""
    (joint,) = joined(parts, limits)
    assert isinstance(joint, Joint)
    return joint


def sets(parts: Sequence[Part], limits: Limits = ANY) -> list[list[int]]:
    """Which parts ride together."""
    given_ones = joined(parts, limits)
    return [list(each.parts) if isinstance(each, Joint) else [each] for each in given_ones]


# --- what is sent ------------------------------------------------------------------------


def test_words_are_sent_once_and_questions_carry_their_points_name() -> None:
    other = rail("CSI", words="customer", reads=("customer",))

    joint = one([part(rail("TOX"), text="hi", history=["a"]), part(other, customer="hi")])

    assert json.loads(joint.ask.text) == {"text": "hi", "history": ["a"]}
    assert list(joint.ask.questions) == ["TOX.bad", "CSI.bad"]
    assert re.fullmatch("shared:[0-9a-f]{12}", joint.form)


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ({"text": "a"}, {"text": "a"}, True),
        ({"text": "a"}, {"text": "b"}, False),
        ({"text": "a", "history": [1]}, {"text": "a"}, True),
        ({"text": "a", "history": [1]}, {"text": "a", "history": [2]}, False),
        ({"text": "a", "history": [1]}, {"text": "a", "history": [True]}, False),
        ({"text": "a", "history": None}, {"text": "a", "history": None}, True),
    ],
    ids=["equal", "other words", "a field more", "other history", "1 is not true", "both null"],
)
def test_parts_ride_together_where_what_they_share_is_equal(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    together: bool,  # noqa: FBT001
) -> None:
    expected = [[0, 1]] if together else [[0], [1]]

    assert sets([part(rail("A"), **first), part(rail("B"), **second)]) == expected


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ({"id": 1, "kind": "x"}, {"id": 1, "slot": 2}, {"id": 1, "kind": "x", "slot": 2}),
        ({"id": 1}, {"id": 2}, None),
        ({"id": 1}, "a text", None),
    ],
)
def test_a_merged_mapping_goes_key_by_key(first: object, second: object, merged: object) -> None:
    parts = [
        part(router("A"), message="m", transaction=first),
        part(router("B"), message="m", transaction=second),
    ]

    if merged is None:
        assert sets(parts) == [[0], [1]]
    else:
        assert json.loads(one(parts).ask.text) == {"message": "m", "transaction": merged}


def test_what_a_question_waits_for_is_renamed_with_it() -> None:
    questions = {
        "kind": Choice("Which?", ["STAY", "SHIFT"]),
        "to": Choice("Where?", ["a", "b"], when=When("kind", ("SHIFT",))),
    }
    shift = DecisionPoint(
        name="SHIFT",
        questions={"en": questions},
        reads=("message",),
        words="message",
        share=ROUTING,
    )

    joint = one([part(router("ROUTER"), message="m"), part(shift, message="m")])

    assert list(joint.ask.questions) == ["ROUTER.to", "SHIFT.kind", "SHIFT.to"]
    assert joint.ask.questions["SHIFT.to"].when == When("SHIFT.kind", ("SHIFT",))


def test_differing_words_are_listed_and_each_question_says_which_it_is_about() -> None:
    point = rail("RAGSEC", share=PASSAGES)
    parts = [part(point, text=text) for text in ("one", "two", "one")]

    joint = one([*parts[:2], part(point, text="one", history=[])])

    assert json.loads(joint.ask.text) == {"passages": ["one", "two"], "history": []}
    assert {name: asked.instructions for name, asked in joint.ask.questions.items()} == {
        "RAGSEC.bad.0": "passages[0]: Is it RAGSEC?",
        "RAGSEC.bad.1": "passages[1]: Is it RAGSEC?",
        "RAGSEC.bad.2": "passages[0]: Is it RAGSEC?",
    }


def test_equal_words_are_no_list() -> None:
    parts = [part(rail(name, share=PASSAGES), text="one") for name in "AB"]

    joint = one(parts)

    assert json.loads(joint.ask.text) == {"text": "one"}
    assert joint.ask.questions["A.bad"].instructions == "Is it A?"


def test_the_form_is_of_the_question_set_alone() -> None:
    def form(text: str, *names: str) -> str:
        return one([part(rail(name), text=text) for name in names]).form

    assert form("a", "A", "B") == form("b", "B", "A") == "shared:e7614abebac7"
    assert form("a", "A", "B") != form("a", "A", "C")


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits(questions=4), [[0, 1, 2, 3], [4]]),
        (Limits(questions=2), [[0, 1], [2, 3], [4]]),
        (Limits(questions=1), [[0], [1], [2], [3], [4]]),
        (Limits(characters=13), [[0, 1, 2, 3, 4]]),
        (Limits(characters=12), [[0], [1], [2], [3], [4]]),
    ],
)
def test_what_is_too_much_for_a_provider_is_split_in_order(
    limits: Limits, expected: list[list[int]]
) -> None:
    """The shared state is counted as it is sent: `{"text":"hi"}`."""
    parts = [part(rail(name), text="hi") for name in "ABCDE"]

    assert sorted(sets(parts, limits)) == expected


@pytest.mark.parametrize("state", ["a text", [{"role": "user", "content": "hi"}], 7])
def test_an_ask_about_no_mapping_stays_alone(state: object) -> None:
    point = rail("A")

    assert sets([Part(point, Ask(state, point.spoken("en"))), part(rail("B"), text="a")]) == [
        [1],
        [0],
    ]


def test_a_point_whose_words_clash_with_a_field_of_its_own_stays_alone() -> None:
    odd = rail("ODD", words="said", reads=("said", "text"))

    assert sets([part(odd, said="a", text="b"), part(rail("B"), text="a")]) == [[1], [0]]


def test_a_frame_contradicts_itself() -> None:
    with pytest.raises(DeclarationError):
        Frame("")
    with pytest.raises(DeclarationError):
        Frame("a", words="x", lists="x")


# --- how a reply is divided --------------------------------------------------------------

TWO = one([part(rail("A"), text="t"), part(rail("B"), text="t")])
TWICE = one([part(rail("A", share=PASSAGES), text=text) for text in ("t", "u")])
YES = Held(0.9)


def reasons(joint: Joint, answers: Any, asks: Sequence[Ask]) -> list[Reason]:
    """What acceptance makes of each portion."""
    given_ones = divided(joint, Reply(answers), [True] * len(asks))
    return [
        portion.fault or accept(ask, portion.reply, GATE).reason
        for ask, portion in zip(asks, given_ones, strict=True)
    ]


A, B = (rail(name).ask({"text": "t"}) for name in "AB")
OK, MISSING, MISMATCHED = Reason.OK, Reason.INCOMPLETE, Reason.MISMATCHED


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"A.bad": YES, "B.bad": YES}, (OK, OK)),
        ({"A.bad": YES}, (OK, MISSING)),
        ({}, (MISSING, MISSING)),
        ({"A.bad": YES, "B.bad": YES, "B.more": YES}, (OK, MISMATCHED)),
        ({"A.bad": YES, "B.bad.0": YES}, (OK, MISMATCHED)),
        ({"A.bad": YES, "B.bad": YES, "more": YES}, (MISMATCHED, MISMATCHED)),
        ({"bad": YES}, (MISMATCHED, MISMATCHED)),
        ({"A.bad": YES, "B.bad": YES, 7: YES}, (MISMATCHED, MISMATCHED)),
        ({"A.bad": YES, "B.bad": "x"}, (OK, Reason.WRONG_TYPE)),
        ([("A.bad", YES), ("B.bad", YES)], (OK, OK)),
        ([(None, YES), (None, YES)], (OK, OK)),
        ([("", YES), (None, YES)], (OK, OK)),
        ([("B.bad", YES), ("A.bad", YES)], (OK, OK)),
        ([("B.bad", YES)], (MISSING, OK)),
        ([("A.bad", YES)] * 2, (MISMATCHED, MISSING)),
        ([("A.bad", YES), ("B.else", YES)], (OK, MISMATCHED)),
        ([(None, YES)], (MISSING, MISSING)),
        ([(None, YES)] * 3, (MISMATCHED, MISMATCHED)),
        ([("A.bad", YES), ("B.bad", YES), ("B.bad", YES)], (OK, MISMATCHED)),
        ([("A.bad", YES), ("B.bad", YES), ("else", YES)], (MISMATCHED, MISMATCHED)),
        ([YES, YES], (Reason.MALFORMED, Reason.MALFORMED)),
        ([(1, YES), (2, YES)], (Reason.MALFORMED, Reason.MALFORMED)),
    ],
)
def test_each_point_is_judged_by_its_own_answers(
    answers: object, expected: tuple[Reason, Reason]
) -> None:
    assert reasons(TWO, answers, [A, B]) == list(expected)


def test_a_stray_answer_of_a_point_asked_twice_spoils_both() -> None:
    answers = {"A.bad.0": YES, "A.bad.1": YES, "A.bad": YES}

    assert reasons(TWICE, answers, [A, A]) == [MISMATCHED, MISMATCHED]


def test_notes_go_to_whom_they_are_about() -> None:
    notes = {"A.bad.cosine": 0.5, "B.bad": 0.25, "seconds": 7.0}

    first, second = divided(TWO, Reply({}, notes=notes), [True, True])

    assert first.reply.notes == {"bad.cosine": 0.5, "seconds": 7.0}
    assert second.reply.notes == {"bad": 0.25, "seconds": 7.0}


counts = st.integers(0, 10**12)


@given(
    inputs=counts,
    outputs=counts,
    cost=st.none() | st.floats(0, 1000, allow_subnormal=False),
    present=st.lists(st.booleans(), min_size=2, max_size=2),
)
@settings(derandomize=True, deadline=None)
def test_what_is_divided_adds_up(
    inputs: int, outputs: int, cost: float | None, present: list[bool]
) -> None:
    """Nobody pays for one who left."""
    usage = Usage(inputs, outputs, cost, estimated=True)

    given_ones = [one.usage for one in billed(TWO, Reply((), usage=usage), present)]

    assert [one is not None for one in given_ones] == present
    paid = [one for one in given_ones if one is not None]
    if paid:
        assert sum(one.input_tokens for one in paid) == inputs
        assert sum(one.output_tokens for one in paid) == outputs
        costs = [one.cost_usd for one in paid if one.cost_usd is not None]
        assert math.isclose(sum(costs), cost or 0.0, rel_tol=1e-12)
        assert all(one.estimated and one.cost_usd is not None for one in paid) is (cost is not None)


words = st.sampled_from(["a", "b"])
states = st.fixed_dictionaries(
    {"text": words}, optional={"history": st.sampled_from([[], ["x"], None])}
)


@given(
    asked=st.lists(st.tuples(st.sampled_from("ABC"), states), min_size=1, max_size=6),
    questions=st.none() | st.integers(1, 4),
    characters=st.none() | st.integers(20, 60),
)
@settings(derandomize=True, deadline=None)
def test_every_part_rides_once_within_the_limits_and_sees_what_it_would_see_alone(
    asked: list[tuple[str, dict[str, Any]]], questions: int | None, characters: int | None
) -> None:
    """And gets back exactly what was answered about it."""
    limits = Limits(questions=questions, characters=characters)
    parts = [part(rail(name), **state) for name, state in asked]

    joints = joined(parts, limits)

    places = [at for each in joints for at in (each.parts if isinstance(each, Joint) else [each])]
    assert sorted(places) == list(range(len(parts)))
    for joint in (each for each in joints if isinstance(each, Joint)):
        assert questions is None or len(joint.ask.questions) <= questions
        assert characters is None or len(joint.ask.text) <= characters
        state = json.loads(joint.ask.text)
        answers = {name: Held(at / 100) for at, name in enumerate(joint.ask.questions)}
        owed = {joint.owners[name]: raw for name, raw in answers.items()}
        given_ones = divided(joint, Reply(answers), [True] * len(joint.parts))
        for at, (place, portion) in enumerate(zip(joint.parts, given_ones, strict=True)):
            assert state.items() >= asked[place][1].items()
            assert portion == Portion(Reply({"bad": owed[at, "bad"]}))


OWN = rail("OWN", share=Frame("input"), words="customer", reads=("customer", "text"))
said = st.sampled_from("ab")
any_fields = st.fixed_dictionaries({"text": said, "customer": said}, optional={"history": said})


@given(asked=st.lists(st.tuples(st.sampled_from([rail("A"), OWN]), any_fields), max_size=9))
@settings(derandomize=True, deadline=None)
def test_each_part_rides_with_the_first_it_may_ride_with(
    asked: list[tuple[DecisionPoint, dict[str, str]]],
) -> None:
    """However few of the others it is compared with; the words may stand in two fields."""
    parts = [part(point, **state) for point, state in asked]
    expected: list[tuple[dict[str, str], list[int]]] = []
    for at, each in enumerate(parts):
        state = json.loads(each.ask.text)
        for union, places in expected:
            if all(union.get(field, value) == value for field, value in state.items()):
                union.update(state)
                places.append(at)
                break
        else:
            expected.append((state, [at]))

    assert sets(parts) == [places for _, places in expected]


@pytest.mark.parametrize("characters", range(60, 160, 7))
def test_a_list_is_as_long_as_the_limit_allows(characters: int) -> None:
    """Entries are counted as they are written, each once."""
    point = rail("RAGSEC", share=PASSAGES)
    parts = [part(point, text=f"passage-\u00e9{at % 7}", history=["x"]) for at in range(30)]

    joints = joined(parts, Limits(characters=characters))

    texts = [each.ask.text for each in joints if isinstance(each, Joint)]
    entries = json.loads(texts[0])["passages"]
    assert all(len(text) <= characters for text in texts)
    assert len(entries) == 7 or len(texts[0]) + len(',"passage-\u00e91"') > characters


def test_a_joint_of_several_questions_keeps_each_points_own_gate() -> None:
    """Choices and predicates together; nothing of one point reaches another."""
    parts = [part(rail("A", share=ROUTING, words="message", reads=("message",)), message="m")]
    parts += [part(router("ROUTER"), message="m")]
    joint = one(parts)
    answers = {"A.bad": YES, "ROUTER.to": Chosen("billing", None, 0.5)}

    assert reasons(joint, answers, [each.ask for each in parts]) == [OK, Reason.LOW_CONFIDENCE]


def test_input_and_routing_are_groups_of_their_own() -> None:
    assert INPUT.group != ROUTING.group
