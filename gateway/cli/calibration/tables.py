"""What a person sees of a calibration in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from ...evaluation.calibration.findings import Calibration
from .. import screen
from .naming import told as ids
from .promises import costs, promises, slices, stability
from .words import WORDS, Words, doubts, left, section, share, title, told, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from ...evaluation.calibration.calibrating import Result
    from ...evaluation.calibration.descriptions import Bar
    from ...evaluation.calibration.findings import Refused
    from .gathering import Gathered

WIDTH, BAR = 31, 24  # columns of drawings made of characters
FREQUENT = 5  # labels that are named
STEPS = 8  # rows of the risk–coverage table


def rows(found: Gathered) -> None:
    """Say which rows there were, and which of them say nothing."""
    collected = found.collected
    counts = {
        "were never put to it": collected.unasked,
        "do not say which questions were asked": collected.unplaced,
        "have a label that is about none of their questions": collected.unclear,
        "labels are about decisions that it was never asked about": found.strangers,
        "were decided wrongly, and otherwise than it answers; the right answer is missing": (
            collected.wrong_only
        ),
    }
    kind = "states" if found.asked else "decisions"
    screen.line((f"{collected.decisions:,} {kind}, asked of {found.provider}", screen.FAINT))
    for what, count in counts.items():
        if count:
            screen.line((f"{count:,} {what}", screen.FAINT))
    for said in (*map(left, collected.strange), *([ids(found.unknown)] if found.unknown else [])):
        told(("! ", screen.OTHER), said)
    for name in found.closed:
        told(
            ("! ", screen.OTHER),
            f"{name} has no option for “none of these”: where none fits, an answer is wrong, and no"
            " threshold repairs that. Declare one as its sentinel.",
        )


def afterwards(results: Sequence[Result], found: Gathered, written: Sequence[Path]) -> None:
    """Say why there are several results, and what a person has to do."""
    screen.line()
    if len(results) > 1:
        screen.line(
            f"{len(results)} results: question, wording, options, language, form or model differ,"
            " and what holds for one says nothing of another."
        )
    if not written:
        return
    screen.line(("written  ", screen.FAINT), ", ".join(map(str, written)))
    if not any(isinstance(one, Calibration) and one.certified for one in results):
        screen.line("It allows nothing: with it in force, thresholds stay what they are.")
        return
    screen.line(f"Nothing is in force yet. Read it, then set DECISION_THRESHOLDS={written[0]}")
    if found.overruled:
        warning = f"{found.overruled} is set, and goes before any certificate: unset it"
        screen.note(("! ", screen.OTHER), warning)


def refused(one: Refused) -> None:
    """Say why nothing is said."""
    title(one.key)
    more_ = "one more" if one.needed == 1 else f"{one.needed:,} more"
    screen.note(("✗ ", screen.BAD), f"{one.why}: {more_}, at the least")


def calibration(one: Calibration) -> None:
    """Print everything that was found, the promises last."""
    words = WORDS[one.labels]
    title(one.key)
    screen.line((words.caption, screen.OTHER if one.labels == "agreement" else screen.FAINT))
    screen.pairs([*_counts(one, words), *_measures(one, words)])
    section("Confidence against what came of it")
    screen.show(reliability(one.gap.bars, words))
    section("Risk against coverage")
    screen.show(risks(one, words))
    promises(one, words)
    costs(one, words)
    slices(one, words)
    screen.pairs(stability(one))
    screen.line()
    sign, style = ("✓ ", screen.GOOD) if one.certified else ("✗ ", screen.BAD)
    told((sign, style), verdict(one.certificate, words))
    for said in doubts(one.certificate):
        told(("! ", screen.OTHER), said)


def _named(counts: Mapping[str, int]) -> str:
    whole, rows = sum(counts.values()), list(counts.items())
    said = [f"{name} {100 * n / whole:.0f} %" for name, n in rows[:FREQUENT]]
    rest = len(rows) - FREQUENT
    return ", ".join(said) + (f", {rest} more" if rest > 0 else "")


def _counts(one: Calibration, words: Words) -> list[tuple[str, str | Text]]:
    counts = one.counts
    missing = ", ".join(f"{reason} {n:,}" for reason, n in counts.unanswered.items())
    rows: list[tuple[str, str | Text]] = [
        ("rows", f"{counts.rows:,}, {counts.judged:,} of them with an answer and a label"),
        ("not decided", missing or "none: every row was answered"),
        (words.labels, _named(counts.gold)),
        ("answers", _named(counts.answers)),
    ]
    if counts.unsure:
        rows.append(("without a number", f"{counts.unsure:,} answers, which are never believed"))
    if counts.strange:
        rows.append(("strange labels", f"{counts.strange:,} that name nothing to be answered"))
    if counts.provisional:
        text = f"{counts.judged:,} labelled answers; {counts.more:,} more until it is not"
        rows.append(("provisional", Text(text, screen.OTHER)))
    return rows


def _measures(one: Calibration, words: Words) -> list[tuple[str, str | Text]]:
    quality, scores, gap = one.quality, one.scores, one.gap
    over = "over" if gap.over > 0 else "under"
    rows = [
        (words.rate, share(quality.right)),
        ("macro-F1", _number(quality.macro_f1)),
        ("log loss", f"{_number(scores.log_loss)}   Brier {_number(scores.brier)} ({scores.form})"),
        (
            "calibration",
            (
                f"ECE {gap.ece:.3f}, equal mass {gap.ece_mass:.3f}, worst {gap.mce:.3f};"
                f" noise alone makes {gap.floor:.3f}"
            ),
        ),
        ("confidence", f"{gap.confidence:.3f} on average: {abs(gap.over):.3f} {over}confident"),
        ("recalibrator", _remap(one)),
        (
            "sorting",
            (
                f"AURC {one.selective.aurc:.4f}, {one.selective.excess:.4f} above the best"
                f" possible; AUGRC {one.selective.augrc:.4f}"
            ),
        ),
    ]
    if quality.distance is not None:
        off = f"{quality.distance:.2f} on average, {100 * (quality.within_one or 0):.1f} %"
        rows.append(("levels off", f"{off} at most one; RPS {_number(quality.rps)}"))
    return [*rows]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _remap(one: Calibration) -> str:
    remap = one.remap
    if remap.why:
        return f"{remap.kind}: none, {remap.why}"
    said = "kept" if remap.kept else "not kept"
    return f"{remap.kind}: {said}, log loss falls by {remap.gain:.4f} ± {remap.error:.4f}"


def reliability(bars: Iterable[Bar], words: Words) -> Table:
    """Draw a reliability diagram with characters: the interval, its middle, and the confidence."""
    listed = screen.table(
        "confidence", "rows", words.right, f"0 %{'100 %':>{WIDTH - 3}}", right=("rows",)
    )
    for bar in bars:
        interval = f"{100 * bar.share:.0f} % [{100 * bar.low:.0f}, {100 * bar.high:.0f}]"
        listed.add_row(f"{bar.confidence:.2f}", f"{bar.rows:,}", interval, _drawn(bar))
    listed.caption = f"● {words.right}, ─ its interval of 95 %, │ confidence"
    listed.caption_justify = "left"
    return listed


def _drawn(bar: Bar) -> str:
    def at(part: float) -> int:
        return round(part * (WIDTH - 1))

    line = [" "] * WIDTH
    line[at(bar.low) : at(bar.high) + 1] = "─" * (at(bar.high) + 1 - at(bar.low))
    line[at(bar.confidence)] = "│"
    line[at(bar.share)] = "●"
    return "".join(line)


def risks(one: Calibration, words: Words) -> Table:
    """List what thresholds would do to these very rows."""
    listed = screen.table(
        "decided", "threshold", "rows", words.wrong, "", right=("decided", "threshold", "rows")
    )
    points = one.selective.curve
    wanted = [part * points[-1].coverage / STEPS for part in range(1, STEPS + 1)]
    shown = {min(points, key=lambda p: abs(p.coverage - aim)): None for aim in wanted}
    most = max((point.risk for point in shown), default=0.0) or 1.0
    for point in shown:
        bar = "█" * round(BAR * point.risk / most)
        decided = f"{100 * point.coverage:.1f} %"
        wrong = f"{100 * point.risk:.1f} %"
        listed.add_row(decided, f"{point.threshold:.4f}", f"{point.accepted:,}", wrong, bar)
    listed.caption = "measured on these very rows: a description, no promise"
    listed.caption_justify = "left"
    return listed
