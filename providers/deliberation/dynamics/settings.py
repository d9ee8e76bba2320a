"""The variables of `debate`: `DEBATE_` and a parameter's dotted name in capitals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings

from ....gateway.errors import Fault, SetupError, raise_all
from ....gateway.plugins import writes
from ....gateway.remote import variable_of
from ....gateway.variables import ProviderName
from ..panel import Member, seated
from ..roles import Role, read_roles
from .council import SEATS
from .rules import (
    COMPANION,
    Agreement,
    CriticalLane,
    OptionalCouncil,
    Penalties,
    Profile,
    Rules,
    contradictions,
)

if TYPE_CHECKING:
    from ....gateway.plugins import Setup


DELIBERATING = ("committee", "debate")  # known by name: made, they would make each other


def _panel(text: str) -> str:
    seated(text)
    return text


def _weights(text: str) -> str:
    numbers_of(text)
    return text


def numbers_of(text: str) -> tuple[float, ...]:
    """
    Read weights.

    Raises:
        ValueError: They are not four finite numbers.

    """
    try:
        found = tuple(float(one) for one in text.split(","))
    except ValueError:
        found = ()
    if len(found) != 4 or not all(map(math.isfinite, found)):  # noqa: PLR2004 - one a criterion
        raise ValueError("it must be four finite numbers: recommendation, premises, risks, timing")
    return found


class DebateSettings(BaseSettings):
    """
    The variables of `debate`; an instance `debate/board` reads `DEBATE__BOARD__…` first.

    What is not set is as the profile says. The parameters are told by `Rules`.

    Attributes:
        members: Who debates: `cfo=chat/a,cro=chat/b`; each has to be able to write.
        council: Critic, advocate and synthesizer: `critic=chat/a,advocate=chat/b,…`; absent: what
            wants a council goes to a person.
        synthesizer: A provider that writes a readable account; absent: nobody does.
        roles: A TOML file of roles: name → `instructions`, `description`, `evidence`.
        profile: Which defaults hold: `brief`, all criteria and roles alike; or `companion`, the
            recommendation first, and a skeptic who is heard and not counted.
        transcripts: A folder that keeps what was said; absent: nothing is kept.
        transcript_texts: Keep what members were shown, too, and what the debate was about.
        rag_source: `module:function`, the host's own search; absent: nothing can be looked up.
        external_search: `forbidden`, and nothing else: a debate never looks outside.
        risk_field: The field of the state that says what is at stake.
        on_partial: What an answer is worth to which not all roles came: it counts; `current`
            decides; or a person does.

    """

    members: Annotated[str, AfterValidator(_panel)]
    council: Annotated[str, AfterValidator(_panel)] | None = None
    synthesizer: ProviderName | None = None
    roles: Path | None = None
    profile: Profile = "brief"
    transcripts: Path | None = None
    transcript_texts: bool = False
    rag_source: str | None = None
    external_search: Literal["forbidden"] = "forbidden"
    risk_field: str = "risk"
    on_partial: Literal["accept", "fallback", "reject"] = "accept"

    rounds_min: int | None = Field(None, ge=1)
    rounds_max: int | None = Field(None, ge=1, le=10)
    convergence_threshold: float | None = Field(None, ge=0, le=100, allow_inf_nan=False)
    timeout_per_agent: float | None = Field(None, gt=0, allow_inf_nan=False)
    timeout_per_round: float | None = Field(None, gt=0, allow_inf_nan=False)
    timeout_total: float | None = Field(None, gt=0, allow_inf_nan=False)
    circuit_breaker_max_iterations: int | None = Field(None, ge=1)
    circuit_breaker_max_refinements: int | None = Field(None, ge=1)
    rag_internal_queries: bool | None = None
    rag_max_queries: int | None = Field(None, ge=0)
    rag_timeout: float | None = Field(None, gt=0, allow_inf_nan=False)
    rag_scopes: str | None = None
    council_timeout: float | None = Field(None, gt=0, allow_inf_nan=False)
    council_acceptance: float | None = Field(None, ge=0, le=100, allow_inf_nan=False)
    council_before_human: bool | None = None
    value_bound: float | None = Field(None, ge=0, allow_inf_nan=False)
    value_currency: str | None = Field(None, pattern="^[A-Za-z]{3}$")
    loop_repeats: int | None = Field(None, ge=2)
    loop_compare: Literal["every", "previous"] | None = None
    agreement: Agreement | None = None
    require_same_recommendation: Literal["true", "partial", "false"] | None = None
    weights: Annotated[str, AfterValidator(_weights)] | None = None
    thresholds_emit: float | None = Field(None, ge=0, le=100, allow_inf_nan=False)
    thresholds_human: float | None = Field(None, ge=0, le=100, allow_inf_nan=False)
    optional_council: OptionalCouncil | None = None
    on_total_timeout: Literal["route", "human"] | None = None
    penalties: Penalties | None = None
    visibility: Literal["previous_round", "live"] | None = None
    round2: Literal["sequential", "parallel"] | None = None
    critical_lane: CriticalLane | None = None
    on_missing_round: Literal["exclude", "carry"] | None = None
    skeptic_weight: float | None = Field(None, ge=0, allow_inf_nan=False)
    quorum: int | None = Field(None, ge=2)
    verify: bool | None = None
    max_calls: int | None = Field(None, ge=1)
    max_tokens: int | None = Field(None, ge=1)
    max_cost_usd: float | None = Field(None, gt=0, allow_inf_nan=False)
    reserve: float | None = Field(None, ge=0, lt=1, allow_inf_nan=False)
    seed: int | None = None

    def given(self) -> dict[str, Any]:
        """Give the parameters that are set, over those of the profile."""
        said = {name: getattr(self, name) for name in Rules.__struct_fields__}
        given = {name: value for name, value in said.items() if value is not None}
        if "weights" in given:
            given["weights"] = numbers_of(given["weights"])
        if "rag_scopes" in given:
            given["rag_scopes"] = tuple(one.strip() for one in given["rag_scopes"].split(","))
        if "value_currency" in given:
            given["value_currency"] = given["value_currency"].upper()
        if "require_same_recommendation" in given:
            gate = given["require_same_recommendation"]
            given["require_same_recommendation"] = gate if gate == "partial" else gate == "true"
        return {**(COMPANION if self.profile == "companion" else {}), **given}


class Configured(msgspec.Struct, frozen=True):
    """
    What the variables make of a debate.

    Attributes:
        rules: What it is held by.
        panel: Who debates.
        council: Its three members; empty: there is none.
        synthesizer: Who writes an account.

    """

    rules: Rules
    panel: tuple[Member, ...]
    council: tuple[Member, ...]
    synthesizer: Member | None


def configured(setup: Setup, settings: DebateSettings) -> Configured:
    """
    Make rules and members of the variables.

    Raises:
        SetupError: With every fault: a combination that cannot be, a member that is not there or
            cannot write, a council that is not of three, a file that cannot be read.

    """
    given = settings.given()
    faults = [*_impossible(setup, given)]
    roles = read_roles(settings.roles, variable_of(setup, "ROLES"), faults)
    panel = seated(settings.members, roles)
    council = () if settings.council is None else seated(settings.council, roles)
    if council and sorted(one.name for one in council) != sorted(SEATS):
        problem = f"a council has three members: {', '.join(SEATS)}"
        faults.append(Fault(variable_of(setup, "COUNCIL"), problem, "Name each: critic=chat/a,…"))
    writer = _writer(settings.synthesizer, roles)
    if len(panel) < given.get("quorum", 0):
        problem = "more roles have to answer than there are"
        faults.append(Fault(variable_of(setup, "QUORUM"), problem, "Lower it, or add members"))
    for field, members in (("members", panel), ("council", council), ("synthesizer", writer)):
        faults += _mute(setup, field, members)
    if settings.transcripts is not None and not settings.transcripts.is_dir():
        where = variable_of(setup, "TRANSCRIPTS")
        faults.append(Fault(where, "there is no such folder", "Make it, or unset the variable"))
    raise_all(faults)
    return Configured(Rules(**given), panel, council, writer[0] if writer else None)


def _impossible(setup: Setup, given: Mapping[str, Any]) -> Iterator[Fault]:
    """Check a combination of values, each of which is right by itself."""
    defaults = msgspec.structs.asdict(Rules())
    for field, problem in contradictions({**defaults, **given}):
        yield Fault(variable_of(setup, field.upper()), problem, "Correct it, or unset it")


def _writer(provider: str | None, roles: Mapping[str, Role]) -> tuple[Member, ...]:
    return () if provider is None else seated(f"synthesizer={provider}", roles)


def _mute(setup: Setup, field: str, members: tuple[Member, ...]) -> Iterator[Fault]:
    """List the members that nobody can let write."""
    for one in members:
        base = one.provider.partition("/")[0]
        if base in (*DELIBERATING, setup.name.partition("/")[0]):
            problem = f"{one.provider} deliberates itself, and is entered once in a decision"
            yield Fault(variable_of(setup, field.upper()), problem, "Name a chat model")
            continue
        try:
            able = one.provider != "current" and writes(setup.provider(one.provider))
        except SetupError as error:
            yield from error.faults
            continue
        if not able:
            problem = f"{one.provider} cannot write, and whoever debates has to"
            fix = "Name a chat model, such as chat/fast, or a function"
            yield Fault(variable_of(setup, field.upper()), problem, fix)
