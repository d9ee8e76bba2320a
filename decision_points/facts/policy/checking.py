"""What no policy may say about an attribute: what is no order (RF-24), or contradicts its type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import get_args

from ..assertions import Evidence
from ..files.durations import duration
from ..files.tables import Page
from ..keys import tidy
from .attributes import Attribute

HALF = 0.5

NUMBERS = ("number", "money")
TIMES = ("date", "time")

Found = Iterator[tuple[str, str, str]]  # setting, problem, fix


def check(attribute: Attribute, page: Page) -> None:
    """Note on *page* whatever contradicts itself in what is declared about an attribute."""
    for one in (
        _sequence,
        _margin,
        _evidence,
        _bands,
        _voices,
        _tolerance,
        _form,
        _set,
        _options,
        _dates,
        _freshness,
    ):
        for setting, problem, fix in one(attribute):
            page.within(setting).wrong(problem, fix)


def _sequence(attribute: Attribute) -> Found:
    keys = attribute.keys
    if len(set(keys)) < len(keys):
        yield "keys", "a key is there twice", f"Write keys = {_listed(dict.fromkeys(keys))}"
    elif "recency" in keys[:-1]:
        last = (*(one for one in keys if one != "recency"), "recency")
        problem = "recency is not the last key: two times within the skew are equal, and a key"
        yield (
            "keys",
            f"{problem} after it would be asked in circles",
            f"Write keys = {_listed(last)}",
        )


def _margin(attribute: Attribute) -> Found:
    if attribute.margin is None:
        return
    if not 0 < attribute.margin < 1:
        yield "margin", "it is not above 0 and below 1", "Write it like 0.2, or take it away"
    counted = [one for one in attribute.keys if attribute.change != "never" or one != "recency"]
    if attribute.change == "over_time":
        problem = "what changes over time is decided by time in the end, and a margin may only"
        yield "margin", f"{problem} stand at the end", "Take the margin away: bands have edges"
    elif "confidence" not in counted:
        yield "margin", "confidence is none of its keys", "Take the margin away"
    elif counted[-1] != "confidence":
        last = (*(one for one in attribute.keys if one != "confidence"), "confidence")
        problem = "two confidences within a margin are equal, and a key after them would be asked"
        fix = f"Write keys = {_listed(last)}, or take the margin away: bands have edges"
        yield "margin", f"{problem} in circles", fix


def _evidence(attribute: Attribute) -> Found:
    tiers = {kind: place for place, tier in enumerate(attribute.evidence) for kind in tier}
    kinds = get_args(Evidence)
    if len(tiers) < sum(len(tier) for tier in attribute.evidence):
        yield "evidence", "a kind is there twice", "Leave it in one place"
    elif missing := [one for one in kinds if one not in tiers]:
        yield "evidence", f"it does not place {', '.join(missing)}", "Place every kind once"
    elif tiers["absence"] <= tiers["explicit"]:
        problem = "it lets silence weigh as much as a statement (RF-11)"
        yield "evidence", problem, "Place absence below explicit"


def _bands(attribute: Attribute) -> Found:
    edges = (0.0, *attribute.edges, 1.0)
    if not all(low < high for low, high in pairwise(edges)):
        problem = "they do not ascend between 0 and 1"
        yield "edges", problem, "Write them like [0.6, 0.85]"


def _voices(attribute: Attribute) -> Found:
    asked = attribute.corroboration
    if asked is None:
        return
    if asked.lead is None and asked.share is None:
        yield "corroboration", "it says no bound", "Write { lead = 2 } or { share = 0.75 }"
    if asked.lead is not None and asked.lead < 1:
        yield "corroboration.lead", "it is below 1", "Write a whole number from 1"
    if asked.share is not None and not HALF < asked.share <= 1:
        yield "corroboration.share", "it is not above 0.5 and up to 1", "Write it like 0.75"


def _tolerance(attribute: Attribute) -> Found:
    if attribute.tolerance is None:
        return
    if attribute.type in NUMBERS:
        if not re.fullmatch(r"\d+(\.\d+)?\s*%?", attribute.tolerance):
            yield "tolerance", "it is no amount", 'Write it like "0.5" or "2%"'
    elif attribute.type in TIMES:
        try:
            duration(attribute.tolerance)
        except ValueError as error:
            yield "tolerance", str(error), 'Write it like "10m"'
    else:
        yield "tolerance", f"values of type {attribute.type} have none", "Take it away"


def _form(attribute: Attribute) -> Found:
    for setting, kind in (("options", "enum"), ("fields", "record")):
        if attribute.type == kind and not getattr(attribute, setting):
            yield (
                setting,
                f"type {kind} needs them",
                f"Write [attributes.{attribute.name}.{setting}]",
            )
        if attribute.type != kind and getattr(attribute, setting):
            yield setting, f"only type {kind} has them", f'Write type = "{kind}", or take them away'
    if attribute.currency and not re.fullmatch("[A-Z]{3}", attribute.currency):
        yield "currency", "it is no code of a currency", 'Write it like "BRL"'


def _set(attribute: Attribute) -> Found:
    if attribute.cardinality == "one":
        return
    fields = ((f"fields.{name}.hierarchy", one.hierarchy) for name, one in attribute.fields.items())
    said = (("tolerance", attribute.tolerance), ("hierarchy", attribute.hierarchy), *fields)
    for setting, value in said:
        if value is not None and value != "":
            problem = "members of a set are decided one by one, and none represents another"
            yield setting, problem, 'Take it away, or write cardinality = "one"'


def _options(attribute: Attribute) -> Found:
    of: dict[str, str] = {}
    for label, spellings in attribute.options.items():
        for one in map(tidy, (label, *spellings)):
            if of.setdefault(one, label) != label:
                problem = f"{one!r} is a spelling of {of[one]!r} and of {label!r}"
                yield "options", problem, "Leave it with one of them"


def _dates(attribute: Attribute) -> Found:
    for one in attribute.formats:
        if "%Y" not in one and "%y" not in one:
            yield "formats", f"{one!r} has no year", "Write it like %d/%m/%Y"
        elif not _is_format(one):
            yield "formats", f"{one!r} is no format of a date", "Write it like %d/%m/%Y"


def _is_format(one: str) -> bool:
    try:
        datetime.strptime(datetime(2026, 11, 30, tzinfo=UTC).strftime(one), one)  # noqa: DTZ007 - only whether it is one
    except (ValueError, re.error):
        return False
    return True


def _freshness(attribute: Attribute) -> Found:
    if attribute.freshness == 0:
        yield "freshness", "a value would be stale at once", "Write it like 30d, or take it away"


def _listed(keys: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{one}"' for one in keys) + "]"
