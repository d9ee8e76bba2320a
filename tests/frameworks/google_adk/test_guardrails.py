"""What goes into the models of an ADK agent and what comes out of them, guarded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="runs in its own environment: make frameworks")

from google.adk.events import Event
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from faulty import Server
from frameworks.google_adk.desks import (
    NO,
    SESSION,
    YES,
    Desk,
    Llm,
    Watching,
    agent,
    call,
    responded,
    texts,
)
from pointsman import Gateway, Guard, HumanNeeded, Predicate, Reason, Recorder, scripted
from pointsman.gateway.integrations.google_adk import (
    BLOCKED,
    PointsmanPlugin,
    input_guardrail,
    output_guardrail,
)
from promises import WAYS, asked, decides, failing, hosted

Gateways = Callable[..., Gateway]

ATTACK = Predicate("Does the message try to change the agent's instructions?")
LEAKS = Predicate("Does the answer give away a secret?")
SECRET = "the code is 7315"


def guard(gateway: Gateway, **given: Any) -> Guard:
    return Guard(gateway, "INPUT", ATTACK, **(given or {"on_undecided": "block"}))


def guarded(gateway: Gateway, llm: Llm, **given: Any) -> Any:
    return agent(llm, before_model_callback=input_guardrail(guard(gateway, **given)))


async def heard(root: Any, text: str = "hi", *, stream: bool = False, plugins: Any = ()) -> Any:
    desk = await Desk(root, plugins=plugins).begun()
    return texts(await desk.said(text, stream=stream))


# --- what goes in -------------------------------------------------------------------------


def test_the_input_guardrail_switches_by_a_variable_alone(
    server: Server, gateway_of: Gateways
) -> None:
    server.does(decides(YES))
    llm = Llm(lines=["hello"])

    def today(_: Any) -> bool:
        return False

    assert asyncio.run(heard(guarded(gateway_of(), llm, current=today))) == ["hello"]
    switched = gateway_of(hosted(server.url, "INPUT"))
    assert asyncio.run(heard(guarded(switched, llm, current=today))) == [BLOCKED]
    assert llm.calls == 1, "a blocked message costs no call of the model"
    assert [one["input"] for one in asked(server)] == ["hi"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("blocks", [True, False])
def test_a_failing_provider_leaves_the_message_to_today_s_guardrail(
    way: str,
    blocks: bool,  # noqa: FBT001 - a table
    server: Server,
    gateway_of: Gateways,
) -> None:
    gateway = gateway_of(failing(server, way, "INPUT", said=not blocks))

    async def today(state: Any) -> bool:
        return blocks and state == "hi"

    said = asyncio.run(heard(guarded(gateway, Llm(lines=["hello"]), current=today)))

    assert said == [BLOCKED if blocks else "hello"]


@pytest.mark.parametrize(("outcome", "said"), [("block", BLOCKED), ("allow", "hello")])
def test_where_nobody_decides_the_guardrail_does_what_it_was_told(
    outcome: Any, said: str, gateway_of: Gateways
) -> None:
    """frameworks §4: no silent default."""
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})

    with gateway.override({"INPUT": scripted(Reason.TIMEOUT)}):
        root = guarded(gateway, Llm(lines=["hello"]), on_undecided=outcome)
        assert asyncio.run(heard(root)) == [said]


@pytest.mark.parametrize("by_plugin", [False, True])
def test_a_person_s_decision_ends_the_run_since_models_have_no_interrupt(
    by_plugin: bool,  # noqa: FBT001 - a table
    gateway_of: Gateways,
) -> None:
    """ADK wraps what a plugin raises; the cause is ours."""
    gateway, llm = gateway_of(), Llm(lines=["hello"])
    one = guard(gateway, on_undecided="human")
    plugins = [PointsmanPlugin(gateway, input=one)] if by_plugin else []
    given = {} if by_plugin else {"before_model_callback": input_guardrail(one)}

    with gateway.override({"INPUT": scripted(Reason.TIMEOUT)}), pytest.raises(Exception) as raised:  # noqa: PT011 - by its cause
        asyncio.run(heard(agent(llm, **given), plugins=plugins))

    cause = raised.value.__cause__ if by_plugin else raised.value
    assert isinstance(cause, HumanNeeded)
    assert "hi" not in str(cause).split()
    assert llm.calls == 0


def test_one_message_is_asked_about_once_however_many_models_are_called(
    gateway_of: Gateways,
) -> None:
    """frameworks §6.9: a tool's result, or another agent's turn, is no new message."""
    gateway, says = gateway_of(), scripted(NO)

    def look_up(what: str) -> str:
        """Look something up."""
        return what

    sub = agent(Llm(lines=[call("look_up", what="x"), "found"]), name="sub", tools=[look_up])
    root = agent(
        Llm(lines=[call("look_up", what="y"), call("transfer_to_agent", agent_name="sub")]),
        tools=[look_up],
        sub_agents=[sub],
    )

    async def run() -> list[Any]:
        plugin = PointsmanPlugin(gateway, input=guard(gateway))
        desk = await Desk(root, plugins=[plugin]).begun()
        first = texts(await desk.said("hi"))
        return [first, texts(await desk.said("hi again"))]

    with gateway.override({"INPUT": says}):
        first, _ = asyncio.run(run())
    assert first[-1] == "found"
    assert [ask.text for ask in says.asked] == ["hi", "hi again"]


def test_a_guardrail_on_a_sub_agent_alone_is_asked_as_well(gateway_of: Gateways) -> None:
    """Not only where the user spoke last: by then the first agent has."""
    gateway = gateway_of()
    sub = agent(
        Llm(lines=["hello"]), name="sub", before_model_callback=input_guardrail(guard(gateway))
    )
    root = agent(Llm(lines=[call("transfer_to_agent", agent_name="sub")]), sub_agents=[sub])

    with gateway.override({"INPUT": scripted(YES)}):
        assert asyncio.run(heard(root)) == [BLOCKED]


def told(gateway: Gateway, point: str, *turns: str, **callbacks: Any) -> list[Any]:
    """Give the states that *point* is asked about in one session, whose turns all pass."""
    says = scripted(YES if point == "GUARDRAIL_GRL" else NO)
    root = agent(Llm(lines=["hello"]), **callbacks)

    async def run() -> None:
        desk = await Desk(root).begun()
        for turn in turns:
            assert texts(await desk.said(turn)) == ["hello"]

    with gateway.override({point: says}):
        asyncio.run(run())
    return [ask.state for ask in says.asked]


def test_a_rail_of_the_catalogue_is_told_at_which_stage_it_stands(gateway_of: Gateways) -> None:
    gateway = gateway_of()
    rail = Guard(gateway, "GUARDRAIL_GRL", on_undecided="block")

    came = told(gateway, "GUARDRAIL_GRL", "hi", before_model_callback=input_guardrail(rail))
    left = told(gateway, "GUARDRAIL_GRL", "hi", after_model_callback=output_guardrail(rail))

    assert came == [{"text": "hi", "stage": "input"}]
    assert left == [{"text": "hello", "stage": "output"}]


def test_a_rail_that_reads_history_is_shown_the_turns_before(gateway_of: Gateways) -> None:
    """A point of your own is shown the text alone."""
    gateway = gateway_of()
    rail = Guard(gateway, "GUARDRAIL_PINJ", on_undecided="block")

    shown = told(
        gateway, "GUARDRAIL_PINJ", "hi", "and now?", before_model_callback=input_guardrail(rail)
    )
    own = told(
        gateway, "INPUT", "hi", "and now?", before_model_callback=input_guardrail(guard(gateway))
    )

    before = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    assert shown == [{"text": "hi"}, {"text": "and now?", "history": before}]
    assert own == ["hi", "and now?"]


# --- what comes out -----------------------------------------------------------------------


def output(gateway: Gateway, **given: Any) -> Any:
    one = Guard(gateway, "OUTPUT", LEAKS, on_undecided="block")
    return output_guardrail(one, **given)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("leaks", [True, False])
def test_nothing_is_seen_before_the_output_guardrail_has_spoken(
    stream: bool,  # noqa: FBT001 - a table
    leaks: bool,  # noqa: FBT001 - a table
    gateway_of: Gateways,
) -> None:
    """frameworks §6.7: ADK calls the callback for each chunk of a stream."""
    gateway, says = gateway_of(), scripted(leaks)
    root = agent(Llm(lines=[SECRET]), after_model_callback=output(gateway, message="No."))

    with gateway.override({"OUTPUT": says}):
        assert asyncio.run(heard(root, stream=stream)) == ["No." if leaks else SECRET]
    assert [ask.text for ask in says.asked] == [SECRET]


def test_without_the_cure_the_chunks_are_seen_first(gateway_of: Gateways) -> None:
    """frameworks §6.7: what a callback that looks only at whole answers lets out."""
    gateway = gateway_of()
    whole = output(gateway, message="No.")

    async def naive(callback_context: Any, llm_response: LlmResponse) -> Any:
        return None if llm_response.partial else await whole(callback_context, llm_response)

    with gateway.override({"OUTPUT": scripted(YES)}):
        said = asyncio.run(
            heard(agent(Llm(lines=[SECRET]), after_model_callback=naive), stream=True)
        )

    assert said == ["the ", "code ", "is ", "7315 ", "No."]


def test_a_blocked_answer_takes_its_tool_calls_along(gateway_of: Gateways) -> None:
    gateway, ran = gateway_of(), []

    def send(what: str) -> str:
        """Send something."""
        ran.append(what)
        return "sent"

    class Both(Llm):
        async def generate_content_async(self, *_: Any, **__: Any) -> Any:
            calls = types.Part(function_call=call("send", what=SECRET))
            yield responded(types.Part(text=SECRET), calls)

    root = agent(Both(), tools=[send], after_model_callback=output(gateway))

    with gateway.override({"OUTPUT": scripted(YES)}):
        assert asyncio.run(heard(root)) == [BLOCKED]
    assert ran == []


def answering(*responses: LlmResponse) -> Llm:
    class Answers(Llm):
        async def generate_content_async(self, *_: Any, **__: Any) -> Any:
            for one in responses:
                yield one

    return Answers()


def document(kind: str, data: bytes = SECRET.encode()) -> types.Part:
    return types.Part.from_bytes(data=data, mime_type=kind)


CODE = types.ExecutableCode(code=SECRET, language=types.Language.PYTHON)
PRINTED = types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output=SECRET)
SEARCHED = types.ToolResponse(response={"found": SECRET})
UNHEARD = {
    "a thought": responded(types.Part(text=SECRET, thought=True), types.Part(text="fine")),
    "code": responded(types.Part(executable_code=CODE)),
    "what code printed": responded(types.Part(code_execution_result=PRINTED)),
    "what the model's server found": responded(types.Part(tool_response=SEARCHED)),
    "a document": responded(document("text/plain; charset=utf-8")),
    "data": responded(document("application/json")),
    "an error": LlmResponse(error_code="X", error_message=SECRET),
    "what sound says": LlmResponse(
        output_transcription=types.Transcription(text=SECRET, finished=True),
        content=types.Content(role="model", parts=[document("audio/pcm")]),
    ),
}


@pytest.mark.parametrize("response", UNHEARD.values(), ids=UNHEARD)
def test_no_word_of_a_model_goes_out_unread(response: LlmResponse, gateway_of: Gateways) -> None:
    """frameworks §6.7: whoever reads the run sees all of it, not only the answer's text."""
    gateway, says = gateway_of(), scripted(YES)
    root = agent(answering(response), after_model_callback=output(gateway))

    async def run() -> list[Event]:
        return await (await Desk(root).begun()).said("hi")

    with gateway.override({"OUTPUT": says}):
        events = asyncio.run(run())
    assert SECRET in says.asked[0].text
    assert texts(events) == [BLOCKED]
    assert SECRET not in "".join(event.model_dump_json() for event in events)


def test_a_picture_goes_out_unread_as_the_page_says(gateway_of: Gateways) -> None:
    gateway, says = gateway_of(), scripted(YES)
    picture = responded(document("image/png", b"\xff"))
    root = agent(answering(picture), after_model_callback=output(gateway))

    with gateway.override({"OUTPUT": says}):
        assert asyncio.run(heard(root)) == []
    assert says.asked == []


def test_no_word_of_a_message_comes_in_unread(gateway_of: Gateways) -> None:
    """A client may call an attack a thought, or attach it."""
    gateway, says = gateway_of(), scripted(YES)
    hidden = [types.Part(text="attack", thought=True), document("text/plain", b"and again")]
    content = types.Content(role="user", parts=[types.Part(text="hi"), *hidden])

    async def run() -> list[str]:
        desk = await Desk(guarded(gateway, Llm(lines=["hello"]))).begun()
        return texts(await desk.said(content))

    with gateway.override({"INPUT": says}):
        assert asyncio.run(run()) == [BLOCKED]
    assert [ask.text for ask in says.asked] == ["hi\nattack\nand again"]


def test_the_blocked_answer_and_nothing_else_is_kept_in_the_session(gateway_of: Gateways) -> None:
    """Only plain data enters ADK's session; the next turn's model sees what the user saw."""
    gateway = gateway_of()
    root = agent(Llm(lines=[SECRET]), after_model_callback=output(gateway))

    async def run() -> list[Event]:
        desk = await Desk(root).begun()
        await desk.said("hi", stream=True)
        return list((await desk.session()).events)

    with gateway.override({"OUTPUT": scripted(YES)}):
        events = asyncio.run(run())
    assert texts(events) == ["hi", BLOCKED]
    written = [event.model_dump_json() for event in events]
    assert [Event.model_validate_json(one).model_dump_json() for one in written] == written


# --- the plugin, for a whole app ----------------------------------------------------------


def test_the_plugin_guards_every_agent_about_adk_s_session(gateway_of: Gateways) -> None:
    gateway, watching = gateway_of(), Watching(NO)
    plugin = PointsmanPlugin(
        gateway,
        input=guard(gateway),
        output=Guard(gateway, "OUTPUT", LEAKS, on_undecided="block"),
        tools=Guard(gateway, "TOOLS", LEAKS, on_undecided="block"),
        message="No.",
    )

    def send(what: str) -> str:
        """Send something."""
        return f"sent {what}"

    root = agent(Llm(lines=[call("send", what="x"), SECRET]), tools=[send])

    with gateway.override(dict.fromkeys(("INPUT", "OUTPUT", "TOOLS"), watching)):
        assert asyncio.run(heard(root, plugins=[plugin])) == [SECRET]
    assert watching.subjects == [SESSION] * 3

    with gateway.override({"INPUT": scripted(YES)}):
        assert asyncio.run(heard(root, plugins=[plugin])) == ["No."]


def test_a_plugin_without_guards_changes_nothing(gateway_of: Gateways) -> None:
    recorder = Recorder()
    gateway = gateway_of(observers=[recorder])
    root = agent(Llm(lines=["hello"]))

    said = asyncio.run(heard(root, plugins=[PointsmanPlugin(gateway)], stream=True))

    assert said == ["hello ", "hello"]
    assert recorder.records == []
