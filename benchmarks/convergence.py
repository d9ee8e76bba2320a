"""
How well deciders see whether people have agreed: two public sets, each with its own question.

`POINTSMAN_DATA` names the folder of the sets; only rows of their `test` part are counted, and
examples come from their `cal` part. The embedded decider is asked without examples and with
them, and as a committee of three that have seen other examples each; always giving the more
frequent answer of `cal` is the yardstick. With `--write` the tables go into the page in `docs/`.
Texts of the sets are never printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from points_accuracy import attempted, put, question_of, table, write

from pointsman import DecisionPoint, Gateway, Reason, SetupError
from pointsman.gateway.evaluation.statistics.comparing import paired_bootstrap
from pointsman.gateway.evaluation.statistics.measures import bins_equal_width, brier, ece
from pointsman.gateway.evaluation.statistics.numerics import percentile, wilson
from pointsman.gateway.points import suffix_of
from pointsman.gateway.records import Attempt

PAGE = Path(__file__).parent.parent / "docs" / "convergence-accuracy.md"
SETS = ("convergence_delidata", "convergence_perspectrum")
FEW, MANY = 10, 50  # examples of each answer
DRAWS = 1000  # samples of a bootstrap
MEMBERS = ("a", "b", "c")

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """
    What one decider said about one row.

    Attributes:
        right: The answer that was expected.
        probability: Of *true*; None if there was no answer.
        believed: It was sure enough at its default minimum.

    """

    right: bool
    probability: float | None
    believed: bool

    @property
    def answer(self) -> bool | None:
        """The more likely answer; a half is *false*, as in the sets' own predicate."""
        return None if self.probability is None else self.probability > 0.5

    @property
    def good(self) -> bool:
        """Whether the answer, believed or not, is the expected one; no answer never is."""
        return self.answer is self.right

    @property
    def pair(self) -> tuple[float, bool]:
        """Confidence of the more likely answer, and whether it was right."""
        assert self.probability is not None
        return max(self.probability, 1 - self.probability), self.good


@dataclass(frozen=True)
class Decider:
    """
    Somebody who is asked.

    Attributes:
        name: As the page calls it.
        provider: As variables call it.
        shots: Examples of each answer that it is given; None: all there are.
        more: Further variables.

    """

    name: str
    provider: str
    shots: int | None
    more: Mapping[str, str]


COMMITTEE = {"COMMITTEE_MEMBERS": ",".join(f"local/{name}" for name in MEMBERS)}
HEARD = {**COMMITTEE, "LOCAL_MIN_CONFIDENCE": "0.5"}  # whatever a member finds more likely
DECIDERS = (
    Decider("`local`, no examples", "local", 0, {}),
    Decider(f"`local`, {FEW} examples an answer", "local", FEW, {}),
    Decider("`local`, all of `cal`", "local", None, {}),
    Decider(f"`committee`, {FEW} each", "committee", FEW, COMMITTEE),
    Decider(f"`committee`, {FEW} each, members heard from 0.5", "committee", FEW, HEARD),
    Decider(f"`committee`, {MANY} each, members heard from 0.5", "committee", MANY, HEARD),
)
YARDSTICK = "always the more frequent answer of `cal`"
CALCULATOR = "the calculator of `CONVERGENCE`"


def rows_of(data: Path, name: str, limit: int | None) -> tuple[str, list[Row], list[Row]]:
    """Read a set: its question's key, the rows to be counted, the rows to learn from."""
    rows = [json.loads(line) for line in (data / f"{name}.jsonl").read_text("utf-8").splitlines()]
    test = [row for row in rows if row["split"] == "test"]
    if limit is not None:
        test = test[:: -(-len(test) // limit)]
    return rows[0]["question"], test, [row for row in rows if row["split"] == "cal"]


def examples(cal: Sequence[Row], shots: int | None, seed: int) -> list[dict[str, Any]]:
    """Draw examples of each answer; another seed draws others."""
    mixed = random.Random(seed).sample(cal, len(cal))
    kept = [
        row
        for answer in (True, False)
        for row in [one for one in mixed if one["gold"] is answer][:shots]
    ]
    return [{"state": row["state"], "answer": row["gold"]} for row in kept]


def variables(decider: Decider, point: str, cal: Sequence[Row], folder: Path) -> dict[str, str]:
    """Select the decider, with the defaults of everything else, and write its examples."""
    told = {f"DECISION_{point}_PROVIDER": decider.provider, "DECISION_LOG": "off", **decider.more}
    names = MEMBERS if decider.provider == "committee" else ("",)
    for seed, name in enumerate(names if decider.shots != 0 else ()):
        place = folder / (name or "one")
        place.mkdir()
        write(place / f"{point}.jsonl", examples(cal, decider.shots, seed))
        told[f"LOCAL__{name.upper()}__EXAMPLES" if name else "LOCAL_EXAMPLES"] = str(place)
    return told


def asked(
    decider: Decider, point: DecisionPoint, test: Sequence[Row], cal: Sequence[Row]
) -> tuple[list[Said], float]:
    """Ask a decider about every row; what it said, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway.from_env(variables(decider, point.name, cal, Path(folder)))
        began = time.perf_counter()
        attempts = asyncio.run(_attempts(gateway, point, test))
        took = time.perf_counter() - began
    print(f"  {point.name}, {decider.name}: {took:.1f} s", file=sys.stderr, flush=True)
    return [said(one, row) for one, row in zip(attempts, test, strict=True)], took


async def _attempts(gateway: Gateway, point: DecisionPoint, test: Sequence[Row]) -> list[Attempt]:
    async with gateway:
        return [await attempted(gateway, point, point.ask(row["state"])) for row in test]


def said(attempt: Attempt, row: Row) -> Said:
    """Read an attempt: the probability of *true*, whether or not it was believed."""
    for answer in attempt.answers.values():
        if answer.probability is not None:
            true = answer.probability if answer.value is True else 1 - answer.probability
            return Said(row["gold"], true, attempt.reason is Reason.OK)
    return Said(row["gold"], None, believed=False)


def majority(test: Sequence[Row], cal: Sequence[Row]) -> list[Said]:
    """Say for every row how frequent *true* is in the part that is not counted."""
    share = fmean(row["gold"] for row in cal)
    return [Said(row["gold"], share, believed=False) for row in test]


# --- figures -----------------------------------------------------------------------------


def balanced(told: Sequence[Said]) -> float:
    """Mean share of right answers over the two expected ones."""
    sides = [[one.good for one in told if one.right is side] for side in (True, False)]
    return fmean(fmean(side) for side in sides if side)


def squared(told: Sequence[Said]) -> float:
    """Brier score of the probabilities of *true*."""
    return brier([one.probability or 0.0 for one in told], [one.right for one in told])


def gap(told: Sequence[Said]) -> float:
    """Expected calibration error of the more likely answer, ten equal widths."""
    confidences, good = zip(*(one.pair for one in told), strict=True)
    return ece(bins_equal_width(confidences, good))


def resampled(told: Sequence[Said], figure: Callable[[Sequence[Said]], float]) -> str:
    """Write a figure with its percentile interval; a dash where nobody answered."""
    if not told:
        return "–"
    dice = random.Random(0)
    draws = [figure(dice.choices(told, k=len(told))) for _ in range(DRAWS)]
    return f"{figure(told):.3f} ({percentile(draws, 0.025):.3f}–{percentile(draws, 0.975):.3f})"


def share(good: int, of: int) -> str:
    """Write a share with the interval of Wilson; a dash of nothing."""
    low, high = wilson(good, of)
    return f"{good / of:.3f} ({low:.3f}–{high:.3f})" if of else "–"


def gain(told: Sequence[Said], yardstick: Sequence[Said]) -> tuple[str, bool]:
    """Compare with the yardstick, row by row; better only if the whole interval is."""
    differences = [float(a.good) - float(b.good) for a, b in zip(told, yardstick, strict=True)]
    low, high = paired_bootstrap(differences)
    return f"{fmean(differences):+.3f} ({low:+.3f} to {high:+.3f})", low > 0


FIGURES = (
    *("believed", "right of these", "right of all", "over the yardstick"),
    *("balanced", "Brier", "ECE", "answered", "s per 1,000"),
)


def cells(
    name: str, told: Sequence[Said], yardstick: Sequence[Said], took: float | None
) -> list[str]:
    """Write a decider's row."""
    answered = [one for one in told if one.probability is not None]
    believed = [one for one in told if one.believed]
    return [
        name,
        "–" if took is None else share(len(believed), len(told)),
        share(sum(one.good for one in believed), len(believed)),
        share(sum(one.good for one in told), len(told)),
        "–" if took is None else gain(told, yardstick)[0],
        resampled(told, balanced),
        resampled(answered, squared),
        resampled(answered, gap),
        f"{len(answered)} of {len(told)}",
        "–" if took is None else f"{1000 * took / len(told):.1f}",
    ]


def measured(
    data: Path, name: str, limit: int | None, deciders: Sequence[Decider]
) -> Iterator[str]:
    """Measure every decider on one set, and write its part of the page."""
    key, test, cal = rows_of(data, name, limit)
    told = json.loads((data / "questions.json").read_text("utf-8"))[key]
    point = DecisionPoint(name=suffix_of(f"own {key}"), questions={"en": {key: question_of(told)}})
    yardstick = majority(test, cal)
    rows, better = [cells(YARDSTICK, yardstick, yardstick, None)], list[str]()
    for decider in deciders:
        found, took = asked(decider, point, test, cal)
        rows.append(cells(decider.name, found, yardstick, took))
        better += [decider.name] if gain(found, yardstick)[1] else []
    rows.append([CALCULATOR, "not applicable: needs structured positions", *["–"] * 8])
    yield f"### `{name}`\n\n*{told['instructions']}* {len(test)} rows of `test`"
    yield f", {sum(row['gold'] for row in test)} of them true; {len(cal)} rows of `cal`.\n\n"
    yield table(("decider",), FIGURES, rows)
    yield f"\nBetter than the yardstick by more than chance: {'; '.join(better) or 'none'}.\n\n"


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n", 1)[0])
    parser.add_argument("--limit", type=int, help="test rows of each set, for a quick look")
    parser.add_argument("--provider", help="who else is asked, by the variables that are set")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE.name}")
    wanted = parser.parse_args()
    folder = os.environ.get("POINTSMAN_DATA")
    if not folder:
        print("skipped: POINTSMAN_DATA does not name the folder of the test sets")
        return 0
    one = wanted.provider
    deciders = (*DECIDERS, *([Decider(f"`{one}`", one, 0, os.environ)] if one else []))
    data = Path(folder) / "eval"
    try:
        parts = [part for name in SETS for part in measured(data, name, wanted.limit, deciders)]
    except SetupError as error:
        print(error, file=sys.stderr)
        return 2
    print("".join(parts))
    if wanted.write:
        put(PAGE, "".join(parts).strip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
