"""What a server meets at its edge: bodies, slow and leaving clients, strangers, its own bugs."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest
import uvicorn
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty import PATIENCE, Server, answered, chosen, failed, hangs, replies, waits
from pointsman import Ask, Call, Limits, Reply, scripted
from pointsman.gateway.server.access import Access
from pointsman.gateway.server.app import application
from pointsman.gateway.server.house import is_loopback
from pointsman.gateway.server.keys import Denied, Holder
from pointsman.gateway.server.metrics import Metrics
from pointsman.gateway.server.protocol import bounded
from pointsman.gateway.server.settings import ServerLimits
from served import JSON, TEAM, Running, Uvicorn, asking, house_of, mapped, running
from trialling import Kept

BODY = json.dumps(asking("told", TEAM)).encode()


def wait_for(seen: Callable[[], object]) -> None:
    """Look again until it is so."""
    deadline = time.monotonic() + PATIENCE
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# --- bodies ------------------------------------------------------------------------------

PACKED: dict[str, tuple[dict[str, str], bytes]] = {
    "gzip": ({"content-encoding": "gzip"}, gzip.compress(BODY)),
    "zstd": ({"content-encoding": "zstd"}, zstandard.compress(BODY)),
    "identity": ({"content-encoding": "identity"}, BODY),
    "with a charset": ({"content-type": "application/json; charset=UTF-8"}, BODY),
    "two frames of zstd": (
        {"content-encoding": "zstd"},
        zstandard.compress(BODY[:50]) + zstandard.compress(BODY[50:]),
    ),
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
    "a zstd, and something else": (
        {"content-encoding": "zstd"},
        zstandard.compress(BODY) + b"else",
        400,
        "invalid_encoding",
    ),
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


def test_options_are_bounded_over_all_questions_together() -> None:
    """A decider of this process reads them all while nobody else is served."""
    choices = [{"value": str(at)} for at in range(100)]
    many = [{**TEAM, "name": str(at), "choices": choices} for at in range(21)]
    told = scripted(dict.fromkeys(map(str, range(20)), "1"))
    with running(told=told) as server:
        most = server.openai(asking("told", *many[:20]))
        more = server.openai(asking("told", *many))
        one = server.openai(asking("told", *many[:1]))

    assert (more.status_code, more.json()["error"]["code"]) == (400, "too_many_options")
    assert len(told.asked) == 2
    assert (most.status_code, one.status_code) != (400, 400)


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


HOSTILE = """
import asyncio, sys
from pointsman.gateway.server.bodies import received
from pointsman.gateway.server.settings import ServerLimits

async def read(body):
    async def receive():
        return {"type": "http.request", "body": body}
    return len(await received(receive, {}, ServerLimits()))

deep = b'{"a":' + b"[" * 40 + b'"'
for piece in (b'\\\\"', b"\\\\", b'"', b'""', b'"x\\\\', b'x'):
    print(asyncio.run(read(deep + piece * (1_000_000 // len(piece)))))
"""


def test_no_body_takes_longer_to_look_at_than_its_length_says() -> None:
    """A megabyte that is made to be read again and again would take hours, and is read once."""
    run = subprocess.run(
        [sys.executable, "-c", HOSTILE],
        capture_output=True,
        timeout=PATIENCE,
        text=True,
        check=True,
    )

    assert len(run.stdout.split()) == 6


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
        self.bills: list[object] = []
        self.closed = False

    def any(self) -> bool:
        return True

    def admit(self, authorization: str | None, scope: str, *, spends: bool = True) -> Holder:
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

    def paid(self, holder: Holder, usd: float, *, unbilled: bool = False) -> None:
        self.bills.append("unbilled" if unbilled else usd)

    async def follow(self) -> None:
        await asyncio.Event().wait()

    def close(self) -> None:
        self.closed = True


def test_a_key_opens_what_it_is_good_for_and_pays_for_it(server: Server) -> None:
    """What may cost is paid, also where it failed; what decides nothing is not asked to."""
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

    assert statuses == [200, 424, 200, 403, 200, 200]
    assert door.bills == [0.0000089, 0.0000089]
    assert set(door.wanted) == {"decide", "admin"}
    assert [one.status_code for one in bad] == [401, 429, 402, 403]
    assert bad[0].headers["www-authenticate"] == "Bearer"
    assert bad[1].headers["retry-after"] == "3"
    assert bad[0].json()["error"]["type"] == "authentication_error"
    assert bad[3].json()["detail"]["error_type"] == "insufficient_scope"
    assert door.closed


@pytest.mark.parametrize("cut", ["by its client", "by its deadline"])
def test_what_was_cut_off_after_it_was_sent_is_unbilled(server: Server, cut: str) -> None:
    """It was sent, and its provider bills it: nobody asks for nothing by hanging up."""
    server.does(hangs())
    door, seconds = Door(), 0.3 if cut == "by its deadline" else PATIENCE
    with running(hosted(server), keys=door, limits={"max_seconds": seconds}) as here:
        body = json.dumps(asking("jev", TEAM)).encode()
        with socket.create_connection(("127.0.0.1", here.port), PATIENCE) as client:
            client.sendall(head(len(body), "authorization: Bearer decide") + body)
            server.wait()
            if cut == "by its deadline":
                assert client.recv(65536).startswith(b"HTTP/1.1 504")
        wait_for(lambda: door.bills)
    assert door.bills == ["unbilled"]


TWICE = ["host", "authorization", "x-api-key", "content-type", "content-encoding"]


@pytest.mark.parametrize("name", [*TWICE, "x-pointsman-subject"])
def test_what_can_be_said_once_is_not_said_twice(name: str) -> None:
    """RFC 9112 § 3.2: a proxy may have believed the other one."""
    with (
        running(told=scripted("tech")) as server,
        socket.create_connection(("127.0.0.1", server.port), PATIENCE) as client,
    ):
        client.sendall(head(len(BODY), f"{name}: evil.example", f"{name}: localhost") + BODY)
        replied = client.recv(65536)

    assert replied.startswith(b"HTTP/1.1 400")
    assert b"repeated_header" in replied


def test_a_proxys_own_credentials_hide_no_key() -> None:
    with running(keys=Door(), told=scripted("tech")) as server:
        headers = {"authorization": "Basic Zm9v", "x-api-key": "decide"}
        assert server.openai(asking("told", TEAM), headers=headers).status_code == 200


# --- what was found out ------------------------------------------------------------------


def test_feedback_reaches_the_journal(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    with running(kept.variables, told=scripted("tech")) as server:
        id_ = server.openai(asking("told", TEAM)).headers["x-request-id"]
        told = server.client.post("/v1/feedback", json={"decision": id_, "right": False})
        labelled = server.client.post("/v1/feedback", json={"decision": id_, "label": "billing"})
        unknown = server.client.post("/v1/feedback", json={"decision": "0" * 32, "right": True})
        upper = server.client.post("/v1/feedback", json={"decision": id_.upper(), "right": False})
        bodies: list[Any] = [
            {"decision": id_},
            {"decision": id_[:8], "right": True},
            {"right": True},
            {"decision": id_, "right": "yes"},
            {"decision": id_, "label": [1]},
            {"decision": id_, "right": True, "other": 1},
            [],
        ]
        wrong = [server.client.post("/v1/feedback", json=body) for body in bodies]

    (trail,) = kept.trails()
    assert (told.status_code, told.json()) == (200, {"object": "feedback", "decision": id_})
    assert (labelled.status_code, upper.json()) == (200, told.json())
    said = [(one.right, one.label) for one in trail.feedback]
    assert said == [(False, None), (None, "billing"), (False, None)]
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "decision_not_found")
    assert [one.status_code for one in wrong] == [400] * 7
    assert "right=" not in "".join(one.text for one in wrong)  # it is said for HTTP
    assert "record" not in "".join(one.text for one in wrong)


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


# --- connections ---------------------------------------------------------------------------


class Bare:
    """
    An application of the test's own behind our protocol.

    Attributes:
        seen: The head and the body of each request.

    """

    def __init__(self, answer: bytes = b"ok", **limits: Any) -> None:
        self.seen: list[tuple[dict[bytes, bytes], bytes]] = []
        self.gone, self.goes_on = threading.Event(), threading.Event()
        self._answer = answer
        self.refused: list[int] = []
        protocol = bounded(ServerLimits(**limits), self.refused.append)
        given: dict[str, Any] = {"log_config": None, "lifespan": "off", "timeout_keep_alive": 75}
        self.server = Uvicorn(uvicorn.Config(self, http=protocol, port=0, **given))
        self._thread = threading.Thread(target=self.server.run, daemon=True)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.seen.append((dict(scope["headers"]), body))
        if scope["path"] == "/leaves":
            await receive()
            self.gone.set()
        if scope["path"] == "/waits":
            await asyncio.to_thread(self.goes_on.wait, PATIENCE)
        length = [(b"content-length", b"%d" % len(self._answer))]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        await send({"type": "http.response.body", "body": self._answer})

    def client(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self.server.listens.wait(PATIENCE)
        self.port: int = self.server.servers[0].sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


def got(path: str, *more: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "host: localhost", *more, "", ""]).encode()


LARGE = b"x" * 32_000_000  # more than a system keeps for a socket


@pytest.mark.parametrize("more", [(), ("connection: close",)], ids=["kept", "closed"])
def test_an_answer_that_nobody_reads_is_cut_off(more: tuple[str, ...]) -> None:
    """Else whoever does not read has its place for ever, and twenty such have all of them."""
    with Bare(LARGE, max_seconds=0.3) as bare, bare.client() as client:
        client.sendall(got("/", *more))
        wait_for(lambda: bare.seen)
        wait_for(lambda: not bare.server.server_state.connections)


def test_an_answer_that_is_read_slowly_is_read_to_its_end() -> None:
    with Bare(LARGE, max_seconds=PATIENCE) as bare, bare.client() as client:
        client.sendall(got("/", "connection: close"))
        size = 0
        while part := client.recv(65536):
            size += len(part)

    assert size > len(LARGE)


def test_no_more_than_some_requests_are_sent_ahead() -> None:
    """Each waits for the answers to those before it, in order; one more than 16 ends it."""
    with Bare() as bare:
        with bare.client() as client:
            client.sendall(got("/waits") + got("/") * 15 + got("/", "connection: close"))
            wait_for(lambda: bare.seen)
            bare.goes_on.set()
            said = b""
            while part := client.recv(65536):
                said += part
        assert (said.count(b"HTTP/1.1 200"), len(bare.seen)) == (17, 17)

        bare.goes_on.clear()
        with bare.client() as client:
            client.sendall(got("/waits") + got("/") * 17)
            with contextlib.suppress(ConnectionResetError):
                assert client.recv(65536) == b""
        bare.goes_on.set()


def test_hanging_up_is_heard_behind_requests_sent_ahead() -> None:
    with Bare() as bare:
        with bare.client() as client:
            client.sendall(got("/leaves") + got("/"))
            wait_for(lambda: bare.seen)
        assert bare.gone.wait(PATIENCE)
    assert len(bare.seen) == 1


def test_what_follows_a_body_is_no_header() -> None:
    """RFC 9110 § 6.5.1: a trailer says nothing of who asks, and a proxy does not look at it."""
    trailer = b"host: localhost\r\nauthorization: Bearer one\r\nexpect: 100-continue\r\n"
    with Bare() as bare, bare.client() as client:
        chunked = got("/", "transfer-encoding: chunked").replace(b"localhost", b"evil.example")
        client.sendall(chunked + b"2\r\n{}\r\n0\r\n" + trailer + b"\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")

    assert bare.seen == [({b"host": b"evil.example", b"transfer-encoding": b"chunked"}, b"{}")]


UPGRADES = {
    "curl": ("connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABk"),
    "a browser": ("connection: upgrade", "upgrade: websocket", "sec-websocket-key: x"),
}


@pytest.mark.parametrize("more", UPGRADES.values(), ids=UPGRADES)
def test_who_would_rather_speak_another_protocol_is_answered_in_this(more: tuple[str, ...]) -> None:
    """RFC 9110 § 7.8: as `curl --http2` and Java's client ask, with the body all the same."""
    with Bare() as bare, bare.client() as client:
        asked = got("/", "content-length: 6", *more)
        client.sendall(asked + b'{"a"')
        wait_for(lambda: bare.server.server_state.tasks)
        client.sendall(b":1" + asked + b'{"b":2' + got("/", "connection: close"))
        said = b""
        while part := client.recv(65536):
            said += part

    assert said.count(b"HTTP/1.1 200") == 3
    assert [body for _, body in bare.seen] == [b'{"a":1', b'{"b":2', b""]
    assert not any(b"upgrade" in one for one, _ in bare.seen)


def test_a_tunnel_is_refused() -> None:
    with Bare() as bare, bare.client() as client:
        client.sendall(b"CONNECT there:80 HTTP/1.1\r\nhost: there:80\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 400")

    assert (bare.refused, bare.seen) == ([400], [])


def test_what_no_route_takes_is_told_and_counted_as_other() -> None:
    """Never by what the client wrote: neither in the log nor as a label."""
    told: list[tuple[str, object, object]] = []
    house = house_of(told=scripted("tech"))
    house.access = Access(
        lambda _, event, said: told.append((event, said["route"], said["status"]))
    )
    house.metrics = Metrics()
    with Running(house) as server:
        server.client.get("/zq7")
        server.client.get("/v1/decisions")
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as client:
            client.sendall(b"zq7\r\n\r\n")
            client.recv(65536)
        page = server.client.get("/metrics").text

    statuses = [404, 405, 400]
    assert told[:3] == [("server.request", "other", status) for status in statuses]
    for status in statuses:
        assert f'pointsman_http_requests_total{{route="other",status="{status}"}} 1.0' in page


def test_a_request_that_is_cut_off_is_told() -> None:
    told: list[object] = []
    house = house_of(waits=(waiting := Waits()))
    house.access = Access(lambda _, __, said: told.append(said["status"]))
    with Running(house) as server:
        body = json.dumps(asking("waits", TEAM)).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(head(len(body)) + body + got("/healthz"))
            assert waiting.entered.wait(PATIENCE)
        assert waiting.cancelled.wait(PATIENCE)
        wait_for(lambda: told)

    assert told == [499]


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

    assert status in {200, 400, 404, 409, 422, 424, 502}


@settings(max_examples=100, deadline=None)
@given(
    body=st.binary(max_size=200) | st.text(alphabet='{}[]",:\\ae1.-', max_size=80).map(str.encode)
)
def test_no_bytes_are_answered_with_a_bug(posted: Posted, body: bytes) -> None:
    assert posted("/v1/decisions", body) == 400
