"""Where a decision goes once it is made: to the log and observers, the journal, its shadows."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from .background import Background, Job
from .cases import Case
from .chance import new_id
from .errors import DeclarationError, SetupError
from .journaling import JOURNAL
from .questions import Ask, Outcome
from .records import Record, Shadow
from .state import clean

if TYPE_CHECKING:
    from .inbox.inbox import Inbox
    from .journal.journal import Journal
    from .journal.rows import FeedbackRow
    from .telemetry import Telemetry
    from .tracing.tracing import Tracing
    from .wiring import Wiring

ID = re.compile(r"[0-9a-f]{32}")
WAITS = (0.0, 0.3, 0.3)  # seconds; rows of other processes reach the database in about 0.15


class Keeper:
    """
    Tells, keeps and shadows the decisions of one gateway.

    Args:
        telemetry: The log and the observers.
        journal: Keeps records; None: nothing is kept.
        background: Asks shadows.
        inbox: Where questions wait for a person; None: nowhere.

    """

    def __init__(
        self,
        telemetry: Telemetry,
        journal: Journal | None,
        background: Background,
        inbox: Inbox | None = None,
    ) -> None:
        self._telemetry = telemetry
        self._background = background
        self.journal, self.inbox = journal, inbox
        self._tracing: Tracing | None = None
        self.watched = journal is not None or telemetry.observed

    def traced_by(self, tracing: Tracing | None) -> None:
        """Let *tracing* see shadows too; who traces watches all decisions."""
        self._tracing = tracing
        kept = self.journal is not None or self._telemetry.observed
        self.watched = kept or tracing is not None

    def decided(self, wiring: Wiring, case: Case, record: Record, value: object = None) -> None:
        """Take a decision that is made, or has failed; *value* is what the host gets."""
        self._telemetry.decided(record)
        if self.journal is not None or case.besides:
            self._kept(wiring, case, record, value)

    def consulted(self, record: Record) -> None:
        """Take a consultation in vain: what current does then is told later."""
        self._telemetry.decided(record)

    def observed(self, wiring: Wiring, case: Case, record: Record, value: object = None) -> None:
        """Take what current did, beside a consultation that was not asked."""
        self._telemetry.observe(record)
        self._completed(wiring, case, record, value)

    def completed(self, wiring: Wiring, case: Case, record: Record, value: object = None) -> None:
        """Take what current did after a consultation in vain, which is told already."""
        self._telemetry.completed(record)
        self._completed(wiring, case, record, value)

    def _completed(self, wiring: Wiring, case: Case, record: Record, value: object) -> None:
        if self.journal is not None or case.besides:
            self._kept(wiring, case, record, value)

    def unobserved(self, wiring: Wiring, case: Case, record: Record) -> None:
        """Take a consultation in vain of which nobody told what current did."""
        if self.journal is not None:
            case = msgspec.structs.replace(case, besides=())
            self._kept(wiring, case, record, None)

    def _kept(self, wiring: Wiring, case: Case, record: Record, value: object) -> None:
        ask = case.ask if case.ask is not None else _supplied(case, value)
        if self.journal is not None:
            from .journal.entries import Decided

            subject = case.call.subject
            self.journal.put(Decided(record, case.point, ask, case.language, subject))
        made = record.provider or record.undecided  # else the host has got an exception
        if case.besides and ask is not None and made:
            case = msgspec.structs.replace(case, ask=ask)
            self._background.put(Job(wiring, case, record))

    def shadowed(self, case: Case, shadow: Shadow) -> None:
        """Take what a shadow came to."""
        self._telemetry.shadowed(shadow)
        if self._tracing is not None:
            self._tracing.shadowed(case, shadow)
        if self.journal is not None and case.ask is not None:
            from .journal.entries import Shadowed

            self.journal.put(Shadowed(shadow, case.point, case.ask, case.language))

    def feedback(self, decision: str, *, right: bool | None, label: Outcome) -> None:
        """
        Keep what was found out about a decision.

        Raises:
            SetupError: No journal is kept.
            DeclarationError: Nothing is said, or what no row can hold.

        """
        journal = self._kept_in()
        if right is None and label is None:
            raise DeclarationError("feedback says `right=`, or what would have been: `label=`")
        journal.put(_row(decision, right, label))

    def knows(self, decision: str) -> bool:
        """
        Whether the journal has a decision; one that has just been made elsewhere is waited for.

        A database that is down knows nothing and excludes nothing.

        Raises:
            SetupError: No journal is kept.
            DeclarationError: It is no id.

        """
        _identified(decision)
        journal = self._kept_in()
        from .journal.troubles import StoreDown

        for wait in WAITS:
            journal.flush(wait)
            try:
                if decision in journal.store().beginning(decision, 1):
                    return True
            except StoreDown:
                return True
            time.sleep(wait)
        return False

    def record(self, decision: str) -> Record | None:
        """
        Read the record of a decision; None: the journal has none, or its database is down.

        Raises:
            SetupError: No journal is kept.

        """
        journal = self._kept_in()
        from .journal.troubles import StoreDown

        try:
            for trail in journal.store().trails(ids=[decision]):
                return trail.decision.record
        except StoreDown:
            pass
        return None

    def _kept_in(self) -> Journal:
        if self.journal is None:
            fix = "Set it, as in sqlite:///decisions.db"
            raise SetupError.of(JOURNAL, "no journal is kept, so feedback is lost", fix)
        return self.journal


def _row(decision: str, right: bool | None, label: Outcome) -> FeedbackRow:  # noqa: FBT001 - as given
    """
    Check what was found out, which the journal could only lose later.

    Raises:
        DeclarationError: No id, no truth, or a label that is no outcome.

    """
    from .journal.rows import FeedbackRow

    given = {"of": decision, "right": right, "id": new_id(), "at": time.time()}
    try:
        plain = msgspec.to_builtins(label, builtin_types=(bytes,))  # of an Enum, its value
        row = msgspec.convert({**given, "label": plain}, FeedbackRow)
    except (TypeError, msgspec.ValidationError) as why:
        how = "feedback takes a decision's id, and `label=` in the point's vocabulary"
        raise DeclarationError(f"{how}: {why}") from None
    _identified(decision)
    values = row.label.values() if isinstance(row.label, Mapping) else (row.label,)
    if not all(math.isfinite(one) for one in values if isinstance(one, float)):
        raise DeclarationError("feedback's label is no finite number")
    if any("\0" in one or clean(one) != one for one in values if isinstance(one, str)):
        raise DeclarationError("feedback's label is a text that can be written")
    return row


def _identified(decision: str) -> None:
    if not ID.fullmatch(decision):
        how = "`decision.record.id`, not its beginning as tables show it"
        raise DeclarationError(f"feedback takes a decision's whole id of 32 digits: {how}")


def _supplied(case: Case, value: object) -> Ask | None:
    """What a hybrid point would have been asked about the host's own value."""
    if case.supply is None:
        return None
    hosted = value if case.hosted is None else case.hosted[0]
    try:
        return case.supply(hosted).ask
    except Exception:  # noqa: BLE001 - told already; the host's value is still its answer
        return None
