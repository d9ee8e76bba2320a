"""The page `docs/benchmarks.md`, and the same tables for the terminal: no number by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from .bars import Bar, added, bars
from .entries import LIBRARIES
from .method import INTRODUCTION, METHOD
from .results import Race, Served
from .servers import SERVERS
from .serving import CONNECTIONS, NOTHING_BETWEEN

_LIBRARY_HEAD = ("contestant", "version", "way", "added", "least", "median", "wall")
_SERVER_HEAD = ("server", "version", "req/s", "req per CPU s", "p50 ms", "p99 ms", "errors")
_NONE = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Write a table that reads well in Markdown and on a terminal: *left* columns of words."""
    lines = [head, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        words = (cell.ljust(width) for cell, width in zip(cells[:left], widths, strict=False))
        numbers = (
            cell.rjust(width) for cell, width in zip(cells[left:], widths[left:], strict=True)
        )
        return f"| {' | '.join((*words, *numbers))} |"

    rule = [
        "-" * width if at < left else "-" * (width - 1) + ":" for at, width in enumerate(widths)
    ]
    return "\n".join([line(head), line(rule), *map(line, lines[1:])])


def library_rows(race: Race) -> list[tuple[str, ...]]:
    """Write a row for each library and way; absent ones are rows too."""
    rows: list[tuple[str, ...]] = []
    for key, library in LIBRARIES.items():
        ran = race.libraries.get(key)
        if ran is None:
            continue
        for way, cost in ran.costs.items():
            more = added(race, key, way)
            own = library.beside == key or more is None
            wrong = f" ({cost.wrong} wrong)" if cost.wrong else ""
            figures = (cost.least, cost.median, cost.wall_median)
            told = _NONE if own else f"{more:+.1f}"
            rows.append((library.title + wrong, ran.version, way, told, *map(_micro, figures)))
    return rows


def _micro(figure: float) -> str:
    return f"{figure:.2f}" if figure < 10 else f"{figure:.1f}"


def server_rows(race: Race) -> list[tuple[str, ...]]:
    """Write a row for each server that took part, and for the upstream alone."""
    titles = {NOTHING_BETWEEN: NOTHING_BETWEEN, **{key: one.title for key, one in SERVERS.items()}}
    return [_served(titles[key], served) for key, served in race.servers.items()]


def _served(title: str, served: Served) -> tuple[str, ...]:
    per_cpu = served.per_cpu_second
    return (
        title,
        served.version or _NONE,
        f"{served.per_second:.0f}",
        _NONE if per_cpu is None else f"{per_cpu:.0f}",
        _milli(served.latency(0.5)),
        _milli(served.latency(0.99)),
        str(served.errors),
    )


def _milli(seconds: float) -> str:
    return _NONE if math.isnan(seconds) else f"{seconds * 1000:.1f}"


def bar_rows(judged: Iterable[Bar]) -> list[tuple[str, ...]]:
    """Write a row for each bar."""
    return [(bar.what, bar.told, bar.bar, bar.verdict) for bar in judged]


def tables(race: Race) -> dict[str, str]:
    """Write all tables, by heading."""
    written = {"Bars": table(("what", "measured", "bar", "verdict"), bar_rows(bars(race)), 4)}
    if race.libraries:
        written["Libraries, µs per decision"] = table(_LIBRARY_HEAD, library_rows(race))
    if race.servers:
        written[f"Servers, {CONNECTIONS} connections"] = table(_SERVER_HEAD, server_rows(race))
    if race.absent:
        rows = sorted(race.absent.items())
        written["Absent"] = table(("contestant", "why"), rows, 2)
    return written


def terminal(race: Race) -> str:
    """Write the tables for a terminal."""
    return "\n\n".join(f"{heading}\n{text}" for heading, text in tables(race).items())


def page(race: Race, facts: dict[str, str], command: str) -> str:
    """Write the whole page."""
    sections = [f"## {heading}\n\n{text}" for heading, text in tables(race).items()]
    where = table(("what", "value"), list(facts.items()), 2)
    method = "\n".join(f"{number}. {line}" for number, line in enumerate(METHOD, 1))
    return "\n\n".join(
        [
            "# Benchmarks",
            INTRODUCTION.format(command=command),
            *sections,
            f"## Machine\n\n{where}",
            f"## Method\n\n{method}\n",
        ]
    )
