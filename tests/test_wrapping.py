"""`Gateway.point`: the function stays what it was, and says enough to be decided elsewhere."""

from __future__ import annotations

import asyncio
import enum
import inspect
import pickle
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pointsman import (
    Ask,
    Choice,
    Chosen,
    DecisionPoint,
    DeclarationError,
    Gateway,
    Held,
    NoAnswer,
    Predicate,
    Reason,
    Recorder,
    Score,
    Scored,
    SetupError,
    scripted,
)
from pointsman.gateway.questions import Question

if TYPE_CHECKING:
    import collections.abc

    OnlyForCheckers = str

Gateways = Callable[..., Gateway]
TEAM = Choice("Which team?", ["billing", "tech"])
MODULE = Gateway.from_env({"DECISION_LOG": "off"})


@MODULE.point("PICKLED", TEAM)
def pickled(message: str) -> str:
    """Decide today."""
    return "billing" if message else "tech"


class Desk:
    """A host's class with decisions of every kind of method."""

    def __init__(self, team: str) -> None:
        self.team = team

    @MODULE.point("PLAIN", TEAM)
    def plain(self, message: str) -> str:
        return f"{self.team}" if message else "tech"

    @MODULE.point("ASYNC", TEAM)
    async def coloured(self, message: str) -> str:
        return f"{self.team}" if message else "tech"

    @classmethod
    @MODULE.point("CLASS", TEAM)
    def of_class(cls, message: str) -> str:
        return cls.__name__ if message else "tech"

    @staticmethod
    @MODULE.point("STATIC", TEAM)
    def static(message: str) -> str:
        return "billing" if message else "tech"


# --- it stays what it was ----------------------------------------------------------------


def test_a_wrapped_function_keeps_its_name_signature_and_text() -> None:
    assert pickled.__name__ == "pickled"
    assert pickled.__qualname__ == "pickled"
    assert pickled.__doc__ == "Decide today."
    assert pickled.__module__ == __name__
    assert str(inspect.signature(pickled)) == "(message: 'str') -> 'str'"
    assert inspect.unwrap(pickled)("") == "tech"


def test_a_wrapped_function_is_pickled_by_reference() -> None:
    assert pickle.loads(pickle.dumps(pickled)) is pickled


def test_the_colour_is_kept() -> None:
    assert inspect.iscoroutinefunction(Desk.coloured)
    assert not inspect.iscoroutinefunction(Desk.plain)
    assert inspect.isfunction(pickled)
    coroutine = Desk("billing").coloured("x")
    assert inspect.iscoroutine(coroutine)
    assert asyncio.run(coroutine) == "billing"


def test_methods_see_their_own_object_and_only_the_text_is_shown() -> None:
    desk, says = Desk("billing"), scripted("tech")

    with MODULE.override({"PLAIN": says, "CLASS": says, "STATIC": says, "ASYNC": says}):
        assert desk.plain("a") == "tech"
        assert Desk.of_class("b") == "tech"
        assert desk.of_class("c") == "tech"
        assert Desk.static("d") == "tech"
        assert desk.static("e") == "tech"
        assert asyncio.run(desk.coloured("f")) == "tech"
        assert asyncio.run(Desk.coloured(desk, message="g")) == "tech"

    assert [ask.text for ask in says.asked] == list("abcdefg")


def test_methods_fall_back_to_themselves() -> None:
    desk, fails = Desk("billing"), scripted(Reason.TIMEOUT)

    with MODULE.override({"PLAIN": fails, "CLASS": fails, "STATIC": fails, "ASYNC": fails}):
        assert desk.plain("a") == "billing"
        assert Desk.of_class("b") == "Desk"
        assert desk.static("d") == "billing"
        assert asyncio.run(desk.coloured("f")) == "billing"


def test_methods_can_be_decided_with_their_story() -> None:
    desk = Desk("billing")

    with MODULE.override({"PLAIN": scripted("tech"), "CLASS": scripted("tech")}):
        assert MODULE.decide_sync(desk.plain, "a").provider == "scripted"
        assert MODULE.decide_sync(Desk.of_class, "a").value == "tech"
        assert asyncio.run(MODULE.decide(desk.plain, "a")).value == "tech"


def test_the_wrong_order_of_decorators_is_told_apart(gateway_of: Gateways) -> None:
    """`staticmethod` and `classmethod` go above the point."""
    untyped_route: Any = _route
    wrong: list[Any] = [staticmethod(untyped_route), classmethod(untyped_route)]
    for one in wrong:
        with pytest.raises(SetupError, match="go above it"):
            gateway_of().point("A", TEAM)(one)


def _route(message: str) -> str:
    return "billing" if message else "tech"


@pytest.mark.parametrize(
    "thing", [len, Desk("a").plain, Desk, 5], ids=["built-in", "bound", "class", "number"]
)
def test_only_a_function_can_be_a_point(gateway_of: Gateways, thing: Any) -> None:
    with pytest.raises(SetupError, match="only a function"):
        gateway_of().point("A", TEAM)(thing)


def test_one_function_can_serve_several_gateways(gateway_of: Gateways) -> None:
    """They do not disturb each other."""
    one, two = gateway_of(), gateway_of()
    first, second = one.point("A", TEAM)(_route), two.point("A", TEAM)(_route)

    with one.override({"A": scripted("tech")}):
        assert (first("x"), second("x"), _route("x")) == ("tech", "billing", "billing")
    with pytest.raises(SetupError, match="no decision point of this gateway"):
        one.decide_sync(second, "x")
    with pytest.raises(SetupError, match="no decision point of this gateway"):
        one.decide_sync(_route, "x")


def test_a_call_that_python_would_refuse_is_refused_whoever_decides(gateway_of: Gateways) -> None:
    """A forgotten argument is the host's bug, not a state."""
    gateway = gateway_of()
    route, says = gateway.point("A", TEAM)(_route), scripted("tech")
    call: Any = route

    for provider in ("current", says):
        with gateway.override({"A": provider}):
            for args, kwargs in (((), {}), (("a", "b"), {}), (("a",), {"x": 1})):
                with pytest.raises(TypeError):
                    call(*args, **kwargs)

    assert says.asked == []


# --- what the deciders are shown ---------------------------------------------------------


def shown(gateway: Gateway, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The state that a provider is sent for this call."""
    says = scripted("tech")
    with gateway.override({"A": says}):
        gateway.decide_sync(gateway.point("A", TEAM)(function), *args, **kwargs)
    return says.asked[0].state


def default(message: str = "nothing said", limit: int = 3) -> str:
    return message * limit


def keyword(*tags: int, message: str) -> str:
    return message * len(tags)


def beside(limit: int, message: str, deep: Mapping[str, int] | None = None) -> str:
    return message * limit + str(deep)


def untyped(message):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - that is the case
    return message


def messages(history: list[dict[str, str]]) -> str:
    return history[0]["content"]


def odd_argument(message: str, config: OnlyForCheckers) -> str:
    return message + config


def test_without_ask_the_one_text_is_shown_and_nothing_else(gateway_of: Gateways) -> None:
    """Never all arguments: they may hold keys, clients, or other people's data."""
    gateway = gateway_of()
    said = [{"role": "user", "content": "hi"}]

    assert shown(gateway, _route, "hi") == "hi"
    assert shown(gateway, _route, message="hi") == "hi"
    assert shown(gateway, default) == "nothing said"
    assert shown(gateway, default, "hi", 1) == "hi"
    assert shown(gateway, default, limit=1) == "nothing said"
    assert shown(gateway, keyword, 1, 2, message="hi") == "hi"
    assert shown(gateway, beside, 1, "hi", {"secret": 1}) == "hi"
    assert shown(gateway, beside, message="hi", limit=1) == "hi"
    assert shown(gateway, untyped, "hi") == "hi"
    assert shown(gateway, messages, said) == said
    assert shown(gateway, odd_argument, "hi", "x") == "hi"


def two_texts(message: str, history: str) -> str:
    return message + history


def no_text(limit: int) -> str:
    return str(limit)


def nothing() -> str:
    return "tech"


@pytest.mark.parametrize(
    ("function", "found"),
    [(two_texts, "it has 2: message, history"), (no_text, "it has none"), (nothing, "it has none")],
)
def test_where_nothing_says_what_is_shown_the_declaration_fails(
    gateway_of: Gateways, function: Any, found: str
) -> None:
    with pytest.raises(SetupError) as caught:
        gateway_of().point("A", TEAM)(function)

    (fault,) = caught.value.faults
    assert fault.where == f"{__name__}.{function.__name__}"
    assert found in fault.problem
    assert "ask=" in fault.fix


def test_ask_builds_state_and_options_from_the_call(gateway_of: Gateways) -> None:
    gateway, says = gateway_of(), scripted("b")

    def ask(message: str, history: str) -> Ask:
        return Ask({"m": message, "h": history}, {"q": Choice("?", [message, "b"])})

    route = gateway.point("A", TEAM, ask=ask)(two_texts)
    with gateway.override({"A": says}):
        assert route("a", history="x") == "b"

    assert says.asked[0].text == '{"h":"x","m":"a"}'


def test_parameters_named_like_the_points_fields_are_its_state(gateway_of: Gateways) -> None:
    """A catalogue point and a host that agree on names need no `ask`."""
    gateway, says = gateway_of(), scripted("fallback")

    @gateway.point("ROUTER")
    def route(message: str, allowed_intents: list[dict[str, str]]) -> str:
        return allowed_intents[0]["intent"] if message else "fallback"

    with gateway.override({"ROUTER": says}):
        assert route("hi", [{"intent": "a", "description": "A"}]) == "fallback"

    assert says.asked[0].questions["intent"].options == {  # type: ignore[union-attr]
        "a": "A",
        "fallback": "None of them, or not enough to tell",
    }


def test_a_point_needs_a_question_or_a_name_of_the_catalogue(gateway_of: Gateways) -> None:
    with pytest.raises(SetupError, match="the catalogue has no such point") as caught:
        gateway_of().point("ROUTR")(_route)

    assert "ROUTER" in caught.value.faults[0].fix


def test_subject_is_named_by_the_call_or_by_the_session(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    subjects: list[str | None] = []

    class Sees:
        name, limits = "sees", scripted().limits

        def answer(self, ask: Ask, call: Any) -> Any:
            subjects.append(call.subject)
            return scripted("tech").answer(ask, call)

    named = gateway.point("A", TEAM, subject=lambda message: message.upper())(_route)
    unnamed = gateway.point("A", TEAM)(_route)
    with gateway.override({"A": Sees()}):
        named("ada")
        unnamed("ada")
        with gateway.session("s-1"):
            unnamed("ada")
            named("ada")

    assert subjects == ["ADA", None, "s-1", "ADA"]


# --- the return type ---------------------------------------------------------------------


class Team(enum.Enum):
    """What the host's function returns."""

    BILLING = "billing"
    TECH = "tech"


def as_enum(message: str) -> Team:
    return Team.BILLING if message else Team.TECH


def as_literal(message: str) -> Literal["billing", "tech"]:
    return "billing" if message else "tech"


def as_optional(message: str) -> str | None:
    return message or None


def as_bool(message: str) -> bool:
    return bool(message)


def as_float(message: str) -> float:
    return float(len(message))


def as_int(message: str) -> int:
    return len(message)


TYPES: Mapping[str, tuple[Any, Any, Any, Any]] = {
    "str": (_route, TEAM, "tech", "tech"),
    "Enum": (as_enum, TEAM, "tech", Team.TECH),
    "Literal": (as_literal, TEAM, "tech", "tech"),
    "Optional": (as_optional, TEAM, "tech", "tech"),
    "bool": (as_bool, Predicate("?"), False, False),
    "float": (as_float, Score("?", low=0, high=10), 7.0, 7.0),
    "int": (as_int, Score("?", low=0, high=10), 7.4, 7),
}


@pytest.mark.parametrize(("function", "question", "line", "value"), TYPES.values(), ids=TYPES)
def test_a_providers_answer_comes_in_the_functions_own_type(
    gateway_of: Gateways, function: Any, question: Any, line: Any, value: Any
) -> None:
    gateway = gateway_of()
    wrapped = gateway.point("A", question)(function)

    with gateway.override({"A": scripted(line)}):
        assert gateway.check() == ()
        given_back = wrapped("x")

    assert given_back == value
    assert type(given_back) is type(value)
    with gateway.override({"A": scripted(Reason.TIMEOUT)}):
        assert wrapped("x") == function("x")


def test_the_record_speaks_the_points_vocabulary(gateway_of: Gateways) -> None:
    """Whoever decided, and whatever type the host has."""
    gateway = gateway_of()
    route = gateway.point("A", TEAM)(as_enum)

    with gateway.collect() as made:
        route("x")
        with gateway.override({"A": scripted("tech")}):
            route("x")

    assert [one.value for one in made] == [Team.BILLING, Team.TECH]
    assert [one.record.outcome for one in made] == ["billing", "tech"]


def test_several_questions_come_as_a_mapping(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    asked: dict[str, Question] = {
        "team": TEAM,
        "urgent": Predicate("Urgent?"),
        "mood": Score("Mood?", ["low", "high"]),
    }

    @gateway.point("A", asked)
    def triage(message: str) -> dict[str, Any]:
        return {"team": message, "urgent": False, "mood": 0}

    says = {"team": Chosen("tech", None, 0.8), "urgent": Held(0.9), "mood": Scored(1, None, 0.95)}
    with gateway.override({"A": scripted(says)}):
        made = gateway.decide_sync(triage, "x")

    assert made.value == {"team": "tech", "urgent": True, "mood": 1.0}
    assert made.confidence == 0.8
    assert made.answers["urgent"].probability == 0.9


def test_read_and_write_stand_between_the_two_vocabularies(gateway_of: Gateways) -> None:
    gateway = gateway_of()

    def number(message: str) -> tuple[int, str]:
        return (1 if message else 2, "by rule")

    route = gateway.point(
        "A",
        TEAM,
        read=lambda value: {1: "billing", 2: "tech"}[value[0]],
        write=lambda outcome: ({"billing": 1, "tech": 2}[outcome], "decided"),
    )(number)

    with gateway.collect() as made:
        assert route("x") == (1, "by rule")
        with gateway.override({"A": scripted("tech")}):
            assert route("x") == (2, "decided")

    assert [one.record.outcome for one in made] == ["billing", "tech"]


def unresolved(message: str) -> OnlyForCheckers:
    return message or "tech"


def narrow(message: str) -> Literal["billing"]:
    assert message
    return "billing"


def test_an_annotation_for_type_checkers_alone_is_fine_under_current(gateway_of: Gateways) -> None:
    """Return types are resolved only where a plan needs them, watched or not."""
    gateway = gateway_of(observers=[Recorder()])
    function = gateway.point("A", TEAM)(unresolved)

    assert gateway.check() == ()
    assert function("billing") == "billing"
    with gateway.collect() as made:
        assert function("billing") == "billing"
    assert made[0].record.outcome == "billing"


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (unresolved, "cannot be resolved (name 'OnlyForCheckers' is not defined)"),
        (narrow, "cannot hold the option 'tech'"),
        (as_bool, "bool cannot hold the option 'billing'"),
    ],
)
def test_a_return_type_that_a_plan_needs_and_cannot_use_is_a_fault(
    gateway_of: Gateways, function: Any, why: str
) -> None:
    gateway = gateway_of({"DECISION_A_PROVIDER": "local"})
    gateway.point("A", TEAM)(function)

    with pytest.raises(SetupError) as caught:
        gateway.check()

    (fault,) = caught.value.faults
    assert fault.where == f"{__name__}.{function.__name__}"
    assert why in fault.problem
    assert "write=" in fault.fix


@pytest.mark.parametrize("function", [unresolved, narrow, as_bool])
def test_with_write_any_annotation_is_fine(gateway_of: Gateways, function: Any) -> None:
    gateway = gateway_of({"DECISION_A_PROVIDER": "local"})
    wrapped = gateway.point("A", TEAM, write=lambda outcome: ["written", outcome])(function)

    assert gateway.check() == ()
    with gateway.override({"A": scripted("tech")}):
        assert wrapped("x") == ["written", "tech"]


# --- the zero-touch path of `current` ----------------------------------------------------


def fails(message: str) -> Ask:
    raise AssertionError(f"built for {len(message)} characters")


def test_current_is_not_touched(gateway_of: Gateways, capsys: pytest.CaptureFixture[str]) -> None:
    """No state, no question, no event, no record; on the caller's own thread."""
    gateway = gateway_of({"DECISION_LOG": "json"})
    where: list[object] = []
    called: list[str] = []

    @gateway.point("A", TEAM, ask=called.append, subject=called.append)  # type: ignore[arg-type]
    def route(message: str) -> str:
        where.append(threading.current_thread())
        return message

    assert route("anything at all") == "anything at all"
    assert where == [threading.current_thread()]
    assert called == []
    assert capsys.readouterr() == ("", "")


def test_async_current_runs_in_the_callers_own_task(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    tasks: list[object] = []
    called: list[str] = []

    @gateway.point("A", TEAM, ask=called.append)  # type: ignore[arg-type]
    async def route(message: str) -> str:
        tasks.append(asyncio.current_task())
        return message

    async def main() -> None:
        assert await route("here") == "here"
        assert tasks == [asyncio.current_task()]

    asyncio.run(main())
    assert called == []


@pytest.mark.parametrize("watch", ["observer", "collect"])
def test_where_current_is_watched_nothing_that_fails_reaches_the_host(
    gateway_of: Gateways, capsys: pytest.CaptureFixture[str], watch: str
) -> None:
    """State is built then, and its failure is recorded; the host's value is its answer."""
    seen = Recorder()
    observers = [seen] if watch == "observer" else []
    gateway = gateway_of({"DECISION_LOG": "json"}, observers=observers)

    def reads(value: str) -> str:
        raise ValueError(value)

    built = gateway.point("A", TEAM, ask=fails)(_route)
    read = gateway.point("B", TEAM, read=reads)(_route)
    with gateway.collect() as made:
        assert (built("x"), read("x")) == ("billing", "billing")

    assert [one.record.outcome for one in made] == [None, None]
    assert [one.provider for one in made] == ["current", "current"]
    if seen.records:
        assert seen.records == [one.record for one in made]
    assert capsys.readouterr().err.count("decision.read_failed") == 2


def test_where_a_provider_is_planned_a_failing_builder_is_the_hosts_own_error(
    gateway_of: Gateways,
) -> None:
    gateway = gateway_of()
    route = gateway.point("A", TEAM, ask=fails)(_route)

    with gateway.override({"A": scripted("tech")}), pytest.raises(AssertionError):
        route("x")


class Stop(BaseException):
    """What a host may raise."""


@pytest.mark.parametrize(
    "error", [ValueError("mine"), Stop(), NoAnswer(Reason.TIMEOUT), KeyError()]
)
@pytest.mark.parametrize("provider", ["current", "down"])
def test_what_current_raises_is_its_own(
    gateway_of: Gateways, error: BaseException, provider: str
) -> None:
    """Untouched, wrapped in nothing, whether or not somebody was asked before."""
    gateway = gateway_of()

    @gateway.point("A", TEAM)
    def route(message: str) -> str:
        assert message
        raise error

    @gateway.point("A", TEAM)
    async def coloured(message: str) -> str:
        assert message
        raise error

    down = scripted(Reason.TRANSPORT) if provider == "down" else "current"
    with gateway.override({"A": down}):
        with pytest.raises(type(error)) as caught:
            route("x")
        assert caught.value is error
        with pytest.raises(type(error)) as caught:
            asyncio.run(coloured("x"))
        assert caught.value is error


# --- a `def` that returns a coroutine ----------------------------------------------------


def annotated(message: str) -> Coroutine[Any, Any, str]:
    return _later(message)


async def _later(message: str) -> str:
    return message or "tech"


def unannotated(message: str):  # type: ignore[no-untyped-def]  # noqa: ANN201 - that is the case
    return _later(message)


def test_a_def_that_says_it_returns_a_coroutine_is_async(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    route = gateway.point("A", TEAM)(annotated)

    async def main() -> list[str]:
        plain = await route("billing")
        with gateway.override({"A": scripted("tech")}):
            decided = await route("billing")
        with gateway.override({"A": scripted(Reason.TIMEOUT)}):
            back = await route("billing")
            story = await gateway.decide(route, "billing")
        return [plain, decided, back, story.value]

    assert asyncio.run(main()) == ["billing", "tech", "billing", "billing"]
    with pytest.raises(SetupError, match="it is async"):
        gateway.decide_sync(route, "x")


def gives_a_maker(message: str) -> Callable[[], Awaitable[str]]:
    return lambda: _later(message)


def gives_a_list(message: str) -> list[Coroutine[Any, Any, str]]:
    return [_later(message)]


def quoted(message: str) -> "collections.abc.Awaitable[str]":  # noqa: UP037 - that is the case
    return _later(message)


def test_a_def_that_returns_something_around_a_coroutine_is_not_async(
    gateway_of: Gateways,
) -> None:
    for function, is_async in ((gives_a_maker, False), (gives_a_list, False), (quoted, True)):
        route: Any = gateway_of().point("A", TEAM)(function)
        assert route.__pointsman__[1].is_async is is_async
    gives_a_maker.__annotations__["return"] = Awaitable[str]
    resolved: Any = gateway_of().point("A", TEAM)(gives_a_maker)
    assert resolved.__pointsman__[1].is_async


def yields(message: str) -> Iterator[str]:
    yield message


async def yields_later(message: str) -> AsyncIterator[str]:
    yield message


@pytest.mark.parametrize("function", [yields, yields_later])
def test_a_generator_is_no_point(gateway_of: Gateways, function: Any) -> None:
    with pytest.raises(SetupError, match="it yields"):
        gateway_of().point("A", TEAM)(function)


MISTAKES: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "no parentheses": (lambda point: point(_route), r"name first: @gateway\.point\("),
    "a number for a name": (lambda point: point(5, TEAM), "name is a text; got int"),
    "a text for a question": (lambda point: point("A", "Which?"), "a Choice.*; got str"),
    "a list for a question": (lambda point: point("A", ["a", "b"]), "a Choice.*; got list"),
    "a text among questions": (lambda point: point("A", {"q": "Which?"}), "'q' must be.*got str"),
    "a subject": (lambda point: point("A", TEAM, subject="m")(_route), "`subject`.*got str"),
    "an ask": (lambda point: point("A", TEAM, ask=TEAM)(_route), "`ask`.*got Choice"),
}


@pytest.mark.parametrize(("declare", "told"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_by_what_was_expected_and_what_was_given(
    gateway_of: Gateways, declare: Callable[[Any], Any], told: str
) -> None:
    with pytest.raises(DeclarationError, match=told):
        declare(gateway_of().point)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda *_: None, "A: `ask` must return an Ask, not a NoneType"),
        (lambda message: message, "A: `ask` must return an Ask, not a str"),
        (lambda *_: Ask(1j, {"q": TEAM}), "A: state is of type complex"),
    ],
)
def test_what_ask_builds_is_an_ask(gateway_of: Gateways, ask: Any, told: str) -> None:
    route: Any = gateway_of().point("A", TEAM, ask=ask)(_route)
    wrapped = route.__pointsman__[1]

    with pytest.raises(DeclarationError) as caught:
        wrapped.build((("billing",), {}), "en")

    assert str(caught.value).startswith(told)


def of_history(history: str) -> bool:
    return bool(history)


def test_parameters_that_leave_out_the_words_are_told_at_once(gateway_of: Gateways) -> None:
    with pytest.raises(SetupError, match="'text', which is no parameter"):
        gateway_of().point("GUARDRAIL_PINJ")(of_history)


@pytest.mark.parametrize("watched", [False, True])
def test_a_def_that_hides_its_coroutine_is_let_be_under_current(
    gateway_of: Gateways,
    watched: bool,  # noqa: FBT001
) -> None:
    gateway = gateway_of(observers=[Recorder()] if watched else [])
    route = gateway.point("A", TEAM)(unannotated)

    async def main() -> object:
        return await route("billing")

    assert asyncio.run(main()) == "billing"


def test_a_def_that_hides_its_coroutine_is_a_fault_only_when_it_matters(
    gateway_of: Gateways,
) -> None:
    """When the fallback needs its value, a coroutine is none; nothing is left un-awaited."""
    gateway = gateway_of()
    route = gateway.point("A", TEAM)(unannotated)

    with (
        gateway.override({"A": scripted(Reason.TIMEOUT)}),
        pytest.raises(SetupError, match="returned a coroutine") as caught,
    ):
        route("billing")

    assert "async def" in caught.value.faults[0].fix


def test_decide_sync_refuses_what_needs_a_loop(gateway_of: Gateways) -> None:
    gateway = gateway_of()

    @gateway.point("A", TEAM)
    async def route(message: str) -> str:
        return message

    with pytest.raises(SetupError, match="it is async"):
        gateway.decide_sync(route, "x")


# --- override, collect and declarations --------------------------------------------------


def test_override_reaches_a_point_by_any_name_of_its_chain(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    point = DecisionPoint(name="A_RECHECK", questions={"": {"q": TEAM}}, chain=("A",))
    route = gateway.point(point)(_route)

    with gateway.override({"a": scripted("tech")}):
        assert route("x") == "tech"
        assert gateway.plan(point).why["provider"] == "override"
        with gateway.override({"A_RECHECK": "current"}):
            assert route("x") == "billing"
        assert route("x") == "tech"
    assert route("x") == "billing"


def test_overrides_may_end_in_any_order(gateway_of: Gateways) -> None:
    """As fixtures and tasks do."""
    gateway = gateway_of()
    route = gateway.point("A", TEAM)(_route)
    outer, inner = gateway.override({"A": scripted("tech")}), gateway.override({"A": "current"})

    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert route("x") == "billing"
    inner.__exit__(None, None, None)
    assert not gateway._layers


def test_collect_gathers_only_what_happens_inside(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    route = gateway.point("A", TEAM)(_route)

    route("x")
    with gateway.collect() as outer:
        route("x")
        with gateway.collect() as inner:
            route("")
    route("x")

    assert [one.value for one in outer] == ["billing", "tech"]
    assert [one.value for one in inner] == ["tech"]
    assert outer[0].provider == "current"
