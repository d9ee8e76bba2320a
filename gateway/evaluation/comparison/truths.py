"""
What is known of the right answers, and which labels name nothing that could have been answered.

A label in other words than the point's, `Billing` for `billing`, equals no answer. Held against
it every decider would be wrong, so such labels are told, and judge nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from ...answers import Answer
from ..calibration.labelling import FALSE, TRUE, truth, written
from .naming import Naming

SHOWN = 5  # labels of a question
EXAMPLES = 3  # ids


class Truth(NamedTuple):
    """What is known of the right answer: its name, or only one that it is not."""

    label: str | None
    wrong: str | None

    def judges(self, given: str | None) -> bool | None:
        """Whether *given* is right; no answer never is; None where that cannot be told."""
        if given is None or given == self.wrong:
            return False
        return None if self.label is None else given == self.label


NOTHING = Truth(None, None)


def other(wrong: str) -> Truth:
    """Say what is right where *wrong* is not: known of a predicate only."""
    return Truth({TRUE: FALSE, FALSE: TRUE}.get(wrong), wrong)


class Strange(msgspec.Struct, frozen=True, kw_only=True):
    """
    Labels of one question that name nothing that could have been answered; they judge nobody.

    Attributes:
        question: Its name.
        decisions: How many.
        labels: All labels of the question, these among them.
        named: What they name → how often, the most frequent first; the first few.
        options: What can be answered, by name.
        ids: Some of these decisions.

    """

    question: str
    decisions: int
    labels: int
    named: Mapping[str, int]
    options: tuple[str, ...]
    ids: tuple[str, ...]


class Vocabulary:
    """
    What can be answered to each question: what was, what stood beside it, what is declared.

    Args:
        naming: How answers are named.

    """

    def __init__(self, naming: Naming) -> None:
        self._naming = naming
        self._named: defaultdict[str, set[str]] = defaultdict(set)
        self._labels = Counter[str]()
        self._strange: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)

    def see(self, question: str, name: str) -> None:
        """Note an answer by name."""
        self._named[question].add(name)

    def weigh(self, question: str, answer: Answer) -> None:
        """
        Note what an answer was chosen among.

        A score's levels are numbered where they are not declared: names of levels then equal
        no answer.
        """
        beside, value = answer.distribution or {}, answer.value
        if isinstance(value, str):
            self._named[question].update(beside)
        elif value is not None and not isinstance(value, bool):
            numbers = (*beside, *map(str, range(len(beside))))
            self._named[question].update(one for one in numbers if one.isdecimal())

    def read(self, question: str, label: str, of: str) -> str | None:
        """
        Read the *label* of a decision as an answer is named; None, and noted, if it is strange.

        A predicate's may be a truth in words, or a number. Of a question that nobody ever
        answered, nothing is strange.
        """
        self._labels[question] += 1
        options = self._options(question)
        found: str | None = label
        if options and options <= {TRUE, FALSE}:
            told = truth(label)
            found = None if told is None else written(told)
        elif options and label not in options:
            found = None
        if found is None:
            self._strange[question].append((label, of))
        return found

    def _options(self, question: str) -> set[str]:
        return self._named[question].union(self._naming.options(question))

    def strange(self) -> tuple[Strange, ...]:
        """Give the labels that were strange, by question."""
        return tuple(self._told(question, rows) for question, rows in self._strange.items())

    def _told(self, question: str, rows: Iterable[tuple[str, str]]) -> Strange:
        named, ids = Counter[str](), dict[str, None]()
        for label, of in rows:
            named[label] += 1
            ids.setdefault(of)
        return Strange(
            question=question,
            decisions=named.total(),
            labels=self._labels[question],
            named=dict(named.most_common(SHOWN)),
            options=tuple(sorted(self._options(question))),
            ids=tuple(ids)[:EXAMPLES],
        )
