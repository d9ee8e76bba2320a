"""What `Gateway.point` does to a function: from a call to an ask, and back to its own type."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec

from .errors import DeclarationError, SetupError
from .points import DecisionPoint, Language, OptionsFrom, find, suffix_of
from .questions import Ask, Choice, Predicate, Question, Score
from .returns import CannotHold, Read, Write, return_hint, writer

Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]

_AWAITED = ("Awaitable", "Coroutine")
QUESTION = "decision"  # the name of a point's only question, where the user gave none


class Wrapped(msgspec.Struct, kw_only=True):
    """
    A wrapped function and what the gateway knows of it.

    Attributes:
        point: Its decision point.
        function: The host's own path.
        is_async: Whether calling it gives a coroutine.
        ask: Builds the ask from the call; None: from its parameters.
        subject: Names the subject of a call; None: the session's.
        read: Host's value → outcome; None: by its type.
        write: Outcome → host's value; None: by the return annotation.
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
    subject: Callable[..., str | None] | None = None
    read: Read | None = None
    write: Write | None = None
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
        return self.point.ask(self._state(call), language)

    def given(self, call: Arguments) -> object:
        """Give the state of one call, or the user's own ask, for a hybrid point."""
        if self.ask is not None:
            return self.ask(*call[0], **call[1])
        return self._state(call)

    def _state(self, call: Arguments) -> Any:  # noqa: ANN401 - the host's own
        args, kwargs = call
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
            if str(why).startswith(f"{self.point.name}: "):
                raise
            raise DeclarationError(f"{self.point.name}: {why}") from why
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
            SetupError: The type cannot be resolved, or cannot hold an answer.

        """
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


def declared(
    name: str | DecisionPoint,
    question: Question | Mapping[str, Question] | None,
    catalogue: Mapping[str, DecisionPoint],
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
    if isinstance(name, DecisionPoint):
        return name
    suffix = suffix_of(name)
    if question is not None:
        questions = _named(suffix, question)
        return DecisionPoint(name=suffix, questions={"": questions})
    if (known := find(suffix, catalogue)) is not None:
        return known
    fix = f"Give a question, or one of: {', '.join(sorted(catalogue)) or 'none is installed'}"
    raise SetupError.of(name, "the catalogue has no such point", fix)


def _named(point: str, question: object) -> Mapping[str, Question]:
    if isinstance(question, Mapping):
        return cast("Mapping[str, Question]", question)
    if isinstance(question, Choice | Predicate | Score):
        return {QUESTION: question}
    kinds = "a Choice, a Predicate or a Score, or several by name"
    raise DeclarationError(f"{point}: the question is {kinds}; got {type(question).__name__}")


def wrap(point: DecisionPoint, function: Callable[..., Any], **given: Any) -> Wrapped:  # noqa: ANN401
    """
    Look at a function once, when it is declared.

    Raises:
        SetupError: It is no plain function, or nothing says which argument is the state.
        DeclarationError: Something that is to be called cannot be.

    """
    _wrappable(function)
    for what, one in given.items():
        if one is not None and not callable(one):
            problem = f"`{what}` is a function of the call; got {type(one).__name__}"
            raise DeclarationError(f"{point.name}: {problem}")
    wrapped = Wrapped(point=point, function=function, is_async=_is_async(function), **given)
    wrapped.signature = inspect.signature(function)
    if wrapped.ask is None:
        wrapped.takes = _takes(point, wrapped)
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


def _takes(point: DecisionPoint, wrapped: Wrapped) -> dict[str, str]:
    """Map state fields to parameters; the empty field is the whole state."""
    parameters = _parameters(wrapped.function)
    names = [parameter.name for parameter in parameters]
    fields = {*point.reads, *point.brings, *_option_fields(point)}
    if point.reads and names and set(names) <= fields:
        if point.words and point.words not in names:
            problem = f"{point.name} reads its words from {point.words!r}, which is no parameter"
            raise SetupError.of(wrapped.where, problem, "Name the parameter so, or pass `ask=`")
        return {name: name for name in names}
    texts = [one.name for one in parameters if _is_text(one, wrapped.function)]
    if len(texts) == 1:
        return {"": texts[0]}
    found = f"it has {len(texts)}: {', '.join(texts)}" if texts else "it has none"
    problem = f"without `ask`, exactly one parameter must be text or messages; {found}"
    raise SetupError.of(wrapped.where, problem, "Pass `ask=` to say what the deciders are shown")


def _option_fields(point: DecisionPoint) -> Iterable[str]:
    return (one.field for one in point.options.values() if isinstance(one, OptionsFrom))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    return [one for one in parameters if one.kind not in kinds]


def _is_text(parameter: inspect.Parameter, function: Callable[..., Any]) -> bool:
    hint = parameter.annotation
    if hint is inspect.Parameter.empty:
        return True
    if isinstance(hint, str):
        try:
            hint = eval(hint, getattr(function, "__globals__", {}))  # noqa: S307 - own annotation
        except Exception:  # noqa: BLE001 - exists only for type checkers: read it as a word
            return hint.partition("[")[0] in ("str", "list", "Sequence")
    return hint is str or typing.get_origin(hint) in (list, Sequence) or hint is list
