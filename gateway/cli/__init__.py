"""
The command `pointsman`.

It needs the extra `[cli]` (Typer and Rich), which is imported when the command runs and not
before. `app.py` holds the global options, `session.py` the gateway that sub-commands share,
one module each the sub-commands; plug-ins add theirs through the hook `pointsman_commands`.
"""

from __future__ import annotations

import io
import sys

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


def _never_fail_to_print() -> None:
    """Print `?` for what a terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
