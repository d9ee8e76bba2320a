"""`pointsman report`: what it prints, writes and refuses, over a real journal."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from msgspec.structs import replace
from rich.cells import cell_len
from typer.testing import CliRunner

from pointsman.gateway.certificates import AtRisk, Thresholds, written
from pointsman.gateway.cli.app import Commands
from pointsman.gateway.cli.comparison.command import report
from pointsman.gateway.cli.session import Session
from pointsman.gateway.errors import Reason
from pointsman.gateway.journal.rows import DecisionRow, Kept, Trail
from pointsman.gateway.journal.store import Store
from pointsman.gateway.records import Attempt
from rivals import (
    POINT,
    attempt,
    certified,
    feedback,
    id_of,
    paired,
    record,
    rows_of,
    split,
    trail,
)

pytest.importorskip("sqlalchemy")

SPLIT = {"DECISION_ROUTER_PROVIDER": "current:50,jev:50"}
ARMS = ("current", "jev")
USAGE = 2


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of its own, and none of the developer's variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in os.environ:
        if name.startswith("DECISION_"):
            monkeypatch.delenv(name)


def invoke(*args: str, env: Mapping[str, str] | None = None) -> Any:
    app = typer.Typer(cls=Commands, add_completion=False, pretty_exceptions_enable=False)
    app.command()(report)

    @app.callback()
    def options(ctx: typer.Context) -> None:
        ctx.obj = Session()

    return CliRunner().invoke(app, ["report", *args], env=env)


def kept(trails: Sequence[Trail]) -> None:
    store = Store.open("sqlite:///.pointsman/journal.db")
    assert store.write(rows_of(trails)) == ()
    store.close()


def labelled(count: int = 300, *, label: bool = True) -> list[Trail]:
    """Decisions with `jev` beside them: right nine times in ten, sure where it is right."""
    dice = random.Random(2)
    rows: list[Trail] = []
    for number in range(count):
        sure = 0.95 if dice.random() < 0.6 else 0.6
        right = sure > 0.9 or dice.random() < 0.7
        b = "billing" if right else "tech"
        gold = "billing" if label else None
        rows.append(paired(number, "billing", b, gold, sure=sure, subject=f"s{number}"))
    return rows


def halves(current: int, jev: int) -> list[Trail]:
    sizes = [("current", n) for n in range(current)] + [("jev", n) for n in range(jev)]
    return [
        split(number, arm, f"{arm}-{n}", right=n % 10 > 0) for number, (arm, n) in enumerate(sizes)
    ]


def shown(*args: str, env: Mapping[str, str] | None = None) -> str:
    found = invoke(POINT, *args, env=env)
    assert found.exit_code == 0, found.output
    return " ".join(found.stdout.split())


def test_agreement_alone_is_told_and_never_called_accuracy(tmp_path: Path) -> None:
    """Without a label nobody knows who is right: the whole output keeps to that."""
    kept(labelled(label=False))
    page = tmp_path / "report.html"
    said = shown("--html", str(page))
    assert "kappa" in said
    assert "not yet: needs about 145 more labelled decisions" in said
    assert "nobody knows who is right" in said
    assert "accura" not in (said + page.read_text("utf-8")).lower()


def test_all_parts_of_a_comparison_with_labels_and_a_certificate() -> None:
    kept(labelled())
    Path("thresholds.json").write_bytes(written(certified(0.9)))
    said = shown("--thresholds", "thresholds.json")
    assert "jev may replace current at α = 5 %" in said
    for part in ("Agreement", "Who is right", "At equal certified risk", "Time and money"):
        assert part in said
    assert "McNemar p =" in said
    assert "current has no confidence" in said


def test_the_variable_names_the_certificates_too() -> None:
    kept(labelled())
    Path("mine.json").write_bytes(written(certified(0.9)))
    assert "may replace" in shown(env={"DECISION_THRESHOLDS": "mine.json"})


def test_without_certificates_raw_thresholds_come_with_a_warning() -> None:
    kept(labelled(60))
    said = shown()
    assert "never compare two deciders in one row" in said
    assert "jev from decides" in said
    assert "calibrate" in said or "more labelled decisions" in said


def test_json_is_the_whole_report() -> None:
    kept(labelled())
    found = json.loads(invoke(POINT, "--json").stdout)
    assert (found["a"], found["b"], found["decisions"]) == ("current", "jev", 300)
    assert found["judgements"][0]["a"]["rows"] == 300
    assert found["verdict"]["word"] in ("yes", "not yet", "no", "blocked")


def test_the_page_loads_nothing_and_escapes_what_deciders_said(tmp_path: Path) -> None:
    """An option is whatever a decider's point says; on a page it is text."""
    canary = "<script>alert(1)</script>"
    kept([paired(n, "billing", canary, "billing") for n in range(30)])
    page = tmp_path / "report.html"
    shown("--html", str(page))
    html = page.read_text("utf-8")
    assert canary not in html
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert "http" not in html.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_control_characters_never_reach_the_terminal() -> None:
    kept([paired(n, "billing", "\x1b[31mred", "billing") for n in range(30)])
    assert "\x1b[31m" not in shown()


def test_the_fallback_is_told_with_what_it_fixed() -> None:
    unsure = attempt("jev", "tech", 0.6, Reason.LOW_CONFIDENCE)
    attempts = (unsure, Attempt(provider="current", seconds=0.5))
    rows = [
        trail(
            record(n, "billing", variant="jev", reason=Reason.LOW_CONFIDENCE, attempts=attempts),
            told=feedback(n, "billing") if n < 4 else None,
        )
        for n in range(10)
    ]
    kept(rows)
    said = shown()
    assert "jev fell back: low_confidence 10 (100.0 %)" in said
    assert "Of 4 labelled ones the fallback fixed 4, broke 0" in said


def test_a_split_is_compared_by_the_shares_that_are_set() -> None:
    kept(halves(200, 200))
    said = shown(env=SPLIT)
    assert "Sample ratio: subjects fell as planned" in said
    assert "Not yet: the interval includes zero" in said
    assert "always valid" in said


def test_a_split_that_fell_otherwise_is_not_compared() -> None:
    kept(halves(200, 320))
    said = shown(env=SPLIT)
    assert "nothing can be compared" in said
    assert "Its arms are not compared until that is explained" in said
    assert "always valid" not in said
    told = shown("--shares", "current:38.5,jev:61.5")
    assert "subjects fell as planned" in told


def test_a_split_that_has_just_begun_says_so() -> None:
    kept(halves(60, 60))
    said = shown(env={**SPLIT, "DECISION_ROUTER_EXPERIMENT": "2"})
    assert "no decision was assigned by it in that time" in said
    assert "of other experiments, left out 120" in said


def test_a_split_without_subjects_names_the_reason() -> None:
    """Lots were drawn for each decision: no share could ever be tested."""
    shares = {"current": 50.0, "jev": 50.0}
    kept([split(n, ARMS[n % 2], None, right=True, shares=shares) for n in range(300)])
    said = shown(env=SPLIT)
    assert "none of its 300 decisions has a subject" in said
    assert "without a subject 300; a split is sticky by subject: gateway.session(…)" in said
    assert "shares are not known" not in said


def test_subjects_that_the_journal_did_not_keep_are_told() -> None:
    rows = [split(n, ARMS[n % 2], f"s{n}", right=True) for n in range(10)]
    kept([replace(one, decision=replace(one.decision, kept=Kept())) for one in rows])
    assert "the journal kept no subject of its decisions" in shown(env=SPLIT)


def grown(before: int = 300) -> list[Trail]:
    """As docs recommend: from 90:10 to 70:30, where a fifth of the subjects moves to `jev`."""
    plans = ({"current": 90.0, "jev": 10.0}, {"current": 70.0, "jev": 30.0})
    rows: list[Trail] = []
    for number in range(4 * before):
        after, subject = number >= before, number % before
        plan = plans[after]
        arm = "jev" if subject % 100 < plan["jev"] else "current"
        rows.append(split(number, arm, f"s{subject}", right=number % 9 > 0, shares=plan))
    return rows


def test_a_split_that_grew_is_compared_under_its_latest_shares() -> None:
    """Who moved from `current` to `jev` is seen in two arms only where both periods are mixed."""
    kept(grown())
    said = shown(env={"DECISION_ROUTER_PROVIDER": "current:70,jev:30"})
    assert "nothing can be compared" not in said
    assert "Sample ratio: subjects fell as planned (p = 1.0000)" in said
    assert "300 decisions under other shares are left out" in said
    assert "seen in two arms" not in said.replace("would be seen in two arms", "")
    assert "always valid: look as often as you like" in said
    earlier = json.loads(invoke(POINT, "--shares", "current:90,jev:10", "--json").stdout)["split"]
    assert (earlier["earlier"], earlier["crossed"]) == (900, 0)
    assert earlier["ratio"]["p"] == pytest.approx(1.0)


def test_a_blocked_split_leaves_the_other_evidence() -> None:
    beside = [replace(one, decision=_numbered(one, n)) for n, one in enumerate(halves(100, 220))]
    rows = labelled()
    kept([*rows, *beside])
    Path("thresholds.json").write_bytes(written(certified(0.9)))
    said = shown("--thresholds", "thresholds.json", env=SPLIT)
    assert "nothing can be compared" in said
    assert "without the split: jev may replace current at α = 5 %" in said
    ended = shown("--thresholds", "thresholds.json", "--shares", "current:50,jev:50")
    assert "Verdict ✓ jev may replace current at α = 5 %" in ended
    assert "the subjects of split 1 did not fall as planned" in ended
    assert "): it is left out" in ended


def _numbered(one: Trail, number: int) -> DecisionRow:
    """Move a decision behind those of `labelled`."""
    made = one.decision.record
    return replace(
        one.decision, record=replace(made, id=id_of(1000 + number), at=made.at + 60_000.0)
    )


def test_labels_in_other_words_judge_nobody_and_are_told() -> None:
    """Each of them equals no answer: all would be wrong, and the verdict `no`."""
    rows = labelled(600)
    told = [
        replace(one, feedback=(feedback(n, "Billing" if n % 3 else "Tech"),)) if n < 300 else one
        for n, one in enumerate(rows)
    ]
    kept(told)
    Path("thresholds.json").write_bytes(written(certified(0.9)))
    said = shown("--thresholds", "thresholds.json")
    assert "not yet: needs about 300 more labelled decisions" in said
    assert "300 of 600 labels name nothing that can be answered: Billing 200" in said
    assert "Answers are billing, tech." in said
    assert "labelled 300 of 600 (50.0 %)" in said
    found = json.loads(invoke(POINT, "--json").stdout)
    assert found["judgements"][0]["a"] == {**found["judgements"][0]["a"], "hits": 300, "rows": 300}


def test_only_the_period_asked_for_is_read() -> None:
    kept(labelled(120))
    said = json.loads(invoke(POINT, "--until", "2026-09-21T15:00", "--json").stdout)
    assert 0 < said["decisions"] < 120


FAULTS: dict[str, tuple[Sequence[str], str]] = {
    "no decision of the point": (["GLOBAL_SUPERVISOR"], "It holds: ROUTER (5)"),
    "nobody of that name": ([POINT, "--b", "chat"], "chat has not answered"),
    "one and the same": ([POINT, "--a", "jev", "--b", "jev"], "jev is held against itself"),
    "a split that never was": ([POINT, "--experiment", "nope"], "No split did"),
    "a period without decisions": ([POINT, "--until", "2020-01-01"], "no decision of it"),
    "shares that are none": ([POINT, "--shares", "jev"], "current:90,jev:10"),
    "a time that is none": ([POINT, "--since", "yesterday"], "is no time"),
    "no file of certificates": ([POINT, "--thresholds", "gone.json"], "--thresholds"),
}


@pytest.mark.parametrize(("args", "told"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_compared_is_told_with_what_to_do(args: Sequence[str], told: str) -> None:
    kept(labelled(5))
    found = invoke(*args)
    assert found.exit_code == USAGE
    assert told in " ".join(found.stderr.split())
    assert found.stdout == ""


def test_where_nobody_else_answered_it_says_how_to_begin() -> None:
    kept([trail(record(0, "billing"))])
    found = invoke(POINT)
    assert found.exit_code == USAGE
    assert "DECISION_ROUTER_SHADOW" in found.stderr
    assert "pointsman replay" in found.stderr


def test_who_decides_today_may_have_another_name() -> None:
    """Where a provider stands in for the host's own path, it says which to name."""
    asked = (attempt("local", "billing"),)
    kept([trail(record(0, "billing", provider="local", attempts=asked), [attempt("jev", "tech")])])
    found = invoke(POINT)
    assert found.exit_code == USAGE
    assert "Say with --a who decides today: jev, local" in " ".join(found.stderr.split())
    assert "jev against local" in shown("--a", "local")


def test_costs_with_the_fallback_where_both_are_known() -> None:
    def one(n: int) -> Trail:
        asked = [attempt("chat", "tech"), attempt("jev", "tech", 0.95 if n % 2 else 0.6)]
        return trail(record(n, "tech"), asked, feedback(n, "tech"))

    kept([one(n) for n in range(60)])
    Path("thresholds.json").write_bytes(written(certified(0.9)))
    said = shown("--a", "chat", "--b", "jev", "--thresholds", "thresholds.json")
    assert "1,000 decisions would cost about $0.60 with jev in front, $0.40 of it for jev" in said
    assert "never compare two deciders" in said


def test_arms_that_are_labelled_unequally_are_told() -> None:
    rows = halves(100, 100)
    kept([replace(one, feedback=()) if n < 80 else one for n, one in enumerate(rows)])
    assert "labelled unequally" in shown(env=SPLIT)


def test_without_a_journal_it_says_so() -> None:
    found = invoke(POINT)
    assert found.exit_code == USAGE
    assert "there is no journal yet" in found.stderr


def test_a_point_that_nobody_declares_is_compared_all_the_same() -> None:
    """A journal may hold the points of a program that is not here."""
    rows = halves(60, 60)
    name = "OWN_POINT"
    kept(
        [
            replace(
                one,
                decision=replace(one.decision, record=replace(one.decision.record, point=name)),
            )
            for one in rows
        ]
    )
    found = invoke(name, env={"DECISION_OWN_POINT_PROVIDER": "current:50,jev:50"})
    assert found.exit_code == 0, found.output
    assert "subjects fell as planned" in found.stdout


LONG = "card_payment_wrong_exchange_rate_applied_while_abroad"


def names_shown(name: str) -> list[str]:
    """Give what the lines of the first disagreement say in the column of `current`."""
    kept([paired(n, f"{name}_a", f"{name}_b", "x") for n in range(3)])
    lines = invoke(POINT).stdout.splitlines()
    assert max(map(cell_len, lines)) <= 80
    head = next(n for n, line in enumerate(lines) if line.startswith("current says"))
    body = lines[head + 2 : lines.index("", head)]
    return [line.split()[0] for line in body if not line.startswith(" ")]


@pytest.mark.parametrize("name", [LONG, "beneficiary_not_allowed", "x" * 18 + "_" + "y" * 18])
def test_names_go_on_in_the_next_line_between_two_words_only(name: str) -> None:
    """In a table of 80 columns, half a word would say nothing."""
    lines = names_shown(name)
    assert "".join(lines) == f"{name}_a"
    assert all(line.endswith("_") for line in lines[:-1])


@pytest.mark.parametrize("name", ["x" * 60, "不正な為替レート" * 5])
def test_a_word_that_fits_nowhere_keeps_its_ends(name: str) -> None:
    first, *_ = names_shown(name)
    start, end = first.split("…")
    assert name.startswith(start)
    assert name.endswith(end.removesuffix("_a").rstrip("_"))


def test_two_intervals_of_which_the_lasting_one_comes_first() -> None:
    kept(labelled())
    said = shown()
    assert "always valid: look as often as you like" in said
    assert said.index("always valid") < said.index("for one look") < said.index("McNemar p =")


def test_thumbs_are_told_with_what_they_hide() -> None:
    rows = [
        trail(record(n, "a"), [attempt("jev", "b")], feedback(n, right=n < 40)) for n in range(60)
    ]
    kept(rows)
    Path("thresholds.json").write_bytes(written(certified(0.5)))
    said = shown("--thresholds", "thresholds.json")
    assert "Of 20 rows it is known only that what was decided is wrong" in said
    assert "of 20 it is unclear" in said
    assert "Of 20 answers that jev decides it is known only that another answer is wrong" in said


def test_labels_as_old_as_the_certificate_are_told() -> None:
    kept(labelled())
    Path("thresholds.json").write_bytes(written(certified(0.9)))
    said = shown("--thresholds", "thresholds.json")
    assert "no newer than its certificate: the threshold may have been found on them" in said
    (one,) = certified(0.9).certificates
    newer = replace(one, date="2026-09-20")
    Path("thresholds.json").write_bytes(written(Thresholds(certificates=(newer,))))
    assert "may have been found on them" not in shown("--thresholds", "thresholds.json")


def test_several_error_rates_are_shown_each_with_its_own() -> None:
    (one,) = certified(0.9).certificates
    one = replace(one, levels=(*one.levels, AtRisk(alpha=0.2, minimum=0.5)))
    other = replace(one, key=replace(one.key, language="pt"), risk=0.2)
    rows = [paired(n, "a", "a", "a", sure=0.95) for n in range(60)]
    rows += [
        replace(
            row,
            shadows=tuple(replace(each, language="pt") for each in row.shadows),
        )
        for row in (paired(n, "a", "a", "a", sure=0.6) for n in range(60, 120))
    ]
    kept(rows)
    Path("thresholds.json").write_bytes(written(Thresholds(certificates=(one, other))))
    said = shown("--thresholds", "thresholds.json")
    assert "At equal certified risk, α = 5 % and 20 %" in said
    assert "jev · α 5 % 0.9" in said
    assert "jev · α 20 % 0.5" in said


def test_which_splits_assigned_is_told() -> None:
    shares = {"current": 50.0, "jev": 50.0}
    changed = {"current": 90.0, "jev": 10.0}
    rows = [
        split(n, "jev" if n % 2 else "current", f"s{n}", right=True, shares=shares)
        for n in range(100)
    ]
    rows += [
        split(n, "current" if n % 10 else "jev", f"s{n}", right=True, shares=changed)
        for n in range(100, 200)
    ]
    kept([*rows, trail(record(200, "a"))])
    said = shown(env=SPLIT)
    assert "by a split 1 200 (99.5 %)" in said
    assert "by no split 1, set or asked otherwise" in said
    assert "The shares were changed while it ran: current 50.0 %, jev 50.0 %; current 90.0" in said
    assert "100 decisions under other shares are left out" in said
    said = shown("--experiment", "1", "--shares", "current:99,jev:1")
    assert "jev served by jev-1 10" in said
    found = invoke(POINT, "--experiment", "nope")
    assert found.exit_code == USAGE
    assert "Splits that did: 1 (200)" in " ".join(found.stderr.split())
