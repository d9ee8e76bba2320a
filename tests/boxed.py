"""Questions that wait for a person: who asks one, and what is in the inbox afterwards."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from typing import Any

import sqlalchemy

from pointsman import Ask, Choice, Decision, Gateway, NoAnswer, Predicate, Reason, scripted
from pointsman.gateway.inbox.entries import Item
from pointsman.gateway.journal.store import Store

KEY = "0123456789abcdef0123456789abcdef"
STATE = "zq7-state: my invoice doubled"
TEAM = Ask(STATE, {"team": Choice("Which team?", {"billing": "Amounts", "tech": "Faults"})})
MAY = Ask(STATE, {"may": Predicate("May it run without a person?")})
WHY = {"reasons": ["conf<50", "value"], "transcript": "run-7.jsonl"}
PATIENCE = 30.0  # seconds; a bound of what must come, never a measure


def escalating(why: Any = WHY) -> Any:
    """A provider that says that a person should decide."""
    return scripted(NoAnswer(Reason.ABSTAINED, escalates=why))


def team(gateway: Gateway, colour: str = "sync", /, **how: Any) -> Decision[Any]:
    """Ask which team; today's own path says `tech`."""
    how = {"current": lambda: "tech", **how}
    if colour == "sync":
        return gateway.ask_sync("TEAM", TEAM, **how)
    return asyncio.run(gateway.ask("TEAM", TEAM, **how))


def may(gateway: Gateway, colour: str = "sync", /, **how: Any) -> Decision[Any]:
    """Ask whether it may run; where nobody decides, a person must."""
    how = {"on_undecided": "human", **how}
    if colour == "sync":
        return gateway.ask_sync("APPROVAL", MAY, **how)
    return asyncio.run(gateway.ask("APPROVAL", MAY, **how))


def ready(url: str) -> str:
    """Have the tables there: making them is not what a test waits for."""
    with closing(Store.open(url)) as store:
        store.points()
    return url


def items(url: str, **wanted: Any) -> list[Item]:
    """What is in the inbox."""
    with closing(Store.open(url)) as store:
        return list(store.inbox().items(**wanted))


def rows(url: str, table: str = "inbox") -> list[dict[str, Any]]:
    """What a person with a SQL client sees."""
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        found = connection.execute(sqlalchemy.text(f"SELECT * FROM {table} ORDER BY at"))  # noqa: S608 - ours
        made = [{**one} for one in found.mappings()]
    engine.dispose()
    return made


def awaited(url: str, count: int = 1) -> list[Item]:
    """Wait until so many questions are open, and give them."""
    waited = threading.Event()
    for _ in range(int(PATIENCE / 0.02)):
        found = items(url, open_only=True)
        if len(found) >= count:
            return found
        waited.wait(0.02)
    raise AssertionError(f"{count} questions never came to wait")


@contextmanager
def person(url: str, says: Callable[[Item], object], count: int = 1) -> Generator[None]:
    """Somebody who does *says* for each question that comes to wait, on a thread of their own."""
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for item in awaited(url, count):
                says(item)
        except BaseException as error:  # noqa: BLE001 - raised by the test
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join(PATIENCE)
    if failed:
        raise failed[0]
