"""What agents may say of a statement, and whose word it then is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..assertions import Input
from ..entries import Asserted, Retracted
from ..errors import Refused
from ..keys import parts

if TYPE_CHECKING:
    from ..keys import FactKey
    from ..store import FactStore, Written

About: TypeAlias = tuple[str, str, Mapping[str, str]]
Speaker: TypeAlias = tuple[str, str]

FIELDS = (
    *("value", "kind", "evidence", "confidence", "observed_at", "valid_from", "valid_to"),
    *("source_ref", "derived_from", "rank"),
)
OWN = "said again by its source"


def say(store: FactStore, about: About, given: Mapping[str, Any], speaker: Speaker) -> Written:
    """
    Write down what *given* says about a fact.

    Args:
        store: Where.
        about: Entity, attribute, qualifiers.
        given: Of `FIELDS`; `derived_from` are keys as text, read as they stand now; a `rank` is
            noted and never counts.
        speaker: Source and writer, as the host says.

    Raises:
        Refused: It is no statement, or may not be made.

    """
    known = dict(given)
    if other := sorted(known.keys() - set(FIELDS)):
        names = ", ".join(FIELDS)
        problem = f"a statement has no field {other[0][:60]!r}"
        raise Refused("bad_statement", problem, f"Its fields are {names}")
    if known.get("evidence") == "human":  # what a person said, only a host can know
        fix = "Give explicit, inferred, absence or derived; persons speak through the host"
        raise Refused("bad_statement", "an agent is no person", fix)
    inputs = tuple(_inputs(store, known.pop("derived_from", ())))
    (entity, attribute, qualifiers), (source, writer) = about, speaker
    written = store.assert_(
        entity,
        attribute,
        qualifiers=qualifiers,
        source=source,
        writer=writer,
        derived_from=inputs,
        **known,
    )
    if not written.new:
        _revive(store, written, source)
    return written


def take_back(store: FactStore, key: FactKey, source: str, reason: str) -> int:
    """Retract all that *source* said about a fact; give how many statements that were."""
    said = [
        one.id
        for one in store.history(key)
        if isinstance(one.entry, Asserted) and one.entry.assertion.source == source
    ]
    for each in said:
        store.retract(each, by=source, reason=reason)
    return len(said)


def _inputs(store: FactStore, keys: object) -> Iterable[Input]:
    if not isinstance(keys, list | tuple):
        raise Refused("bad_statement", "derived_from is no list", "Give a list of keys as text")
    for written in cast("Sequence[str]", keys):
        try:
            entity, attribute, qualifiers = parts(written)
        except (ValueError, AttributeError):  # no key, or no text at all
            fix = "Write it as get_fact does under `fact`: ENTITY/ATTRIBUTE"
            raise Refused("bad_key", "something in derived_from is no key", fix) from None
        yield store.get(entity, attribute, qualifiers=qualifiers).as_input()


def _revive(store: FactStore, written: Written, source: str) -> None:
    """Take back the source's own retractions of what it says again; others' stand."""
    for one in store.history(written.key):
        back = one.entry
        if isinstance(back, Retracted) and back.target == written.id and back.by == source:
            store.retract(one.id, by=source, reason=OWN)
