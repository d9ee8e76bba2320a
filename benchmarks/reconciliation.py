"""
How well rules reconcile sources that disagree: eight public sets whose right answers are known.

`POINTSMAN_DATA` names the folder of the sets. Every rule is given the same assertions in the same
shuffled orders: what the sources' order and the policy make of all of them together (`fold`), the
last write, the majority of sources, and the newcomer against the one in memory. `--json` prints
the figures for programs, `--markdown` writes the tables into the page in `docs/`, without the two
sets whose origin states no licence. Texts of the sets are never printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from points_accuracy import put, table
from reconciling.counting import Figures, clash, measured
from reconciling.reading import Told, told
from reconciling.sets import SETS, Wanted

PAGE = Path(__file__).parent.parent / "docs" / "facts-accuracy.md"
SHUFFLES = 100
HEADS = (
    *("coverage", "right when decided", "wrong", "disputes per 1,000", "right with a coin"),
    *("flips per fact", "order-instability", "µs per fact"),
)


def cells(name: str, one: Figures) -> list[str]:
    """Write a rule's row."""
    shares = (one.coverage, one.right_when_decided, one.wrong)
    return [
        name,
        *(f"{share:.3f}" for share in shares),
        f"{one.disputes:.0f}",
        f"{one.coin:.3f}",
        f"{one.flips:.2f}",
        f"{one.instability:.3f}",
        "–" if one.microseconds is None else f"{one.microseconds:.0f}",
    ]


def part(wanted: Wanted, found: Mapping[str, Figures], set_: Told) -> str:
    """Write a set's part of the page."""
    clashes = sum(map(clash, set_.facts.values()))
    said = sum(map(len, set_.facts.values()))
    head = f"### {wanted.name}\n\n{len(set_.facts):,} facts, {clashes:,} of them in conflict; "
    rules = [cells(f"**{name}**" if one.microseconds else name, one) for name, one in found.items()]
    return f"{head}{said:,} assertions.\n\n{table(('rule',), HEADS, rules)}\n"


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n", 1)[0])
    parser.add_argument("--set", action="append", help="one of the sets; again for more")
    parser.add_argument("--shuffles", type=int, default=SHUFFLES, help="orders of arrival")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--markdown", action="store_true", help=f"write them into {PAGE.name}")
    asked = parser.parse_args()
    data = os.environ.get("POINTSMAN_DATA")
    if not data:
        print("skipped: POINTSMAN_DATA does not name the folder of the test sets")
        return 0
    chosen = [one for one in SETS if not asked.set or one.files in asked.set]
    found, parts = dict[str, Any](), list[str]()
    for wanted in chosen:
        began = time.perf_counter()
        found[wanted.name] = measured(Path(data) / "facts", wanted, asked.shuffles)
        set_ = told(Path(data) / "facts", wanted, wanted.ways[0])
        if wanted.published or not asked.markdown:
            parts.append(part(wanted, found[wanted.name], set_))
        took = time.perf_counter() - began
        print(f"  {wanted.name}: {took:.1f} s", file=sys.stderr, flush=True)
    print(json.dumps(msgspec.to_builtins(found)) if asked.json else "\n".join(parts))
    if asked.markdown:
        put(PAGE, "\n".join(parts).strip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
