"""
Run every command of docs/rollout.md again, and write what it prints into the document.

    POINTSMAN_DATA=… python tools/rollout.py           # write
    POINTSMAN_DATA=… python tools/rollout.py --check   # say whether the document still holds

The commands run in the order of the document, in a folder of their own, 80 columns wide, without
colours; an `export` holds for all that follow. What comes out is the same in every run on one
machine, but for times, dates and ids, which `--check` passes over.

A comment `<!-- shows: A .. B; C +3 -->` before a block keeps of its last command's output the
lines from the one that begins with A up to the one that begins with B, and three from the one that
begins with C; an end of file where B is empty. What is left out is marked with […].
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "rollout.md"
PROGRAMS = ("rollout.py", "pick_examples.py")
BLOCK = re.compile(
    r"(?P<head>(?:<!-- shows: (?P<shows>[^\n]*) -->\n)?```console\n)(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PROMPT, LEFT_OUT, COLUMNS, SECONDS = "$ ", "[…]", 80, 600
OURS = ("DECISION_", "LOCAL_", "JEV_", "CURRENT_")
"""Prefixes of variables that the document sets itself."""

TIME = r"\d[\d.,]* (?:ms|s|min)\b"
VARYING = (
    (re.compile(rf"{TIME}(?: \[[\d.,–]+\])?"), "TIME"),
    (re.compile(r"^ *(?:\[[\d.,–]+\] *)+$\n", re.MULTILINE), ""),  # wrapped intervals of times
    (re.compile(r"\d{4}-\d\d-\d\d"), "DAY"),
    (re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{12,32}\b"), "ID"),
    (re.compile(r"─+"), "─"),  # rules are as long as times are wide
    (re.compile(r" +"), " "),
)


class Command(NamedTuple):
    """One command as it stands in the document, and what it printed there."""

    lines: tuple[str, ...]
    printed: tuple[str, ...]

    @property
    def shell(self) -> str:
        """What a shell is given."""
        return "\n".join(self.lines).removeprefix(PROMPT)


def commands(body: str) -> list[Command]:
    """Take the commands of a block; a line that ends with a backslash goes on in the next."""
    found: list[Command] = []
    going_on = False
    for line in body.splitlines():
        if line.startswith(PROMPT):
            found.append(Command((line,), ()))
        elif not found:
            sys.exit(f"{PAGE.name}: a block begins with {line!r} and not with a command")
        elif going_on:
            found[-1] = Command((*found[-1].lines, line), ())
        else:
            found[-1] = found[-1]._replace(printed=(*found[-1].printed, line))
        going_on = line.endswith("\\") and not found[-1].printed
    return found


def shown(printed: Sequence[str], shows: str | None) -> Iterator[str]:
    """
    Keep of *printed* what *shows* names.

    Exits where no line begins so: the document has to be read again.
    """
    if not shows:
        yield from printed
        return
    done = 0
    for span in shows.split(";"):
        start, stop = _span(printed, span.strip(), done)
        if start > done:
            yield LEFT_OUT
        yield from printed[start:stop]
        done = stop
    if done < len(printed):
        yield LEFT_OUT


def _span(printed: Sequence[str], span: str, done: int) -> tuple[int, int]:
    if counted := re.fullmatch(r"(.+) \+(\d+)", span):
        start = _line(printed, counted[1], done)
        return start, min(start + int(counted[2]), len(printed))
    first, _, last = span.partition("..")
    start = _line(printed, first.strip(), done)
    stop = _line(printed, last.strip(), start + 1) if last.strip() else len(printed)
    while not printed[stop - 1].strip():  # blank lines before what is left out
        stop -= 1
    return start, stop


def _line(printed: Sequence[str], beginning: str, done: int) -> int:
    for number in range(done, len(printed)):
        if printed[number].startswith(beginning):
            return number
    sys.exit(f"{PAGE.name}: nothing printed begins with {beginning!r}:\n" + "\n".join(printed))


class Run:
    """The commands of the document in one folder, one after the other."""

    def __init__(self, folder: Path, data: str) -> None:
        kept = {name: v for name, v in os.environ.items() if not name.startswith(OURS)}
        beside = os.path.dirname(sys.executable)  # noqa: PTH120 - of the path as it stands
        self._env = {
            **kept,
            "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}",
            "POINTSMAN_DATA": str(Path(data).resolve()),
            "COLUMNS": str(COLUMNS),
        }
        self._folder = folder
        self._exports: list[str] = []

    def block(self, match: re.Match[str]) -> str:
        """Give a block anew, with what its commands print now."""
        lines: list[str] = []
        given = commands(match["body"])
        for command in given:
            print(command.shell, file=sys.stderr, flush=True)
            printed = self._printed(command.shell)
            last = command is given[-1]
            lines += [*command.lines, *shown(printed, match["shows"] if last else None)]
        return f"{match['head']}" + "".join(f"{line}\n" for line in lines) + "```"

    def _printed(self, shell: str) -> list[str]:
        if re.match(r"(?:export|unset) ", shell):
            self._exports.append(shell)
            return []
        ran = subprocess.run(  # noqa: S602 - the document's own commands, for a shell
            "\n".join([*self._exports, shell]),
            shell=True,
            cwd=self._folder,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
            timeout=SECONDS,
        )
        if "Traceback (most recent call last)" in ran.stdout:
            sys.exit(f"{shell}\n{ran.stdout}")
        return ran.stdout.strip("\n").splitlines()


def anew(page: str, data: str) -> str:
    """Run all commands of *page* and give it with what they print."""
    with tempfile.TemporaryDirectory(prefix="rollout-") as folder:
        for program in PROGRAMS:
            shutil.copy(ROOT / "examples" / program, folder)
        return BLOCK.sub(Run(Path(folder), data).block, page)


def steady(page: str) -> list[str]:
    """Give the lines of *page* without what differs from run to run."""
    for pattern, word in VARYING:
        page = pattern.sub(word, page)
    return [line.rstrip() for line in page.splitlines()]


def main() -> None:
    """Write the document anew, or hold it against a run."""
    parser = argparse.ArgumentParser(description="Run the commands of docs/rollout.md again.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if it differs"
    )
    given = parser.parse_args()
    data = os.environ.get("POINTSMAN_DATA")
    if not data:
        sys.exit("POINTSMAN_DATA does not name the folder of banking77/")
    before = PAGE.read_text("utf-8")
    after = anew(before, data)
    if given.check:
        differing = [*difflib.unified_diff(steady(before), steady(after), lineterm="", n=1)]
        print("\n".join(differing) if differing else "The document holds.")
        sys.exit(bool(differing))
    PAGE.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
