"""Which revision a database is at, and how it gets to the newest."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, MetaData, inspect, text

from ..errors import SetupError
from .addresses import WHERE
from .schema import HEAD, VERSIONS, metadata

SCRIPTS = Path(__file__).parent / "migrations"


class Tables(NamedTuple):
    """
    Tables that belong together, and how they came about.

    Attributes:
        head: The newest revision of *scripts*.
        versions: The table that holds the revision.
        metadata: The tables as this version of the package wants them.
        scripts: The folder of Alembic's scripts.
        where: What an operator calls the database that they are in.

    """

    head: str
    versions: str
    metadata: MetaData
    scripts: Path
    where: str = WHERE


JOURNAL = Tables(HEAD, VERSIONS, metadata, SCRIPTS)


def is_newest(connection: Connection, tables: Tables = JOURNAL) -> bool:
    """Whether the tables are as this version of the package wants them."""
    return revision(connection, tables) == tables.head


def revision(connection: Connection, tables: Tables = JOURNAL) -> str | None:
    """Name the revision; None where there are no tables yet."""
    if not inspect(connection).has_table(tables.versions):
        return None
    found = connection.scalar(text(f"SELECT version_num FROM {tables.versions}"))  # noqa: S608
    return None if found is None else str(found)


def upgrade(connection: Connection, to: str = "", tables: Tables = JOURNAL) -> None:
    """
    Make the tables, or change those of an earlier version; one that is later stays as it is.

    Args:
        connection: In a transaction that holds the lock, since two processes may start at once.
        to: The revision wanted; empty: the newest.
        tables: Which.

    Raises:
        SetupError: A later version of the package made the tables, or another program did.

    """
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    at = revision(connection, tables)
    config = Config()
    config.set_main_option("script_location", str(tables.scripts).replace("%", "%%"))
    known = {one.revision for one in ScriptDirectory.from_config(config).walk_revisions()}
    if at is not None and at not in known:
        problem = f"a later version of pointsman made it (revision {at}, here {tables.head})"
        raise SetupError.of(
            tables.where, problem, "pip install --upgrade pointsman, or name another"
        )
    only_ours(connection, at, tables)
    config.attributes.update(connection=connection, version_table=tables.versions)
    command.upgrade(config, to or tables.head)


def only_ours(connection: Connection, at: str | None, tables: Tables = JOURNAL) -> None:
    """
    Make sure that no other program has tables of these names.

    Raises:
        SetupError: There are such, and none of ours.

    """
    strange = set(tables.metadata.tables) & set(inspect(connection).get_table_names())
    if at is None and strange:
        problem = f"it has tables of another program: {', '.join(sorted(strange))}"
        fix = "Give it a database of its own, or a schema (options=-csearch_path=…)"
        raise SetupError.of(tables.where, problem, fix)
