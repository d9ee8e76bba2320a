"""A set as it is read from its files: what was said, and which answers are right."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from pointsman.decision_points.facts.assertions import Assertion, Recorded, Value, recorded
from pointsman.decision_points.facts.canonical import key_of
from pointsman.decision_points.facts.keys import FactKey, tidy
from pointsman.decision_points.facts.policy import Policy, policy_of
from pointsman.decision_points.facts.registry import Registry, registry_of
from pointsman.decision_points.facts.times import when
from pointsman.decision_points.facts.values import normaliser

from .sets import EVIDENCE, Wanted, Way

Row: TypeAlias = Mapping[str, str]


def rows(path: Path) -> list[Row]:
    """Read a file of a set."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True, kw_only=True)
class Told:
    """
    What a set tells, under one policy.

    Attributes:
        facts: What was said about each fact that has an answer.
        right: The answers that count as right.
        policy: What the values and rules are.
        registry: The order of sources.

    """

    facts: Mapping[FactKey, Sequence[Recorded]]
    right: Mapping[FactKey, frozenset[Value]]
    policy: Policy
    registry: Registry


def told(folder: Path, wanted: Wanted, way: Way) -> Told:
    """Read a set under a policy."""
    gold = rows(folder / f"{wanted.files}_gold.csv")
    policy = _policy(way, gold)
    right = {_key(policy, row): _answers(policy, row) for row in gold}
    facts: dict[FactKey, list[Recorded]] = {}
    for row in rows(folder / f"{wanted.files}_claims.csv"):
        if row["source"] not in wanted.without and (key := _key(policy, row)) in right:
            facts.setdefault(key, []).append(_said(policy, key, row))
    tiers = rows(folder / f"{wanted.sources or wanted.files}_sources.csv")
    return Told(facts=facts, right=right, policy=policy, registry=_registry(tiers))


def _policy(way: Way, gold: Sequence[Row]) -> Policy:
    places = {"hierarchy": "places"} if way.paths else {}
    attribute = {**way.attribute, **places}
    names = {row["attribute"] for row in gold}
    hierarchies = {"hierarchies": {"places": _containment(gold)}} if way.paths else {}
    declared = {"attributes": dict.fromkeys(sorted(names), attribute)}
    return policy_of({"schema": 1, **way.policy, **declared, **hierarchies})


def _containment(gold: Sequence[Row]) -> dict[str, str]:
    """Say which place lies in which; a name of several places, in that which is named most."""
    around: dict[str, Counter[str]] = {}
    for row in gold:
        path = [tidy(one) for one in row["path"].split(",") if one.strip()]
        for inner, outer in pairwise(path):
            if inner != outer:
                around.setdefault(inner, Counter())[outer] += 1
    most = {place: max(found, key=lambda one: (found[one], one)) for place, found in around.items()}
    return {place: outer for place, outer in most.items() if not _circles(place, most)}


def _circles(place: str, parents: Mapping[str, str]) -> bool:
    seen = {place}
    while (place := parents.get(place, "")) and place not in seen:
        seen.add(place)
    return bool(place)


def _key(policy: Policy, row: Row) -> FactKey:
    return key_of("sets", row["entity"], row["attribute"], entities=policy.entities)


def _read(policy: Policy, key: FactKey, text: str) -> Value:
    attribute = policy.attribute(key.attribute)
    assert attribute is not None
    return normaliser(attribute, policy).read(text)


def _answers(policy: Policy, row: Row) -> frozenset[Value]:
    """A place is right at any level of detail."""
    given = row["path"].split(",") if "path" in row else [row["value"]]
    key = _key(policy, row)
    return frozenset(_read(policy, key, one) for one in given if one.strip())


def _said(policy: Policy, key: FactKey, row: Row) -> Recorded:
    confidence, seen = row.get("confidence"), row.get("observed_at")
    return recorded(
        Assertion(
            key=key,
            value=_read(policy, key, row["value"]),
            raw=row["value"],
            normaliser=_id(policy, key),
            source=row["source"],
            evidence=EVIDENCE.get(row.get("raw", ""), "explicit"),  # type: ignore[arg-type]
            confidence=float(confidence) if confidence else None,
            observed_at=when(seen) if seen else None,
        )
    )


def _id(policy: Policy, key: FactKey) -> str:
    attribute = policy.attribute(key.attribute)
    assert attribute is not None
    return normaliser(attribute, policy).id


def _registry(tiers: Sequence[Row]) -> Registry:
    order = sorted({row["tier"] for row in tiers})
    sources = {row["source"]: {"level": row["tier"]} for row in tiers}
    return registry_of({"schema": 1, "order": order, "sources": sources})
