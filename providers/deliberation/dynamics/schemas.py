"""
What is written in a debate, as closed forms.

A recommendation is one of the question's options, so that the forms of positions are made for each
question. A part of a form, cut off on its way, counts if it has at least a recommendation (AM-26).
"""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=4000)]
Line: TypeAlias = Annotated[str, msgspec.Meta(max_length=600)]
Lines: TypeAlias = Annotated[tuple[Line, ...], msgspec.Meta(max_length=24)]
Percent: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=100)]
Mark: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=20)]

Criterion: TypeAlias = Literal["recommendation", "premises", "risks", "timing"]
CRITERIA: tuple[Criterion, ...] = ("recommendation", "premises", "risks", "timing")


class Closed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all forms share: nothing in them that was not asked for."""


class Query(Closed, frozen=True, kw_only=True):
    """
    Something that a role wants looked up.

    Attributes:
        query: What is looked for.
        scope: Where, one of the scopes that are told.
        purpose: What for (DD-51).

    """

    query: Line
    scope: Line
    purpose: Literal["support", "already_treated", "quotation", "divergence"]


Queries: TypeAlias = Annotated[tuple[Query, ...], msgspec.Meta(max_length=5)]


class Agreed(Closed, frozen=True, kw_only=True):
    """A point that a role shares with another, and what further evidence supports it."""

    label: Line
    point: Line
    evidence: Lines


class Divergence(Closed, frozen=True, kw_only=True):
    """
    A point on which a role differs from another.

    Attributes:
        label: From whom, as the table calls it.
        about: The criterion.
        kind: What it rests on; one about data or risk on the recommendation is critical (AM-35).
        critical: The role thinks that nobody may decide over it but the council.
        point: What is at issue.
        evidence: What confronts it.

    """

    label: Line
    about: Criterion
    kind: Literal["data", "risk", "interpretation", "values"]
    critical: bool
    point: Line
    evidence: Lines


class BlindSpot(Closed, frozen=True, kw_only=True):
    """Something that another role does not see."""

    label: Line
    point: Line


class Resolution(Closed, frozen=True, kw_only=True):
    """What a role makes of a divergence that is still open."""

    about: Criterion
    stance: Line
    evidence: Lines


Agreements: TypeAlias = Annotated[tuple[Agreed, ...], msgspec.Meta(max_length=24)]
Divergences: TypeAlias = Annotated[tuple[Divergence, ...], msgspec.Meta(max_length=24)]
BlindSpots: TypeAlias = Annotated[tuple[BlindSpot, ...], msgspec.Meta(max_length=24)]
Resolutions: TypeAlias = Annotated[tuple[Resolution, ...], msgspec.Meta(max_length=24)]


class CriticReport(Closed, frozen=True, kw_only=True):
    """
    How the question was deliberated, in five marks of 0–20 that add up to 0–100.

    Attributes:
        evidence: Whether claims rest on evidence that is cited.
        premises: Whether premises were made explicit and tested.
        alternatives: Whether the options were all weighed.
        risks: Whether risks were named and met.
        process: Whether objections were answered and not just outvoted.
        remarks: What the marks are for.

    """

    evidence: Mark
    premises: Mark
    alternatives: Mark
    risks: Mark
    process: Mark
    remarks: Text


MARKS = ("evidence", "premises", "alternatives", "risks", "process")


class AdvocateReport(Closed, frozen=True, kw_only=True):
    """
    The strongest case against the recommendation.

    Attributes:
        weak_premise: A critical premise does not hold.
        unmitigated_risk: A high risk cannot be mitigated.
        ignored_alternative: A good alternative was passed over.
        case: The argument.

    """

    weak_premise: bool
    unmitigated_risk: bool
    ignored_alternative: bool
    case: Text


FINDINGS = ("weak_premise", "unmitigated_risk", "ignored_alternative")

Resolved: TypeAlias = Literal["strong", "partial", "resolved", "unresolved"]


class Summary(Closed, frozen=True, kw_only=True):
    """A readable account of a debate; its numbers are never taken from it."""

    summary: Text
    consensus: Lines
    divergences: Lines


Phase: TypeAlias = Literal["position", "rebuttal", "refinement", "verdict"]

_FIELDS: dict[Phase, tuple[tuple[str, Any], ...]] = {
    "position": (
        ("position", Text),
        ("premises", Lines),
        ("risks", Lines),
        ("timing", Line),
        ("reasoning", Text),
        ("layers", Lines),
        ("evidence", Lines),
        ("confidence", Percent),
        ("limitations", Lines),
    ),
    "rebuttal": (
        ("keeps", Literal["yes", "no", "partly"]),
        ("position", Text),
        ("premises", Lines),
        ("risks", Lines),
        ("timing", Line),
        ("agreements", Agreements),
        ("divergences", Divergences),
        ("blind_spots", BlindSpots),
        ("evidence", Lines),
        ("confidence", Percent),
    ),
    "refinement": (
        ("position", Text),
        ("resolutions", Resolutions),
        ("divergences", Divergences),
        ("evidence", Lines),
        ("confidence", Percent),
    ),
    "verdict": (
        ("resolution", Resolved),
        ("confidence", Percent),
        ("summary", Text),
        ("caveats", Lines),
    ),
}
"""
`position`: DD-26. `rebuttal`: DD-30. `refinement`: DD-32, with the criteria that are still open.
`verdict`: what the council's synthesizer writes.
"""

_OPEN: dict[Criterion, tuple[str, Any]] = {
    "premises": ("premises", Lines),
    "risks": ("risks", Lines),
    "timing": ("timing", Line),
}


@functools.lru_cache(maxsize=512)
def form_of(
    phase: Phase,
    options: tuple[str, ...],
    open_criteria: tuple[Criterion, ...] = CRITERIA,
    *,
    queries: bool = False,
) -> tuple[type[msgspec.Struct], type[msgspec.Struct]]:
    """
    Make the form of one phase, and that of a part of it.

    Args:
        phase: What is written.
        options: What may be recommended; anything else is invalid.
        open_criteria: What a refinement may still change; consensus is not reopened (DD-32).
        queries: Whether something may be looked up.

    """
    chosen: list[tuple[str, Any]] = []
    if phase != "refinement" or "recommendation" in open_criteria:
        chosen.append(("recommendation", Literal[options]))
    fields = list(_FIELDS[phase])
    if phase == "refinement":
        fields += [_OPEN[one] for one in open_criteria if one in _OPEN]
    if queries:
        fields.append(("queries", Queries))
    kept = chosen or fields[:1]
    rest = [field for field in fields if field not in kept]
    partial = [*kept, *((name, kind | None, None) for name, kind in rest)]
    name = phase.capitalize()
    return _made(name, [*kept, *rest]), _made(f"{name}Part", partial)


def _made(name: str, fields: list[Any]) -> type[msgspec.Struct]:
    return msgspec.defstruct(name, fields, frozen=True, kw_only=True, forbid_unknown_fields=True)
