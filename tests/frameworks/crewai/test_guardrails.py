"""Guardrails of tasks, and hooks: what stops a crew, and that nothing passes by a failure."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest

pytest.importorskip("crewai", reason="runs in its own environment: make frameworks")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.hooks import HookAborted, InterceptionPoint, LLMCallHookContext, before_tool_call, on
from crewai.tools import tool
from pydantic import BaseModel

from faulty import Server, hangs
from pointsman import Gateway, Guard, HumanNeeded, Predicate, Reason, scripted
from pointsman.gateway.integrations.crewai import (
    BLOCKED,
    FAILED,
    input_guardrail,
    model_guardrail,
    output_guardrail,
    task_guardrail,
    tool_guardrail,
)
from promises import KEY, WAYS, asked, decides, failing, hosted

POINT = "RAIL"
BAD = Predicate("Is it bad?")
SECRET = "kx3-secret-of-a-bug"
YES, NO = True, False

Colour = Literal["sync", "async", "thread"]
COLOURS = ("sync", "async", "thread")
colours = pytest.mark.parametrize("colour", COLOURS)
HOOKS = {
    InterceptionPoint.INPUT: input_guardrail,
    InterceptionPoint.PRE_MODEL_CALL: model_guardrail,
    InterceptionPoint.OUTPUT: output_guardrail,
}
hooks = pytest.mark.parametrize("point", HOOKS)


class Model(BaseLLM):
    """Says its lines, the last one again."""

    def __init__(self, *says: str) -> None:
        super().__init__(model="offline")
        self._says = list(says)
        self._calls = 0

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        said = self._says[min(self._calls, len(self._says) - 1)]
        self._calls += 1
        return said

    def supports_function_calling(self) -> bool:
        return False


def final(words: str) -> str:
    return f"Thought: done\nFinal Answer: {words}"


PAYS = 'Thought: pay\nAction: pay\nAction Input: {"amount": 5}'


class Desk:
    """A crew of one agent with one tool that leaves a mark."""

    def __init__(self, *says: str, model: type[Model] = Model, **given: Any) -> None:
        self.paid: list[int] = []

        @tool("pay")
        def pay(amount: int) -> str:
            """Pay."""
            self.paid.append(amount)
            return "paid"

        self.model = model(*(says or (final("hello"),)))
        agent = Agent(role="r", goal="g", backstory="b", tools=[pay], llm=self.model)
        self.task = Task(description="{text}", expected_output="e", agent=agent, **given)
        self.crew = Crew(agents=[agent], tasks=[self.task])

    def runs(self, colour: Colour = "sync") -> str:
        """Run the crew; give the result, or how it ended."""
        inputs = {"text": "my invoice"}
        try:
            if colour == "sync":
                return str(self.crew.kickoff(inputs=inputs).raw)
            run = self.crew.akickoff if colour == "async" else self.crew.kickoff_async
            return str(asyncio.run(_awaited(run(inputs=inputs))).raw)
        except HookAborted as stopped:
            return stopped.reason


async def _awaited(given: Any) -> Any:
    return await given


@pytest.fixture
def gateway(gateway_of: Callable[..., Gateway]) -> Gateway:
    return gateway_of()


# --- tasks -------------------------------------------------------------------------------


@colours
def test_a_tasks_guardrail_switches_by_environment_alone(
    colour: Colour, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """frameworks §6.3: it is sync also where a loop runs; the first answer is bad, says jev."""
    server.does(decides(YES), decides(NO))

    def today(gateway: Gateway) -> str:
        guard = Guard(gateway, POINT, BAD, current=lambda _: False)
        return Desk(final("one"), final("two"), guardrail=task_guardrail(guard)).runs(colour)

    assert today(gateway_of()) == "one"
    assert today(gateway_of(hosted(server.url, POINT))) == "two"
    assert [body["input"] for body in asked(server)] == ["one", "two"]


@colours
@pytest.mark.parametrize("way", WAYS)
def test_a_tasks_guardrail_falls_back_to_todays(
    colour: Colour, way: str, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    gateway = gateway_of(failing(server, way, POINT, YES))
    guard = Guard(gateway, POINT, BAD, current=lambda text: text == "one")

    desk = Desk(final("one"), final("two"), guardrail=task_guardrail(guard))

    assert desk.runs(colour) == "two"


def test_a_provider_that_hangs_holds_a_sync_seam_no_longer_than_its_timeout(
    server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """frameworks §6.3: the loop waits as long, and then today's guardrail decides."""
    server.does(hangs())
    env = {**hosted(server.url, POINT), "JEV_TIMEOUT_SECONDS": "0.3"}
    guard = Guard(gateway_of(env), POINT, BAD, current=lambda _: False)

    assert Desk(guardrail=task_guardrail(guard)).runs("async") == "hello"


@colours
def test_what_stays_bad_ends_the_task_with_the_fixed_text(colour: Colour, gateway: Gateway) -> None:
    guard = Guard(gateway, POINT, BAD, on_undecided="block")
    desk = Desk(guardrail=task_guardrail(guard, message="not so"), guardrail_max_retries=1)

    with pytest.raises(Exception, match=r"after 1 retries\. Last error: not so"):
        desk.runs(colour)


@colours
def test_where_a_person_must_decide_the_task_ends_with_that(
    colour: Colour, gateway: Gateway
) -> None:
    guard = Guard(gateway, POINT, BAD, on_undecided="human")

    with gateway.override({POINT: scripted(Reason.TIMEOUT)}), pytest.raises(HumanNeeded) as need:
        Desk(guardrail=task_guardrail(guard)).runs(colour)

    assert need.value.point == POINT


def test_the_annotation_is_one_that_crewai_takes(gateway: Gateway) -> None:
    """frameworks §6.8: it reads it raw; one written as a string is refused."""
    guard = Guard(gateway, POINT, BAD, on_undecided="allow")
    guardrail = task_guardrail(guard)

    assert Task(description="d", expected_output="e", guardrail=guardrail).guardrail is guardrail
    guardrail.__annotations__ = {"return": "tuple[bool, Any]"}
    with pytest.raises(ValueError, match="annotated"):
        Task(description="d", expected_output="e", guardrail=guardrail)


class Reply(BaseModel):
    words: str


def test_what_passes_is_parsed_as_the_task_says(gateway: Gateway) -> None:
    """CrewAI parses the text that a guardrail gives back; a whole output it takes unparsed."""
    guard = Guard(gateway, POINT, BAD, on_undecided="allow")
    desk = Desk('{"words": "hello"}', output_pydantic=Reply, guardrail=task_guardrail(guard))

    result = desk.crew.kickoff(inputs={"text": "x"})

    assert result.pydantic == Reply(words="hello")


def test_an_empty_output_that_passes_is_no_missing_one(gateway: Gateway) -> None:
    """`(True, None)` is an error of CrewAI's."""
    from crewai.lite_agent_output import LiteAgentOutput

    guardrail = task_guardrail(Guard(gateway, POINT, BAD, on_undecided="allow"))
    output = LiteAgentOutput.model_construct(raw="")

    assert guardrail(output) == (True, "")


def test_an_agents_guardrail_is_the_same(gateway: Gateway) -> None:
    guard = Guard(gateway, POINT, BAD, on_undecided="block")
    model = Model(final("one"), final("two"))
    agent = Agent(role="r", goal="g", backstory="b", llm=model, guardrail=task_guardrail(guard))

    with gateway.override({POINT: scripted(YES, NO)}):
        result: Any = agent.kickoff("hello")

    assert result.raw == "two"
    assert result.pydantic is None


def test_a_checkpoint_drops_a_tasks_guardrail_and_a_hook_stays(gateway: Gateway) -> None:
    """frameworks §6.5: documented; a rail that must survive a restore is a hook."""
    guard = Guard(gateway, POINT, BAD, on_undecided="block")
    desk = Desk(guardrail=task_guardrail(guard))

    with pytest.warns(UserWarning, match="will be dropped"):
        kept = desk.task.model_dump(mode="json", include={"guardrail"})
    assert kept == {"guardrail": None}

    on(InterceptionPoint.OUTPUT)(output_guardrail(guard))
    assert Desk().runs() == BLOCKED  # another crew, as one that was restored


# --- hooks -------------------------------------------------------------------------------


@hooks
@colours
def test_a_hook_stops_what_it_blocks_and_switches_by_environment_alone(
    point: InterceptionPoint,
    colour: Colour,
    server: Server,
    gateway_of: Callable[..., Gateway],
) -> None:
    server.does(decides(YES))
    today = Guard(gateway_of(), POINT, BAD, current=lambda _: False)
    switched = Guard(gateway_of(hosted(server.url, POINT)), POINT, BAD, current=lambda _: False)

    on(point)(HOOKS[point](today))
    assert Desk().runs(colour) == "hello"
    on(point)(HOOKS[point](switched, message="no"))
    desk = Desk()
    assert desk.runs(colour) == "no"

    assert desk.model._calls == (point is InterceptionPoint.OUTPUT)
    shown = {InterceptionPoint.OUTPUT: "hello"}.get(point, "my invoice")
    assert shown in asked(server)[0]["input"]


@hooks
def test_a_rail_of_the_catalogue_is_shown_the_words_that_it_reads(
    point: InterceptionPoint, gateway: Gateway
) -> None:
    says = scripted(NO)
    on(point)(HOOKS[point](Guard(gateway, "GUARDRAIL_PINJ", on_undecided="block")))

    with gateway.override({"GUARDRAIL_PINJ": says}):
        assert Desk().runs() == "hello"

    state: Any = says.asked[0].state
    shown = "hello" if point is InterceptionPoint.OUTPUT else "my invoice"
    assert shown in state["text"]
    assert "backstory" not in state["text"]


@hooks
@pytest.mark.parametrize("way", WAYS)
def test_a_hook_falls_back_to_todays_rule(
    point: InterceptionPoint,
    way: str,
    server: Server,
    gateway_of: Callable[..., Gateway],
) -> None:
    gateway = gateway_of(failing(server, way, POINT, YES))
    on(point)(HOOKS[point](Guard(gateway, POINT, BAD, current=lambda _: False)))

    assert Desk().runs() == "hello"


@hooks
@pytest.mark.parametrize("why", ["bug", "person", "no answer", "not set up"])
def test_no_failure_lets_through_what_a_hook_should_have_stopped(
    point: InterceptionPoint,
    why: str,
    gateway_of: Callable[..., Gateway],
    capfd: pytest.CaptureFixture[str],
) -> None:
    """frameworks §6.6: CrewAI swallows every exception of a hook but `HookAborted`."""

    def rule(_: Any) -> bool:
        if why == "bug":
            raise ValueError(SECRET)
        return False

    env = {f"DECISION_{POINT}_FALLBACK_TO_CURRENT": "false", "DECISION_LOG": "json"}
    gateway = gateway_of(env if why == "no answer" else {"DECISION_LOG": "json"})
    undecided: Any = {"on_undecided": "human"} if why == "person" else {"current": rule}
    guard = Guard(gateway, POINT, BAD, **undecided)
    state: Any = None if why != "not set up" else (lambda _: gateway.plan("NO_POINT_OF_THIS_NAME"))
    on(point)(HOOKS[point](guard, state=state))

    if why == "bug":
        told = Desk().runs()
    else:
        with gateway.override({POINT: scripted(Reason.TIMEOUT)}):
            told = Desk().runs()

    assert told == (BLOCKED if why == "person" else FAILED)
    written = capfd.readouterr()
    assert SECRET not in written.err + written.out
    assert ("crewai.hook_failed" in written.err) == (why != "person")


@colours
def test_a_tool_that_is_blocked_does_not_run(
    colour: Colour, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    """The agent is told so, and goes on."""
    server.does(decides(YES))
    guard = Guard(gateway_of(hosted(server.url, POINT)), POINT, BAD, on_undecided="block")
    before_tool_call(tool_guardrail(guard))
    desk = Desk(PAYS, final("could not"))

    assert desk.runs(colour) == "could not"

    assert desk.paid == []
    (body,) = asked(server)
    assert body["input"] == '{"arguments":{"amount":5},"tool":"pay"}'
    assert "5" not in str(body["questions"])


@pytest.mark.parametrize("way", WAYS)
def test_a_tools_rule_of_today_decides_where_the_provider_fails(
    way: str, server: Server, gateway_of: Callable[..., Gateway]
) -> None:
    gateway = gateway_of(failing(server, way, POINT, YES))
    guard = Guard(gateway, POINT, BAD, current=lambda call: call["arguments"]["amount"] > 100)
    on(InterceptionPoint.PRE_TOOL_CALL, tools=["pay"])(tool_guardrail(guard))
    desk = Desk(PAYS, final("paid it"))

    assert desk.runs() == "paid it"
    assert desk.paid == [5]


@pytest.mark.parametrize("why", ["bug", "person", "no subject"])
def test_no_failure_lets_a_tool_run(why: str, gateway: Gateway) -> None:
    """frameworks §6.6: a `HumanNeeded`, a bug or a fault of the set-up."""

    def rule(_: Any) -> bool:
        raise ValueError(SECRET)

    undecided: Any = {"current": rule} if why == "bug" else {"on_undecided": "human"}
    once: Any = (lambda _: ("id", {})) if why == "no subject" else None
    before_tool_call(tool_guardrail(Guard(gateway, POINT, BAD, **undecided), once=once))
    desk = Desk(PAYS, final("could not"))

    with gateway.override({POINT: scripted(NO)} if why == "no subject" else {}):
        assert desk.runs() == "could not"

    assert desk.paid == []


@pytest.mark.parametrize(("says", "paid"), [(YES, [5]), (NO, []), ("yes", [])])
def test_a_person_can_be_asked_about_a_tool(
    says: object, paid: list[int], gateway: Gateway
) -> None:
    """Only a true yes lets it run."""
    needs: list[tuple[str, str]] = []

    def person(need: HumanNeeded, context: Any) -> Any:
        needs.append((need.point, context.tool_name))
        return says

    guard = Guard(gateway, POINT, BAD, on_undecided="human")
    before_tool_call(tool_guardrail(guard, person=person))
    desk = Desk(PAYS, final("done"))
    with gateway.override({POINT: scripted(Reason.TIMEOUT)}):
        desk.runs()

    assert desk.paid == paid
    assert needs == [(POINT, "pay")]


@colours
def test_a_hook_is_about_the_session_around_the_crew(
    colour: Colour, gateway_of: Callable[..., Gateway]
) -> None:
    """frameworks §6.4: CrewAI's threads keep the context; a function of it wins."""
    calls = Calls()
    gateway = gateway_of({f"DECISION_{POINT}_PROVIDER": "calls"}, plugins=[calls])
    guard = Guard(gateway, POINT, BAD, on_undecided="block")
    before_tool_call(tool_guardrail(guard))
    on(InterceptionPoint.INPUT)(input_guardrail(guard, subject=lambda _: "customer-7"))
    desk = Desk(PAYS, final("done"), guardrail=task_guardrail(guard))

    with gateway.session("conversation-3"):
        assert desk.runs(colour) == "done"

    assert calls.subjects == ["customer-7", "conversation-3", "conversation-3"]


def test_a_call_with_an_id_is_decided_once(gateway: Gateway) -> None:
    """frameworks §6.1: for hosts that know one; CrewAI's own context has none."""
    guard = Guard(gateway, POINT, BAD, on_undecided="block")
    before_tool_call(
        tool_guardrail(
            guard, subject=lambda _: "s", once=lambda context: ("call-1", context.tool_input)
        )
    )
    says = scripted(YES, NO)

    with gateway.override({POINT: says}):
        first, second = Desk(PAYS, final("no")), Desk(PAYS, final("no"))
        first.runs()
        second.runs()

    assert first.paid + second.paid == []
    assert len(says.asked) == 1


def test_neither_what_is_shown_nor_the_key_reaches_the_log(
    server: Server, gateway_of: Callable[..., Gateway], capfd: pytest.CaptureFixture[str]
) -> None:
    server.does(decides(NO, sure=0.55))
    gateway = gateway_of({**hosted(server.url, POINT), "DECISION_LOG": "json"})
    guard = Guard(gateway, POINT, BAD, on_undecided="allow")
    on(InterceptionPoint.INPUT)(input_guardrail(guard))
    before_tool_call(tool_guardrail(guard))

    assert Desk(PAYS, final("done"), guardrail=task_guardrail(guard)).runs() == "done"

    told = capfd.readouterr()
    ours = "".join(line for line in told.err.splitlines() if line.startswith("{"))
    assert ours.count('"decision.made"') == 3
    assert "my invoice" not in ours
    assert KEY not in told.err + told.out


class Calls:
    """A plug-in whose provider remembers whom it was asked about."""

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


class Streams(Model):
    """Sends each word on its way as it is said."""

    def call(self, messages: Any, *args: Any, **given: Any) -> str:
        said = super().call(messages, *args, **given)
        for word in said.split(" "):
            self._emit_stream_chunk_event(chunk=f"{word} ")
        return said


def streamed(desk: Desk) -> tuple[str, str]:
    """Give what left while the crew ran, and how it ended."""
    desk.crew.stream = True
    left: list[str] = []
    try:
        run: Any = desk.crew.kickoff(inputs={"text": "my invoice"})
        left.extend(chunk.content for chunk in run)
        return "".join(left), str(run.result.raw)
    except HookAborted as stopped:
        return "".join(left), stopped.reason
    except Exception as error:  # noqa: BLE001 - CrewAI's own, of no type
        return "".join(left), str(error)


def test_no_token_leaves_before_the_input_is_let_through(gateway: Gateway) -> None:
    """frameworks §6.7."""
    guard = Guard(gateway, POINT, BAD, on_undecided="block")
    on(InterceptionPoint.INPUT)(input_guardrail(guard))

    assert streamed(Desk(model=Streams)) == ("", BLOCKED)
    with gateway.override({POINT: scripted(NO)}):
        left, end = streamed(Desk(model=Streams))
    assert "hello" in left
    assert end == "hello"


def test_tokens_of_an_output_that_is_blocked_have_left_by_then(gateway: Gateway) -> None:
    """frameworks §6.7: CrewAI's, and documented as what cannot be promised."""
    guard = Guard(gateway, POINT, BAD, on_undecided="block")
    guarded = {"guardrail": task_guardrail(guard), "guardrail_max_retries": 0}

    left, end = streamed(Desk(model=Streams, **guarded))

    assert "hello" in left
    assert end.endswith(f"Last error: {BLOCKED}")


# --- what a rail is shown ----------------------------------------------------------------


@pytest.fixture
def rail(gateway: Gateway) -> Guard:
    """A rail of the catalogue, which reads `text` and `history`."""
    return Guard(gateway, "GUARDRAIL_PINJ", on_undecided="block")


def shown(guard: Guard, does: Callable[[], Any]) -> list[Any]:
    """Give the states that *guard* is asked about, while its provider lets all pass."""
    says = scripted(NO)
    with guard.gateway.override({guard.point.name: says}):
        does()
    return [ask.state for ask in says.asked]


@pytest.mark.parametrize(
    "inputs",
    [
        {"text": "hello", "x": SECRET},
        {"text": "hello", "history": SECRET},
        {"text": "hello", "x": {"deep": [SECRET]}},
    ],
)
def test_a_rail_is_shown_the_text_of_every_input(inputs: dict[str, Any], rail: Guard) -> None:
    """Whatever their names: the template of a task takes any of them."""
    on(InterceptionPoint.INPUT)(input_guardrail(rail))

    (state,) = shown(rail, lambda: Desk().crew.kickoff(inputs=inputs))

    assert state.keys() == {"text"}
    assert state["text"].startswith("hello\n\n")
    assert SECRET in state["text"]


@pytest.mark.parametrize("hooked", [True, False])
@pytest.mark.parametrize(
    ("point", "passes", "state"),
    [("GUARDRAIL_GRL", YES, {"text": "hello", "stage": "output"}), (POINT, NO, "hello")],
)
def test_a_rail_of_the_catalogue_is_told_that_it_stands_behind_the_model(
    point: str, state: Any, gateway: Gateway, *, hooked: bool, passes: bool
) -> None:
    """A point of your own is shown the text alone."""
    guard = Guard(gateway, point, BAD if point == POINT else None, on_undecided="block")
    if hooked:
        on(InterceptionPoint.OUTPUT)(output_guardrail(guard))
    given = {} if hooked else {"guardrail": task_guardrail(guard)}
    says = scripted(passes)

    with gateway.override({point: says}):
        assert Desk(**given).runs() == "hello"
    assert [ask.state for ask in says.asked] == [state]


@pytest.mark.parametrize("inputs", [None, {}, {"text": None}])
@pytest.mark.parametrize("point", ["GUARDRAIL_PINJ", POINT])
def test_a_run_without_inputs_is_not_asked_about(
    inputs: dict[str, Any] | None, point: str, gateway: Gateway
) -> None:
    guard = Guard(gateway, point, BAD if point == POINT else None, on_undecided="block")
    on(InterceptionPoint.INPUT)(input_guardrail(guard))
    agent = Agent(role="r", goal="g", backstory="b", llm=Model(final("hello")))
    crew = Crew(agents=[agent], tasks=[Task(description="d", expected_output="e", agent=agent)])

    assert shown(guard, lambda: crew.kickoff(inputs=inputs)) == []


CALL: dict[str, Any] = {"role": "assistant", "tool_calls": [{"id": "1"}]}


@pytest.mark.parametrize(
    ("messages", "state"),
    [
        (
            [{"role": "user", "content": "hello"}, {**CALL, "content": None}],
            {"text": "hello", "history": [{"role": "assistant", "content": ""}]},
        ),
        (
            [CALL, {"role": "user", "content": "hello"}],
            {"text": "hello", "history": [{"role": "assistant", "content": ""}]},
        ),
        ("hello", {"text": "hello"}),
        (["hello", {"content": "world"}], {"text": "hello\n\nworld"}),
        (
            [{"role": "user", "content": [{"type": "text", "text": "hello"}, {"type": "image"}]}],
            {"text": "hello\n[image]"},
        ),
    ],
)
def test_messages_of_any_shape_are_shown_by_their_texts(
    messages: Any, state: dict[str, Any], rail: Guard
) -> None:
    """A content that is None, as beside calls of tools, is no word `None`."""
    context = LLMCallHookContext(messages=messages)

    assert shown(rail, lambda: model_guardrail(rail)(context)) == [state]


# --- a journal that is down --------------------------------------------------------------


def test_a_tool_does_not_run_while_the_journal_is_down(
    gateway_of: Callable[..., Gateway], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """frameworks §6.1, §6.6: a decision that cannot stand lets nothing run, though doubt would."""
    kept = tmp_path / "journal.db"
    env = {"DECISION_JOURNAL": f"sqlite:///{kept}", "DECISION_LOG": "json"}
    guard = Guard(gateway_of(env), POINT, BAD, on_undecided="allow")
    ids = iter("12")

    def once(context: Any) -> tuple[str, object]:
        return next(ids), context.tool_input

    before_tool_call(tool_guardrail(guard, subject=lambda _: "s", once=once))
    first, second = Desk(PAYS, final("paid it")), Desk(PAYS, final("could not"))

    assert first.runs() == "paid it"
    with closing(sqlite3.connect(kept, timeout=30, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert second.runs() == "could not"

    assert (first.paid, second.paid) == ([5], [])
    assert '"JournalDown"' in capfd.readouterr().err
