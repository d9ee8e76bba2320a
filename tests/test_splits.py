"""Splits: whom a subject's decisions are assigned to, in every process, and what is kept of it."""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from faulty import ASK, TEAM
from pointsman import DecisionPoint, Gateway, Reason, Recorder, SetupError, scripted
from pointsman.gateway.trials import BUCKETS, CURRENT, Arm, arms_of, assigned, bucket
from telling import RAILS, STATE, Teller
from trialling import POINT, Kept, Offers, offering

EVEN = "current:50,nova:50"
VARIABLE = f"DECISION_{POINT}_PROVIDER"
SUBJECTS = [f"session-{n}" for n in range(20_000)]
FEW = SUBJECTS[:200]
WIDE = 5.0  # standard deviations: one run in two million strays further


@pytest.fixture
def kept_in(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def assign(split: str, subject: str, experiment: str = "1", point: str = POINT) -> str:
    """Name the arm that *subject* belongs to."""
    return assigned(point, experiment, arms_of(split), subject)[0]


def decide(gateway: Gateway, subject: str | None, point: str | DecisionPoint = POINT) -> Any:
    """Decide once for *subject*, where `current` says billing."""
    return gateway.ask_sync(point, ASK, current=lambda: "billing", subject=subject)


# --- buckets -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "drawn"), [("user-1", 9182), ("user-2", 2493), ("user-3", 7000), ("Zoë", 7781)]
)
def test_vector_f_buckets(subject: str, drawn: int) -> None:
    """The hash is the memory, so it never changes."""
    assert bucket("GUARDRAIL_TOXICITY/2026-11-a", subject) == drawn


def test_a_subject_that_no_utf_8_can_write_has_a_bucket() -> None:
    """Half of an emoji in a session's id must not cost a decision."""
    assert 0 <= bucket("TEAM/1/nova", "\ud83d") < BUCKETS


# --- laws of the carving -------------------------------------------------------------------

FEWER = settings(max_examples=50, deadline=None)
names = st.sampled_from(["nova", "local", "openai", "chat/fast"])


@st.composite
def carvings(draw: st.DrawFn) -> tuple[Arm, ...]:
    """Candidates with whole shares that leave something to `current`."""
    chosen = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    shares = [draw(st.integers(0, 25)) for _ in chosen]
    return arms_of(",".join(f"{one}:{share}" for one, share in zip(chosen, shares, strict=True)))


subjects = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=30)


def places(arms: Sequence[Arm], subject: str) -> int:
    """Where in the list the subject's arm stands; `current` is last, wherever that is."""
    arm, _ = assigned(POINT, "1", arms, subject)
    return 99 if arm == CURRENT else [one.provider for one in arms].index(arm)


def grown(arms: Sequence[Arm], at: int, by: float) -> tuple[Arm, ...]:
    """Give one candidate more of what `current` has."""
    *candidates, rest = arms
    candidates[at] = Arm(candidates[at].provider, candidates[at].weight + by)
    return (*candidates, Arm(CURRENT, rest.weight - by))


@given(carvings(), subjects, st.integers(0, 100))
@FEWER
def test_growing_the_last_candidate_moves_nobody_but_subjects_of_current(
    arms: tuple[Arm, ...], those: list[str], by: int
) -> None:
    assume(by <= arms[-1].weight)
    larger = grown(arms, len(arms) - 2, by)
    last = arms[-2].provider
    for subject in those:
        before, after = (assigned(POINT, "1", one, subject)[0] for one in (arms, larger))
        assert after == before or (before, after) == (CURRENT, last)


@given(carvings(), subjects, st.integers(0, 100))
@FEWER
def test_appending_a_candidate_moves_nobody_but_subjects_of_current(
    arms: tuple[Arm, ...], those: list[str], share: int
) -> None:
    assume(share <= arms[-1].weight)
    *candidates, rest = arms
    more = (*candidates, Arm("new", share), Arm(CURRENT, rest.weight - share))
    for subject in those:
        before, after = (assigned(POINT, "1", one, subject)[0] for one in (arms, more))
        assert after == before or (before, after) == (CURRENT, "new")


@given(carvings(), subjects, st.data())
@FEWER
def test_growing_a_candidate_takes_only_from_current_and_those_listed_later(
    arms: tuple[Arm, ...], those: list[str], data: st.DataObject
) -> None:
    """Nobody moves to a later place, those before it stay, and nobody returns to `current`."""
    at = data.draw(st.integers(0, len(arms) - 2))
    larger = grown(arms, at, data.draw(st.floats(0, arms[-1].weight)))
    for subject in those:
        before, after = places(arms, subject), places(larger, subject)
        assert after <= before
        assert before > at or after == before
        assert after >= at or after == before


@given(carvings(), subjects, st.data())
@FEWER
def test_nobody_returns_to_current_while_shares_only_grow(
    arms: tuple[Arm, ...], those: list[str], data: st.DataObject
) -> None:
    for _ in range(4):
        at = data.draw(st.integers(0, len(arms) - 2))
        larger = grown(arms, at, data.draw(st.floats(0, arms[-1].weight)))
        for subject in those:
            if assigned(POINT, "1", arms, subject)[0] != CURRENT:
                assert assigned(POINT, "1", larger, subject)[0] != CURRENT
        arms = larger


@given(carvings(), subjects, st.data())
@FEWER
def test_moving_current_in_the_list_moves_nobody(
    arms: tuple[Arm, ...], those: list[str], data: st.DataObject
) -> None:
    """It is what remains, wherever it is written, and whether it is written at all."""
    written = [f"{one.provider}:{one.weight:g}" for one in arms[:-1]]
    at = data.draw(st.integers(0, len(written)))
    moved = [*written[:at], f"{CURRENT}:{arms[-1].weight:g}", *written[at:]]
    for subject in those:
        assert assign(",".join(moved), subject) == assign(",".join(written), subject)


# --- shares --------------------------------------------------------------------------------


def strays(seen: int, of: int, share: float) -> float:
    """How many standard deviations a count is from its share."""
    deviation = math.sqrt(of * share * (1 - share))
    return abs(seen - of * share) / deviation


@pytest.mark.parametrize("split", ["nova:10", "current:50,nova:30,local:20", "nova:1,local:98,x:1"])
def test_the_shares_are_those_that_were_named(split: str) -> None:
    """Within the noise of drawing: 20,000 subjects."""
    seen = Counter(assign(split, subject) for subject in SUBJECTS)
    for arm in arms_of(split):
        if 0 < arm.weight < 100:
            assert strays(seen[arm.provider], len(SUBJECTS), arm.weight / 100) < WIDE


@pytest.mark.parametrize("split", ["nova:100", "nova:33.3,local:33.3,x:33.4", "a:0.1,b:99.9"])
def test_a_split_that_leaves_nothing_leaves_nobody_to_current(split: str) -> None:
    """Shares are decimals, whose sums miss by an ulp."""
    assert CURRENT not in {assign(split, subject) for subject in SUBJECTS[:5000]}


@pytest.mark.parametrize("split", ["current:100", "nova:0", "current:100,nova:0"])
def test_a_split_that_gives_nothing_gives_nobody_away(split: str) -> None:
    assert {assign(split, subject) for subject in SUBJECTS[:2000]} == {CURRENT}


@pytest.mark.parametrize(
    ("one", "other"), [((POINT, "1"), ("ROUTER", "1")), ((POINT, "1"), (POINT, "2"))]
)
def test_two_points_and_two_experiments_are_independent(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    """Pearson's χ² of the two by two table; 30 is met by chance once in twenty million."""
    table = Counter(
        tuple(
            assign("nova:30", subject, experiment, point) == "nova"
            for point, experiment in (one, other)
        )
        for subject in SUBJECTS[:10_000]
    )
    total = table.total()
    rows = {was: table[was, True] + table[was, False] for was in (True, False)}
    columns = {was: table[True, was] + table[False, was] for was in (True, False)}
    expected = {(a, b): rows[a] * columns[b] / total for a in rows for b in columns}
    assert sum((table[cell] - many) ** 2 / many for cell, many in expected.items()) < 30


# --- through the gateway ---------------------------------------------------------------------


def variants(gateway: Gateway, these: Sequence[str]) -> list[str]:
    """Name the arm of each subject."""
    return [decide(gateway, subject).record.variant for subject in these]


def test_a_split_asks_whom_it_assigns() -> None:
    """The provider answers for its own subjects and for nobody else's."""
    nova = scripted("tech")
    gateway = offering({VARIABLE: EVEN}, nova=nova)

    seen = [decide(gateway, subject) for subject in FEW]

    assert [one.record.variant for one in seen] == [assign(EVEN, subject) for subject in FEW]
    assert all(one.value == ("tech" if one.provider == "nova" else "billing") for one in seen)
    assert len(nova.asked) == sum(one.provider == "nova" for one in seen)
    assert 60 < len(nova.asked) < 140


def test_the_exposure_says_how_it_came_about() -> None:
    gateway = offering({VARIABLE: "nova:100"}, nova=scripted("tech"))

    exposure = decide(gateway, "user-1").record.exposure

    assert exposure.experiment == "1"
    assert exposure.bucket == bucket(f"{POINT}/1/nova", "user-1")
    assert exposure.sticky


def test_another_process_assigns_alike() -> None:
    """The interpreter's own hashes differ from process to process; ours do not."""
    here = Path(__file__).parent
    code = (
        f"import sys, json; sys.path.insert(0, {str(here)!r})\n"
        "from trialling import offering\nfrom test_splits import EVEN, FEW, VARIABLE, variants\n"
        "from pointsman import scripted\n"
        "print(json.dumps(variants(offering({VARIABLE: EVEN}, nova=scripted('tech')), FEW)))"
    )
    environ = {**os.environ, "PYTHONHASHSEED": "17"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    )

    assert json.loads(done.stdout) == variants(
        offering({VARIABLE: EVEN}, nova=scripted("tech")), FEW
    )


def test_async_and_sync_assign_alike() -> None:
    gateway = offering({VARIABLE: EVEN}, nova=scripted("tech"))

    async def asked(subject: str) -> str:
        decision = await gateway.ask(POINT, ASK, current=lambda: "billing", subject=subject)
        return decision.record.variant

    async def all_of_them() -> list[str]:
        return list(await asyncio.gather(*map(asked, FEW)))

    assert asyncio.run(all_of_them()) == variants(gateway, FEW)


def test_the_subject_comes_from_the_call_or_from_the_session() -> None:
    """A function's own subject counts before the session's; consulting is no different."""
    gateway = offering({VARIABLE: EVEN}, nova=scripted("tech"))

    @gateway.point(POINT, TEAM, ask=lambda _: ASK, subject=lambda customer: customer)
    def team(_: str | None) -> str:
        return "billing"

    wrong = next(one for one in FEW if assign(EVEN, one) != assign(EVEN, FEW[0]))
    with gateway.session(wrong):
        own = gateway.decide_sync(team, FEW[0]).record
        inherited = gateway.decide_sync(team, None).record
        consulted = gateway.consultation(POINT, ASK).ask_sync()
    assert own.variant == assign(EVEN, FEW[0])
    assert inherited.variant == assign(EVEN, wrong)
    assert (consulted is not None) == (inherited.variant == "nova")


def test_a_subject_function_that_fails_costs_no_decision() -> None:
    """The host's own path decides, and nothing is recorded as assigned."""
    gateway = offering({VARIABLE: "nova:100"}, nova=scripted("tech"))

    @gateway.point(POINT, TEAM, ask=lambda _: ASK, subject=lambda message: message[99])
    def team(_: str) -> str:
        return "billing"

    record = gateway.decide_sync(team, "short").record
    assert (record.provider, record.variant, record.exposure) == (CURRENT, CURRENT, None)


def test_a_call_that_cannot_be_asked_keeps_its_subject(kept_in: Kept) -> None:
    """`current` decides as ever, and the exposure is still this subject's."""
    variables = {f"DECISION_{POINT}_PROVIDER": "current:100,nova:0", **kept_in.variables}

    def unaskable(message: str) -> Any:
        raise ValueError(message)

    with offering(variables, nova=scripted("tech")) as gateway:
        wrap = gateway.point(POINT, TEAM, ask=unaskable, subject=lambda message: f"who {message}")
        assert wrap(lambda message: message)("billing") == "billing"

    (exposure,) = kept_in.exposures(POINT, "1")
    assert exposure.variant == "current"


def test_without_a_subject_lots_are_drawn_and_it_is_said_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not sticky; told once for each point, in the log."""
    gateway = offering(
        {VARIABLE: EVEN, "DECISION_ROUTER_PROVIDER": EVEN, "DECISION_LOG": "json"},
        nova=scripted("tech"),
    )

    seen = [decide(gateway, None).record for _ in range(200)]
    decide(gateway, None, "ROUTER")

    assert {one.exposure.sticky for one in seen} == {False}
    assert {one.exposure.bucket for one in seen} == {None}
    assert 0 < sum(one.variant == "nova" for one in seen) < 200
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    unsticky = [one["point"] for one in told if one["event"] == "decision.not_sticky"]
    assert unsticky == [POINT, "ROUTER"]


@pytest.mark.parametrize("line", [Reason.TIMEOUT, Reason.REFUSED, RuntimeError("bug")])
def test_a_fallback_keeps_the_arm(line: object) -> None:
    """Who was assigned is one thing, who answered another; else the arms could not be compared."""
    gateway = offering({VARIABLE: "nova:100"}, nova=scripted(line))

    record = decide(gateway, "s").record

    assert (record.variant, record.provider) == ("nova", CURRENT)
    assert record.exposure is not None


def test_an_override_is_no_exposure() -> None:
    """Tests and emergencies belong to no arm."""
    gateway = offering({VARIABLE: EVEN}, nova=scripted("tech"))

    for other in (scripted("none"), "nova", CURRENT):
        with gateway.override({POINT: other}):
            assert {decide(gateway, one).record.exposure for one in FEW[:20]} == {None}


def test_each_arm_has_the_threshold_of_its_provider() -> None:
    """One candidate's answer is too unsure for its own minimum, the other's is not."""
    said = {VARIABLE: "nova:50,other:50", "OTHER_MIN_CONFIDENCE": "0.95"}
    gateway = offering(
        said, nova=scripted("tech", confidence=0.8), other=scripted("tech", confidence=0.8)
    )

    seen = {(one.variant, one.provider) for one in (decide(gateway, s).record for s in FEW)}

    assert seen == {("nova", "nova"), ("other", CURRENT)}


def test_a_split_reaches_a_point_through_its_chain() -> None:
    """A more specific name has no variable of its own; its buckets are its own all the same."""
    point = DecisionPoint(name="TEAM_EU", questions={"en": {"team": TEAM}}, chain=(POINT,))
    gateway = offering({VARIABLE: EVEN}, nova=scripted("tech"))

    seen = [decide(gateway, subject, point).record.variant for subject in FEW]

    assert seen == [assign(EVEN, subject, point="TEAM_EU") for subject in FEW]
    assert seen != variants(gateway, FEW)
    assert gateway.plan(point).why["provider"] == VARIABLE


def test_the_global_variable_may_be_a_split() -> None:
    gateway = offering({"DECISION_PROVIDER": EVEN}, nova=scripted("tech"))

    assert variants(gateway, FEW) == [assign(EVEN, subject) for subject in FEW]
    assert gateway.plan(POINT).why["provider"] == "DECISION_PROVIDER"


def test_internal_points_inherit_no_split() -> None:
    """They take part in one where their own variable says so."""
    inner = DecisionPoint(name="LANE", questions={"en": {"team": TEAM}}, internal=True)
    inherits = offering({"DECISION_PROVIDER": "nova:100"}, nova=scripted("tech"))
    named = offering({"DECISION_LANE_PROVIDER": "nova:100"}, nova=scripted("tech"))

    assert (inherits.plan(inner).provider, inherits.plan(inner).arms) == (CURRENT, ())
    assert decide(inherits, "s", inner).record.exposure is None
    assert decide(named, "s", inner).record.variant == "nova"


def test_a_new_experiment_draws_anew() -> None:
    one = offering({VARIABLE: EVEN}, nova=scripted("tech"))
    other = offering({VARIABLE: EVEN, f"DECISION_{POINT}_EXPERIMENT": "b"}, nova=scripted("tech"))

    assert variants(other, FEW) == [assign(EVEN, subject, "b") for subject in FEW]
    assert variants(other, FEW) != variants(one, FEW)
    assert decide(other, "s").record.exposure.experiment == "b"


def test_a_turn_shares_calls_within_an_arm() -> None:
    """Each point draws for itself; those that the same provider decides still ask together."""
    nova = Teller()
    gateway = offering({"DECISION_PROVIDER": EVEN}, nova=nova)

    async def turn(subject: str) -> dict[str, Any]:
        async with gateway.turn(subject=subject) as turn:
            return await turn.ask(*RAILS, state=STATE)

    decisions = asyncio.run(turn("session-1"))

    expected = {one.name: assign(EVEN, "session-1", point=one.name) for one in RAILS}
    assert {name: one.record.variant for name, one in decisions.items()} == expected
    assert set(expected.values()) == {CURRENT, "nova"}
    assert len(nova.asked) == 1
    assert len(nova.asked[0].questions) == sum(arm == "nova" for arm in expected.values())


def test_the_host_s_own_arm_is_recorded_too() -> None:
    """Else there would be nothing to compare with."""
    recorder = Recorder()
    gateway = offering({VARIABLE: "nova:0"}, nova=scripted("tech"), observers=[recorder])

    @gateway.point(POINT, TEAM)
    def team(_: str) -> str:
        return "billing"

    with gateway.session("s"):
        assert team("hello") == "billing"

    (record,) = recorder.records
    assert (record.variant, record.provider, record.outcome) == (CURRENT, CURRENT, "billing")
    assert record.exposure is not None


# --- the journal ---------------------------------------------------------------------------


def test_a_subject_is_exposed_once_to_an_experiment(tmp_path: Path) -> None:
    """However many decisions; by lot, nobody is."""
    kept = Kept(tmp_path)
    for experiment in ("a", "b"):
        said = {VARIABLE: EVEN, f"DECISION_{POINT}_EXPERIMENT": experiment, **kept.variables}
        with offering(said, nova=scripted("tech")) as gateway:
            for subject in [*FEW[:10] * 3, None]:
                decide(gateway, subject)

    for experiment in ("a", "b"):
        exposed = kept.exposures(POINT, experiment)
        assert len(exposed) == len({one.subject for one in exposed}) == 10
        arms = Counter(assign(EVEN, subject, experiment) for subject in FEW[:10])
        assert Counter(one.variant for one in exposed) == arms
    assert len(kept.trails()) == 62


@pytest.mark.parametrize("observed", [True, False])
def test_consulting_exposes_both_arms(observed: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """Also where nobody tells what current did: else only the candidate's arm would be counted."""
    kept = Kept(tmp_path)
    with offering({VARIABLE: EVEN, **kept.variables}, nova=scripted("tech")) as gateway:
        for subject in FEW[:20]:
            consultation = gateway.consultation(POINT, ASK, subject=subject)
            decision = consultation.ask_sync()
            if observed and decision is None:
                consultation.observe("billing")
        unasked = gateway.consultation(POINT, ASK, subject="never asked")
        del consultation, unasked

    exposed = Counter(one.variant for one in kept.exposures(POINT, "1"))
    assert exposed == Counter(assign(EVEN, subject) for subject in FEW[:20])
    assert len(kept.trails()) == 20


# --- faults at start -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "split",
    [
        "current:90,nova:20",
        "current:80,nova:10",
        "nova:60,other:50",
        "nova:10,",
        ",",
        "current:90,nova",
        "nova,other",
        "nova:",
        ":10",
        "nova:ten",
        "nova:-1",
        "nova:101",
        "nova:nan",
        "nova:inf",
        "nova:10:20",
        "nova:50,nova:50",
        "current:50,current:50",
    ],
)
def test_a_split_is_checked_at_start(split: str) -> None:
    """One fault, which names the variable and shows how a split is written."""
    with pytest.raises(SetupError) as caught:
        offering({VARIABLE: split}, nova=scripted("tech"), other=scripted("tech"))

    (fault,) = caught.value.faults
    assert fault.where == VARIABLE
    assert "current:90,jev:10" in str(fault)


@pytest.mark.parametrize(
    ("split", "said"),
    [
        ("current/eu:10,nova:90", "takes no instance"),
        ("nova/e u:10", "an instance is"),
        ("nova:10,jove:10", "no provider 'jove'"),
    ],
)
def test_the_names_of_a_split_are_checked_too(split: str, said: str) -> None:
    with pytest.raises(SetupError, match=said) as caught:
        offering({VARIABLE: split}, nova=scripted("tech"))

    assert [fault.where for fault in caught.value.faults] == [VARIABLE]


def test_a_global_split_is_checked_at_start() -> None:
    with pytest.raises(SetupError) as caught:
        offering({"DECISION_PROVIDER": "current:90,nova:20"}, nova=scripted("tech"))

    assert [fault.where for fault in caught.value.faults] == ["DECISION_PROVIDER"]


def test_blanks_in_a_split_are_no_fault() -> None:
    gateway = offering({VARIABLE: " current : 90 , nova : 10 "}, nova=scripted("tech"))

    decide(gateway, "s")
    assert gateway.plan(POINT).arms == (Arm("nova", 10), Arm(CURRENT, 90))


def test_a_split_is_no_shadow() -> None:
    """Weights belong to those who decide."""
    said = {f"DECISION_{POINT}_SHADOW": "nova:10"}
    with pytest.raises(SetupError, match=f"DECISION_{POINT}_SHADOW"):
        Gateway.from_env(said, plugins=[Offers({"nova": scripted("tech")})])
