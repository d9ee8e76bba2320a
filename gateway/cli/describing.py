"""A declared point in words, the same for a terminal and for a page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from ..offering import OptionsFrom
from ..questions import Choice, Predicate, Question, Score
from ..settings import CURRENT, PREFIX

if TYPE_CHECKING:
    from ..points import DecisionPoint

Code = Callable[[str], str]
"""How a name of the program is set apart from words: `repr` in a terminal, backquotes on a page."""


REFERENCE = re.compile(r" ?\([A-Z]\d+\)")  # to a reading of the specification


def order(point: DecisionPoint) -> list[str]:
    """List who is asked for the provider, the first that says something wins."""
    named = [f"{PREFIX}{name}_PROVIDER" for name in point.names]
    return [*named, *([] if point.internal else [f"{PREFIX}PROVIDER"]), CURRENT]


def in_doubt(point: DecisionPoint, code: Code = str) -> str:
    """Say what happens where nobody decides."""
    safe: Any = point.undecided
    if not isinstance(safe, Mapping):
        return _left(safe, "no outcome", code)
    several = cast("Mapping[str, Any]", safe)
    return ", ".join(f"{name}: {_left(one, 'open', code)}" for name, one in several.items())


def _left(value: object, nothing: str, code: Code) -> str:
    return nothing if value is None else code(word(value))


def word(value: Any) -> str:  # noqa: ANN401 - an option, a truth, a number
    """Write an outcome as people do; what says nothing is a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def shares(point: DecisionPoint, code: Code) -> str:
    """Say with whom the point shares a call of its turn."""
    frame = point.share
    if frame is None or frame.alone:
        return "no call: it is always asked alone"
    words = f", its words under {code(frame.words)}" if frame.words else ""
    lists = f", differing words listed under {code(frame.lists)}" if frame.lists else ""
    merged = ", ".join(map(code, frame.merges))
    merges = f", merging {merged}" if merged else ""
    return f"a call with others of {code(frame.group)} in its turn{words}{lists}{merges}"


def names(point: DecisionPoint, code: Code) -> str:
    """Say under which further names the point is known; empty if there is none."""
    said = [f"also called {', '.join(map(code, point.aliases))}"] if point.aliases else []
    if point.prefix:
        said.append(f"stands for every other {code(f'{point.prefix}<NAME>')}")
    if point.chain:
        said.append(f"inherits from {', '.join(map(code, point.chain))}")
    return "; ".join(said)


def current(point: DecisionPoint) -> str:
    """Say what the point works out by itself; empty if nothing."""
    ruled = "what a provider says is held to a rule" if point.after is not None else ""
    own = "its own calculator, where the host has no path" if point.current is not None else ""
    return "; ".join(filter(None, (own, ruled)))


def host(point: DecisionPoint) -> str:
    """Say what the host asks of an accepted answer, and why; empty if nothing."""
    if point.host is None:
        return ""
    return f"{point.host.value:.2f} – {REFERENCE.sub('', point.host.why)}"


def conditions(point: DecisionPoint, name: str, question: Question, code: Code) -> Iterator[str]:
    """Say when the question is asked and counts, and where its further options come from."""
    if name in point.repeats:
        repeat = point.repeats[name]
        yield f"Asked for each entry of {code(repeat.field)}, as {code(repeat.name)}."
    if name in point.asked_with:
        yield f"Asked only where the state has {code(point.asked_with[name])}."
    if question.when is not None:
        values = " or ".join(code(word(value)) for value in question.when.answers)
        yield f"Counts only if {code(question.when.question)} is {values}."
    if question.advisory:
        yield "Advisory: if unsure it is left open, and never a reason to fall back."
    if isinstance(question, Choice):
        for option, path in point.needs.items():
            if option in question.options:
                yield f"{code(option)} is offered only with {code(path)}."
    if name in point.options:
        yield _source(point.options[name], code)


def _source(close: Callable[..., Any], code: Code) -> str:
    if isinstance(close, OptionsFrom):
        shape = code(f'[{{"{close.name}": …, "{close.description}": …}}, …]')
        return f"Further options come from {code(close.field)}: {shape}."
    first = (inspect.getdoc(close) or "").partition("\n\n")[0].replace("\n", " ")
    made = REFERENCE.sub("", first.partition(": ")[2]).rstrip(".") or "made from its state"
    return f"The options of a call: {made}. Meanings known here, where the state gives none:"


def kind(question: Question) -> str:
    """Name the kind of a question."""
    return type(question).__name__


def outcomes(question: Question) -> list[tuple[str, str]]:
    """List what can be answered, each with what it means; a score by its levels' values."""
    match question:
        case Choice(options=options):
            return list(options.items())
        case Predicate(true=true, false=false):
            return [pair for pair in (("true", true), ("false", false)) if pair[1]]
        case Score(levels=levels):
            named = enumerate(levels.items())
            return [(f"{question.value(at):g}", _level(*level)) for at, level in named]


def _level(label: str, description: str) -> str:
    return f"{label}: {description}" if description else label


def sentinel(question: Question) -> str | None:
    """Name the answer that means "none of these", if there is one."""
    return question.sentinel if isinstance(question, Choice) else None
