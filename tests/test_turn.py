"""One call per turn: who shares it, who leaves it, what it costs, and what stays known."""

from __future__ import annotations

import asyncio
import contextvars
import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from faulty import Server, failed, hangs, replies, waits
from pointsman import (
    Ask,
    Choice,
    Decision,
    DecisionPoint,
    Gateway,
    Held,
    Limits,
    NoAnswer,
    Predicate,
    Reason,
    Recorder,
    Refused,
    Reply,
    SetupError,
)
from pointsman.gateway.answers import Chosen, RawAnswer
from pointsman.gateway.frames import Frame
from telling import (
    RAILS,
    STATE,
    AsyncTeller,
    HttpTeller,
    Teller,
    decides,
    in_loop,
    rail,
    router,
    telling,
)

A, B, C = (rail(name) for name in "ABC")


def jev(server: Server, **more: str) -> dict[str, str]:
    return {
        "DECISION_PROVIDER": "jev",
        "AI_GATEWAY_API_KEY": "key",
        "JEV_BASE_URL": server.url,
        "JEV_MAX_ATTEMPTS": "1",
        **more,
    }


def of_input(decision: Decision[Any]) -> tuple[str, bool, Reason]:
    return decision.provider, decision.value, decision.record.reason


async def tidy() -> None:
    """Nothing is left over but this task."""
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


# --- one call ----------------------------------------------------------------------------


@in_loop
async def test_six_input_rails_cost_one_request(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """Six records, of which each bears its part; together they are the bill."""
    server.does(decides(cost="0.0000089", tokens=214))
    recorder = Recorder()
    gateway = gateway_of(jev(server), observers=[recorder])

    async with gateway.turn(subject="session-1"):
        decisions = await asyncio.gather(*[gateway.ask(point, STATE) for point in RAILS])

    assert len(server.seen) == 1
    assert json.loads(json.loads(server.seen[0].body)["input"]) == STATE
    assert [one.value for one in decisions] == [True] * 6
    attempts = [one.attempts[0] for one in recorder.records]
    assert [one.point for one in recorder.records] == [one.name for one in RAILS]
    assert {one.form[:7] for one in attempts} == {"shared:"}
    assert len({one.form for one in attempts}) == 1
    assert sum(one.tokens for one in recorder.records) == 214
    assert math.isclose(sum(one.cost_usd for one in recorder.records), 0.0000089)
    await gateway.aclose()
    await tidy()


@in_loop
async def test_continuity_router_and_expected_input_are_one_call() -> None:
    teller = Teller()
    expected = DecisionPoint(
        name="EXPECTED",
        questions={"en": {"reply": Choice("Which?", ["YES", "NO"])}},
        reads=("message", "transaction", "prompt"),
        words="message",
        share=router("X").share,
        safe="NO",
    )
    points = [router("CONTINUITY"), router("ROUTER"), expected]
    state = {"message": "yes", "transaction": {"id": 7}, "prompt": "Pay?"}

    with telling(teller) as gateway:
        async with gateway.turn():
            decisions = await asyncio.gather(*[gateway.ask(one, state) for one in points])

    assert [one.value for one in decisions] == ["billing", "billing", "YES"]
    assert [list(one.questions) for one in teller.asked] == [
        ["CONTINUITY.to", "ROUTER.to", "EXPECTED.reply"]
    ]


@in_loop
async def test_groups_providers_subjects_and_texts_do_not_mix() -> None:
    teller = Teller()
    alone = rail("ALONE", share=Frame("input", words="text", alone=True))
    state = {**STATE, "message": STATE["text"]}

    with telling(teller) as gateway:
        async with gateway.turn("s"):
            await asyncio.gather(
                gateway.ask(A, state),
                gateway.ask(router("ROUTER"), state),
                gateway.ask(alone, state),
                gateway.ask(rail("NO_FRAME", share=None), state),
                gateway.ask(B, {"text": "else"}),
                gateway.ask(C, state, subject="another"),
            )

    assert sorted(next(iter(one.questions)) for one in teller.asked) == ["bad"] * 5 + ["to"]
    assert sorted(one.point for one in teller.calls) == sorted(
        ["A", "ROUTER", "ALONE", "NO_FRAME", "B", "C"]
    )


@in_loop
async def test_outside_a_turn_each_asks_alone() -> None:
    teller = Teller()
    with telling(teller) as gateway:
        decisions = await asyncio.gather(*[gateway.ask(point, STATE) for point in (A, B, A)])

    assert [list(one.questions) for one in teller.asked] == [["bad"]] * 3
    assert {one.attempts[0].form for one in decisions} == {"single"}


@in_loop
async def test_one_alone_in_a_turn_is_sent_as_ever() -> None:
    teller = Teller()
    with telling(teller) as gateway:
        outside = await gateway.ask(A, STATE, current=lambda: False)
        async with gateway.turn():
            inside = await gateway.ask(A, STATE, current=lambda: False)

    assert teller.asked[0] == teller.asked[1]
    assert inside.attempts[0].form == outside.attempts[0].form == "single"
    assert inside.attempts[0].usage == outside.attempts[0].usage
    assert [one.current is None for one in teller.calls] == [False, False]


@pytest.mark.parametrize("shape", ["answer", "async", "exchange"])
@in_loop
async def test_every_shape_of_provider_is_asked_once(shape: str, server: Server) -> None:
    server.does(replies({}))
    made: dict[str, Callable[[], Teller]] = {
        "answer": Teller,
        "async": AsyncTeller,
        "exchange": lambda: HttpTeller(server.url),
    }
    teller = made[shape]()

    with telling(teller) as gateway:
        async with gateway.turn() as turn:
            decisions = await asyncio.gather(*[gateway.ask(point, STATE) for point in (A, B)])
            again = await asyncio.to_thread(turn.ask_sync, A, C, state={"text": "new"})
            await gateway.aclose()

    assert [of_input(one) for one in decisions] == [("teller", True, Reason.OK)] * 2
    assert [of_input(one) for one in again.values()] == [("teller", True, Reason.OK)] * 2
    assert [list(one.questions) for one in teller.asked] == [
        ["A.bad", "B.bad"],
        ["A.bad", "C.bad"],
    ]


@pytest.mark.parametrize("gaps", [(0, 0), (0, 1), (0, 2), (2, 0), (0, 2, 4, 6), (1, 3, 0)])
@in_loop
async def test_asks_at_most_two_passes_apart_are_one_call(gaps: Sequence[int]) -> None:
    teller = Teller()

    async def later(gateway: Gateway, point: DecisionPoint, passes: int) -> Any:
        for _ in range(passes):
            await asyncio.sleep(0)
        return await gateway.ask(point, STATE)

    with telling(teller) as gateway:
        async with gateway.turn():
            waiting = [later(gateway, *one) for one in zip(RAILS, gaps, strict=False)]
            decisions = await asyncio.gather(*waiting)

    assert [one.value for one in decisions] == [True] * len(gaps)
    assert len(teller.asked) == 1


@pytest.mark.parametrize("gap", [3, 4, 5, 20])
@in_loop
async def test_asks_further_apart_decide_the_same(gap: int) -> None:
    teller = Teller()

    async def later(gateway: Gateway) -> Any:
        for _ in range(gap):
            await asyncio.sleep(0)
        return await gateway.ask(B, STATE)

    with telling(teller) as gateway:
        async with gateway.turn():
            decisions = await asyncio.gather(gateway.ask(A, STATE), later(gateway))

    assert [of_input(one) for one in decisions] == [("teller", True, Reason.OK)] * 2
    assert len(teller.asked) in (1, 2)


@in_loop
async def test_a_stream_of_asks_cannot_hold_a_batch_for_ever() -> None:
    """At most sixteen passes, else the first would wait as long as others keep coming."""
    teller = Teller()
    points = [rail(f"P{at}") for at in range(40)]
    asks: list[asyncio.Task[Any]] = []

    with telling(teller) as gateway:
        async with gateway.turn():
            for point in points:
                asks.append(asyncio.create_task(gateway.ask(point, STATE)))
                await asyncio.sleep(0)
            await asyncio.gather(*asks)

    assert 1 < len(teller.asked) < len(points)
    assert max(len(one.questions) for one in teller.asked) <= 17


@in_loop
async def test_passages_are_listed_and_equal_ones_asked_once() -> None:
    """Also where a point is asked at the same time about the same: that costs nothing more."""
    teller = Teller()
    ragsec = rail("RAGSEC", share=Frame("retrieval", words="text", lists="passages"))

    with telling(teller) as gateway:
        async with gateway.turn():
            texts = ["one", "two", "one"]
            asked = [gateway.ask(ragsec, {"text": text}) for text in texts]
            decisions = await asyncio.gather(*asked)

    (ask,) = teller.asked
    assert json.loads(ask.text) == {"passages": ["one", "two"]}
    assert list(ask.questions) == ["RAGSEC.bad.0", "RAGSEC.bad.1"]
    attempts = [one.attempts[0] for one in decisions]
    assert [one.cached for one in attempts] == [False, False, True]
    assert [one.usage and one.usage.input_tokens for one in attempts] == [500, 500, None]


@in_loop
async def test_wrapped_functions_and_consultations_share_too() -> None:
    """What users write stays as it is; only the turn is around it."""
    teller = Teller()
    with telling(teller) as gateway:

        @gateway.point(A)
        async def is_bad(text: str) -> bool:
            raise AssertionError(text)

        async with gateway.turn():
            wrapped, consulted, asked = await asyncio.gather(
                is_bad("hi"), gateway.consult(B, "hi"), gateway.ask(C, {"text": "hi"})
            )

    assert wrapped is True
    assert consulted is not None
    assert consulted.value is asked.value is True
    assert [list(one.questions) for one in teller.asked] == [["A.bad", "B.bad", "C.bad"]]


@in_loop
async def test_what_a_provider_does_not_take_at_once_is_split() -> None:
    teller = Teller(limits=Limits(questions=4))
    with telling(teller) as gateway:
        async with gateway.turn():
            decisions = await asyncio.gather(*[gateway.ask(point, STATE) for point in RAILS])

    assert [one.value for one in decisions] == [True] * 6
    assert [len(one.questions) for one in teller.asked] == [4, 2]


@in_loop
async def test_a_provider_may_decline_to_share() -> None:
    class Selfish(Teller):
        shares = False

    teller = Selfish()
    with telling(teller) as gateway:
        async with gateway.turn() as turn:
            await turn.ask(A, B, state=STATE)
            again = await gateway.ask(A, STATE)

    assert [list(one.questions) for one in teller.asked] == [["bad"]] * 2
    assert again.attempts[0].cached


@in_loop
async def test_nested_asks_are_neither_shared_nor_remembered() -> None:
    """Two members of a committee that ask alike are two votes."""
    teller = Teller()

    async with telling(teller) as gateway:

        class Asks(Teller):
            deliberates = True

            async def answer(self, ask: Ask, call: Any) -> Reply:
                votes = [gateway.ask(A, ask.state, within=call) for _ in range(2)]
                for one in await asyncio.gather(*votes):
                    assert one.attempts[0].form == "single"
                return self.told(ask, call)

        asks = Asks()
        with gateway.override({"B": asks, "C": asks}):
            async with gateway.turn() as turn:
                both = await turn.ask(B, C, state=STATE)
                again = await gateway.ask(B, STATE)

    assert [one.attempts[0].form for one in both.values()] == ["single", "single"]
    assert len(teller.asked) == 4
    assert again.attempts[0].cached


# --- each point is judged alone ----------------------------------------------------------


@in_loop
async def test_each_point_has_its_own_threshold() -> None:
    """Nothing of one point's confidence reaches another (finding 12)."""
    environ = {"DECISION_A_MIN_CONFIDENCE": "0.95", "DECISION_B_MIN_CONFIDENCE": "0.6"}
    teller = Teller()
    with telling(teller, environ) as gateway:
        async with gateway.turn() as turn:
            both = await turn.ask(A, B, state=STATE, current={"A": lambda: False})

    assert len(teller.asked) == 1
    assert of_input(both["A"]) == ("current", False, Reason.LOW_CONFIDENCE)
    assert of_input(both["B"]) == ("teller", True, Reason.OK)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda said: said | {"A.bad": Refused()}, Reason.REFUSED),
        (lambda said: {"B.bad": said["B.bad"]}, Reason.INCOMPLETE),
        (lambda said: said | {"A.worse": Held(0.9)}, Reason.MISMATCHED),
        (lambda said: said | {"A.bad": Chosen("x")}, Reason.WRONG_TYPE),
        (lambda said: said | {"A.bad": Held(7.0)}, Reason.INVALID_NUMBER),
    ],
)
@in_loop
async def test_a_bad_answer_fails_only_its_own_point(
    spoil: Callable[[dict[str, Any]], dict[str, Any]], reason: Reason
) -> None:
    """And only that one falls back (A11)."""

    class Spoils(Teller):
        def answer(self, ask: Ask, call: Any) -> Reply:
            reply = self.told(ask, call)
            return Reply(spoil(dict(reply.answers)))  # type: ignore[arg-type]

    ran: list[str] = []
    currents = {name: lambda name=name: ran.append(name) for name in "AB"}
    with telling(Spoils()) as gateway:
        async with gateway.turn() as turn:
            both = await turn.ask(A, B, state=STATE, current=currents)

    assert (both["A"].record.reason, both["B"].record.reason) == (reason, Reason.OK)
    assert ran == ["A"]


@in_loop
async def test_an_unreadable_answer_on_the_wire_fails_only_its_own_point(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    good = {"type": "predicate", "name": "B.bad", "probability": 0.9}
    wrong = {"type": "predicate", "name": "A.bad", "probability": "high"}
    server.does(replies({"answers": [wrong, good], "model": "typesafe-ai/jev-1.13.0"}))
    gateway = gateway_of(jev(server))

    async with gateway.turn() as turn:
        both = await turn.ask(A, B, state=STATE)
        await gateway.aclose()

    assert [one.record.reason for one in both.values()] == [Reason.MALFORMED, Reason.OK]


# --- a call that fails -------------------------------------------------------------------


@in_loop
async def test_when_the_call_fails_each_falls_back_once_and_the_breaker_counts_one(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """Four shared failures of three points are four, not twelve: the fifth still is sent."""
    server.does(replies(failed("server_error"), 503))
    gateway = gateway_of(jev(server))
    ran: list[str] = []
    currents = {name: lambda name=name: ran.append(name) for name in "ABC"}
    seen: list[list[Reason]] = []

    for turns in range(6):
        async with gateway.turn() as turn:
            three = await turn.ask(A, B, C, state={"text": str(turns)}, current=currents)
        seen.append([one.record.reason for one in three.values()])
    await gateway.aclose()

    assert len(server.seen) == 5
    assert seen[:5] == [[Reason.PROVIDER_ERROR] * 3] * 5
    assert seen[5] == [Reason.BREAKER_OPEN] * 3
    assert ran == [*"ABC"] * 6


@in_loop
async def test_many_who_time_out_on_one_call_count_once(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    server.does(hangs())
    deadlines = {f"DECISION_{name}_DEADLINE_SECONDS": "0.2" for name in "ABC"}
    gateway = gateway_of(jev(server, **deadlines))

    for turns in range(2):
        async with gateway.turn() as turn:
            three = await turn.ask(A, B, C, state={"text": str(turns)})
        assert {one.record.reason for one in three.values()} == {Reason.TIMEOUT}
    server.does(decides())
    async with gateway.turn() as turn:
        three = await turn.ask(A, B, C, state={"text": "well again"})
    await gateway.aclose()

    assert {one.provider for one in three.values()} == {"jev"}


@in_loop
async def test_a_failure_is_not_remembered() -> None:
    def fails_first(*_: object) -> RawAnswer:
        if len(teller.asked) == 1:
            raise NoAnswer(Reason.RATE_LIMITED)
        return Held(0.9)

    teller = Teller(fails_first)
    with telling(teller) as gateway:
        async with gateway.turn() as turn:
            first = await turn.ask(A, B, state=STATE)
            second = await turn.ask(A, B, state=STATE)

    assert [one.record.reason for one in first.values()] == [Reason.RATE_LIMITED] * 2
    assert [one.provider for one in second.values()] == ["teller"] * 2


@pytest.mark.parametrize("said", [None, 7, Reply("x"), ValueError("no"), SystemError()])  # type: ignore[arg-type]
@in_loop
async def test_whatever_a_stranger_does_every_waiter_hears_of_it(said: object) -> None:
    class Strange(Teller):
        def answer(self, ask: Ask, call: Any) -> Any:
            if isinstance(said, Exception):
                raise said
            return said

    expected = Reason.PROVIDER_ERROR if isinstance(said, Exception) else Reason.MALFORMED
    with telling(Strange()) as gateway:
        async with gateway.turn():
            both = await asyncio.gather(*[gateway.ask(point, STATE) for point in (A, B)])
        await tidy()

    assert [one.record.reason for one in both] == [expected] * 2


@in_loop
async def test_errors_are_new_for_each_waiter() -> None:
    """A shared exception would collect the tracebacks of all who raise it."""

    def fails(*_: object) -> RawAnswer:
        raise NoAnswer(Reason.TIMEOUT)

    with telling(Teller(fails), {"DECISION_FALLBACK_TO_CURRENT": "false"}) as gateway:
        async with gateway.turn():
            asks = [gateway.ask(point, STATE) for point in (A, B)]
            first, second = await asyncio.gather(*asks, return_exceptions=True)

    assert isinstance(first, NoAnswer)
    assert isinstance(second, NoAnswer)
    assert first is not second
    assert (first.point, second.point) == ("A", "B")


# --- leaving early -----------------------------------------------------------------------


@in_loop
async def test_one_who_times_out_leaves_alone(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    server.does(waits(decides()))
    gateway = gateway_of(jev(server, DECISION_A_DEADLINE_SECONDS="0.2"))

    async with gateway.turn():
        hurried = asyncio.create_task(gateway.ask(A, STATE, current=lambda: False))
        patient = [asyncio.create_task(gateway.ask(point, STATE)) for point in (B, C)]
        assert of_input(await hurried) == ("current", False, Reason.TIMEOUT)
        server.let_go()
        rest = await asyncio.gather(*patient)
    await gateway.aclose()

    assert [of_input(one) for one in rest] == [("jev", True, Reason.OK)] * 2
    assert [one.record.tokens for one in rest] == [106, 106]  # the bill is of those who stayed
    assert len(server.seen) == 1
    assert not server.left.is_set()
    await tidy()


@in_loop
async def test_one_who_is_cancelled_leaves_alone() -> None:
    teller = AsyncTeller()
    teller.gate.clear()
    with telling(teller) as gateway:
        async with gateway.turn():
            asks = [asyncio.create_task(gateway.ask(point, STATE)) for point in (A, B)]
            await teller.begun.wait()
            asks[0].cancel()
            with pytest.raises(asyncio.CancelledError):
                await asks[0]
            teller.gate.set()

            assert of_input(await asks[1]) == ("teller", True, Reason.OK)
    assert (len(teller.asked), teller.cancelled) == (1, 0)
    await tidy()


@in_loop
async def test_the_last_to_leave_hangs_up(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    server.does(hangs())
    gateway = gateway_of(jev(server))

    async with gateway.turn():
        asks = [asyncio.create_task(gateway.ask(point, STATE)) for point in (A, B)]
        await server.reached()
        asks[0].cancel()
        await asyncio.sleep(0)
        assert not server.left.is_set()
        asks[1].cancel()
        await asyncio.gather(*asks, return_exceptions=True)
        await tidy()
        await server.abandoned()
    await gateway.aclose()


@in_loop
async def test_who_leaves_before_anything_is_sent_takes_nothing_along() -> None:
    teller = Teller()
    with telling(teller) as gateway:
        async with gateway.turn():
            gone = asyncio.create_task(gateway.ask(A, STATE))
            stays = asyncio.create_task(gateway.ask(B, STATE))
            await asyncio.sleep(0)
            gone.cancel()
            assert of_input(await stays) == ("teller", True, Reason.OK)
            all_gone = asyncio.create_task(gateway.ask(C, STATE))
            await asyncio.sleep(0)
            all_gone.cancel()
            await asyncio.gather(gone, all_gone, return_exceptions=True)
        await tidy()

    assert [list(one.questions) for one in teller.asked] == [["bad"]]


@in_loop
async def test_closing_the_gateway_ends_the_calls_it_owns() -> None:
    teller = AsyncTeller()
    teller.gate.clear()
    gateway = telling(teller)
    async with gateway.turn():
        asks = [asyncio.create_task(gateway.ask(point, STATE)) for point in (A, B)]
        await teller.begun.wait()
        await gateway.aclose()
        both = await asyncio.gather(*asks)

    assert [one.record.reason for one in both] == [Reason.CANCELLED] * 2
    assert teller.cancelled == 1
    await tidy()


def test_a_loop_that_ends_takes_its_calls_along() -> None:
    teller = Teller()

    async def abandoned() -> None:
        turn = gateway.turn()
        turn.__enter__()
        task = asyncio.create_task(gateway.ask(A, STATE))
        await asyncio.sleep(0)
        assert not task.done()

    with telling(teller) as gateway:
        asyncio.run(abandoned())
        asyncio.run(abandoned())

    assert teller.asked == []


# --- a turn ------------------------------------------------------------------------------


@in_loop
async def test_a_turn_may_be_left_in_another_task() -> None:
    teller = Teller()
    with telling(teller) as gateway:
        turn = gateway.turn(subject="s")
        entered = contextvars.copy_context()
        await asyncio.create_task(turn.__aenter__(), context=entered)
        both = asyncio.gather(gateway.ask(A, STATE), gateway.ask(B, STATE))
        apart = await both  # this task's context has no turn
        inside = [
            asyncio.create_task(gateway.ask(point, STATE), context=entered) for point in (A, B)
        ]
        shared = await asyncio.gather(*inside)
        asked = await turn.ask(A, B, C, state={"text": "new"})
        await asyncio.create_task(turn.__aexit__(None, None, None))
        after = await asyncio.create_task(gateway.ask(A, STATE), context=entered)

    assert [one.attempts[0].form for one in apart] == ["single"] * 2
    assert [one.attempts[0].form[:7] for one in shared] == ["shared:"] * 2
    assert [one.attempts[0].form[:7] for one in asked.values()] == ["shared:"] * 3
    assert not after.attempts[0].cached
    assert [call.subject for call in teller.calls] == [None, None, "s", "s", None]


@in_loop
async def test_a_turn_of_another_gateway_does_not_count() -> None:
    one, other = Teller(), Teller()
    with telling(one) as first, telling(other) as second:
        async with first.turn("s"):
            await asyncio.gather(second.ask(A, STATE), second.ask(B, STATE))
            async with second.turn():
                await asyncio.gather(*[first.ask(point, STATE) for point in (A, B)])

    assert [call.subject for call in other.calls] == [None, None]
    assert [call.subject for call in one.calls] == ["s"]


@in_loop
async def test_a_turn_without_a_subject_is_of_the_session() -> None:
    teller = Teller()
    with telling(teller) as gateway, gateway.session("s"):
        async with gateway.turn():
            await gateway.ask(A, STATE)
        async with gateway.turn("another"):
            await gateway.ask(A, STATE)

    assert [call.subject for call in teller.calls] == ["s", "another"]


@in_loop
async def test_a_turn_entered_again_has_forgotten() -> None:
    teller = Teller()
    with telling(teller) as gateway:
        turn = gateway.turn()
        for _ in range(2):
            async with turn:
                await gateway.ask(A, STATE)
                await gateway.ask(A, STATE)
        await turn.ask(A, B, state=STATE)

    assert [list(one.questions) for one in teller.asked] == [["bad"], ["bad"], ["A.bad", "B.bad"]]


@pytest.mark.parametrize("point", [A, rail("A", share=None)], ids=["shares", "has no frame"])
@in_loop
async def test_the_same_ask_again_costs_nothing(point: DecisionPoint) -> None:
    teller = Teller()
    with telling(teller) as gateway:
        async with gateway.turn():
            first = await gateway.ask(point, STATE)
            again = await gateway.ask(point, STATE)
            other = await gateway.ask(point, {"text": "else"})

    assert again.value == first.value
    assert [one.attempts[0].cached for one in (first, again, other)] == [False, True, False]
    assert again.attempts[0].usage is None
    assert again.attempts[0].model == "teller-1"
    assert len(teller.asked) == 2


@in_loop
async def test_another_question_or_provider_is_another_ask() -> None:
    teller, other = Teller(), Teller()
    worded = Ask(A.ask(STATE).state, {"bad": Predicate("In other words?")})
    with telling(teller) as gateway:
        async with gateway.turn():
            await gateway.ask(A, STATE)
            await gateway.ask(A, worded)
            with gateway.override({"A": other}):
                await gateway.ask(A, STATE)

    assert (len(teller.asked), len(other.asked)) == (2, 1)


@in_loop
async def test_a_known_answer_says_nothing_of_the_provider() -> None:
    """A breaker is not closed by what was answered before it opened."""

    def fails_later(*_: object) -> RawAnswer:
        if len(teller.asked) > 1:
            raise NoAnswer(Reason.TRANSPORT)
        return Held(0.9)

    teller = Teller(fails_later)
    with telling(teller) as gateway:
        async with gateway.turn():
            await gateway.ask(A, STATE)
            for at in range(5):
                await gateway.ask(B, {"text": str(at)})
                if at < 4:
                    assert (await gateway.ask(A, STATE)).attempts[0].cached
            last = await gateway.ask(C, STATE)

    assert last.record.reason is Reason.BREAKER_OPEN


def test_loops_and_threads_in_one_turn_do_not_meet() -> None:
    """A batch is of one loop; what was answered is known in all."""
    teller = Teller()

    def elsewhere(text: str) -> list[Any]:
        async def both() -> list[Any]:
            asks = [gateway.ask(one, {"text": text}) for one in (A, B)]
            return list(await asyncio.gather(*asks))

        return asyncio.run(both())

    with telling(teller) as gateway, gateway.turn() as turn, ThreadPoolExecutor(4) as pool:
        texts = [str(at % 4) for at in range(40)]
        contexts = [contextvars.copy_context() for _ in texts]
        runs = [pool.submit(c.run, elsewhere, t) for c, t in zip(contexts, texts, strict=True)]
        decisions = [one for run in runs for one in run.result()]
        known = turn.ask_sync(A, B, state={"text": "0"})

    assert {of_input(one) for one in decisions} == {("teller", True, Reason.OK)}
    assert all(one.attempts[0].cached for one in known.values())
    assert len(teller.asked) <= 40


# --- the promise -------------------------------------------------------------------------


@in_loop
async def test_planned_members_ride_in_one_call_whatever_else_happens() -> None:
    """One whose plan is `current`, however slow it is, holds nobody up."""
    teller = Teller()
    released = asyncio.Event()

    async def slow() -> bool:
        await released.wait()
        return False

    with telling(teller, {"DECISION_C_PROVIDER": "current"}) as gateway:
        async with gateway.turn() as turn:
            state = {**STATE, "message": "hi"}
            asked = turn.ask(A, C, B, router("R"), state=state, current={"C": slow})
            running = asyncio.create_task(asked)
            while len(teller.asked) < 2:  # noqa: ASYNC110 - passes are what it takes
                await asyncio.sleep(0)
            released.set()
            decisions = await running

    assert list(decisions) == ["A", "C", "B", "R"]
    assert [one.value for one in decisions.values()] == [True, False, True, "billing"]
    assert sorted(list(one.questions) for one in teller.asked) == [["A.bad", "B.bad"], ["to"]]


@in_loop
async def test_a_promise_waits_for_members_that_are_scheduled_late() -> None:
    """Further apart than any batch would wait for by itself; hence one call, and none hangs."""
    late = iter([0, 30, 5, 12, 40, 1])
    teller = Teller()

    async def delayed(coroutine: Any) -> Any:
        for _ in range(next(late, 0)):
            await asyncio.sleep(0)
        return await coroutine

    asyncio.get_running_loop().set_task_factory(
        lambda loop, coroutine, **kw: asyncio.Task(delayed(coroutine), loop=loop, **kw)
    )
    with telling(teller) as gateway:
        async with gateway.turn() as turn:
            decisions = await turn.ask(*RAILS, state=STATE)

    assert [one.value for one in decisions.values()] == [True] * 6
    assert [len(one.questions) for one in teller.asked] == [6]


@in_loop
@pytest.mark.parametrize("state", [{"text": "hi"}, "hi"])
async def test_a_point_takes_its_words_from_where_its_group_has_them(state: object) -> None:
    teller = Teller()
    csi = rail("CSI", words="customer_text", reads=("customer_text", "history"))
    with telling(teller) as gateway:
        async with gateway.turn() as turn:
            decisions = await turn.ask(A, csi, state=state)

    assert [one.value for one in decisions.values()] == [True, True]
    assert [one.text for one in teller.asked] == ['{"text":"hi"}']


@in_loop
async def test_all_have_ended_when_the_promise_raises() -> None:
    ended: list[str] = []

    async def breaks() -> bool:
        raise LookupError("the host's own")

    async def works() -> bool:
        await asyncio.sleep(0)
        ended.append("B")
        return False

    with telling(Teller(), {"DECISION_PROVIDER": "current"}) as gateway:
        async with gateway.turn() as turn:
            with pytest.raises(LookupError, match="the host's own"):
                await turn.ask(A, B, state=STATE, current={"A": breaks, "B": works})
            assert ended == ["B"]
            await tidy()


@in_loop
async def test_a_promise_that_is_cancelled_leaves_nothing() -> None:
    teller = AsyncTeller()
    teller.gate.clear()
    with telling(teller) as gateway:
        async with gateway.turn() as turn:
            running = asyncio.create_task(turn.ask(A, B, state=STATE))
            await teller.begun.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            await tidy()

    assert teller.cancelled == 1


@in_loop
async def test_a_current_for_a_point_that_is_not_asked_is_told() -> None:
    with telling(Teller()) as gateway:
        async with gateway.turn() as turn:
            with pytest.raises(SetupError, match="TYPO"):
                await turn.ask(A, state=STATE, current={"TYPO": lambda: True})
            assert await turn.ask(state=STATE) == {}


# --- without a loop ----------------------------------------------------------------------


def test_a_sync_turn_remembers_and_asks_together() -> None:
    teller = Teller()
    recorder = Recorder()
    with telling(teller, observers=[recorder]) as gateway, gateway.turn(subject="s") as turn:
        first = gateway.ask_sync(A, STATE)
        again = gateway.ask_sync(A, STATE)
        state = {**STATE, "message": "m"}
        four = turn.ask_sync(A, B, C, router("R"), state=state, current={"B": bool})

    assert (first.attempts[0].cached, again.attempts[0].cached) == (False, True)
    assert [one.value for one in four.values()] == [True, True, True, "billing"]
    attempts = [one.attempts[0] for one in four.values()]
    assert [one.cached for one in attempts] == [True, False, False, False]
    assert [list(one.questions) for one in teller.asked] == [["bad"], ["B.bad", "C.bad"], ["to"]]
    assert {call.subject for call in teller.calls} == {"s"}
    assert sum(one.tokens for one in recorder.records) == 3000


def test_a_sync_call_that_fails_counts_once_and_each_falls_back_here() -> None:
    def fails(*_: object) -> RawAnswer:
        raise NoAnswer(Reason.TRANSPORT)

    ran: list[str] = []
    currents = {name: lambda name=name: ran.append(name) for name in "ABC"}
    teller = Teller(fails)
    with telling(teller) as gateway:
        for turns in range(6):
            with gateway.turn() as turn:
                three = turn.ask_sync(A, B, C, state={"text": str(turns)}, current=currents)

    assert len(teller.asked) == 5
    assert {one.record.reason for one in three.values()} == {Reason.BREAKER_OPEN}
    assert ran == [*"ABC"] * 6


def test_all_have_ended_when_the_sync_promise_raises() -> None:
    ran: list[str] = []

    def breaks() -> bool:
        raise LookupError("the host's own")

    currents = {"A": breaks, "B": lambda: ran.append("B")}
    with (
        telling(Teller(), {"DECISION_PROVIDER": "current"}) as gateway,
        gateway.turn() as turn,
        pytest.raises(LookupError, match="the host's own"),
    ):
        turn.ask_sync(A, B, state=STATE, current=currents)

    assert ran == ["B"]


def test_an_interrupt_ends_all_flows() -> None:
    recorder = Recorder()

    def interrupts(*_: object) -> RawAnswer:
        raise KeyboardInterrupt

    with (
        telling(Teller(interrupts), observers=[recorder]) as gateway,
        gateway.turn() as turn,
        pytest.raises(KeyboardInterrupt),
    ):
        turn.ask_sync(A, B, state=STATE)

    assert recorder.records == []
