"""
How often a provider is right on public sets that resemble the decision points.

Every file of `eval/` in the folder that `POINTSMAN_DATA` names is asked twice: with the question
that the set brings, and, where `points_map.json` says how, with the decision point of the
catalogue that does this work. Only rows of the `test` part are counted; `local` is also given ten
examples an answer from the `cal` part. With `--write` the tables go into the page in `docs/`.
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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pointsman import (
    Ask,
    Choice,
    DecisionPoint,
    Gateway,
    NoAnswer,
    Predicate,
    Reason,
    Score,
    SetupError,
)
from pointsman.decision_points import pointsman_points
from pointsman.gateway.evaluation.statistics.numerics import wilson
from pointsman.gateway.points import suffix_of
from pointsman.gateway.records import Attempt

MAP = Path(__file__).parent / "points_map.json"
PAGE = Path(__file__).parent.parent / "docs" / "points-accuracy.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
SHOTS = 10  # examples of each answer
THRESHOLD = 0.7  # what stands where nobody has said otherwise
SEED = 0  # of the examples that are drawn

Row: TypeAlias = dict[str, Any]
Labelled: TypeAlias = tuple[Ask, tuple[Any, ...]]
"""What is asked, and the answers that are right."""


@dataclass(frozen=True)
class Asked:
    """
    One question about one set.

    Attributes:
        set: Name of the file.
        key: The set's own name of its question.
        point: What is asked: the set's question as a point, or one of the catalogue.
        question: Which of the point's questions the label answers.
        test: Rows to be counted.
        cal: Rows that examples are drawn from.

    """

    set: str
    key: str
    point: DecisionPoint
    question: str
    test: list[Labelled]
    cal: list[Labelled]


@dataclass(frozen=True)
class Figures:
    """
    What came out.

    Attributes:
        rows: How many were asked.
        right: Whose most likely answer was right, believed or not.
        floor: Share of the most frequent label: what always saying the same would reach.
        decided: Sure enough at the default threshold.
        wrong: Of those.
        seconds: For a thousand rows.
        learned: Whether any answer made use of examples.

    """

    rows: int
    right: int
    floor: float
    decided: int
    wrong: int
    seconds: float
    learned: bool


class Bench:
    """One provider and the folder of the sets."""

    def __init__(self, data: Path, provider: str, limit: int | None, concurrency: int) -> None:
        self.questions = json.loads((data / "questions.json").read_text("utf-8"))
        self.map = json.loads(MAP.read_text("utf-8"))
        self.points = {point.name: point for point in pointsman_points()}
        self.data, self.provider, self.limit, self.concurrency = data, provider, limit, concurrency

    def own(self) -> Iterable[Asked]:
        """Ask what the sets ask."""
        for name, key, rows in self.sets():
            question = question_of(self.questions[key])
            point = DecisionPoint(name=suffix_of(f"own {key}"), questions={"en": {key: question}})
            yield self.asked((name, key), point, key, rows, plainly(point))

    def mapped(self) -> Iterable[Asked]:
        """Ask what the catalogue asks, where the map says how."""
        for name, key, rows in self.sets():
            told = self.map[name][key]
            if "asks" in told:
                point, how = self.points[told["point"]], told["asks"]
                make = translated(point, how, rows)
                yield self.asked((name, key), point, how["question"], rows, make)

    def sets(self) -> Iterable[tuple[str, str, list[Row]]]:
        """Read each file, apart by the question that its rows are about."""
        for file in sorted(self.data.glob("*.jsonl")):
            rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
            for key in sorted({row["question"] for row in rows}):
                yield file.stem, key, [row for row in rows if row["question"] == key]

    def asked(
        self,
        named: tuple[str, str],
        point: DecisionPoint,
        question: str,
        rows: list[Row],
        make: Callable[[Row], Labelled],
    ) -> Asked:
        """Build every ask, the test rows as far as they are wanted."""
        test = [make(row) for row in rows if row["split"] == "test"]
        if self.limit is not None:  # spread over the file, which may be sorted
            test = test[:: -(-len(test) // self.limit)]
        cal = [make(row) for row in rows if row["split"] == "cal"]
        return Asked(*named, point, question, test, cal)

    def measured(self, asked: Asked, *, taught: bool) -> Figures:
        """Ask about every test row, with examples or without."""
        with tempfile.TemporaryDirectory() as folder:
            if taught:
                write(Path(folder) / f"{asked.point.name}.jsonl", drawn(asked))
            gateway = Gateway.from_env(self.variables(asked.point, folder if taught else ""))
            began = time.perf_counter()
            attempts = asyncio.run(self.attempts(gateway, asked))
            took = time.perf_counter() - began
        told = "with examples" if taught else "without"
        print(f"  {asked.set} {asked.point.name} {told}: {took:.1f} s", file=sys.stderr, flush=True)
        return figures(asked, attempts, took)

    def variables(self, point: DecisionPoint, examples: str) -> dict[str, str]:
        """Select the provider, and the default threshold whatever is set."""
        return {
            **os.environ,
            f"DECISION_{point.name}_PROVIDER": self.provider,
            f"DECISION_{point.name}_MIN_CONFIDENCE": str(THRESHOLD),
            "DECISION_LOG": "off",
            "DECISION_JOURNAL": "off",
            "LOCAL_EXAMPLES": examples,
        }

    async def attempts(self, gateway: Gateway, asked: Asked) -> list[Attempt]:
        """Ask so many at once, and keep the order."""
        attempts: dict[int, Attempt] = {}
        waiting = iter(enumerate(asked.test))

        async def work() -> None:
            for at, (ask, _) in waiting:
                attempts[at] = await attempted(gateway, asked.point, ask)

        async with gateway:
            await asyncio.gather(*(work() for _ in range(self.concurrency)))
        return [attempts[at] for at in range(len(asked.test))]


async def attempted(gateway: Gateway, point: DecisionPoint, ask: Ask) -> Attempt:
    """Give the provider's own attempt, whoever decides after it."""
    try:
        decision = await gateway.ask(point, ask, current=lambda: None)
    except NoAnswer as none:
        return none.attempts[0]
    return decision.attempts[0]


def question_of(told: Mapping[str, Any]) -> Choice | Predicate | Score:
    """Make the question that a set brings."""
    if told["kind"] == "choice":
        return Choice(told["instructions"], told["options"])
    if told["kind"] == "score":
        return Score(told["instructions"], told["options"])
    return Predicate(told["instructions"])


def plainly(point: DecisionPoint) -> Callable[[Row], Labelled]:
    """Say that a row's state is asked about as it is, and its label is the answer."""
    return lambda row: (point.ask(row["state"]), (row["gold"],))


def translated(
    point: DecisionPoint, how: Mapping[str, Any], rows: Sequence[Row]
) -> Callable[[Row], Labelled]:
    """Say how a row becomes an ask of *point* and the answers that are right there."""

    def make(row: Row) -> Labelled:
        label = how["labels"][json.dumps(row["gold"]).strip('"')]
        right = tuple(label) if isinstance(label, list) else (label,)
        return point.ask(filled(how["state"], row["state"], rows)), right

    return make


def filled(pattern: Any, state: Mapping[str, Any], rows: Sequence[Row]) -> Any:
    """Fill `$field`, `$first:`, `$last:`, `$messages:` and `$all:field` of a pattern."""
    if isinstance(pattern, dict):
        return {name: filled(one, state, rows) for name, one in pattern.items()}
    if isinstance(pattern, list):
        return [filled(one, state, rows) for one in pattern]
    if not isinstance(pattern, str) or not pattern.startswith("$"):
        return pattern
    how, _, field = pattern[1:].rpartition(":")
    return FILLS[how](state.get(field), field, rows)


def messages(history: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Write the turns of a set as messages."""
    roles = {"system": "assistant"}
    return [
        {"role": roles.get(one["role"], one["role"]), "content": one["text"]} for one in history
    ]


FILLS: dict[str, Callable[[Any, str, Sequence[Row]], Any]] = {
    "": lambda value, field, rows: value,  # noqa: ARG005 - the others need them
    "first": lambda value, field, rows: value[0] if value else None,  # noqa: ARG005 - the same
    "last": lambda value, field, rows: value[-1]["text"] if value else "",  # noqa: ARG005 - the same
    "messages": lambda value, field, rows: messages(value or []),  # noqa: ARG005 - the same
    "all": lambda value, field, rows: [  # noqa: ARG005 - the same
        {"intent": one, "description": ""} for one in sorted({row["state"][field] for row in rows})
    ],
}


def drawn(asked: Asked) -> list[dict[str, Any]]:
    """Draw examples of each answer from the part that is not counted."""
    by_answer: defaultdict[Any, list[Ask]] = defaultdict(list)
    for ask, right in random.Random(SEED).sample(asked.cal, len(asked.cal)):
        by_answer[right].append(ask)
    return [
        {"state": ask.state, "question": asked.question, "answer": right[0]}
        for right, asks in sorted(by_answer.items(), key=str)
        for ask in asks[:SHOTS]
    ]


def write(path: Path, examples: Sequence[dict[str, Any]]) -> None:
    """Write examples the way users do."""
    path.write_text("\n".join(map(json.dumps, examples)), "utf-8")


def teachable(asked: Asked) -> bool:
    """Whether each label says which answer is right, so that it can be an example."""
    return all(len(right) == 1 for _, right in asked.cal)


def figures(asked: Asked, attempts: Sequence[Attempt], took: float) -> Figures:
    """Count."""
    pairs = list(zip(attempts, (right for _, right in asked.test), strict=True))
    good = [likely(asked, attempt) in right for attempt, right in pairs]
    decided = [attempt.reason is Reason.OK for attempt in attempts]
    labels = Counter(right for _, right in asked.test)
    return Figures(
        rows=len(pairs),
        right=sum(good),
        floor=max(labels.values()) / len(pairs),
        decided=sum(decided),
        wrong=sum(sure and not was for sure, was in zip(decided, good, strict=True)),
        seconds=1000 * took / len(pairs),
        learned=any(note.endswith(".examples") for one in attempts for note in one.notes or ()),
    )


def likely(asked: Asked, attempt: Attempt) -> Any:
    """Name the most likely answer; None of an answer that is not valid."""
    answer = attempt.answers.get(asked.question)
    question = asked.test[0][0].questions[asked.question]
    if answer is None or not isinstance(question, Score):
        return None if answer is None else answer.value
    if spread := answer.distribution:
        return max(spread, key=lambda level: spread[level])
    assert isinstance(answer.value, int | float)
    return list(question.levels)[round(question.index(answer.value))]


# --- the page ----------------------------------------------------------------------------

MEASURED = ("rows", "floor", *("right", "decided", "wrong of these", "s per 1,000") * 2)


def line(names: Sequence[str], plain: Figures, taught: Figures | None) -> list[str]:
    """Write a row's cells."""
    cells = [*names, f"{plain.rows:,}", f"{plain.floor:.3f}", *told(plain)]
    if taught is None:
        return [*cells, *["–"] * 4]
    return [*cells, *(told(taught) if taught.learned else ["none used", *["–"] * 3])]


def told(one: Figures) -> list[str]:
    """Write what came out of one pass."""
    low, high = wilson(one.right, one.rows)
    share = f"{one.right / one.rows:.3f} ({low:.3f}–{high:.3f})"
    wrong = f"{one.wrong:,} of {one.decided:,}" if one.decided else "–"
    return [share, f"{100 * one.decided / one.rows:.1f} %", wrong, f"{one.seconds:.1f}"]


def table(first: Sequence[str], figures: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table in Markdown; *figures* stand at the right of their columns."""
    ruler = ["---"] * len(first) + ["---:"] * len(figures)
    listed = ([*first, *figures], ruler, *rows)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in listed)


def charted(told: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterable[list[str]]:
    """Write the map: which point does the work of each set, and why or why not."""
    for name, questions in told.items():
        for key, one in questions.items():
            known = one["point"] in ("no equivalent", "not yet")
            unfit = f" Not asked: {one['unfit']}." if "unfit" in one else ""
            asked = "yes" if "asks" in one else "no"
            point = one["point"] if known else f"`{one['point']}`"
            yield [f"`{name}`", f"`{key}`", point, asked, one["why"] + unfit]


def measured(bench: Bench, *, teaches: bool) -> str:
    """Measure everything, and write the three tables."""
    own = [
        line([f"`{one.set}`", f"`{one.key}`"], *both(bench, one, teaches=teaches))
        for one in bench.own()
    ]
    mapped = [
        line([f"`{one.set}`", f"`{one.point.name}`"], *both(bench, one, teaches=teaches))
        for one in bench.mapped()
    ]
    map_heads = ("set", "its question", "point", "asked", "why")
    parts = (
        f"### The sets' own questions, `{bench.provider}`\n\n",
        table(("set", "question"), MEASURED, own),
        f"\n### The points' questions, `{bench.provider}`\n\n",
        table(("set", "point"), MEASURED, mapped),
        "\n### Which point does the work of which set\n\n",
        table(map_heads, (), charted(bench.map)),
    )
    return "".join(parts)


def both(bench: Bench, asked: Asked, *, teaches: bool) -> tuple[Figures, Figures | None]:
    """Measure without examples, and with them where the provider learns and labels allow it."""
    plain = bench.measured(asked, taught=False)
    return plain, bench.measured(asked, taught=True) if teaches and teachable(asked) else None


def put(page: Path, tables: str) -> None:
    """Put *tables* into the page between its marks."""
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{tables}\n{END}{rest.partition(END)[2]}", "utf-8")


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n", 1)[0])
    parser.add_argument("--provider", default="local", help="who is asked")
    parser.add_argument("--limit", type=int, help="test rows of each set, for a quick look")
    parser.add_argument("--concurrency", type=int, default=1, help="rows that are asked at once")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE.name}")
    wanted = parser.parse_args()
    folder = os.environ.get("POINTSMAN_DATA")
    if not folder:
        print("skipped: POINTSMAN_DATA does not name the folder of the test sets")
        return 0
    bench = Bench(Path(folder) / "eval", wanted.provider, wanted.limit, wanted.concurrency)
    try:
        tables = measured(bench, teaches=wanted.provider.partition("/")[0] == "local")
    except SetupError as error:
        print(error, file=sys.stderr)
        return 2
    print(tables)
    if wanted.write:
        put(PAGE, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
