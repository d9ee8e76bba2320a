"""`committee`: several providers answer, and what they say is put together by stated rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....gateway.answers import Reply
from ....gateway.errors import Fault, NoAnswer
from ....gateway.plugins import Call, Setup
from ....gateway.questions import Ask
from ..keeping import Alarm
from ..protocols import Packet
from .bounds import doubts_of
from .concluding import concluded
from .holding import floor_of
from .naming import model_of
from .seats import seats_of
from .settings import CommitteeSettings

if TYPE_CHECKING:
    from ....gateway.plugins import Limits, Voices


class Committee:
    """
    Asks its members, and answers with what they come to.

    It abstains where they come to nothing, and then it is the gateway that falls back, once. Its
    notes say how many were expected and `responded`, who did not and why, and the numbers behind
    each answer.

    Attributes:
        name: As selected.
        model: Its members and a digest of their models and its rules.
        limits: What all of its members take.
        deliberates: It asks others, so it is never entered twice in one decision.
        hears_current: Whether the host's own path is a member.
        doubts: What is legal and will hardly work.

    Raises:
        SetupError: With everything that is wrong with its variables and its members.

    """

    deliberates = True

    def __init__(self, setup: Setup) -> None:
        self._settings = setup.read(CommitteeSettings)
        self._seats = seats_of(setup, self._settings)
        self._voices: Voices = setup.gateway
        self._alarm = Alarm(setup)
        self.name = setup.name
        self.limits: Limits = self._seats.limits
        self.model = model_of(self._settings, self._seats, {})
        self.hears_current = self._seats.has_current
        self.doubts: tuple[Fault, ...] = doubts_of(setup, self._settings, self._seats)

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """
        Ask the members and put together what they say.

        A question on which they come to nothing is answered by that: it is `abstained`.

        Raises:
            NoAnswer: Nobody has an answer, or somebody is missing who may not be.

        """
        packet = Packet(subject=call.point, state=ask.state)
        minutes, floor = floor_of(
            self._settings, self._seats, self._voices, call, packet, ask, lost=self._alarm
        )
        try:
            async with floor:
                found = await concluded(self._settings, self._seats, packet, ask, floor)
                minutes.conclude(found.verdict)
        finally:
            minutes.let_go()
        if found.reason is not None:
            raise NoAnswer(found.reason, reply=found.bare)
        return found.reply


def committee(setup: Setup) -> Committee:
    """
    Make the committee that the variables describe.

    Raises:
        SetupError: With everything that is wrong with its variables and its members.

    """
    return Committee(setup)
