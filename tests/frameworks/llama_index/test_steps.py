"""Workflow steps of LlamaIndex as decision points, over waits and restarts."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("workflows", reason="runs in its own environment: make frameworks")

from workflows import Context, Workflow, step
from workflows.events import (
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
)

from faulty import Server
from pointsman import (
    Call,
    Choice,
    DeclarationError,
    Gateway,
    Guard,
    HumanNeeded,
    Predicate,
    Reason,
    Recorder,
    Reply,
    SetupError,
    scripted,
)
from pointsman.gateway.integrations.llama_index import (
    PersonNeeded,
    approved,
    branch,
    event_call,
    person_needed,
)
from promises import WAYS, asked, decides, failing, hosted
from trialling import Kept

Gateways = Callable[..., Gateway]

TEAM = Choice("Which team?", {"billing": "Invoices", "technical": "Faults"})
RISKY = Predicate("Is this refund against the rules?")
YES, NO = True, False
MODULE = Gateway.from_env({"DECISION_LOG": "off"})


class Billing(Event):
    pass


class Technical(Event):
    pass


TEAMS = {"billing": Billing, "technical": Technical}
LENS = branch(TEAMS, field="text", session="conversation")


@MODULE.point("TEAM", TEAM, lens=LENS)
async def pickled(ev: StartEvent) -> Billing | Technical:  # noqa: ARG001 - today looks at nothing
    """Decide today."""
    return Billing()


def desk(gateway: Gateway, **given: Any) -> type[Workflow]:
    """A workflow as a host has it, whose branch is a decision point."""
    lens = given.pop("lens", LENS)

    class Desk(Workflow):
        @step
        @gateway.point("TEAM", TEAM, lens=lens, **given)
        async def pick(self, ev: StartEvent) -> Billing | Technical:
            """Decide today."""
            return Billing() if "invoice" in ev.text else Technical()

        @step
        async def billing(self, ev: Billing) -> StopEvent:
            return StopEvent(result="billing desk")

        @step
        async def technical(self, ev: Technical) -> StopEvent:
            return StopEvent(result="technical desk")

    return Desk


async def routed(gateway: Gateway, text: str = "my invoice", **given: Any) -> str:
    return str(await desk(gateway, **given)().run(text=text, conversation="conversation-7"))


# --- a branch -----------------------------------------------------------------------------


def test_a_branch_switches_by_a_variable_alone(server: Server, gateway_of: Gateways) -> None:
    server.does(decides("technical"))

    assert asyncio.run(routed(gateway_of())) == "billing desk"
    assert asyncio.run(routed(gateway_of(hosted(server.url, "TEAM")))) == "technical desk"
    assert [one["input"] for one in asked(server)] == ["my invoice"]


@pytest.mark.parametrize("way", WAYS)
def test_a_failing_provider_leaves_the_branch_to_its_step(
    way: str, server: Server, gateway_of: Gateways
) -> None:
    recorder = Recorder()
    variables = failing(server, way, "TEAM", "technical")

    assert asyncio.run(routed(gateway_of(variables, observers=[recorder]))) == "billing desk"
    assert [record.outcome for record in recorder.records] == ["billing"]


def test_what_llamaindex_reads_of_a_step_is_kept(gateway_of: Gateways) -> None:
    """frameworks §6.8: the edges are the events of the annotation; `@step` goes outermost."""
    gateway = gateway_of()
    workflow = desk(gateway)()

    assert set(workflow._get_steps()["pick"]._step_config.return_types) == {Billing, Technical}
    assert inspect.iscoroutinefunction(pickled)
    assert str(inspect.signature(pickled)) == "(ev: 'StartEvent') -> 'Billing | Technical'"
    assert pickle.loads(pickle.dumps(pickled)) is pickled


def test_a_sync_step_stays_sync_and_keeps_the_session(gateway_of: Gateways) -> None:
    """frameworks §6.4: LlamaIndex runs it on a thread, with the context of the run."""
    gateway, subjects = gateway_of(), []

    class Watching:
        says = scripted("technical")
        name, limits, model = "watching", says.limits, says.model

        def answer(self, ask: Any, call: Call) -> Reply:
            subjects.append(call.subject)
            return self.says.answer(ask, call)

    class Desk(Workflow):
        @step
        @gateway.point("TEAM", TEAM, lens=branch(TEAMS, field="text"))
        def pick(self, ev: StartEvent) -> Billing | Technical:
            return Billing()

        @step
        def end(self, ev: Billing | Technical) -> StopEvent:
            return StopEvent(result=type(ev).__name__)

    async def run() -> str:
        async with gateway.session("conversation-8"):
            return str(await Desk().run(text="my invoice"))

    with gateway.override({"TEAM": Watching()}):
        assert asyncio.run(run()) == "Technical"
        assert asyncio.run(routed(gateway)) == "technical desk"
    assert subjects == ["conversation-8", "conversation-7"], "bound, and a field of the event"


def test_all_fields_of_the_event_are_shown_where_none_is_named(gateway_of: Gateways) -> None:
    gateway, says = gateway_of(), scripted("technical")

    with gateway.override({"TEAM": says}):
        asyncio.run(routed(gateway, lens=branch(TEAMS)))
    (ask,) = says.asked
    assert ask.state == {"text": "my invoice", "conversation": "conversation-7"}


def test_a_field_that_is_no_json_is_shown_by_its_type(gateway_of: Gateways) -> None:
    gateway, says = gateway_of(), scripted("technical")

    async def run() -> None:
        start = {"text": "my invoice", "conversation": "s", "at": date(2026, 1, 31)}
        await desk(gateway, lens=branch(TEAMS))().run(**start, index=object())

    with gateway.override({"TEAM": says}):
        asyncio.run(run())
    (ask,) = says.asked
    assert ask.state["at"] == "2026-01-31"
    assert ask.state["index"] == "object"


def test_where_the_plan_is_current_nothing_is_touched(gateway_of: Gateways) -> None:
    gateway, touched = gateway_of(), []

    def noting(*_: Any, **__: Any) -> str:
        touched.append(1)
        return "hello"

    lens = type(LENS)(state=noting, session=noting, read=LENS.read, write=LENS.write)

    assert asyncio.run(routed(gateway, lens=lens)) == "billing desk"
    assert touched == []
    with gateway.override({"TEAM": scripted("technical")}):
        asyncio.run(routed(gateway, lens=lens))
    assert touched == [1, 1]


def test_an_event_without_the_field_is_left_to_its_step(gateway_of: Gateways) -> None:
    """A provider is not asked about nothing."""
    recorder, says = Recorder(), scripted("technical")
    gateway = gateway_of(observers=[recorder])

    with gateway.override({"TEAM": says}):
        lens = branch(TEAMS, field="txt")
        assert asyncio.run(routed(gateway, lens=lens)) == "billing desk"
    assert says.asked == []
    assert [record.reason for record in recorder.records] == [Reason.UNSUPPORTED]


def test_a_point_over_the_step_decorator_says_that_it_belongs_under_it() -> None:
    with pytest.raises(SetupError, match="under `@step`"):
        LENS.state("no event")


# --- a step that waits is run again -------------------------------------------------------


def waiting(gateway: Gateway, once: Any) -> type[Workflow]:
    """It decides, then waits for a person: LlamaIndex runs it again when they have answered."""

    class Waiting(Workflow):
        @gateway.point("TEAM", TEAM, lens=LENS, once=once)
        async def team(self, ev: StartEvent) -> Billing | Technical:
            return Billing()

        @step
        async def pick(self, ctx: Context, ev: StartEvent) -> StopEvent:
            team = type(await self.team(ev)).__name__
            asks = InputRequiredEvent(prefix=f"To {team}?")
            said = await ctx.wait_for_event(HumanResponseEvent, waiter_event=asks)
            return StopEvent(result=f"{team}: {said.response}")

    return Waiting


async def interrupted(workflow: Workflow, **given: Any) -> tuple[str, Any]:
    """Run until a person is asked; write the workflow down, and let go of it."""
    handler = workflow.run(**given)
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            written = json.dumps(handler.ctx.to_dict())
            await handler.cancel_run()
            return written, event
    raise AssertionError("nobody was asked")


async def resumed(workflow: Workflow, written: str, said: Event) -> str:
    handler = workflow.run(ctx=Context.from_dict(workflow, json.loads(written)))
    handler.ctx.send_event(said)
    return str(await handler)


START = {"text": "my invoice", "conversation": "conversation-7", "call": "call-1"}


def flipped(gateway: Gateway, once: Any) -> str:
    """Between the question and a person's answer the provider changes its mind."""
    workflow = waiting(gateway, once)

    async def run() -> str:
        with gateway.override({"TEAM": scripted("billing")}):
            written, event = await interrupted(workflow(), **START)
        assert event.prefix == "To Billing?"
        with gateway.override({"TEAM": scripted("technical")}):
            return await resumed(workflow(), written, HumanResponseEvent(response="yes"))

    return asyncio.run(run())


def test_a_person_s_yes_is_to_what_they_were_asked(gateway_of: Gateways) -> None:
    """frameworks §6.1: a step that waits decides before *and* after; `once` makes it one."""
    assert flipped(gateway_of(), event_call("call")) == "Billing: yes"


def test_without_the_cure_it_is_to_something_else(gateway_of: Gateways) -> None:
    """frameworks §6.1: LlamaIndex runs the step again from its first line."""
    assert flipped(gateway_of(), None) == "Technical: yes"


@pytest.mark.parametrize("call", ["cal", "nothing", "empty", "truth", "thing"])
def test_an_event_that_names_no_call_is_refused(call: str, gateway_of: Gateways) -> None:
    """One decision would stand for all of them, under the name of what is absent."""
    gateway, says = gateway_of(), scripted("technical")
    given = {"nothing": None, "empty": "", "truth": True, "thing": ["call-1"]}

    async def run() -> None:
        await desk(gateway, once=event_call(call))().run(**START, **given)

    with gateway.override({"TEAM": says}), pytest.raises(SetupError, match="names no call"):
        asyncio.run(run())
    assert says.asked == []


@dataclass
class Amount:
    euros: int


class Opaque:
    pass


def test_calls_with_other_arguments_are_decided_apart(gateway_of: Gateways) -> None:
    """frameworks §6.1: under one id too, and where both are shown alike."""
    gateway = gateway_of()

    async def decided(amount: object) -> str:
        once = event_call("call")
        return str(await desk(gateway, once=once)().run(**START, amount=amount))

    def under(says: str, amount: object) -> str:
        with gateway.override({"TEAM": scripted(says)}):
            return asyncio.run(decided(amount))

    assert under("billing", Amount(1)) == "billing desk"
    assert under("technical", Amount(1)) == "billing desk", "it stands"
    assert under("technical", Amount(9999)) == "technical desk"
    with pytest.raises(DeclarationError, match="Opaque"):
        under("technical", Opaque())


# --- approvals ----------------------------------------------------------------------------


def refunding(gateway: Gateway, paid: list[int], **given: Any) -> type[Workflow]:
    guard = Guard(gateway, "REFUND", RISKY, **given)

    class Refund(Workflow):
        @step
        async def pay(self, ctx: Context, ev: StartEvent) -> StopEvent:
            call = {"tool": "refund", "amount": ev.amount}
            if await approved(ctx, guard, call, call=ev.call):
                paid.append(ev.amount)
            return StopEvent(result="done")

    return Refund


REFUND = {"call": "call-1", "amount": 250}


@pytest.mark.parametrize(
    ("says", "outcome", "expected"),
    [
        (YES, "allow", []),
        (NO, "block", [250]),
        (Reason.TIMEOUT, "block", []),
        (Reason.TIMEOUT, "allow", [250]),
    ],
)
def test_what_the_guard_blocks_is_not_approved(
    says: Any, outcome: Any, expected: list[int], gateway_of: Gateways
) -> None:
    gateway, paid = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"}), []

    async def run() -> None:
        async with gateway.session("conversation-7"):
            await refunding(gateway, paid, on_undecided=outcome)().run(**REFUND)

    with gateway.override({"REFUND": scripted(says)}):
        asyncio.run(run())
    assert paid == expected


@pytest.mark.parametrize(("response", "expected"), [("Yes ", [250]), ("no", []), ("", [])])
def test_a_person_s_answer_counts_in_another_process(
    response: str, expected: list[int], tmp_path: Path, gateway_of: Gateways
) -> None:
    """frameworks §6.1, §6.5: written down as JSON, resumed under a provider that would allow it."""
    kept, paid = Kept(tmp_path), []

    async def before(gateway: Gateway) -> tuple[str, Any]:
        async with gateway.session("conversation-7"):
            workflow = refunding(gateway, paid, on_undecided="human")()
            return await interrupted(workflow, **REFUND)

    async def after(gateway: Gateway, written: str, waiter: str) -> None:
        said = HumanResponseEvent(waiter=waiter, response=response)
        async with gateway.session("conversation-7"):
            await resumed(refunding(gateway, paid, on_undecided="human")(), written, said)

    first = gateway_of(kept.variables)
    with first.override({"REFUND": scripted(Reason.TIMEOUT)}):
        written, event = asyncio.run(before(first))
    first.close()
    second, late = gateway_of(kept.variables), scripted(NO)
    with second.override({"REFUND": late}):
        asyncio.run(after(second, written, event.waiter))

    assert isinstance(event, PersonNeeded)
    assert event.point == "REFUND"
    assert paid == expected
    assert late.asked == [], "the person had been asked; no provider is any more"


def answering(yes: int) -> Callable[[Any], str]:
    """A person who says yes to the question of this number, and no to any other."""
    count = itertools.count(1)
    return lambda _: "yes" if next(count) == yes else "no"


async def answered(workflow: Workflow, says: Callable[[Any], str]) -> tuple[Any, int]:
    """Run with a person who answers; give the result, and how often they were asked."""
    handler, asked_for = workflow.run(), 0
    async for event in handler.stream_events():
        if isinstance(event, PersonNeeded):
            asked_for += 1
            said = HumanResponseEvent(waiter=event.waiter, response=says(event))
            handler.ctx.send_event(said)
    return await handler, asked_for


@pytest.mark.parametrize("yes", [1, 2])
def test_a_yes_to_one_call_approves_no_other(yes: int, gateway_of: Gateways) -> None:
    """frameworks §6.1: not under the same id either; LlamaIndex would give both one answer."""
    gateway = gateway_of()
    guard = Guard(gateway, "REFUND", RISKY, on_undecided="human")

    class Twice(Workflow):
        @step
        async def pay(self, ctx: Context, ev: StartEvent) -> StopEvent:
            amounts = (1, 9999)
            return StopEvent(
                result=[await approved(ctx, guard, {"amount": one}, call="c") for one in amounts]
            )

    async def run() -> tuple[Any, int]:
        async with gateway.session("conversation-7"):
            return await answered(Twice(), answering(yes))

    assert asyncio.run(run()) == ([yes == 1, yes == 2], 2)


class Amounts(Event):
    amount: int


class Paid(Event):
    amount: int
    by: bool


def test_calls_of_one_id_that_wait_together_are_answered_apart(gateway_of: Gateways) -> None:
    """frameworks §6.1: the second would wait for ever."""
    gateway = gateway_of()
    guard = Guard(gateway, "REFUND", RISKY, on_undecided="human")

    class Fan(Workflow):
        @step
        async def fan(self, ctx: Context, ev: StartEvent) -> Amounts | None:
            ctx.send_event(Amounts(amount=1))
            ctx.send_event(Amounts(amount=9999))

        @step(num_workers=2)
        async def pay(self, ctx: Context, ev: Amounts) -> Paid:
            by = await approved(ctx, guard, {"amount": ev.amount}, call="same")
            return Paid(amount=ev.amount, by=by)

        @step
        async def end(self, ctx: Context, ev: Paid) -> StopEvent | None:
            paid = ctx.collect_events(ev, [Paid] * 2)
            return StopEvent(result={one.amount: one.by for one in paid}) if paid else None

    async def run() -> tuple[Any, int]:
        async with gateway.session("conversation-7"):
            return await answered(Fan(timeout=20), answering(1))

    paid, asked_for = asyncio.run(run())
    assert asked_for == 2
    assert sorted(paid.values()) == [False, True]


def test_what_a_step_did_before_it_waits_is_done_again(gateway_of: Gateways) -> None:
    """Nothing of ours can take it back; the page says: one approval a step, and act after it."""
    gateway, done = gateway_of(), []
    guard = Guard(gateway, "REFUND", RISKY, on_undecided="human")

    class Early(Workflow):
        @step
        async def pay(self, ctx: Context, ev: StartEvent) -> StopEvent:
            done.append("before")
            await approved(ctx, guard, "a refund", call="c")
            done.append("after")
            return StopEvent()

    async def run() -> None:
        async with gateway.session("conversation-7"):
            await answered(Early(), answering(1))

    asyncio.run(run())

    assert done == ["before", "before", "after"]


def test_an_answer_to_another_call_approves_nothing(gateway_of: Gateways) -> None:
    gateway, paid = gateway_of(), []

    async def run() -> None:
        async with gateway.session("conversation-7"):
            workflow = refunding(gateway, paid, on_undecided="human")
            written, event = await interrupted(workflow(), **REFUND)
            other = event.waiter.replace("call-1", "call-2")
            assert other != event.waiter
            handler = workflow().run(ctx=Context.from_dict(workflow(), json.loads(written)))
            handler.ctx.send_event(HumanResponseEvent(waiter=other, response="yes"))
            handler.ctx.send_event(HumanResponseEvent(waiter=event.waiter, response="no"))
            await handler

    with gateway.override({"REFUND": scripted(Reason.TIMEOUT)}):
        asyncio.run(run())
    assert paid == []


def test_an_approval_without_a_session_is_refused(gateway_of: Gateways) -> None:
    """It could not stand: the call would be decided anew when it is resumed."""
    gateway, paid = gateway_of(), []

    async def run() -> None:
        await refunding(gateway, paid, on_undecided="block")().run(**REFUND)

    with gateway.override({"REFUND": scripted(NO)}), pytest.raises(Exception, match="session"):
        asyncio.run(run())
    assert paid == []


# --- a person, asked by an event ----------------------------------------------------------


def test_a_step_may_return_the_question_to_a_person(gateway_of: Gateways) -> None:
    """HumanNeeded becomes LlamaIndex's own event, which holds plain data."""
    gateway = gateway_of()
    gateway.asks("TEAM", TEAM)

    class Desk(Workflow):
        @step
        async def pick(self, ev: StartEvent) -> PersonNeeded | StopEvent:
            try:
                decision = await gateway.ask("TEAM", ev.text, on_undecided="human")
            except HumanNeeded as needed:
                return person_needed(needed, "Which team?")
            return StopEvent(result=decision.value)

        @step
        async def picked(self, ev: HumanResponseEvent) -> StopEvent:
            return StopEvent(result=f"a person: {ev.response}")

    async def run() -> tuple[Any, str]:
        handler = Desk().run(text="zq7-prompt")
        async for event in handler.stream_events():
            if isinstance(event, PersonNeeded):
                handler.ctx.send_event(HumanResponseEvent(response="technical"))
                return event, str(await handler)
        raise AssertionError("nobody was asked")

    with gateway.override({"TEAM": scripted(Reason.TIMEOUT)}):
        event, result = asyncio.run(run())
    assert result == "a person: technical"
    assert (event.prefix, event.point) == ("Which team?", "TEAM")
    assert "zq7" not in event.model_dump_json()


# --- what is streamed ---------------------------------------------------------------------


def test_a_guard_that_rules_before_the_stream_lets_nothing_out(gateway_of: Gateways) -> None:
    """frameworks §6.7: nothing stands between a step and its stream but the step itself."""
    gateway = gateway_of()
    guard = Guard(gateway, "LEAK", RISKY, on_undecided="block")

    class Chunk(Event):
        text: str

    class Answers(Workflow):
        @step
        async def answer(self, ctx: Context, ev: StartEvent) -> StopEvent:
            if ev.early:  # what the page warns of
                ctx.write_event_to_stream(Chunk(text="secret"))
            if (await guard.rule("secret")).blocked:
                return StopEvent(result="blocked")
            ctx.write_event_to_stream(Chunk(text="secret"))
            return StopEvent(result="secret")

    async def streamed(*, early: bool) -> list[str]:
        handler = Answers().run(early=early)
        return [one.text async for one in handler.stream_events() if isinstance(one, Chunk)]

    with gateway.override({"LEAK": scripted(YES)}):
        assert asyncio.run(streamed(early=False)) == []
        assert asyncio.run(streamed(early=True)) == ["secret"]
