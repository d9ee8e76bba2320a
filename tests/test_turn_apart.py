"""What a turn keeps apart: subjects, wordings, masks, deadlines, and the turns themselves."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import time
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from pointsman import (
    Ask,
    Choice,
    DecisionPoint,
    Gateway,
    Held,
    Limits,
    Reason,
    Refused,
    Score,
    SetupError,
    hookimpl,
)
from pointsman.gateway.answers import Chosen, RawAnswer, Scored
from pointsman.gateway.masking import Mask, MaskOffer
from pointsman.gateway.questions import Question
from telling import STATE, AsyncTeller, Offers, Teller, agrees, in_loop, rail, telling

A, B, C = (rail(name) for name in "ABC")
ALONE = rail("ALONE", share=None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let time pass at once."""
    passed = [0.0]
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + passed[0])

    def passes(seconds: float) -> None:
        passed[0] += seconds

    return passes


# --- what is remembered ------------------------------------------------------------------


@pytest.mark.parametrize("point", [A, ALONE], ids=["shares", "has no frame"])
@in_loop
async def test_what_was_answered_of_one_subject_is_not_said_of_another(
    point: DecisionPoint,
) -> None:
    teller = Teller()
    with telling(teller) as gateway:
        async with gateway.turn():
            asked = [await gateway.ask(point, STATE, subject=one) for one in ("a", "b", "a")]

    assert [one.attempts[0].cached for one in asked] == [False, False, True]
    assert [call.subject for call in teller.calls] == ["a", "b"]


MEANINGS = {"low": "calm", "mid": "so-so", "high": "angry"}
TURNED = dict(reversed(MEANINGS.items()))


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        (Score("How?", MEANINGS), Score("How?", TURNED), Scored(0.0, (1.0, 0.0, 0.0), 0.9)),
        (Choice("Which?", MEANINGS), Choice("Which?", TURNED), Chosen("low", None, 0.9)),
    ],
    ids=["levels", "options"],
)
@in_loop
async def test_questions_of_another_order_are_other_questions(
    one: Question, other: Question, answer: RawAnswer
) -> None:
    """The first level is the lowest; and an order may sway who answers."""
    teller = Teller(lambda _, __: answer)
    asks = [Ask(A.ask(STATE).state, {"bad": question}) for question in (one, other)]
    with telling(teller) as gateway:
        async with gateway.turn():
            await gateway.ask(A, asks[0])
            later = await gateway.ask(A, asks[1])
        async with gateway.turn():
            await asyncio.gather(*[gateway.ask(A, ask) for ask in asks])

    assert not later.attempts[0].cached
    asked = [question for ask in teller.asked for question in ask.questions.values()]
    orders = [list(getattr(each, "levels", getattr(each, "options", ()))) for each in asked]
    assert orders == [[*MEANINGS], [*TURNED]] * 2


@in_loop
async def test_what_could_not_be_used_is_asked_again() -> None:
    said: list[RawAnswer] = [Refused(), Held(float("nan")), Held(0.6), Held(0.9)]
    teller = Teller(lambda _, __: said.pop(0))
    with telling(teller) as gateway:
        async with gateway.turn():
            decisions = [await gateway.ask(ALONE, STATE) for _ in range(4)]

    reasons = [one.record.reason for one in decisions]
    assert reasons[:2] == [Reason.REFUSED, Reason.INVALID_NUMBER]
    assert [one.attempts[0].cached for one in decisions] == [False, False, False, True]
    assert said == [Held(0.9)]


@in_loop
async def test_a_shared_answer_that_could_not_be_used_is_asked_again() -> None:
    teller = Teller(lambda name, _: Refused() if name == "A.bad" else Held(0.9))
    with telling(teller) as gateway:
        async with gateway.turn() as turn:
            await turn.ask(A, B, state=STATE)
            again = await turn.ask(A, B, state=STATE)
            in_sync = turn.ask_sync(C, ALONE, state=STATE)

    assert [one.attempts[0].cached for one in again.values()] == [False, True]
    assert [list(one.questions) for one in teller.asked[:2]] == [["A.bad", "B.bad"], ["bad"]]
    assert len(in_sync) == 2


@in_loop
async def test_a_known_answer_keeps_the_form_that_it_was_given_in() -> None:
    with telling(Teller()) as gateway:
        async with gateway.turn() as turn:
            first = await turn.ask(A, B, state=STATE)
            again = await gateway.ask(A, STATE)
            sync = turn.ask_sync(B, state=STATE)["B"]

    form = first["A"].attempts[0].form
    assert form.startswith("shared:")
    assert [one.attempts[0].cached for one in (again, sync)] == [True, True]
    assert [one.attempts[0].form for one in (again, sync)] == [form, form]


# --- time --------------------------------------------------------------------------------


def test_time_that_others_take_on_this_thread_is_not_ones_own(
    clock: Callable[[float], None],
) -> None:
    """Whoever waits for those before must not be late before it has begun."""

    def slowly(*_: object) -> RawAnswer:
        clock(6.0)
        return Held(0.9)

    points = [rail(name, share=None) for name in ("X", "Y", "Z")]
    deadlines = {f"DECISION_{name}_DEADLINE_SECONDS": "5" for name in ("X", "Y", "Z", "A", "B")}
    with (
        telling(AsyncTeller(), deadlines) as gateway,
        gateway.turn() as turn,
        gateway.override({"X": Teller(slowly)}),
    ):
        decisions = turn.ask_sync(*points, A, B, state=STATE)

    assert [one.record.reason for one in decisions.values()] == [Reason.OK] * 5


def test_what_is_promised_and_too_late_before_it_is_sent_is_skipped(
    clock: Callable[[float], None],
) -> None:
    """B has no time to ask, so that A is asked alone, after Z has used its time up."""

    def slowly(*_: object) -> RawAnswer:
        clock(6.0)
        return Held(0.9)

    teller, slow, z = Teller(), Teller(slowly), rail("Z", share=None)
    deadlines = {"DECISION_A_DEADLINE_SECONDS": "5", "DECISION_B_DEADLINE_SECONDS": "0.05"}
    with (
        telling(teller, deadlines) as gateway,
        gateway.turn() as turn,
        gateway.override({"Z": slow}),
    ):
        decisions = turn.ask_sync(z, A, B, state=STATE)

    reasons = [one.record.reason for one in decisions.values()]
    assert reasons == [Reason.OK, Reason.SKIPPED, Reason.SKIPPED]
    assert teller.asked == []


# --- whose turn it is --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["session", "turn"])
@in_loop
async def test_tasks_that_enter_one_turn_leave_their_own_entry(kind: str) -> None:
    teller = Teller()
    first_in, second_in, first_out = asyncio.Event(), asyncio.Event(), asyncio.Event()
    with telling(teller) as gateway:
        made: Any = gateway.session("s") if kind == "session" else gateway.turn("s")

        async def first() -> None:
            async with made:
                first_in.set()
                await second_in.wait()
            await gateway.ask(ALONE, {"text": "first, outside"})
            first_out.set()

        async def second() -> None:
            await first_in.wait()
            async with made:
                second_in.set()
                await first_out.wait()
                await gateway.ask(ALONE, {"text": "second, inside"})
            await gateway.ask(ALONE, {"text": "second, outside"})

        await asyncio.gather(first(), second())

    said = {
        str(ask.state): call.subject for ask, call in zip(teller.asked, teller.calls, strict=True)
    }
    assert list(said.values()) == [None, "s", None]


@pytest.mark.parametrize("colour", ["async", "sync"])
@in_loop
async def test_what_the_hosts_path_starts_in_a_promise_does_not_stay_in_the_turn(
    colour: str,
) -> None:
    teller = Teller(lambda name, _: Refused() if name == "bad" else Held(0.9))
    kept: list[contextvars.Context] = []

    def starts() -> bool:
        kept.append(contextvars.copy_context())
        return True

    with telling(teller) as gateway:
        async with gateway.turn("s") as turn:
            if colour == "async":
                await turn.ask(ALONE, state=STATE, current={"ALONE": starts})
            else:
                turn.ask_sync(ALONE, state=STATE, current={"ALONE": starts})
        teller.says = agrees
        later = [kept[0].run(gateway.ask_sync, B, STATE) for _ in range(2)]

    assert [one.attempts[0].cached for one in later] == [False, False]
    assert [call.subject for call in teller.calls] == ["s", None, None]


@in_loop
async def test_turns_that_overlap_in_one_context_do_not_stay() -> None:
    teller = Teller()
    with telling(teller) as gateway:
        outer, inner = gateway.turn("outer"), gateway.turn("inner")
        outer.__enter__()
        inner.__enter__()
        outer.__exit__(None, None, None)
        await gateway.ask(ALONE, STATE)
        inner.__exit__(None, None, None)
        await gateway.ask(ALONE, STATE)
        last = await gateway.ask(ALONE, STATE)

    assert [call.subject for call in teller.calls] == ["inner", None, None]
    assert not last.attempts[0].cached


@in_loop
async def test_a_turn_that_was_left_is_not_kept_by_one_that_overlaps_it() -> None:
    with telling(Teller()) as gateway:
        outer, inner = gateway.turn(), gateway.turn()
        outer.__enter__()
        await gateway.ask(ALONE, STATE)
        known = weakref.ref(outer.sharing)
        inner.__enter__()
        outer.__exit__(None, None, None)
        del outer
        gc.collect()

        assert known() is None
        inner.__exit__(None, None, None)


@in_loop
async def test_two_declarations_of_one_name_are_refused() -> None:
    other = rail("A", share=None)
    with telling(Teller()) as gateway:
        async with gateway.turn() as turn:
            with pytest.raises(SetupError, match="two declarations"):
                await turn.ask(A, other, state=STATE)
            with pytest.raises(SetupError, match="two declarations"):
                turn.ask_sync("A", other, state=STATE)
            assert list(await turn.ask(A, A, state=STATE)) == ["A"]


# --- masks -------------------------------------------------------------------------------


class Masks(Offers):
    """A provider, and a mask in front of it."""

    def __init__(self, provider: Teller, mask: Mask) -> None:
        super().__init__(provider)
        self._mask = mask

    @hookimpl
    def pointsman_masks(self) -> list[MaskOffer]:
        """Offer it."""
        return [MaskOffer("some", lambda: self._mask)]


def masking(teller: Teller, mask: Mask) -> Gateway:
    said = {"DECISION_LOG": "off", "DECISION_PROVIDER": "teller", "TELLER_MASK": "some"}
    return Gateway.from_env(said, plugins=[Masks(teller, mask)])


WIDE = [rail(name, reads=("text", name.lower())) for name in "ABC"]


@pytest.mark.parametrize("long", [1, 3_000], ids=["here", "beside the loop"])
@pytest.mark.parametrize("colour", ["async", "sync"])
@in_loop
async def test_a_mask_that_fails_on_one_points_field_fails_only_that_point(
    colour: str, long: int
) -> None:
    def some(text: str) -> str:
        if text.startswith("boom"):
            raise ValueError(text)
        return text.replace("@", "<AT>")

    teller = Teller()
    state = {"text": "me@home", "a": "x" * long, "b": "boom" * long, "c": "z" * long}
    with masking(teller, some) as gateway:
        async with gateway.turn() as turn:
            if colour == "async":
                decisions = await turn.ask(*WIDE, state=state)
            else:
                decisions = await asyncio.to_thread(turn.ask_sync, *WIDE, state=state)

    reasons = [one.record.reason for one in decisions.values()]
    assert reasons == [Reason.OK, Reason.PROVIDER_ERROR, Reason.OK]
    assert [list(one.questions) for one in teller.asked] == [["A.bad", "C.bad"]]
    assert teller.asked[0].state == {"text": "me<AT>home", "a": "x" * long, "c": "z" * long}


@pytest.mark.parametrize("colour", ["async", "sync"])
@in_loop
async def test_what_a_mask_lengthens_is_split_as_it_is_sent(colour: str) -> None:
    teller = Teller(limits=Limits(characters=120))
    state = {"text": "t", "a": "@" + "a" * 40, "b": "@" + "b" * 40, "c": "@" * 99}
    with masking(teller, lambda text: text.replace("@", "<SOMEBODY'S ADDRESS>")) as gateway:
        async with gateway.turn() as turn:
            if colour == "async":
                decisions = await turn.ask(*WIDE, state=state)
            else:
                decisions = turn.ask_sync(*WIDE, state=state)

    reasons = [one.record.reason for one in decisions.values()]
    assert reasons == [Reason.OK, Reason.OK, Reason.TOO_LARGE]
    assert [list(one.questions) for one in teller.asked] == [["bad"], ["bad"]]
