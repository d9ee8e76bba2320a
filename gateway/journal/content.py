"""
What is kept of who and what was asked about, and how an entry becomes a row.

Runs on the journal's own thread: hashing, masking and the keys of questions cost the decision
nothing.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..errors import SetupError
from ..keys import Keys, spoken_language
from ..masking import Mask, masked
from ..points import DecisionPoint
from ..questions import Ask
from ..state import clean
from .entries import Decided, Entry, Shadowed
from .places import KEY as VARIABLE
from .rows import DecisionRow, Kept, Row, ShadowRow

Keep: TypeAlias = Literal["none", "hash", "full"]
Say: TypeAlias = Callable[..., None]
"""`say(level, event, **fields)`; never raises."""

SHORTEST = 16  # characters of a key; a shorter one is guessed, and with it every subject
DIGITS = 32  # hexadecimal, 128 bits of HMAC-SHA256: half of it, as RFC 2104 § 5 allows
_MADE = re.compile(r"[0-9a-f]{64}\n")


class Key:
    """
    The key of all hashes of one journal, read or made at first use.

    Args:
        given: What `DECISION_JOURNAL_KEY` says; it wins over the file.
        path: Where a key is made if none was given; None if none may be.
        journal: The file whose rows it hashes.

    Attributes:
        late: Whether it was made here while the journal was there already: what it holds was
            hashed with another key, if at all.

    Raises:
        SetupError: The given key is too short; the file is there and holds no key; or there is
            neither.

    """

    def __init__(self, given: str | None, path: Path | None, journal: Path | None = None) -> None:
        self._path = path
        self._journal = journal
        self.late = False
        self._bytes = given.encode() if given is not None else None
        if given is not None and len(given) < SHORTEST:
            raise SetupError.of(VARIABLE, f"it has fewer than {SHORTEST} characters", _how())
        if given is None and path is None:
            problem = "it is unset, and many hosts must share one key"
            raise SetupError.of(
                VARIABLE, problem, f"{_how()}, or set DECISION_JOURNAL_CONTENT=none"
            )
        if given is None and path is not None and path.exists():
            self._bytes = _read(path)

    @property
    def missing(self) -> bool:
        """Whether there is none yet; nothing is made by asking."""
        return self._bytes is None and self._path is not None and not self._path.exists()

    def hashed(self, kind: str, text: str) -> str:
        """
        Give the keyed hash of *text*; equal texts of two kinds have different ones.

        Raises:
            SetupError: The key's file holds no key.
            OSError: It can be neither read nor made.

        """
        told = f"{kind}\0{clean(text)}".encode()
        return hmac.digest(self.get(), told, "sha256").hex()[:DIGITS]

    def get(self) -> bytes:
        """
        Give the key, and make it where there is none yet.

        Raises:
            SetupError: Its file holds no key.
            OSError: It can be neither read nor made.

        """
        if self._bytes is None:
            assert self._path is not None
            there = self._journal is not None and self._journal.exists()
            self.late = _make(self._path) and there
            self._bytes = _read(self._path)
        return self._bytes


def _make(path: Path) -> bool:
    """
    Make the key's file, whole or not at all; False if it is there.

    Of two processes at once, the first one's counts.
    """
    if path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii", newline="\n") as file:  # noqa: PTH123 - a descriptor
            file.write(secrets.token_hex(32) + "\n")
            file.flush()
            os.fsync(descriptor)  # rows hashed with a key that a power cut took are of no use
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    return True


def _read(path: Path) -> bytes:
    text = path.read_bytes().decode("ascii", "replace")
    if not _MADE.fullmatch(text):
        problem = f"the file {path.name!r} beside the journal holds no whole key"
        fix = (
            f"Restore it, or {_how(first='set')}; rows with the lost key cannot be found by subject"
        )
        raise SetupError.of(VARIABLE, problem, fix)
    return text.strip().encode()


def _how(first: str = "Set") -> str:
    return f"{first} it to what `openssl rand -hex 32` prints"


MADE = "a key of the hashes was made beside a journal that was there before"
MADE_FIX = (
    "If that one had a key, restore its file, or the subjects are not found; if not, back up the "
    "new one with the journal"
)


class Content:
    """
    Makes rows of entries, and keeps of their content what the operator allows.

    `none` keeps neither subject nor state. `hash` keeps a keyed hash of both: enough to find a
    customer's decisions, to count each subject once and to see that two states are equal, and
    useless to whoever has the rows without the key. `full` keeps the state's text too, through
    the mask, since a replay needs something to ask about. It keeps the subject as a hash all
    the same: nothing that is done with a subject needs to know who it is.
    """

    def __init__(self, keep: Keep, key: Key | None, mask: Mask | None, say: Say) -> None:
        self._keep = keep
        self._key = key
        self._mask = mask
        self._say = say
        self._keys = Keys()
        self._told: set[str] = set()
        self._ready = False

    def __repr__(self) -> str:
        return f"Content({self._keep!r})"

    def ready(self) -> None:
        """
        Have the key at hand.

        Raises:
            SetupError: Its file holds no key.
            OSError: It can be neither read nor made.

        """
        if self._key is None or self._ready:
            return
        self._key.get()
        self._ready = True
        if self._key.late:
            self._say("warning", "journal.key_made", problem=MADE, fix=MADE_FIX)

    @property
    def keyless(self) -> bool:
        """Whether hashes are kept and their key is not there."""
        return self._key is not None and self._key.missing

    def subject(self, subject: str) -> str | None:
        """
        Give the hash that *subject* is known by; None where no subject is kept.

        Raises:
            SetupError: The key's file holds no key.
            OSError: It can be neither read nor made.

        """
        return None if self._key is None else self._key.hashed("subject", subject)

    def row(self, entry: Entry) -> Row:
        """Make what is written of *entry*."""
        if isinstance(entry, Decided):
            asked = self._asked(entry.point, entry.ask, entry.language)
            kept = self.kept(entry.ask, entry.subject)
            return DecisionRow(record=entry.record, kept=kept, **asked)
        if isinstance(entry, Shadowed):
            asked = self._asked(entry.point, entry.ask, entry.language)
            return ShadowRow(shadow=entry.shadow, **asked)
        return entry

    def _asked(self, point: DecisionPoint, ask: Ask | None, language: str) -> dict[str, Any]:
        told: dict[str, Any] = {"language": spoken_language(point, language)}
        if ask is not None:
            told["keys"] = self._keys.of(point, ask.questions, language)
        return told

    def kept(self, ask: Ask | None, about: str | None) -> Kept:
        """
        Give what may be kept of what was asked, and *about* whom.

        Raises:
            SetupError: The key's file holds no key.
            OSError: It can be neither read nor made.

        """
        if self._key is None:
            return Kept()
        subject = None if about is None else self.subject(about)
        if ask is None:
            return Kept(subject=subject)
        return Kept(
            subject=subject,
            digest=self._key.hashed("state", ask.text),
            state=self._masked(ask) if self._keep == "full" else None,
            structured=not isinstance(ask.state, str),
        )

    def _masked(self, ask: Ask) -> str | None:
        """Give the state's text as it may be kept; none where the mask fails."""
        try:
            return ask.text if self._mask is None else masked(ask, self._mask).text
        except BaseException as bug:  # noqa: BLE001 - a mask may raise anything, a panic too
            name = type(bug).__name__
            if name not in self._told:
                self._told.add(name)
                self._say("error", "journal.mask_failed", error=name)
            return None
