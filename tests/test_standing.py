"""Approvals stay decided: a decision made once comes back as it was, whoever decides by then."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import decimal
import itertools
import json
import math
import os
import signal
import threading
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_serializer

from approving import ASK, CALL, COLOURS, NO, VARIABLE, YES, approve, blocks, consult
from pointsman import (
    Ask,
    Choice,
    Decision,
    DeclarationError,
    Gateway,
    Guard,
    HumanNeeded,
    Lens,
    NoAnswer,
    Predicate,
    Reason,
    Recorder,
    Reply,
    SetupError,
    scripted,
)
from pointsman.gateway.cases import Once
from pointsman.gateway.errors import PointsmanError
from pointsman.gateway.standing.identity import identity_of
from pointsman.gateway.standing.standing import Standing
from pointsman.gateway.standing.stood import Held, Stood
from trialling import offering


def events(text: str, event: str) -> list[dict[str, Any]]:
    return [told for line in text.splitlines() if (told := json.loads(line))["event"] == event]


# --- what is asked again comes back as it was ------------------------------------------------


@COLOURS
def test_a_refusal_stands_though_another_provider_would_allow(colour: str) -> None:
    """Frameworks §6.1: the framework asks again on resume, and the provider has changed."""
    refuses, allows = scripted(NO), scripted(YES)
    with offering({VARIABLE: "refuses"}, refuses=refuses, allows=allows) as gateway:
        first = approve(gateway, colour)
        with gateway.override({"APPROVAL": allows}):
            again = approve(gateway, colour)

    assert (first.value, again.value) == (False, False)
    assert (again.provider, again.confidence) == ("refuses", first.confidence)
    assert again.record.id == first.record.id
    assert (len(refuses.asked), len(allows.asked)) == (1, 0)
    assert again.attempts == ()


@COLOURS
@pytest.mark.parametrize(
    "then",
    [
        {VARIABLE: "allows"},
        {VARIABLE: "current"},
        {VARIABLE: "current:1,allows:99"},
        {VARIABLE: "allows", "DECISION_APPROVAL_MIN_CONFIDENCE": "1"},
    ],
    ids=["another provider", "current", "another arm", "another threshold"],
)
def test_a_refusal_stands_after_the_variables_are_read_again(
    colour: str, then: Mapping[str, str]
) -> None:
    with offering({VARIABLE: "refuses"}, refuses=scripted(NO), allows=scripted(YES)) as gateway:
        assert approve(gateway, colour).value is False

        gateway.reload({"DECISION_LOG": "off", **then})

        assert approve(gateway, colour).value is False


@COLOURS
def test_what_current_decided_stands_too(colour: str) -> None:
    """Nobody else was planned then; now somebody is, and would say otherwise."""
    with offering(allows=scripted(YES)) as gateway:
        first = approve(gateway, colour, current=lambda: False)
        with gateway.override({"APPROVAL": "allows"}):
            again = approve(gateway, colour)

    assert (first.value, again.value, again.provider) == (False, False, "current")


@COLOURS
def test_the_arm_of_a_split_is_not_drawn_again(colour: str) -> None:
    """Nor is it counted again."""
    recorder = Recorder()
    split = {VARIABLE: "refuses:100"}
    with offering(
        split, observers=[recorder], refuses=scripted(NO), allows=scripted(YES)
    ) as gateway:
        approve(gateway, colour)
        gateway.reload(
            {"DECISION_LOG": "off", VARIABLE: "allows:100", "DECISION_APPROVAL_EXPERIMENT": "2"}
        )
        again = approve(gateway, colour)

    assert (again.value, again.record.variant, again.record.exposure) == (False, "refuses", None)
    assert [one.variant for one in recorder.records] == ["refuses"]


@COLOURS
@pytest.mark.parametrize(
    "changed",
    [
        {"once": ("call-1", {"id": 8})},
        {"once": ("call-1", {"id": "7"})},
        {"once": ("call-1", {"id": 7.0})},
        {"once": ("call-2", {"id": 7})},
        {"subject": "session-2"},
        {"once": None},
    ],
    ids=["argument", "text", "float", "call", "subject", "never"],
)
def test_a_changed_call_is_asked_anew(colour: str, changed: Mapping[str, Any]) -> None:
    """An approval is one of exactly this call."""
    with offering({VARIABLE: "flips"}, flips=scripted(NO, YES)) as gateway:
        assert approve(gateway, colour).value is False
        assert approve(gateway, colour, **changed).value is True
        assert approve(gateway, colour).value is False


def test_another_point_is_asked_anew() -> None:
    with offering({"DECISION_PROVIDER": "flips"}, flips=scripted(NO, YES)) as gateway:
        assert approve(gateway).value is False
        other = gateway.ask_sync("RISK", ASK, current=bool, subject="session-1", once=CALL)

    assert other.value is True


def test_the_session_is_the_subject() -> None:
    with offering({VARIABLE: "flips"}, flips=scripted(NO, YES)) as gateway:
        with gateway.session("one"):
            assert approve(gateway, subject=None).value is False
        with gateway.session("two"):
            assert approve(gateway, subject=None).value is True
        assert approve(gateway, subject="one").value is False


@COLOURS
def test_without_a_subject_nothing_is_asked(colour: str) -> None:
    """Whose rejection would it be?"""
    provider = scripted(NO)
    with (
        offering({VARIABLE: "refuses"}, refuses=provider) as gateway,
        pytest.raises(SetupError, match=r"APPROVAL: .*session"),
    ):
        approve(gateway, colour, subject=None)

    assert provider.asked == []


# --- how it may have ended ------------------------------------------------------------------


@COLOURS
@pytest.mark.parametrize("planned", ["refuses", "current"])
def test_that_current_carries_on_stands(colour: str, planned: str) -> None:
    """A consultation in vain: the human was asked then, and must not be passed over now."""

    with offering({VARIABLE: planned}, refuses=scripted(Reason.REFUSED)) as gateway:
        assert consult(gateway, colour) is None
        with gateway.override({"APPROVAL": scripted(YES)}):
            assert consult(gateway, colour) is None


@COLOURS
def test_a_consulted_decision_stands(colour: str) -> None:
    with offering({VARIABLE: "flips"}, flips=scripted(NO, YES)) as gateway:
        for _ in range(2):
            handle = gateway.consultation("APPROVAL", ASK, subject="s", once=CALL)
            found = handle.ask_sync() if colour == "sync" else asyncio.run(handle.ask())
            assert found is not None
            assert found.value is False
            assert handle.id == found.record.id


def test_where_current_was_to_carry_on_an_ask_runs_it() -> None:
    """The provider that was not believed then is not believed now."""
    with offering({VARIABLE: "late"}, late=scripted(Reason.REFUSED, YES)) as gateway:
        assert gateway.consult_sync("APPROVAL", ASK, subject="session-1", once=CALL) is None
        asked = approve(gateway, current=lambda: False)

    assert (asked.value, asked.provider) == (False, "current")


@COLOURS
def test_what_came_of_carrying_on_stands_from_then_on(colour: str) -> None:
    """Frameworks §6.1: a hook consults, the host's own path refuses, the run is resumed."""
    answers = iter([False, True, True])
    with offering() as gateway:
        assert consult(gateway, colour) is None
        first = approve(gateway, colour, current=lambda: next(answers))
        again = approve(gateway, colour, current=lambda: next(answers))
        found = consult(gateway, colour)

    assert (first.value, again.value) == (False, False)
    assert found is not None
    assert found.record.id == again.record.id == first.record.id


@COLOURS
def test_a_guardrail_asks_its_provider_though_a_consultation_was_in_vain(colour: str) -> None:
    """It has no path of the host's own: only its doubt would be left, which may be `allow`."""
    unsure_then_sure = scripted(Reason.REFUSED, YES)
    question = Ask(ASK.state, {"unsafe": Predicate("Is this unsafe?")})
    given: dict[str, Any] = {"subject": "session-1", "once": CALL}
    with offering({"DECISION_RAIL_PROVIDER": "late"}, late=unsure_then_sure) as gateway:
        assert gateway.consult_sync("RAIL", question, **given) is None
        guard = Guard(gateway, "RAIL", Predicate("Is this unsafe?"), on_undecided="allow")
        assert blocks(guard, colour) is True
        with gateway.override({"RAIL": scripted(NO)}):
            assert blocks(guard, colour) is True


def test_who_consults_meanwhile_takes_nothing_from_an_ask_under_way() -> None:
    """Its own path has run, and cannot run again."""

    def refuses() -> bool:
        assert consult(gateway) is None
        return False

    with offering() as gateway:
        assert approve(gateway, current=refuses).value is False
        assert approve(gateway).value is False


def test_a_task_that_consults_meanwhile_takes_nothing_from_an_ask_under_way() -> None:
    async def main() -> list[bool]:
        given: dict[str, Any] = {"subject": "session-1", "once": CALL}

        async def refuses() -> bool:
            assert await gateway.consult("APPROVAL", ASK, **given) is None
            return False

        first = await gateway.ask("APPROVAL", ASK, current=refuses, **given)
        again = await gateway.ask("APPROVAL", ASK, current=lambda: True, **given)
        return [first.value, again.value]

    with offering() as gateway:
        assert asyncio.run(main()) == [False, False]


@COLOURS
def test_a_subject_that_is_no_text_is_refused(colour: str) -> None:
    """`7` and `"7"` would be two subjects, or one."""
    subject: Any = 7
    with offering() as gateway, pytest.raises(DeclarationError, match="subject is a int"):
        approve(gateway, colour, subject=subject)


@COLOURS
def test_that_a_person_must_decide_stands(colour: str) -> None:
    """Also where the point says something else by now."""
    human: dict[str, Any] = {"current": None, "on_undecided": "human"}
    environ = {VARIABLE: "late", "DECISION_INBOX": "off"}
    with offering(environ, late=scripted(Reason.REFUSED, YES)) as gateway:
        with pytest.raises(HumanNeeded) as first:
            approve(gateway, colour, **human)
        with pytest.raises(HumanNeeded) as again:
            approve(gateway, colour, **human)
        with pytest.raises(HumanNeeded):
            approve(gateway, colour, current=None, on_undecided="allow")

    assert again.value.id == first.value.id
    assert again.value.attempts == ()


@COLOURS
@pytest.mark.parametrize(("doubt", "blocked"), [("block", True), ("allow", False)])
def test_what_happens_in_doubt_stands(
    colour: str,
    doubt: Literal["block", "allow"],
    blocked: bool,  # noqa: FBT001 - a row of the table
) -> None:
    with offering({"DECISION_RAIL_PROVIDER": "late"}, late=scripted(Reason.REFUSED)) as gateway:
        guard = Guard(gateway, "RAIL", Predicate("Is this unsafe?"), on_undecided=doubt)

        assert blocks(guard, colour) is blocked
        with gateway.override({"RAIL": scripted(not blocked)}):
            assert blocks(guard, colour) is blocked


@COLOURS
def test_a_failure_does_not_stand(colour: str) -> None:
    """Nothing was decided, so the next one who asks may decide."""
    alone = {VARIABLE: "late", "DECISION_APPROVAL_FALLBACK_TO_CURRENT": "false"}
    with offering(alone, late=scripted(Reason.TIMEOUT, NO)) as gateway:
        with pytest.raises(NoAnswer):
            approve(gateway, colour)
        assert approve(gateway, colour).value is False

    def fails() -> bool:
        raise LookupError

    with offering() as gateway:
        with pytest.raises(LookupError):
            approve(gateway, colour, current=fails)
        assert approve(gateway, colour).value is True


# --- what the host gets ----------------------------------------------------------------------


class Team(Enum):
    BILLING = "billing"
    TECH = "tech"


@pytest.mark.parametrize("planned", ["current", "says"])
def test_the_value_is_of_the_functions_own_type_again(planned: str) -> None:
    with offering({"DECISION_TEAM_PROVIDER": planned}, says=scripted("tech")) as gateway:

        def named(message: str, call: str) -> tuple[str, object]:
            return call, {"message": message}

        lens = Lens(state=lambda message, _: message, session=lambda *_: "session-1")

        @gateway.point("TEAM", Choice("Who takes it?", ["billing", "tech"]), lens=lens, once=named)
        def team(message: str, call: str) -> Team:
            ran.append(f"{call}: {message}")
            return Team.TECH

        ran: list[str] = []
        assert team("m", "c") is Team.TECH
        with gateway.override({"TEAM": scripted("billing")}):
            assert team("m", "c") is Team.TECH
            assert team("m", "d") is Team.BILLING

    assert ran == (["c: m"] if planned == "current" else [])


def test_a_value_that_cannot_be_read_stands_as_it_is() -> None:
    """In memory; a journal could not hold it."""
    with offering() as gateway:
        approve(gateway, current=lambda: {"strange": 1})
        with gateway.override({"APPROVAL": scripted(YES)}):
            again = approve(gateway)

    assert again.value == {"strange": 1}


def test_the_host_cannot_change_what_stands() -> None:
    """Its value would say another thing than the record, and let a refused call run."""
    given: dict[str, Any] = {"read": lambda value: value["may"]}
    with offering() as gateway:
        refusal = {"may": False}
        for _ in range(3):
            made = approve(gateway, current=lambda: refusal, **given)
            assert (made.value, made.record.outcome) == ({"may": False}, False)
            made.value["may"] = True


class Uncopied:
    """What holds a lock, as a client does."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


@pytest.mark.parametrize("readable", [True, False])
def test_what_cannot_be_copied_comes_back_by_its_outcome_or_as_it_is(*, readable: bool) -> None:
    made = Uncopied()
    given: dict[str, Any] = {"read": lambda _: NO} if readable else {}
    with offering() as gateway:
        assert approve(gateway, current=lambda: made, **given).value is made
        again = approve(gateway, **given).value

    assert again is (False if readable else made)


@COLOURS
def test_what_stands_is_collected_and_told_once(
    colour: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Observers count decisions; the log says that one stands, without arguments or subject."""
    recorder, shadow = Recorder(), scripted(YES)
    environ = {VARIABLE: "refuses", "DECISION_APPROVAL_SHADOW": "shadow", "DECISION_LOG": "json"}
    providers = {"refuses": scripted(NO), "shadow": shadow}
    call = ("call-zq7", {"secret": "zq8"})
    with (
        offering(environ, observers=[recorder], **providers) as gateway,
        gateway.collect() as decisions,
    ):
        approve(gateway, colour, once=call, subject="zq9")
        approve(gateway, colour, once=call, subject="zq9")

    assert [one.value for one in decisions] == [False, False]
    (made,) = recorder.records
    assert len(shadow.asked) == 1
    told = capsys.readouterr().err
    (stands,) = events(told, "decision.stands")
    assert (stands["point"], stands["id"]) == ("APPROVAL", made.id)
    assert len(events(told, "decision.made")) == 1
    assert "zq" not in told


def test_what_current_did_after_it_was_told_to_carry_on_is_told_once() -> None:
    recorder = Recorder()
    with offering(
        {VARIABLE: "in_vain"}, observers=[recorder], in_vain=scripted(Reason.REFUSED)
    ) as gateway:
        for _ in range(2):
            handle = gateway.consultation("APPROVAL", ASK, subject="s", once=CALL)
            assert handle.ask_sync() is None
            handle.observe(True)  # noqa: FBT003 - what current said

    assert [(one.provider, one.outcome) for one in recorder.records] == [
        ("current", None),
        ("current", True),
    ]


def test_in_a_turn_what_stands_asks_nobody() -> None:
    async def main() -> None:
        refuses = scripted(NO)
        with offering({VARIABLE: "refuses"}, refuses=refuses) as gateway:
            async with gateway.turn("session-1"):
                given: dict[str, Any] = {"current": lambda: True, "once": CALL}
                both = [gateway.ask("APPROVAL", ASK, **given) for _ in range(2)]
                first = [one.value for one in await asyncio.gather(*both)]
                again = (await gateway.ask("APPROVAL", ASK, **given)).value
            assert (first, again) == ([False, False], False)
            assert len(refuses.asked) == 1

    asyncio.run(main())


# --- many at once ----------------------------------------------------------------------------


class Alternating:
    """Says yes, no, yes, …, and lets the others catch up before it does."""

    name, model = "alternating", "alternating-1"
    limits = scripted().limits

    def __init__(self, together: int) -> None:
        self._count = itertools.count()
        self._together = threading.Barrier(together, timeout=20.0)

    def answer(self, ask: Ask, call: Any) -> Reply:
        """Answer once as many ask as are to ask together."""
        n = next(self._count)
        self._together.wait()
        return scripted(n % 2 == 0).answer(ask, call)


def test_many_threads_that_ask_at_once_get_one_outcome() -> None:
    """Each was let through to the provider, which tells them different things."""
    with (
        offering({VARIABLE: "alternates"}, alternates=Alternating(50)) as gateway,
        ThreadPoolExecutor(50) as pool,
    ):
        made = list(pool.map(lambda _: approve(gateway), range(50)))

    assert len({one.value for one in made}) == 1
    assert len({one.record.id for one in made}) == 1


class Waiting:
    """As `Alternating`, of the async shape."""

    name, model = "waiting", "waiting-1"
    limits = scripted().limits

    def __init__(self) -> None:
        self._count = itertools.count()

    async def answer(self, ask: Ask, call: Any) -> Reply:
        """Answer after everybody had a chance to ask."""
        n = next(self._count)
        for _ in range(5):
            await asyncio.sleep(0)
        return scripted(n % 2 == 0).answer(ask, call)


def test_many_tasks_that_ask_at_once_get_one_outcome() -> None:
    async def main(gateway: Gateway) -> list[Decision[Any]]:
        given: dict[str, Any] = {"current": lambda: True, "subject": "s", "once": CALL}
        return await asyncio.gather(*(gateway.ask("APPROVAL", ASK, **given) for _ in range(50)))

    with offering({VARIABLE: "waits"}, waits=Waiting()) as gateway:
        made = asyncio.run(main(gateway))

    assert len({(one.value, one.record.id) for one in made}) == 1


def test_who_came_second_is_not_recorded_as_a_decision() -> None:
    """What the host never got must not be counted."""
    recorder = Recorder()
    with (
        offering(
            {VARIABLE: "alternates"}, observers=[recorder], alternates=Alternating(2)
        ) as gateway,
        ThreadPoolExecutor(2) as pool,
    ):
        made = list(pool.map(lambda _: approve(gateway), range(2)))

    assert [one.id for one in recorder.records] == [made[0].record.id]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_knows_what_stood_before() -> None:
    """Also where another thread was just asking, whose lock nobody would release there."""
    with offering({VARIABLE: "flips"}, flips=scripted(NO, YES)) as gateway:
        assert approve(gateway).value is False
        held = gateway._runtime.standing._lock
        inside, leave = threading.Event(), threading.Event()

        def hold() -> None:
            with held:
                inside.set()
                leave.wait(20.0)

        holder = threading.Thread(target=hold)
        holder.start()
        assert inside.wait(20.0)
        if (child := os.fork()) == 0:
            signal.alarm(20)  # a lock that stays shut ends it
            os._exit(0 if approve(gateway).value is False else 1)
        _, status = os.waitpid(child, 0)
        leave.set()
        holder.join()

    assert os.waitstatus_to_exitcode(status) == 0


# --- what is remembered ----------------------------------------------------------------------


def held(n: int) -> Held:
    with offering({VARIABLE: "refuses"}, refuses=scripted(NO)) as gateway:
        record = approve(gateway).record
    return Held(Stood(how="decided", record=msgspec.structs.replace(record, id=f"{n:032x}")))


def test_what_was_not_asked_for_the_longest_is_forgotten_first() -> None:
    standing = Standing(most=2)
    one = held(1)
    standing.keep("a", one)
    standing.keep("b", held(2))
    assert standing.known("a") is one

    standing.keep("c", held(3))

    assert standing.known("a") is one
    assert standing.known("b") is None


def test_the_first_to_say_how_it_ended_counts() -> None:
    standing = Standing()
    first = held(1)

    assert standing.keep("a", first) is first
    assert standing.keep("a", held(2)) is first
    assert standing.keep("a", Held(held(3).stood, "a value", whole=True)) is first


def test_a_value_is_remembered_though_another_thread_read_the_outcome_first() -> None:
    """The journal holds the outcome only; the host's own value says more."""
    standing = Standing()
    read = held(1)
    standing.keep("a", read)
    whole = Held(read.stood, "the host's own", whole=True)

    assert standing.keep("a", whole) is whole
    assert standing.keep("a", read) is whole


# --- which call it is --------------------------------------------------------------------------

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, -1.0, 1.5, 1e22, 1e-7])
    | st.sampled_from(["", "1", "true", "null", "é", "e\u0301", "\ud83d", "\ud83d\ude00"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab1"), inner),
    max_leaves=6,
)


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: kinds of values differ, the order of keys does not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def identity(arguments: object, point: str = "P", subject: str = "s", call: str = "c") -> str:
    """Write down a call without deciding it."""

    class Call(msgspec.Struct):
        subject: str

    class Point(msgspec.Struct):
        name: str

    class Case(msgspec.Struct):
        point: Point
        call: Call
        once: Once

    made: Any = Case(Point(point), Call(subject), Once(call, arguments))
    return identity_of(made)


@settings(max_examples=1_000, deadline=None)
@given(one=values, other=values)
def test_two_calls_are_the_same_exactly_if_their_json_is(one: Any, other: Any) -> None:
    assert (identity(one) == identity(other)) is same(one, other)


def test_texts_that_no_utf_8_can_write_differ() -> None:
    """Halves of two emoji are two values, and neither is what would be written for them."""
    told = ["\ud83d", "\ud83e", "?", "\ufffd", "\\ud83d"]

    assert len({identity(one) for one in told}) == len(told)
    assert all(identity(one).isascii() for one in told)  # what hashes it replaces nothing


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return tuple(map(shuffled, value)) if isinstance(value, list) else value


@given(values)
def test_the_order_of_keys_and_the_kind_of_list_do_not_matter(value: Any) -> None:
    assert identity(shuffled(value)) == identity(value)


parts = st.text(max_size=3)


@given(one=st.tuples(parts, parts, parts), other=st.tuples(parts, parts, parts))
def test_no_part_of_an_identity_runs_into_the_next(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assert (identity({}, *one) == identity({}, *other)) is (one == other)


class Plain(msgspec.Struct):
    id: int
    tags: tuple[str, ...]


@dataclasses.dataclass
class Data:
    id: int
    tags: list[str]


class Model(BaseModel):
    id: int
    tags: list[str]


@pytest.mark.parametrize("make", [Plain, Data, Model], ids=["struct", "dataclass", "model"])
def test_a_model_is_its_type_and_its_fields(make: Callable[..., Any]) -> None:
    told = identity({"args": make(id=7, tags=["a"])})

    assert told == identity({"args": make(id=7, tags=["a"])})
    assert told != identity({"args": make(id=7, tags=["b"])})
    assert told != identity({"args": {"id": 7, "tags": ["a"]}})


def test_a_model_that_was_read_from_json_is_the_same() -> None:
    made = Model(id=7, tags=["a"])

    assert identity(Model.model_validate_json(made.model_dump_json())) == identity(made)


class Hidden(BaseModel):
    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)
    amount: int = Field(exclude=True, default=1)
    to: str = "bob"
    inner: Model = Model(id=7, tags=[])

    @field_serializer("to")
    def _masked(self, _: str) -> str:
        return "***"


class MoreThanAModel(Model):
    more: str


@dataclasses.dataclass
class Reads:
    id: int


@dataclasses.dataclass
class Deletes:
    id: int


class Tagged(msgspec.Struct, tag="tagged"):
    id: int


class TaggedToo(msgspec.Struct, tag="too"):
    id: int


DIFFERENT: dict[str, tuple[object, object]] = {
    "an excluded field": (Hidden(amount=1), Hidden(amount=1_000_000)),
    "a masked field": (Hidden(to="bob"), Hidden(to="mallory")),
    "an extra": (Hidden(), Hidden.model_validate({"more": 1})),
    "an extra named as a field": (
        Hidden.model_validate({"extras": 1}),
        Hidden.model_validate({"fields": 1}),
    ),
    "a field of a subclass": (
        Hidden(inner=MoreThanAModel(id=7, tags=[], more="a")),
        Hidden(inner=MoreThanAModel(id=7, tags=[], more="b")),
    ),
    "two dataclasses": (Reads(7), Deletes(7)),
    "two structs": (Tagged(7), TaggedToo(7)),
    "a decimal and its text": (decimal.Decimal("1.0"), "1.0"),
    "two decimals": (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
    "a set and a list": ({1}, [1]),
    "two sets": ({1, 2}, {1, 3}),
    "two bytes": (b"a", b"b"),
    "bytes and text": (b"a", "a"),
    "two secrets": (SecretStr("a"), SecretStr("b")),
    "two paths": (Path("/a"), Path("/b")),
    "two moments": (dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.datetime(2026, 1, 1)),  # noqa: DTZ001 - a time of no zone
    "a key that looks like a form": ({"\0decimal": "1"}, decimal.Decimal(1)),
    "a key that looks like a type": (Reads(7), {"\0Reads": {"id": 7}}),
    "a key that looks like a type's form": (Reads(7), {"\0type Reads": {"id": 7}}),
    "a set of a number and one of its text": ({1}, {"1"}),
    "halves of an emoji": ("\ud83d\ude00", "\U0001f600"),
    "two numbers of numpy": (np.int64(3), np.float32(3)),
}


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_what_differs_anywhere_is_another_call(pair: tuple[object, object]) -> None:
    """Two calls that were taken for one would be approved with one answer."""
    one, other = pair
    assert identity({"given": one}) != identity({"given": other})


SAME: dict[str, tuple[object, object]] = {
    "an enum": (Team.TECH, "tech"),
    "a UUID": (uuid.UUID(int=1), str(uuid.UUID(int=1))),
    "a path": (Path("/a"), "/a"),
    "a moment": (dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "2026-01-01T00:00:00+00:00"),
    "a day": (dt.date(2026, 1, 1), "2026-01-01"),
    "sets in any order": ({"a", "b", "c"}, frozenset(["c", "b", "a"])),
    "sets of sets": ({frozenset({1, 2}), frozenset({3})}, {frozenset({3}), frozenset({2, 1})}),
    "a number of numpy": (np.int64(3), 3),
    "a secret": (SecretStr("zq7"), SecretStr("zq7")),
    "bytes": (b"zq7", bytearray(b"zq7")),
    "a decimal": (decimal.Decimal("1.0"), decimal.Decimal("1.0")),
    "seconds": (dt.timedelta(seconds=1), dt.timedelta(milliseconds=1000)),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME.keys())
def test_what_has_one_written_form_is_written(pair: tuple[object, object]) -> None:
    one, other = (identity({"given": each}) for each in pair)

    assert one == other
    assert "zq7" not in one


def test_sets_within_sets_grow_with_what_they_hold() -> None:
    """Forms of forms once doubled at each level."""
    nested: object = "a"
    for _ in range(60):
        nested = frozenset([nested])

    assert len(identity({"given": nested})) < 2_000


def endless() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


class Broken:
    def model_dump(self) -> Any:
        raise RuntimeError("zq7")


@COLOURS
@pytest.mark.parametrize(
    "arguments",
    [
        math.nan,
        -math.inf,
        object(),
        {object()},
        {7: "zq7"},
        Broken(),
        Model,
        Plain,
        Data,
        endless(),
        10**5000,
    ],
    ids=[
        *("nan", "inf", "object", "set", "key", "broken", "model", "struct", "class"),
        *("endless", "digits"),
    ],
)
def test_arguments_that_are_no_json_are_refused_and_not_repeated(
    colour: str, arguments: object
) -> None:
    refuses = scripted(NO)
    with (
        offering({VARIABLE: "refuses"}, refuses=refuses) as gateway,
        pytest.raises(DeclarationError, match=r"^APPROVAL: ") as refused,
    ):
        approve(gateway, colour, once=("call-1", {"given": arguments}))

    assert "zq7" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert isinstance(refused.value, PointsmanError)
    assert refuses.asked == []
