"""
What users may rely on in types.

Never run: `tests/test_typing.py` has it checked by mypy and pyright, both strict. A line with
two ignores is one that both must reject; an ignore that is not needed is an error itself.
"""

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any, Literal, assert_type

from pointsman import (
    Ask,
    Call,
    Choice,
    Decision,
    Gateway,
    Guard,
    Lens,
    Limits,
    Offer,
    Predicate,
    Provider,
    Reply,
    Ruling,
    Score,
    Setup,
    When,
    hookimpl,
    scripted,
)

gateway = Gateway.from_env({})
team = Choice("Which team?", {"billing": "Amounts", "tech": "Faults"})


class Team(Enum):
    """A host's own type."""

    BILLING = "billing"
    TECH = "tech"


# --- a wrapped function keeps its signature ----------------------------------------------


@gateway.point("SYNC", team)
def sync(message: str, limit: int = 3) -> Team:
    """Decide today."""
    return Team(message[:limit])


@gateway.point("ASYNC", team)
async def coloured(message: str, *, limit: int = 3) -> str:
    """Decide today."""
    return message[:limit]


@gateway.point("LATE", team)
def late(message: str) -> Awaitable[bool]:
    """Decide today, in a coroutine."""
    raise NotImplementedError


assert_type(sync("a"), Team)
assert_type(sync("a", limit=1), Team)
sync(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sync()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
sync("a", other=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
as_callable: Callable[[str, int], Team] = sync


class Desk:
    """A host's class."""

    @gateway.point("METHOD", team)
    def method(self, message: str) -> Team:
        """Decide today."""
        return Team(message)

    @gateway.point("ASYNC_METHOD", team)
    async def async_method(self, message: str) -> Literal["billing", "tech"]:
        """Decide today."""
        raise NotImplementedError

    @classmethod
    @gateway.point("CLASS_METHOD", team)
    def class_method(cls, message: str) -> Team:
        """Decide today."""
        return Team(message)

    @staticmethod
    @gateway.point("STATIC_METHOD", team)
    def static_method(message: str) -> Team:
        """Decide today."""
        return Team(message)


desk = Desk()
assert_type(desk.method("a"), Team)
assert_type(Desk.class_method("a"), Team)
assert_type(Desk.static_method("a"), Team)
desk.method(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
desk.method()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


# --- a decision is typed by the function -------------------------------------------------


async def decisions() -> None:
    """Whoever answers, the value has the function's own type."""
    assert_type(await coloured("a"), str)
    assert_type(await desk.async_method("a"), Literal["billing", "tech"])
    assert_type(await gateway.decide(coloured, "a", limit=1), Decision[str])
    assert_type(await gateway.decide(sync, "a", 1), Decision[Team])
    assert_type(await gateway.decide(late, "a"), Decision[bool])
    assert_type(await gateway.decide(desk.method, "a"), Decision[Team])
    assert_type(await gateway.decide(desk.async_method, "a"), Decision[Literal["billing", "tech"]])
    assert_type((await gateway.decide(sync, "a")).value, Team)
    assert_type((await gateway.decide(sync, "a")).confidence, float)

    await gateway.decide(coloured, 1)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    await gateway.decide(coloured)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    await gateway.decide(coloured, "a", other=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    await gateway.decide("ROUTER", "a")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]


assert_type(gateway.decide_sync(sync, "a"), Decision[Team])
assert_type(gateway.decide_sync(desk.method, message="a"), Decision[Team])
gateway.decide_sync(sync, 1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gateway.decide_sync(sync)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


# --- `ask` takes what the function takes -------------------------------------------------


def right(message: str, history: list[str]) -> Ask:
    """Build the ask from the same arguments."""
    return Ask({"message": message, "history": history}, {"team": team})


def wrong_arguments(message: int) -> Ask:
    """Build an ask from something else."""
    return Ask(message, {"team": team})


def wrong_result(message: str, history: list[str]) -> str:
    """Build no ask."""
    return message + history[0]


def host(message: str, history: list[str]) -> str:
    """Decide today."""
    return message + history[0]


accepted = gateway.point("ASK", team, ask=right)(host)
assert_type(accepted("a", ["b"]), str)
assert_type(gateway.decide_sync(accepted, "a", ["b"]), Decision[str])
accepted("a", "b")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gateway.point("ASK", team, ask=wrong_arguments)(host)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
gateway.point("ASK", team, ask=wrong_result)(host)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@gateway.point("ASK_ASYNC", team, ask=right)
async def host_async(message: str, history: list[str]) -> Team:
    """Decide today."""
    return Team(message + history[0])


as_awaitable: Callable[[str, list[str]], Awaitable[Team]] = host_async


# --- a lens, a question of the call, and a guardrail -------------------------------------

lens = Lens(state=str, session=str, read=str, write=Team)


def once(state: object, limit: int = 3) -> tuple[str, object] | None:
    """Name the call."""
    return ("call", state) if limit else None


def options_of(state: object, options: list[str]) -> Choice:
    """Ask what the call brings."""
    return Choice(f"Which? {state}", options)


@gateway.point("LENS", team, lens=lens, once=once)
def seen(state: object, limit: int = 3) -> Team:
    """Decide today."""
    raise NotImplementedError


@gateway.point("OF_THE_CALL", options_of, lens=lens)
async def chosen(state: object, options: list[str]) -> str:
    """Decide today."""
    raise NotImplementedError


assert_type(seen(1), Team)
assert_type(gateway.decide_sync(seen, 1, limit=2), Decision[Team])
seen()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
as_choosing: Callable[[object, list[str]], Awaitable[str]] = chosen
gateway.point("LENS", team, lens=str)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
Lens(session=str)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

guard = Guard(gateway, "RUDE", Predicate("Is it rude?"), on_undecided="human")
Guard(gateway, "RUDE", on_undecided="perhaps")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def rulings() -> None:
    """What blocks is a truth."""
    assert_type(await guard.rule("x", subject="s", once=("call", {})), Ruling)
    assert_type((await guard.rule("x")).blocked, bool)
    assert_type(await gateway.consult("RUDE", "x", subject="s"), Decision[Any] | None)
    await guard.rule("x", once="call")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await gateway.ask("LENS", "x", read=str, write=Team, once=("call", 1), on_undecided="human")


assert_type(guard.rule_sync("x"), Ruling)
assert_type(gateway.resolve("id", value=Team, by="bea").first, bool)
gateway.resolve("id", "x", "bea")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


# --- questions ---------------------------------------------------------------------------

Choice("Which team?", Team, "billing")
Choice("q", ["a", "b"], "a", abstains=True, when=When("x", ("y",)))
Choice("q", {1: "a"})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
Choice(["q"], ["a", "b"])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Predicate("q", true="so", false="not so", tie=True)
Score("q", ["low", "high"])
Score("q", low=0, high=10)
Score("q", low="none")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Ask("s", {"q": "a question"})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]


# --- providers ---------------------------------------------------------------------------


class Mine:
    """A stranger's provider needs no base class."""

    name = "mine"
    limits = Limits(options=8)

    def answer(self, ask: Ask, call: Call) -> Reply:
        """Answer."""
        raise NotImplementedError


class Nameless:
    """Says nothing of itself."""

    limits = Limits()


def make(_: Setup) -> Mine:
    """Make it."""
    return Mine()


mine: Provider = Mine()
nobody: Provider = Nameless()  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
offer = Offer("mine", lambda: make)


@hookimpl
def pointsman_providers() -> list[Offer]:
    """Offer it."""
    return [offer]


others: dict[str, str | Provider] = {
    "SYNC": scripted("billing"),
    "ASYNC": "current",
    "METHOD": mine,
}
with gateway.override(others), gateway.collect() as made:
    assert_type(made, list[Decision[Any]])
