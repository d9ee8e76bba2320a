"""How a committee comes together: its floor, and which protocol it speaks by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ....gateway.chance import new_id
from ....gateway.plugins import Call
from ....gateway.questions import Ask
from ..allowance import Allowance
from ..floor import Floor
from ..keeping import Lost
from ..protocols import (
    Deliberated,
    Packet,
    Typed,
    content_hash,
    cost_matched_single,
    independent,
    structured_debate,
)
from ..scopes import Scope
from ..transcript import Transcript
from .seats import SKEPTIC, Seats
from .settings import CommitteeSettings

if TYPE_CHECKING:
    from pathlib import Path

    from ....gateway.plugins import Voices


class Minutes(Transcript):
    """A transcript that outlives its protocol: the judge and the verdict come before the footer."""

    _footer: Mapping[str, Any] | None = None

    def close(self, footer: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Keep what the protocol says of its end until all has ended."""
        self._footer = footer or {}
        return self._footer

    def release(self) -> None:
        """Hold on to the file: the protocol that lets go of it is not the last to write."""

    def let_go(self) -> None:
        """Let go of the file, whatever ended the session."""
        super().release()

    def conclude(self, verdict: Mapping[str, Any]) -> None:
        """Write what it came to, and how it ended."""
        self.entry("verdict", verdict, key="committee")
        super().close(self._footer)


KEPT = 0.1
"""Seconds kept before the caller's deadline, in which what is in hand is put together …"""

MOST_KEPT = 0.25  # … and at most this share of the time that is left
FOR_JUDGE = 0.1  # share of time and calls that is a judge's


def floor_of(  # noqa: PLR0913 - what a floor is made of
    settings: CommitteeSettings,
    seats: Seats,
    voices: Voices,
    call: Call,
    packet: Packet,
    ask: Ask,
    *,
    lost: Lost | None = None,
) -> tuple[Minutes, Floor]:
    """Open the floor: its time, its budget, its transcript."""
    closes = seats.judge is not None
    kept = max(_kept(settings, call), FOR_JUDGE if closes else 0.0)
    scope = Scope.opened("total", settings.timeout_seconds, call, held=kept)
    allowance = Allowance(
        settings.max_calls,
        settings.max_tokens,
        settings.max_cost_usd,
        reserve=_reserve(settings.max_calls) if closes else 0.0,
    )
    path, header = _heading(settings, seats, voices, packet, ask)
    minutes = Minutes.begin(path, header, texts=settings.transcript_texts, lost=lost)
    return minutes, Floor(voices, call, scope, allowance, minutes)


def _heading(
    settings: CommitteeSettings, seats: Seats, voices: Voices, packet: Packet, ask: Ask
) -> tuple[Path | None, dict[str, object]]:
    header: dict[str, object] = {"kind": "committee", "point": packet.subject}
    path = None
    if settings.transcripts is not None:
        path = settings.transcripts / f"{packet.subject}-{new_id()}.jsonl"
        header |= _told(settings, seats, voices, packet, ask)
    return path, header


def _kept(settings: CommitteeSettings, call: Call) -> float:
    """The share of a caller's time that is kept: at its end all that was said would be lost."""
    left = Scope.opened("total", settings.timeout_seconds, call).left
    if call.deadline is None or not left:
        return 0.0
    return min(MOST_KEPT, KEPT / left)


def _reserve(calls: int | None) -> float:
    """The share of *calls* that is at least one, for the judge."""
    return FOR_JUDGE if calls is None else max(FOR_JUDGE, (1 + 1e-9) / calls)


def _told(
    settings: CommitteeSettings, seats: Seats, voices: Voices, packet: Packet, ask: Ask
) -> dict[str, object]:
    """Write down what it was held with; what it was about only where texts are kept."""
    kept = settings.transcript_texts
    writers = {one.provider for one in seats.everybody if voices.can_write(one.provider)}
    told: dict[str, object] = msgspec.to_builtins(
        {
            "protocol": settings.protocol,
            "members": seats.members,
            "judge": seats.judge,
            "models": seats.models,
            "minimums": seats.minimums,
            "settings": settings.model_dump(mode="json", exclude={"roles", "transcripts"}),
            "writers": sorted(writers),
            "packet": content_hash(packet),
            "questions": msgspec.json.encode(ask.questions).decode(),  # options in order
            "texts": packet if kept else None,
        },
        order="deterministic",
    )
    return told


async def deliberated(
    settings: CommitteeSettings, seats: Seats, packet: Packet, ask: Ask, floor: Floor
) -> Deliberated:
    """Let the members speak by the protocol of the settings; what ends it early loses nothing."""
    form, seconds = Typed(ask.questions), settings.timeout_per_member_seconds
    seed, quorum = str(settings.seed), settings.quorum
    if settings.protocol == "independent":
        return await independent(
            packet, seats.members, floor, form=form, turn_seconds=seconds, quorum=quorum
        )
    if settings.protocol == "cost_matched":
        return await cost_matched_single(
            packet,
            seats.members[0],
            floor,
            form=form,
            k=settings.samples,
            turn_seconds=seconds,
            quorum=quorum,
        )
    skeptical = settings.protocol == "skeptic"
    return await structured_debate(
        packet,
        seats.members,
        floor,
        form=form,
        rounds=settings.rounds_planned,
        skeptic=SKEPTIC if skeptical else None,
        skeptic_weight=float(settings.skeptic_votes),
        verify=skeptical,
        placebo=settings.protocol == "placebo",
        seed=seed,
        turn_seconds=seconds,
        quorum=quorum,
    )
