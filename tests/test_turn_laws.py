"""Laws of a turn: however its asks interleave, each decides as it would alone."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import (
    Ask,
    Call,
    Choice,
    DecisionPoint,
    Gateway,
    Held,
    Limits,
    Predicate,
    Reason,
    Refused,
    Reply,
    Score,
    Scored,
    Usage,
    When,
)
from pointsman.gateway.answers import Chosen, RawAnswer, Unread
from pointsman.gateway.frames import Frame
from pointsman.gateway.questions import Question
from telling import Teller, telling

FRAMES = (
    Frame("one", words="words", merges=("facts",)),
    Frame("one", words="words"),
    Frame("two", words="said"),
    Frame("listed", words="said", lists="entries"),
    Frame("one", words="words", alone=True),
    None,
)
QUESTIONS: dict[str, Question] = {
    "yes": Predicate("Is it so?", tie=True),
    "kind": Choice("Which?", ["STAY", "SHIFT"]),
    "to": Choice("Where?", ["a", "b"], when=When("kind", ("SHIFT",))),
    "much": Score("How much?", ["low", "mid", "high"], advisory=True),
}
NAMES = ("A", "B", "A_B", "C", "D")


class Asked(NamedTuple):
    """One decision: when, where, about what, and what its provider says."""

    passes: int
    point: DecisionPoint
    state: dict[str, Any]
    says: dict[str, RawAnswer | None]


raw: dict[str, st.SearchStrategy[Any]] = {
    "yes": st.sampled_from([0.0, 0.2, 0.5, 0.65, 0.9, 7.0]).map(Held),
    "kind": st.builds(
        Chosen,
        st.sampled_from(["STAY", "SHIFT", "GO"]),
        st.none(),
        st.sampled_from([None, 0.5, 0.9]),
    ),
    "to": st.builds(Chosen, st.sampled_from(["a", "b"]), st.none(), st.sampled_from([0.1, 0.9])),
    "much": st.builds(Scored, st.floats(0, 2), st.none(), st.sampled_from([0.1, 0.9])),
}
spoilt: st.SearchStrategy[Any] = st.sampled_from(
    [None, Refused(), Unread(Reason.MALFORMED), Held(0.9), Chosen("a")]
)
asks = st.sampled_from([("yes",), ("kind",), ("kind", "to"), ("yes", "much"), tuple(QUESTIONS)])


@st.composite
def points(draw: st.DrawFn, name: str) -> DecisionPoint:
    """A point of some of the questions, in some frame."""
    questions = {one: QUESTIONS[one] for one in draw(asks)}
    frame = draw(st.sampled_from(FRAMES))
    return DecisionPoint(
        name=name,
        questions={"en": questions},
        reads=("text", "facts", "history"),
        words="text",
        share=frame,
    )


states = st.fixed_dictionaries(
    {"text": st.sampled_from(["x", "y"])},
    optional={
        "history": st.sampled_from([["h"], ["i"]]),
        "facts": st.dictionaries(st.sampled_from("kl"), st.sampled_from([1, True]), max_size=2),
    },
)


@st.composite
def turns(draw: st.DrawFn) -> list[Asked]:
    """Several decisions of one turn; what a point says of a state is always the same."""
    declared = {name: draw(points(name)) for name in NAMES}
    said: dict[tuple[str, str], dict[str, RawAnswer | None]] = {}
    turn: list[Asked] = []
    for _ in range(draw(st.integers(1, 7))):
        point, state = declared[draw(st.sampled_from(NAMES))], draw(states)
        key = point.name, point.ask(state).text
        if key not in said:
            said[key] = {
                name: draw(spoilt) if draw(st.integers(0, 3)) == 0 else draw(raw[name])
                for name in point.spoken("en")
            }
        turn.append(Asked(draw(st.integers(0, 6)), point, state, said[key]))
    return turn


class Recites(Teller):
    """
    Says of each question what is scripted for it, in whatever call it comes.

    It finds the asks of a shared call by the names and words in it, as a decider would.
    """

    def __init__(self, turn: list[Asked], limits: Limits, *, by_position: bool) -> None:
        super().__init__(limits=limits)
        self._script: list[Asked] = turn
        self._by_position = by_position

    def told(self, ask: Ask, call: Call) -> Reply:
        """Answer what is scripted; leave out what is to be missing."""
        self.asked.append(ask)
        answers: dict[str, RawAnswer] = {}
        for name, question in ask.questions.items():
            said = self._said(ask, call, name, question.instructions)
            if said is not None:
                answers[name] = said
        usage = Usage(100, 10, 0.01)
        return Reply(list(answers.items()) if self._by_position else answers, "m", usage)

    def _said(self, ask: Ask, call: Call, name: str, instructions: str) -> RawAnswer | None:
        point, _, own = name.partition(".") if "." in name else (call.point, "", name)
        own = own.partition(".")[0]
        sent: dict[str, Any] = dict(ask.state)
        words = sent.get("text", sent.get("words", sent.get("said")))
        if instructions.startswith("entries["):
            words = sent["entries"][int(instructions[8 : instructions.index("]")])]
        elif "entries" in sent:
            (words,) = sent["entries"]
        found = [
            one for one in self._script if one.point.name == point and one.state["text"] == words
        ]
        return found[0].says[own]


def judged(decision: Any) -> Any:
    """What must not depend on who else asked."""
    record = decision.record
    confidence = record.attempts[0].confidence
    return decision.value, record.outcome, record.reason, record.provider, confidence


async def alone(gateway: Gateway, one: Asked) -> Any:
    return judged(await gateway.ask(one.point, one.state, current=lambda: "host"))


async def together(gateway: Gateway, turn: list[Asked]) -> list[Any]:
    async def later(one: Asked) -> Any:
        for _ in range(one.passes):
            await asyncio.sleep(0)
        return await alone(gateway, one)

    async with gateway.turn("s"):
        return await asyncio.gather(*[later(one) for one in turn])


def of_one_text(turn: list[Asked]) -> list[Asked]:
    """What is said of a point's words is the same in whatever else the state holds."""
    said: dict[tuple[str, str], Asked] = {}
    return [
        one._replace(says=said.setdefault((one.point.name, one.state["text"]), one).says)
        for one in turn
    ]


limits = st.builds(
    Limits,
    questions=st.none() | st.integers(4, 8),
    characters=st.none() | st.integers(60, 120),
)


@given(turn=turns().map(of_one_text), limits=limits, by_position=st.booleans())
@settings(derandomize=True, deadline=None, max_examples=150)
def test_each_decides_in_a_turn_as_it_would_alone(
    turn: list[Asked],
    limits: Limits,
    by_position: bool,  # noqa: FBT001
) -> None:
    """Outcome, reason, provider and confidence; and no more calls than outside."""

    async def main() -> tuple[list[Any], list[Any]]:
        outside = Recites(turn, limits, by_position=by_position)
        inside = Recites(turn, limits, by_position=by_position)
        with telling(outside) as one, telling(inside) as other:
            apart = [await alone(one, each) for each in turn]
            shared = await together(other, turn)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert len(inside.asked) <= len(outside.asked)
        return apart, shared

    apart, shared = asyncio.run(main())

    assert shared == apart


@given(turn=turns().map(of_one_text), limits=limits)
@settings(derandomize=True, deadline=None, max_examples=80)
def test_a_promise_decides_as_each_would_alone(turn: list[Asked], limits: Limits) -> None:
    """With a loop and without one."""
    named = {one.point.name: one for one in turn}
    asked = [one._replace(state=turn[0].state) for one in named.values()]
    state = turn[0].state
    provider = Recites(asked, limits, by_position=False)
    points_ = [one.point for one in asked]
    currents = {one.name: lambda: "host" for one in points_}

    async def main() -> tuple[list[Any], list[Any], list[Any]]:
        with telling(provider) as gateway:
            apart = [await alone(gateway, each) for each in asked]
            async with gateway.turn() as first:
                shared = await first.ask(*points_, state=state, current=currents)
            with gateway.turn() as second:
                sync = second.ask_sync(*points_, state=state, current=currents)
        found = [[judged(one) for one in each.values()] for each in (shared, sync)]
        return apart, found[0], found[1]

    apart, shared, sync = asyncio.run(main())

    assert shared == apart
    assert sync == apart


def test_the_law_meets_every_reason_it_is_about() -> None:
    """A law over cases that never happen would prove nothing."""
    met: set[tuple[str, bool]] = set()

    @given(turn=turns().map(of_one_text))
    @settings(derandomize=True, deadline=None, max_examples=250, database=None)
    def look(turn: list[Asked]) -> None:
        async def main() -> None:
            with telling(Recites(turn, Limits(), by_position=False)) as gateway:
                async with gateway.turn():
                    asks = [gateway.ask(one.point, one.state, current=str) for one in turn]
                    for decision in await asyncio.gather(*asks):
                        first = decision.attempts[0]
                        met.add((first.reason.value, first.form != "single"))

        asyncio.run(main())

    look()

    reasons = {"ok", "low_confidence", "confidence_missing", "refused", "incomplete", "malformed"}
    reasons |= {"wrong_type", "undeclared_option", "invalid_number"}
    assert {(reason, shared) for reason in reasons for shared in (True, False)} <= met


def test_states_are_frozen_when_they_are_asked() -> None:
    """What a caller changes while its batch waits is not seen."""
    teller = Teller()
    point = DecisionPoint(
        name="A", questions={"en": {"yes": Predicate("?")}}, reads=("text", "facts"), words="text",
        share=FRAMES[0], safe=False,
    )  # fmt: skip
    other = msgspec.structs.replace(point, name="B")
    facts = {"k": [1]}

    async def main() -> None:
        with telling(teller) as gateway:
            async with gateway.turn():
                state = {"text": "x", "facts": facts}
                asks = [asyncio.create_task(gateway.ask(one, state)) for one in (point, other)]
                await asyncio.sleep(0)
                facts["k"].append(2)
                await asyncio.gather(*asks)

    asyncio.run(main())

    assert [one.text for one in teller.asked] == ['{"facts":{"k":[1]},"words":"x"}']
