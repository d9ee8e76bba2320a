"""Variables that nothing reads, and what they may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping

from .errors import Fault
from .settings import CURRENT, GLOBALS, PREFIX, SUFFIXES, parse

NEAR = 0.8  # how alike two names are before one is suggested for the other
WHOLE = 0.9  # the same for whole variables, most letters of which are alike anyway


def unread(values: Mapping[str, str], points: Collection[str]) -> Iterable[Fault]:
    """List the `DECISION_` variables that none of *points* reads, in any case of letters."""
    read = GLOBALS | {f"{PREFIX}{name}_{suffix}" for name in points for suffix in SUFFIXES}
    for name, value in values.items():
        harmless = name.endswith("_PROVIDER") and value == CURRENT
        if name.upper().startswith(PREFIX) and name not in read and not harmless:
            yield _fault(name, points, read)


def _fault(name: str, points: Collection[str], read: Collection[str]) -> Fault:
    upper = name.upper()
    if upper != name:
        problem = "variables are written in capitals; nothing reads this one"
        meant = upper if upper in read else _nearest(upper, read)
        return Fault(name, problem, _did(meant) or "Unset it")
    rest = name.removeprefix(PREFIX)
    if rest in points:
        problem = "it says nothing but a point's name"
        return Fault(name, problem, _did(f"{name}_PROVIDER"))
    if (parsed := parse(name)) is not None:
        return _of_point(name, *parsed, points)
    fix = _did(_nearest(name, read)) or "Declare the point, or unset it"
    return Fault(name, "no decision point reads this variable", fix)


def _of_point(name: str, point: str, suffix: str, points: Collection[str]) -> Fault:
    """A point that is not known here may well be known elsewhere: no global is meant."""
    near = difflib.get_close_matches(point, list(points), n=1, cutoff=NEAR)
    problem = f"no decision point reads this variable: no point {point} is known here"
    load = "Import the module that declares it (the command: --app module:gateway), or unset it"
    return Fault(name, problem, _did(f"{PREFIX}{near[0]}_{suffix}") if near else load)


def _nearest(name: str, read: Collection[str]) -> str:
    words = name.count("_")  # a variable of a point is longer than a global: not the same thing
    known = [one for one in read if one not in GLOBALS or one.count("_") == words]
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=WHOLE)), "")


def _did(meant: str) -> str:
    return f"Did you mean {meant}?" if meant else ""


def unread_of_providers(
    values: Mapping[str, str], read: Collection[str], prefixes: Collection[str]
) -> Iterable[Fault]:
    """List what looks like a variable that a selected provider *read*, but is none of them."""
    for name in values:
        prefix = next((one for one in prefixes if name.startswith(one)), "")
        if name in read or not prefix:
            continue
        if near := nearest_behind(prefix, name, read):
            yield Fault(name, "the selected provider does not read this variable", _did(near))


def nearest_behind(prefix: str, name: str, read: Collection[str]) -> str:
    """
    Give what *name* was meant to be among what is *read*; empty: another program's, perhaps.

    Others have variables behind the same *prefix*, which alone makes any two of them alike.
    """
    known = [one.removeprefix(prefix) for one in sorted(read) if one.startswith(prefix)]
    near = difflib.get_close_matches(name.removeprefix(prefix), known, n=1, cutoff=NEAR)
    return f"{prefix}{near[0]}" if near else ""
