"""
The paper: escaped text, shapes that name a role instead of a colour, one style for light and dark.

Lengths are units of the viewBox. A drawing is 480 wide and shown at up to 640 px.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

WIDTH = 480
SHOWN = 640  # px
READABLE = 0.75  # a page scrolls a drawing rather than show it smaller than this
MARGIN = 14
LINE = 19  # from one line of text to the next
TEXT = 13
SMALL = 12
HEADING = 15
LARGEST = 1e6  # no coordinate lies further out, whatever is drawn

_GLYPH = 0.57  # of the size: mean width of a Latin glyph in the usual sans-serif faces
_BLANKS = re.compile("[ \t\r\n]+")  # and not those that keep a number and its unit together
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# Hues after Okabe and Ito (2008), which colour-blind eyes tell apart; darker or lighter until
# each has a contrast of 4.5 on its paper.
LIGHT = (
    "--paper:#fff;--ink:#1f2328;--soft:#57606a;--grid:#d8dee4;"
    "--c0:#0b62a8;--c1:#b34d00;--c2:#0f7656;--c3:#8a3a86;--c4:#6b5900"
)
DARK = (
    "--paper:#0d1117;--ink:#e6edf3;--soft:#9ea7b3;--grid:#30363d;"
    "--c0:#6cb6ff;--c1:#f0a35e;--c2:#56d4a8;--c3:#d9a3e0;--c4:#e3d26a"
)
HUES = 5
DASHES = ("none", "7 4", "2 4", "10 4 2 4")

STYLE = (
    f"svg.pm{{{LIGHT};max-width:100%;height:auto;color-scheme:light dark;"
    "font-family:system-ui,'Segoe UI',Roboto,'Noto Sans',sans-serif}"
    f"@media (prefers-color-scheme:dark){{svg.pm{{{DARK}}}}}"
    f"@media print{{svg.pm{{{LIGHT}}}}}"
    f".pm text{{fill:var(--ink);font-size:{TEXT}px}}"
    f".pm .heading{{font-size:{HEADING}px;font-weight:600}}.pm .bold{{font-weight:600}}"
    f".pm .small{{font-size:{SMALL}px}}"
    ".pm .soft{fill:var(--soft)}"
    ".pm .paper{fill:var(--paper)}.pm .grid{fill:none;stroke:var(--grid);stroke-width:1}"
    ".pm .edge{stroke:var(--soft);stroke-width:1;fill:none}"
    ".pm .guide{stroke:var(--soft);stroke-width:1.25;stroke-dasharray:5 4;fill:none}"
    + "".join(f".pm .c{hue}{{--c:var(--c{hue})}}" for hue in range(HUES))
    + ".pm .line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}"
    ".pm .thin{fill:none;stroke:var(--c);stroke-width:1.25}"
    ".pm .full{fill:var(--c);stroke:var(--paper);stroke-width:1}"
    ".pm .hollow{fill:var(--paper);stroke:var(--c);stroke-width:2}"
    ".pm .area{fill:var(--c);fill-opacity:.75}.pm .heat{fill:var(--c)}"
    ".pm .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}"
    ".pm .frame{fill:none;stroke:var(--ink);stroke-width:1.5}"
)


class Markup(str):
    """Markup that is ready to be shown: made here, its texts already escaped."""

    __slots__ = ()


Sample = Callable[[float, float], str]


class Entry(NamedTuple):
    """A line of a legend: a name, and what draws its sample, 26 wide, from its left middle."""

    name: str
    sample: Sample


def escaped(text: object) -> str:
    """Write *text* so that neither XML nor HTML takes any of it for markup."""
    return html.escape(_FORBIDDEN.sub("\ufffd", str(text)))


def _short(value: float) -> str:
    kept = round(max(-LARGEST, min(LARGEST, value)), 2) + 0.0  # which turns −0 into 0
    return f"{kept:.2f}".rstrip("0").rstrip(".")


def _written(value: object) -> str:
    return _short(value) if isinstance(value, float) else escaped(value)


def element(tag: str, inside: str = "", /, **attributes: object) -> str:
    """
    Write an element: *inside* is ready markup, attributes are escaped and rounded to 0.01.

    A name may end in `_` where Python needs it; `_` within it becomes `-`. None leaves it out.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_written(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"


def width_of(text: str, size: float = TEXT) -> float:
    """Estimate how wide *text* is when set in *size*: East Asian glyphs are square."""
    wide = sum(unicodedata.east_asian_width(glyph) in "WF" for glyph in text)
    return size * (wide + _GLYPH * (len(text) - wide))


def shortened(text: str, width: float, size: float = TEXT) -> str:
    """Cut *text* to one line of *width*, with an ellipsis where something is missing."""
    line = _BLANKS.sub(" ", text).strip(" ")
    if width_of(line, size) <= width:
        return line
    while line and width_of(line + "…", size) > width:
        line = line[:-1]
    return line + "…"


def named(name: str, width: float, size: float = TEXT) -> str:
    """Cut a *name* in its middle: many names of one family differ only at their ends."""
    line = _BLANKS.sub(" ", name).strip(" ")
    kept, short = len(line), line
    while kept and width_of(short, size) > width:
        kept -= 1
        short = line[: (kept + 1) // 2] + "…" + line[len(line) - kept // 2 :]
    return short


def wrapped(text: str, width: float, size: float = TEXT) -> list[str]:
    """Break *text* into at most two lines of *width*; what is beyond them is cut off."""
    line = _BLANKS.sub(" ", text).strip(" ")
    if width_of(line, size) <= width:
        return [line]
    first = (
        shortened(line, width, size)[:-1].rpartition(" ")[0] or shortened(line, width, size)[:-1]
    )
    return [first, shortened(line[len(first) :], width, size)]


def words(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    """Set one line of *text*; *kind* names classes: heading, bold, small, soft."""
    return element("text", escaped(text), x=x, y=y, text_anchor=anchor, class_=kind or None)


def stroke(kind: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    """Draw a straight line; *kind* names classes: grid, edge, guide, thin with a hue."""
    return element("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], class_=kind)


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Draw a rectangle of the classes *kind*."""
    return element("rect", x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), class_=kind)


def told(text: str, *parts: str) -> str:
    """Group *parts* under a *text* that a pointer shows and a screen reader says."""
    return element("g", element("title", escaped(text)) + "".join(parts))


_SHAPES = (
    "M{l} {y}A{r} {r} 0 1 0 {h} {y}A{r} {r} 0 1 0 {l} {y}Z",
    "M{x} {t}L{h} {y}L{x} {b}L{l} {y}Z",
    "M{l} {t}L{h} {t}L{h} {b}L{l} {b}Z",
    "M{x} {t}L{h} {b}L{l} {b}Z",
)


def marker(shape: int, x: float, y: float, kind: str, radius: float = 5) -> str:
    """Draw a circle, diamond, square or triangle, by number, around a point."""
    ends = {"x": x, "y": y, "l": x - radius, "h": x + radius, "t": y - radius, "b": y + radius}
    places = {name: _short(value) for name, value in ends.items()} | {"r": _short(radius)}
    return element("path", d=_SHAPES[shape % len(_SHAPES)].format(**places), class_=kind)


def trace(points: Sequence[tuple[float, float]], kind: str, dash: str = "none") -> str:
    """Draw a line through *points*; nothing where there are fewer than two."""
    if len(points) < 2:  # noqa: PLR2004 - a line has two ends
        return ""
    places = " ".join(f"{_short(x)},{_short(y)}" for x, y in points)
    return element("polyline", points=places, class_=kind, stroke_dasharray=dash)


class Sheet:
    """A drawing that grows downwards: heading, legend, whatever is added, keys."""

    def __init__(self, title: str, width: float = WIDTH, shown: float = SHOWN) -> None:
        self.title, self.width, self.shown = title, width, shown
        self.bottom = 0.0
        self._parts: list[str] = []
        if title:
            self._parts.append(words(MARGIN, 24.0, self._fitted(title, HEADING), "heading"))
            self.bottom = 32.0

    def _fitted(self, text: str, size: float = TEXT, indent: float = 0) -> str:
        return shortened(text, self.width - 2 * MARGIN - indent, size)

    def add(self, *parts: str) -> None:
        """Put *parts* where they say they are."""
        self._parts.extend(parts)

    def down_to(self, bottom: float) -> None:
        """Say how far down the drawing reaches now."""
        self.bottom = max(self.bottom, bottom)

    def legend(self, entries: Sequence[Entry]) -> None:
        """Set *entries* side by side, as many to a line as fit."""
        x, y = float(MARGIN), self.bottom + LINE / 2 + 2
        for entry in entries:
            name = named(entry.name, self.width - 2 * MARGIN - 34)
            needed = 34 + width_of(name)
            if x > MARGIN and x + needed > self.width - MARGIN:
                x, y = float(MARGIN), y + LINE
            self.add(told(entry.name, entry.sample(x, y), words(x + 32, y + 4.5, name)))
            x += needed + 16
        self.bottom = y + LINE / 2 + 2 if entries else self.bottom

    def line(self, text: str, kind: str = "soft small", indent: float = 0) -> float:
        """Set *text* below everything so far: at most two lines; give the place of the first."""
        first = self.bottom + LINE - 5
        for row in wrapped(text, self.width - MARGIN - indent - 8, SMALL):
            self.bottom += LINE
            self.add(words(MARGIN + indent, self.bottom - 5, row, kind))
        return first

    def svg(self, description: str) -> Markup:
        """Finish: *description* says in words what the drawing shows."""
        height = self.bottom + 10
        head = element("title", escaped(self.title)) + element("desc", escaped(description))
        paper = box(0.0, 0.0, self.width, height, "paper")
        return Markup(
            element(
                "svg",
                f"{head}<style>{STYLE}</style>{paper}{''.join(self._parts)}",
                xmlns="http://www.w3.org/2000/svg",
                viewBox=f"0 0 {_short(self.width)} {_short(height)}",
                width=self.shown,
                height=height * self.shown / self.width,
                role="img",
                class_="pm",
                style=f"min-width:{_short(READABLE * self.width)}px",
            )
        )
