"""A policy: what is declared about attributes, and how disputes and floods are bounded."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

import msgspec

from ..assertions import digest
from ..files.durations import spelt
from ..files.tables import written
from ..keys import tidy
from .attributes import Attribute

MILLION = 1_000_000  # microseconds of a second

Count = Annotated[int, msgspec.Meta(ge=1)]


class DisputeRules(msgspec.Struct, frozen=True, kw_only=True):
    """
    How long a dispute is somebody's, and what it may cost (RF-58, RF-59).

    Attributes:
        lease_seconds: How long an assignment holds; `lease` in a file.
        escalate_seconds: At which ages an open dispute is brought up again, ascending;
            `escalate` in a file.
        reads: How many sources an investigation may read; None: no bound.
        tokens: How many tokens it may use; None: no bound.
        cost_usd: What it may cost, in US dollars; None: no bound.

    """

    lease_seconds: float = msgspec.field(default=1800.0, name="lease")
    escalate_seconds: tuple[float, ...] = msgspec.field(default=(86_400.0,), name="escalate")
    reads: Annotated[int, msgspec.Meta(ge=0)] | None = 5
    tokens: Annotated[int, msgspec.Meta(ge=0)] | None = None
    cost_usd: Annotated[float, msgspec.Meta(ge=0)] | None = None

    def plain(self) -> dict[str, Any]:
        """Give it as the table `disputes` of a policy file."""
        plain = written(self)
        if "lease" in plain:
            plain["lease"] = spelt(round(self.lease_seconds * MILLION))
        if "escalate" in plain:
            plain["escalate"] = [spelt(round(one * MILLION)) for one in self.escalate_seconds]
        return plain


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is refused as too much; nothing is dropped silently (RF-80).

    Attributes:
        per_source_per_key: Assertions of one source about one fact. Each write folds all of
            them, so what comes in series needs a qualifier, as its day.
        per_key: Assertions about one fact.
        value_characters: Of a value as it was written.
        text_characters: Of a reason or a reference.
        inputs: Facts that an assertion may be derived from.

    """

    per_source_per_key: Count = 2_000
    per_key: Count = 10_000
    value_characters: Count = 10_000
    text_characters: Count = 2_000
    inputs: Count = 1_000


class Policy(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """
    Under which rules assertions are folded; `read_policy` and `policy_of` make one and check it.

    Attributes:
        attributes: By their names in keys; others are stored and never reconciled (RF-03).
        entities: Type of an entity, before the colon of its id → what makes its ids canonical.
        hierarchies: Name → child → parent, in lower case (RF-85).
        disputes: Leases, escalations and budgets.
        limits: What is too much.
        strict: Refuse what is written without a confidence, also for undeclared attributes.

    """

    attributes: Mapping[str, Attribute] = {}
    entities: Mapping[str, str] = {}
    hierarchies: Mapping[str, Mapping[str, str]] = {}
    disputes: DisputeRules = DisputeRules()
    limits: Limits = Limits()
    strict: bool = False

    def __hash__(self) -> int:
        return hash(self.version)

    @cached_property
    def version(self) -> str:
        """Hash of what it says, however its file is laid out (RF-20)."""
        return digest(self.plain())

    def attribute(self, name: str) -> Attribute | None:
        """Give what is declared about an attribute, however its name is written."""
        found = self.attributes.get(name)
        return found if found is not None else self.attributes.get(tidy(name))

    def plain(self) -> dict[str, Any]:
        """Give it as JSON, with the tables and names of a policy file."""
        tables = {
            "attributes": {name: self._attribute(one) for name, one in self.attributes.items()},
            "entities": dict(self.entities),
            "hierarchies": {name: dict(one) for name, one in self.hierarchies.items()},
            "disputes": self.disputes.plain(),
            "limits": written(self.limits),
            "strict": self.strict,
        }
        return {"schema": 1, **{name: one for name, one in tables.items() if one}}

    def _attribute(self, one: Attribute) -> dict[str, Any]:
        # under a strict policy an attribute that is not has to say so
        return {**one.plain(), "strict": one.strict} if self.strict else one.plain()

    @classmethod
    def of(cls, plain: Mapping[str, Any], where: str = "policy") -> Policy:
        """
        Read what `plain` gave, or the tables of a policy file.

        Args:
            plain: The tables.
            where: What they are called in faults.

        Raises:
            SetupError: They are no policy; every fault is listed.

        """
        from .reading import policy_from

        return policy_from(plain, where)

    def replaced(self, **tables: Any) -> Policy:  # noqa: ANN401 - JSON
        """
        Give another policy, in which some tables are these instead, as a policy file has them.

        Raises:
            SetupError: It is no policy then.

        """
        return Policy.of({**self.plain(), **tables})
