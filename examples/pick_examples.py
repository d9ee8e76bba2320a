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


def main(file: str, count: str, target: str) -> None:
    """Write up to *count* rows of each label of *file* to *target*."""
    seen: Counter[str] = Counter()
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    with Path(file).open(encoding="utf-8", newline="") as rows, Path(target).open("w") as written:
        for row in csv.DictReader(rows):
            seen[row["label"]] += 1
            if seen[row["label"]] <= int(count):
                example = {"text": row["text"], "label": row["label"]}
                written.write(json.dumps(example, ensure_ascii=False) + "\n")
    print(
        f"{target}: {sum(min(n, int(count)) for n in seen.values())} examples, {len(seen)} labels"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
