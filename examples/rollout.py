"""
Route the messages of a bank's customers, from today's path to a better one.

    python rollout.py --rows 0:1000                      route them
    python rollout.py --rows 0:1000 --feedback           tell the journal what was right
    python rollout.py --rows 0:1000 --labels new.jsonl   write it to a file instead

The messages are BANKING77's test set, in a fixed order, from `banking77/` in the folder that
POINTSMAN_DATA names. Today's path is a stand-in: an LLM that is right but for `NOISE`. Who else
is asked, and who decides, is said by variables alone; docs/rollout.md goes through all of it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from pointsman import Choice, Gateway, PointsmanError

DATA = Path(os.environ.get("POINTSMAN_DATA", ".")) / "banking77"
NOISE = 0.08  # share of messages that today's path gets wrong
SEED = 77  # the file is sorted by label; customers are not
LEDGER = Path("handled.csv")  # stands for a ticket system


class Message(NamedTuple):
    """One message, and the label that a person gave it."""

    text: str
    label: str


def described() -> dict[str, str]:
    """Read what each of the 77 labels means."""
    found: dict[str, str] = json.loads((DATA / "descriptions.json").read_text("utf-8"))
    return found


def messages() -> list[Message]:
    """Read the test set; always in the same order."""
    with (DATA / "test.csv").open(encoding="utf-8", newline="") as lines:
        rows = [Message(row["text"], row["label"]) for row in csv.DictReader(lines)]
    random.Random(SEED).shuffle(rows)  # noqa: S311 - an order is no secret
    return rows


try:
    INTENTS, MESSAGES = described(), messages()
except OSError as error:
    sys.exit(f"{error.filename}: {error.strerror}. POINTSMAN_DATA names the folder of banking77/")
LABELS = {message.text: message.label for message in MESSAGES}

gateway = Gateway.from_env()


@gateway.point("BANKING", Choice("What does the customer want?", INTENTS))
def route(message: str) -> str:
    """Stand in for the LLM call of today: wrong about the same messages in every run."""
    drawn = random.Random(hashlib.sha256(message.encode()).digest())  # noqa: S311 - no secret
    if drawn.random() >= NOISE:
        return LABELS[message]
    return drawn.choice([label for label in INTENTS if label != LABELS[message]])


class Handled(NamedTuple):
    """One line of the ledger: what became of a message."""

    row: int
    decision: str
    provider: str
    label: str


def play(rows: range) -> None:
    """Route *rows*, one message a session, note what became of each, and say who decided."""
    providers: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with LEDGER.open("a", encoding="utf-8", newline="") as lines:
        ledger = csv.writer(lines)
        for row in rows:
            with gateway.session(f"session-{row}"):
                decision = gateway.decide_sync(route, MESSAGES[row].text)
            ledger.writerow(Handled(row, decision.record.id, decision.provider, decision.value))
            providers[decision.provider] += 1
            if decision.record.fallback:
                reasons[f"{decision.record.variant}: {decision.record.reason}"] += 1
    print(f"{len(rows):,} messages: {_counted(providers)}")
    if reasons:
        print(f"not believed, so that current decided: {_counted(reasons)}")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.most_common())


def handled(rows: range) -> list[Handled]:
    """Read what became of *rows*; of a message that was routed twice, the second time."""
    with LEDGER.open(encoding="utf-8", newline="") as lines:
        read = [Handled(int(row), *rest) for row, *rest in csv.reader(lines)]
    return [one for one in {one.row: one for one in read}.values() if one.row in rows]


def tell(rows: range) -> None:
    """Tell the journal what was right, as a ticket system would when tickets are closed."""
    closed = handled(rows)
    right: Counter[str] = Counter()
    for one in closed:
        label = MESSAGES[one.row].label
        gateway.feedback(one.decision, label=label)
        right[one.provider] += one.label == label
    print(f"{len(closed):,} labels told; routed right: {right.total():,} ({_counted(right)})")


def write(rows: range, file: Path) -> None:
    """Write decisions and their labels as JSON lines."""
    told = [{"id": one.decision, "label": MESSAGES[one.row].label} for one in handled(rows)]
    file.write_text("".join(json.dumps(one) + "\n" for one in told), encoding="utf-8")
    print(f"{file}: {len(told):,} labels")


def span(text: str) -> range:
    """Read `FROM:TO`."""
    first, _, last = text.partition(":")
    rows = range(int(first or 0), int(last or len(MESSAGES)))
    if rows.start < 0 or rows.stop > len(MESSAGES) or not rows:
        raise ValueError(text)
    return rows


def options() -> argparse.ArgumentParser:
    """Give the options of this program."""
    parser = argparse.ArgumentParser(description="Route the messages of a bank's customers.")
    parser.add_argument("--rows", type=span, default=range(len(MESSAGES)), metavar="FROM:TO")
    labels = parser.add_mutually_exclusive_group()
    labels.add_argument("--feedback", action="store_true", help="tell the journal the labels")
    labels.add_argument("--labels", type=Path, metavar="FILE", help="write the labels")
    return parser


def main() -> None:
    """Play rows, or tell what was right about them."""
    given = options().parse_args()
    with gateway:  # when it is left, shadows have answered and the journal is written
        if given.feedback:
            tell(given.rows)
        elif given.labels is not None:
            write(given.rows, given.labels)
        else:
            play(given.rows)


if __name__ == "__main__":
    try:
        main()
    except PointsmanError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
