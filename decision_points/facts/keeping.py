"""What is done to what was written: it is taken back, joined, erased, left out, ruled anew."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .entries import Adopted, Aliased, Asserted, Erased, Passed, Quarantined, Retracted
from .errors import Refused
from .keys import FactKey
from .policy import Policy, policy_of
from .registry import Registry, registry_of
from .stating import Time, named
from .times import instant
from .values.texts import unfit

if TYPE_CHECKING:
    from .ledger.ledger import Ledger
    from .ledger.view import View
    from .ledger.writing import Appended

Rules: TypeAlias = str | Path | Mapping[str, Any]
NOTHING: Mapping[str, str] = {}


class Keeping(ABC):
    """
    One namespace of facts, as its operator has it.

    Attributes:
        namespace: Nothing of another is seen (RF-79).

    """

    namespace: str
    _clock: Callable[[], int]

    @property
    @abstractmethod
    def ledger(self) -> Ledger:
        """The log and what is worked out from it, ready for use."""

    @contextmanager
    def view(self, *, known_at: Time | None = None) -> Generator[View]:
        """
        Look at everything at one moment.

        Args:
            known_at: As it was known then; None: as it is now.

        Raises:
            StoreDown: The database cannot be reached.

        """
        known = None if known_at is None else instant(known_at)
        with self.ledger.view(known_at=known) as view:
            yield view

    def key(
        self,
        entity: str | FactKey,
        attribute: str = "",
        qualifiers: Mapping[str, str] = NOTHING,
    ) -> FactKey:
        """
        Name a fact in canonical form.

        Raises:
            Refused: `bad_key`: it is no name.

        """
        with self.view() as view:
            return named(self.namespace, entity, attribute, qualifiers, view.settings.policy)

    # --- taking back -----------------------------------------------------------------------

    def retract(
        self,
        id: str,  # noqa: A002 - the entry's
        *,
        by: str,
        reason: str,
        key: FactKey | None = None,
    ) -> Appended:
        """
        Let an assertion, or another retraction, count as never made (RF-47).

        Args:
            id: Which.
            by: Who takes it back: its source, or one whom the registry lets.
            reason: Why.
            key: Its fact, where the assertion is still to come.

        Raises:
            Refused: `unknown_id`: there is none, and no key; `not_allowed`: by nobody who may.

        """
        with self.view() as view:
            about = view.key_of_entry(id) or key
            if about is None:
                fix = "Correct it, or name the fact too if the assertion is still to come"
                raise Refused("unknown_id", "there is no such assertion or retraction", fix)
            _allowed(view, id, by)
            entry = _retraction(view, Retracted(key=about, target=id, by=by, reason=reason))
        return self.ledger.append(entry)

    def erase(self, id: str, *, by: str, reason: str) -> Appended:  # noqa: A002 - the assertion's
        """
        Drop an assertion's content for good; its id is kept (RF-48).

        Everything that was worked out is worked out again, as if it had never been known. Where
        somebody reads for long meanwhile, SQLite's log keeps the content until the next write or
        until it is closed: then `notes` has `not_gone_yet`.

        Raises:
            Refused: `unknown_id`: there is no such assertion.

        """
        with self.view() as view:
            about = view.key_of_entry(id)
        if about is None:
            raise Refused("unknown_id", "there is no such assertion")
        ledger = self.ledger
        done = ledger.append(Erased(key=about, target=id, by=by, reason=reason))
        return done._replace(notes=("not_gone_yet",)) if ledger.untidy else done

    def quarantine(
        self,
        *,
        source: str = "",
        writer: str = "",
        since: Time | None = None,
        until: Time | None = None,
        by: str,
        reason: str = "",
    ) -> Appended:
        """
        Leave out what a source, or a writer, was taken in to say in a span of time (RF-22).

        Raises:
            Refused: `nothing_given`: nobody is named; `bad_interval`: nothing lies in the span.

        """
        if not (source or writer):
            raise Refused("nothing_given", "nobody is named", "Name a source, a writer or both")
        from_, to = (None if one is None else instant(one) for one in (since, until))
        if from_ is not None and to is not None and to <= from_:
            raise Refused("bad_interval", "it ends before it begins", "Correct since or until")
        entry = Quarantined(
            source=source,
            writer=writer,
            since=from_,
            until=to,
            by=by,
            reason=reason,
            at=self._clock(),
        )
        return self.ledger.append(entry)

    def lift(self, id: str, *, by: str, reason: str = "") -> Appended:  # noqa: A002 - the quarantine's
        """
        End a quarantine: what it left out counts again. Who wants it back makes another.

        Raises:
            Refused: `unknown_id`: there is no quarantine of this id; what ends one is none.

        """
        with self.view() as view:
            found = next((one for one in view.settings.quarantines if one.id == id), None)
            if found is None or not isinstance(found.entry, Quarantined) or found.entry.lifts:
                fix = "To end a lift, quarantine again"
                raise Refused("unknown_id", "there is no such quarantine", fix)
        return self.ledger.append(Quarantined(lifts=id, by=by, reason=reason, at=self._clock()))

    # --- rules -----------------------------------------------------------------------------

    def alias(self, entity: str, of: str, *, by: str) -> Appended:
        """
        Say that *entity* is the same as *of*: their facts are folded together from now on (RF-02).

        Raises:
            Refused: `bad_key`: one is no name, or both are the same.

        """
        one, other = self.key(entity, "alias"), self.key(of, "alias")
        if one.entity == other.entity:
            raise Refused("bad_key", "it is the same entity already", "Name two entities")
        return self.ledger.append(Aliased(entity=one.entity, of=other.entity, by=by))

    def adopt(
        self,
        policy: Rules | Policy | None = None,
        registry: Rules | Registry | None = None,
        *,
        by: str,
        reason: str = "",
    ) -> Appended:
        """
        Fold under another policy or registry from now on (RF-20, RF-71).

        Args:
            policy: A file, its tables, or a policy; None: as it is.
            registry: A file, its tables, or a registry; None: as it is.
            by: Who adopts it.
            reason: Why.

        Raises:
            SetupError: One is faulty; every fault is listed.

        """
        rules = None if policy is None else policy_of(policy)
        sources = None if registry is None else registry_of(registry)

        def make(view: View) -> Adopted:  # under the lock: others may adopt the other half
            now = view.settings
            return Adopted(
                policy=(rules or now.policy).plain(),
                registry=(sources or now.registry).plain(),
                by=by,
                reason=reason,
                at=max(self._clock(), now.adopted + 1),
            )

        return self.ledger.make(make)

    def advance(self) -> int:
        """
        Note for every fact whose time has come that it has: it may be another by now.

        Returns:
            How many facts they were.

        """
        at = self._clock()
        with self.view() as view:
            due = view.due(at)
        for key, time in due:
            self.ledger.append(Passed(key=key, at=time))
        return len(due)


def _allowed(view: View, id_: str, by: str) -> None:
    """Refuse what is plainly not allowed; the fold judges again, by the registry of its time."""
    found = view.entry(id_)
    while found is not None and isinstance(found.entry, Retracted):
        if found.entry.by == by:  # who took it back may bring it back
            return
        found = view.entry(found.entry.target)
    if found is None or not isinstance(found.entry, Asserted):
        return
    if not view.settings.registry.may(by, found.entry.assertion.source):
        fix = "Its source may, and actors whom the registry's [actors] let"
        raise Refused("not_allowed", f"{by[:60]!r} may not take it back", fix)


def _retraction(view: View, entry: Retracted) -> Retracted:
    """Give the retraction to write: one that counts already, else one that was not there yet."""
    from msgspec.structs import replace

    for what, text in (("by", entry.by), ("reason", entry.reason)):
        if found := unfit(text):
            raise Refused("bad_text", f"{what} {found}", "Write what people can read")
    story = [one for one in view.story(entry.key) if isinstance(one.entry, Retracted)]

    takers: dict[str, list[str]] = {one.id: [] for one in story}
    for one in story:
        if isinstance(one.entry, Retracted):
            takers.setdefault(one.entry.target, []).append(one.id)
    while entry.id in takers and not _stands(entry.id, takers):
        entry = replace(entry, again=entry.again + 1)
    return entry


def _stands(id_: str, takers: Mapping[str, list[str]]) -> bool:
    """Whether nothing that stands takes it back; chains may be longer than Python's stack."""
    found: dict[str, bool] = {}
    waiting = [id_]
    while waiting:
        before = takers.get(waiting[-1], [])
        if left := [one for one in before if one not in found]:
            waiting.extend(left)
        else:
            found[waiting.pop()] = not any(found[one] for one in before)
    return found[id_]
