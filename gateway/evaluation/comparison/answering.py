"""What one decider answered, live or in the background, whoever else was asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...certificates import Key
from ...errors import Reason
from ...gates import Scale
from ...keys import QuestionKey
from ..calibration.labelling import FALSE, TRUE
from .naming import Naming, named
from .reading import Said, Seen, Sure
from .truths import NOTHING


class Given(NamedTuple):
    """
    One answer to one question, or its absence.

    Attributes:
        id: The decision's id.
        name: The answer's name; None without a valid one.
        sure: How sure; None for the host's own path.
        label: The right answer; None if unknown.
        right: Whether the answer is right; None if unknown.
        unclear: It is known that another answer is wrong, but not whether this one is right.
        told: When its label was told, in seconds since the epoch; 0 without one.
        reason: Why the reply was not believed, or `ok`.
        key: What a threshold must have been certified for; its scale says nothing.
        unit: The subject; the decision itself where that is unknown.

    """

    id: str
    name: str | None
    sure: Sure | None
    label: str | None
    right: bool | None
    unclear: bool
    told: float
    reason: Reason
    key: Key
    unit: str

    def number(self, scale: Scale) -> float:
        """Give what a gate of this *scale* compares, in [0, 1]; a missing number is 0."""
        if self.sure is None:
            return 0.0
        predicate = self.name in (TRUE, FALSE)
        chosen = (
            self.sure.probability if scale == "probability" or predicate else self.sure.reported
        )
        return 0.0 if chosen is None else chosen


def given(seen: Iterable[Seen], provider: str, naming: Naming) -> dict[str, list[Given]]:
    """
    Collect question → answers of *provider*; what has no gate, advice, is left out.

    So is what it decided because another was not believed: those decisions were the harder ones.
    """
    found: dict[str, list[Given]] = {}
    for one in seen:
        if not one.told(provider):
            continue
        said = one.said[provider]
        if one.fallback is not None and one.provider == provider and said.live:
            continue
        for raw in said.values or said.asked or (naming.sole(()),):
            answer = answered(one, provider, raw)
            if naming.gated(answer.key.question):
                found.setdefault(answer.key.question, []).append(answer)
    return found


def answered(seen: Seen, provider: str, raw: str) -> Given:
    """Give what *provider* answered to the question that was asked as *raw*."""
    said, truth = seen.said[provider], seen.truths.get(raw, NOTHING)
    name = said.values.get(raw)
    right = None if truth is NOTHING or name is None else truth.judges(name)
    return Given(
        id=seen.id,
        name=name,
        sure=said.sure.get(raw),
        label=truth.label,
        right=right,
        unclear=right is None and name is not None and truth is not NOTHING,
        told=seen.told_at,
        reason=said.reason,
        key=_key(seen.point, raw, provider, said),
        unit=seen.subject or seen.id,
    )


def firsts(rows: Iterable[Given]) -> list[Given]:
    """
    Keep of each subject the answer whose label was told first; answers without one are left out.

    Those of one subject may be wrong together, and an exact bound counts rows that are not. The
    first stays the first however many come later, so that it holds at every look.
    """
    found: dict[str, Given] = {}
    for one in sorted(rows, key=lambda one: (one.told, one.id)):
        if one.right is not None:
            found.setdefault(one.unit, one)
    return list(found.values())


def _key(point: str, raw: str, provider: str, said: Said) -> Key:
    asked = said.asked.get(raw) or QuestionKey(named(raw, said.asked), "")
    return Key(
        point=point,
        question=asked.question,
        template=asked.template,
        options=asked.options,
        language=said.language,
        form=said.form,
        scale="reported",
        provider=provider,
        model=said.model,
    )
