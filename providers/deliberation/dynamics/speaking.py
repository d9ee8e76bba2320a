"""One role's turn in one round: what it is shown, what it looks up, and where it then stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ....gateway.errors import Reason
from ..panel import Member
from ..scopes import Scope
from ..turns import Kind, Turn
from .briefs import AGAIN, FOUND, task_of
from .citing import founded, ghosts
from .critiques import Critique, Critiques, about, critique_of
from .hall import Hall
from .retrieval import Looked, shown
from .schemas import Phase, form_of
from .stands import Stand, Stands, labels, peers, stand_of, state_for

PHASES: tuple[Phase, ...] = ("position", "rebuttal", "refinement")
KINDS: dict[Phase, Kind] = {
    "position": "position",
    "rebuttal": "rebuttal",
    "refinement": "refinement",
}
LATE = ("timeout", "late", "partial")


class Speech(msgspec.Struct, frozen=True, kw_only=True):
    """
    What came of a role's turn.

    Attributes:
        member: Whose.
        stand: Where it stands; None: it gave nothing usable.
        reason: Why not.
        late: It ran out of time, whatever was usable of it by then.
        broke: It was not asked, because the budget is used up.
        critique: What it made of the others.
        again: It was asked again, because it cited what nobody retrieved.
        ghosts: What it still cites then, and what was left out therefore.

    """

    member: Member
    stand: Stand | None
    reason: Reason = Reason.OK
    late: bool = False
    broke: bool = False
    critique: Critique = Critique()
    again: bool = False
    ghosts: tuple[str, ...] = ()


class Round:
    """
    A round that is being held. All that its roles are shown is known before it begins (BR-13).

    Attributes:
        hall: The debate.
        number: From 1.
        phase: What it is for: the third and every later one refines (DD-32).
        table: Where the roles stand whom the others are shown.
        critiques: What the others are shown of what they made of each other.
        known: Ids of what was retrieved in the rounds before.
        offered: Whether roles may look something up.
        again: Whether a role may be asked again for what it cites.
        scope: Its own time.

    """

    def __init__(self, hall: Hall, number: int) -> None:
        self.hall, self.number = hall, number
        self.phase: Phase = PHASES[min(number, len(PHASES)) - 1]
        self.table: Stands = {} if hall.last is None else hall.last.stands
        self.critiques: Critiques = {} if hall.last is None else hall.last.critiques
        self.known, self.offered = hall.retrieval.known, hall.retrieval.offered
        spare = hall.facts.refinements < hall.rules.circuit_breaker_max_refinements
        self.again = hall.rules.verify and spare
        self.scope = hall.floor.scope.inner("round", hall.rules.timeout_per_round)

    async def speak(self, member: Member) -> Speech:
        """
        Let a role speak; look-ups and a re-ask are inside of its own time (AM-13).

        What it may cite depends on what it could be shown, not on who was faster (BR-13, BR-21).
        """
        own = self.scope.inner("agent", self.hall.rules.timeout_per_agent)
        turn, looked = await self._answer(member, own)
        late = turn.ending in LATE
        known = self.known | {chunk.id for one in looked for chunk in one.chunks}
        wrong = self._ghosts(turn, known)
        again = bool(wrong) and self.again and not late
        if again:
            second = await self._turn(member, own, looked, wrong)
            turn, late = (second if second.usable else turn), second.ending in LATE
            wrong = self._ghosts(turn, known)
        speech = self._speech(member, turn, known)
        return msgspec.structs.replace(
            speech, late=late or speech.late, again=again, ghosts=tuple(wrong)
        )

    async def _answer(self, member: Member, own: Scope) -> tuple[Turn, tuple[Looked, ...]]:
        """Ask once, or twice where something is looked up; what was said before that counts."""
        first = await self._turn(member, own)
        queries = (first.said or {}).get("queries") if first.ending == "ok" else None
        if not queries:
            return first, ()
        looked = tuple(await self.hall.retrieval.look_up(queries, member.name, self.number, own))
        second = await self._turn(member, own, looked)
        return (second if second.usable else first), looked

    async def _turn(
        self,
        member: Member,
        own: Scope,
        looked: tuple[Looked, ...] = (),
        wrong: list[str] | None = None,
    ) -> Turn:
        asks = self.offered and not looked and wrong is None
        task = task_of(self.phase, self.hall.open_criteria, queries=asks)
        more = (FOUND if looked else "", AGAIN if wrong is not None else "")
        told = {**self._shown(member), **self._looked(looked, wrong, asks=asks)}
        wanted = self.hall.wanted(
            member,
            KINDS[self.phase] if wrong is None else "verification",
            "\n\n".join(text for text in (task, *more) if text),
            told,
            self._forms(queries=asks or bool(looked)),
            number=self.number,
            attempt=2 if looked and wrong is None else 1,
        )
        return await self.hall.floor.turn(wanted, within=own)

    def _forms(self, *, queries: bool) -> tuple[type[msgspec.Struct], type[msgspec.Struct]]:
        options, still = tuple(self.hall.options), self.hall.open_criteria
        return form_of(self.phase, options, still, queries=queries)

    def _shown(self, member: Member) -> dict[str, Any]:
        told: dict[str, Any] = {"case": state_for(member.role, self.hall.state)}
        if self.number > 1:
            own = self.table.get(member.name)
            veil = self.hall.veil(member.role, self.number)
            told["positions"] = peers(self.table, self._labels(member), member.role, veil)
            told["yours"] = None if own is None else own.recommendation
            if mine := about(member.name, self.critiques, self._labels(member), veil):
                told["about_you"] = mine
        if self.phase == "refinement":
            told["open"] = list(self.hall.open_criteria)
        return told

    def _looked(
        self, looked: tuple[Looked, ...], wrong: list[str] | None, *, asks: bool
    ) -> Mapping[str, Any]:
        told: dict[str, Any] = {}
        if asks:
            told["scopes"] = list(self.hall.rules.rag_scopes)
        if looked:
            told["retrieved"] = shown(looked)
        if wrong is not None:
            told["unfounded"] = [f"[RAG:{one}]" for one in wrong]
        return told

    def _labels(self, member: Member) -> Mapping[str, str]:
        names = [one.name for one in self.hall.seats]
        return labels(names, member.name, (self.hall.rules.seed, self.hall.session, self.number))

    def _ghosts(self, turn: Turn, known: frozenset[str]) -> list[str]:
        return ghosts(turn.said, known) if turn.usable else []

    def _speech(self, member: Member, turn: Turn, known: frozenset[str]) -> Speech:
        """Read what a role said, without what it cites of nothing; the turn is kept as it was."""
        said = founded(turn.said or {}, known)
        turn = msgspec.structs.replace(turn, said=said)
        stand = self._stand(member, turn) if turn.usable else None
        return Speech(
            member=member,
            stand=stand,
            reason=Reason.INCOMPLETE if turn.usable and stand is None else turn.reason,
            late=turn.ending in LATE,
            broke=turn.ending == "over_budget" and "unasked" in turn.notes,
            critique=critique_of(said, self._labels(member)),
        )

    def _stand(self, member: Member, turn: Turn) -> Stand | None:
        """None: a refinement of a role that never said what the others have settled."""
        refines = self.phase == "refinement"
        before = self.hall.stands.get(member.name) if refines else None
        if before is None and "recommendation" not in (turn.said or {}):
            return None
        return stand_of(turn, before, self._labels(member))
