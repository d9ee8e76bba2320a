"""What an arm is run as: which protocol, of whom, on which terms; and where it is written down."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from ..protocols import (
    PROTOCOLS,
    Deliberated,
    Packet,
    Placebo,
    Terms,
    Typed,
)
from ..protocols.rerunning import header
from ..transcript import Mismatch, Transcript
from .arms import MATCHED, Arm
from .cases import Case

if TYPE_CHECKING:
    from ....gateway.plugins import Voices
    from ..floor import Floor
    from ..panel import Member
    from .experiment import Experiment

SKEPTIC = "skeptic"
LONGEST = 80  # characters of a case's name in the name of a file


class Session(msgspec.Struct, frozen=True):
    """
    One arm on one case, as a protocol takes it.

    Attributes:
        protocol: Its name among `PROTOCOLS`.
        packet: What it is about.
        panel: Who takes part.
        form: What they answer in.
        terms: Settings of the protocol.
        k: Samples of one member; None: it is a panel.

    """

    protocol: str
    packet: Packet
    panel: tuple[Member, ...]
    form: Typed
    terms: Mapping[str, Any]
    k: int | None = None

    async def held(self, floor: Floor) -> Deliberated:
        """Run it on *floor*."""
        run, more = PROTOCOLS[self.protocol], {} if self.k is None else {"k": self.k}
        return await run(self.packet, self.panel, floor, form=self.form, **self.terms, **more)

    def header(self, voices: Voices) -> Mapping[str, Any]:
        """Say what a transcript of it is of."""
        terms = Terms(**self.terms)
        return header(
            self.protocol,
            self.packet,
            self.panel,
            form=self.form,
            voices=voices,
            terms=terms,
            k=self.k,
        )


def session(of: Experiment, case: Case, arm: Arm, k: int, other: Placebo | None = None) -> Session:
    """
    Say what *arm* is run as.

    Args:
        of: The experiment.
        case: What it is asked.
        arm: Which.
        k: Samples, of an arm of one.
        other: What was said about another case, for a placebo of content.

    """
    packet = packet_of(case)
    terms: dict[str, Any] = {
        "seed": str(of.seed),
        "turn_seconds": of.turn_seconds,
        "arm": arm.name,
    }
    form, rounds = Typed(case.ask.questions), {"rounds": of.rounds}
    match arm.way:
        case "independent":
            return Session("independent", packet, of.panel, form, terms)
        case "self_consistency":
            return Session("independent", packet, _copies(of.alone, k), form, terms)
        case "self_refine" | "cost_matched":
            return Session("cost_matched_single", packet, (of.alone,), form, terms, k)
        case "debate_skeptic":
            terms |= {"skeptic": SKEPTIC, "skeptic_provider": of.skeptic, "verify": True}
        case "placebo":
            terms |= {"placebo": True, "placebo_content": other}
        case _:
            pass
    panel = of.placebo_panel if arm.way == "placebo" else of.panel
    return Session("structured_debate", packet, panel, form, terms | rounds)


@contextmanager
def transcript_of(
    folder: Path | None, case: Case, arm: Arm, header: Mapping[str, Any]
) -> Generator[Transcript]:
    """
    Begin a transcript, or go on with the one that is kept; None: it is kept in memory alone.

    One of other samples, or of another placebo, than are wanted now is begun anew.

    Raises:
        SetupError: It cannot be written, or is damaged, or is of something else.

    """
    path = None if folder is None else path_of(folder, case, arm)
    made = _resumed(path, arm, header) or Transcript.begin(path, header)
    try:
        yield made
    finally:
        made.release()


def _resumed(path: Path | None, arm: Arm, header: Mapping[str, Any]) -> Transcript | None:
    if path is None or not path.exists():
        return None
    try:
        return Transcript.resume(path, header)
    except Mismatch:
        if arm.way not in (*MATCHED, "placebo"):
            raise
    path.unlink()
    return None


def forget(folder: Path | None, case: Case, arm: Arm) -> None:
    """Throw away the transcript of what was no result, so that nothing of it is gone on with."""
    if folder is not None:
        with contextlib.suppress(FileNotFoundError):
            path_of(folder, case, arm).unlink()


def packet_of(case: Case) -> Packet:
    """Say what members deliberate about."""
    return Packet(subject=case.id, state=case.ask.state)


def path_of(folder: Path, case: Case, arm: Arm) -> Path:
    """Say where the transcript of an arm on a case is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    named = quote(case.id, safe="")[:LONGEST]
    return folder / f"{named}.{case.digest[:8]}.{arm.name}.jsonl"


def _copies(member: Member, k: int) -> tuple[Member, ...]:
    names = (f"sample_{number:02d}" for number in range(1, k + 1))
    return tuple(msgspec.structs.replace(member, name=name) for name in names)
