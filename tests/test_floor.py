"""The floor: one turn at a time or many, within deadlines and means, and nothing lost."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import virtual
from pointsman import Ask, Call, Choice, Gateway, Predicate, Score, Usage
from pointsman.gateway.answers import Chosen, Held, Reply, Scored
from pointsman.gateway.errors import DeclarationError, NoAnswer, Reason, SetupError
from pointsman.gateway.plugins import Draft, Written
from pointsman.gateway.questions import Question
from pointsman.providers.deliberation import Member, members, seated
from pointsman.providers.deliberation.allowance import Allowance
from pointsman.providers.deliberation.drafts import FENCE, POINTS, fenced, read, schema_of
from pointsman.providers.deliberation.feasible import Stage, feasible
from pointsman.providers.deliberation.floor import Floor
from pointsman.providers.deliberation.roles import Role, get_role, register_role
from pointsman.providers.deliberation.scopes import Scope
from pointsman.providers.deliberation.transcript import Transcript
from pointsman.providers.deliberation.turns import Turn, Wanted

CALL = Call(point="ROUTER")
SAID = {"recommendation": "invest", "confidence": 70}
TEAM = Ask("refund me", {"team": Choice("Which team?", ["billing", "tech"])})


class Position(msgspec.Struct, forbid_unknown_fields=True):
    recommendation: Literal["invest", "defer"]
    confidence: Annotated[int, msgspec.Meta(ge=0, le=100)]


class Part(msgspec.Struct):
    recommendation: Literal["invest", "defer"]
    confidence: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0


def draft(state: object = "the question", form: Any = Position, says: str = "Say.") -> Draft:
    return Draft(task="position", instructions=says, state=state, schema=schema_of(form))


def wants(name: str, **more: Any) -> Wanted:
    (member,) = seated(name)
    given = {"kind": "position", "round": 1, "draft": draft(), "form": Position, **more}
    return Wanted(member=member, **given)


def typed(name: str, ask: Ask = TEAM) -> Wanted:
    (member,) = seated(name)
    return Wanted(member=member, kind="answer", round=0, ask=ask)


def stage(
    functions: Mapping[str, virtual.Member],
    *,
    allowance: Allowance | None = None,
    total: float | None = 300.0,
    held: float = 0.0,
    transcript: Transcript | None = None,
) -> Floor:
    gateway = Gateway.from_env({"DECISION_LOG": "off"}, plugins=[members(**functions)])
    return Floor(
        gateway,
        CALL,
        Scope.opened("total", total, CALL, held=held),
        allowance or Allowance(),
        transcript or Transcript.begin(None, {"kind": "test"}),
    )


def one(function: virtual.Member, wanted: Wanted | None = None, seconds: float = 30.0) -> Turn:
    """Give one member one turn, in virtual time."""

    async def held() -> Turn:
        async with stage({"m": function}) as floor:
            return await floor.turn(wanted or wants("m"), seconds)

    return virtual.run(held())


# --- what a turn comes to ---------------------------------------------------------------------


def test_a_turn_is_told_with_all_that_a_record_needs() -> None:
    """DI-15, DI-18: role, kind, round, model, tokens, cost, latency; DI-14: the gateway's lane."""

    async def analyst(_: Draft) -> Written:
        await asyncio.sleep(3)
        usage = Usage(100, 20, 0.01)
        return Written(text=msgspec.json.encode(SAID).decode(), model="own-1", usage=usage)

    turn = one(analyst, wants("cfo=m"))

    assert (turn.member, turn.role, turn.provider, turn.model) == ("cfo", "cfo", "m", "own-1")
    assert (turn.kind, turn.round, turn.attempt, turn.ending) == ("position", 1, 1, "ok")
    assert turn.said == SAID
    assert turn.usage == Usage(100, 20, 0.01)
    assert turn.seconds == 3.0
    assert turn.usable
    assert len(turn.prompt) == 64


ENDINGS = {
    "wrong_type": ("invalid", "wrong_type"),
    "out_of_range": ("invalid", "undeclared_option"),
    "not_a_number": ("invalid", "invalid_number"),
    "late": ("timeout", "timeout"),
    "hung": ("timeout", "timeout"),
    "swallowing": ("late", "timeout"),
    "unstoppable": ("timeout", "timeout"),
    "partial": ("timeout", "timeout"),
    "truncated": ("invalid", "malformed"),
    "duplicate": ("invalid", "malformed"),
    "raising": ("failed", "provider_error"),
    "silent": ("abstained", "abstained"),
}


@pytest.mark.parametrize("name", virtual.DISOBEDIENT)
def test_a_member_that_disobeys_ends_its_own_turn_and_gives_nothing(name: str) -> None:
    """BR-24, BR-11, BR-05: invalid, late, failed and timed out are told apart; DI-15."""
    turn = one(virtual.DISOBEDIENT[name](SAID))

    assert (turn.ending, turn.reason.value) == ENDINGS[name]
    assert turn.said is None
    assert not turn.usable


TYPED = ENDINGS | {
    "wrong_type": ("invalid", "wrong_type"),
    "not_a_number": ("ok", "ok"),  # there is no number in it
    "truncated": ("invalid", "incomplete"),
    "duplicate": ("invalid", "mismatched"),
    "partial": ("timeout", "timeout"),
}


@pytest.mark.parametrize("name", virtual.DISOBEDIENT)
def test_typed_answers_are_held_to_the_same(name: str) -> None:
    """BR-24, BR-11: an option that nobody offered is no vote, nor is anything else invented."""
    turn = one(virtual.DISOBEDIENT[name]("billing"), typed("m"))

    assert (turn.ending, turn.reason.value) == TYPED[name]
    assert bool(turn.answers) == (turn.ending == "ok")


def test_what_was_there_when_the_time_was_up_counts_if_it_fits() -> None:
    """BR-06, AM-26, DD-64: a part with a recommendation is usable; a missing confidence is 0."""
    wanted = wants("m", partial_form=Part)

    half = one(virtual.partial({"recommendation": "invest"}), wanted)
    last = one(virtual.partial({"recommendation": "invest"}, SAID | {"confidence": 9}), wanted)
    junk = one(virtual.partial({"recommendation": "sell"}), wanted)
    whole = one(virtual.partial({"recommendation": "invest"}))

    assert (half.ending, half.said) == ("partial", {"recommendation": "invest", "confidence": 0})
    assert half.usable
    assert half.reason is Reason.TIMEOUT
    assert last.said == {"recommendation": "invest", "confidence": 9}
    assert (junk.ending, junk.said) == ("timeout", None)
    assert (whole.ending, whole.said) == ("timeout", None)


def test_a_stream_that_ends_is_whole() -> None:
    turn = one(virtual.streaming({"recommendation": "invest"}, SAID))

    assert (turn.ending, turn.said, turn.seconds) == ("ok", SAID, 2.0)


def test_an_unsure_answer_abstains_and_is_kept() -> None:
    """BR-11: below the member's own minimum it does not count; the record has it."""

    async def held() -> Turn:
        gateway = Gateway.from_env(
            {"DECISION_LOG": "off", "M_MIN_CONFIDENCE": "0.9"},
            plugins=[members(m=virtual.obedient(("billing", 0.8)))],
        )
        scope, book = Scope.opened("total", 30), Transcript.begin(None, {})
        return await Floor(gateway, CALL, scope, Allowance(), book).turn(typed("m"))

    turn = virtual.run(held())

    assert (turn.ending, turn.reason) == ("abstained", Reason.LOW_CONFIDENCE)
    assert turn.answers["team"].value == "billing"


def test_what_voices_raise_ends_one_turn_and_names_its_type_alone() -> None:
    """BR-01: unexpected exceptions are captured per turn; no message is kept."""

    class Broken:
        async def hear(self, *_: object, **__: object) -> Any:
            raise KeyError("planted-secret")

        async def write(self, *_: object, **__: object) -> Any:
            raise asyncio.CancelledError

        def can_write(self, _: str) -> bool:
            return True

        def knows_provider(self, _: str) -> bool:
            return True

    async def held() -> list[Turn]:
        book = Transcript.begin(None, {})
        floor = Floor(Broken(), CALL, Scope.opened("total", 30), Allowance(), book)
        return await floor.together([typed("m"), wants("m")])

    heard, wrote = virtual.run(held())

    assert (heard.ending, heard.notes) == ("failed", ("raised:KeyError",))
    assert (wrote.ending, wrote.notes) == ("failed", ("raised:CancelledError",))
    assert "planted" not in repr(heard)


def test_the_operators_fault_is_not_hidden_by_a_turn() -> None:
    async def held() -> list[Turn]:
        return await stage({"m": virtual.obedient(SAID)}).together([wants("m"), wants("nobody")])

    with pytest.raises(SetupError, match="nobody"):
        virtual.run(held())


# --- time -------------------------------------------------------------------------------------


def test_members_of_a_round_speak_at_once_and_their_turns_keep_their_places() -> None:
    """DP-03, BR-01: the round lasts as long as its slowest member."""
    lasts = {"a": 9.0, "b": 1.0, "c": 5.0}
    functions = {name: virtual.obedient(SAID, seconds) for name, seconds in lasts.items()}

    async def held() -> list[Turn]:
        return await stage(functions).together([wants(name) for name in lasts], 30)

    turns, seconds = virtual.timed(held())

    assert [turn.member for turn in turns] == list(lasts)
    assert [turn.seconds for turn in turns] == list(lasts.values())
    assert seconds == 9.0


def test_what_was_said_is_written_down_when_the_next_is_asked() -> None:
    """AM-29: what a later speaker sees is up to who asks, also what was said just now."""
    functions = {name: virtual.obedient(SAID, 2.0) for name in "abc"}
    seen: list[str] = []

    async def held() -> list[Turn]:
        floor = stage(functions)

        def each() -> Any:
            for name in "abc":
                seen.append(",".join(turn.member for turn in floor.transcript.turns))
                yield wants(name)

        return [await floor.turn(one, 30) for one in each()]

    turns, seconds = virtual.timed(held())

    assert [turn.begun for turn in turns] == [0.0, 2.0, 4.0]
    assert seen == ["", "a", "a,b"]
    assert seconds == 6.0


@pytest.mark.parametrize(
    ("turn", "round_", "total", "limit", "ends"),
    [
        (30, 120, 300, "turn", 30.0),
        (30, 20, 300, "round", 20.0),
        (30, 20, 10, "total", 10.0),
        (None, 20, 300, "round", 20.0),
        (None, None, 300, "total", 300.0),
    ],
)
def test_deadlines_nest_and_say_which_of_them_cut(
    turn: float | None, round_: float | None, total: float, limit: str, ends: float
) -> None:
    """BR-02, AM-12, DD-64, DD-65, DD-66: the effective limit is the earliest around it."""

    async def held() -> Turn:
        floor = stage({"m": virtual.hung()}, total=total)
        return await floor.turn(wants("m"), turn, floor.scope.inner("round", round_))

    ended, seconds = virtual.timed(held())

    assert (ended.ending, ended.notes) == ("timeout", (f"limit:{limit}",))
    assert seconds == ends


def test_the_callers_deadline_is_the_outermost() -> None:
    """BR-02: turn ⊂ round ⊂ debate ⊂ caller; there is a moment left to put an answer together."""

    async def held() -> tuple[Turn, float]:
        call = Call(point="P", deadline=time.monotonic() + 50)
        scope = Scope.opened("total", 300, call)
        gateway = Gateway.from_env({}, plugins=[members(m=virtual.hung())])
        floor = Floor(gateway, call, scope, Allowance(), Transcript.begin(None, {}))
        return await floor.turn(wants("m"), 60), floor.elapsed

    turn, elapsed = virtual.run(held())

    assert turn.notes == ("limit:caller",)
    assert 49 < elapsed < 50


def test_a_hung_speaker_holds_up_nobody() -> None:
    """C.2, AutoGen: the timeout pre-empts; it is not looked at when a message arrives."""
    functions = {
        "hung": virtual.hung(),
        "deaf": virtual.unstoppable(SAID),
        "m": virtual.obedient(SAID, 2),
    }

    async def held() -> list[Turn]:
        async with stage(functions) as floor:
            return await floor.together([wants(name) for name in functions], 30)

    turns, seconds = virtual.timed(held())

    assert [turn.ending for turn in turns] == ["timeout", "timeout", "ok"]
    assert seconds < 31


def test_a_member_that_will_not_stop_is_written_down_when_it_has() -> None:
    """BR-05: its late answer is recorded as late, and its turn was a timeout."""

    async def held() -> Transcript:
        floor = stage({"m": virtual.unstoppable(SAID, 200)})
        turn = await floor.turn(wants("m"), 30)
        assert turn.ending == "timeout"
        await asyncio.sleep(300)
        return floor.transcript

    book = virtual.run(held())

    (late,) = [entry for entry in book.entries if entry.kind == "late"]
    assert late.body == {"turn": "position:1:m:1", "answered": True}
    assert late.at == 200.0
    assert [turn.ending for turn in book.turns] == ["timeout"]


def test_retrieval_within_a_turn_does_not_stop_its_clock() -> None:
    """AM-13: whatever a member does in its turn is within its limit."""

    async def looks_up(_: Draft) -> Any:
        await asyncio.sleep(15)  # a retrieval
        await asyncio.sleep(16)
        return SAID

    assert one(looks_up, seconds=30).ending == "timeout"


def test_the_reserved_slice_of_time_is_for_closing_turns() -> None:
    """BR-08: time for a synthesis is held back from the rounds."""

    async def held() -> tuple[Turn, Turn, Turn]:
        floor = stage({"hung": virtual.hung(), "m": virtual.obedient(SAID, 5)}, total=100, held=0.1)
        cut = await floor.turn(wants("hung"))
        none = await floor.turn(wants("m", tag="again"))
        return cut, none, await floor.turn(wants("m", closing=True))

    cut, none, closing = virtual.run(held())

    assert (cut.ending, cut.seconds) == ("timeout", 90.0)
    assert (none.ending, none.notes) == ("timeout", ("unasked", "limit:total"))
    assert (closing.ending, closing.seconds) == ("ok", 5.0)


def test_the_lower_layers_get_a_deadline_too() -> None:
    """BR-02: what is asked gives up by itself soon after its turn."""
    seen: list[float] = []

    class Voices(Silent):
        async def hear(self, name: str, ask: Ask, *, within: Call) -> Any:
            assert within.deadline is not None
            seen.append(within.deadline - time.monotonic())
            raise NoAnswer(Reason.REFUSED)

    async def held() -> Turn:
        book = Transcript.begin(None, {})
        return await Floor(Voices(), CALL, Scope.opened("total", 300), Allowance(), book).turn(
            typed("m"), 30
        )

    assert virtual.run(held()).ending == "abstained"
    assert 30 < seen[0] <= 31


class Silent:
    """Voices that nobody hears."""

    async def hear(self, name: str, ask: Ask, *, within: Call) -> Any:
        raise NoAnswer(Reason.ABSTAINED)

    async def write(self, name: str, draft: Draft, *, within: Call, partial: Any = None) -> Any:
        raise NoAnswer(Reason.ABSTAINED)

    def can_write(self, name: str) -> bool:
        return False

    def knows_provider(self, name: str) -> bool:
        return True


# --- cancelling -------------------------------------------------------------------------------


def test_who_gives_up_ends_everybody_and_loses_nothing() -> None:
    """BR-03, BR-04, TR-05: cancelled is neither failed nor timed out; what had ended stands."""
    ended: list[str] = []

    async def waits(_: Draft) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("stopped")

    async def held() -> Transcript:
        floor = stage({"quick": virtual.obedient(SAID, 1), "slow": waits})
        task = asyncio.create_task(floor.together([wants("quick"), wants("slow")], 30))
        await virtual.after(5, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        return floor.transcript

    book = virtual.run(held())

    assert ended == ["stopped"]
    assert {turn.member: turn.ending for turn in book.turns} == {"quick": "ok", "slow": "cancelled"}
    assert book.turns[1].seconds == 5.0


def test_a_deadline_never_loses_what_was_said() -> None:
    """BR-04; C.2, llm-council: cancelling the outer deadline lost all answers collected."""

    async def held() -> Transcript:
        floor = stage({"a": virtual.obedient(SAID, 1), "b": virtual.hung()})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(10):
                await floor.together([wants("a"), wants("b")], 30)
        return floor.transcript

    assert [turn.ending for turn in virtual.run(held()).turns] == ["ok", "cancelled"]


class Deaf:
    """A server that reads what it is sent, and never answers; it counts who comes and goes."""

    def __init__(self, many: int) -> None:
        self.came, self.went = asyncio.Barrier(many + 1), asyncio.Barrier(many + 1)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await self.came.wait()
        while await reader.read(65_536):  # the body, and then nothing until the other end closes
            pass
        await self.went.wait()
        writer.close()


def test_cancelling_reaches_the_socket() -> None:
    """BR-03: the HTTP calls of members under way are closed, those of all members at once."""

    async def held() -> list[str]:
        deaf = Deaf(3)
        async with await asyncio.start_server(deaf.serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            url = f"http://127.0.0.1:{port}/v1"
            environ = {"DECISION_LOG": "off", "CHAT_MODEL": "m", "CHAT_BASE_URL": url}
            async with Gateway.from_env(environ) as gateway, asyncio.timeout(30):
                book, scope = Transcript.begin(None, {}), Scope.opened("total", 300)
                floor = Floor(gateway, CALL, scope, Allowance(), book)
                wanted = [wants(f"{name}=chat") for name in "abc"]
                task = asyncio.create_task(floor.together(wanted, 60))
                await deaf.came.wait()
                task.cancel()
                await deaf.went.wait()
                await asyncio.wait({task})
        return [turn.ending for turn in book.turns]

    assert asyncio.run(held()) == ["cancelled"] * 3


def test_no_task_outlives_its_floor() -> None:
    """BR-01."""

    async def held() -> int:
        async with stage({"m": virtual.swallowing(SAID), "hung": virtual.hung()}) as floor:
            await floor.together([wants("m"), wants("hung")], 5)
        await asyncio.sleep(0)
        return len(asyncio.all_tasks())

    assert virtual.run(held()) == 1


# --- means ------------------------------------------------------------------------------------


def costs(usage: Usage | None, seconds: float = 0.0) -> virtual.Member:
    async def speaks(_: Draft) -> Written:
        await asyncio.sleep(seconds)
        return Written(text=msgspec.json.encode(SAID).decode(), usage=usage)

    return speaks


def spending(allowance: Allowance, usage: Usage | None, turns: int = 6) -> list[str]:
    """Let one member speak again and again: how its turns end."""

    async def held() -> list[str]:
        floor = stage({"m": costs(usage)}, allowance=allowance)
        wanted = [wants("m", tag=str(number)) for number in range(turns)]
        return [(await floor.turn(one)).ending for one in wanted]

    return virtual.run(held())


def test_what_is_used_up_stops_the_next_call_and_no_answer_in_hand() -> None:
    """BR-07: `>=` stops the next call; the one that went over it counts."""
    four = ["ok"] * 4

    calls = spending(Allowance(calls=4, reserve=0.0), None)
    tokens = spending(Allowance(tokens=390, reserve=0.0), Usage(90, 10))
    money = spending(Allowance(usd=0.04, reserve=0.0), Usage(1, 1, 0.01))

    assert calls == tokens == money == [*four, "over_budget", "over_budget"]


def test_what_was_not_asked_costs_nothing_and_is_over_budget() -> None:
    allowance = Allowance(calls=1, reserve=0.0)

    assert spending(allowance, Usage(5, 5), 3) == ["ok", "over_budget", "over_budget"]
    assert allowance.spent.calls == 1
    assert allowance.spent.tokens == 10


def test_an_unknown_usage_keeps_its_reservation() -> None:
    """BR-07: nobody knows what it used, so it used what was set aside for it."""
    allowance = Allowance(tokens=10_000)

    taken = allowance.take(characters=400, written=200)
    assert taken is not None
    allowance.settle(taken, None)

    assert (allowance.spent.tokens, allowance.spent.unknown) == (300, 1)
    dear = allowance.take(characters=4)
    assert dear is not None
    allowance.settle(dear, Usage(1, 1, 0.5))
    unknown = allowance.take()
    assert unknown is not None
    allowance.settle(unknown, None)
    assert allowance.spent.usd == 1.0


def test_calls_under_way_are_reserved_for() -> None:
    """BR-07: many at once do not overdraw it."""

    async def held() -> list[str]:
        floor = stage({"m": costs(None, 5)}, allowance=Allowance(calls=3, reserve=0.0))
        turns = await floor.together([wants("m", tag=str(number)) for number in range(8)])
        return sorted(turn.ending for turn in turns)

    assert virtual.run(held()) == ["ok"] * 3 + ["over_budget"] * 5


def test_the_reserved_slice_of_means_is_for_closing_turns() -> None:
    """BR-08: the synthesis can be paid when the rounds cannot any more."""
    for allowance in (Allowance(calls=10), Allowance(usd=1.0), Allowance(tokens=1000)):
        while (taken := allowance.take(written=0)) is not None:
            allowance.settle(taken, Usage(50, 50, 0.1))

        assert allowance.spent.calls == 9
        assert allowance.empty()
        assert not allowance.empty(closing=True)
        assert allowance.take(closing=True) is not None


def test_a_call_that_was_cut_off_keeps_its_reservation() -> None:
    allowance = Allowance()

    async def held() -> None:
        await stage({"m": virtual.hung()}, allowance=allowance).turn(wants("m"), 1)

    virtual.run(held())

    assert (allowance.spent.calls, allowance.spent.unknown) == (1, 1)
    assert allowance.spent.tokens > 0


@settings(deadline=None)
@given(
    limit=st.integers(0, 20),
    reserve=st.floats(0, 0.9),
    wanted=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40),
)
def test_no_allowance_is_ever_exceeded_in_calls(
    limit: int, reserve: float, wanted: list[tuple[bool, bool]]
) -> None:
    """BR-07, BR-25: total calls ≤ bound, whoever asks in whatever order."""
    allowance = Allowance(calls=limit, reserve=reserve)
    under_way = []
    for closing, settles in wanted:
        if (taken := allowance.take(closing=closing)) is not None:
            under_way.append(taken)
        if settles and under_way:
            allowance.settle(under_way.pop(), None)

    assert allowance.spent.calls + len(under_way) <= limit


@pytest.mark.parametrize(
    "wrong", [{"calls": -1}, {"usd": math.nan}, {"tokens": -5}, {"reserve": 1.0}, {"usd": math.inf}]
)
def test_an_allowance_is_of_numbers(wrong: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError, match="allowance"):
        Allowance(**wrong)


# --- nesting ----------------------------------------------------------------------------------


def test_who_is_heard_is_nested_in_the_call() -> None:
    """BR-20: what a member asks is deeper than what it was asked in, and knows who deliberates."""
    seen: list[Call] = []

    class Voices(Silent):
        async def hear(self, name: str, ask: Ask, *, within: Call) -> Any:
            seen.append(within)
            raise NoAnswer(Reason.NESTED)

    call = Call(point="P", depth=1, asking=("committee",))

    async def held() -> Turn:
        scope, book = Scope.opened("total", 300), Transcript.begin(None, {})
        return await Floor(Voices(), call, scope, Allowance(), book).turn(typed("m"))

    assert virtual.run(held()).ending == "failed"
    assert (seen[0].depth, seen[0].asking, seen[0].point) == (1, ("committee",), "P")


# --- members and roles ------------------------------------------------------------------------


def test_a_panel_is_read_from_one_line() -> None:
    """DI-13, DI-14: a seat is a provider, with a name and a role."""
    roles = {"cfo": Role(name="cfo", instructions="Mind the cash.", evidence=frozenset({"E1"}))}

    panel = seated("jev, chat/fast,chat/fast, cfo=chat/a, skeptic=local, x-1=jev", roles)

    assert [one.name for one in panel] == [
        "jev",
        "chat/fast",
        "chat/fast#2",
        "cfo",
        "skeptic",
        "x-1",
    ]
    assert [one.provider for one in panel][3:] == ["chat/a", "local", "jev"]
    assert panel[0].role == get_role("generalist")
    assert panel[3].role.evidence == frozenset({"E1"})
    assert panel[4].role == get_role("skeptic")
    assert panel[5].role == Role(name="x-1", instructions=get_role("generalist").instructions)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "nobody"),
        ("jev,,local", "commas"),
        ("=jev", "name=provider"),
        ("cfo=", "name=provider"),
        ("a=jev,a=local", "'a'"),
        ("two words=jev", "two words"),
        ("jev:90", "colon"),
        ("current/x", "instance"),
    ],
)
def test_a_panel_that_cannot_be_read_says_why(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        seated(text)


def test_roles_are_known_by_name() -> None:
    """DI-13: generalist, skeptic and placebos are there; an unknown name raises and is told."""
    for name in ("generalist", "skeptic", "critic", "advocate", "synthesizer", "placebo_3"):
        assert get_role(name).name == name
        assert get_role(name).instructions
    assert get_role("placebo_1").instructions != get_role("placebo_2").instructions
    with pytest.raises(DeclarationError, match="'placebo_0'"):
        get_role("placebo_0")
    with pytest.raises(DeclarationError, match="'lawyer'"):
        get_role("lawyer")


def test_a_role_of_ones_own_is_registered_once() -> None:
    own = Role(name="test-floor-role", instructions="Mind the floor.")

    register_role(own)
    register_role(own)

    assert get_role("test-floor-role") == own
    with pytest.raises(DeclarationError, match="exists"):
        register_role(Role(name="test-floor-role", instructions="Another."))
    with pytest.raises(DeclarationError, match="exists"):
        register_role(Role(name="skeptic"))
    with pytest.raises(DeclarationError, match="name"):
        Role(name="")


def test_members_names_are_names() -> None:
    for name in ("", "a b", "a:b", "a=b"):
        with pytest.raises(DeclarationError, match="name"):
            Member(name=name, provider="jev", role=get_role("generalist"))


def _sync(_: Draft) -> Any:
    return SAID


@pytest.mark.parametrize(
    ("functions", "told"),
    [
        ({}, "by name"),
        ({"m": _sync}, "async def"),
        ({"Upper": virtual.hung()}, "lower-case"),
        ({"_m": virtual.hung()}, "lower-case"),
    ],
)
def test_functions_that_cannot_be_members_are_refused_at_once(
    functions: dict[str, Any], told: str
) -> None:
    with pytest.raises(DeclarationError, match=told):
        members(**functions)


def test_an_object_can_be_a_member_and_two_gateways_may_share_it() -> None:
    class Analyst:
        async def __call__(self, draft: Draft) -> Any:
            return SAID

    assert one(Analyst()).said == SAID


ALL: Mapping[str, Question] = {
    "team": Choice("Which team?", ["billing", "tech"]),
    "urgent": Predicate("Is it urgent?"),
    "mood": Score("How angry?", low=0, high=10),
}


@pytest.mark.parametrize(
    ("question", "value", "expected"),
    [
        ("team", "billing", "billing"),
        ("team", ("tech", 0.8), "tech"),
        ("team", Chosen("tech", None, 0.8), "tech"),
        ("team", Reply({"team": Chosen("billing")}), "billing"),
        ("urgent", True, True),
        ("urgent", (False, 0.9), False),
        ("urgent", 0.2, False),
        ("urgent", Held(0.7), True),
        ("mood", 7, 7.0),
        ("mood", (2.5, 0.6), 2.5),
        ("mood", Scored(5.0), 10.0),
    ],
)
def test_functions_answer_in_their_own_words(
    question: str, value: object, expected: object
) -> None:
    turn = one(virtual.obedient(value), typed("m", Ask("s", {question: ALL[question]})))

    assert turn.ending == "ok"
    assert turn.answers[question].value == expected
    if isinstance(value, tuple):
        assert turn.answers[question].confidence == pytest.approx(value[1])


def test_functions_are_told_what_is_asked() -> None:
    seen: list[Draft] = []

    async def analyst(draft: Draft) -> Any:
        seen.append(draft)
        return {"team": ("tech", 0.9), "urgent": True, "mood": 3}

    turn = one(analyst, typed("m", Ask({"text": "hello"}, ALL)))

    assert turn.ending == "ok"
    assert [one.value for one in turn.answers.values()] == ["tech", True, 3.0]
    assert seen[0].task == "answer"
    assert seen[0].questions == ALL
    assert seen[0].state == {"text": "hello"}


def test_one_value_answers_the_one_question_that_is_gated() -> None:
    aside = Choice("Why?", ["a", "b"], advisory=True)
    several = Ask("s", {"team": ALL["team"], "why": aside})

    turn = one(virtual.obedient("tech"), typed("m", several))
    lost = one(virtual.obedient("tech"), typed("m", Ask("s", ALL)))

    assert turn.answers["team"].value == "tech"
    assert turn.answers["why"].value is None
    assert (lost.ending, lost.reason) == ("invalid", Reason.INCOMPLETE)


# --- what is written --------------------------------------------------------------------------


class Deep(msgspec.Struct):
    inner: list[Position]
    note: str = ""
    maybe: float | None = None


def test_a_schema_is_closed_and_whole() -> None:
    """DI-16, DI-17: every property is required, references stand in place, nothing else fits."""
    schema = schema_of(Deep)

    def closed(node: Any) -> None:
        if isinstance(node, dict):
            assert "$ref" not in node
            assert "$defs" not in node
            assert "default" not in node
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
            for one in node.values():
                closed(one)
        if isinstance(node, list):
            for one in node:
                closed(one)

    closed(schema)
    assert schema["required"] == ["inner", "note", "maybe"]
    options = schema["properties"]["inner"]["items"]["properties"]["recommendation"]
    assert options == {"type": "string", "enum": ["defer", "invest"]}


STRANGE = {
    "no JSON": ("{", "malformed"),
    "no object": ("[1]", "wrong_type"),
    "a text": ('"invest"', "wrong_type"),
    "nested without end": ("[" * 100_000, "malformed"),
    "a number of 5,000 digits": ('{"confidence": ' + "1" * 5000 + "}", "malformed"),
    "a key twice": ('{"recommendation":"invest","confidence":1,"confidence":2}', "malformed"),
    "NaN": ('{"recommendation":"invest","confidence":NaN}', "invalid_number"),
    "infinite": ('{"recommendation":"invest","confidence":1e999}', "invalid_number"),
    "too large": ('{"recommendation":"invest","confidence":101}', "invalid_number"),
    "below": ('{"recommendation":"invest","confidence":-1}', "invalid_number"),
    "a number as a text": ('{"recommendation":"invest","confidence":"70"}', "wrong_type"),
    "a truth": ('{"recommendation":"invest","confidence":true}', "wrong_type"),
    "a fraction": ('{"recommendation":"invest","confidence":70.5}', "wrong_type"),
    "undeclared": ('{"recommendation":"sell","confidence":70}', "undeclared_option"),
    "missing": ('{"recommendation":"invest"}', "incomplete"),
    "extra": ('{"recommendation":"invest","confidence":1,"why":"x"}', "mismatched"),
    "nothing": ("", "malformed"),
    "code": ("__import__('os').getcwd()", "malformed"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_was_written_is_read_strictly(name: str) -> None:
    """BR-11; C.2: bounds that a backend did not enforce are enforced here; nothing is evaluated."""
    text, reason = STRANGE[name]

    with pytest.raises(NoAnswer) as caught:
        read(text, Position)

    assert caught.value.reason.value == reason


def test_a_form_may_say_more() -> None:
    class Rising(msgspec.Struct):
        low: float
        high: float

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise NoAnswer(Reason.INCONSISTENT)
            if self.low == self.high:
                raise ValueError("planted-secret")

    for text, reason in (
        ('{"low":2,"high":1}', "inconsistent"),
        ('{"low":1,"high":1}', "malformed"),
    ):
        with pytest.raises(NoAnswer) as caught:
            read(text, Rising)
        assert caught.value.reason.value == reason
    assert read('{"low":1,"high":2}', Rising) == Rising(1.0, 2.0)


@settings(deadline=None)
@given(st.text(st.sampled_from("~~~a\n\0") | st.characters()), st.integers(1, 50))
def test_nothing_gets_out_of_its_fence(text: str, cap: int) -> None:
    """BR-14: peers' words are fenced and capped; of a critique six points are passed on."""
    inside = fenced(text, cap).removeprefix(f"{FENCE}\n").removesuffix(f"\n{FENCE}")

    assert FENCE not in inside
    assert len(inside) <= cap
    assert POINTS == 6


def test_half_an_emoji_can_be_written_down() -> None:
    async def speaks(_: Draft) -> str:
        return '{"inner": [], "note": "\\ud83d"}'

    turn = one(speaks, wants("m", form=Deep))

    assert turn.ending == "ok"
    assert turn.said is not None
    assert turn.said["note"].encode()


# --- what is wanted ---------------------------------------------------------------------------


def test_what_a_member_is_shown_has_one_digest() -> None:
    """BR-17: instructions, state, form, kind, round, attempt and tag; members share it."""
    base = wants("m")
    others: list[Callable[[], Wanted]] = [
        lambda: wants("m", draft=draft("another question")),
        lambda: wants("m", draft=draft(says="Shout.")),
        lambda: wants("m", round=2),
        lambda: wants("m", attempt=2),
        lambda: wants("m", tag="s1"),
        lambda: wants("m", kind="rebuttal"),
        lambda: wants("m", draft=draft(form=Deep)),
        lambda: typed("m"),
        lambda: typed("m", Ask("refund me", {"team": Choice("Which team?", ["tech", "billing"])})),
    ]

    prompts = [base.prompt, *(make().prompt for make in others)]

    assert len(set(prompts)) == len(prompts)
    assert wants("other").prompt == base.prompt
    assert (
        wants("m", draft=draft({"b": 1, "a": 2})).prompt
        == wants("m", draft=draft({"a": 2, "b": 1})).prompt
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"draft": None, "form": None},
        {"ask": TEAM},
        {"form": None},
        {"draft": None, "ask": TEAM},
    ],
)
def test_a_turn_is_wanted_in_one_way(wrong: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError):
        wants("m", **wrong)


# --- feasibility ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "worst", "cut"), [(2, 150, 0), (3, 210, 0), (4, 270, 0), (5, 270, 2)]
)
def test_the_worst_case_of_a_debate_is_known_before_it(n: int, worst: float, cut: int) -> None:
    """AM-12, BR-09, FV-29: rounds 2 and 3 one by one, within 120 s each."""
    stages = [
        Stage(name="round 1", turns=n, seconds=30, cap=120),
        Stage(name="round 2", turns=n, seconds=30, at_once=False, cap=120),
        Stage(name="round 3", turns=n, seconds=30, at_once=False, cap=120),
    ]

    found = feasible(stages, 300)

    assert found.worst == worst
    assert len(found.cut) == cut
    assert found.fits == (cut == 0)
    assert bool(found.told()) == (cut > 0)


def test_what_does_not_fit_into_the_whole_is_told() -> None:
    """AM-12, BR-09: 3 × 120 s do not fit into 300 s; the published worst case is the whole."""
    rounds = [Stage(name=f"round {r}", turns=9, seconds=120, cap=120) for r in (1, 2, 3)]

    found = feasible(rounds, 300)

    assert not found.fits
    assert found.worst == 300
    assert "360 s" in found.told()
    assert feasible(rounds, None).worst == 360


# --- the clock of these tests -----------------------------------------------------------------


def test_a_loop_that_waits_for_nothing_is_hung_and_says_so() -> None:
    async def waits() -> None:
        await asyncio.Event().wait()

    with pytest.raises(virtual.Hung):
        virtual.run(waits())


def test_no_virtual_time_passes_while_a_thread_works() -> None:
    async def works() -> str:
        ready, loop = threading.Event(), asyncio.get_running_loop()
        loop.call_later(3600, ready.set)
        work = loop.run_in_executor(None, lambda: "waited" if ready.wait(0.2) else "worked")
        return await work

    assert virtual.run(works()) == "worked"
    assert virtual.timed(asyncio.sleep(3600))[1] == 3600


# --- what a member may do to the others -------------------------------------------------------


class Odd(BaseException):
    """What nobody should raise: no `Exception`."""


@pytest.mark.parametrize(
    "error", [Odd(), GeneratorExit(), BaseExceptionGroup("several", [Odd()])], ids=repr
)
def test_whatever_a_member_raises_ends_its_own_turn_alone(error: BaseException) -> None:
    """DI-15: also what is no `Exception`; the others are heard."""

    async def held() -> list[Turn]:
        other = virtual.obedient(SAID, 5)
        async with stage({"odd": virtual.raising(error), "other": other}) as floor:
            return await floor.together([wants("odd"), wants("other")], 30)

    odd, other = virtual.run(held())

    assert (odd.ending, odd.reason) == ("failed", Reason.PROVIDER_ERROR)
    assert odd.notes == (f"raised:{type(error).__name__}",)
    assert other.ending == "ok"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)], ids=repr)
@pytest.mark.parametrize("grouped", [False, True])
def test_who_ends_the_program_ends_it(error: BaseException, *, grouped: bool) -> None:
    raised = BaseExceptionGroup("several", [Odd(), error]) if grouped else error
    with pytest.raises((BaseExceptionGroup, type(error))):
        one(virtual.raising(raised))


def test_what_a_member_changes_of_its_draft_is_its_own() -> None:
    """Neither the others, nor the host, nor the next round see it; forms stay what they are."""
    seen: list[Any] = []
    host = {"case": {"amount": 5}, "yours": ["a"]}

    async def meddling(given: Draft) -> Any:
        given.state["case"]["amount"] = 9
        given.state["yours"].clear()
        given.schema["properties"].clear()
        return SAID

    async def looking(given: Draft) -> Any:
        await asyncio.sleep(1)
        seen.append((given.state, dict(given.schema["properties"])))
        return SAID

    async def held() -> list[Turn]:
        async with stage({"bad": meddling, "good": looking}) as floor:
            asked = draft(host)
            wanted = [wants(name, draft=asked) for name in ("bad", "good")]
            return await floor.together(wanted, 30)

    turns = virtual.run(held())

    assert [turn.ending for turn in turns] == ["ok", "ok"]
    ((state, fields),) = seen
    assert state == {"case": {"amount": 5}, "yours": ["a"]} == host
    assert set(fields) == {"recommendation", "confidence"}
    assert set(schema_of(Position)["properties"]) == set(fields)
    assert turns[0].prompt == wants("bad", draft=draft(host)).prompt


def test_what_a_member_changes_of_a_question_is_its_own() -> None:
    host = {"case": [1, 2]}
    seen: list[Any] = []

    async def meddling(given: Draft) -> Any:
        seen.append(msgspec.json.encode(given.state))
        given.state["case"].append(3)
        return "billing"

    async def held() -> None:
        ask = Ask(host, {"team": Choice("Which team?", ["billing", "tech"])})
        async with stage({"a": meddling, "b": meddling}) as floor:
            for name in "ab":
                await floor.turn(typed(name, ask), 30)

    virtual.run(held())

    assert seen == [b'{"case":[1,2]}'] * 2
    assert host == {"case": [1, 2]}


def test_a_member_that_will_not_stop_never_takes_the_callers_answer() -> None:
    """BR-08: also where nothing is held back; who spoke is in hand before the deadline."""

    async def held() -> tuple[list[Turn], float]:
        begun = asyncio.get_running_loop().time()
        call = Call(point="ROUTER", deadline=time.monotonic() + 3.0)
        said = {"a": virtual.obedient(SAID, 1), "deaf": virtual.unstoppable(SAID)}
        gateway = Gateway.from_env({"DECISION_LOG": "off"}, plugins=[members(**said)])
        scope = Scope.opened("total", 300, call)
        book = Transcript.begin(None, {"kind": "test"})
        async with Floor(gateway, call, scope, Allowance(reserve=0.0), book) as floor:
            turns = await floor.together([wants("a"), wants("deaf")])
        return turns, asyncio.get_running_loop().time() - begun

    turns, seconds = virtual.run(held())

    assert [turn.ending for turn in turns] == ["ok", "timeout"]
    assert seconds < 3.0


def test_who_waits_for_nobody_leaves_them_their_grace() -> None:
    """A caller's deadline shortens it to a part of what is left; without one it is whole."""

    async def graces() -> list[float]:
        near = Call(point="ROUTER", deadline=time.monotonic() + 0.2)
        scopes = [Scope.opened("total", 60, call) for call in (None, near)]
        return [one.inner("round").inner("turn", 5).grace() for one in scopes]

    free, bound = virtual.run(graces())

    assert free == 0.1
    assert 0 < bound <= 0.05
