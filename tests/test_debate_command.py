"""`pointsman debate`: a transcript read, checked and run again, as people and programs want it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import virtual
from commanding import Command
from pointsman import Answer, Choice, Draft, Gateway, Usage
from pointsman.gateway.errors import Reason
from pointsman.providers.deliberation import members, seated
from pointsman.providers.deliberation.commands.telling import event
from pointsman.providers.deliberation.dynamics import Debate
from pointsman.providers.deliberation.feasible import Stage, feasible
from pointsman.providers.deliberation.transcript import Transcript, read
from pointsman.providers.deliberation.turns import Turn

EVIL = "\x1b]0;owned\x07\x1b[31mred\u202e"


def turn(member: str, round_: int, said: Any = None, **more: Any) -> Turn:
    given: dict[str, Any] = {
        "role": "generalist",
        "provider": f"chat/{member}",
        "kind": "position" if round_ == 1 else "rebuttal",
        "ending": "ok",
        "begun": 10.0 * (round_ - 1),
        "seconds": 4.5,
        "usage": Usage(100, 20, 0.01),
        **more,
    }
    return Turn(member=member, round=round_, said=said, **given)


def position(option: str, confidence: int, why: str) -> dict[str, Any]:
    return {"recommendation": option, "confidence": confidence, "position": why, "premises": ["p"]}


TURNS = (
    turn("cfo", 1, position("defer", 80, "Cash lasts nine months. " * 12)),
    turn("cro", 1, position("invest", 70, "Customers stay.")),
    turn(
        "cto",
        1,
        None,
        ending="timeout",
        reason=Reason.TIMEOUT,
        notes=("limit:turn",),
        seconds=30.0,
    ),
    turn("cfo", 2, position("invest", 75, f"The data settles it. {EVIL}")),
    turn("cro", 2, position("invest", 72, "Nothing new.")),
    turn(
        "own",
        2,
        kind="revision",
        answers={"team": Answer(value="tech", confidence=0.8, source="reported")},
    ),
)


@pytest.fixture(scope="module")
def debate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transcript such as a debate leaves."""
    path = tmp_path_factory.mktemp("debate") / "debate.jsonl"
    header = {
        "kind": "staged",
        "question": "Invest or defer?",
        "members": [["cfo", "chat/cfo", "cfo"], {"name": "cro", "provider": "jev"}, "local"],
    }

    async def staged() -> None:
        book = Transcript.begin(path, header)
        for one in TURNS[:3]:
            book.turn(one, "")
        told = {"round": 1, "score": 37.5, "verdict": "DIVERGED", "responded": 2, "expected": 3}
        book.entry("verdict", told, "round/1")
        found = {"query": "churn", "scope": "knowledge", "ending": "ok", "chunks": ["CG001_042"]}
        book.entry("retrieval", found)
        for one in TURNS[3:]:
            book.turn(one, "")
        book.entry("verdict", {"round": 2, "score": 87.5, "verdict": "CONVERGED"}, "round/2")
        book.note("TIMEOUT: CTO em R1")
        book.entry("route", {"route": "EMIT", "reasons": []})
        book.close({"stop": "agreed", "route": "EMIT", "status": "partial"})

    virtual.run(staged())
    return path


def shown(path: Path, *words: str, code: int = 0, **variables: str) -> Command:
    command = Command(path.parent, "debate", *words, **variables)
    with command:
        assert command.ended() == code, command.err
    return command


def test_show_tells_who_said_what_when_and_why_it_stopped(debate: Path) -> None:
    """BR-16: timeline, positions, what changed, convergence per round, retrievals, the end."""
    out = "\n".join(shown(debate, "show", debate.name, COLUMNS="200").out)

    assert "Invest or defer?" in out
    assert "cfo=chat/cfo, cro=jev, local" in out
    assert "   4.50s  cfo          position 1       defer · confidence 80" in out
    assert "cto          position 1       timeout [limit:turn]" in out
    assert "invest · confidence 75 (was defer)" in out
    assert "invest · confidence 72\n" in out
    assert "team tech (0.80)" in out
    assert "retrieval" in out
    assert "CG001_042" in out
    assert "TIMEOUT: CTO em R1" in out
    agreement = out.partition("how far they agreed")[2]
    assert "score 37.5 · verdict DIVERGED · responded 2 · expected 3" in agreement
    assert "score 87.5 · verdict CONVERGED" in agreement
    ending = out.splitlines()[-6:]
    assert any(line.split() == ["stop", "agreed"] for line in ending)
    assert any(line.split() == ["route", "EMIT"] for line in out.splitlines())


def test_show_reads_well_at_80_columns_without_colour(debate: Path) -> None:
    out = shown(debate, "show", debate.name, COLUMNS="80").out

    assert max(map(len, out)) <= 80
    assert sum(line.startswith("           Cash lasts") for line in out) == 1
    assert any(line.endswith(" …") for line in out)


def test_show_is_wrapped_for_whoever_reads_it_without_a_terminal(held: tuple[Path, Path]) -> None:
    """At 100 columns; a line goes on below what it tells, and between two facts."""
    out = shown(held[0], "show", held[0].name, COLUMNS="").out
    beginning = out[: out.index("how far they agreed")]

    assert max(map(len, out)) <= 100
    at = next(n for n, line in enumerate(beginning) if "verdict check/1" in line)
    column = beginning[at].index("verdict DIVERGED")
    assert beginning[at].endswith(" ·")
    assert beginning[at + 1].startswith(" " * column + "open recommendation")
    assert not any("point CONVERGENCE" in line or "by current" in line for line in beginning)


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.010925, "0.01"), (4.5678, "4.57"), (120.0, "120")]
)
def test_times_are_told_by_the_figures_that_matter(seconds: float, told: str) -> None:
    assert event({"round": 1, "seconds": seconds}) == f"seconds {told}"


def test_a_narrow_terminal_breaks_no_word(debate: Path) -> None:
    out = shown(debate, "show", debate.name, COLUMNS="48").out

    assert max(map(len, out)) <= 48
    assert any("verdict round/1" in line for line in out)
    assert any(line.strip().startswith("verdict DIVERGED · score 37.5 ·") for line in out)


def test_nothing_that_a_member_said_steers_a_terminal(debate: Path) -> None:
    for words in (("show", debate.name), ("show", debate.name, "--full")):
        out = "\n".join(shown(debate, *words).out)

        assert "The data settles it." in out
        assert all(one.isprintable() or one == "\n" for one in out)


def test_full_shows_everything_that_was_said(debate: Path) -> None:
    brief, full = (shown(debate, "show", debate.name, *more).out for more in ((), ("--full",)))

    assert not any("premises" in line for line in brief)
    assert any("premises: p" in line for line in full)


def test_show_for_programs(debate: Path) -> None:
    found = json.loads("\n".join(shown(debate, "show", debate.name, "--json").out))

    assert [one["member"] for one in found["turns"]] == [one.member for one in TURNS]
    assert found["header"]["question"] == "Invest or defer?"
    assert [one["kind"] for one in found["events"]] == [
        "verdict",
        "retrieval",
        "verdict",
        "note",
        "route",
    ]
    assert found["footer"]["stop"] == "agreed"


def test_one_that_was_broken_off_is_shown_as_far_as_it_goes(debate: Path, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    lines = debate.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]) + lines[4][:20])

    out = "\n".join(shown(path, "show", path.name).out)

    assert "defer · confidence 80" in out
    assert "it was broken off" in out
    told = shown(path, "verify", path.name, code=2).err
    assert any("line 5: it was not written to its end" in line for line in told)


def test_verify_finds_a_changed_word(debate: Path, tmp_path: Path) -> None:
    path = tmp_path / "changed.jsonl"
    path.write_bytes(debate.read_bytes().replace(b'"EMIT"', b'"HALT"', 1))

    good = shown(debate, "verify", debate.name).out
    bad = shown(path, "verify", path.name, code=2)

    assert good[0] == "✓ 13 entries, as they were written, to its end"
    assert len(good[1].strip()) == 64
    assert any("line 12: it was changed" in line for line in bad.err)
    assert not bad.out
    told = json.loads("\n".join(shown(debate, "verify", debate.name, "--json").out))
    assert (told["entries"], told["ended"]) == (13, True)


def test_what_is_no_transcript_is_told_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello\n")

    for name in ("x.txt", "none.jsonl"):
        for verb in ("show", "verify", "replay"):
            told = "\n".join(shown(tmp_path / name, verb, name, code=2).err)
            assert name in told
            assert "Traceback" not in told


def test_the_command_is_offered_with_the_others(tmp_path: Path) -> None:
    with Command(tmp_path, "--help") as command:
        assert command.ended() == 0

    assert any(line.split()[1:2] == ["debate"] for line in command.out if len(line.split()) > 1)


def test_replay_says_what_nobody_can_run_again(debate: Path) -> None:
    told = "\n".join(shown(debate, "replay", debate.name, code=2).err)

    assert "nothing runs a 'staged' again" in told


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Transcripts of a debate that was held: with what it was about, and without."""
    folder = tmp_path_factory.mktemp("held")

    def says(option: str) -> virtual.Member:
        return virtual.obedient(_says(option), 2)

    async def hold(path: Path, *, texts: bool) -> None:
        gateway = Gateway.from_env(
            {"DECISION_LOG": "off"},
            plugins=[members(a=says("invest"), b=says("defer"), c=virtual.hung())],
        )
        debate = Debate(
            Choice("Invest or defer?", ["invest", "defer"]), seated("cfo=a,cro=b,cto=c")
        )
        await debate.held(gateway, {"facts": "some"}, path=path, texts=texts)

    paths = folder / "whole.jsonl", folder / "bare.jsonl"
    for path, texts in zip(paths, (True, False), strict=True):
        virtual.run(hold(path, texts=texts))
    return paths


def _says(option: str) -> Callable[[Draft], dict[str, Any]]:
    def told(draft: Draft) -> dict[str, Any]:
        fields: dict[str, Any] = draft.schema["properties"]
        return {name: _filled(one, option) for name, one in fields.items()}

    return told


def _filled(field: dict[str, Any], option: str) -> Any:
    if "enum" in field:
        return option if option in field["enum"] else field["enum"][0]
    kinds = {"array": [], "number": 70, "integer": 70, "boolean": False, "string": "words"}
    return kinds.get(field.get("type", ""))


def test_a_debate_that_was_held_is_shown_and_comes_to_the_same(held: tuple[Path, Path]) -> None:
    """BR-17: replayed from its transcript, and from its transcript and what it was about."""
    whole, bare = held
    about, other = whole.parent / "state.json", whole.parent / "other.json"
    about.write_text('{"facts": "some"}')
    other.write_text('{"facts": "others"}')

    out = "\n".join(shown(whole, "show", whole.name, COLUMNS="80").out)

    assert "limit:agent" in out
    assert re.search(r"^escalated +person$", out, re.MULTILINE)
    assert "how far they agreed" in out
    assert shown(whole, "replay", whole.name).out == ["✓ it comes to the same"]
    assert shown(bare, "replay", bare.name, "--about", about.name).out == ["✓ it comes to the same"]
    told = json.loads("\n".join(shown(whole, "replay", whole.name, "--json").out))
    assert told == {"same": True, "differs": [], "unused": []}
    told = shown(bare, "replay", bare.name, code=2).err[0]
    assert "only its hash" in told
    assert "--about state.json" in told
    assert "✗" in shown(bare, "replay", bare.name, "--about", other.name, code=2).err[0]
    assert "No such file" in shown(bare, "replay", bare.name, "--about", "no.json", code=2).err[0]


def test_an_ending_that_the_turns_do_not_bear_out_is_told(
    held: tuple[Path, Path], tmp_path: Path
) -> None:
    """BR-17: whole, well sealed, and not true."""
    first, *entries, last = read(held[0])
    path = tmp_path / "lie.jsonl"
    book = Transcript.begin(path, first.body)
    for entry in entries:
        book.entry(entry.kind, entry.body, entry.key)
    book.close({**last.body, "confidence": 99.5})

    told = shown(path, "replay", path.name, code=1).out

    assert told[0] == "✗ it comes to something else"
    assert told[1].startswith("confidence  99.5 then, ")
    assert shown(path, "verify", path.name).out[0].startswith("✓")


def test_the_worst_case_is_one_sentence() -> None:
    """BR-09."""
    stages = [Stage(name="round 2", turns=9, seconds=30, at_once=False, cap=120)]

    assert feasible(stages, 100).told() == (
        "round 2 may cut turns off; 120 s at worst do not fit into 100 s"
    )


def test_a_debate_that_was_broken_off_says_what_goes_on_with_it(
    held: tuple[Path, Path], tmp_path: Path
) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b"".join(held[0].read_bytes().splitlines(keepends=True)[:4]))

    out = "\n".join(shown(path, "show", path.name).out)

    assert "it was broken off; `Debate.resumed(…)` goes on with it" in out


def test_one_that_was_cancelled_and_resumed_comes_to_the_same(tmp_path: Path) -> None:
    """BR-17, BR-18: who goes on does not come to the end that was none."""
    path = tmp_path / "resumed.jsonl"

    async def broken_off() -> None:
        slow = virtual.obedient(_says("invest"), 2)
        gateway = Gateway.from_env({"DECISION_LOG": "off"}, plugins=[members(a=slow, b=slow)])
        debate = Debate(Choice("Invest?", ["invest", "defer"]), seated("cfo=a,cro=b"))
        about = {"facts": "some"}
        task = asyncio.create_task(debate.held(gateway, about, path=path, texts=True))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert "cancelled" in [one.key for one in read(path)]
        await debate.resumed(gateway, about, path)

    virtual.run(broken_off())

    assert shown(path, "replay", path.name).out == ["✓ it comes to the same"]
