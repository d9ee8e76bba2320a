"""What an experiment came to: figures of each arm, and what is shown between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from .cases import Case
from .experiment import Experiment
from .figures import Figures, Judged, figures
from .known import Known, served
from .results import Results
from .verdicts import Compared, compared
from .working import Stopped

INDEPENDENT, DEBATE, PLACEBO = "independent", "debate", "placebo"


class Gap(msgspec.Struct, frozen=True):
    """
    What a debate gives beyond a placebo of it.

    Attributes:
        difference: The debate's share of right outcomes less the placebo's.
        low: Lower end of its 95 % interval.
        high: Upper end.
        moved: Share of members that changed their answer in the debate; None: nobody could.
        moved_by_placebo: The same in the placebo.
        shown: The arm that is ahead, where that is shown; else empty.
        said: What is shown between both, in a sentence.

    """

    difference: float
    low: float
    high: float
    moved: float | None
    moved_by_placebo: float | None
    shown: str
    said: str


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """
    What an experiment came to.

    Attributes:
        cases: In the file, or the part of it that was taken.
        complete: Those that every arm has been run on; all figures are about them.
        arms: Figures, in the order of `--arms`.
        pairs: Every two arms.
        placebo: What the debate gives beyond its placebo; None where one of them is missing.
        reference: The debate that costs are held against; empty: there is none.
        added: Rows that this run added.
        open: Arms on items that this run left for another time, because a provider failed.
        left: Why → how many of them.
        served: Provider → model as served → rows.
        seconds: Of this run.
        stopped: Why it ended early; empty: it did not.

    """

    cases: int
    complete: int
    arms: tuple[Figures, ...] = ()
    pairs: tuple[Compared, ...] = ()
    placebo: Gap | None = None
    reference: str = ""
    added: int = 0
    open: int = 0
    left: Mapping[str, int] = {}
    served: Mapping[str, Mapping[str, int]] = {}
    seconds: float = 0.0
    stopped: Stopped = ""


def summed(
    experiment: Experiment, cases: Sequence[Case], results: Results, **run: object
) -> Summary:
    """Sum up what is known by now, over the cases that every arm has been run on."""
    known = Known(experiment, results)
    judged: dict[str, list[Judged]] = {arm.name: [] for arm in experiment.arms}
    for case in cases:
        rows = [row for arm in experiment.arms if (row := known.row(case, arm)) is not None]
        if len(rows) == len(judged):
            for row in rows:
                judged[row.arm].append(Judged(case, row))
    complete = len(judged[experiment.arms[0].name])
    made = Summary(
        cases=len(cases),
        complete=complete,
        reference=experiment.reference,
        served=served(results.rows),
    )
    if complete:
        made = _told(made, experiment, judged)
    return msgspec.structs.replace(made, **run)


def _told(made: Summary, experiment: Experiment, judged: Mapping[str, Sequence[Judged]]) -> Summary:
    base, debate = judged.get(INDEPENDENT), judged.get(experiment.reference)
    arms = tuple(
        figures(rows, None if name == INDEPENDENT else base, debate)
        for name, rows in judged.items()
    )
    columns = {name: [one.right for one in rows] for name, rows in judged.items()}
    pairs = compared(columns, seed=experiment.seed) if len(columns) > 1 else ()
    gap = _gap({one.arm: one for one in arms}, pairs)
    return msgspec.structs.replace(made, arms=arms, pairs=pairs, placebo=gap)


def _gap(arms: Mapping[str, Figures], pairs: Sequence[Compared]) -> Gap | None:
    for one in pairs:
        if {one.a, one.b} == {DEBATE, PLACEBO}:
            moved = (_moved(arms[DEBATE]), _moved(arms[PLACEBO]))
            ends = (one.difference, one.low, one.high)
            if one.b == DEBATE:
                ends = (-one.difference, -one.high, -one.low)
            return Gap(*ends, *moved, one.shown, one.said)
    return None


def _moved(arm: Figures) -> float | None:
    told = arm.collapse
    return told.moved / told.members if told is not None and told.members else None
