"""Registries, policies and assertions as hypothesis draws them: few names, many clashes."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
from hypothesis import strategies as st

from pointsman.decision_points.facts.assertions import (
    Assertion,
    Input,
    Recorded,
    Value,
    When,
    recorded,
)
from pointsman.decision_points.facts.keys import FactKey
from pointsman.decision_points.facts.policy import Attribute, Policy
from pointsman.decision_points.facts.registry import Registry

LEVELS = ("signed", "erp", "crm", "chat")
SOURCES = ("contract", "sap", "salesforce", "mirror", "slack")
STRANGER = "stranger"  # in no registry
VALUES = ("x", "y", "z")
EVIDENCE = ("explicit", "inferred", "absence", "derived", "human")
MINUTE = 60_000_000  # microseconds
KEY = FactKey("default", "acme", "price")

KEYS = ("authority", "evidence", "confidence", "recency")
SEQUENCES = tuple(
    keys
    for length in range(len(KEYS) + 1)
    for keys in itertools.permutations(KEYS, length)
    if "recency" not in keys[:-1]
)
"""Every legal sequence of keys: any of them, in any order, recency last if at all."""


@st.composite
def orders(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a partial order of `LEVELS` as a file writes it: a list, or pairs without a circle."""
    ranked = draw(st.permutations(LEVELS))
    if draw(st.booleans()):
        return {"order": ranked}
    pairs = list(itertools.combinations(ranked, 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs)))
    return {"above": [list(one) for one in chosen], "levels": ranked}


@st.composite
def parts_of_orders(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an order of some of the levels, as an attribute or a group may have one."""
    some = draw(st.lists(st.sampled_from(LEVELS), unique=True))
    return {"order": some} if draw(st.booleans()) else {"levels": some}


@st.composite
def registry_tables(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the tables of a registry that loads, with partial orders, copies, feeds and clocks."""
    sources: dict[str, dict[str, Any]] = {
        one: {"level": draw(st.sampled_from(LEVELS))} for one in SOURCES
    }
    if draw(st.booleans()):
        sources["mirror"]["copies"] = draw(st.sampled_from(SOURCES[:3]))
    for one in draw(st.lists(st.sampled_from(SOURCES), unique=True, max_size=2)):
        sources[one]["same_feed"] = "feed"
    for one in draw(st.lists(st.sampled_from(SOURCES), unique=True, max_size=2)):
        sources[one]["skew"] = draw(st.sampled_from(("0s", "1m", "1h")))
    tables: dict[str, Any] = {**draw(orders()), "skew": "2m", "sources": sources}
    if draw(st.booleans()):
        tables["attributes"] = {KEY.attribute: draw(parts_of_orders())}
    if draw(st.booleans()):
        named = [KEY.attribute, "term"]
        tables["groups"] = {"commercial": {**draw(parts_of_orders()), "attributes": named}}
    return tables


def registries() -> st.SearchStrategy[Registry]:
    """Draw a registry of `SOURCES`, whose levels are `LEVELS`."""
    return registry_tables().map(Registry.of)


@st.composite
def attribute_tables(draw: st.DrawFn, /, **fixed: Any) -> dict[str, Any]:
    """
    Draw what a policy may declare about `KEY.attribute`.

    Args:
        draw: Hypothesis'.
        fixed: What is not drawn but as given: `change="never"`, `keys=["authority"]`.

    """
    table: dict[str, Any] = {
        "type": "text",
        "change": draw(st.sampled_from(("never", "over_time"))),
        "keys": draw(st.sampled_from(SEQUENCES)),
        "basis": draw(st.sampled_from(("effective", "observed", "confirmed"))),
        "edges": draw(st.sampled_from(([0.6, 0.85], [0.5], []))),
        "dissent": draw(st.sampled_from(("show", "guard"))),
        "evidence": draw(st.sampled_from(_TIERS)),
    }
    if voices := draw(st.sampled_from((None, {"lead": 1}, {"lead": 2}, {"share": 0.75}))):
        table["corroboration"] = voices
    table |= fixed
    counted = [one for one in table["keys"] if table["change"] != "never" or one != "recency"]
    may = table["change"] == "never" and counted[-1:] == ["confidence"]
    if may and "margin" not in fixed and draw(st.booleans()):
        table["margin"] = 0.2
    return table


_TIERS = (
    ["human", "explicit", ["inferred", "derived"], "absence"],
    [["human", "explicit", "inferred", "derived"], "absence"],
    ["explicit", "absence", ["human", "inferred", "derived"]],
)


def policies(**fixed: Any) -> st.SearchStrategy[Policy]:
    """
    Draw a policy that declares `KEY.attribute`, with every legal sequence of keys.

    Args:
        fixed: Of the attribute, what is not drawn: `dissent="show"`, `corroboration=None`.

    """
    return attribute_tables(**fixed).map(_policy)


def _policy(table: dict[str, Any]) -> Policy:
    said = {name: one for name, one in table.items() if one is not None}
    return Policy.of({"attributes": {KEY.attribute: said}})


def attribute_of(policy: Policy) -> Attribute:
    """Give what *policy* declares about `KEY.attribute`."""
    found = policy.attribute(KEY.attribute)
    assert found is not None
    return found


def times() -> st.SearchStrategy[When]:
    """Draw instants some minutes apart, and half hours of which no more is known."""
    instants = st.integers(0, 20).map(lambda at: When(at * MINUTE, at * MINUTE))
    spans = st.integers(0, 3).map(lambda at: When(at * 30 * MINUTE, (at + 1) * 30 * MINUTE))
    return st.one_of(instants, spans)


@st.composite
def validity(draw: st.DrawFn) -> tuple[When | None, When | None]:
    """Draw from when and until when something holds: mostly as long as anybody knows."""
    if draw(st.integers(0, 2)):
        return None, None
    start, end = sorted((draw(st.integers(0, 20)), draw(st.integers(0, 20))))
    since = When(start * MINUTE, start * MINUTE)
    until = When(end * MINUTE, end * MINUTE) if start < end and draw(st.booleans()) else None
    return since, until


@st.composite
def assertions(draw: st.DrawFn, /, key: FactKey = KEY, **fixed: Any) -> Assertion:
    """
    Draw what a source said about a fact, as text.

    Args:
        draw: Hypothesis'.
        key: The fact.
        fixed: Fields that are not drawn: `source="sap"`, `confidence=None`.

    """
    kind = draw(st.sampled_from(("value", "value", "value", "value", "unknown", "deny", "ended")))
    raw = draw(st.sampled_from(VALUES)) if kind == "value" else ""
    since, until = draw(validity())
    evidence = draw(st.sampled_from(EVIDENCE))
    drawn: dict[str, Any] = {
        "kind": kind,
        "raw": raw,
        "value": Value("text", raw) if raw else None,
        "source": draw(st.sampled_from((*SOURCES, STRANGER))),
        "writer": draw(st.sampled_from(("reader-1", "reader-2"))),
        "evidence": evidence,
        "confidence": draw(st.sampled_from((None, 0.3, 0.55, 0.65, 0.7, 0.9))),
        "observed_at": draw(st.none() | times()),
        "valid_from": since,
        "valid_to": until,
        "derived_from": draw(_inputs()) if evidence == "derived" else (),
    }
    return Assertion(key=key, **{**drawn, **fixed})


@st.composite
def _inputs(draw: st.DrawFn) -> tuple[Input, ...]:
    whose = draw(st.lists(st.sampled_from((*SOURCES, STRANGER)), unique=True, max_size=2))
    return (Input(FactKey(KEY.namespace, KEY.entity, "list price"), "0" * 32, tuple(whose)),)


def read_by(policy: Policy, one: Assertion) -> Assertion:
    """Write *one* as the normaliser of *policy* reads it, so that a fold need not read again."""
    from pointsman.decision_points.facts.values import normaliser

    if one.kind != "value":
        return one
    reader = normaliser(attribute_of(policy), policy)
    return msgspec.structs.replace(one, value=reader.read(one.raw), normaliser=reader.id)


@st.composite
def said(
    draw: st.DrawFn, /, policy: Policy, *, most: int = 6, corrections: bool = True, **fixed: Any
) -> tuple[Recorded, ...]:
    """
    Draw assertions about `KEY`, read by *policy*; some replace an earlier one by name.

    Args:
        draw: Hypothesis'.
        policy: Under which they are written.
        most: How many there are at most.
        corrections: Whether some name what they replace.
        fixed: Fields that are not drawn.

    """
    found: list[Recorded] = []
    for one in [draw(assertions(**fixed)) for _ in range(draw(st.integers(0, most)))]:
        written = read_by(policy, one)
        if corrections and found and not draw(st.integers(0, 5)):
            replaced = draw(st.sampled_from(found)).id
            written = msgspec.structs.replace(written, corrects=replaced)
        found.append(recorded(written, at=draw(st.integers(0, 100)) * MINUTE))
    return tuple({one.id: one for one in found}.values())


@st.composite
def scenes(
    draw: st.DrawFn, /, *, most: int = 6, corrections: bool = True, **attribute: Any
) -> tuple[tuple[Recorded, ...], Policy, Registry]:
    """
    Draw assertions about `KEY` with a policy and a registry to fold them under.

    Args:
        draw: Hypothesis'.
        most: How many assertions there are at most.
        corrections: Whether some name what they replace.
        attribute: Of the attribute, what is not drawn.

    """
    policy = draw(policies(**attribute))
    return draw(said(policy, most=most, corrections=corrections)), policy, draw(registries())
