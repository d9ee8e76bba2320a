"""Variables in, plans out: what is wrong is said at start, all at once, with the fix."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from pointsman import (
    Call,
    Choice,
    DecisionPoint,
    DeclarationError,
    Fault,
    Gateway,
    Plan,
    Predicate,
    Provider,
    Settings,
    Setup,
    SetupError,
    hookimpl,
    scripted,
)
from pointsman.gateway import checks
from pointsman.gateway import settings as module
from pointsman.gateway.plugins import Make, Offer
from pointsman.gateway.points import suffix_of

Gateways = Callable[..., Gateway]
TEAM = Choice("Which team?", ["billing", "tech"])
KEY = {"AI_GATEWAY_API_KEY": "sk-canary-1234567890"}


def fault_of(environ: Mapping[str, str], **given: Any) -> dict[str, Fault]:
    """Every fault at start, by its variable."""
    with pytest.raises(SetupError) as caught:
        Gateway.from_env({"DECISION_LOG": "off", **environ}, **given)
    faults = {fault.where: fault for fault in caught.value.faults}
    assert len(faults) == len(caught.value.faults)
    assert all(fault.problem and fault.fix for fault in faults.values())
    return faults


def point(name: str, *chain: str, internal: bool = False) -> DecisionPoint:
    """A point that is declared and asked."""
    questions = {"": {"decision": TEAM}}
    return DecisionPoint(name=name, questions=questions, chain=chain, internal=internal)


def plan_of(environ: Mapping[str, str], one: DecisionPoint) -> Plan:
    return Settings.read(environ).plan(one)


# --- defaults and precedence -------------------------------------------------------------


def test_without_variables_everything_is_as_the_host_runs_it() -> None:
    plan = plan_of({}, point("ROUTER"))

    assert (plan.provider, plan.gate.minimum, plan.gate.scale) == ("current", 0.7, "reported")
    assert (plan.fallback, plan.deadline, plan.share) == (True, None, 0.5)
    assert set(plan.why.values()) == {"default"}


def test_a_key_in_the_environment_never_selects_a_provider() -> None:
    assert plan_of(KEY, point("ROUTER")).provider == "current"


@pytest.mark.parametrize(
    ("environ", "provider", "why"),
    [
        ({"DECISION_PROVIDER": "jev"}, "jev", "DECISION_PROVIDER"),
        ({"DECISION_C_PROVIDER": "local"}, "local", "DECISION_C_PROVIDER"),
        (
            {"DECISION_C_PROVIDER": "local", "DECISION_B_PROVIDER": "current"},
            "current",
            "DECISION_B_PROVIDER",
        ),
        (
            {"DECISION_A_PROVIDER": "jev/eu", "DECISION_B_PROVIDER": "local"},
            "jev/eu",
            "DECISION_A_PROVIDER",
        ),
        ({"DECISION_A_PROVIDER": " ", "DECISION_PROVIDER": "jev"}, "jev", "DECISION_PROVIDER"),
    ],
)
def test_the_most_specific_name_decides_and_the_plan_says_which(
    environ: dict[str, str], provider: str, why: str
) -> None:
    plan = plan_of(environ, point("A", "B", "C"))

    assert (plan.provider, plan.why["provider"]) == (provider, why)


def test_each_field_inherits_by_itself() -> None:
    """The individual variable wins; absent, it inherits (A4)."""
    environ = {
        "DECISION_B_PROVIDER": "jev",
        "DECISION_A_MIN_CONFIDENCE": "0.9",
        "DECISION_C_FALLBACK_TO_CURRENT": "false",
        "DECISION_FALLBACK_TO_CURRENT": "true",
        "DECISION_C_DEADLINE_SECONDS": "2.5",
        "DECISION_FALLBACK_SHARE": "0.25",
        "DECISION_CONFIDENCE": "probability",
    }

    plan = plan_of(environ, point("A", "B", "C"))

    assert (plan.provider, plan.gate.minimum, plan.gate.scale) == ("jev", 0.9, "probability")
    assert (plan.fallback, plan.deadline, plan.share) == (False, 2.5, 0.25)
    assert plan.why == {
        "provider": "DECISION_B_PROVIDER",
        "minimum": "DECISION_A_MIN_CONFIDENCE",
        "fallback": "DECISION_C_FALLBACK_TO_CURRENT",
        "deadline": "DECISION_C_DEADLINE_SECONDS",
    }


@pytest.mark.parametrize(
    ("environ", "minimum", "why"),
    [
        ({}, 0.7, "default"),
        ({"JEV_MIN_CONFIDENCE": "0.8"}, 0.8, "JEV_MIN_CONFIDENCE"),
        ({"JEV_MIN_CONFIDENCE": "0"}, 0.0, "JEV_MIN_CONFIDENCE"),
        (
            {"JEV_MIN_CONFIDENCE": "0.8", "JEV__EU__MIN_CONFIDENCE": "0.6"},
            0.6,
            "JEV__EU__MIN_CONFIDENCE",
        ),
        (
            {"JEV__EU__MIN_CONFIDENCE": "0.6", "DECISION_B_MIN_CONFIDENCE": "0"},
            0.0,
            "DECISION_B_MIN_CONFIDENCE",
        ),
    ],
)
def test_the_threshold_is_the_points_then_the_providers_then_ours(
    environ: dict[str, str], minimum: float, why: str
) -> None:
    plan = plan_of({"DECISION_PROVIDER": "jev/eu", **environ}, point("A", "B"))

    assert (plan.gate.minimum, plan.why["minimum"]) == (minimum, why)


def test_internal_points_do_not_inherit_the_global_provider() -> None:
    environ = {"DECISION_PROVIDER": "jev"}

    assert plan_of(environ, point("COUNCIL", internal=True)).provider == "current"
    environ |= {"DECISION_COUNCIL_PROVIDER": "local"}
    assert plan_of(environ, point("COUNCIL", internal=True)).provider == "local"


@pytest.mark.parametrize("text", ["true", "1", "yes", "on", "True"])
def test_truths_are_written_as_people_write_them(text: str) -> None:
    environ = {"DECISION_FALLBACK_TO_CURRENT": "no", "DECISION_A_FALLBACK_TO_CURRENT": text}

    assert plan_of(environ, point("A")).fallback


# --- names -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("router", "ROUTER"),
        ("guardrail.dlex_out", "GUARDRAIL_DLEX_OUT"),
        ("Guardrail-DLEX out", "GUARDRAIL_DLEX_OUT"),
        ("a--b", "A_B"),
        ("__a__", "A"),
        ("coerência", "COERENCIA"),
        ("ﬁt №1", "FIT_NO1"),
    ],
)
def test_names_become_suffixes_by_runs_with_accents_folded(name: str, suffix: str) -> None:
    """A2: accents to ASCII, every run of other characters one `_`, ends trimmed."""
    assert suffix_of(name) == suffix


@pytest.mark.parametrize("name", ["", "…", "_-_", "日本"])
def test_a_name_that_leaves_nothing_is_refused(name: str) -> None:
    with pytest.raises(DeclarationError):
        suffix_of(name)


def test_the_longest_known_suffix_is_the_variables() -> None:
    assert module.parse("DECISION_A_SHADOW_SAMPLE") == ("A", "SHADOW_SAMPLE")
    assert module.parse("DECISION_A_FALLBACK_TO_CURRENT") == ("A", "FALLBACK_TO_CURRENT")
    assert module.parse("DECISION_MIN_CONFIDENCE_PROVIDER") == ("MIN_CONFIDENCE", "PROVIDER")
    assert module.parse("DECISION_A_B") is None
    assert module.parse("A_PROVIDER") is None


@pytest.mark.parametrize("name", sorted(module.GLOBALS))
def test_the_names_of_globals_are_reserved(name: str) -> None:
    """No point's variable can be mistaken for a global one, whatever the point is called."""
    assert module.parse(name) is None
    rest = name.removeprefix("DECISION_")
    assert not any(rest.endswith(f"_{suffix}") and rest != suffix for suffix in module.SUFFIXES)


def test_two_points_that_share_their_variables_are_a_fault(gateway_of: Gateways) -> None:
    """A2: at start, naming both."""
    gateway = gateway_of()
    for name in ("dlex-out", "DLEX OUT"):
        gateway.point(name, TEAM)(_route)

    with pytest.raises(SetupError) as caught:
        gateway.check()

    (fault,) = caught.value.faults
    assert fault.where == "DECISION_DLEX_OUT_…"
    assert "'dlex-out'" in fault.problem
    assert "'DLEX OUT'" in fault.problem


def _route(message: str) -> str:
    return "billing" if "invoice" in message else "tech"


# --- faults ------------------------------------------------------------------------------


def test_every_fault_comes_at_once_with_its_variable_and_the_fix() -> None:
    """The operator corrects all of them before the next start, not one after another."""
    faults = fault_of(
        {
            "DECISION_PROVIDER": "jevv",
            "DECISION_A_PROVIDER": "jev",  # its key is missing
            "DECISION_B_PROVIDER": "lokal",
            "DECISION_A_MIN_CONFIDENCE": "1.2",
            "DECISION_A_DEADLINE_SECONDS": "soon",
            "DECISION_B_FALLBACK_TO_CURRENT": "perhaps",
            "DECISION_FALLBACK_SHARE": "1",
            "DECISION_CONFIDENCE": "feeling",
            "DECISION_LOG": "loud",
            "DECISION_A_CACHE_SECONDS": "0",
            "DECISION_B_SHADOW": "lokal",
            "JEV_TIMEOUT_SECONDS": "0",
            "JEV_MAX_ATTEMPTS": "nine",
            "JEV_MIN_CONFIDENCE": "nan",
            "JEV_MASK": "on",
        }
    )

    assert faults.keys() == {
        "DECISION_PROVIDER",
        "DECISION_B_PROVIDER",
        "DECISION_A_MIN_CONFIDENCE",
        "DECISION_A_DEADLINE_SECONDS",
        "DECISION_B_FALLBACK_TO_CURRENT",
        "DECISION_FALLBACK_SHARE",
        "DECISION_CONFIDENCE",
        "DECISION_LOG",
        "DECISION_A_CACHE_SECONDS",
        "DECISION_B_SHADOW",
        "AI_GATEWAY_API_KEY",
        "JEV_TIMEOUT_SECONDS",
        "JEV_MAX_ATTEMPTS",
        "JEV_MIN_CONFIDENCE",
        "JEV_MASK",
    }


def test_an_unknown_provider_is_answered_with_the_nearest_and_the_installed() -> None:
    fault = fault_of({"DECISION_ROUTER_PROVIDER": "jevv"})["DECISION_ROUTER_PROVIDER"]

    assert "'jevv'" in fault.problem
    assert fault.fix.startswith("Did you mean jev? Installed: chat, clef, committee, current,")


def test_every_variable_that_selects_the_unknown_is_named() -> None:
    faults = fault_of({"DECISION_A_PROVIDER": "jevv", "DECISION_B_PROVIDER": "jevv"})

    assert faults.keys() == {"DECISION_A_PROVIDER", "DECISION_B_PROVIDER"}


NUMBERS = {
    "DECISION_A_MIN_CONFIDENCE": ["-0.1", "1.1", "nan", "inf", "high", "70%", "0,7"],
    "DECISION_A_DEADLINE_SECONDS": ["0", "-1", "nan", "inf", "soon"],
    "DECISION_FALLBACK_SHARE": ["0", "1", "nan", "half"],
    "DECISION_FALLBACK_TO_CURRENT": ["2", "perhaps"],
    "DECISION_STRICT": ["strictly"],
    "DECISION_LOG": ["JSON", "stdout"],
    "DECISION_CONFIDENCE": ["Reported", "p"],
}


@pytest.mark.parametrize(
    ("variable", "text"), [(name, text) for name, texts in NUMBERS.items() for text in texts]
)
def test_what_is_no_such_number_is_a_fault(variable: str, text: str) -> None:
    """Also of a point that nobody has declared yet."""
    assert fault_of({variable: text}).keys() == {variable}


PROVIDERS_NUMBERS = {
    "JEV_MIN_CONFIDENCE": ["-0.1", "2", "nan"],
    "JEV_TIMEOUT_SECONDS": ["0", "-1", "nan", "inf", "fast"],
    "JEV_MAX_ATTEMPTS": ["0", "6", "1.5", "two"],
    "JEV_BASE_URL": [
        "ai-gateway.vercel.sh",
        "ftp://x.test",
        "http:// x",
        "https://user@x.test/v1",
        "https://user:word@x.test/v1",
        "https://x.test/v1?key=1",
        "https://x.test/v1?",
        "https://x.test/v1#top",
    ],
    "AI_GATEWAY_API_KEY": ["sk canary", "sk-canáry", "sk-canary\x00", "sk\ncanary", "“sk-canary”"],
}


@pytest.mark.parametrize(
    ("variable", "text"),
    [(name, text) for name, texts in PROVIDERS_NUMBERS.items() for text in texts],
)
def test_a_selected_providers_variables_are_checked_at_start(variable: str, text: str) -> None:
    selected = {"DECISION_PROVIDER": "jev", **KEY}

    assert fault_of({**selected, variable: text}).keys() == {variable}


@pytest.mark.parametrize(
    ("variable", "problem"),
    [
        ("DECISION_A_MIN_CONFIDENCE", "it must be a number, written like 0.5, from 0 to 1"),
        ("DECISION_A_DEADLINE_SECONDS", "it must be a number, written like 0.5, above 0"),
        ("DECISION_FALLBACK_SHARE", "it must be a number, written like 0.5, above 0 and below 1"),
        ("DECISION_FALLBACK_TO_CURRENT", "it must be true or false"),
        ("DECISION_LOG", "it must be 'console', 'json' or 'off'"),
        ("JEV_TIMEOUT_SECONDS", "it must be a number, written like 0.5, above 0"),
        ("JEV_MAX_ATTEMPTS", "it must be a whole number from 1 to 5"),
        ("JEV_MIN_CONFIDENCE", "it must be a number, written like 0.5, from 0 to 1"),
        ("JEV_BASE_URL", "give a whole URL: https://host/path"),
    ],
)
def test_a_fault_says_what_the_value_must_be(variable: str, problem: str) -> None:
    """Its form and its range, not which of them was missed first."""
    selected = {"DECISION_PROVIDER": "jev", **KEY}

    for text in ("-7,5", "perhaps"):
        assert fault_of({**selected, variable: text})[variable].problem == problem


@pytest.mark.parametrize("variable", ["DECISION_PROVIDER", "DECISION_A_PROVIDER"])
@pytest.mark.parametrize(
    "name",
    ["current/x", "current/", "jev/", "local/", "local//", "local/a b", "local/é", "local/a/b"],
)
def test_an_instance_is_named_so_that_variables_can_be(variable: str, name: str) -> None:
    """And what the host runs has none: `local` would decide in its place."""
    fault = fault_of({**KEY, variable: name})[variable]

    assert "instance" in fault.problem


def test_the_language_is_one_that_the_points_on_offer_speak() -> None:
    """A user's own points speak what they like; they are looked at once they are declared."""
    offered = Gateway.from_env({"DECISION_LOG": "off"}).points.values()

    for language, known in (("en", True), ("PT", True), ("fr", False), ("$HOME", False)):
        settings = Settings.read({"DECISION_LANGUAGE": language})
        assert (not list(checks.unspoken(settings, offered))) is known
    (fault,) = checks.unspoken(Settings.read({"DECISION_LANGUAGE": "canary"}), offered)
    assert (fault.where, fault.fix) == ("DECISION_LANGUAGE", "Set one of: en, pt")
    assert "canary" not in fault.problem
    assert not list(checks.unspoken(Settings.read({"DECISION_LANGUAGE": "fr"}), [point("A")]))


def test_a_declared_point_that_does_not_speak_the_language_is_a_fault(
    gateway_of: Gateways,
) -> None:
    questions = {"fr": {"decision": TEAM}, "de": {"decision": TEAM}}
    gateway = gateway_of({"DECISION_LANGUAGE": "EN"})
    for name in ("A", "B"):
        gateway.point(DecisionPoint(name=name, questions=questions))(_route)

    with pytest.raises(SetupError) as caught:
        gateway.check()

    (fault,) = caught.value.faults
    assert (fault.where, fault.fix) == ("DECISION_LANGUAGE", "Set one of: de, fr")


def test_a_providers_variables_are_its_own_business_while_nobody_selects_it(
    gateway_of: Gateways,
) -> None:
    """A missing key is a fault of a selected provider only."""
    gateway_of({"JEV_MAX_ATTEMPTS": "two", "JEV_MASK": "on", "DECISION_A_PROVIDER": "current"})

    assert fault_of({"DECISION_A_PROVIDER": "jev"}).keys() == {"AI_GATEWAY_API_KEY"}
    assert fault_of({"DECISION_A_PROVIDER": "jev", "AI_GATEWAY_API_KEY": " "}).keys() == {
        "AI_GATEWAY_API_KEY"
    }


def test_secrets_are_in_no_fault_and_no_repr() -> None:
    """Whatever is wrong, values stay where they are."""
    planted = {
        "AI_GATEWAY_API_KEY": "sk-canary-1234567890",
        "JEV_BASE_URL": "canary://user:sk-canary-2@host",
        "JEV_MODEL": "",
        "DECISION_A_MIN_CONFIDENCE": "sk-canary-3",
        "DECISION_FALLBACK_TO_CURRENT": "sk-canary-4",
        "DECISION_LOG": "sk-canary-5",
        "DECISION_PROVIDER": "jev",
    }

    with pytest.raises(SetupError) as caught:
        Gateway.from_env(planted)

    assert len(caught.value.faults) == 4
    written = str(caught.value) + repr(caught.value) + repr(Settings.gathered(planted))
    assert "canary" not in written


# --- where variables come from -----------------------------------------------------------


def test_only_what_is_given_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A settings model of pydantic's reads the process by itself; that would move a key."""
    for name in ("MODEL", "BASE_URL", "TIMEOUT_SECONDS", "PROVIDER", "NAME"):
        monkeypatch.setenv(name, "http://stranger.test")
    monkeypatch.setenv("DECISION_PROVIDER", "local")
    monkeypatch.setenv("AI_GATEWAY_API_KEY", "of-the-process")

    assert Settings.read({}).globals.provider == "current"
    assert fault_of({"DECISION_PROVIDER": "jev"}).keys() == {"AI_GATEWAY_API_KEY"}
    jev = Gateway.from_env({"DECISION_PROVIDER": "jev", **KEY}).provider("jev")
    request = next(jev.exchange(point("A").ask("s"), Call(point="A")))  # type: ignore[attr-defined]
    assert request.url == "https://ai-gateway.vercel.sh/v1/decisions"
    assert request.headers["authorization"] == "Bearer sk-canary-1234567890"
    assert json.loads(request.content)["model"] == "typesafe-ai/jev"


def test_the_process_is_read_where_nothing_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("DECISION_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DECISION_A_MIN_CONFIDENCE", "0.9")

    assert Settings.read().plan(point("A")).gate.minimum == 0.9
    assert Gateway().plan(point("A")).gate.minimum == 0.9


def test_variables_are_read_once(gateway_of: Gateways) -> None:
    """Changing them later changes nothing until `reload`."""
    environ = {"DECISION_A_MIN_CONFIDENCE": "0.9"}
    gateway = gateway_of(environ)
    environ["DECISION_A_MIN_CONFIDENCE"] = "0.1"

    assert gateway.plan(point("A")).gate.minimum == 0.9
    gateway.reload({"DECISION_A_MIN_CONFIDENCE": "0.2"})
    assert gateway.plan(point("A")).gate.minimum == 0.2


def test_a_reload_that_is_wrong_changes_nothing(gateway_of: Gateways) -> None:
    gateway = gateway_of({"DECISION_A_MIN_CONFIDENCE": "0.9"})

    with pytest.raises(SetupError):
        gateway.reload({"DECISION_A_MIN_CONFIDENCE": "9"})

    assert gateway.plan(point("A")).gate.minimum == 0.9


def test_a_file_is_read_only_when_named_and_the_environment_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkout's `.env` could redirect a base URL and with it a key."""
    file = tmp_path / ".env"
    file.write_text(
        "DECISION_A_MIN_CONFIDENCE=0.9\nexport DECISION_B_MIN_CONFIDENCE='0.8'\n"
        "DECISION_C_MIN_CONFIDENCE=\n# DECISION_LOG=loud\nJEV_MODEL=${HOME}/x\n",
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)

    assert Settings.read({}).plan(point("A")).gate.minimum == 0.7
    settings = Settings.read({"DECISION_A_MIN_CONFIDENCE": "0.1"}, file)
    assert settings.plan(point("A")).gate.minimum == 0.1
    assert settings.plan(point("B")).gate.minimum == 0.8
    assert settings.plan(point("C")).gate.minimum == 0.7
    assert settings.variables.values["JEV_MODEL"] == "${HOME}/x"
    assert settings.variables.origins["DECISION_A_MIN_CONFIDENCE"] == "environment"
    assert settings.variables.origins["DECISION_B_MIN_CONFIDENCE"] == str(file)


def test_an_empty_variable_hides_no_line_of_a_file(tmp_path: Path) -> None:
    """Empty is unset, wherever it stands."""
    file = tmp_path / ".env"
    file.write_text("DECISION_A_MIN_CONFIDENCE=0.9\n", "utf-8")

    settings = Settings.read({"DECISION_A_MIN_CONFIDENCE": " "}, file)

    assert settings.plan(point("A")).gate.minimum == 0.9
    assert settings.variables.origins["DECISION_A_MIN_CONFIDENCE"] == str(file)


def test_a_line_that_cannot_be_read_is_a_fault_at_its_number(tmp_path: Path) -> None:
    """Beside all others, and without a word of what stands in it."""
    file = tmp_path / ".env"
    file.write_text(
        "# first\n\nfoo sk-canary\nexport DECISION_PROVIDER=jevv\n\n"
        "AI_GATEWAY_API_KEY='sk-canary\nDECISION_LOG=off\n",
        "utf-8",
    )

    with pytest.raises(SetupError) as caught:
        Gateway.from_env({}, file)

    assert [fault.where for fault in caught.value.faults] == [
        f"{file}:3",
        f"{file}:6",
        "DECISION_PROVIDER",
    ]
    assert "canary" not in str(caught.value)


def test_a_named_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    latin = tmp_path / "latin.env"
    latin.write_bytes("JEV_MODEL=coerência".encode("latin-1"))

    for path, told in ((tmp_path / "absent.env", "no such file"), (tmp_path, "it is a folder")):
        with pytest.raises(SetupError, match=told):
            Settings.read({}, path)
    with pytest.raises(SetupError, match="not written in UTF-8"):
        Settings.read({}, latin)


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("DECISION_A_MIN_CONFIDENCE=0.9\n", "utf-8-sig")

    assert Settings.read({}, file).plan(point("A")).gate.minimum == 0.9


def test_variables_are_texts() -> None:
    planted: Any = {"DECISION_A_MIN_CONFIDENCE": 0.9, "DECISION_STRICT": True, 5: "x"}

    faults = fault_of(planted)

    assert faults.keys() == {"DECISION_A_MIN_CONFIDENCE", "DECISION_STRICT", "5"}
    assert "not float" in faults["DECISION_A_MIN_CONFIDENCE"].problem


def test_named_instances_have_their_own_variables_first(gateway_of: Gateways) -> None:
    """`JEV__EU__MODEL`, then `JEV_MODEL`."""
    gateway = gateway_of(
        {
            "DECISION_A_PROVIDER": "jev/eu",
            "DECISION_B_PROVIDER": "jev",
            "JEV__EU__MODEL": "eu/model",
            "JEV_MODEL": "plain/model",
            "JEV_TIMEOUT_SECONDS": "3",
            "JEV__EU__MAX_ATTEMPTS": "4",
            **KEY,
        }
    )
    eu, plain = (gateway.provider(name) for name in ("jev/eu", "jev"))

    assert (eu.name, plain.name) == ("jev/eu", "jev")
    for provider, model, attempts in ((eu, "eu/model", 4), (plain, "plain/model", 2)):
        assert getattr(provider, "model") == model  # noqa: B009 - not every provider has one
        assert getattr(provider, "attempts") == attempts  # noqa: B009
        assert getattr(provider, "timeout") == 3  # noqa: B009


def test_a_wrong_variable_of_an_instance_is_named_as_it_is_written() -> None:
    environ = {"DECISION_A_PROVIDER": "jev/eu", "JEV__EU__MAX_ATTEMPTS": "0", **KEY}

    assert fault_of(environ).keys() == {"JEV__EU__MAX_ATTEMPTS"}


# --- what nothing reads ------------------------------------------------------------------


def odd(gateway: Gateway) -> dict[str, Fault]:
    return {fault.where: fault for fault in gateway.check()}


def test_a_misspelt_variable_is_named_with_the_nearest(gateway_of: Gateways) -> None:
    """A warning, since points may be declared later."""
    gateway = gateway_of({"DECISION_ROUTR_PROVIDER": "local", "DECISION_FALLBAK_SHARE": "0.5"})

    faults = odd(gateway)

    assert faults["DECISION_ROUTR_PROVIDER"].fix == "Did you mean DECISION_ROUTER_PROVIDER?"
    assert faults["DECISION_FALLBAK_SHARE"].fix == "Did you mean DECISION_FALLBACK_SHARE?"


@pytest.mark.parametrize(
    ("variable", "fix"),
    [
        ("DECISION_ROUTER", "Did you mean DECISION_ROUTER_PROVIDER?"),
        ("decision_router_provider", "Did you mean DECISION_ROUTER_PROVIDER?"),
        ("Decision_Provider", "Did you mean DECISION_PROVIDER?"),
        ("decision_routr_provider", "Did you mean DECISION_ROUTER_PROVIDER?"),
        ("DECISION_PROVIDR", "Did you mean DECISION_PROVIDER?"),
        ("DECISION_ROUTER_PROVIDR", "Did you mean DECISION_ROUTER_PROVIDER?"),
        ("DECISION_ZZZ", "Declare the point, or unset it"),
        ("decision_zzz", "Unset it"),
    ],
)
def test_what_nothing_reads_may_have_meant(gateway_of: Gateways, variable: str, fix: str) -> None:
    assert odd(gateway_of({variable: "local"}))[variable].fix == fix


@pytest.mark.parametrize("variable", ["DECISION_TEAM_PROVIDER", "DECISION_TEAM_PROVIDR"])
def test_a_variable_of_a_point_never_means_all_points(gateway_of: Gateways, variable: str) -> None:
    """Whoever followed such advice would hand every decision to that provider."""
    fault = odd(gateway_of({variable: "local"}))[variable]

    assert "Did you mean" not in fault.fix
    if variable.endswith("PROVIDER"):
        assert "no point TEAM is known here" in fault.problem
        assert "--app module:gateway" in fault.fix


def test_a_misspelt_variable_of_a_selected_provider_is_named(gateway_of: Gateways) -> None:
    environ = {"JEV_MODLE": "x", "JEV_UNRELATED": "x", "JEVELIN": "x", "LOCAL_ENCODR": "static"}
    read = {"JEV_MIN_CONFIDENCE": "0.5", "JEV_MODEL": "a/b", "JEV__EU__MODEL": "a/b", **KEY}

    gateway = gateway_of({"DECISION_A_PROVIDER": "jev/eu", **environ, **read})
    gateway.point("A", TEAM)(_route)

    faults = odd(gateway)
    assert faults.keys() == {"JEV_MODLE"}
    assert faults["JEV_MODLE"].fix == "Did you mean JEV_MODEL?"
    quiet = gateway_of({**environ, **KEY})
    assert odd(quiet) == {}


def test_a_deadline_that_leaves_the_provider_no_time_is_reported(gateway_of: Gateways) -> None:
    """It would be skipped each time: half of 80 ms is kept for the fallback."""
    environ = {
        "DECISION_PROVIDER": "local",
        "DECISION_A_DEADLINE_SECONDS": "0.08",
        "DECISION_B_DEADLINE_SECONDS": "0.2",
        "DECISION_C_DEADLINE_SECONDS": "0.01",
        "DECISION_C_PROVIDER": "current",
    }
    gateway = gateway_of(environ)
    for name in "ABC":
        gateway.point(name, TEAM)(_route)

    faults = odd(gateway)

    assert faults.keys() == {"DECISION_A_DEADLINE_SECONDS"}
    assert "0.040 s" in faults["DECISION_A_DEADLINE_SECONDS"].problem


def test_what_nothing_reads_is_an_error_when_strict(gateway_of: Gateways) -> None:
    gateway = gateway_of({"DECISION_ROUTR_MIN_CONFIDENCE": "0.5", "DECISION_STRICT": "true"})

    with pytest.raises(SetupError) as caught:
        gateway.check()

    assert [fault.where for fault in caught.value.faults] == ["DECISION_ROUTR_MIN_CONFIDENCE"]


def test_a_point_that_is_declared_late_is_read_all_the_same(gateway_of: Gateways) -> None:
    """Names are checked in two steps: values at start, names once the points are there."""
    gateway = gateway_of({"DECISION_LATE_MIN_CONFIDENCE": "0.9", "DECISION_STRICT": "true"})
    with pytest.raises(SetupError):
        gateway.check()

    gateway.point("late", TEAM)(_route)

    assert gateway.check() == ()
    assert gateway.plan("late").gate.minimum == 0.9


def test_a_line_that_says_current_is_never_reported(gateway_of: Gateways) -> None:
    """`.env.example` lists every point; most hosts ask few of them."""
    gateway = gateway_of(
        {
            "DECISION_NOBODY_PROVIDER": "current",
            "DECISION_GUARDRAIL_PINJ_PROVIDER": "current",
            "DECISION_STRICT": "true",
        }
    )

    assert gateway.check() == ()


def test_a_catalogue_name_that_nothing_asks_is_reported(gateway_of: Gateways) -> None:
    gateway = gateway_of({"DECISION_GUARDRAIL_PINJ_PROVIDER": "local"})

    assert "nothing" in odd(gateway)["DECISION_GUARDRAIL_PINJ_PROVIDER"].problem
    gateway.point("GUARDRAIL_PINJ", write=bool)(_is_unsafe)
    assert odd(gateway) == {}


def _is_unsafe(text: str) -> bool:
    return "ignore" in text


def test_a_global_provider_that_every_line_masks_is_reported(gateway_of: Gateways) -> None:
    """A5: with all lines of the example file at `current`, the global changes nothing."""
    environ = {"DECISION_PROVIDER": "local", "DECISION_ROUTER_PROVIDER": "current"}
    gateway = gateway_of(environ)
    gateway.point("ROUTER", TEAM)(_route)

    assert "changes nothing" in odd(gateway)["DECISION_PROVIDER"].problem
    lines = {f"DECISION_{name}_PROVIDER": "current" for name in gateway.points}
    unasked = gateway_of({"DECISION_PROVIDER": "local", **lines})
    assert "changes nothing" in odd(unasked)["DECISION_PROVIDER"].problem
    gateway.point("OTHER", TEAM)(_route)
    assert odd(gateway) == {}


def test_the_first_decision_only_warns(
    gateway_of: Gateways, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody has to call `check`; what is odd is said once all the same."""
    gateway = gateway_of({"DECISION_ROUTR_PROVIDER": "local", "DECISION_LOG": "json"})
    route = gateway.point("ROUTER", TEAM)(_route)

    with gateway.override({"ROUTER": scripted("tech")}):
        assert [route("invoice"), route("invoice")] == ["tech", "tech"]

    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    told = [event for event in events if event["event"] == "decision.setup"]
    assert [event["where"] for event in told] == ["DECISION_ROUTR_PROVIDER"]


# --- allow-lists and strangers -----------------------------------------------------------


class Broken:
    """Offers providers that cannot be made."""

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        return [
            Offer("uninstalled", self._uninstalled, extra="pointsman[x]"),
            Offer("buggy", lambda: _explode),
            Offer("shapeless", lambda: _shapeless),
        ]

    @staticmethod
    def _uninstalled() -> Make:
        raise ImportError("no", name="torch")


def _explode(_: Setup) -> Provider:
    raise RuntimeError("sk-canary")


def _shapeless(_: Setup) -> Provider:
    return cast("Provider", type("Shapeless", (), {"name": "shapeless"})())


@pytest.mark.parametrize(
    ("name", "problem", "fix"),
    [
        ("uninstalled", "torch is not installed", 'Run: pip install "pointsman[x]"'),
        ("buggy", "the provider 'buggy' cannot be made (RuntimeError)", "Repair"),
        ("shapeless", "the provider 'shapeless' cannot be made (TypeError)", "Repair"),
    ],
)
def test_a_provider_that_cannot_be_made_is_a_start_error(
    gateway_of: Gateways, name: str, problem: str, fix: str
) -> None:
    """And costs nothing while nobody selects it."""
    gateway_of(plugins=[Broken()])

    (fault,) = fault_of({"DECISION_A_PROVIDER": name}, plugins=[Broken()]).values()

    assert fault.problem == problem
    assert fault.fix.startswith(fix)


def test_predicates_say_what_happens_when_nobody_decides() -> None:
    """`on_undecided` is for points of one predicate."""
    rail = {"": {"unsafe": Predicate("Is it unsafe?")}}

    assert DecisionPoint(name="A", questions=rail, on_undecided="block").undecided is True
    assert DecisionPoint(name="A", questions=rail, on_undecided="allow").undecided is False
    allowed = DecisionPoint(name="A", questions=rail, on_undecided="block", blocks=False)
    assert allowed.undecided is False
    with pytest.raises(DeclarationError):
        DecisionPoint(name="A", questions={"": {"q": TEAM}}, on_undecided="block")
