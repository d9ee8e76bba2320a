"""
Who can be asked by name: the providers that variables configure, and nobody else.

A client's text never makes a lane: what is not listed here does not exist for it.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from .environment import variables_of
from .errors import SetupError
from .gates import Gate
from .points import DecisionPoint
from .questions import Predicate
from .settings import CURRENT, Plan
from .wired import Wired

if TYPE_CHECKING:
    from .wiring import Wiring

DIRECT = DecisionPoint(
    name="POINTSMAN_DIRECT",
    questions={"": {"question": Predicate("Asked directly; the call brings its questions.")}},
    internal=True,
)
"""Under this name a provider that was asked past every plan is recorded."""

ASKED = "the request"


class Directory(msgspec.Struct, frozen=True):
    """
    The providers that can be asked by name.

    Attributes:
        wiring: What it was made of, which it does not keep from being closed.
        providers: Name → how it is asked: any confidence counts, and nobody stands behind it.
        faults: Name → why it cannot be made; for the operator, never for a client.

    """

    wiring: weakref.ref[Wiring]
    providers: Mapping[str, Wired]
    faults: Mapping[str, SetupError]

    @classmethod
    def of(cls, wiring: Wiring) -> Directory:
        """Make every provider that is offered or named, which opens nothing."""
        providers: dict[str, Wired] = {}
        faults: dict[str, SetupError] = {}
        for name in _names(wiring):
            try:
                providers[name] = _asked(wiring, name)
            except SetupError as error:
                faults[name] = error
        return cls(weakref.ref(wiring), providers, faults)


def _asked(wiring: Wiring, name: str) -> Wired:
    lane, known = wiring.lane(name), wiring.settings.globals
    plan = Plan(
        point=DIRECT.name,
        provider=lane.name,
        gate=Gate(0.0, known.scale, partial=True),
        fallback=False,
        deadline=None,
        share=known.share,
        why=dict.fromkeys(("provider", "minimum", "fallback", "deadline"), ASKED),
    )
    return Wired(DIRECT, plan, lane, None, None)


def _names(wiring: Wiring) -> Iterable[str]:
    """Name what is offered without an instance, what variables select, and configured instances."""
    offered = [name for name in wiring.plugins.offers if name != CURRENT or wiring.stands_in]
    selected = [name for _, name in wiring.settings.selected()]
    names = {_folded(name): name for name in _instances(offered, wiring.settings.variables.values)}
    names |= {_folded(name): name for name in (*offered, *selected)}
    return sorted(names.values())


def _folded(name: str) -> str:
    """Spell *name* as variables do: two names that share theirs are one."""
    return variables_of(name, "")[0]


def _instances(offered: Iterable[str], variables: Iterable[str]) -> Iterable[str]:
    """Name the instances that have variables of their own: `SYSTEMONE__EU__BASE_URL`."""
    variables = tuple(variables)
    for name in offered:
        prefix = f"{variables_of(name, '')[0]}_"
        for variable in variables:
            instance, mark, _ = variable.removeprefix(prefix).partition("__")
            if variable.startswith(prefix) and mark and instance:
                yield f"{name}/{instance.lower()}"
