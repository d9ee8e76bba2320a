"""
Decision points: named places where the host must decide, declared as data.

A point's name is the suffix of its variables. Its name chain goes from the most specific
name to more general ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast, get_args

import msgspec

from .calculators import After, Calculator, calculates
from .declaring import carried, ends, fixed, near, spoken, suffix_of, tied, without_words
from .errors import DeclarationError, SetupError
from .frames import Frame
from .offering import Close, HostMinimum, Hybrid, OptionsFrom, Repeat, offered
from .questions import Ask, Outcome, Predicate, Question, Value, may_answer, principal
from .state import State

__all__ = [
    "Calculator",
    "DecisionPoint",
    "HostMinimum",
    "Hybrid",
    "Language",
    "OnUndecided",
    "OptionsFrom",
    "Repeat",
    "find",
    "suffix_of",
]

Language: TypeAlias = str
"""`en` or `pt` for the built-in points; a user's own may speak others."""

OnUndecided: TypeAlias = Literal["block", "allow", "human"]
"""What happens where nobody decides; `human`: `HumanNeeded` is raised."""


class DecisionPoint(msgspec.Struct, frozen=True, kw_only=True):
    """
    One decision point.

    Attributes:
        name: Suffix of its variables, written as in them.
        questions: Language → question name → question. An open choice gets its options
            from the call.
        reads: The state fields that its deciders see; nothing else is sent.
        words: Which of them holds the words to be judged, for functions of one text.
        options: Question → where its further options stand in the state, or a function that
            closes it; read from the state as given, whether the field is sent or not.
        brings: Fields that a call brings and nobody is sent: a function may take them, options
            may be made of them.
        needs: Option → the path in the given state without which it is impossible and not
            offered: `active_agent`, or `candidates.{n}` of a repeated question.
        asked_with: Question → the state field without which it is not asked.
        repeats: Question → the state field for each of whose entries it is asked.
        safe: What is done in doubt: the outcome where nothing else is left; None if nothing
            may be done. A predicate's tie ends so too. Question → value where several are
            asked; one value for all that are repeated.
        blocks: The predicate's answer that makes the host block.
        fails_closed: Its host blocks too where nobody answers: without the fallback an outage
            of the provider stops everything, which is said at start.
        on_undecided: `block` or `allow` for a predicate that nothing else decides; `human`
            for any point: a person must.
        aliases: More specific names of the same component, whose variables win.
        chain: More general names whose variables also count, nearest first.
        prefix: It stands for every unknown name that begins so.
        share: The frame in which it shares a provider call with others of its turn.
        host: The threshold that a host applies afterwards by itself.
        hybrid: What `current` supplies for its provider to choose among.
        internal: Does not inherit the global provider.
        evaluates: It judges what was said: traces tell what it finds as an evaluation.
        current: How it is decided where the host has no path of its own, by calculation.
        after: State as given, a provider's outcome → one that is at least as protective.
        adhoc: Its questions came with an ask, so that nobody has declared their words.

    Raises:
        DeclarationError: No question; languages that ask different names; a safe outcome
            that is no option; `on_undecided` for anything but one predicate.

    """

    name: str
    questions: Mapping[Language, Mapping[str, Question]]
    reads: tuple[str, ...] = ()
    words: str = ""
    options: Mapping[str, Close] = {}
    brings: tuple[str, ...] = ()
    needs: Mapping[str, str] = {}
    asked_with: Mapping[str, str] = {}
    repeats: Mapping[str, Repeat] = {}
    safe: Value | Mapping[str, Value | None] | None = None
    blocks: bool = True
    fails_closed: bool = False
    on_undecided: OnUndecided | None = None
    aliases: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    prefix: str = ""
    share: Frame | None = None
    host: HostMinimum | None = None
    hybrid: Hybrid | None = None
    internal: bool = False
    evaluates: bool = False
    current: Calculator | None = None
    after: After | None = None
    adhoc: bool = False

    def __post_init__(self) -> None:
        carried(self.names)
        calculates(self.name, self.current, self.after, hybrid=self.hybrid is not None)
        checked = {language: fixed(named) for language, named in spoken(self.questions).items()}
        msgspec.structs.force_setattr(self, "questions", checked)
        asked = {tuple(named) for named in self.questions.values()}
        if len(asked) != 1 or not next(iter(asked)):
            raise DeclarationError(f"{self.name}: each language asks the same questions, by name")
        ends(self.name, self.on_undecided, get_args(OnUndecided))
        if self.on_undecided in ("block", "allow") and self.predicate is None:
            raise DeclarationError(f"{self.name}: `on_undecided` is for points of one predicate")
        if self.safe is not None and not all(map(self._may_answer, self.questions.values())):
            raise DeclarationError(f"{self.name}: its safe outcome is no answer to its question")
        if isinstance(self.undecided, bool) and len(next(iter(asked))) == 1:
            ties = {language: tied(one, self.undecided) for language, one in checked.items()}
            msgspec.structs.force_setattr(self, "questions", ties)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def names(self) -> tuple[str, ...]:
        """The name chain, most specific first."""
        return (*self.aliases, self.name, *self.chain)

    @property
    def predicate(self) -> str | None:
        """The name of the only question that is gated, if that is a predicate."""
        name = principal(next(iter(self.questions.values())))
        asked = next(iter(self.questions.values()))
        return name if name is not None and isinstance(asked[name], Predicate) else None

    def _may_answer(self, questions: Mapping[str, Question]) -> bool:
        safe = self.safe
        if isinstance(safe, Mapping):
            return all(
                name in questions and (one is None or may_answer(questions[name], one))
                for name, one in safe.items()
            )
        main = principal(questions)
        if main is None and not self.repeats:
            return False
        asked = questions.values() if main is None else (questions[main],)
        return all(may_answer(one, safe) for one in asked)

    @property
    def undecided(self) -> Value | Mapping[str, Value | None] | None:
        """The outcome where nobody decides: `on_undecided`, else the safe outcome."""
        if self.on_undecided == "human":
            return None
        if self.on_undecided is not None:
            return self.blocks if self.on_undecided == "block" else not self.blocks
        return self.safe

    def in_doubt(self, asked: Mapping[str, Question]) -> Outcome:
        """Give the outcome where nobody decides what was *asked*, in the shape of an answer."""
        safe = self.undecided
        if safe is None:
            return None
        if not isinstance(safe, Mapping):
            if len(asked) == 1 and not self.repeats:
                return safe
            main = principal(asked)
            safe = dict.fromkeys(asked, safe) if main is None else {main: safe}
        full = {name: safe.get(name) for name in asked}
        return full if len(full) > 1 else next(iter(full.values()))

    def ask(
        self,
        state: State,
        language: Language = "en",
        *,
        wording: Mapping[str, str] | None = None,
    ) -> Ask:
        """
        Build this point's questions about *state*.

        Only the declared fields of a mapping are kept; options come from it where the
        point says so, and impossible ones are left out. *wording* replaces the instructions
        of questions, by name, for this call; never put into it what users said.

        Raises:
            DeclarationError: The language is not spoken, the state is no JSON, or it lacks
                the words or what the options need.

        """
        asked = self.spoken(language) if not wording else self._worded(language, wording)
        try:
            if not self.reads:
                return Ask(state, asked)
            given = self._given(state)
            seen = {field: given[field] for field in self.reads if field in given}
            constant = not (self.options or self.needs or self.repeats or self.asked_with)
            return Ask(seen, asked if constant else offered(self, asked, given))
        except DeclarationError as why:
            raise type(why)(f"{self.name}: {why}{self._hint(state)}") from None

    def _hint(self, state: State) -> str:
        """Say where the entries of a hybrid point come from, if the state has none."""
        lacks = [one.field for one in self.repeats.values() if one.field not in self._given(state)]
        if self.hybrid is None or not lacks:
            return ""
        return f"; {lacks[0]!r} comes from what `current` extracts: wrap it, or pass `current=`"

    def worded(self, wording: Mapping[Language, Mapping[str, str]]) -> DecisionPoint:
        """
        Give the same point with other instructions: language → question → text.

        Raises:
            DeclarationError: The point has no such language or question.

        """
        questions = {**self.questions}
        for language, texts in wording.items():
            questions[language] = self._worded(language, texts)
        return msgspec.structs.replace(self, questions=questions)

    def called(self, name: str) -> DecisionPoint:
        """
        Give the same point under a more specific *name*; its own names become the chain.

        Raises:
            DeclarationError: The name leaves no suffix.

        """
        suffix = suffix_of(name)
        if suffix == self.name:
            return self
        chain = () if self.prefix else tuple(one for one in self.names if one != suffix)
        return msgspec.structs.replace(self, name=suffix, aliases=(), chain=chain, prefix="")

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
        for said, questions in self.questions.items():
            if said.lower() == language.lower():
                return questions
        raise DeclarationError(f"{self.name} speaks {', '.join(self.questions)}, not {language!r}")

    def _worded(self, language: Language, wording: Mapping[str, str]) -> dict[str, Question]:
        asked = dict(self.spoken(language))
        for name, text in wording.items():
            if name not in asked:
                raise DeclarationError(f"{self.name} asks {', '.join(asked)}, not {name!r}")
            asked[name] = msgspec.structs.replace(asked[name], instructions=text)
        return asked

    def _given(self, state: State) -> Mapping[str, Any]:
        if not isinstance(state, Mapping):
            if not self.words:
                raise DeclarationError(f"the state is a mapping of {', '.join(self.reads)}")
            return {self.words: state}
        given = cast("Mapping[str, Any]", state)
        if self.words and given.get(self.words) is None:
            raise DeclarationError(without_words(self.words, given))
        return given


def find(name: str, points: Mapping[str, DecisionPoint]) -> DecisionPoint | None:
    """
    Find the point that *name* means: its own, an alias, or one that stands for its prefix.

    Raises:
        SetupError: Its prefix has a generic point, but the name is nearly that of another,
            whose question may be the very opposite.

    """
    if name in points:
        return points[name]
    for point in points.values():
        if name in point.aliases:
            return point
    generic = [one for one in points.values() if one.prefix and name.startswith(one.prefix)]
    if not generic:
        return None
    if (meant := near(name, points, generic[0].prefix)) is not None:
        problem = "the catalogue has no such point"
        fix = f"Did you mean {meant}? If not, declare {generic[0].name}.called({name!r})"
        raise SetupError.of(name, problem, fix)
    return generic[0].called(name)
