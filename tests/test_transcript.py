"""Transcripts: sealed lines, written as things happen, gone on with and replayed without asking."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import signal
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import virtual
from pointsman import Ask, Call, Choice, Gateway, Usage
from pointsman.gateway.errors import DeclarationError, NoJson, Reason, SetupError
from pointsman.gateway.plugins import Draft, Written
from pointsman.providers.deliberation import members, replaying, seated
from pointsman.providers.deliberation.allowance import Allowance
from pointsman.providers.deliberation.chain import KINDS, START
from pointsman.providers.deliberation.drafts import schema_of
from pointsman.providers.deliberation.floor import Floor
from pointsman.providers.deliberation.replaying import Replay, rerun
from pointsman.providers.deliberation.scopes import Scope
from pointsman.providers.deliberation.transcript import (
    Mismatch,
    Transcript,
    TranscriptError,
    read,
)
from pointsman.providers.deliberation.turns import Turn, Wanted

CALL = Call(point="ROUTER")
HEADER: Mapping[str, Any] = {
    "kind": "small",
    "members": ["a", "b", "c"],
    "writers": ["a", "b", "c"],
    "packet": "0123",
}


class Vote(msgspec.Struct, forbid_unknown_fields=True):
    option: Literal["yes", "no"]


def small_form() -> Mapping[str, Any]:
    return schema_of(Vote)


# --- a small protocol: two rounds and a count, to be broken off anywhere ----------------------


async def small(floor: Floor, rounds: int = 2) -> Mapping[str, Any]:
    """Let three members vote twice, each seeing the round before; count after each round."""
    panel = seated("a,b,c")
    seen: list[Mapping[str, Any]] = []
    for number in range(1, rounds + 1):
        scope = floor.scope.inner("round", 60)
        turns = await floor.together([_vote(one, number, seen) for one in panel], 30, scope)
        told = {
            "round": number,
            "yes": sum(one.said == {"option": "yes"} for one in turns),
            "ended": [one.ending for one in turns],
        }
        seen.append(floor.transcript.entry("verdict", told, f"round/{number}"))
    floor.transcript.note(f"after {rounds} rounds")
    floor.transcript.entry("route", {"route": "EMIT"})
    return floor.transcript.close(
        {"yes": seen[-1]["yes"], "calls": floor.allowance.spent.calls, "seen": len(seen)}
    )


def _vote(member: Any, number: int, seen: list[Any]) -> Wanted:
    draft = Draft(
        task="vote", instructions="Vote.", state={"seen": list(seen)}, schema=small_form()
    )
    return Wanted(member=member, kind="position", round=number, draft=draft, form=Vote)


class Voters:
    """Three members that count how often they are asked; one of them is late, one is wrong."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def gateway(self) -> Gateway:
        functions = {
            "a": self._says("a", "yes", 1.0),
            "b": self._says("b", "no", 2.0),
            "c": self._says("c", "maybe", 3.0),
        }
        return Gateway.from_env({"DECISION_LOG": "off"}, plugins=[members(**functions)])

    def _says(self, name: str, option: str, seconds: float) -> virtual.Member:
        async def speaks(draft: Draft) -> Written:
            self.asked.append((name, len(draft.state["seen"])))
            await asyncio.sleep(seconds)
            said = {"option": option if draft.state["seen"] == [] or name != "b" else "yes"}
            return Written(text=json.dumps(said), usage=Usage(10, 5, 0.001))

        return speaks

    def floor(self, book: Transcript) -> Floor:
        scope = Scope.opened("total", 300)
        return Floor(self.gateway(), CALL, scope, Allowance(), book)


def held(book_of: Any, voters: Voters | None = None) -> tuple[Mapping[str, Any], Transcript]:
    """Hold the small protocol in virtual time, in a transcript that *book_of* makes."""
    voters = voters or Voters()

    async def run() -> tuple[Mapping[str, Any], Transcript]:
        book = book_of()
        async with voters.floor(book) as floor:
            return await small(floor), book

    return virtual.run(run())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The transcript of the small protocol, held to its end."""
    path = tmp_path_factory.mktemp("small") / "small.jsonl"
    held(lambda: Transcript.begin(path, HEADER))
    return path


# --- the file ---------------------------------------------------------------------------------


def test_a_transcript_is_lines_of_canonical_json_each_sealed_with_the_one_before(
    recorded: Path,
) -> None:
    """BR-16: header, turns, verdicts, footer; anybody can check the chain with SHA-256 alone."""
    import hashlib

    previous = START
    for line in recorded.read_text("utf-8").splitlines():
        entry = json.loads(line)
        told = entry.pop("hash")
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert hashlib.sha256(f"{previous}{text}".encode()).hexdigest() == told
        previous = told
    kinds = [entry.kind for entry in read(recorded)]
    assert kinds == [
        "header",
        *["turn"] * 3,
        "verdict",
        *["turn"] * 3,
        "verdict",
        "note",
        "route",
        "footer",
    ]
    assert set(kinds) <= set(KINDS)


def test_a_header_says_which_form_and_which_version(recorded: Path) -> None:
    """BR-16: configuration, versions, hashes."""
    header = read(recorded)[0].body

    assert header["format"] == 1
    assert header["pointsman"]
    assert header["packet"] == "0123"


def test_nobody_else_may_read_it(recorded: Path) -> None:
    assert stat.S_IMODE(recorded.stat().st_mode) == 0o600


def test_turns_are_written_in_the_order_in_which_they_ended(recorded: Path) -> None:
    """BR-04."""
    turns = [entry for entry in read(recorded) if entry.kind == "turn"]

    assert [entry.body["member"] for entry in turns] == ["a", "b", "c"] * 2
    assert [entry.at for entry in turns] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_a_turn_is_in_the_file_the_moment_it_ends(tmp_path: Path) -> None:
    """BR-04: whatever happens to the program then."""
    path = tmp_path / "t.jsonl"
    seen: list[int] = []

    async def run() -> None:
        voters = Voters()
        async with asyncio.TaskGroup() as group:
            group.create_task(small(voters.floor(Transcript.begin(path, HEADER))))
            for _ in range(3):
                await asyncio.sleep(0.9 if not seen else 1.0)
                seen.append(len(path.read_bytes().splitlines()))

    virtual.run(run())

    assert seen == [1, 2, 3]


def test_neither_prompts_nor_state_are_kept_unless_they_are_to_be(tmp_path: Path) -> None:
    """BR-16: prompts by their hash, with the text as an option."""

    async def speaks(_: Draft) -> Any:
        return {"option": "yes"}

    async def run(path: Path, *, texts: bool) -> None:
        gateway = Gateway.from_env({"DECISION_LOG": "off"}, plugins=[members(m=speaks)])
        book = Transcript.begin(path, {"kind": "x"}, texts=texts)
        floor = Floor(gateway, CALL, Scope.opened("total", 30), Allowance(), book)
        draft = Draft(
            task="v", instructions="planted-words", state="planted-state", schema=small_form()
        )
        (member,) = seated("m")
        await floor.turn(Wanted(member=member, kind="position", round=1, draft=draft, form=Vote))
        book.close()

    for name, texts in (("bare", False), ("full", True)):
        virtual.run(run(tmp_path / name, texts=texts))
        text = (tmp_path / name).read_text()
        assert ("planted-words" in text and "planted-state" in text) == texts
        assert read(tmp_path / name)[1].body["prompt"]


# --- damage -----------------------------------------------------------------------------------


@settings(deadline=None)
@given(at=st.integers(0, 10**6), bit=st.integers(1, 255))
def test_a_change_of_any_byte_is_found(recorded: Path, at: int, bit: int) -> None:
    """BR-16: the chain."""
    content = bytearray(recorded.read_bytes())
    content[at % len(content)] ^= bit
    changed = recorded.with_suffix(".changed")
    changed.write_bytes(content)

    with pytest.raises(TranscriptError):
        read(changed)


@settings(deadline=None)
@given(data=st.data())
def test_a_line_that_is_gone_twice_there_or_moved_is_found(
    recorded: Path, data: st.DataObject
) -> None:
    lines = recorded.read_bytes().splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 2))
    other = data.draw(st.integers(0, len(lines) - 1).filter(lambda one: one != at))
    wrong = {
        "gone": [*lines[:at], *lines[at + 1 :]],
        "twice": [*lines[: at + 1], *lines[at:]],
        "moved": [*lines],
    }
    wrong["moved"][at], wrong["moved"][other] = lines[other], lines[at]
    changed = recorded.with_suffix(".changed")

    for content in wrong.values():
        changed.write_bytes(b"".join(content))
        with pytest.raises(TranscriptError, match=r"line|header"):
            read(changed)


def test_the_error_names_the_line_and_what_to_do(recorded: Path, tmp_path: Path) -> None:
    lines = recorded.read_bytes().splitlines(keepends=True)
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join([*lines[:4], lines[4].replace(b"yes", b"no "), *lines[5:]]))

    with pytest.raises(TranscriptError, match=r"t\.jsonl, line 5: it was changed"):
        read(path)
    with pytest.raises(TranscriptError, match="line 5"):
        Transcript.resume(path)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"{}\n", b"no json\n", b'{"n":0}\n', b"\xff\xfe\n"]
)
def test_what_is_no_transcript_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)

    with pytest.raises(TranscriptError):
        read(path)
    with pytest.raises(TranscriptError):
        Transcript.resume(path)
    assert path.read_bytes() == content


def test_what_is_not_there_or_not_writable_is_told(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="No such file"):
        read(tmp_path / "none")
    with pytest.raises(TranscriptError, match="No such file"):
        Transcript.resume(tmp_path / "none")
    with pytest.raises(TranscriptError, match="No such file"):
        Transcript.begin(tmp_path / "no" / "folder", HEADER)
    with pytest.raises(TranscriptError, match="exists already"):
        Transcript.begin(tmp_path, HEADER)


def test_a_finished_file_is_not_begun_again(recorded: Path) -> None:
    before = recorded.read_bytes()

    with pytest.raises(TranscriptError, match="exists already"):
        Transcript.begin(recorded, HEADER)

    assert recorded.read_bytes() == before


def _other_process(path: Path, found: Any) -> None:
    try:
        Transcript.resume(path)
    except TranscriptError as error:
        found.put(str(error))
    else:
        found.put("taken over")


def test_two_programs_never_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    spawn = multiprocessing.get_context("spawn")
    found: Any = spawn.Queue()

    def elsewhere() -> str:
        process = spawn.Process(target=_other_process, args=(path, found))
        process.start()
        told: str = found.get(timeout=60)
        process.join(60)
        return told

    book = Transcript.begin(path, HEADER)
    with pytest.raises(TranscriptError, match="somebody else"):
        Transcript.resume(path)
    assert "somebody else" in elsewhere()
    book.release()
    assert elsewhere() == "taken over"


def test_a_number_that_is_none_is_never_written(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    book = Transcript.begin(path, HEADER)

    with pytest.raises(NoJson):
        book.entry("verdict", {"score": float("nan")})
    with pytest.raises(DeclarationError, match="kind"):
        book.entry("gossip", {})

    book.close()
    assert [entry.kind for entry in read(path)] == ["header", "footer"]


def test_nothing_is_written_after_the_end(tmp_path: Path) -> None:
    """TR-23: what has ended stays as it ended."""
    for path in (None, tmp_path / "t.jsonl"):
        book = Transcript.begin(path, HEADER)
        footer = book.close({"stop": "agreed"})

        assert book.close({"stop": "another"}) == footer == {"stop": "agreed"}
        with pytest.raises(TranscriptError, match="closed"):
            book.entry("note", {"text": "too late"})


# --- going on ---------------------------------------------------------------------------------


def _cut(recorded: Path, bytes_kept: int) -> Path:
    path = recorded.with_suffix(".cut")
    path.write_bytes(recorded.read_bytes()[:bytes_kept])
    return path


@settings(deadline=None)
@given(data=st.data())
def test_wherever_it_was_cut_it_ends_the_same_and_asks_nothing_twice(
    recorded: Path, data: st.DataObject
) -> None:
    """BR-18, BR-25, DI-19: resume is idempotent at every cut; only missing turns are asked for."""
    content = recorded.read_bytes()
    first = content.index(b"\n") + 1
    path = _cut(recorded, data.draw(st.integers(first, len(content))))
    known = [
        (entry["body"]["member"], entry["body"]["round"] - 1)
        for entry in map(json.loads, path.read_bytes().split(b"\n")[:-1])
        if entry["kind"] == "turn"
    ]
    whole = read(recorded)
    voters = Voters()

    footer, book = held(lambda: Transcript.resume(path, HEADER), voters)

    assert sorted([*voters.asked, *known]) == sorted(
        [*"abc"] and [(n, r) for n in "abc" for r in (0, 1)]
    )
    assert footer == whole[-1].body
    assert {(one.kind, one.key) for one in read(path)} == {(one.kind, one.key) for one in whole}
    assert len(read(path)) == len(whole)
    strip = {"begun", "seconds"}
    for one, other in zip(_turns(read(path)), _turns(whole), strict=True):
        assert {k: v for k, v in one.items() if k not in strip} == {
            k: v for k, v in other.items() if k not in strip
        }
    again, asked = Voters(), path.read_bytes()
    assert held(lambda: Transcript.resume(path, HEADER), again)[0] == footer
    assert again.asked == []
    assert path.read_bytes() == asked
    assert book.footer == footer


def _turns(entries: list[Any]) -> list[dict[str, Any]]:
    return sorted(
        (dict(one.body) for one in entries if one.kind == "turn"),
        key=lambda body: (body["round"], body["member"]),
    )


def test_a_cancelled_turn_is_asked_for_again(tmp_path: Path) -> None:
    """BR-18, BR-03: it never ended; all others did."""
    path, first, second = tmp_path / "t.jsonl", Voters(), Voters()

    async def broken_off() -> None:
        book = Transcript.begin(path, HEADER)
        task = asyncio.create_task(small(first.floor(book)))
        await virtual.after(2.5, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        book.release()

    virtual.run(broken_off())
    assert [one.body["ending"] for one in read(path) if one.kind == "turn"] == [
        "ok",
        "ok",
        "cancelled",
    ]

    footer, book = held(lambda: Transcript.resume(path, HEADER), second)

    assert second.asked[0] == ("c", 0)
    assert len(second.asked) == 4
    assert footer["yes"] == 2
    assert [turn.ending for turn in book.turns] == ["ok", "ok", "invalid"] * 2


def test_a_finished_one_is_given_from_the_record(recorded: Path) -> None:
    """BR-18: nobody is asked, and not a byte is written."""
    voters, before = Voters(), recorded.read_bytes()

    footer, _ = held(lambda: Transcript.resume(recorded, HEADER), voters)

    assert footer == {"yes": 2, "calls": 6, "seen": 2}
    assert voters.asked == []
    assert recorded.read_bytes() == before


def test_what_was_used_before_counts(recorded: Path) -> None:
    """BR-07, BR-18: a resumed deliberation has no second purse."""

    async def run() -> Allowance:
        book = Transcript.replayed(read(recorded))
        floor = Voters().floor(book)
        await small(floor)
        return floor.allowance

    spent = virtual.run(run()).spent

    assert (spent.calls, spent.tokens, spent.unknown) == (6, 90, 0)
    assert spent.usd == pytest.approx(0.006)


def test_the_clock_goes_on_where_it_stood(recorded: Path) -> None:
    path = _cut(recorded, recorded.read_bytes().index(b'"kind":"verdict"'))

    _, book = held(lambda: Transcript.resume(path, HEADER))

    assert [entry.at for entry in book.entries][:4] == [0.0, 1.0, 2.0, 3.0]
    assert [entry.at for entry in book.entries][-1] == 6.0


def test_time_passes_from_the_first_loop_on() -> None:
    """A transcript may be begun before the loop that the deliberation runs on."""
    book = Transcript.begin(None, {"kind": "x"})

    async def run() -> tuple[float, float]:
        first = book.elapsed
        await asyncio.sleep(7)
        return first, book.elapsed

    assert book.elapsed == 0.0
    assert virtual.run(run()) == (0.0, 7.0)
    assert book.elapsed == 0.0


def test_another_deliberation_is_not_gone_on_with(recorded: Path) -> None:
    """BR-17, BR-18: another configuration, another panel, another packet."""
    before = recorded.read_bytes()

    for name, value in (("members", ["a"]), ("packet", "4567"), ("rounds", 3)):
        with pytest.raises(Mismatch, match=f"another deliberation's: {name}"):
            Transcript.resume(recorded, {**HEADER, name: value})

    assert recorded.read_bytes() == before
    Transcript.resume(recorded).release()


def test_a_turn_that_would_be_shown_something_else_is_told_loudly(recorded: Path) -> None:
    """BR-17: same key, another prompt."""

    async def run() -> Turn:
        floor = Voters().floor(Transcript.replayed(read(recorded)))
        (member, *_) = seated("a,b,c")
        return await floor.turn(_vote(member, 1, [{"planted": "peer"}]))

    with pytest.raises(Mismatch, match=r"position:1:a:1: it was shown [0-9a-f]{12}… there"):
        virtual.run(run())


# --- running it again -------------------------------------------------------------------------


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(replay: Replay, _: object) -> Mapping[str, Any]:
        floor = replay.floor(CALL)
        await small(floor, replay.transcript.header.get("rounds", 2))
        yes = [turn for turn in floor.transcript.turns if turn.said == {"option": "yes"}]
        last = max(turn.round for turn in floor.transcript.turns)
        return {
            "yes": sum(turn.round == last for turn in yes),
            "calls": floor.allowance.spent.calls,
            "seen": last,
        }

    monkeypatch.setitem(replaying.RERUNS, "small", lambda: run)


@pytest.mark.usefixtures("registered")
def test_a_replay_comes_to_the_same_and_asks_nobody(recorded: Path) -> None:
    """BR-17: by kind, round, member, attempt, tag and prompt."""
    found = virtual.run(rerun(recorded))

    assert found.same
    assert found.again == {"yes": 2, "calls": 6, "seen": 2}
    assert found.unused == ()


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(("yes", "differs"), [(3, ("yes",)), (2, ())])
def test_a_record_that_does_not_bear_out_its_ending_is_told(
    tmp_path: Path, yes: int, differs: tuple[str, ...]
) -> None:
    """Another end, or a word that no rule gives: both are told."""
    path = tmp_path / "t.jsonl"

    async def lies() -> None:
        book = Transcript.begin(path, HEADER)
        floor = Voters().floor(book)
        book.close = lambda *_: {}  # type: ignore[method-assign]
        await small(floor)
        book.note("a word that no rule gives")
        Transcript.close(book, {"yes": yes, "calls": 6, "seen": 2})

    virtual.run(lies())

    found = virtual.run(rerun(path))

    assert not found.same
    assert found.differs == differs
    assert found.unused == ("note a word that no rule gives",)


@pytest.mark.usefixtures("registered")
def test_what_was_not_recorded_fails_loudly(tmp_path: Path) -> None:
    """BR-17: any mismatch; nobody is asked instead."""
    path = tmp_path / "t.jsonl"
    held(lambda: Transcript.begin(path, {**HEADER, "rounds": 3}))

    with pytest.raises(Mismatch, match=r"position:3:\w:1: the transcript holds no such turn"):
        virtual.run(rerun(path))


def test_voices_of_a_replay_ask_nobody(recorded: Path) -> None:
    async def run() -> None:
        replay = Replay(recorded)
        draft = Draft(task="vote", instructions="", state={}, schema={})
        ask = Ask("s", {"q": Choice("?", ["a", "b"])})
        with pytest.raises(Mismatch, match="a: it is to write a vote now"):
            await replay.write("a", draft, within=CALL)
        with pytest.raises(Mismatch, match="b: it is asked now"):
            await replay.hear("b", ask, within=CALL)
        with pytest.raises(Mismatch, match="inbox"):
            replay.transcript.entry("inbox", {})
        assert replay.can_write("a")
        assert not replay.can_write("jev")
        assert replay.knows_provider("c")
        assert not replay.knows_provider("jev")

    virtual.run(run())


def test_what_cannot_be_run_again_says_why(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nothing runs a 'small' again"):
        virtual.run(rerun(recorded))
    path = tmp_path / "t.jsonl"
    Transcript.begin(path, {"kind": "protocol"}).release()
    with pytest.raises(SetupError, match="broken off"):
        virtual.run(rerun(path))


# --- entries ----------------------------------------------------------------------------------


def test_what_is_recorded_counts_when_it_is_come_to_again() -> None:
    """Whatever depends on time or chance goes through an entry, so that a resumed run agrees."""
    book = Transcript.begin(None, {"kind": "x"})

    first = book.entry("verdict", {"score": 70, "by": Reason.OK}, "round/1")
    other = book.entry("verdict", {"score": 10}, "round/1")

    assert first == other == {"score": 70, "by": "ok"}
    assert book.recorded("verdict", "round/1") == first
    assert book.recorded("verdict", "round/2") is None


def test_entries_without_a_name_are_told_apart_by_their_order() -> None:
    book = Transcript.begin(None, {"kind": "x"})
    for number in range(3):
        book.entry("retrieval", {"query": number})
    again = Transcript.replayed(book.entries)

    assert [again.entry("retrieval", {})["query"] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(Mismatch, match="retrieval #3"):
        again.entry("retrieval", {})


def test_a_note_is_noted_once() -> None:
    book = Transcript.begin(None, {"kind": "x"})
    for _ in range(2):
        book.note("stopped_early_at=1")
        book.note("REDUCED BY TIMEOUT")

    assert book.notes == ("stopped_early_at=1", "REDUCED BY TIMEOUT")


# --- files that fail ---------------------------------------------------------------------------


@contextlib.contextmanager
def full_at(size: int) -> Iterator[None]:
    """Let no file grow beyond *size* bytes, as on a full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_a_disk_that_fills_up_costs_nobody_what_was_said(tmp_path: Path) -> None:
    """BR-04: it goes on in memory and says so; the file ends with its last whole line."""
    path, told = tmp_path / "t.jsonl", list[TranscriptError]()

    def begun() -> Transcript:
        return Transcript.begin(path, HEADER, lost=told.append)

    whole, _ = held(lambda: Transcript.begin(None, HEADER))
    with full_at(1500):
        footer, book = held(begun)

    assert footer == whole
    assert len(book.turns) == 6
    (note,) = [one for one in book.notes if one.startswith("not kept: ")]
    assert note == f"not kept: {book.unkept}"
    assert len(told) == 1
    kept = read(path)
    assert 1 < len(kept) < len(book.entries)
    assert [one.key for one in kept] == [one.key for one in book.entries][: len(kept)]
    voters = Voters()
    resumed, _ = held(lambda: Transcript.resume(path, HEADER), voters)
    assert resumed == whole
    assert len(voters.asked) == 6 - sum(one.kind == "turn" for one in kept)


def test_one_that_cannot_be_begun_is_told_to_whoever_begins_it(tmp_path: Path) -> None:
    """A provider has somebody to tell, and goes on in memory; code has the error at once."""
    path, told = tmp_path / "none" / "t.jsonl", list[TranscriptError]()

    with pytest.raises(TranscriptError, match="No such file"):
        Transcript.begin(path, HEADER)
    with full_at(20), pytest.raises(TranscriptError):
        Transcript.begin(tmp_path / "full.jsonl", HEADER)
    with full_at(20):
        full = Transcript.begin(tmp_path / "full too.jsonl", HEADER, lost=told.append)
    gone = Transcript.begin(path, HEADER, lost=told.append)

    assert gone.path is None
    for book in (full, gone):
        assert book.header["kind"] == "small"
        assert book.notes == (f"not kept: {book.unkept}",)
        assert book.close({"yes": 1}) == {"yes": 1}
    assert len(told) == 2


@pytest.mark.parametrize("cut", [0, 1, 7, 60, -1])
def test_one_that_was_killed_before_its_header_was_whole_is_begun_anew(
    recorded: Path, tmp_path: Path, cut: int
) -> None:
    """BR-18: nothing had been said yet."""
    path = tmp_path / "cut.jsonl"
    path.write_bytes(recorded.read_bytes().splitlines()[0][: cut if cut >= 0 else None])
    voters = Voters()

    footer, _ = held(lambda: Transcript.resume(path, HEADER), voters)

    assert footer == held(lambda: Transcript.begin(None, HEADER))[0]
    assert len(voters.asked) == 6
    assert len(read(path)) == len(read(recorded))


def test_what_only_looks_unfinished_is_left_as_it_is(tmp_path: Path) -> None:
    """Somebody's file without an end of line is not written over, whatever is asked for."""
    other, bare = tmp_path / "notes.txt", tmp_path / "bare.jsonl"
    other.write_bytes(b"my notes")
    bare.write_bytes(b'{"at":0.0,"bo')

    with pytest.raises(TranscriptError, match="header"):
        Transcript.resume(other, HEADER)
    with pytest.raises(TranscriptError, match="header"):
        Transcript.resume(bare)

    assert other.read_bytes() == b"my notes"
