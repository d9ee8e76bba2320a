"""What members answer in: a form says how it is asked, shown, compared and brought together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from ....gateway.plugins import Draft
from ..drafts import schema_of
from ..turns import Kind, Turn, Wanted
from .briefs import Brief, Task
from .packets import Packet
from .schemas import CritiqueSet
from .terms import Terms

__all__ = ["KINDS", "Estimates", "Form", "critique_wanted", "written_wanted"]

_schema = functools.cache(schema_of)

Estimates = Mapping[str, Any]
"""Member → its estimate, in the form's own shape."""

KINDS: Mapping[Task, Kind] = {
    "estimate": "estimate",
    "critique": "critique",
    "revision": "revision",
    "skeptic_verdict": "estimate",
    "self_critique": "self_critique",
    "self_refine": "self_refine",
}
"""Task → the kind of turn; a skeptic's verdict is one more estimate."""


class Form(Protocol):
    """How members of a deliberation answer. `Numeric` and `Typed` are two."""

    @property
    def name(self) -> str:
        """One word for the record."""
        ...

    def wanted(self, brief: Brief) -> Wanted:
        """Make what is asked of a member for an answer or a better one."""
        ...

    def estimate(self, turn: Turn) -> Any | None:  # noqa: ANN401 - the form's own shape
        """Read the estimate of a turn; None where it has none that counts."""
        ...

    def plain(self, estimate: Any) -> Any:  # noqa: ANN401 - the same
        """Give an estimate as plain values, for the record."""
        ...

    def shown(
        self,
        estimate: Any,  # noqa: ANN401 - the same
        draw: Callable[[str], str],
        seen: frozenset[str],
    ) -> Mapping[str, Any]:
        """Show an estimate as a row of the anonymous table."""
        ...

    def spread(self, estimates: Estimates) -> Mapping[str, float] | None:
        """Say how far estimates lie apart: `dispersion`, and what else is known; None below two."""
        ...

    def agreed(self, estimates: Estimates, bound: float) -> bool:
        """Whether estimates lie within *bound* of each other."""
        ...

    def moved(self, before: Estimates, after: Estimates, tolerance: float) -> bool:
        """
        Whether somebody's movement must count although the dispersion does not tell it.

        Where numbers are compared, *tolerance* is the share of their range that is none.
        """
        ...

    def flags(self, estimate: Any, packet: Packet, allowed: frozenset[str]) -> tuple[str, ...]:  # noqa: ANN401
        """Check an estimate against the evidence."""
        ...

    def aggregate(self, estimates: Estimates, terms: Terms) -> Mapping[str, Any]:
        """Bring estimates together, in plain values; safe on none."""
        ...


def critique_wanted(brief: Brief, question: str) -> Wanted:
    """Make what is asked of a member for critiques, whatever the form of the estimates."""
    return written_wanted(brief, question, CritiqueSet)


def written_wanted(brief: Brief, question: str, form: type[msgspec.Struct]) -> Wanted:
    """Make what a member is to write in *form*."""
    draft = Draft(
        task=brief.task,
        instructions=brief.instructions(question),
        state=brief.state,
        schema=_schema(form),
        role=brief.member.role.name,
        round=brief.round,
        max_tokens=brief.max_tokens,
    )
    return Wanted(
        member=brief.member,
        kind=KINDS[brief.task],
        round=brief.round,
        tag=brief.tag,
        closing=brief.closing,
        draft=draft,
        form=form,
    )
