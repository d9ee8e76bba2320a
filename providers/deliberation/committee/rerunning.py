"""A committee again from its transcript, without asking anybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ....gateway.errors import SetupError
from ....gateway.plugins import Limits
from ....gateway.questions import Ask, Question
from ....gateway.state import frozen
from ..chain import Mismatch
from ..panel import Member
from ..protocols import Packet, Typed, content_hash
from ..protocols.closing import footer
from ..replaying import Replay
from .concluding import concluded
from .seats import Seats
from .settings import CommitteeSettings


async def rerun_committee(replay: Replay, about: Any = None) -> Mapping[str, Any]:  # noqa: ANN401 - plain JSON
    """
    Let a committee come to its answer again on *replay*'s floor; give its footer.

    Args:
        replay: Of a committee's transcript.
        about: The state that was asked about, where the transcript holds only its hash.

    Raises:
        SetupError: The state is neither in the transcript nor given, or it is another.
        Mismatch: Something is asked for now that it does not hold, or it comes to something else.

    """
    told = replay.transcript.header
    packet = _packet(told, about)
    questions = msgspec.json.decode(told["questions"], type=dict[str, Question])
    ask = Ask(packet.state, questions)
    settings = CommitteeSettings.model_construct(None, **told["settings"])
    found = await concluded(settings, _seats(told), packet, ask, replay.floor())
    recorded = replay.transcript.entry("verdict", found.verdict, key="committee")
    if frozen(recorded)[1] != frozen(msgspec.to_builtins(found.verdict))[1]:
        raise Mismatch.at_key("verdict committee", "it comes to something else now")
    again: dict[str, Any] = msgspec.json.decode(frozen(footer(found.session, Typed(questions)))[1])
    return again


def _packet(told: Mapping[str, Any], about: Any) -> Packet:  # noqa: ANN401 - the same
    """The state as it was asked about, proven by its hash."""
    if told["texts"] is None and about is None:
        fix = "Give the state, --about state.json, or keep it: COMMITTEE_TRANSCRIPT_TEXTS=true"
        raise SetupError.of("the transcript", "it holds the hash of what was asked alone", fix)
    given = Packet(subject=told["point"], state=frozen(about)[0])
    packet = given if told["texts"] is None else msgspec.convert(told["texts"], Packet)
    if content_hash(packet) != told["packet"]:
        raise SetupError.of(
            "the state", "it is not what was asked about", "Name that: --about FILE"
        )
    return packet


def _seats(told: Mapping[str, Any]) -> Seats:
    judge = told["judge"]
    return Seats(
        members=tuple(msgspec.convert(told["members"], list[Member])),
        judge=None if judge is None else msgspec.convert(judge, Member),
        models=told["models"],
        limits=Limits(),
        minimums=told["minimums"],
    )
