"""
What writing and folding facts costs, beside SQLite alone on the same rows in the same run.

    .venv/bin/python benchmarks/facts.py [--facts 100000]
"""

from __future__ import annotations

import argparse
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pointsman.decision_points.facts import FactStore

POLICY: dict[str, Any] = {
    "schema": 1,
    "attributes": {"name": {"type": "text"}, "price": {"type": "number", "locale": "en"}},
}
LEVELS = ["signed", "erp", "crm", "chat"]
REGISTRY: dict[str, Any] = {
    "schema": 1,
    "order": LEVELS,
    "sources": {f"s{n}": {"level": LEVELS[n % 4]} for n in range(8)},
}
TURNED = {**REGISTRY, "order": LEVELS[::-1]}
SHARE = 0.25  # of what SQLite alone does in a second
REFOLD = 60.0  # seconds for 100,000 facts with 8 assertions each
GROWTH = 200  # MB
LAST = "facts_log facts_heads facts_current facts_events"


def main() -> int:
    """Run all, print a line each, and end with 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--writes", type=int, default=20_000)
    parser.add_argument("--fold", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fold is not None:
        fold(given.fold)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        good = [writing(Path(folder), given.writes), folding(Path(folder), given.facts)]
    return 0 if all(good) else 1


def writing(folder: Path, count: int) -> bool:
    """One assertion after the other, each with all that it comes to in one transaction."""
    path = folder / "writes.db"
    with FactStore(path, policy=POLICY, registry=REGISTRY) as store:
        said = list(statements(count // 4, 4))
        store.assert_("first", "name", "x", source="s0")
        ours = timed(said, lambda one: store.assert_(one[0], "name", one[1], **one[2]))
        read = timed(said, lambda one: store.get(one[0], "name"))
    rows = tables(path)
    alone = raw(folder / "log.db", [[("facts_log", row)] for row in rows["facts_log"]])
    whole = raw(folder / "all.db", by_entry(rows))
    share = ours / alone
    line("one by one", f"{ours:,.0f}/s", f"{1e6 / ours:.0f} µs each")
    line("SQLite alone, the log's rows", f"{alone:,.0f}/s", f"{share:.2f} of it; bar {SHARE}")
    line("SQLite alone, every row of it", f"{whole:,.0f}/s", f"{ours / whole:.2f} of it")
    line("read", f"{read:,.0f}/s", f"{1e6 / read:.0f} µs each")
    return share >= SHARE


def folding(folder: Path, facts: int) -> bool:
    """Load, and fold everything again under another order."""
    with FactStore(folder / "fold.db", policy=POLICY, registry=REGISTRY) as store:
        entries = (store.entry(one[0], "name", one[1], **one[2]) for one in statements(facts, 8))
        began = time.perf_counter()
        loaded = store.load(entries)
        took = time.perf_counter() - began
        line("load", f"{loaded.new / took:,.0f}/s", f"{loaded.new:,} assertions, {took:.1f} s")

        took, growth = map(float, apart(folder / "fold.db").split())
        bar = REFOLD * facts / 100_000
        line("fold again, and write", f"{took:.1f} s", f"{facts:,} × 8; bar {bar:.0f} s")

        began = time.perf_counter()
        count = sum(1 for _ in store.facts())
        seen = time.perf_counter() - began
        line("fold again, and read", f"{seen:.1f} s", f"{count:,} readings")
        line("memory", f"+{growth:.0f} MB", f"at its peak, while folding; bar {GROWTH} MB")
    return took <= bar and growth <= GROWTH


def apart(path: Path) -> str:
    """Fold again in a process that did nothing before; give its seconds, and megabytes more."""
    command = [sys.executable, __file__, "--fold", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def fold(path: Path) -> None:
    """Fold everything under another order, and print what that took."""
    with FactStore(path) as store:
        store.get("customer 0", "name")
        before, began = peak(), time.perf_counter()
        store.adopt(registry=TURNED, by="benchmark")
        took = time.perf_counter() - began
    sys.stdout.write(f"{took} {peak() - before}\n")


def statements(facts: int, each: int) -> Iterable[tuple[str, str, dict[str, Any]]]:
    """Give what *each* sources say of every fact, round after round."""
    for n in range(each):
        for fact in range(facts):
            said = {"source": f"s{n}", "writer": "reader", "confidence": 0.5 + (n % 4) / 10}
            yield f"customer {fact}", f"name {(fact + n // 3) % 3}", said


def timed(said: list[Any], do: Callable[[Any], object]) -> float:
    """Say how often a second something is done."""
    began = time.perf_counter()
    for one in said:
        do(one)
    return len(said) / (time.perf_counter() - began)


def tables(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Read what was written."""
    with sqlite3.connect(path) as connection:
        return {
            name: connection.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608 - fixed names
            for name in LAST.split()
        }


def by_entry(rows: dict[str, list[tuple[Any, ...]]]) -> list[list[tuple[str, tuple[Any, ...]]]]:
    """Give what each entry wrote: its row, what its fact came to, its events, and the head."""
    facts = {row[1]: row for row in rows["facts_current"]}
    told: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows["facts_events"]:
        told.setdefault(row[1], []).append(row)
    (head,) = rows["facts_heads"]
    return [
        [
            ("facts_log", row),
            ("facts_current", facts[row[4]]),
            *(("facts_events", one) for one in told[row[1]]),
            ("facts_heads", head),
        ]
        for row in rows["facts_log"]
        if row[4]
    ]


def raw(path: Path, writes: list[list[tuple[str, tuple[Any, ...]]]]) -> float:
    """Write rows with nothing around them, each list in a transaction; say how many a second."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    with FactStore(path.with_suffix(".empty")) as empty:
        empty.get("x", "y")
    with sqlite3.connect(path.with_suffix(".empty")) as made:
        query = "SELECT sql FROM sqlite_master WHERE tbl_name LIKE 'facts_%' AND sql IS NOT NULL"
        for (told,) in made.execute(f"{query} ORDER BY type DESC"):
            connection.execute(told)
    texts = {
        name: f"INSERT OR REPLACE INTO {name} VALUES ({', '.join('?' * len(row))})"  # noqa: S608 - fixed names
        for name, row in {pair[0]: pair[1] for write in writes for pair in write}.items()
    }
    began = time.perf_counter()
    for write in writes:
        connection.execute("BEGIN IMMEDIATE")
        for name, row in write:
            connection.execute(texts[name], row)
        connection.execute("COMMIT")
    took = time.perf_counter() - began
    connection.close()
    return len(writes) / took


def peak() -> int:
    """Say how much memory the process has had at most, in MB; of a child without its parent's."""
    told = Path("/proc/self/status").read_text("utf-8")
    return int(told.partition("VmHWM:")[2].split()[0]) // 1024


def line(what: str, found: str, told: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{what:<32} {found:>12}   {told}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
