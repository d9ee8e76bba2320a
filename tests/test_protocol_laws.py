"""Laws of the protocols: for all members, orders, delays, cuts and disobedience."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import panels
import virtual
from panels import critiques, debated, deliberate, estimate, numbers, others, panel_of, ran, seats
from pointsman import Choice, Draft, Score
from pointsman.gateway.errors import Reason, SetupError
from pointsman.providers.deliberation import Member
from pointsman.providers.deliberation.allowance import Allowance
from pointsman.providers.deliberation.protocols import (
    PROTOCOLS,
    Deliberated,
    Numeric,
    Packet,
    StopReason,
    Typed,
    cost_matched_single,
    independent,
    structured_debate,
)
from pointsman.providers.deliberation.protocols.rerunning import rerun_protocol
from pointsman.providers.deliberation.replaying import Replay, rerun
from pointsman.providers.deliberation.roles import get_role
from pointsman.providers.deliberation.transcript import Mismatch, Transcript

BOUNDED = Numeric(bounds=(0.0, 1e6))

few = settings(max_examples=25, deadline=None)

POINTS = st.lists(st.floats(100.0, 1000.0).map(lambda x: round(x, 3)), min_size=2, max_size=4)


def plain(found: Deliberated) -> dict[str, Any]:
    """A result without what depends on time."""
    kept: dict[str, Any] = msgspec.to_builtins(found)
    for turn in kept["turns"]:
        for name in ("begun", "seconds"):
            turn.pop(name, None)
    kept.pop("seconds")
    return kept


# --- simultaneity and permutation -----------------------------------------------------------


@few
@given(st.data())
def test_br_13_a_rounds_inputs_are_a_function_of_the_round_before(data: st.DataObject) -> None:
    """
    BR-13, DP-26, AM-29: who answers first changes no prompt of the same round.

    DebateLLM appends within the loop, so that its later agents see earlier agents' new answers.
    """
    delays = st.lists(st.integers(0, 50).map(float), min_size=20, max_size=20)

    def jittered(point: float, seconds: list[float]) -> virtual.Member:
        left, says = list(seconds), numbers(point, 0.5)

        async def speaks(draft: Draft) -> Any:
            await asyncio.sleep(left.pop())
            return says(draft)

        return speaks

    def held() -> Deliberated:
        functions = {
            f"m{at}": jittered(point, data.draw(delays))
            for at, point in enumerate((300.0, 340.0, 500.0))
        }
        return debated(functions, rounds=2, tolerance=0, seconds=None).found

    first, second = held(), held()

    prompts = [{turn.key: turn.prompt for turn in found.turns} for found in (first, second)]
    assert prompts[0] == prompts[1]
    assert first.aggregate == second.aggregate


@few
@given(POINTS, st.randoms(use_true_random=False))
def test_br_25_the_order_of_the_panel_changes_nothing(points: list[float], chance: Any) -> None:
    """BR-25, BR-14: every member is shown the same, and the aggregate is the same."""
    functions = panel_of(*points, pull=0.3)
    panel = seats(list(functions))
    shuffled = list(panel)
    chance.shuffle(shuffled)

    one = debated(functions, panel=panel, rounds=2, tolerance=0).found
    other = debated(functions, panel=shuffled, rounds=2, tolerance=0).found

    assert {turn.key: turn.prompt for turn in one.turns} == {
        turn.key: turn.prompt for turn in other.turns
    }
    assert one.aggregate["points"] == pytest.approx(other.aggregate["points"])
    assert one.aggregate["quantiles"] == pytest.approx(other.aggregate["quantiles"])
    assert one.stop is other.stop


def test_br_14_a_seed_permutes_what_readers_see() -> None:
    functions = panel_of(300.0, 330.0, 390.0, 420.0)

    one, other = (
        debated(functions, rounds=1, seed=seed).found.turns for seed in ("first", "second")
    )

    assert [turn.prompt for turn in one[:4]] == [turn.prompt for turn in other[:4]]
    assert [turn.prompt for turn in one[4:]] != [turn.prompt for turn in other[4:]]


# --- disobedience -------------------------------------------------------------------------


@pytest.mark.parametrize("how", virtual.DISOBEDIENT)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_br_24_a_member_that_disobeys_is_never_believed(name: str, how: str) -> None:
    """
    BR-05, BR-06, BR-11, BR-24, DI-15, DP-04: it fails alone, invents nothing, holds up nobody.

    AutoGen evaluates its timeout when a message arrives, so that a hung speaker hangs the run;
    of llm-holding-ground's answers 6.3 % broke their schema's bounds, which no server held.
    """
    bad = virtual.DISOBEDIENT[how](numbers(310.0))

    done, seconds = virtual.timed(_timed(name, bad))
    found = done.found

    assert "bad" not in found.estimates
    expected = 3
    assert (found.expected, found.responded) == (
        expected,
        0 if name == "cost_matched_single" else 2,
    )
    assert seconds <= 30.0 * 5 + 600.0  # every step ends with its turns
    assert found.calls <= 3 * (1 + 2 * 2)
    if name != "cost_matched_single":
        assert set(found.estimates) == {"m0", "m1"}
        assert found.status == "partial"
        assert found.missing["bad"] is not Reason.OK


async def _timed(name: str, bad: virtual.Member) -> panels.Ended:
    protocol = PROTOCOLS[name]
    if name == "cost_matched_single":
        one = Member(name="solo", provider="bad", role=get_role("generalist"))
        told: dict[str, Any] = {"panel": one, "more": {"k": 3}, "form": BOUNDED}
        return await deliberate(protocol, {"bad": bad}, turn_seconds=30.0, **told)
    functions = {**panel_of(300.0, 320.0, pull=0.5), "bad": bad}
    return await deliberate(protocol, functions, turn_seconds=30.0, form=BOUNDED)


@pytest.mark.parametrize("how", sorted(virtual.DISOBEDIENT.keys() - {"not_a_number"}))
def test_br_24_disobedience_among_typed_members_abstains(how: str) -> None:
    """BR-11: no option that nobody offered, no random ballot, nobody's vote for anything."""
    functions = {**panels.voters(["billing"], ["sales"]), "bad": virtual.DISOBEDIENT[how]("other")}

    found = debated(functions, form=panels.TYPED, rounds=1, turn_seconds=30.0).found

    assert "bad" not in found.estimates
    assert found.aggregate == {"lane": {"counts": {"billing": 1, "sales": 1}}}


def test_br_24_an_oscillating_member_never_settles() -> None:
    def swing(point: float) -> Any:
        def says(draft: Draft) -> Any:
            return critiques(draft) if draft.task == "critique" else estimate(point)

        return says

    low, high = swing(300.0), swing(900.0)
    swings = virtual.oscillating(low, low, high, high)  # an answer, a critique, an answer …

    found = debated({**panel_of(310.0, 320.0), "swings": swings}, rounds=4).found

    assert (found.rounds, found.stop) == (4, StopReason.MAX_ROUNDS)


def test_br_24_colluding_members_are_counted_as_they_are_and_no_more() -> None:
    """Three that say the very same have agreed; the fourth is heard and shown."""
    same = virtual.colluding(numbers(300.0), 3)
    functions = {**{f"c{at}": one for at, one in enumerate(same)}, "odd": panel_of(0, 900.0)["m1"]}

    found = debated(functions, rounds=2).found

    assert found.aggregate["points"]["median"] == 300.0
    assert found.points["odd"] == 900.0
    assert found.spreads[0] is not None
    assert found.spreads[0]["range"] > 1.0


def test_br_24_a_sycophant_moves_the_spread_and_not_the_opening() -> None:
    """It joins the others in its revision; what it said at first stays in the record."""

    def agrees(draft: Draft) -> Any:
        if draft.task != "revision":
            return critiques(draft) if draft.task == "critique" else None
        return estimate(max(row["point_estimate"] for row in others(draft)))

    functions = {
        **panel_of(300.0, 310.0),
        "yes": virtual.sycophant(estimate(900.0), agrees),
    }

    found = debated(functions, rounds=2).found

    openings = {turn.member: turn.said for turn in found.turns if turn.round == 0}
    assert openings["yes"] is not None
    assert openings["yes"]["point_estimate"] == 900.0
    assert found.points["yes"] == 310.0


@few
@given(
    st.lists(st.sampled_from(["good", *virtual.DISOBEDIENT]), min_size=1, max_size=4),
    st.integers(0, 2),
    st.integers(0, 1),
)
def test_dp_30_no_panel_asks_more_often_than_its_bound(
    panel: list[str], rounds: int, skeptics: int
) -> None:
    """BR-25, FV-27: calls ≤ n(1 + 2R) + s, and the result says how it ended."""
    functions = {
        f"m{at}": virtual.obedient(numbers(300.0 + at))
        if how == "good"
        else virtual.DISOBEDIENT[how](numbers(300.0))
        for at, how in enumerate(panel)
    }
    functions["s"] = virtual.obedient(numbers(500.0))
    seat = Member(name="s", provider="s", role=get_role("skeptic")) if skeptics else None

    done = debated(
        functions,
        panel=seats(list(functions)[:-1]),
        rounds=rounds,
        skeptic=seat,
        turn_seconds=30.0,
        seconds=None,
        form=BOUNDED,
    )

    assert len(done.drafts) == done.found.calls
    assert done.found.calls <= len(panel) * (1 + 2 * rounds) + skeptics
    assert done.found.responded == panel.count("good")
    assert done.found.responded + len(done.found.missing) == len(panel)
    assert done.found.stop in StopReason


@few
@given(st.integers(0, 16), st.integers(1, 5))
def test_br_07_no_budget_is_overdrawn(calls: int, members: int) -> None:
    done = debated(
        panel_of(*(300.0 + 10 * at for at in range(members))),
        rounds=2,
        tolerance=0,
        allowance=Allowance(calls=calls, reserve=0.0),
    )

    assert len(done.drafts) == done.found.calls <= calls
    enough = members * 5 <= calls if members > 1 else calls
    assert (done.found.stop is StopReason.BUDGET) == (not enough)


@few
@given(st.integers(0, 11).map(lambda whole: whole + 0.5))
def test_br_04_whenever_the_deadline_falls_what_was_finished_counts(seconds: float) -> None:
    """
    BR-02, BR-04, BR-05: preemptive, and nothing finished is lost.

    Never in the same instant as an answer: lower layers keep the deadline by the real clock.
    """
    functions = {
        f"m{at}": virtual.obedient(numbers(300.0 + 10 * at, 0.5), seconds=1.0 + at)
        for at in range(3)
    }

    done, took = virtual.timed(
        deliberate(structured_debate, functions, rounds=1, tolerance=0, seconds=seconds)
    )
    found = done.found

    assert took <= min(seconds, 9.0) + 1e-6
    finished = {at for at in range(3) if 1.0 + at < seconds}
    assert {int(name[1]) for name in found.estimates} == finished
    assert (found.stop is StopReason.TIMEOUT) == (seconds <= 9.0)


# --- resume and replay ----------------------------------------------------------------------


def cut_at(lines: list[bytes], entries: int, rest: int) -> bytes:
    """The first *entries* lines, and *rest* bytes of the next one."""
    following = lines[entries][:rest] if entries < len(lines) else b""
    return b"".join(lines[:entries]) + following.removesuffix(b"\n")


SHAPES: Mapping[str, dict[str, Any]] = {
    "independent": {},
    "debate": {"rounds": 2, "verify": True, "tolerance": 0.0},
    "early": {"rounds": 4},
    "skeptic": {"rounds": 1, "skeptic": "m2", "skeptic_weight": 0.0},
    "placebo": {"rounds": 1, "placebo": True},
    "single": {},
    "typed": {"form": panels.TYPED, "rounds": 2},
}


def shaped(name: str) -> tuple[Any, dict[str, Any]]:
    """A protocol, its members — one of whom is of no use — and its settings."""
    told = dict(SHAPES[name])
    if name == "single":
        one = Member(name="solo", provider="m0", role=get_role("generalist"))
        return cost_matched_single, {**told, "panel": one, "more": {"k": 3}}
    protocol = independent if name == "independent" else structured_debate
    return protocol, told


def functions_of(name: str) -> dict[str, virtual.Member]:
    if name == "typed":
        return {**panels.voters(["billing"], ["sales"]), "bad": virtual.silent()}
    pull = 0.0 if name == "early" else 0.4
    return {**panel_of(300.0, 340.0, 480.0, pull=pull), "bad": virtual.truncated(numbers(300.0))}


@few
@given(st.sampled_from(sorted(SHAPES)), st.data())
def test_br_18_a_deliberation_resumed_at_any_cut_comes_to_the_same(
    name: str, data: st.DataObject
) -> None:
    """BR-18, BR-25, BR-16: a finished turn is never asked again, and the end is the same."""
    protocol, told = shaped(name)
    with tempfile.TemporaryDirectory() as folder:
        whole, part = Path(folder, "whole.jsonl"), Path(folder, "part.jsonl")
        first = ran(protocol, functions_of(name), path=whole, **told)
        lines = whole.read_bytes().splitlines(keepends=True)
        entries = data.draw(st.integers(1, len(lines)))
        part.write_bytes(cut_at(lines, entries, data.draw(st.integers(0, 40))))
        known = sum(b'"kind":"turn"' in line for line in lines[:entries])

        async def resumed() -> panels.Ended:
            transcript = Transcript.resume(part, first.transcript.header)
            return await deliberate(protocol, functions_of(name), transcript=transcript, **told)

        again = virtual.run(resumed())

        assert plain(again.found) == plain(first.found)
        assert len(again.drafts) == len(first.drafts) - known
        asked = [turn.key for turn in again.transcript.turns]
        assert len(asked) == len(set(asked))


@pytest.mark.parametrize("name", SHAPES)
def test_br_17_a_transcript_replayed_comes_to_the_same_without_asking(
    name: str, tmp_path: Path
) -> None:
    """BR-17, DP-01: from the file alone where it holds the evidence."""
    protocol, told = shaped(name)
    path = tmp_path / "debate.jsonl"
    ran(protocol, functions_of(name), path=path, **told)

    again = virtual.run(rerun(path))

    assert again.differs == ()
    assert again.unused == ()
    assert again.same


@pytest.mark.parametrize("limit", [{"seconds": 3.5}, {"allowance": Allowance(calls=7)}])
def test_br_17_what_was_cut_short_is_replayed_as_it_was(
    limit: dict[str, Any], tmp_path: Path
) -> None:
    """No time passes in a replay, and it still ends where time or money had run out."""
    path = tmp_path / "debate.jsonl"
    done = debated(functions_of("debate"), path=path, rounds=2, **limit)

    again = virtual.run(rerun(path))

    assert done.found.stop in (StopReason.TIMEOUT, StopReason.BUDGET)
    assert again.same


def test_br_18_what_the_caller_broke_off_can_be_gone_on_with(tmp_path: Path) -> None:
    """BR-03, BR-18: cancelled turns were not finished; they are asked again, and only they."""
    path = tmp_path / "debate.jsonl"
    functions = panel_of(300.0, 340.0, 480.0, pull=0.4)
    told: dict[str, Any] = {"rounds": 2, "tolerance": 0.0}
    whole = debated(functions, **told)

    async def broken_off() -> None:
        async with asyncio.timeout(1.5):
            await deliberate(structured_debate, functions, path=path, **told)

    async def resumed() -> panels.Ended:
        transcript = Transcript.resume(path, whole.transcript.header)
        return await deliberate(structured_debate, functions, transcript=transcript, **told)

    with pytest.raises(TimeoutError):
        virtual.run(broken_off())
    done = virtual.run(resumed())

    assert plain(done.found)["estimates"] == plain(whole.found)["estimates"]
    assert len(done.drafts) == len(whole.drafts) - 3
    assert virtual.run(rerun(path)).same


def test_br_17_a_replay_of_something_else_fails_loudly(tmp_path: Path) -> None:
    """BR-17: other evidence, given with the transcript or asked about."""
    path = tmp_path / "debate.jsonl"
    debated(panel_of(300.0, 340.0), path=path, rounds=1)
    other = msgspec.structs.replace(panels.PACKET, subject="TX-2")

    with pytest.raises(SetupError, match="not what was deliberated on"):
        virtual.run(rerun_protocol(Replay(path), other))

    async def otherwise() -> None:
        transcript = Replay(path).transcript
        await deliberate(
            structured_debate, panel_of(300.0, 340.0), transcript=transcript, packet=other
        )

    with pytest.raises(Mismatch):
        virtual.run(otherwise())


# --- typed questions ------------------------------------------------------------------------


def test_typed_members_are_asked_as_they_would_be_alone() -> None:
    """A panel without roles or evidence: the host's state and questions, word for word."""
    packet = Packet(subject="s", state={"message": "I was charged twice"})

    done = ran(independent, panels.voters(["billing"]), packet=packet, form=panels.TYPED)

    [draft] = done.drafts
    assert draft.state == {"message": "I was charged twice"}
    assert draft.questions == panels.TYPED.questions


def test_typed_members_revise_with_the_table_in_their_state() -> None:
    done = debated(panels.voters(["billing"], ["sales", "billing"]), form=panels.TYPED, rounds=2)

    revisions = [
        draft
        for draft in done.drafts
        if draft.task == "answer" and draft.questions and "committee" in draft.state
    ]
    assert revisions
    for draft in revisions:
        shown = [row["answers"]["lane"] for row in draft.state["committee"]["members"]]
        assert set(shown) <= {"billing", "sales"}
        assert len(draft.state["critiques"]) == 1
    told = next(iter((revisions[0].questions or {}).values())).instructions
    assert told.endswith("Which lane?")
    assert "their number is no argument" in told


def test_typed_members_who_swap_sides_have_not_settled() -> None:
    """Every share is as before, and two have changed their minds."""
    swapping = panels.voters(["billing", "sales"], ["sales", "billing"], ["other"])
    staying = panels.voters(["billing"], ["sales"], ["other"])

    swapped = debated(swapping, form=panels.TYPED, rounds=3).found
    stayed = debated(staying, form=panels.TYPED, rounds=3).found

    assert (swapped.rounds, stayed.rounds) == (2, 1)
    assert stayed.stop is StopReason.SETTLED


SCORED = Typed({"risk": Score("How risky?", low=0.0, high=10.0)})


@pytest.mark.parametrize(("drift", "rounds"), [(0.0, 1), (0.01, 1), (0.09, 1), (0.11, 3), (2.0, 3)])
def test_ap_01_scores_settle_although_they_jitter(drift: float, rounds: int) -> None:
    """AP-01, AP-03: by dispersion and tolerance, as numbers; 1 % of a range of 10 is 0.1."""

    def scores(risk: float) -> virtual.Member:
        async def speaks(draft: Draft) -> Any:
            if "critique" in draft.task:
                return critiques(draft)
            table = draft.state.get("committee", {"round": 0})
            return {"risk": risk + drift * table["round"]}

        return speaks

    found = debated({"m0": scores(1.0), "m1": scores(3.0)}, form=SCORED, rounds=3).found

    assert found.rounds == rounds
    assert found.stop is (StopReason.SETTLED if rounds == 1 else StopReason.MAX_ROUNDS)


def test_ap_01_what_is_only_advisory_holds_up_nothing() -> None:
    """AP-01: nor does it count where it is asked how far the answers lie apart."""
    form = Typed({"lane": panels.LANES, "why": Score("Why?", low=0.0, high=10.0, advisory=True)})

    async def says(draft: Draft) -> Any:
        if "critique" in draft.task:
            return critiques(draft)
        return {"lane": "billing", "why": 2.0 + 3.0 * ("committee" in draft.state)}

    found = debated({"m0": says, "m1": says}, form=form, rounds=3).found

    assert (found.rounds, found.stop) == (1, StopReason.AGREED)


def test_di_09_what_typed_questions_ask_about_keeps_its_name() -> None:
    """DI-09: options named as models are the case's, also where a member is one of them."""
    form = Typed({"best": Choice("Which is best?", {"claude": "Claude", "gpt": "GPT"})})

    async def says(draft: Draft) -> Any:
        if "critique" in draft.task:
            return critiques(draft, points=["Claude is better."])
        return "claude"

    done = debated({"claude": says, "other": says}, form=form, rounds=1)

    said = [json.dumps(draft.state) for draft in done.drafts]
    assert sum("Claude is better." in text for text in said) == 2


def test_ap_03_typed_agreement_is_unanimous() -> None:
    """AP-03: of truths and options; of a score within the bound of its range."""

    async def says(draft: Draft) -> Any:
        if draft.task == "critique":
            return critiques(draft)
        return {"lane": "billing", "safe": 0.9, "risk": 7.0}

    found = debated({"m0": says, "m1": says}, form=panels.THREE, rounds=2).found
    split = debated(panels.voters(["billing"], ["billing"], ["sales"]), form=panels.TYPED).found

    assert found.stop is StopReason.AGREED
    assert found.aggregate == {
        "lane": {"counts": {"billing": 2}},
        "safe": {"counts": {"True": 2}},
        "risk": {"median": 7.0},
    }
    assert split.stop is StopReason.SETTLED


def test_members_that_cannot_write_answer_again_and_criticise_nobody() -> None:
    """The embedded provider takes part in a typed debate: one call less a round."""
    functions = panels.voters(["billing"], ["sales"])
    panel = [
        *seats(["m0", "m1"]),
        Member(name="own", provider="local", role=get_role("generalist")),
    ]
    packet = Packet(subject="s", state="My invoice is wrong, I was charged twice")

    found = debated(
        functions,
        panel=panel,
        packet=packet,
        form=panels.TYPED,
        environ={"LOCAL_MIN_CONFIDENCE": "0"},
        rounds=1,
        seconds=None,
    ).found

    own = [(turn.kind, turn.ending) for turn in found.turns if turn.member == "own"]
    assert own == [("estimate", "ok"), ("revision", "ok")]
    assert found.calls == 3 * (1 + 2) - 1
    assert set(found.estimates) == {"m0", "m1", "own"}


# --- what peers got wrong ---------------------------------------------------------------------


def test_c_2_a_judge_reads_the_last_round_and_not_the_first() -> None:
    """MAD's final judge reads only the first round's answers."""
    functions = {**panel_of(300.0, 400.0, pull=0.5), "s": virtual.obedient(numbers(1.0))}

    done = debated(functions, skeptic="s", rounds=1)

    [draft] = [one for one in done.drafts if one.task == "skeptic_verdict"]
    shown = sorted(row["point_estimate"] for row in draft.state["committee"]["members"])
    assert shown == [350.0, 350.0]


def test_c_2_an_outer_deadline_loses_no_answer(tmp_path: Path) -> None:
    """llm-council lost all collected answers when its outer deadline cancelled the run."""
    path = tmp_path / "debate.jsonl"
    functions = {**panel_of(300.0, 320.0), "slow": virtual.late(numbers(1.0))}

    async def limited() -> None:
        async with asyncio.timeout(5.0):
            await deliberate(structured_debate, functions, path=path)

    with pytest.raises(TimeoutError):
        virtual.run(limited())

    entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    points = [one["body"]["said"]["point_estimate"] for one in entries if "said" in one["body"]]
    assert points == [300.0, 320.0]
    assert entries[-1]["body"]["aggregate"]["points"]["mean"] == 310.0


def test_c_2_stability_is_not_agreement() -> None:
    """aragora compares each agent with its own previous text and calls that convergence."""
    functions = {f"m{at}": virtual.stubborn(numbers(10.0 ** (at + 1))) for at in range(4)}

    found = debated(functions, rounds=4).found

    assert (found.stop, found.agreed) == (StopReason.SETTLED, False)
