"""
The transcript: everything that happened in a deliberation, written down as it happens.

In memory, and in a file where a path is given: one line of canonical JSON an entry, appended at
once, so that whatever ends a deliberation early loses nothing that had ended before. Resumed, it
gives what it knows back: a turn that has ended is never asked for again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...gateway.errors import DeclarationError
from .chain import KINDS, START, Entry, Mismatch, TranscriptError, sealed, verified
from .files import Lines
from .headers import headed, same_header
from .turns import Turn

__all__ = [
    "Entry",
    "Mismatch",
    "Transcript",
    "TranscriptError",
    "headed",
    "read",
    "same_header",
]


def read(path: Path) -> list[Entry]:
    """
    Read a transcript and check it, line by line.

    Raises:
        TranscriptError: It cannot be read, or a line is not as it was written.

    """
    return verified(Path(path))


class Transcript:
    """
    What happened, in order; begun by `begin`, or gone on with by `resume`.

    Whatever depends on the time, on chance or on somebody's word goes through `entry`: where a
    resumed transcript knows it already, the recorded one counts.

    Attributes:
        entries: All of them, in the order in which they were written.
        path: The file; None: in memory alone.
        replays: Nothing new may be written.
        closed: The file was let go of.

    """

    def __init__(
        self,
        entries: Sequence[Entry] = (),
        lines: Lines | None = None,
        *,
        texts: bool = False,
        replays: bool = False,
    ) -> None:
        self.entries: list[Entry] = []
        self.path = None if lines is None else lines.path
        self._lines, self._texts, self.replays = lines, texts, replays
        self._known: dict[tuple[str, str], Entry] = {}
        self._counted: Counter[str] = Counter()
        self._asked: set[tuple[str, str]] = set()
        for entry in entries:
            self._hold(entry)
        self.closed = False
        self._shift = self.entries[-1].at if self.entries else 0.0
        self._begun = _now()

    @classmethod
    def begin(
        cls, path: Path | None, header: Mapping[str, Any], *, texts: bool = False
    ) -> Transcript:
        """
        Begin a new one.

        Args:
            path: A file that does not exist yet; None: it is kept in memory alone.
            header: What the deliberation is: its `kind`, configuration, members, the hash of
                what it is about. Never a key, and no text that must not be kept.
            texts: What members are shown is kept too, not just its hash.

        Raises:
            TranscriptError: The file exists already, or cannot be written.

        """
        made = cls((), None if path is None else Lines.created(Path(path)), texts=texts)
        if made._lines is not None:
            made.path = made._lines.path
        made.entry("header", headed(header))
        return made

    @classmethod
    def resume(
        cls, path: Path, header: Mapping[str, Any] | None = None, *, texts: bool = False
    ) -> Transcript:
        """
        Go on with one; a last line that was cut off is dropped, and nothing else.

        Args:
            path: The file.
            header: As given to `begin`; None: whatever it was.
            texts: As in `begin`.

        Raises:
            TranscriptError: It is damaged, or somebody else is writing it.
            Mismatch: It is the transcript of something else.

        """
        lines, entries = Lines.taken_over(Path(path))
        made = cls(entries, lines, texts=texts)
        try:
            if header is not None:
                same_header(made.header, headed(header))
        except Mismatch:
            made.release()
            raise
        return made

    @classmethod
    def replayed(cls, entries: Sequence[Entry]) -> Transcript:
        """Give one in memory that knows *entries*, and takes nothing else."""
        return cls(entries, replays=True)

    @property
    def header(self) -> Mapping[str, Any]:
        """What the deliberation is."""
        return self.entries[0].body

    @property
    def footer(self) -> Mapping[str, Any] | None:
        """How it ended; None: it has not, or was broken off."""
        last = self._known.get(("footer", "#0"))
        return None if last is None else last.body

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noted, in order."""
        return tuple(one.body["text"] for one in self.entries if one.kind == "note")

    @property
    def turns(self) -> tuple[Turn, ...]:
        """
        All turns, in the order in which they ended.

        Of one that was cancelled and asked for again, the later.
        """
        last = {(one.kind, one.key): one for one in self.entries if one.kind == "turn"}
        return tuple(turn_of(one) for one in last.values())

    @property
    def elapsed(self) -> float:
        """Seconds since the deliberation began; resumed, it goes on from its last entry."""
        now = None if self.replays else _now()
        if now is None:
            return self._shift
        if self._begun is None:  # begun before there was a loop
            self._begun = now
        return self._shift + now - self._begun

    def entry(self, kind: str, body: Mapping[str, Any], key: str = "") -> Mapping[str, Any]:
        """
        Write an entry; where it is known already, give what was recorded instead.

        Args:
            kind: One of `KINDS`.
            body: Plain JSON, structs too.
            key: Names it among those of its kind; absent: it is the next one without a name.

        Raises:
            Mismatch: It is replayed, and nothing of this key was recorded.
            DeclarationError: There is no such kind.

        """
        if kind not in KINDS:
            raise DeclarationError(f"a transcript has no entries of kind {kind!r}")
        named = key or self._next(kind)
        self._asked.add((kind, named))
        if (known := self._known.get((kind, named))) is not None:
            return known.body
        if self.replays:
            raise Mismatch.at_key(f"{kind} {named}", "the transcript holds no such entry")
        return self._write(kind, body, named).body

    def recorded(self, kind: str, key: str) -> Mapping[str, Any] | None:
        """Give the body of an entry that is known; None where it is not."""
        known = self._known.get((kind, key))
        return None if known is None else known.body

    def note(self, text: str) -> None:
        """Note *text*; the same one only once."""
        self.entry("note", {"text": text}, key=text)

    def ended(self, turn: Turn) -> Turn | None:
        """
        Give *turn* as it has ended already; None: it has to be asked for.

        Raises:
            Mismatch: It was shown something else; or it is replayed, and was not recorded.

        """
        known = self._known.get(("turn", turn.key))
        self._asked.add(("turn", turn.key))
        if known is not None:
            return _same_turn(turn_of(known), turn)
        if self.replays:
            raise Mismatch.at_key(turn.key, "the transcript holds no such turn")
        return None

    def turn(self, turn: Turn, shown: str) -> None:
        """Write a turn that has just ended."""
        body: dict[str, Any] = msgspec.to_builtins(turn)
        if self._texts:
            body["shown"] = shown
        self._write("turn", body, turn.key)

    def close(self, footer: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Write how it ended, and let go of the file; give what is recorded of it."""
        told = self.entry("footer", footer or {}, key="#0")
        self.release()
        return told

    def release(self) -> None:
        """Let go of the file, as where a deliberation is broken off; it may be resumed."""
        self.closed = True
        if self._lines is not None:
            self._lines.close()

    @property
    def unused(self) -> tuple[str, ...]:
        """Keys of what is recorded and has not been asked for again, as a replay should."""
        return tuple(
            f"{kind} {key}"
            for kind, key in self._known
            if (kind, key) not in self._asked and kind not in ("header", "late", "inbox")
        )

    def _next(self, kind: str) -> str:
        number = self._counted[kind]
        self._counted[kind] += 1
        return f"#{number}"

    def _write(self, kind: str, body: Mapping[str, Any], key: str) -> Entry:
        if self.closed:
            raise TranscriptError.at(self.path, None, "it is closed", "Go on with it by `resume`")
        last = self.entries[-1].hash if self.entries else START
        at = round(self.elapsed, 6)
        bare = Entry(n=len(self.entries), kind=kind, key=key, at=at, body=body)
        entry, line = sealed(last, bare)
        if self._lines is not None:
            self._lines.append(line)
        self._hold(entry)
        return entry

    def _hold(self, entry: Entry) -> None:
        self.entries.append(entry)
        if entry.kind != "turn" or entry.body["ending"] != "cancelled":
            self._known[entry.kind, entry.key] = entry


def turn_of(entry: Entry) -> Turn:
    """Read the turn that an entry holds."""
    return msgspec.convert(entry.body, Turn)


def _same_turn(known: Turn, turn: Turn) -> Turn:
    if known.prompt != turn.prompt:
        problem = f"it was shown {known.prompt[:12]}… there, and is shown {turn.prompt[:12]}… now"
        raise Mismatch.at_key(turn.key, problem)
    return known


def _now() -> float | None:
    """Give the loop's clock; None where there is none, as where a file is only read."""
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return None
