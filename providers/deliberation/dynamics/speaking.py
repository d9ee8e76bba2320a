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
from .hall import Hall
from .retrieval import Looked, shown, unfounded
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
        looked: What it had looked up.

    """

    member: Member
    stand: Stand | None
    reason: Reason = Reason.OK
    late: bool = False
    broke: bool = False
    looked: tuple[Looked, ...] = ()


class Round:
    """
    A round that is being held. All that its roles are shown is known before it begins (BR-13).

    Attributes:
        hall: The debate.
        number: From 1.
        phase: What it is for: the third and every later one refines (DD-32).
        table: Where the roles stand whom the others are shown.
        offered: Whether roles may look something up.
        scope: Its own time.

    """

    def __init__(self, hall: Hall, number: int) -> None:
        self.hall, self.number = hall, number
        self.phase: Phase = PHASES[min(number, len(PHASES)) - 1]
        self.table: Stands = {} if hall.last is None else hall.last.stands
        self.offered = hall.retrieval.offered
        self.scope = hall.floor.scope.inner("round", hall.rules.timeout_per_round)

    async def speak(self, member: Member) -> Speech:
        """Let a role speak; its look-ups are inside of its own time (AM-13)."""
        own = self.scope.inner("agent", self.hall.rules.timeout_per_agent)
        first = await self._turn(member, own)
        queries = (first.said or {}).get("queries") if first.ending == "ok" else None
        if not queries:
            return self._speech(member, first)
        looked = tuple(await self.hall.retrieval.look_up(queries, member.name, self.number, own))
        second = await self._turn(member, own, looked)
        speech = self._speech(member, second if second.usable else first, looked)
        return msgspec.structs.replace(speech, late=second.ending in LATE)

    async def speak_again(self, speech: Speech) -> Speech:
        """Ask a role again that cites what nobody retrieved; else what it said before counts."""
        own = self.scope.inner("agent", self.hall.rules.timeout_per_agent)
        wrong = unfounded(_cites(speech.stand), self.hall.retrieval.known)
        turn = await self._turn(speech.member, own, speech.looked, wrong)
        if not turn.usable:
            return speech
        again = self._speech(speech.member, turn, speech.looked)
        return msgspec.structs.replace(again, late=again.late or speech.late)

    def founded(self, speech: Speech) -> bool:
        """Whether everything that a role cites was retrieved in this debate (BR-21)."""
        return not unfounded(_cites(speech.stand), self.hall.retrieval.known)

    def stripped(self, speech: Speech) -> Speech:
        """Leave out of a role's evidence what nobody retrieved; its own words are kept as said."""
        if speech.stand is None or self.founded(speech):
            return speech
        known = self.hall.retrieval.known
        kept = tuple(one for one in speech.stand.evidence if not unfounded((one,), known))
        self.hall.transcript.note(f"unfounded citations: {speech.member.name}, {self.number}")
        return msgspec.structs.replace(
            speech, stand=msgspec.structs.replace(speech.stand, evidence=kept)
        )

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
            told["positions"] = peers(self.table, self._labels(member), member.role)
            told["yours"] = None if own is None else own.recommendation
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

    def _speech(self, member: Member, turn: Turn, looked: tuple[Looked, ...] = ()) -> Speech:
        stand = self._stand(member, turn) if turn.usable else None
        return Speech(
            member=member,
            stand=stand,
            reason=Reason.INCOMPLETE if turn.usable and stand is None else turn.reason,
            late=turn.ending in LATE,
            broke=turn.ending == "over_budget" and "unasked" in turn.notes,
            looked=looked,
        )

    def _stand(self, member: Member, turn: Turn) -> Stand | None:
        """None: a refinement of a role that never said what the others have settled."""
        refines = self.phase == "refinement"
        before = self.hall.stands.get(member.name) if refines else None
        if before is None and "recommendation" not in (turn.said or {}):
            return None
        return stand_of(turn, before, self._labels(member))


def _cites(stand: Stand | None) -> tuple[str, ...]:
    return () if stand is None else (*stand.evidence, stand.position)
