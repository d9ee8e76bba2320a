"""
Facts as the store of a LangGraph graph: what agents put down is asserted, never overwritten.

A namespace names an entity, its labels joined by colons: `("book", "0306406152")` is
`book:0306406152`. A key names an attribute, with qualifiers behind a question mark:
`price?contract=c1`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from ....gateway.integrations import needs
from ..errors import Refused
from ..keys import parts, tidy
from .matching import fits, matches, score
from .plainly import as_json, harmless
from .saying import About, say, take_back

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )
except ImportError as missing:
    raise needs("facts,langgraph", "LangGraph") from missing

if TYPE_CHECKING:
    from ..keys import FactKey
    from ..reading import Reading
    from ..store import FactStore

Namespace: TypeAlias = tuple[str, ...]
JOINT = ":"
DELETED = "deleted by its source"


class FactsStore(BaseStore):
    """
    A `BaseStore` over facts.

    `put(namespace, key, {"value": …})` asserts, by the source that the host says; beside `value`
    may stand `kind`, `evidence`, `confidence`, `observed_at`, `valid_from`, `valid_to`,
    `source_ref` and `derived_from`. `delete` takes back what this source said, and nothing of
    others. An item's `value` is a dictionary: `status`, `value` (null unless the fact is
    resolved), `candidates`, `text` for a prompt, and more; its texts are on one line, without
    unseen characters, and cut at 4,000 characters. `search` finds by prefix, by `filter`
    over such dictionaries, and by words of `query`; meanings are not compared. Operations of one
    batch are done in their order.

    Args:
        store: Where facts are kept.
        source: Whose word it is that is put down.
        writer: Who writes it.
        language: Of `text`: `en` or `pt`.

    """

    __slots__ = ("_language", "_speaker", "_store")

    def __init__(
        self, store: FactStore, *, source: str, writer: str = "", language: str = "en"
    ) -> None:
        self._store, self._language = store, language
        self._speaker = (source, writer)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """
        Do *ops*, one after the other.

        Raises:
            Refused: One is no statement, or may not be made; those before it are done.

        """
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do *ops* on another thread, one after the other."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _done(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._got(op)
        if isinstance(op, SearchOp):
            return list(self._found(op))
        if isinstance(op, PutOp):
            self._put(op)
            return None
        return self._namespaces(op)

    def _got(self, op: GetOp) -> Item | None:
        entity, attribute, qualifiers = _about(op.namespace, op.key)
        reading = self._store.get(entity, attribute, qualifiers=qualifiers)
        said = self._times(reading.key)
        return Item(**self._item(reading), **said) if said else None

    def _put(self, op: PutOp) -> None:
        about = _about(op.namespace, op.key)
        source, _ = self._speaker
        if op.value is None:
            entity, attribute, qualifiers = about
            key = self._store.get(entity, attribute, qualifiers=qualifiers).key
            take_back(self._store, key, source, DELETED)
        else:
            say(self._store, about, _statement(op.value), self._speaker)

    def _found(self, op: SearchOp) -> Iterator[SearchItem]:
        _counted(op)
        for reading, points in islice(self._hits(op), op.offset, op.offset + op.limit):
            said = self._times(reading.key)
            yield SearchItem(**self._item(reading), **said, score=points)

    def _hits(self, op: SearchOp) -> Iterator[tuple[Reading, float | None]]:
        fitting = (one for one in self._under(op.namespace_prefix) if self._passes(one, op.filter))
        if not op.query:
            yield from ((one, None) for one in fitting)
            return
        scored = ((one, score(op.query, one.text(self._language))) for one in fitting)
        yield from sorted((one for one in scored if one[1]), key=lambda one: -one[1])

    def _passes(self, reading: Reading, wanted: Mapping[str, Any] | None) -> bool:
        if not wanted:
            return True
        told = harmless(as_json(reading, self._language))
        return all(matches(told.get(name), one) for name, one in wanted.items())

    def _under(self, prefix: Namespace) -> Iterator[Reading]:
        """Read all that somebody says something about, below a namespace."""
        wanted = tuple(tidy(one) for one in prefix)
        for reading in self._store.facts():
            if _labels(reading.key)[: len(wanted)] == wanted:
                yield reading

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        _counted(op)
        every = {_labels(one.key) for one in self._store.facts()}
        wanted = op.match_conditions or ()
        kept = [one for one in every if all(fits(one, c.match_type, c.path) for c in wanted)]
        cut = sorted({one[: op.max_depth] for one in kept})
        return cut[op.offset : op.offset + op.limit]

    def _item(self, reading: Reading) -> dict[str, Any]:
        return {
            "value": harmless(as_json(reading, self._language)),
            "key": str(reading.key).rpartition("/")[2],
            "namespace": _labels(reading.key),
        }

    def _times(self, key: FactKey) -> dict[str, Any]:
        """Say when the first and the last entry about a fact came; nothing if there is none."""
        came = [one.recorded_at for one in self._store.history(key)]
        if not came:
            return {}
        first, last = (datetime.fromtimestamp(one / 1e6, UTC) for one in (min(came), max(came)))
        return {"created_at": first, "updated_at": last}


def _about(namespace: Namespace, key: str) -> About:
    """
    Say which fact is meant.

    Raises:
        Refused: A label has a colon, or the key is none.

    """
    if any(JOINT in label for label in namespace):
        fix = "Give its parts as labels of their own"
        raise Refused("bad_key", "a label of a namespace has a colon", fix)
    try:
        _, attribute, qualifiers = parts(f"entity/{key}")
    except ValueError:
        fix = "Write ATTRIBUTE, or ATTRIBUTE?name=value"
        raise Refused("bad_key", "the key names no attribute", fix) from None
    return JOINT.join(namespace), attribute, qualifiers


def _counted(op: SearchOp | ListNamespacesOp) -> None:
    """
    Check how many are asked for.

    Raises:
        Refused: Less than none, or none before the first.

    """
    if op.limit < 0 or op.offset < 0:
        raise Refused("bad_count", "limit or offset is below zero", "Give 0 or more")


def _labels(key: FactKey) -> Namespace:
    return tuple(key.entity.split(JOINT))


def _statement(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Check that what is put down is a statement.

    Raises:
        Refused: It has neither a value nor a kind.

    """
    if "value" in value or "kind" in value:
        return value
    fix = 'Put {"value": …}, with confidence, observed_at, … beside it'
    raise Refused("bad_statement", "what is put down says no value", fix)
