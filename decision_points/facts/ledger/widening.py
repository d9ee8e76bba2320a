"""
How an entry about a whole namespace is worked out: a part of its facts at a time.

Between two parts the transaction ends, so that nobody waits for all of them; the head says how
far it is. What others write meanwhile is worked out behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....gateway.journal.lines import Line
from ..entries import Adopted, Aliased, Asserted, Quarantined, Stored
from ..keys import FactKey
from . import rows, stories
from .fact import Fact
from .projecting import Projector
from .settings import Known, Settings

PART = 500  # facts in one transaction


def widen(
    line: Line, namespace: str, stored: Stored, known: Known, resume: str
) -> tuple[str | None, int]:
    """
    Work out a part of an entry about the whole namespace.

    Args:
        line: In a transaction that may write.
        namespace: Which.
        stored: The entry.
        known: The namespace's settings.
        resume: The key up to which it is worked out.

    Returns:
        Up to which it is now, None where that is all; and how many facts were folded.

    """
    projector = Projector(line, namespace)
    settings = known.at(line, stored.position)
    if resume:
        projector.resumed(stored)
    else:
        projector.announce(stored)
    if isinstance(stored.entry, Aliased):
        before = known.at(line, stored.position - 1)
        _joined(line, stored, projector, before, settings)
        further = None
    else:
        page = _page(line, namespace, resume)
        if page:
            _folded(line, stored, projector, settings, page)
        further = page[-1] if len(page) == PART else None
    projector.flush()
    return further, projector.steps


def _page(line: Line, namespace: str, resume: str) -> list[str]:
    found = line.execute(
        "SELECT key FROM facts_current WHERE namespace = ? AND key > ? ORDER BY key"  # noqa: S608 - a number
        f" LIMIT {PART}",
        (namespace, resume),
    ).fetchall()
    return [row[0] for row in found]


def _folded(
    line: Line, stored: Stored, projector: Projector, settings: Settings, page: Sequence[str]
) -> None:
    """Fold the facts named in *page* again, as far as the entry concerns them."""
    namespace, aliases = projector.namespace, settings.aliases
    cause = "policy" if isinstance(stored.entry, Adopted) else "quarantine"
    touched: list[Fact] = []
    read = stories.of_page(line, namespace, aliases, stored.position, page)
    wanted = [(key, story) for key, story in read if _concerns(stored, story, settings)]
    for fact in projector.adopt_all(wanted, page):
        projector.touch(fact, stored, settings, cause)
        touched.append(fact)
    projector.spread(touched, stored, settings)


def _concerns(stored: Stored, story: Sequence[Stored], settings: Settings) -> bool:
    """Whether a fact can be another by it: under a quarantine, if it covers what was said."""
    entry = stored.entry
    if isinstance(entry, Quarantined) and entry.lifts:
        lifted = (one.entry for one in settings.quarantines if one.id == entry.lifts)
        entry = next(lifted, entry)
    if not isinstance(entry, Quarantined):
        return True
    said = (one.entry.assertion for one in story if isinstance(one.entry, Asserted))
    return any(
        entry.source in {"", one.source} and entry.writer in {"", one.writer} for one in said
    )


def _joined(
    line: Line, stored: Stored, projector: Projector, before: Settings, after: Settings
) -> None:
    """Let the facts of entities that turn out to be the same go on as one."""
    entry = stored.entry
    assert isinstance(entry, Aliased)
    last = after.aliases.canonical(entity=entry.entity)
    former = {before.aliases.canonical(one) for one in after.aliases.names(entry.entity)} - {last}
    moved: dict[FactKey, None] = {}
    for entity in sorted(former):
        for key in _of_entity(line, projector.namespace, entity):
            fact = projector.fact(key, stored.position, before)
            projector.removed(fact, stored, before, "alias")
            moved[FactKey(key.namespace, last, key.attribute, key.qualifiers)] = None
            _renamed(line, key, after.aliases.key(key))
    projector.forget()
    facts = [projector.fact(key, stored.position, after) for key in moved]
    for fact in facts:
        projector.touch(fact, stored, after, "alias")
    projector.spread(facts, stored, after)


def _of_entity(line: Line, namespace: str, entity: str) -> Iterator[FactKey]:
    """Give the facts of an entity that are worked out under its name."""
    prefix = str(FactKey(namespace, entity, ""))
    found = line.execute(
        "SELECT key FROM facts_current WHERE namespace = ? AND key >= ? AND key < ? ORDER BY key",
        (namespace, prefix, f"{prefix}\U0010ffff"),
    ).fetchall()
    keys = [rows.key_in(namespace, row[0]) for row in found]
    return (key for key in keys if key.entity == entity)


def _renamed(line: Line, was: FactKey, now: FactKey) -> None:
    """Name a fact anew where it was derived from others, and where others were from it."""
    for column, kept in (("key", "?, assertion, input"), ("input", "key, assertion, ?")):
        line.execute(
            f"INSERT INTO facts_inputs SELECT namespace, {kept}, outcome FROM facts_inputs"  # noqa: S608 - fixed texts
            f" WHERE namespace = ? AND {column} = ? ON CONFLICT DO NOTHING",
            (str(now), was.namespace, str(was)),
        )
        line.execute(
            f"DELETE FROM facts_inputs WHERE namespace = ? AND {column} = ?",  # noqa: S608 - fixed texts
            (was.namespace, str(was)),
        )
