"""Runs one arm on one case, by the very protocols that a committee runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ....gateway.errors import Reason
from ....gateway.plugins import Call
from ..allowance import Allowance
from ..floor import Floor
from ..measures.matching import CHAIN
from ..scopes import Scope
from .arms import MATCHED, Arm
from .cases import Case
from .costs import part_of, parts_of
from .matching import Matched, ratios, samples
from .outcomes import Answers, Outcome, policy_of, told, values, voted
from .rows import Row, Values
from .sessions import SKEPTIC, forget, session, transcript_of

if TYPE_CHECKING:
    from ....gateway.plugins import Voices
    from ..protocols import Deliberated
    from ..turns import Turn
    from .experiment import Experiment

POINT = "COMPARE_ARMS"
REFINED = "self_refine"
UNANSWERABLE = frozenset({Reason.AUTH, Reason.PAYMENT, Reason.BREAKER_OPEN})
"""Ends that say nothing about an arm: the case is left, to be asked about another time."""


class Left(Exception):
    """
    A provider turns asks away, or is left alone because it fails: what came of it is no result.

    Attributes:
        provider: Which.
        reason: Why.

    """

    def __init__(self, provider: str, reason: Reason) -> None:
        super().__init__(f"{provider}: {reason.value}")
        self.provider, self.reason = provider, reason


class Runner:
    """
    Runs arms.

    Args:
        voices: Reaches the providers.
        experiment: Which arms, of whom, on which terms.
        kept: The folder where transcripts are kept, and gone on with; None: they are not.

    """

    def __init__(self, voices: Voices, experiment: Experiment, kept: Path | None = None) -> None:
        self._voices, self._of, self._kept = voices, experiment, kept

    async def row(
        self, case: Case, arm: Arm, debate: Row | None, other: Sequence[Values] = ()
    ) -> Row:
        """
        Run *arm* on *case*.

        Args:
            case: What is asked.
            arm: How.
            debate: The debate on the same case that costs are matched with; None: none was run.
            other: Answers of another case, for a placebo of content.

        Raises:
            Left: The case is to be left for another time.
            CancelledError: The caller gave up.

        """
        if arm.way == "provider":
            return await self._provider(case, arm, debate)
        matched = Matched(1, "calls")
        if arm.way in MATCHED:
            matched = samples(arm, self._of.measured(debate), self._of.match, self._chain)
        done = await self._held(case, arm, matched.k, other)
        row = _row(case, arm, done, self._expected(arm, matched.k), self._of.rule)
        if arm.way in MATCHED:
            row = msgspec.structs.replace(row, k=matched.k, matched=matched.by)
        return msgspec.structs.replace(row, ratios=ratios(row.cost, debate))

    @property
    def _chain(self) -> int:
        """Calls of the chain of one: who cannot write does not criticise itself."""
        return CHAIN if self._voices.can_write(self._of.single) else CHAIN - 1

    def _expected(self, arm: Arm, k: int) -> int:
        seated = any(SKEPTIC in (one.role.name, one.name) for one in self._of.panel)
        voters = {
            "self_consistency": k,
            "cost_matched": k + 1,
            "self_refine": 1,
            "debate_skeptic": len(self._of.panel) + (not seated),
        }
        return voters.get(arm.way, len(self._of.panel))

    async def _provider(self, case: Case, arm: Arm, debate: Row | None) -> Row:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        deadline = Scope.opened("total", self._of.turn_seconds)
        heard = self._voices.hear(arm.provider, case.ask, within=deadline.within(_call()))
        attempt = await heard
        if attempt.reason in UNANSWERABLE:
            raise Left(arm.provider, attempt.reason)
        outcome = Outcome(None, why=attempt.reason.value)
        if attempt.reason is Reason.OK:
            outcome = told(case.ask.questions, attempt.answers)
        row = Row(
            case=case.id,
            digest=case.digest,
            arm=arm.name,
            given=outcome.given,
            why=outcome.why,
            sure=outcome.sure,
            parts={"answer": part_of(attempt.usage)},
            seconds=round(loop.time() - begun, 6),
        )
        return msgspec.structs.replace(row, ratios=ratios(row.cost, debate))

    async def _held(self, case: Case, arm: Arm, k: int, other: Sequence[Values]) -> Deliberated:
        meant = session(self._of, case, arm, k, other)
        with transcript_of(self._kept, case, arm, meant.header(self._voices)) as transcript:
            scope = Scope.opened("total", self._of.seconds)
            async with Floor(self._voices, _call(), scope, Allowance(), transcript) as floor:
                done = await meant.held(floor)
        for turn in done.turns:
            if turn.reason in UNANSWERABLE:
                forget(self._kept, case, arm)
                raise Left(turn.provider, turn.reason)
        return done


def _call() -> Call:
    return Call(point=POINT)


def _row(case: Case, arm: Arm, done: Deliberated, expected: int, rule: str) -> Row:
    questions = case.ask.questions
    openings = _openings(done.turns)
    endings: Mapping[str, Answers] = done.estimates
    if arm.way == "self_refine":
        endings = {name: one for name, one in endings.items() if name == REFINED}
    policy = policy_of(rule, expected)
    outcome = voted(questions, list(endings.values()), expected, policy)
    first = None
    if done.rounds:
        heard = done.expected
        first = voted(questions, list(openings.values()), heard, policy_of(rule, heard)).given
    return Row(
        case=case.id,
        digest=case.digest,
        arm=arm.name,
        given=outcome.given,
        why=outcome.why,
        sure=outcome.sure,
        first=first,
        opening={name: values(one) for name, one in openings.items()},
        ending={name: values(one) for name, one in endings.items()},
        parts=parts_of(done.turns),
        seconds=done.seconds,
        rounds=done.rounds,
        stop=done.stop.value,
    )


def _openings(turns: Sequence[Turn]) -> dict[str, Answers]:
    """Member → its own first answers, of those who gave some."""
    return {
        turn.member: turn.answers
        for turn in turns
        if turn.kind == "estimate" and turn.round == 0 and turn.usable and turn.answers
    }
