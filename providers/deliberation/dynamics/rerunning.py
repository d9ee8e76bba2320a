"""A debate run again from its transcript, without asking anybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from ....gateway.errors import SetupError
from ....gateway.plugins import Call
from ....gateway.questions import Question
from ..chain import Mismatch
from ..panel import Member
from .holding import Debate, concluded, footer
from .rules import Rules

if TYPE_CHECKING:
    from ....gateway.state import State
    from ..replaying import Replay
    from .retrieval import Chunk


class Recorded:
    """A house in which nobody is asked: what was said and decided stands in the transcript."""

    def __init__(self, replay: Replay) -> None:
        self.hear, self.write = replay.hear, replay.write
        self.can_write, self.knows_provider = replay.can_write, replay.knows_provider

    async def ask(self, point: str, ask: Any, *, within: Call | None = None) -> NoReturn:  # noqa: ANN401
        """Refuse: it is not recorded."""
        raise Mismatch.at_key(point, "it is asked now, and the transcript does not hold that")


async def _searched(_: str, scope: str) -> list[Chunk]:
    raise Mismatch.at_key(scope, "it is searched now, and the transcript does not hold that")


def debate_of(header: Mapping[str, Any]) -> Debate:
    """Make the debate that a transcript's header describes."""
    writer = header["synthesizer"]
    return Debate(
        msgspec.json.decode(header["asked"], type=Question),
        [_member(one) for one in header["members"]],
        council=[_member(one) for one in header["council"]],
        rules=msgspec.convert(header["rules"], Rules),
        synthesizer=None if writer is None else _member(writer),
        retrieve=_searched if header["retrieves"] else None,
        risk_field=header["risk_field"],
    )


def _member(told: Mapping[str, Any]) -> Member:
    return msgspec.convert(told, Member)


async def rerun_debate(replay: Replay, state: State | None = None) -> Mapping[str, Any]:
    """
    Run a debate again, and give the footer that it comes to now.

    Args:
        replay: Its transcript.
        state: What it was about, where the transcript does not hold that.

    Raises:
        Mismatch: Something is asked for now that was not recorded.
        SetupError: The transcript holds no state, and none is given.

    """
    told = replay.transcript.header
    if state is None and "state" not in told:
        problem = "it does not hold what the debate was about, only its hash"
        fix = "Give the state, --about state.json, or keep it: DEBATE_TRANSCRIPT_TEXTS=true"
        raise SetupError.of("the transcript", problem, fix)
    call = Call(point="REPLAY")
    about = told["state"] if state is None else state
    recorded = replay.transcript.footer or {}
    hall = debate_of(told).hall(Recorded(replay), about, replay.floor(call), call)
    ended = str(recorded.get("ended", ""))
    return footer(hall, await concluded(hall, ended), ended)
