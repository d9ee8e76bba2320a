"""Heads are fitted once; what went wrong, and what was closed, is fitted again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pointsman.providers.local.fits import Fits

LONG = 30  # seconds; only a broken promise waits for them


class Interrupt(BaseException):
    """Like `KeyboardInterrupt`, which would end pytest itself."""


@pytest.fixture
def background() -> Iterator[Fits[int]]:
    fits: Fits[int] = Fits(background=True)
    yield fits
    fits.close()


def failing(error: BaseException) -> Callable[[], int]:
    def make() -> int:
        raise error

    return make


def made(fits: Fits[int], key: str, value: int) -> int | None:
    """Have *key* made in the background, and wait for it."""
    done = threading.Event()

    def last() -> int:
        done.set()
        return 0

    fits.get(key, lambda: value)
    fits.get(f"after {key}", last)  # one at a time, in order
    assert done.wait(LONG)
    return fits.get(key, lambda: -1)


@pytest.mark.parametrize("error", [Interrupt(), MemoryError(), ValueError()], ids=repr)
def test_what_failed_is_made_again(error: BaseException) -> None:
    fits: Fits[int] = Fits(background=False)
    with pytest.raises(type(error)):
        fits.get("x", failing(error))
    assert fits.get("x", lambda: 7) == 7
    assert fits.get("x", lambda: 8) == 7


def test_those_already_waiting_learn_of_a_failure() -> None:
    """And only they: the key is free before they are told."""
    fits: Fits[int] = Fits(background=False)
    begun, fail = threading.Event(), threading.Event()

    def make() -> int:
        begun.set()
        assert fail.wait(LONG)
        raise MemoryError

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(fits.get, "x", make)
        assert begun.wait(LONG)
        waited_for = fits._made["x"]
        at_once: list[int | None] = []
        waited_for.add_done_callback(lambda _: at_once.append(fits.get("x", lambda: 7)))
        fail.set()
        assert isinstance(first.exception(LONG), MemoryError)
    assert isinstance(waited_for.exception(LONG), MemoryError)
    assert at_once == [7]


def test_a_failure_in_the_background_is_told_once(background: Fits[int]) -> None:
    begin = threading.Event()
    background.get("first", lambda: begin.wait(LONG))
    assert background.get("x", failing(MemoryError())) is None
    begin.set()
    made(background, "y", 0)
    with pytest.raises(MemoryError):
        background.get("x", lambda: 7)
    assert made(background, "x", 7) == 7


def test_after_closing_the_background_begins_anew(background: Fits[int]) -> None:
    begun, finish = threading.Event(), threading.Event()

    def slow() -> int:
        begun.set()
        assert finish.wait(LONG)
        return 1

    background.get("begun", slow)
    background.get("waiting", lambda: 2)
    assert begun.wait(LONG)
    closing = threading.Thread(target=background.close)
    closing.start()
    while background._worker is not None:  # `close` has taken it; what waits is cancelled then
        pass
    finish.set()
    closing.join(LONG)
    assert background.get("begun", lambda: -1) == 1
    assert made(background, "waiting", 3) in {2, 3}
    assert made(background, "new", 4) == 4


def test_closing_twice_or_unused_is_nothing(background: Fits[int]) -> None:
    background.close()
    background.close()
    assert made(background, "x", 7) == 7
