"""Whether what a person says is an answer to what was asked, and how it is written in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ..errors import DeclarationError
from ..questions import Choice, Predicate, Question, Score, Value, When, principal

if TYPE_CHECKING:
    from .entries import Said

YES = {"true": True, "yes": True, "false": False, "no": False}
SHOWN = 12  # options that a message names
SHORT = 60  # characters of a wrong value that it repeats


def fitting(questions: Mapping[str, Question], given: object) -> Said:
    """
    Read what a person says as an outcome of these *questions*.

    Args:
        questions: Name → question, as they were asked.
        given: An option, a truth, a number or a level's label; question → value for several. One
            value is enough where the other questions merely advise.

    Returns:
        The value of the only question; question → value for several, with None for one that is
        not live or that advises and was left out.

    Raises:
        DeclarationError: It is no answer to them: it says which one, and what would be.

    """
    try:
        plain = msgspec.to_builtins(given, builtin_types=(bytes,))  # of an Enum, its value
    except (TypeError, RecursionError):
        raise DeclarationError(f"a {type(given).__name__} is no answer") from None
    said = _named(questions, plain)
    strange = [name for name in said if name not in questions]
    if strange:
        raise DeclarationError(f"{strange[0]!r} was not asked; it was {_listed(questions)}")
    whole = dict(_each(questions, said))
    return cast("Value", whole.popitem()[1]) if len(whole) == 1 else whole


def spoken(questions: Mapping[str, Question], words: list[str]) -> Said:
    """
    As `fitting`, of *words* as they are typed: a value, or `name=value` for each of several.

    Raises:
        DeclarationError: They are no answer.

    """
    name = _sole(questions)
    if len(words) == 1 and name is not None and not _names_one(questions, words[0]):
        return fitting(questions, {name: _typed(questions, name, words[0])})
    pairs = [word.partition("=") for word in words]
    given = [name for name, _, _ in pairs]
    twice = [name for name in dict.fromkeys(given) if given.count(name) > 1]
    wrong = [name for name, sign, _ in pairs if not sign]
    if wrong:
        how = " ".join(f"{name}=…" for name in questions)
        raise DeclarationError(f"several questions are answered by name: {how}")
    if twice:
        raise DeclarationError(f"{twice[0]!r} is answered twice")
    return fitting(questions, {name: _typed(questions, name, value) for name, _, value in pairs})


def answers(question: Question) -> str:
    """Say what is an answer to *question*, on one line."""
    if isinstance(question, Predicate):
        return "true or false"
    if isinstance(question, Score):
        return f"a number from {question.low:g} to {question.high:g}, or {_listed(question.levels)}"
    return f"one of {_listed(question.options)}"


def _sole(questions: Mapping[str, Question]) -> str | None:
    """Name the question that one value answers: the only one, or the only one that counts."""
    return next(iter(questions)) if len(questions) == 1 else principal(questions)


def _named(questions: Mapping[str, Question], plain: Any) -> Mapping[str, Any]:  # noqa: ANN401
    if isinstance(plain, Mapping):
        return cast("Mapping[str, Any]", plain)
    name = _sole(questions)
    if name is None:
        raise DeclarationError(f"several questions were asked, by name: {_listed(questions)}")
    return {name: plain}


def _each(
    questions: Mapping[str, Question], said: Mapping[str, Any]
) -> Iterator[tuple[str, Value | None]]:
    """Go through the questions in their order: whether one is live depends on those before it."""
    known: dict[str, Value | None] = {}
    for name, question in questions.items():
        known[name] = _one(name, question, said.get(name), live=_is_live(question.when, known))
        yield name, known[name]


def _is_live(when: When | None, known: Mapping[str, Value | None]) -> bool:
    return when is None or known.get(when.question) in when.answers


def _one(name: str, question: Question, value: Any, *, live: bool) -> Value | None:  # noqa: ANN401
    if not live:
        if value is None:
            return None
        raise DeclarationError(f"{name!r} does not count with these answers: leave it out")
    if value is None:
        if question.advisory:
            return None
        raise DeclarationError(f"{name!r} needs an answer: {answers(question)}")
    if isinstance(question, Predicate) and isinstance(value, bool):
        return value
    if isinstance(question, Choice) and isinstance(value, str) and value in question.options:
        return value
    if isinstance(question, Score) and (number := _number(question, value)) is not None:
        return number
    raise DeclarationError(f"{name!r} cannot be {_short(value)}{_meant(question, value)}")


def _number(question: Score, value: Any) -> float | None:  # noqa: ANN401 - any JSON
    """Carry a number, or a level's label, to the scale; None: it is neither."""
    if isinstance(value, str):
        labels = list(question.levels)
        return question.value(labels.index(value)) if value in labels else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if question.low <= value <= question.high else None


def _short(value: object) -> str:
    told = repr(value)
    return told if len(told) <= SHORT else f"{told[:SHORT]}…"


def _meant(question: Question, value: object) -> str:
    """Say what would be an answer, and which one may be meant."""
    names = list(question.options) if isinstance(question, Choice) else []
    names += list(question.levels) if isinstance(question, Score) else []
    import difflib  # only where a word is not understood

    near = difflib.get_close_matches(str(value), names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"; {hint}it is {answers(question)}"


def _typed(questions: Mapping[str, Question], name: str, word: str) -> object:
    """Read a *word* as its question's kind would have it; what it is not stays a text."""
    question = questions.get(name)
    if isinstance(question, Predicate):
        return YES.get(word.strip().lower(), word)
    if isinstance(question, Score) and word not in question.levels:
        try:
            return float(word)
        except ValueError:
            return word
    return word


def _names_one(questions: Mapping[str, Question], word: str) -> bool:
    """Whether *word* is `name=value`, and not an answer that holds such a sign."""
    name = _sole(questions)
    question = None if name is None else questions[name]
    own = question.options if isinstance(question, Choice) else ()
    own = question.levels if isinstance(question, Score) else own
    return word not in own and word.partition("=")[0] in questions and "=" in word


def _listed(names: Mapping[str, object]) -> str:
    more = f", … ({len(names)} in all)" if len(names) > SHOWN else ""
    return f"{', '.join(map(repr, list(names)[:SHOWN]))}{more}"
