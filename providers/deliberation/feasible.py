"""
Whether a deliberation can fit into its own deadlines, said before it begins.

Deadlines nest, so a limit that is too short cuts what it surrounds; that is legal, and worth a
warning.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """
    One part of a deliberation.

    Attributes:
        name: As it is told.
        turns: How many turns it has.
        seconds: The limit of each.
        at_once: They run at the same time; else one after the other.
        cap: The limit of the whole part, in seconds; None: none.

    """

    name: str
    turns: int
    seconds: float
    at_once: bool = True
    cap: float | None = None

    @property
    def needs(self) -> float:
        """Seconds that its turns take at most, were they not cut off."""
        return self.seconds * (min(self.turns, 1) if self.at_once else self.turns)

    @property
    def takes(self) -> float:
        """Seconds that it takes at most."""
        return self.needs if self.cap is None else min(self.needs, self.cap)


class Feasible(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a deliberation needs, and what it has.

    Attributes:
        needs: Seconds that all turns take at most, were none cut off.
        takes: Seconds that it takes at most, within the limits of its parts.
        total: Its own limit; None: none.
        cut: Names of the parts whose own limit cuts turns off.

    """

    needs: float
    takes: float
    total: float | None
    cut: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether no limit cuts anything off."""
        return not self.cut and (self.total is None or self.takes <= self.total)

    @property
    def worst(self) -> float:
        """The seconds after which it has ended, whatever its members do."""
        return self.takes if self.total is None else min(self.takes, self.total)

    def told(self) -> str:
        """Say in one sentence what does not fit; empty where everything does."""
        if self.fits:
            return ""
        short = [f"{name} may cut turns off" for name in self.cut]
        if self.total is not None and self.takes > self.total:
            short.append(f"{self.takes:g} s at worst do not fit into {self.total:g} s")
        return "; ".join(short)


def feasible(stages: Sequence[Stage], total: float | None) -> Feasible:
    """
    Add up the worst case of *stages* that follow each other within *total* seconds.

    What has a budget of its own, as a council has, is added up apart.
    """
    return Feasible(
        needs=sum(one.needs for one in stages),
        takes=sum(one.takes for one in stages),
        total=total,
        cut=tuple(one.name for one in stages if one.takes < one.needs),
    )
