"""What keeps a certificate's promise true: doubt, clusters, selection, and what it replaces."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pointsman import SetupError
from pointsman.gateway.certificates import (
    AtRisk,
    Certificate,
    Key,
    Thresholds,
    read,
    written,
)
from pointsman.gateway.evaluation.calibration.calibrating import Result, calibrate, merged
from pointsman.gateway.evaluation.calibration.checking import Against, Checked, check
from pointsman.gateway.evaluation.calibration.collecting import Wanted, collect
from pointsman.gateway.evaluation.calibration.findings import Calibration, Costs, Refused, Settings
from pointsman.gateway.evaluation.calibration.joining import Joint, joined
from pointsman.gateway.evaluation.calibration.samples import Sample, by_key
from pointsman.gateway.evaluation.calibration.thinning import one_each
from pointsman.gateway.evaluation.statistics.numerics import exact_upper
from pointsman.gateway.evaluation.statistics.recalibrating import temperature
from pointsman.gateway.evaluation.statistics.tempering import tempered, worth_tempering
from pointsman.gateway.journal.rows import Trail
from pointsman.gateway.keys import QuestionKey
from rivals import attempt, feedback, record, trail
from test_calibrate import calibrated, chosen, held, rail

TEN = [f"o{n}" for n in range(10)]


def results(rows: Sequence[Sample], **given: Any) -> tuple[Result, ...]:
    return calibrate(rows, Settings(**{"date": "2026-11-30", "draws": 2, **given}))


def only(rows: Sequence[Sample], **given: Any) -> Calibration:
    (found,) = results(rows, **given)
    assert isinstance(found, Calibration)
    return found


# --- doubt --------------------------------------------------------------------------------


def thumbs(count: int, seed: int) -> tuple[list[Trail], float]:
    """Two deciders alike, each wrong on its own in the hard quarter; only thumbs are known."""
    dice = random.Random(seed)
    made: list[Trail] = []
    wrong = 0
    for n in range(count):
        gold, part = dice.choice(TEN), 0.4 if dice.random() < 0.25 else 0.97
        a, b = (gold if dice.random() < part else dice.choice(TEN) for _ in "ab")
        told = feedback(n, right=a == gold)
        shadow = [attempt("jev", b, dice.uniform(0.9, 1))]
        made.append(trail(record(n, a), shadow, told, subject=f"s{n}"))
        wrong += b != gold
    return made, wrong / count


def test_thumbs_alone_never_certify_what_is_worse_than_promised() -> None:
    """Where `current` was wrong the right answer is unknown; left out, the easy rows remain."""
    for seed in range(2):
        trails, truth = thumbs(900, seed)

        found = only(collect(trails, Wanted("jev")).samples, risk=0.12)

        assert truth > 0.12
        assert not found.certified
        assert found.counts.doubtful > 50
        assert found.certificate.doubtful == found.counts.doubtful


def test_rows_in_doubt_break_no_promise_and_are_counted() -> None:
    certificate = only([chosen(n, 0.9) for n in range(300)]).certificate
    doubt = [chosen(n, 0.9, 0, gold=None, doubtful=True) for n in range(60)]

    (found,) = held_against(certificate, [*doubt, *(chosen(60 + n, 0.9) for n in range(90))])

    assert (found.verdict, found.errors, found.doubtful, found.of) == ("holds", 60, 60, 150)
    assert found.high > 0.4


def held_against(certificate: Certificate, rows: Sequence[Sample], **given: Any) -> list[Checked]:
    told = {"labels": certificate.labels, "certified": frozenset({certificate.key.unscaled})}
    samples = by_key(rows, certificate.key.scale)
    return check(certificate, Against(**{"samples": samples, **told, **given}))


# --- what replaces what -------------------------------------------------------------------


def test_agreement_never_replaces_gold_by_itself() -> None:
    gold = only([chosen(n, 0.9) for n in range(300)])
    agreed = only([chosen(n, 0.9) for n in range(200)], labels="agreement")
    file = merged(Thresholds(), [gold])

    with pytest.raises(SetupError, match=r"ROUTER team.*--out.*--replace"):
        merged(file, [agreed])
    (one,) = merged(file, [agreed], replace=True).certificates

    assert (one.labels, one.replaced) == ("agreement", "gold of 2026-11-30")
    assert merged(merged(Thresholds(), [agreed]), [gold]).certificates == (gold.certificate,)


def test_agreement_does_not_replace_gold_on_another_scale_either() -> None:
    gold = only([chosen(n, 0.9) for n in range(300)], scale="reported")
    agreed = only([chosen(n, 0.9) for n in range(200)], labels="agreement")

    with pytest.raises(SetupError, match="agreement is no truth"):
        merged(merged(Thresholds(), [gold]), [agreed])


def test_a_file_has_one_certificate_whatever_its_scale(tmp_path: Path) -> None:
    rows = [chosen(n, 0.9) for n in range(300)]
    first, second = only(rows), only(rows, scale="reported")

    (kept,) = merged(merged(Thresholds(), [first]), [second]).certificates
    assert kept.key.scale == "reported"

    file = tmp_path / "thresholds.json"
    file.write_bytes(written(Thresholds(certificates=(first.certificate, second.certificate))))
    with pytest.raises(SetupError, match="probability of 2026-11-30 and reported of 2026-11-30"):
        read(file)


# --- labels that were chosen --------------------------------------------------------------


def picked(labelled: dict[str, float], wrong: dict[str, float], count: int = 600) -> list[Sample]:
    """Answers that stand differently to what was decided; a part of each kind has a label."""
    dice = random.Random(4)
    rows = []
    for n in range(count):
        kind = "other" if n % 4 == 0 else "same"
        known = {} if dice.random() < labelled[kind] else {"gold": None, "right": None}
        right = dice.random() >= wrong[kind]
        rows.append(chosen(n, dice.uniform(0.9, 1.0), right, beside=kind, **known))
    return rows


SELECTED = {
    "only where both agree": ({"same": 1.0, "other": 0.0}, {"same": 0.0, "other": 0.5}, "differ"),
    "rarely where they differ": (
        {"same": 1.0, "other": 0.3}, {"same": 0.0, "other": 0.2}, "differ",
    ),
    "only where they differ": ({"same": 0.0, "other": 1.0}, {"same": 0.0, "other": 0.0}, "same"),
}  # fmt: skip


@pytest.mark.parametrize(("labelled", "wrong", "where"), SELECTED.values(), ids=SELECTED)
def test_labels_of_the_easy_rows_alone_certify_nothing(
    labelled: dict[str, float], wrong: dict[str, float], where: str
) -> None:
    rows = picked(labelled, wrong)

    found = only(rows, risk=0.2)
    anyway = only(rows, risk=0.2, accept_selection=True)

    assert not found.certified
    assert found.used.why.startswith("not yet: label the rows where")
    assert where in found.used.why.partition(";")[0]
    assert found.used.needed is not None
    assert all(level.minimum is None for level in found.certificate.levels)
    assert anyway.certified
    assert anyway.certificate.selection == found.certificate.selection != ""


@pytest.mark.parametrize(
    ("labelled", "wrong"),
    [
        ({"same": 0.5, "other": 0.5}, {"same": 0.0, "other": 0.1}),
        ({"same": 0.7, "other": 0.5}, {"same": 0.0, "other": 0.1}),
        ({"same": 0.3, "other": 1.0}, {"same": 0.0, "other": 0.1}),  # stricter than need be
    ],
)
def test_labels_that_hide_nothing_are_taken(
    labelled: dict[str, float], wrong: dict[str, float]
) -> None:
    found = only(picked(labelled, wrong), risk=0.2)

    assert found.certified
    assert found.certificate.selection == ""


def test_what_a_live_provider_passed_on_counts_only_where_it_would_be_decided() -> None:
    """Rows below the threshold have no part in its promise, whether labelled or not."""
    sure = [chosen(n, 0.9, beside="decided") for n in range(300)]
    unsure = [chosen(300 + n, 0.5, beside="passed on", gold=None, right=None) for n in range(300)]
    raised = [msgspec.structs.replace(one, probability=0.95) for one in unsure]

    assert only([*sure, *unsure]).certified
    assert "that it passed on" in only([*sure, *raised]).used.why


def test_how_an_answer_stands_to_what_was_decided() -> None:
    shadows = [
        trail(record(1, "billing"), [attempt("jev", "billing")]),
        trail(record(2, "tech"), [attempt("jev", "billing")]),
    ]
    live = attempt("jev", "billing")
    decided = record(3, "billing", variant="jev", provider="jev", attempts=(live,))
    passed = record(4, "tech", variant="jev", attempts=(live,))

    found = collect([*shadows, trail(decided), trail(passed)], Wanted("jev")).samples

    assert [one.beside for one in found] == ["same", "other", "decided", "passed on"]


# --- one row of each subject --------------------------------------------------------------


def test_rows_of_one_subject_count_once() -> None:
    """Fifty sessions of twenty rows, each right or wrong as a whole: that is no 5 % of 1,000."""
    certified = 0
    for seed in range(8):
        dice = random.Random(seed)
        good = [dice.random() > 0.07 for _ in range(50)]
        rows = [
            chosen(n, dice.uniform(0.5, 1), good[n % 50], subject=f"s{n % 50}") for n in range(1000)
        ]
        found = only(rows)
        certified += found.certified
        assert (found.counts.judged, found.counts.aside) == (50, 950)
        assert (found.certificate.rows, found.certificate.aside) == (50, 950)
    assert certified == 0


@pytest.mark.parametrize("known", ["subject", "digest", "id"])
def test_rows_hang_together_by_subject_text_or_decision(known: str) -> None:
    rows = [chosen(n, 0.9, **{known: f"x{n % 60}"}) for n in range(240)]

    assert only(rows).counts.judged == 60
    (refused,) = results([msgspec.structs.replace(one, subject="all") for one in rows])
    assert isinstance(refused, Refused)
    assert "of different subjects or texts" in refused.why


def test_the_lot_is_the_seeds_and_not_the_orders() -> None:
    rows = [chosen(n, 0.5 + n / 1000, subject=f"s{n % 9}") for n in range(90)]
    loose = [chosen(900 + n, 0.9, gold=None, right=None, subject="s1") for n in range(5)]

    kept, aside = one_each([*rows, *loose], 1)

    assert {one.id for one in one_each([*rows, *loose][::-1], 1)[0]} == {one.id for one in kept}
    assert {one.id for one in one_each(rows, 2)[0]} != {one.id for one in kept}
    assert (len(kept), len(aside)) == (9 + 5, 81)


# --- several questions --------------------------------------------------------------------

OTHER = QuestionKey("tone", "aaaaaaaaaaaa", "bbbbbbbbbbbb")


def both(count: int) -> list[Sample]:
    """Two questions an ask: the second is wrong where the first is sure."""
    dice = random.Random(2)
    rows: list[Sample] = []
    for n in range(count):
        easy = dice.random() < 0.3
        first = dice.uniform(0.9, 1) if easy else dice.uniform(0.5, 0.89)
        second = dice.random() > (0.12 if easy else 0.01)
        rows.append(chosen(n, first, easy or dice.random() > 0.2, form="shared:x"))
        tone = {"name": "tone", "asked": OTHER, "form": "shared:x"}
        rows.append(chosen(n, dice.uniform(0.6, 1), second, **tone))
    return rows


def test_what_is_promised_of_each_question_is_no_promise_for_the_decision() -> None:
    rows = both(1500)
    made = [one for one in results(rows, risk=0.08) if isinstance(one, Calibration)]
    assert [one.certified for one in made] == [True, True]

    (joint,) = joined(rows, made, "probability")

    assert isinstance(joint, Joint)
    assert joint.questions == ("team", "tone")
    assert (joint.rows, joint.delta) == (1500, 0.1)
    assert joint.promised == pytest.approx(0.16)
    assert joint.errors / joint.decided > 0.08  # more than either question's own rate
    assert joint.errors / joint.rows <= joint.promised
    assert joint.bound == pytest.approx(exact_upper(joint.errors, joint.decided, 0.05))


def test_a_single_question_has_nothing_to_be_joined_with() -> None:
    rows = calibrated(300)

    assert joined(rows, [only(rows, risk=0.2)], "probability") == ()


# --- two cut-points in the file -----------------------------------------------------------


@pytest.mark.parametrize("costs", [None, Costs(1, 0.01)])
def test_the_file_holds_the_numbers_of_the_cut_points_that_are_used(costs: Costs | None) -> None:
    rows = rail(1000)

    level = only(rows, risk=0.1, costs=costs).used

    assert level.minimum is None
    assert level.no is not None
    assert level.yes is not None
    assert level.no_below is not None
    assert level.yes_from is not None
    p = [one.distribution["true"] for one in rows if one.distribution]
    no, yes = (sum(x < level.no_below for x in p), sum(x >= level.yes_from for x in p))
    assert level.accepted == no + yes
    assert level.errors == level.no.errors + level.yes.errors
    assert level.no.of + level.yes.of == 1000
    assert level.coverage == pytest.approx(level.no.coverage + level.yes.coverage)
    assert level.bound == max(level.no.bound, level.yes.bound) <= 0.1


def test_one_minimum_leaves_no_unused_cut_points_in_the_file() -> None:
    found = only(rail(1000), two_sided=False)

    assert {(one.no_below, one.yes_from) for one in found.certificate.levels} == {(None, None)}


# --- calibrate check ----------------------------------------------------------------------


def test_rows_of_another_model_are_no_silence() -> None:
    certificate = only([chosen(n, 0.9) for n in range(300)]).certificate
    other = [chosen(n, 0.9, 0, model="jev-2") for n in range(40)]

    (alone,) = held_against(certificate, other)
    (beside,) = held_against(certificate, [*other, *(chosen(90 + n, 0.9) for n in range(90))])
    (known,) = held_against(
        certificate,
        other,
        certified=frozenset({certificate.key.unscaled, other[0].key("reported").unscaled}),
    )

    assert (alone.verdict, alone.unmatched) == ("none matches", {"model": 40})
    assert (beside.verdict, beside.unmatched) == ("holds", {"model": 40})
    assert (known.verdict, known.unmatched) == ("no rows", {})


def test_the_rows_that_it_was_made_from_prove_nothing() -> None:
    rows = calibrated(300)
    certificate = only(rows, risk=0.2).certificate

    with pytest.raises(SetupError, match="the very rows"):
        held_against(certificate, rows[::-1])


def test_agreement_is_never_said_to_have_promised_the_truth() -> None:
    certificate = only([chosen(n, 0.9) for n in range(300)], labels="agreement").certificate
    fair, bad = ([chosen(n, 0.9, n % part) for n in range(200)] for part in (50, 3))

    (first,), (second,) = (held_against(certificate, rows, labels="gold") for rows in (fair, bad))

    assert (first.verdict, first.labels, first.promised) == ("never promised", "gold", "agreement")
    assert second.verdict == "broken"


# --- recalibration ------------------------------------------------------------------------


def test_a_predicate_of_many_rows_may_get_a_bent_line() -> None:
    """Probabilities that are bent at one end only: Platt's line cannot follow."""
    dice = random.Random(3)
    drawn = [dice.betavariate(0.3, 0.3) for _ in range(1500)]
    rows = [held(n, p, dice.random() < p**4) for n, p in enumerate(drawn)]

    few, many = only(rows[:400]).remap, only(rows).remap

    assert few.kind == "platt"
    assert (many.kind, many.kept, len(many.parameters)) == ("beta", True, 3)


def test_a_choice_gets_one_temperature_for_its_distribution() -> None:
    """Three options, too sure by a factor of two in their logits."""
    dice = random.Random(5)
    rows, spreads, gold = [], [], []
    for n in range(400):
        raw = [dice.random() ** 2 + 0.01 for _ in range(3)]
        true = {name: x / sum(raw) for name, x in zip("abc", raw, strict=True)}
        hot = tempered(true, 0.5)
        label = dice.choices("abc", list(true.values()))[0]
        value = max(hot, key=lambda name, hot=hot: hot[name])  # type: ignore[misc]
        told = {"value": value, "gold": label, "distribution": hot}
        rows.append(chosen(n, hot[value], value == label, **told))
        spreads.append(hot)
        gold.append(label)

    found = only(rows, risk=0.4).remap

    assert (found.kind, found.kept) == ("temperature", True)
    assert found.parameters == (temperature(spreads, gold).value,)
    assert found.parameters[0] == pytest.approx(2.0, abs=0.5)
    assert found.gain == worth_tempering(spreads, gold).gain


def test_a_key_without_its_scale_is_one_for_all_scales() -> None:
    keys = {chosen(1, 0.9).key(scale).unscaled for scale in ("reported", "probability")}

    assert len(keys) == 1
    assert isinstance(keys.pop(), Key)
    assert AtRisk(alpha=0.05).no is None
