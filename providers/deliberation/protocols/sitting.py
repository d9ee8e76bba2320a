"""What all protocols share: one panel before one packet, step by step, until somebody stops it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ....gateway.errors import DeclarationError
from ..floor import Floor
from ..measures.dispersion import should_stop
from ..panel import Member
from ..scopes import Scope
from ..turns import Turn
from .briefs import Brief
from .curtain import Curtain
from .deliberated import UNASKED, Latest, latest, ran_out
from .forms import Form
from .packets import Packet, content_hash, role_view, visible_ids
from .stopping import Checkpoint, StopReason
from .terms import Terms
from .verification import Flags

__all__ = ["REFINED", "Sitting"]

REFINED = "self_refine"  # what a single member's second answer is called

WRITTEN = ("critique", "self_critique")  # kinds of turn without an estimate


class Sitting:
    """
    A deliberation under way.

    What happens next depends on turns and on nothing else, so that a transcript that is
    resumed or replayed comes to the same.

    Attributes:
        turns: So far, step by step.
        notes: So far.
        rounds: Rounds that were run.
        flags: What checks found.
        spreads: How far the estimates lay apart after each round.
        would_have_stopped: The first round after which the stopping rule held and was not
            acted on.
        judge: A blinded skeptic, who is not of the panel.
        cut: What ended it before its time, `TIMEOUT` or `BUDGET`; None: nothing.

    """

    def __init__(  # noqa: PLR0913 - what a deliberation is made of
        self,
        packet: Packet,
        panel: Sequence[Member],
        floor: Floor,
        form: Form,
        terms: Terms,
        protocol: str,
        *,
        judge: Member | None = None,
    ) -> None:
        _seated(panel, judge, terms)
        self.packet, self.panel, self.form, self.terms = packet, tuple(panel), form, terms
        self.protocol, self.case, self.floor = protocol, content_hash(packet), floor
        self.turns: list[Turn] = []
        self.notes: list[str] = []
        self.rounds, self.flags = 0, Flags()
        self.spreads: list[Mapping[str, float] | None] = []
        self.would_have_stopped: int | None = None
        self.judge = judge
        self.cut: StopReason | None = None
        self._read: list[tuple[Turn, Any]] = []
        self._views = {one.name: role_view(packet, one.role) for one in panel}
        self._seen = {one.name: visible_ids(packet, one.role) for one in panel}

    @property
    def everybody(self) -> tuple[Member, ...]:
        """The panel, and the skeptic where there is one."""
        return self.panel if self.judge is None else (*self.panel, self.judge)

    def view(self, member: Member) -> Packet:
        """Give the part of the packet that *member* may see; found once for the panel."""
        return self._views.get(member.name) or role_view(self.packet, member.role)

    def seen(self, member: Member) -> frozenset[str]:
        """Name the items of that part."""
        known = self._seen.get(member.name)
        return visible_ids(self.packet, member.role) if known is None else known

    def can_write(self, member: Member) -> bool:
        """Whether *member* can be asked for critiques."""
        return self.floor.can_write(member.provider)

    def curtain(self) -> Curtain:
        """Draw the curtain with all names that are known by now."""
        names = {one for member in self.everybody for one in (member.name, member.provider)}
        return Curtain.of(
            self.packet,
            self.case,
            self.terms.seed,
            names=names - {member.role.name for member in self.everybody},
            served={turn.model for turn in self.turns},
            about=repr(self.form),
        )

    def round_scope(self) -> Scope:
        """Open a round's scope within the deliberation's."""
        return self.floor.scope.inner("round", self.terms.round_seconds)

    async def step(self, briefs: Iterable[Brief], within: Scope | None = None) -> list[Turn]:
        """
        Give all members of a step their turns at once: none sees another's of the same step.

        Sets what cut it short, if anything did.
        """
        wanted = [self.form.wanted(one) for one in briefs]
        turns = await self.floor.together(wanted, self.terms.turn_seconds, within)
        self.turns += turns
        self._read += [(turn, self._estimate(turn)) for turn in turns]
        self.cut = self.cut or _cut(turns)
        return turns

    def _estimate(self, turn: Turn) -> Any | None:  # noqa: ANN401 - the form's own shape
        if turn.kind in WRITTEN:
            return None
        estimate = self.form.estimate(turn)
        if turn.usable and estimate is None:
            self.note(f"off_scale: {turn.member} in round {turn.round}")
        return estimate

    def asked(self, since: int) -> bool:
        """Whether anybody was asked anything from round *since* on."""
        return any(turn.round >= since and UNASKED not in turn.notes for turn in self.turns)

    def now(self) -> Latest:
        """Say where the members stand."""
        return latest(self._read, carry=self.terms.on_failed_revision == "carry")

    def take_over(self, turns: Sequence[Turn]) -> None:
        """Stand where *turns* lead to, as after a step that was broken off."""
        self.turns = list(turns)
        self._read = [(turn, self._estimate(turn)) for turn in turns]

    def counted(self) -> Mapping[str, Any]:
        """Give the estimates that are aggregated: a skeptic without weight is only reported."""
        apart = self.judge is not None and self.terms.skeptic_weight == 0
        name = self.judge.name if self.judge is not None and apart else ""
        return {one: given for one, given in self.now().estimates.items() if one != name}

    def note(self, text: str) -> None:
        """Note *text*."""
        if text not in self.notes:
            self.notes.append(text)

    def verify(self) -> None:
        """Check all current estimates against the evidence, if the terms say so."""
        if not self.terms.verify:
            return
        standing = self.now().estimates
        found = {
            member.name: self.form.flags(standing[member.name], self.packet, self.seen(member))
            for member in self.panel
            if member.name in standing
        }
        self.flags.replace(self.rounds, found)
        for name in sorted(self.flags.standing):
            told = "; ".join(self.flags.of(name))
            self.note(f"flags in round {self.rounds}: {name}: {told}")

    def check(self, before: Latest | None = None) -> StopReason | None:
        """
        Close a round: say how far the members lie apart, and whether that is the end.

        Args:
            before: Where they stood before it; None: it was the first one.

        """
        self.verify()
        after = self.now()
        spread = self.form.spread(after.estimates)
        self.spreads.append(spread)
        found = self._moved(before, after)
        stop = self.cut or self._stopped(found)
        body = {
            "protocol": self.protocol,
            "round": self.rounds,
            "estimates": len(after.estimates),
            "stale": sorted(after.stale),
            **({"dispersion": None} if spread is None else spread),
            "stable": found.stable,
            "agreed": found.agreed,
            "stop": "" if stop is None else stop.value,
        }
        told = self.floor.transcript.entry("verdict", body, f"check/{self.rounds}")
        return StopReason(told["stop"]) if told["stop"] else None

    def _moved(self, before: Latest | None, after: Latest) -> Checkpoint:
        """
        Compare a round's two ends: of all who stand, and of those who answered in it.

        Where somebody joined or was dropped, the two ends are of different panels, and nothing
        is stable. An estimate that was only carried along did not stay: it must not look
        settled, so that the others have to be stable without it, too.
        """
        agreed = self.form.agreed(after.estimates, self.terms.agreement)
        if before is None or before.estimates.keys() != after.estimates.keys():
            return Checkpoint(agreed=agreed)
        fresh = after.estimates.keys() - after.stale
        stays = self._stays(before, after, after.estimates) and self._stays(before, after, fresh)
        return Checkpoint(stable=stays, agreed=agreed)

    def _stays(self, before: Latest, after: Latest, of: Collection[str]) -> bool:
        """Whether the members *of* a panel lie as far apart as before, none having moved."""
        old = {name: one for name, one in before.estimates.items() if name in of}
        new = {name: one for name, one in after.estimates.items() if name in of}
        tolerance = self.terms.tolerance
        was, now = (_dispersion(self.form.spread(one)) for one in (old, new))
        return should_stop(was, now, tolerance) and not self.form.moved(old, new, tolerance)

    def _stopped(self, found: Checkpoint) -> StopReason | None:
        """Act on the stopping rule, or remember that it would have been acted on."""
        if found.stop is None:
            return None
        if self.terms.adaptive and self.rounds < self.terms.rounds:
            self._say_stopped()
            return found.stop
        if self.would_have_stopped is None:
            self.would_have_stopped = self.rounds
        return None

    def _say_stopped(self) -> None:
        before, after = self.spreads[-2], self.spreads[-1]
        told = " -> ".join(f"{_dispersion(one) or 0.0:.5f}" for one in (before, after))
        self.note(
            f"stopped_early_at={self.rounds}: dispersion {told}, tolerance "
            f"{self.terms.tolerance}, pre-specified rounds {self.terms.rounds}"
        )


def _seated(panel: Sequence[Member], judge: Member | None, terms: Terms) -> None:
    """
    Check who takes part.

    Raises:
        DeclarationError: Nobody, two of one name, or a weight for somebody else.

    """
    named = [member.name for member in panel]
    if not named or len(set(named)) < len(named):
        raise DeclarationError(f"a panel is members, each with its own name; got {named}")
    known = {*named, REFINED, *([] if judge is None else [judge.name])}
    if strangers := sorted((terms.weights or {}).keys() - known):
        raise DeclarationError(f"{strangers[0]!r} has a weight and is not of the panel")


def _cut(turns: Sequence[Turn]) -> StopReason | None:
    """Tell from a step's turns whether the whole deliberation's time or means ran out."""
    ends = {ran_out(turn) for turn in turns}
    return next((one for one in (StopReason.TIMEOUT, StopReason.BUDGET) if one in ends), None)


def _dispersion(spread: Mapping[str, float] | None) -> float | None:
    return None if spread is None else spread["dispersion"]
