"""A comparison as one file of HTML: it loads nothing and runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...evaluation.page import Section, figure, joined, note, page, paragraph, table
from .parts import parts, title
from .words import Drawn, Facts, Grid, Item, day

if TYPE_CHECKING:
    from ...evaluation.comparison.report import Report
    from ...evaluation.drawings import Markup


def page_of(report: Report) -> str:
    """Write *report* as a page."""
    sections = [Section(one.title, joined(*map(_item, one.items))) for one in parts(report)]
    period = "" if report.since is None else f"{day(report.since)} to {day(report.until or 0)}"
    return page(title(report), sections, lead=f"{period}, {report.decisions:,} decisions")


def _item(item: Item) -> Markup:
    if isinstance(item, Facts):
        rows = [(name, value.replace("`", "")) for name, value in item.rows]
        return table(("", ""), rows) if rows else joined()
    if isinstance(item, Grid):
        return joined() if item.spare else table(item.head, item.rows)
    if isinstance(item, Drawn):
        return figure(item.make(), item.caption)
    text = item.text.replace("`", "")
    if item.kind == "note":
        return paragraph(text)
    return note(text, "note" if item.kind == "verdict" else item.kind)
