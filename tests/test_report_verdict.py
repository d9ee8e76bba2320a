"""The verdict: a table of evidence and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from pointsman.gateway.evaluation.comparison.accuracy import Judged, Share
from pointsman.gateway.evaluation.comparison.arms import Split
from pointsman.gateway.evaluation.comparison.equal_risk import Guarded, Side
from pointsman.gateway.evaluation.comparison.evidence import Evidence
from pointsman.gateway.evaluation.comparison.handover import Handover
from pointsman.gateway.evaluation.comparison.ratios import Ratio
from pointsman.gateway.evaluation.comparison.raw_thresholds import Rung, Spread
from pointsman.gateway.evaluation.comparison.truths import Strange
from pointsman.gateway.evaluation.comparison.verdict import verdict
from pointsman.gateway.evaluation.statistics.numerics import Interval, exact_upper


def guarded(errors: int = 2, labelled: int = 200, **given: Any) -> Guarded:
    """`jev` above its certified threshold."""
    made = Guarded(
        provider="jev",
        question="decision",
        alpha=0.05,
        thresholds=("0.9",),
        labels="gold",
        always=False,
        rows=400,
        unmatched=0,
        decided=200,
        reasons={},
        labelled=labelled,
        errors=errors,
        bound=exact_upper(errors, labelled, 0.05),
    )
    return replace(made, **given)


def uncertified(**given: Any) -> Guarded:
    told = {"labels": "", "thresholds": (), "rows": 0, "decided": 0, "why": "no certificate"}
    return guarded(0, 0, **{**told, **given})


def judged(rows: int = 400, **given: Any) -> Judged:
    share = Share(rows, rows, 0.9, 1.0)
    made = Judged(
        question="decision",
        pairs=rows,
        differ=40,
        unclear=0,
        agreed_labelled=1.0,
        differ_labelled=1.0,
        a=share,
        b=share,
        only_a=0,
        only_b=0,
        exact=1.0,
        mid_p=1.0,
        difference=0.0,
        low=0.0,
        high=0.0,
        once=Interval(0.0, 0.0),
        effect=0.02,
        better="",
        needed=None,
        f1_a=1.0,
        f1_b=1.0,
        slices=(),
    )
    return replace(made, **given)


def spread(labelled: int = 400, **given: Any) -> Spread:
    made = Spread(
        provider="jev",
        question="decision",
        rows=400,
        labelled=labelled,
        subjects=labelled,
        rungs=(Rung(0.5, 400, labelled, 0, 0.1), Rung(0.95, 200, labelled // 2, 0, 0.1)),
        curve=(),
        sureness=None,
        certifiable=False,
        needed=120,
        hopeless=False,
        alpha=0.05,
    )
    return replace(made, **given)


def handover(low: float, high: float) -> Handover:
    return Handover(
        question="decision",
        rows=400,
        decided=200,
        only_a=4,
        only_b=2,
        unclear=0,
        difference=(low + high) / 2,
        low=low,
        high=high,
    )


def split(**given: Any) -> Split:
    made = Split(
        experiment="1",
        arms=(),
        ratio=Ratio("all", {"current": 500, "jev": 500}, 0.5),
        days=(),
        served={},
        plans=(),
        crossed=0,
        unsticky=0,
        earlier=0,
        others=0,
        effect=0.02,
    )
    return replace(made, **given)


def evidence(**given: Any) -> Evidence:
    """Everything in favour of `jev`, unless something else is given."""
    made = Evidence(
        point="ROUTER",
        a="current",
        b="jev",
        alpha=0.05,
        effect=0.02,
        judged=[judged()],
        guarded=[guarded()],
        spreads=[spread()],
        handovers=[handover(-0.01, 0.02)],
        split=None,
    )
    return replace(made, **given)


def strange(decisions: int) -> Strange:
    return Strange(
        question="decision",
        decisions=decisions,
        labels=400,
        named={"Billing": decisions},
        options=("billing", "tech"),
        ids=("0" * 32,),
    )


UNLIKELY = Ratio("all", {"current": 9, "jev": 1}, 1e-5)

CASES = {
    "all in favour": (evidence(), "yes", None),
    "a split that fell as planned": (evidence(split=split()), "yes", None),
    "a split that did not, and still runs": (
        evidence(split=split(ratio=UNLIKELY), running="1"),
        "blocked",
        None,
    ),
    "one that ended": (evidence(split=split(ratio=UNLIKELY), running="2"), "yes", None),
    "one that ended, without labels": (
        evidence(split=split(ratio=UNLIKELY), judged=[judged(20)], spreads=[spread(20)]),
        "not yet",
        80,
    ),
    "labels that name nothing": (evidence(strange=[strange(21)]), "not yet", 21),
    "few that name nothing": (evidence(strange=[strange(20)]), "yes", None),
    "a split that is lost": (
        evidence(split=split(difference=-0.1, low=-0.2, high=-0.01, better="a")),
        "no",
        None,
    ),
    "a split that nobody has won yet": (
        evidence(split=split(difference=0.1, low=-0.1, high=0.3)),
        "yes",
        None,
    ),
    "a promise surely broken": (evidence(guarded=[guarded(25)]), "no", None),
    "a promise in doubt": (evidence(guarded=[guarded(12)]), "not yet", 15618),
    "a side surely broken": (
        evidence(guarded=[guarded(missed=Side(20, 100, 0.3), alarms=Side(0, 9, 0.3))]),
        "no",
        None,
    ),
    "no threshold was certified, and none will be": (
        evidence(guarded=[uncertified(labels="gold")], spreads=[spread(hopeless=True)]),
        "no",
        None,
    ),
    "certified, whatever a raw threshold would do": (
        evidence(spreads=[spread(hopeless=True)]),
        "yes",
        None,
    ),
    "it would decide nothing": (evidence(guarded=[guarded(0, 0, decided=0)]), "no", None),
    "surely fewer right": (evidence(handovers=[handover(-0.09, -0.03)]), "no", None),
    "fewer right, but not by what matters": (
        evidence(handovers=[handover(-0.03, -0.01)]),
        "yes",
        None,
    ),
    "certified against agreement": (
        evidence(guarded=[guarded(labels="agreement")]),
        "not yet",
        None,
    ),
    "no label at all": (evidence(judged=[], spreads=[spread(0)]), "not yet", 100),
    "no label and no certificate": (
        evidence(judged=[], spreads=[spread(0)], guarded=[uncertified()], handovers=[]),
        "not yet",
        172,
    ),
    "no label, no certificate, and at another rate": (
        evidence(
            judged=[], spreads=[spread(0)], guarded=[uncertified(alpha=0.2, needed=50)], alpha=0.2
        ),
        "not yet",
        50,
    ),
    "no label, and never as sure as it would have to be": (
        evidence(
            judged=[], spreads=[spread(0, rungs=())], guarded=[uncertified(needed=50)], handovers=[]
        ),
        "not yet",
        None,
    ),
    "labels where they agree, and hardly any where they differ": (
        evidence(judged=[judged(agreed_labelled=0.9, differ_labelled=0.2)]),
        "not yet",
        10,
    ),
    "labels where they differ, and hardly any where they agree": (
        evidence(judged=[judged(agreed_labelled=0.1, differ_labelled=0.9)]),
        "not yet",
        126,
    ),
    "fewer labels where they differ, as chance will have it": (
        evidence(judged=[judged(differ=3, agreed_labelled=0.9, differ_labelled=0.0)]),
        "yes",
        None,
    ),
    "errors that seem many, since the labels are of rows that differ": (
        evidence(
            guarded=[guarded(25)],
            handovers=[handover(-0.09, -0.03)],
            judged=[judged(agreed_labelled=0.1, differ_labelled=0.9)],
        ),
        "not yet",
        126,
    ),
    "answers of which only another is known to be wrong": (
        evidence(guarded=[guarded(2, 200, unclear=30)]),
        "not yet",
        30,
    ),
    "few such answers": (evidence(guarded=[guarded(2, 200, unclear=5)]), "yes", None),
    "errors that may be few, as the unclear ones may all be right": (
        evidence(guarded=[guarded(18, 200, unclear=200)]),
        "not yet",
        200,
    ),
    "no certificate, labels that would do": (
        evidence(guarded=[uncertified()], spreads=[spread(certifiable=True, needed=None)]),
        "not yet",
        None,
    ),
    "no certificate, more labels wanted": (evidence(guarded=[uncertified()]), "not yet", 120),
    "no certificate, and nobody can say how many labels": (
        evidence(guarded=[uncertified()], spreads=[spread(needed=None)]),
        "not yet",
        None,
    ),
    "no certificate, and surely none to come": (
        evidence(guarded=[uncertified()], spreads=[spread(needed=None, hopeless=True)]),
        "no",
        None,
    ),
    "not tried at this rate": (
        evidence(guarded=[uncertified(labels="gold", why="not tried at this error rate")]),
        "not yet",
        120,
    ),
    "certified for another model": (
        evidence(guarded=[guarded(0, 0, rows=0, decided=0, unmatched=400)]),
        "not yet",
        None,
    ),
    "few labels above the threshold": (evidence(guarded=[guarded(0, 20)]), "not yet", 60),
    "few labels that both answered": (evidence(judged=[judged(20)]), "not yet", 30),
    "few of both, but a split that compares": (
        evidence(judged=[judged(20)], split=split(difference=0.0, low=-0.1, high=0.1)),
        "yes",
        None,
    ),
    "nobody answered": (evidence(guarded=[], judged=[], spreads=[], handovers=[]), "not yet", None),
}


@pytest.mark.parametrize(("given", "word", "needed"), CASES.values(), ids=CASES)
def test_what_follows_from_the_evidence(given: Evidence, word: str, needed: int | None) -> None:
    """A number of labelled decisions stands with "not yet" wherever labels are what is missing."""
    found = verdict(given)
    assert (found.word, found.needed) == (word, needed)
    assert found.because
    if needed is not None:
        assert f"about {needed:,} more labelled decisions" in found.sentence


def test_the_sentences_name_who_and_at_which_rate() -> None:
    assert verdict(evidence()).sentence == "jev may replace current at α = 5 %"
    lost = verdict(evidence(guarded=[guarded(25)]))
    assert lost.sentence == "no: jev must not replace current at α = 5 %"


def test_a_broken_side_is_named() -> None:
    sided = guarded(missed=Side(20, 100, 0.3), alarms=Side(0, 9, 0.3))
    (why,) = verdict(evidence(guarded=[sided])).because
    assert why.startswith("20 of 100 that are true are answered wrongly")


def test_several_questions_are_named_and_all_must_hold() -> None:
    other = guarded(25, question="urgent")
    found = verdict(evidence(guarded=[guarded(), other]))
    assert found.word == "no"
    assert found.because[0].startswith("urgent: ")


def test_agreement_is_never_called_accuracy() -> None:
    for given, _, _ in CASES.values():
        assert "accura" not in " ".join((verdict(given).sentence, *verdict(given).because))


def test_a_blocked_verdict_still_tells_the_rest_of_the_evidence() -> None:
    found = verdict(evidence(split=split(ratio=UNLIKELY), running="1"))
    assert "did not fall as planned" in found.because[0]
    assert "without the split: jev may replace current at α = 5 %" in found.because[1]
    assert "at most 5 % wrong is certified" in found.because[2]
    ended = verdict(evidence(split=split(ratio=UNLIKELY)))
    assert ended.because[0] == found.because[2]
    assert "left out" in ended.because[-1]


def test_a_promise_is_judged_by_each_subject_once() -> None:
    """Forty wrong answers of two subjects are two mistakes."""
    many = guarded(40, 400, decided=400)
    assert verdict(evidence(guarded=[many])).word == "no"
    few = guarded(40, 400, decided=400, firsts=Side(2, 100, 0.1))
    assert verdict(evidence(guarded=[few])).word == "yes"
    first = guarded(0, 400, decided=400, firsts=Side(30, 100, 0.4))
    assert "30 of 100 subjects' first labelled" in verdict(evidence(guarded=[first])).because[0]
    scarce = guarded(0, 400, decided=400, firsts=Side(0, 9, 0.3))
    assert "400 labelled answers of 9 subjects" in verdict(evidence(guarded=[scarce])).because[0]
