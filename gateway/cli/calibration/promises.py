"""What a calibration promises, for the terminal: thresholds, costs, slices, stability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from .. import screen
from .words import Words, more, section, share, told

if TYPE_CHECKING:
    from rich.table import Table

    from ...certificates import AtRisk
    from ...evaluation.calibration.findings import Calibration
    from ...evaluation.calibration.joining import Joint


def promises(one: Calibration, words: Words) -> None:
    """Print items 7 and 8: what is certified, and how it was."""
    section(f"Certified thresholds ({100 * (1 - one.certificate.delta):g} % sure)")
    sided = one.certificate.two_sided
    screen.show(sides(one, words) if sided else minima(one, words))
    if sided:
        screen.line(("Both sides by one minimum, for comparison; not used", screen.FAINT))
        screen.show(minima(one, words))
    method, date = one.certificate.method, one.certificate.date
    screen.line((f"{method}; {date}, rows {one.certificate.data}", screen.FAINT))


def _risk(one: Calibration, level: AtRisk) -> Text:
    used = level.alpha == one.certificate.risk
    return Text(f"{100 * level.alpha:g} %{' ◀' if used else '  '}", "bold" if used else "")


def minima(one: Calibration, words: Words) -> Table:
    """List the one minimum for each error rate."""
    listed = screen.table(
        "at most", "from", "decided", words.wrong, "bound", right=("at most", "from", "decided")
    )
    for level in one.minima or one.levels:
        if level.minimum is None:
            why = "none for both sides together" if one.minima else f"{level.why}{more(level)}"
            listed.add_row(_risk(one, level), "–", "–", Text(why, screen.FAINT), "")
            continue
        listed.add_row(
            _risk(one, level),
            f"{level.minimum:.4f}",
            f"{100 * level.coverage:.1f} %",
            f"{level.errors:,} of {level.accepted:,}",
            f"{100 * level.bound:.2f} %",
        )
    listed.columns[3].no_wrap = False
    return listed


def sides(one: Calibration, words: Words) -> Table:
    """List both cut-points for each error rate."""
    listed = screen.table("at most", "answer", "decided", "of the other truth", right=("at most",))
    levels = {level.alpha: level for level in one.levels}
    for side in one.sides:
        level = levels[side.alpha]
        risk = _risk(one, level) if side.side == "no" else Text("")
        harm = words.missed if side.side == "no" else words.alarms
        if side.at is None:
            why = f"{side.why}{'' if side.needed is None else f'; about {side.needed:,} more'}"
            listed.add_row(risk, f"never {side.side}", "–", Text(why, screen.FAINT))
            continue
        listed.add_row(
            risk,
            f"no below {side.at:.4f}" if side.side == "no" else f"yes from {side.at:.4f}",
            f"{100 * side.coverage:.1f} %",
            f"{harm} {side.errors:,} of {side.of:,}, bound {100 * side.bound:.2f} %",
        )
    listed.columns[3].no_wrap = False
    return listed


def costs(one: Calibration, words: Words) -> None:
    """Print item 9, where costs are known."""
    found = one.economy
    if found is None:
        return
    given = found.costs
    section("Costs")
    wrong = f"{words.wrong} in {100 * given.fallback_error:g} %"
    told(f"An error costs {given.error:g}, the fallback {given.fallback:g}; it is {wrong}.")
    told(f"Acting pays from a chance of {found.chance:.4f} on of being {words.right}.")
    numbers = ("threshold", "decided", "cost of a decision")
    listed = screen.table("", *numbers, words.wrong, right=numbers)
    for name, point in found.points.items():
        at = "–" if point.threshold is None else f"{point.threshold:.4f}"
        wrong = f"{point.errors:,} of {point.accepted:,}"
        listed.add_row(name, at, f"{100 * point.coverage:.1f} %", f"{point.cost:.5g}", wrong)
    screen.show(listed)
    if found.stricter and one.certified:
        told("The costs demand more than the promise: the next certified threshold is used.")
    elif found.stricter:
        told("The costs demand more than the promise, and what they demand is not certified.")


def together(one: Joint, words: Words) -> None:
    """Print what is promised of a decision of several questions, and what was measured."""
    section(f"{one.point}: {', '.join(one.questions)} together")
    told(
        "The promise is about each question by itself, not about the decision. Of all decisions at"
        f" most {100 * one.promised:.3g} % are decided with an answer that is {words.wrong} in it"
        f" ({100 * (1 - one.delta):.3g} % sure); of those that are decided it may be more."
    )
    if not one.decided:
        told(f"Of {one.rows:,} labelled decisions none would be decided.")
        return
    rate, bound = screen.percent(one.errors, one.decided), f"{100 * one.bound:.1f} %"
    told(
        f"Measured: {one.decided:,} of {one.rows:,} labelled decisions would be decided;"
        f" {one.errors:,} of them ({rate}, bound {bound}) hold an answer that is {words.wrong}."
    )


def slices(one: Calibration, words: Words) -> None:
    """Print item 10."""
    found = one.slices
    section("Slices")
    if found.slices:
        listed = screen.table(
            "by", "value", "rows", words.right, "ECE", f"{words.wrong} among decided",
            right=("rows",), loose=("value",),
        )  # fmt: skip
        for part in found.slices:
            wrong = f"{part.errors:,} of {part.decided:,}"
            flag = (
                Text.assemble(wrong, ("  above the budget", screen.BAD)) if part.flagged else wrong
            )
            rate = screen.percent(part.right.count, part.right.of)
            listed.add_row(
                part.name, part.value, f"{part.right.of:,}", rate, f"{part.ece:.3f}", flag
            )
        screen.show(listed)
    for name, why in found.skipped.items():
        screen.line((f"not by {name}: {why}", screen.FAINT))


def stability(one: Calibration) -> list[tuple[str, str | Text]]:
    """Write item 11."""
    found = one.stability
    rows: list[tuple[str, str | Text]] = []
    for spread in found.spreads:
        if spread.low is None or spread.high is None:
            said = "nothing could be certified in any draw"
        else:
            risk = "" if spread.risk is None else f"; {100 * spread.risk:.1f} % on rows left out"
            said = f"{spread.low:.4f} to {spread.high:.4f} in 90 % of the draws{risk}"
        none = f"; none in {100 * spread.none:.0f} %" if 0 < spread.none < 1 else ""
        rows.append((f"stability of {spread.name}", f"{said}{none} ({found.draws} draws)"))
    for name, part in (("asked again", found.repeated), ("options shuffled", found.shuffled)):
        said = "not measured" if part is None else f"other answer in {share(part)}"
        rows.append((name, said))
    return rows
