"""
Replay: a deliberation again from its transcript, without asking anybody.

`rerun` says whether the record bears out what it ended in: the same rules, applied to the same
turns. A live model asked again is no replay; it may say something else to the same words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import msgspec

from ...gateway.errors import DeclarationError, SetupError
from ...gateway.plugins import Call
from .allowance import Allowance
from .chain import Entry, Mismatch, verified
from .floor import Floor
from .scopes import Scope
from .transcript import Transcript

if TYPE_CHECKING:
    from ...gateway.plugins import Draft, Written
    from ...gateway.questions import Ask
    from ...gateway.records import Attempt


PACKET = 'It holds {"subject": "its id", "state": …}; of compare-arms, an item\'s id and state'


class Replay:
    """
    Voices that answer from a transcript, and from nothing else.

    The floor gives a recorded turn back before it asks anybody; so whoever reaches a voice of
    these asks for what was not recorded.

    Attributes:
        transcript: In memory: it knows what the file holds, and takes nothing else.

    Raises:
        TranscriptError: The file cannot be read, or is damaged.

    """

    def __init__(self, path: Path) -> None:
        self.recorded: tuple[Entry, ...] = tuple(verified(Path(path)))
        self.transcript = Transcript.replayed(self.recorded)
        told = self.transcript.header.get("writers")
        self._writers = frozenset(told if told is not None else self._wrote())

    def _wrote(self) -> Iterator[str]:
        """Name those who wrote something, where the header does not say who can."""
        return (turn.provider for turn in self.transcript.turns if turn.said is not None)

    def floor(self, call: Call | None = None, allowance: Allowance | None = None) -> Floor:
        """Give a floor on which nobody is asked and no time passes."""
        told = Call(point="REPLAY") if call is None else call
        scope = Scope("total", None, None, "")
        return Floor(self, told, scope, allowance or Allowance(), self.transcript)

    async def hear(self, name: str, ask: Ask, *, within: Call) -> Attempt:
        """Refuse: it is not recorded."""
        self._strange(name, "is asked")

    async def write(
        self,
        name: str,
        draft: Draft,
        *,
        within: Call,
        partial: Callable[[Written], None] | None = None,
    ) -> Written:
        """Refuse: it is not recorded."""
        self._strange(name, f"is to write a {draft.task}")

    def can_write(self, name: str) -> bool:
        """Whether the provider of this name has written something in the transcript."""
        return name in self._writers

    def knows_provider(self, name: str) -> bool:
        """Whether the provider of this name has spoken in the transcript."""
        return any(turn.provider == name for turn in self.transcript.turns)

    def _strange(self, name: str, does: str) -> NoReturn:
        raise Mismatch.at_key(name, f"it {does} now, and the transcript does not hold that")


class Rerun(msgspec.Struct, frozen=True, kw_only=True):
    """
    What became of a deliberation when it was run again from its transcript.

    Attributes:
        kind: Of the deliberation.
        recorded: How it ended then.
        again: How it ended now.
        unused: Recorded turns and entries that were not come to again.

    """

    kind: str
    recorded: Mapping[str, Any]
    again: Mapping[str, Any]
    unused: tuple[str, ...] = ()

    @property
    def differs(self) -> tuple[str, ...]:
        """Name the fields of the ending that differ."""
        names = sorted({*self.recorded, *self.again})
        return tuple(one for one in names if self.recorded.get(one) != self.again.get(one))

    @property
    def same(self) -> bool:
        """Whether it came to the same, by all that is recorded."""
        return not self.differs and not self.unused


Runs: TypeAlias = Callable[[Replay, Any], Awaitable[Mapping[str, Any]]]
"""
Runs a deliberation again on `replay.floor()`, by its header, and gives its footer.

Its second argument is what it was about, where the transcript holds only the hash of that.
"""

Loads: TypeAlias = Callable[[], Runs]
"""Imports what runs a kind of deliberation again: late, since that imports `Replay` from here."""


def _debate() -> Runs:
    from .dynamics.rerunning import rerun_debate

    return rerun_debate


def _committee() -> Runs:
    from .committee.rerunning import rerun_committee

    return rerun_committee


def _protocol() -> Runs:
    from .protocols.packets import Packet
    from .protocols.rerunning import rerun_protocol

    async def run(replay: Replay, about: Any) -> Mapping[str, Any]:  # noqa: ANN401 - plain JSON
        try:
            packet = None if about is None else msgspec.convert(about, Packet)
        except (msgspec.ValidationError, DeclarationError) as error:
            raise SetupError.of("the evidence", f"it is none ({error})", PACKET) from None
        return await rerun_protocol(replay, packet)

    return run


RERUNS: dict[str, Loads] = {
    "committee": _committee,
    "debate": _debate,
    "protocol": _protocol,
}
"""`kind` of a header → what runs such a deliberation again."""


async def rerun(path: Path, about: Any = None) -> Rerun:  # noqa: ANN401 - plain JSON
    """
    Run the deliberation of a transcript again, without asking anybody.

    Args:
        path: The transcript.
        about: What it was about, where the transcript holds only the hash of that.

    Raises:
        TranscriptError: It is damaged, or has not ended.
        Mismatch: Something is asked for now that it does not hold.
        SetupError: Nothing here runs a deliberation of its kind, it was broken off, or *about* is
            needed, or is not what it was about.

    """
    replay = Replay(path)
    kind = str(replay.transcript.header.get("kind", ""))
    if kind not in RERUNS:
        fix = f"There are {', '.join(sorted(RERUNS))}"
        raise SetupError.of(str(path), f"nothing runs a {kind or 'nameless'!r} again", fix)
    if (recorded := replay.transcript.footer) is None:
        raise SetupError.of(
            str(path), "it was broken off, so there is no end to come to", "Resume it"
        )
    again = await RERUNS[kind]()(replay, about)
    return Rerun(kind=kind, recorded=recorded, again=again, unused=replay.transcript.unused)
