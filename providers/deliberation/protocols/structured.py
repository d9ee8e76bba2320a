"""
A structured debate: rounds of critique and revision before one anonymous table.

Both steps of a round see the table of the round before, so that nobody gains by speaking late.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import msgspec

from ....gateway.errors import DeclarationError
from ..floor import Floor
from ..panel import Member
from ..roles import get_role
from .briefs import Brief, Task
from .closing import ended
from .deliberated import Deliberated, Latest
from .forms import Form
from .independent import opening
from .packets import Packet
from .sitting import Sitting
from .stopping import StopReason
from .table import Addressed, Table, addressed_to, committee_state, critiques_of, routed
from .terms import Settings, Terms

__all__ = ["structured_debate"]

FEW = 2  # estimates that can be compared


async def structured_debate(
    packet: Packet,
    panel: Sequence[Member],
    floor: Floor,
    *,
    form: Form,
    **settings: Unpack[Settings],
) -> Deliberated:
    """
    Let *panel* answer, criticise each other and answer again, for at most `rounds` rounds.

    At most n·(1 + 2R) calls for n debaters and R rounds run, and one for a skeptic; members
    that cannot write give no critiques, and cost one call less a round.

    Args:
        packet: What it is about.
        panel: Who debates.
        floor: Where they speak; its transcript is closed at the end.
        form: What they answer in.
        **settings: The fields of `Terms`.

    Raises:
        DeclarationError: No debater, two of one name, a skeptic that nobody speaks for or that
            is among the `weights`, or a setting out of range.
        CancelledError: The caller gave up; the transcript holds what was finished.
        Mismatch: The floor's transcript is of something else.

    """
    terms = Terms(**settings)
    debaters, judge, note = _seats(panel, terms)
    weighed = _weighing(terms, judge)
    sitting = Sitting(packet, debaters, floor, form, weighed, _label(terms), judge=judge)
    if note:
        sitting.note(note)
    if terms.rounds == 0:
        sitting.note("rounds=0: independent answers under the debate's label")
    return await ended(sitting, _run(sitting))


def _label(terms: Terms) -> str:
    """A placebo is called one, whatever else is set."""
    if terms.placebo or terms.placebo_content is not None:
        return "placebo_debate"
    watched = terms.skeptic is not None or terms.verify
    return "debate_skeptic_verification" if watched else "structured_debate"


def _seats(panel: Sequence[Member], terms: Terms) -> tuple[tuple[Member, ...], Member | None, str]:
    """Tell the debaters, the skeptic, and what is to be noted of where it came from."""
    wanted = terms.skeptic
    if wanted is None:
        return tuple(panel), None, ""
    if isinstance(wanted, Member):
        return tuple(one for one in panel if one.name != wanted.name), wanted, ""
    found = [one for one in panel if wanted in (one.role.name, one.name)]
    if found:
        return tuple(one for one in panel if one is not found[0]), found[0], ""
    if not terms.skeptic_provider:
        raise DeclarationError(f"the role {wanted!r} has no provider: nobody speaks for it")
    judge = Member(name=wanted, provider=terms.skeptic_provider, role=get_role(wanted))
    return tuple(panel), judge, f"skeptic: {wanted} is not of the panel; taken from the registry"


def _weighing(terms: Terms, judge: Member | None) -> Terms:
    """Put the skeptic's weight beside the others'; two that differ are refused."""
    if judge is not None and judge.name in (terms.weights or {}):
        raise DeclarationError(f"what {judge.name!r} weighs, as a skeptic, is `skeptic_weight`")
    if judge is None or (terms.weights is None and terms.skeptic_weight in (0.0, 1.0)):
        return terms
    weights = {**(terms.weights or {}), judge.name: terms.skeptic_weight}
    return msgspec.structs.replace(terms, weights=weights)


async def _run(sitting: Sitting) -> StopReason:
    await opening(sitting)
    stop = sitting.check() or await _rounds(sitting)
    if sitting.judge is not None:
        await _verdict(sitting, sitting.judge)
    if sitting.flags.unresolved:
        sitting.note(f"unresolved flags: {', '.join(sitting.flags.unresolved)}")
    return stop


async def _rounds(sitting: Sitting) -> StopReason:
    for number in range(1, sitting.terms.rounds + 1):
        before = sitting.now()
        if len(before.estimates) < FEW:
            sitting.note(f"stopped_early_at={number - 1}: fewer than two valid estimates")
            return StopReason.NO_QUORUM
        sitting.rounds = number
        await _Round(sitting, before).run()
        if sitting.cut is not None and not sitting.asked(number):
            sitting.rounds = number - 1  # a round in which nobody was asked was none
            return sitting.cut
        if (stop := sitting.check(before)) is not None:
            return stop
    return StopReason.MAX_ROUNDS


class _Round:
    """One round: every prompt of it depends on the estimates before it alone."""

    def __init__(self, sitting: Sitting, before: Latest) -> None:
        self.sitting, self.before, self.number = sitting, before, sitting.rounds
        self.curtain, self.scope = sitting.curtain(), sitting.round_scope()
        self.tables = {one.name: self._table(one) for one in sitting.panel}

    async def run(self) -> None:
        """Let those who can write criticise, and everybody answer again."""
        sent = await self._critiques()
        if self.sitting.cut is not None:
            return
        briefs = [
            msgspec.structs.replace(self._brief("revision", one), critiques=self._about(one, sent))
            for one in self.sitting.panel
        ]
        await self.sitting.step(briefs, self.scope)

    async def _critiques(self) -> list[Addressed]:
        writers = [one for one in self.sitting.panel if self.sitting.can_write(one)]
        briefs = [self._brief("critique", one) for one in writers]
        turns = await self.sitting.step(briefs, self.scope)
        return [
            one
            for author, turn in zip(writers, turns, strict=True)
            for one in routed(
                author.name,
                self.tables[author.name],
                critiques_of(turn),
                estimated=author.name in self.before.estimates,
            )
        ]

    def _table(self, reader: Member) -> Table:
        told = self.sitting.terms.describe_roles
        return committee_state(
            self.number,
            self.before.estimates,
            reader=reader.name,
            seen=self.sitting.seen(reader),
            curtain=self.curtain,
            show=self.sitting.form.shown,
            placebo=self.sitting.terms.placebo_content,
            roles={one.name: one.role.description for one in self.sitting.panel} if told else {},
        )

    def _brief(self, task: Task, member: Member) -> Brief:
        return Brief(
            task=task,
            member=member,
            packet=self.sitting.view(member),
            round=self.number,
            committee=self.tables[member.name].state,
            flags=self.sitting.flags.of(member.name),
            max_tokens=self.sitting.terms.max_tokens,
        )

    def _about(self, reader: Member, sent: Sequence[Addressed]) -> Sequence[Mapping[str, Any]]:
        """Show a reader what was said of it; in a placebo, what was said in another case."""
        placebo = self.sitting.terms.placebo_content
        seen = self.sitting.seen(reader)
        mine = addressed_to(reader.name, sent, round=self.number, seen=seen, curtain=self.curtain)
        return mine if placebo is None else placebo.critiques[: len(mine)]


async def _verdict(sitting: Sitting, judge: Member) -> None:
    """Let the skeptic judge the final estimates; whatever becomes of it, the debate stands."""
    estimates = sitting.now().estimates
    if not estimates:
        sitting.note(f"skeptic: {judge.name} had nothing to judge")
        return
    number = sitting.rounds + 1
    table = committee_state(
        number,
        estimates,
        reader=judge.name,
        seen=sitting.seen(judge),
        curtain=sitting.curtain(),
        show=sitting.form.shown,
    )
    brief = Brief(
        task="skeptic_verdict",
        member=judge,
        packet=sitting.view(judge),
        round=number,
        committee=table.state,
        max_tokens=sitting.terms.max_tokens,
        closing=True,
    )
    [turn] = await sitting.step([brief])
    sitting.note(f"skeptic: {judge.name} judged the final estimates: {turn.ending}")
