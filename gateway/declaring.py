"""What a declaration must be: names that variables can carry, questions that can be asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from .errors import DeclarationError
from .questions import Choice, Predicate, Question, Questions, by_name, ordered, reachable

NEAR = 0.7  # PNIJ for PINJ is 0.75; MINE is 0.5


def suffix_of(name: str) -> str:
    """
    Make the variable suffix of a point's or component's *name*.

    Accents are folded to ASCII, every run of other characters becomes one `_`, and the
    ends are trimmed: `guardrail.dlex_out` and `Guardrail-DLEX out` are one suffix.

    Raises:
        DeclarationError: Nothing is left.

    """
    import unicodedata

    folded = unicodedata.normalize("NFKD", _text(name)).encode("ascii", "ignore").decode()
    suffix = re.sub(r"[^A-Za-z0-9]+", "_", folded).strip("_").upper()
    if not suffix:
        raise DeclarationError(f"{name!r} leaves no name for a variable")
    return suffix


def _text(name: object) -> str:
    if isinstance(name, str):
        return name
    raise DeclarationError(f"a point's name is a text; got {type(name).__name__}")


def is_suffix(name: object) -> bool:
    """Whether variables can carry *name* as it is."""
    return isinstance(name, str) and bool(re.fullmatch("[A-Z0-9]+(_[A-Z0-9]+)*", name))


def carried(names: Iterable[str]) -> None:
    """
    Check that variables can carry every one of a point's *names*.

    Raises:
        DeclarationError: They cannot; the text says how it is spelt.

    """
    for name in names:
        if not is_suffix(name):
            problem = f"a point is called as its variables are: {suffix_of(name)!r}"
            raise DeclarationError(f"{problem}, not {name!r}")


def fixed(questions: Mapping[str, Question]) -> Mapping[str, Question]:
    """Check questions here, once; where options come with the call, as far as they are known."""
    if not any(isinstance(one, Choice) and one.open for one in by_name(questions).values()):
        return Questions(questions) if questions else questions
    ordered(questions)
    reachable(questions)
    return questions


def spoken(questions: object) -> Mapping[str, Any]:
    """
    Read questions by language.

    Raises:
        DeclarationError: They are no mapping.

    """
    if not isinstance(questions, Mapping):
        raise DeclarationError(f"questions come by language; got {type(questions).__name__}")
    return cast("Mapping[str, Any]", questions)


def tied(questions: Mapping[str, Question], tie: bool) -> Mapping[str, Question]:  # noqa: FBT001
    """Let a tie of the only predicate end as the point does where nobody decides."""
    ((name, question),) = questions.items()
    assert isinstance(question, Predicate)
    if question.tie is tie:
        return questions
    return Questions({name: msgspec.structs.replace(question, tie=tie)})


def ends(name: str, on_undecided: object, known: Sequence[str]) -> None:
    """
    Check the word for what happens where nobody decides.

    Raises:
        DeclarationError: It is none of the *known*; the text names the one that is meant.

    """
    if on_undecided is not None and on_undecided not in known:
        meant = near(str(on_undecided), known, "")
        hint = f". Did you mean {meant!r}?" if meant else ""
        words = ", ".join(known)
        problem = f"`on_undecided` is one of {words}; got {on_undecided!r}{hint}"
        raise DeclarationError(f"{name}: {problem}")


def near(name: str, known: Iterable[str], prefix: str) -> str | None:
    """Name the one of *known* that *name* is nearly spelt like, behind their *prefix*."""
    import difflib

    rests = [one.removeprefix(prefix) for one in known if one.startswith(prefix)]
    found = difflib.get_close_matches(name.removeprefix(prefix), rests, n=1, cutoff=NEAR)
    return f"{prefix}{found[0]}" if found else None


def without_words(words: str, given: Mapping[str, Any]) -> str:
    """Say that a state lacks its *words*, and which of its fields could be meant."""
    import difflib

    fields = [field for field in given if _is_field(field)]
    has = "it is null" if words in given else f"the state has {', '.join(fields) or 'no field'}"
    near = [] if words in given else difflib.get_close_matches(words, fields, n=1)
    hint = f". Did you mean {words!r} by {near[0]!r}?" if near else ""
    return f"the words are read from {words!r}; {has}{hint}"


def _is_field(name: object) -> bool:
    """Whether it is a name, which may be repeated, rather than something said."""
    return isinstance(name, str) and name.isidentifier() and len(name) <= 40  # noqa: PLR2004
