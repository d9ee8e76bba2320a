"""Typed questions as the form of a deliberation: any provider can answer them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ....gateway.answers import Answer
from ....gateway.questions import Ask, Question, Score, Value
from ..measures.dispersion import spread_confidence
from ..turns import Turn, Wanted
from .briefs import Brief
from .forms import KINDS, Estimates, critique_wanted
from .packets import Packet
from .terms import Terms

__all__ = ["Typed"]

FEW = 2  # answers that can lie apart
NEAR = 1e-9  # room for rounding


class Typed(msgspec.Struct, frozen=True):
    """
    Questions of a decision point, asked of providers of any kind.

    Members that cannot write criticise nobody; they answer again with the table in their state.

    Attributes:
        questions: Name → question.

    """

    questions: Mapping[str, Question]

    name = "typed"

    def wanted(self, brief: Brief) -> Wanted:
        """Ask the questions; for critiques where the task is one."""
        if brief.task in ("critique", "self_critique"):
            asked = "\n".join(one.instructions for one in self.questions.values())
            return critique_wanted(brief, asked)
        state = brief.packet.state if brief.bare else brief.state
        return Wanted(
            member=brief.member,
            kind=KINDS[brief.task],
            round=brief.round,
            tag=brief.tag,
            closing=brief.closing,
            ask=Ask(state, self._told(brief.preamble)),
        )

    def _told(self, preamble: str) -> Mapping[str, Question]:
        if not preamble:
            return self.questions
        return {
            name: msgspec.structs.replace(one, instructions=f"{preamble}\n\n{one.instructions}")
            for name, one in self.questions.items()
        }

    def estimate(self, turn: Turn) -> Mapping[str, Answer] | None:
        """Read a turn's answers; None where they do not count."""
        return turn.answers if turn.usable and turn.answers else None

    def plain(self, estimate: Mapping[str, Answer]) -> dict[str, Any]:
        """Give each question's value."""
        return {name: answer.value for name, answer in estimate.items()}

    def shown(
        self, estimate: Mapping[str, Answer], draw: Callable[[str], str], seen: frozenset[str]
    ) -> dict[str, Any]:
        """Show the values. No confidence: what members say of their own says next to nothing."""
        return {"answers": self.plain(estimate)}

    def spread(self, estimates: Estimates) -> dict[str, float] | None:
        """
        Say how far the answers lie apart, in [0, 1], for the question where it is most.

        Of options and truths 1 − the most frequent one's share; of a score the interquartile
        range over its own range.
        """
        apart = [self._apart(name, estimates) for name in self.questions]
        known = [one for one in apart if one is not None]
        return {"dispersion": max(known)} if known else None

    def _apart(self, name: str, estimates: Estimates) -> float | None:
        question, values = self.questions[name], self._values(name, estimates)
        if question.advisory or len(values) < FEW:
            return None
        if isinstance(question, Score):
            together = spread_confidence([float(v) for v in values], question.low, question.high)
            return None if together is None else 1.0 - together
        return 1.0 - Counter(values).most_common(1)[0][1] / len(values)

    def _values(self, name: str, estimates: Estimates) -> list[Value]:
        given = [one[name].value for one in estimates.values() if name in one]
        return [value for value in given if value is not None]

    def agreed(self, estimates: Estimates, bound: float) -> bool:
        """Whether all chose alike, and scores lie within *bound* of their range."""
        spread = self.spread(estimates)
        if spread is None or spread["dispersion"] > bound:
            return False
        chosen = [name for name, one in self.questions.items() if not isinstance(one, Score)]
        gated = [name for name in chosen if not self.questions[name].advisory]
        return all(len(set(self._values(name, estimates))) <= 1 for name in gated)

    def moved(self, before: Estimates, after: Estimates, tolerance: float) -> bool:
        """
        Whether anybody changed its mind: two who swap leave every share as it was.

        A score has moved where that was more than *tolerance* of its range, because hardly any
        model gives the same one twice; what is only advisory moves nothing.
        """
        return any(
            _moved(question, before[member].get(name), one.get(name), tolerance)
            for member, one in after.items()
            for name, question in self.questions.items()
            if member in before and not question.advisory
        )

    def flags(
        self, estimate: Mapping[str, Answer], packet: Packet, allowed: frozenset[str]
    ) -> tuple[str, ...]:
        """None: a typed answer cites nothing."""
        return ()

    def aggregate(self, estimates: Estimates, terms: Terms) -> dict[str, Any]:
        """Count each question's values; of a score the median. A vote is the committee's."""
        return {name: self._together(name, estimates) for name in self.questions}

    def _together(self, name: str, estimates: Estimates) -> dict[str, Any]:
        values = self._values(name, estimates)
        if isinstance(self.questions[name], Score):
            return {"median": statistics.median(map(float, values)) if values else None}
        counts = Counter(str(value) for value in values)
        return {"counts": dict(sorted(counts.items()))}


def _moved(question: Question, before: Answer | None, after: Answer | None, share: float) -> bool:
    old, new = (None if one is None else one.value for one in (before, after))
    if not isinstance(question, Score) or old is None or new is None:
        return old != new
    bound = share * (question.high - question.low)
    return abs(float(new) - float(old)) > bound + NEAR
