"""The seam: a stranger's distribution is found, used, and never in the way."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import (
    Ask,
    Call,
    Choice,
    Chosen,
    Gateway,
    Limits,
    Offer,
    Predicate,
    Reason,
    Record,
    Recorder,
    Reply,
    Setup,
    SetupError,
    Usage,
    hookimpl,
    scripted,
)
from pointsman.gateway.discovery import discover, named

HERE = Path(__file__).parent
TEAM = Choice("Which team?", ["billing", "tech"])
Gateways = Callable[..., Gateway]
Install = Callable[[str, str], None]

OFFERS = """
from pointsman import Limits, Offer, hookimpl

@hookimpl
def pointsman_providers():
    return [Offer("dice", lambda: None)]
"""
BROKEN = "raise RuntimeError('secret-canary')"


# --- a whole distribution ----------------------------------------------------------------


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`tests/plugin`, built and installed offline into a folder of its own."""
    for needed in ("pip", "hatchling"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed here: the stranger cannot be built offline")
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*pip, *offline, str(HERE / "plugin")], check=True, timeout=60)
    return target


USED = """
import json, sys
import pointsman
early = "pointsman_coin" in sys.modules
from pointsman import Gateway
gateway = Gateway.from_env({"DECISION_LOG": "off", **json.loads(sys.argv[1])})
with gateway:
    made = gateway.ask_sync("KICK_OFF", "odd", current=lambda: "home")
import pointsman_coin
print(json.dumps({
    "early": early,
    "value": made.value,
    "by": made.provider,
    "model": made.attempts[0].model,
    "reasons": [attempt.reason for attempt in made.attempts],
    "seen": [record.outcome for record in pointsman_coin.SEEN],
    "why": dict(gateway.plan("KICK_OFF").why),
}))
"""


def used(target: Path, environ: dict[str, str]) -> dict[str, Any]:
    """Run a host that has the stranger installed."""
    run = subprocess.run(
        [sys.executable, "-c", USED, json.dumps(environ)],
        env={**os.environ, "PYTHONPATH": str(target)},
        check=True,
        capture_output=True,
        timeout=60,
        text=True,
    )
    said: dict[str, Any] = json.loads(run.stdout)
    return said


def test_a_strangers_provider_point_and_observer_are_used(stranger: Path) -> None:
    """One variable selects it; importing the package alone does not even import it."""
    said = used(stranger, {"DECISION_PROVIDER": "coin", "COIN_MIN_CONFIDENCE": "0.5"})

    assert said == {
        "early": False,
        "value": "away",
        "by": "coin",
        "model": "coin-1",
        "reasons": ["ok"],
        "seen": ["away"],
        "why": {
            "provider": "DECISION_PROVIDER",
            "minimum": "COIN_MIN_CONFIDENCE",
            "fallback": "default",
            "deadline": "default",
        },
    }


def test_a_stranger_is_held_to_the_same_gate(stranger: Path) -> None:
    said = used(stranger, {"DECISION_KICK_OFF_PROVIDER": "coin"})

    assert (said["value"], said["by"]) == ("home", "current")
    assert said["reasons"] == ["low_confidence", "ok"]


def test_the_stranger_is_small() -> None:
    """A provider, a point and an observer in 30 lines of Python."""
    source = (HERE / "plugin" / "pointsman_coin.py").read_text("utf-8")

    assert len(source.splitlines()) <= 30
    assert "pointsman.gateway" not in source


# --- what is found -----------------------------------------------------------------------


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a distribution with one module on the path, as an installer would."""
    monkeypatch.syspath_prepend(tmp_path)
    modules: list[str] = []

    def one(name: str, source: str) -> None:
        modules.append(f"stranger_{name}")
        (tmp_path / f"stranger_{name}.py").write_text(source, "utf-8")
        info = tmp_path / f"stranger_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[pointsman]\n{name} = stranger_{name}\n")
        importlib.invalidate_caches()

    yield one
    for module in modules:
        sys.modules.pop(module, None)


def test_the_built_ins_come_through_the_same_entry_point() -> None:
    found = discover()

    assert {"current", "jev", "local"} <= found.offers.keys()
    assert {"ROUTER", "ROUTE_CONTINUITY", "GUARDRAIL_PINJ", "JUDGE_RQLT"} <= found.points.keys()
    assert found.broken == {}


def test_two_plugins_offering_one_name_are_a_start_error_that_names_both(
    install: Install, gateway_of: Gateways
) -> None:
    install("alea", OFFERS)
    install("bones", OFFERS)

    with pytest.raises(SetupError) as caught:
        gateway_of()

    (fault,) = caught.value.faults
    assert fault.where == "dice"
    assert "'alea'" in fault.problem
    assert "'bones'" in fault.problem
    assert "DECISION_PLUGINS" in fault.fix
    gateway_of({"DECISION_PLUGINS": "bones"})


def test_a_clash_is_told_beside_what_is_wrong_with_variables(
    install: Install, gateway_of: Gateways
) -> None:
    install("alea", OFFERS)
    install("bones", OFFERS)

    with pytest.raises(SetupError) as caught:
        gateway_of({"DECISION_FALLBACK_SHARE": "2"})

    assert {fault.where for fault in caught.value.faults} == {"DECISION_FALLBACK_SHARE", "dice"}


def test_a_stranger_cannot_take_a_built_in_name(install: Install, gateway_of: Gateways) -> None:
    install("thief", OFFERS.replace("dice", "jev"))

    with pytest.raises(SetupError, match="'pointsman-providers' and 'thief'"):
        gateway_of()


def test_a_broken_plugin_that_may_be_what_is_selected_is_an_error_that_names_it(
    install: Install, gateway_of: Gateways
) -> None:
    install("wreck", BROKEN)

    with pytest.raises(SetupError) as caught:
        gateway_of({"DECISION_ROUTER_PROVIDER": "dice"})

    (fault,) = caught.value.faults
    assert fault.where == "DECISION_ROUTER_PROVIDER"
    assert "wreck (RuntimeError)" in fault.problem
    assert "canary" not in str(fault)


def test_a_broken_plugin_that_nobody_needs_is_one_warning(
    install: Install, gateway_of: Gateways, capsys: pytest.CaptureFixture[str]
) -> None:
    install("wreck", BROKEN)

    gateway = gateway_of({"DECISION_LOG": "json", "DECISION_ROUTER_PROVIDER": "local"})

    (event,) = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (event["event"], event["level"]) == ("decision.setup", "warning")
    assert (event["where"], "RuntimeError" in event["problem"]) == ("wreck", True)
    assert "canary" not in json.dumps(event)
    assert [fault.where for fault in gateway.check() if fault.where == "wreck"] == ["wreck"]


@pytest.mark.parametrize(
    "source",
    [
        "import nothing_of_this_name",
        "this is no Python",
        "raise SystemError",
        OFFERS.replace("return [", "return ["[:-1] + "5 or ["),
        OFFERS.replace('Offer("dice", lambda: None)', '"dice"'),
        OFFERS.replace("pointsman_providers", "pointsman_provider"),
    ],
    ids=["import", "syntax", "raises", "no list", "no offer", "unknown hook"],
)
def test_a_plugin_may_break_in_any_way(install: Install, gateway_of: Gateways, source: str) -> None:
    """Each is loaded and asked in its own `try`."""
    install("wreck", source)
    install("alea", OFFERS)

    found = discover()

    assert found.broken.keys() == {"wreck"}
    assert "dice" in found.offers
    gateway_of()


def test_the_allow_list_keeps_the_others_from_being_imported(
    install: Install, gateway_of: Gateways
) -> None:
    install("alea", OFFERS)
    install("wreck", BROKEN)

    gateway = gateway_of({"DECISION_PLUGINS": " alea ,, "})

    assert "stranger_wreck" not in sys.modules
    assert gateway.check() == ()
    assert gateway.provider("local").name == "local"  # the package's own are always allowed


@pytest.mark.parametrize(
    ("allowed", "problem"),
    [("alae", "no plug-in 'alae' is installed"), ("wreck", "cannot be loaded (RuntimeError)")],
)
def test_an_allow_list_is_taken_at_its_word(
    install: Install, gateway_of: Gateways, allowed: str, problem: str
) -> None:
    install("wreck", BROKEN)

    with pytest.raises(SetupError) as caught:
        gateway_of({"DECISION_PLUGINS": f"{allowed}"})

    (fault,) = caught.value.faults
    assert fault.where == "DECISION_PLUGINS"
    assert problem in fault.problem


def test_an_empty_allow_list_is_unset(install: Install, gateway_of: Gateways) -> None:
    install("alea", OFFERS)

    assert "dice" in discover(None).offers
    gateway_of({"DECISION_PLUGINS": ""})


# --- added by hand -----------------------------------------------------------------------


class Late:
    """A plug-in given to the gateway, with everything that can be offered."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.seen = Recorder()

    def _make(self, setup: Setup) -> Any:
        self.made.append(setup.name)
        return scripted("tech")

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        return [Offer("late", lambda: self._make)]

    @hookimpl
    def pointsman_observers(self) -> list[Any]:
        return [self.seen]

    @hookimpl
    def pointsman_commands(self) -> dict[str, Any]:
        return {"tariffs": lambda: None}

    @hookimpl
    def pointsman_tools(self) -> dict[str, Any]:
        return {"reconcile": len}


def test_a_plugin_can_be_given_by_hand() -> None:
    plugin = Late()

    found = discover(added=[plugin])

    assert "late" in found.offers
    assert ("Late", plugin.seen) in found.observers
    assert found.commands.keys() >= {"tariffs"}
    assert found.tools["reconcile"] is len


class Offering:
    """Offers providers of these names."""

    def __init__(self, *names: str) -> None:
        self._names = names

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        return [Offer(name, lambda: lambda _: scripted("tech")) for name in self._names]


@pytest.mark.parametrize("name", ["Dice", "a/b", "a b", "a:b", "a,b", "", "é", "-a"])
def test_a_provider_that_no_variable_can_name_is_a_start_error(name: str) -> None:
    with pytest.raises(SetupError) as caught:
        discover(added=[Offering("fine-1_2", name)])

    (fault,) = caught.value.faults
    assert fault.where == "Offering"
    assert repr(name) in fault.problem


def test_a_plugin_that_offers_a_name_twice_is_a_start_error() -> None:
    with pytest.raises(SetupError, match="the plug-in 'Offering' offers this provider twice"):
        discover(added=[Offering("dice", "dice")])


class Deaf:
    """Offers an observer that cannot be told anything."""

    @hookimpl
    def pointsman_observers(self) -> list[Any]:
        return ["x"]


def test_what_is_no_plugin_or_observer_is_a_start_error() -> None:
    with pytest.raises(SetupError, match="plugins: str: it has no hook"):
        discover(added=["x"])
    with pytest.raises(SetupError, match="an observer of this plug-in cannot be called"):
        discover(added=[Deaf()])
    with pytest.raises(SetupError, match="observers: str cannot be called"):
        named(["x"])  # type: ignore[list-item]
    recorder = Recorder()
    assert named([recorder]) == ((repr(recorder), recorder),)


def test_a_provider_is_made_once_and_only_when_selected(gateway_of: Gateways) -> None:
    plugin = Late()
    gateway = gateway_of(plugins=[plugin])
    assert plugin.made == []

    assert gateway.provider("late/a") is gateway.provider("late/a")
    gateway.provider("late/b")

    assert plugin.made == ["late/a", "late/b"]


def test_a_module_that_declares_points_late_is_served(gateway_of: Gateways) -> None:
    """The gateway is made first, the points come when their modules are imported."""
    gateway = gateway_of({"DECISION_TEAM_PROVIDER": "late"}, plugins=[Late()])
    assert gateway.check()  # so far the variable is odd, and no more

    @gateway.point("team", TEAM)
    def team(message: str) -> str:
        return "billing" if message else "tech"

    assert team("x") == "tech"
    assert gateway.check() == ()


class Raises:
    """An observer that fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __call__(self, record: Record) -> None:
        raise self._error


def test_an_observer_that_raises_never_reaches_a_decision(
    gateway_of: Gateways, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are told all the same; the log says whose fault it was, by its type alone."""
    seen = Recorder()
    bad = Raises(RuntimeError("secret-canary"))
    gateway = gateway_of({"DECISION_LOG": "json"}, observers=[bad, seen])

    made = gateway.ask_sync("TEAM", Ask("s", {"q": TEAM}), current=lambda: "billing")

    assert made.value == "billing"
    assert [record.outcome for record in seen.records] == ["billing"]
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (failed,) = [event for event in events if event["event"] == "decision.observer_failed"]
    assert failed["error"] == "RuntimeError"
    assert "canary" not in json.dumps(events)


# --- whatever a stranger's provider does -------------------------------------------------


class Says:
    """A provider that returns, or raises, whatever it was given."""

    name = "says"
    limits = Limits()

    def __init__(self, what: Any) -> None:
        self._what = what

    def answer(self, ask: Ask, call: Call) -> Any:
        if isinstance(self._what, BaseException):
            raise self._what
        return self._what


GOOD = Chosen("tech", None, 0.9)
STRANGE = {
    "nothing": (None, Reason.MALFORMED),
    "a text": ("tech", Reason.MALFORMED),
    "a dict": ({"q": "tech"}, Reason.MALFORMED),
    "a class": (Reply, Reason.MALFORMED),
    "a ValueError": (ValueError("secret-canary"), Reason.PROVIDER_ERROR),
    "a KeyError": (KeyError(), Reason.PROVIDER_ERROR),
    "its own recursion": (RecursionError(), Reason.PROVIDER_ERROR),
    "the end of iteration": (StopIteration("secret-canary"), Reason.PROVIDER_ERROR),
    "a timeout of its own": (TimeoutError(), Reason.PROVIDER_ERROR),
}


@pytest.mark.parametrize(("what", "reason"), STRANGE.values(), ids=STRANGE)
def test_a_strangers_bug_costs_one_fallback(
    gateway_of: Gateways, what: Any, reason: Reason
) -> None:
    gateway = gateway_of()

    with gateway.override({"TEAM": Says(what)}):
        made = gateway.ask_sync("TEAM", Ask("s", {"q": TEAM}), current=lambda: "billing")

    assert made.value == "billing"
    assert [attempt.reason for attempt in made.attempts] == [reason, Reason.OK]


@pytest.mark.parametrize(
    "side",
    [
        {"usage": {"tokens": 1}},
        {"usage": "free"},
        {"model": 5},
        {"model": None},
        {"request_id": 7},
        {"notes": [1]},
        {"notes": {"best": "high"}},
    ],
    ids=str,
)
def test_what_stands_beside_a_good_answer_never_spoils_it(
    gateway_of: Gateways, side: dict[str, Any]
) -> None:
    """Of the wrong type it is left out: totals, logs and journals stay sound."""
    seen = Recorder()
    gateway = gateway_of(observers=[seen])

    with gateway.override({"TEAM": Says(Reply({"q": GOOD}, **side))}):
        made = gateway.ask_sync("TEAM", Ask("s", {"q": TEAM}), current=lambda: "billing")

    assert made.value == "tech"
    (attempt,) = made.attempts
    assert (attempt.model, attempt.usage, attempt.request_id, attempt.notes) == (
        "",
        None,
        None,
        None,
    )
    assert seen.records[0].cost_usd == 0


def test_limits_are_checked_before_anything_is_sent(gateway_of: Gateways) -> None:
    """Refused locally rather than cut off remotely."""
    gateway = gateway_of()
    many = Choice("q", [str(one) for one in range(9)])
    narrow = scripted("tech")
    narrow.limits = Limits(options=8, questions=1, characters=5)

    for ask, reason in (
        (Ask("s", {"q": many}), Reason.UNSUPPORTED),
        (Ask("s", {"q": TEAM, "r": Predicate("?")}), Reason.UNSUPPORTED),
        (Ask("longer", {"q": TEAM}), Reason.TOO_LARGE),
    ):
        with gateway.override({"TEAM": narrow}):
            made = gateway.ask_sync("TEAM", ask, current=lambda: "billing")
        assert made.attempts[0].reason is reason

    assert narrow.asked == []


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.just(10**400)
    | st.text(max_size=4)
    | st.binary(max_size=4)
    | st.sampled_from(["q", "tech", "billing"])
    | st.builds(object),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.builds(Chosen, inner, inner, inner)
        | st.builds(Usage, inner, inner, inner, inner)
    ),
    max_leaves=6,
)
confident = st.builds(Chosen, st.sampled_from(["tech", "sales"]), st.none(), st.floats() | anything)
strange_replies = st.builds(
    Reply,
    st.fixed_dictionaries({"q": confident}) | anything,
    model=anything,
    usage=st.builds(Usage, anything, anything, anything) | anything,
    request_id=anything,
    notes=anything,
)


@given(what=strange_replies | anything)
@settings(derandomize=True, deadline=None, max_examples=300)
def test_whatever_a_stranger_returns_the_host_gets_a_decision(what: Any) -> None:
    """And the log and the observers get a record that can be written down."""
    seen = Recorder()
    gateway = Gateway.from_env({"DECISION_LOG": "json"}, observers=[seen])

    with gateway.override({"TEAM": Says(what)}):
        made = gateway.ask_sync("TEAM", Ask("s", {"q": TEAM}), current=lambda: "billing")

    assert made.value == ("tech" if made.provider == "says" else "billing")
    assert made.confidence >= 0.7 or made.provider == "current"
    written = msgspec.json.encode(seen.records[0])
    assert msgspec.json.decode(written, type=Record).id == made.record.id
    assert math.isfinite(made.record.cost_usd)
