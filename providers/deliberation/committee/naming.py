"""What a committee is called: a name that tells it from every other panel and every other rule."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping

from ....gateway.answers import LABEL
from ....gateway.state import frozen
from ..panel import Member
from .seats import Seats
from .settings import CommitteeSettings

RULES = (
    "protocol",
    "samples",
    "skeptic_votes",
    "quorum",
    "rule",
    "predicate_rule",
    "both_sides",
    "max_spread",
    "on_partial",
)
"""Settings that change what a committee of the same members answers."""


def model_of(
    settings: CommitteeSettings,
    seats: Seats,
    served: Mapping[str, str],
    failed: Collection[str] = (),
) -> str:
    """
    Name a committee as a model: `committee(jev,local)~1f3a5c7e`.

    The digest is over members, their roles, models and minimums, protocol and rules, so that a
    threshold certified for one panel holds for no other. Who abstains is part of it as before; a
    panel in which somebody failed is another decider.

    Args:
        settings: Its protocol and rules.
        seats: Its members.
        served: Member → the model that answered.
        failed: Who has no answer that counts, and has not abstained.

    """
    models = {**seats.models, **{name: model for name, model in served.items() if model}}
    rules = {name: getattr(settings, name) for name in RULES}
    rules["rounds"] = settings.rounds_planned
    panel = [_told(one, models, seats.minimums) for one in seats.everybody]
    told = [rules, panel, sorted(failed)]
    digest = hashlib.sha256(frozen(told)[1].encode()).hexdigest()[:8]
    named = f"committee({','.join(map(_named, seats.members))})~{digest}"
    many = len(seats.members)
    return named if len(named) <= LABEL else f"committee({many} members)~{digest}"


def _told(
    member: Member, models: Mapping[str, str], minimums: Mapping[str, float]
) -> list[str | float | None]:
    role = member.role
    evidence = ",".join(sorted(role.evidence or ()))
    told = [member.name, member.provider, models.get(member.name, ""), role.name]
    said = [*told, role.instructions, role.description, evidence]
    return [*said, minimums.get(member.name)]


def _named(member: Member) -> str:
    plain = member.name.partition("#")[0] == member.provider
    return member.provider if plain else f"{member.name}={member.provider}"
