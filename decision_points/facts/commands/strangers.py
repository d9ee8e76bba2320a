"""Names in a file that no registry and no policy knows: most are misspelt, or to be declared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from ....gateway.cli import screen
from ..telling import escaped
from .naming import nearest

if TYPE_CHECKING:
    from ..assertions import Assertion
    from ..policy import Policy
    from ..registry import Registry

KEPT = 10_000  # names that are counted one by one
LISTED = 5  # of a kind
LIMIT = 60  # characters of a name


class Stranger(msgspec.Struct, frozen=True):
    """
    A name that is not declared.

    Attributes:
        name: As it was written.
        rows: How many rows have it.
        near: The declared name that is most like it; empty: none is.

    """

    name: str
    rows: int
    near: str


class Strangers:
    """
    Counts names as rows pass.

    Args:
        policy: Declares attributes.
        registry: Declares sources.

    """

    def __init__(self, policy: Policy, registry: Registry) -> None:
        self._policy, self._registry = policy, registry
        self._counts: dict[str, Counter[str]] = {"sources": Counter(), "attributes": Counter()}

    def see(self, said: Assertion) -> None:
        """Count the names of an assertion that are not declared."""
        if not self._registry.known(said.source):
            self._count("sources", said.source)
        if self._policy.attribute(said.key.attribute) is None:
            self._count("attributes", said.key.attribute)

    def _count(self, what: str, name: str) -> None:
        counts = self._counts[what]
        if name in counts or len(counts) < KEPT:
            counts[name] += 1

    def found(self) -> dict[str, list[Stranger]]:
        """Give them, those of most rows first; the nearest of the first few."""
        known = {"sources": self._registry.sources, "attributes": self._policy.attributes}
        return {
            what: [
                Stranger(name, rows, nearest(name, known[what]) if number < LISTED else "")
                for number, (name, rows) in enumerate(counts.most_common())
            ]
            for what, counts in self._counts.items()
        }


def tell(found: dict[str, list[Stranger]]) -> None:
    """Say which names are not declared, and what that means for their rows."""
    _tell(found["sources"], "source", "in no registry and ranks below all", "rank below all")
    _tell(found["attributes"], "attribute", "in no policy and decides nothing", "decide nothing")


def _tell(strangers: list[Stranger], what: str, one: str, many: str) -> None:
    if not strangers:
        return
    count = len(strangers)
    where = "registry" if what == "source" else "policy"
    means = (
        f"1 {what} is {one}" if count == 1 else f"{count:,} {what}s are in no {where} and {many}"
    )
    more = ", …" if count > LISTED else ""
    screen.note(("! ", screen.OTHER), f"{means}: {', '.join(_named(strangers[:LISTED]))}{more}")


def _named(strangers: Iterable[Stranger]) -> Iterable[str]:
    for one in strangers:
        meant = f" (did you mean {escaped(one.near, LIMIT)}?)" if one.near else ""
        yield f"{escaped(one.name, LIMIT)}{meant}"
