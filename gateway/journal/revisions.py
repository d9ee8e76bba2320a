"""Which revision a database is at, and how it gets to the newest."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from ..errors import SetupError
from .addresses import WHERE
from .schema import HEAD, VERSIONS, metadata

SCRIPTS = Path(__file__).parent / "migrations"


def is_newest(connection: Connection) -> bool:
    """Whether the tables are as this version of the package wants them."""
    return revision(connection) == HEAD


def revision(connection: Connection) -> str | None:
    """Name the revision; None where there are no tables yet."""
    if not inspect(connection).has_table(VERSIONS):
        return None
    found = connection.scalar(text(f"SELECT version_num FROM {VERSIONS}"))  # noqa: S608
    return None if found is None else str(found)


def upgrade(connection: Connection, to: str = HEAD) -> None:
    """
    Make the tables, or change those of an earlier version; one that is later stays as it is.

    Args:
        connection: In a transaction that holds the lock, since two processes may start at once.
        to: The revision wanted.

    Raises:
        SetupError: A later version of the package made the tables, or another program did.

    """
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    at = revision(connection)
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    known = {one.revision for one in ScriptDirectory.from_config(config).walk_revisions()}
    if at is not None and at not in known:
        problem = f"a later version of pointsman made it (revision {at}, here {HEAD})"
        raise SetupError.of(WHERE, problem, "pip install --upgrade pointsman, or name another")
    only_ours(connection, at)
    config.attributes.update(connection=connection, version_table=VERSIONS)
    command.upgrade(config, to)


def only_ours(connection: Connection, at: str | None) -> None:
    """
    Make sure that no other program has tables of these names.

    Raises:
        SetupError: There are such, and none of ours.

    """
    strange = set(metadata.tables) & set(inspect(connection).get_table_names())
    if at is None and strange:
        problem = f"it has tables of another program: {', '.join(sorted(strange))}"
        fix = "Give the journal a database of its own, or a schema (options=-csearch_path=…)"
        raise SetupError.of(WHERE, problem, fix)
