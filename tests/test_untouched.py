"""Where nobody but current decides and nobody looks on: nothing is built, nothing is told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest

from pointsman import (
    Ask,
    Choice,
    Decision,
    DeclarationError,
    Gateway,
    Guard,
    Lens,
    Predicate,
    Reason,
    Recorder,
    SetupError,
    scripted,
)
from telling import AsyncTeller, Offers, Teller

Gateways = Callable[..., Gateway]
COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])
TEAM = Choice("Who takes it?", ["billing", "tech"])
RUDE = Predicate("Is it rude?")
IS = True


class Touches:
    """Notes what is called, and what of a state is read."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def noting(self, name: str, gives: Callable[..., Any]) -> Callable[..., Any]:
        """Make *gives* note that it was called."""

        def noted(*args: Any, **kwargs: Any) -> Any:
            self.seen.append(name)
            return gives(*args, **kwargs)

        return noted

    def model_dump(self, *, mode: str) -> dict[str, str]:
        """Be encoded, as a state."""
        self.seen.append(f"encoded as {mode}")
        return {"text": "you fool"}


@pytest.fixture
def touches() -> Touches:
    return Touches()


def routed(gateway: Gateway, touches: Touches, **given: Any) -> dict[str, Callable[..., Any]]:
    """Wrap a router of today in both colours, under a lens that notes its use."""
    lens = Lens(
        state=touches.noting("state", lambda said: said),
        session=touches.noting("session", lambda _: "ana"),
        read=touches.noting("read", lambda team: team.lower()),
        write=touches.noting("write", lambda outcome: outcome.upper()),
    )
    question = touches.noting("question", lambda _: TEAM)
    wrap = gateway.point("TEAM", question, lens=lens, **given)

    def team(said: Any) -> str:
        return "TECH" if said else "BILLING"

    async def team_async(said: Any) -> str:
        return team(said)

    return {"sync": wrap(team), "async": wrap(team_async)}


def decided(gateway: Gateway, colour: str, function: Any, *args: Any) -> Decision[Any]:
    if colour == "sync":
        return gateway.decide_sync(function, *args)
    return asyncio.run(gateway.decide(function, *args))


def consulted(gateway: Gateway, colour: str, *args: Any) -> Decision[Any] | None:
    if colour == "sync":
        return gateway.consult_sync(*args)
    return asyncio.run(gateway.consult(*args))


# --- whether it is so --------------------------------------------------------------------


def shadowed_by(gateway_of: Gateways, **variables: str) -> Gateway:
    given = {f"DECISION_TEAM_{name}": value for name, value in variables.items()}
    return gateway_of(given, plugins=[Offers(Teller())])


def collecting(gateway: Gateway) -> AbstractContextManager[Any]:
    return gateway.collect()


def overriding(gateway: Gateway) -> AbstractContextManager[Any]:
    return gateway.override({"TEAM": scripted("tech")})


SEEN_BY: dict[str, Callable[[Gateways], Gateway]] = {
    "a plan": lambda made: shadowed_by(made, PROVIDER="teller"),
    "a shadow": lambda made: shadowed_by(made, SHADOW="teller"),
    "a shadow of some": lambda made: shadowed_by(made, SHADOW="teller", SHADOW_SAMPLE="0.01"),
    "a split": lambda made: shadowed_by(made, PROVIDER="current:50,teller:50"),
    "an observer": lambda made: made(observers=[Recorder()]),
}


@pytest.mark.parametrize("who", SEEN_BY)
def test_a_point_is_touched_by_whoever_is_named(gateway_of: Gateways, who: str) -> None:
    gateway = SEEN_BY[who](gateway_of)
    gateway.point("TEAM", TEAM)

    assert not gateway.untouched("TEAM")
    if who != "an observer":
        gateway.point("OTHER", TEAM)
        assert gateway.untouched("OTHER")


@pytest.mark.parametrize("inside", [collecting, overriding])
def test_a_point_is_touched_while_somebody_is_inside(
    gateway_of: Gateways, inside: Callable[[Gateway], AbstractContextManager[Any]]
) -> None:
    gateway = gateway_of()
    gateway.point("TEAM", TEAM)

    with inside(gateway):
        assert not gateway.untouched("TEAM")
    assert gateway.untouched("TEAM")


def test_a_journal_and_traces_look_on(gateway_of: Gateways, tmp_path: Any) -> None:
    pytest.importorskip("opentelemetry.sdk")
    kept = gateway_of({"DECISION_JOURNAL": f"sqlite:///{tmp_path / 'journal.db'}"})
    traced = gateway_of()
    for gateway in (kept, traced):
        gateway.point("TEAM", TEAM)

    assert not kept.untouched("TEAM")
    assert traced.untouched("TEAM")
    traced.instrument()
    assert not traced.untouched("TEAM")
    traced.uninstrument()
    assert traced.untouched("TEAM")


def test_what_is_decided_once_leaves_a_trace(gateway_of: Gateways) -> None:
    gateway = gateway_of()

    @gateway.point("TEAM", TEAM, once=lambda said: ("call-1", said))
    def team(said: str) -> str:
        return "tech" if said else "billing"

    @gateway.point("OTHER", TEAM)
    def other(said: str) -> str:
        return "tech" if said else "billing"

    assert not gateway.untouched("TEAM")
    assert gateway.untouched("OTHER")
    assert (team.__name__, other.__name__) == ("team", "other")


def test_a_point_that_nobody_declares_is_a_fault(gateway_of: Gateways) -> None:
    with pytest.raises(SetupError):
        gateway_of().untouched("NOWHERE")


# --- a decision --------------------------------------------------------------------------


@COLOURS
def test_a_whole_decision_is_as_little_as_the_call(
    gateway_of: Gateways, touches: Touches, colour: str
) -> None:
    """Only `read` is called, for its record."""
    gateway = gateway_of()
    team = routed(gateway, touches)[colour]

    decision = decided(gateway, colour, team, "the line is dead")

    assert touches.seen == ["read"]
    assert (decision.value, decision.provider) == ("TECH", "current")
    assert decision.record.outcome == "tech"
    assert [one.provider for one in decision.attempts] == ["current"]
    assert not decision.answers

    with gateway.override({"TEAM": scripted("billing")}):  # else they would not be called at all
        assert decided(gateway, colour, team, "the line is dead").value == "BILLING"
    assert {"state", "session", "question", "write"} <= set(touches.seen)


@COLOURS
def test_a_type_says_what_current_decided(gateway_of: Gateways, colour: str) -> None:
    """Without a `read` the point's own words do."""
    gateway = gateway_of()

    def plain(said: str) -> str:
        return said

    async def plain_async(said: str) -> str:
        return said

    wrap = gateway.point("TEAM", TEAM)
    team: Any = wrap(plain) if colour == "sync" else wrap(plain_async)

    assert decided(gateway, colour, team, "tech").record.outcome == "tech"
    assert decided(gateway, colour, team, "sales").record.outcome is None


@COLOURS
def test_what_current_raises_reaches_the_host(gateway_of: Gateways, colour: str) -> None:
    gateway = gateway_of()

    def plain(said: str) -> str:
        raise LookupError(said)

    async def plain_async(said: str) -> str:
        raise LookupError(said)

    wrap = gateway.point("TEAM", TEAM)
    team: Any = wrap(plain) if colour == "sync" else wrap(plain_async)

    with pytest.raises(LookupError, match="tech"):
        decided(gateway, colour, team, "tech")


def test_nothing_of_it_is_told(gateway_of: Gateways, capfd: pytest.CaptureFixture[str]) -> None:
    gateway = gateway_of({"DECISION_LOG": "json"})
    team = gateway.point("TEAM", TEAM)(_tech)
    guard = Guard(gateway, "RUDE", RUDE, current=lambda _: IS)

    gateway.decide_sync(team, "hello")
    guard.rule_sync("hello")
    gateway.consult_sync("TEAM", "hello")
    gateway.ask_sync("TEAM", "hello", current=lambda: "tech")

    assert capfd.readouterr().err == ""
    with gateway.override({"RUDE": scripted(IS)}):
        guard.rule_sync("hello")
    assert "decision.made" in capfd.readouterr().err


def _tech(said: str) -> str:
    return "tech" if said else "billing"


def test_a_shadow_that_is_not_drawn_builds_nothing(gateway_of: Gateways, touches: Touches) -> None:
    gateway = shadowed_by(gateway_of, SHADOW="teller", SHADOW_SAMPLE="0")
    team = routed(gateway, touches)["sync"]

    for _ in range(3):
        assert gateway.decide_sync(team, "hello").value == "TECH"

    assert set(touches.seen) == {"read"}


# --- a guardrail -------------------------------------------------------------------------


@COLOURS
@pytest.mark.parametrize("name", ["RUDE", "GUARDRAIL_TOX"])
def test_a_guardrail_of_today_is_shown_the_state_and_nobody_encodes_it(
    gateway_of: Gateways, touches: Touches, colour: str, name: str
) -> None:
    gateway, shown = gateway_of(), []

    def today(state: Any) -> bool:
        shown.append(state)
        return IS

    guard = Guard(gateway, name, RUDE if name == "RUDE" else None, current=today)
    state: Any = touches if name == "RUDE" else {"text": touches}

    def rule() -> Any:
        return guard.rule_sync(state) if colour == "sync" else asyncio.run(guard.rule(state))

    ruling = rule()
    assert (ruling.blocked, ruling.decision.provider) == (IS is guard.point.blocks, "current")
    assert (shown, touches.seen) == ([state], [])

    with gateway.override({name: scripted(Reason.REFUSED)}):
        rule()
    assert touches.seen


# --- consulting --------------------------------------------------------------------------


@COLOURS
def test_nothing_is_built_to_consult_nobody(
    gateway_of: Gateways, touches: Touches, colour: str
) -> None:
    gateway = gateway_of()
    gateway.asks("TEAM", TEAM)

    assert consulted(gateway, colour, "TEAM", touches) is None
    assert touches.seen == []

    with gateway.override({"TEAM": scripted("tech")}):
        assert consulted(gateway, colour, "TEAM", touches)
    assert touches.seen


@COLOURS
def test_what_cannot_be_asked_does_not_matter_where_nobody_is(
    gateway_of: Gateways, capfd: pytest.CaptureFixture[str], colour: str
) -> None:
    """A fault of the question is told where a provider is to be asked it."""
    gateway, lacks = gateway_of({"DECISION_LOG": "json"}), {"language": "en"}

    assert consulted(gateway, colour, "GUARDRAIL_TOX", lacks) is None
    assert capfd.readouterr().err == ""
    with (
        gateway.override({"GUARDRAIL_TOX": scripted(IS)}),
        contextlib.suppress(DeclarationError),
    ):
        assert consulted(gateway, colour, "GUARDRAIL_TOX", lacks) is None
        assert "decision.read_failed" in capfd.readouterr().err


def test_what_current_did_then_is_nobodys(gateway_of: Gateways, touches: Touches) -> None:
    gateway = gateway_of()
    gateway.asks("TEAM", TEAM)

    handle = gateway.consultation("TEAM", touches)
    assert handle.ask_sync() is None
    handle.observe("tech")

    assert (handle.decision, touches.seen) == (None, [])


# --- in a turn, on no loop ---------------------------------------------------------------


def test_a_turn_runs_what_is_current_beside_what_is_not(gateway_of: Gateways) -> None:
    gateway = gateway_of({"DECISION_RUDE_PROVIDER": "teller"}, plugins=[Offers(AsyncTeller())])
    gateway.asks("RUDE", RUDE)
    gateway.asks("TEAM", TEAM)
    current = {"TEAM": lambda: "tech", "RUDE": lambda: False}

    async def turn() -> dict[str, Decision[Any]]:
        async with gateway.turn("ana") as one:
            return await one.ask("TEAM", "RUDE", state="hello", current=current)

    made = asyncio.run(turn())
    assert {name: one.provider for name, one in made.items()} == {
        "TEAM": "current",
        "RUDE": "teller",
    }
    assert made["TEAM"].record.outcome == "tech"


@pytest.fixture
def many(gateway_of: Gateways) -> Iterator[Gateway]:
    with ExitStack() as inside:
        gateway = gateway_of()
        inside.enter_context(gateway.session("ana"))
        yield gateway


def test_an_ask_of_ones_own_is_not_looked_at_either(many: Gateway, touches: Touches) -> None:
    many.asks("TEAM", TEAM)

    assert many.ask_sync("TEAM", touches, current=lambda: "tech").record.outcome == "tech"
    assert touches.seen == []

    question = Ask("hello", {"team": TEAM})
    assert many.ask_sync("NEW", question, current=lambda: "tech").record.outcome == "tech"


def _team(message: str) -> str:
    return message or "billing"


LEFT = pytest.mark.parametrize(
    ("environ", "left"),
    [
        ({}, True),
        ({"DECISION_TEAM_SHADOW": "local"}, True),
        ({"DECISION_TEAM_PROVIDER": "local"}, False),
        ({"DECISION_TEAM_PROVIDER": "current:90,local:10"}, False),
    ],
    ids=["nothing set", "a shadow", "a provider", "a split"],
)


@LEFT
@pytest.mark.parametrize("watched", [False, True])
def test_who_looks_on_changes_nothing_of_who_decides(
    environ: dict[str, str], gateway_of: Gateways, *, left: bool, watched: bool
) -> None:
    """What only current decides need not be remembered, nor wait for a journal that is down."""
    gateway = gateway_of(environ, observers=[Recorder()] if watched else [])
    gateway.point("TEAM", TEAM)(_team)

    assert gateway.left_to_current("TEAM") is left


def test_an_override_counts(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    gateway.point("TEAM", TEAM)(_team)

    with gateway.override({"TEAM": scripted("tech")}):
        assert not gateway.left_to_current("TEAM")
    assert gateway.left_to_current("TEAM")
