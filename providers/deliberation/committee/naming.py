"""What a committee is called: a name that tells it from every other panel and every other rule."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

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
)
"""Settings that change what a committee of the same members answers."""


def model_of(settings: CommitteeSettings, seats: Seats, served: Mapping[str, str]) -> str:
    """
    Name a committee as a model: `committee(jev,local)~1f3a5c7e`.

    The digest is over members, their roles and models, protocol and rules, so that a threshold
    certified for one panel holds for no other. A member that did not answer stands with its model
    as configured: an incomplete panel is another decider.

    Args:
        settings: Its protocol and rules.
        seats: Its members.
        served: Member → the model that answered.

    """
    models = {**seats.models, **{name: model for name, model in served.items() if model}}
    rules = {name: getattr(settings, name) for name in RULES}
    rules["rounds"] = settings.rounds_planned
    told = [rules, [_told(one, models) for one in seats.everybody]]
    digest = hashlib.sha256(frozen(told)[1].encode()).hexdigest()[:8]
    named = f"committee({','.join(map(_named, seats.members))})~{digest}"
    many = len(seats.members)
    return named if len(named) <= LABEL else f"committee({many} members)~{digest}"


def _told(member: Member, models: Mapping[str, str]) -> list[str]:
    role = member.role
    told = [member.name, member.provider, models.get(member.name, ""), role.name]
    return [*told, role.instructions, role.description, ",".join(sorted(role.evidence or ()))]


def _named(member: Member) -> str:
    plain = member.name.partition("#")[0] == member.provider
    return member.provider if plain else f"{member.name}={member.provider}"
