"""The gate before a server's tools, on both servers and both generations of the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Literal, NamedTuple

import pytest

pytest.importorskip("mcp.server.context", reason="runs in its own environment: make frameworks")

import fastmcp
from fastmcp.exceptions import ToolError
from mcp import Client, MCPError
from mcp.server import Server as LowLevel
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.request_state import RequestStateSecurity
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListToolsResult,
    TextContent,
    Tool,
)

from faulty import Server
from pointsman import Gateway, Guard, Predicate, Reason, Recorder, SetupError, scripted
from pointsman.gateway.integrations.mcp import DENIED, ToolGate
from pointsman.gateway.integrations.mcp.fast import FastToolGate
from pointsman.gateway.integrations.mcp.gate import FAILED
from promises import WAYS, asked, decides, failing, hosted

POINT = "TOOL_GATE"
YES, NO = True, False
HARM = Predicate("Does this call do harm?")
SECRET = "kx3-secret-of-a-bug"

Kind = Literal["mcp", "fastmcp"]
Mode = Literal["auto", "legacy"]
EVERYWHERE = [(kind, mode) for kind in ("mcp", "fastmcp") for mode in ("auto", "legacy")]
everywhere = pytest.mark.parametrize(("kind", "mode"), EVERYWHERE)


class Person:
    """The one behind the client; `None` says that the client cannot ask."""

    def __init__(self, *says: object) -> None:
        self.says = list(says)
        self.asked: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None

    async def __call__(self, _: Any, form: Any) -> ElicitResult:
        self.asked.append(form.message)
        self.meanwhile()
        said = self.says.pop(0)
        if isinstance(said, bool):
            return ElicitResult(action="accept", content={"proceed": said})
        return ElicitResult(action=said)  # type: ignore[arg-type]


class Shop(NamedTuple):
    """A server with one tool that leaves a mark, behind a gate."""

    gateway: Gateway
    paid: list[float]
    server: Any

    @property
    def served(self) -> Any:
        """What the official client connects to."""
        return getattr(self.server, "_mcp_server", self.server)

    async def pays(self, amount: float, mode: Mode, person: Person | None = None) -> str:
        """Call the tool; give what came of it."""
        async with Client(self.served, mode=mode, elicitation_callback=person) as client:
            try:
                result = await client.call_tool("pay", {"amount": amount})
            except MCPError as error:  # inside: else the client's own tasks make it a group
                return str(error)
        return result.content[0].text if result.is_error else "paid"  # type: ignore[union-attr]

    def call(self, amount: float, mode: Mode, person: Person | None = None) -> str:
        return asyncio.run(self.pays(amount, mode, person))


def shop_of(kind: Kind, guard: Guard, **given: Any) -> Shop:
    """Open a shop whose tool is behind *guard*."""
    paid: list[float] = []

    async def pay(amount: float) -> str:
        paid.append(amount)
        return "paid"

    if kind == "mcp":
        server: Any = MCPServer("shop", log_level="CRITICAL", middleware=[ToolGate(guard, **given)])
        server.add_tool(pay)
    else:
        server = fastmcp.FastMCP("shop", middleware=[FastToolGate(guard, **given)])
        server.tool(pay)
    return Shop(guard.gateway, paid, server)


def person_guard(gateway: Gateway) -> Guard:
    return Guard(gateway, POINT, HARM, on_undecided="human")


@pytest.fixture
def gateway(gateway_of: Callable[..., Gateway]) -> Gateway:
    return gateway_of()


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() <= before + 8


# --- who decides -------------------------------------------------------------------------


@everywhere
def test_the_decision_switches_by_environment_alone(
    kind: Kind, mode: Mode, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """Today's rule lets 5 through and stops 500; the provider says the opposite."""
    server.does(decides(YES))

    def rule(state: Any) -> bool:
        return bool(state["arguments"]["amount"] > 100)

    today = shop_of(kind, Guard(gateway_of(), POINT, HARM, current=rule))
    env = hosted(server.url, POINT)
    switched = shop_of(kind, Guard(gateway_of(env), POINT, HARM, current=rule))

    assert [today.call(5, mode), today.call(500, mode)] != [DENIED, DENIED]
    assert today.paid == [5]
    assert DENIED in switched.call(5, mode)
    assert switched.paid == []


@everywhere
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_failing_provider_falls_back_to_todays_rule(
    kind: Kind,
    mode: Mode,
    way: str,
    colour: str,
    server: Server,
    gateway_of: Callable[..., Gateway],
) -> None:
    """In both colours of the rule; the middleware itself is async."""
    runs: list[Any] = []

    def rule(state: Any) -> bool:
        runs.append(state)
        return False

    async def later(state: Any) -> bool:
        return rule(state)

    gateway = gateway_of(failing(server, way, POINT, YES))
    current: Any = rule if colour == "sync" else later
    shop = shop_of(kind, Guard(gateway, POINT, HARM, current=current))

    assert shop.call(5, mode) == "paid"
    assert runs == [{"tool": "pay", "arguments": {"amount": 5}}]


@everywhere
@pytest.mark.parametrize(("said", "paid"), [("block", []), ("allow", [5])])
def test_a_new_gate_does_in_doubt_what_it_was_told(
    kind: Kind, mode: Mode, said: Any, paid: list[float], gateway: Gateway
) -> None:
    shop = shop_of(kind, Guard(gateway, POINT, HARM, on_undecided=said))

    with gateway.override({POINT: scripted(Reason.TIMEOUT)}):
        shop.call(5, mode)

    assert shop.paid == paid


@everywhere
def test_deciders_are_shown_the_call_as_state_and_nothing_of_it_as_instructions(
    kind: Kind, mode: Mode, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    server.does(decides(NO))
    shop = shop_of(
        kind, Guard(gateway_of(hosted(server.url, POINT)), POINT, HARM, on_undecided="block")
    )

    assert shop.call(5.25, mode) == "paid"

    (body,) = asked(server)
    assert json.loads(body["input"]) == {"tool": "pay", "arguments": {"amount": 5.25}}
    assert "5.25" not in json.dumps(body["questions"])


@everywhere
def test_tools_that_are_not_named_pass_unasked(kind: Kind, mode: Mode, gateway: Gateway) -> None:
    shop = shop_of(kind, Guard(gateway, POINT, HARM, on_undecided="block"), tools=["other"])
    says = scripted(YES)

    with gateway.override({POINT: says}):
        assert shop.call(5, mode) == "paid"

    assert says.asked == []


@pytest.mark.parametrize("gate", [ToolGate, FastToolGate])
@pytest.mark.parametrize(("tools", "told"), [("pay", "is a text"), ([], "names no tool")])
def test_names_that_guard_nothing_are_refused(
    gate: Any, tools: Any, told: str, gateway: Gateway
) -> None:
    """`"pay"` has the letters `p`, `a` and `y`, and would guard tools of these names."""
    with pytest.raises(SetupError, match=told):
        gate(Guard(gateway, POINT, HARM, on_undecided="block"), tools=tools)


@everywhere
def test_a_name_that_no_tool_has_is_told_once_when_the_tools_are_listed(
    kind: Kind,
    mode: Mode,
    gateway_of: Callable[..., Gateway],
    capfd: pytest.CaptureFixture[str],
) -> None:
    guard = Guard(gateway_of({"DECISION_LOG": "json"}), POINT, HARM, on_undecided="block")
    shop = shop_of(kind, guard, tools=iter(["pay", "pya"]))

    async def lists() -> None:
        async with Client(shop.served, mode=mode) as client:
            assert [one.name for one in (await client.list_tools()).tools] == ["pay"]
            await client.list_tools(cache_mode="bypass")

    asyncio.run(lists())

    told = capfd.readouterr().err
    assert told.count('"mcp.tool_unknown"') == 1
    assert '"tools":["pya"]' in told


def test_the_tools_of_a_mounted_server_have_its_prefix_before_the_gate(
    gateway_of: Callable[..., Gateway], capfd: pytest.CaptureFixture[str]
) -> None:
    """Documented: their bare names guard nothing, and the log tells so."""
    guard = Guard(gateway_of({"DECISION_LOG": "json"}), POINT, HARM, on_undecided="block")
    inner = shop_of("fastmcp", Guard(guard.gateway, POINT, HARM, on_undecided="allow"))

    async def pays(*tools: str) -> None:
        outer = fastmcp.FastMCP("mall", middleware=[FastToolGate(guard, tools=tools)])
        outer.mount(inner.server, namespace="shop")
        async with fastmcp.Client(outer) as client:
            assert [one.name for one in await client.list_tools()] == ["shop_pay"]
            await client.call_tool("shop_pay", {"amount": 1})

    asyncio.run(pays("pay"))
    assert inner.paid == [1]
    assert '"tools":["pay"]' in capfd.readouterr().err
    with pytest.raises(ToolError, match="stopped"):
        asyncio.run(pays("shop_pay"))
    assert "mcp.tool_unknown" not in capfd.readouterr().err


@everywhere
def test_a_stopped_call_tells_a_fixed_text_and_nothing_of_who_decided(
    kind: Kind, mode: Mode, gateway: Gateway
) -> None:
    shop = shop_of(kind, Guard(gateway, POINT, HARM, on_undecided="block"), message="not today")

    with gateway.override({POINT: scripted(YES)}):
        assert shop.call(5, mode) == "not today"

    assert shop.paid == []


@pytest.mark.parametrize(
    ("kind", "mode"),
    [one for one in EVERYWHERE if one != ("fastmcp", "auto")],  # it sends none in the process
)
def test_nothing_of_a_call_is_sent_before_it_is_let_through(
    kind: Kind, mode: Mode, gateway: Gateway
) -> None:
    """frameworks §6.7: no progress of it either."""
    told: list[float] = []

    async def progress(done: float, _: float | None, __: str | None) -> None:
        told.append(done)

    async def pay(amount: float, ctx: Context) -> str:
        await ctx.report_progress(amount)
        return "paid"

    guard = Guard(gateway, POINT, HARM, on_undecided="block")
    if kind == "mcp":
        server: Any = MCPServer("shop", log_level="CRITICAL", middleware=[ToolGate(guard)])
        server.add_tool(pay)
    else:
        pay.__annotations__["ctx"] = fastmcp.Context
        fast = fastmcp.FastMCP("shop", middleware=[FastToolGate(guard)])
        fast.tool(pay)
        server = fast._mcp_server

    async def calls() -> None:
        async with Client(server, mode=mode) as client:
            for amount in (1, 2):
                with contextlib.suppress(MCPError):
                    await client.call_tool("pay", {"amount": amount}, progress_callback=progress)

    with gateway.override({POINT: scripted(YES, NO)}):
        asyncio.run(calls())

    assert told == [2]


# --- nothing fails open ------------------------------------------------------------------


@everywhere
def test_a_bug_in_todays_rule_stops_the_call_and_its_text_reaches_neither_client_nor_log(
    kind: Kind,
    mode: Mode,
    gateway_of: Callable[..., Gateway],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """frameworks §6.6: on the old wire the SDK sends an exception's own text to the client."""

    def rule(_: Any) -> bool:
        raise ValueError(SECRET)

    shop = shop_of(kind, Guard(gateway_of({"DECISION_LOG": "json"}), POINT, HARM, current=rule))

    assert shop.call(5, mode) == FAILED
    assert shop.paid == []
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err
    assert '"mcp.gate_failed"' in told.err
    assert '"ValueError"' in told.err


@everywhere
def test_a_provider_without_answer_and_without_fallback_stops_the_call(
    kind: Kind, mode: Mode, gateway_of: Callable[..., Gateway]
) -> None:
    """frameworks §6.6."""
    gateway = gateway_of({f"DECISION_{POINT}_FALLBACK_TO_CURRENT": "false"})
    shop = shop_of(kind, Guard(gateway, POINT, HARM, current=lambda _: False))

    with gateway.override({POINT: scripted(Reason.TIMEOUT)}):
        assert shop.call(5, mode) == FAILED

    assert shop.paid == []


@everywhere
@pytest.mark.parametrize("breaks", ["raises", "is no text"])
def test_a_bug_in_what_a_person_is_asked_reaches_neither_client_nor_log(
    kind: Kind,
    mode: Mode,
    breaks: str,
    gateway_of: Callable[..., Gateway],
    capfd: pytest.CaptureFixture[str],
) -> None:
    """frameworks §6.6: the question is made within the guarded part as well."""

    def ask(_: Any) -> Any:
        if breaks == "raises":
            raise ValueError(SECRET)
        return {"no text": SECRET}

    person = Person(YES)
    shop = shop_of(kind, person_guard(gateway_of({"DECISION_LOG": "json"})), ask=ask)

    assert shop.call(5, mode, person) == FAILED
    assert shop.paid == []
    assert person.asked == []
    told = capfd.readouterr()
    assert SECRET not in told.out + told.err
    assert '"mcp.gate_failed"' in told.err


@pytest.mark.parametrize("kind", ["mcp", "fastmcp"])
def test_while_the_journal_is_down_a_call_is_stopped(
    kind: Kind,
    gateway_of: Callable[..., Gateway],
    tmp_path: Any,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """frameworks §6.1, §6.6: a ruling that cannot stand lets nothing run, though doubt would."""
    kept = tmp_path / "journal.db"
    gateway = gateway_of({"DECISION_JOURNAL": f"sqlite:///{kept}", "DECISION_LOG": "json"})
    shop = shop_of(kind, Guard(gateway, POINT, HARM, on_undecided="allow"))

    assert shop.call(1, "auto") == "paid"
    with contextlib.closing(sqlite3.connect(kept, timeout=30, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert shop.call(2, "auto") == FAILED

    assert shop.paid == [1]
    assert '"JournalDown"' in capfd.readouterr().err


def test_what_is_no_call_is_refused_before_anybody_is_asked(gateway: Gateway) -> None:
    """The SDK checks parameters behind the middleware only."""

    class Ctx:
        method, request_id, params = "tools/call", 1, {"name": "pay", "arguments": [1]}

    async def behind(_: Any) -> dict[str, Any]:
        raise AssertionError("it was let through")

    gate: Any = ToolGate(Guard(gateway, POINT, HARM, on_undecided="allow"))
    with pytest.raises(MCPError, match="names no tool"):
        asyncio.run(gate(Ctx(), behind))


def test_calls_within_the_process_pass_the_gate_of_fastmcp_too(gateway: Gateway) -> None:
    shop = shop_of("fastmcp", person_guard(gateway))

    with gateway.override({POINT: scripted(NO, YES)}):
        asyncio.run(shop.server.call_tool("pay", {"amount": 1}))
        with pytest.raises(ToolError, match="stopped"):
            asyncio.run(shop.server.call_tool("pay", {"amount": 2}))
    with pytest.raises(ToolError, match="stopped"):  # nobody decides, and no person is near
        asyncio.run(shop.server.call_tool("pay", {"amount": 3}))

    assert shop.paid == [1]


# --- a person ----------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize(
    ("says", "paid"), [(True, [5]), (False, []), ("decline", []), ("cancel", [])]
)
def test_where_nobody_decides_the_person_behind_the_client_does(
    kind: Kind, mode: Mode, says: object, paid: list[float], gateway: Gateway
) -> None:
    shop, person = shop_of(kind, person_guard(gateway)), Person(says)

    with gateway.override({POINT: scripted(Reason.TIMEOUT)}):
        told = shop.call(5, mode, person)

    assert shop.paid == paid
    assert paid or told == DENIED
    assert person.asked == ["May the tool 'pay' run with these arguments?\n{\"amount\": 5}"]


@everywhere
def test_a_client_that_cannot_ask_a_person_is_refused(
    kind: Kind, mode: Mode, gateway: Gateway
) -> None:
    shop = shop_of(kind, person_guard(gateway))

    assert shop.call(5, mode, None) == DENIED
    assert shop.paid == []


@everywhere
@pytest.mark.parametrize(("says", "paid"), [(False, []), (True, [5])])
def test_what_the_person_said_stands_though_the_decider_changes_its_mind_meanwhile(
    kind: Kind, mode: Mode, says: object, paid: list[float], gateway: Gateway
) -> None:
    """frameworks §6.1: the retry that brings the answer asks nobody again."""
    shop, person = shop_of(kind, person_guard(gateway)), Person(says)
    flipped = scripted(says)  # "harm" against the yes, "no harm" against the no
    layers: list[Any] = []

    def flip() -> None:
        layers.append(gateway.override({POINT: flipped}))
        layers[0].__enter__()

    person.meanwhile = flip
    with gateway.override({POINT: scripted(Reason.TIMEOUT)}):
        shop.call(5, mode, person)
    layers[0].__exit__(None, None, None)

    assert shop.paid == paid
    assert flipped.asked == []


@everywhere
def test_a_new_call_is_a_new_question_though_its_arguments_are_the_same(
    kind: Kind, mode: Mode, gateway: Gateway
) -> None:
    """Nothing that a client sends makes an approval serve twice."""
    shop, person = shop_of(kind, person_guard(gateway)), Person(YES, NO)

    assert [shop.call(5, mode, person), shop.call(5, mode, person)] == ["paid", DENIED]
    assert len(person.asked) == 2


@everywhere
def test_long_arguments_are_cut_and_said_to_be(kind: Kind, mode: Mode, gateway: Gateway) -> None:
    shop, person = shop_of(kind, person_guard(gateway)), Person(YES)

    async def long() -> None:
        async with Client(shop.served, mode=mode, elicitation_callback=person) as client:
            await client.call_tool("pay", {"amount": 5, "note": "x" * 9000})

    asyncio.run(long())

    assert "(the first 2000 of 9025 characters)" in person.asked[0]
    assert len(person.asked[0]) < 2200


@everywhere
def test_what_a_person_would_not_see_is_written_by_its_number(
    kind: Kind, mode: Mode, gateway: Gateway
) -> None:
    """Controls, and what turns the order of the text about, could make a call look harmless."""
    hidden = "a\u202egnp\u2066\x9b\x7f\u2028\u200b\U000e0041é漢"
    shop, person = shop_of(kind, person_guard(gateway)), Person(YES)

    async def call() -> None:
        async with Client(shop.served, mode=mode, elicitation_callback=person) as client:
            await client.call_tool("pay", {"amount": 5, "note": hidden})

    asyncio.run(call())

    shown = person.asked[0].split("\n", 1)[1]
    assert shown.isprintable()
    assert "a\\u202egnp\\u2066\\u009b\\u007f\\u2028\\u200b\\udb40\\udc41é漢" in shown
    assert json.loads(shown) == {"amount": 5, "note": hidden}


# --- rounds of one call ------------------------------------------------------------------


def asks_itself(rounds: list[tuple[str | None, list[str]]]) -> Callable[..., Awaitable[Any]]:
    """Make a tool that asks the person something of its own before it pays."""

    async def pay(amount: float, ctx: Context) -> Any:
        answers = ctx.input_responses or {}
        rounds.append((ctx.request_state, sorted(answers)))
        if "name" not in answers:
            form = ElicitRequestFormParams(
                message="Who?",
                requested_schema={"type": "object", "properties": {"proceed": {"type": "boolean"}}},
            )
            asked = {"name": ElicitRequest(params=form)}
            return InputRequiredResult(input_requests=asked, request_state=f"for {amount:g}")
        return f"paid {amount:g}"

    return pay


def asking_shop(kind: Kind, guard: Guard, rounds: list[tuple[str | None, list[str]]]) -> Any:
    if kind == "mcp":
        server: Any = MCPServer("shop", log_level="CRITICAL", middleware=[ToolGate(guard)])
        server.tool(name="pay")(asks_itself(rounds))
        return server
    pay: Any = asks_itself(rounds)
    pay.__annotations__["ctx"] = fastmcp.Context
    server = fastmcp.FastMCP("shop", middleware=[FastToolGate(guard)])
    server.tool(pay, name="pay", output_schema=None)
    return server._mcp_server


@pytest.mark.parametrize("kind", ["mcp", "fastmcp"])
@pytest.mark.parametrize("undecided", [0, 1])
def test_a_tool_that_asks_itself_finds_its_own_rounds_and_the_call_is_decided_once(
    kind: Kind, undecided: int, gateway: Gateway
) -> None:
    """frameworks §6.1, §6.5: our part travels in the sealed state, around the tool's own."""
    rounds: list[tuple[str | None, list[str]]] = []
    server = asking_shop(kind, person_guard(gateway), rounds)
    says = scripted(Reason.TIMEOUT if undecided else False)
    person = Person(*([True] * (1 + undecided)))

    async def call() -> Any:
        async with Client(server, elicitation_callback=person) as client:
            return await client.call_tool("pay", {"amount": 5})

    with gateway.override({POINT: says}):
        result = asyncio.run(call())

    assert "paid 5" in result.content[0].text
    assert rounds == [(None, []), ("for 5", ["name"])]
    assert len(says.asked) == 1
    assert len(person.asked) == 1 + undecided


@pytest.mark.parametrize("kind", ["mcp", "fastmcp"])
@pytest.mark.parametrize("answers", [True, False])
def test_a_client_that_brings_an_answer_to_what_nobody_asked_gains_nothing(
    kind: Kind, answers: object, gateway: Gateway
) -> None:
    """Its yes lifts only the question to a person; a decider that says no is not passed by."""
    shop = shop_of(kind, person_guard(gateway))
    yes = ElicitResult(action="accept", content={"proceed": True})

    async def forged() -> str:
        brought = {"pointsman": yes} if answers else None
        async with Client(shop.served) as client:
            try:
                result = await client.call_tool("pay", {"amount": 5}, input_responses=brought)
            except MCPError as error:
                return str(error)
        return result.content[0].text  # type: ignore[union-attr]

    with gateway.override({POINT: scripted(YES)}):
        assert asyncio.run(forged()) == DENIED

    assert shop.paid == []


@pytest.mark.parametrize(("says", "told"), [(YES, DENIED), (NO, "paid"), (None, "paid")])
def test_a_low_level_server_is_gated_and_a_state_that_it_does_not_seal_passes_no_decider_by(
    says: object, told: str, gateway: Gateway
) -> None:
    """A made-up state stands for a person's yes, which is the client's word anyway, and no more."""

    async def listed(_: Any, __: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="pay", input_schema={"type": "object"})])

    async def pay(_: Any, __: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(text="paid")])

    bare: LowLevel[Any] = LowLevel("bare", on_list_tools=listed, on_call_tool=pay)
    bare.middleware.append(ToolGate(person_guard(gateway)))
    forged = json.dumps({"pointsman": {"call": "0" * 32, "said": "yes"}, "state": None})

    async def call() -> str:
        async with Client(bare) as client:
            try:
                result = await client.call_tool("pay", {}, request_state=forged)
            except MCPError as error:
                return str(error)
        return result.content[0].text  # type: ignore[union-attr]

    with gateway.override({POINT: scripted(Reason.TIMEOUT if says is None else says)}):
        assert asyncio.run(call()) == told


def test_an_answered_call_survives_another_process_with_the_same_keys_and_journal(
    gateway_of: Callable[..., Gateway], tmp_path: Any
) -> None:
    """frameworks §6.1: the first process asks; the second, whose decider says no harm, heeds no."""
    keys = RequestStateSecurity(keys=["k" * 32])
    journal = {"DECISION_JOURNAL": f"sqlite:///{tmp_path}/journal.db"}
    paid: list[float] = []

    def process(gateway: Gateway) -> MCPServer[Any]:
        async def pay(amount: float) -> str:
            paid.append(amount)
            return "paid"

        gate = ToolGate(person_guard(gateway))
        server: MCPServer[Any] = MCPServer(
            "shop", log_level="CRITICAL", middleware=[gate], request_state_security=keys
        )
        server.add_tool(pay)
        return server

    async def first() -> tuple[str | None, Any]:
        async with Client(process(gateway_of(journal)), elicitation_callback=Person()) as client:
            asked = await client.session.call_tool("pay", {"amount": 5}, allow_input_required=True)
            assert isinstance(asked, InputRequiredResult)
            return asked.request_state, asked.input_requests

    state, questions = asyncio.run(first())
    assert list(questions) == ["pointsman"]

    async def second(*, yes: bool, says: bool) -> str:
        gateway = gateway_of(journal)
        reply = ElicitResult(action="accept", content={"proceed": yes})
        with gateway.override({POINT: scripted(says)}):
            async with Client(process(gateway), elicitation_callback=Person()) as client:
                try:
                    await client.call_tool(
                        "pay",
                        {"amount": 5},
                        request_state=state,
                        input_responses={"pointsman": reply},
                    )
                except MCPError as error:
                    return str(error)
        return "paid"

    assert asyncio.run(second(yes=False, says=False)) == DENIED
    assert paid == []
    assert asyncio.run(second(yes=True, says=True)) == "paid"  # the first one's doubt stands


# --- about whom --------------------------------------------------------------------------


@everywhere
def test_a_call_is_about_the_subject_that_it_is_given(
    kind: Kind, mode: Mode, gateway_of: Callable[..., Gateway]
) -> None:
    """A function of the context wins, then the gateway's session; else each call is its own."""
    calls = Calls()
    gateway = gateway_of({f"DECISION_{POINT}_PROVIDER": "calls"}, plugins=[calls])
    guard = Guard(gateway, POINT, HARM, on_undecided="block")

    shop_of(kind, guard, subject=lambda _: "customer-7").call(1, mode)
    with gateway.session("conversation-3"):
        shop_of(kind, guard).call(1, mode)
    shop_of(kind, guard).call(1, mode)
    shop_of(kind, guard).call(1, mode)

    named, bound, first, second = calls.subjects
    assert (named, bound) == ("customer-7", "conversation-3")
    assert first
    assert second
    assert first != second


class Calls:
    """A plug-in whose provider remembers whom it was asked about, and says no harm."""

    name = "calls"

    def __init__(self) -> None:
        from pointsman import Limits

        self.limits = Limits()
        self.subjects: list[str | None] = []

    def answer(self, ask: Any, call: Any) -> Any:
        from pointsman import Held, Reply

        self.subjects.append(call.subject)
        return Reply({name: Held(0.01) for name in ask.questions})

    from pointsman import hookimpl as _hookimpl

    @_hookimpl
    def pointsman_providers(self) -> list[Any]:
        from pointsman import Offer

        return [Offer("calls", lambda: lambda _: self)]


# --- what is written ---------------------------------------------------------------------


@everywhere
def test_neither_arguments_nor_key_reach_the_log(
    kind: Kind,
    mode: Mode,
    server: Server,
    gateway_of: Callable[..., Gateway],
    capfd: pytest.CaptureFixture[str],
) -> None:
    server.does(decides(NO, sure=0.55))
    env = {**hosted(server.url, POINT), "DECISION_LOG": "json"}
    recorder = Recorder()
    gateway = gateway_of(env, observers=[recorder])
    shop = shop_of(kind, person_guard(gateway))

    assert shop.call(4711.25, mode, Person(YES)) == "paid"

    told = capfd.readouterr()
    assert POINT in told.err
    assert "4711.25" not in told.err + told.out
    assert "zq7-planted-key" not in told.err + told.out
    assert all(record.point == POINT for record in recorder.records)
