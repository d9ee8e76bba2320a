"""Connections: lent again, opened again, encrypted, raced, given back; and mocks still meet us."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import respx

from faulty import ASK, PATIENCE, Server, Visit, answered, encoded, hangs, head, replies, waits
from pointsman import Decision, Gateway, Reason
from pointsman.gateway import http

COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])
LOOPS = pytest.mark.parametrize("loops", ["asyncio", "uvloop"])
ANSWER = encoded(answered())
FULL = 20  # connections that surely fill a queue of one


class Peer(NamedTuple):
    """A server of plain sockets: each connection is answered once, and then closed."""

    url: str
    port: int
    closed: threading.Semaphore


@contextmanager
def peer(
    host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, answer: bytes = ANSWER
) -> Iterator[Peer]:
    """Serve on *host*; `closed` is released after each goodbye."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listening, ExitStack() as kept:
        closed = threading.Semaphore(0)

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:  # closed below
                    return
                with connection:
                    _answer_once(connection, tls, answer)
                closed.release()

        thread = threading.Thread(target=serve)
        kept.callback(thread.join)
        kept.callback(listening.shutdown, socket.SHUT_RDWR)
        thread.start()
        scheme, name = "http" if tls is None else "https", f"[{host}]" if ":" in host else host
        port: int = listening.getsockname()[1]
        yield Peer(f"{scheme}://{name}:{port}/v1", port, closed)


def _answer_once(connection: socket.socket, tls: ssl.SSLContext | None, answer: bytes) -> None:
    with suppress(OSError):  # a client that does not trust us hangs up
        speaking = connection if tls is None else tls.wrap_socket(connection, server_side=True)
        with speaking, speaking.makefile("rb") as read:
            length = 0
            while line := read.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            read.read(length)
            speaking.sendall(head(200, len(answer), None) + answer)


@pytest.fixture
def jev(gateway_of: Callable[..., Gateway]) -> Callable[..., Gateway]:
    def make(url: str, **environ: str) -> Gateway:
        ours = {"DECISION_PROVIDER": "jev", "AI_GATEWAY_API_KEY": "k", "JEV_BASE_URL": url}
        return gateway_of({**ours, "JEV_ALLOW_HTTP": "true", **environ})

    return make


def billing() -> str:
    return "billing"


def decide(gateway: Gateway, colour: str) -> Decision[Any]:
    if colour == "sync":
        return gateway.ask_sync("TEAM", ASK, current=billing)
    return asyncio.run(gateway.ask("TEAM", ASK, current=billing))


def on(loops: str) -> Callable[[], asyncio.AbstractEventLoop]:
    made: Any = asyncio if loops == "asyncio" else pytest.importorskip("uvloop")
    return made.new_event_loop  # type: ignore[no-any-return]


# --- lent again --------------------------------------------------------------------------


@LOOPS
def test_a_server_that_hung_up_meanwhile_costs_no_decision(
    jev: Callable[..., Gateway], loops: str
) -> None:
    """It said keep-alive and closed; the loop was busy and has not read that yet."""

    async def main(there: Peer, gateway: Gateway) -> list[str]:
        seen: list[str] = []
        for _ in range(3):
            seen.append((await gateway.ask("TEAM", ASK, current=billing)).provider)
            assert there.closed.acquire(timeout=PATIENCE)  # holds the loop up
        return seen

    with peer() as there, asyncio.Runner(loop_factory=on(loops)) as runner:
        assert runner.run(main(there, jev(there.url))) == ["jev"] * 3


def test_a_server_that_hung_up_meanwhile_costs_no_decision_sync(
    jev: Callable[..., Gateway],
) -> None:
    """The same on a thread."""
    with peer() as there:
        gateway = jev(there.url)
        for _ in range(3):
            assert gateway.ask_sync("TEAM", ASK, current=billing).provider == "jev"
            assert there.closed.acquire(timeout=PATIENCE)


def test_asks_at_once_share_what_was_opened(server: Server, jev: Callable[..., Gateway]) -> None:
    """Ten at once open ten connections, whatever comes later none."""
    gateway = jev(server.url)

    async def main() -> None:
        for count in (10, 1, 10, 3):
            asks = [gateway.ask("TEAM", ASK, current=billing) for _ in range(count)]
            assert {one.provider for one in await asyncio.gather(*asks)} == {"jev"}

    asyncio.run(main())

    assert server.connections == 10


def test_what_is_idle_too_long_is_opened_again(
    server: Server, jev: Callable[..., Gateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And who was idle longest is closed by whoever comes next, so that a burst leaves nothing."""
    from pointsman.gateway import connections

    monkeypatch.setattr(connections, "KEPT_SECONDS", -1.0)
    gateway = jev(server.url)

    async def main() -> None:
        for _ in range(3):
            await gateway.ask("TEAM", ASK, current=billing)

    asyncio.run(main())
    for _ in range(3):
        gateway.ask_sync("TEAM", ASK, current=billing)

    assert server.connections == 6


def test_the_connection_used_last_is_used_next(server: Server, jev: Callable[..., Gateway]) -> None:
    """So those of a burst grow idle, and only as many stay as are needed."""
    ports: list[int] = []

    async def notes(visit: Visit) -> bool:
        ports.append(visit._writer.get_extra_info("peername")[1])
        return await replies()(visit)

    server.does(notes)
    gateway = jev(server.url)

    async def main() -> None:
        await asyncio.gather(*[gateway.ask("TEAM", ASK, current=billing) for _ in range(5)])
        for _ in range(3):
            await gateway.ask("TEAM", ASK, current=billing)

    asyncio.run(main())

    assert (len(set(ports)), len(set(ports[5:]))) == (5, 1)


def test_threads_wait_for_a_place(
    server: Server, jev: Callable[..., Gateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever gets none in time sends nothing, and the provider is not to blame."""
    monkeypatch.setattr(http, "MAX_CONNECTIONS", 3)
    server.does(waits(replies()))
    gateway = jev(server.url, DECISION_LATE_PROVIDER="jev", DECISION_LATE_DEADLINE_SECONDS="0.2")
    told: list[str] = []

    def asks() -> None:
        told.append(gateway.ask_sync("TEAM", ASK, current=billing).provider)

    threads = [threading.Thread(target=asks) for _ in range(3)]
    for thread in threads:
        thread.start()
    server.wait(3)
    late = gateway.ask_sync("LATE", ASK, current=billing)
    server.let_go()
    for thread in threads:
        thread.join()

    assert (late.provider, late.attempts[0].reason) == ("current", Reason.SKIPPED)
    assert (told, len(server.seen), server.connections) == (["jev"] * 3, 3, 3)
    asks()
    assert (told[-1], server.connections) == ("jev", 3)


def test_other_servers_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all places are taken by idle connections, those give way to another server's."""
    monkeypatch.setattr(http, "MAX_CONNECTIONS", 2)
    with Server() as one, Server() as two, Server() as three, http.sync_client() as client:
        for there in (one, two, one, three, one):
            assert client.get(there.url).status_code == 200

        assert [there.connections for there in (one, two, three)] == [2, 1, 1]


def test_closing_ends_what_is_under_way(server: Server, jev: Callable[..., Gateway]) -> None:
    """The socket is closed, and whoever waits falls back at once."""
    server.does(hangs())
    gateway = jev(server.url)

    async def main() -> Decision[Any]:
        asked = asyncio.create_task(gateway.ask("TEAM", ASK, current=billing))
        await server.reached()
        await gateway.aclose()
        await server.abandoned()
        return await asked

    decision = asyncio.run(main())

    assert (decision.provider, decision.record.reason) == ("current", Reason.TRANSPORT)


# --- what arrives ------------------------------------------------------------------------


@COLOURS
def test_a_long_answer_arrives_whole(
    server: Server, jev: Callable[..., Gateway], colour: str
) -> None:
    """More than is held at once for a reader."""
    server.does(replies(ANSWER + b" " * 700_000))

    assert decide(jev(server.url), colour).provider == "jev"


# --- whom it trusts ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for 127.0.0.1 and decisions.invalid, in one file."""
    if (openssl := shutil.which("openssl")) is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    key, made = folder / "key.pem", folder / "certificate.pem"
    told = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=here"
    )
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:decisions.invalid"]
    where = ["-keyout", str(key), "-out", str(made)]
    subprocess.run([openssl, *told.split(), *names, *where], check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes(key.read_bytes() + made.read_bytes())
    return both


@pytest.fixture
def fresh_trust() -> Iterator[None]:
    """Certificates are read once in a process; here once more."""
    http._tls.cache_clear()
    yield
    http._tls.cache_clear()


@pytest.mark.usefixtures("fresh_trust")
@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
@pytest.mark.parametrize("colour", ["sync", "asyncio", "uvloop"])
def test_tls_is_verified(
    jev: Callable[..., Gateway],
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    colour: str,
    *,
    trusted: bool,
) -> None:
    """Whoever is not trusted is told nothing; `SSL_CERT_FILE` says who is, as for httpx."""
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)

    with peer(tls=tls, answer=ANSWER + b" " * 300_000) as there:
        gateway = jev(there.url, JEV_MAX_ATTEMPTS="1")
        if colour == "sync":
            decision = gateway.ask_sync("TEAM", ASK, current=billing)
        else:
            with asyncio.Runner(loop_factory=on(colour)) as runner:
                decision = runner.run(gateway.ask("TEAM", ASK, current=billing))

    expected = ("jev", Reason.OK) if trusted else ("current", Reason.TRANSPORT)
    assert (decision.provider, decision.record.reason) == expected


@contextmanager
def tunnel(to: int) -> Iterator[int]:
    """A proxy for one connection; yields its port, and ends it at the end."""
    with socket.create_server(("127.0.0.1", 0)) as listening, ExitStack() as kept:

        def copy(read: socket.socket, write: socket.socket) -> None:
            with suppress(OSError):
                while data := read.recv(65536):
                    write.sendall(data)
            with suppress(OSError):
                write.shutdown(socket.SHUT_WR)

        def serve() -> None:
            client, _ = listening.accept()
            with client, socket.create_connection(("127.0.0.1", to)) as there:
                assert client.recv(65536).startswith(b"CONNECT decisions.invalid:443 ")
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                back = threading.Thread(target=copy, args=(there, client))
                back.start()
                copy(client, there)
                back.join()

        thread = threading.Thread(target=serve)
        kept.callback(thread.join, PATIENCE)
        thread.start()
        yield listening.getsockname()[1]


@pytest.mark.usefixtures("fresh_trust")
@COLOURS
def test_a_proxy_tunnels_tls(
    gateway_of: Callable[..., Gateway],
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    colour: str,
) -> None:
    """The proxy sees a name, and the server's certificate is verified behind it."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    for name in ("NO_PROXY", "no_proxy", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    with peer(tls=tls) as there, tunnel(there.port) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        ours = {"DECISION_PROVIDER": "jev", "AI_GATEWAY_API_KEY": "k"}
        with gateway_of({**ours, "JEV_BASE_URL": "https://decisions.invalid/v1"}) as gateway:
            assert decide(gateway, colour).provider == "jev"


# --- which address -----------------------------------------------------------------------


@contextmanager
def silent(port: int) -> Iterator[str]:
    """An address where nobody accepts: its queue is full, so a connect hangs."""
    with socket.socket() as listening, ExitStack() as kept:
        listening.bind(("127.0.0.2", port))
        listening.listen(0)
        for _ in range(FULL):
            one = kept.enter_context(socket.socket())
            one.settimeout(0)
            one.connect_ex(("127.0.0.2", port))
        yield "127.0.0.2"


@LOOPS
@pytest.mark.parametrize("before", ["refusing", "silent"])
@pytest.mark.skipif(not Path("/proc/sys/net").exists(), reason="127.0.0.2 is Linux's")
def test_an_address_that_fails_or_hangs_gives_way_to_the_next(
    server: Server,
    jev: Callable[..., Gateway],
    monkeypatch: pytest.MonkeyPatch,
    loops: str,
    before: str,
) -> None:
    """RFC 8305: the next address is tried beside the first one, not when its time is over."""
    resolve = socket.getaddrinfo

    def two(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        if host != "decisions.invalid":
            return list(resolve(host, port, *args, **kwargs))
        given = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*given, (address, port)) for address in ("127.0.0.2", "127.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", two)
    loop = on(loops)()
    if loops == "uvloop":  # it resolves by itself

        async def resolved(host: str, port: int, **kwargs: Any) -> list[Any]:
            return two(host, port, **kwargs)

        class Loop(type(loop)):  # type: ignore[misc]
            getaddrinfo = staticmethod(resolved)

        loop.close()
        loop = Loop()

    gateway = jev(f"http://decisions.invalid:{server.port}/v1", JEV_TIMEOUT_SECONDS=str(PATIENCE))
    with ExitStack() as kept, asyncio.Runner(loop_factory=lambda: loop) as runner:
        if before == "silent":
            kept.enter_context(silent(server.port))
        decision = runner.run(gateway.ask("TEAM", ASK, current=billing))

    assert decision.provider == "jev"
    assert server.connections == 1


@COLOURS
@pytest.mark.parametrize("host", ["no-such-name.invalid", f"{'x' * 70}.invalid"])
def test_a_name_without_an_address_is_a_fault_of_transport(
    jev: Callable[..., Gateway], colour: str, host: str
) -> None:
    """Also one that cannot be a name at all."""
    gateway = jev(f"http://{host}/v1", JEV_MAX_ATTEMPTS="1")

    assert decide(gateway, colour).record.reason is Reason.TRANSPORT


@COLOURS
def test_an_address_of_ipv6_is_reached(jev: Callable[..., Gateway], colour: str) -> None:
    """In brackets, as in every URL."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            pass
    except OSError:
        pytest.skip("no IPv6 here")
    with peer("::1") as there:
        assert decide(jev(there.url), colour).provider == "jev"


# --- a host's own tests ------------------------------------------------------------------


@COLOURS
@pytest.mark.parametrize("using", ["httpcore", "httpx"])
def test_a_mock_of_respx_meets_our_requests(
    jev: Callable[..., Gateway], using: str, colour: str
) -> None:
    """A host's tests mock the network by respx; nothing of ours goes past it."""
    with respx.mock(using=using) as router:
        route = router.post("https://decisions.invalid/v1/decisions")
        route.mock(return_value=httpx.Response(200, content=ANSWER))
        gateway = jev("https://decisions.invalid/v1")

        assert [decide(gateway, colour).provider for _ in range(2)] == ["jev", "jev"]

    assert json.loads(route.calls[0].request.content)["input"] == ASK.text
