"""`pointsman serve` as a process: how it starts, what it bounds, how it ends."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from commanding import ASKED, FOREIGN, PATIENCE, Command, asked, numbers
from faulty import Server, failed, replies, waits
from pointsman.gateway.cli.app import app
from pointsman.gateway.journal.store import Store
from pointsman.gateway.journal.trial import tried
from pointsman.gateway.journaling import journal_settings
from pointsman.gateway.settings import Settings

JEV = {"AI_GATEWAY_API_KEY": "canary-key", "DECISION_ROUTER_PROVIDER": "jev"}
DECISIONS = "/v1/decisions"


def jev(server: Server) -> dict[str, str]:
    return {**JEV, "JEV_BASE_URL": server.url, "JEV_MAX_ATTEMPTS": "1"}


def kept(folder: Path) -> dict[str, int]:
    """How many decisions the journal in *folder* holds, by point."""
    store = Store.open(f"sqlite:///{folder / '.pointsman' / 'journal.db'}")
    try:
        return dict(store.points())
    finally:
        store.close()


# --- what is wrong is said before anybody is served --------------------------------------


@pytest.fixture
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)


FAULTS: Mapping[str, tuple[list[str], dict[str, str], str]] = {
    "an open address without keys": (
        ["--host", "0.0.0.0"],  # noqa: S104 - it is refused
        {},
        r"--host: .*0\.0\.0\.0.* no key .*pointsman keys create",
    ),
    "the same by its variable": ([], {"SERVER_HOST": "::"}, r"SERVER_HOST: .*no key"),
    "no address of this machine": (
        ["--host", "pointsman.invalid"],
        {},
        r"--host: 'pointsman.invalid' is no address of a machine",
    ),
    "an address with a scheme": (
        [],
        {"SERVER_HOST": "http://127.0.0.1"},
        r"SERVER_HOST: .*is no address.*without scheme or port",
    ),
    "an address with a port": (
        ["--host", "127.0.0.1:9000"],
        {},
        r"--host: .*is no address.*SERVER_PORT",
    ),
    "an address of no machine": ([], {"SERVER_HOST": "999.1.1.1"}, r"SERVER_HOST: .*no address"),
    "more options than a choice takes": (
        [],
        {"SERVER_MAX_OPTIONS": "256"},
        r"SERVER_MAX_OPTIONS: .*from 2 to 255",
    ),
    "a journal where no file can be made": (
        [],
        {"DECISION_JOURNAL": "sqlite:////proc/x.db"},
        r"DECISION_JOURNAL: rows cannot be kept.*Name a file",
    ),
    "a spool where no folder can be made": (
        [],
        {"DECISION_JOURNAL_SPOOL": "/proc/spool"},
        r"DECISION_JOURNAL_SPOOL: rows cannot be kept.*Name a folder",
    ),
    "a program as a file": (["--app", "app.py:gateway"], {}, r"--app: .*a file.*app:gateway"),
    "a program in another folder": (["--app", "../app:gateway"], {}, r"--app: .*no name with dots"),
    "a program with a colon too many": (["--app", "app:gateway:x"], {}, r"--app: .*'gateway:x' is"),
    "a port that is no number": ([], {"SERVER_PORT": "http"}, r"SERVER_PORT: .*whole number"),
    "no worker": (["--workers", "0"], {}, r"--workers: .*from 1 to 256"),
    "an unknown provider": ([], {"DECISION_PROVIDER": "jevv"}, r"DECISION_PROVIDER: .*jevv"),
    "a provider without its key": ([], {"DECISION_PROVIDER": "jev"}, r"AI_GATEWAY_API_KEY: .*"),
    "a program that is not there": (["--app", "nowhere:gateway"], {}, r"--app: .*nowhere"),
}


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize(("words", "variables", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_said_at_start_and_ends_with_2(
    words: list[str], variables: dict[str, str], said: str
) -> None:
    """One line for each, with what to do; nothing listens and no journal is made."""
    ran = CliRunner().invoke(app, ["serve", *words], env=variables)

    assert ran.exit_code == 2
    assert len(ran.stderr.splitlines()) == 1
    assert re.search(said, ran.stderr)
    assert not Path(".pointsman").exists()


@pytest.mark.usefixtures("_alone")
def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = CliRunner().invoke(app, ["serve", "--port", port])

    assert ran.exit_code == 2
    why = os.strerror(errno.EADDRINUSE)
    assert f"--port: port {port} of 127.0.0.1 cannot be had ({why})." in ran.stderr


@pytest.mark.usefixtures("_alone")
def test_an_address_of_another_machine_blames_the_host() -> None:
    """192.0.2.0/24 is for documents (RFC 5737): no machine has an address of it."""
    runner = CliRunner()
    assert runner.invoke(app, ["keys", "create", "web"]).exit_code == 0
    ran = runner.invoke(app, ["serve", "--host", "192.0.2.1", "--port", "0"])

    assert ran.exit_code == 2
    assert "--host: '192.0.2.1' is no address of this machine" in ran.stderr


@pytest.mark.usefixtures("_alone")
def test_doctor_tries_the_journal() -> None:
    """What `serve` would end with is said before anybody serves."""
    ran = CliRunner().invoke(app, ["doctor"], env={"DECISION_JOURNAL": "sqlite:////proc/x.db"})

    assert ran.exit_code == 1
    assert "DECISION_JOURNAL: rows cannot be kept" in " ".join(ran.stdout.split())


@pytest.mark.usefixtures("_alone")
def test_a_tried_journal_is_empty_and_its_key_is_none_that_was_lost() -> None:
    """The trial leaves no row and no file in the spool."""
    url = "sqlite:///journal.db"
    settings = journal_settings(Settings.read({"DECISION_JOURNAL": url}))
    assert settings is not None
    tried(settings)

    assert not list(Path("journal.db.spool").iterdir())
    assert Path("journal.db.key").stat().st_mode & 0o777 == 0o600
    store = Store.open(url)
    assert list(store.rows()) == []
    store.close()


# --- a folder that may not be written ------------------------------------------------------


@pytest.fixture
def caged() -> tuple[str, ...]:
    """What a command runs under, so that the rights of files hold for it."""
    if os.geteuid():
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to change that")
    return "setpriv", "--bounding-set", "-dac_override,-dac_read_search"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """One whose journal holds a key for nothing but feedback."""
    yield tmp_path
    for path in (tmp_path, tmp_path / ".pointsman"):
        if path.exists():
            path.chmod(0o755)


def keyed(folder: Path) -> str:
    """Make a key there, and give it; the part in the middle is its id."""
    with Command(folder, "keys", "create", "web", "--scope", "feedback") as command:
        assert command.ended() == 0
        return command.out[0]


def test_a_folder_that_is_not_writable_opens_no_door(folder: Path, caged: tuple[str, ...]) -> None:
    """The journal that is there is used, and with it the keys; the log says whose is refused."""
    token = keyed(folder)
    folder.chmod(0o555)
    with Command(folder, "serve", "--port", "0", under=caged) as command:
        port = command.port()
        assert asked(port, "POST", DECISIONS, ASKED)[0] == 401
        said = {"authorization": f"Bearer {token}"}
        assert asked(port, "POST", DECISIONS, ASKED, **said)[0] == 403
        whose = [one["key"] for one in command.told("server.request", 2)]
        assert whose == [None, token.split("_")[1]]
        assert any(line.startswith("journal    sqlite:///.pointsman") for line in command.out)


@pytest.mark.parametrize("mode", [0o000, 0o555], ids=["not readable", "not writable"])
def test_a_journal_that_cannot_be_used_keeps_it_from_serving(
    folder: Path, caged: tuple[str, ...], mode: int
) -> None:
    """It may hold keys: to go on without it would let everybody in."""
    keyed(folder)
    (folder / ".pointsman").chmod(mode)
    with Command(folder, "serve", "--port", "0", under=caged) as command:
        assert command.ended() == 2
        assert "✗ DECISION_JOURNAL: " in command.err[0]
        assert not command.out


def test_without_a_journal_a_folder_that_takes_none_is_told(
    folder: Path, caged: tuple[str, ...]
) -> None:
    """There was never a key, so nobody gets in who was kept out; but nothing is kept."""
    folder.chmod(0o555)
    with Command(folder, "serve", "--port", "0", under=caged) as command:
        command.port()
        assert any(line.startswith("! DECISION_JOURNAL: this folder") for line in command.err)
        assert "journal    off" in command.out


def test_keys_are_listed_that_may_only_be_read(folder: Path, caged: tuple[str, ...]) -> None:
    """And where nobody may look, it is said with what to do."""
    id_ = keyed(folder).split("_")[1]
    (folder / ".pointsman").chmod(0o555)
    with Command(folder, "keys", "list", under=caged) as command:
        assert command.ended() == 0
        assert any(id_ in line for line in command.out)
    (folder / ".pointsman").chmod(0o000)
    with Command(folder, "keys", "list", under=caged) as command:
        assert command.ended() == 2
        assert "its folder cannot be read" in command.err[0]
        assert "Let this user" in "".join(command.err)


@pytest.mark.usefixtures("_alone")
def test_a_missing_library_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ran = CliRunner().invoke(app, ["serve"])

    assert ran.exit_code == 2
    assert (
        'uvicorn, which the server needs, is not installed. Run: pip install "pointsman[cli,s'
        in (ran.stderr)
    )


# --- one worker --------------------------------------------------------------------------

STRICT = {
    "SERVER_HEADER_SECONDS": "0.5",
    "SERVER_MAX_HEADER_BYTES": "2048",
    "SERVER_MAX_HEADERS": "20",
    "SERVER_WORKRES": "2",
}


@pytest.fixture(scope="module")
def one(one_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """One worker with narrow bounds."""
    folder = tmp_path_factory.mktemp("one")
    with Command(folder, "serve", "--port", "0", **jev(one_server), **STRICT) as command:
        command.port()
        yield command


def test_the_start_says_where_whom_and_what_is_kept(one: Command) -> None:
    """And nothing of a key; what looks like a variable of the server, but is none, is named."""
    port = one.port()
    said = dict(line.split(maxsplit=1) for line in one.out[1:])

    assert one.out[0] == f"✓ serving on http://127.0.0.1:{port}"
    assert said["points"] == "34 points, 1 with a provider of their own"
    assert said["providers"] == (
        "local (for current: CURRENT_PROVIDER), jev (DECISION_ROUTER_PROVIDER)"
    )
    assert said["keys"].startswith("none")
    assert said["journal"] == "sqlite:///.pointsman/journal.db, content hash"
    assert any("SERVER_WORKRES" in line and "SERVER_WORKERS" in line for line in one.err)
    assert "canary" not in "".join([*one.out, *one.err])


@pytest.mark.usefixtures("server")
def test_a_request_is_one_event_without_content(one: Command) -> None:
    """Method, route, status, time, key, decision and reason: no path, query, state or answer."""
    status, _, headers = asked(one.port(), "POST", f"{DECISIONS}?canary-query=1", ASKED)

    event = one.told("server.request")[-1]
    assert status == 200
    assert event.keys() == {
        *("event", "level", "timestamp", "method", "route", "status", "duration_ms"),
        *("key", "decision", "reason"),
    }
    assert (event["method"], event["route"], event["status"]) == ("POST", DECISIONS, 200)
    assert event["decision"] == headers["x-request-id"]
    assert event["reason"] == "ok"
    assert "canary" not in "".join(one.err)


def test_no_header_says_what_serves(one: Command) -> None:
    _, _, headers = asked(one.port(), "GET", "/healthz")
    assert "server" not in headers


def spoken(port: int, *parts: bytes) -> bytes:
    """Send *parts* on one connection, and give all that comes until the server closes it."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        for part in parts:
            try:
                connection.sendall(part)
            except OSError:  # it was closed while we spoke
                break
        said = b""
        try:
            while more := connection.recv(65536):
                said += more
        except ConnectionResetError:
            pass
        return said


ALIVE = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n"
HEADS: Mapping[str, tuple[list[bytes], list[bytes]]] = {
    "nothing at all": ([b""], [b"408"]),
    "half a head": ([b"GET /healthz HTTP/1.1\r\nhost: loc"], [b"408"]),
    "blank lines before a head that never comes": ([b"\r\n\r\n"], [b"408"]),
    "a second head that stops": ([ALIVE + b"\r\n", b"GET /hea"], [b"200", b"408"]),
    "the same in one piece": ([ALIVE + b"\r\nGET /hea"], [b"200", b"408"]),
    "a header that is too long": ([ALIVE + b"x: " + b"y" * 4096 + b"\r\n\r\n"], [b"431"]),
    "a header without end": ([ALIVE + b"x: ", *([b"y" * 1024] * 64)], [b"431"]),
    "a path that is too long": ([b"GET /" + b"y" * 4096 + b" HTTP/1.1\r\n\r\n"], [b"431"]),
    "too many headers": ([ALIVE + b"x: y\r\n" * 30 + b"\r\n"], [b"431"]),
    "no HTTP": ([b"\x16\x03\x01 hello\r\n\r\n"], [b"400"]),
}


@pytest.mark.parametrize(("parts", "statuses"), HEADS.values(), ids=HEADS)
def test_heads_are_bounded_in_time_and_size(
    one: Command, parts: list[bytes], statuses: list[bytes]
) -> None:
    """A client that drips, floods or is silent is cut off, and told why where it can be."""
    said = spoken(one.port(), *parts)
    lines = [part.split(b" ")[0] for part in said.split(b"HTTP/1.1 ")[1:]]
    # what is sent after the server has closed resets the connection, and may take the answer along
    assert lines == statuses or (lines == [] and len(parts) > 2)


def test_a_body_that_is_larger_than_is_taken_is_cut(one: Command) -> None:
    """Also one in pieces, of which nobody says the size, and one whose trailer never ends."""
    head = b"POST /v1/decisions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    pieces = [head + b"transfer-encoding: chunked\r\n\r\n", *([piece] * 64)]
    trailer = [
        head + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx: ",
        *([b"y" * 65536] * 64),
    ]

    for parts in (pieces, trailer):
        said = spoken(one.port(), *parts)
        assert said == b"" or said.startswith((b"HTTP/1.1 413", b"HTTP/1.1 4"))


def test_an_operators_fault_turns_it_degraded(one: Command, server: Server) -> None:
    """It still answers by the fallback, so it is ready; the fault names provider and reason."""
    assert asked(one.port(), "GET", "/readyz")[:2] == (200, {"status": "ok"})
    server.does(replies(failed("authentication_error", "invalid_api_key", "canary-foreign"), 401))

    status, _, _ = asked(one.port(), "POST", DECISIONS, ASKED)

    assert status == 424
    fault = {"provider": "jev", "reason": "auth"}
    degraded = {"status": "degraded", "faults": [fault]}
    assert asked(one.port(), "GET", "/readyz")[:2] == (200, degraded)
    assert asked(one.port(), "GET", "/healthz")[0] == 200
    series = 'pointsman_operator_fault{provider="jev",reason="auth"}'
    assert numbers(one.port())[series] == 1
    assert numbers(one.port())['pointsman_breaker_open{provider="jev"}'] == 1
    assert "canary" not in "".join(one.err)


# --- how it ends -------------------------------------------------------------------------


class Asking(threading.Thread):
    """A client that waits for its answer."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port
        self.status = 0
        self.start()

    def run(self) -> None:
        try:
            self.status = asked(self._port, "POST", DECISIONS, ASKED)[0]
        except OSError:
            self.status = -1


def refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
    except (ConnectionRefusedError, ConnectionResetError):
        return True
    return False


def wait_for(seen: Any) -> None:
    """Ask again until it is so; the test's own time-out is the bound."""
    while not seen():
        time.sleep(0.01)


def test_what_is_under_way_is_answered_and_kept(tmp_path: Path, server: Server) -> None:
    """Told to end: no connection is taken any more, the answer comes, its record is kept, 0."""
    server.does(waits(replies()))
    with Command(tmp_path, "serve", "--port", "0", **jev(server)) as command:
        port = command.port()
        client = Asking(port)
        server.wait(1)
        command.tell(signal.SIGTERM)
        wait_for(lambda: refused(port))
        server.let_go()
        client.join(PATIENCE)

        assert command.ended() == 0
        assert client.status == 200
        assert sum(kept(tmp_path).values()) == 1


def test_what_takes_too_long_is_cut_off_and_told(tmp_path: Path, server: Server) -> None:
    """It ends all the same, with 0; the decision that failed is kept as that."""
    server.does(waits(replies()))
    slow = {**jev(server), "SERVER_DRAIN_SECONDS": "1"}
    with Command(tmp_path, "serve", "--port", "0", **slow) as command:
        client = Asking(command.port())
        server.wait(1)

        assert command.end() == 0
        client.join(PATIENCE)
        assert client.status != 200
        (event,) = command.told("server.drain_overdue")
        assert event["requests"] == 1
    assert sum(kept(tmp_path).values()) == 1
    server.let_go()


def test_the_second_signal_ends_it_at_once(tmp_path: Path, server: Server) -> None:
    """The client is cut off, and so is its provider; what was decided before is kept."""
    server.does(replies(), waits(replies()))
    with Command(tmp_path, "serve", "--port", "0", **jev(server)) as command:
        port = command.port()
        assert asked(port, "POST", DECISIONS, ASKED)[0] == 200
        client = Asking(port)
        server.wait(2)
        command.tell(signal.SIGINT)
        wait_for(lambda: refused(port))
        command.tell(signal.SIGINT)

        assert command.ended() == 128 + signal.SIGINT
        client.join(PATIENCE)
        assert client.status == -1
    assert sum(kept(tmp_path).values()) >= 1
    server.let_go()


def test_a_hangup_reads_the_file_of_variables_again(tmp_path: Path) -> None:
    """A file that is wrong changes nothing, and says so without a value."""
    file = tmp_path / ".env"
    file.write_text("DECISION_ROUTER_PROVIDER=jev\nAI_GATEWAY_API_KEY=canary-key\n")
    with Command(tmp_path, "serve", "--port", "0") as command:
        port = command.port()
        file.write_text("DECISION_ROUTER_PROVIDER=canary\n")
        command.tell(signal.SIGHUP)
        (failed,) = command.told("server.reload_failed")
        assert any("DECISION_ROUTER_PROVIDER" in fault for fault in failed["faults"])

        file.write_text("DECISION_ROUTER_PROVIDER=local\n")
        command.tell(signal.SIGHUP)
        command.told("server.reloaded")
        assert asked(port, "GET", "/readyz")[0] == 200
        assert command.end() == 0


PROGRAM = """
from pointsman import Choice, Gateway

gateway = Gateway.from_env()

@gateway.point("TEAM", Choice("Which team?", {"billing": "Invoices", "tech": "Faults"}))
def team(message: str) -> str:
    raise RuntimeError("a stranger's request does not run the host's own path")
"""


def test_a_programs_own_points_are_served(tmp_path: Path) -> None:
    """A provider stands in for its functions; decisions are counted, told and kept."""
    (tmp_path / "shop.py").write_text(PROGRAM)
    (tmp_path / ".env").write_text("TEAM_IS_NO_VARIABLE=x\nLOCAL_MIN_CONFIDENCE=0\n")
    question = {"model": "point:TEAM", "input": "my invoice doubled", "questions": []}
    with Command(tmp_path, "serve", "--app", "shop:gateway", "--port", "0") as command:
        port = command.port()
        status, body, _ = asked(port, "POST", DECISIONS, question)

        assert status == 200
        assert body["provider_metadata"]["pointsman"]["provider"] == "local"
        counted = [one for one in numbers(port) if "decisions_total" in one and '"TEAM"' in one]
        assert len(counted) == 1
        command.told("decision.made")
        command.tell(signal.SIGHUP)
        command.told("server.reloaded")
        assert asked(port, "POST", DECISIONS, question)[0] == 200
        assert command.end() == 0
    assert kept(tmp_path) == {"TEAM": 2}


# --- several workers ---------------------------------------------------------------------


def pids(command: Command, count: int = 2) -> list[int]:
    """The processes of the workers that were started so far."""
    return [event["pid"] for event in command.told("server.worker_started", count)]


@pytest.mark.slow
def test_workers_share_keys_journal_and_numbers(tmp_path: Path, server: Server) -> None:
    """
    Each is stopped in turn, so that the other answers: they are one to whoever asks.

    One that is killed is replaced. With a key an address that others reach may be served.
    """
    made = Command(tmp_path, "keys", "create", "tests", "--scope", "decide", "--scope", "admin")
    with made as command:
        assert command.ended() == 0
        key = next(word for line in command.out for word in line.split() if word[:3] == "pm_")
    bearer = {"authorization": f"Bearer {key}"}

    words = ("serve", "--host", "0.0.0.0", "--port", "0", "--workers", "2")  # noqa: S104
    with Command(tmp_path, *words, **jev(server)) as command:
        port, (first, second) = command.port(), pids(command)
        assert asked(port, "POST", DECISIONS, ASKED)[0] == 401
        for stopped in (first, second):
            os.kill(stopped, signal.SIGSTOP)
            for _ in range(3):
                assert asked(port, "POST", DECISIONS, ASKED, **bearer)[0] == 200
            os.kill(stopped, signal.SIGCONT)
        answered = f'pointsman_http_requests_total{{route="{DECISIONS}",status="200"}}'
        # counted once the answer is out: its client may be quicker
        wait_for(lambda: numbers(port, **bearer)[answered] == 6)
        wait_for(lambda: sum(kept(tmp_path).values()) == 6)

        os.kill(first, signal.SIGKILL)
        third = pids(command, 3)[-1]
        (died,) = command.told("server.worker_died")
        assert (died["pid"], died["code"]) == (first, -signal.SIGKILL)
        os.kill(second, signal.SIGSTOP)
        assert asked(port, "POST", DECISIONS, ASKED, **bearer)[0] == 200
        os.kill(second, signal.SIGCONT)
        wait_for(lambda: numbers(port, **bearer)[answered] == 7)

        assert command.end() == 0
        assert sum(kept(tmp_path).values()) == 7
        assert not any(map(lives, (first, second, third)))
        assert key not in "".join([*command.out, *command.err])


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_workers_end_with_their_parent(tmp_path: Path, server: Server) -> None:
    """A parent that is killed leaves nobody behind that keeps the port; answers are kept."""
    server.does(waits(replies()))
    with Command(tmp_path, "serve", "--port", "0", "--workers", "2", **jev(server)) as command:
        port, workers = command.port(), pids(command)
        client = Asking(port)
        server.wait(1)
        command.tell(signal.SIGKILL)
        wait_for(lambda: refused(port))
        server.let_go()
        client.join(PATIENCE)
        wait_for(lambda: not any(map(lives, workers)))

    assert client.status == 200
    assert sum(kept(tmp_path).values()) == 1


@pytest.mark.slow
def test_a_service_manager_may_tell_every_process_to_end(tmp_path: Path, server: Server) -> None:
    """
    As systemd does: the workers are told twice, by it and by their parent.

    What is under way is answered all the same.
    """
    server.does(waits(replies()))
    with Command(tmp_path, "serve", "--port", "0", "--workers", "2", **jev(server)) as command:
        port, workers = command.port(), pids(command)
        client = Asking(port)
        server.wait(1)
        for pid in (*workers, command.pid):
            os.kill(pid, signal.SIGTERM)
        wait_for(lambda: refused(port))
        server.let_go()
        client.join(PATIENCE)

        assert command.ended() == 0
        assert client.status == 200


@pytest.mark.slow
def test_a_worker_asks_for_keys_whatever_has_become_of_the_journal(
    tmp_path: Path, server: Server
) -> None:
    """A server that began with keys is never opened by the loss of a file."""
    with Command(tmp_path, "keys", "create", "tests") as command:
        assert command.ended() == 0
    with Command(tmp_path, "serve", "--port", "0", "--workers", "2", **jev(server)) as command:
        port, first = command.port(), pids(command)
        for file in (tmp_path / ".pointsman").glob("journal.db*"):
            file.rename(file.with_name(f"old-{file.name}"))
        for pid in first:
            os.kill(pid, signal.SIGKILL)
        pids(command, 4)

        assert [asked(port, "POST", DECISIONS, ASKED)[0] for _ in range(4)] == [401] * 4
        assert command.end() == 0


@pytest.mark.slow
def test_a_worker_that_is_replaced_while_a_variable_is_wrong_serves_as_before(
    tmp_path: Path, server: Server
) -> None:
    """It says which; once it is right, and they are told so, it follows."""
    file = tmp_path / ".env"
    file.write_text("DECISION_ROUTER_PROVIDER=jev\n")
    variables = {name: value for name, value in jev(server).items() if name[:8] != "DECISION"}
    with Command(tmp_path, "serve", "--port", "0", "--workers", "2", **variables) as command:
        port, first = command.port(), pids(command)
        file.write_text("DECISION_ROUTER_PROVIDER=canary\n")
        for pid in first:
            os.kill(pid, signal.SIGKILL)
        failed = command.told("server.reload_failed", 2)
        assert all("DECISION_ROUTER_PROVIDER" in one["faults"][0] for one in failed)
        assert asked(port, "POST", DECISIONS, ASKED)[0] == 200

        file.write_text("DECISION_ROUTER_PROVIDER=local\n")

        def reloaded() -> bool:
            command.tell(signal.SIGHUP)  # a worker that is not ready yet is not told
            return [one["event"] for one in command.events].count("server.reloaded") > 1

        wait_for(reloaded)
        assert command.end() == 0
        assert not [line for line in command.err if "Traceback" in line]


@pytest.mark.slow
def test_a_worker_that_cannot_be_replaced_is_told_by_its_faults(
    tmp_path: Path, server: Server
) -> None:
    """And by no traceback; those that are alive serve on, and keep what the dead one left."""
    with Command(tmp_path, "serve", "--port", "0", "--workers", "2", **jev(server)) as command:
        port, (first, second) = command.port(), pids(command)
        journal = tmp_path / ".pointsman" / "journal.db"
        wait_for(lambda: asked(port, "POST", DECISIONS, ASKED)[0] == 200 and journal.exists())
        aside = journal.with_name("aside")
        journal.rename(aside)
        journal.mkdir()
        os.kill(first, signal.SIGKILL)

        (told, *_) = command.told("server.worker_misconfigured")
        assert (told["worker"], "DECISION_JOURNAL" in told["faults"][0]) == (1, True)
        assert asked(port, "POST", DECISIONS, ASKED)[0] == 200
        assert lives(second)
        journal.rmdir()
        aside.rename(journal)
        assert command.end() == 0
        assert not [line for line in command.err if "Traceback" in line]


@pytest.mark.slow
def test_signals_while_it_starts_are_heeded_once_it_can(tmp_path: Path) -> None:
    """A worker that is told to end before it was ready has not crashed."""
    odd = {"SERVER_WORKRES": "2"}
    with Command(tmp_path, "serve", "--port", "0", **odd) as command:
        command.until(lambda: any("SERVER_WORKRES" in line for line in command.err))
        command.tell(signal.SIGHUP)
        command.port()
        assert command.end() == 0
    for number in (signal.SIGHUP, signal.SIGTERM):
        with Command(tmp_path, "serve", "--port", "0", "--workers", "2") as command:
            pids(command)
            command.tell(number)
            if number == signal.SIGHUP:
                command.port()
                command.tell(signal.SIGTERM)
            assert command.ended() == 0
