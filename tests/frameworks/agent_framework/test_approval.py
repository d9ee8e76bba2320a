"""Tool calls: ruled on before they run, by a rule that stands; a guard that fails stops the run."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "agent_framework.exceptions", reason="runs in its own environment: make frameworks"
)

from agent_framework import (
    Agent,
    AgentSession,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    MiddlewareFailure,
    ToolApprovalMiddleware,
    tool,
)

from faulty import Server
from frameworks.agent_framework.desks import SESSION, Bank, Words, answered, calls, resumed
from pointsman import Gateway, Guard, HumanNeeded, NoAnswer, Predicate, Reason, SetupError, scripted
from pointsman.gateway.integrations.agent_framework import (
    AUTO_APPROVAL,
    REFUSED,
    ApprovalMiddleware,
    SessionMiddleware,
    auto_approval,
    once_per_call,
)
from promises import WAYS, asked, decides, failing, hosted

POINT = "TOOL_GATE"
RISK = Predicate("Is this call risky?")
YES, NO = True, False


def quiet(**variables: str) -> Gateway:
    return Gateway.from_env({"DECISION_LOG": "off", "DECISION_INBOX": "off", **variables})


def large(state: Any) -> bool:
    return bool(state["arguments"]["amount"] > 100)


def gate(gateway: Gateway, **given: Any) -> Guard:
    return Guard(gateway, POINT, RISK, **(given or {"current": large}))


def desk(bank: Bank, *middleware: Any, replies: Any = None) -> Agent:
    replies = replies or [calls("refund", amount=500), "done"]
    return Agent(client=Words(*replies), tools=[bank.refund], middleware=list(middleware))


def session() -> AgentSession:
    return AgentSession(session_id=SESSION)


# --- the middleware --------------------------------------------------------------------------


def test_a_blocked_call_does_not_run_and_the_model_reads_why() -> None:
    bank = Bank()
    response = asyncio.run(
        desk(bank, ApprovalMiddleware(gate(quiet()))).run("x", session=session())
    )
    assert bank.refunded == []
    assert response.text == "done"
    results = [
        c.result for m in response.messages for c in m.contents if c.type == "function_result"
    ]
    assert results == [REFUSED]


def test_a_call_that_is_let_runs_as_today() -> None:
    bank = Bank()
    replies = [calls("refund", amount=5), "done"]
    asyncio.run(
        desk(bank, ApprovalMiddleware(gate(quiet())), replies=replies).run("x", session=session())
    )
    assert bank.refunded == [5]


def test_tools_that_are_not_named_are_left_alone() -> None:
    bank = Bank()
    middleware = ApprovalMiddleware(gate(quiet()), tools=["transfer"])
    asyncio.run(desk(bank, middleware).run("x", session=session()))
    assert bank.refunded == [500]


@pytest.mark.parametrize(
    ("tools", "told"), [("refund", r"tools=\['refund'\]"), ([], "names no tool")]
)
def test_names_that_guard_nothing_are_refused(tools: Any, told: str) -> None:
    """Each letter of a text would be a name, and its tool would run unruled."""
    with pytest.raises(SetupError, match=told):
        ApprovalMiddleware(gate(quiet()), tools=tools)


def test_a_name_that_no_tool_has_is_told_at_first_use(capfd: pytest.CaptureFixture[str]) -> None:
    bank = Bank()
    gateway = quiet(DECISION_LOG="json")
    wrong = ApprovalMiddleware(gate(gateway), tools=["refund", "refnd"])
    asyncio.run(desk(bank, wrong).run("x", session=session()))
    assert bank.refunded == []
    told = capfd.readouterr().err
    assert told.count('"agent_framework.tool_unknown"') == 1
    assert '"tools":["refnd"]' in told


class Broken:
    def __call__(self, state: object) -> bool:
        raise RuntimeError("kx3-secret-of-a-bug")


def test_a_guard_that_fails_aborts_the_run() -> None:
    """frameworks §6.6: another exception would become the tool's result, and the run goes on."""
    bank = Bank()
    broken = ApprovalMiddleware(gate(quiet(), current=Broken()))
    with pytest.raises(MiddlewareFailure, match=POINT) as caught:
        asyncio.run(desk(bank, broken).run("x", session=session()))
    assert "kx3" not in str(caught.value)
    assert bank.refunded == []


def test_without_that_cure_the_run_goes_on() -> None:
    """Why it is needed: the framework swallows what a function middleware raises."""

    class Naive(FunctionMiddleware):
        async def process(self, context: FunctionInvocationContext, call_next: Any) -> None:
            raise RuntimeError("the guard is down")

    assert asyncio.run(desk(Bank(), Naive()).run("x", session=session())).text == "done"


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_provider_falls_back_to_current(way: str) -> None:
    with Server() as server:
        bank = Bank()
        gateway = quiet(**failing(server, way, POINT, said=False))
        asyncio.run(desk(bank, ApprovalMiddleware(gate(gateway))).run("x", session=session()))
        assert bank.refunded == []


def test_a_variable_alone_switches_and_the_call_is_shown() -> None:
    with Server() as server:
        server.does(decides(said=False))
        bank = Bank()
        gateway = quiet(**hosted(server.url, POINT))
        asyncio.run(desk(bank, ApprovalMiddleware(gate(gateway))).run("x", session=session()))
        (body,) = asked(server)
    assert bank.refunded == [500]
    assert body["input"] == {"tool": "refund", "arguments": {"amount": 500}} or "refund" in str(
        body
    )


def test_a_person_is_asked_in_the_frameworks_own_way() -> None:
    bank = Bank()
    agent = desk(bank, ApprovalMiddleware(gate(quiet(), on_undecided="human")))
    here = session()
    response = asyncio.run(agent.run("x", session=here))
    (request,) = response.user_input_requests
    assert request.type == "function_approval_request"
    assert request.function_call is not None
    assert request.function_call.parse_arguments() == {"amount": 500}
    assert bank.refunded == []
    said = asyncio.run(agent.run(answered(request, approved=True), session=resumed(here)))
    assert bank.refunded == [500]
    assert said.text == "done"


def test_arguments_of_all_types_are_shown_and_kept_as_plain_json() -> None:
    """frameworks §6.5: a session is kept as JSON, also while a person is asked."""
    paid: list[Any] = []
    shown: list[Any] = []

    @tool(approval_mode="never_require")
    def pay(when: dt.date, kind: Kind, euros: Decimal) -> str:
        """Pay."""
        paid.append((when, kind, euros))
        return "paid"

    class Spy:
        name = "spy"
        limits = scripted(NO).limits

        def answer(self, ask: Any, call: Any) -> Any:
            shown.append(ask.state)
            raise NoAnswer(Reason.TIMEOUT)

    gateway = quiet()
    call = calls("pay", when="2026-11-30", kind="fast", euros="1.50")
    guarding = ApprovalMiddleware(gate(gateway, on_undecided="human"))
    agent = Agent(client=Words(call, "done"), tools=[pay], middleware=[guarding])
    here = session()
    with gateway.override({POINT: Spy()}):
        (request,) = asyncio.run(agent.run("x", session=here)).user_input_requests
    resumed(here)
    arguments = {"when": "2026-11-30", "kind": "fast", "euros": "1.50"}
    assert shown == [{"tool": "pay", "arguments": arguments}]
    assert request.function_call is not None
    assert request.function_call.parse_arguments() == arguments
    assert paid == []


class Kind(enum.Enum):
    """How something is paid."""

    FAST = "fast"


def test_a_person_who_says_no_is_obeyed_whatever_a_provider_says_by_then() -> None:
    """frameworks §6.1: the run is resumed, and the provider would let it now."""
    bank = Bank()
    gateway = quiet()
    agent = desk(bank, ApprovalMiddleware(gate(gateway, on_undecided="human")))
    here = session()
    (request,) = asyncio.run(agent.run("x", session=here)).user_input_requests
    with gateway.override({POINT: scripted(NO)}):
        asyncio.run(agent.run(answered(request, approved=False), session=resumed(here)))
    assert bank.refunded == []


def test_a_person_is_asked_while_streaming_too() -> None:
    bank = Bank()
    agent = desk(bank, ApprovalMiddleware(gate(quiet(), on_undecided="human")))

    async def run() -> list[Content]:
        stream = agent.run("x", session=session(), stream=True)
        async for _ in stream:
            pass
        return (await stream.get_final_response()).user_input_requests

    (request,) = asyncio.run(run())
    assert request.type == "function_approval_request"
    assert bank.refunded == []


def test_a_persons_approval_is_no_way_around_the_rail() -> None:
    """A tool with an approval of its own meets the middleware when it is replayed."""
    bank = Bank("always_require")
    agent = desk(bank, ApprovalMiddleware(gate(quiet())))
    here = session()
    (request,) = asyncio.run(agent.run("x", session=here)).user_input_requests
    asyncio.run(agent.run(answered(request, approved=True), session=resumed(here)))
    assert bank.refunded == []


def test_what_a_person_approved_runs_whatever_a_provider_says_by_then() -> None:
    """frameworks §6.1: that a person must decide stands, and the person has decided."""
    bank = Bank()
    gateway = quiet()
    agent = desk(bank, ApprovalMiddleware(gate(gateway, on_undecided="human")))
    here = session()
    (request,) = asyncio.run(agent.run("x", session=here)).user_input_requests
    with gateway.override({POINT: scripted(YES)}):
        asyncio.run(agent.run(answered(request, approved=True), session=resumed(here)))
    assert bank.refunded == [500]


def test_models_that_repeat_their_ids_are_asked_about_each_call() -> None:
    """Call ids are unique within a response only; the framework's own tell calls apart."""
    bank = Bank()
    gateway = quiet()
    replies = [calls("refund", "c1", amount=500), "one", calls("refund", "c1", amount=500), "two"]
    agent = desk(bank, ApprovalMiddleware(gate(gateway)), replies=replies)
    here = session()
    with gateway.override({POINT: scripted(YES)}):
        asyncio.run(agent.run("x", session=here))
    with gateway.override({POINT: scripted(NO)}):
        asyncio.run(agent.run("again", session=here))
    assert bank.refunded == [500]


def test_a_run_without_a_session_is_stopped_with_what_to_do() -> None:
    """A decision that is to stand has to be about somebody."""
    with pytest.raises(MiddlewareFailure) as caught:
        asyncio.run(desk(Bank(), ApprovalMiddleware(gate(quiet()))).run("x"))
    assert "session" in str(caught.value.__cause__)


# --- rules of automatic approval -------------------------------------------------------------


def ruled(bank: Bank, rule: Any, gateway: Gateway, *amounts: int) -> Agent:
    replies = [calls("refund", amount=amounts[0]), "done"]
    approval = ToolApprovalMiddleware(auto_approval_rules=[rule])
    return desk(bank, SessionMiddleware(gateway), approval, replies=replies)


def test_a_rule_under_the_point_approves_what_its_provider_lets() -> None:
    gateway = quiet()

    @gateway.point(POINT, Predicate("May it run unasked?"), lens=AUTO_APPROVAL, once=once_per_call)
    def small(call: Content) -> bool:
        return bool((call.parse_arguments() or {})["amount"] <= 100)

    bank = Bank("always_require")
    response = asyncio.run(ruled(bank, small, gateway, 500).run("x", session=session()))
    assert len(response.user_input_requests) == 1
    with gateway.override({POINT: scripted(YES)}):
        response = asyncio.run(ruled(bank, small, gateway, 500).run("x", session=session()))
    assert response.text == "done"
    assert bank.refunded == [500]


@pytest.mark.parametrize("stream", [False, True])
def test_a_guard_as_a_rule_asks_a_person_about_what_it_blocks(*, stream: bool) -> None:
    gateway = quiet()
    bank = Bank("always_require")
    agent = ruled(bank, auto_approval(gate(gateway)), gateway, 500)

    async def run() -> list[Content]:
        if not stream:
            return (await agent.run("x", session=session())).user_input_requests
        going = agent.run("x", session=session(), stream=True)
        async for _ in going:
            pass
        return (await going.get_final_response()).user_input_requests

    assert len(asyncio.run(run())) == 1
    assert bank.refunded == []


@pytest.mark.parametrize("stream", [False, True])
def test_what_it_does_not_block_runs_without_a_person(*, stream: bool) -> None:
    gateway = quiet()
    bank = Bank("always_require")
    agent = ruled(bank, auto_approval(gate(gateway)), gateway, 5)

    async def run() -> None:
        if not stream:
            await agent.run("x", session=session())
            return
        async for _ in agent.run("x", session=session(), stream=True):
            pass

    asyncio.run(run())
    assert bank.refunded == [5]


def test_where_a_person_must_decide_a_rule_approves_nothing() -> None:
    gateway = quiet()
    bank = Bank("always_require")
    agent = ruled(bank, auto_approval(gate(gateway, on_undecided="human")), gateway, 5)
    assert len(asyncio.run(agent.run("x", session=session())).user_input_requests) == 1


def flipped(rule: Any, gateway: Gateway) -> Any:
    """Ask a rule about one call twice; in between, the provider comes to say the contrary."""
    call = Content.from_function_call(
        call_id="c1", name="refund", arguments='{"amount": 500}', id="af-1"
    )

    async def twice() -> list[Any]:
        with gateway.session(SESSION):
            with gateway.override({POINT: scripted(YES)}):
                first = await rule(call)
            with gateway.override({POINT: scripted(NO)}):
                return [first, await rule(call)]

    return asyncio.run(twice())


def test_a_rule_that_is_asked_again_says_the_same() -> None:
    """frameworks §6.1: a call that waits in the queue is asked about again in each run."""
    gateway = quiet()
    assert flipped(auto_approval(gate(gateway)), gateway) == [False, False]


def test_it_stands_in_another_process(tmp_path: Path) -> None:
    journal = {"DECISION_JOURNAL": f"sqlite:///{tmp_path / 'decisions.db'}"}
    call = Content.from_function_call(call_id="c1", name="refund", arguments="{}", id="af-1")

    def said(answer: bool) -> bool:  # noqa: FBT001 - what the provider says
        gateway = quiet(**journal)
        rule = auto_approval(Guard(gateway, POINT, RISK, on_undecided="block"))

        async def once() -> bool:
            with gateway.session(SESSION), gateway.override({POINT: scripted(answer)}):
                return await rule(call)

        try:
            return asyncio.run(once())
        finally:
            gateway.close()

    assert said(answer=True) is False
    assert said(answer=False) is False


def test_human_needed_is_no_exception_of_the_rules_caller() -> None:
    gateway = quiet()
    guard = gate(gateway, on_undecided="human")
    with pytest.raises(HumanNeeded), gateway.session(SESSION):
        asyncio.run(guard.rule({"tool": "refund", "arguments": {}}))
