"""Debates to be held: roles that say what they are told, on a real gateway in virtual time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pointsman import Draft, Gateway
from pointsman.gateway.questions import Choice, Question
from pointsman.providers.deliberation import Member, members
from pointsman.providers.deliberation.dynamics import Debate, Debated, Rules
from pointsman.providers.deliberation.roles import Role, get_role
from virtual import obedient, run

INVEST = Choice(
    "Should the company invest now?",
    {"invest": "Buy now", "defer": "Wait a quarter", "drop": "Never do it"},
)
CASE = {"revenue": 12, "note": "an offer on the table"}
ROLES = ("cfo", "cro", "cto")
NONE: frozenset[str] = frozenset()
ALL = frozenset({"premises", "risks", "timing"})

Says = Callable[[Draft], Any]


def spoken(draft: Draft, stand: Mapping[str, Any]) -> dict[str, Any]:
    """Fill the form that *draft* asks for from *stand*; what it lacks is empty."""
    wanted = draft.schema["properties"]
    return {name: stand.get(name, empty(kind)) for name, kind in wanted.items()}


def empty(kind: Mapping[str, Any]) -> Any:
    """The least that fits a part of a schema."""
    if "enum" in kind:
        return kind["enum"][0]
    return {"array": [], "string": "", "boolean": False, "number": 0, "integer": 0}[kind["type"]]


def stand(
    role: str = "",
    number: int = 1,
    *,
    agreed: frozenset[str] = ALL,
    recommendation: str = "invest",
    confidence: float = 90,
    **more: Any,
) -> dict[str, Any]:
    """A position that shares what is *agreed* with every other one, and nothing else."""
    own = f"{role} in round {number}"
    return {
        "position": f"{role} says {recommendation}.",
        "recommendation": recommendation,
        "premises": ["shared"] if "premises" in agreed else [own],
        "risks": ["churn"] if "risks" in agreed else [f"risk of {own}"],
        "timing": "Q1" if "timing" in agreed else own,
        "confidence": confidence,
        "reasoning": "because",
        "keeps": "yes",
        **more,
    }


def says(*stands: Mapping[str, Any]) -> Says:
    """Say one position a round, the last one from then on."""

    def speaks(draft: Draft) -> Any:
        return spoken(draft, stands[min(max(draft.round, 1), len(stands)) - 1])

    return speaks


def agreeing(role: str, *rounds: frozenset[str], **more: Any) -> Says:
    """Share with all others in each round what that round says."""
    made = [stand(role, at, agreed=one, **more) for at, one in enumerate(rounds, start=1)]
    return says(*made)


def critic(marks: int = 85) -> dict[str, Any]:
    """A critic's report whose marks add up to *marks*."""
    each, rest = divmod(marks, 5)
    names = ("evidence", "premises", "alternatives", "risks", "process")
    return {name: each + (at < rest) for at, name in enumerate(names)}


COUNCIL = {
    "critic": critic(85),
    "advocate": {},
    "synthesizer": {"recommendation": "invest", "resolution": "strong", "summary": "It stands."},
}


def panel(*names: str, provider: Mapping[str, str] | None = None) -> list[Member]:
    given = provider or {}
    return [Member(name=one, provider=given.get(one, one), role=Role(name=one)) for one in names]


def council_of(**said: Any) -> dict[str, Any]:
    """The three of a council as functions; each says what it usually does, or what is given."""
    return {
        name: said[name] if callable(said.get(name)) else obedient(says(said.get(name, usual)))
        for name, usual in COUNCIL.items()
    }


def gateway_of(functions: Mapping[str, Any], **variables: str) -> Gateway:
    return Gateway.from_env({"DECISION_LOG": "off", **variables}, plugins=[members(**functions)])


def debate_of(
    names: Sequence[str] = ROLES,
    *,
    rules: Rules | None = None,
    council: bool = True,
    question: Question = INVEST,
    **more: Any,
) -> Debate:
    seats = [Member(name=one, provider=one, role=get_role(one)) for one in COUNCIL]
    return Debate(question, panel(*names), rules=rules, council=seats if council else (), **more)


def held(
    functions: Mapping[str, Any],
    *,
    state: Any = CASE,
    variables: Mapping[str, str] | None = None,
    council: Mapping[str, Any] | None = None,
    hold: Mapping[str, Any] | None = None,
    **more: Any,
) -> Debated:
    """Hold a debate of *functions*, in virtual time."""
    with_council = {**council_of(), **(council or {})}
    gateway = gateway_of({**with_council, **functions}, **(variables or {}))
    debate = debate_of(more.pop("names", tuple(functions)), **more)
    return run(debate.held(gateway, state, **(hold or {})))


def trio(*rounds: frozenset[str], seconds: float = 1.0, **more: Any) -> dict[str, Any]:
    """Three roles that agree, round by round, on what is said."""
    return {one: obedient(agreeing(one, *rounds, **more), seconds) for one in ROLES}


class Asked:
    """Notes every draft that a role is shown, by role and round."""

    def __init__(self, says: Says) -> None:
        self.drafts: list[Draft] = []
        self._says = says

    async def __call__(self, draft: Draft) -> Any:
        self.drafts.append(draft)
        return self._says(draft)

    @property
    def states(self) -> list[Any]:
        return [one.state for one in self.drafts]


def weighed(recommendation: float, premises: float, risks: float, timing: float) -> Rules:
    return rules_of(weights=(recommendation, premises, risks, timing))


rules_of = functools.partial(Rules.of, "brief")
