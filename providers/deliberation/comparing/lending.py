"""What a placebo of content is shown in its peers' place: what was said about another item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ....gateway.errors import SetupError
from ..protocols import Placebo, content_hash
from ..protocols.curtain import Curtain
from ..protocols.table import FROM, critiques_of, told
from ..transcript import TranscriptError, read, turn_of
from .sessions import packet_of, path_of

if TYPE_CHECKING:
    from ....gateway.plugins import Voices
    from .arms import Arm
    from .cases import Case
    from .experiment import Experiment
    from .known import Known
    from .rows import Row

ARGUED = ("debate", "debate_skeptic")
NOTHING = "no other item of this question has answers to show in a placebo"


class Lending:
    """
    Finds what another item's members said.

    Taken is the next item of the same question, in the file's order and round to its beginning,
    that has answers and, where members criticise each other, critiques.

    Args:
        experiment: What is tried.
        cases: All of it.
        known: What is known of them.
        kept: Where transcripts are, which alone hold critiques.

    """

    def __init__(
        self, experiment: Experiment, cases: Sequence[Case], known: Known, kept: Path | None
    ) -> None:
        self._of, self._known, self._kept = experiment, known, kept
        self._cases, self._at = cases, {case.id: at for at, case in enumerate(cases)}
        names = [arm for arm in experiment.arms if arm.way in ARGUED]
        self._arms = [*names, *(arm for arm in experiment.arms if arm.way == "independent")]

    def to(self, case: Case) -> Placebo | None:
        """Give what is shown in a placebo of *case*; None where there is nothing."""
        bare: Placebo | None = None
        for other, arm, row in self._others(case):
            critiques = self._critiques(case, other, arm, row)
            rows = tuple({"answers": dict(one)} for one in row.opening.values())
            made = Placebo(rows=rows, critiques=critiques)
            if critiques:
                return made
            bare = bare or made
        return bare

    def _others(self, case: Case) -> Iterator[tuple[Case, Arm, Row]]:
        at = self._at[case.id]
        for other in (*self._cases[at + 1 :], *self._cases[:at]):
            if not same_question(other, case):
                continue
            for arm in self._arms:
                row = self._known.row(other, arm)
                if row is not None and row.opening:
                    yield other, arm, row

    def _critiques(
        self, case: Case, other: Case, arm: Arm, row: Row
    ) -> tuple[Mapping[str, Any], ...]:
        """Read what was criticised; who wrote it is hidden as in a debate of this very item."""
        path = None if self._kept is None else path_of(self._kept, other, arm)
        if path is None or arm.way not in ARGUED or not path.exists():
            return ()
        curtain = self._curtain(case, row)
        try:
            turns = [turn_of(one) for one in read(path) if one.kind == "turn"]
        except TranscriptError:
            return ()
        critiques = [one for turn in turns if turn.kind == "critique" for one in critiques_of(turn)]
        return tuple(
            {"from": FROM, **told(one, lambda text: curtain.drawn(text, ()), frozenset())}
            for one in critiques
        )

    def _curtain(self, case: Case, row: Row) -> Curtain:
        packet = packet_of(case)
        return Curtain.of(
            packet,
            content_hash(packet),
            str(self._of.seed),
            names={one for member in self._of.panel for one in (member.name, member.provider)},
            served={one.served for one in row.asked.values()} - {""},
        )


def same_question(one: Case, other: Case) -> bool:
    """Whether both are asked the same: an answer to another question is none here."""
    return one.ask.questions == other.ask.questions and list(one.ask.questions) == list(
        other.ask.questions
    )


def lendable(
    experiment: Experiment, cases: Sequence[Case], voices: Voices, kept: Path | None
) -> None:
    """
    Make sure that a placebo of content can be shown another item's content.

    Raises:
        SetupError: An item is the only one of its question; or members criticise each other, and
            nothing keeps what they say.

    """
    ways = {arm.way for arm in experiment.arms}
    if experiment.placebo != "content" or "placebo" not in ways:
        return
    asked = [msgspec.json.encode(dict(case.ask.questions)) for case in cases]
    counted = Counter(asked)
    for case, own in zip(cases, asked, strict=True):
        if counted[own] == 1:
            problem = f"no other item has the question of {case.id!r}, so nothing can be shown"
            raise SetupError.of("--placebo content", problem, "Add one, or leave it out")
    argue = experiment.rounds and any(voices.can_write(one.provider) for one in experiment.panel)
    if argue and (kept is None or not ways & set(ARGUED)):
        problem = "its members are shown critiques of another item, which only transcripts keep"
        fix = "Add --transcripts FOLDER, and `debate` to --arms"
        raise SetupError.of("--placebo content", problem, fix)
