"""
Decision points: named places where the host must decide, declared as data.

A point's name is the suffix of its variables. Its name chain goes from the most specific
name to more general ones: `GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK` asks its own
variables first, then those of `GUARDRAIL_DLEX_OUT`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

import msgspec

from .errors import DeclarationError
from .questions import (
    Ask,
    Choice,
    Predicate,
    Question,
    Questions,
    Value,
    by_name,
    ordered,
    reachable,
)
from .state import State

Language: TypeAlias = str
"""`en` or `pt` for the built-in points; a user's own may speak others."""

OnUndecided: TypeAlias = Literal["block", "allow"]


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


def _is_suffix(name: object) -> bool:
    return isinstance(name, str) and bool(re.fullmatch("[A-Z0-9]+(_[A-Z0-9]+)*", name))


class OptionsFrom(msgspec.Struct, frozen=True):
    """
    Where an open choice finds its options in the state.

    Attributes:
        field: The state field that lists them.
        name: Key of an entry's option name.
        description: Key of its one-line description.

    """

    field: str
    name: str
    description: str

    def read(self, state: Mapping[str, Any]) -> dict[str, str]:
        """
        Read the options of this call.

        Raises:
            DeclarationError: The field is absent, or an entry has no name.

        """
        entries: Any = state.get(self.field)
        try:
            return {entry[self.name]: entry.get(self.description) or "" for entry in entries}
        except (TypeError, KeyError, AttributeError):
            shape = f"[{{{self.name!r}: …, {self.description!r}: …}}, …]"
            raise DeclarationError(f"the state's {self.field!r} must be {shape}") from None


def _fixed(questions: Mapping[str, Question]) -> Mapping[str, Question]:
    """Check questions here, once; where options come with the call, as far as they are known."""
    if not any(isinstance(one, Choice) and one.open for one in by_name(questions).values()):
        return Questions(questions) if questions else questions
    ordered(questions)
    reachable(questions)
    return questions


def _spoken(questions: object) -> Mapping[Language, Any]:
    if not isinstance(questions, Mapping):
        raise DeclarationError(f"questions come by language; got {type(questions).__name__}")
    return cast("Mapping[Language, Any]", questions)


def _tied(questions: Mapping[str, Question], tie: bool) -> Mapping[str, Question]:  # noqa: FBT001
    """Let a tie of the only predicate end as the point does where nobody decides."""
    ((name, question),) = questions.items()
    assert isinstance(question, Predicate)
    if question.tie is tie:
        return questions
    return Questions({name: msgspec.structs.replace(question, tie=tie)})


class DecisionPoint(msgspec.Struct, frozen=True, kw_only=True):
    """
    One decision point.

    Attributes:
        name: Suffix of its variables, written as in them.
        questions: Language → question name → question. An open choice gets its options
            from the call.
        reads: The state fields that its deciders see; nothing else is sent.
        words: Which of them holds the words to be judged, for functions of one text.
        options: Question → where its further options stand in the state.
        needs: Option → the state field without which it is impossible and not offered.
        safe: What is done in doubt: the outcome where nothing else is left; None if nothing
            may be done. A predicate's tie ends so too.
        blocks: The predicate's answer that makes the host block.
        on_undecided: `block` or `allow` for a predicate that nothing else decides.
        chain: More general names whose variables also count, nearest first.
        internal: Does not inherit the global provider.

    Raises:
        DeclarationError: No question; languages that ask different names; a safe outcome
            that is no option; `on_undecided` for anything but one predicate.

    """

    name: str
    questions: Mapping[Language, Mapping[str, Question]]
    reads: tuple[str, ...] = ()
    words: str = ""
    options: Mapping[str, OptionsFrom] = {}
    needs: Mapping[str, str] = {}
    safe: Value | None = None
    blocks: bool = True
    on_undecided: OnUndecided | None = None
    chain: tuple[str, ...] = ()
    internal: bool = False

    def __post_init__(self) -> None:
        for name in self.names:
            if not _is_suffix(name):
                problem = f"a point is called as its variables are: {suffix_of(name)!r}"
                raise DeclarationError(f"{problem}, not {name!r}")
        fixed = {language: _fixed(named) for language, named in _spoken(self.questions).items()}
        msgspec.structs.force_setattr(self, "questions", fixed)
        asked = {tuple(named) for named in self.questions.values()}
        if len(asked) != 1 or not next(iter(asked)):
            raise DeclarationError(f"{self.name}: each language asks the same questions, by name")
        if self.on_undecided and not self._one_predicate:
            raise DeclarationError(f"{self.name}: `on_undecided` is for points of one predicate")
        if self.safe is not None and not all(map(self._may_answer, self.questions.values())):
            raise DeclarationError(f"{self.name}: its safe outcome is no answer to its question")
        if isinstance(self.undecided, bool) and self._one_predicate:
            tied = {language: _tied(one, self.undecided) for language, one in fixed.items()}
            msgspec.structs.force_setattr(self, "questions", tied)

    @property
    def names(self) -> tuple[str, ...]:
        """The name chain, most specific first."""
        return (self.name, *self.chain)

    @property
    def _one_predicate(self) -> bool:
        questions = list(next(iter(self.questions.values())).values())
        return len(questions) == 1 and isinstance(questions[0], Predicate)

    def _may_answer(self, questions: Mapping[str, Question]) -> bool:
        question, safe = next(iter(questions.values())), self.safe
        if len(questions) > 1 or (isinstance(question, Choice) and question.open):
            return True  # its outcome is a mapping, or what the call offers
        if isinstance(question, Choice):
            return safe in question.options
        if isinstance(question, Predicate) or isinstance(safe, bool | str):
            return isinstance(question, Predicate) and isinstance(safe, bool)
        return safe is not None and question.low <= safe <= question.high

    @property
    def undecided(self) -> Value | None:
        """The outcome where nobody decides: `on_undecided`, else the safe outcome."""
        if self.on_undecided is not None:
            return self.blocks if self.on_undecided == "block" else not self.blocks
        return self.safe

    def ask(self, state: State, language: Language = "en") -> Ask:
        """
        Build this point's questions about *state*.

        Only the declared fields of a mapping are kept; options come from it where the
        point says so, and impossible ones are left out.

        Raises:
            DeclarationError: The language is not spoken, the state is no JSON, or it lacks
                the words or what the options need.

        """
        asked = self.spoken(language)
        try:
            if not self.reads:
                return Ask(state, asked)
            seen = self._projection(state)
            return Ask(seen, self._narrowed(asked, seen) if self.options or self.needs else asked)
        except DeclarationError as why:
            raise DeclarationError(f"{self.name}: {why}") from None

    def spoken(self, language: Language) -> Mapping[str, Question]:
        """
        Give the questions in *language*, or in the only one that the point speaks.

        Raises:
            DeclarationError: It speaks several others.

        """
        if language in self.questions:
            return self.questions[language]
        if len(self.questions) == 1:
            return next(iter(self.questions.values()))
        for spoken, questions in self.questions.items():
            if spoken.lower() == language.lower():
                return questions
        raise DeclarationError(f"{self.name} speaks {', '.join(self.questions)}, not {language!r}")

    def _projection(self, state: State) -> Mapping[str, Any]:
        if not isinstance(state, Mapping):
            if not self.words:
                raise DeclarationError(f"the state is a mapping of {', '.join(self.reads)}")
            return {self.words: state}
        given = cast("Mapping[str, Any]", state)
        if self.words and given.get(self.words) is None:
            raise DeclarationError(_without_words(self.words, given))
        return {field: given[field] for field in self.reads if field in given}

    def _narrowed(self, asked: Mapping[str, Question], state: Mapping[str, Any]) -> Questions:
        closed = {name: self._closed(name, question, state) for name, question in asked.items()}
        return Questions(closed, narrowed=True)

    def _closed(self, name: str, question: Question, state: Mapping[str, Any]) -> Question:
        if not isinstance(question, Choice):
            return question
        if name in self.options:
            question = question.offering(self.options[name].read(state))
        absent = [option for option, field in self.needs.items() if not state.get(field)]
        return question.without(absent) if absent else question


def _without_words(words: str, given: Mapping[str, Any]) -> str:
    import difflib

    fields = [field for field in given if _is_field(field)]
    has = "it is null" if words in given else f"the state has {', '.join(fields) or 'no field'}"
    near = [] if words in given else difflib.get_close_matches(words, fields, n=1)
    hint = f". Did you mean {words!r} by {near[0]!r}?" if near else ""
    return f"the words are read from {words!r}; {has}{hint}"


def _is_field(name: object) -> bool:
    """Whether it is a name, which may be repeated, rather than something said."""
    return isinstance(name, str) and name.isidentifier() and len(name) <= 40  # noqa: PLR2004
