"""What a server meets at its edge: bodies, slow and leaving clients, strangers, its own bugs."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty import PATIENCE, Server, answered, chosen, failed, hangs, replies, waits
from pointsman import Ask, Call, Limits, Reply, scripted
from pointsman.gateway.server.app import application
from pointsman.gateway.server.house import is_loopback
from pointsman.gateway.server.keys import Denied, Holder
from served import JSON, TEAM, asking, house_of, mapped, running
from trialling import Kept

BODY = json.dumps(asking("told", TEAM)).encode()


# --- bodies ------------------------------------------------------------------------------

PACKED: dict[str, tuple[dict[str, str], bytes]] = {
    "gzip": ({"content-encoding": "gzip"}, gzip.compress(BODY)),
    "zstd": ({"content-encoding": "zstd"}, zstandard.compress(BODY)),
    "identity": ({"content-encoding": "identity"}, BODY),
    "with a charset": ({"content-type": "application/json; charset=UTF-8"}, BODY),
    "streamed zstd": (
        {"content-encoding": "zstd"},
        zstandard.ZstdCompressor(write_content_size=False).compress(BODY),
    ),
}
REFUSED: dict[str, tuple[dict[str, str], bytes, int, str]] = {
    "no content type": ({"content-type": ""}, BODY, 415, "unsupported_media_type"),
    "a form's type": ({"content-type": "text/plain"}, BODY, 415, "unsupported_media_type"),
    "a form": (
        {"content-type": "application/x-www-form-urlencoded"},
        BODY,
        415,
        "unsupported_media_type",
    ),
    "another charset": (
        {"content-type": "application/json; charset=latin-1"},
        BODY,
        415,
        "unsupported_media_type",
    ),
    "brotli": ({"content-encoding": "br"}, BODY, 415, "unsupported_encoding"),
    "packed twice": ({"content-encoding": "gzip, gzip"}, BODY, 415, "unsupported_encoding"),
    "no gzip": ({"content-encoding": "gzip"}, BODY, 400, "invalid_encoding"),
    "no zstd": ({"content-encoding": "zstd"}, BODY, 400, "invalid_encoding"),
    "half a gzip": (
        {"content-encoding": "gzip"},
        gzip.compress(BODY)[:-9],
        400,
        "invalid_encoding",
    ),
    "two gzips": ({"content-encoding": "gzip"}, gzip.compress(BODY) * 2, 400, "invalid_encoding"),
    "a gzip bomb": (
        {"content-encoding": "gzip"},
        gzip.compress(b" " * 10_000_000),
        413,
        "request_too_large",
    ),
    "a zstd bomb": (
        {"content-encoding": "zstd"},
        zstandard.compress(b" " * 50_000_000),
        413,
        "request_too_large",
    ),
    "long": ({}, b" " * 20_000, 413, "request_too_large"),
    "deep": ({}, b'{"a":' * 40 + b"1" + b"}" * 40, 400, "too_deep"),
    "deeper": ({}, b"[" * 4_000 + b"]" * 4_000, 400, "too_deep"),
    "deep and open": ({}, b"[" * 9_000, 400, "invalid_request"),
    "not JSON": ({}, b"{", 400, "invalid_request"),
    "not UTF-8": ({}, BODY.replace(b"router", b"r\xffuter"), 400, "invalid_request"),
    "empty": ({}, b"", 400, "invalid_request"),
    "a list": ({}, b"[]", 400, "invalid_request"),
    "many questions": (
        {},
        json.dumps(asking("told", *[{**TEAM, "name": str(at)} for at in range(9)])).encode(),
        400,
        "too_many_questions",
    ),
    "many options": (
        {},
        json.dumps(
            asking("told", {**TEAM, "choices": [{"value": str(at)} for at in range(12)]})
        ).encode(),
        400,
        "too_many_options",
    ),
}
SMALL = {"max_body_bytes": 10_000, "max_questions": 8, "max_options": 10}


def test_bodies_are_taken_packed_or_not() -> None:
    """TypeSafe's client packs what is longer than a kilobyte."""
    with running(told=scripted("tech")) as server:
        replied = {
            name: server.client.post("/v1/decisions", content=body, headers={**JSON, **headers})
            for name, (headers, body) in PACKED.items()
        }

    assert {name: reply.status_code for name, reply in replied.items()} == dict.fromkeys(
        PACKED, 200
    )


def test_what_cannot_be_taken_is_refused_in_the_dialects_shape() -> None:
    told = scripted("tech")
    with running(limits=SMALL, told=told) as server:
        for name, (headers, body, status, code) in REFUSED.items():
            sent = {**JSON, **headers}
            openai = server.client.post("/v1/decisions", content=body, headers=sent)
            systemone = server.client.post("/v1/systemone", content=body, headers=sent)
            error = openai.json()["error"]

            assert (name, openai.status_code, error["code"]) == (name, status, code)
            if not name.startswith("many"):  # which is no request of this dialect
                detail = systemone.json()["detail"]
                assert (name, systemone.status_code, detail["error_type"]) == (name, status, code)
    assert told.asked == []


def test_brackets_within_texts_are_no_depth() -> None:
    text = '[{"' * 50 + "\\" + '"]'
    with running(told=scripted("tech")) as server:
        reply = server.openai(asking("told", TEAM, input=text))
        nested: Any = "x"
        for _ in range(29):
            nested = [nested]
        deep = server.systemone(mapped("told", state=nested))

    assert reply.status_code == 200
    assert deep.status_code == 502  # it says `tech` to all types: it was asked


def head(length: int | None, *more: str) -> bytes:
    lines = ["POST /v1/decisions HTTP/1.1", "host: localhost", "content-type: application/json"]
    sized = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    return "\r\n".join([*lines, sized, *more, "", ""]).encode()


def test_a_chunked_body_is_cut_off_where_it_is_too_long() -> None:
    """Nothing says how long it is; it is refused before it ends."""
    with (
        running(limits=SMALL, told=scripted("tech")) as server,
        socket.create_connection(("127.0.0.1", server.port), PATIENCE) as client,
    ):
        client.sendall(head(None) + (b"3e8\r\n" + b" " * 1000 + b"\r\n") * 11)
        replied = client.recv(65536)

    assert replied.startswith(b"HTTP/1.1 413")
    assert b"connection: close" in replied


def test_a_body_that_does_not_come_is_given_up() -> None:
    with running(limits={"max_seconds": 0.2}, told=scripted("tech")) as server:
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as client:
            client.sendall(head(1000) + b"{")
            replied = client.recv(65536)
            assert replied.startswith(b"HTTP/1.1 408")
            assert b"connection: close" in replied
        assert server.house.busy == 0


# --- time and leaving --------------------------------------------------------------------


def hosted(server: Server, **others: str) -> dict[str, str]:
    return {
        "AI_GATEWAY_API_KEY": "k",
        "JEV_BASE_URL": server.url,
        "JEV_MAX_ATTEMPTS": "1",
        "DECISION_PROVIDER": "jev",
        **others,
    }


class Waits:
    """A provider that waits until it is cancelled, whatever the deadline says."""

    name = "waits"
    limits = Limits()

    def __init__(self) -> None:
        self.entered, self.cancelled = threading.Event(), threading.Event()

    async def answer(self, ask: Ask, call: Call) -> Reply:
        self.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise AssertionError


def test_a_decision_ends_before_its_request_has_to() -> None:
    """The deadline reaches the provider: 504, in both dialects, and nothing goes on."""
    waiting = Waits()
    with running(limits={"max_seconds": 0.3}, waits=waiting) as server:
        openai, systemone = server.openai(asking("waits", TEAM)), server.systemone(mapped("waits"))

    assert (openai.status_code, openai.json()["error"]["code"]) == (504, "timeout")
    assert (systemone.status_code, systemone.json()["detail"]["error_type"]) == (504, "timeout")
    assert waiting.cancelled.is_set()


def test_a_client_that_hangs_up_cancels_its_decision_down_to_the_socket(server: Server) -> None:
    server.does(hangs())
    with running(hosted(server)) as here:
        body = json.dumps(asking("jev", TEAM)).encode()
        with socket.create_connection(("127.0.0.1", here.port)) as client:
            client.sendall(head(len(body)) + body)
            server.wait()
        assert server.left.wait(PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while here.house.busy and time.monotonic() < deadline:
            time.sleep(0.01)
        assert here.house.busy == 0


def test_a_client_that_hangs_up_while_it_sends_is_nobody() -> None:
    told = scripted("tech")
    with running(told=told) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(head(1000) + b"{")
        assert server.openai(asking("told", TEAM)).status_code == 200
        deadline = time.monotonic() + PATIENCE
        while server.house.busy and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.house.busy == 0
    assert len(told.asked) == 1


def test_more_at_once_than_allowed_are_told_to_come_again(server: Server) -> None:
    """In the dialect's shape, with `Retry-After`; whether it is alive is still answered."""
    server.does(waits(replies()))
    with running(hosted(server), limits={"max_concurrent": 1}) as here:
        first = threading.Thread(target=here.openai, args=(asking("jev", TEAM),))
        first.start()
        server.wait()
        refused = here.systemone(mapped("jev"))
        alive = here.client.get("/healthz")
        server.let_go()
        first.join(PATIENCE)

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json()["detail"]["error_type"] == "overloaded"
    assert alive.status_code == 200


# --- who is let in -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("localhost", True),
        ("LOCALHOST:8080", True),
        ("127.0.0.1:80", True),
        ("127.9.9.9", True),
        ("[::1]:8080", True),
        ("[::1]", True),
        ("", False),
        ("example.com", False),
        ("localhost.example.com", False),
        ("127.0.0.1.example.com", False),
        ("192.168.0.1", False),
        ("[::1", True),
        ("[::1]x", False),
        ("localhost:x", False),
        ("0.0.0.0", False),  # noqa: S104 - refused
    ],
)
def test_only_this_machine_is_called_so(host: str, *, ours: bool) -> None:
    assert is_loopback(host.encode()) is ours


def test_without_keys_a_foreign_name_is_refused() -> None:
    """A page may let its own name point here (DNS rebinding); the browser says that name."""
    told = scripted("tech")
    with running(told=told) as server:
        foreign = {"host": "rebound.example"}
        refused = server.openai(asking("told", TEAM), headers=foreign)
        listed = server.client.get("/v1/models", headers=foreign)
        alive = server.client.get("/healthz", headers=foreign)

    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "host_not_allowed")
    assert (listed.status_code, alive.status_code) == (403, 200)
    assert told.asked == []


class Door:
    """Stands for the keys: lets in by what is said at the door."""

    def __init__(self) -> None:
        self.wanted: list[str] = []
        self.bills: list[float] = []
        self.closed = False

    def any(self) -> bool:
        return True

    def admit(self, authorization: str | None, scope: str) -> Holder:
        self.wanted.append(scope)
        if authorization is None:
            raise Denied(401, "missing_api_key")
        if "limited" in authorization:
            raise Denied(429, "rate_limited", 2.2)
        if "poor" in authorization:
            raise Denied(402, "over_budget", 3600)
        if scope not in authorization:
            raise Denied(403, "insufficient_scope")
        return Holder("k1", "tests", frozenset({scope}))

    def paid(self, holder: Holder, usd: float) -> None:
        self.bills.append(usd)

    async def follow(self) -> None:
        await asyncio.Event().wait()

    def close(self) -> None:
        self.closed = True


def test_a_key_opens_what_it_is_good_for_and_pays_for_it(server: Server) -> None:
    """Every admission is paid, with 0 where it was free; failures with what they cost."""
    server.does(replies(), replies(answered(chosen("nonsense"))))
    door = Door()
    with running(hosted(server), keys=door) as here:
        key = {"authorization": "Bearer decide"}
        foreign = {**key, "host": "gateway.example"}
        statuses = [
            here.openai(asking("jev", TEAM), headers=foreign).status_code,
            here.openai(asking("jev", TEAM), headers={"x-api-key": "decide"}).status_code,
            here.client.get("/v1/models", headers=key).status_code,
            here.client.get("/metrics", headers=key).status_code,
            here.client.get("/metrics", headers={"authorization": "Bearer admin"}).status_code,
            here.client.get("/healthz").status_code,
        ]
        bad = [
            here.openai(asking("jev", TEAM)),
            here.openai(asking("jev", TEAM), headers={"authorization": "Bearer limited"}),
            here.openai(asking("jev", TEAM), headers={"authorization": "Bearer poor"}),
            here.systemone(mapped("jev"), headers={"authorization": "Bearer other"}),
        ]

    assert statuses == [200, 502, 200, 403, 200, 200]
    assert door.bills == [0.0000089, 0.0000089, 0.0, 0.0]
    assert set(door.wanted) == {"decide", "admin"}
    assert [one.status_code for one in bad] == [401, 429, 402, 403]
    assert bad[0].headers["www-authenticate"] == "Bearer"
    assert bad[1].headers["retry-after"] == "3"
    assert bad[0].json()["error"]["type"] == "authentication_error"
    assert bad[3].json()["detail"]["error_type"] == "insufficient_scope"
    assert door.closed


# --- what was found out ------------------------------------------------------------------


def test_feedback_reaches_the_journal(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    with running(kept.variables, told=scripted("tech")) as server:
        id_ = server.openai(asking("told", TEAM)).headers["x-request-id"]
        told = server.client.post("/v1/feedback", json={"decision": id_, "right": False})
        labelled = server.client.post("/v1/feedback", json={"decision": id_, "label": "billing"})
        unknown = server.client.post("/v1/feedback", json={"decision": "0" * 32, "right": True})
        bodies: list[Any] = [
            {"decision": id_},
            {"decision": id_[:8], "right": True},
            {"right": True},
            {"decision": id_, "right": "yes"},
            {"decision": id_, "label": [1]},
            {"decision": id_, "right": True, "other": 1},
            [],
        ]
        wrong = [server.client.post("/v1/feedback", json=body).status_code for body in bodies]

    (trail,) = kept.trails()
    assert (told.status_code, told.json()) == (200, {"object": "feedback", "decision": id_})
    assert labelled.status_code == 200
    assert [(one.right, one.label) for one in trail.feedback] == [(False, None), (None, "billing")]
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "decision_not_found")
    assert wrong == [400] * 7


def test_feedback_without_a_journal_is_a_conflict() -> None:
    with running(told=scripted("tech")) as server:
        reply = server.client.post("/v1/feedback", json={"decision": "0" * 32, "right": True})

    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "no_journal")


def test_the_journal_is_written_when_the_server_ends(tmp_path: Path) -> None:
    """Decisions asked directly too, under the name that no variable can plan."""
    kept = Kept(tmp_path)
    with running(kept.variables, told=scripted("tech")) as server:
        ids = [server.openai(asking("told", TEAM)).headers["x-request-id"] for _ in range(20)]

    assert sorted(trail.decision.id for trail in kept.trails()) == sorted(ids)
    assert {trail.decision.record.point for trail in kept.trails()} == {"POINTSMAN_DIRECT"}


# --- nothing is told that was said -------------------------------------------------------

MARK = "zq7"


def test_no_content_is_told(
    server: Server, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Keys, states, instructions, subjects, foreign texts: in no log line and no error body."""
    caplog.set_level(logging.INFO)
    echo = failed("zq7-type", "zq7-code", "zq7-message")
    server.does(replies(echo, 400), replies(b"zq7", 500), replies(answered(chosen("zq7-option"))))
    question = {**TEAM, "instructions": "zq7-instructions"}
    secret = {"authorization": "Bearer zq7-key", "x-pointsman-subject": "zq7-subject"}
    bodies: list[Any] = [
        asking("jev", question, input="zq7-state", safety_identifier="zq7-ana"),
        asking("zq7-model", question),
        asking("jev", {**question, "type": "zq7-type"}),
        asking("jev", {**question, "choices": [{"value": "zq7-one"}]}),
        asking("jev", {**question, "choices": [{"value": "zq7-one"}, {"value": "zq7-one"}]}),
        asking("point:GUARDRAIL_PINJ", question, input="zq7-state"),
        asking("point:ROUTE_CONTINUITY", input="zq7-state"),
        {**asking("jev", question), "zq7-field": 1},
        {**asking("jev"), "questions": "zq7-questions"},
        [{"zq7": 1}],
    ]
    environ = hosted(server, DECISION_LOG="json", AI_GATEWAY_API_KEY="zq7-upstream-key")
    with running(environ) as here:
        said = []
        for body in bodies * 2:
            for path in ("/v1/decisions", "/v1/systemone", "/v1/feedback"):
                reply = here.client.post(path, json=body, headers=secret)
                if reply.status_code != 200:
                    said += [reply.text, str(reply.headers)]
        said += [here.client.get("/metrics").text, here.client.get("/zq8?x=zq7").text]
        said += [here.client.post("/v1/decisions", content=b'{"zq7', headers=JSON).text]

    said += [*capfd.readouterr(), *[one.getMessage() for one in caplog.records]]
    ours = [text for text in said if MARK in text and "HTTP Request" not in text]
    assert ours == []


# --- whatever comes ----------------------------------------------------------------------

SCALARS = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
KINDS = st.sampled_from(["choice", "predicate", "score", "noul", "boolean", "box", ""])
QUESTIONS = st.fixed_dictionaries(
    {"type": KINDS},
    optional={
        "name": st.sampled_from(["a", "b", "", "topic"]) | VALUES,
        "instructions": st.text(max_size=5) | VALUES,
        "choices": st.lists(st.fixed_dictionaries({"value": SCALARS}), max_size=4) | VALUES,
        "levels": st.lists(st.fixed_dictionaries({"label": SCALARS}), max_size=4) | VALUES,
        "criteria": st.dictionaries(st.text(max_size=3), VALUES, max_size=3)
        | st.lists(st.text(max_size=3), max_size=4)
        | VALUES,
    },
)
BODIES = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["told", "point:GUARDRAIL_PINJ", "point:ROUTE_INTENT", "x"])
        | VALUES
    },
    optional={
        "input": VALUES,
        "state": VALUES,
        "questions": st.lists(QUESTIONS, max_size=3)
        | st.dictionaries(st.text(max_size=3), QUESTIONS, max_size=3)
        | VALUES,
        "safety_identifier": VALUES,
        "user": VALUES,
    },
)

Posted = Callable[[str, bytes], int]


@pytest.fixture(scope="module")
def posted() -> Posted:
    """Ask the application itself, without a socket between: many bodies a second."""
    app = application(house_of(told=scripted("tech")))

    async def post(path: str, body: bytes) -> int:
        statuses = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
        await app(scope, receive, send)
        return int(statuses[0])

    return lambda path, body: asyncio.run(post(path, body))


@settings(max_examples=150, deadline=None)
@given(body=BODIES, path=st.sampled_from(["/v1/decisions", "/v1/systemone", "/v1/feedback"]))
def test_no_body_is_answered_with_a_bug(posted: Posted, body: object, path: str) -> None:
    """Law: whatever a client sends, the status is an answer or the client's own fault."""
    status = posted(path, json.dumps(body).encode())

    assert status in {200, 400, 404, 409, 422, 502}


@settings(max_examples=100, deadline=None)
@given(
    body=st.binary(max_size=200) | st.text(alphabet='{}[]",:\\ae1.-', max_size=80).map(str.encode)
)
def test_no_bytes_are_answered_with_a_bug(posted: Posted, body: bytes) -> None:
    assert posted("/v1/decisions", body) == 400
