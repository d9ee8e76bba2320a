"""Everybody answers once, and nobody sees anybody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import msgspec

from ..floor import Floor
from ..panel import Member
from .briefs import Brief
from .closing import ended
from .deliberated import Deliberated
from .forms import Form
from .packets import Packet
from .sitting import Sitting
from .stopping import StopReason
from .terms import Settings, Terms

__all__ = ["independent", "opening"]


async def independent(
    packet: Packet,
    panel: Sequence[Member],
    floor: Floor,
    *,
    form: Form,
    **settings: Unpack[Settings],
) -> Deliberated:
    """
    Let every member of *panel* answer once, by itself; as many calls as members.

    Args:
        packet: What it is about.
        panel: Who answers.
        floor: Where they speak; its transcript is closed at the end.
        form: What they answer in.
        **settings: The fields of `Terms`; those about rounds, placebos and a skeptic say nothing
            here.

    Raises:
        DeclarationError: No member, two of one name, or a setting out of range.
        CancelledError: The caller gave up; the transcript holds what was finished.
        Mismatch: The floor's transcript is of something else.

    """
    terms = msgspec.structs.replace(Terms(**settings), rounds=0)
    sitting = Sitting(packet, panel, floor, form, terms, "independent")
    return await ended(sitting, _run(sitting))


async def _run(sitting: Sitting) -> StopReason:
    await opening(sitting)
    return sitting.check() or StopReason.MAX_ROUNDS


async def opening(sitting: Sitting, *, tagged: bool = False) -> None:
    """Round 0: everybody's own answer, all at once; *tagged* where all are the same member's."""
    briefs = [
        Brief(
            task="estimate",
            member=member,
            packet=sitting.view(member),
            tag=member.name if tagged else "",
            max_tokens=sitting.terms.max_tokens,
        )
        for member in sitting.panel
    ]
    await sitting.step(briefs, sitting.round_scope())
    if not sitting.now().estimates and sitting.cut is None:
        sitting.cut = StopReason.ERROR
