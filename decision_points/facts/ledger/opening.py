"""The first look at a namespace: under which rules it is kept, and whether they are those given."""

from __future__ import annotations

from collections.abc import Callable

from ....gateway.errors import Fault, raise_all
from ..entries import Adopted
from ..policy import Policy
from ..registry import Registry
from .ledger import Ledger
from .settings import Settings
from .view import View

BY = "store"
"""Who adopts what a namespace is opened with first."""


class _There(Exception):
    """Something was adopted already."""


def settle(
    ledger: Ledger,
    policy: Policy | None,
    registry: Registry | None,
    clock: Callable[[], int],
    *,
    adopt: bool,
) -> None:
    """
    See to it that a namespace is kept under the rules given.

    Args:
        ledger: The namespace.
        policy: The policy given; None: what was adopted.
        registry: The registry given; None: what was adopted.
        clock: Gives the time, in microseconds.
        adopt: Adopt what is given where it differs from what was adopted.

    Raises:
        SetupError: It differs, and is not to be adopted.

    """
    if policy is None and registry is None:
        return
    with ledger.view() as view:
        now = view.settings
    if not _differs(now, policy, registry):
        return
    if not adopt:
        raise_all(_faults(now, policy, registry))
    entry = Adopted(
        policy=(policy or now.policy).plain(),
        registry=(registry or now.registry).plain(),
        by=BY,
        at=max(clock(), now.adopted + 1),
    )
    try:
        ledger.append(entry, check=lambda view: _same(view, now))
    except _There:
        settle(ledger, policy, registry, clock, adopt=adopt)


def _same(view: View, before: Settings) -> None:
    """Stop where somebody else adopted something meanwhile."""
    now = view.settings
    if (now.adopted, now.policy.version, now.registry.version) != (
        before.adopted,
        before.policy.version,
        before.registry.version,
    ):
        raise _There


def _differs(now: Settings, policy: Policy | None, registry: Registry | None) -> bool:
    pairs = ((policy, now.policy), (registry, now.registry))
    given = [(one.version, held.version) for one, held in pairs if one is not None]
    return any(one != held for one, held in given) or (bool(given) and not now.adopted)


def _faults(now: Settings, policy: Policy | None, registry: Registry | None) -> list[Fault]:
    """Tell where what is given differs from what was adopted; a half that is empty never was."""
    faults: list[Fault] = []
    for what, given, held, empty in (
        ("policy", policy, now.policy, Policy()),
        ("registry", registry, now.registry, Registry()),
    ):
        if given is not None and held.version not in {given.version, empty.version}:
            problem = f"it is version {given.version[:12]}, and {held.version[:12]} was adopted"
            fix = (
                "See what it changes with `pointsman facts what-if`, then adopt it with"
                " `pointsman facts adopt`, or open the store with adopt=True"
            )
            faults.append(Fault(what, problem, fix))
    return faults
