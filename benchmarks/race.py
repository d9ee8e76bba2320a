"""
The race against the peers: one decision, one upstream, side by side in one run.

python benchmarks/race.py --install DIR     makes an environment for every peer below DIR
python benchmarks/race.py --peers DIR       the whole race; writes docs/benchmarks.md
python benchmarks/race.py --peers DIR --quick     a smoke of a minute; writes nothing

A peer that is not installed or does not start is listed as such. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from race.bars import bars
from race.cores import cores
from race.environments import install
from race.machine import facts
from race.page import page, terminal
from race.results import Length, Race
from race.running import libraries
from race.serving import servers
from race.upstream import upstream

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


WHOLE, QUICK = Length(40, 5, 4.0, 5.0), Length(4, 1, 2.0, 1.0)


def raced(peers: Path | None, length: Length, only: str) -> Race:
    """Run the race, or *only* the `libraries` or the `servers`."""
    on = cores()
    ran, absent = {}, {}
    served, missing = {}, {}
    with upstream(on.load) as port:
        base = f"http://127.0.0.1:{port}"
        if only != "servers":
            ran, absent = libraries(base, peers, on.measured, length.rounds)
        if only != "libraries":
            served, missing = servers(base, peers, on, length)
    return Race(ran, served, {**absent, **missing})


def options() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--install", type=Path, metavar="DIR", help="install the peers, and end")
    parser.add_argument("--peers", type=Path, metavar="DIR", help="where they are installed")
    parser.add_argument("--quick", action="store_true", help="a smoke; writes nothing")
    parser.add_argument("--only", choices=("libraries", "servers"), default="")
    parser.add_argument("--output", type=Path, help="where the page goes")
    return parser.parse_args()


def main() -> int:
    given = options()
    if given.install is not None:
        install(given.install)
        return 0
    told = facts(cores())  # before the race, which makes the machine busy
    race = raced(given.peers, QUICK if given.quick else WHOLE, given.only)
    print(terminal(race))
    output = given.output or (None if given.quick or given.only else PAGE)
    if output is not None:
        output.write_text(page(race, told, "python benchmarks/race.py --peers DIR"), "utf-8")
    return int(any(bar.met is False for bar in bars(race)))


if __name__ == "__main__":
    sys.exit(main())
