"""Where to read next: the best source that has said nothing about a fact yet (RF-56)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..auditing import Audit
    from ..keys import FactKey
    from ..ledger.view import View
    from ..registry import Registry


class Advice:
    """
    Knows which sources were right before; counted anew only once more was resolved.

    Counting looks at every fact, and nothing but a resolution changes much of it.
    """

    def __init__(self) -> None:
        self._counted: tuple[int, Audit] | None = None

    def source(self, view: View, key: FactKey, named: str) -> str:
        """
        Choose where to read a fact.

        Args:
            view: What is known.
            key: The fact.
            named: A source that somebody chose; empty: the best one that is unread.

        Raises:
            Refused: The one that is named has spoken already, or none is left.

        """
        said = {one.assertion.source for one in view.living(key).assertions}
        if named in said:
            problem = "a source that has spoken already confirms nothing"
            raise Refused("not_independent", problem, "Name another, or leave it out")
        if named:
            return named
        best = next((one for one in self._ranked(view, key) if one not in said), None)
        if best is None:
            raise Refused("no_source", "every source of the registry has spoken already")
        return best

    def _ranked(self, view: View, key: FactKey) -> Iterator[str]:
        audit = self._audit(view)
        if audit is not None:
            yield from audit.order(key.attribute)
        yield from declared(view.versions()[1], key.attribute)

    def _audit(self, view: View) -> Audit | None:
        """Count who was right; None: nobody has resolved anything yet."""
        last = view.line.execute(
            "SELECT MAX(position) FROM facts_log"
            " WHERE namespace = ? AND kind = 'resolved' AND position <= ?",
            (view.namespace, view.position),
        ).fetchone()
        if last is None or last[0] is None:
            return None
        if self._counted is None or self._counted[0] != last[0]:
            from ..auditing import audit

            self._counted = last[0], audit(view, view.now())
        return self._counted[1]


def declared(registry: Registry, attribute: str) -> list[str]:
    """Give the sources of a registry, those first that fewest levels rank above; then by name."""
    levels = {source: registry.level(source, attribute) for source in registry.sources}
    ranks, every = registry.ranks(attribute), set(levels.values())
    above = {one: sum(ranks.ranked(other, one) == "above" for other in every) for one in every}
    return sorted(levels, key=lambda source: (above[levels[source]], source))
