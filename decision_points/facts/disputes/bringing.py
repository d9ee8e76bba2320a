"""A value that somebody brings to a dispute, with a source of its own (RF-52)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..entries import Asserted, Receipt, Withdrawn
from ..errors import Refused, Superseded
from ..keys import FactKey, seen
from ..outcomes import candidate_id
from ..policy import Attribute
from .plea import Plea
from .standing import Present

if TYPE_CHECKING:
    from ..ledger.view import View
    from ..outcomes import Outcome


class Brought(NamedTuple):
    """A value that somebody brings, whose word it is, and how sure they are; None: not said."""

    value: object
    source: str
    confidence: float | None


def declared(view: View, key: FactKey) -> Attribute:
    """
    Give what is declared of a fact's attribute.

    Raises:
        Refused: Nothing is.

    """
    attribute = view.versions()[0].attribute(key.attribute)
    if attribute is None:
        raise Refused("no_candidate", "no policy declares the attribute")
    return attribute


def member_in_dispute(now: Present, plea: Plea) -> None:
    """
    Refuse to bring a member of a set about which there is no dispute.

    Raises:
        Refused: It is not in dispute.

    """
    if now.outcome.members is not None and plea.choice not in now.ids:
        fix = "Assert it; of those in dispute choose a candidate by its id"
        raise Refused("no_candidate", "that member of the set is not in dispute", fix)


def given_before(view: View, id: str, plea: Plea, source: str) -> Receipt | None:  # noqa: A002 - the dispute's
    """Find the receipt that the same plea was given before, while its value is the fact still."""
    dispute = next(iter(view.disputes(id=id)))
    outcome = view.outcome(dispute.key)
    if outcome.value is None or candidate_id(dispute.key, outcome.value) != plea.choice:
        return None
    entries = list(view.entries(dispute.key, kinds=("resolved", "withdrawn")))
    gone = {one.entry.target for one in entries if isinstance(one.entry, Withdrawn)}
    for one in reversed(entries):
        entry = one.entry
        if one.id in gone or not isinstance(entry, Receipt):
            continue
        about = next(iter(view.disputes(id=entry.dispute)), None)
        said = view.entry(entry.evidence[-1]) if entry.evidence else None
        same = about is not None and id in {about.id, about.former}
        if same and plea.gave(entry) and said is not None and isinstance(said.entry, Asserted):
            return entry if said.entry.assertion.source == seen(source) else None
        return None
    return None


def unmoved(before: Present, after: Outcome, choice: str) -> None:
    """
    See that nothing but what was brought has changed the candidates meanwhile.

    Raises:
        Superseded: Something has.

    """
    left = {one.id for one in after.candidates if after.dispute}
    if left and left - {choice} != {*before.ids} - {choice}:
        problem = "the candidates are no longer those that were seen"
        raise Superseded(problem, tuple(sorted(left)))
