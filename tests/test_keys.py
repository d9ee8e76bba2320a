"""Bearer keys: who is let in, how often and for how much, in every worker of a machine."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from typer.testing import CliRunner

from journaled import decision, schema_of, server
from pointsman import SetupError

pytest.importorskip("sqlalchemy")

from pointsman.gateway.cli.app import app
from pointsman.gateway.journal.store import Store
from pointsman.gateway.server import tokens
from pointsman.gateway.server.keyring import Key, Keyring, Rate
from pointsman.gateway.server.keys import Denied, Holder, Keys
from pointsman.gateway.server.meters import DAY, KEPT, OWED, SOON, Meters
from pointsman.gateway.settings import Settings

HERE = "sqlite:///.pointsman/journal.db"
KEY = re.compile(r"pm_[0-9a-z]{8}_[0-9A-Za-z]{49}")
NEVER = Rate(1, 1e12)  # requests that do not come back while a test runs
Teller = tuple[list[tuple[str, Mapping[str, Any]]], Callable[[str, str, Mapping[str, Any]], None]]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of its own, and none of the developer's variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in os.environ:
        if name.startswith("DECISION_"):
            monkeypatch.delenv(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'room' / 'journal.db'}"
        return
    with schema_of(server()) as made:
        yield made


@pytest.fixture
def ring(url: str) -> Iterator[Keyring]:
    with closing(Keyring.open(url)) as ring:
        yield ring


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A journal in which nothing is."""
    file = tmp_path_factory.mktemp("keys") / "journal.db"
    with closing(Keyring.open(f"sqlite:///{file}")) as ring:
        assert ring.stamp() == (0, 0)
    return file.read_bytes()


@pytest.fixture
def here(empty: bytes) -> Iterator[Keyring]:
    """The keys of the project that the test stands in."""
    Path(".pointsman").mkdir()
    Path(".pointsman/journal.db").write_bytes(empty)
    with closing(Keyring.open(HERE)) as ring:
        yield ring


@pytest.fixture
def told() -> Teller:
    """What was said, and who says it."""
    heard: list[tuple[str, Mapping[str, Any]]] = []
    return heard, lambda _, event, fields: heard.append((event, fields))


@pytest.fixture
def keys_of() -> Iterator[Callable[..., Keys]]:
    """Read keys as a worker does, and close them."""
    made: list[Keys] = []

    def make(url: str = HERE, **given: Any) -> Keys:
        variables = {"DECISION_JOURNAL": url, "DECISION_LOG": "off"}
        made.append(Keys.of(Settings.read(variables), **given))
        return made[-1]

    yield make
    for keys in made:
        keys.close()


def added(ring: Keyring, name: str = "web", **about: Any) -> str:
    """Make a key as the command does."""
    token = tokens.minted()
    told: dict[str, Any] = {
        "id": tokens.id_of(token),
        "name": name,
        "digest": tokens.digest(token).hex(),
        "scopes": ("decide",),
        "created": time.time(),
    }
    ring.add(Key(**{**told, **about}))
    return token


def denied(keys: Keys, token: str | None, scope: str = "decide") -> tuple[Any, ...]:
    """Say how a request is turned away; nothing where it is let in."""
    try:
        keys.admit(token, scope)
    except Denied as error:
        return error.args
    return ()


WRONG = (401, "invalid_api_key", None)


# --- the text of a key -------------------------------------------------------------------


def test_a_key_is_one_word_with_a_prefix_and_256_random_bits() -> None:
    made = {tokens.minted() for _ in range(100)}

    assert len(made) == len({one[12:55] for one in made}) == 100
    for one in made:
        assert KEY.fullmatch(one)
        assert tokens.well_formed(one)
        assert one[3:11] == tokens.id_of(one)
    assert 62**tokens.SECRET > 2**256


@given(st.integers(0, tokens.LENGTH - 1), st.sampled_from(tokens.DIGITS + "_ é"))
def test_one_wrong_character_is_told_without_asking_anybody(at: int, sign: str) -> None:
    token = tokens.minted()
    typed = token[:at] + sign + token[at + 1 :]

    assert tokens.well_formed(typed) == (typed == token)


@given(st.text(max_size=80))
def test_any_other_text_is_no_key_and_harms_nothing(text: str) -> None:
    assert not tokens.well_formed(text)
    assert len(tokens.digest(text)) == 32
    assert len(tokens.id_of(text)) <= tokens.ID


# --- the table ---------------------------------------------------------------------------


def test_a_key_comes_back_as_it_was_written(ring: Keyring) -> None:
    token = added(
        ring, scopes=("decide", "feedback"), rate=Rate(600, 60.0), budget=5.0, expires=9e9
    )

    (kept,) = ring.all()

    assert kept.id == tokens.id_of(token)
    assert kept.digest == tokens.digest(token).hex()
    assert (kept.scopes, str(kept.rate), kept.budget) == (("decide", "feedback"), "600/min", 5.0)
    assert (kept.expires, kept.revoked, kept.used) == (9e9, None, None)
    assert token not in repr(kept) + repr(ring)
    assert kept.digest not in repr(kept)


def test_keys_share_the_database_of_the_decisions(url: str, ring: Keyring) -> None:
    added(ring)
    with closing(Store.open(url)) as store:
        store.write([decision(1)])
        assert store.prune(9e9).decisions == 1

    assert len(ring.all()) == 1


def test_a_name_is_free_again_when_its_key_has_ended(ring: Keyring) -> None:
    first = added(ring)
    with pytest.raises(SetupError, match="a key named 'web' is in force"):
        added(ring)

    ring.revoke(tokens.id_of(first))
    added(ring, expires=time.time() - 1)
    added(ring)

    assert [one.name for one in ring.all()] == ["web"] * 3


def test_the_stamp_differs_whenever_something_was_made_or_revoked(ring: Keyring) -> None:
    stamps = [ring.stamp()]
    one, _ = added(ring, "one"), added(ring, "two")
    stamps.append(ring.stamp())
    ring.revoke(tokens.id_of(one))
    stamps.append(ring.stamp())
    when = ring.all()[0].revoked
    ring.revoke(tokens.id_of(one))

    assert stamps == [(0, 0), (2, 0), (2, 1)]
    assert ring.stamp() == (2, 1)
    assert ring.all()[0].revoked == when


def test_the_hour_of_a_use_only_goes_forward(ring: Keyring) -> None:
    token = added(ring)
    for hour in (7200.0, 3600.0):
        ring.used([tokens.id_of(token)], hour)

    assert ring.all()[0].used == 7200.0


# --- who is let in -----------------------------------------------------------------------


def test_a_key_opens_what_its_scopes_say(ring: Keyring, url: str, keys_of: Any) -> None:
    token = added(ring, scopes=("decide", "feedback"))
    keys = keys_of(url)

    for said in (f"Bearer {token}", f"bearer  {token} ", token):
        holder = keys.admit(said, "feedback")
        assert holder == Holder(tokens.id_of(token), "web", frozenset({"decide", "feedback"}))
    assert denied(keys, token, "admin") == (403, "insufficient_scope", None)


ENDED: dict[str, dict[str, Any]] = {
    "revoked": {"revoked": time.time() - 1},
    "expired": {"expires": time.time() - 1},
    "of a damaged row": {"digest": "no digest"},
    "of a row without digest": {"digest": ""},
}


@pytest.mark.parametrize("about", ENDED.values(), ids=ENDED)
def test_a_key_that_has_ended_is_as_wrong_as_one_that_never_was(
    about: dict[str, Any], here: Keyring, keys_of: Any
) -> None:
    token = added(here, **about)

    assert denied(keys_of(), token) == WRONG
    assert denied(keys_of(), token, "admin") == WRONG


UNKNOWN: dict[str, Callable[[str], str]] = {
    "another": lambda _: tokens.minted(),
    "another's id": lambda token: token[:11] + tokens.minted()[11:],
    "shorter": lambda token: token[:-1],
    "longer": lambda token: f"{token}x",
    "one letter": lambda token: f"{token[:30]}{'x' if token[30] != 'x' else 'y'}{token[31:]}",
    "its digest": lambda token: tokens.digest(token).hex(),
    "its id": tokens.id_of,
    "another alphabet": lambda token: "é" * len(token),
    "half a letter": lambda token: "\udc80" * len(token),
    "very long": lambda _: "x" * 100_000,
    "another scheme": lambda token: f"Basic {token}",
}


@pytest.mark.parametrize("of", UNKNOWN.values(), ids=UNKNOWN)
def test_whatever_is_wrong_with_a_key_the_answer_is_the_same(
    of: Callable[[str], str], here: Keyring, keys_of: Any
) -> None:
    token = added(here)

    assert denied(keys_of(), f"Bearer {of(token)}") == WRONG
    assert denied(keys_of(), of(token)) == WRONG


def test_a_refusal_knows_whose_key_it_was(here: Keyring, keys_of: Any) -> None:
    """Once the whole key is known to be right: the log says who is turned away."""
    token = added(here, rate=Rate(1, 3600.0))
    keys = keys_of()
    assert keys.admit(token, "decide")

    for sent, scope, status, whose in (
        (token, "decide", 429, tokens.id_of(token)),
        (token, "admin", 403, tokens.id_of(token)),
        (token[:-1] + ("a" if token[-1] != "a" else "b"), "decide", 401, None),
    ):
        with pytest.raises(Denied) as caught:
            keys.admit(sent, scope)
        assert (caught.value.status, caught.value.key) == (status, whose)


@pytest.mark.parametrize("said", [None, "", "  ", "Bearer", "Bearer "])
def test_a_missing_key_is_told_as_that(said: str | None, here: Keyring, keys_of: Any) -> None:
    added(here)

    assert denied(keys_of(), said) == (401, "missing_api_key", None)


def test_keys_are_asked_for_from_the_first_one_on_and_for_ever(keys_of: Any) -> None:
    """The last key that ends locks the door: a restart must not open it to everybody."""
    keys = keys_of()
    assert not keys.any()
    assert not Path(".pointsman").exists()

    with closing(Keyring.open(HERE)) as ring:
        token = added(ring)
        keys.refresh()
        assert keys.any()
        assert denied(keys, token) == ()
        ring.revoke(tokens.id_of(token))

    keys.refresh()
    assert denied(keys, token) == WRONG
    assert keys.any()
    assert keys_of().any()


def test_without_a_journal_there_are_no_keys(keys_of: Any) -> None:
    keys = keys_of("off")
    keys.refresh()

    assert not keys.any()
    assert denied(keys, tokens.minted()) == WRONG


def _folder(path: Path) -> None:
    path.mkdir()


def _letter(path: Path) -> None:
    path.write_bytes(b"a letter to my aunt, and no database at all\n" * 100)


@pytest.mark.parametrize(
    ("make", "problem"), [(_folder, "names a folder"), (_letter, "no database, or is damaged")]
)
def test_keys_that_cannot_be_read_keep_the_server_from_starting(
    make: Callable[[Path], None], problem: str, tmp_path: Path, keys_of: Any
) -> None:
    """Else it would not know whom to turn away."""
    make(tmp_path / "journal.db")

    with pytest.raises(SetupError, match=problem) as caught:
        keys_of(f"sqlite:///{tmp_path / 'journal.db'}")

    assert str(tmp_path) not in str(caught.value)


def test_a_server_that_is_away_is_told_without_its_address(keys_of: Any) -> None:
    pytest.importorskip("psycopg")

    with pytest.raises(SetupError, match="bearer keys cannot be read") as caught:
        keys_of("postgresql://nobody:secret@127.0.0.1:1/nowhere")

    assert not re.search("nobody|secret|nowhere", str(caught.value))


AWAY = {
    "127.0.0.1:1": ("nothing answers at its host and port", "Start it"),
    "pointsman.invalid": ("its host is unknown", "Correct the host"),
}


@pytest.mark.parametrize(("where", "said"), AWAY.items(), ids=AWAY)
def test_what_is_wrong_with_an_address_is_told_with_what_to_do(
    where: str, said: tuple[str, str]
) -> None:
    """A wrong host, a wrong port and a full disk are mended in different places."""
    pytest.importorskip("psycopg")
    run = invoke("list", env={"DECISION_JOURNAL": f"postgresql://nobody@{where}/nowhere"})

    assert run.exit_code == 2
    assert all(part in " ".join(run.stderr.split()) for part in said)


# --- while the server runs ---------------------------------------------------------------

WORKER = """
import asyncio, sys
from pointsman.gateway.server.keys import Denied, Keys
from pointsman.gateway.settings import Settings

keys = Keys.of(Settings.read())
token = input()

def is_in():
    try:
        return bool(keys.admit(token, "decide"))
    except Denied:
        return False

async def until(wanted):
    following = asyncio.create_task(keys.follow())
    while is_in() != wanted:
        await asyncio.sleep(0.01)
    following.cancel()
    print("in" if wanted else "out", flush=True)

print("ready", flush=True)
asyncio.run(until(True))
asyncio.run(until(False))
keys.close()
"""


def process(program: str, url: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *args],
        env={**os.environ, "DECISION_JOURNAL": url, "DECISION_LOG": "off"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(worker: subprocess.Popen[str], to: str = "") -> str:
    """Say a line to a worker, if any, and give the next one that it says."""
    assert worker.stdin
    assert worker.stdout
    if to:
        worker.stdin.write(f"{to}\n")
        worker.stdin.flush()
    return worker.stdout.readline().strip()


def test_a_running_worker_sees_what_another_process_makes_and_revokes(
    url: str, ring: Keyring
) -> None:
    token = tokens.minted()
    made = Key(
        id=tokens.id_of(token),
        name="late",
        digest=tokens.digest(token).hex(),
        scopes=("decide",),
        created=time.time(),
    )
    with process(WORKER, url) as worker:
        assert said(worker, token) == "ready"
        ring.add(made)
        assert said(worker) == "in"
        ring.revoke(made.id)
        assert said(worker) == "out"

    assert worker.returncode == 0
    assert ring.all()[0].used is not None


def test_a_database_that_is_down_keeps_the_last_keys_and_is_told_once(
    told: Teller, here: Keyring, keys_of: Any
) -> None:
    heard, tell = told
    token = added(here)
    keys = keys_of(tell=tell)
    file, aside = Path(".pointsman/journal.db"), Path(".pointsman/aside.db")
    here.close()
    file.rename(aside)
    file.mkdir()

    for _ in range(3):
        keys.refresh()
        assert denied(keys, token) == ()
    assert [event for event, _ in heard] == ["server.keys_unreachable"]
    assert str(Path.cwd()) not in str(heard)

    file.rmdir()
    aside.rename(file)
    here.revoke(tokens.id_of(token))
    keys.refresh()
    assert denied(keys, token) == WRONG
    assert [event for event, _ in heard] == ["server.keys_unreachable", "server.keys_reachable"]


def test_a_journal_that_was_removed_lets_nobody_in_who_was_not(here: Keyring, keys_of: Any) -> None:
    token = added(here)
    keys = keys_of()
    here.close()
    for file in Path(".pointsman").iterdir():
        file.unlink()

    keys.refresh()
    assert denied(keys, token) == ()
    with closing(Store.open(HERE)) as store:  # the next decision makes it anew
        store.write([decision(1)])
    keys.refresh()

    assert denied(keys, token) == WRONG
    assert keys.any()


class Slow(Keyring):
    """Keys whose database takes long, from the second look on."""

    def __init__(self) -> None:
        self.looked, self.answers = threading.Event(), threading.Event()
        self.answered = False
        self._looks = 0

    @property
    def missing(self) -> bool:
        return False

    def stamp(self) -> tuple[int, int]:
        self._looks += 1
        if self._looks > 1:
            self.looked.set()
            self.answers.wait()
            self.answered = True
        return (0, 0)

    def all(self) -> list[Key]:
        return []

    def close(self) -> None:
        self.answers.set()


def test_following_ends_by_cancellation_and_leaves_no_thread_behind(told: Teller) -> None:
    """Also where the database is being asked just then."""
    ring = Slow()

    async def run() -> None:
        task = asyncio.create_task(Keys(ring, None, told[1]).follow())
        await asyncio.to_thread(ring.looked.wait)
        task.cancel()
        asyncio.get_running_loop().call_soon(ring.answers.set)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ring.answered

    asyncio.run(run())


# --- how often ---------------------------------------------------------------------------

HAMMER = """
import os, sys
from pointsman.gateway.server.keys import Denied, Keys
from pointsman.gateway.settings import Settings

keys = Keys.of(Settings.read())
token = input()
if "fork" in sys.argv:
    keys.admit(token, "decide")
    sys.argv.append("child" if os.fork() == 0 else "parent")
if "child" not in sys.argv:
    print("ready", flush=True)
    input()

def is_in():
    try:
        return bool(keys.admit(token, "decide"))
    except Denied as error:
        assert error.status == 429 and error.retry_after > 0
        return False

admitted = sum(is_in() for _ in range(2000))
os.write(1, f"{admitted}\\n".encode())
if "parent" in sys.argv:
    os.wait()
"""


def test_two_processes_get_exactly_the_limit_of_one_key(here: Keyring) -> None:
    token = added(here, rate=Rate(1500, 1e12))
    workers = [process(HAMMER, HERE) for _ in range(2)]
    for worker in workers:
        assert said(worker, token) == "ready"

    for worker in workers:
        assert worker.stdin
        worker.stdin.write("go\n")
        worker.stdin.flush()
    counts = [int(worker.communicate()[0]) for worker in workers]

    assert sum(counts) == 1500


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_worker_has_a_lock_of_its_own(here: Keyring) -> None:
    token = added(here, rate=Rate(1500, 1e12))
    worker = process(HAMMER, HERE, "fork")
    assert said(worker, token) == "ready"

    counts = [int(one) for one in worker.communicate("go\n")[0].split()]

    assert len(counts) == 2
    assert sum(counts) == 1500 - 1


def test_a_killed_worker_takes_no_lock_with_it(here: Keyring, keys_of: Any) -> None:
    token = added(here, rate=Rate(100_000, 1e12))
    worker = process(HAMMER.replace("range(2000)", "iter(int, 1)"), HERE)
    assert said(worker, token) == "ready"
    keys = keys_of()
    assert worker.stdin
    worker.stdin.write("go\n")
    worker.stdin.flush()
    for _ in range(500):  # while it hammers, too
        assert denied(keys, token) == ()

    worker.kill()
    worker.communicate()

    assert denied(keys, token) == ()


def test_two_keys_do_not_share_a_limit_and_an_unlimited_one_has_none(
    here: Keyring, keys_of: Any
) -> None:
    one, two = added(here, "one", rate=NEVER), added(here, "two", rate=NEVER)
    free = added(here, "free")
    keys = keys_of()

    assert [denied(keys, token)[:2] for token in (one, two, one, two)] == [
        (),
        (),
        (429, "rate_limited"),
        (429, "rate_limited"),
    ]
    assert [denied(keys, free) for _ in range(100)] == [()] * 100


class Clocks:
    """A day and a machine's clock that go on when told."""

    def __init__(self) -> None:
        self.wall, self.ticks = 20_000 * DAY, 1000.0

    def of(self, file: Path) -> Meters:
        return Meters(file, lambda: self.wall, lambda: self.ticks)


steps = st.lists(st.floats(0, 30), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(rate=st.builds(Rate, st.integers(1, 20), st.floats(0.5, 100)), steps=steps)
def test_no_window_holds_more_than_a_burst_and_what_time_brings(
    tmp_path_factory: pytest.TempPathFactory, rate: Rate, steps: list[float]
) -> None:
    """And a wait that is told is neither too short nor longer than a request takes to come."""
    clocks = Clocks()
    admitted: list[float] = []
    with closing(clocks.of(tmp_path_factory.mktemp("meters") / "law")) as meters:
        for step in steps:
            clocks.ticks += step
            wait = meters.take("k", rate, None).wait
            if wait:
                assert 0 < wait <= rate.seconds / rate.count
                clocks.ticks += wait + 1e-6
                assert not meters.take("k", rate, None).wait
            admitted.append(clocks.ticks)

    for first, start in enumerate(admitted):
        for last, end in enumerate(admitted[first:], first):
            brought = (end - start) * rate.count / rate.seconds
            assert last - first + 1 <= rate.count + brought + 1e-6


def test_a_clock_that_went_back_brings_no_requests_and_takes_none(tmp_path: Path) -> None:
    """After the machine was started anew, its clock begins at nothing."""
    clocks, rate = Clocks(), Rate(2, 100.0)
    with closing(clocks.of(tmp_path / "meters")) as meters:
        assert not meters.take("k", rate, None).wait
        clocks.ticks = 5.0
        assert not meters.take("k", rate, None).wait
        assert meters.take("k", rate, None).wait == pytest.approx(50.0)
        clocks.ticks = 56.0
        assert not meters.take("k", rate, None).wait


# --- for how much ------------------------------------------------------------------------


def test_a_budget_holds_across_workers_and_restarts_until_the_day_ends(
    here: Keyring, keys_of: Any
) -> None:
    token = added(here, budget=0.01)
    one, two = keys_of(), keys_of()

    one.paid(one.admit(token, "decide"), 0.004)
    two.paid(two.admit(token, "decide"), 0.006)

    for keys in (one, two, keys_of()):
        status, code, again = denied(keys, token)
        assert (status, code) == (402, "over_budget")
        assert 0 < again <= DAY


def test_a_budget_is_full_again_at_midnight_utc(tmp_path: Path) -> None:
    clocks = Clocks()
    clocks.wall += DAY - 60
    with closing(clocks.of(tmp_path / "meters")) as meters:
        first = meters.take("k", None, 1.0)
        meters.paid("k", 0.75, first.reserved, first.day)
        late = meters.take("k", None, 1.0)
        full = meters.take("k", None, 1.0)
        assert (late.reserved, full.over, full.wait) == (0.75, False, SOON)
        other = meters.take("k", None, 9.0)
        meters.paid("k", 0.75, other.reserved, other.day)
        over = meters.take("k", None, 1.0)
        assert (over.over, over.wait) == (True, 60.0)

        clocks.wall += 60
        again = meters.take("k", None, 1.0)
        assert not again.over
        assert meters.spent("k") == again.reserved == pytest.approx(0.75 * KEPT)
        meters.paid("k", 0.5, late.reserved, late.day)  # of yesterday: nothing is given back
        assert meters.spent("k") == pytest.approx(0.5 + 0.75 * KEPT)


def test_many_at_once_do_not_overdraw_a_budget(here: Keyring, keys_of: Any) -> None:
    """Once it is known what one costs, as much is set aside for each that is under way."""
    token = added(here, budget=1.0)
    keys = keys_of()
    keys.paid(keys.admit(token, "decide"), 0.125)

    under_way = [keys.admit(token, "decide") for _ in range(7)]
    assert denied(keys, token) == (429, "rate_limited", SOON)  # they may cost less

    keys.paid(under_way.pop(), 0.0)  # an answer out of the cache
    assert denied(keys, token) == ()
    for one in under_way:
        keys.paid(one, 0.2)
    assert denied(keys, token)[1] == "over_budget"


def test_costs_that_are_no_amounts_count_nothing(here: Keyring, keys_of: Any) -> None:
    token = added(here, budget=1.0)
    keys = keys_of()
    keys.paid(keys.admit(token, "decide"), 0.75)
    for cost in (float("nan"), float("inf"), -5.0):
        keys.paid(keys.admit(token, "decide"), cost)

    for cost in (0.125, 0.125):
        keys.paid(keys.admit(token, "decide"), cost)
    assert denied(keys, token)[1] == "over_budget"


def test_what_decides_nothing_takes_nothing_out_of_a_budget(here: Keyring, keys_of: Any) -> None:
    token = added(here, budget=1.0)
    keys = keys_of()
    keys.paid(keys.admit(token, "decide"), 1.0)

    assert denied(keys, token)[1] == "over_budget"
    assert keys.admit(token, "decide", spends=False).reserved == 0.0


CHEAP, DEAR = 0.001, 0.5
sequences = st.lists(
    st.one_of(st.just("ask"), st.integers(0, 30), st.sampled_from([0.0, CHEAP, 0.25, DEAR])),
    max_size=120,
)


@settings(max_examples=100, deadline=None)
@given(steps=sequences, first=st.lists(st.sampled_from([0.0, CHEAP, DEAR]), max_size=3))
def test_no_sequence_of_asks_overdraws_a_budget(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any], first: list[float]
) -> None:
    """
    Law: beyond the budget goes one ask, and what those cost more that were let in knowing less.

    Free asks and cheap ones, as many as one likes, make no room for dear ones.
    """
    budget, excess, highest = 3.0, 0.0, 0.0
    with closing(Clocks().of(tmp_path_factory.mktemp("meters") / "law")) as meters:
        under_way = [meters.take("k", None, budget) for _ in first]
        for step in [*first, *steps]:
            if isinstance(step, float) and under_way:
                one = under_way.pop(0)
                meters.paid("k", step, one.reserved, one.day)
                excess, highest = excess + max(0.0, step - one.reserved), max(highest, step)
            for _ in range(1 if step == "ask" else step if isinstance(step, int) else 0):
                taken = meters.take("k", None, budget)
                under_way += [] if taken.wait else [taken]
            assert meters.spent("k") <= budget + excess + highest + 1e-9


def test_free_asks_make_no_room_for_dear_ones(here: Keyring, keys_of: Any) -> None:
    """Nor do cheap ones: each that is under way sets aside what the dearest did cost."""
    token = added(here, budget=5.0)
    keys = keys_of()
    keys.paid(keys.admit(token, "decide"), 0.5)
    for cost in (0.0, 0.0001) * 500:
        keys.paid(keys.admit(token, "decide"), cost)

    let_in = 0
    while not denied(keys, token):
        let_in += 1

    assert let_in == 9


def test_what_was_cut_off_costs_what_the_dearest_did(here: Keyring, keys_of: Any) -> None:
    """Its provider bills it too: nobody asks for nothing by hanging up."""
    token = added(here, budget=2.0)
    keys = keys_of()
    keys.paid(keys.admit(token, "decide"), 0.5)
    for _ in range(3):
        keys.paid(keys.admit(token, "decide"), 0.0, unbilled=True)

    assert denied(keys, token)[1] == "over_budget"


def test_what_was_cut_off_before_a_cost_was_known_is_paid_later(
    here: Keyring, keys_of: Any
) -> None:
    """And a key that never waits for an answer is turned away before long."""
    patient, hasty = added(here, "patient", budget=2.0), added(here, "hasty", budget=2.0)
    keys = keys_of()
    for _ in range(3):
        keys.paid(keys.admit(patient, "decide"), 0.0, unbilled=True)
    assert denied(keys, patient) == ()
    keys.paid(keys.admit(patient, "decide"), 0.5)
    assert denied(keys, patient)[1] == "over_budget"

    for _ in range(OWED):
        keys.paid(keys.admit(hasty, "decide"), 0.0, unbilled=True)
        keys.paid(keys.admit(hasty, "decide", spends=False), 0.0)
    assert denied(keys, hasty)[1] == "over_budget"


amounts = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 1000)), max_size=40)


@settings(max_examples=40, deadline=None)
@given(asks=amounts, late=st.randoms(use_true_random=False))
def test_what_is_spent_is_what_was_paid_in_whatever_order(
    tmp_path_factory: pytest.TempPathFactory, asks: list[tuple[str, int]], late: Any
) -> None:
    clocks = Clocks()
    with closing(clocks.of(tmp_path_factory.mktemp("meters") / "law")) as meters:
        taken = [(key, usd, meters.take(key, None, 1e9)) for key, usd in asks]
        late.shuffle(taken)
        for key, usd, one in taken:
            meters.paid(key, usd, one.reserved, one.day)
        for key in "abc":
            assert meters.spent(key) == sum(usd for name, usd in asks if name == key)


# --- the file of the limits --------------------------------------------------------------


def test_a_damaged_file_of_limits_is_told_at_the_start(here: Keyring, keys_of: Any) -> None:
    added(here, rate=NEVER)
    Path(".pointsman/journal.db.meters").write_bytes(b"something else")

    with pytest.raises(SetupError, match="file of the keys' limits is damaged"):
        keys_of()


def test_a_file_that_cannot_be_made_is_told_at_the_start(here: Keyring, keys_of: Any) -> None:
    added(here, rate=NEVER)
    Path(".pointsman/journal.db.meters").mkdir()

    with pytest.raises(SetupError, match="limits cannot be kept") as caught:
        keys_of()

    assert str(Path.cwd()) not in str(caught.value)


def test_where_no_key_has_a_limit_there_is_no_file(here: Keyring, keys_of: Any) -> None:
    token = added(here)
    assert denied(keys_of(), token) == ()

    assert not Path(".pointsman/journal.db.meters").exists()


def test_limits_that_cannot_be_checked_turn_only_limited_keys_away(
    told: Teller, here: Keyring, keys_of: Any
) -> None:
    heard, tell = told
    limited, free = added(here, "limited", budget=1.0), added(here, "free")
    keys = keys_of(tell=tell)
    holder = keys.admit(limited, "decide")
    file = Path(".pointsman/journal.db.meters")
    file.unlink()
    file.mkdir()

    keys.refresh()
    assert denied(keys, limited) == denied(keys, limited) == (503, "limits_unavailable", 1.0)
    keys.paid(holder, 0.5)
    assert denied(keys, free) == ()
    assert [event for event, _ in heard] == ["server.limits_unavailable"]

    file.rmdir()
    assert denied(keys, limited) == ()


def test_a_file_that_was_taken_away_is_shared_again(here: Keyring, keys_of: Any) -> None:
    token = added(here, rate=Rate(3, 1e12))
    one, two = keys_of(), keys_of()
    assert denied(one, token) == ()
    Path(".pointsman/journal.db.meters").unlink()

    one.refresh()
    two.refresh()

    assert [bool(denied(keys, token)) for keys in (one, two, one, two)] == [0, 0, 0, 1]


@pytest.mark.parametrize("length", [0, 10, 64, 100, 127])
def test_what_a_kill_left_half_written_is_written_anew(tmp_path: Path, length: int) -> None:
    file = tmp_path / "meters"
    with closing(Meters(file)) as meters:
        meters.take("12345678", NEVER, None)
    file.write_bytes(file.read_bytes()[:length])

    with closing(Meters(file)) as meters:
        taken = [meters.take(key, NEVER, None).wait for key in ("12345678", "other", "12345678")]

    assert [bool(wait) for wait in taken] == [False, False, True]
    assert file.stat().st_size == 3 * 64


def test_numbers_that_nobody_wrote_open_nothing(tmp_path: Path) -> None:
    file = tmp_path / "meters"
    with closing(Meters(file)) as meters:
        meters.take("12345678", NEVER, None)
        file.write_bytes(file.read_bytes()[:72] + b"\xff" * 56)
        assert meters.take("12345678", NEVER, None).wait > 0
        assert not meters.take("12345678", None, 1.0).over


# --- the command -------------------------------------------------------------------------


def invoke(*args: str, env: Mapping[str, str] | None = None) -> Any:
    return CliRunner().invoke(app, ["keys", *args], env=env)


def test_a_key_is_printed_once_and_is_nowhere_else(keys_of: Any) -> None:
    """Not in a list, a file, a log, an error or a representation."""
    run = invoke("create", "web", "--budget", "5", "--rate", "600/min")
    token = run.stdout.strip()
    secret = token[12:]
    keys = keys_of()
    holder = keys.admit(token, "decide")
    with pytest.raises(Denied) as caught:
        keys.admit(token, "admin")
    turned_away = repr(caught.value)

    seen = [run.stderr, repr(keys), repr(holder), turned_away]
    for args in [("list",), ("list", "--json"), ("revoke", token), ("revoke", token[:-1])]:
        run = invoke(*args)
        seen.append(run.stdout + run.stderr)
    keys.refresh()
    keys.close()
    files = [one.read_bytes() for one in Path().rglob("*") if one.is_file()]

    assert KEY.fullmatch(token)
    assert len(files) >= 2
    assert not [text for text in seen if secret in text or token in text]
    assert not [data for data in files if secret.encode() in data]


def test_create_says_what_the_key_may_do() -> None:
    run = invoke(
        *("create", "web", "--scope", "feedback", "--scope", "decide"),
        *("--rate", "10/s", "--budget", "2.5", "--expires", "2999-01-31"),
    )

    assert run.exit_code == 0
    assert "of web may decide and feedback, up to 10/s, $2.5 a day, until 2999-01-31" in run.stderr


def test_list_shows_all_that_is_not_secret(keys_of: Any) -> None:
    token = invoke("create", "web", "--rate", "600/min").stdout.strip()
    invoke("create", "old", "--expires", "90d", "--scope", "admin")
    keys = keys_of()
    keys.admit(token, "decide")
    keys.refresh()
    invoke("revoke", "web")

    printed = invoke("list").stdout

    assert max(map(len, printed.splitlines())) <= 80
    web, old = (line.split() for line in printed.splitlines() if re.match(r"[0-9a-z]{8} ", line))
    assert web[:4] == [tokens.id_of(token), "web", "decide", "600/min"]
    assert web[4] == web[5] == time.strftime("%Y-%m-%d", time.gmtime())
    assert web[6] == "revoked"
    assert old[1:4] + old[5:7] == ["old", "admin", "–", "–", "until"]


def test_json_is_for_programs() -> None:
    import json

    made = json.loads(invoke("create", "web", "--rate", "5000/h", "--json").stdout)
    listed = json.loads(invoke("list", "--json").stdout)
    ended = json.loads(invoke("revoke", "web", "--json").stdout)

    assert tokens.well_formed(made.pop("key"))
    assert listed == [made]
    assert (made["rate"], made["scopes"], made["in_force"]) == ("5000/h", ["decide"], True)
    assert ended == {**made, "revoked": ended["revoked"], "in_force": False}


def test_a_key_is_revoked_by_its_id_its_name_or_itself() -> None:
    one, two, three = (invoke("create", name).stdout.strip() for name in ("a", "b", "c"))

    assert invoke("revoke", one).exit_code == 0
    assert invoke("revoke", tokens.id_of(two)).exit_code == 0
    assert "No key is in force now" not in invoke("revoke", two).stderr
    last = invoke("revoke", "c")
    assert f"Key {tokens.id_of(three)} of c is revoked." in last.stderr
    assert "No key is in force now: the server turns everybody away." in last.stderr
    assert "of c was revoked before" in invoke("revoke", "c").stderr


def test_what_is_no_key_is_not_repeated() -> None:
    """It may be one, with a typing error."""
    token = invoke("create", "web").stdout.strip()

    run = invoke("revoke", token.swapcase())

    assert run.exit_code != 0
    assert "there is no such key" in str(run.exception) + run.stderr
    assert token.swapcase() not in str(run.exception) + run.stderr


def test_capitals_make_no_other_name() -> None:
    assert invoke("create", "Web").exit_code == 0
    again = invoke("create", "wEB")
    assert again.exit_code == 2
    assert "is in force" in again.stderr

    assert invoke("revoke", "web").exit_code == 0
    assert invoke("create", "wEB").exit_code == 0


FAULTS = [
    (("create", ""), "NAME"),
    (("create", "x" * 65), "NAME"),
    (("create", "a\x1b[2J"), "NAME"),
    (("create", "a", "--scope", "all"), "there is no scope 'all'"),
    (("create", "a", "--rate", "600"), "'600' is no rate"),
    (("create", "a", "--rate", "0/min"), "'0/min' is no rate"),
    (("create", "a", "--rate", "5/year"), "'5/year' is no rate"),
    (("create", "a", "--budget", "0"), "--budget"),
    (("create", "a", "--budget", "nan"), "--budget"),
    (("create", "a", "--budget", "1000001"), "no amount up to 1,000,000"),
    (("create", "--", "-a"), "NAME"),
    (("create", "a", "--expires", "2020-01-01"), "is past"),
    (("create", "a", "--expires", "0d"), "is past"),
    (("create", "a", "--expires", "soon"), "'soon' is no time"),
    (("revoke", "a"), "there is no such key"),
]


@pytest.mark.parametrize(("args", "problem"), FAULTS, ids=lambda one: " ".join(one)[:30])
def test_a_fault_is_told_with_what_to_do_and_makes_nothing(
    args: tuple[str, ...], problem: str
) -> None:
    run = invoke(*args)

    assert run.exit_code == 2
    assert problem in run.stderr
    assert not Path(".pointsman").exists()


def test_without_a_key_or_a_journal_the_command_says_so() -> None:
    assert "There is no key yet" in invoke("list").stderr
    assert invoke("list", "--json").stdout.strip() == "[]"
    assert not Path(".pointsman").exists()

    run = invoke("list", env={"DECISION_JOURNAL": "off"})
    assert run.exit_code == 2
    assert "no journal is kept" in run.stderr


def test_the_commands_work_on_a_server_of_databases(url: str) -> None:
    env = {"DECISION_JOURNAL": url}
    token = invoke("create", "web", env=env).stdout.strip()

    assert tokens.id_of(token) in invoke("list", env=env).stdout
    assert invoke("revoke", "web", env=env).exit_code == 0
    assert "revoked" in invoke("list", env=env).stdout


def test_keys_need_no_server_library() -> None:
    """The command makes them where only `[cli]` is installed."""
    program = """
import sys
import pointsman.gateway.cli.keys.command, pointsman.gateway.server.keys
print(sorted({"starlette", "uvicorn", "anyio", "prometheus_client"} & set(sys.modules)))
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == "[]"
