"""From what members said to a reply, or to why there is none: pure functions, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ....gateway.acceptance import check
from ....gateway.answers import Answer, RawAnswer, Unread, Usage
from ....gateway.breaker import FAILING, NOTHING_SEEN, OPERATOR
from ....gateway.errors import Reason
from ....gateway.questions import Question, When
from ..turns import ENDED, Turn
from .ballots import Ballot, ballots_of
from .deciding import OPEN, Finding, Policy, found

ADVISED = Policy(rule="plurality")
"""What goes along with an answer needs no quorum: its failure costs nothing but itself."""

TOLD = NOTHING_SEEN | {Reason.TIMEOUT, Reason.TRANSPORT, Reason.TOO_LARGE}
"""Reasons that say the same of a committee as of its members."""

Said = Sequence[Mapping[str, Answer]]
"""What each of those said whose answers count."""


class Counted(msgspec.Struct, frozen=True):
    """
    What all questions come to.

    Attributes:
        findings: Live question → what it comes to.
        questions: What was asked.

    """

    findings: Mapping[str, Finding]
    questions: Mapping[str, Question]

    @property
    def is_open(self) -> bool:
        """Whether a judge's vote could decide what is left."""
        return any(one.why in OPEN for one in self._gated())

    @property
    def abstains(self) -> bool:
        """Whether a question that has to be believed comes to nothing."""
        return any(one.answer is None for one in self._gated())

    @property
    def answers(self) -> dict[str, RawAnswer]:
        """One for each question; what is not live is not looked at."""
        given = {name: one.answer for name, one in self.findings.items()}
        return {name: given.get(name) or Unread(Reason.ABSTAINED) for name in self.questions}

    @property
    def notes(self) -> dict[str, float]:
        """The numbers behind them, and why a question comes to nothing, by question."""
        notes: dict[str, float] = {}
        for name, one in self.findings.items():
            notes |= {f"{name}.{what}": number for what, number in one.notes.items()}
            if one.why:
                notes[f"{name}.{one.why}"] = 1.0
        return notes

    def _gated(self) -> Iterable[Finding]:
        return [one for name, one in self.findings.items() if not self.questions[name].advisory]


def counted(
    questions: Mapping[str, Question],
    said: Said,
    expected: int,
    policy: Policy,
    judge: Mapping[str, Answer] | None = None,
) -> Counted:
    """
    Put together what was *said*, question by question, in their order.

    A question that waits for another is live where the committee's answer to that says so. A member
    that found it not live has no ballot on it.
    """
    findings: dict[str, Finding] = {}
    for name, question in questions.items():
        if question.when is not None and not _is_live(question.when, questions, findings):
            continue
        rules = ADVISED if question.advisory else policy
        casting = _casting(name, question, judge)
        ballots = ballots_of(said, name, question)
        findings[name] = found(question, ballots, expected, rules, casting)
    return Counted(findings, questions)


def _is_live(
    when: When, questions: Mapping[str, Question], findings: Mapping[str, Finding]
) -> bool:
    before = findings.get(when.question)
    if before is None or before.answer is None:
        return False
    return check(questions[when.question], before.answer, "reported").value in when.answers


def _casting(name: str, question: Question, judge: Mapping[str, Answer] | None) -> Ballot | None:
    given = ballots_of([] if judge is None else [judge], name, question)
    return given[0] if given else None


def has_failed(reason: Reason) -> bool:
    """Whether a member without an answer gave none, or none that is valid; not: it abstained."""
    return ENDED.get(reason, "failed") != "abstained"


def why_nothing(missing: Mapping[str, Reason]) -> Reason:
    """
    Say of a committee of which nobody has an answer why it has none.

    `abstained` where anybody said anything, however unsure or wrong. Where all failed alike, that
    reason; else `provider_error`. A member's bad key is that member's, and told of it already.
    """
    reasons = set(missing.values())
    heard = any(ENDED.get(one) in ("abstained", "invalid") for one in reasons)
    if heard or not reasons:
        return Reason.ABSTAINED
    if len(reasons) == 1 and reasons <= TOLD:
        return reasons.pop()
    return Reason.PROVIDER_ERROR if reasons & (FAILING | OPERATOR) else Reason.ABSTAINED


def used(turns: Iterable[Turn]) -> Usage | None:
    """
    Add up what all *turns* used, also those that came to nothing; None where nobody tells.

    The cost is unknown where one that tells its tokens does not know it.
    """
    given = [turn.usage for turn in turns if turn.usage is not None]
    if not given:
        return None
    costs = [one.cost_usd for one in given if one.cost_usd is not None]
    return Usage(
        input_tokens=sum(one.input_tokens for one in given),
        output_tokens=sum(one.output_tokens for one in given),
        cost_usd=sum(costs) if len(costs) == len(given) else None,
        estimated=any(one.estimated for one in given),
    )
