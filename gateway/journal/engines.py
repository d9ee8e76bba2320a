"""What SQLAlchemy is told of a database, and each connection to it."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import URL, Connection, Engine, create_engine, event

from .addresses import Address

Purpose: TypeAlias = Literal["read", "find", "write", "stand", "remove"]
READS: Final = ("read", "find")  # one that is found at once, or the database is down
UNBOUNDED = -1  # of SQLAlchemy's pool: who waits there does not see what comes back elsewhere


def of_server(address: Address, *, patience: float, slow: int) -> Engine:
    """
    Make the engine of a server's database; nothing is opened.

    Args:
        address: Where it is.
        patience: Seconds for it to take a connection.
        slow: Seconds without an answer after which a connection is lost.

    """
    wanted: dict[str, Any] = {
        "connect_timeout": int(patience),
        "tcp_user_timeout": 1000 * slow,  # milliseconds
        "application_name": "pointsman",
    }
    given = {name: value for name, value in wanted.items() if name not in address.query}
    # the driver tells lost connections besides raising them; a host that wants that sets a handler
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
    return create_engine(
        _url(address),
        connect_args=given,
        hide_parameters=True,
        pool_pre_ping=True,
        max_overflow=UNBOUNDED,
    )


def of_sqlite(address: Address, *, patience: float) -> Engine:
    """
    Make the engine of a SQLite file; nothing is opened.

    Args:
        address: Where it is.
        patience: Seconds for another's lock.

    """
    given = {"timeout": patience}
    engine = create_engine(
        _url(address), connect_args=given, hide_parameters=True, max_overflow=UNBOUNDED
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _url(address: Address) -> URL:
    return URL.create(
        address.driver,
        address.username,
        address.password,
        address.host,
        address.port,
        address.database,
        {name: one[0] if len(one) == 1 else one for name, one in address.query.items()},
    )


def _prepare(connection: Any, _: object) -> None:  # noqa: ANN401 - the driver's own
    connection.isolation_level = None  # we begin transactions ourselves
    cursor = connection.cursor()
    with suppress(connection.OperationalError):  # another process is switching it just now
        cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA secure_delete=ON")  # what is removed is overwritten
    cursor.close()


def _begin(connection: Connection) -> None:
    purpose = connection.get_execution_options().get("pointsman")
    if purpose == "stand":  # a power cut must not take what the host has acted upon
        connection.exec_driver_sql("PRAGMA synchronous=FULL")
    if purpose is not None:
        connection.exec_driver_sql("BEGIN" if purpose in READS else "BEGIN IMMEDIATE")
