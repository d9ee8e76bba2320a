"""What one debate has at hand, and what is written down of it while it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from ....gateway.answers import Usage
from ....gateway.plugins import Call, Draft, Voices
from ....gateway.questions import Question
from ..drafts import schema_of
from ..floor import Floor
from ..panel import Member
from ..protocols.curtain import Curtain
from ..protocols.packets import Item, Packet
from ..roles import Role
from ..transcript import Transcript
from ..turns import Kind, Turn, Wanted
from .briefs import brief, meanings
from .minutes import Held, Synthesis
from .retrieval import Retrieval
from .risk import Risk
from .rules import Rules
from .schemas import Criterion
from .stands import Stand, Veil, evidence_ids
from .states import Facts, State

if TYPE_CHECKING:
    from ....gateway.records import Decision

SKEPTIC = "skeptic"
NEARLY = 0.05  # seconds before the end in which nobody is asked any more
LONG_AGO = 0.0  # on any clock


class House(Voices, Protocol):
    """What a debate needs of a gateway: members that write, and points that are decided."""

    async def ask(self, point: str, ask: Any, *, within: Call | None = None) -> Decision[Any]:  # noqa: ANN401 - the point's own state
        """Decide *point* about a state."""
        ...


class Hall:
    """
    One debate: who takes part, where they speak, and what has been said so far.

    Attributes:
        session: UUID of this debate.
        question: What is asked.
        options: What may be recommended → what it means.
        state: What it is about, in plain values, whatever the host gave.
        risk: What the host's policy says of it.
        rules: What it is held by.
        panel: The roles that debate.
        council: Role → member; empty: there is no council.
        synthesizer: Who writes a readable account; None: nobody.
        house: Reaches members, and decides the points on the way.
        call: The one that the debate answers.
        floor: Where everybody speaks.
        retrieval: What may be looked up.
        state_now: Where the debate stands in its table.
        facts: What the next transition is decided by.
        path: Ids of the transitions made.
        rounds: Those that were held.
        proposal: The position of the council's synthesizer, where no round was held.
        lane: The value of DEBATE_LANE.
        breaker: The record of the breaker; None: it did not trip.
        ended: How the rounds ended: a trigger of the breaker, `agreed`, `settled`, or empty.
        synthesis: Once there is one.
        escalation: The value of DEBATE_ESCALATION.
        sitting: What the council came to; None: it has not sat.
        advice: The same where a person decides nonetheless.

    """

    def __init__(  # noqa: PLR0913 - what a debate is made of
        self,
        *,
        session: str,
        question: Question,
        state: object,
        risk: Risk,
        rules: Rules,
        panel: Sequence[Member],
        council: Mapping[str, Member],
        synthesizer: Member | None,
        house: House,
        call: Call,
        floor: Floor,
        retrieval: Retrieval,
    ) -> None:
        self.session, self.question, self.state, self.risk = session, question, state, risk
        self.options = meanings(question)
        self.rules, self.panel, self.council = rules, tuple(panel), council
        self.synthesizer, self.house, self.call = synthesizer, house, call
        self.floor, self.retrieval = floor, retrieval
        self.state_now = State.ROUTING
        self.facts = Facts(rules=rules, roles=len(self.panel), council=bool(council))
        self.path: list[str] = []
        self.rounds: list[Held] = []
        self.proposal: Stand | None = None
        self.lane: Mapping[str, Any] = {}
        self.breaker: Mapping[str, Any] | None = None
        self.ended = ""
        self.synthesis: Synthesis | None = None
        self.escalation: Mapping[str, Any] = {}
        self.sitting: Mapping[str, Any] | None = None
        self.advice: Mapping[str, Any] | None = None

    @property
    def choices(self) -> list[Mapping[str, str]]:
        """What may be recommended, in its order, which a mapping would lose on its way."""
        return [{"option": name, "means": text} for name, text in self.options.items()]

    @property
    def transcript(self) -> Transcript:
        """What happened so far."""
        return self.floor.transcript

    @property
    def seats(self) -> tuple[Member, ...]:
        """Who speaks: in the simple lane the first role alone (DD-01)."""
        return self.panel[:1] if self.facts.lane == "SIMPLE" else self.panel

    @property
    def last(self) -> Held | None:
        """The last round that was held."""
        return self.rounds[-1] if self.rounds else None

    @property
    def stands(self) -> dict[str, Stand]:
        """The last usable position of every role, whatever round it is from."""
        found = {name: one for held in self.rounds for name, one in held.fresh.items()}
        if self.proposal is not None:
            found[self.proposal.member] = self.proposal
        return {name: found[name] for name in sorted(found)}

    @property
    def check(self) -> Mapping[str, Any] | None:
        """The last checkpoint; None: there was none."""
        return next((one.check for one in reversed(self.rounds) if one.check is not None), None)

    @property
    def applies(self) -> bool:
        """Whether there was anything to converge: one role alone agrees with itself (AM-37)."""
        return self.facts.lane != "SIMPLE" and bool(self.rounds)

    @property
    def open_criteria(self) -> tuple[Criterion, ...]:
        """What the last checkpoint left open."""
        check = None if self.last is None else self.last.check
        return () if check is None else tuple(check["open"])

    def writes(self, provider: str) -> bool:
        """
        Whether there is a provider of this name, and it writes.

        Raises:
            SetupError: There is one, but its variables are wrong.

        """
        return self.house.knows_provider(provider) and self.house.can_write(provider)

    def know(self, **facts: Any) -> None:  # noqa: ANN401 - any field of `Facts`
        """Take note of *facts*."""
        self.facts = msgspec.structs.replace(self.facts, **facts)

    def veil(self, role: Role, before: int | None = None) -> Veil:
        """
        Give what takes out of a text who said it, and which evidence *role* may not see (BR-14).

        Args:
            role: Of who is to read it.
            before: Only models are known that answered before this round, so that a debate that
                is gone on with shows the same; None: all.

        """
        panel = {one.name for one in self.panel}
        ids = evidence_ids(self.state)
        curtain = Curtain.of(
            Packet(subject="", state=self.state, items=tuple(Item(one, "") for one in sorted(ids))),
            "",
            "",
            names={name for one in self.panel for name in (one.name, one.provider)}
            - {one.role.name for one in self.panel},
            served={
                turn.model
                for turn in self.turns
                if turn.member in panel and (before is None or turn.round < before)
            },
            about=repr(self.question),
        )
        seen = ids if role.evidence is None else role.evidence
        return lambda text: curtain.bare(text, seen)

    def weight(self, member: str) -> float:
        """What a role counts in the synthesis."""
        skeptics = {one.name for one in self.panel if one.role.name == SKEPTIC}
        return self.rules.skeptic_weight if member in skeptics else 1.0

    def wanted(  # noqa: PLR0913 - what tells one turn from another
        self,
        member: Member,
        kind: Kind,
        task: str,
        state: Mapping[str, Any],
        forms: tuple[type[msgspec.Struct], type[msgspec.Struct] | None],
        *,
        number: int = 0,
        attempt: int = 1,
        closing: bool = False,
        tag: str = "",
    ) -> Wanted:
        """Say what is wanted of *member*: something written, in the words of its role."""
        draft = Draft(
            task=kind,
            instructions=brief(member.role, self.question, task),
            state={"options": self.choices, **state},
            schema=schema_of(forms[0]),
            role=member.role.name,
            round=number,
        )
        return Wanted(
            member=member,
            kind=kind,
            round=number,
            attempt=attempt,
            tag=tag,
            draft=draft,
            form=forms[0],
            partial_form=forms[1],
            closing=closing,
        )

    async def verdict(
        self, point: str, state: Callable[[], Mapping[str, Any]], key: str, kind: str = "verdict"
    ) -> Mapping[str, Any]:
        """
        Ask a decision point, unless the transcript knows what it said.

        Once the time is up, no provider is asked any more: its calculator decides.
        """
        if (known := self.transcript.recorded(kind, key)) is None:
            decided = await self.house.ask(point, state(), within=self._within())
            known = {"point": point, "by": decided.provider, **decided.value}
        return self.transcript.entry(kind, known, key)

    def _within(self) -> Call:
        """
        Give the call of a nested decision: a provider has as long as a role, then its calculator.

        One whose time is up asks no provider.
        """
        if self.over:
            return msgspec.structs.replace(self.call, deadline=LONG_AGO)
        own = self.floor.scope.inner("verdict", self.rules.timeout_per_agent)
        return own.within(self.call, behind=0.0)

    @property
    def over(self) -> bool:
        """Whether the time of the rounds is up, or so nearly that nobody is asked any more."""
        left = self.floor.scope.left
        return left is not None and left <= NEARLY

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All turns so far, in the order in which they ended."""
        return self.transcript.turns

    @property
    def usage(self) -> Usage | None:
        """What all turns used together; None where nobody knows anything."""
        used = [one.usage for one in self.turns if one.usage is not None]
        if not used:
            return None
        costs = [one.cost_usd for one in used if one.cost_usd is not None]
        return Usage(
            sum(one.input_tokens for one in used),
            sum(one.output_tokens for one in used),
            sum(costs) if costs else None,
            any(one.estimated for one in used),
        )
