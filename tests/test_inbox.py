"""
What is left to a person waits in the journal's database, and what a person says is the decision.

TR-19, TR-20, TR-22: in the gateway HUMAN is no answer of a model but an escalation.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from approving import COLOURS, NO, YES
from boxed import (
    KEY,
    MAY,
    PATIENCE,
    STATE,
    TEAM,
    awaited,
    escalating,
    items,
    may,
    person,
    ready,
    rows,
    team,
)
from journaled import schema_of, server
from listening import Listener, listening
from pointsman import (
    Ask,
    Call,
    Choice,
    DecisionPoint,
    DeclarationError,
    Gateway,
    Guard,
    HumanNeeded,
    Hybrid,
    JournalDown,
    NoAnswer,
    Predicate,
    Reason,
    Recorder,
    Repeat,
    Reply,
    Score,
    SetupError,
    scripted,
)
from pointsman.decision_points.reading import confidence_of
from pointsman.gateway.inbox.watch import Watch
from pointsman.gateway.journal import revisions, schema
from pointsman.gateway.journal.addresses import address
from pointsman.gateway.journal.database import Database
from pointsman.gateway.journal.store import Store
from pointsman.gateway.offering import OptionsFrom
from pointsman.gateway.points import Calculator
from pointsman.gateway.questions import Question
from pointsman.gateway.standing.waiters import Waiters, Work
from pointsman.gateway.steps import Apart
from served import asking, running
from telling import RAILS, AsyncTeller, telling
from telling import STATE as RAIL_STATE
from trialling import offering

PROVIDER = "DECISION_TEAM_PROVIDER"
LONG = {"DECISION_INBOX_WAIT_SECONDS": "60"}  # nobody waits so long: whoever waits is woken
BRIEF = {"DECISION_INBOX_WAIT_SECONDS": "0.05"}


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield ready(f"sqlite:///{tmp_path / 'journal.db'}")
        return
    with schema_of(server()) as made:
        yield ready(made)


@pytest.fixture
def environ(url: str, tmp_path: Path) -> dict[str, str]:
    return {
        "DECISION_JOURNAL": url,
        "DECISION_JOURNAL_KEY": KEY,
        "DECISION_JOURNAL_SPOOL": str(tmp_path / "spool"),
    }


@pytest.fixture
def here(tmp_path: Path) -> dict[str, str]:
    """A journal of one host, where it does not matter which."""
    return {"DECISION_JOURNAL": ready(f"sqlite:///{tmp_path / 'journal.db'}")}


@pytest.fixture
def escalated(environ: dict[str, str]) -> dict[str, str]:
    return {**environ, PROVIDER: "asks"}


# --- where questions have nowhere to wait --------------------------------------------------------

DECLARED = DecisionPoint(name="LEFT", questions={"en": MAY.questions}, on_undecided="human")


def _wraps(gateway: Gateway) -> None:
    gateway.point(DECLARED)(bool)


WAYS: dict[str, Callable[[Gateway], object]] = {
    "a wrapped function": _wraps,
    "a guardrail": lambda gateway: Guard(
        gateway, "LEFT", MAY.questions["may"], on_undecided="human"
    ),
    "a declaration": lambda gateway: gateway.asks("LEFT", MAY.questions, "human"),
    "an ask": lambda gateway: gateway.ask_sync("LEFT", MAY, on_undecided="human"),
    "an async ask": lambda gateway: asyncio.run(gateway.ask("LEFT", MAY, on_undecided="human")),
    "an ask of a declared point": lambda gateway: gateway.ask_sync(DECLARED, STATE),
    "a consultation": lambda gateway: gateway.consult_sync(DECLARED, STATE),
    "a variant": lambda gateway: gateway.ask_sync(
        msgspec.structs.replace(gateway.asks("LEFT", MAY.questions), on_undecided="human"), STATE
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_without_a_journal_nothing_is_left_to_a_person(way: str) -> None:
    """A start error: it names what to set, and the way out for who asks persons elsewhere."""
    with offering() as gateway, pytest.raises(SetupError) as raised:
        WAYS[way](gateway)

    (fault,) = raised.value.faults
    assert fault.where == "DECISION_JOURNAL"
    assert "LEFT" in fault.problem
    assert "sqlite:///" in fault.fix
    assert "DECISION_INBOX=off" in fault.fix


def test_a_journal_that_is_switched_off_later_is_refused(here: dict[str, str]) -> None:
    with offering(here) as gateway:
        gateway.asks("LEFT", MAY.questions, "human")
        with pytest.raises(SetupError, match="LEFT is left to a person"):
            gateway.reload({"DECISION_LOG": "off"})
        assert gateway.check()[0].where == "DECISION_LEFT_PROVIDER"
        gateway.reload({"DECISION_LOG": "off", "DECISION_INBOX": "off"})


@COLOURS
@pytest.mark.parametrize("journaled", [True, False])
def test_where_it_is_off_the_host_asks_the_person_itself(
    here: dict[str, str], colour: str, *, journaled: bool
) -> None:
    environ = {**(here if journaled else {}), "DECISION_INBOX": "off", **LONG}
    with offering(environ) as gateway:
        with pytest.raises(HumanNeeded) as needed:
            may(gateway, colour)
        with pytest.raises(SetupError, match="DECISION_INBOX"):
            gateway.resolution(needed.value.id)
        with pytest.raises(SetupError, match="DECISION_INBOX"):
            gateway.resolve(needed.value.id, YES)
        assert gateway.check() != ()

    if journaled:
        assert items(here["DECISION_JOURNAL"]) == []


def test_without_a_journal_an_escalation_is_an_abstention() -> None:
    with offering({PROVIDER: "asks"}, asks=escalating()) as gateway:
        decision = team(gateway)
        with pytest.raises(SetupError, match="DECISION_JOURNAL"):
            gateway.resolution(decision.record.id)

    assert (decision.value, decision.record.reason) == ("tech", Reason.ABSTAINED)


@pytest.mark.parametrize("wait", ["-1", "inf", "nan", "soon", "1e12"])
@pytest.mark.parametrize("of", ["INBOX", "TEAM_INBOX"])
def test_a_wait_is_a_number_of_seconds(of: str, wait: str) -> None:
    with pytest.raises(SetupError, match=f"DECISION_{of}_WAIT_SECONDS"):
        offering({f"DECISION_{of}_WAIT_SECONDS": wait})


def test_a_points_own_wait_comes_before_that_of_all() -> None:
    """And the plan says who said so."""
    environ = {
        "DECISION_INBOX_WAIT_SECONDS": "60",
        "DECISION_TEAM_INBOX_WAIT_SECONDS": "0",
        "DECISION_OTHER_INBOX_WAIT_SECONDS": "5",
    }
    with offering(environ) as gateway:
        plans = [gateway.plan(gateway.asks(one, TEAM.questions)) for one in ("TEAM", "OTHER", "X")]

    assert [one.inbox_wait for one in plans] == [0, 5, 60]
    assert [one.why.get("inbox_wait") for one in plans] == [
        None,
        "DECISION_OTHER_INBOX_WAIT_SECONDS",
        "DECISION_INBOX_WAIT_SECONDS",
    ]


# --- before the host is told ---------------------------------------------------------------------


@COLOURS
def test_what_nobody_decides_waits_before_the_host_is_told(
    environ: dict[str, str], url: str, colour: str
) -> None:
    """The decision is recorded as undecided, as ever; the question is there when it is raised."""
    recorder = Recorder()
    planned = {**environ, "DECISION_APPROVAL_PROVIDER": "down"}
    with offering(planned, observers=[recorder], down=scripted(Reason.TIMEOUT)) as gateway:
        with pytest.raises(HumanNeeded) as needed:
            may(gateway, colour, subject="ana")
        (row,) = rows(url)
    (item,) = items(url)

    (record,) = recorder.records
    assert (row["id"], item.entry.id, record.id) == (needed.value.id,) * 3
    assert (record.undecided, record.provider) == (True, "")
    assert (row["point"], row["resolution"], row["resolved_at"]) == ("APPROVAL", None, None)
    assert item.entry.why.kind == "undecided"
    assert [(one.provider, one.reason) for one in item.entry.why.tried] == [("down", "timeout")]
    assert item.entry.questions == MAY.questions
    assert item.meanwhile is not None
    assert (item.meanwhile.undecided, item.meanwhile.provider) == (True, "")


KILLED = """
import os, sys
from pointsman import Ask, Gateway, HumanNeeded, Predicate
gateway = Gateway.from_env()
ask = Ask("x", {"may": Predicate("May it run?")})
try:
    print(gateway.ask_sync("APPROVAL", ask, on_undecided="human").provider, flush=True)
except HumanNeeded as needed:
    print(needed.id, flush=True)
os._exit(9)  # before anything else could be written
"""


def process(environ: Mapping[str, str], script: str = KILLED) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, **environ, "DECISION_LOG": "off"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_process_that_is_killed_the_moment_after_has_asked_nevertheless(
    environ: dict[str, str], url: str
) -> None:
    """And whoever comes later reads what was said."""
    with process(environ) as asks:
        out, err = asks.communicate()
    assert asks.returncode == 9, err
    (item,) = items(url)
    assert item.entry.id == out.strip()
    assert item.meanwhile is None  # its record went with the process

    with offering(environ) as gateway:
        assert gateway.resolution(item.entry.id) is None
        gateway.resolve(item.entry.id, YES, by="bea")
        said = gateway.resolution(item.entry.id)

    assert said is not None
    assert (said.value, said.by, said.first) == (True, "bea", False)


def test_a_process_that_is_killed_while_it_waits_leaves_its_question(
    environ: dict[str, str], url: str
) -> None:
    with process({**environ, **LONG}) as waits:
        (item,) = awaited(url)
        waits.kill()
        waits.communicate()

    with offering(environ) as gateway:
        assert gateway.resolve(item.entry.id, NO).first
    assert items(url, open_only=True) == []


def test_a_caller_is_woken_by_a_person_in_another_process(
    environ: dict[str, str], url: str
) -> None:
    with process({**environ, **LONG}) as waits:
        (item,) = awaited(url)
        with offering(environ) as gateway:
            gateway.resolve(item.entry.id, YES)
        out, err = waits.communicate()

    assert out.strip() == "human", err


@COLOURS
def test_an_escalation_is_kept_and_today_decides(
    escalated: dict[str, str], url: str, colour: str
) -> None:
    """Nobody waits unless told to; what was decided meanwhile stands beside the question."""
    with offering(escalated, asks=escalating()) as gateway:
        decision = team(gateway, colour)
        assert [row["id"] for row in rows(url)] == [decision.record.id]
    (item,) = items(url)

    assert (decision.value, decision.provider) == ("tech", "current")
    assert item.entry.why.kind == "escalated"
    assert item.entry.why.said == {"reasons": ["conf<50", "value"], "transcript": "run-7.jsonl"}
    assert item.meanwhile is not None
    assert (item.meanwhile.provider, item.meanwhile.outcome) == ("current", "tech")


@pytest.mark.parametrize(
    "fails", [Reason.REFUSED, Reason.ABSTAINED, Reason.TIMEOUT, ValueError("a bug"), None], ids=str
)
def test_only_who_asks_for_a_person_gets_one(environ: dict[str, str], url: str, fails: Any) -> None:
    """An abstention is none, and neither is an answer."""
    with offering({**environ, PROVIDER: "one"}, one=scripted(fails or "billing")) as gateway:
        team(gateway)

    assert items(url) == []


@pytest.mark.parametrize(
    ("why", "kept"),
    [
        ({}, {}),
        ({"reasons": ["x" * 5000]}, {}),
        ({"at": float("nan")}, {"at": None}),
        ({"of": object()}, {}),
        ({1: 2}, {"1": 2}),
    ],
    ids=["nothing", "an essay", "no number", "no JSON", "no names"],
)
def test_whatever_a_provider_says_of_it_a_person_is_asked(
    here: dict[str, str], why: Any, kept: Any
) -> None:
    with offering({**here, PROVIDER: "asks"}, asks=escalating(why)) as gateway:
        assert team(gateway).value == "tech"

    (item,) = items(here["DECISION_JOURNAL"])
    assert item.entry.why.said == kept


@COLOURS
@pytest.mark.parametrize("wait", [BRIEF, {}], ids=["waits", "waits not"])
def test_a_consultation_escalates_too(
    escalated: dict[str, str], url: str, colour: str, wait: dict[str, str]
) -> None:
    with offering({**escalated, **wait}, asks=escalating()) as gateway:
        if colour == "sync":
            decision = gateway.consult_sync("TEAM", TEAM)
        else:
            decision = asyncio.run(gateway.consult("TEAM", TEAM))
        assert len(items(url, open_only=True)) == 1

    assert decision is None


def test_a_stand_in_escalates_too(environ: dict[str, str], url: str) -> None:
    """The command and servers have no path of the host's."""
    from trialling import Offers

    said = {**environ, "CURRENT_PROVIDER": "asks", "DECISION_LOG": "off"}
    plugins = [Offers({"asks": escalating()})]
    with Gateway.from_env(said, plugins=plugins, stand_in=True) as gateway:
        point = DecisionPoint(name="TEAM", questions={"en": TEAM.questions}, safe="tech")
        decision = gateway.ask_sync(point, STATE)

    (item,) = items(url)
    assert (decision.value, decision.undecided) == ("tech", True)
    assert item.entry.id == decision.record.id


def test_what_is_asked_in_the_background_asks_no_person(environ: dict[str, str], url: str) -> None:
    """A shadow is never acted on, and neither is its wish."""
    shadowed = {**environ, "DECISION_TEAM_SHADOW": "asks"}
    with offering(shadowed, asks=escalating()) as gateway:
        assert team(gateway).value == "tech"

    assert items(url) == []


def test_who_is_asked_within_the_background_asks_no_person_either(
    environ: dict[str, str], url: str
) -> None:
    """Nor does what it decides once stand."""
    needed: list[HumanNeeded] = []
    once: dict[str, Any] = {"subject": "s", "once": ("call-1", 1)}

    async def asks(gateway: Any, ask: Ask, call: Call) -> None:
        for how in ({"current": lambda: "tech"}, {"current": lambda: "billing", **once}):
            await gateway.ask("INNER", ask, within=call, **how)
        try:
            await gateway.ask("APPROVAL", MAY, within=call, on_undecided="human")
        except HumanNeeded as human:
            needed.append(human)

    listener = Listener(asks)
    planned = {**environ, "DECISION_TEAM_SHADOW": "listener", "DECISION_INNER_PROVIDER": "asks"}
    with listening(planned, listener=listener, asks=escalating()) as gateway:
        assert team(gateway).value == "tech"
        gateway.close()  # waits for the shadow
        assert (len(needed), items(url)) == (1, [])
        live = gateway.ask_sync("INNER", TEAM, current=lambda: "tech", **once)

    assert live.value == "tech"
    assert len(items(url)) == 1


class Wishes(AsyncTeller):
    """Says of everything that a person should decide."""

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """Escalate, later."""
        self.told(ask, call)
        await asyncio.sleep(0.05)
        raise NoAnswer(Reason.ABSTAINED, escalates={"reasons": ["value"]})


@pytest.mark.parametrize("how", ["a shared call", "a sync turn", "the same ask", "a cache"])
def test_whoever_shares_a_call_that_escalates_asks_a_person(here: dict[str, str], how: str) -> None:
    """Each decision is one of its own."""
    wishes, points = Wishes(), RAILS[:3] if "turn" in how or "shared" in how else [RAILS[0]] * 3
    cached = {"DECISION_PINJ_CACHE_SECONDS": "60"} if how == "a cache" else {}

    async def every() -> None:
        turn = contextlib.nullcontext() if how == "a cache" else gateway.turn(subject="s")
        with turn:
            await asyncio.gather(*(gateway.ask(one, RAIL_STATE) for one in points))

    with telling(wishes, {**here, **cached}) as gateway:
        if how == "a sync turn":
            with gateway.turn(subject="s") as turn:
                turn.ask_sync(*points, state=RAIL_STATE)
        else:
            asyncio.run(every())

    found = items(here["DECISION_JOURNAL"])
    assert len(wishes.asked) == 1
    assert [one.entry.why.said for one in found] == [{"reasons": ["value"]}] * 3


# --- waiting -------------------------------------------------------------------------------------


@COLOURS
def test_what_a_person_says_in_time_is_the_decision(
    escalated: dict[str, str], url: str, colour: str
) -> None:
    """In the host's own type; current is not run, and the record says who decided."""
    ran: list[bool] = []
    with (
        offering({**escalated, **LONG}, asks=escalating()) as gateway,
        person(url, lambda item: gateway.resolve(item.entry.id, "billing", by="bea")),
    ):
        own: dict[str, Any] = {"current": lambda: ran.append(YES), "write": "<{}>".format}
        decision = team(gateway, colour, **own)
    (item,) = items(url)

    assert (decision.value, ran) == ("<billing>", [])
    record = decision.record
    assert (record.provider, record.outcome, record.undecided) == ("human", "billing", False)
    assert (record.confidence, dict(record.answers)) == (0.0, {})
    assert [(one.provider, one.reason) for one in record.attempts] == [
        ("asks", Reason.ABSTAINED),
        ("human", Reason.OK),
    ]
    assert item.meanwhile is not None
    assert item.meanwhile.provider == "human"
    assert confidence_of(decision) is None  # no threshold of a host's holds it back


@COLOURS
def test_a_person_decides_what_nobody_else_does(
    environ: dict[str, str], url: str, colour: str
) -> None:
    with offering({**environ, **LONG}) as gateway:
        guard = Guard(gateway, "RAIL", Predicate("Is it unsafe?"), on_undecided="human")
        with person(url, lambda item: gateway.resolve(item.entry.id, YES)):
            at_once = colour == "sync"
            ruling = guard.rule_sync(STATE) if at_once else asyncio.run(guard.rule(STATE))

    assert ruling.blocked
    assert (ruling.decision.provider, ruling.decision.undecided) == ("human", False)


@COLOURS
def test_a_wrapped_function_gets_its_own_type(here: dict[str, str], colour: str) -> None:
    url = here["DECISION_JOURNAL"]
    with offering({**here, **LONG, PROVIDER: "asks"}, asks=escalating()) as gateway:

        @gateway.point("TEAM", TEAM.questions["team"])
        def sync(text: str) -> str:
            return text and "tech"

        @gateway.point("TEAM", TEAM.questions["team"])
        async def asynchronous(text: str) -> str:
            return text and "tech"

        with person(url, lambda item: gateway.resolve(item.entry.id, "billing")):
            said = sync("x") if colour == "sync" else asyncio.run(asynchronous("x"))

    assert said == "billing"


@COLOURS
@pytest.mark.parametrize("fallback", ["true", "false"])
def test_when_the_time_is_up_the_points_policy_holds(
    escalated: dict[str, str], url: str, colour: str, fallback: str
) -> None:
    """DD-53, TR-19: current decides, or the host gets `NoAnswer`; the question stays open."""
    planned = {**escalated, **BRIEF, "DECISION_TEAM_FALLBACK_TO_CURRENT": fallback}
    with offering(planned, asks=escalating()) as gateway:
        if fallback == "true":
            assert team(gateway, colour).provider == "current"
        else:
            with pytest.raises(NoAnswer) as raised:
                team(gateway, colour)
            assert raised.value.reason is Reason.ABSTAINED
        (item,) = items(url, open_only=True)
        assert gateway.resolve(item.entry.id, "billing").first


@COLOURS
@pytest.mark.parametrize("escalates", [True, False])
def test_when_the_time_is_up_a_person_is_still_needed(
    environ: dict[str, str], url: str, colour: str, *, escalates: bool
) -> None:
    """One question, and one wait: not one for the escalation and another for nobody's decision."""
    planned = {**environ, **BRIEF, "DECISION_APPROVAL_PROVIDER": "asks"}
    provider = escalating() if escalates else scripted(Reason.REFUSED)
    with offering(planned, asks=provider) as gateway, pytest.raises(HumanNeeded) as needed:
        may(gateway, colour)

    (item,) = items(url)
    assert item.entry.id == needed.value.id
    assert item.entry.why.kind == ("escalated" if escalates else "undecided")


@COLOURS
def test_a_deadline_bounds_providers_and_not_persons(here: dict[str, str], colour: str) -> None:
    """What current has left of it is not eaten by the wait."""
    planned = {
        **here,
        PROVIDER: "asks",
        "DECISION_TEAM_DEADLINE_SECONDS": "0.4",
        "DECISION_INBOX_WAIT_SECONDS": "0.6",
    }

    async def current() -> str:
        return "tech"

    own: Any = current if colour == "async" else lambda: "tech"
    with offering(planned, asks=escalating()) as gateway:
        decision = team(gateway, colour, current=own)

    assert decision.value == "tech"
    assert [one.late for one in decision.attempts] == [False, False]


def test_a_caller_that_is_cancelled_waits_no_more(escalated: dict[str, str], url: str) -> None:
    """Its cancellation is its own; the question stays, and its decision is recorded as failed."""
    recorder = Recorder()
    ran: list[bool] = []

    async def given_up(gateway: Gateway) -> None:
        asked = gateway.ask("TEAM", TEAM, current=lambda: ran.append(True))
        task = asyncio.create_task(asked)
        await asyncio.to_thread(awaited, url)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    planned = {**escalated, **LONG}
    with offering(planned, observers=[recorder], asks=escalating()) as gateway:
        asyncio.run(given_up(gateway))
        (item,) = items(url, open_only=True)
        assert gateway.resolve(item.entry.id, "billing").first

    (record,) = recorder.records
    assert (ran, record.provider, record.undecided) == ([], "", False)


def test_who_asks_within_another_decision_waits_for_nobody(here: dict[str, str]) -> None:
    """Its host has a deadline of its own; the question is kept nonetheless."""
    from pointsman import Call

    with offering({**here, **LONG, PROVIDER: "asks"}, asks=escalating()) as gateway:
        within = Call(point="OUTER")
        assert team(gateway, within=within).provider == "current"

    assert len(items(here["DECISION_JOURNAL"])) == 1


def test_a_server_does_not_wait_for_longer_than_its_client(here: dict[str, str]) -> None:
    """A minute is what the plan says; who asks is gone before."""
    with offering({**here, **LONG}) as gateway:
        point = DecisionPoint(name="LEFT", questions={"en": MAY.questions}, on_undecided="human")
        prepared = gateway.prepared(point, STATE)
        prepared.before(time.monotonic() + 0.6)
        with pytest.raises(HumanNeeded):
            prepared.made_sync()


@COLOURS
def test_many_wait_and_each_gets_its_own(escalated: dict[str, str], url: str, colour: str) -> None:
    """Twelve callers of one process; what is said to one is not said to another."""
    count = 12
    with offering({**escalated, **LONG}, asks=escalating()) as gateway:

        def says(item: Any) -> None:
            (subject,) = [one for one in subjects if known[one] == item.entry.subject]
            gateway.resolve(item.entry.id, "billing" if subjects.index(subject) % 2 else "tech")

        subjects = [f"s-{n}" for n in range(count)]
        journal = gateway._wiring.keeper.journal
        assert journal is not None
        known = {one: journal.subject_hash(one) for one in subjects}
        with person(url, says, count):
            if colour == "sync":
                with ThreadPoolExecutor(count) as pool:
                    made = list(pool.map(lambda one: team(gateway, subject=one), subjects))
            else:

                async def every() -> Any:
                    return await asyncio.gather(
                        *(gateway.ask("TEAM", TEAM, subject=one, current=str) for one in subjects)
                    )

                made = asyncio.run(every())

    assert [one.value for one in made] == ["tech", "billing"] * (count // 2)
    assert {one.provider for one in made} == {"human"}


def test_one_query_looks_for_all_who_wait() -> None:
    """And one that fails is looked into again."""
    asked: list[list[str]] = []
    all_there = threading.Event()
    said = object()

    def look(ids: Any) -> Any:
        assert all_there.wait(30)
        asked.append(sorted(ids))
        if len(asked) == 1:
            raise ConnectionError
        return dict.fromkeys(ids, said)

    watch = Watch(every=0.001)
    futures: list[Any] = [watch.wait(f"{n:02}", look) for n in range(50)]
    gone = watch.wait("gone", look)
    gone.cancel()
    all_there.set()

    assert [one.result(30) for one in futures] == [said] * 50
    assert len(asked[-1]) >= 49  # the first look began with whoever was there by then
    assert gone.cancelled()
    again: Any = watch.wait("later", look)
    assert again.result(30) is said


def test_what_is_said_in_this_process_is_given_at_once() -> None:
    """Without a look at all: the first one never ends."""
    never = threading.Event()

    def look(_: Any) -> Any:
        never.wait(30)
        return {}

    said: Any = object()
    watch = Watch()
    future: Any = watch.wait("one", look)
    watch.tell("one", said)
    watch.tell("other", said)
    assert future.result(30) is said
    never.set()


def test_where_no_thread_can_be_begun_nobody_waits_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """And who waits later is served."""
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name == "pointsman-inbox":
            raise RuntimeError("can't start new thread")
        real(thread)

    said: Any = object()
    watch = Watch(every=0.001)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        with pytest.raises(TimeoutError):
            watch.wait("one", lambda _: {}).result(0)

    assert watch.wait("two", lambda ids: dict.fromkeys(ids, said)).result(30) is said


def test_a_row_that_was_altered_hides_no_other(
    here: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told once; whoever waits for it waits on."""
    url = here["DECISION_JOURNAL"]
    environ = {**here, **LONG, "DECISION_LOG": "json"}

    async def asked() -> list[Any]:
        tasks = [
            asyncio.create_task(gateway.ask("APPROVAL", MAY, on_undecided="human")) for _ in "abc"
        ]
        open_ = await asyncio.to_thread(awaited, url, 3)
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            said = (
                "UPDATE inbox SET resolution=?, resolved_by='b', note='', resolved_at=1 WHERE id=?"
            )
            values = ("{altered", "true", "true")
            connection.executemany(said, zip(values, (one.entry.id for one in open_), strict=True))
        done, pending = set[Any](), set(tasks)
        while len(done) < 2:
            more, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        for task in pending:
            task.cancel()
        await asyncio.wait(pending)
        return [one.result().value for one in done]

    with offering(environ) as gateway:
        assert asyncio.run(asked()) == [True, True]

    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one["event"] for one in told].count("decision.resolution_unread") == 1


# --- the first word counts -----------------------------------------------------------------------


@pytest.mark.parametrize("right", [True, False])
def test_the_first_word_counts(environ: dict[str, str], url: str, *, right: bool) -> None:
    """It is a label for the decision, once."""
    with offering(environ) as gateway:
        with pytest.raises(HumanNeeded) as needed:
            may(gateway)
        first = gateway.resolve(needed.value.id, right, by="bea", note="seen the order")
        second = gateway.resolve(needed.value.id, not right, by="cid")
        assert gateway.resolution(needed.value.id) == second

    assert (first.value, first.by, first.note, first.first) == (
        right,
        "bea",
        "seen the order",
        True,
    )
    assert (second.value, second.by, second.at, second.first) == (right, "bea", first.at, False)
    (row,) = rows(url, "feedback")
    assert (row["decision"], json.loads(row["label"])) == (needed.value.id, right)
    with closing(Store.open(url)) as store:
        (trail,) = store.trails(ids=[needed.value.id])
    assert [one.label for one in trail.feedback] == [right]


def test_of_many_at_once_one_is_first(environ: dict[str, str], url: str) -> None:
    """Eight with connections of their own: one word, one label, and all are told the same."""
    with offering(environ) as gateway, pytest.raises(HumanNeeded) as needed:
        may(gateway)
    start = threading.Barrier(8)

    def says(n: int) -> Any:
        with offering(environ) as gateway:
            start.wait(30)
            return gateway.resolve(needed.value.id, n % 2 == 0, by=str(n))

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(says, range(8)))

    (winner,) = [one for one in said if one.first]
    assert {(one.value, one.by) for one in said} == {(winner.value, winner.by)}
    assert len(rows(url, "feedback")) == 1


@pytest.mark.parametrize(
    ("value", "given", "why"),
    [
        ("maybe", {}, "true or false"),
        (None, {}, "needs an answer"),
        ({"other": True}, {}, "was not asked"),
        (True, {"by": "x" * 201}, "who said it"),
        (True, {"note": "x" * 4001}, "the note"),
        (True, {"note": "a\0b"}, "the note"),
        (True, {"by": 7}, "who said it"),
    ],
)
def test_what_is_no_answer_is_not_written(
    environ: dict[str, str], url: str, value: Any, given: Any, why: str
) -> None:
    with offering(environ) as gateway:
        with pytest.raises(HumanNeeded) as needed:
            may(gateway)
        with pytest.raises(DeclarationError, match=why):
            gateway.resolve(needed.value.id, value, **given)
        with pytest.raises(DeclarationError, match="no question"):
            gateway.resolve("0" * 32, YES)
        assert gateway.resolution(needed.value.id) is None

    assert rows(url, "feedback") == []
    assert len(items(url, open_only=True)) == 1


# --- once ----------------------------------------------------------------------------------------

CALL: dict[str, Any] = {"subject": "session-1", "once": ("call-1", {"id": 7})}


@pytest.mark.parametrize("id", ["", "\0", "\ud800", "A" * 32, "0" * 33, "0" * 32 + "\0", None])
def test_what_is_no_id_is_asked_of_no_database(environ: dict[str, str], id: Any) -> None:  # noqa: A002
    with offering(environ) as gateway:
        with pytest.raises(DeclarationError, match="no question"):
            gateway.resolve(id, YES)
        assert gateway.resolution(id) is None


def test_a_list_of_itself_is_no_answer(here: dict[str, str]) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with offering(here) as gateway:
        with pytest.raises(HumanNeeded) as needed:
            may(gateway)
        for value in (endless, {"may": endless}):
            with pytest.raises(DeclarationError, match="is no answer"):
                gateway.resolve(needed.value.id, value)


@COLOURS
def test_asked_again_the_call_gets_what_the_person_said(
    environ: dict[str, str], url: str, colour: str
) -> None:
    """HumanNeeded → a person resolves it → the host asks again: in this process and another."""
    with offering(environ) as gateway:
        with pytest.raises(HumanNeeded) as first:
            may(gateway, colour, **CALL)
        with pytest.raises(HumanNeeded) as again:
            may(gateway, colour, **CALL)
        assert len(items(url)) == 1
        gateway.resolve(first.value.id, YES, by="bea")
        here = may(gateway, colour, **CALL)
        with pytest.raises(HumanNeeded) as other:
            may(gateway, colour, subject="session-1", once=("call-2", {"id": 7}))
    switched = {**environ, "DECISION_APPROVAL_PROVIDER": "denies"}
    with offering(switched, denies=scripted(NO)) as gateway:
        there = may(gateway, colour, **CALL)
        once_more = may(gateway, colour, **CALL, current=lambda: False)

    assert again.value.id == first.value.id != other.value.id
    for one in (here, there, once_more):
        record = one.record
        assert (one.value, record.provider, record.id) == (True, "human", first.value.id)
        assert (record.undecided, record.attempts) == (False, ())


def test_many_who_ask_about_one_call_ask_one_person(environ: dict[str, str], url: str) -> None:
    """One entry, whoever is first; all who wait get what is said to it."""
    with offering({**environ, **LONG}) as gateway:

        def says(item: Any) -> None:
            gateway.resolve(item.entry.id, NO)

        with person(url, says), ThreadPoolExecutor(6) as pool:
            made = list(pool.map(lambda _: may(gateway, **CALL), range(6)))

    assert [one.value for one in made] == [False] * 6
    assert len(items(url)) == 1
    assert {one.record.id for one in made} == {items(url)[0].entry.id}


@COLOURS
def test_what_a_person_said_in_time_stands(
    escalated: dict[str, str], url: str, colour: str
) -> None:
    with offering({**escalated, **LONG}, asks=escalating()) as gateway:
        with person(url, lambda item: gateway.resolve(item.entry.id, "billing")):
            first = team(gateway, colour, **CALL)
        again = team(gateway, colour, **CALL)
    with offering(environ_of(escalated)) as gateway:
        there = team(gateway, colour, **CALL)

    assert [one.value for one in (first, again, there)] == ["billing"] * 3
    assert [one.provider for one in (first, again, there)] == ["human"] * 3
    assert len(items(url)) == 1


def environ_of(escalated: Mapping[str, str]) -> dict[str, str]:
    return {name: one for name, one in escalated.items() if name != PROVIDER}


@COLOURS
def test_what_was_acted_upon_does_not_change_by_a_later_word(
    escalated: dict[str, str], url: str, colour: str
) -> None:
    """The fallback's outcome stands; the person's word is a label, and no more."""
    with offering(escalated, asks=escalating()) as gateway:
        first = team(gateway, colour, **CALL)
        gateway.resolve(first.record.id, "billing")
        again = team(gateway, colour, **CALL)

    assert (first.value, again.value) == ("tech", "tech")
    assert [json.loads(row["label"]) for row in rows(url, "feedback")] == ["billing"]


# --- a database that is down ---------------------------------------------------------------------


@pytest.fixture
def held(here: dict[str, str]) -> Iterator[sqlite3.Connection]:
    """The journal's database, which another program holds until it is told not to."""
    path = here["DECISION_JOURNAL"].removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield connection


HURRIED = {"DECISION_TEAM_DEADLINE_SECONDS": "0.2", "DECISION_APPROVAL_DEADLINE_SECONDS": "0.2"}


@COLOURS
def test_a_database_that_is_down_never_costs_an_escalated_decision(
    here: dict[str, str],
    held: sqlite3.Connection,
    colour: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Today decides, and one event says that the question is lost."""
    planned = {**here, **LONG, **HURRIED, PROVIDER: "asks", "DECISION_LOG": "json"}
    with offering(planned, asks=escalating()) as gateway:
        decision = team(gateway, colour)
        held.execute("ROLLBACK")

    assert (decision.value, decision.provider) == ("tech", "current")
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (lost,) = [one for one in events if one["event"] == "decision.escalation_lost"]
    assert (lost["point"], lost["id"], lost["level"]) == ("TEAM", decision.record.id, "error")
    assert not [one for one in events if one["event"] == "decision.escalated"]


@COLOURS
def test_a_question_that_cannot_be_kept_is_not_left_to_a_person(
    here: dict[str, str], held: sqlite3.Connection, colour: str
) -> None:
    """Nobody would ever see it: the host is told that the journal is down."""
    planned = {**here, **HURRIED, "DECISION_APPROVAL_PROVIDER": "down"}
    with offering(planned, down=scripted(Reason.TIMEOUT)) as gateway:
        with pytest.raises(JournalDown, match="cannot be kept for one") as raised:
            may(gateway, colour)
        held.execute("ROLLBACK")
        with pytest.raises(HumanNeeded):
            may(gateway, colour)

    assert raised.value.point == "APPROVAL"


def test_a_database_that_did_not_take_it_is_waited_for_once(
    here: dict[str, str], held: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an escalation is lost, and the point wants a person too, the host is told at once."""
    planned = {**here, **HURRIED, "DECISION_APPROVAL_PROVIDER": "asks", "DECISION_LOG": "json"}

    class Freeing(io.StringIO):
        def write(self, text: str) -> int:
            if "decision.escalation_lost" in text:
                held.execute("ROLLBACK")  # a second try would succeed
            return len(text)

    with offering(planned, asks=escalating()) as gateway:
        monkeypatch.setattr(sys, "stderr", Freeing())
        with pytest.raises(JournalDown, match="cannot be kept for one"):
            may(gateway)


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_work_is_waited_for_as_long_as_it_says(colour: str) -> None:
    """A queue of our own is no database that is down."""
    gate = threading.Event()

    def later(_: Future[Any]) -> float:
        gate.set()
        return PATIENCE

    def begin() -> Future[str]:
        return Waiters().begin(lambda: "done" if gate.wait(PATIENCE) else "never")

    def done(step: Apart) -> object:
        return step.sync() if colour == "sync" else asyncio.run(step.async_())

    with pytest.raises(TimeoutError):
        done(Apart(begin, 0.01))
    assert done(Apart(begin, 0.01, later)) == "done"


def test_a_database_that_answers_others_is_not_down() -> None:
    """One that fails them is; and nobody waits for ever."""
    waiters, work = Waiters(), Work[None]()
    work.asked = work.begun = time.monotonic() - 10

    def fails() -> None:
        raise ConnectionError

    assert waiters.more(work, 5.5) < 0
    failed = waiters.begin(fails)
    assert isinstance(failed.exception(PATIENCE), ConnectionError)
    assert waiters.more(work, 5.5) < 0
    waited = threading.Event()
    while waiters.more(work, 5.5) < 0:  # the first word comes just after the work is done
        waiters.begin(lambda: None).result(PATIENCE)
        waited.wait(0.01)
    assert 0 < waiters.more(work, 5.5) <= 5.5
    work.asked = time.monotonic() - 61
    assert waiters.more(work, 5.5) < 0
    work.asked = work.begun = time.monotonic()
    assert 0 < Waiters().more(work, 5.5) <= 5.5


def test_a_word_that_cannot_be_written_is_told_and_is_no_word(
    here: dict[str, str], held: sqlite3.Connection
) -> None:
    held.execute("ROLLBACK")
    with offering(here) as gateway:
        with pytest.raises(HumanNeeded) as needed:
            may(gateway)
        held.execute("BEGIN EXCLUSIVE")
        with pytest.raises(JournalDown, match="neither read nor written"):
            gateway.resolve(needed.value.id, YES)
        held.execute("ROLLBACK")
        assert gateway.resolution(needed.value.id) is None


@pytest.mark.parametrize("body", ["", "{}", '{"schema": 9}'])
def test_an_entry_that_cannot_be_read_is_told(here: dict[str, str], body: str) -> None:
    """Altered, or of a later version; it is not passed over."""
    url = here["DECISION_JOURNAL"]
    with offering(here) as gateway:
        with pytest.raises(HumanNeeded) as needed:
            may(gateway)
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            connection.execute("UPDATE inbox SET body = ?", [body])
        with pytest.raises(SetupError, match="cannot be read"):
            gateway.resolve(needed.value.id, YES)


# --- what is kept --------------------------------------------------------------------------------

LISTED = DecisionPoint(
    name="DESK",
    questions={"en": {"who": Choice("Who takes it?", {"none": "Nobody"}, "none", open=True)}},
    reads=("text", "agents"),
    options={"who": OptionsFrom("agents", "name", "does")},
)
AGENTS = [{"name": "ana", "does": "zq7-brought"}, {"name": "bo", "does": ""}]
CANARIES = ("zq7-state", "zq7-brought", "zq7-subject")


@pytest.mark.parametrize("content", ["none", "hash", "full"])
def test_what_is_kept_is_what_the_journal_may_keep(
    tmp_path: Path, content: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither state nor what a call brings, unless it is kept in full; nothing in any log."""
    folder = tmp_path / "kept"
    url = ready(f"sqlite:///{folder / 'journal.db'}")
    environ = {
        "DECISION_JOURNAL": url,
        "DECISION_JOURNAL_CONTENT": content,
        "DECISION_JOURNAL_REDACT": "off",
        "DECISION_LOG": "json",
        "DECISION_DESK_PROVIDER": "asks",
        **BRIEF,
    }
    state = {"text": STATE, "agents": AGENTS}
    with offering(environ, asks=escalating()) as gateway:
        made = gateway.ask_sync(LISTED, state, current=lambda: "ana", subject="zq7-subject")
        with pytest.raises(HumanNeeded):
            may(gateway, subject="zq7-subject")
        gateway.resolve(made.record.id, "bo", by="bea")
    desk, left = items(url)
    log = "".join(capfd.readouterr())
    files = b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())

    assert "decision.escalated" in log
    assert "decision.resolved" in log
    for canary in CANARIES:
        assert canary not in log
    kept = [canary for canary in CANARIES if canary.encode() in files]
    assert kept == (["zq7-state", "zq7-brought"] if content == "full" else [])
    assert (left.entry.state == STATE) is (content == "full")
    assert (left.entry.subject is None) is (content == "none")
    who = desk.entry.questions["who"]
    assert isinstance(who, Choice)
    brought = "zq7-brought" if content == "full" else ""
    assert dict(who.options) == {"ana": brought, "bo": "", "none": "Nobody"}


BROUGHT: dict[str, Question] = {
    "who": Choice("Who?", {"ana": "zq7-option", "bo": ""}),
    "how": Score("How much?", {"low": "zq7-level", "high": ""}),
    "may": Predicate("May it?", true="zq7-true", false="zq7-false"),
}


@pytest.mark.parametrize("content", ["none", "hash", "full"])
def test_what_an_ask_brings_is_declared_by_nobody(tmp_path: Path, content: str) -> None:
    """Of a point that is born of its first ask; the same one declared keeps its words."""
    folder = tmp_path / "kept"
    url = ready(f"sqlite:///{folder / 'journal.db'}")
    environ = {"DECISION_JOURNAL": url, "DECISION_JOURNAL_CONTENT": content}
    with offering(environ) as gateway:
        for _ in range(2):
            with pytest.raises(HumanNeeded):
                gateway.ask_sync("BORN", Ask("x", BROUGHT), on_undecided="human")
    files = b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())
    assert (b"zq7" in files) is (content == "full")
    for item in items(url):
        assert item.entry.questions["may"].instructions == "May it?"
        assert (item.entry.questions == BROUGHT) is (content == "full")

    with offering(environ) as gateway:
        gateway.asks("BORN", BROUGHT)
        with pytest.raises(HumanNeeded):
            gateway.ask_sync("BORN", Ask("x", BROUGHT), on_undecided="human")
    assert items(url)[-1].entry.questions == BROUGHT


def test_a_word_that_the_point_cannot_write_leaves_it_to_the_calculator(
    here: dict[str, str],
) -> None:
    def fails(*_: Any) -> Any:
        raise KeyError

    point = DecisionPoint(
        name="TEAM",
        questions={"en": TEAM.questions},
        current=Calculator(lambda _: "tech", str, fails),
    )
    url = here["DECISION_JOURNAL"]
    with (
        offering({**here, **LONG, PROVIDER: "asks"}, asks=escalating()) as gateway,
        person(url, lambda item: gateway.resolve(item.entry.id, "billing")),
    ):
        decision = gateway.ask_sync(point, {"n": 1})

    assert (decision.value, decision.provider) == ("tech", "current")


def test_events_say_no_more_than_where_and_which(
    here: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with offering({**here, "DECISION_LOG": "json"}) as gateway:
        with pytest.raises(HumanNeeded) as needed:
            may(gateway)
        gateway.resolve(needed.value.id, YES, by="bea", note="zq7-note")

    said = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    told = {one["event"]: one for one in said}
    always = {"event", "level", "timestamp", "point", "id"}
    assert told["decision.escalated"].keys() == {*always, "why"}
    assert told["decision.resolved"].keys() == always
    assert told["decision.escalated"]["id"] == needed.value.id


@pytest.mark.parametrize("how", ["forget", "prune"])
def test_what_is_removed_is_removed_here_too(environ: dict[str, str], url: str, how: str) -> None:
    with offering(environ) as gateway:
        ids: list[str] = []
        for subject in ("ana", "bo"):
            with pytest.raises(HumanNeeded) as needed:
                may(gateway, subject=subject)
            ids.append(needed.value.id)
        journal = gateway._wiring.keeper.journal
        assert journal is not None
        journal.flush()
        known_as = journal.subject_hash("ana")
        assert known_as is not None
        _, second = items(url)
        store = journal.store()
        removed = store.forget(known_as) if how == "forget" else store.prune(second.entry.at)
        assert gateway.resolution(ids[0]) is None
        assert removed.inbox == 1

    assert [one.entry.id for one in items(url)] == ids[1:]


def test_a_state_that_is_no_json_waits_too(here: dict[str, str]) -> None:
    """What cannot be sent to a provider is what a person is for."""
    with offering(here) as gateway:
        guard = Guard(gateway, "RAIL", Predicate("Is it unsafe?"), on_undecided="human")
        with pytest.raises(HumanNeeded) as needed:
            guard.rule_sync({"number": float("nan")})
        assert gateway.resolve(needed.value.id, YES).first


def test_a_journal_of_an_earlier_version_gets_its_table(url: str) -> None:
    """What it holds stays."""
    database = Database(address(url))
    with database.transaction("remove") as connection:
        schema.inbox.drop(connection)
        connection.exec_driver_sql("UPDATE journal_version SET version_num = '0003'")
    database.close()

    assert items(url) == []
    with database.transaction("read") as connection:
        assert revisions.revision(connection) == schema.HEAD
    database.close()


# --- where a host has more than one way ----------------------------------------------------------


def found(parts: list[str], outcome: Any, confidence: float) -> dict[str, Any]:
    return {"parts": parts, **outcome, "sure": confidence > 0.5}


HYBRID = DecisionPoint(
    name="PARTS",
    questions={"": {"part": Choice("What is part {n}?", ["request", "remark"])}},
    reads=("text", "parts"),
    words="text",
    repeats={"part": Repeat("parts", "part_{n}")},
    hybrid=Hybrid(list, lambda state, parts: {**state, "parts": parts}, found, outcome=dict),
)


@COLOURS
def test_a_persons_word_is_merged_into_what_the_host_had_found(
    here: dict[str, str], colour: str
) -> None:
    """As a provider's is; and it is not held back for want of a confidence."""
    planned = {**here, **LONG, "DECISION_PARTS_PROVIDER": "asks"}
    with offering(planned, asks=escalating()) as gateway:
        how: dict[str, Any] = {"current": lambda: ["see my bill"]}
        state = {"text": "see my bill"}
        says = lambda item: gateway.resolve(item.entry.id, "request")  # noqa: E731
        with person(here["DECISION_JOURNAL"], says):
            if colour == "sync":
                decision = gateway.ask_sync(HYBRID, state, **how)
            else:
                decision = asyncio.run(gateway.ask(HYBRID, state, **how))

    assert decision.value == {"parts": ["see my bill"], "part_1": "request", "sure": True}
    assert (decision.provider, decision.confidence) == ("human", 0.0)


GUARDED = {"type": "predicate", "name": "may", "instructions": "May it run without a person?"}


def test_a_server_keeps_what_its_clients_leave_to_a_person(here: dict[str, str]) -> None:
    """Nobody decided, so the client gets no answer; the question is in the inbox."""
    point = DecisionPoint(name="LEFT", questions={"en": MAY.questions}, on_undecided="human")
    made = running({**here, "DECISION_LEFT_PROVIDER": "down"}, down=scripted(Reason.TIMEOUT))
    made.house.gateway.asks(point)
    with made as running_server:
        reply = running_server.openai(asking("point:LEFT", GUARDED))

    (item,) = items(here["DECISION_JOURNAL"])
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "undecided")
    assert (item.entry.id, item.entry.point) == (reply.headers["x-request-id"], "LEFT")


def test_a_server_whose_journal_is_down_says_so(
    here: dict[str, str], held: sqlite3.Connection
) -> None:
    """And that the client may come again."""
    point = DecisionPoint(name="LEFT", questions={"en": MAY.questions}, on_undecided="human")
    hurried = {"DECISION_LEFT_PROVIDER": "down", "DECISION_LEFT_DEADLINE_SECONDS": "0.2"}
    made = running({**here, **hurried}, down=scripted(Reason.TIMEOUT))
    made.house.gateway.asks(point)
    with made as running_server:
        reply = running_server.openai(asking("point:LEFT", GUARDED))
        held.execute("ROLLBACK")

    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "journal_down")
