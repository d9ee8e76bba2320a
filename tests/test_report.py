"""Two deciders held against each other: who agrees, who is right, and what may be said of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pointsman.gateway.certificates import Thresholds
from pointsman.gateway.errors import Reason
from pointsman.gateway.evaluation.comparison.arms import FEWEST, Plan, Split
from pointsman.gateway.evaluation.comparison.arms import split as arms_of
from pointsman.gateway.evaluation.comparison.reading import Reader
from pointsman.gateway.evaluation.comparison.report import Report, Wanted, compare
from pointsman.gateway.journal.rows import FeedbackRow, Trail
from pointsman.gateway.keys import QuestionKey
from pointsman.gateway.points import DecisionPoint
from pointsman.gateway.questions import Choice, Score
from pointsman.gateway.records import Attempt
from rivals import (
    DAY,
    POINT,
    START,
    answer,
    attempt,
    certified,
    feedback,
    id_of,
    paired,
    record,
    split,
    trail,
)

HALVES = {"current": 0.5, "jev": 0.5}


def made(trails: Sequence[Trail], **given: Any) -> Report:
    return compare(trails, Wanted(point=POINT, **given))


def confirmations() -> list[Trail]:
    """
    The worked example: 390 confirmations, both 248 right, A alone 62, B alone 13.

    Its answers are arranged so that the four counts are those of the example.
    """
    counts = [("yes", "yes", 248), ("yes", "no", 62), ("no", "yes", 13), ("no", "no", 67)]
    rows = [(a, b) for a, b, count in counts for _ in range(count)]
    random.Random(1).shuffle(rows)
    return [paired(number, a, b, "yes", subject=f"s{number}") for number, (a, b) in enumerate(rows)]


def test_the_worked_example_of_paired_decisions() -> None:
    """Only A right 62, only B right 13: p = 8.4e-9, −12.6 points, B must not be called better."""
    report = made(confirmations())
    (judged,) = report.judgements
    assert (judged.a.rows, judged.only_a, judged.only_b) == (390, 62, 13)
    assert judged.exact == pytest.approx(8.4e-9, rel=0.01)
    assert judged.difference == pytest.approx(-49 / 390)
    assert judged.once == pytest.approx((-0.167, -0.085), abs=0.003)
    assert judged.low < judged.once.low
    assert judged.once.high < judged.high < 0
    assert judged.better == "a"


def test_agreement_is_counted_cell_by_cell() -> None:
    """The vector of kappa: 50, 5, 10, 35 is 0.693878."""
    counts = [("a", "a", 50), ("a", "b", 5), ("b", "a", 10), ("b", "b", 35)]
    rows = [(a, b) for a, b, count in counts for _ in range(count)]
    report = made([paired(number, *row) for number, row in enumerate(rows)])
    (one,) = report.agreements
    assert one.kappa == pytest.approx(0.693878, abs=1e-6)
    assert (one.pairs, one.agreed, one.labels) == (100, 85, ("a", "b"))
    assert one.counts == ((50, 5), (10, 35))
    assert [(cell.a, cell.b, cell.count) for cell in one.cells] == [("b", "a", 10), ("a", "b", 5)]
    assert one.cells[0].ids == (id_of(55), id_of(56), id_of(57))
    assert report.judgements == ()
    assert report.verdict.word == "not yet"


def test_disagreement_is_told_by_confidence() -> None:
    trails = [paired(0, "a", "b", sure=0.55), paired(1, "a", "a", sure=0.95)]
    (one,) = made(trails).agreements
    assert [(band.low, band.pairs, band.differ) for band in one.bands] == [
        (0.5, 1, 1),
        (0.95, 1, 0),
    ]


def test_no_answer_counts_as_wrong_and_is_never_dropped() -> None:
    """A refusal on a labelled decision costs its decider the row."""
    silent = attempt("jev", None, reason=Reason.REFUSED)
    report = made([trail(record(0, "a"), [silent], feedback(0, "a")), paired(1, "a", "a", "a")])
    (judged,), (one,) = report.judgements, report.agreements
    assert (judged.a.hits, judged.b.hits, judged.only_a) == (2, 1, 1)
    assert one.cells[0].b == "(no answer)"
    assert report.efforts[1].reasons == {"refused": 1}


def test_what_is_only_known_to_be_wrong_is_left_out_and_counted() -> None:
    """Of three options, "not that one" judges nobody who said another."""
    rows = [
        trail(record(0, "a"), [attempt("jev", "b")], feedback(0, right=False)),
        trail(record(1, "a"), [attempt("jev", "a")], feedback(1, right=False)),
        trail(record(2, "a"), [attempt("jev", "b")], feedback(2, right=True)),
    ]
    (judged,) = made(rows).judgements
    assert (judged.a.rows, judged.unclear) == (2, 1)
    assert (judged.a.hits, judged.b.hits) == (1, 0)


def test_of_a_predicate_the_opposite_of_wrong_is_right() -> None:
    row = trail(record(0, outcome=True), [attempt("jev", value=False)], feedback(0, right=False))
    (judged,) = made([row]).judgements
    assert (judged.only_a, judged.only_b) == (0, 1)


def test_the_latest_feedback_counts() -> None:
    one = paired(0, "a", "b", "a")
    later = FeedbackRow(id=id_of(0, 8), of=id_of(0), at=START + DAY, label="b")
    (judged,) = made([replace(one, feedback=(later, *one.feedback))]).judgements
    assert (judged.only_a, judged.only_b) == (0, 1)


def test_labels_of_a_predicate_may_be_words() -> None:
    (judged,) = made([paired(0, True, False, "Yes")]).judgements  # noqa: FBT003 - an outcome
    assert (judged.only_a, judged.only_b) == (1, 0)


def test_scores_are_compared_by_their_nearest_level() -> None:
    point = DecisionPoint(
        name=POINT, questions={"en": {"decision": Score("How good?", ["poor", "fair", "good"])}}
    )
    report = made([paired(0, 1.6, 2.0, "good"), paired(1, 0.4, 1.0, 0.0)], declared=point)
    (one,), (judged,) = report.agreements, report.judgements
    assert {(cell.a, cell.b) for cell in one.cells} == {("poor", "fair")}
    assert (judged.a.hits, judged.b.hits) == (2, 1)


def test_several_questions_are_judged_one_by_one() -> None:
    """A label may name one question alone; what nobody labelled is not judged."""
    keys = {name: QuestionKey(name, name) for name in ("intent", "urgent")}
    asked = attempt("jev", None)
    asked = replace(asked, answers={"intent": answer("a", 0.9), "urgent": answer(False, 0.8)})  # noqa: FBT003
    decided = record(0, {"intent": "a", "urgent": True})
    one = trail(decided, [asked], feedback(0, {"urgent": True}))
    outcome = {"intent": "a", "urgent": False}
    shadow = replace(
        one.shadows[0], shadow=replace(one.shadows[0].shadow, outcome=outcome), keys=keys
    )
    report = made([replace(one, decision=replace(one.decision, keys=keys), shadows=(shadow,))])
    assert {one.question: one.agreed for one in report.agreements} == {"intent": 1, "urgent": 0}
    assert [(one.question, one.only_a) for one in report.judgements] == [("urgent", 1)]
    assert report.together is not None
    assert (report.together.rows, report.together.decided) == (1, 0)


def test_repeats_of_one_question_are_one_question() -> None:
    keys = {f"relevant {n}": QuestionKey("relevant {n}", "same") for n in (1, 2)}
    answers = {name: answer(True, 0.9) for name in keys}  # noqa: FBT003 - an outcome
    decided = record(0, {"relevant 1": True, "relevant 2": False})
    one = trail(decided, [replace(attempt("jev", None), answers=answers)])
    shadow = replace(
        one.shadows[0],
        shadow=replace(one.shadows[0].shadow, outcome={"relevant 1": True, "relevant 2": True}),
        keys=keys,
    )
    report = made([replace(one, decision=replace(one.decision, keys=keys), shadows=(shadow,))])
    assert [(one.question, one.pairs, one.agreed) for one in report.agreements] == [
        ("relevant {n}", 2, 1)
    ]


def test_the_rival_is_who_answered_most_beside() -> None:
    rows = [trail(record(n, "a"), [attempt("chat", "a"), attempt("jev", "a")]) for n in range(2)]
    rows.append(paired(2, "a", "a"))
    report = made(rows)
    assert (report.b, report.others) == ("jev", {"chat": 2})
    assert made(rows, b="chat").b == "chat"


def test_a_rival_of_another_may_be_named() -> None:
    rows = [trail(record(n, "a"), [attempt("chat", "b"), attempt("jev", "a")]) for n in range(2)]
    report = made(rows, a="chat", b="jev")
    (one,) = report.agreements
    assert [(cell.a, cell.b, cell.count) for cell in one.cells] == [("b", "a", 2)]


def rescued(number: int, b: str, a: str, label: str | None) -> Trail:
    """`jev` was asked, too unsure to be believed, and `current` decided."""
    unsure = attempt("jev", b, 0.6, Reason.LOW_CONFIDENCE)
    decided = record(
        number,
        a,
        variant="jev",
        reason=Reason.LOW_CONFIDENCE,
        attempts=(unsure, Attempt(provider="current", seconds=0.8)),
    )
    return trail(decided, told=None if label is None else feedback(number, label))


def test_what_the_fallback_fixed_and_broke() -> None:
    rows = [
        rescued(0, "b", "a", "a"),
        rescued(1, "a", "b", "a"),
        rescued(2, "a", "a", "a"),
        rescued(3, "b", "c", "a"),
        rescued(4, "b", "a", None),
    ]
    (one,) = made(rows).rescues
    assert (one.rows, one.differ, one.labelled) == (5, 4, 4)
    assert (one.fixed, one.broke, one.same) == (1, 1, 2)


def test_rows_chosen_by_doubt_stand_for_no_others() -> None:
    """What both answered only because one was not believed is neither agreement nor accuracy."""
    report = made([rescued(number, "b", "a", "a") for number in range(5)])
    assert (report.beside, report.after) == (0, 5)
    assert (report.agreements, report.judgements) == ((), ())
    assert [one.rows for one in report.guarded if one.provider == "current"] == []


def test_fallbacks_belong_to_who_was_assigned() -> None:
    late = attempt("jev", None, reason=Reason.TIMEOUT)
    timeout = record(
        9,
        "a",
        variant="jev",
        reason=Reason.TIMEOUT,
        attempts=(late, Attempt(provider="current", seconds=1.0)),
    )
    report = made([rescued(0, "b", "a", None), trail(timeout), paired(1, "a", "a")])
    found = {one.variant: one for one in report.assigned}
    assert found["jev"].fallbacks == {"low_confidence": 1, "timeout": 1}
    assert (found["jev"].decisions, found["current"].fallbacks) == (2, {})
    assert found["current"].cost_per_1000 is None
    assert found["jev"].cost_per_1000 == pytest.approx(0.4)


def test_latency_and_cost_are_those_of_the_asks() -> None:
    rows = [trail(record(n, "a"), [attempt("jev", "a", seconds=0.1 * (n + 1))]) for n in range(101)]
    rows.append(trail(record(101, "a"), [attempt("jev", "a", seconds=0.0, cached=True)]))
    jev = made(rows).efforts[1]
    assert (jev.asked, jev.timed, jev.models) == (102, 101, {"jev-1": 102})
    assert [one.seconds for one in jev.quantiles] == pytest.approx([5.1, 9.6, 10.0])
    assert all(one.low <= one.seconds <= one.high for one in jev.quantiles if one.low and one.high)
    assert jev.cost_per_1000 == pytest.approx(0.4)
    assert jev.tokens == pytest.approx(102)


def sure_rows(count: int, wrong: int, unsure: int = 0) -> list[Trail]:
    """Confident answers of which the first are wrong, then unsure ones that are right."""
    rows = [
        paired(n, "a", "b" if n < wrong else "a", "a", sure=0.95, subject=f"s{n}")
        for n in range(count)
    ]
    more = range(count, count + unsure)
    return rows + [paired(n, "a", "a", "a", sure=0.6, subject=f"s{n}") for n in more]


def test_at_its_certified_threshold_only_the_sure_part_is_decided() -> None:
    report = made(sure_rows(200, 4, 100), thresholds=certified(0.9))
    jev = next(one for one in report.guarded if one.provider == "jev")
    assert (jev.thresholds, jev.rows, jev.decided) == (("0.9",), 300, 200)
    assert (jev.labelled, jev.errors, jev.reasons) == (200, 4, {"low_confidence": 100})
    assert jev.bound == pytest.approx(0.0451, abs=1e-4)
    current = next(one for one in report.guarded if one.provider == "current")
    assert (current.always, current.decided, current.errors) == (True, 300, 0)
    (handed,) = report.handovers
    assert (handed.rows, handed.decided, handed.only_a, handed.only_b) == (300, 200, 4, 0)
    assert report.verdict.word == "yes"
    assert report.verdict.sentence == "jev may replace current at α = 5 %"


def test_the_error_rate_is_the_one_that_is_certified_unless_another_is_asked_for() -> None:
    file = certified(0.9)
    file = replace(file, certificates=tuple(replace(one, risk=0.1) for one in file.certificates))
    assert made(sure_rows(60, 0), thresholds=file).alpha == 0.1
    assert made(sure_rows(60, 0), thresholds=file, alpha=0.05).alpha == 0.05
    assert made(sure_rows(60, 0)).alpha == 0.05


def test_a_certificate_for_another_model_decides_nothing() -> None:
    rows = [
        trail(record(n, "a"), [attempt("jev", "a", model="jev-2")], feedback(n, "a"))
        for n in range(60)
    ]
    report = made(rows, thresholds=certified(0.5))
    jev = next(one for one in report.guarded if one.provider == "jev")
    assert (jev.rows, jev.unmatched, jev.decided) == (0, 60, 0)
    assert report.verdict.word == "not yet"
    assert "otherwise than certified" in " ".join(report.verdict.because)


def test_a_predicate_with_two_sides_is_held_to_each() -> None:
    file = certified(None, no_below=0.2, yes_from=0.9)
    file = replace(
        file, certificates=tuple(replace(one, two_sided=True) for one in file.certificates)
    )
    told = [(True, 0.95, True), (True, 0.8, True), (False, 0.95, True), (False, 0.7, False)]
    rows = [
        paired(n, label, value, label, sure=sure) for n, (value, sure, label) in enumerate(told)
    ]
    jev = next(one for one in made(rows, thresholds=file).guarded if one.provider == "jev")
    assert jev.thresholds == ("no below 0.2, yes from 0.9",)
    assert (jev.decided, jev.errors) == (2, 1)
    assert jev.missed is not None
    assert jev.alarms is not None
    assert (jev.missed.errors, jev.missed.rows) == (1, 3)
    assert (jev.alarms.errors, jev.alarms.rows) == (0, 1)


def test_without_certificates_there_are_raw_thresholds_and_no_promise() -> None:
    report = made(sure_rows(100, 2, 50))
    jev = next(one for one in report.spreads if one.provider == "jev")
    found = {rung.threshold: (rung.decided, rung.labelled, rung.errors) for rung in jev.rungs}
    assert found[0.5] == (150, 150, 2)
    assert found[0.9] == (100, 100, 2)
    assert jev.curve[-1] == pytest.approx((1.0, 2 / 150))
    assert report.verdict.word == "not yet"


def test_no_is_said_of_errors_that_are_no_chance_only() -> None:
    """Of the most confident fifth of 300, 60 answers: 6 wrong may be chance, 12 are not."""
    for wrong, word in ((6, "not yet"), (12, "no")):
        rows = [
            paired(n, "a", "b" if n < wrong else "a", "a", sure=0.99 - n / 1000) for n in range(60)
        ]
        rows += [paired(n, "a", "b" if n % 3 else "a", "a", sure=0.6) for n in range(60, 300)]
        assert made(rows).verdict.word == word


def test_slices_of_languages_and_days() -> None:
    rows = [
        paired(n, "a", "a" if n % 2 else "b", "a", language="pt" if n % 2 else "en")
        for n in range(80)
    ]
    (judged,) = made(rows).judgements
    slices = {part.value: part for part in judged.slices}
    assert (slices["en"].b.hits, slices["pt"].b.hits) == (0, 40)
    assert slices["en"].notable
    assert not slices["pt"].notable


def arms(
    sizes: dict[str, int], rates: dict[str, float], seed: int = 1, labelled: float = 1.0
) -> list[Trail]:
    dice = random.Random(seed)
    rows: list[Trail] = []
    for arm, size in sizes.items():
        for subject in range(size):
            right = dice.random() < rates[arm] if dice.random() < labelled else None
            rows.append(split(len(rows), arm, f"{arm}-{subject}", right=right))
    return rows


def compared(rows: Sequence[Trail], **given: Any) -> Split:
    found = arms_of([*Reader().read(rows)], Plan(a="current", b="jev", **given))
    assert found is not None
    return found


def test_a_split_that_fell_as_planned_is_compared() -> None:
    rows = arms({"current": 1000, "jev": 1000}, {"current": 0.95, "jev": 0.7})
    found = compared(rows, shares=HALVES)
    assert found.ratio is not None
    assert found.ratio.p == pytest.approx(1.0)
    assert found.difference is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.difference < found.high < 0
    assert (found.better, found.needed) == ("a", 0)
    assert found.p is not None
    assert found.p < 0.05


def test_vector_f_a_ratio_that_is_off_blocks_the_report() -> None:
    """5000 to 5400: p = 8.770e-5, below the alarm at 0.001."""
    rows = arms({"current": 5000, "jev": 5400}, {"current": 0.5, "jev": 0.9}, labelled=0.02)
    found = compared(rows, shares=HALVES)
    assert found.ratio is not None
    assert found.ratio.p == pytest.approx(8.770e-5, rel=1e-3)
    assert (found.failed, found.difference) == (True, None)
    assert sum(sum(day.subjects.values()) for day in found.days) == 10_400


def test_subjects_of_two_arms_and_decisions_without_one_are_left_out() -> None:
    rows = arms({"current": 60, "jev": 60}, {"current": 1.0, "jev": 1.0})
    rows += [split(500, "current", "both", right=True), split(501, "jev", "both", right=True)]
    rows += [split(502, "jev", None, right=True), split(503, "jev", "jev-0", right=False)]
    found = made(rows, shares=HALVES).split
    assert found is not None
    assert (found.crossed, found.unsticky) == (1, 1)
    sizes = {arm.variant: (arm.subjects, arm.decisions) for arm in found.arms}
    assert sizes == {"current": (60, 60), "jev": (60, 61)}


def test_without_planned_shares_nothing_is_compared() -> None:
    rows = arms({"current": 100, "jev": 100}, {"current": 0.2, "jev": 0.9})
    found = made(rows).split
    assert found is not None
    assert found.difference is None
    assert "shares are not known" in found.why


def test_an_arm_without_a_share_is_no_chance() -> None:
    rows = arms(
        {"current": 50, "jev": 50, "chat": 1}, dict.fromkeys(("current", "jev", "chat"), 1.0)
    )
    found = made(rows, b="jev", shares=HALVES).split
    assert found is not None
    assert found.failed


def test_few_labelled_subjects_are_too_few() -> None:
    sizes = {"current": FEWEST, "jev": FEWEST - 1}
    found = made(arms(sizes, {"current": 1.0, "jev": 0.0}), shares=HALVES).split
    assert found is not None
    assert found.difference is None
    assert str(FEWEST) in found.why


def test_only_the_experiment_asked_for_is_compared() -> None:
    rows = arms({"current": 60, "jev": 60}, {"current": 1.0, "jev": 1.0})
    found = made(rows, shares=HALVES, experiment="2").split
    assert found is not None
    assert (found.others, found.arms[0].decisions) == (120, 0)


@settings(max_examples=40, deadline=None)
@given(
    rights=st.lists(st.integers(FEWEST, 150), min_size=2, max_size=2),
    shares=st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2),
    effect=st.floats(0.005, 0.2),
)
def test_never_better_while_zero_is_inside(
    rights: list[int], shares: list[float], effect: float
) -> None:
    """Whatever the arms came to: a winner is named if and only if the interval leaves out zero."""
    trails: list[Trail] = []
    for arm, size, part in zip(HALVES, rights, shares, strict=True):
        wins = round(size * part)
        trails += [split(len(trails) + n, arm, f"{arm}-{n}", right=n < wins) for n in range(size)]
    total = sum(rights)
    planned = {arm: size / total for arm, size in zip(HALVES, rights, strict=True)}
    found = compared(trails, shares=planned, effect=effect)
    assert found.low is not None
    assert found.high is not None
    assert found.p is not None
    inside = found.low <= 0.0 <= found.high
    assert (found.better == "") is inside
    assert (found.p > 0.05) is inside or found.p == pytest.approx(0.05)
    assert found.needed is None or (found.needed == 0) is not inside


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80))
def test_never_better_on_pairs_while_zero_is_inside(rows: list[tuple[bool, bool]]) -> None:
    trails = [paired(n, "a" if a else "b", "a" if b else "b", "a") for n, (a, b) in enumerate(rows)]
    point = DecisionPoint(name=POINT, questions={"en": {"decision": Choice("Which?", ["a", "b"])}})
    (judged,) = made(trails, declared=point).judgements
    assert judged.low <= judged.difference + 1e-9
    assert (judged.better == "") is (judged.low <= 0.0 <= judged.high)
    assert judged.better == "" or judged.exact < 0.05
    assert (judged.needed == 0) is (judged.better != "")
    assert (judged.only_b > judged.only_a) or judged.better != "b"


def test_nothing_was_asked_and_nothing_breaks() -> None:
    empty = made([])
    assert (empty.decisions, empty.b, empty.verdict.word) == (0, "", "not yet")
    alone = made([trail(record(0, "a"))])
    assert (alone.b, alone.agreements, alone.split) == ("", (), None)


def test_a_host_that_says_no_more_is_not_compared() -> None:
    """Where the host's own value has no name, nobody agreed or differed."""
    report = made([trail(record(0, None), [attempt("jev", "a")])])
    assert report.beside == 0


def test_several_questions_are_decided_only_together() -> None:
    """A decision is taken where every answer clears the threshold of its own question."""
    keys = {name: QuestionKey(name, "template", "options") for name in ("decision", "urgent")}
    (one,) = certified(0.9).certificates
    second = replace(one, key=replace(one.key, question="urgent"))
    file = Thresholds(certificates=(one, second))
    rows: list[Trail] = []
    for number, (first, other) in enumerate([(0.95, 0.95), (0.95, 0.6), (0.6, 0.95)]):
        answers = {"decision": answer("a", first), "urgent": answer("b", other)}
        asked = replace(attempt("jev", None), answers=answers)
        row = trail(record(number, {"decision": "a", "urgent": "b"}), [asked])
        shadow = replace(row.shadows[0].shadow, outcome={"decision": "a", "urgent": "b"})
        shadows = (replace(row.shadows[0], keys=keys, shadow=shadow),)
        rows.append(replace(row, decision=replace(row.decision, keys=keys), shadows=shadows))
    report = made(rows, thresholds=file)
    assert [one.decided for one in report.guarded if one.provider == "jev"] == [2, 2]
    assert report.together is not None
    assert (report.together.rows, report.together.decided) == (3, 1)
