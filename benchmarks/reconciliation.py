"""
How well rules reconcile sources that disagree: eight public sets whose right answers are known.

`POINTSMAN_DATA` names the folder of the sets. Every rule is given the same assertions in the same
shuffled orders: what the sources' order and the policy make of all of them together (`fold`), the
last write, the majority of sources, and the newcomer against the one in memory. `--json` prints
the figures for programs, `--markdown` writes the tables into the page in `docs/`, without the two
sets whose origin states no licence. Texts of the sets are never printed.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, permutations
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import msgspec
from points_accuracy import put, table

from pointsman.decision_points.facts.assertions import Assertion, Recorded, Value, recorded
from pointsman.decision_points.facts.canonical import key_of
from pointsman.decision_points.facts.folding import fold
from pointsman.decision_points.facts.keys import FactKey, tidy
from pointsman.decision_points.facts.outcomes import Outcome
from pointsman.decision_points.facts.policy import Policy, policy_of
from pointsman.decision_points.facts.registry import Registry, registry_of
from pointsman.decision_points.facts.times import when
from pointsman.decision_points.facts.values import normaliser

PAGE = Path(__file__).parent.parent / "docs" / "facts-accuracy.md"
SHUFFLES = 100
FEW = 10  # assertions, whose orders are certainly too many
NOW = when("2026-01-01").start  # after everything that the sets tell of

Row: TypeAlias = Mapping[str, str]
Answer: TypeAlias = Value | None
Rule: TypeAlias = Callable[[Sequence[Recorded]], Answer]
_encoded = msgspec.json.encode


@dataclass(frozen=True, kw_only=True)
class Way:
    """
    A policy under which a set is folded.

    Attributes:
        name: As the tables call it.
        policy: What differs from the defaults.
        attribute: The same, of each attribute.
        paths: The hierarchy of places is declared.

    """

    name: str
    policy: Mapping[str, Any] = field(default_factory=dict)
    attribute: Mapping[str, Any] = field(default_factory=dict)
    paths: bool = False


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """
    A set, and how it is folded.

    Attributes:
        name: As the tables call it.
        files: How its files begin.
        sources: How its file of sources begins.
        without: Sources that are left out.
        published: Whether its figures may stand on the page.
        ways: The policies.

    """

    name: str
    files: str
    sources: str = ""
    without: tuple[str, ...] = ()
    published: bool = True
    ways: tuple[Way, ...]


AIRLINES = ("aa", "ua", "co")
VOICES = {"corroboration": {"lead": 2}}
ORDER = Way(name="order of sources")
COUNTED = Way(name="order, then a lead of 2 voices", attribute=VOICES)
GUARDED = Way(name="order, guarded by dissent", attribute={"dissent": "guard"})
SURE = Way(name="order, then confidence")
NO_ORDER = {"keys": []}
STRICT = {"keys": ["evidence", "authority", "recency"]}
SETS = (
    Wanted(name="flights1", files="flights1", sources="flights", ways=(ORDER,)),
    Wanted(
        name="flights1, no airlines",
        files="flights1",
        sources="flights",
        without=AIRLINES,
        ways=(ORDER, COUNTED),
    ),
    Wanted(
        name="flights4, no airlines",
        files="flights4",
        sources="flights",
        without=AIRLINES,
        ways=(ORDER, COUNTED),
    ),
    Wanted(name="books", files="books", ways=(ORDER, COUNTED)),
    Wanted(
        name="population",
        files="population",
        ways=(Way(name=ORDER.name, attribute={"type": "number"}),),
    ),
    Wanted(
        name="birthplaces",
        files="birthplaces",
        published=False,
        ways=(
            ORDER,
            Way(name="no order", policy=NO_ORDER),
            Way(name="no order, places in places", policy=NO_ORDER, paths=True),
        ),
    ),
    Wanted(
        name="heritages",
        files="heritages",
        published=False,
        ways=(ORDER, GUARDED),
    ),
    Wanted(
        name="restaurants",
        files="restaurants",
        ways=(
            Way(name="order of sources", attribute={"change": "over_time"}),
            Way(name="evidence, then order", policy=STRICT, attribute={"change": "over_time"}),
        ),
    ),
    Wanted(name="opinions", files="opinions", ways=(SURE, COUNTED)),
)
EVIDENCE = {"marked closed": "explicit", "listed": "inferred", "delisted": "absence"}


# --- reading the sets --------------------------------------------------------------------


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


# --- rules -------------------------------------------------------------------------------


def last_write(said: Sequence[Recorded]) -> Answer:
    """Whatever was written last."""
    return said[-1].assertion.value


def majority(said: Sequence[Recorded]) -> Answer:
    """What most sources said last; of two that are level, what was said first."""
    words = {one.assertion.source: one.assertion.value for one in said}
    return Counter(words.values()).most_common(1)[0][0]


def newcomer(registry: Registry) -> Rule:
    """Compare each newcomer with the one in memory: level, then stated confidence, then it wins."""

    def rule(said: Sequence[Recorded]) -> Answer:
        held = said[0]
        for one in said[1:]:
            held = one if _replaces(registry, one.assertion, held.assertion) else held
        return held.assertion.value

    return rule


def _replaces(registry: Registry, new: Assertion, held: Assertion) -> bool:
    levels = [registry.level(one.source, one.key.attribute) for one in (new, held)]
    ranked = registry.ranked(new.key.attribute, *levels)
    if ranked in ("above", "below"):
        return ranked == "above"
    return (new.confidence or 0.0) >= (held.confidence or 0.0)


# --- figures -----------------------------------------------------------------------------


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """
    What one rule made of one set; shares and means over the orders.

    Attributes:
        coverage: Share of facts with an answer.
        right_when_decided: Share of right answers among those.
        wrong: Share of facts with a wrong answer.
        disputes: Facts that are in dispute, of a thousand.
        coin: Share that is right if each dispute is ended by a fair coin among its candidates.
        flips: How often a fact's answer became another one while assertions came in, mean.
        instability: Share of facts in conflict whose outcome depends on the order.
        microseconds: CPU time for one fact; None: not measured.

    """

    coverage: float
    right_when_decided: float
    wrong: float
    disputes: float
    coin: float
    flips: float
    instability: float
    microseconds: float | None = None


@dataclass
class Count:
    """What one fact came to, in every order."""

    decided: float = 0.0
    right: float = 0.0
    disputed: float = 0.0
    coin: float = 0.0
    flips: float = 0.0
    moved: bool = False
    conflict: bool = False


def orders(said: Sequence[Recorded], number: int) -> Iterator[list[Recorded]]:
    """Take every order if they are few, else shuffle; what was observed earlier comes earlier."""
    dice = random.Random(said[0].id)
    if math.factorial(min(len(said), FEW)) <= number:
        every: Iterable[Sequence[Recorded]] = permutations(dice.sample(said, len(said)))
    else:
        every = (dice.sample(said, len(said)) for _ in range(number))
    for one in every:
        yield sorted(one, key=_observed)


def _observed(one: Recorded) -> int:
    return one.assertion.observed_at.start if one.assertion.observed_at else 0


def by_rule(rule: Rule, key: FactKey, set_: Told, shuffles: int) -> Count:
    """Count what a rule that always answers says about a fact."""
    said, right = set_.facts[key], set_.right[key]
    found = [rule(order) for order in orders(said, shuffles)]
    first = next(orders(said, 1))
    share = fmean(one in right for one in found)
    steps = [rule(first[: end + 1]) for end in range(len(first))]
    return Count(
        decided=1.0,
        right=share,
        coin=share,
        flips=_flips(steps),
        moved=len(set(found)) > 1,
        conflict=_clash(said),
    )


def by_fold(key: FactKey, set_: Told, shuffles: int) -> Count:
    """Count what the whole set comes to."""
    said, right = set_.facts[key], set_.right[key]

    def outcome(given: Sequence[Recorded]) -> Outcome:
        return fold(key, given, set_.policy, set_.registry, NOW)

    seen = {_encoded(outcome(order)) for order in orders(said, shuffles)}
    came, first = outcome(said), next(orders(said, 1))
    decided, disputed = came.status == "resolved", came.status == "disputed"
    candidates = [one.value in right for one in came.candidates] if disputed else []
    good = decided and came.value in right
    return Count(
        decided=float(decided),
        right=float(good),
        disputed=float(disputed),
        coin=fmean(candidates) if candidates else float(good),
        flips=_flips([outcome(first[: end + 1]).value for end in range(len(first))]),
        moved=seen != {_encoded(came)},
        conflict=_clash(said),
    )


def _clash(said: Iterable[Recorded]) -> bool:
    return len({one.assertion.value for one in said}) > 1


def _flips(answers: Iterable[Answer]) -> int:
    """Count answers that became others, whatever dispute lay between."""
    known = [one for one in answers if one is not None]
    return sum(a != b for a, b in pairwise(known))


def figures(counts: Sequence[Count], microseconds: float | None = None) -> Figures:
    """Put the counts of a set together."""
    decided = sum(one.decided for one in counts)
    right = sum(one.right for one in counts)
    clashes = [one.moved for one in counts if one.conflict]
    return Figures(
        coverage=decided / len(counts),
        right_when_decided=right / decided if decided else 0.0,
        wrong=(decided - right) / len(counts),
        disputes=1000 * fmean(one.disputed for one in counts),
        coin=fmean(one.coin for one in counts),
        flips=fmean(one.flips for one in counts),
        instability=fmean(clashes) if clashes else 0.0,
        microseconds=microseconds,
    )


def _speed(set_: Told) -> float:
    """Fold every fact once; CPU time of one in microseconds."""
    began = time.process_time()
    for key, said in set_.facts.items():
        fold(key, said, set_.policy, set_.registry, NOW)
    return 1e6 * (time.process_time() - began) / len(set_.facts)


def measured(folder: Path, wanted: Wanted, shuffles: int) -> dict[str, Figures]:
    """Measure every rule on a set; rule → figures, ours first."""
    found, plain = dict[str, Figures](), told(folder, wanted, wanted.ways[0])
    for way in wanted.ways:
        set_ = told(folder, wanted, way)
        counts = [by_fold(key, set_, shuffles) for key in set_.facts]
        found[way.name] = figures(counts, _speed(set_))
    for name, rule in _others(plain).items():
        found[name] = figures([by_rule(rule, key, plain, shuffles) for key in plain.facts])
    return found


def _others(set_: Told) -> dict[str, Rule]:
    return {
        "last write": last_write,
        "majority of sources": majority,
        "newcomer against the one in memory": newcomer(set_.registry),
    }


# --- telling -----------------------------------------------------------------------------

HEADS = (
    *("coverage", "right when decided", "wrong", "disputes per 1,000", "right with a coin"),
    *("flips per fact", "order-instability", "µs per fact"),
)


def cells(name: str, one: Figures) -> list[str]:
    """Write a rule's row."""
    shares = (one.coverage, one.right_when_decided, one.wrong)
    return [
        name,
        *(f"{share:.3f}" for share in shares),
        f"{one.disputes:.0f}",
        f"{one.coin:.3f}",
        f"{one.flips:.2f}",
        f"{one.instability:.3f}",
        "–" if one.microseconds is None else f"{one.microseconds:.0f}",
    ]


def part(wanted: Wanted, found: Mapping[str, Figures], set_: Told) -> str:
    """Write a set's part of the page."""
    clashes = sum(map(_clash, set_.facts.values()))
    said = sum(map(len, set_.facts.values()))
    head = f"### {wanted.name}\n\n{len(set_.facts):,} facts, {clashes:,} of them in conflict; "
    rules = [cells(f"**{name}**" if one.microseconds else name, one) for name, one in found.items()]
    return f"{head}{said:,} assertions.\n\n{table(('rule',), HEADS, rules)}\n"


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n", 1)[0])
    parser.add_argument("--set", action="append", help="one of the sets; again for more")
    parser.add_argument("--shuffles", type=int, default=SHUFFLES, help="orders of arrival")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--markdown", action="store_true", help=f"write them into {PAGE.name}")
    asked = parser.parse_args()
    data = os.environ.get("POINTSMAN_DATA")
    if not data:
        print("skipped: POINTSMAN_DATA does not name the folder of the test sets")
        return 0
    chosen = [one for one in SETS if not asked.set or one.files in asked.set]
    found, parts = dict[str, Any](), list[str]()
    for wanted in chosen:
        began = time.perf_counter()
        found[wanted.name] = measured(Path(data) / "facts", wanted, asked.shuffles)
        set_ = told(Path(data) / "facts", wanted, wanted.ways[0])
        if wanted.published or not asked.markdown:
            parts.append(part(wanted, found[wanted.name], set_))
        took = time.perf_counter() - began
        print(f"  {wanted.name}: {took:.1f} s", file=sys.stderr, flush=True)
    print(json.dumps(msgspec.to_builtins(found)) if asked.json else "\n".join(parts))
    if asked.markdown:
        put(PAGE, "\n".join(parts).strip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
