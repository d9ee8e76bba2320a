"""Progress of what may take long, where a person is there to see it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import Progress, TextColumn

from ....gateway.cli import screen


@contextmanager
def counting(what: str) -> Generator[Callable[[int], None]]:
    """Count *what* on stderr; the function given is told how many are done."""
    console = screen.err()
    columns = TextColumn(f"{{task.completed:,}} {what}"), TextColumn("{task.fields[speed]}")
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as shown:
        task = shown.add_task("", total=None, speed="")

        def advance(done: int) -> None:
            if hidden:
                return
            speed = shown.tasks[0].speed
            shown.update(task, completed=done, speed=f"{speed:,.0f}/s" if speed else "")

        yield advance
