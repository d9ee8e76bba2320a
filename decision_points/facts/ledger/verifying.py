"""Whether what is worked out is what the log says, and the log itself is whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from ....gateway.journal.lines import Line
from . import rows, schema
from .ledger import Ledger
from .proving import MOST, Difference, Found, Proof
from .settings import Known
from .writing import Writing

PAGE = 1000

ORDERS = {
    "facts_current": "key",
    "facts_events": "position, n",
    "facts_disputes": "id",
    "facts_inputs": "key, assertion, input",
}
"""Table → what tells its rows apart within a namespace."""


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a comparison found.

    Attributes:
        entries: How many the log has.
        facts: How many facts are worked out.
        count: How many rows are not what the log says, and of the log not what they were.
        differences: The first of them. Where the log or its head differs, only these: what is
            worked out is then not compared.
        repaired: Whether everything was worked out anew.
        broken: How many of `count` are of the log itself. It cannot be repaired, and nothing is
            worked out from it anew: restore an export, or a copy of the database.

    """

    entries: int
    facts: int
    count: int
    differences: tuple[Difference, ...]
    repaired: bool = False
    broken: int = 0

    @property
    def same(self) -> bool:
        """Whether every row is, byte for byte."""
        return not self.count


class _Side(NamedTuple):
    beside: str
    kept: str


def verify(
    ledger: Ledger, *, repair: bool = False, progress: Callable[[int], None] | None = None
) -> Verified:
    """
    Look whether the log is whole; work out everything again beside it, and compare.

    Args:
        ledger: Whose namespace.
        repair: Where what is worked out differs, work it out anew for good. The log itself
            cannot be repaired: where it differs nothing is written.
        progress: Told how many entries were done.

    Raises:
        StoreDown: The database cannot be reached.

    """
    with ledger.database.line("read") as line:
        found = _proved(Proof(line, ledger.namespace).walk(), line)
    if found.same:
        ledger.catch_up()
        # apart: a server's prepared statements go on meaning the tables that they were made for
        with ledger.database.line("read", apart=True) as line:
            found = _compared(line, ledger.namespace, progress)
    if found.same or found.broken or not repair:
        return found
    if not _head_again(ledger):  # somebody altered the log meanwhile
        return verify(ledger)
    ledger.anew()
    return msgspec.structs.replace(found, repaired=True)


def _proved(proof: Proof, line: Line) -> Verified:
    facts = line.execute(
        "SELECT COUNT(*) FROM facts_current WHERE namespace = ?", (proof.namespace,)
    ).fetchone()[0]
    return Verified(
        entries=proof.told.position,
        facts=facts,
        count=proof.log.count + proof.head.count,
        differences=(*proof.log.first, *proof.head.first)[:MOST],
        broken=proof.log.count,
    )


def _head_again(ledger: Ledger) -> bool:
    """Write the head as the log tells it; say whether the log is whole."""
    with ledger.database.line("write") as line:
        rows.head(line, ledger.namespace, lock=True)
        proof = Proof(line, ledger.namespace).walk()
        if proof.log.count:
            return False
        if proof.head.count:
            rows.keep_head(line, ledger.namespace, proof.told._replace(projected=0, resume=""))
    return True


def _compared(line: Line, namespace: str, progress: Callable[[int], None] | None) -> Verified:
    head = rows.head(line, namespace)
    side = _Side("pg_temp" if line.is_server else "temp", _schema(line))
    try:
        _beside(line, side, namespace, head)
        _worked_out(line, namespace, progress)
        found = Found()
        for table in schema.PROJECTED:
            for one in _differences(line, side, namespace, table.name):
                found.note(one.table, one.row, one.fault)
        facts = line.execute(
            f"SELECT COUNT(*) FROM {side.kept}.facts_current WHERE namespace = ?",  # noqa: S608 - fixed texts
            (namespace,),
        ).fetchone()[0]
    finally:
        _dropped(line, side)
    return Verified(
        entries=head.position, facts=facts, count=found.count, differences=tuple(found.first)
    )


def _schema(line: Line) -> str:
    if not line.is_server:
        return "main"
    name = line.execute("SELECT current_schema()").fetchone()[0]
    return '"' + str(name).replace('"', '""') + '"'


def _beside(line: Line, side: _Side, namespace: str, head: rows.Head) -> None:
    """Make empty tables of the same names, which come before the others where none is named."""
    for name in (*ORDERS, "facts_heads"):
        if line.is_server:
            line.execute(
                f"CREATE TEMP TABLE {name} (LIKE {side.kept}.{name} INCLUDING ALL) ON COMMIT DROP"
            )
        else:
            _copied(line, name)
    line.execute(
        "INSERT INTO facts_heads VALUES (?, ?, 0, ?, ?, '')",
        (namespace, head.position, head.recorded_at, head.wide),
    )


def _copied(line: Line, name: str) -> None:
    found = line.execute(
        "SELECT type, name, sql FROM main.sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL"
        " ORDER BY type DESC",
        (name,),
    ).fetchall()
    for kind, of, told in found:
        _, _, rest = told.partition(of if f'"{of}"' not in told else f'"{of}"')
        if kind == "table":
            line.execute(f"CREATE TEMP TABLE {name}{rest}")
        else:
            line.execute(f"CREATE INDEX temp.{of}{rest}")


def _dropped(line: Line, side: _Side) -> None:
    if line.is_server:  # they go with the transaction
        return
    for name in (*ORDERS, "facts_heads"):
        line.execute(f"DROP TABLE IF EXISTS {side.beside}.{name}")


def _worked_out(line: Line, namespace: str, progress: Callable[[int], None] | None) -> None:
    writing = Writing(line, namespace, Known(namespace), _no_clock)
    while writing.head.behind:
        writing.help()
        if progress is not None:
            progress(writing.head.projected)
    writing.finish()


def _no_clock() -> int:
    raise AssertionError("what is worked out asks for no time")


def _differences(line: Line, side: _Side, namespace: str, table: str) -> Iterator[Difference]:
    """Walk both tables side by side, in the same order."""
    ours, theirs = (_rows(line, f"{where}.{table}", namespace, ORDERS[table]) for where in side)
    one, other = next(ours, None), next(theirs, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[0] < other[0]):
            assert one is not None
            yield Difference(table, _named(one[0]), "missing")
            one = next(ours, None)
        elif one is None or other[0] < one[0]:
            yield Difference(table, _named(other[0]), "extra")
            other = next(theirs, None)
        else:
            if one[1] != other[1]:
                yield Difference(table, _named(one[0]), "other")
            one, other = next(ours, None), next(theirs, None)


def _rows(
    line: Line, table: str, namespace: str, order: str
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Give what tells each row apart, and all of it."""
    size = order.count(",") + 1
    beyond: tuple[Any, ...] = ()
    while True:
        more = f" AND ({order}) > ({rows.marks(size)})" if beyond else ""
        found = line.execute(
            f"SELECT {order}, facts.* FROM {table} AS facts WHERE namespace = ?{more}"  # noqa: S608 - fixed texts
            f" ORDER BY {order} LIMIT {PAGE}",
            (namespace, *beyond),
        ).fetchall()
        for row in found:
            yield tuple(row[:size]), tuple(row[size:])
        if len(found) < PAGE:
            return
        beyond = tuple(found[-1][:size])


def _named(told: tuple[Any, ...]) -> str:
    return " ".join(map(str, told))
