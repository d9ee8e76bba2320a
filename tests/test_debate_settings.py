"""The variables of `debate`: every parameter, every alternative, and what cannot go together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from debating import COUNCIL, INVEST, agreeing, council_of, says
from pointsman import Gateway
from pointsman.gateway.errors import DeclarationError, SetupError
from pointsman.providers.deliberation import members
from pointsman.providers.deliberation.dynamics import Debating, Rules
from pointsman.providers.deliberation.dynamics.penalties import adjusted
from pointsman.providers.deliberation.dynamics.provider import worst_case
from pointsman.providers.deliberation.dynamics.settings import DebateSettings
from virtual import obedient

ROOT = Path(__file__).parent.parent
BASE = {"DECISION_LOG": "off", "DECISION_INVEST_PROVIDER": "debate", "DEBATE_MEMBERS": "cfo,cro"}
PLUGINS = {"cfo": agreeing("cfo"), "cro": agreeing("cro"), "writer": says({})}


def made(provider: str = "debate", **variables: str) -> Debating:
    """The provider that the variables make."""
    found: list[Any] = []
    functions = {name: obedient(one) for name, one in PLUGINS.items()}
    environ = {**BASE, "DECISION_INVEST_PROVIDER": provider, **variables}
    gateway = Gateway.from_env(environ, plugins=[members(**{**council_of(), **functions})])
    gateway.asks("INVEST", INVEST)
    found.append(gateway._wiring.lane(provider, "").provider)
    assert isinstance(found[0], Debating)
    return found[0]


def rules(**variables: str) -> Rules:
    return made(**variables).debate(INVEST).rules


# parameter → (variable's value, field's value), each another than the default
PARAMETERS: dict[str, tuple[str, Any]] = {
    "ROUNDS_MIN": ("2", 2),  # DD-08
    "ROUNDS_MAX": ("2", 2),  # DD-10
    "CONVERGENCE_THRESHOLD": ("75", 75.0),  # DD-11
    "TIMEOUT_PER_AGENT": ("20", 20.0),  # DD-12
    "TIMEOUT_PER_ROUND": ("100", 100.0),  # DD-13
    "TIMEOUT_TOTAL": ("250", 250.0),  # DD-14
    "CIRCUIT_BREAKER_MAX_ITERATIONS": ("4", 4),  # DD-15
    "CIRCUIT_BREAKER_MAX_REFINEMENTS": ("1", 1),  # DD-16
    "RAG_INTERNAL_QUERIES": ("false", False),  # DD-17
    "RAG_MAX_QUERIES": ("3", 3),  # DD-18
    "RAG_TIMEOUT": ("10", 10.0),  # DD-19
    "RAG_SCOPES": ("policies/, notes/", ("policies/", "notes/")),  # DD-46
    "COUNCIL_TIMEOUT": ("90", 90.0),  # DD-21
    "COUNCIL_ACCEPTANCE": ("65", 65.0),  # DD-22
    "COUNCIL_BEFORE_HUMAN": ("true", True),  # AM-02
    "VALUE_BOUND": ("5000", 5000.0),  # DD-23
    "VALUE_CURRENCY": ("usd", "USD"),  # AM-33
    "LOOP_REPEATS": ("3", 3),  # DD-24, AM-14
    "LOOP_COMPARE": ("previous", "previous"),  # AM-15
    "AGREEMENT": ("pairwise", "pairwise"),  # AM-22
    "REQUIRE_SAME_RECOMMENDATION": ("false", False),  # AM-21
    "WEIGHTS": ("30,25,25,20", (30.0, 25.0, 25.0, 20.0)),  # AM-20
    "THRESHOLDS_EMIT": ("80", 80.0),  # AM-05
    "THRESHOLDS_HUMAN": ("40", 40.0),  # DD-53
    "OPTIONAL_COUNCIL": ("ask", "ask"),  # AM-04
    "ON_TOTAL_TIMEOUT": ("human", "human"),  # AM-10
    "PENALTIES": ("sum", "sum"),  # AM-27
    "VISIBILITY": ("live", "live"),  # AM-29
    "ROUND2": ("parallel", "parallel"),  # AM-29
    "CRITICAL_LANE": ("r1_then_council", "r1_then_council"),  # AM-30
    "ON_MISSING_ROUND": ("carry", "carry"),  # AM-38
    "SKEPTIC_WEIGHT": ("0", 0.0),  # AP-06
    "QUORUM": ("2", 2),  # AM-24
    "VERIFY": ("false", False),  # AM-19
    "MAX_CALLS": ("12", 12),  # BR-07
    "MAX_TOKENS": ("9000", 9000),  # BR-07
    "MAX_COST_USD": ("0.5", 0.5),  # BR-07
    "RESERVE": ("0.2", 0.2),  # BR-08
    "SEED": ("7", 7),  # BR-14
}


def test_every_parameter_is_named_here() -> None:
    """DD-08…DD-24 and every alternative of AM is `DEBATE_` and its dotted name in capitals."""
    assert {name.lower() for name in PARAMETERS} == set(Rules.__struct_fields__)
    own = set(DebateSettings.model_fields) - set(Rules.__struct_fields__)
    assert own == {
        "members",
        "council",
        "synthesizer",
        "roles",
        "profile",
        "transcripts",
        "transcript_texts",
        "rag_source",
        "external_search",
        "risk_field",
        "on_partial",
    }


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_parameter_has_a_variable(name: str) -> None:
    """DD-08…DD-24, AM-02…AM-38: one variable sets one parameter and leaves the others alone."""
    text, value = PARAMETERS[name]
    found = rules(**{f"DEBATE_{name}": text})
    assert getattr(found, name.lower()) == value
    for other in set(Rules.__struct_fields__) - {name.lower()}:
        assert getattr(found, other) == getattr(Rules(), other)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("AGREEMENT", "trilevel"),
        ("AGREEMENT", "unanimous"),
        ("AGREEMENT", "plurality"),
        ("OPTIONAL_COUNCIL", "always"),
        ("OPTIONAL_COUNCIL", "emit_with_caveats"),
        ("PENALTIES", "dedup"),
        ("PENALTIES", "off"),
        ("ON_MISSING_ROUND", "exclude"),
        ("CRITICAL_LANE", "council_only"),
        ("REQUIRE_SAME_RECOMMENDATION", "partial"),
    ],
)
def test_each_alternative_can_be_said(name: str, text: str) -> None:
    """AM-04, AM-21, AM-22, AM-27, AM-30, AM-38."""
    assert getattr(rules(**{f"DEBATE_{name}": text}), name.lower()) == text


def test_the_defaults_are_those_of_the_brief() -> None:
    """DD-08…DD-24 (DD-09 sets nothing); `DEBATE_PROFILE=brief`: equal weights and the gate."""
    found = rules()
    assert found == Rules()
    assert (found.rounds_min, found.rounds_max, found.convergence_threshold) == (1, 3, 70)
    assert (found.timeout_per_agent, found.timeout_per_round, found.timeout_total) == (30, 120, 300)
    assert (found.circuit_breaker_max_iterations, found.circuit_breaker_max_refinements) == (5, 2)
    assert (found.rag_internal_queries, found.rag_max_queries, found.rag_timeout) == (True, 5, 15)
    assert found.rag_scopes == ("knowledge/", "processing/insights/")
    assert (found.council_timeout, found.council_acceptance) == (180, 60)
    assert (found.value_bound, found.value_currency, found.loop_repeats) == (100_000, "BRL", 2)
    assert (found.weights, found.require_same_recommendation) == ((1, 1, 1, 1), True)
    assert (found.critical_lane, found.skeptic_weight) == ("council_only", 1)
    assert found.round2 == "sequential"


def test_the_companions_profile() -> None:
    """AM-20, AM-30, AP-06: weights 30/25/25/20, round 1 before the council, a skeptic apart."""
    found = rules(DEBATE_PROFILE="companion")
    assert (found.weights, found.critical_lane) == ((30, 25, 25, 20), "r1_then_council")
    assert found.skeptic_weight == 0
    assert found == Rules.of("companion")


def test_a_single_variable_wins_over_the_profile() -> None:
    found = rules(DEBATE_PROFILE="companion", DEBATE_WEIGHTS="1,1,1,1", DEBATE_SKEPTIC_WEIGHT="0.5")
    assert (found.weights, found.skeptic_weight) == ((1, 1, 1, 1), 0.5)
    assert found.critical_lane == "r1_then_council"


def test_there_may_be_several() -> None:
    """`debate/board` reads `DEBATE__BOARD__…` first."""
    board = made("debate/board", DEBATE__BOARD__ROUNDS_MAX="1", DEBATE_QUORUM="2")
    assert board.debate(INVEST).rules.rounds_max == 1
    assert board.name == "debate/board"


FAULTS = [
    ({"DEBATE_ROUNDS_MIN": "3", "DEBATE_ROUNDS_MAX": "2"}, "DEBATE_ROUNDS_MIN"),
    ({"DEBATE_THRESHOLDS_HUMAN": "80"}, "DEBATE_THRESHOLDS_HUMAN"),
    ({"DEBATE_COUNCIL_ACCEPTANCE": "75"}, "DEBATE_COUNCIL_ACCEPTANCE"),
    ({"DEBATE_VISIBILITY": "live", "DEBATE_ROUND2": "parallel"}, "DEBATE_VISIBILITY"),
    ({"DEBATE_ON_MISSING_ROUND": "carry", "DEBATE_ROUNDS_MAX": "1"}, "DEBATE_ON_MISSING_ROUND"),
    ({"DEBATE_WEIGHTS": "0,0,0,0"}, "DEBATE_WEIGHTS"),
    ({"DEBATE_WEIGHTS": "nan,1,1,1"}, "DEBATE_WEIGHTS"),
    ({"DEBATE_WEIGHTS": "1,1,1,inf"}, "DEBATE_WEIGHTS"),
    ({"DEBATE_WEIGHTS": "1,2"}, "DEBATE_WEIGHTS"),
    ({"DEBATE_WEIGHTS": "1,1,1,-1"}, "DEBATE_WEIGHTS"),
    ({"DEBATE_QUORUM": "3"}, "DEBATE_QUORUM"),
    ({"DEBATE_QUORUM": "1"}, "DEBATE_QUORUM"),
    ({"DEBATE_MEMBERS": "cfo,nobody"}, "nobody"),
    ({"DEBATE_MEMBERS": "cfo=cfo,cfo=cro"}, "DEBATE_MEMBERS"),
    ({"DEBATE_MEMBERS": "cfo,current"}, "DEBATE_MEMBERS"),
    ({"DEBATE_MEMBERS": "cfo,debate"}, "DEBATE_MEMBERS"),  # BR-20
    ({"DEBATE_MEMBERS": "cfo,committee/a"}, "DEBATE_MEMBERS"),  # BR-20
    ({"DEBATE_MEMBERS": ""}, "DEBATE_MEMBERS"),
    ({"DEBATE_COUNCIL": "critic=critic,advocate=advocate"}, "DEBATE_COUNCIL"),
    ({"DEBATE_SYNTHESIZER": "current"}, "DEBATE_SYNTHESIZER"),
    ({"DEBATE_EXTERNAL_SEARCH": "allowed"}, "DEBATE_EXTERNAL_SEARCH"),
    ({"DEBATE_RAG_SOURCE": "debating:nothing"}, "DEBATE_RAG_SOURCE"),
    ({"DEBATE_RAG_SOURCE": "json:dumps"}, "DEBATE_RAG_SOURCE"),
    ({"DEBATE_RAG_SOURCE": "nowhere"}, "DEBATE_RAG_SOURCE"),
    ({"DEBATE_ROLES": "/nowhere/roles.toml"}, "DEBATE_ROLES"),
    ({"DEBATE_TRANSCRIPTS": "/nowhere/at/all"}, "DEBATE_TRANSCRIPTS"),
    ({"DEBATE_VALUE_CURRENCY": "R$"}, "DEBATE_VALUE_CURRENCY"),
    ({"DEBATE_LOOP_REPEATS": "1"}, "DEBATE_LOOP_REPEATS"),
    ({"DEBATE_CIRCUIT_BREAKER_MAX_REFINEMENTS": "0"}, "DEBATE_CIRCUIT_BREAKER_MAX_REFINEMENTS"),
    ({"DEBATE_TIMEOUT_TOTAL": "nan"}, "DEBATE_TIMEOUT_TOTAL"),
    ({"DEBATE_PROFILE": "both"}, "DEBATE_PROFILE"),
    ({"DEBATE_CONVERGENCE_THRESHOLD": "101"}, "DEBATE_CONVERGENCE_THRESHOLD"),
]


@pytest.mark.parametrize(("variables", "named"), FAULTS, ids=lambda one: str(one)[:48])
def test_what_cannot_be_is_said_at_start(variables: dict[str, str], named: str) -> None:
    """TR-01, DD-20, DD-83, AM-32: each names its variable, and no debate is begun."""
    with pytest.raises(SetupError) as caught:
        made(**variables)
    assert named in str(caught.value)


def test_several_faults_are_told_together() -> None:
    with pytest.raises(SetupError) as caught:
        made(DEBATE_QUORUM="3", DEBATE_COUNCIL="critic=critic", DEBATE_SYNTHESIZER="current")
    where = {fault.where for fault in caught.value.faults}
    assert where == {"DEBATE_QUORUM", "DEBATE_COUNCIL", "DEBATE_SYNTHESIZER"}


def test_from_code_a_contradiction_is_the_programmers() -> None:
    with pytest.raises(DeclarationError, match="rounds_min"):
        Rules(rounds_min=4)
    with pytest.raises(DeclarationError, match="weights"):
        Rules(weights=(1.0, 1.0, 1.0, float("nan")))


def test_roles_are_read_from_a_file(tmp_path: Path) -> None:
    """Name → instructions, description, evidence."""
    path = tmp_path / "roles.toml"
    path.write_text('[cfo]\ninstructions = "Guard the cash."\nevidence = ["E1"]\n')
    seats = "cfo=cfo,cro=cro"
    panel = made(DEBATE_ROLES=str(path), DEBATE_MEMBERS=seats).debate(INVEST).panel
    assert panel[0].role.instructions == "Guard the cash."
    assert panel[0].role.evidence == frozenset({"E1"})
    assert panel[1].role.evidence is None


@pytest.mark.parametrize("text", ["[cfo", "cfo = 3", "[cfo]\ninstructions = 3"])
def test_a_file_that_is_no_table_of_roles_is_said(text: str, tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    path.write_text(text)
    with pytest.raises(SetupError, match="DEBATE_ROLES"):
        made(DEBATE_ROLES=str(path))


def test_a_council_of_three_is_seated() -> None:
    text = ",".join(f"{name}={name}" for name in COUNCIL)
    assert set(made(DEBATE_COUNCIL=text).debate(INVEST).council) == set(COUNCIL)


@pytest.mark.parametrize(("roles", "seconds"), [(2, 150), (3, 210), (4, 270), (5, 270), (9, 270)])
def test_the_worst_case_is_published(roles: int, seconds: float) -> None:
    """FV-29, AM-12, BR-09: the rounds at worst, and the council's own time beside them."""
    found, _ = worst_case(Rules(), roles)
    assert found == seconds + 180
    with_account, _ = worst_case(Rules(), roles, account=True)
    assert with_account == min(seconds + 30, 300) + 180


def test_the_worst_case_that_does_not_fit_is_doubted_and_not_refused() -> None:
    """AM-12, BR-09: five roles in turn are cut off by their round; a warning, never an error."""
    names = [f"r{at}" for at in range(5)]
    found = made(DEBATE_MEMBERS=",".join(f"{one}=cfo" for one in names))
    (doubt,) = found.doubts
    assert doubt.where == "DEBATE_TIMEOUT_TOTAL"
    assert "450" in str(doubt) or "round 2 may cut turns off" in str(doubt)
    assert made().doubts == ()


def test_look_ups_that_do_not_fit_into_a_role_are_doubted() -> None:
    """AM-12: 5 × 15 s are more than 30 s."""
    found = made(DEBATE_RAG_SOURCE="asyncio:sleep")
    (doubt,) = found.doubts
    assert "75 s of look-ups" in doubt.problem


@pytest.mark.parametrize(
    ("raw", "causes", "dedup", "total"),
    [
        (80, ("timeout",), 70, 70),
        (72, ("timeout",), 62, 62),
        (72, ("breaker",), 57, 57),
        (75, ("timeout", "breaker"), 50, 50),
        (85, ("timeout", "loop", "breaker", "retrieval"), 50, 35),
        (12, ("breaker", "loop"), 0, 0),
        (98, (), 98, 98),
    ],
)
def test_penalties(raw: float, causes: tuple[str, ...], dedup: float, total: float) -> None:
    """FV-08, AM-27: by cause, clamped to [0, 100]."""
    given = dict.fromkeys(causes, True)
    assert adjusted(raw, "dedup", **given).value == dedup
    assert adjusted(raw, "sum", **given).value == total
    assert adjusted(raw, "off", **given).value == raw


PAGE = ROOT / "docs" / "debate.md"


@pytest.mark.source
@pytest.mark.parametrize("field", DebateSettings.model_fields)
def test_every_variable_stands_in_its_page(field: str) -> None:
    assert f"`DEBATE_{field.upper()}`" in PAGE.read_text("utf-8")
