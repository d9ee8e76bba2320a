"""Which decisions the ids of a file of labels mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ...errors import SetupError
from ...evaluation.calibration.samples import Sample
from ...questions import Outcome

if TYPE_CHECKING:
    from ...journal.store import Store
    from .file import Labelled

NAMED = 3  # ids that are told
WHOLE = 32  # digits of an id
FIX = "An id is `decision.record.id`; `pointsman journal tail` shows how each begins"


class Resolved(msgspec.Struct, frozen=True):
    """
    Labels by whole ids.

    Attributes:
        labels: A decision's id → its label.
        unknown: Ids that are no decision's, or with which several begin.

    """

    labels: dict[str, Outcome]
    unknown: tuple[str, ...]

    def strangers(self, samples: Iterable[Sample]) -> int:
        """Count the labels of decisions that none of the *samples* is about."""
        return len(self.labels.keys() - {one.id for one in samples})


def resolved(store: Store, lines: Sequence[Labelled]) -> Resolved:
    """Find the decision of each line, by its whole id or by how that begins, as tables show it."""
    found = Resolved({}, ())
    unknown: list[str] = []
    for line in lines:
        whole = _whole(store, line.id)
        if whole is None:
            unknown.append(line.id)
        else:
            found.labels[whole] = _together(found.labels.get(whole), line.label)
    return msgspec.structs.replace(found, unknown=tuple(dict.fromkeys(unknown)))


def found_in(store: Store, named: Resolved, samples: Iterable[Sample]) -> Resolved:
    """Take away the whole ids that are in none of the *samples*, and no decision's either."""
    there = {one.id for one in samples}
    gone = [of for of in named.labels if of not in there and not store.beginning(of, 1)]
    lost = set(gone)
    labels = {of: label for of, label in named.labels.items() if of not in lost}
    return Resolved(labels, (*named.unknown, *gone))


def _together(before: Outcome, label: Outcome) -> Outcome:
    """Put labels of several questions together; else the later line counts."""
    if isinstance(before, Mapping) and isinstance(label, Mapping):
        return {**before, **label}
    return label


def _whole(store: Store, given: str) -> str | None:
    if len(given) == WHOLE:
        return given.lower()  # whether there is one is looked up where no row has it
    begun = store.beginning(given.lower()) if given else []
    return begun[0] if len(begun) == 1 else None


def told(unknown: Sequence[str]) -> str:
    """Name ids that mean no decision."""
    more = len(unknown) - NAMED
    named = ", ".join(unknown[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return f"{len(unknown):,} ids are of no decision in the journal, or of several: {named}"


def need_used(named: Resolved, samples: Iterable[Sample]) -> None:
    """
    Make sure that the file says something about the *samples*.

    Raises:
        SetupError: None of its labels could be used.

    """
    if any(one.right is not None or one.strange for one in samples):
        return
    why = told(named.unknown) if named.unknown else "none is about an answer of the provider"
    raise SetupError.of("--labels", f"none of its labels can be used: {why}", FIX)
