"""
One self-contained page: sections, tables, notes and drawings, for light and dark, phone and paper.

Whatever is not `Markup` is text and is escaped. The page loads nothing and runs nothing, and
says so to the browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .drawings import Markup
from .drawings.canvas import DARK, LIGHT, element, escaped

_LIGHT = f"{LIGHT};--band:#f6f8fa"
_DARK = f"{DARK};--band:#161b22"
STYLE = (
    f":root{{{_LIGHT};color-scheme:light dark}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_DARK}}}}}"
    f"@media print{{:root{{{_LIGHT};color-scheme:light}}}}"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;padding:1.5rem 1rem 3rem;max-width:60rem;background:var(--paper);"
    "color:var(--ink);font:16px/1.5 system-ui,'Segoe UI',Roboto,'Noto Sans',sans-serif;"
    "overflow-wrap:anywhere}"
    "h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}"
    "h2{font-size:1.2rem;margin:2.5rem 0 .75rem;padding-top:.75rem;"
    "border-top:1px solid var(--grid)}"
    "h3{font-size:1rem;margin:1.5rem 0 .5rem}p{margin:.5rem 0;max-width:42rem}"
    ".lead{color:var(--soft);margin-bottom:1.5rem}"
    ".scroll{overflow-x:auto;margin:.75rem 0}"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;"
    "overflow-wrap:normal}"
    "caption{text-align:left;color:var(--soft);padding:.25rem 0}"
    "th,td{padding:.3rem .75rem .3rem 0;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--grid)}th{font-weight:600;border-bottom:2px solid var(--grid)}"
    ".n{text-align:right;white-space:nowrap}"
    ".note{border-left:4px solid var(--grid);background:var(--band);padding:.5rem .75rem;"
    "margin:.75rem 0;max-width:44rem}.note.good{border-color:var(--c2)}"
    ".note.warning{border-color:var(--c1)}.note b{display:block}"
    "figure{margin:1rem 0;overflow-x:auto}figure svg{display:block}"
    "figcaption{color:var(--soft);font-size:.9rem;max-width:42rem}"
    "summary{cursor:pointer;color:var(--c0)}"
    "@media (max-width:40rem){figure{margin:1rem -1rem}figcaption{padding:0 1rem}}"
    "@media print{body{max-width:none;padding:0;font-size:11pt}h2,h3{break-after:avoid}"
    "figure,tr,.note{break-inside:avoid}figure svg{min-width:0!important}"
    ".scroll,figure{overflow:visible}}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
KINDS = {"note": "", "good": "", "warning": "Warning"}

_NUMBER = re.compile(
    r"[<>≤≥≈~−+-]?\s?\$?\d[\d.,]{0,15}\s?(e[+-]?\d+)?\s?(%|ms|s|pp|points)?(\s?\[[^\]]*\])?"
)


class Section(NamedTuple):
    """A heading and what stands below it: `Markup`, or a text."""

    heading: str
    html: str


def page(title: str, sections: Sequence[Section], lead: str = "", language: str = "en") -> Markup:
    """Make one HTML file of *sections*; *lead* is a sentence below the title."""
    head = (
        element("meta", charset="utf-8")
        + element("meta", http_equiv="Content-Security-Policy", content=POLICY)
        + element("meta", name="viewport", content="width=device-width, initial-scale=1")
        + element("meta", name="color-scheme", content="light dark")
        + element("title", escaped(title))
        + f"<style>{STYLE}</style>"
    )
    top = element("h1", escaped(title)) + (
        element("p", escaped(lead), class_="lead") if lead else ""
    )
    body = element("main", top + "".join(map(_section, sections)))
    whole = element("head", head) + element("body", body)
    return Markup("<!doctype html>\n" + element("html", whole, lang=language) + "\n")


def _section(section: Section) -> str:
    heading = element("h2", escaped(section.heading)) if section.heading else ""
    return element("section", heading + _block(section.html))


def _block(content: str) -> str:
    return content if isinstance(content, Markup) else paragraph(content)


def joined(*parts: str) -> Markup:
    """Put *parts* one below the other; one that is not `Markup` becomes a paragraph."""
    return Markup("".join(map(_block, parts)))


def paragraph(text: str) -> Markup:
    """Set *text* as a paragraph."""
    return Markup(element("p", escaped(text)))


def heading(text: str) -> Markup:
    """Set *text* as a heading within a section."""
    return Markup(element("h3", escaped(text)))


def note(text: str, kind: str = "note") -> Markup:
    """
    Set *text* apart; *kind* is `note`, `good` or `warning`, which is said in words, too.

    Raises:
        ValueError: Another kind.

    """
    if kind not in KINDS:
        raise ValueError(f"a note is one of {', '.join(KINDS)}, not {kind!r}")
    word = element("b", KINDS[kind]) if KINDS[kind] else ""
    return Markup(element("div", word + escaped(text), class_=f"note {kind}"))


def figure(drawing: str, caption: str = "") -> Markup:
    """Set a *drawing* with its *caption*; one that is not `Markup` is shown as the text it is."""
    below = element("figcaption", escaped(caption)) if caption else ""
    return Markup(element("figure", _block(drawing) + below))


def details(summary: str, *parts: str) -> Markup:
    """Hide *parts* behind a *summary* that opens them."""
    return Markup(element("details", element("summary", escaped(summary)) + joined(*parts)))


def table(head: Sequence[object], rows: Iterable[Sequence[object]], caption: str = "") -> Markup:
    """
    Make a table; columns of numbers are set to the right, and None is "–".

    Raises:
        ValueError: A row has more or fewer cells than *head*.

    """
    lines = [[_cell(value) for value in row] for row in rows]
    if any(len(line) != len(head) for line in lines):
        raise ValueError(f"a row of a table with {len(head)} columns has another number of cells")
    right = [_numeric([line[column] for line in lines]) for column in range(len(head))]
    top = "".join(_set("th", _cell(value), right=n) for value, n in zip(head, right, strict=True))
    below = "".join(
        element(
            "tr", "".join(_set("td", cell, right=n) for cell, n in zip(line, right, strict=True))
        )
        for line in lines
    )
    above = element("caption", escaped(caption)) if caption else ""
    whole = (
        above + element("thead", element("tr", top)) + (element("tbody", below) if below else "")
    )
    return Markup(element("div", element("table", whole), class_="scroll"))


def _set(tag: str, cell: str, *, right: bool) -> str:
    inside = cell if isinstance(cell, Markup) else escaped(cell)
    kinds = ({"scope": "col"} if tag == "th" else {}) | ({"class": "n"} if right else {})
    return element(tag, inside or " ", **kinds)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else str(value)


def _numeric(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers, with their units and intervals, and nothing else."""
    said = [cell for cell in cells if cell not in ("–", "")]
    return bool(said) and all(_NUMBER.fullmatch(cell) for cell in said)
