"""Where entries are kept: in memory, and in a file for as long as that can be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ...gateway.telemetry import Telemetry
from .chain import START, Entry, TranscriptError, sealed
from .files import Lines
from .headers import headed, same_header

if TYPE_CHECKING:
    from ...gateway.plugins import Setup

Lost: TypeAlias = Callable[[TranscriptError], None]
"""Is told why a transcript is not, or no longer, written to its file."""

Header: TypeAlias = Mapping[str, Any]
Heads: TypeAlias = Callable[[Header | None], Header]
"""Makes a header of the recorded one, or of None where none was written to its end."""


class Ledger:
    """
    Sealed entries, in order.

    A file that can no longer be written, as on a full disk, costs nobody what was said: from there
    on entries are kept in memory alone, and the file ends with the last whole one.

    Attributes:
        entries: All of them.
        path: The file; None: there is none.
        fault: What keeps entries from the file; None: nothing.

    """

    def __init__(self, entries: Sequence[Entry] = (), lines: Lines | None = None) -> None:
        self.entries, self._lines = list(entries), lines
        self.path = None if lines is None else lines.path
        self.fault: TranscriptError | None = None

    @classmethod
    def begun(cls, path: Path | None, header: Header, *, lenient: bool = False) -> Ledger:
        """
        Begin one with its header.

        Args:
            path: A file that does not exist yet; None: in memory alone.
            header: What the deliberation is.
            lenient: Where the file cannot be begun, it is kept in memory instead.

        Raises:
            TranscriptError: The file exists already, or cannot be written.

        """
        told = headed(header)
        try:
            made = cls((), None if path is None else Lines.created(path))
        except TranscriptError as fault:
            if not lenient:
                raise
            made = cls()
            made.fault = fault
        made.write("header", "#0", 0.0, told)
        if made.fault is not None and not lenient:
            raise made.fault
        return made

    @classmethod
    def gone_on_with(cls, path: Path, header: Header | Heads | None) -> Ledger:
        """
        Go on with the one in a file, or begin it anew where not even its header is whole.

        Raises:
            TranscriptError: It is damaged, or somebody else is writing it.
            Mismatch: It is the transcript of something else.

        """
        lines, entries = Lines.taken_over(path)
        try:
            made = cls(entries, lines)
            known = entries[0].body if entries else None
            wanted = header(known) if callable(header) else header
            if known is None:
                made.write("header", "#0", 0.0, headed(_given(path, wanted)))
            elif wanted is not None:
                same_header(known, headed(wanted))
        except BaseException:
            lines.close()
            raise
        if made.fault is not None:  # the file is closed then
            raise made.fault
        return made

    def write(self, kind: str, key: str, at: float, body: Mapping[str, Any]) -> Entry:
        """Seal an entry behind the last one, and write it down at once."""
        last = self.entries[-1].hash if self.entries else START
        bare = Entry(n=len(self.entries), kind=kind, key=key, at=at, body=body)
        entry, line = sealed(last, bare)
        try:
            if self._lines is not None:
                self._lines.append(line)
        except TranscriptError as fault:
            self.close()
            self.fault, self._lines = fault, None
        self.entries.append(entry)
        return entry

    def close(self) -> None:
        """Let go of the file; it may be called again."""
        if self._lines is not None:
            self._lines.close()


def _given(path: Path, header: Header | None) -> Header:
    if header is None:
        problem = "it does not begin with a header"
        raise TranscriptError.at(path, 1, problem, "Begin it anew: nothing had been said")
    return header


class Alarm:
    """
    Tells the operator, once for each provider, that its transcripts are not kept.

    The event is `deliberation.transcript_lost`, with the provider and the system's own word.
    """

    def __init__(self, setup: Setup) -> None:
        self._say = Telemetry(setup.settings.globals.log, ()).said
        self._name, self._told = setup.name, False

    def __call__(self, fault: TranscriptError) -> None:
        """Tell of *fault*, unless one has been told of."""
        if not self._told:
            said = {"provider": self._name, "problem": fault.faults[0].problem}
            self._say("error", "deliberation.transcript_lost", said)
        self._told = True
