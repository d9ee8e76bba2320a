"""Labels that name nothing that could have been answered, and subjects that come again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from pointsman.gateway.evaluation.comparison.equal_risk import Guarded, Side
from pointsman.gateway.evaluation.comparison.report import Report, Wanted, compare
from pointsman.gateway.journal.rows import Trail
from pointsman.gateway.keys import QuestionKey
from pointsman.gateway.points import DecisionPoint
from pointsman.gateway.questions import Choice, Predicate, Question, Score
from rivals import POINT, answer, attempt, certified, feedback, paired, record, split, trail


def made(trails: Sequence[Trail], **given: Any) -> Report:
    return compare(trails, Wanted(point=POINT, a="current", b="jev", **given))


def declared(question: Question) -> DecisionPoint:
    return DecisionPoint(name=POINT, questions={"en": {"decision": question}})


def beside(number: int, a: Any, b: Any, label: Any, options: Mapping[str, float]) -> Trail:
    """A decision of the host's own path; `jev` chose among *options*."""
    asked = attempt("jev", b)
    chosen = {"decision": replace(answer(b, 0.9), distribution=options)}
    return trail(record(number, a), [replace(asked, answers=chosen)], feedback(number, label))


def strange(report: Report) -> dict[str, int]:
    return {label: count for one in report.strange for label, count in one.named.items()}


def test_capitalised_labels_are_no_errors() -> None:
    names = ("billing", "tech")
    rows = [
        paired(n, names[n % 2], names[n % 2], names[n % 2].title() if n < 300 else names[n % 2])
        for n in range(600)
    ]
    report = made(rows, thresholds=certified(0.5))
    (judged,), (one,) = report.judgements, report.strange
    assert (judged.a.hits, judged.a.rows, judged.b.hits) == (300, 300, 300)
    assert (one.decisions, one.labels, one.options) == (300, 600, names)
    assert one.named == {"Billing": 150, "Tech": 150}
    assert one.ids[0] == rows[0].decision.id
    assert report.labelled == 300
    assert (report.verdict.word, report.verdict.needed) == ("not yet", 300)


def test_only_strange_labels_are_none_at_all() -> None:
    report = made([paired(n, "a", "b", "A") for n in range(300)], thresholds=certified(0.5))
    assert (report.judgements, report.labelled, strange(report)) == ((), 0, {"A": 300})
    assert report.verdict.word == "not yet"
    assert "name nothing that can be answered: A" in report.verdict.because[0]


def test_an_option_that_nobody_chose_is_an_answer_where_it_could_have_been() -> None:
    """Then both are wrong, and nobody drops it."""
    among = {"a": 0.9, "b": 0.05, "c": 0.05}
    (judged,) = made([beside(0, "a", "b", "c", among)]).judgements
    assert (judged.a.hits, judged.b.hits, judged.a.rows) == (0, 0, 1)
    point = declared(Choice("Which?", ["a", "b", "c"]))
    (judged,) = made([paired(0, "a", "b", "c")], declared=point).judgements
    assert (judged.a.hits, judged.b.hits, judged.a.rows) == (0, 0, 1)


@pytest.mark.parametrize(
    ("label", "right"),
    [(0, 0), (1, 1), (1.0, 1), ("0", 0), ("true", 1), (" YES ", 1), ("No", 0)],
)
@pytest.mark.parametrize("point", [None, declared(Predicate("Is it?"))])
def test_a_truth_may_be_a_number_or_a_word(
    label: object, right: int, point: DecisionPoint | None
) -> None:
    row = trail(record(0, outcome=True), [attempt("jev", value=False)], feedback(0, label))
    report = made([row], declared=point)
    (judged,) = report.judgements
    assert (judged.a.hits, judged.b.hits) == (right, 1 - right)
    assert report.strange == ()


def test_what_is_no_truth_is_strange_to_a_predicate() -> None:
    row = trail(record(0, outcome=True), [attempt("jev", value=False)], feedback(0, "maybe"))
    assert strange(made([row])) == {"maybe": 1}


def test_a_name_of_a_level_says_nothing_where_the_scale_is_not_known() -> None:
    """Levels are then numbers: a name equals none, however right it is."""
    among = {"poor": 0.1, "fair": 0.1, "good": 0.8}
    rows = [beside(0, 1.0, 2.0, "good", among), beside(1, 1.0, 2.0, 2, among)]
    report = made(rows)
    assert (strange(report), report.judgements[0].b.rows) == ({"good": 1}, 1)
    score = declared(Score("How good?", ["poor", "fair", "good"]))
    report = made(rows, declared=score)
    assert (report.strange, report.judgements[0].b.hits) == ((), 2)


def test_a_thumb_beside_a_strange_label_still_counts() -> None:
    row = paired(0, "a", "b", "a")
    told = replace(feedback(1, "A", right=True), of=row.decision.id)
    report = made([replace(row, feedback=(told,))])
    assert strange(report) == {"A": 1}
    (judged,) = report.judgements
    assert (judged.a.hits, judged.b.hits) == (1, 0)


def test_one_strange_label_of_several_leaves_the_decision_in_doubt() -> None:
    """What is known wrong is wrong; what is right as far as known may be wrong in the other."""
    keys = {name: QuestionKey(name, name) for name in ("intent", "urgent")}

    def one(number: int, label: Mapping[str, Any]) -> Trail:
        row = split(number, "current", f"s{number}", right=None)
        decided = replace(row.decision.record, outcome={"intent": "a", "urgent": True})
        told = (feedback(number, label),)
        return replace(
            row, decision=replace(row.decision, record=decided, keys=keys), feedback=told
        )

    labels: tuple[Mapping[str, Any], ...] = (
        {"intent": "A", "urgent": True},
        {"intent": "A", "urgent": False},
        {"intent": "a", "urgent": True},
    )
    found = made([one(n, label) for n, label in enumerate(labels)]).split
    assert found is not None
    assert (found.arms[0].right.hits, found.arms[0].right.rows) == (1, 2)


def chatty(subjects: int, each: int, wrong: int) -> list[Trail]:
    """Answers of subjects who come again; those of the first *wrong* subjects are all wrong."""
    return [
        paired(
            n, "a", "b" if n % subjects < wrong else "a", "a", sure=0.95, subject=f"s{n % subjects}"
        )
        for n in range(subjects * each)
    ]


def held(report: Report) -> Guarded:
    return next(one for one in report.guarded if one.provider == "jev")


def test_rows_of_one_subject_are_one_mistake() -> None:
    """Ten wrong answers of each of six subjects, of fifty, are six errors of fifty."""
    report = made(chatty(50, 10, 6), thresholds=certified(0.9))
    jev = held(report)
    assert (jev.errors, jev.labelled) == (60, 500)
    assert jev.firsts == Side(6, 50, jev.bound)
    assert jev.bound == pytest.approx(0.2232, abs=1e-4)
    assert not jev.broken
    assert report.verdict.word != "no"
    apart = [
        replace(one, decision=replace(one.decision, kept=replace(one.decision.kept, subject=None)))
        for one in chatty(50, 10, 6)
    ]
    alone = held(made(apart, thresholds=certified(0.9)))
    assert (alone.firsts, alone.broken) == (None, True)


def test_few_subjects_are_few_labels_however_often_they_come() -> None:
    report = made(chatty(10, 30, 0), thresholds=certified(0.9))
    assert report.verdict.word == "not yet"
    assert "of 10 subjects above its threshold" in report.verdict.because[0]


def test_labels_of_few_subjects_certify_nothing() -> None:
    spread = next(one for one in made(chatty(10, 30, 0)).spreads if one.provider == "jev")
    assert (spread.labelled, spread.subjects, spread.certifiable) == (300, 10, False)
    many = next(one for one in made(chatty(300, 1, 0)).spreads if one.provider == "jev")
    assert (many.subjects, many.certifiable) == (300, True)


def test_the_most_confident_are_not_hopeless_for_one_subject() -> None:
    rows = chatty(1, 400, 1)
    assert not any(one.hopeless for one in made(rows).spreads)
    assert any(one.hopeless for one in made(chatty(400, 1, 400)).spreads)
