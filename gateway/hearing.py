"""Being heard by name: what providers that deliberate reach others by, past every plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from .drafting import Drafting
from .errors import NoAnswer, Reason
from .heard import heard, heard_current
from .plugins import Call, Draft, Written
from .preparing import Preparing
from .settings import CURRENT

if TYPE_CHECKING:
    from .questions import Ask
    from .records import Attempt
    from .resilience import Lane
    from .wiring import Wiring

STANDS_IN = "CURRENT_PROVIDER"


class Hearing(Preparing):
    """A gateway whose providers can be heard, one by one."""

    async def hear(self, name: str, ask: Ask, *, within: Call) -> Attempt:
        """
        Ask one provider, through its own lane, past every plan, turn and cache.

        Its gate is `<PROVIDER>_MIN_CONFIDENCE`, else the minimum that its plug-in declares, else
        that of all providers. Nothing of it is recorded as a decision. `current` is the host's own
        path, run at most once in the decision, and read into the point's words; where there is
        none, the provider that stands in. It has no confidence, and no gate.

        Args:
            name: As variables select it.
            ask: What is asked.
            within: The call of who asks, which has to be under way.

        Returns:
            How it ended, with the reason if there is no answer. A `low_confidence` one has its
            checked answers nonetheless.

        Raises:
            SetupError: There is no such provider, or its variables are wrong.

        """
        wiring, call = self._wiring, _deeper(within)
        if name == CURRENT and (call.current is not None or not wiring.stands_in):
            return await heard_current(ask, call)
        return await heard(wiring, _lane(wiring, name, call), ask, call)

    async def write(
        self,
        name: str,
        draft: Draft,
        *,
        within: Call,
        partial: Callable[[Written], None] | None = None,
    ) -> Written:
        """
        Let one provider write, through its own lane.

        Args:
            name: As variables select it.
            draft: What it is to write; masked are the texts of the state alone.
            within: The call of who asks, which has to be under way.
            partial: Is told what is written so far, where the writer gives it in parts.

        Raises:
            NoAnswer: It wrote nothing that may be used, with the reason, and with `reply.usage`
                where it cost something; `unsupported`: it does not write.
            SetupError: There is no such provider, or its variables are wrong.

        """
        wiring, call = self._wiring, _deeper(within)
        if name == CURRENT and not wiring.stands_in:
            raise NoAnswer(Reason.UNSUPPORTED)
        return await Drafting(wiring, _lane(wiring, name, call), partial).written(draft, call)

    def can_write(self, name: str) -> bool:
        """
        Whether the provider of this name writes; the host's own path does not.

        While a gateway is made, ask `plugins.writes(setup.provider(name))` instead.

        Raises:
            SetupError: There is no such provider, or its variables are wrong.

        """
        wiring = self._wiring
        stands = name != CURRENT or wiring.stands_in
        return stands and wiring.lane(name, _variable(name)).writes

    def knows_provider(self, name: str) -> bool:
        """
        Whether there is a provider of this name; `current` always is.

        Raises:
            SetupError: There is, but its variables are wrong.

        """
        wiring = self._wiring
        if name != CURRENT and name.partition("/")[0] not in wiring.plugins.offers:
            return False
        if name != CURRENT or wiring.stands_in:
            wiring.lane(name, _variable(name))
        return True


def _deeper(within: Call) -> Call:
    return msgspec.structs.replace(within, depth=within.depth + 1)


def _lane(wiring: Wiring, name: str, call: Call) -> Lane:
    """Give the lane of those whose answers are acted on, or that of those who are on trial."""
    lane = wiring.lane(name, _variable(name))
    return wiring.trial(name) if call.trial else lane


def _variable(name: str) -> str:
    return STANDS_IN if name == CURRENT else ""
