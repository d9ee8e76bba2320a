"""The race: its load checks every answer, its bars judge what was measured, no peer is dropped."""

from __future__ import annotations

import asyncio
import http.server
import importlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))

_bars: Any = importlib.import_module("race.bars")
_cores: Any = importlib.import_module("race.cores")
_decision: Any = importlib.import_module("race.decision")
_entries: Any = importlib.import_module("race.entries")
_environments: Any = importlib.import_module("race.environments")
_load: Any = importlib.import_module("race.load")
_method: Any = importlib.import_module("race.method")
_page: Any = importlib.import_module("race.page")
_processes: Any = importlib.import_module("race.processes")
_reading: Any = importlib.import_module("race.reading")
_results: Any = importlib.import_module("race.results")
_running: Any = importlib.import_module("race.running")
_servers: Any = importlib.import_module("race.servers")
_serving: Any = importlib.import_module("race.serving")
_upstream: Any = importlib.import_module("race.upstream")

pytestmark = pytest.mark.source

RIGHT = re.compile(rb'"choice":\s*"billing"')


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with _upstream.upstream(None) as port:
        yield port


# reading HTTP


@given(st.binary(max_size=200), st.binary(max_size=20))
def test_a_message_is_whole_exactly_when_all_of_it_is_there(body: bytes, more: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    response = head + body
    assert _reading.end_of(response + more) == len(response)
    assert all(_reading.end_of(response[:at]) is None for at in range(len(response)))


@given(st.lists(st.binary(min_size=1, max_size=40)), st.binary(max_size=20))
def test_a_message_in_chunks_is_whole_with_its_last(chunks: list[bytes], more: bytes) -> None:
    parts = [f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n" for chunk in chunks]
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    response = head + b"".join(parts) + b"0\r\n\r\n"
    assert _reading.end_of(response + more) == len(response)
    assert all(_reading.end_of(response[:at]) is None for at in range(len(response)))


@pytest.mark.parametrize(
    ("path", "name"), [("/v1/decisions", "team"), ("/decision/v1/decisions", "decision")]
)
def test_the_upstream_names_the_question_as_its_path_does(path: str, name: str) -> None:
    answer = json.loads(_decision.answer_to(path))["answers"][0]
    assert (answer["name"], answer["choice"]) == (name, _decision.ANSWER)
    assert _decision.ANSWER in _decision.OPTIONS


def test_the_upstream_knows_no_other_path() -> None:
    assert _decision.answer_to("/v1/models") is None
    assert _decision.answer_to("/nothing") is None


# the load


def _asked(port: int, right: re.Pattern[bytes] = RIGHT, path: str = "/team/v1/decisions") -> Any:
    request = _load.Request(path, b"{}", right)
    return asyncio.run(_load.load(port, request, 3, 0.2))


def test_right_answers_are_counted_with_their_latency(port: int) -> None:
    tally = _asked(port)
    assert tally.errors == 0
    assert tally.latencies
    assert all(0 < one < 5 for one in tally.latencies)


def test_a_wrong_answer_is_an_error(port: int) -> None:
    tally = _asked(port, re.compile(b'"choice": "tech"'))
    assert not tally.latencies
    assert tally.errors


def test_another_status_is_an_error(port: int) -> None:
    tally = _asked(port, re.compile(b""), "/nothing")
    assert not tally.latencies
    assert tally.errors
    assert tally.status == 404


class _Closing(http.server.BaseHTTPRequestHandler):
    """Answers rightly, and closes each connection, as HTTP/1.0 does."""

    def do_POST(self) -> None:
        body = b'{"choice": "billing"}'
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response_only(200)
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        pass


def test_a_server_that_closes_connections_is_connected_to_again() -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Closing) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        tally = _asked(server.server_port)
        server.shutdown()
        thread.join()
    assert tally.errors == 0
    assert len(tally.latencies) > 3


def test_a_server_that_is_gone_is_errors_and_no_answers() -> None:
    tally = _asked(_processes.free_port())
    assert not tally.latencies
    assert tally.errors


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
def test_a_servers_cpu_time_is_that_of_its_children_too() -> None:
    spin = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    shell = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {spin!r}])"
    command = [sys.executable, "-c", shell]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        assert _processes.cpu_seconds(parent.pid) >= 0.25
        parent.communicate(b"\n")


# who takes part


def test_every_peers_environment_is_pinned() -> None:
    lines = _environments.pinned(_environments.PINNED.read_text("utf-8"))
    made = {peer.folder for peer in lines}
    asked = {one.environment for one in _entries.LIBRARIES.values()}
    asked |= {one.environment for one in _servers.SERVERS.values()}
    assert asked - {""} == made
    mark = {"pip": "==", "npm": "@"}
    for peer in lines:
        assert all(mark[peer.installer] in package[1:] for package in peer.packages)


def test_every_library_is_compared_with_a_bare_one() -> None:
    libraries = _entries.LIBRARIES
    assert all(libraries[one.beside].beside == one.beside for one in libraries.values())


def _chosen(*keys: str) -> dict[str, Any]:
    return {key: _entries.LIBRARIES[key] for key in keys}


def test_a_peer_that_is_not_installed_is_listed(port: int, tmp_path: Path) -> None:
    chosen = _chosen("call", "litellm")
    ran, absent = _running.libraries(f"http://127.0.0.1:{port}", tmp_path, None, 1, chosen)
    assert list(ran) == ["call"]
    assert absent == {"LiteLLM SDK": "not installed"}


def test_a_peer_that_does_not_start_is_listed_with_the_class_of_its_fault(
    port: int, tmp_path: Path
) -> None:
    (tmp_path / "litellm" / "bin").mkdir(parents=True)
    bare = Path(sys.executable).resolve()  # without the packages of an environment
    (tmp_path / "litellm" / "bin" / "python").symlink_to(bare)
    ran, absent = _running.libraries(
        f"http://127.0.0.1:{port}", tmp_path, None, 1, _chosen("litellm")
    )
    assert not ran
    assert absent == {"LiteLLM SDK": "did not start: ModuleNotFoundError"}


def test_a_server_that_is_not_installed_or_does_not_start_is_listed(
    port: int, tmp_path: Path
) -> None:
    program = tmp_path / "pydecide" / "bin" / "decide"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 3\n", "utf-8")
    program.chmod(0o755)
    (program.parent / "python").symlink_to(Path(sys.executable).resolve())
    chosen = {key: _servers.SERVERS[key] for key in ("pydecide", "portkey")}
    length = _results.Length(1, 1, 0.1, 0.1)
    served, absent = _serving.servers(
        f"http://127.0.0.1:{port}", tmp_path, _cores.Cores(None, None), length, chosen
    )
    assert list(served) == [_serving.NOTHING_BETWEEN]
    assert served[_serving.NOTHING_BETWEEN].errors == 0
    assert absent == {
        "pydecide serve": "ended by itself with status 3",
        "Portkey gateway": "not installed",
    }


def test_without_a_folder_of_peers_each_is_absent() -> None:
    with pytest.raises(_environments.AbsentError, match="no folder of peers was given"):
        _environments.program(None, "litellm", "bin/python")


@pytest.mark.parametrize("key", ["http", "current"])
def test_pointsman_takes_the_decision_over_the_upstream(port: int, key: str) -> None:
    ran, absent = _running.libraries(f"http://127.0.0.1:{port}", None, None, 1, _chosen(key))
    assert not absent
    assert set(ran[key].costs) == {"sync", "async"}
    assert all(cost.wrong == 0 and cost.least > 0 for cost in ran[key].costs.values())


# bars and page


def _cost(*cpu: float) -> Any:
    return _results.Cost(cpu, cpu)


def _ran(*cpu: float) -> Any:
    return _results.Ran("1.0", {"sync": _cost(*cpu), "async": _cost(*cpu)})


def _served(right: int, cpu: float = 1.0) -> Any:
    return _results.Served("1.0", (_results.Round(right, 0, 1.0, cpu, (0.01, 0.02)),))


def _race(ours: float, peer: float, rate: int) -> Any:
    libraries = {
        "call": _ran(0.25, 9.0),
        "httpx": _ran(400.0, 900.0),
        "current": _ran(2.25, 8.0),
        "http": _ran(400.0 + ours, 990.0),
        "tensorzero": _ran(100.0),
        "litellm": _ran(400.0 + peer),
    }
    servers = {"pointsman": _served(rate), "litellm": _served(100)}
    return _results.Race(libraries, servers, {"Pointsman, cached answer": "did not start: X"})


@pytest.mark.parametrize(
    ("what", "ours", "peer", "rate", "verdict"),
    [
        ("`current`, added to a call, sync", 80, 500, 500, "MET"),
        ("over HTTP, added to bare httpx, sync", 80, 500, 500, "MET"),
        ("over HTTP, added to bare httpx, async", 81, 500, 500, "MISSED"),
        ("over HTTP, beside every Python peer, sync", 80, 90, 500, "MET"),
        ("over HTTP, beside every Python peer, async", 80, 70, 500, "MISSED"),
        ("cached answer, added to a call, sync", 80, 500, 500, "not measured"),
        ("requests per second of the server, beside LiteLLM proxy's", 80, 90, 500, "MET"),
        ("requests per second of the server, beside LiteLLM proxy's", 80, 90, 499, "MISSED"),
    ],
)
def test_a_bar_is_judged_by_the_leasts(
    what: str, ours: float, peer: float, rate: int, verdict: str
) -> None:
    judged = {bar.what: bar for bar in _bars.bars(_race(ours, peer, rate))}
    assert judged[what].verdict == verdict


def test_bars_of_an_empty_race_are_not_measured() -> None:
    judged = _bars.bars(_results.Race({}, {}, {}))
    assert {bar.verdict for bar in judged} == {"not measured"}


def test_the_page_tells_every_row_every_absence_and_the_method() -> None:
    race = _race(70, 90, 700)
    page = _page.page(race, {"Python": "CPython 3"}, "python benchmarks/race.py")
    for title in ("LiteLLM SDK", "TensorZero embedded", "Pointsman, SQLite journal"):
        assert f"| {title}" in page
    assert re.search(r"\| Pointsman, cached answer +\| did not start: X +\|", page)
    assert all(line in page for line in _method.METHOD)
    assert len(_method.METHOD) == 10
    assert page in _page.page(race, {"Python": "CPython 3"}, "python benchmarks/race.py")


def test_a_figure_that_does_not_exist_is_a_dash() -> None:
    nothing = _results.Served("", (_results.Round(0, 5, 1.0, 0.0, ()),))
    (row,) = _page.server_rows(_results.Race({}, {"portkey": nothing}, {}))
    assert row == ("Portkey gateway", "–", "0", "–", "–", "–", "5")


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system pins no process")
def test_children_run_on_the_core_they_are_started_on() -> None:
    core = _cores.cores().measured
    code = "import os; print(os.sched_getaffinity(0))"
    before = os.sched_getaffinity(0)
    with _cores.on_core(core):
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert told.stdout.decode().strip() == str({core})
    assert os.sched_getaffinity(0) == before
