"""
A chat server on a real socket that fills the schema it is sent, and does something else when told.

Each `Room` is a path of its own on one server, so that many of them can be used at once. A model
called `seat-2` answers as the third of those who choose; words differ from seat to seat and from
task to task. What was answered is added up: it is what such a server would bill.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from faulty import PATIENCE, Server, Visit, failed, head, replies

PRICE = {"CHAT_PRICE_INPUT": "2", "CHAT_PRICE_OUTPUT": "8"}  # US dollars for a million tokens
PROMPT, WRITTEN = 100, 40  # tokens of every answer
COST = (PROMPT * 2 + WRITTEN * 8) / 1_000_000  # US dollars of one
JITTER = 0.01  # seconds

Fault = str
"""One of `FAULTS`, `hung`, or nothing for a good answer."""
Picks = Callable[[str, int], Fault]
"""Says by the task and the seat what is done with a request."""

FAULTS = ("500", "dropped", "garbage", "nan", "undeclared", "truncated", "other model")
_rooms = itertools.count()


class Room:
    """
    One chat server, as far as those know who are sent there.

    Attributes:
        asked: Requests by task and seat.
        billed: Answers that were sent whole, whatever was in them.
        hung: Requests that are held for ever.
        left: Those of them whose client has hung up.
        bodies: What was asked, in order.

    """

    def __init__(self, server: Server, picks: Picks | None = None, *, same: bool = False) -> None:
        self.name = f"room{next(_rooms)}"
        self.url = f"{server.url}/{self.name}"
        self._picks, self._same, self._server = picks or (lambda *_: ""), same, server
        self.asked: Counter[tuple[str, int]] = Counter()
        self.billed = self.hung = self.left = 0
        self.bodies: list[bytes] = []
        self._random = random.Random(7)

    @property
    def requests(self) -> int:
        """How many arrived."""
        return sum(self.asked.values())

    async def serve(self, visit: Visit) -> bool:
        """Answer one request."""
        asked = json.loads(visit.seen.body)
        form = asked["response_format"]["json_schema"]
        seat = int(asked["model"].split("-")[1])
        self.bodies.append(visit.seen.body)
        self.asked[form["name"], seat] += 1
        fault = self._picks(form["name"], seat)
        if fault == "hung":
            return await self._hold(visit)
        await asyncio.sleep(self._random.uniform(0, JITTER))
        if fault == "500":
            return await replies(failed("server_error"), 500)(visit)
        if fault == "dropped":
            return False
        await self._answer(visit, asked, form, seat, fault)
        return True

    async def _hold(self, visit: Visit) -> bool:
        self.hung += 1
        await visit.gone()
        self.left += 1
        return False

    async def _answer(
        self, visit: Visit, asked: Mapping[str, Any], form: Mapping[str, Any], seat: int, fault: str
    ) -> None:
        seat_said = 0 if self._same else seat
        said = filled(form["schema"], seat_said, "" if self._same else form["name"])
        body = completion(asked["model"], said, fault)
        self.billed += 1
        await visit.send(head(200, len(body)) + body)


def completion(model: str, said: Any, fault: str) -> bytes:
    """Write a whole answer, with what is wrong in it."""
    text = json.dumps(_spoilt(said, fault))
    if fault == "garbage":
        text = "I would rather not."
    ends = "length" if fault == "truncated" else "stop"
    choice = {"index": 0, "message": {"content": text}, "finish_reason": ends}
    usage = {"prompt_tokens": PROMPT, "completion_tokens": WRITTEN}
    served = "another-model" if fault == "other model" else model
    return json.dumps({"model": served, "choices": [choice], "usage": usage}).encode()


def _spoilt(said: Any, fault: str) -> Any:
    """Put a NaN in the place of each number, or a word of its own in that of each choice."""
    if not isinstance(said, dict) or fault not in ("nan", "undeclared"):
        return said
    spoil = {"nan": (int, float), "undeclared": (str,)}[fault]
    put: Any = float("nan") if fault == "nan" else "nobody-declared-this"
    chosen = ("recommendation", "q1", "resolution", "q1_sure", "confidence", "evidence")
    return {
        name: put
        if isinstance(one, spoil) and not isinstance(one, bool) and (name in chosen)
        else one
        for name, one in said.items()
    }


def filled(schema: Mapping[str, Any], seat: int, task: str) -> Any:
    """Fill *schema* as the one at *seat* would."""
    if "enum" in schema:
        return schema["enum"][seat % len(schema["enum"])]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], seat, task)
    kind = schema.get("type")
    if kind == "object":
        return {name: _field(name, one, seat, task) for name, one in schema["properties"].items()}
    plain: dict[Any, Any] = {"boolean": False, "integer": 15, "number": 82.0, "array": []}
    return plain.get(kind, f"as seat {seat} sees it {task}".strip())


def _field(name: str, schema: Mapping[str, Any], seat: int, task: str) -> Any:
    if name.endswith("_sure"):
        return 0.9
    if name in ("premises", "risks") and schema.get("type") == "array":
        return [f"{name} of {seat} {task}"]
    return filled(schema, seat, task)


class Rooms:
    """All rooms of a server, told apart by their paths."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._rooms: dict[str, Room] = {}
        server.does(self._serve)

    def open(self, picks: Picks | None = None, *, same: bool = False) -> Room:
        """Open one more."""
        room = Room(self.server, picks, same=same)
        self._rooms[room.name] = room
        return room

    async def _serve(self, visit: Visit) -> bool:
        return await self._rooms[visit.seen.path.split("/")[2]].serve(visit)


def fails(task: str, fault: Fault, *seats: int) -> Picks:
    """Let *seats*, or all, fail at one task."""
    return lambda asked, seat: fault if asked == task and (not seats or seat in seats) else ""


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds at the server; a bound, never a measure."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - it is the server's thread that changes it
            await asyncio.sleep(0.002)


def seats(room: Room, *names: str) -> Iterator[tuple[str, str]]:
    """Give the variables of a chat model for each name, at the seats in order."""
    yield "CHAT_BASE_URL", room.url
    yield "CHAT_CONFIDENCE", "self_reported"
    yield "CHAT_MAX_ATTEMPTS", "1"
    yield "CHAT_API_KEY", "zq7-key"
    for at, name in enumerate(names):
        yield f"CHAT__{name.upper()}__MODEL", f"seat-{at}"
