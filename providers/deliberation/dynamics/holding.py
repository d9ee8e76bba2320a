"""A debate that is held from code, gone on with, or run again from its transcript."""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from ....gateway.errors import DeclarationError
from ....gateway.plugins import Call
from ....gateway.questions import Question
from ....gateway.state import State, frozen
from ..allowance import Allowance
from ..floor import Floor
from ..keeping import Lost
from ..panel import Member
from ..scopes import CALLER, Scope
from ..transcript import Transcript
from .council import SEATS
from .engine import failure, run
from .hall import Hall, House
from .log import escalated_to
from .outcome import Debated, outcome
from .retrieval import Retrieval, Retrieve
from .risk import plain_state, risk_of
from .rules import Rules
from .states import State as At

KIND = "debate"


class Debate:
    """
    A debate about one question, held by rules.

    Args:
        question: What is asked; its options, truths or levels are what may be recommended.
        panel: The roles that debate; the first one answers alone in the simple lane.
        council: Critic, advocate and synthesizer, by these names; empty: what wants a council goes
            to a person.
        rules: What it is held by.
        synthesizer: Who writes a readable account of it; None: nobody.
        retrieve: The host's own search, see `Retrieve`; None: nothing can be looked up.
        risk_field: The field of the state that holds the stakes, see `Risk`.

    Raises:
        DeclarationError: Two members have one name, or the council lacks one of its three.

    """

    def __init__(  # noqa: PLR0913 - what a debate is made of
        self,
        question: Question,
        panel: Sequence[Member],
        *,
        council: Sequence[Member] = (),
        rules: Rules | None = None,
        synthesizer: Member | None = None,
        retrieve: Retrieve | None = None,
        risk_field: str = "risk",
    ) -> None:
        self.question, self.panel = question, tuple(panel)
        self.council = {one.name: one for one in council}
        self.rules = Rules() if rules is None else rules
        self.synthesizer, self.retrieve, self.risk_field = synthesizer, retrieve, risk_field
        names = [one.name for one in self.panel]
        if len(set(names)) < len(names):
            raise DeclarationError("two members of the panel have one name")
        if council and set(self.council) != set(SEATS):
            raise DeclarationError(f"a council has three members: {', '.join(SEATS)}")

    async def held(  # noqa: PLR0913 - what a debate is held with
        self,
        gateway: House,
        state: State,
        *,
        call: Call | None = None,
        path: Path | None = None,
        texts: bool = False,
        session: str = "",
        lost: Lost | None = None,
    ) -> Debated:
        """
        Hold it about *state*.

        Args:
            gateway: Reaches members and decision points.
            state: What it is about; data, never instructions.
            call: The one that it answers; its deadline ends it.
            path: Where the transcript is kept; None: in memory.
            texts: Keep what members are shown, and the state, so that it can be run again.
            session: UUID of the debate; empty: a new one.
            lost: Is told where the transcript cannot be begun, or gone on with, in its file; the
                debate is held all the same.

        Raises:
            CancelledError: The caller gave up; the transcript is kept.
            NoAnswer: `wrong_type`: the stakes cannot be read.
            TranscriptError: The transcript cannot be begun, and there is no *lost* to be told.

        """
        risk_of(state, self.risk_field)
        header = self.header(state, session or str(uuid.uuid4()), _now(), texts=texts)
        transcript = Transcript.begin(path, header, texts=texts, lost=lost)
        return await self._on(gateway, state, transcript, call)

    async def resumed(
        self,
        gateway: House,
        state: State,
        path: Path,
        *,
        call: Call | None = None,
        texts: bool = False,
    ) -> Debated:
        """
        Go on with one that was broken off; no turn that has ended is asked for again (BR-18).

        A debate that has ended is given back from its transcript. One that was broken off before
        its header was whole is begun anew, with *texts* as in `held`.

        Raises:
            TranscriptError: The transcript is damaged, or somebody else is writing it.
            Mismatch: It is the transcript of another debate.

        """
        risk_of(state, self.risk_field)

        def headed(told: Mapping[str, Any] | None) -> Mapping[str, Any]:
            if told is None:
                return self.header(state, str(uuid.uuid4()), _now(), texts=texts)
            kept = "state" in told
            return self.header(state, told.get("session", ""), told.get("begun", ""), texts=kept)

        transcript = Transcript.resume(path, headed, texts=texts)
        return await self._on(gateway, state, transcript, call)

    def header(self, state: State, session: str, begun: str, *, texts: bool) -> Mapping[str, Any]:
        """Write what its transcript begins with."""
        council = [*self.council.values()]
        everybody = [*self.panel, *council, *filter(None, [self.synthesizer])]
        text = frozen(state)[1]
        told: dict[str, Any] = {
            "kind": KIND,
            "session": session,
            "begun": begun,
            "question": self.question.instructions,
            "asked": msgspec.json.encode(self.question).decode(),  # its order is part of it
            "rules": msgspec.to_builtins(self.rules),
            "members": [_told(one) for one in self.panel],
            "council": [_told(one) for one in council],
            "synthesizer": None if self.synthesizer is None else _told(self.synthesizer),
            "retrieves": self.retrieve is not None,
            "risk_field": self.risk_field,
            "writers": sorted({one.provider for one in everybody}),
            "state_hash": hashlib.sha256(text.encode()).hexdigest(),
        }
        if texts:
            told["state"] = text if isinstance(state, str) else msgspec.json.decode(text)
        return cast("Mapping[str, Any]", msgspec.json.decode(msgspec.json.encode(told)))

    async def _on(
        self, gateway: House, state: State, transcript: Transcript, call: Call | None
    ) -> Debated:
        asked = Call(point="DEBATE") if call is None else call
        scope = self.opened(asked, transcript.elapsed)
        floor = Floor(gateway, asked, scope, self.allowance(), transcript)
        try:
            hall = self.hall(gateway, state, floor, asked)
            return await concluded(hall, None)
        finally:
            transcript.release()

    def opened(self, call: Call, elapsed: float = 0.0) -> Scope:
        """
        Begin the time of the rounds.

        Something is held back where a synthesizer speaks after them, or where the caller waits no
        longer than they may take: its fallback needs time, too (BR-08).
        """
        left = max(0.0, self.rules.timeout_total - elapsed)
        scope = Scope.opened("total", left, call)
        if self.synthesizer is None and scope.limit != CALLER:
            return scope
        return Scope.opened("total", left, call, held=self.rules.reserve)

    def allowance(self) -> Allowance:
        """Give what it may use."""
        rules = self.rules
        return Allowance(rules.max_calls, rules.max_tokens, rules.max_cost_usd, rules.reserve)

    def hall(self, house: House, state: State, floor: Floor, call: Call) -> Hall:
        """
        Make it ready.

        Raises:
            NoAnswer: `wrong_type`: the stakes cannot be read.

        """
        return Hall(
            session=floor.transcript.header["session"],
            question=self.question,
            state=plain_state(state),
            risk=risk_of(state, self.risk_field),
            rules=self.rules,
            panel=self.panel,
            council=self.council,
            synthesizer=self.synthesizer,
            house=house,
            call=call,
            floor=floor,
            retrieval=Retrieval(self.rules, self.retrieve, floor.transcript),
        )


async def concluded(hall: Hall, ended: str | None) -> Debated:
    """
    Hold a debate to its end, and close its transcript.

    Args:
        hall: The debate.
        ended: When it ended, where that is recorded; None: now.

    """
    await run(hall)
    failed = failure(hall).reason if hall.state_now is At.FAILED else None
    recorded = hall.transcript.footer
    when = ended or (_now() if recorded is None else str(recorded["ended"]))
    made = outcome(hall, failed, when)
    hall.transcript.close(footer(hall, made, when))
    return made


def footer(hall: Hall, made: Debated, ended: str) -> Mapping[str, Any]:
    """Write what a transcript ends with."""
    return {
        "state": made.state.value,
        "lane": hall.facts.lane,
        "recommendation": made.recommendation,
        "confidence": made.confidence,
        "convergence": made.convergence,
        "status": made.status,
        "responded": made.responded,
        "expected": made.expected,
        "missing": {name: why.value for name, why in made.missing.items()},
        "rounds": len(made.rounds),
        "stop": None if made.stop is None else made.stop.value,
        "reason": list(made.reasons),
        "escalated": escalated_to(hall),
        "flags": list(made.flags),
        "failed": None if made.failed is None else made.failed.value,
        "path": list(made.path),
        "log": made.log,
        "ended": ended,
    }


def _told(member: Member) -> Mapping[str, Any]:
    role = member.role
    seen = None if role.evidence is None else sorted(role.evidence)
    told = {"name": role.name, "instructions": role.instructions, "description": role.description}
    return {"name": member.name, "provider": member.provider, "role": {**told, "evidence": seen}}


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
