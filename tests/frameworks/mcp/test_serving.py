"""Pointsman as a server: what a client is told, and what it is not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mcp.server.context", reason="runs in its own environment: make frameworks")

from mcp import Client

from faulty import PATIENCE, Server, hangs
from pointsman import DecisionPoint, Gateway, HumanNeeded, Predicate, Reason, SetupError, scripted
from pointsman.gateway.integrations.mcp.serving import Limits, server
from promises import WAYS, asked, decides, failing, hosted

RAIL = "GUARDRAIL_PINJ"
YES = True
CANARY = "kx3-canary-of-a-state"


def calls(gateway: Gateway, *given: tuple[str, dict[str, Any]], **more: Any) -> list[Any]:
    """Call tools one after the other; give each result."""

    async def all_of_them() -> list[Any]:
        async with Client(server(gateway, **more)) as client:
            return [await client.call_tool(*one) for one in given]

    return asyncio.run(asyncio.wait_for(all_of_them(), PATIENCE))


def fails(gateway: Gateway, tool: str, given: dict[str, Any], **more: Any) -> str:
    (result,) = calls(gateway, (tool, given), **more)
    assert result.is_error
    return str(result.content[0].text)


@pytest.fixture
def gateway(gateway_of: Callable[..., Gateway]) -> Gateway:
    return gateway_of(stand_in=True)


# --- deciding ----------------------------------------------------------------------------


def test_a_client_is_told_what_was_decided_by_whom_and_how_sure(gateway: Gateway) -> None:
    says = scripted(YES, confidence=0.93)

    with gateway.override({RAIL: says}):
        (result,) = calls(gateway, ("decide", {"point": RAIL, "state": "hello"}))

    told = result.structured_content
    assert len(told.pop("decision")) == 32
    assert told == {
        "point": RAIL,
        "value": True,
        "provider": "scripted",
        "confidence": 0.93,
        "reason": "ok",
        "undecided": False,
    }
    assert says.asked[0].state == {"text": "hello"}


def test_the_deciders_switch_by_environment_alone(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    server.does(decides(YES))
    given = ("decide", {"point": RAIL, "state": "hello", "subject": "s"})

    (today,) = calls(gateway_of(stand_in=True), given)
    (switched,) = calls(gateway_of(hosted(server.url, RAIL), stand_in=True), given)

    assert today.structured_content["provider"] != "jev"
    assert (switched.structured_content["provider"], switched.structured_content["value"]) == (
        "jev",
        True,
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_provider_falls_back_to_the_stand_in_once(
    way: str, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    gateway = gateway_of(failing(server, way, RAIL, YES), stand_in=True)

    (result,) = calls(gateway, ("decide", {"point": RAIL, "state": "hello"}))

    told = result.structured_content
    assert told["provider"] != "jev"
    assert told["reason"] != "ok"
    assert len(asked(server)) <= 1


def test_a_state_of_fields_is_decided_about_as_its_point_reads_it(gateway: Gateway) -> None:
    state = {
        "message": "my invoice doubled",
        "allowed_intents": [
            {"intent": "billing", "description": "Amounts"},
            {"intent": "tech", "description": "Faults"},
        ],
        "note": "not read",
    }
    says = scripted("billing")

    with gateway.override({"ROUTER": says}):
        (result,) = calls(gateway, ("decide", {"point": "router", "state": state}))

    assert result.structured_content["value"] == "billing"
    assert "note" not in json.dumps(says.asked[0].state)


def test_where_nobody_decides_the_client_is_told_so(gateway: Gateway) -> None:
    with gateway.override({RAIL: scripted(Reason.TIMEOUT)}):
        (result,) = calls(gateway, ("decide", {"point": RAIL, "state": "hello"}))

    assert result.structured_content["reason"] == "timeout"


def test_without_a_fallback_the_client_is_told_why_there_is_no_answer(
    gateway_of: Callable[..., Gateway],
) -> None:
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"}, stand_in=True)

    with gateway.override({"ROUTER": scripted(Reason.REFUSED), RAIL: scripted(Reason.REFUSED)}):
        said = fails(gateway, "decide", {"point": RAIL, "state": CANARY})

    assert "refused" in said
    assert CANARY not in said


# --- what a client cannot do -------------------------------------------------------------


def test_an_unknown_point_is_told_with_the_nearest_name(gateway: Gateway) -> None:
    for tool, more in (("decide", {"state": "x"}), ("explain", {})):
        said = fails(gateway, tool, {"point": "GUARDRAIL_PIN", **more})
        assert "did you mean GUARDRAIL_PINJ?" in said
    assert "x" * 200 not in fails(gateway, "explain", {"point": "x" * 200})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"point": "ROUTER", "state": {"zzz": CANARY}}, "ROUTER reads message"),
        ({"point": "ROUTER", "state": {"message": CANARY}}, "'allowed_intents'"),
        ({"point": RAIL, "state": CANARY * 100}, "at most 1000 characters"),
        ({"point": RAIL, "state": {"text": CANARY * 100}}, "at most 1000 characters"),
        ({"point": RAIL, "state": "x", "subject": CANARY * 100}, "at most 256 characters"),
    ],
)
def test_what_cannot_be_decided_about_is_refused_and_not_repeated(
    given: dict[str, Any], told: str, gateway: Gateway
) -> None:
    said = fails(gateway, "decide", given, limits=Limits(characters=1000))

    assert told in said
    assert CANARY not in said


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("decide", {"state": CANARY}, "`point` is missing"),
        ("decide", {"point": {CANARY: 1}, "state": CANARY}, "`point` is not what it should be"),
        ("decide", {"point": RAIL, "state": "x", "subject": [CANARY]}, "`subject` is not what"),
        ("count", {"every": {CANARY: CANARY}}, "`every` is not what it should be"),
    ],
)
def test_arguments_that_are_wrong_are_named_and_not_repeated(
    tool: str, given: dict[str, Any], told: str, gateway: Gateway
) -> None:
    """The SDK's own text has them, and its log the names within them."""

    def count(every: dict[str, int]) -> int:
        """Count."""
        return len(every)

    said = fails(gateway, tool, given, tools={"count": count})

    assert told in said
    assert CANARY not in said


def test_names_that_a_client_makes_up_are_no_points(gateway: Gateway) -> None:
    """Else each would be kept: a generic rail stands for every other name of its kind."""
    before = dict(gateway.points)

    said = fails(gateway, "decide", {"point": "GUARDRAIL_OF_MY_OWN", "state": "x"})

    assert "there is no decision point 'GUARDRAIL_OF_MY_OWN'" in said
    assert dict(gateway.points) == before


def test_a_decision_ends_in_the_time_that_a_client_may_take(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """Though the provider would be waited for longer than this test waits."""
    server.does(hangs())
    env = {**hosted(server.url, RAIL), "JEV_TIMEOUT_SECONDS": "300"}
    gateway = gateway_of(env, stand_in=True)
    given = ("decide", {"point": RAIL, "state": "hello"})

    (result,) = calls(gateway, given, limits=Limits(seconds=0.4))

    assert result.structured_content["reason"] == "timeout"


def test_a_fault_of_the_operators_is_not_told_to_a_client_but_to_the_log(
    gateway_of: Callable[..., Gateway], capsys: pytest.CaptureFixture[str]
) -> None:
    point = DecisionPoint(name="LONELY", questions={"en": {"so": Predicate("Is it so?")}})
    gateway = gateway_of({"DECISION_LOG": "json"})
    with pytest.raises(SetupError):
        asyncio.run(gateway.ask(point, "x"))

    said = fails(gateway, "decide", {"point": "LONELY", "state": CANARY})

    assert "its operator must act" in said
    told = capsys.readouterr()
    assert '"mcp.tool_failed"' in told.err
    assert CANARY not in told.err + told.out


def test_a_client_is_told_where_a_person_must_decide(gateway_of: Callable[..., Gateway]) -> None:
    questions = {"en": {"harm": Predicate("Does it do harm?")}}
    point = DecisionPoint(name="APPROVAL", questions=questions, on_undecided="human")
    gateway = gateway_of()
    with pytest.raises(HumanNeeded):
        gateway.ask_sync(point, "x")

    said = fails(gateway, "decide", {"point": "APPROVAL", "state": CANARY})

    assert "APPROVAL: a person must decide" in said
    assert CANARY not in said


# --- telling -----------------------------------------------------------------------------


def test_points_are_listed_with_their_decider_and_the_variable_that_said_so(
    gateway_of: Callable[..., Gateway],
) -> None:
    gateway = gateway_of({"DECISION_ROUTER_PROVIDER": "local"}, stand_in=True)

    (result,) = calls(gateway, ("points", {}))

    told = {one["point"]: one for one in result.structured_content["points"]}
    assert set(told) == set(gateway.points)
    assert told["ROUTER"] == {
        "point": "ROUTER",
        "asks": {"intent": "choice"},
        "provider": "local",
        "set_by": "DECISION_ROUTER_PROVIDER",
        "believed_from": 0.7,
    }
    assert told[RAIL]["set_by"] == "default"
    assert result.structured_content["current"] == "local"


@pytest.mark.parametrize("language", ["en", "pt"])
def test_every_point_is_explained_in_the_language_that_is_asked_in(
    language: str, gateway_of: Callable[..., Gateway]
) -> None:
    gateway = gateway_of({"DECISION_LANGUAGE": language}, stand_in=True)
    names = list(gateway.points)

    results = calls(gateway, *(("explain", {"point": name}) for name in names))

    for name, result in zip(names, results, strict=True):
        told = result.structured_content
        spoken = gateway.points[name].spoken(language)
        assert told["questions"].keys() == spoken.keys()
        assert all(
            told["questions"][one]["instructions"] == question.instructions
            for one, question in spoken.items()
        )
        assert f"DECISION_{name}_PROVIDER" in told["variables"]
        assert told["reads"] == list(gateway.points[name].reads)


def test_no_key_is_told(server: Server, gateway_of: Callable[..., Gateway]) -> None:
    gateway = gateway_of(hosted(server.url, *["ROUTER", RAIL]), stand_in=True)

    every = calls(gateway, ("points", {}), ("explain", {"point": RAIL}))

    assert not any("zq7-planted-key" in one.model_dump_json() for one in every)


# --- what plug-ins offer -----------------------------------------------------------------


def test_a_plug_ins_tool_is_offered_beside_ours(gateway: Gateway) -> None:
    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    async def later(words: str) -> str:
        """Shout."""
        return words.upper()

    offered = {"double": double, "later": later}
    both = calls(gateway, ("double", {"number": 4}), ("later", {"words": "so"}), tools=offered)

    assert [one.structured_content["result"] for one in both] == [8, "SO"]


def test_a_bug_in_a_plug_ins_tool_is_told_by_its_type_alone(
    gateway_of: Callable[..., Gateway], capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(words: str) -> str:
        """Break."""
        raise ValueError(words)

    gateway = gateway_of({"DECISION_LOG": "json"}, stand_in=True)
    said = fails(gateway, "broken", {"words": CANARY}, tools={"broken": broken})

    assert said == "Error executing tool broken: the tool failed"
    told = capsys.readouterr()
    assert '"ValueError"' in told.err
    assert CANARY not in told.err + told.out


@pytest.mark.parametrize(("name", "told"), [("decide", "itself"), ("odd", "cannot be offered")])
def test_a_tool_that_cannot_be_offered_is_an_error_at_start(
    name: str, told: str, gateway: Gateway
) -> None:
    odd: Any = (lambda x, *, _y: x) if name == "odd" else len

    with pytest.raises(SetupError, match=told):
        server(gateway, {name: odd})
