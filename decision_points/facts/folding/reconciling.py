"""The fold: from all that is said about a fact to what it comes to (RF-23)."""

from __future__ import annotations

from collections.abc import Iterable

from ..assertions import Recorded
from ..keys import FactKey
from ..outcomes import Outcome
from ..policy import Policy
from ..registry import Registry
from .claims import distinct, present
from .corrections import Given, replaced_by_name
from .living import Living
from .ranks import Rules, rules_of
from .sets import fold_set
from .settling import Asked
from .single import fold_one
from .undeclared import unreconciled


def fold(
    key: FactKey,
    living: Living | Iterable[Recorded],
    policy: Policy,
    registry: Registry,
    at: int,
) -> Outcome:
    """
    Work out what a fact comes to.

    It is a function of the set that is given and of nothing else: not of its order, of how often
    something is in it, of when it was recorded, or of a clock. With no dissent guard and without
    what a source said of its own word again, what loses changes nothing, and neither does a
    newcomer that something winning beats; a new source that agrees changes nothing in any case
    (RF-34). No value comes out that nobody asserted (RF-35).

    What is said of another attribute, under other qualifiers or in another namespace than *key*
    has is left out. The entity is the caller's: one that goes by several names is one fact
    (RF-02), so whoever gives assertions sees to it that all are of one entity.

    Args:
        key: The fact.
        living: What counts, of one entity: assertions, and resolutions of disputes if there are
            any.
        policy: Which attributes there are, and what decides.
        registry: Who is above whom.
        at: The point in time that is asked about, in microseconds since the epoch.

    Returns:
        A value, or what is in dispute, and how it came about.

    """
    given = living if isinstance(living, Living) else Living(assertions=tuple(living))
    every = distinct(key, given.assertions)
    rules = rules_of(key.attribute, policy, registry)
    if rules is None:
        return unreconciled(key, every, (policy, registry), given.notes, at)
    replaced, refused = replaced_by_name(every, rules)
    asked = Asked(key, rules, given.receipts, at)
    folded = fold_set if rules.attribute.cardinality == "many" else fold_one
    return folded(asked, Given(every, replaced), [*given.notes, *refused])


def beats(one: Recorded, other: Recorded, rules: Rules, at: int) -> str | None:
    """
    Give the key on which *one* beats *other*; None: it does not.

    Over assertions that can be read this is a strict partial order, whatever the policy (RF-24).
    Where a source says the same again and again, a fold gives all of that one time (RF-30), which
    two assertions by themselves do not show.

    Args:
        one: An assertion.
        other: Another.
        rules: Of their attribute: `rules_of`.
        at: The point in time, in microseconds.

    """
    claims = {claim.id: claim for claim in present((one, other), rules, at).claims}
    if one.id not in claims or other.id not in claims:
        return None
    verdict = rules.compared(claims[one.id].rank, claims[other.id].rank)
    return verdict.on if verdict.sign > 0 else None
