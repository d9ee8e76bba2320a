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
from typing import Any, Self

import msgspec

from ...gateway.errors import DeclarationError
from .chain import KINDS, Entry, Mismatch, TranscriptError, verified
from .headers import headed, same_header
from .keeping import Header, Heads, Ledger, Lost
from .turns import Turn, same_turn, turn_of

__all__ = [
    "Entry",
    "Mismatch",
    "Transcript",
    "TranscriptError",
    "headed",
    "read",
    "same_header",
    "turn_of",
]

BROKEN_OFF = ("note", "cancelled")  # who goes on after it does not come to it again


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

    A file that can no longer be written, as on a full disk, costs nobody what was said: from there
    on the transcript is in memory alone, which a note `not kept` says, and the file ends with
    the last whole entry, from where it can be resumed.

    Attributes:
        unkept: Why entries are missing in the file; empty: none is.
        replays: Nothing new may be written.
        closed: The file was let go of.

    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        texts: bool = False,
        replays: bool = False,
        lost: Lost | None = None,
    ) -> None:
        self._ledger, self._texts, self.replays, self._lost = ledger, texts, replays, lost
        self._known: dict[tuple[str, str], Entry] = {}
        self._counted: Counter[str] = Counter()
        self._asked: set[tuple[str, str]] = set()
        self.closed, self.unkept = False, ""
        for entry in self.entries:
            self._know(entry)
        self._shift = self.entries[-1].at
        self._begun = _now()
        self._heed()

    @classmethod
    def begin(
        cls,
        path: Path | None,
        header: Header,
        *,
        texts: bool = False,
        lost: Lost | None = None,
    ) -> Self:
        """
        Begin a new one.

        Args:
            path: A file that does not exist yet; None: it is kept in memory alone.
            header: What the deliberation is: its `kind`, configuration, members, the hash of
                what it is about. Never a key, and no text that must not be kept.
            texts: What members are shown is kept too, not just its hash.
            lost: Is told, at most once, why the file is not, or no longer, written.

        Raises:
            TranscriptError: The file exists already, or cannot be written, and there is no *lost*
                to be told; with one it is kept in memory.

        """
        where = None if path is None else Path(path)
        ledger = Ledger.begun(where, header, lenient=lost is not None)
        return cls(ledger, texts=texts, lost=lost)

    @classmethod
    def resume(
        cls, path: Path, header: Header | Heads | None = None, *, texts: bool = False
    ) -> Self:
        """
        Go on with one; a last line that was cut off is dropped, and nothing else.

        One that was broken off before its header was whole is begun anew: nothing had been said.

        Args:
            path: The file.
            header: As given to `begin`, or what makes it; None: whatever it was.
            texts: As in `begin`.

        Raises:
            TranscriptError: It is damaged, or somebody else is writing it.
            Mismatch: It is the transcript of something else.

        """
        return cls(Ledger.gone_on_with(Path(path), header), texts=texts)

    @classmethod
    def replayed(cls, entries: Sequence[Entry]) -> Transcript:
        """Give one in memory that knows *entries*, and takes nothing else."""
        return cls(Ledger(entries), replays=True)

    @property
    def entries(self) -> Sequence[Entry]:
        """All of them, in the order in which they were written."""
        return self._ledger.entries

    @property
    def path(self) -> Path | None:
        """The file; None: it is kept in memory alone."""
        return self._ledger.path

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
            return same_turn(turn_of(known), turn)
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
        self._ledger.close()

    @property
    def unused(self) -> tuple[str, ...]:
        """Keys of what is recorded and has not been asked for again, as a replay should."""
        return tuple(
            f"{kind} {key}"
            for kind, key in self._known
            if (kind, key) not in self._asked
            and kind not in ("header", "late", "inbox")
            and (kind, key) != BROKEN_OFF
        )

    def _next(self, kind: str) -> str:
        number = self._counted[kind]
        self._counted[kind] += 1
        return f"#{number}"

    def _write(self, kind: str, body: Mapping[str, Any], key: str) -> Entry:
        if self.closed:
            raise TranscriptError.at(self.path, None, "it is closed", "Go on with it by `resume`")
        entry = self._ledger.write(kind, key, round(self.elapsed, 6), body)
        self._know(entry)
        self._heed()
        return entry

    def _heed(self) -> None:
        """Note that the file is not written any more, and tell whoever is to be told."""
        fault = self._ledger.fault
        if fault is None or self.unkept:
            return
        self.unkept = fault.faults[0].problem
        self.note(f"not kept: {self.unkept}")
        if self._lost is not None:
            self._lost(fault)

    def _know(self, entry: Entry) -> None:
        if entry.kind != "turn" or entry.body["ending"] != "cancelled":
            self._known[entry.kind, entry.key] = entry


def _now() -> float | None:
    """Give the loop's clock; None where there is none, as where a file is only read."""
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return None
