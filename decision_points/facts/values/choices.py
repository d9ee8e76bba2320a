"""Values of a list: yes and no, declared options, times of day, sets of names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ..keys import seen, tidy
from .numbers import Reader
from .plainly import list_of, scalar
from .texts import Case, ambiguous, malformed, said

_YES: Final = frozenset({"true", "yes", "y", "1", "on", "t", "sim", "s", "verdadeiro", "verdade"})
_NO: Final = frozenset({"false", "no", "n", "0", "off", "f", "não", "nao", "falso"})

_CLOCK = re.compile(
    r"(\d{1,2})(?:(?::|h ?)(\d\d)(?:min|m)?(?::(\d\d))?| ?h)?(?: ?([ap])(?:\.? ?m\.?)?)?", re.ASCII
)
_NOON: Final = 12
_LIST = re.compile(r"[|;\n]")


def booleans(raw: str) -> str:
    """
    Read yes or no, in English, Portuguese or as machines write them.

    Raises:
        Refused: `malformed_value`: it is neither.

    """
    word = tidy(raw)
    if word in _YES:
        return "true"
    return "false" if word in _NO else malformed("it is neither yes nor no")


def options(declared: Mapping[str, tuple[str, ...]]) -> Reader:
    """Give what reads one of the options *declared*, by its name or another spelling of it."""
    known: dict[str, set[str]] = {}
    for label, spellings in declared.items():
        for one in (label, *spellings):
            known.setdefault(tidy(one), set()).add(seen(label))

    def read(raw: str) -> str:
        found = known.get(tidy(raw), set())
        if not found:
            said(raw)  # a word for nothing is told as such
            malformed("it is none of the options", "Declare it, or a spelling of one")
        if len(found) > 1:
            ambiguous("it is a spelling of two options")
        return next(iter(found))

    return read


def clocks(raw: str) -> str:
    """
    Read a time of day: `19:55`, `7:55 p.m.`, `19h55`.

    Raises:
        Refused: `malformed_value`: it is none.

    """
    found = _CLOCK.fullmatch(tidy(raw))
    if found is None or (found[2] is None and not {*"hm"} & {*raw.lower()}):
        malformed("it is no time of day", "Write it like 19:55")
    hour, minute, second = (int(one or 0) for one in found.group(1, 2, 3))
    if found[4]:
        if not 1 <= hour <= _NOON:
            malformed("it is no time of day", "Write it like 7:55 pm or 19:55")
        hour = hour % _NOON + (_NOON if found[4] == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:  # noqa: PLR2004 - of a clock
        malformed("it is no time of day", "Write it like 19:55")
    return f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "")


def names(case: Case) -> Reader:
    """Give what reads a set of names: parted by `|`, `;` or ends of lines, or a list in JSON."""

    def read(raw: str) -> str:
        found = {said(one, case=case) for one in _listed(raw)}
        if not found or any("|" in one for one in found):
            malformed("it is no list of names", "Part them with |")
        return "|".join(sorted(found))

    return read


def _listed(raw: str) -> list[str]:
    if not raw.startswith("["):
        return [one for one in _LIST.split(raw) if one.strip()]
    return [scalar(one) for one in list_of(raw)]
