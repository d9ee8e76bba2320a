"""
Facts as tools of an agent: typed functions, which any server or framework can offer.

`pointsman mcp` offers them over the Model Context Protocol. Whose word is written down, and who
wrote it, comes from `FACTS_SOURCE` and `FACTS_WRITER`: a model cannot speak for another (RF-09).
What was refused is told as data, so that a model can mend it; what others wrote is data too, and
is shown on one line, cut where it is long (RF-81).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ....gateway.errors import SetupError
from ..errors import FactsError, Refused

if TYPE_CHECKING:
    from ..store import FactStore

MOST = 50  # disputes that are listed at once


class FactTools:
    """
    The tools, over one store.

    Args:
        store: Where facts are kept; or what opens it at the first call.
        source: Whose word is written down; empty: nothing can be asserted.
        writer: Who writes it.
        language: Of texts for people and prompts: `en` or `pt`.

    """

    def __init__(
        self,
        store: FactStore | Callable[[], FactStore],
        *,
        source: str = "",
        writer: str = "",
        language: str = "en",
    ) -> None:
        self._given, self._language = store, language
        self._source, self._writer = source, writer
        self._lock = threading.Lock()

    def every(self) -> Mapping[str, Callable[..., dict[str, Any]]]:
        """Name → tool."""
        return {
            "assert_fact": self.assert_fact,
            "get_fact": self.get_fact,
            "explain_fact": self.explain_fact,
            "list_disputes": self.list_disputes,
        }

    def assert_fact(  # noqa: PLR0913 - what can be said of a statement
        self,
        entity: str,
        attribute: str,
        value: str | None = None,
        *,
        qualifiers: dict[str, str] | None = None,
        kind: Literal["value", "unknown", "ended", "deny"] = "value",
        evidence: Literal["explicit", "inferred", "absence", "derived"] = "explicit",
        confidence: float | None = None,
        observed_at: str | None = None,
        valid_from: str | None = None,
        valid_to: str | None = None,
        source_ref: str = "",
        derived_from: list[str] | None = None,
    ) -> dict[str, Any]:
        """
        Write down what was read about a fact; the reply says how the fact stands now.

        Nothing is overwritten: where sources disagree, their declared order decides, or the fact
        is disputed. Another value from the same source needs a later observed_at.

        Args:
            entity: What the fact is about: an id, as in `acme` or `contract:c-17`.
            attribute: What is said of it, as in `price`.
            value: As it was written, byte for byte; left out where kind is not `value`.
            qualifiers: What tells one such fact from another: a contract, a period, a region.
            kind: `unknown`, `ended` or `deny` say that there is no value to give.
            evidence: Whether it was said, inferred, concluded from silence, or derived.
            confidence: How sure the reading is, from 0 to 1.
            observed_at: When the source said so: ISO date or time.
            valid_from: From when it holds: ISO date or time.
            valid_to: Until when it holds, exclusive: ISO date or time.
            source_ref: Where in the source it stands.
            derived_from: Facts that it was derived from, written as `get_fact` writes `fact`.

        """
        said: dict[str, Any] = {
            "kind": kind,
            "evidence": evidence,
            "confidence": confidence,
            "observed_at": observed_at,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "source_ref": source_ref,
            "derived_from": derived_from or (),
        }
        return self._told(lambda: self._asserted(entity, attribute, value, qualifiers, said))

    def get_fact(
        self,
        entity: str,
        attribute: str,
        qualifiers: dict[str, str] | None = None,
        valid_at: str | None = None,
        known_at: str | None = None,
    ) -> dict[str, Any]:
        """
        Read a fact: its value if it is resolved, or who says what if it is disputed.

        Where `status` is not `resolved` there is no value to rely on, and none of the candidates
        may be taken for it.

        Args:
            entity: What the fact is about.
            attribute: What is said of it.
            qualifiers: What tells one such fact from another.
            valid_at: As of which time in the world; left out: now.
            known_at: As of what was known when; left out: now.

        """

        def read() -> dict[str, Any]:
            from .plainly import as_json

            found = self._store.get(
                entity,
                attribute,
                qualifiers=qualifiers or {},
                valid_at=valid_at,
                known_at=known_at,
            )
            return as_json(found, self._language)

        return self._told(read)

    def explain_fact(
        self, entity: str, attribute: str, qualifiers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """
        Explain a fact: who said what, what decided, and what lost against what.

        Args:
            entity: What the fact is about.
            attribute: What is said of it.
            qualifiers: What tells one such fact from another.

        """

        def explained() -> dict[str, Any]:
            import msgspec

            found = self._store.explain(entity, attribute, qualifiers=qualifiers or {})
            return {"sentence": found.sentence(self._language), **msgspec.to_builtins(found)}

        return self._told(explained)

    def list_disputes(self, limit: int = 20) -> dict[str, Any]:
        """
        List facts that are in dispute, the most urgent first.

        Args:
            limit: How many, from 1 to 50.

        """

        def listed() -> dict[str, Any]:
            from .plainly import dispute_as_json

            store = self._store
            found = list(store.disputes.list())[: max(1, min(limit, MOST))]
            return {"disputes": [dispute_as_json(it, store.get(it.key).spelt) for it in found]}

        return self._told(listed)

    def _asserted(
        self,
        entity: str,
        attribute: str,
        value: str | None,
        qualifiers: dict[str, str] | None,
        said: Mapping[str, Any],
    ) -> dict[str, Any]:
        from .plainly import as_json
        from .saying import say

        written = say(
            self._store,
            (entity, attribute, qualifiers or {}),
            {**said, "value": value},
            (self._spoken, self._writer),
        )
        found = as_json(self._store.get(written.key), self._language)
        return {"id": written.id, "new": written.new, "notes": list(written.notes), **found}

    @property
    def _spoken(self) -> str:
        """Whose word it is; of the environment once the store is open."""
        if not self._source:
            problem = "tools have no source to write under"
            raise SetupError.of("FACTS_SOURCE", problem, "Set it to whose word agents write down")
        return self._source

    @property
    def _store(self) -> FactStore:
        with self._lock:
            if callable(self._given):
                self._given = self._given()
            return self._given

    @staticmethod
    def _told(made: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        from .plainly import harmless

        try:
            found: dict[str, Any] = harmless(made())
        except Refused as error:
            return {"refused": error.code, "problem": error.problem, "fix": error.fix}
        except FactsError as error:
            return {"refused": type(error).__name__, "problem": str(error), "fix": ""}
        return found


class _Configured(FactTools):
    """The tools of the environment: variables are read, and the store opened, at the first call."""

    def __init__(self) -> None:
        super().__init__(self._opened)

    def _opened(self) -> FactStore:
        from ..settings import facts_settings
        from ..store import FactStore

        values = _variables()
        told = facts_settings(values)
        self._source, self._writer = told.source, told.writer
        return FactStore.from_env(values)


def _variables() -> Mapping[str, str]:
    """Read the variables as `pointsman mcp` does: `.env` too, and a journal beside the project."""
    from ....gateway.cli.beside import HERE
    from ....gateway.environment import Environment
    from ....gateway.journaling import JOURNAL

    file = Path(".env")
    return {JOURNAL: HERE, **Environment.read(None, file if file.is_file() else None).values}


def configured() -> Mapping[str, Callable[..., dict[str, Any]]]:
    """Name → tool, of what the environment says at the first call."""
    return _Configured().every()
