"""
Pick the first rows of each label of a CSV as examples for `local`.

    python examples/pick_examples.py train.csv 10 examples/ROUTER.jsonl

Then `LOCAL_EXAMPLES=examples pointsman run …` decides with them.
"""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

USAGE = "usage: python examples/pick_examples.py FILE.csv COUNT TARGET.jsonl"
NEEDED = ("text", "label")  # columns


def picked(file: str, count: int) -> list[dict[str, str]]:
    """Read up to *count* rows of each label of *file*."""
    seen: Counter[str] = Counter()
    chosen: list[dict[str, str]] = []
    with Path(file).open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines)
        lacking = [name for name in NEEDED if name not in (rows.fieldnames or [])]
        if lacking:
            sys.exit(f"{file}: there is no column {lacking[0]!r}; its heading needs text,label")
        for row in rows:
            seen[row["label"]] += 1
            if seen[row["label"]] <= count:
                chosen.append({name: row[name] for name in NEEDED})
    return chosen


def main(file: str, count: int, target: str) -> None:
    """Write what was picked from *file* to *target*, which stays as it is if nothing was."""
    try:
        examples = picked(file, count)
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{file}: it cannot be read ({error})")
    if not examples:
        sys.exit(f"{file}: it has no rows")
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(example, ensure_ascii=False) + "\n" for example in examples]
    Path(target).write_text("".join(lines), encoding="utf-8")
    print(f"{target}: {len(lines)} examples, {len({one['label'] for one in examples})} labels")


if __name__ == "__main__":
    given = sys.argv[1:]
    if len(given) != 3 or not given[1].isdecimal() or int(given[1]) < 1:  # noqa: PLR2004 - as USAGE says
        sys.exit(USAGE)
    main(given[0], int(given[1]), given[2])
