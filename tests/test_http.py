"""The HTTP client: what is sent, what is retried, and that nothing outlasts its deadline."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable, Generator
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faulty import ASK, Does, Server, Visit, answered, chosen, drips, drops, failed, hangs, replies
from pointsman import (
    Ask,
    Call,
    Chosen,
    Decision,
    Gateway,
    HttpRequest,
    HttpResponse,
    Limits,
    NoAnswer,
    Reason,
    Reply,
)
from pointsman.gateway.http import MAX_BODY, reason_of
from pointsman.gateway.retries import RETRIED, retry_after

COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])


@pytest.fixture
def jev(server: Server, gateway_of: Callable[..., Gateway]) -> Callable[..., Gateway]:
    def make(**environ: str) -> Gateway:
        ours = {
            "DECISION_PROVIDER": "jev",
            "AI_GATEWAY_API_KEY": "the-key",
            "JEV_BASE_URL": server.url,
        }
        return gateway_of({**ours, **environ})

    return make


def decide(gateway: Gateway, colour: str, ask: Ask = ASK) -> Decision[Any]:
    if colour == "sync":
        return gateway.ask_sync("TEAM", ask, current=lambda: "billing")
    return asyncio.run(gateway.ask("TEAM", ask, current=lambda: "billing"))


# --- what is sent ------------------------------------------------------------------------


@COLOURS
def test_one_decision_is_one_post(server: Server, jev: Callable[..., Gateway], colour: str) -> None:
    """Method, path, key, agent, body: the whole of it."""
    decision = decide(jev(), colour)

    assert (decision.value, decision.provider) == ("tech", "jev")
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", "/v1/decisions")
    assert seen.headers["authorization"] == "Bearer the-key"
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["user-agent"].startswith("pointsman/")
    assert json.loads(seen.body) == {
        "model": "typesafe-ai/jev",
        "input": "my router is dead",
        "questions": [
            {
                "type": "choice",
                "name": "team",
                "instructions": "Which team takes it?",
                "choices": [
                    {"value": "billing", "description": "Amounts"},
                    {"value": "tech", "description": "Faults"},
                    {"value": "none", "description": "Neither"},
                ],
            }
        ],
        "providerOptions": {"gateway": {"only": ["typesafe-ai"]}},
    }


@COLOURS
def test_the_answers_own_story_is_recorded(
    server: Server, jev: Callable[..., Gateway], colour: str
) -> None:
    """Model served, request id, tokens and cost."""
    server.does(replies(answered(), headers={"x-request-id": "req_1"}))

    (attempt,) = decide(jev(), colour).attempts

    assert (attempt.model, attempt.request_id) == ("typesafe-ai/jev-1.13.0", "req_1")
    assert attempt.usage is not None
    assert (attempt.usage.input_tokens, attempt.usage.cost_usd) == (212, 0.0000089)
    assert not attempt.usage.estimated


@pytest.mark.parametrize(
    "metadata", [None, {"gateway": {"cost": "0"}}, {"gateway": {}}, {"gateway": {"cost": "?"}}]
)
def test_a_cost_that_is_absent_or_nothing_is_estimated(
    server: Server, jev: Callable[..., Gateway], metadata: object
) -> None:
    """While free credit lasts the gateway says 0; the list price counts then, and says so."""
    server.does(replies(answered(provider_metadata=metadata)))

    (attempt,) = decide(jev(), "sync").attempts

    assert attempt.usage is not None
    assert attempt.usage.estimated
    assert attempt.usage.cost_usd == pytest.approx(212 * 0.042e-6)


@COLOURS
def test_a_redirect_is_not_followed(
    server: Server, jev: Callable[..., Gateway], colour: str
) -> None:
    """The key goes to the configured address and nowhere else."""
    server.does(replies(b"", 307, {"location": f"{server.url}/elsewhere"}), replies())

    assert decide(jev(), colour).record.reason is Reason.REJECTED
    assert len(server.seen) == 1


@COLOURS
def test_a_proxy_of_the_environment_is_used_in_both_colours(
    server: Server,
    jev: Callable[..., Gateway],
    monkeypatch: pytest.MonkeyPatch,
    colour: str,
) -> None:
    """Behind a company's proxy the sync form reaches the service as well as the async one."""
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.port}")
    for name in ("NO_PROXY", "no_proxy", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    there = {"JEV_BASE_URL": "http://decisions.invalid/v1", "JEV_ALLOW_HTTP": "true"}
    decision = decide(jev(**there), colour)

    assert decision.provider == "jev"
    assert [seen.path for seen in server.seen] == ["http://decisions.invalid/v1/decisions"]


# --- what is retried ---------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 409, 413, 418, 422, 424, 451])
def test_other_client_errors_are_never_retried(
    server: Server, jev: Callable[..., Gateway], status: int
) -> None:
    """Asking again what was refused is no better."""
    server.does(replies(failed("no"), status))

    decide(jev(JEV_MAX_ATTEMPTS="5"), "sync")

    assert len(server.seen) == 1


@COLOURS
@pytest.mark.parametrize("status", sorted(RETRIED))
def test_passing_faults_are_retried_within_the_attempts(
    server: Server, jev: Callable[..., Gateway], status: int, colour: str
) -> None:
    """408, 429 with Retry-After, 500, 502, 503, 504, 524, 529: three attempts, three requests."""
    server.does(replies(failed("no"), status, {"retry-after": "0"}))

    decision = decide(jev(JEV_MAX_ATTEMPTS="3"), colour)

    assert len(server.seen) == 3
    assert decision.record.reason is reason_of(status)
    assert len(decision.attempts) == 2  # one of the provider, however often it was sent


@COLOURS
@pytest.mark.parametrize("does", [drops(), replies(b"{"), replies(b"", 200)])
def test_what_may_have_been_decided_is_not_sent_again(
    server: Server, jev: Callable[..., Gateway], does: Does, colour: str
) -> None:
    """A connection lost after sending, or an answer that cannot be read, is billed once."""
    server.does(does)

    decide(jev(JEV_MAX_ATTEMPTS="5"), colour)

    assert len(server.seen) == 1


@COLOURS
def test_a_retry_never_outlasts_the_timeout(
    server: Server, jev: Callable[..., Gateway], colour: str
) -> None:
    """A Retry-After that does not fit ends the ask at once, with the server's own reason."""
    server.does(replies(failed("no"), 503, {"retry-after": "60"}))

    decision = decide(jev(JEV_TIMEOUT_SECONDS="30"), colour)

    assert decision.record.reason is Reason.PROVIDER_ERROR
    assert len(server.seen) == 1


@COLOURS
def test_attempts_share_one_timeout(
    server: Server, jev: Callable[..., Gateway], colour: str
) -> None:
    """The second attempt gets what the first has left, not a timeout of its own."""
    server.does(replies(failed("no"), 503, {"retry-after": "0"}), hangs())

    decision = decide(jev(JEV_TIMEOUT_SECONDS="0.6"), colour)

    assert decision.record.reason is Reason.TIMEOUT
    assert len(server.seen) == 2
    assert not decision.attempts[0].late


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("3", 3), ("1.5", 1.5), ("-4", 0), ("", None), ("soon", None), ("nan", None)],
)
def test_retry_after_in_seconds(text: str, seconds: float | None) -> None:
    """A number; nothing that cannot be read counts."""
    assert retry_after({"retry-after": text}) == seconds


@pytest.mark.parametrize(
    ("finer", "seconds"), [("250", 0.25), ("0", 0), ("-1", 0), ("", 3), ("soon", 3), ("nan", 3)]
)
def test_milliseconds_come_first(finer: str, seconds: float) -> None:
    """protocols §4: as TypeSafe's own client reads them."""
    assert retry_after({"retry-after-ms": finer, "retry-after": "3"}) == seconds


@COLOURS
@pytest.mark.parametrize("wait", [{}, {"retry-after": "soon"}, {"retry-after": ""}])
def test_a_rate_limit_that_does_not_say_when_is_not_sent_again(
    server: Server, jev: Callable[..., Gateway], wait: dict[str, str], colour: str
) -> None:
    """protocols §11.3: a value that nobody can read says nothing."""
    server.does(replies(failed("rate_limit_exceeded"), 429, wait))

    decision = decide(jev(JEV_MAX_ATTEMPTS="5"), colour)

    assert decision.record.reason is Reason.RATE_LIMITED
    assert len(server.seen) == 1


@COLOURS
@pytest.mark.parametrize(
    "wait", [{"retry-after-ms": "0"}, {"retry-after-ms": "1", "retry-after": ""}]
)
def test_a_rate_limit_may_say_when_in_milliseconds(
    server: Server, jev: Callable[..., Gateway], wait: dict[str, str], colour: str
) -> None:
    server.does(replies(failed("rate_limit_exceeded"), 429, wait), replies())

    decision = decide(jev(), colour)

    assert (decision.provider, len(server.seen)) == ("jev", 2)


@COLOURS
@pytest.mark.parametrize(
    ("status", "says", "calls"),
    [(503, "false", 1), (503, "False", 1), (429, "false", 1), (503, "true", 2)],
)
def test_a_server_may_forbid_to_be_asked_again(
    server: Server, jev: Callable[..., Gateway], status: int, says: str, calls: int, colour: str
) -> None:
    """`x-should-retry: false`, as our own server says it, outranks the status and any wait."""
    never = {"x-should-retry": says, "retry-after": "0"}
    server.does(replies(failed("overloaded"), status, never))

    decide(jev(), colour)

    assert len(server.seen) == calls


def test_retry_after_as_a_date() -> None:
    """An HTTP date is as long as it is away; a past one is now."""
    later = retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})

    assert later == pytest.approx(100, abs=5)
    assert retry_after({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}) == 0


@given(
    st.one_of(
        st.text(),
        st.from_regex(r"Mon, \d{1,3} Jan \d{1,6} \d\d:\d\d:\d\d [+-]?\d{1,25}", fullmatch=True),
    )
)
def test_any_retry_after_is_read_without_a_fault(text: str) -> None:
    """A server may write there what it likes."""
    assert (retry_after({"retry-after": text}) or 0) >= 0


@given(st.integers(300, 599))
def test_every_status_has_a_reason(status: int) -> None:
    """No status is unknown; 5xx are the provider's, the rest ours."""
    reason = reason_of(status)

    assert reason is not Reason.OK
    if status >= 500:
        assert reason is Reason.PROVIDER_ERROR


# --- bodies ------------------------------------------------------------------------------


@COLOURS
@pytest.mark.parametrize(
    "body", [gzip.compress(b"{}"), gzip.compress(b" " * (MAX_BODY + 1))], ids=["small", "bomb"]
)
def test_a_packed_answer_is_not_unpacked(
    server: Server, jev: Callable[..., Gateway], body: bytes, colour: str
) -> None:
    """Undecodable or endless: `malformed`, without holding it."""
    server.does(replies(body, headers={"content-encoding": "gzip"}))

    assert decide(jev(), colour).record.reason is Reason.MALFORMED


@COLOURS
def test_a_large_state_arrives_whole(
    server: Server, jev: Callable[..., Gateway], colour: str
) -> None:
    """More than the sockets' buffers hold."""
    state = "é" * 119_000

    assert decide(jev(), colour, Ask(state, ASK.questions)).provider == "jev"
    assert json.loads(server.seen[0].body)["input"] == state


@COLOURS
def test_a_connection_the_server_closed_is_opened_again(
    server: Server, jev: Callable[..., Gateway], colour: str
) -> None:
    """`connection: close` after an answer costs the next decision nothing but a connect."""

    async def once(visit: Visit) -> bool:
        await replies(headers={"connection": "close"})(visit)
        return False

    server.does(once)
    gateway = jev()

    assert [decide(gateway, colour).provider for _ in range(3)] == ["jev"] * 3
    assert server.connections == 3


# --- a provider of one's own over HTTP ---------------------------------------------------


class TwoSteps:
    """Fetches a ticket first, then asks with it."""

    name, limits, timeout, attempts = "steps", Limits(), 10.0, 2

    def __init__(self, url: str) -> None:
        self._url = url
        self.closed = False

    def exchange(self, ask: Ask, call: Call) -> Generator[HttpRequest, HttpResponse, Reply]:
        try:
            ticket = yield HttpRequest("GET", f"{self._url}/ticket")
            said = yield HttpRequest("POST", f"{self._url}/ask", {}, ticket.content)
            if said.status != 200:
                raise NoAnswer(reason_of(said.status))
            return Reply({"team": Chosen("tech", None, 0.9)})
        finally:
            self.closed = True


@COLOURS
def test_an_exchange_may_take_several_steps(
    server: Server, gateway_of: Callable[..., Gateway], colour: str
) -> None:
    """Each request is retried by itself; all share one connection."""
    busy = replies(failed("busy"), 503, {"retry-after": "0"})
    server.does(replies(b"T-1"), busy, replies())
    gateway, provider = gateway_of(), TwoSteps(server.url)

    with gateway.override({"TEAM": provider}):
        assert decide(gateway, colour).provider == "steps"

    assert [(seen.method, seen.body) for seen in server.seen] == [
        ("GET", b""),
        ("POST", b"T-1"),
        ("POST", b"T-1"),
    ]
    assert (server.connections, provider.closed) == (1, True)


@COLOURS
@pytest.mark.parametrize("does", [hangs(), drips("head"), drips("body")])
def test_an_exchange_is_closed_whatever_happens(
    server: Server, gateway_of: Callable[..., Gateway], does: Does, colour: str
) -> None:
    """Its `finally` runs also where the second step does not end in time."""
    server.does(replies(b"T-1"), does)
    gateway, provider = gateway_of(), TwoSteps(server.url)
    provider.timeout = 0.3

    with gateway.override({"TEAM": provider}):
        decision = decide(gateway, colour)

    assert (decision.record.reason, provider.closed) == (Reason.TIMEOUT, True)


class Broken:
    """Yields what cannot be sent, or raises between the steps."""

    name, limits, timeout, attempts = "broken", Limits(), 10.0, 1

    def __init__(self, url: str, bug: Exception | None = None) -> None:
        self._url, self._bug = url, bug

    def exchange(self, ask: Ask, call: Call) -> Generator[HttpRequest, HttpResponse, Reply]:
        yield HttpRequest("GET", self._url)
        raise self._bug or NoAnswer(Reason.ABSTAINED)


@COLOURS
@pytest.mark.parametrize(
    ("url", "bug", "reason"),
    [
        ("{}", None, Reason.ABSTAINED),
        ("{}", KeyError("answers"), Reason.PROVIDER_ERROR),
        ("{}", StopIteration("bug"), Reason.PROVIDER_ERROR),
        ("nothing", None, Reason.TRANSPORT),
        ("ftp://127.0.0.1/x", None, Reason.TRANSPORT),
        ("http://[::1/x", None, Reason.TRANSPORT),
    ],
)
def test_a_broken_exchange_falls_back(
    server: Server,
    gateway_of: Callable[..., Gateway],
    url: str,
    bug: Exception | None,
    reason: Reason,
    colour: str,
) -> None:
    """A stranger's bug between two steps, or an address that is none, is a listed reason."""
    gateway = gateway_of()

    with gateway.override({"TEAM": Broken(url.format(server.url), bug)}):
        decision = decide(gateway, colour)

    assert (decision.provider, decision.record.reason) == ("current", reason)


def test_answers_are_read_by_position_and_checked_by_name(
    server: Server, jev: Callable[..., Gateway]
) -> None:
    """An answer without a name is taken by its place; a level's label is not needed."""
    server.does(replies(answered(chosen(name=None))))

    assert decide(jev(), "sync").provider == "jev"
