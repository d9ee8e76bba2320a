"""
The command `pointsman`.

It needs the extra `[cli]` (Typer and Rich), which is imported when the command runs and not
before. `app.py` holds the global options, `session.py` the gateway that sub-commands share,
one module each the sub-commands; plug-ins add theirs through the hook `pointsman_commands`.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

__all__ = ["main"]

NEEDED = frozenset({"click", "rich", "typer"})  # what the extra brings
MISSING = """\
The command needs Typer and Rich, which are not installed. Run:

    pip install "pointsman[cli]"
"""
USAGE, INTERRUPTED = 2, 130  # exit codes, as shells expect them


def main() -> None:
    """Run the command line, or say which extra it needs."""
    try:
        _never_fail_to_print()
        try:
            from .app import app
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in NEEDED:
                raise
            sys.stderr.write(MISSING)
            sys.exit(USAGE)
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        _flush()


def _flush() -> None:
    """Write what is left; where that fails it was told before, and Python need not say it too."""
    stream: TextIO | None = sys.stdout  # None where a shell closed it
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(USAGE)


def _never_fail_to_print() -> None:
    """Print `?` for what a terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
