"""`Guard`: whether something is blocked, and that nothing passes because something failed."""

from __future__ import annotations

import asyncio
import functools
import pickle
from collections.abc import Callable
from pathlib import Path
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
OURS = {"DECISION_INBOX": "off"}  # who asks a person does so itself
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
    gateway = gateway_of({**OURS, "DECISION_FALLBACK_TO_CURRENT": fallback}, observers=[recorder])
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
    gateway = gateway_of(OURS)
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


# --- a state that cannot be sent ---------------------------------------------------------


NO_JSON = pytest.mark.parametrize(
    "held", [float("nan"), 1j, Path("a"), object()], ids=lambda held: type(held).__name__
)


@COLOURS
@NO_JSON
@pytest.mark.parametrize("fallback", ["true", "false"])
@pytest.mark.parametrize(("on_undecided", "blocked"), [("block", True), ("allow", False)])
def test_what_cannot_be_sent_ends_as_it_was_told(
    gateway_of: Gateways,
    colour: str,
    held: Any,
    fallback: str,
    on_undecided: Any,
    *,
    blocked: bool,
) -> None:
    """A tool may be called with anything; nobody is shown it, and it is recorded."""
    recorder, says = Recorder(), scripted(not blocked)
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": fallback}, observers=[recorder])
    guard = Guard(gateway, "RUDE", RUDE, on_undecided=on_undecided)

    with gateway.override({"RUDE": says}):
        ruling = ruled(guard, colour, {"tool": "pay", "arguments": {"to": held}})
    assert ruled(guard, colour, {"held": held}).blocked is blocked  # nobody is asked at all

    assert (ruling.blocked, ruling.decision.undecided) == (blocked, True)
    assert recorder.records[0] == ruling.decision.record
    assert [one.reason for one in ruling.decision.attempts] == [Reason.UNSUPPORTED]
    assert says.asked == []


@COLOURS
@NO_JSON
@pytest.mark.parametrize("said", [IS, IS_NOT])
def test_what_cannot_be_sent_is_for_today_or_for_a_person(
    gateway_of: Gateways, colour: str, held: Any, *, said: bool
) -> None:
    gateway, shown = gateway_of(OURS), list[Any]()
    state = {"held": held}

    def own(state: Any) -> bool:
        shown.append(state)
        return said

    today = Guard(gateway, "RUDE", RUDE, current=own)
    person = Guard(gateway, "UNSURE", RUDE, on_undecided="human")

    with gateway.override({"RUDE": scripted(not said), "UNSURE": scripted(not said)}):
        ruling = ruled(today, colour, state)
        with pytest.raises(HumanNeeded, match="unsupported"):
            ruled(person, colour, state)

    assert (ruling.blocked, ruling.decision.provider) == (said, "current")
    assert [one.reason for one in ruling.decision.attempts] == [Reason.UNSUPPORTED, Reason.OK]
    assert len(shown) == 1
    assert shown[0] is state


@pytest.mark.parametrize("point", [WITH_CODE, POLITE], ids=lambda one: one.name)
def test_an_undecided_outcome_keeps_the_shape_of_an_answer(
    gateway_of: Gateways, point: DecisionPoint
) -> None:
    """As where a provider fails: `write` is given the same, whatever went wrong."""
    gateway, written = gateway_of(), list[Any]()
    guard = Guard(gateway, point, on_undecided="block", write=written.append)

    with gateway.override({point.name: scripted(Reason.TIMEOUT)}):
        guard.rule_sync("x")
        guard.rule_sync({"x": 1j})

    assert written[0] == written[1]
    assert isinstance(written[0], dict if point is WITH_CODE else bool)


@COLOURS
@NO_JSON
def test_an_ask_and_a_consultation_carry_on_as_well(
    gateway_of: Gateways, colour: str, held: Any
) -> None:
    gateway, state = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "true"}), {"held": held}
    gateway.asks("TEAM", Choice("Which?", ["a", "b"]))
    gateway.asks("RUDE", RUDE)

    async def run() -> list[Any]:
        if colour == "async":
            return [
                await gateway.ask("TEAM", state, current=lambda: "a"),
                await gateway.ask("RUDE", state, on_undecided="allow"),
                await gateway.consult("TEAM", state),
            ]
        return [
            gateway.ask_sync("TEAM", state, current=lambda: "a"),
            gateway.ask_sync("RUDE", state, on_undecided="allow"),
            gateway.consult_sync("TEAM", state),
        ]

    with gateway.override({"TEAM": scripted("b"), "RUDE": scripted(IS)}):
        by_today, nobodys, consulted = asyncio.run(run())

    assert (by_today.value, by_today.provider) == ("a", "current")
    assert (nobodys.value, nobodys.undecided) == (False, True)
    assert consulted is None
    for one in (by_today, nobodys):
        assert one.attempts[0].reason is Reason.UNSUPPORTED


def test_where_nothing_ends_it_that_is_the_callers_error(gateway_of: Gateways) -> None:
    """A stand-in, asked the same, could not be sent it either; a server answers 400."""

    class Plugin:
        @hookimpl
        def pointsman_providers(self) -> list[Offer]:
            return [Offer("stand", lambda: lambda _: scripted(IS))]

    given: dict[str, Any] = {"plugins": [Plugin()], "stand_in": True}
    gateway = gateway_of({"CURRENT_PROVIDER": "stand"}, **given)
    point = gateway.asks("RUDE", RUDE)

    with pytest.raises(DeclarationError, match="is of type complex"):
        gateway.ask_sync("RUDE", {"held": 1j})
    with pytest.raises(DeclarationError, match="is of type complex"):
        gateway.prepared(point, {"held": 1j})
    decision = gateway.ask_sync("RUDE", {"held": 1j}, on_undecided="block")
    assert (decision.value, decision.undecided) == (True, True)


@COLOURS
def test_a_state_without_the_points_words_is_the_developers_error(
    gateway_of: Gateways, colour: str
) -> None:
    """It would be so for every call; the text names the field that was meant."""
    gateway = gateway_of()
    guard = Guard(gateway, "GUARDRAIL_TOX", on_undecided="allow")

    with (
        gateway.override({"GUARDRAIL_TOX": scripted(IS)}),
        pytest.raises(DeclarationError, match="Did you mean 'text' by 'texts'"),
    ):
        ruled(guard, colour, {"texts": "you fool"})


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
    ("word", "meant"),
    [("blok", "'block'"), ("alow", "'allow'"), ("humans", "'human'"), ("zq7", ""), (True, "")],
)
def test_a_word_for_what_happens_in_doubt_is_one_of_three(
    gateway_of: Gateways, word: Any, meant: str
) -> None:
    """Else nobody would find out before nobody decides, and then let it pass."""
    gateway = gateway_of()
    told = f"Did you mean {meant}" if meant else "got"

    with pytest.raises(DeclarationError, match=rf"^RUDE: `on_undecided` is .*{told}"):
        Guard(gateway, "RUDE", RUDE, on_undecided=word)
    with pytest.raises(DeclarationError, match=told):
        gateway.ask_sync("RUDE", Ask("x", {"q": RUDE}), on_undecided=word)
    with pytest.raises(DeclarationError, match=told):
        gateway.ask_sync("RUDE", Ask("x", {"q": RUDE}), current=lambda: IS, on_undecided=word)
    with pytest.raises(DeclarationError, match=told):
        DecisionPoint(name="RUDE", questions={"en": {"q": RUDE}}, on_undecided=word)


@pytest.mark.parametrize("current", [IS, "block", {}])
def test_a_current_is_a_function(gateway_of: Gateways, current: Any) -> None:
    with pytest.raises(DeclarationError, match=r"^RUDE: `current` is a function; got"):
        Guard(gateway_of(), "RUDE", RUDE, current=current)
    with pytest.raises(DeclarationError, match=r"^RUDE: `current` is a function; got"):
        gateway_of().ask_sync("RUDE", Ask("x", {"q": RUDE}), current=current)


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
        Guard(gateway_of(OURS), "RUDE", question, on_undecided="human")


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
    gateway = gateway_of(OURS)
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
    gateway = gateway_of(OURS)
    Guard(gateway, "RUDE", RUDE, on_undecided=how)
    switched = gateway_of({**OURS, "DECISION_RUDE_PROVIDER": "local"})
    Guard(switched, "RUDE", RUDE, on_undecided=how)

    (fault,) = gateway.check()

    assert fault.where == "DECISION_RUDE_PROVIDER"
    assert fault.problem == f"nobody decides RUDE: every call is {SAID[how]}"
    assert switched.check() == ()


@pytest.mark.parametrize("how", SAID)
@pytest.mark.parametrize("name", ["RUDE", "GUARDRAIL_TOX"])
def test_its_point_is_listed_with_what_happens_in_doubt(
    gateway_of: Gateways, name: str, how: Any
) -> None:
    """Whoever asks it by name, as a tool does, is told what the guardrail would do."""
    gateway = gateway_of(OURS)
    guard = Guard(gateway, name, RUDE if name == "RUDE" else None, on_undecided=how)

    assert gateway.points[name] is guard.point
    assert gateway.points[name].on_undecided == how
    if how != "human":
        value = gateway.ask_sync(name, "you fool").value
        assert value is (guard.point.blocks if how == "block" else not guard.point.blocks)


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
