"""What `Gateway.point` does to a function: from a call to an ask, and back to its own type."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeAlias, cast

import msgspec

from .cases import Once
from .errors import DeclarationError, SetupError
from .lens import Asks, Lens, OnceOf, alone, predicate_of
from .parameters import functions, settled, taken
from .points import DecisionPoint, Language, find, suffix_of
from .questions import Ask, Choice, Predicate, Question, Score, by_name
from .returns import CannotHold, Read, Write, return_hint, writer

Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]

_AWAITED = ("Awaitable", "Coroutine")
KINDS = "a Choice, a Predicate or a Score, or several by name"
QUESTION = "decision"  # the name of a point's only question, where the user gave none
WITH_THE_CALL = Choice("What is asked comes with the call", ["given by the call"], open=True)


class Wrapped(msgspec.Struct, kw_only=True):
    """
    A wrapped function and what the gateway knows of it.

    Attributes:
        point: Its decision point.
        function: The host's own path.
        is_async: Whether calling it gives a coroutine.
        ask: Builds the ask from the call; None: from its state.
        state: Gives the state of a call; None: it is made of its parameters.
        question: Gives what is asked from the call; None: the point's own questions.
        subject: Names the subject of a call; None: the session's.
        read: Host's value → outcome; None: by its type.
        write: Outcome → host's value; None: by the return annotation.
        once: Names the call whose decision stands; None: each is decided anew.
        truth: Whether `write` takes the truth of a predicate, and nothing that goes with it.
        takes: State field → parameter; the empty field is the whole state.
        position: Of the parameter that is the whole state, where every argument can be given
            by position; else −1.
        arity: How many parameters it has.
        signature: Of the function.
        hint: Its resolved return annotation; None until a plan needs it.
        written: The questions last asked, and how their outcomes are written. A point whose
            questions are fixed asks the same ones each time.

    """

    point: DecisionPoint
    function: Callable[..., Any]
    is_async: bool
    ask: Callable[..., Ask] | None = None
    state: Callable[..., Any] | None = None
    question: Asks | None = None
    subject: Callable[..., str | None] | None = None
    read: Read | None = None
    write: Write | None = None
    once: OnceOf | None = None
    truth: bool = False
    takes: Mapping[str, str] = {}
    position: int = -1
    arity: int = 0
    signature: inspect.Signature | None = None
    hint: Any = None
    written: tuple[Mapping[str, Question], Write] | None = None

    @property
    def where(self) -> str:
        """The function's name, for messages."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def build(self, call: Arguments, language: Language) -> Ask:
        """Build the ask of one call."""
        if self.ask is not None:
            return self._own_ask(language, *call[0], **call[1])
        state = self._state(call)
        if self.question is None:
            return self.point.ask(state, language)
        asked = settled(self.point, "question", self.question(*call[0], **call[1]))
        return self._asking(asked).ask(state, language)

    def about(self, call: Arguments) -> str | None:
        """
        Name the subject of one call; None: the session's.

        Raises:
            SetupError: What names it gives something else.

        """
        if self.subject is None:
            return None
        subject: object = settled(self.point, "subject", self.subject(*call[0], **call[1]))
        if subject is None or isinstance(subject, str):
            return subject
        problem = f"its subject is of type {type(subject).__name__}"
        raise SetupError.of(self.point.name, problem, "Let it return a text, or None")

    def standing(self, call: Arguments) -> Once | None:
        """
        Name the call whose decision stands; None: it is decided anew.

        Raises:
            DeclarationError: What names it gives neither.

        """
        return self.once and Once.of(self.once(*call[0], **call[1]), self.point.name)

    def _asking(self, asked: object) -> DecisionPoint:
        """Give the point with what is *asked* in this call only."""
        try:
            questions = _named(self.point.name, asked)
            by_name(questions)
        except DeclarationError:
            fix = f"Let it return {KINDS}"
            told = f"its function `question` gave what is no question: {type(asked).__name__}"
            raise SetupError.of(self.point.name, told, fix) from None
        try:
            return msgspec.structs.replace(self.point, questions={"": questions})
        except DeclarationError as why:
            raise _of_point(self.point, why) from why

    def given(self, call: Arguments) -> object:
        """Give the state of one call, or the user's own ask, for a hybrid point."""
        if self.ask is not None:
            return self.ask(*call[0], **call[1])
        return self._state(call)

    def _state(self, call: Arguments) -> Any:  # noqa: ANN401 - the host's own
        args, kwargs = call
        if self.state is not None:
            return settled(self.point, "state", self.state(*args, **kwargs))
        if self.position >= 0 and not kwargs and len(args) == self.arity:
            return args[self.position]
        assert self.signature is not None
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        state = {field: bound.arguments[name] for field, name in self.takes.items()}
        return state.get("", state)

    def _own_ask(self, language: Language, /, *args: Any, **kwargs: Any) -> Ask:  # noqa: ANN401 - the host's own
        assert self.ask is not None
        try:
            made: Any = self.ask(*args, **kwargs)
        except DeclarationError as why:
            raise _of_point(self.point, why) from why
        if isinstance(made, Ask):
            return made
        if self.point.reads and isinstance(made, Mapping):  # a state, for the point's questions
            return self.point.ask(cast("Mapping[str, Any]", made), language)
        if inspect.iscoroutine(made):
            made.close()
        found = type(made).__name__
        raise DeclarationError(f"{self.point.name}: `ask` must return an Ask, not a {found}")

    def writes(self, questions: Mapping[str, Question]) -> Write:
        """
        Say how an outcome is written into the return type.

        Raises:
            SetupError: The type cannot be resolved, or cannot hold an answer; what takes a truth
                is given another question.

        """
        if self.write is not None and self.truth:
            return partial(alone, self.write, predicate_of(self.point, questions))
        if self.write is not None:
            return self.write
        written = self.written  # taken once: another thread may ask something else meanwhile
        if written is not None and written[0] is questions:
            return written[1]
        try:
            if self.hint is None:
                self.hint = return_hint(self.function)
            written = self.written = questions, writer(self.hint, questions)
        except CannotHold as why:
            fix = "Pass `write=` to the point, or correct the annotation"
            raise SetupError.of(self.where, str(why), fix) from None
        return written[1]


def _of_point(point: DecisionPoint, why: DeclarationError) -> DeclarationError:
    """Let what is wrong with an ask name its *point*, once."""
    said = str(why)
    return why if said.startswith(f"{point.name}: ") else type(why)(f"{point.name}: {said}")


def declared(
    name: str | DecisionPoint,
    question: Question | Mapping[str, Question] | Asks | None,
    catalogue: Mapping[str, DecisionPoint],
    lens: object = None,
) -> DecisionPoint:
    """
    Find or make the declaration that `Gateway.point` means.

    Raises:
        SetupError: No question is given and the catalogue has no point of this name.
        DeclarationError: The name is none, or the question contradicts itself.

    """
    given: object = name
    if callable(given):
        how = '@gateway.point("NAME", question)'
        raise DeclarationError(f"`point` is called with the point's name first: {how}")
    if lens is not None and not isinstance(lens, Lens):
        raise DeclarationError(f"`lens` is a `Lens(state=…)`; got {type(lens).__name__}")
    if isinstance(name, DecisionPoint):
        return name
    suffix = suffix_of(name)
    if question is not None:
        questions = {QUESTION: WITH_THE_CALL} if callable(question) else _named(suffix, question)
        own = DecisionPoint(name=suffix, questions={"": questions})
        return own if lens is None else lens.framing(own)
    if (known := find(suffix, catalogue)) is not None:
        return known
    fix = f"Give a question, or one of: {', '.join(sorted(catalogue)) or 'none is installed'}"
    raise SetupError.of(name, "the catalogue has no such point", fix)


def _named(point: str, question: object) -> Mapping[str, Question]:
    if isinstance(question, Mapping):
        return cast("Mapping[str, Question]", question)
    if isinstance(question, Choice | Predicate | Score):
        return {QUESTION: question}
    raise DeclarationError(f"{point}: the question is {KINDS}; got {type(question).__name__}")


def wrap(
    point: DecisionPoint,
    function: Callable[..., Any],
    lens: Lens | None = None,
    **given: Any,  # noqa: ANN401 - functions of the call
) -> Wrapped:
    """
    Look at a function once, when it is declared.

    Raises:
        SetupError: It is no plain function, or nothing says which argument is the state.
        DeclarationError: Something that is to be called cannot be.

    """
    _wrappable(function)
    functions(point, given)
    if lens is not None:
        functions(point, lens.functions, of="lens.")
        given = lens.completing(point, given)
    wrapped = Wrapped(point=point, function=function, is_async=_is_async(function), **given)
    wrapped.signature = inspect.signature(function)
    if wrapped.ask is None and wrapped.state is None:
        wrapped.takes = taken(point, function, wrapped.where)
        parameters = wrapped.signature.parameters
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        if "" in wrapped.takes and all(one.kind in positional for one in parameters.values()):
            wrapped.position = list(parameters).index(wrapped.takes[""])
            wrapped.arity = len(parameters)
    return wrapped


def _wrappable(function: Callable[..., Any]) -> None:
    if not inspect.isfunction(function):
        fix = "Put it directly over the `def`; `staticmethod` and the like go above it"
        raise SetupError.of(repr(function), "only a function can be a decision point", fix)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        where = f"{function.__module__}.{function.__qualname__}"
        fix = "Wrap a function that returns the decision, and yield outside of it"
        raise SetupError.of(where, "a generator decides nothing: it yields", fix)


def wrapped_in(gateway: object, fn: Callable[..., Any]) -> tuple[Wrapped, tuple[Any, ...]]:
    """
    Find what *gateway* knows of *fn*, and the object that a bound method brings along.

    Raises:
        SetupError: *gateway* has not wrapped it.

    """
    owner, wrapped = getattr(fn, "__pointsman__", (None, None))
    if owner is not gateway or wrapped is None:
        fix = "Pass a function that this gateway's `point` wraps"
        raise SetupError.of(repr(fn), "it is no decision point of this gateway", fix)
    bound = getattr(fn, "__self__", None)
    return wrapped, () if bound is None else (bound,)


def _is_async(function: Callable[..., Any]) -> bool:
    """Tell the colour; a `def` that says it returns a coroutine counts as async."""
    if inspect.iscoroutinefunction(function):
        return True
    said = getattr(function, "__annotations__", {}).get("return", "")
    outer = said if isinstance(said, str) else typing.get_origin(said) or said
    if isinstance(outer, str):  # read as a word: it may exist for type checkers only
        return outer.strip("'\" ").partition("[")[0].rpartition(".")[2] in _AWAITED
    return outer in (Awaitable, Coroutine)
