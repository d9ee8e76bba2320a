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
from .questions import Ask, Choice, Predicate, Question, Questions, Value
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

    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    suffix = re.sub(r"[^A-Za-z0-9]+", "_", folded).strip("_").upper()
    if not suffix:
        raise DeclarationError(f"{name!r} leaves no name for a variable")
    return suffix


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
    """Check questions here, once, unless their options come with the call."""
    open_ = any(isinstance(one, Choice) and one.open for one in questions.values())
    return questions if open_ or not questions else Questions(questions)


class DecisionPoint(msgspec.Struct, frozen=True, kw_only=True):
    """
    One decision point.

    Attributes:
        name: Suffix of its variables.
        questions: Language → question name → question. An open choice gets its options
            from the call.
        reads: The state fields that its deciders see; nothing else is sent.
        words: Which of them holds the words to be judged, for functions of one text.
        options: Question → where its further options stand in the state.
        needs: Option → the state field without which it is impossible and not offered.
        safe: What is done in doubt: the outcome where nothing else is left; None if nothing
            may be done.
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
        fixed = {language: _fixed(by_name) for language, by_name in self.questions.items()}
        msgspec.structs.force_setattr(self, "questions", fixed)
        asked = {tuple(by_name) for by_name in self.questions.values()}
        if len(asked) != 1 or not next(iter(asked)):
            raise DeclarationError(f"{self.name}: each language asks the same questions, by name")
        if self.on_undecided and not self._one_predicate:
            raise DeclarationError(f"{self.name}: `on_undecided` is for points of one predicate")
        if self.safe is not None and not all(map(self._may_answer, self.questions.values())):
            raise DeclarationError(f"{self.name}: its safe outcome is no answer to its question")

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
            DeclarationError: The language is not spoken, or the state lacks what the
                options need.

        """
        asked = self.spoken(language)
        if not self.reads:
            return Ask(state, asked)
        seen = self._projection(state)
        return Ask(
            seen, {name: self._closed(name, question, seen) for name, question in asked.items()}
        )

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
        raise DeclarationError(f"{self.name} speaks {', '.join(self.questions)}, not {language!r}")

    def _projection(self, state: State) -> State:
        if not isinstance(state, Mapping):
            return {self.words: state}
        given = cast("Mapping[str, Any]", state)
        return {field: given[field] for field in self.reads if field in given}

    def _closed(self, name: str, question: Question, state: State) -> Question:
        if not isinstance(question, Choice):
            return question
        if name in self.options:
            question = question.offering(self.options[name].read(state))
        absent = [option for option, field in self.needs.items() if not state.get(field)]
        return question.without(absent) if absent else question
