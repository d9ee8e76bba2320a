"""
Time that passes when nothing else happens, and members that disobey.

`run(coroutine)` runs a coroutine on a loop whose clock jumps to the next timer as soon as there is
nothing to do: an hour of deadlines takes no time. A loop that waits for nothing that will ever come
is `Hung`, not a test that never ends.
"""

from __future__ import annotations

import asyncio
import json
import selectors
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from pointsman import Draft

T = TypeVar("T")

REAL = 20.0  # seconds that work in a thread may take before the loop counts as hung


class Hung(RuntimeError):
    """The loop waits, and nothing is scheduled that could wake it."""


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type, unused-ignore]
    """Advances the clock instead of waiting, unless a thread is at work."""

    loop: Clock

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self.loop.threads:
            return super().select(REAL if timeout is None else 0.001)
        if timeout is None:  # at the end of a run the pool's threads are joined by another
            ready = super().select(0.05 if self.loop.executor is None else REAL)
            if not ready:
                raise Hung("nothing is scheduled any more")
            return ready
        self.loop.now += timeout
        return ready


class Clock(asyncio.SelectorEventLoop):
    """A loop with a clock of its own: `now`, in seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.threads = 0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now

    @property
    def executor(self) -> object:
        """Its pool of threads, once it has one."""
        return getattr(self, "_default_executor", None)

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> Any:
        """Let no virtual time pass while a thread works."""
        self.threads += 1
        future = super().run_in_executor(executor, func, *args)

        def done(_: object) -> None:
            self.threads -= 1

        future.add_done_callback(done)
        return future


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run *work* in virtual time, and give its result."""
    with asyncio.Runner(loop_factory=Clock) as runner:
        return runner.run(work)


def timed(work: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """As `run`; also the virtual seconds that it took."""

    async def measured() -> tuple[T, float]:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        result = await work
        return result, loop.time() - begun

    return run(measured())


Says = Callable[[Draft], Any]
"""What a member that obeys says: a value for a typed ask, a mapping for anything else."""

Member = Callable[[Draft], Any]
"""A function for `members(…)`: a coroutine function, or an asynchronous generator function."""


def told(said: object, draft: Draft) -> Any:
    """Give what *said* says: itself, or what it makes of the draft."""
    return said(draft) if callable(said) else said


def obedient(said: object, seconds: float = 0.0) -> Member:
    """Say *said* after *seconds*; it may be a function of the draft, and does as it is told."""

    async def speaks(draft: Draft) -> Any:
        await asyncio.sleep(seconds)
        return told(said, draft)

    return speaks


def scripted(*lines: object, seconds: float = 0.0) -> Member:
    """Say one line after the other, the last one for ever; an exception is raised."""
    left = list(lines)

    async def speaks(draft: Draft) -> Any:
        await asyncio.sleep(seconds)
        line = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(line, BaseException):
            raise line
        return told(line, draft)

    return speaks


# --- members that disobey (BR-24): each takes what it would say if it obeyed ----------------


def wrong_type(said: object) -> Member:
    """Say everything as something else: a number as a text, a text as a number."""

    async def speaks(draft: Draft) -> Any:
        value = told(said, draft)
        if isinstance(value, Mapping):
            return {name: _otherwise(one) for name, one in value.items()}
        return _otherwise(value)

    return speaks


def _otherwise(value: object) -> object:
    if isinstance(value, str):
        return 7
    return "seven"


def out_of_range(said: object) -> Member:
    """Say numbers that are far too large, and options that nobody offered."""

    async def speaks(draft: Draft) -> Any:
        value = told(said, draft)
        if isinstance(value, Mapping):
            return {name: _beyond(one) for name, one in value.items()}
        return _beyond(value)

    return speaks


def _beyond(value: object) -> object:
    if isinstance(value, bool):
        return 1e9
    if isinstance(value, int | float):
        return type(value)(10**9)
    return "an option that nobody offered" if isinstance(value, str) else value


def not_a_number(said: object) -> Member:
    """Say NaN for every number."""

    async def speaks(draft: Draft) -> Any:
        value = told(said, draft)
        if isinstance(value, Mapping):
            return {name: _nan(one) for name, one in value.items()}
        return _nan(value)

    return speaks


def _nan(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float("nan") if is_number else value


def late(said: object, seconds: float = 10_000.0) -> Member:
    """Take far too long, and end when told to."""
    return obedient(said, seconds)


def hung() -> Member:
    """Wait for what never comes, and end when told to."""

    async def speaks(_: Draft) -> Any:
        await asyncio.Event().wait()

    return speaks


def swallowing(said: object) -> Member:
    """Swallow the cancellation and answer then: an answer that is late."""

    async def speaks(draft: Draft) -> Any:
        try:
            await asyncio.sleep(10_000.0)
        except asyncio.CancelledError:
            return told(said, draft)
        return told(said, draft)

    return speaks


def unstoppable(said: object, seconds: float = 500.0) -> Member:
    """Swallow every cancellation for *seconds* of time, and answer long after that."""

    async def speaks(draft: Draft) -> Any:
        loop = asyncio.get_running_loop()
        ends = loop.time() + seconds
        while loop.time() < ends:
            try:
                await asyncio.sleep(ends - loop.time())
            except asyncio.CancelledError:
                continue
        return told(said, draft)

    return speaks


def partial(*parts: object, seconds: float = 1.0) -> Member:
    """Give *parts*, one each *seconds*, and never come to an end."""

    async def speaks(draft: Draft) -> AsyncIterator[Any]:
        for part in parts:
            await asyncio.sleep(seconds)
            yield told(part, draft)
        await asyncio.Event().wait()

    return speaks


def streaming(*parts: object, seconds: float = 1.0) -> Member:
    """Give *parts*, one each *seconds*; the last one is the answer."""

    async def speaks(draft: Draft) -> AsyncIterator[Any]:
        for part in parts:
            await asyncio.sleep(seconds)
            yield told(part, draft)

    return speaks


def truncated(said: object) -> Member:
    """Write JSON that breaks off in the middle; a typed answer is left out."""

    async def speaks(draft: Draft) -> Any:
        value = told(said, draft)
        if not isinstance(value, Mapping):
            return {}
        text = json.dumps(dict(value))
        return text[: len(text) // 2]

    return speaks


def duplicate(said: object) -> Member:
    """Write every key twice; a typed answer is given to a question that nobody asked, too."""

    async def speaks(draft: Draft) -> Any:
        value = told(said, draft)
        if not isinstance(value, Mapping):
            return {**dict.fromkeys(draft.questions or {}, value), "another": value}
        text = json.dumps(dict(value))
        return f"{text[:-1]}, {text[1:]}"

    return speaks


def raising(error: BaseException | None = None) -> Member:
    """Raise what no provider may raise."""

    async def speaks(_: Draft) -> Any:
        raise error or KeyError("planted-secret")

    return speaks


def silent() -> Member:
    """Say nothing: abstain."""

    async def speaks(_: Draft) -> Any:
        return None

    return speaks


def oscillating(*said: object) -> Member:
    """Change sides at every turn, round and round."""
    turn = -1

    async def speaks(draft: Draft) -> Any:
        nonlocal turn
        turn += 1
        return told(said[turn % len(said)], draft)

    return speaks


def stubborn(said: object) -> Member:
    """Say the same for ever, whatever the others say."""
    return obedient(said)


def sycophant(said: object, agrees: Callable[[Draft], Any]) -> Member:
    """
    Say *said* at first, and then what the others seem to want.

    *agrees* reads that from the draft: None where there is nothing to agree with.
    """

    async def speaks(draft: Draft) -> Any:
        liked = agrees(draft)
        return told(said, draft) if liked is None else liked

    return speaks


def colluding(said: object, many: int) -> Sequence[Member]:
    """Make *many* members that say the very same, always."""
    return [obedient(said) for _ in range(many)]


DISOBEDIENT: Mapping[str, Callable[[object], Member]] = {
    "wrong_type": wrong_type,
    "out_of_range": out_of_range,
    "not_a_number": not_a_number,
    "late": late,
    "hung": lambda _: hung(),
    "swallowing": swallowing,
    "unstoppable": unstoppable,
    "partial": lambda _: partial('{"'),
    "truncated": truncated,
    "duplicate": duplicate,
    "raising": lambda _: raising(),
    "silent": lambda _: silent(),
}
"""Those who give nothing that may be used, by name; each is made from what it would say."""


async def after(seconds: float, then: Callable[[], Awaitable[object] | object]) -> None:
    """Do something after *seconds* of virtual time: cancel a task, for example."""
    await asyncio.sleep(seconds)
    found = then()
    if isinstance(found, Awaitable):
        await found
