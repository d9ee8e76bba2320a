"""`Guard`: whether something is blocked, and that nothing passes because something failed."""

from __future__ import annotations

import asyncio
import functools
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from faulty import Server, replies
from pointsman import (
    Ask,
    Attempt,
    Call,
    Choice,
    DecisionPoint,
    DeclarationError,
    Gateway,
    Guard,
    Held,
    HumanNeeded,
    Limits,
    NoAnswer,
    Offer,
    PointsmanError,
    Predicate,
    Reason,
    Recorder,
    Reply,
    Ruling,
    SetupError,
    hookimpl,
    scripted,
)
from pointsman.decision_points import guardrail
from upstream import WAYS, asked, decides, failing, hosted

Gateways = Callable[..., Gateway]
RUDE = Predicate("Is it rude?")
IS, IS_NOT = True, False
COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])
POLITE = DecisionPoint(
    name="POLITE", questions={"en": {"polite": Predicate("Is it polite?")}}, blocks=False
)
WITH_CODE = DecisionPoint(
    name="CODED",
    questions={
        "en": {
            "bad": Predicate("Is it bad?"),
            "code": Choice("Why?", ["insult", "threat"], advisory=True),
        }
    },
)


def ruled(guard: Guard, colour: str, state: Any = "you fool", **given: Any) -> Ruling:
    if colour == "sync":
        return guard.rule_sync(state, **given)
    return asyncio.run(guard.rule(state, **given))


# --- what blocks -------------------------------------------------------------------------


@COLOURS
@pytest.mark.parametrize("said", [IS, IS_NOT])
def test_a_truth_blocks(gateway_of: Gateways, colour: str, *, said: bool) -> None:
    gateway = gateway_of()
    guard = Guard(gateway, "RUDE", RUDE, on_undecided="allow")

    with gateway.override({"RUDE": scripted(said)}):
        ruling = ruled(guard, colour)

    assert ruling.blocked is said
    assert (ruling.decision.value, ruling.decision.provider) == (said, "scripted")


@COLOURS
@pytest.mark.parametrize("point", [POLITE, guardrail("house rules")], ids=lambda one: one.name)
def test_a_point_may_say_that_a_falsehood_blocks(
    gateway_of: Gateways, colour: str, point: DecisionPoint
) -> None:
    """The generic rail of the catalogue asks what may pass."""
    gateway = gateway_of()
    guard = Guard(gateway, point, on_undecided="block")

    with gateway.override({point.name: scripted(IS)}):
        assert not ruled(guard, colour).blocked
    with gateway.override({point.name: scripted(IS_NOT)}):
        assert ruled(guard, colour).blocked
    assert ruled(guard, colour).blocked  # nobody is asked


@pytest.mark.parametrize("name", ["GUARDRAIL_PINJ", "GUARDRAIL_DLEX_OUT", "GUARDRAIL_HOUSE_RULES"])
def test_a_name_of_the_catalogue_is_enough(gateway_of: Gateways, name: str) -> None:
    """Also of those that ask for a reason besides, and of a generic one under its own name."""
    gateway = gateway_of()
    for on_undecided, blocked in (("block", True), ("allow", False)):
        guard = Guard(gateway, name, on_undecided=on_undecided)  # type: ignore[arg-type]
        assert guard.rule_sync("x").blocked is blocked
        said = scripted(Reply({}))
        with gateway.override({name: said}):
            assert guard.rule_sync("x").blocked is blocked
        assert len(said.asked) == 1


@COLOURS
@pytest.mark.parametrize("said", [IS, IS_NOT])
def test_what_is_asked_besides_blocks_nothing(
    gateway_of: Gateways, colour: str, *, said: bool
) -> None:
    gateway = gateway_of()
    guard = Guard(gateway, WITH_CODE, on_undecided="block")

    with gateway.override({"CODED": scripted({"bad": said, "code": "threat"})}):
        ruling = ruled(guard, colour)

    assert ruling.blocked is said
    assert ruling.decision.value == {"bad": said, "code": "threat"}


# --- where nobody decides ----------------------------------------------------------------


FAILS = [Reason.TIMEOUT, Reason.REFUSED, ValueError("a bug"), Held(0.5), Reply({})]


@COLOURS
@pytest.mark.parametrize("fails", FAILS, ids=str)
@pytest.mark.parametrize("fallback", ["true", "false"])
@pytest.mark.parametrize(("on_undecided", "blocked"), [("block", True), ("allow", False)])
def test_it_ends_as_it_was_told_however_the_provider_fails(
    gateway_of: Gateways,
    colour: str,
    fails: Any,
    fallback: str,
    on_undecided: Any,
    *,
    blocked: bool,
) -> None:
    """
    Frameworks §6.6: without a fallback too, no exception that a framework might swallow.

    One record, of a decision that nobody made.
    """
    recorder = Recorder()
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": fallback}, observers=[recorder])
    guard = Guard(gateway, "RUDE", RUDE, on_undecided=on_undecided)

    with gateway.override({"RUDE": scripted(fails)}):
        ruling = ruled(guard, colour)

    assert ruling.blocked is blocked
    assert ruling.decision.undecided
    (record,) = recorder.records
    assert record == ruling.decision.record
    assert (record.undecided, record.outcome, record.provider) == (True, blocked, "")
    assert len(record.attempts) == 1


@COLOURS
@pytest.mark.parametrize("fallback", ["true", "false"])
def test_a_stand_in_rules_only_where_falling_back_is_allowed(
    gateway_of: Gateways, colour: str, fallback: str
) -> None:
    """In a server a provider stands in for `current`; without a fallback it is not asked."""
    stand_in = scripted(IS_NOT)

    class Plugin:
        @hookimpl
        def pointsman_providers(self) -> list[Offer]:
            return [
                Offer("stand", lambda: lambda _: stand_in),
                Offer("fails", lambda: lambda _: scripted(Reason.TIMEOUT)),
            ]

    variables = {
        "CURRENT_PROVIDER": "stand",
        "DECISION_RUDE_PROVIDER": "fails",
        "DECISION_FALLBACK_TO_CURRENT": fallback,
    }
    gateway = gateway_of(variables, plugins=[Plugin()], stand_in=True)
    guard = Guard(gateway, "RUDE", RUDE, on_undecided="block")

    assert ruled(guard, colour).blocked is (fallback == "false")
    assert len(stand_in.asked) == (fallback == "true")


@COLOURS
@pytest.mark.parametrize("fallback", ["true", "false"])
@pytest.mark.parametrize("fails", [*FAILS, None], ids=str)
def test_a_person_is_asked_for(
    gateway_of: Gateways, colour: str, fails: Any, fallback: str
) -> None:
    """Recorded and collected first, then raised; what is raised says no word of the state."""
    recorder = Recorder()
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": fallback}, observers=[recorder])
    guard = Guard(gateway, "RUDE", RUDE, on_undecided="human")
    with (
        gateway.override({"RUDE": "current" if fails is None else scripted(fails)}),
        gateway.collect() as decisions,
        pytest.raises(HumanNeeded, match=r"^RUDE: a person must decide") as caught,
    ):
        ruled(guard, colour, "zq7-state")

    needed = caught.value
    (record,) = recorder.records
    assert (record.undecided, record.outcome, record.provider) == (True, None, "")
    assert [one.record for one in decisions] == [record]
    assert (needed.point, needed.id, needed.attempts) == ("RUDE", record.id, record.attempts)
    assert "zq7" not in str(needed)
    assert isinstance(needed, PointsmanError)
    again = pickle.loads(pickle.dumps(needed))
    assert (str(again), again.id, again.attempts) == (str(needed), needed.id, needed.attempts)


def test_a_person_may_be_asked_for_wherever_nobody_decides(gateway_of: Gateways) -> None:
    """`human` is for any point: a declaration of several questions says it too."""
    gateway = gateway_of()
    team = Ask("x", {"team": Choice("Which?", ["a", "b"]), "sure": RUDE})
    point = DecisionPoint(name="TEAM", questions={"en": team.questions}, on_undecided="human")

    with pytest.raises(HumanNeeded, match="TEAM"):
        gateway.ask_sync(point, "x")
    with pytest.raises(HumanNeeded, match="OTHER"):
        gateway.ask_sync("OTHER", team, on_undecided="human")
    with pytest.raises(DeclarationError, match="one predicate"):
        gateway.ask_sync("THIRD", team, on_undecided="block")
    assert gateway.ask_sync(point, "x", current=lambda: {"team": "a"}).provider == "current"


def test_human_needed_says_who_was_asked() -> None:
    attempts = [Attempt(provider="jev", reason=Reason.TIMEOUT)]

    assert str(HumanNeeded("RUDE", "1", attempts)) == (
        "RUDE: a person must decide; nobody else did: jev (timeout)"
    )
    assert str(HumanNeeded("RUDE", "1")).endswith("nobody was asked")


# --- beside a guardrail of today's -------------------------------------------------------


def own(state: Any) -> bool:
    return "fool" in state


async def own_async(state: Any) -> bool:
    await asyncio.sleep(0)
    return "fool" in state


CURRENTS = pytest.mark.parametrize(
    ("colour", "current"), [("sync", own), ("async", own), ("async", own_async)]
)


@CURRENTS
@pytest.mark.parametrize("fails", [*FAILS, "current"], ids=str)
def test_what_runs_today_decides_where_the_provider_does_not(
    gateway_of: Gateways, colour: str, current: Any, fails: Any
) -> None:
    gateway = gateway_of()
    guard = Guard(gateway, "RUDE", RUDE, current=current)

    with gateway.override({"RUDE": fails if fails == "current" else scripted(fails)}):
        bad, good = ruled(guard, colour, "you fool"), ruled(guard, colour, "you gem")

    assert (bad.blocked, good.blocked) == (True, False)
    assert (bad.decision.provider, bad.decision.value) == ("current", True)


@CURRENTS
def test_what_runs_today_is_not_run_where_the_provider_decides(
    gateway_of: Gateways, colour: str, current: Any
) -> None:
    gateway, ran = gateway_of(), list[Any]()

    def counted(state: Any) -> Any:
        ran.append(state)
        return current(state)

    guard = Guard(gateway, "RUDE", RUDE, current=counted)
    with gateway.override({"RUDE": scripted(IS_NOT)}):
        assert not ruled(guard, colour).blocked
    assert ran == []


@COLOURS
def test_without_a_fallback_the_hosts_own_policy_decides(gateway_of: Gateways, colour: str) -> None:
    """With a current nothing was said of what happens where nobody decides."""
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    guard = Guard(gateway, "RUDE", RUDE, current=own)

    with gateway.override({"RUDE": scripted(Reason.TIMEOUT)}), pytest.raises(NoAnswer):
        ruled(guard, colour)


@COLOURS
@pytest.mark.parametrize("value", [None, "no", 0, {"bad": False}, {}])
def test_an_outcome_of_today_that_is_no_truth_blocks(
    gateway_of: Gateways, colour: str, value: Any
) -> None:
    """A guardrail that forgets to return lets nothing pass."""
    guard = Guard(gateway_of(), "RUDE", RUDE, current=lambda _: value)

    assert ruled(guard, colour).blocked


@COLOURS
def test_what_today_raises_is_its_own(gateway_of: Gateways, colour: str) -> None:
    def fails(state: Any) -> bool:
        raise ZeroDivisionError(state)

    with pytest.raises(ZeroDivisionError):
        ruled(Guard(gateway_of(), "RUDE", RUDE, current=fails), colour)


@pytest.mark.parametrize(
    "provider", ["current", scripted(Reason.TIMEOUT)], ids=["current", "fails"]
)
def test_an_async_current_needs_a_loop(gateway_of: Gateways, provider: Any) -> None:
    """Never a coroutine taken for an answer: it would be no truth, and nothing would await it."""
    gateway = gateway_of()
    guard = Guard(gateway, "RUDE", RUDE, current=own_async)

    with (
        gateway.override({"RUDE": provider}),
        pytest.raises(SetupError, match=r"await guard\.rule"),
    ):
        guard.rule_sync("x")


@COLOURS
def test_a_current_of_a_point_with_a_reason_answers_alone_or_with_it(
    gateway_of: Gateways, colour: str
) -> None:
    for value in (True, False, {"bad": True, "code": "insult"}, {"bad": False, "code": None}):
        guard = Guard(gateway_of(), WITH_CODE, current=functools.partial(fixed, value))
        assert ruled(guard, colour).blocked is (value["bad"] if isinstance(value, dict) else value)


def fixed(value: Any, _: Any) -> Any:
    return value


# --- over a real server ------------------------------------------------------------------


@COLOURS
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("on_undecided", "blocked"), [("block", True), ("allow", False)])
def test_a_server_that_fails_changes_nothing_of_that(
    server: Server,
    gateway_of: Gateways,
    colour: str,
    way: str,
    on_undecided: Any,
    *,
    blocked: bool,
) -> None:
    """What it would have said is the opposite, so that a leak of it would be seen."""
    gateway = gateway_of(failing(server, way, "RUDE", said=not blocked))
    guard = Guard(gateway, "RUDE", RUDE, on_undecided=on_undecided)

    ruling = ruled(guard, colour)

    assert ruling.blocked is blocked
    assert ruling.decision.undecided
    assert ruling.decision.attempts[0].provider == "jev"


@COLOURS
def test_a_variable_alone_switches(server: Server, gateway_of: Gateways, colour: str) -> None:
    server.does(decides(IS), replies(b"down", 500))
    guard = Guard(gateway_of(hosted(server.url, "RUDE")), "RUDE", RUDE, on_undecided="allow")

    assert ruled(guard, colour, {"text": "you fool"}).blocked
    assert not ruled(guard, colour, {"text": "you fool"}).blocked

    assert [one["input"] for one in asked(server)] == ['{"text":"you fool"}'] * 2


# --- what a guardrail is made of ---------------------------------------------------------


@pytest.mark.parametrize(
    "given", [{}, {"on_undecided": "block", "current": own}], ids=["neither", "both"]
)
def test_there_is_no_silent_default(gateway_of: Gateways, given: Any) -> None:
    with pytest.raises(SetupError, match='on_undecided="block"'):
        Guard(gateway_of(), "RUDE", RUDE, **given)


@pytest.mark.parametrize(
    "question",
    [
        Choice("Which?", ["a", "b"]),
        {"one": RUDE, "two": RUDE},
        {"one": Choice("Which?", ["a", "b"]), "why": Predicate("?", advisory=True)},
    ],
)
def test_a_guardrail_asks_one_predicate(gateway_of: Gateways, question: Any) -> None:
    with pytest.raises(SetupError, match="one Predicate"):
        Guard(gateway_of(), "RUDE", question, current=own)
    with pytest.raises(PointsmanError, match="predicate"):
        Guard(gateway_of(), "RUDE", question, on_undecided="block")
    with pytest.raises(SetupError, match="one Predicate"):
        Guard(gateway_of(), "RUDE", question, on_undecided="human")


def test_an_unknown_name_needs_a_question(gateway_of: Gateways) -> None:
    with pytest.raises(SetupError, match="no such point"):
        Guard(gateway_of(), "RUDE", on_undecided="block")


@COLOURS
def test_write_gives_the_value_and_not_the_ruling(gateway_of: Gateways, colour: str) -> None:
    gateway = gateway_of()
    words = {True: "stop", False: "go"}
    guard = Guard(gateway, "RUDE", RUDE, on_undecided="block", write=words.__getitem__)

    with gateway.override({"RUDE": scripted(IS_NOT)}):
        ruling = ruled(guard, colour)

    assert (ruling.blocked, ruling.decision.value) == (False, "go")
    assert ruled(guard, colour).decision.value == "stop"


@COLOURS
def test_the_subject_is_the_given_or_the_sessions(gateway_of: Gateways, colour: str) -> None:
    seen: list[str | None] = []

    class Sees:
        name, limits = "sees", Limits()

        def answer(self, ask: Ask, call: Call) -> Reply:
            seen.append(call.subject)
            return Reply(dict.fromkeys(ask.questions, Held(0.9)))

    gateway = gateway_of()
    guard = Guard(gateway, "RUDE", RUDE, on_undecided="block")
    with gateway.override({"RUDE": Sees()}), gateway.session("s-1"):
        ruled(guard, colour, subject="s-2")
        ruled(guard, colour)

    assert seen == ["s-2", "s-1"]


# --- once --------------------------------------------------------------------------------


@COLOURS
@pytest.mark.parametrize("how", ["block", "allow", "human", "current"])
def test_a_ruling_stands(gateway_of: Gateways, colour: str, how: Any) -> None:
    """Frameworks §6.1: what was ruled of a call is ruled of it again, whoever decides by then."""
    gateway = gateway_of()
    given: dict[str, Any] = {"current": own} if how == "current" else {"on_undecided": how}
    guard = Guard(gateway, "RUDE", RUDE, **given)
    call: dict[str, Any] = {"subject": "s", "once": ("call-1", {"to": "you"})}

    def outcome(**given: Any) -> object:
        try:
            return ruled(guard, colour, **given).blocked
        except HumanNeeded as needed:
            return needed.id

    first = outcome(**call)
    with gateway.override({"RUDE": scripted(first is not True)}):
        assert outcome(**call) == first
        assert outcome(subject="s", once=("call-2", {})) is (first is not True)


@COLOURS
def test_once_needs_a_subject(gateway_of: Gateways, colour: str) -> None:
    guard = Guard(gateway_of(), "RUDE", RUDE, on_undecided="block")

    with pytest.raises(SetupError, match="subject"):
        ruled(guard, colour, once=("call-1", {}))


# --- that nobody decides is said ---------------------------------------------------------


SAID = {"block": "blocked", "allow": "allowed", "human": "left to a person"}


@pytest.mark.parametrize("how", SAID)
def test_check_says_where_nobody_decides(gateway_of: Gateways, how: Any) -> None:
    """A new guardrail under `current` is no guardrail yet."""
    gateway = gateway_of()
    Guard(gateway, "RUDE", RUDE, on_undecided=how)
    switched = gateway_of({"DECISION_RUDE_PROVIDER": "local"})
    Guard(switched, "RUDE", RUDE, on_undecided=how)

    (fault,) = gateway.check()

    assert fault.where == "DECISION_RUDE_PROVIDER"
    assert fault.problem == f"nobody decides RUDE: every call is {SAID[how]}"
    assert switched.check() == ()


def test_check_has_nothing_to_say_of_a_guardrail_of_today(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    Guard(gateway, "RUDE", RUDE, current=own).rule_sync("x")

    assert gateway.check() == ()


@pytest.mark.parametrize("form", ["guard", "ask"])
def test_the_first_decision_says_so_once(
    gateway_of: Gateways, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    """Where it is overridden somebody does decide, and nothing is said."""
    gateway = gateway_of({"DECISION_LOG": "json"})
    guard = Guard(gateway, "RUDE", RUDE, on_undecided="block")

    def decide() -> None:
        if form == "guard":
            guard.rule_sync("x")
        else:
            gateway.ask_sync("RUDE", "x", on_undecided="block")

    for _ in range(3):
        decide()
    assert capsys.readouterr().err.count("nobody decides RUDE") == 1

    gateway.reload()
    with gateway.override({"RUDE": scripted(IS)}):
        decide()
    assert "nobody decides" not in capsys.readouterr().err
    assert [fault.problem for fault in gateway.check()] == [
        "nobody decides RUDE: every call is blocked"
    ]
