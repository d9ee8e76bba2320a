"""
How often the embedded decider is right, and whether it knows when it is.

Asks the real provider about public test sets (`POINTSMAN_DATA` names their folder), without
examples and with 5, 10 and 50 an option, and compares with the figures of the recipe's own
measurement: a bar is missed when a figure falls more than 1.5 points below. Prints the expected
calibration error, and what a threshold for 95 % right, chosen on one half of a test set, covers
on the other half and how much of that was really right. Exit code 1: a bar was missed.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pointsman import Ask, Call, Choice, Chosen, Gateway, Reply
from pointsman.providers.local import Local
from pointsman.providers.local.heads import best_scale

SLACK = 0.015  # differences below it mean nothing on some 3,000 rows
WANTED = 0.95  # share of right answers that a threshold is to promise
FEWEST = 20  # answers above a threshold, so that a lucky first few do not choose it
BINS = 15  # of the calibration error, equally wide
SHOTS = (5, 10, 50)
DRAWS = {"static": 3, "minilm": 1, "e5": 1}
QUICK = 5  # every fifth row

BARS = {  # the recipe's figures, without centring, on whole test sets
    ("static", "banking77"): 0.644,
    ("static", "clinc150"): 0.693,
    ("static", "snips"): 0.823,
    ("static", "sgd 8-way"): 0.875,
    ("static", "banking77 +5"): 0.746,
    ("static", "banking77 +10"): 0.798,
    ("static", "banking77 +50"): 0.886,
    ("static", "clinc150 +5"): 0.817,
    ("static", "clinc150 +10"): 0.856,
    ("static", "clinc150 +50"): 0.909,
    ("static", "clinc150 out of scope"): 0.873,
    ("minilm", "banking77"): 0.716,
    ("minilm", "clinc150"): 0.807,
    ("minilm", "snips"): 0.859,
    ("minilm", "sgd 8-way"): 0.935,
    ("minilm", "banking77 +5"): 0.821,
    ("minilm", "banking77 +10"): 0.856,
    ("minilm", "banking77 +50"): 0.914,
    ("minilm", "clinc150 +5"): 0.886,
    ("minilm", "clinc150 +10"): 0.915,
    ("minilm", "clinc150 +50"): 0.947,
    ("minilm", "clinc150 out of scope"): 0.931,
}

Row: TypeAlias = tuple[Any, str]
"""A state and its right option."""


@dataclass(frozen=True)
class Result:
    """
    What came out of one run.

    Attributes:
        right: Whether each answer was right.
        confidence: What each answer said of itself.
        cosine: The best cosine of each.

    """

    right: npt.NDArray[np.bool_]
    confidence: npt.NDArray[np.float64]
    cosine: npt.NDArray[np.float64]


class Bench:
    """Runs, prints and judges."""

    def __init__(self, encoder: str, data: Path, *, quick: bool) -> None:
        self.encoder = encoder
        self.data = data
        self.quick = quick
        self.missed: list[str] = []

    def run(self) -> None:
        """Measure everything, the cheap things first."""
        print(f"{'':24}   acc   bar   ECE  covered at 95 %  right there")
        for name in ("banking77", "clinc150", "snips"):
            self.zero_shot(name)
        self.routing()
        for name in ("banking77", "clinc150"):
            for shots in SHOTS:
                self.few_shot(name, shots)

    def zero_shot(self, name: str) -> None:
        """Choose among all options of a set, from their names and descriptions."""
        rows, local = self.rows(name, "test"), provider(self.encoder)
        asked = ask_all(local, rows, choice(self.data, name))
        self.tell(name, [asked])
        if name == "clinc150":
            strangers = ask_all(local, self.rows(name, "oos_test"), choice(self.data, name))
            self.tell_number(f"{name} out of scope", auroc(asked.cosine, strangers.cosine), "AUROC")

    def routing(self) -> None:
        """Choose the right intent among seven of other domains, seeing the last two turns."""
        rows, offered = routing(self.data)
        kept = slice(None, None, QUICK if self.quick else None)
        results = ask_all(provider(self.encoder), rows[kept], iter(offered[kept]))
        self.tell("sgd 8-way", [results])

    def few_shot(self, name: str, shots: int) -> None:
        """The same with labelled examples, drawn anew a few times."""
        rows, question = self.rows(name, "test"), choice(self.data, name)
        results = []
        for seed in range(1 if self.quick else DRAWS[self.encoder]):
            with tempfile.TemporaryDirectory() as folder:
                drawn = draw(read(self.data, name, "train"), shots, seed)
                write(Path(folder) / "BENCH.jsonl", drawn)
                results.append(ask_all(provider(self.encoder, folder), rows, question))
        self.tell(f"{name} +{shots}", results)

    def rows(self, name: str, part: str) -> list[Row]:
        """Read a set, or a fifth of it."""
        return read(self.data, name, part)[:: QUICK if self.quick else 1]

    def tell(self, name: str, results: Sequence[Result]) -> None:
        """Print the mean figures of *results* in one line."""
        right = float(np.mean([one.right.mean() for one in results]))
        error = float(np.mean([calibration_error(one) for one in results]))
        covered, kept = np.mean([selective(one) for one in results], axis=0)
        line = f"{right:6.3f} {self.bar(name, right)}{error:6.3f} {covered:12.2f} {kept:15.3f}"
        print(f"{name:24}{line}", flush=True)

    def tell_number(self, name: str, value: float, unit: str) -> None:
        """Print one figure."""
        print(f"{name:24}{value:6.3f} {self.bar(name, value)} {unit}", flush=True)

    def bar(self, name: str, value: float) -> str:
        """Judge a figure: its bar, marked where it is missed."""
        figure = BARS.get((self.encoder, name))
        if figure is None:
            return "      "
        missed = not self.quick and value < figure - SLACK
        if missed:
            self.missed.append(name)
        return f"{figure - SLACK:.3f}{'!' if missed else ' '}"


def provider(encoder: str, examples: str = "") -> Local:
    """Take the provider from a gateway, as any user gets it."""
    variables = {"LOCAL_ENCODER": encoder, "LOCAL_EXAMPLES": examples}
    made = Gateway.from_env(variables).provider("local")
    assert isinstance(made, Local)
    return made


def ask_all(local: Local, rows: Sequence[Row], questions: Choice | Iterator[Choice]) -> Result:
    """Ask about every row; *questions* is one for all, or one for each."""
    right, confidence, cosine = [], [], []
    began = time.monotonic()
    for state, label in rows:
        question = questions if isinstance(questions, Choice) else next(questions)
        reply = local.answer(Ask(state, {"q": question}), Call(point="BENCH"))
        answer = chosen(reply)
        right.append(answer.option == label)
        confidence.append(answer.confidence or 0.0)
        cosine.append((reply.notes or {})["q.cosine"])
    took = (time.monotonic() - began) / len(rows) * 1e3
    print(f"  {len(rows)} asks of {reply.model}, {took:.2f} ms each", file=sys.stderr, flush=True)
    local.close()
    return Result(np.array(right), np.array(confidence), np.array(cosine))


def chosen(reply: Reply) -> Chosen:
    """Read the answer of a reply to one question."""
    answers = reply.answers
    assert isinstance(answers, Mapping)
    answer = answers["q"]
    assert isinstance(answer, Chosen)
    return answer


def calibration_error(result: Result) -> float:
    """Return the mean gap between confidence and share of right answers, bin by bin."""
    bins = np.minimum((result.confidence * BINS).astype(int), BINS - 1)
    inside = [bins == one for one in range(BINS)]
    gaps = [
        abs(result.right[one].mean() - result.confidence[one].mean()) * one.mean()
        for one in inside
        if one.any()
    ]
    return float(sum(gaps))


def selective(result: Result) -> tuple[float, float]:
    """Return coverage and share of right answers on one half, above the other's threshold."""
    half = np.random.default_rng(0).permutation(len(result.right)) % 2 == 0
    lowest = threshold(result.right[half], result.confidence[half])
    covered = result.confidence[~half] >= lowest
    kept = result.right[~half][covered]
    return float(covered.mean()), float(kept.mean()) if len(kept) else 0.0


def threshold(right: npt.NDArray[np.bool_], confidence: npt.NDArray[np.float64]) -> float:
    """Find the lowest confidence above which answers are right as often as wanted."""
    order = np.argsort(-confidence, kind="stable")
    share = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    good = np.flatnonzero(share[FEWEST - 1 :] >= WANTED)
    return float(confidence[order[good[-1] + FEWEST - 1]]) if len(good) else float("inf")


def auroc(inside: npt.NDArray[np.float64], outside: npt.NDArray[np.float64]) -> float:
    """Return how often a random *inside* value lies above a random *outside* one."""
    ordered = np.sort(outside)
    below = np.searchsorted(ordered, inside, "left") + np.searchsorted(ordered, inside, "right")
    return float(below.mean() / 2 / len(outside))


def choice(data: Path, name: str) -> Choice:
    """Make the question of a set: all its labels, described in a line each."""
    described = json.loads((data / name / "descriptions.json").read_text("utf-8"))
    return Choice("What does the message want?", dict(sorted(described.items())))


def read(data: Path, name: str, part: str) -> list[Row]:
    """Read a part of a set."""
    with (data / name / f"{part}.csv").open(encoding="utf-8", newline="") as file:
        return [(row["text"], row["label"]) for row in csv.DictReader(file)]


def draw(rows: Sequence[Row], shots: int, seed: int) -> list[Row]:
    """Draw *shots* examples of each option."""
    by_label: defaultdict[str, list[Row]] = defaultdict(list)
    for row in random.Random(seed).sample(rows, len(rows)):
        by_label[row[1]].append(row)
    return [row for label in sorted(by_label) for row in by_label[label][:shots]]


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write examples the way users do."""
    lines = (json.dumps({"state": state, "answer": label}) for state, label in rows)
    path.write_text("\n".join(lines), "utf-8")


def routing(data: Path) -> tuple[list[Row], list[Choice]]:
    """Read the turns that begin an intent, and offer each its own and seven of other domains."""
    schema = json.loads((data / "sgd" / "schema.json").read_text("utf-8"))
    lines = (data / "sgd" / "routing_test.jsonl").read_text("utf-8").splitlines()
    turns = [json.loads(line) for line in lines]
    asked = sorted({(turn["service"], turn["intent"]) for turn in turns})
    draw = random.Random(0)
    questions = []
    for turn in turns:
        offered = {domain(turn["service"]): (turn["service"], turn["intent"])}
        for service, intent in draw.sample(asked, len(asked)):
            if len(offered) < 8 and intent != turn["intent"]:
                offered.setdefault(domain(service), (service, intent))
        options = {i: schema[s]["intents"][i] for s, i in sorted(offered.values())}
        questions.append(Choice("What does the user begin?", options))
    states = [{"history": turn["context"], "message": turn["text"]} for turn in turns]
    return [(s, turn["intent"]) for s, turn in zip(states, turns, strict=True)], questions


def domain(service: str) -> str:
    """Name the domain of a service: `Hotels_2` → `Hotels`."""
    return service.rsplit("_", 1)[0]


def fitted_constants(bench: Bench) -> None:
    """Print an encoder's scale and floor, fitted on CLINC150's validation rows."""
    question, rows = choice(bench.data, "clinc150"), bench.rows("clinc150", "val")
    reader = provider(bench.encoder)._reader  # noqa: SLF001 - what is fitted here belongs to it
    options = reader.options(tuple(question.options.items()))
    labels = list(question.options)
    right = np.array([labels.index(label) for _, label in rows])
    cosines = reader.encoder.vectors([str(text) for text, _ in rows]) @ options.T
    own = cosines[np.arange(len(right)), right]
    print(f"scale {best_scale(cosines, right):.1f}")
    print(f"floor {np.percentile(own, 10):.2f} (10 % of the right options lie below)")


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n", 1)[0])
    parser.add_argument("--encoder", choices=list(DRAWS), default="static")
    parser.add_argument("--quick", action="store_true", help="every fifth row; judges nothing")
    parser.add_argument("--constants", action="store_true", help="print the encoder's constants")
    wanted = parser.parse_args()
    folder = os.environ.get("POINTSMAN_DATA")
    if not folder:
        print("skipped: POINTSMAN_DATA does not name the folder of the test sets")
        return 0
    bench = Bench(wanted.encoder, Path(folder), quick=wanted.quick)
    runs: Callable[[], None] = (lambda: fitted_constants(bench)) if wanted.constants else bench.run
    runs()
    if bench.missed:
        print(f"missed: {', '.join(bench.missed)}")
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
