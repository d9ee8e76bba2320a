"""Marks within a drawing: numbered beside their place, explained below, never on top of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .axes import Plot, Point
from .canvas import LINE, MARGIN, TEXT, Sheet, marker, told, width_of, words

NEAR = 12.0  # marks that touch share one label
FAR = 4  # rings around a mark in which room for its label is sought


class Marked(NamedTuple):
    """What is marked: its place, hue and shape, and the sentence that explains it."""

    place: Point
    hue: int
    shape: int
    text: str


class _Room(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Room) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def within(self, plot: Plot) -> bool:
        across = plot.x.start <= self.left and self.right <= plot.x.end
        return across and plot.y.end <= self.top and self.bottom <= plot.y.start


def draw(sheet: Sheet, plot: Plot, marks: Sequence[Marked]) -> None:
    """Draw *marks* with their numbers, counted from 1 in the order given."""
    taken = [_around(mark.place) for mark in marks]
    for index, mark in enumerate(marks, 1):
        shape = marker(mark.shape, *mark.place, kind=f"c{mark.hue} full", radius=6)
        sheet.add(told(f"{index}: {mark.text}", shape))
    for text, place in _labels(marks):
        room = _room(text, place, taken, plot)
        taken.append(room)
        sheet.add(words(room.left + 2, room.bottom - 3, text, "bold small halo"))


def explain(sheet: Sheet, marks: Sequence[Marked]) -> None:
    """Set a line below the drawing for each of *marks*."""
    for index, mark in enumerate(marks, 1):
        base = sheet.line(mark.text, "small", indent=38)
        number = words(MARGIN + 14, base, str(index), "bold small", "end")
        shape = marker(mark.shape, MARGIN + 26, base - 4.5, f"c{mark.hue} full", 6)
        sheet.add(number, shape)


def _around(place: Point, radius: float = 6) -> _Room:
    x, y = place
    return _Room(x - radius, y - radius, x + radius, y + radius)


def _labels(marks: Sequence[Marked]) -> Iterator[tuple[str, Point]]:
    """Give the numbers of marks that touch as one label."""
    groups: list[tuple[Point, list[int]]] = []
    for index, mark in enumerate(marks, 1):
        for place, numbers in groups:
            if max(abs(place[0] - mark.place[0]), abs(place[1] - mark.place[1])) < NEAR:
                numbers.append(index)
                break
        else:
            groups.append((mark.place, [index]))
    for place, numbers in groups:
        yield ", ".join(map(str, numbers)), place


def _room(text: str, place: Point, taken: Sequence[_Room], plot: Plot) -> _Room:
    """Find room for *text* near *place*: the first that is free, else the first."""
    rooms = list(_rooms(text, place))
    free = (r for r in rooms if r.within(plot) and not any(r.meets(other) for other in taken))
    return next(free, rooms[0])


def _rooms(text: str, place: Point) -> Iterator[_Room]:
    x, y = place
    width, height = width_of(text, TEXT) + 4, LINE - 4
    for ring in range(FAR):
        away = 8 + ring * height
        for left, middle in (
            (x + away, y),
            (x - away - width, y),
            (x - width / 2, y - away - height / 2),
            (x - width / 2, y + away + height / 2),
        ):
            yield _Room(left, middle - height / 2, left + width, middle + height / 2)
