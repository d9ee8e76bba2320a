"""Runs one arm on one case, by the very protocols that a committee runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ....gateway.errors import Reason
from ....gateway.plugins import Call
from ..allowance import Allowance
from ..floor import Floor
from ..measures.matching import CHAIN
from ..panel import Member
from ..roles import get_role
from ..scopes import Scope
from ..turns import Wanted
from .arms import MATCHED, Arm
from .cases import Case
from .costs import UNASKED, parts_of
from .failures import STOPPING, Left, failed
from .known import mark
from .matching import Matched, ratios, samples
from .outcomes import Answers, Outcome, policy_of, told, values, voted
from .rows import Maker, Part, Row
from .sessions import SKEPTIC, forget, session, transcript_of

if TYPE_CHECKING:
    from ....gateway.plugins import Voices
    from ..protocols import Deliberated, Placebo
    from ..transcript import Transcript
    from ..turns import Turn
    from .experiment import Experiment

POINT = "COMPARE_ARMS"
REFINED = "self_refine"


class Runner:
    """
    Runs arms.

    Args:
        voices: Reaches the providers.
        experiment: Which arms, of whom, on which terms.
        makers: Provider → who that is now.
        kept: The folder where transcripts are kept, and gone on with; None: they are not.

    Attributes:
        unpriced: Providers that were asked and did not tell what it cost.

    """

    def __init__(
        self,
        voices: Voices,
        experiment: Experiment,
        makers: Mapping[str, Maker],
        kept: Path | None = None,
    ) -> None:
        self._voices, self._of, self._kept = voices, experiment, kept
        self._makers = makers
        self.unpriced: set[str] = set()

    async def row(
        self, case: Case, arm: Arm, debate: Row | None, other: Placebo | None = None
    ) -> Row:
        """
        Run *arm* on *case*.

        Args:
            case: What is asked.
            arm: How.
            debate: The debate on the same case that costs are matched with; None: none was run.
            other: What was said about another case, for a placebo of content.

        Raises:
            Left: The case is to be left for another time.
            CancelledError: The caller gave up.

        """
        if arm.way == "provider":
            row = await self._provider(case, arm)
        elif arm.way in MATCHED:
            matched = samples(arm, self._of.measured(debate), self._of.match, self._chain)
            row = await self._deliberated(case, arm, matched.k, None)
            row = _matched(row, matched, debate)
        else:
            row = await self._deliberated(case, arm, 1, other)
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

    async def _provider(self, case: Case, arm: Arm) -> Row:
        """Ask a provider as a panel of one is asked, so that its time is up when a member's is."""
        role = get_role("generalist")
        member = Member(name="provider", provider=arm.provider, role=role)
        wanted = Wanted(member=member, kind="answer", round=0, ask=case.ask)
        with transcript_of(None, case, arm, {"kind": "arm"}) as transcript:
            async with self._floor(transcript) as floor:
                turn = await floor.turn(wanted, self._of.turn_seconds)
        self._judge([turn])
        outcome = Outcome(None, why=turn.reason.value)
        if turn.usable:
            outcome = told(case.ask.questions, turn.answers)
        row = _outcome(case, arm, outcome, [turn], turn.seconds)
        return msgspec.structs.replace(row, asked=self._asked([turn]))

    async def _deliberated(self, case: Case, arm: Arm, k: int, other: Placebo | None) -> Row:
        meant = session(self._of, case, arm, k, other)
        with transcript_of(self._kept, case, arm, meant.header(self._voices)) as transcript:
            async with self._floor(transcript) as floor:
                done = await meant.held(floor)
        try:
            self._judge(done.turns)
        except Left:
            forget(self._kept, case, arm)
            raise
        row = _row(case, arm, done, self._expected(arm, k), self._of.rule)
        bare = other is not None and not other.critiques and self._argues(done.turns)
        return msgspec.structs.replace(row, asked=self._asked(done.turns), uncriticised=bare)

    def _floor(self, transcript: Transcript) -> Floor:
        scope = Scope.opened("total", self._of.seconds)
        return Floor(self._voices, Call(point=POINT), scope, Allowance(), transcript)

    def _argues(self, turns: Sequence[Turn]) -> bool:
        return any(turn.kind == "critique" for turn in turns)

    def _judge(self, turns: Sequence[Turn]) -> None:
        """
        Count who tells no price, and see whether what came of it is a result.

        Raises:
            Left: It is none; with what was spent, and who failed first.

        """
        asked = [turn for turn in turns if UNASKED not in turn.notes]
        self.unpriced |= {
            turn.provider for turn in asked if turn.usage is None or turn.usage.cost_usd is None
        }
        fallen = [turn for turn in turns if failed(turn)]
        if fallen:
            fallen.sort(key=lambda turn: turn.reason not in STOPPING)
            cost = sum(parts_of(turns).values(), Part())
            stops = fallen[0].reason in STOPPING
            raise Left(fallen[0].provider, fallen[0].reason.value, cost, stops=stops)

    def _asked(self, turns: Sequence[Turn]) -> dict[str, Maker]:
        """Say who was asked: as configured, and as it was served."""
        found = {turn.provider: self._makers.get(turn.provider, Maker()) for turn in turns}
        models = {turn.provider: turn.model for turn in turns if turn.model}
        return {
            name: msgspec.structs.replace(one, served=models.get(name, ""))
            for name, one in found.items()
        }


def _matched(row: Row, matched: Matched, debate: Row | None) -> Row:
    return msgspec.structs.replace(row, k=matched.k, matched=matched.by, against=mark(debate))


def _outcome(case: Case, arm: Arm, outcome: Outcome, turns: Sequence[Turn], seconds: float) -> Row:
    return Row(
        case=case.id,
        digest=case.digest,
        arm=arm.name,
        given=outcome.given,
        why=outcome.why,
        sure=outcome.sure,
        parts=parts_of(turns),
        seconds=seconds,
        unsure=Counter(turn.provider for turn in turns if turn.reason is Reason.LOW_CONFIDENCE),
    )


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
    return msgspec.structs.replace(
        _outcome(case, arm, outcome, done.turns, done.seconds),
        first=first,
        opening={name: values(one) for name, one in openings.items()},
        ending={name: values(one) for name, one in endings.items()},
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
