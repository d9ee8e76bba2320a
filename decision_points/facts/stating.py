"""From what a writer hands over to an assertion: checked, in canonical form, or refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypedDict, get_args

import msgspec

from .assertions import Assertion, Evidence, Input, Kind, Value, When
from .canonical import key_of
from .entries import Asserted
from .errors import Refused
from .keys import FactKey, seen, tidy
from .policy import Attribute, Policy
from .registry import Registry
from .times import when
from .values import normaliser, raw_of
from .values.texts import unfit

if TYPE_CHECKING:
    from .reading import Reading

Time = When | datetime | date | str | float
KINDS = frozenset(get_args(Kind))
EVIDENCE = frozenset(get_args(Evidence))


class Statement(TypedDict, total=False):
    """
    What may be said of a fact, beside the fact and the value.

    Attributes:
        source: Whose word it is.
        kind: `value`, or that it is `unknown`, has `ended`, or that there is none (`deny`).
        raw: As the source wrote it; absent: the value is that.
        writer: Who read it there.
        evidence: How it was said: `explicit`, `inferred`, `absence`, `derived`, `human`.
        confidence: How sure the writer is, in [0, 1].
        observed_at: When the source said so.
        valid_from: From when it holds.
        valid_to: Until when, exclusive.
        qualifiers: What else tells the fact from others.
        source_ref: Where in the source; data, never followed.
        derived_from: What it was derived from: readings, or their inputs.
        corrects: Id of an assertion of the same source that it replaces.
        rank: Ignored and noted: authority comes from the registry alone (RF-09).

    """

    source: str
    kind: Kind
    raw: str | None
    writer: str
    evidence: Evidence
    confidence: float | None
    observed_at: Time | None
    valid_from: Time | None
    valid_to: Time | None
    qualifiers: Mapping[str, str]
    source_ref: str
    derived_from: Iterable[Input | Reading]
    corrects: str
    rank: object


NOTHING: Mapping[str, str] = {}


def named(
    namespace: str,
    entity: str | FactKey,
    attribute: str,
    qualifiers: Mapping[str, str],
    policy: Policy,
) -> FactKey:
    """
    Name a fact as it is asked for; a key made by hand is brought into canonical form, too.

    One that was canonical before its type of entity was declared is still found.

    Raises:
        Refused: `bad_key`.

    """
    if not isinstance(entity, FactKey):
        return key_of(namespace, entity, attribute, qualifiers, entities=policy.entities)
    if entity.namespace != namespace:
        raise Refused("other_namespace", "the key is of another namespace")
    qualifiers = dict(entity.qualifiers)
    if len(qualifiers) < len(entity.qualifiers):
        raise Refused("bad_key", "two of the qualifiers have one name", "Give each of them once")
    parts = entity.entity, entity.attribute, qualifiers
    if entity == (plain := key_of(namespace, *parts)):
        return plain
    return key_of(namespace, *parts, entities=policy.entities)


def canonical(key: FactKey) -> bool:
    """Whether a key is in canonical form under some policy."""
    try:
        made = key_of(key.namespace, key.entity, key.attribute, dict(key.qualifiers))
    except Refused:
        return False
    same = made.attribute == key.attribute and made.qualifiers == key.qualifiers
    return same and tidy(key.entity) == made.entity and seen(key.entity) == key.entity


def asserted(key: FactKey, value: object, policy: Policy, given: Statement) -> Asserted:
    """
    Make what is written of a statement.

    Args:
        key: The fact.
        value: What is said, as text or plain Python; None where there is none to say.
        policy: Under which it is read.
        given: All else.

    Raises:
        Refused: It is no value, is ambiguous, or may not be written.

    """
    declared = policy.attribute(key.attribute)
    attribute = declared or Attribute(name=key.attribute)
    kind = given.get("kind", "value")
    confidence = given.get("confidence")
    _checked(kind, given.get("evidence", "explicit"), confidence)
    raw, canonical, reader = _read(kind, value, given.get("raw"), attribute, policy)
    if confidence is None and (attribute.strict or policy.strict):
        problem = f"{key.attribute} takes no assertion without a confidence"
        raise Refused("confidence_missing", problem, "Say how sure the writer is, from 0 to 1")
    source = seen(given.get("source", ""))
    if not source:
        raise Refused("no_source", "nobody's word is no assertion", "Name the source")
    inputs = tuple(sorted({_input(one) for one in given.get("derived_from", ())}))
    since, until = (_time(given, name, attribute) for name in ("valid_from", "valid_to"))
    if since is not None and until is not None and until.start <= since.start:
        raise Refused("bad_interval", "it ends before it begins", "Correct valid_from or valid_to")
    made = Assertion(
        key=key,
        kind=kind,
        value=canonical,
        raw=raw,
        normaliser=reader,
        source=source,
        writer=seen(given.get("writer", "")),
        evidence=given.get("evidence", "explicit"),
        confidence=None if confidence is None else float(confidence),
        observed_at=_time(given, "observed_at", attribute),
        valid_from=since,
        valid_to=until,
        source_ref=given.get("source_ref", ""),
        derived_from=inputs,
        corrects=given.get("corrects", ""),
    )
    _bounded(made, policy)
    return Asserted(assertion=made)


def notes_of(made: Assertion, registry: Registry, given: Statement) -> tuple[str, ...]:
    """Say what a writer should know of what was written."""
    notes: list[str] = []
    if given.get("rank") is not None:
        notes.append("rank_ignored")
    if not registry.known(made.source):
        notes.append(f"unknown_source:{made.source}")
    return tuple(notes)


def _read(
    kind: str, value: object, raw: str | None, attribute: Attribute, policy: Policy
) -> tuple[str, Value | None, str]:
    """Read a value: as it was written, in canonical form, and by what."""
    has_value = kind == "value" or (kind == "deny" and attribute.cardinality == "many")
    if not has_value:
        if value is not None or raw:
            raise Refused("bad_kind", "its kind says that there is no value", "Leave the value out")
        return "", None, ""
    if value is None and raw is None:
        fix = "Give a value; for what is not known write kind='unknown'"
        raise Refused("nothing_given", "there is no value", fix)
    text = raw_of(value) if raw is None else raw
    if attribute.cardinality == "many" and attribute.type != "names" and _lists(text):
        fix = "Assert each member by itself"
        raise Refused("malformed_value", "a list is no member of a set", fix)
    _short("the value", text, policy.limits.value_characters)
    reader = normaliser(attribute, policy)
    found = reader.read(text)
    if raw is not None and value is not None and reader.read(raw_of(value)) != found:
        problem = "what the source wrote is another value than the one given"
        raise Refused("malformed_value", problem, "Give one of them, or correct it")
    return text, found, reader.id


def _lists(text: str) -> bool:
    """Whether *text* is a list in JSON, as one that was handed over is written."""
    if not text.lstrip().startswith("["):
        return False
    try:
        return isinstance(msgspec.json.decode(text.encode("utf-8", "replace")), list)
    except msgspec.DecodeError:
        return False


def _checked(kind: object, evidence: object, confidence: Any) -> None:  # noqa: ANN401 - whatever a caller gives
    if kind not in KINDS:
        raise Refused("bad_kind", "it is no kind", f"There are {', '.join(sorted(KINDS))}")
    if evidence not in EVIDENCE:
        fix = f"There are {', '.join(sorted(EVIDENCE))}"
        raise Refused("bad_evidence", "it is no kind of evidence", fix)
    if confidence is None:
        return
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not (number and 0 <= confidence <= 1):  # also false for NaN
        problem = "confidence is no number from 0 to 1"
        raise Refused("bad_confidence", problem, "Give how sure the writer is, or leave it out")


def _time(given: Any, name: str, attribute: Attribute) -> When | None:  # noqa: ANN401 - a Statement
    moment = given.get(name)
    return None if moment is None else when(moment, attribute.zone)


def _input(given: Input | Reading) -> Input:
    return given if isinstance(given, Input) else given.as_input()


def _bounded(made: Assertion, policy: Policy) -> None:
    most = policy.limits.text_characters
    for name in ("source", "writer"):
        if found := unfit(getattr(made, name)):
            raise Refused("bad_text", f"{name} {found}", "Write a name that people can read")
    for name in ("source", "writer", "source_ref", "corrects"):
        _short(name, getattr(made, name), most)
    if len(made.derived_from) > policy.limits.inputs:
        problem = f"it was derived from {len(made.derived_from)} facts"
        raise Refused("too_many", problem, f"At most {policy.limits.inputs} are let in")


def _short(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise Refused(
            "too_long", f"{what} has {len(text)} characters", f"At most {most} are let in"
        )
