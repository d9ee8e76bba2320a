"""Whether a move of a dispute is legal now, judged inside the very write that makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ..entries import Dismissed, Party, Receipt, Withdrawn
from ..errors import Refused, Superseded
from ..folding import visible
from ..outcomes import candidate_id
from .checking import among
from .dispute import Dispute
from .plea import Plea

if TYPE_CHECKING:
    from ..assertions import Assertion, Recorded
    from ..keys import FactKey
    from ..ledger.view import View
    from ..outcomes import Outcome

UPON = 1000  # ids of assertions that a receipt lists


class Present(msgspec.Struct, frozen=True, kw_only=True):
    """
    A dispute and what its fact comes to, in one consistent read.

    Attributes:
        dispute: As it is now; a lease that is up has given it back.
        outcome: What the fact comes to now.
        receipt: The one that counts; None: none does.
        authors: Who wrote the candidates, and whose word they are.
        upon: Ids of what says one of the candidates now, sorted; none where they are too many.

    """

    dispute: Dispute
    outcome: Outcome
    receipt: Receipt | None
    authors: frozenset[str]
    upon: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether the fact is still disputed between the very same candidates."""
        return self.outcome.dispute == self.dispute.id

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the candidates that are left now; none where there is no dispute."""
        if not self.outcome.dispute:
            return ()
        return tuple(sorted(one.id for one in self.outcome.candidates))


def present(view: View, id: str, at: int, brought: str = "") -> Present:  # noqa: A002 - the dispute's
    """
    Read how a dispute stands *at* a time, in microseconds.

    Args:
        view: What is read.
        id: The dispute's.
        at: When.
        brought: Id of an assertion whose author is not counted among the candidates' authors.

    Raises:
        Refused: There is no such dispute.

    """
    known = f"{id}".isascii()  # as all ids are
    found = next(iter(view.disputes(id=id)), None) if known else None
    if found is None:
        raise Refused("no_dispute", f"no dispute has the id {id!r:.80}", "`disputes` lists them")
    outcome = view.outcome(found.key)
    said = _said(view, found)
    upon = tuple(sorted(one.id for one in said if visible(one.assertion, at)))
    return Present(
        dispute=found.at(at),
        outcome=outcome,
        receipt=receipt_of(view, outcome),
        authors=_authors(said, brought),
        upon=upon if len(upon) <= UPON else (),
    )


def receipt_of(view: View, outcome: Outcome) -> Receipt | None:
    """Read the receipt that an *outcome* rests on; None: on none, or not alone."""
    if not outcome.receipt or outcome.status == "disputed":  # of a set: of another member
        return None
    given = view.entries(outcome.key, kinds=("resolved",))
    found = next((one.entry for one in given if one.id == outcome.receipt), None)
    return found if isinstance(found, Receipt) else None


def _said(view: View, dispute: Dispute) -> list[Recorded]:
    """Give what says one of the candidates, also where a better source says the same."""
    ids = {one.id for one in dispute.candidates}
    unbeaten = {one for candidate in dispute.candidates for one in candidate.assertions}
    return [
        one
        for one in view.living(dispute.key).assertions
        if one.id in unbeaten or _named(dispute.key, one.assertion) in ids
    ]


def _authors(said: list[Recorded], brought: str) -> frozenset[str]:
    """Name who would judge their own word (RF-57)."""
    others = [one.assertion for one in said if one.id != brought]
    return frozenset(name for one in others for name in (one.writer, one.source) if name)


def _named(key: FactKey, said: Assertion) -> str:
    return "" if said.value is None else candidate_id(key, said.value)


def may_resolve(now: Present, plea: Plea) -> tuple[str, ...]:
    """
    Refuse what may not resolve a dispute as it stands.

    Returns:
        Ids of the receipts that it takes the place of: a person's overrides an agent's (RF-55).

    Raises:
        Superseded: The candidates are others, or somebody was first; it says what is.
        Refused: It is put aside, somebody else's, or one's own word.

    """
    over = _first(now, plea)
    unchanged(now, plea)
    if now.dispute.state == "dismissed":
        raise Refused("dismissed", "the dispute was put aside", "Withdraw that first")
    not_held(now.dispute, plea.holder or plea.by, plea.party)
    no_author(now, plea.by)
    return over


def no_author(now: Present, by: str) -> None:
    """
    Refuse that somebody judges their own word (RF-57).

    Raises:
        Refused: A candidate is theirs.

    """
    if among(by, now.authors):
        problem = "who wrote a candidate does not decide whether it is right"
        raise Refused("own_candidate", problem, "Let somebody else resolve it")


def _first(now: Present, plea: Plea) -> tuple[str, ...]:
    """See who was first; a person comes before an agent, and nobody else before anybody."""
    if not now.same or now.receipt is None:
        return ()
    if plea.party == "person" and now.receipt.party == "agent":
        return (now.receipt.id,)
    problem = f"{now.receipt.resolver!r} resolved it before; `withdraw` takes that back"
    raise Superseded(problem, now.dispute.seen, now.receipt)


def unchanged(now: Present, plea: Plea) -> None:
    """
    Refuse a choice among candidates that are no longer the ones that were seen (RF-54).

    Raises:
        Superseded: They are not.
        Refused: What is chosen is none of them.

    """
    if not now.ids:
        if plea.brought:  # it beats the others: the rule agrees with who brought it
            return
        raise Superseded("the rule decides now, and the dispute is over")
    stale = plea.seen is not None and tuple(sorted(set(plea.seen))) != now.dispute.seen
    if stale or not now.same:
        raise Superseded("the candidates are no longer those that were seen", now.ids)
    if not plea.brings and plea.choice not in now.ids:
        fix = "Choose one that is listed, or bring a value with a source of its own"
        raise Refused("no_candidate", "what was chosen is no candidate", fix)


def not_held(dispute: Dispute, by: str, party: Party) -> None:
    """
    Refuse to touch what is somebody else's for now; a person may take it from an agent.

    Raises:
        Refused: It is.

    """
    held = dispute.state == "assigned" and dispute.assigned_to != by
    if held and not (party == "person" and dispute.party == "agent"):
        problem = f"it is {dispute.assigned_to!r}'s for now"
        raise Refused("assigned", problem, "Wait until its time is up, or have it released")


def live(now: Present) -> None:
    """
    Refuse what is only done to a dispute that waits for a resolution.

    Raises:
        Superseded: It is over, or about other candidates now.
        Refused: It is put aside.

    """
    if not now.same:
        raise Superseded("the dispute is over, or about other candidates", now.ids)
    if now.receipt is not None:
        raise Superseded("it is resolved", now.dispute.seen, now.receipt)
    if now.dispute.state == "dismissed":
        raise Refused("dismissed", "the dispute was put aside", "Withdraw that first")


def given(view: View, now: Present, target: str) -> Receipt | Dismissed:
    """
    Give the receipt or the dismissal of a dispute that counts; never one of another dispute.

    Args:
        view: What is read.
        now: The dispute.
        target: The id of one that was not taken back; empty: the one that counts.

    Raises:
        Refused: None does.

    """
    entries = list(view.entries(now.dispute.key, kinds=("resolved", "dismissed", "withdrawn")))
    gone = {one.entry.target for one in entries if isinstance(one.entry, Withdrawn)}
    for one in reversed(entries):
        entry = one.entry
        if one.id in gone or not isinstance(entry, Receipt | Dismissed):
            continue
        if entry.dispute != now.dispute.id:
            continue
        if one.id == target or (not target and _counts(entry, now)):
            return entry
    raise Refused("nothing_given", "no receipt and no dismissal counts here")


def _counts(entry: Receipt | Dismissed, now: Present) -> bool:
    if isinstance(entry, Dismissed):
        return now.outcome.receipt == ""
    member = now.outcome.members is not None and now.dispute.state == "resolved"
    return entry.id == now.outcome.receipt or (member and now.dispute.receipts[-1:] == (entry.id,))


def not_anothers(entry: Receipt | Dismissed, by: str, party: Party) -> None:
    """
    Refuse an agent to take back what it did not give itself.

    Raises:
        Refused: It is somebody else's.

    """
    theirs = entry.resolver if isinstance(entry, Receipt) else entry.by
    if party == "agent" and (entry.party == "person" or theirs != by):
        raise Refused("not_yours", "an agent takes back only what it gave itself")
