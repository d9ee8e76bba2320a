"""Whether what is worked out is what the log says: worked out again beside it, and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from ....gateway.journal.lines import Line
from . import rows, schema
from .ledger import Ledger
from .settings import Known
from .writing import Writing

PAGE = 1000
MOST = 100  # differences that are listed

ORDERS = {
    "facts_current": "key",
    "facts_events": "position, n",
    "facts_disputes": "id",
    "facts_inputs": "key, assertion, input",
}
"""Table → what tells its rows apart within a namespace."""


class Difference(msgspec.Struct, frozen=True):
    """
    A row that is not what the log says.

    Attributes:
        table: Where.
        row: What tells it apart, as in the table.
        fault: `missing`, `extra` or `other`.

    """

    table: str
    row: str
    fault: str

    def __str__(self) -> str:
        return f"{self.table}: {self.row} is {self.fault}"


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a comparison found.

    Attributes:
        entries: How many the log has.
        facts: How many facts are worked out.
        count: How many rows are not what the log says.
        differences: The first of them.
        repaired: Whether everything was worked out anew.

    """

    entries: int
    facts: int
    count: int
    differences: tuple[Difference, ...]
    repaired: bool = False

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
    Work out everything again, in tables that are gone afterwards, and compare.

    Args:
        ledger: Whose namespace.
        repair: Where something differs, work it out anew for good.
        progress: Told how many entries were done.

    Raises:
        StoreDown: The database cannot be reached.

    """
    ledger.catch_up()
    # apart: a server's prepared statements go on meaning the tables that they were made for
    with ledger.database.line("read", apart=True) as line:
        found = _compared(line, ledger.namespace, progress)
    if found.same or not repair:
        return found
    ledger.anew()
    return msgspec.structs.replace(found, repaired=True)


def _compared(line: Line, namespace: str, progress: Callable[[int], None] | None) -> Verified:
    head = rows.head(line, namespace)
    side = _Side("pg_temp" if line.is_server else "temp", _schema(line))
    try:
        _beside(line, side, namespace, head)
        _worked_out(line, namespace, progress)
        count, first = 0, list[Difference]()
        for table in schema.PROJECTED:
            for one in _differences(line, side, namespace, table.name):
                count += 1
                if len(first) < MOST:
                    first.append(one)
        facts = line.execute(
            f"SELECT COUNT(*) FROM {side.kept}.facts_current WHERE namespace = ?",  # noqa: S608 - fixed texts
            (namespace,),
        ).fetchone()[0]
    finally:
        _dropped(line, side)
    return Verified(entries=head.position, facts=facts, count=count, differences=tuple(first))


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
