"""`Lens`: how a framework's call is seen as a decision, and what stays of the function."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import importlib
import inspect
import pickle
import threading
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from faulty import Server
from pointsman import (
    Ask,
    Call,
    Choice,
    Chosen,
    Decision,
    DecisionPoint,
    DeclarationError,
    Gateway,
    Guard,
    Lens,
    Limits,
    NoAnswer,
    Offer,
    Predicate,
    Reason,
    Recorder,
    Reply,
    SetupError,
    hookimpl,
    scripted,
)
from upstream import asked, decides, hosted

Gateways = Callable[..., Gateway]
TEAM = Choice("Which team?", ["billing", "tech"])
MUST, MUST_NOT = True, False
COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])


@dataclass
class Route:
    """A framework's own result type."""

    goto: str


@dataclass
class State:
    """What a framework passes around: far more than a decider should see."""

    said: str
    thread: str | None = None
    secret: str = "zq7-secret"


EDGE = Lens(
    state=lambda state, **_: {"message": state.said},
    session=lambda state, **_: state.thread,
    read=lambda route: route.goto,
    write=Route,
)

MODULE = Gateway.from_env({"DECISION_LOG": "off"})


@MODULE.point("EDGE", TEAM, lens=EDGE)
def edge(state: State) -> Route:
    """Decide today."""
    return Route("billing" if "invoice" in state.said else "tech")


@MODULE.point("LABELLED", TEAM, lens=EDGE)
def labelled(state: State) -> Literal["billing", "tech"]:
    """Decide today."""
    return "tech" if state.said else "billing"


def both(gateway: Gateway, name: str = "EDGE", **given: Any) -> dict[str, Callable[[State], Any]]:
    """Wrap the same function in both colours."""

    @gateway.point(name, TEAM, **given)
    def sync(state: State) -> Route:
        return Route("tech" if state.said else "billing")

    @gateway.point(name, TEAM, **given)
    async def coloured(state: State) -> Route:
        return Route("tech" if state.said else "billing")

    return {"sync": sync, "async": lambda state: asyncio.run(coloured(state))}


# --- what each of the four functions is for ----------------------------------------------


@COLOURS
def test_a_lens_stands_between_a_frameworks_types_and_the_question(
    gateway_of: Gateways, colour: str
) -> None:
    """State and subject come from the call, the answer in the framework's own type."""
    recorder, says = Recorder(), scripted("billing")
    gateway = gateway_of(observers=[recorder])
    decide = both(gateway, lens=EDGE)[colour]

    with gateway.override({"EDGE": says}):
        assert decide(State("my invoice")) == Route("billing")
    assert decide(State("my invoice")) == Route("tech")

    assert says.asked[0].state == {"message": "my invoice"}
    assert "zq7-secret" not in says.asked[0].text
    assert [one.outcome for one in recorder.records] == ["billing", "tech"]
    assert [one.provider for one in recorder.records] == ["scripted", "current"]


@COLOURS
def test_a_lens_names_the_subject_and_else_the_session_does(
    gateway_of: Gateways, colour: str
) -> None:
    seen: list[str | None] = []

    class Sees:
        name, limits = "sees", Limits()

        def answer(self, ask: Ask, call: Call) -> Reply:
            seen.append(call.subject)
            return Reply({name: Chosen("tech", None, 0.99) for name in ask.questions})

    gateway = gateway_of()
    decide = both(gateway, lens=EDGE)[colour]

    with gateway.override({"EDGE": Sees()}), gateway.session("outside"):
        decide(State("x", thread="thread-7"))
        decide(State("x"))

    assert seen == ["thread-7", "outside"]


def test_what_is_given_explicitly_wins_over_the_lens(gateway_of: Gateways) -> None:
    """`ask`, `read`, `write` and `subject`, each by itself."""
    recorder, says = Recorder(), scripted("billing")
    gateway = gateway_of(observers=[recorder])
    decide = both(
        gateway,
        lens=EDGE,
        ask=lambda state: Ask(f"own: {state.said}", {"team": TEAM}),
        read=lambda _: "billing",
        write=lambda outcome: Route(outcome.upper()),
    )["sync"]

    assert decide(State("x")) == Route("tech")
    with gateway.override({"EDGE": says}):
        assert decide(State("x")) == Route("BILLING")

    assert says.asked[0].state == "own: x"
    assert recorder.records[0].outcome == "billing"


def test_a_lens_needs_nothing_but_a_state(gateway_of: Gateways) -> None:
    """Labels, truths and numbers are written by the annotation, as everywhere."""
    gateway = gateway_of()

    @gateway.point("OPEN", Predicate("May it pass?"), lens=Lens(state=lambda request, _: request))
    def may(request: str, options: dict[str, int]) -> bool:
        return request in options

    with gateway.override({"OPEN": scripted(MUST)}):
        assert may("x", {}) is True
    assert may("x", {}) is False
    assert may("x", {"x": 1}) is True


def test_a_lens_sees_the_calls_own_arguments(gateway_of: Gateways) -> None:
    """Positional, by keyword, with defaults, and of a method its object too."""
    gateway, seen = gateway_of(), list[tuple[Any, ...]]()

    def state(*args: Any, **kwargs: Any) -> str:
        seen.append((args, kwargs))
        return "shown"

    class Desk:
        @gateway.point("METHOD", TEAM, lens=Lens(state=state))
        def decide(self, first: int, *rest: int, flag: bool = False) -> str:
            return "tech"

    desk = Desk()
    with gateway.override({"METHOD": scripted("billing")}):
        assert desk.decide(1, 2, flag=True) == "billing"
        assert Desk.decide(desk, first=1) == "billing"
        assert gateway.decide_sync(desk.decide, 3).value == "billing"

    assert seen == [
        ((desk, 1, 2), {"flag": True}),
        ((desk,), {"first": 1}),
        ((desk, 3), {}),
    ]


def test_a_point_of_the_catalogue_is_shown_its_own_fields(gateway_of: Gateways) -> None:
    """Its questions, its language, its fields: the lens gives the state and no question."""
    gateway, says = gateway_of(), scripted("billing")
    intents = [{"intent": "billing", "agent": "b", "description": "Bills"}]
    lens = Lens(
        state=lambda state: {
            "message": state.said,
            "allowed_intents": intents,
            "more": state.secret,
        }
    )

    @gateway.point("ROUTER", lens=lens)
    def route(state: State) -> str:
        return "fallback" if state.said else ""

    with gateway.override({"ROUTER": says}):
        assert route(State("my bill")) == "billing"

    (ask,) = says.asked
    assert "my bill" in ask.text
    assert "zq7-secret" not in ask.text


@COLOURS
def test_a_variable_alone_switches_over_http(
    server: Server, gateway_of: Gateways, colour: str
) -> None:
    """A real server sees the state that the lens gave, and no more."""
    server.does(decides("billing"))
    decide = both(gateway_of(hosted(server.url, "EDGE")), lens=EDGE)[colour]

    assert decide(State("my invoice", thread="thread-7")) == Route("billing")

    (body,) = asked(server)
    assert body["input"] == '{"message":"my invoice"}'
    assert "zq7-secret" not in str(body)


@COLOURS
@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.REFUSED, ValueError("a bug")])
def test_it_falls_back_to_the_function(gateway_of: Gateways, colour: str, reason: Any) -> None:
    gateway = gateway_of()
    decide = both(gateway, lens=EDGE)[colour]

    with gateway.override({"EDGE": scripted(reason)}), gateway.collect() as decisions:
        assert decide(State("x")) == Route("tech")

    assert decisions[0].provider == "current"
    assert decisions[0].record.outcome == "tech"


# --- current is not touched --------------------------------------------------------------


class Touched(Exception):
    """Raised by a lens that must not be used."""


def refuses(*_: Any, **__: Any) -> Any:
    raise Touched


UNTOUCHABLE = Lens(state=refuses, session=refuses, read=refuses, write=refuses)


@COLOURS
def test_where_current_decides_no_function_of_the_lens_is_called(
    gateway_of: Gateways, colour: str
) -> None:
    """No state, no session, no conversion; the question is not built either."""
    gateway, called = gateway_of({"DECISION_PROVIDER": "current"}), []

    def notes(*_: Any, **__: Any) -> Any:
        called.append(1)
        raise Touched

    noting = Lens(state=notes, session=notes, read=notes, write=notes)
    decide = both(gateway, lens=noting)[colour]

    @gateway.point("ASKED_LATE", notes, lens=noting)
    def late(state: State) -> str:
        return "tech" if state.said else ""

    assert decide(State("x")) == Route("tech")
    assert late(State("x")) == "tech"
    assert called == []
    with gateway.override({"EDGE": scripted("billing")}), pytest.raises(Touched):
        decide(State("x"))
    assert called == [1]


def test_a_lens_that_fails_costs_a_watched_current_nothing(gateway_of: Gateways) -> None:
    """An observer is no reason to fail what works."""
    recorder = Recorder()
    decide = both(gateway_of(observers=[recorder]), lens=UNTOUCHABLE)

    assert decide["sync"](State("x")) == Route("tech")
    assert decide["async"](State("x")) == Route("tech")

    assert [one.provider for one in recorder.records] == ["current", "current"]


def test_a_state_that_is_no_json_cannot_be_asked(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    lens = Lens(state=lambda _: {"object": object()}, read=EDGE.read, write=Route)
    decide = both(gateway, lens=lens)["sync"]

    with gateway.override({"EDGE": scripted("billing")}), gateway.collect() as decisions:
        assert decide(State("x")) == Route("tech")

    assert decisions[0].record.reason is Reason.UNSUPPORTED


# --- annotations are API (frameworks §6.8) -----------------------------------------------


def test_a_literal_stays_readable_through_the_wrapper() -> None:
    """Frameworks §6.8: graphs are drawn from what the annotation of the inner function says."""
    assert typing.get_type_hints(labelled)["return"] == Literal["billing", "tech"]
    assert inspect.signature(labelled).return_annotation == "Literal['billing', 'tech']"
    assert inspect.isfunction(labelled)
    assert labelled.__wrapped__.__annotations__ == labelled.__annotations__  # type: ignore[attr-defined]


def test_a_function_under_a_lens_is_pickled_by_reference() -> None:
    assert pickle.loads(pickle.dumps(edge)) is edge
    assert edge.__doc__ == "Decide today."


def test_the_colour_is_kept(gateway_of: Gateways) -> None:
    gateway = gateway_of()

    @gateway.point("EDGE", TEAM, lens=EDGE)
    async def coloured(state: State) -> Route:
        return Route("tech" if state.said else "billing")

    assert inspect.iscoroutinefunction(coloured)
    assert not inspect.iscoroutinefunction(edge)


# --- wherever a framework calls it -------------------------------------------------------


class Waits:
    """A plug-in of the async shape: only this one needs a loop of the gateway's own."""

    name, limits = "waits", Limits()

    def __init__(self) -> None:
        self.seen: list[str | None] = []
        self.threads: set[str] = set()

    async def answer(self, ask: Ask, call: Call) -> Reply:
        await asyncio.sleep(0)
        self.seen.append(WHO.get())
        self.threads.add(threading.current_thread().name)
        WHO.set("the provider")
        return Reply({name: Chosen("billing", None, 0.99) for name in ask.questions})


WHO: contextvars.ContextVar[str | None] = contextvars.ContextVar("WHO", default=None)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def switched(waits: Waits, gateway_of: Gateways) -> Gateway:
    """A gateway whose `EDGE` that plug-in decides, by a variable alone."""

    class Plugin:
        @hookimpl
        def pointsman_providers(self) -> list[Offer]:
            return [Offer("waits", lambda: lambda _: waits)]

    return gateway_of({"DECISION_EDGE_PROVIDER": "waits"}, plugins=[Plugin()])


def test_a_sync_function_inside_a_running_loop_keeps_its_context(
    switched: Gateway, waits: Waits
) -> None:
    """
    Frameworks §4 and §6.4: the bridge carries the caller's context over, and nothing back.

    It runs on one thread of the gateway's, whoever calls.
    """

    @switched.point("EDGE", TEAM, lens=EDGE)
    def decide(state: State) -> Route:
        return Route("tech" if state.said else "billing")

    async def host(who: str) -> str | None:
        WHO.set(who)
        await asyncio.sleep(0)
        assert decide(State(who)) == Route("billing")
        return WHO.get()

    async def hosts() -> list[str | None]:
        return await asyncio.gather(*map(host, ["a", "b", "c"]))

    assert asyncio.run(hosts()) == ["a", "b", "c"]
    assert waits.seen == ["a", "b", "c"]
    assert len(waits.threads) == 1
    assert threading.current_thread().name not in waits.threads


def test_an_async_function_asks_in_the_callers_own_task(switched: Gateway, waits: Waits) -> None:
    """Frameworks §6.4: there is no bridge, so that a span keeps its parent."""

    @switched.point("EDGE", TEAM, lens=EDGE)
    async def decide(state: State) -> Route:
        return Route("tech" if state.said else "billing")

    async def host() -> Route:
        WHO.set("caller")
        return await decide(State("x"))

    assert asyncio.run(host()) == Route("billing")
    assert waits.seen == ["caller"]
    assert waits.threads == {threading.current_thread().name}


@pytest.mark.parametrize("where", ["to_thread", "executor with a context", "thread"])
def test_a_sync_function_in_another_thread(switched: Gateway, waits: Waits, where: str) -> None:
    """Frameworks §6.4: the session goes where the context goes; a bare thread has none."""
    subjects: list[str | None] = []

    def subject(_: State) -> str | None:
        subjects.append(WHO.get())
        return WHO.get()

    @switched.point("EDGE", TEAM, lens=EDGE, subject=subject)
    def decide(state: State) -> Route:
        return Route("tech" if state.said else "billing")

    async def host() -> Route:
        WHO.set("caller")
        if where == "to_thread":
            return await asyncio.to_thread(decide, State("x"))
        loop = asyncio.get_running_loop()
        if where == "thread":
            return await loop.run_in_executor(None, decide, State("x"))
        context = contextvars.copy_context()
        return await loop.run_in_executor(None, context.run, decide, State("x"))

    assert asyncio.run(host()) == Route("billing")
    kept = None if where == "thread" else "caller"
    assert waits.seen == [kept]
    assert subjects == [kept]


def test_threads_at_once_do_not_mix(switched: Gateway) -> None:
    """One wrapped function, many threads: each gets the answer to its own question."""
    recorder: list[str] = []
    lens = Lens(state=lambda state: state.said, read=EDGE.read, write=recorder.append)

    @switched.point("EDGE", lambda state: Choice("?", ["billing", state.said]), lens=lens)
    def decide(state: State) -> None: ...

    threads = [
        threading.Thread(target=decide, args=(State(f"option {number}"),)) for number in range(20)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert recorder == ["billing"] * 20


# --- options that are known only at the call ---------------------------------------------


def selector(gateway: Gateway, question: Any, **given: Any) -> Any:
    lens = Lens(state=lambda query, *_, **__: query)

    @gateway.point("SELECTOR", question, lens=lens, **given)
    def select(query: str, choices: list[str]) -> str:
        return choices[0] if query else choices[-1]

    return select


def test_a_question_may_be_made_of_the_call(gateway_of: Gateways) -> None:
    """Selectors, hand-off lists, speakers: what can be chosen is an argument."""
    gateway, says = gateway_of(), scripted("maps", "tables")
    select = selector(gateway, lambda _, choices: Choice("Which tool?", choices))

    with gateway.override({"SELECTOR": says}):
        assert select("where is it?", ["search", "maps"]) == "maps"
        assert select("how many?", choices=["search", "tables", "maps"]) == "tables"

    offered = [["search", "maps"], ["search", "tables", "maps"]]
    assert [one.questions for one in says.asked] == [
        {"decision": Choice("Which tool?", options)} for options in offered
    ]
    gateway.check()


def test_labels_are_held_against_the_annotation_call_by_call(gateway_of: Gateways) -> None:
    """What is offered is known only then: `check()` has nothing to say of it before."""
    gateway = gateway_of({"DECISION_PROVIDER": "local"})

    @gateway.point("SELECTOR", lambda _, choices: Choice("Which?", choices), lens=EDGE)
    def lensed(state: State, choices: list[str]) -> Route:
        return Route(choices[0] if state.said else "")

    @gateway.point("PLAIN", lambda choices: Choice("Which?", choices))
    def select(choices: list[str]) -> Literal["a", "b"]:
        return "a" if choices else "b"

    assert gateway.check() == ()
    with gateway.override({"PLAIN": scripted("c")}), pytest.raises(SetupError, match="'c'"):
        select(["a", "c"])
    with gateway.override({"PLAIN": scripted("b")}):
        assert select(["a", "b"]) == "b"


def test_an_option_of_another_call_is_not_believed(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    select = selector(gateway, lambda _, choices: Choice("Which tool?", choices))

    with gateway.override({"SELECTOR": scripted("maps")}), gateway.collect() as decisions:
        assert select("where is it?", ["search", "tables"]) == "search"

    assert decisions[0].record.reason is Reason.UNDECLARED_OPTION
    assert decisions[0].record.outcome == "search"


def test_several_questions_may_be_made_of_the_call(gateway_of: Gateways) -> None:
    gateway = gateway_of()

    def questions(_: str, choices: list[str]) -> dict[str, Any]:
        return {"tool": Choice("Which tool?", choices), "risky": Predicate("Is it risky?")}

    select = selector(gateway, questions, write=lambda outcome: outcome["tool"])

    with gateway.override({"SELECTOR": scripted({"tool": "maps", "risky": False})}):
        assert select("where is it?", ["search", "maps"]) == "maps"


def test_a_declaration_may_ask_what_the_call_says(gateway_of: Gateways) -> None:
    """The declaration keeps all else: which fields are shown, and under which name."""
    gateway, says = gateway_of(), scripted("maps")
    point = DecisionPoint(
        name="SELECTOR", questions={"en": {"tool": Choice("?", ["a", "b"])}}, reads=("query",)
    )
    lens = Lens(state=lambda query, _: {"query": query, "hidden": "zq7"})

    @gateway.point(point, lambda _, choices: {"tool": Choice("Which?", choices)}, lens=lens)
    def select(query: str, choices: list[str]) -> str:
        return choices[0] if query else choices[-1]

    with gateway.override({"SELECTOR": says}):
        assert select("where?", ["search", "maps"]) == "maps"

    assert says.asked[0].state == {"query": "where?"}


@pytest.mark.parametrize("asks", [{}, Choice("?", ["a"], open=True)])
def test_what_cannot_be_asked_names_the_point(gateway_of: Gateways, asks: Any) -> None:
    """A `DeclarationError`; in a call it counts as what cannot be asked, and current decides."""
    gateway = gateway_of()
    select = selector(gateway, lambda *_: asks)
    wrapped = select.__pointsman__[1]

    with pytest.raises(DeclarationError, match=r"^SELECTOR: "):
        wrapped.build((("x", ["a", "b"]), {}), "en")
    with gateway.override({"SELECTOR": scripted("b")}), gateway.collect() as decisions:
        assert select("x", ["a", "b"]) == "a"
    assert decisions[0].record.reason is Reason.UNSUPPORTED


async def later(*_: Any) -> Choice:
    return TEAM


@pytest.mark.parametrize(
    "asks", ["Which tool?", None, {"tool": "?"}, ["a", "b"], functools.partial(later)]
)
def test_what_is_no_question_is_the_developers_fault_at_the_call(
    gateway_of: Gateways, asks: Any
) -> None:
    """Never `unsupported` for ever; under `current` nothing is asked, and nothing fails."""
    gateway = gateway_of()
    select = selector(gateway, lambda *_: asks(*_) if callable(asks) else asks)

    assert select("x", ["a", "b"]) == "a"
    with (
        gateway.override({"SELECTOR": scripted("b")}),
        pytest.raises(SetupError, match=r"^SELECTOR: .*question"),
    ):
        select("x", ["a", "b"])


def test_one_choice_only_is_no_question_and_current_decides(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    select = selector(gateway, lambda _, choices: Choice("Which tool?", choices))

    with gateway.override({"SELECTOR": scripted("search")}), gateway.collect() as decisions:
        assert select("where is it?", ["search"]) == "search"

    assert decisions[0].provider == "current"


def test_a_question_that_raises_is_the_hosts_own_error(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    select = selector(gateway, refuses)

    with gateway.override({"SELECTOR": scripted("a")}), pytest.raises(Touched):
        select("x", ["a", "b"])


# --- mistakes ----------------------------------------------------------------------------


def test_without_a_lens_the_error_names_it(gateway_of: Gateways) -> None:
    with pytest.raises(SetupError, match="`lens="):

        @gateway_of().point("EDGE", TEAM)
        def decide(state: State, runtime: State) -> str:
            return f"{state}{runtime}"


def test_where_a_framework_has_its_own_result_type_write_is_needed(gateway_of: Gateways) -> None:
    """Said by `check()`, only where a plan needs it."""
    lens = Lens(state=lambda state: state.said)
    both(gateway_of(), lens=lens)
    gateway = gateway_of({"DECISION_EDGE_PROVIDER": "local"})
    both(gateway, lens=lens)

    with pytest.raises(SetupError, match="`write=`"):
        gateway.check()


async def shows(*_: Any) -> Any:
    return "x"


class Shows:
    """A callable object whose call is async."""

    async def __call__(self, *_: Any) -> str:
        return "x"


@pytest.mark.parametrize("what", ["state", "session", "read", "write"])
@pytest.mark.parametrize("one", [shows, functools.partial(shows), Shows()], ids=lambda _: "")
def test_an_async_function_of_a_lens_is_told_where_it_is_declared(
    gateway_of: Gateways, what: str, one: Any
) -> None:
    """A coroutine would be no JSON for ever, nobody's subject, and the framework's value."""
    given: dict[str, Any] = {"state": lambda state: state.said, what: one}

    with pytest.raises(SetupError, match=rf"^EDGE: `lens\.{what}` is async"):
        both(gateway_of(), lens=Lens(**given))


@pytest.mark.parametrize("what", ["subject", "read", "write", "ask", "once"])
def test_so_is_what_is_given_explicitly(gateway_of: Gateways, what: str) -> None:
    given: dict[str, Any] = {what: shows}
    with pytest.raises(SetupError, match=rf"^EDGE: `{what}` is async"):
        both(gateway_of(), lens=EDGE, **given)
    with pytest.raises(SetupError, match=r"^SELECTOR: `question` is async"):
        selector(gateway_of(), later)


@COLOURS
@pytest.mark.parametrize("what", ["state", "session"])
def test_one_that_hides_its_coroutine_is_told_at_the_call(
    gateway_of: Gateways, colour: str, what: str
) -> None:
    """What was never awaited is closed: pytest would fail on its warning."""
    given: dict[str, Any] = {"state": lambda state: state.said, what: lambda _: shows()}
    gateway = gateway_of()
    decide = both(gateway, lens=Lens(write=Route, **given))[colour]

    assert decide(State("x")) == Route("tech")
    with (
        gateway.override({"EDGE": scripted("billing")}),
        pytest.raises(SetupError, match=r"^EDGE: `(state|subject)` is async"),
    ):
        decide(State("x"))


def test_a_subject_is_a_text(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    decide = both(gateway, lens=EDGE, subject=lambda _: 42)["sync"]

    with (
        gateway.override({"EDGE": scripted("billing")}),
        pytest.raises(SetupError, match=r"^EDGE: its subject is of type int"),
    ):
        decide(State("x"))


@pytest.mark.parametrize("lens", [{"state": shows}, Lens, lambda state: state])
def test_a_lens_is_a_lens(gateway_of: Gateways, lens: Any) -> None:
    with pytest.raises(
        DeclarationError, match=r"`Lens\(state=…\)`; got (dict|StructMeta|function)"
    ):
        both(gateway_of(), lens=lens)


# --- where a truth stops something -------------------------------------------------------


@dataclass
class Tripped:
    """A framework's own result of a guardrail."""

    stop: bool


def trip(text: str) -> str:
    return text


TRIPWIRE = Lens(state=trip, read=lambda one: one.stop, write=Tripped, blocks=True)
APPROVES = Lens(state=trip, blocks=False)
RAILS = pytest.mark.parametrize(
    ("name", "stops"),
    [("GUARDRAIL_PINJ", True), ("GUARDRAIL_GRL", False), ("GUARDRAIL_HOUSE_RULES", False)],
)


@COLOURS
@RAILS
def test_a_rail_under_a_tripwire_stops_as_the_rail_says(
    gateway_of: Gateways, colour: str, name: str, *, stops: bool
) -> None:
    """The generic ones ask what may pass; a reason that goes with the truth stops nothing."""
    gateway = gateway_of()
    rail = tripping(gateway, name, TRIPWIRE)[colour]
    guard = Guard(gateway, name, on_undecided="block")

    for said in (True, False):
        with gateway.override({name: scripted(said)}):
            assert rail("x") == Tripped(said is stops)
            assert guard.rule_sync("x").blocked is (said is stops)
    assert rail("attack") == Tripped(stop=True)
    assert rail("x") == Tripped(stop=False)


def tripping(gateway: Gateway, name: Any, lens: Lens, **given: Any) -> dict[str, Any]:
    @gateway.point(name, lens=lens, **given)
    def sync(text: str) -> Tripped:
        return Tripped("attack" in text)

    @gateway.point(name, lens=lens, **given)
    async def coloured(text: str) -> Tripped:
        return Tripped("attack" in text)

    return {"sync": sync, "async": lambda text: asyncio.run(coloured(text))}


@COLOURS
@RAILS
def test_what_todays_tripwire_did_is_recorded_in_the_rails_words(
    gateway_of: Gateways, colour: str, name: str, *, stops: bool
) -> None:
    """So that a shadow is compared with what it means, and what stands is written back so."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])
    rail = tripping(gateway, name, TRIPWIRE, once=lambda text: (text, text))[colour]

    with gateway.session("s"):
        assert rail("attack") == Tripped(stop=True)
        assert rail("x") == Tripped(stop=False)
        with gateway.override({name: scripted(stops)}):
            assert rail("x") == Tripped(stop=False)

    outcomes = [one.outcome for one in recorder.records]
    plain = [one["violation"] if isinstance(one, dict) else one for one in outcomes]
    assert plain == [stops, not stops]


@RAILS
def test_a_rail_under_what_approves_lets_pass_as_the_rail_says(
    gateway_of: Gateways, name: str, *, stops: bool
) -> None:
    """True runs it unasked: an attack must not."""
    gateway = gateway_of()

    @gateway.point(name, lens=APPROVES)
    def approved(text: str) -> bool:
        return text == "fine"

    for said in (True, False):
        with gateway.override({name: scripted(said)}):
            assert approved("x") is (said is not stops)
    with gateway.override({name: scripted(Reason.TIMEOUT)}):
        assert approved("fine")
        assert not approved("x")


@pytest.mark.parametrize("blocks", [True, False, None])
def test_a_question_of_ones_own_speaks_as_the_seam_does(
    gateway_of: Gateways, *, blocks: bool | None
) -> None:
    """What stops is the seam's truth: nothing is turned around, also of what the call asks."""
    gateway = gateway_of()
    lens = Lens(state=trip, blocks=blocks)
    question = Predicate("?")

    @gateway.point("OWN", question, lens=lens)
    def fixed(text: str) -> bool:
        return bool(text)

    @gateway.point("LATE", lambda _: {"so": question, "why": TEAM_BESIDES}, lens=lens)
    def late(text: str) -> bool:
        return bool(text)

    for said in (True, False):
        both_say = {"so": said, "why": "tech"}
        with gateway.override({"OWN": scripted(said), "LATE": scripted(both_say)}):
            assert (fixed("x"), late("x")) == (said, said)
    assert gateway.points["OWN"].blocks is (blocks is not False)


TEAM_BESIDES = Choice("Which team?", ["billing", "tech"], advisory=True)


def test_what_is_no_truth_cannot_stop(gateway_of: Gateways) -> None:
    """`bool("ok")` would always trip; where the options come with the call it is told then."""
    gateway = gateway_of()

    with pytest.raises(SetupError, match=r"^CHOICE: its lens takes a truth"):
        gateway.point("CHOICE", TEAM, lens=TRIPWIRE)(trip)
    with pytest.raises(SetupError, match=r"^CHOICE: its lens takes a truth"):
        gateway.point("CHOICE", TEAM, lens=TRIPWIRE, write=Tripped)(trip)
    late: Any = gateway.point("LATE", lambda _: TEAM, lens=TRIPWIRE)(trip)
    with (
        gateway.override({"LATE": scripted("tech")}),
        pytest.raises(SetupError, match=r"^LATE: its lens takes a truth"),
    ):
        late("x")
    assert late("x") == "x"


def test_both_functions_of_ones_own_take_anything(gateway_of: Gateways) -> None:
    gateway = gateway_of()

    def stops(team: str) -> Tripped:
        return Tripped(team == "tech")

    own: Any = gateway.point("CHOICE", TEAM, lens=TRIPWIRE, read=trip, write=stops)(trip)

    with gateway.override({"CHOICE": scripted("billing")}):
        assert own("x") == Tripped(stop=False)


# --- asked without a wrapped function ----------------------------------------------------


def ask(gateway: Gateway, colour: str, **given: Any) -> Decision[Any]:
    state = Ask("x", {"team": TEAM})
    if colour == "sync":
        return gateway.ask_sync("EDGE", state, **given)
    return asyncio.run(gateway.ask("EDGE", state, **given))


@COLOURS
def test_read_and_write_serve_an_ask_too(gateway_of: Gateways, colour: str) -> None:
    """`read` for what current gave, `write` for what a provider answered."""
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])
    given: dict[str, Any] = {"current": lambda: Route("tech"), "read": EDGE.read, "write": Route}

    own = ask(gateway, colour, **given)
    with gateway.override({"EDGE": scripted("billing")}):
        said = ask(gateway, colour, **given)

    assert (own.value, own.provider) == (Route("tech"), "current")
    assert (said.value, said.provider) == (Route("billing"), "scripted")
    assert [one.outcome for one in recorder.records] == ["tech", "billing"]


@COLOURS
def test_write_serves_where_nobody_decides(gateway_of: Gateways, colour: str) -> None:
    given: dict[str, Any] = {"on_undecided": "block", "write": str}
    ask = Ask("x", {"bad": Predicate("Is it bad?")})
    gateway = gateway_of()

    if colour == "sync":
        decision = gateway.ask_sync("BAD", ask, **given)
    else:
        decision = asyncio.run(gateway.ask("BAD", ask, **given))

    assert (decision.value, decision.undecided) == ("True", True)


@COLOURS
def test_a_consultation_is_about_the_subject_it_is_given(gateway_of: Gateways, colour: str) -> None:
    seen: list[str | None] = []

    class Sees:
        name, limits = "sees", Limits()

        def answer(self, ask: Ask, call: Call) -> Reply:
            seen.append(call.subject)
            raise NoAnswer(Reason.REFUSED)

    gateway = gateway_of()
    state = Ask("x", {"team": TEAM})
    with gateway.override({"EDGE": Sees()}), gateway.session("outside"):
        if colour == "sync":
            assert gateway.consult_sync("EDGE", state, subject="s-1") is None
            assert gateway.consult_sync("EDGE", state) is None
        else:
            assert asyncio.run(gateway.consult("EDGE", state, subject="s-1")) is None
            assert asyncio.run(gateway.consult("EDGE", state)) is None

    assert seen == ["s-1", "outside"]


# --- once --------------------------------------------------------------------------------


def approving(gateway: Gateway, **given: Any) -> Any:
    lens = Lens(state=lambda _, args: args, session=given.pop("session", None))
    given = {"once": lambda call_id, args: (call_id, args), **given}

    @gateway.point("APPROVAL", Predicate("Must a person approve it?"), lens=lens, **given)
    def must_approve(call_id: str, args: dict[str, Any]) -> bool:
        return bool(call_id) or bool(args)

    return must_approve


def test_once_a_call_is_decided_it_stays_so(gateway_of: Gateways) -> None:
    """Frameworks §6.1: asked again on resume, after a flip, the answer is the one that stands."""
    gateway = gateway_of()
    must = approving(gateway, session=lambda *_: "thread-7")

    with gateway.override({"APPROVAL": scripted(MUST)}):
        assert must("call-1", {"amount": 10}) is True
    with gateway.override({"APPROVAL": scripted(MUST_NOT)}):
        assert must("call-1", {"amount": 10}) is True
        assert must("call-1", {"amount": 11}) is False
        assert must("call-2", {"amount": 10}) is False


def test_what_current_decided_once_stands_too(gateway_of: Gateways) -> None:
    """Frameworks §6.1: the zero-touch path is off for a point that is decided once."""
    gateway = gateway_of()
    must = approving(gateway)

    with gateway.session("thread-7"):
        assert must("call-1", {}) is True
        with gateway.override({"APPROVAL": scripted(MUST_NOT)}):
            assert must("call-1", {}) is True


def test_what_stands_comes_back_in_the_hosts_type_in_another_process(
    gateway_of: Gateways, tmp_path: Path
) -> None:
    """Frameworks §6.1: under `current` too, where nothing else needs `write`."""
    environ = {"DECISION_JOURNAL": f"sqlite:///{tmp_path / 'decisions.db'}"}

    def routing() -> tuple[Gateway, Any]:
        gateway = gateway_of(environ)

        @gateway.point("EDGE", TEAM, lens=EDGE, once=lambda state: ("call-1", state.said))
        def decide(state: State) -> Route:
            return Route("tech" if state.said else "")

        return gateway, decide

    first, decide = routing()
    with first.override({"EDGE": scripted("billing")}):
        assert decide(State("x", thread="t")) == Route("billing")
    first.close()

    _, again = routing()
    assert again(State("x", thread="t")) == Route("billing")
    assert again(State("y", thread="t")) == Route("tech")


def test_where_once_names_no_call_each_is_decided_anew(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    must = approving(gateway, once=lambda *_: None)

    with gateway.override({"APPROVAL": scripted(MUST, MUST_NOT)}):
        assert must("call-1", {}) is True
        assert must("call-1", {}) is False


def test_once_needs_a_subject(gateway_of: Gateways) -> None:
    """A call's id is unique within its session at best; the error says how to name one."""
    gateway = gateway_of()
    must = approving(gateway)
    state = Ask("x", {"team": TEAM})
    given: dict[str, Any] = {"current": lambda: "tech", "once": ("call-1", {})}

    with pytest.raises(SetupError, match=r"gateway\.session\(id\)"):
        must("call-1", {})
    with pytest.raises(SetupError, match="`subject=`"):
        gateway.ask_sync("EDGE", state, **given)
    with pytest.raises(SetupError, match="`subject=`"):
        gateway.consult_sync("EDGE", state, once=("call-1", {}))


def test_a_lens_whose_session_fails_leaves_once_without_a_subject(gateway_of: Gateways) -> None:
    """What cannot be remembered is not decided: a rejected call must never run."""
    must = approving(gateway_of(), session=refuses)

    with pytest.raises(SetupError, match="subject"):
        must("call-1", {})


@pytest.mark.parametrize("once", ["call-1", ("call-1",), (1, {}), ("", {}), ("a", {}, {}), 7])
def test_once_is_a_call_id_and_its_arguments(gateway_of: Gateways, once: Any) -> None:
    gateway = gateway_of()
    must = approving(gateway, once=lambda *_: once)
    state = Ask("x", {"team": TEAM})

    with gateway.session("s"):
        with pytest.raises(DeclarationError, match=r"^APPROVAL: `once` gives a call id"):
            must("call-1", {"password": "zq7-secret"})
        with pytest.raises(DeclarationError, match=r"^EDGE: `once` gives a call id"):
            gateway.ask_sync("EDGE", state, current=lambda: "tech", once=once)


@COLOURS
def test_a_consultation_in_vain_stands_too(gateway_of: Gateways, colour: str) -> None:
    """That current carries on is an answer: the hook is not asked again on resume."""
    gateway, state = gateway_of(), Ask("x", {"team": TEAM})

    def consult() -> Decision[Any] | None:
        if colour == "sync":
            return gateway.consult_sync("EDGE", state, subject="s", once=("call-1", {}))
        return asyncio.run(gateway.consult("EDGE", state, subject="s", once=("call-1", {})))

    assert consult() is None
    with gateway.override({"EDGE": scripted("billing")}):
        assert consult() is None


# --- a framework that is not installed ---------------------------------------------------


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("langgraph", "langgraph", "langgraph"),
        ("openai_agents", "agents", "openai-agents"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("mcp", "mcp", "mcp"),
        ("crewai", "crewai", "crewai"),
        ("google_adk", "google.adk", "google-adk"),
        ("llama_index", "llama_index.core", "llama-index"),
        ("agent_framework", "agent_framework", "agent-framework"),
    ],
)
def test_an_integration_without_its_framework_names_the_extra(
    module: str, library: str, extra: str
) -> None:
    try:
        importlib.import_module(library)
    except ImportError:
        with pytest.raises(ImportError, match=rf"pip install 'pointsman\[{extra}\]'"):
            importlib.import_module(f"pointsman.gateway.integrations.{module}")
    else:
        pytest.skip(f"{library} is installed here")
