"""Debates and committees of chat models over real sockets: faults, bounds, ends, leaks."""

from __future__ import annotations

import asyncio
import itertools
import logging
import pickle
import pprint
import socket
import threading
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chatroom import COST, FAULTS, PRICE, PROMPT, WRITTEN, Picks, Room, Rooms, fails, seats, until
from faulty import Server
from pointsman import Choice, Decision, DecisionPoint, Gateway, Record, Recorder
from pointsman.providers.deliberation import seated
from pointsman.providers.deliberation.dynamics import Debate
from pointsman.providers.deliberation.transcript import Transcript, read
from spanning import Seen, seen

__all__ = ["seen"]

QUESTION = Choice("zq7-instructions What happens to the claim?", ["pay", "refuse", "inspect"])
POINT = DecisionPoint(name="PAYOUT", questions={"en": {"decision": QUESTION}}, reads=("claim",))
STATE = {"claim": "zq7-state A pipe burst."}
PANEL = "a=chat/a,b=chat/b,c=chat/c"
COUNCIL = ",".join(f"{seat}=chat/council" for seat in ("critic", "advocate", "synthesizer"))

DEBATE = {
    "DECISION_PAYOUT_PROVIDER": "debate",
    "DEBATE_MEMBERS": PANEL,
    "DEBATE_COUNCIL": COUNCIL,
}
COMMITTEE = {"DECISION_PAYOUT_PROVIDER": "committee", "COMMITTEE_MEMBERS": PANEL}
ARGUING = {**COMMITTEE, "COMMITTEE_PROTOCOL": "debate"}
WAYS = {"debate": DEBATE, "committee": COMMITTEE, "arguing committee": ARGUING}

ENDS = {"ok", "abstained", "low_confidence", "provider_error", "transport", "mismatched"}
"""How a deliberation may end whose members fail now and then."""

TOLD = {
    "500": ("failed", "provider_error"),
    "dropped": ("failed", "transport"),
    "garbage": ("invalid", "malformed"),
    "nan": ("invalid", "invalid_number"),
    "undeclared": ("invalid", "undeclared_option"),
    "truncated": ("invalid", "incomplete"),
    "other model": ("invalid", "mismatched"),
}
"""What a member did → how its turn ends, and why."""


class Said(NamedTuple):
    """A decision and what became of the rest."""

    decision: Decision[Any]
    record: Record
    turns: list[Mapping[str, Any]]
    currents: int

    @property
    def reason(self) -> str:
        return self.decision.attempts[0].reason.value


@pytest.fixture
def rooms(server: Server) -> Rooms:
    return Rooms(server)


def environ(room: Room, way: Mapping[str, str], **more: str) -> dict[str, str]:
    chats = dict(seats(room, "a", "b", "c", "council"))
    return {"DECISION_LOG": "off", **chats, **PRICE, **way, **more}


def kept(folder: Path) -> dict[str, str]:
    return {"DEBATE_TRANSCRIPTS": str(folder), "COMMITTEE_TRANSCRIPTS": str(folder)}


def turns_in(folder: Path) -> list[Mapping[str, Any]]:
    entries = [one for file in sorted(folder.iterdir()) for one in read(file)]
    return [one.body for one in entries if one.kind == "turn"]


async def says(environ: Mapping[str, str], folder: Path) -> Said:
    """Decide once; `current` counts how often it is asked."""
    recorder, asked = Recorder(), Counter[str]()

    def current() -> str:
        asked["current"] += 1
        return "inspect"

    given = {**environ, **kept(folder)}
    async with Gateway.from_env(given, observers=[recorder]) as gateway:
        decision = await gateway.ask(POINT, STATE, current=current)
    (record,) = mine(recorder)
    return Said(decision, record, turns_in(folder), asked["current"])


def mine(recorder: Recorder) -> list[Record]:
    """Leave out the decisions that a debate makes on its way."""
    return [one for one in recorder.records if one.point == "PAYOUT"]


def is_billed(said: Said, room: Room) -> None:
    """The record tells to the token and the cent what the server billed, whoever decided."""
    usage = said.record.attempts[0].usage
    tokens = (0, 0) if usage is None else (usage.input_tokens, usage.output_tokens)
    assert tokens == (PROMPT * room.billed, WRITTEN * room.billed)
    assert said.record.cost_usd == pytest.approx(COST * room.billed)


def falls_back_once(said: Said) -> None:
    """`current` decides if the deliberation does not, and only then."""
    decided = said.reason == "ok"
    assert said.currents == (not decided)
    assert [one.provider for one in said.decision.attempts[1:]] == ["current"] * (not decided)
    assert decided or said.decision.value == "inspect"


# --- faults ------------------------------------------------------------------------------

PHASES = [
    ("debate", "position"),
    ("debate", "rebuttal"),
    ("debate", "refinement"),
    ("debate", "critic"),
    ("debate", "advocate"),
    ("debate", "synthesizer"),
    ("committee", "decision"),
    ("arguing committee", "critique"),
]
NUMBERS = {"position", "rebuttal", "refinement", "critic", "synthesizer", "decision"}
CHOICES = {"position", "rebuttal", "refinement", "synthesizer", "decision"}
"""Forms that hold a number, or a choice, which can be wrong."""
ASKED_AS = {"decision": "estimate"}


def faults() -> Iterator[tuple[str, str, str]]:
    for way, task in PHASES:
        for fault in FAULTS:
            lacks = {"nan": NUMBERS, "undeclared": CHOICES}.get(fault, {task})
            if task in lacks:
                yield way, task, fault


@pytest.mark.parametrize(("way", "task", "fault"), [*faults()])
def test_one_fault_ends_one_turn_and_is_billed(
    rooms: Rooms, tmp_path: Path, way: str, task: str, fault: str
) -> None:
    """DI-15, BR-09: it ends this turn alone, with its reason; one fallback at most, all billed."""
    seat = 3 if task in ("critic", "advocate", "synthesizer") else 1
    room = rooms.open(fails(task, fault, seat))
    said = asyncio.run(says(environ(room, WAYS[way]), tmp_path))
    kind = ASKED_AS.get(task, task)
    member = "abc"[seat] if seat < 3 else task
    (turn,) = [one for one in said.turns if (one["kind"], one["member"]) == (kind, member)]
    assert (turn["ending"], turn["reason"]) == TOLD[fault]
    assert {one["ending"] for one in said.turns if one is not turn} == {"ok"}
    is_billed(said, room)
    falls_back_once(said)
    assert said.reason in ("ok", "abstained")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("way", WAYS)
def test_where_all_fail_alike_their_reason_is_told(
    rooms: Rooms, tmp_path: Path, way: str, fault: str
) -> None:
    """TR-08: everybody fails in the first phase, so that nothing further is asked."""
    room = rooms.open(fails("position" if way == "debate" else "decision", fault))
    said = asyncio.run(says(environ(room, WAYS[way]), tmp_path))
    ending, reason = TOLD[fault]
    said_wrong = way != "debate" and ending == "invalid"  # in a committee that is an abstention
    assert said.reason == ("abstained" if said_wrong else reason)
    assert room.requests == 3
    is_billed(said, room)
    falls_back_once(said)


@pytest.mark.parametrize("way", WAYS)
def test_a_refused_connection_is_transport_and_free(rooms: Rooms, tmp_path: Path, way: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    given = environ(rooms.open(), WAYS[way], CHAT_BASE_URL=f"http://127.0.0.1:{port}/v1")
    said = asyncio.run(says(given, tmp_path))
    assert said.reason == "transport"
    assert said.record.cost_usd == 0
    falls_back_once(said)


def test_an_attempt_that_failed_before_it_succeeded_is_one_turn(
    rooms: Rooms, tmp_path: Path
) -> None:
    """A member's own retries are its own: billed is what was answered."""
    seen: Counter[str] = Counter()

    def first_fails(task: str, seat: int) -> str:
        seen[f"{task} {seat}"] += 1
        return "500" if seen[f"{task} {seat}"] == 1 else ""

    room = rooms.open(first_fails, same=True)
    said = asyncio.run(says(environ(room, DEBATE, CHAT_MAX_ATTEMPTS="2"), tmp_path))
    assert (said.reason, room.requests, room.billed) == ("ok", 6, 3)
    is_billed(said, room)


SLOW = [("debate", "position"), ("debate", "rebuttal"), ("debate", "advocate")]


@pytest.mark.parametrize(("way", "task"), [*SLOW, ("committee", "decision")])
def test_one_who_is_too_slow_is_let_go_of(
    rooms: Rooms, tmp_path: Path, way: str, task: str
) -> None:
    """DD-12, DD-61: the limit of one member is its own; its socket is closed, nothing is billed."""
    seat = 3 if task == "advocate" else 1
    room = rooms.open(fails(task, "hung", seat))
    limits = {
        "DEBATE_TIMEOUT_PER_AGENT": "2",
        "DEBATE_COUNCIL_TIMEOUT": "3",
        "COMMITTEE_TIMEOUT_PER_MEMBER_SECONDS": "2",
    }
    said = asyncio.run(says(environ(room, WAYS[way], **limits), tmp_path))
    slow = [one for one in said.turns if one["ending"] != "ok"]
    assert [(one["ending"], one["reason"]) for one in slow] == [("timeout", "timeout")]
    assert (room.hung, room.left) == (1, 1)
    is_billed(said, room)
    falls_back_once(said)


@pytest.mark.parametrize("way", WAYS)
def test_where_all_hang_the_callers_deadline_leaves_time_for_its_fallback(
    rooms: Rooms, tmp_path: Path, way: str
) -> None:
    room = rooms.open(lambda *_: "hung")
    given = environ(room, WAYS[way], DECISION_PAYOUT_DEADLINE_SECONDS="2")
    said = asyncio.run(says(given, tmp_path))
    assert said.reason == "timeout"
    asyncio.run(until(lambda: room.left == room.hung == 3))
    assert [one["ending"] for one in said.turns] == ["timeout"] * 3
    assert not said.record.late
    falls_back_once(said)


# --- cancellation ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "task", "hung"),
    [
        ("debate", "position", 2),
        ("debate", "rebuttal", 1),
        ("debate", "critic", 1),
        ("debate", "synthesizer", 1),
        ("committee", "decision", 2),
        ("arguing committee", "critique", 2),
    ],
)
def test_a_caller_that_gives_up_takes_all_with_it(
    rooms: Rooms, tmp_path: Path, way: str, task: str, hung: int
) -> None:
    """BR-16, BR-18: sockets are closed, no task is left, what had ended is not asked again."""
    hanging = (3,) if task in COUNCIL else (1, 2)
    room = rooms.open(fails(task, "hung", *hanging))
    given = {**environ(room, WAYS[way]), **kept(tmp_path)}

    async def given_up() -> None:
        async with Gateway.from_env(given) as gateway:
            before = asyncio.all_tasks()
            asking = asyncio.create_task(gateway.ask(POINT, STATE, current=lambda: "inspect"))
            await until(lambda: room.hung == hung and room.requests == room.billed + hung)
            await until(lambda: _finished(tmp_path) == room.billed)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert asyncio.all_tasks() == before
            await until(lambda: room.left == hung)
        await until(lambda: rooms.server._open == 0)

    asyncio.run(given_up())
    turns = turns_in(tmp_path)
    done = {_key(one) for one in turns if one["ending"] == "ok"}
    assert len(done) == room.billed
    assert Counter(one["ending"] for one in turns)["cancelled"] == hung
    (file,) = tmp_path.iterdir()
    if way == "debate":
        _goes_on(rooms, file, done)
    else:
        _knows(file, done)


def _finished(folder: Path) -> int:
    """How many turns are in the file; its last line may be half of one."""
    lines = [line for file in folder.iterdir() for line in file.read_text("utf-8").split("\n")]
    return sum('"kind":"turn"' in line and '"ending":"ok"' in line for line in lines)


def _key(turn: Mapping[str, Any]) -> tuple[Any, ...]:
    return turn["kind"], turn["round"], turn["member"]


def _goes_on(rooms: Rooms, file: Path, done: set[tuple[Any, ...]]) -> None:
    """Resume it where nobody hangs: only what had not ended is asked for."""
    room = rooms.open()

    async def resumed() -> None:
        async with Gateway.from_env(environ(room, DEBATE)) as gateway:
            debate = Debate(QUESTION, seated(PANEL, {}), council=seated(COUNCIL, {}))
            ended = await debate.resumed(gateway, STATE, file)
        assert ended.usage is not None
        assert ended.usage.input_tokens == PROMPT * (len(done) + room.billed)

    asyncio.run(resumed())
    turns = [one.body for one in read(file) if one.kind == "turn" and one.body["ending"] == "ok"]
    keys = [_key(one) for one in turns]
    assert len(keys) == len(set(keys)) == len(done) + room.billed
    assert done < set(keys)


def _knows(file: Path, done: set[tuple[Any, ...]]) -> None:
    """What a committee had heard can be gone on with by whoever resumes its transcript."""
    resumed = Transcript.resume(file)
    try:
        assert {(one.kind, one.round, one.member) for one in resumed.turns if one.usable} == done
    finally:
        resumed.release()


# --- many at once ------------------------------------------------------------------------


def now_and_then() -> Picks:
    """Fail in every way, in one of seven answers, in an order of its own."""
    order = itertools.cycle((*FAULTS, *[""] * 42)[at * 31 % 49] for at in range(49))
    return lambda *_: next(order)


@pytest.mark.parametrize(("way", "bound"), [("debate", 12), ("committee", 3)])
def test_a_hundred_at_once_with_faults_all_come_to_an_end(
    rooms: Rooms, way: str, bound: int
) -> None:
    room, many, recorder = rooms.open(now_and_then()), 100, Recorder()
    given = environ(room, WAYS[way])

    async def crowd() -> list[Decision[Any]]:
        async with Gateway.from_env(given, observers=[recorder]) as gateway:
            before = asyncio.all_tasks()
            asked = (
                gateway.ask(POINT, {"claim": f"case {at}"}, current=lambda: "inspect")
                for at in range(many)
            )
            made = await asyncio.gather(*asked)
            assert asyncio.all_tasks() == before
        return made

    made = asyncio.run(crowd())
    ends = Counter(one.attempts[0].reason.value for one in made)
    assert ends.keys() <= ENDS, ends
    assert Counter(one.id for one in mine(recorder)) == Counter({one.record.id for one in made})
    assert len(mine(recorder)) == many
    assert many * 2 <= room.requests <= many * bound
    spent = sum(one.cost_usd for one in mine(recorder))
    assert spent == pytest.approx(COST * room.billed)
    asyncio.run(until(lambda: rooms.server._open == 0))


# --- budgets -----------------------------------------------------------------------------

NAMED = [("debate", "DEBATE"), ("arguing committee", "COMMITTEE")]


@pytest.mark.parametrize("calls", [2, 3, 5, 8, 11, 12])
@pytest.mark.parametrize(("way", "name"), NAMED)
def test_not_one_call_over(rooms: Rooms, tmp_path: Path, way: str, name: str, calls: int) -> None:
    """BR-07: counted at the server."""
    room = rooms.open()
    given = environ(room, WAYS[way], **{f"{name}_MAX_CALLS": str(calls)})
    said = asyncio.run(says(given, tmp_path))
    assert 0 < room.requests <= calls
    is_billed(said, room)
    falls_back_once(said)


@pytest.mark.parametrize("affordable", [3, 4, 6, 9])
@pytest.mark.parametrize(("way", "name"), NAMED)
def test_not_one_call_over_what_may_be_paid(
    rooms: Rooms, tmp_path: Path, way: str, name: str, affordable: int
) -> None:
    """BR-07, BR-08: once a price is known, each call is reserved for before it is made."""
    room = rooms.open()
    bound = {f"{name}_MAX_COST_USD": f"{COST * affordable:.9f}"}
    said = asyncio.run(says(environ(room, WAYS[way], **bound), tmp_path))
    assert 3 <= room.requests <= affordable
    assert said.record.cost_usd <= COST * affordable + 1e-9
    is_billed(said, room)
    falls_back_once(said)


# --- sync callers ------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("colour", ["ask_sync", "wrapped"])
def test_threads_without_a_loop_share_one_gateway(rooms: Rooms, way: str, colour: str) -> None:
    room, recorder, many = rooms.open(same=True), Recorder(), 20
    currents: Counter[int] = Counter()

    with Gateway.from_env(environ(room, WAYS[way]), observers=[recorder]) as gateway:

        @gateway.point(POINT)
        def payout(claim: str) -> str:  # noqa: ARG001 - a debate reads it
            currents[threading.get_ident()] += 1
            return "inspect"

        def one(at: int) -> Any:
            if colour == "wrapped":
                return payout(f"case {at}")
            return gateway.ask_sync(POINT, {"claim": f"case {at}"}, current=lambda: "no").value

        with ThreadPoolExecutor(many) as pool:
            values = set(pool.map(one, range(many)))
    assert values == {"inspect" if way == "debate" else "pay"}
    assert not currents
    assert [one.reason.value for one in mine(recorder)] == ["ok"] * many
    assert sum(one.cost_usd for one in mine(recorder)) == pytest.approx(COST * room.billed)


# --- canaries ----------------------------------------------------------------------------

PLANTED = ("zq7-key", "zq7-state", "zq7-role", "zq7-instructions")
OPEN = ("zq7-instructions", "zq7-role")
"""Words of the programmer: transcript and inbox have the question, a transcript's header roles."""


def shown(one: object) -> list[str]:
    return [repr(one), str(one), pprint.pformat(one), pickle.dumps(one).decode("latin-1")]


@pytest.mark.parametrize("fault", ["", "500", "garbage", "undeclared", "nan", "other model"])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_planted_is_written_anywhere(  # noqa: PLR0917 - fixtures
    rooms: Rooms,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    seen: Seen,
    way: str,
    fault: str,
) -> None:
    """Logs of all levels, records, journal, spans, transcripts without texts, exceptions."""
    caplog.set_level("DEBUG")
    for name in ("httpx", "httpcore", "hpack"):  # what they say then is the host's own choice
        logging.getLogger(name).setLevel("INFO")
    room = rooms.open(lambda _, seat: fault if seat == 1 else "", same=not fault)
    (tmp_path / "said").mkdir()
    roles = _roles(tmp_path)
    recorder, journal = Recorder(), tmp_path / "journal.db"
    given = {
        **environ(room, WAYS[way], DECISION_LOG="json"),
        **kept(tmp_path / "said"),
        **roles,
        "DECISION_JOURNAL": f"sqlite:///{journal}",
        "DECISION_PAYOUT_FALLBACK_TO_CURRENT": "false" if fault else "true",
    }
    gateway = seen.gateway(given, observers=[recorder])
    written = [*_made(gateway)]
    for record in recorder.records:
        written += shown(record)
    written += [seen.written(), *capfd.readouterr()]
    written += [one.getMessage() + repr(one.__dict__) for one in caplog.get_records("call")]
    files = [one for one in tmp_path.rglob("*") if one.is_file() and "roles" not in one.name]
    written += map(_file, files)
    assert len(mine(recorder)) == 1
    assert {one.suffix for one in files} >= {".db", ".jsonl"}
    found = [(word, _around(text, word)) for word in PLANTED for text in written if word in text]
    assert found == []
    sent = b"".join(room.bodies)  # what could have been found
    assert all(word.encode() in sent for word in PLANTED if word != "zq7-key")


def _roles(folder: Path) -> dict[str, str]:
    """Write the words of a role, for each as it reads them."""
    (folder / "roles.toml").write_text('[b]\ninstructions = "zq7-role"\n', "utf-8")
    return {
        "DEBATE_ROLES": str(folder / "roles.toml"),
        "COMMITTEE_ROLES": str(folder / "roles.toml"),
    }


def _file(path: Path) -> str:
    text = path.read_bytes().decode("latin-1")
    header, _, rest = text.replace(OPEN[0], "").partition("\n")
    return (header.replace(OPEN[1], "") if path.suffix == ".jsonl" else header) + rest


def _around(text: str, word: str) -> str:
    at = text.index(word)
    return text[max(0, at - 120) : at + 60]


def _made(gateway: Gateway) -> Iterator[str]:
    async def ask() -> object:
        async with gateway:
            return await gateway.ask(POINT, STATE, current=lambda: "inspect", subject="ana")

    try:
        yield from shown(asyncio.run(ask()))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is searched
        yield from shown(error)
        yield from traceback.format_exception(error)
