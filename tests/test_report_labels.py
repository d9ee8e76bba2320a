"""What labels are worth: which are there, which are not, and what may be said of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from pointsman.gateway.certificates import AtRisk, Certificate, Thresholds
from pointsman.gateway.evaluation.comparison.equal_risk import Guarded
from pointsman.gateway.evaluation.comparison.report import Report, Wanted, compare
from pointsman.gateway.journal.rows import Trail
from rivals import POINT, attempt, certified, feedback, paired, record, split, trail

OPTIONS = [f"option {n}" for n in range(10)]
LATER = "2026-09-22"  # more than a day after `rivals.START`, which is the day before


def made(trails: Sequence[Trail], **given: Any) -> Report:
    return compare(trails, Wanted(point=POINT, a="current", b="jev", **given))


def held(report: Report, provider: str = "jev") -> Guarded:
    return next(one for one in report.guarded if one.provider == provider)


def thumbs(seed: int, rate_a: float, rate_b: float, count: int = 800) -> list[Trail]:
    """Decisions of which is told only whether what `current` decided was right."""
    dice, rows = random.Random(seed), list[Trail]()
    for number in range(count):
        gold = dice.choice(OPTIONS)
        a, b = (
            gold if dice.random() < rate else dice.choice([one for one in OPTIONS if one != gold])
            for rate in (rate_a, rate_b)
        )
        told = feedback(number, right=a == gold)
        rows.append(
            trail(record(number, a), [attempt("jev", b)], told, subject=f"subject {number}")
        )
    return rows


@pytest.mark.parametrize("seed", range(2))
def test_thumbs_alone_never_make_who_decided_the_better(seed: int) -> None:
    """Where `current` was wrong, an equal `jev` may have been right: its rows must not be lost."""
    report = made(thumbs(seed, 0.96, 0.96))
    (judged,) = report.judgements
    assert judged.unclear > 20
    assert judged.only_b == 0
    assert judged.better == ""
    assert judged.low <= judged.difference <= judged.high
    assert judged.high > 0
    assert report.verdict.word == "not yet"


def test_thumbs_may_show_who_is_worse_whatever_the_unclear_rows_are() -> None:
    (judged,) = made(thumbs(1, 0.97, 0.7)).judgements
    assert judged.unclear > 0
    assert (judged.better, judged.high < 0) == ("a", True)


def test_thumbs_never_break_a_promise_by_what_they_hide() -> None:
    """45 of 500 known ones are wrong, but 500 more may all be right: no "no"."""
    rows = [
        trail(
            record(n, "a"),
            [attempt("jev", "b" if n < 45 or n >= 500 else "a")],
            feedback(n, right=n < 500),
            subject=f"subject {n}",
        )
        for n in range(1000)
    ]
    report = made(rows, thresholds=certified(0.5))
    jev = held(report)
    assert (jev.labelled, jev.errors, jev.unclear, jev.broken) == (500, 45, 500, False)
    assert (report.verdict.word, report.verdict.needed) == ("not yet", 500)
    assert "another answer is wrong" in " ".join(report.verdict.because)
    (handed,) = report.handovers
    assert handed.unclear == 500
    assert handed.high > 0.3


def test_labels_only_where_both_agree_prove_nothing() -> None:
    """A candidate wrong in a quarter looks faultless where only agreeing rows are labelled."""
    rows = [
        paired(n, "a", "b" if n % 4 == 0 else "a", None if n % 4 == 0 else "a", subject=f"s{n}")
        for n in range(800)
    ]
    report = made(rows, thresholds=certified(0.5))
    (judged,) = report.judgements
    assert (judged.agreed_labelled, judged.differ_labelled, judged.lacks) == (1.0, 0.0, "differ")
    assert (report.verdict.word, report.verdict.needed) == ("not yet", 100)
    assert "label the rows where they differ" in " ".join(report.verdict.because)


def test_the_certificates_that_match_say_what_they_were_held_against() -> None:
    """Gold for a model of the past lends nothing to agreement for the one that is served."""
    (gold,) = certified(0.9).certificates
    past = replace(gold, key=replace(gold.key, model="jev-0"))
    served = replace(gold, labels="agreement")
    rows = [paired(n, "a", "a", "a", sure=0.95, subject=f"s{n}") for n in range(120)]
    report = made(rows, thresholds=Thresholds(certificates=(past, served)))
    assert held(report).labels == "agreement"
    assert report.verdict.word == "not yet"
    assert "agreement is no truth" in " ".join(report.verdict.because)


def at_two_rates(file: Thresholds) -> Thresholds:
    """English is certified for 5 %, Portuguese for 20 %; both were tried at both."""
    (english,) = file.certificates
    levels = (AtRisk(alpha=0.05, minimum=0.95), AtRisk(alpha=0.2, minimum=0.5))
    english = replace(english, levels=levels)
    portuguese: Certificate = replace(english, key=replace(english.key, language="pt"), risk=0.2)
    return Thresholds(certificates=(english, portuguese))


def test_the_error_rate_is_that_of_the_certificate_in_force() -> None:
    """What another language is certified for loosens nothing here."""
    rows = [paired(n, "a", "a", "a", sure=0.9) for n in range(100)]
    report = made(rows, thresholds=at_two_rates(certified(0.9)))
    assert (report.alpha, held(report).thresholds, held(report).decided) == (0.05, ("0.95",), 0)


def test_several_error_rates_are_held_each_by_itself() -> None:
    rows = [paired(n, "a", "a", "a", sure=0.96, subject=f"s{n}") for n in range(100)]
    other = [
        trail(record(n, "a"), [attempt("jev", "a", 0.6)], feedback(n, "a"), language="pt")
        for n in range(100, 160)
    ]
    other = [
        replace(one, shadows=tuple(replace(row, language="pt") for row in one.shadows))
        for one in other
    ]
    report = made([*rows, *other], thresholds=at_two_rates(certified(0.9)))
    found = {one.alpha: (one.rows, one.decided) for one in report.guarded if one.provider == "jev"}
    assert found == {0.05: (100, 100), 0.2: (60, 60)}
    assert report.verdict.sentence == "jev may replace current at α = 5 % and 20 %"
    assert report.verdict.because[1].startswith("α = 20 %: ")
    (handed,) = report.handovers
    assert (handed.rows, handed.decided) == (160, 160)
    one_rate = made([*rows, *other], thresholds=at_two_rates(certified(0.9)), alpha=0.2)
    assert [one.alpha for one in one_rate.guarded if one.provider == "jev"] == [0.2]


def test_answers_without_a_certificate_go_with_most_others() -> None:
    """A timeout has no model, and is part of what its question's certificate decides about."""
    rows = [paired(n, "a", "a", "a", sure=0.96) for n in range(60)]
    rows.append(trail(record(60, "a"), [attempt("jev", None, model="")]))
    report = made(rows, thresholds=at_two_rates(certified(0.9)))
    assert [one.alpha for one in report.guarded if one.provider == "jev"] == [0.05]


def dated(day: str) -> Thresholds:
    (one,) = certified(0.9).certificates
    return Thresholds(certificates=(replace(one, date=day),))


def test_rows_that_the_threshold_was_found_on_are_told_apart() -> None:
    """A promise is judged by what was labelled after the certificate's day, if that is enough."""
    day = 1440  # minutes, which `rivals` counts in
    old = [paired(n, "a", "b" if n < 40 else "a", "a", sure=0.95) for n in range(300)]
    new = [paired(3 * day + n, "a", "a", "a", sure=0.95) for n in range(60)]
    jev = held(made([*old, *new], thresholds=dated(LATER)))
    assert (jev.decided, jev.labelled, jev.errors) == (360, 60, 0)
    assert (jev.older, jev.apart) == (300, True)
    few = held(made([*old, *new[:49]], thresholds=dated(LATER)))
    assert (few.labelled, few.errors, few.older, few.apart) == (349, 40, 300, False)
    none = held(made(new, thresholds=dated(LATER)))
    assert (none.labelled, none.older, none.apart) == (60, 0, False)


def test_a_day_that_is_none_makes_no_label_newer() -> None:
    jev = held(made([paired(n, "a", "a", "a") for n in range(60)], thresholds=dated("")))
    assert (jev.labelled, jev.older, jev.apart) == (60, 60, False)


def test_rows_of_a_replayed_file_were_assigned_to_nobody() -> None:
    file = [trail(record(0, "a", variant=""), [attempt("jev", "a")]), paired(1, "a", "a")]
    assert [one.variant for one in made(file).assigned] == ["current"]


def halves(sizes: dict[str, int], shares: dict[str, float]) -> list[Trail]:
    arms = [(arm, n) for arm, size in sizes.items() for n in range(size)]
    return [
        split(number, arm, f"{arm}-{n}", right=n % 10 > 0, shares=shares)
        for number, (arm, n) in enumerate(arms)
    ]


def test_shares_are_those_that_decisions_recorded() -> None:
    """What is set today says nothing of a split that has ended."""
    rows = halves({"current": 300, "jev": 100}, {"current": 75, "jev": 25})
    found = made(rows, set={"current": 0.5, "jev": 0.5}).split
    assert found is not None
    assert found.ratio is not None
    assert found.ratio.p == pytest.approx(1.0)
    assert not found.failed
    told = made(rows, shares={"current": 0.5, "jev": 0.5}).split
    assert told is not None
    assert told.failed
    assert told.served == {"current": {"(no model)": 300}, "jev": {"jev-1": 100}}
    assert made(rows).experiments == {"1": 400}


def test_shares_that_were_changed_are_all_told() -> None:
    before = halves({"current": 50, "jev": 50}, {"current": 50, "jev": 50})
    after = halves({"current": 50, "jev": 50}, {"current": 90, "jev": 10})
    found = made([*before, *after], set={"current": 0.5, "jev": 0.5}).split
    assert found is not None
    assert found.plans == ({"current": 0.5, "jev": 0.5}, {"current": 0.9, "jev": 0.1})
    assert found.arms[0].share == 0.5
