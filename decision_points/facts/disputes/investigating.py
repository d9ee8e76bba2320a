"""One more source, read for a dispute: it closes only if that confirms a candidate (RF-56)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..entries import Asserted, Spent, Stored
from ..errors import Refused, Superseded
from ..keys import FactKey
from ..outcomes import candidate_id
from ..stating import Statement
from .checking import counted, named
from .ended import Settled
from .hearing import Hearing
from .plea import Plea
from .reckoning import exhausted
from .sources import Advice
from .standing import Present, live, no_author, not_held, present

if TYPE_CHECKING:
    from ..ledger.ledger import Ledger
    from ..store import Written
    from .dispute import Dispute

Reader: TypeAlias = Callable[[FactKey, str], object]
"""
Reads a fact at a source: gives its value as written there, a mapping of what `assert_` takes
(`value` or `raw`, `confidence`, `observed_at`, `source_ref`, …, with `tokens` and `cost_usd`), or
None where the source says nothing.
"""


SAID = frozenset({"value", *Statement.__annotations__}) - {"source", "writer", "qualifiers"}
"""What a reader may tell: the rest of a statement is known before it reads."""


class Disputes(Hearing):
    """
    The disputes of a namespace: listed, leased, resolved, and settled by others (RF-51).

    Every move is judged inside the write that makes it, so that of two at once one is made. All
    but `settle` wait for the database: in async code they belong on a thread.

    Args:
        ledger: The log and what is worked out of it.
        assert_: Writes an assertion, as the store does.
        clock: Gives the time in microseconds since the epoch.

    """

    def __init__(
        self, ledger: Ledger, *, assert_: Callable[..., Written], clock: Callable[[], int]
    ) -> None:
        super().__init__(ledger, assert_=assert_, clock=clock)
        self._advice = Advice()

    def investigate(
        self,
        id: str,  # noqa: A002 - the dispute's
        read: Reader,
        *,
        by: str,
        source: str = "",
    ) -> Settled:
        """
        Read one more source for a dispute, and assert what it says.

        The dispute closes only if that confirms a candidate, or the rule decides then. A third
        value stays listed with the others; a source that says nothing leaves all as it was.

        Args:
            id: The dispute's.
            read: Reads the fact at a source.
            by: Who reads it.
            source: Where; empty: the best source that has said nothing about the fact, by the
                audit of resolved disputes, else by the registry's order.

        Raises:
            Refused: There is no such dispute, it is somebody else's or put aside, who reads wrote
                a candidate, the source has spoken already, there is no other, or what is read is
                no value, or nothing that can be asserted.
            Superseded: It is over.

        """
        named(by)
        self._heed()
        self.assign(id, by)
        try:
            return self._investigated(id, read, by, source)
        finally:
            self._give_back(id, by)

    def _investigated(self, id: str, read: Reader, by: str, source: str) -> Settled:  # noqa: A002
        with self._view() as view:
            now = present(view, id, self._clock())
            live(now)
            not_held(now.dispute, by, "agent")
            no_author(now, by)
            rules = view.versions()[0].disputes
            spent = exhausted(now.dispute, rules)
            if rules.reads is not None and now.dispute.reads >= rules.reads:
                spent = "budget:reads"
            where = "" if spent else self._advice.source(view, now.dispute.key, source)
        if spent:
            self.escalate(id, spent)
            return Settled(dispute=id, ending="unresolved", why=spent)
        return self._read(now, read, by, where)

    def _read(self, now: Present, read: Reader, by: str, source: str) -> Settled:
        dispute = now.dispute
        try:
            found = read(dispute.key, source)
        except BaseException:
            self._spend(dispute, by, {})  # it was read, whatever came of it
            raise
        given: dict[Any, Any] = (
            dict(cast("Mapping[str, Any]", found))
            if isinstance(found, Mapping)
            else {"value": found}
        )
        odd = self._spend(dispute, by, given) or sorted(f"{one}" for one in {*given} - SAID)
        if odd:
            fix = f"Give {', '.join(sorted(SAID))}, with `tokens` and `cost_usd`"
            raise Refused("bad_reading", f"what was read has an odd {odd[0]!r:.40}", fix)
        if given.get("value") is None and not given.get("raw") and "kind" not in given:
            return Settled(dispute=dispute.id, ending="unresolved", why="nothing_read")
        return self._confirmed(now, self._said(dispute, by, source, given), by)

    def _spend(self, dispute: Dispute, by: str, given: dict[Any, Any]) -> list[str]:
        """Note what a read has cost, taken out of what was read; give what of it is no cost."""
        tokens, cost = given.pop("tokens", 0), given.pop("cost_usd", 0.0)
        right = {
            "tokens": counted(tokens, whole=True),
            "cost_usd": counted(cost, whole=False),
        }
        spent = Spent(
            key=dispute.key,
            dispute=dispute.id,
            by=by,
            reads=1,
            tokens=tokens if right["tokens"] else 0,
            cost_usd=float(cost) if right["cost_usd"] else 0.0,
            at=self._clock(),
        )
        self._ledger.append(spent)
        return [name for name, fine in right.items() if not fine]

    def _said(self, dispute: Dispute, by: str, source: str, given: dict[str, Any]) -> Written:
        """
        Assert what was read.

        Raises:
            Refused: It is no value, or nothing that can be asserted.

        """
        key = dispute.key
        try:
            return self._assert(
                key.entity,
                key.attribute,
                source=source,
                writer=by,
                qualifiers=dict(key.qualifiers),
                **given,
            )
        except (TypeError, AttributeError) as fault:  # a text that is a number, a time that is none
            problem = "what was read cannot be asserted"
            raise Refused("bad_reading", problem, "Give what `assert_` takes") from fault

    def _confirmed(self, before: Present, written: Written, by: str) -> Settled:
        """See whether what was read confirms a candidate."""
        id_, key = before.dispute.id, before.dispute.key
        with self._view() as view:
            after = view.outcome(key)
            said = view.entry(written.id)
            choice = _says(key, said)
        if not after.dispute:
            return Settled(dispute=id_, ending="resolved", why=after.decided_by)
        if after.dispute != id_ or choice not in before.ids:
            return Settled(dispute=after.dispute, ending="unresolved", why="third_value")
        plea = Plea(
            choice=choice,
            by=by,
            party="agent",
            seen=before.ids,
            brought=written.id,
            evidence=(written.id,),
        )
        try:
            return Settled(dispute=id_, ending="resolved", receipt=self._written(id_, plea))
        except Superseded as late:
            return Settled(dispute=id_, ending="superseded", receipt=late.receipt, why="superseded")

    def _give_back(self, id: str, by: str) -> None:  # noqa: A002 - the dispute's
        try:
            self.release(id, by)
        except Refused:
            return


def _says(key: FactKey, stored: Stored | None) -> str:
    entry = None if stored is None else stored.entry
    value = entry.assertion.value if isinstance(entry, Asserted) else None
    return "" if value is None else candidate_id(key, value)
