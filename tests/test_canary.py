"""Secrets, prompts and bodies are planted; everything that the run writes is searched for them."""

from __future__ import annotations

import asyncio
import pickle
import pprint
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rich.pretty import pretty_repr

from faulty import (
    Does,
    Server,
    answered,
    chosen,
    cuts,
    drips,
    drops,
    encoded,
    failed,
    hangs,
    replies,
)
from pointsman import (
    Ask,
    Call,
    Choice,
    DeclarationError,
    Gateway,
    HttpRequest,
    HttpResponse,
    Limits,
    NoAnswer,
    Reason,
    Record,
    Recorder,
    Reply,
    Settings,
    Setup,
    SetupError,
    scripted,
)

KEY = "sk-zq7key"
PROMPT = "zq7-prompt my card is 4111"
INSTRUCTIONS = "zq7-instructions which team"
DESCRIPTION = "zq7-description of amounts"
SUBJECT = "zq7-subject-ana"
BODY = "zq7-body as the server says"
BUG = "zq7-bug in a stranger's code"
PLANTED = (KEY, PROMPT, INSTRUCTIONS, DESCRIPTION, SUBJECT, BODY, BUG)
MARK = "zq7"

QUESTION = Choice(INSTRUCTIONS, {"billing": DESCRIPTION, "tech": DESCRIPTION, "none": DESCRIPTION})
ASK = Ask({"message": PROMPT}, {"team": QUESTION})
ECHO: dict[str, object] = {"echo": BODY, "message": BODY}

SPEAKING: dict[str, Does] = {
    "success": replies(answered(chosen(**ECHO), **ECHO)),
    "low confidence": replies(answered(chosen(confidence=0.1, **ECHO), **ECHO)),
    "undeclared option": replies(answered(chosen(BODY))),
    "renamed": replies(answered(chosen(name=BODY))),
    "wrong shape": replies(answered(answers=BODY)),
    "not JSON": replies(f"<html>{BODY}</html>".encode()),
    "truncated": replies(encoded(answered(chosen(**ECHO)))[:-5]),
    "error inside 200": replies(answered(**failed("server_error", BODY, BODY))),
    "400": replies(failed("invalid_request_error", BODY, f"{BODY} {PROMPT} {KEY}"), 400),
    "401": replies(failed("authentication_error", None, f"bad key {KEY}"), 401),
    "404": replies(failed("model_not_found", BODY, BODY), 404),
    "429": replies(failed(BODY, BODY, BODY), 429, {"retry-after": BODY}),
    "500": replies(BODY.encode(), 500),
    "302": replies(BODY.encode(), 302, {"location": f"/{KEY}"}),
    "cut": cuts(),
    "drop": drops(),
    "hang": hangs(),
    "drip": drips("head"),
    "no header": replies(answered(), headers={"x-request-id": "req_1", "x-said": BODY}),
}


class Run:
    """Everything one run wrote."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.records: list[Record] = []

    def note(self, *written: object) -> None:
        """Keep what an object shows of itself."""
        for one in written:
            self.written += [repr(one), str(one), pprint.pformat(one), pretty_repr(one)]

    def failed(self, error: BaseException) -> None:
        """Keep what an error shows of itself, and its traceback."""
        self.note(error, *error.args)
        self.written += traceback.format_exception(error)
        self.written.append(pickle.dumps(error).decode("latin-1"))

    def finds(self) -> list[str]:
        """Everything planted that was written."""
        for record in self.records:
            self.note(record)
            self.written.append(pickle.dumps(record).decode("latin-1"))
        return [text for text in self.written if MARK in text]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[Run]:
    """Search whatever a test writes: reprs, records, tracebacks, stdout, stderr, logging."""
    caplog.set_level("INFO")  # what httpcore says when it is debugged is the host's own choice
    run = Run()
    yield run
    logged = [one.getMessage() for one in caplog.get_records("call")]
    run.written += [*capfd.readouterr(), *logged]
    assert run.finds() == []


def environ(server: Server, renderer: str, **others: str) -> dict[str, str]:
    return {
        "DECISION_PROVIDER": "jev",
        "DECISION_LOG": renderer,
        "AI_GATEWAY_API_KEY": KEY,
        "JEV_BASE_URL": server.url,
        "JEV_TIMEOUT_SECONDS": "0.4",
        "JEV_MAX_ATTEMPTS": "1",
        **others,
    }


def decide(gateway: Gateway, colour: str, run: Run) -> None:
    """Decide, and note what comes of it; the host's value is its own."""

    def current() -> str:
        return "none"

    try:
        if colour == "sync":
            made = gateway.ask_sync("TEAM", ASK, current=current, subject=SUBJECT)
        else:
            made = asyncio.run(gateway.ask("TEAM", ASK, current=current, subject=SUBJECT))
    except NoAnswer as error:
        run.failed(error)
    else:
        run.note(made)


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize(
    ("fallback", "renderer"), [("true", "json"), ("true", "console"), ("false", "json")]
)
@pytest.mark.parametrize("does", SPEAKING.values(), ids=SPEAKING)
def test_no_ending_of_a_decision_tells(
    server: Server,
    gateway_of: Callable[..., Gateway],
    run: Run,
    does: Does,
    *,
    renderer: str,
    fallback: str,
    colour: str,
) -> None:
    """Success or failure: logs, records, errors and tracebacks name reasons, never contents."""
    recorder = Recorder()
    server.does(does)
    variables = environ(server, renderer, DECISION_FALLBACK_TO_CURRENT=fallback)
    gateway = gateway_of(variables, observers=[recorder])

    with gateway.collect() as decisions:
        decide(gateway, colour, run)

    assert len(recorder.records) == 1
    run.records += recorder.records
    run.note(*decisions)


class Buggy:
    """A stranger's provider with a bug."""

    limits = Limits()

    def __init__(self, bug: BaseException) -> None:
        self.name, self._bug = "buggy", bug

    def answer(self, ask: Ask, call: Any) -> Reply:
        raise self._bug


def linked() -> Exception:
    """A bug with a cause and a context, each of which talks."""
    error = ValueError(PROMPT)
    error.__cause__, error.__context__ = KeyError(BUG), OSError(BODY)
    return error


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("fallback", ["true", "false"])
@pytest.mark.parametrize(
    "bug",
    [ValueError(BUG), linked(), DeclarationError(BUG), NoAnswer(Reason.REFUSED, point="POINT")],
    ids=["bug", "linked", "declaration", "answer"],
)
def test_no_bug_of_a_plug_in_tells(
    gateway_of: Callable[..., Gateway], run: Run, bug: Exception, fallback: str, colour: str
) -> None:
    """A stray exception is told by type and place; its message stays behind."""
    variables = {"DECISION_LOG": "json", "DECISION_FALLBACK_TO_CURRENT": fallback}
    recorder = Recorder()
    gateway = gateway_of(variables, observers=[recorder])

    with gateway.override({"TEAM": Buggy(bug)}):
        decide(gateway, colour, run)

    run.records += recorder.records


def test_no_observer_that_fails_tells(gateway_of: Callable[..., Gateway], run: Run) -> None:
    """Its fault is logged by name and type."""

    def observer(record: Record) -> None:
        raise ValueError(BUG, record)

    gateway = gateway_of({"DECISION_LOG": "json"}, observers=[observer])
    with gateway.override({"TEAM": scripted("tech")}):
        decide(gateway, "sync", run)


def test_no_value_that_cannot_be_read_tells(gateway_of: Callable[..., Gateway], run: Run) -> None:
    """The host's own reader fails on what current said: logged by type."""
    recorder = Recorder()
    gateway = gateway_of({"DECISION_LOG": "json"}, observers=[recorder])

    def reads(value: str) -> str:
        raise ValueError(value)

    @gateway.point("TEAM", QUESTION, read=reads)
    def team(message: str) -> str:
        return message

    team(PROMPT)
    run.records += recorder.records


@pytest.mark.parametrize(
    "wrong",
    [
        {"DECISION_STRICT": KEY},
        {"DECISION_FALLBACK_SHARE": KEY},
        {"DECISION_LOG": KEY},
        {"DECISION_CONFIDENCE": KEY},
        {"DECISION_TEAM_MIN_CONFIDENCE": KEY},
        {"DECISION_TEAM_DEADLINE_SECONDS": KEY},
        {"JEV_MIN_CONFIDENCE": KEY},
        {"JEV_BASE_URL": KEY},
        {"JEV_TIMEOUT_SECONDS": KEY},
        {"JEV_MAX_ATTEMPTS": KEY},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_no_error_of_setting_up_tells(server: Server, run: Run, wrong: dict[str, str]) -> None:
    """A key pasted into the wrong variable is named by its variable, not by its value."""
    with pytest.raises(SetupError) as caught:
        Gateway.from_env({**environ(server, "json"), **wrong})

    run.failed(caught.value)
    run.note(*caught.value.faults)


@pytest.mark.parametrize("key", [f"{KEY}\x01", f"{KEY}é", f"{KEY}\nx-more: 1", f"{KEY}\r"])
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_no_key_that_cannot_be_sent_tells(
    server: Server, gateway_of: Callable[..., Gateway], run: Run, key: str, colour: str
) -> None:
    """A key with a stray character: the HTTP library's own error would repeat it."""
    variables = environ(
        server, "json", AI_GATEWAY_API_KEY=key, DECISION_FALLBACK_TO_CURRENT="false"
    )
    try:
        gateway = gateway_of(variables)
    except SetupError as error:
        run.failed(error)
    else:
        decide(gateway, colour, run)
    assert all("x-more" not in seen.headers for seen in server.seen)


def test_no_odd_variable_tells(
    server: Server, gateway_of: Callable[..., Gateway], run: Run
) -> None:
    """What nothing reads is warned of by name."""
    gateway = gateway_of(environ(server, "json", DECISION_TAEM=KEY))
    run.note(*gateway.check())
    decide(gateway, "sync", run)


def test_no_public_object_shows_what_it_holds(
    server: Server, gateway_of: Callable[..., Gateway], run: Run
) -> None:
    """repr, str, pprint and Rich's pretty printer, of everything that holds a secret."""
    variables = environ(server, "off", JEV__SPARE__MODEL="typesafe-ai/jev-1.14.0")
    settings = Settings.read(variables)
    gateway = gateway_of(variables)
    jev: Any = gateway.provider("jev")
    sent = HttpRequest("POST", server.url, {"authorization": f"Bearer {KEY}"}, BODY.encode())

    run.note(gateway, settings, settings.variables, settings.globals, settings.points)
    run.note(Setup("jev", settings, gateway, gateway.provider))
    run.note(jev, gateway.provider("jev/spare"), gateway.plan("ROUTER"))
    run.note(sent, HttpResponse(200, {"set-cookie": KEY}, BODY.encode()))
    run.note(next(jev.exchange(ASK, Call(point="TEAM", subject=SUBJECT))))
    run.note(vars(jev))


def test_a_state_that_is_no_json_is_not_repeated(run: Run) -> None:
    """The programmer is told what kind of thing it was."""

    class Secret:
        def __repr__(self) -> str:
            return PROMPT

    with pytest.raises(DeclarationError) as caught:
        Ask({"message": Secret()}, {"team": QUESTION})
    run.failed(caught.value)


def test_the_search_finds_what_is_planted() -> None:
    """The canary sings: a search that finds nothing would pass everything."""
    run = Run()
    run.note(*PLANTED)

    assert len(run.finds()) == 4 * len(PLANTED)
