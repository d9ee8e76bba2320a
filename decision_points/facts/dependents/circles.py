"""What rests on what, in an order in which it can be worked out, also where it goes in circles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Node = TypeVar("Node")


class _Walk(Generic[Node]):
    """Tarjan's walk (1972), with a list for the stack: chains may be longer than Python's."""

    def __init__(self, towards: Callable[[Node], Iterable[Node]]) -> None:
        self.towards = towards
        self.first: dict[Node, int] = {}  # when a node was met
        self.low: dict[Node, int] = {}  # the earliest open one that it leads to
        self.open: dict[Node, None] = {}  # met, and not yet in a circle; in order
        self.path: list[tuple[Node, Iterator[Node]]] = []

    def meet(self, node: Node) -> None:
        """Begin with *node*."""
        self.first[node] = self.low[node] = len(self.first)
        self.open[node] = None
        self.path.append((node, iter(self.towards(node))))

    def lower(self, node: Node, to: int) -> None:
        """Take down that *node* leads as far back as *to*."""
        self.low[node] = min(self.low[node], to)

    def step(self) -> tuple[Node, ...]:
        """Go one node on or back; back from the first of a circle gives the circle."""
        node, rest = self.path[-1]
        for other in rest:
            if other not in self.first:
                self.meet(other)
                return ()
            if other in self.open:
                self.lower(node, self.first[other])
        return self.leave(node)

    def leave(self, node: Node) -> tuple[Node, ...]:
        """Go back from *node*, all of whose ways were taken."""
        self.path.pop()
        if self.path:
            self.lower(self.path[-1][0], self.low[node])
        return self.circle(node) if self.low[node] == self.first[node] else ()

    def circle(self, node: Node) -> tuple[Node, ...]:
        """Close what was opened since *node*."""
        found: list[Node] = []
        while not found or found[-1] != node:
            found.append(self.open.popitem()[0])
        return tuple(found)


def circles(
    nodes: Iterable[Node], towards: Callable[[Node], Iterable[Node]]
) -> Iterator[tuple[Node, ...]]:
    """
    Give *nodes* and all that they lead to, in circles, each after everything that it leads to.

    A circle is the largest set of nodes that all lead to one another; most have one node.

    Args:
        nodes: Where to begin.
        towards: Node → the nodes that it leads to directly.

    """
    walk = _Walk(towards)
    for node in nodes:
        if node not in walk.first:
            walk.meet(node)
        while walk.path:
            if circle := walk.step():
                yield circle
