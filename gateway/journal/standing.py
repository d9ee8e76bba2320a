"""
What stands of the decisions that are made once, for every process that shares the journal.

Unlike all other rows these are not spooled: one is in the database before the host is told, and
of two processes the first one's counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import SetupError
from ..standing.stood import Claim, Stood
from .content import Key
from .places import KEY
from .troubles import StoreDown

if TYPE_CHECKING:
    from pathlib import Path

    from .store import Store

WORDS = 200  # characters of a point's name in its column; the body keeps all of it

_decode = msgspec.json.Decoder(Stood).decode


class Ledger:
    """
    Reads and writes what stands; no argument of a call and no subject is in it.

    Args:
        store: The journal's database.
        key: Of the hash that a call is found by.
        subjects: Whether rows are kept by subject, so that they can be forgotten.

    """

    def __init__(self, store: Store, key: Key, *, subjects: bool) -> None:
        self._store = store
        self._key = key
        self._subjects = subjects

    def find(self, identity: str) -> Stood | None:
        """
        Give what stands of the call of this *identity*; None: nothing does.

        Raises:
            StoreDown: The database cannot be reached, or what it holds cannot be read.
            SetupError: It cannot be used, or its key holds none.
            OSError: The key can be neither read nor made.

        """
        body = self._store.standing(self._key.hashed("standing", identity))
        return None if body is None else _decoded(body)

    def claim(self, claim: Claim) -> Stood:
        """
        Let what is claimed stand, unless something does already; give what stands.

        That current was to carry on gives way, once, to what came of it.

        Raises:
            StoreDown: The database cannot be reached, or what it holds cannot be read; nothing
                was written, or all of it was.
            SetupError: It cannot be used, or its key holds none.
            OSError: The key can be neither read nor made.

        """
        row = self._row(claim)
        body = self._store.stand(row)
        stood = _decoded(body)
        if stood.how == "carries_on" and claim.stood.how != "carries_on":
            stood = _decoded(self._store.stand(row, over=body))
        return stood

    def _row(self, claim: Claim) -> dict[str, Any]:
        record, known_as = claim.stood.record, None
        if self._subjects and claim.subject is not None:
            known_as = self._key.hashed("subject", claim.subject)
        return {
            "id": self._key.hashed("standing", claim.identity),
            "decision": record.id,
            "at": record.at,
            "point": record.point[:WORDS].replace("\0", ""),
            "subject": known_as,
            "body": claim.written.decode(),
        }


def _decoded(body: str) -> Stood:
    try:
        return _decode(body)
    except msgspec.MsgspecError:
        problem = "what stands in it was altered, or written by a later version"
        fix = "Let all processes run one version, or remove that row"
        raise StoreDown(problem, fix) from None


def key_for(given: str | None, path: Path | None) -> Key:
    """
    Give the key of a journal that keeps neither subjects nor states.

    Args:
        given: What `DECISION_JOURNAL_KEY` says.
        path: Where one is made if none was given; None if none may be.

    Raises:
        SetupError: There is neither.

    """
    if given is None and path is None:
        problem = "it is unset, and what stands is found by its hash on every host"
        raise SetupError.of(KEY, problem, "Set it to what `openssl rand -hex 32` prints")
    return Key(given, path)
