"""
Labels that name nothing that can be answered, such as `Billing` where the option is `billing`.

Held against answers each would be an error, and none is one. So they are told, and left out; and
where there are many, nothing is said at all. What can be answered is what is declared, what
distributions name, what was answered, and what was decided. Where only the last two are known an
option may just never have been chosen: then a strange label stays an error, lest it hide one.
Distributions that leave out options tell no more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ...errors import Fault, raise_all
from ...kinds import OPTIONS, Choice, Predicate, Score
from ...points import DecisionPoint
from ...questions import Question
from .labelling import FALSE, TRUE, truth, written
from .samples import Sample

SHARE, FEW = 0.03, 2  # of the labels of a question: more strange ones than both are refused
OPEN = "open:"  # begins the key of options that came with each call
NAMED = 5  # labels, and answers, that are told


class Strange(msgspec.Struct, frozen=True, kw_only=True):
    """
    Strange labels of one question.

    Attributes:
        point: The decision point.
        question: The question.
        count: Rows with such a label.
        of: Rows with any label.
        labels: Such labels, the frequent ones first.
        answers: What can be answered, as far as it is known.
        known: That is all that can be answered, so the rows are left out; else they stay errors.

    """

    point: str
    question: str
    count: int
    of: int
    labels: tuple[str, ...]
    answers: tuple[str, ...]
    known: bool

    def __str__(self) -> str:
        what = f"{self.count:,} labels of {self.question} name nothing that can be answered"
        return f"{what}: {_listed(self.labels)} (answers are {_listed(self.answers)})"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "") or "unknown"


class _Meant(msgspec.Struct, frozen=True):
    """What labels of one question may be."""

    names: frozenset[str]
    known: bool
    levels: int = 0
    predicate: bool = False

    def read(self, one: Sample) -> Sample:
        """Give a labelled sample with its label read, or told to be strange."""
        assert one.gold is not None
        if self.predicate:
            known = truth(one.gold)
            fits, gold = known is not None, one.gold if known is None else known
        else:
            fits, gold = self._fits(one), one.gold
        if fits:
            return one if gold is one.gold else msgspec.structs.replace(one, gold=gold)
        strange = written(one.gold)
        if not self.known:
            return msgspec.structs.replace(one, strange=strange)
        return msgspec.structs.replace(
            one, strange=strange, gold=None, gold_level=None, right=None, doubtful=False
        )

    def _fits(self, one: Sample) -> bool:
        assert one.gold is not None
        if not self.levels:
            return written(one.gold) in self.names
        if one.level is None:
            return True
        if one.gold_level is None:
            return False
        top = self.levels - 1  # an answer beyond it has a scale that is not known
        return top < 1 or not 0 <= one.level <= top or 0 <= one.gold_level <= top


def sifted(
    samples: Sequence[Sample], point: DecisionPoint | None
) -> tuple[tuple[Sample, ...], tuple[Strange, ...]]:
    """
    Part what labels mean from what they do not; all samples stay, in their order.

    Args:
        samples: Of one provider.
        point: Their decision point, where its declaration is known.

    """
    groups: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for index, one in enumerate(samples):
        groups[one.point, one.asked.question].append(index)
    kept, found = list(samples), list[Strange]()
    for (_, question), places in groups.items():
        meant = _meant([samples[index] for index in places], _declared(point, question))
        for index in places:
            if kept[index].gold is not None:
                kept[index] = meant.read(kept[index])
        found += _found([kept[index] for index in places], meant)
    return tuple(kept), tuple(found)


def _declared(point: DecisionPoint | None, question: str) -> list[Question]:
    spoken: Iterable[Mapping[str, Question]] = () if point is None else point.questions.values()
    return [asked[question] for asked in spoken if question in asked]


def _meant(group: Sequence[Sample], declared: Sequence[Question]) -> _Meant:
    if any(isinstance(one.value, bool) for one in group) or any(
        isinstance(one, Predicate) for one in declared
    ):
        return _Meant(frozenset({TRUE, FALSE}), known=True, predicate=True)
    spread = {name for one in group for name in one.distribution or ()}
    scales = [len(one.levels) for one in declared if isinstance(one, Score)]
    if scales or any(one.level is not None for one in group):
        most = max((len(one.distribution or ()) for one in group), default=0)
        return _Meant(frozenset(spread), known=True, levels=max([*scales, most, 1]))
    choices = [one for one in declared if isinstance(one, Choice)]
    options = {name for one in choices for name in one.options}
    said = {written(v) for one in group for v in (one.value, one.decided) if v is not None}
    closed = bool(choices) and not any(one.open for one in choices)
    known = closed or _whole(group)
    return _Meant(frozenset(spread | options | said), known=known)


def _whole(group: Sequence[Sample]) -> bool:
    """Whether distributions name all options; some leave out what has no chance."""
    sets: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
    for one in group:
        if one.distribution:
            sets[one.asked.options].add(frozenset(one.distribution))
    fixed = all(len(each) == 1 for key, each in sets.items() if not key.startswith(OPEN))
    names = (len(one) for each in sets.values() for one in each)
    return fixed and min(names, default=0) >= OPTIONS[0]


def _found(group: Sequence[Sample], meant: _Meant) -> list[Strange]:
    strange = Counter(one.strange for one in group if one.strange)
    if not strange:
        return []
    labelled = sum(one.labelled or bool(one.strange) for one in group)
    return [
        Strange(
            point=group[0].point,
            question=group[0].asked.question,
            count=strange.total(),
            of=labelled,
            labels=tuple(name for name, _ in strange.most_common()),
            answers=tuple(sorted(meant.names)),
            known=meant.known,
        )
    ]


def among(found: Iterable[Strange], samples: Sequence[Sample]) -> list[Strange]:
    """Count strange labels anew for a part of the *samples* that they were *found* in."""
    counted: list[Strange] = []
    for one in found:
        asked = [each for each in samples if each.asked.question == one.question]
        labels = Counter(each.strange for each in asked if each.strange)
        if labels:
            named = tuple(name for name, _ in labels.most_common())
            of = sum(each.labelled or bool(each.strange) for each in asked)
            counted.append(msgspec.structs.replace(one, count=labels.total(), of=of, labels=named))
    return counted


def need_meaning(found: Iterable[Strange]) -> None:
    """
    Make sure that labels mean something.

    Raises:
        SetupError: More than a few percent of a question's labels are strange.

    """
    fix = "Write labels as answers are written; a point of your own is known with --app"
    raise_all(
        Fault(f"{one.point} {one.question}", str(one), fix)
        for one in found
        if one.count > FEW and one.count > SHARE * one.of
    )
