"""The public sets of facts, and the policies under which each is folded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
