"""What holds of every debate: it can be gone on with, and nobody's seat decides it."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from debating import (
    ALL,
    CASE,
    INVEST,
    NONE,
    ROLES,
    agreeing,
    council_of,
    debate_of,
    gateway_of,
    held,
    panel,
    rules_of,
    says,
    stand,
    trio,
)
from pointsman.gateway.errors import SetupError
from pointsman.providers.deliberation.dynamics import Debate, Debated, Rules, State
from pointsman.providers.deliberation.dynamics.states import TERMINAL
from pointsman.providers.deliberation.replaying import rerun
from pointsman.providers.deliberation.transcript import Mismatch, read
from virtual import hung, obedient, raising, run, silent

PREMISES = frozenset({"premises"})
SCENES: dict[str, dict[str, Any]] = {
    "agreed": trio(ALL),
    "to the council": trio(NONE, NONE, NONE),
    "one is silent": {**trio(NONE, ALL), "cto": silent()},
    "one hangs": {**trio(NONE, frozenset({"premises"}), ALL), "cro": hung()},
    "loop": {one: obedient(says(stand(one, 1, agreed=NONE))) for one in ROLES},
    "cites nothing": {
        one: obedient(agreeing(one, NONE, evidence=["[RAG:GHOST_1]"], limitations=["few data"]))
        for one in ROLES
    },
}
OUT_OF_TIME = trio(NONE, PREMISES, NONE, seconds=29)  # resumed, it would have more of it


class Counting:
    """Functions that count how often each turn was asked for."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self.asked: list[tuple[str, str, int]] = []
        self.functions = {name: self._counted(name, one) for name, one in functions.items()}

    def _counted(self, name: str, function: Any) -> Any:
        async def speaks(draft: Any) -> Any:
            self.asked.append((name, draft.task, draft.round))
            return await function(draft)

        return speaks


def ending(done: Debated) -> tuple[Any, ...]:
    made = done.synthesis
    return (
        done.state,
        done.recommendation,
        done.confidence,
        done.convergence,
        done.stop,
        done.path,
        done.reasons,
        None if made is None else made.votes,
        sorted((turn.key, turn.ending) for turn in done.turns),
    )


@pytest.mark.parametrize("scene", SCENES)
def test_resume_at_every_cut_asks_nothing_twice_and_ends_the_same(
    scene: str, tmp_path: Path
) -> None:
    """BR-18: at every line, and in the middle of every line, that a program could die after."""
    functions = {**council_of(), **SCENES[scene]}
    whole = tmp_path / "whole.jsonl"
    done = run(debate_of().held(gateway_of(functions), CASE, path=whole))
    lines = whole.read_bytes().splitlines(keepends=True)

    for cut in range(1, len(lines) + 1):
        for more in (b"", lines[cut][:20] if cut < len(lines) else b""):
            path = tmp_path / f"cut-{cut}-{len(more)}.jsonl"
            path.write_bytes(b"".join(lines[:cut]) + more)
            known = {
                (turn.member, turn.kind, turn.round)
                for turn in (_turn(line) for line in lines[:cut])
                if turn is not None
            }
            counting = Counting(functions)
            again = run(debate_of().resumed(gateway_of(counting.functions), CASE, path))

            assert ending(again) == ending(done)
            assert not known & set(counting.asked)
            assert read(path)[-1].kind == "footer"


def _turn(line: bytes) -> Any:
    import msgspec

    from pointsman.providers.deliberation.turns import Turn

    entry = msgspec.json.decode(line)
    return msgspec.convert(entry["body"], Turn) if entry["kind"] == "turn" else None


def test_one_that_was_cancelled_can_be_gone_on_with(tmp_path: Path) -> None:
    """TR-05, BR-03, BR-04, BR-18, C.2 (llm-council lost all answers on cancel)."""
    path = tmp_path / "debate.jsonl"
    slow = {**trio(ALL, seconds=1), "cto": obedient(agreeing("cto", ALL), 25)}
    gateway = gateway_of({**council_of(), **slow})

    async def cancelled() -> None:
        task = asyncio.create_task(debate_of().held(gateway, CASE, path=path))
        await asyncio.sleep(10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(cancelled())
    endings = {one.body["member"]: one.body["ending"] for one in read(path) if one.kind == "turn"}
    assert endings == {"cfo": "ok", "cro": "ok", "cto": "cancelled"}

    counting = Counting({**council_of(), **trio(ALL)})
    done = run(debate_of().resumed(gateway_of(counting.functions), CASE, path))
    assert counting.asked == [("cto", "position", 1)]
    assert (done.state, done.recommendation) == (State.EMITTED, "invest")


@pytest.mark.parametrize("scene", [*SCENES, "out of time"])
def test_it_comes_to_the_same_when_it_is_run_again(scene: str, tmp_path: Path) -> None:
    """BR-17: from its transcript, without asking anybody, field by field."""
    path = tmp_path / "debate.jsonl"
    functions = {**council_of(), **SCENES.get(scene, OUT_OF_TIME)}
    rules = None if scene in SCENES else rules_of(timeout_total=100)
    debate = debate_of(rules=rules)
    run(debate.held(gateway_of(functions), CASE, path=path, texts=True))
    again = run(rerun(path))
    assert (again.kind, again.differs, again.unused) == ("debate", (), ())


def test_what_it_was_about_has_to_be_there(tmp_path: Path) -> None:
    path = tmp_path / "debate.jsonl"
    run(debate_of().held(gateway_of({**council_of(), **trio(ALL)}), CASE, path=path))
    with pytest.raises(SetupError, match="DEBATE_TRANSCRIPT_TEXTS"):
        run(rerun(path))


@pytest.mark.parametrize("what", ["state", "rules", "panel", "question"])
def test_a_transcript_of_another_debate_is_refused(what: str, tmp_path: Path) -> None:
    """BR-17, BR-18: any mismatch fails loudly."""
    from pointsman.gateway.questions import Choice

    path = tmp_path / "debate.jsonl"
    gateway = gateway_of({**council_of(), **trio(ALL)})
    run(debate_of().held(gateway, CASE, path=path))
    others: dict[str, tuple[Debate, Any]] = {
        "state": (debate_of(), {"revenue": 13}),
        "rules": (debate_of(rules=rules_of(rounds_max=2)), CASE),
        "panel": (debate_of(("cfo", "cro")), CASE),
        "question": (debate_of(question=Choice("Else?", ("invest", "defer"))), CASE),
    }
    debate, state = others[what]
    with pytest.raises(Mismatch):
        run(debate.resumed(gateway, state, path))
    assert run(debate_of().resumed(gateway, CASE, path)).state is State.EMITTED


# --- laws ------------------------------------------------------------------------------------

OPTIONS = sorted(INVEST.options)
WORDS = st.sampled_from(["a", "b", "c"])
STANDS = st.fixed_dictionaries(
    {
        "recommendation": st.sampled_from(OPTIONS),
        "premises": st.lists(WORDS, max_size=3),
        "risks": st.lists(WORDS, max_size=3),
        "timing": st.sampled_from(["Q1", "Q2"]),
        "confidence": st.integers(0, 100),
        "position": WORDS,
        "keeps": st.just("yes"),
    }
)
SEATS = st.lists(
    st.one_of(
        st.lists(STANDS, min_size=1, max_size=3),
        st.sampled_from(["silent", "hung", "raising"]),
    ),
    min_size=1,
    max_size=4,
)
RULES = st.builds(
    rules_of,
    rounds_max=st.integers(1, 4),
    agreement=st.sampled_from(["trilevel", "unanimous", "pairwise", "plurality"]),
    require_same_recommendation=st.sampled_from([True, "partial", False]),
    penalties=st.sampled_from(["dedup", "sum", "off"]),
    round2=st.sampled_from(["sequential", "parallel"]),
    circuit_breaker_max_iterations=st.integers(1, 6),
    loop_repeats=st.integers(2, 3),
    loop_compare=st.sampled_from(["every", "previous"]),
)
SLOWLY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def speaker(script: Any) -> Any:
    if isinstance(script, str):
        return {"silent": silent, "hung": hung, "raising": raising}[script]()
    return obedient(says(*script))


def staged(seats: Any) -> dict[str, Any]:
    return {f"role{at}": speaker(script) for at, script in enumerate(seats)}


@SLOWLY
@given(SEATS, RULES)
def test_every_debate_ends_and_asks_no_more_than_it_may(seats: Any, rules: Rules) -> None:
    """BR-25, TR-23: a terminal state, calls within the bound, and a limit of rounds that holds."""
    functions = staged(seats)
    done = held(functions, rules=rules)
    many = len(functions)
    assert done.state in TERMINAL
    assert len(done.rounds) <= rules.rounds_max
    assert len(done.turns) <= many * rules.rounds_max + 3
    assert len({turn.key for turn in done.turns}) == len(done.turns)
    assert 0 <= done.confidence <= 100
    assert (done.recommendation is not None) is (
        done.state in (State.EMITTED, State.EMITTED_WITH_CAVEATS)
    )
    assert done.recommendation is None or done.recommendation in OPTIONS


@SLOWLY
@given(SEATS.filter(lambda seats: len(seats) > 1), RULES, st.randoms(use_true_random=False))
def test_the_order_of_seats_decides_nothing(seats: Any, rules: Rules, chance: Any) -> None:
    """BR-25: who sits where changes neither the end nor a number of it."""
    functions = staged(seats)
    names = list(functions)
    mixed = chance.sample(names, len(names))
    one, other = (held(functions, names=tuple(order), rules=rules) for order in (names, mixed))
    assert _numbers(one) == _numbers(other)


def _numbers(done: Debated) -> tuple[Any, ...]:
    made = done.synthesis
    return (
        done.state,
        done.recommendation,
        done.confidence,
        done.convergence,
        done.stop,
        done.reasons,
        done.flags,
        None if made is None else (made.votes, made.conflict, made.stale),
        [(one.hash, sorted(one.fresh), one.check and one.check["criteria"]) for one in done.rounds],
    )


@SLOWLY
@given(st.lists(STANDS, min_size=2, max_size=4), st.integers(0, 100))
def test_a_voice_that_agrees_never_lowers_the_winner(votes: Any, sure: int) -> None:
    """BR-25: one more role with the winner's recommendation leaves it the winner."""
    rules = rules_of(rounds_max=1)
    before = held(staged([[one] for one in votes]), rules=rules).synthesis
    assert before is not None
    if not before.recommendation:
        return
    agrees = {**votes[0], "recommendation": before.recommendation, "confidence": sure}
    after = held(staged([[one] for one in [*votes, agrees]]), rules=rules).synthesis
    assert after is not None
    assert after.recommendation == before.recommendation
    assert after.votes[after.recommendation] == before.votes[before.recommendation] + 1


@SLOWLY
@given(SEATS, RULES)
def test_nothing_follows_a_terminal_state(seats: Any, rules: Rules) -> None:
    """TR-23: the path is one of the table's, and its last row alone leads to a terminal state."""
    from pointsman.providers.deliberation.dynamics.states import TABLE

    done = held(staged(seats), rules=rules)
    reached = {State.ROUTING}
    for step in done.path:
        reached = {
            row.target for row in TABLE if row.id == step and row.source in reached - TERMINAL
        }
        assert reached
    assert done.state in reached


@SLOWLY
@given(SEATS, RULES)
def test_every_transcript_can_be_run_again(seats: Any, rules: Rules) -> None:
    """BR-17, as a law: whatever roles did, the record bears out its own end."""
    functions = staged(seats)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "debate.jsonl"
        held(functions, rules=rules, hold={"path": path, "texts": True})
        again = run(rerun(path))
    assert (again.differs, again.unused) == ((), ())


def test_a_budget_of_calls_is_never_passed() -> None:
    """BR-07: for every budget, and the slice that is held back goes to those who close it."""
    for calls, reserve in itertools.product(range(1, 14), (0.0, 0.3)):
        rules = rules_of(max_calls=calls, reserve=reserve)
        done = held(trio(NONE, NONE, NONE), rules=rules)
        made = [turn for turn in done.turns if "unasked" not in turn.notes]
        assert len(made) <= calls
        assert done.state in TERMINAL


def test_members_are_named_once() -> None:
    from pointsman.gateway.errors import DeclarationError

    with pytest.raises(DeclarationError, match="one name"):
        Debate(INVEST, [*panel("cfo"), *panel("cfo")])
    with pytest.raises(DeclarationError, match="three members"):
        Debate(INVEST, panel("cfo"), council=panel("critic"))


def test_a_round_that_could_not_begin_is_known_when_it_is_run_again(tmp_path: Path) -> None:
    """BR-17, BR-18: the clock that ended it is written down; no cut makes it go on."""

    async def judge(draft: Any) -> dict[str, Any]:
        clock: Any = asyncio.get_running_loop()
        clock.now += 30
        return dict.fromkeys(draft.questions, (False, 0.99))

    functions = {**council_of(), **trio(NONE, NONE), "judge": judge}
    gateway = gateway_of(functions, DECISION_CONVERGENCE_PROVIDER="judge")
    debate, path = debate_of(rules=rules_of(timeout_total=25)), tmp_path / "debate.jsonl"
    done = run(debate.held(gateway, CASE, path=path, texts=True))
    assert (len(done.rounds), done.path[2:4]) == (1, ("TR-16", "TR-06"))

    again = run(rerun(path))
    assert (again.differs, again.unused) == ((), ())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    assert ending(run(debate.resumed(gateway, CASE, path))) == ending(done)
