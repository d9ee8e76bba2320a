"""Rules that are in use elsewhere: they always answer, and heed the order of arrival."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from pointsman.decision_points.facts.assertions import Assertion, Recorded, Value
from pointsman.decision_points.facts.registry import Registry

Answer: TypeAlias = Value | None
Rule: TypeAlias = Callable[[Sequence[Recorded]], Answer]


def last_write(said: Sequence[Recorded]) -> Answer:
    """Whatever was written last."""
    return said[-1].assertion.value


def majority(said: Sequence[Recorded]) -> Answer:
    """What most sources said last; of two that are level, what was said first."""
    words = {one.assertion.source: one.assertion.value for one in said}
    return Counter(words.values()).most_common(1)[0][0]


def newcomer(registry: Registry) -> Rule:
    """Compare each newcomer with the one in memory: level, then stated confidence, then it wins."""

    def rule(said: Sequence[Recorded]) -> Answer:
        held = said[0]
        for one in said[1:]:
            held = one if _replaces(registry, one.assertion, held.assertion) else held
        return held.assertion.value

    return rule


def _replaces(registry: Registry, new: Assertion, held: Assertion) -> bool:
    levels = [registry.level(one.source, one.key.attribute) for one in (new, held)]
    ranked = registry.ranked(new.key.attribute, *levels)
    if ranked in ("above", "below"):
        return ranked == "above"
    return (new.confidence or 0.0) >= (held.confidence or 0.0)
