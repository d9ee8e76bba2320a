"""What roles make of each other in a round, as the others and the council are shown it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ..drafts import POINTS, fenced
from .stands import TOLD, Veil, lines

SOMEBODY = "another"  # whom a role means that names nobody by a label


class Critique(msgspec.Struct, frozen=True, kw_only=True):
    """
    What one role said in one round of others, and of the debate.

    Attributes:
        keeps: Whether it kept its position: `yes`, `no`, `partly`; empty where it was not asked.
        agreements: What it shares with whom: name → points.
        blind_spots: What it thinks that another does not see: name → points.
        resolutions: What it makes of what is still open: criterion and stance.
        limitations: What it does not know.

    """

    keeps: str = ""
    agreements: Mapping[str, Sequence[str]] = {}
    blind_spots: Mapping[str, Sequence[str]] = {}
    resolutions: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()


Critiques = Mapping[str, Critique]
"""Member → what it made of the others."""


def critique_of(said: Mapping[str, Any], names: Mapping[str, str]) -> Critique:
    """
    Read it from what a role *said*.

    Args:
        said: Its answer, or the part of it that was there in time.
        names: Label of the others, as this role saw them → their names.

    """
    return Critique(
        keeps=said.get("keeps") or "",
        agreements=_by_name(said.get("agreements") or (), names),
        blind_spots=_by_name(said.get("blind_spots") or (), names),
        resolutions=tuple(
            f"{one['about']}: {one['stance']}" for one in said.get("resolutions") or ()
        ),
        limitations=tuple(said.get("limitations") or ()),
    )


def _by_name(points: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> dict[str, list[str]]:
    """Sort points by whom they are about; a label that nobody has is about nobody known."""
    found: dict[str, list[str]] = {}
    for one in points:
        found.setdefault(names.get(one["label"], ""), []).append(one["point"])
    return found


def about(
    reader: str, critiques: Critiques, named: Mapping[str, str], veil: Veil
) -> list[Mapping[str, Any]]:
    """
    Give what others said of *reader* in the round before: where they agree, what it does not see.

    Args:
        reader: A member.
        critiques: What everybody said.
        named: Label of the others, as *reader* sees them → their names.
        veil: Takes out of a text what *reader* may not see.

    """
    rows = [(label, critiques[name]) for label, name in named.items() if name in critiques]
    told = [
        {
            "from": label,
            "agreements": lines(one.agreements.get(reader, ()), veil),
            "blind_spots": lines(one.blind_spots.get(reader, ()), veil),
        }
        for label, one in rows
    ]
    return [one for one in told if one["agreements"] or one["blind_spots"]]


def shown(one: Critique, labels: Mapping[str, str], veil: Veil) -> Mapping[str, Any]:
    """Give a critique to those who judge the debate, by the *labels* of the members."""
    return {
        "keeps": one.keeps,
        "agreements": _labelled(one.agreements, labels, veil),
        "blind_spots": _labelled(one.blind_spots, labels, veil),
        "resolutions": lines(one.resolutions, veil),
        "limitations": lines(one.limitations, veil),
    }


def _labelled(
    points: Mapping[str, Sequence[str]], labels: Mapping[str, str], veil: Veil
) -> list[Mapping[str, str]]:
    told: list[Mapping[str, str]] = [
        {"on": labels.get(name, SOMEBODY), "point": fenced(veil(point), TOLD)}
        for name, said in points.items()
        for point in said
    ]
    return told[:POINTS]
