"""What a person sees of a run: progress while it goes, and what it came to."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from . import screen

if TYPE_CHECKING:
    from pathlib import Path

    from .summary import Quality, Summary


@contextmanager
def progress(rows: int, done: int) -> Generator[Callable[[object], None]]:
    """Draw a bar on stderr while rows are decided, if a person is there to see it."""
    console = screen.err()
    columns = (
        TextColumn("deciding"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as shown:
        task = shown.add_task("", total=rows, completed=done, speed="")

        def advance(_: object) -> None:
            speed = shown.tasks[0].speed
            shown.update(task, advance=1, speed=f"{speed:,.0f}/s" if speed else "")

        yield advance


def show(summary: Summary, point: str, path: Path) -> None:
    """Print what a run came to."""
    screen.line((point, "bold"), (f"  {path}", screen.FAINT))
    screen.pairs(_counts(summary))
    if summary.quality is not None:
        screen.line(("Top answers, whether believed or not", "bold"))
        screen.pairs(_quality(summary, summary.quality))


def _counts(summary: Summary) -> list[tuple[str, str | Text]]:
    def share(count: int, style: str = "") -> Text:
        return Text(f"{count:>7,}  {screen.percent(count, summary.rows)}", style if count else "")

    reasons = ", ".join(f"{name} {count:,}" for name, count in summary.reasons.items())
    models = ", ".join(f"{name} ({count:,})" for name, count in summary.models.items())
    there = summary.rows - summary.asked
    rows: list[tuple[str, str | Text]] = [
        ("rows", f"{summary.rows:>7,}{f'  ({there:,} were there already)' if there else ''}"),
        ("accepted", share(summary.accepted, screen.GOOD)),
        ("fallback", share(summary.fallback, screen.OTHER)),
        ("undecided", share(summary.undecided, screen.OTHER)),
        ("unanswered", share(summary.unanswered, screen.BAD)),
        ("not believed", reasons),
        ("model", models),
        ("speed", _speed(summary)),
        ("cost", screen.cost(summary.cost_usd)),
    ]
    optional = {"unanswered": summary.unanswered, "not believed": reasons, "model": models}
    return [(name, value) for name, value in rows if optional.get(name, True)]


def _speed(summary: Summary) -> str:
    if summary.per_second is None:
        return "nothing was left to ask"
    took = f"{summary.asked:,} in {screen.duration(summary.seconds)}"
    return f"{summary.per_second:,.0f} decisions a second ({took})"


def _quality(summary: Summary, quality: Quality) -> list[tuple[str, str | Text]]:
    right = f"{screen.percent(quality.right, quality.labelled)}"
    covered = screen.percent(quality.covered, quality.labelled)
    least = "" if quality.confidence is None else f", from confidence {quality.confidence:.3f} on"
    rows: list[tuple[str, str | Text]] = [
        ("right", f"{right}  ({quality.right:,} of {quality.labelled:,})"),
        ("coverage at 95 %", f"{covered}{least}"),
        ("", Text("found on these very rows: choose a threshold on others", screen.FAINT)),
    ]
    if summary.options is not None:
        rows.append(("options", _options(summary)))
    if quality.unknown:
        rows.append(("labels", f"{quality.unknown:,} are no option, and count as wrong"))
    return rows


def _options(summary: Summary) -> str:
    if summary.sentinel is None:
        return f"{summary.options}"
    return f"{summary.options}, with the sentinel {summary.sentinel!r} among them"
