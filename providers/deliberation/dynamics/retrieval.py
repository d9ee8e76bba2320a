"""
The one gate through which roles look things up: a budget, a time, and scopes.

Nothing outside of the debate's own sources can be reached through it; an external search is
neither a setting nor a scope.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from ....gateway.errors import SetupError
from ..drafts import fenced
from ..scopes import Scope
from ..transcript import Transcript
from .rules import Rules

CITATION = re.compile(r"\[RAG:([A-Za-z0-9]+_[0-9]+)\]")  # DD-50
CHUNKS = 10  # of one look-up that are told
SECONDS = 1.0  # that a search which would not stop is given at the end
CHUNK = re.compile(r"[A-Za-z0-9]+_[0-9]+")

Retrieve: TypeAlias = Callable[[str, str], Awaitable[Iterable[Any]]]
"""
`async def retrieve(query, scope)` → what was found, as pairs (id, text) or mappings with both.

An id is `CG001_042`: letters and digits, `_`, digits. It may search nothing but *scope*, one of
the scopes that the rules allow.
"""

Ended: TypeAlias = Literal["ok", "timeout", "error", "refused"]


class Chunk(msgspec.Struct, frozen=True):
    """A passage that was found, cited as `[RAG:<id>]`."""

    id: str
    text: str


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """
    One retrieval, or the refusal of one.

    Attributes:
        member: Who asked.
        round: When.
        query: What was looked for.
        scope: Where.
        purpose: What for.
        ending: How it ended; only what is refused was never run.
        why: `budget`, `scope` or `off` of a refusal.
        chunks: What was found.
        seconds: How long it took.

    """

    member: str
    round: int
    query: str
    scope: str
    purpose: str = ""
    ending: Ended = "ok"
    why: str = ""
    chunks: tuple[Chunk, ...] = ()
    seconds: float = 0.0


class Retrieval:
    """
    What one debate may look up.

    Args:
        rules: Budget, time and scopes.
        retrieve: The host's own search; None: there is none, and nobody is told of one.
        transcript: Keeps every retrieval; one that it knows is not run again.

    """

    def __init__(self, rules: Rules, retrieve: Retrieve | None, transcript: Transcript) -> None:
        self._rules, self._retrieve, self._transcript = rules, retrieve, transcript
        self._asked = 0
        self._scope: Scope | None = None
        self._strays: set[asyncio.Future[tuple[Chunk, ...] | None]] = set()
        self.looked: list[Looked] = []

    @property
    def offered(self) -> bool:
        """Whether roles are told that they may look something up."""
        left = self._rules.rag_max_queries > self._asked
        return self._retrieve is not None and self._rules.rag_internal_queries and left

    @property
    def failed(self) -> bool:
        """Whether something that was looked for could not be had."""
        return any(one.ending in ("timeout", "error") for one in self.looked)

    @property
    def known(self) -> frozenset[str]:
        """Ids of all that was found, by whomever."""
        return frozenset(chunk.id for one in self.looked for chunk in one.chunks)

    async def clear(self) -> None:
        """Let go of searches that would not stop when their time was up."""
        await let_go([one for one in self._strays if not one.done()], self._within())

    async def look_up(
        self, asked: Sequence[Mapping[str, Any]], member: str, round_: int, scope: Scope
    ) -> list[Looked]:
        """Run a role's queries, one after another, inside the role's own time (AM-13)."""
        self._scope = scope
        found: list[Looked] = []
        for at, one in enumerate(asked, start=1):
            wanted = Looked(member=member, round=round_, **one)
            found.append(await self._recorded(wanted, f"retrieval/{round_}/{member}/{at}", scope))
        self.looked.extend(found)
        return found

    def _within(self) -> float:
        return SECONDS if self._scope is None else self._scope.grace(SECONDS)

    async def _recorded(self, wanted: Looked, key: str, scope: Scope) -> Looked:
        recorded = self._transcript.recorded("retrieval", key)
        if recorded is not None:
            looked = msgspec.convert(recorded, Looked)
            self._asked += looked.ending != "refused"
            return looked
        looked = await self._gated(wanted, scope)
        self._transcript.entry("retrieval", msgspec.to_builtins(looked), key)
        return looked

    async def _gated(self, wanted: Looked, scope: Scope) -> Looked:
        """Refuse it, or count it and run it: counted before, so that no two share the last one."""
        if self._retrieve is None or not self._rules.rag_internal_queries:
            return msgspec.structs.replace(wanted, ending="refused", why="off")
        if wanted.scope not in self._rules.rag_scopes:
            return msgspec.structs.replace(wanted, ending="refused", why="scope")
        if self._asked >= self._rules.rag_max_queries:
            return msgspec.structs.replace(wanted, ending="refused", why="budget")
        self._asked += 1
        return await self._run(self._retrieve, wanted, scope)

    async def _run(self, retrieve: Retrieve, wanted: Looked, scope: Scope) -> Looked:
        clock = asyncio.get_running_loop().time
        begun, ending, chunks = clock(), "ok", tuple[Chunk, ...]()
        own = scope.inner("retrieval", self._rules.rag_timeout)
        task = asyncio.ensure_future(_searched(retrieve, wanted))
        try:
            await asyncio.wait({task}, timeout=own.left)
        finally:
            overdue = not task.done()
            task.cancel()
            self._strays.add(task)
            task.add_done_callback(self._strays.discard)
        if overdue:
            ending = "timeout"
        elif task.cancelled() or (found := task.result()) is None:
            ending = "error"
        else:
            chunks = found
        taken = clock() - begun
        return msgspec.structs.replace(wanted, ending=ending, chunks=chunks, seconds=taken)


async def _searched(retrieve: Retrieve, wanted: Looked) -> tuple[Chunk, ...] | None:
    """None: it failed; the host's own search may raise anything."""
    try:
        return tuple(_chunks(await retrieve(wanted.query, wanted.scope)))[:CHUNKS]
    except (SetupError, asyncio.CancelledError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - the same
        return None


async def let_go(tasks: Sequence[asyncio.Future[Any]], seconds: float) -> None:
    """Cancel *tasks* once more, and wait for them a little."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)


def _chunks(found: Iterable[Any]) -> Iterable[Chunk]:
    """Read what a search gave; what could not be cited is left out."""
    for one in found:
        chunk = _chunk(one)
        if CHUNK.fullmatch(chunk.id):
            yield chunk


def _chunk(one: Any) -> Chunk:  # noqa: ANN401 - whatever the host's search gives
    if isinstance(one, Chunk):
        return one
    id_, text = (one["id"], one["text"]) if hasattr(one, "keys") else one
    return Chunk(str(id_), str(text))


def shown(looked: Sequence[Looked]) -> list[Mapping[str, Any]]:
    """Give what a role is told of its queries: passages in fences, and what was not to be had."""
    return [
        {
            "query": one.query,
            "ending": one.ending,
            "found": [{"cite": f"[RAG:{c.id}]", "text": fenced(c.text)} for c in one.chunks],
        }
        for one in looked
    ]


def cited(texts: Iterable[str]) -> list[str]:
    """List the chunks that *texts* cite, in order, each once (DD-50)."""
    return list(dict.fromkeys(found for text in texts for found in CITATION.findall(text)))


def unfounded(texts: Iterable[str], known: frozenset[str]) -> list[str]:
    """List what is cited although nobody retrieved it."""
    return [one for one in cited(texts) if one not in known]
