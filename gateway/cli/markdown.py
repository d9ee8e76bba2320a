"""`pointsman points --markdown`: a page that is made from the declarations, and never lags them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from . import describing

if TYPE_CHECKING:
    from ..points import DecisionPoint
    from ..questions import Question

INTRO = """\
# Decision points

*Written by `pointsman points --markdown`; do not edit.*

What each point decides, what its deciders are shown, what they may answer, and what follows in
doubt. Questions are asked in English or Portuguese (`DECISION_LANGUAGE`).

- **State**: the fields that are sent; whatever else the call brings stays at home.
- **In doubt**: the outcome where nobody decides. A predicate's tie ends so too.
- **Variables**: which name's variables count, the first that says something wins. `_PROVIDER`
  stands for all of a point's variables.
- **Host**: a threshold that a host applies by itself to what was decided. The gateway does not:
  its own is `DECISION_<POINT>_MIN_CONFIDENCE`.
- **Shares**: inside `gateway.turn()` the points of one group are asked in one provider call.
"""
LANGUAGES = {"en": "English", "pt": "Portuguese"}


def page(points: Sequence[DecisionPoint]) -> str:
    """Write a page about *points*, in their order."""
    told = [_section(point) for point in points]
    return "\n".join((INTRO, *_summary(points), "", "\n\n".join(told))) + "\n"


def _code(name: str) -> str:
    return f"`{name}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(*rows: Sequence[str]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield f"| {' | '.join(map(_cell, row))} |"
        if number == 0:
            yield f"|{' --- |' * len(row)}"


def _summary(points: Sequence[DecisionPoint]) -> Iterator[str]:
    rows = [
        (
            f"[{point.name}](#{point.name.lower()})",
            _asks(point),
            describing.in_doubt(point, _code),
            "" if point.host is None else f"{point.host.value:.2f}",
            "alone" if point.share is None or point.share.alone else point.share.group,
        )
        for point in points
    ]
    yield from _table(("point", "asks", "in doubt", "host", "shares"), *rows)


def _asks(point: DecisionPoint) -> str:
    kinds = [describing.kind(one).lower() for one in next(iter(point.questions.values())).values()]
    asked = " + ".join(kinds)
    return f"{asked}, repeated" if point.repeats else asked


def _section(point: DecisionPoint) -> str:
    facts = [
        ("State", ", ".join(map(_code, point.reads)) or "as it is given"),
        ("Current", describing.current(point)),
        ("In doubt", describing.in_doubt(point, _code)),
        ("Variables", " → ".join(map(_code, describing.order(point)))),
        ("Names", describing.names(point, _code)),
        ("Host", describing.host(point)),
        ("Shares", describing.shares(point, _code)),
    ]
    listed = [f"- **{title}**: {text}" for title, text in facts if text]
    asked = [line for name in _names(point) for line in _question(point, name)]
    return "\n".join([f"## {point.name}", "", *listed, *asked])


def _names(point: DecisionPoint) -> list[str]:
    return list(next(iter(point.questions.values())))


def _question(point: DecisionPoint, name: str) -> Iterator[str]:
    asked = {language: named[name] for language, named in point.questions.items()}
    first = next(iter(asked.values()))
    yield from ("", f"**{_code(name)}** ({describing.kind(first).lower()})", "")
    told = [f"> **{language}** {one.instructions}" for language, one in asked.items()]
    yield "\n>\n".join(told)
    conditions = list(describing.conditions(point, name, first, _code))
    if conditions:
        yield from ("", " ".join(conditions))
    rows = list(_outcomes(list(asked.values())))
    if rows:
        yield ""
        yield from _table(("answer", *(LANGUAGES.get(one, one) for one in asked)), *rows)


def _outcomes(asked: Sequence[Question]) -> Iterator[Sequence[str]]:
    """List each answer with its meaning in every language; a word may be known in one only."""
    none = describing.sentinel(asked[0])
    meanings = [dict(describing.outcomes(one)) for one in asked]
    for answer in dict.fromkeys(answer for one in meanings for answer in one):
        sign = " (none of these)" if answer == none else ""
        yield (f"{_code(answer)}{sign}", *(one.get(answer, "") for one in meanings))
