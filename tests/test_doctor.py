"""`pointsman doctor`: what it finds, what it says to do, and what it leaves alone."""

from __future__ import annotations

import datetime as dt
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest
import sqlalchemy
from typer.testing import CliRunner

from faulty import ASK, Server, answered, chosen, failed, replies
from journaled import schema_of
from journaled import server as postgresql
from pointsman import Gateway
from pointsman.gateway import http
from pointsman.gateway.certificates import AtRisk, Certificate, Key, Thresholds, written
from pointsman.gateway.cli.app import app
from pointsman.gateway.cli.doctor.history import FEW, LEAST
from pointsman.gateway.journal.store import Store
from pointsman.gateway.keys import keys_of
from trialling import Kept

# a connection that another file's server left open may be collected here
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

CANARY = "canary-5d1e"
JEV = {"AI_GATEWAY_API_KEY": CANARY, "JEV_MAX_ATTEMPTS": "1"}
ROUTER = "ROUTER"
SERVED = "typesafe-ai/jev-1.13.0"


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of its own, and none of the developer's variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    foreign = ("DECISION_", "LOCAL_", "JEV_", "CURRENT_")
    for name in os.environ:
        if name.startswith(foreign) or name.upper().endswith(("_API_KEY", "_TOKEN", "_PROXY")):
            monkeypatch.delenv(name)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as serving:
        yield serving


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def told(*args: str, **env: str) -> tuple[int, str]:
    """Run it; give its exit code, and what it said in one line."""
    ran = CliRunner().invoke(app, ["doctor", *args], env=env)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.output
    assert CANARY not in ran.output
    return ran.exit_code, " ".join(ran.stdout.split())


def jev(base: str, **more: str) -> dict[str, str]:
    return {**JEV, "DECISION_PROVIDER": "jev", "JEV_BASE_URL": base, **more}


def decide(variables: Mapping[str, str], times: int = LEAST, point: str = ROUTER) -> None:
    """Make real decisions, as a program of the user would."""
    with closing(Gateway.from_env({"DECISION_LOG": "off", **variables})) as gateway:
        for _ in range(times):
            gateway.ask_sync(point, ASK, current=lambda: "billing")


# --- keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key", ["your-key-here", "changeme", "<key>", "${VERCEL_KEY}", "xxxx", "sk-your-key", "None"]
)
def test_what_an_example_has_in_a_keys_place_is_no_key(key: str) -> None:
    code, said = told("--offline", **{**jev("http://127.0.0.1:9/v1"), "AI_GATEWAY_API_KEY": key})
    assert code == 1
    assert "AI_GATEWAY_API_KEY: it is no key" in said
    assert key not in said


def test_quotes_around_a_key_are_told() -> None:
    env = {**jev("http://127.0.0.1:9/v1"), "AI_GATEWAY_API_KEY": f'"{CANARY}"'}
    code, said = told("--offline", **env)
    assert code == 1
    assert "AI_GATEWAY_API_KEY: there are quotes around the key" in said


@pytest.mark.parametrize("key", ["k", "sk-proj-7Hy", "vck_secretly", "my.long.key", "hereford"])
def test_a_key_that_may_be_one_is_left_alone(key: str) -> None:
    env = {**jev("http://127.0.0.1:9/v1"), "AI_GATEWAY_API_KEY": key}
    assert told("--offline", **env)[0] == 0


def test_a_key_that_nobody_uses_is_a_hint() -> None:
    """A key never selects a provider, which is what many expect of it."""
    code, said = told(AI_GATEWAY_API_KEY=CANARY, OPENAI_API_KEY=CANARY, STRANGERS_API_KEY=CANARY)
    assert code == 0
    assert "AI_GATEWAY_API_KEY: it is the key of 'jev', which no variable selects" in said
    assert "OPENAI_API_KEY: it is the key of 'openai'" in said
    assert "DECISION_PROVIDER=openai" in said
    assert "STRANGERS" not in said


@pytest.mark.parametrize("key", ["none", "secret", "changeme"])
def test_a_server_on_this_machine_takes_any_key(key: str) -> None:
    env = {"DECISION_PROVIDER": "chat", "CHAT_API_KEY": key, "CHAT_MODEL": "m"}
    assert told("--offline", **env, CHAT_BASE_URL="http://127.0.0.1:9/v1")[0] == 0
    assert told("--offline", **env, CHAT_BASE_URL="http://localhost:9/v1")[0] == 0
    code, said = told("--offline", **env, CHAT_BASE_URL="https://api.invalid/v1")
    assert code == 1
    assert "CHAT_API_KEY: it is no key" in said


def test_a_misspelt_variable_of_a_provider_is_told_with_the_name_that_was_meant() -> None:
    env = jev("http://127.0.0.1:9/v1", JEV_TIMEOUT_SECOND="3", OPENAI_BASEURL="x")
    code, said = told("--offline", **env)
    assert code == 1
    assert "Did you mean JEV_TIMEOUT_SECONDS?" in said
    assert "OPENAI_BASEURL: nothing reads it. Did you mean OPENAI_BASE_URL?" in said
    assert "2 things have to be done." in said


def test_other_programs_variables_are_no_misspelt_ones() -> None:
    foreign = ("ORG_ID", "ORGANIZATION", "API_BASE", "API_TYPE", "API_VERSION", "PROJECT", "LOG")
    env = {"DECISION_PROVIDER": "openai", "OPENAI_API_KEY": CANARY}
    code, said = told("--offline", **env, **{f"OPENAI_{name}": "x" for name in foreign})
    assert (code, "Did you mean" in said) == (0, False)


# --- servers ---------------------------------------------------------------------------------


@contextmanager
def listening(serve: Callable[[socket.socket], object]) -> Iterator[int]:
    """Serve one client of a bare socket, on a thread that ends with it."""
    with socket.create_server(("127.0.0.1", 0)) as here:

        def run() -> None:
            try:
                client, _ = here.accept()
                with client:
                    serve(client)
            except OSError:
                return  # closed meanwhile, or the client went

        serving = threading.Thread(target=run)
        serving.start()
        try:
            yield here.getsockname()[1]
        finally:
            here.close()
            serving.join()


def test_a_server_is_reached_and_asked_nothing() -> None:
    received: list[bytes] = []
    with listening(lambda client: received.append(client.recv(1))) as port:
        code, said = told(**jev(f"http://127.0.0.1:{port}/v1"))
    assert code == 0
    assert "it can be reached" in said
    assert received == [b""]


def test_offline_nobody_is_called(server: Server) -> None:
    code, said = told("--offline", **jev(server.url))
    assert code == 0
    assert "reached" not in said
    assert server.connections == 0


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port: int = gone.getsockname()[1]
    return port


def test_a_refused_connection_is_told() -> None:
    code, said = told(**jev(f"http://127.0.0.1:{closed_port()}/v1"))
    assert code == 1
    assert "it refuses the connection. Start the server" in said
    assert "1 thing has to be done." in said


def test_a_name_without_an_address_is_told() -> None:
    code, said = told(**jev("https://nowhere.invalid/v1"))
    assert code == 1
    assert "jev: nowhere.invalid: its name has no address" in said


def test_a_server_without_tls_is_told(server: Server) -> None:
    code, said = told(**jev(server.url.replace("http:", "https:")))
    assert code == 1
    assert "it does not speak TLS there" in said or "it cannot be reached" in said


def test_a_proxy_that_refuses_is_told_as_such() -> None:
    def refuses(client: socket.socket) -> None:
        client.recv(65536)
        client.sendall(b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n")

    with listening(refuses) as port:
        code, said = told(**jev("https://api.invalid/v1"), https_proxy=f"http://127.0.0.1:{port}")
    assert code == 1
    assert "the proxy of this machine's variables refuses to lead there" in said
    assert "NO_PROXY" in said


def test_a_proxy_that_is_gone_is_told_as_such() -> None:
    proxy = f"http://127.0.0.1:{closed_port()}"
    code, said = told(**jev("https://api.invalid/v1"), https_proxy=proxy)
    assert code == 1
    assert "through the proxy of this machine's variables: it refuses the connection" in said


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    """It takes the connection, and then no part in the handshake."""
    quiet = threading.Event()
    with listening(lambda _: bool(quiet.wait(20))) as port:
        code, said = told(**jev(f"https://127.0.0.1:{port}/v1"))
        quiet.set()
    assert code == 1
    assert "it did not take a connection within 3 s" in said


def test_a_failed_question_is_told_with_what_is_in_the_way() -> None:
    code, said = told("--live", **jev(f"http://127.0.0.1:{closed_port()}/v1"))
    assert code == 1
    assert "jev: a real question failed: transport" in said
    assert "it refuses the connection" in said


@pytest.fixture
def _anew() -> Iterator[None]:
    """Certificates are read once in a process."""
    http._tls.cache_clear()
    yield
    http._tls.cache_clear()


WAYS = pytest.mark.parametrize("way", [(), ("--live",), ("--offline",)], ids=str)


@WAYS
@pytest.mark.usefixtures("_anew")
@pytest.mark.parametrize("text", [None, "garbage"])
def test_certificates_that_cannot_be_read_are_no_providers_fault(
    tmp_path: Path, way: tuple[str, ...], text: str | None
) -> None:
    file = tmp_path / "certificates.pem"
    if text is not None:
        file.write_text(text)
    code, said = told(*way, **jev("https://api.invalid/v1", SSL_CERT_FILE=str(file)))
    assert code == 1
    assert "SSL_CERT_FILE: no certificates can be read there" in said
    assert "jev:" not in said
    assert "1 thing has to be done." in said


@WAYS
@pytest.mark.parametrize("url", ["ftp://{}@127.0.0.1:9", "http://{}@127.0.0.1:port", "://{}"])
def test_a_proxy_that_is_none_is_no_providers_fault(way: tuple[str, ...], url: str) -> None:
    """Its URL holds a password."""
    given = {"https_proxy": url.format(f"user:{CANARY}"), "http_proxy": "http://127.0.0.1:9"}
    code, said = told(*way, **jev("https://api.invalid/v1", **given))
    assert code == 1
    assert "https_proxy: it names no proxy that can be used" in said
    assert "jev:" not in said


@WAYS
def test_a_socks_proxy_without_its_library_is_told(
    way: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    proxy = f"socks5://user:{CANARY}@127.0.0.1:9"
    code, said = told(*way, **jev("https://api.invalid/v1", ALL_PROXY=proxy))
    assert code == 1
    assert "ALL_PROXY: it names a SOCKS proxy" in said
    assert "httpx[socks]" in said
    assert "jev:" not in said


def test_live_and_offline_contradict_each_other() -> None:
    assert told("--live", "--offline")[0] == 2


# --- thresholds ------------------------------------------------------------------------------

PINJ = "GUARDRAIL_PINJ"
TODAY = dt.datetime.now(dt.UTC).date()


def key(point: str = PINJ, provider: str = "jev", model: str = SERVED, **said: str) -> Key:
    """The key under which a point of the catalogue is asked in English."""
    with closing(Gateway.from_env({"DECISION_LOG": "off"})) as gateway:
        found = gateway.points[point]
    (of,) = keys_of(found, found.questions["en"], "en").values()
    parts = {"template": of.template, "options": of.options, "language": "en", "form": "single"}
    made = {"question": of.question, "scale": "reported", **parts, **said}
    return msgspec.convert({"point": point, "provider": provider, "model": model, **made}, Key)


def certificate(of: Key, *, minimum: float | None = 0.6, days: int = 0) -> Certificate:
    return Certificate(
        key=of,
        risk=0.05,
        levels=(AtRisk(alpha=0.05, minimum=minimum),),
        delta=0.05,
        method="learn-then-test",
        labels="gold",
        rows=1000,
        seed=1,
        data="0" * 12,
        date=str(TODAY - dt.timedelta(days)),
    )


@pytest.fixture
def filed(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Write certificates into a file, for a point that `jev` decides."""

    def write(*certificates: Certificate, **variables: str) -> dict[str, str]:
        path = tmp_path / "thresholds.json"
        path.write_bytes(written(Thresholds(certificates=certificates)))
        own = {"DECISION_THRESHOLDS": str(path), f"DECISION_{PINJ}_PROVIDER": "jev"}
        return {**JEV, "JEV_BASE_URL": "http://127.0.0.1:9/v1", **own, **variables}

    return write


Filed = Callable[..., dict[str, str]]


def test_a_threshold_in_force_is_no_trouble(filed: Filed) -> None:
    code, said = told("--offline", **filed(certificate(key())))
    assert code == 0, said
    assert "thresholds 1 certificate" in said


@pytest.mark.parametrize(("part", "named"), [("template", "words"), ("language", "language")])
def test_a_threshold_of_another_question_is_stale(filed: Filed, part: str, named: str) -> None:
    code, said = told("--offline", **filed(certificate(key(**{part: "pt"}))))
    assert code == 1
    assert f"{PINJ}" in said
    assert f"the question's {named} changed" in said
    assert "pointsman calibrate" in said


def test_a_threshold_of_another_model_is_stale_once_the_journal_shows_it(
    filed: Filed, server: Server, kept: Kept
) -> None:
    held = {"type": "predicate", "name": "injection", "probability": 0.01}
    variables = filed(certificate(key(model="typesafe-ai/jev-1.12.0")), **kept.variables)
    assert told("--offline", **variables)[0] == 0  # nobody knows what will answer
    question = key().question
    server.does(replies(answered({**held, "name": question})))
    with closing(
        Gateway.from_env({"DECISION_LOG": "off", **variables, "JEV_BASE_URL": server.url})
    ) as one:
        one.ask_sync(PINJ, "hello", current=lambda: False)
    code, said = told("--offline", **variables)
    assert code == 1
    assert f"it is for the model typesafe-ai/jev-1.12.0, and {SERVED} answers now" in said


@pytest.mark.parametrize(
    "beside", [{"language": "pt"}, {"template": "0" * 16}, {"model": "typesafe-ai/jev-1.12.0"}]
)
def test_a_threshold_beside_one_in_force_is_at_most_a_hint(
    filed: Filed, beside: dict[str, str]
) -> None:
    """Of another language, or kept when it was certified again."""
    made = key()
    other = msgspec.structs.replace(made, **beside)
    code, said = told("--offline", **filed(certificate(other), certificate(made)))
    assert code == 0
    assert ("Take it out" in said) is ("template" in beside)


def test_a_file_of_thresholds_that_holds_something_else_is_told(tmp_path: Path) -> None:
    path = tmp_path / "thresholds.json"
    path.write_text('{"a":1}')
    code, said = told("--offline", DECISION_THRESHOLDS=str(path))
    assert code == 1
    assert "DECISION_THRESHOLDS: thresholds.json: the file has no list of certificates" in said


def test_a_threshold_of_a_decider_that_is_not_asked_is_a_hint(filed: Filed) -> None:
    code, said = told("--offline", **filed(certificate(key(provider="openai")), certificate(key())))
    assert code == 0
    assert "jev decides this point, so openai's threshold is not used" in said


def test_thresholds_that_promise_nothing_or_are_old_are_hints(filed: Filed) -> None:
    code, said = told("--offline", **filed(certificate(key(), days=400)))
    assert code == 0
    assert "it was certified 400 days ago" in said
    assert "calibrate check" in said
    code, said = told("--offline", **filed(certificate(key(), minimum=None)))
    assert code == 0
    assert "nothing could be certified" in said


def test_a_threshold_of_a_point_that_nobody_knows_is_a_hint(filed: Filed) -> None:
    """It may be a point of the user's own program, which was not loaded."""
    gone = msgspec.structs.replace(key(), point="GONE")
    code, said = told("--offline", **filed(certificate(gone), certificate(key())))
    assert code == 0
    assert "it certifies GONE, and no such point is known here" in said
    assert "--app" in said


def test_deciders_without_a_certificate_are_named_where_there_are_others(filed: Filed) -> None:
    variables = filed(certificate(key()), DECISION_GUARDRAIL_DLEX_IN_PROVIDER="jev")
    code, said = told("--offline", **variables)
    assert code == 0
    assert "no certificate for who decides GUARDRAIL_DLEX_IN" in said


# --- what the journal shows ------------------------------------------------------------------


def test_a_point_that_always_falls_back_is_told_with_the_reason(server: Server, kept: Kept) -> None:
    """The breaker leaves it alone after a while; that is not the reason."""
    server.does(replies(failed("server_error"), 500))
    variables = jev(server.url, **kept.variables)
    decide(variables)
    code, said = told("--offline", **variables)
    assert code == 1
    assert (
        "ROUTER does without its answer in 100.0 % of 20 decisions, mostly: provider_error" in said
    )


def test_a_point_that_often_falls_back_is_a_hint(server: Server, kept: Kept) -> None:
    unsure = replies(answered(chosen(confidence=0.4)))
    server.does(*(unsure if n % 5 < 3 else replies() for n in range(LEAST)))
    variables = jev(server.url, **kept.variables)
    decide(variables)
    code, said = told("--offline", **variables)
    assert code == 0
    assert "in 60.0 % of 20 decisions, mostly: low_confidence" in said
    assert "pointsman calibrate" in said


def test_a_provider_that_has_recovered_or_is_asked_no_more_is_left_alone(
    server: Server, kept: Kept
) -> None:
    variables = jev(server.url, **kept.variables)
    server.does(replies(answered(chosen(confidence=0.4))))
    decide(variables, 4 * LEAST)
    elsewhere = {**variables, "DECISION_PROVIDER": "local"}
    assert told("--offline", **elsewhere)[0] == 0
    server.does(replies())
    decide(variables)
    assert told("--offline", **variables)[0] == 0


UNSURE = {"DECISION_ROUTER_PROVIDER": "local", "DECISION_ROUTER_MIN_CONFIDENCE": "0.9999"}


def test_a_threshold_that_was_lowered_since_has_mended_it(kept: Kept) -> None:
    """What was too unsure then would be believed now."""
    decide({**UNSURE, **kept.variables})
    assert told("--offline", **UNSURE, **kept.variables)[0] == 1

    lower = {**UNSURE, "DECISION_ROUTER_MIN_CONFIDENCE": "0"}
    code, said = told("--offline", **lower, **kept.variables)
    assert (code, "does without" in said) == (0, False)


def test_what_was_mended_just_now_is_a_hint(server: Server, kept: Kept) -> None:
    variables = {**jev(server.url), **kept.variables}
    server.does(replies(failed("server_error"), 500))
    decide(variables, 4 * LEAST)
    server.does(replies())
    decide(variables, FEW)
    code, said = told("--offline", **variables)
    assert code == 0
    assert "does without its answer" in said


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    """Neither tables nor keys nor folders: perhaps another user makes them, or none."""
    url = f"sqlite:///{tmp_path / 'deep' / 'journal.db'}"
    code, said = told("--offline", DECISION_JOURNAL=url)
    assert code == 0
    assert "journal not there yet: the first decision makes it" in said
    assert list(tmp_path.iterdir()) == []


def test_no_tables_are_made_by_looking() -> None:
    with schema_of(postgresql()) as url:
        given = {"DECISION_JOURNAL": url, "DECISION_JOURNAL_KEY": "0123456789abcdef" * 2}
        code, said = told("--offline", **given)
        assert code == 0
        assert "not there yet" in said
        engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        assert sqlalchemy.inspect(engine).get_table_names() == []
        engine.dispose()


def test_too_few_decisions_say_nothing(server: Server, kept: Kept) -> None:
    server.does(replies(answered(chosen(confidence=0.4))))
    variables = jev(server.url, **kept.variables)
    decide(variables, LEAST - 1)
    assert told("--offline", **variables)[0] == 0


def shadowed(server: Server, kept: Kept) -> dict[str, str]:
    named = {"DECISION_ROUTER_SHADOW": "jev", **JEV, "JEV_BASE_URL": server.url}
    return {**named, **kept.variables}


def test_a_shadow_that_never_answers_is_told_with_the_reason(server: Server, kept: Kept) -> None:
    server.does(replies(failed("authentication_error"), 401))
    variables = shadowed(server, kept)
    decide(variables)
    code, said = told("--offline", **variables)
    assert code == 1
    assert "DECISION_ROUTER_SHADOW: jev never answers: 20 times in vain, mostly: auth" in said
    assert "Check the provider's key" in said


def an_hour_earlier(kept: Kept) -> None:
    """Move what was decided back in time, in the real journal."""
    rows = [one.decision for one in kept.trails()]
    moved = [
        msgspec.structs.replace(
            row,
            record=msgspec.structs.replace(row.record, at=time.time() - 3600, id=f"{n:032x}"),
        )
        for n, row in enumerate(rows)
    ]
    with closing(Store.open(kept.url)) as store:
        store.prune(time.time() + 1)
        store.write(moved)


def test_a_shadow_that_never_arrives_is_told(server: Server, kept: Kept) -> None:
    variables = shadowed(server, kept)
    decide({**kept.variables, "DECISION_PROVIDER": "local"})  # the program runs without it
    assert told("--offline", **variables)[0] == 0  # it may still be under way
    an_hour_earlier(kept)
    code, said = told("--offline", **variables)
    assert code == 1
    assert "DECISION_ROUTER_SHADOW: jev answered beside none of the newest 20 decisions" in said


def test_a_shadow_that_answers_is_no_trouble(server: Server, kept: Kept) -> None:
    variables = shadowed(server, kept)
    decide(variables)
    assert told("--offline", **variables)[0] == 0


# --- for programs ----------------------------------------------------------------------------


def test_json_says_the_same(server: Server) -> None:
    code, said = told("--json", **jev(server.url, DECISION_RUOTER_PROVIDER="local"))
    found = json.loads(said)
    assert code == 1
    assert [one["where"] for one in found["to_do"]] == ["DECISION_RUOTER_PROVIDER"]
    assert {"variables", "plug-ins", "jev"} <= {one["what"] for one in found["works"]}
