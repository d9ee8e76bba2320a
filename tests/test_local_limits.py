"""Whoever writes a state bounds neither our time nor our memory: counted, not timed."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import Ask, Call, Choice, Gateway
from pointsman.providers.local import Local, bounds, encoders, wordpiece
from pointsman.providers.local.encoders import Static
from pointsman.providers.local.meaning import Reader
from pointsman.providers.local.words import Said, said

MEGABYTE = 1_000_000
LATE = "someone has stolen my card"


@pytest.fixture(scope="module")
def static() -> Static:
    return Static()


@pytest.fixture
def words() -> wordpiece.WordPiece:
    return wordpiece.WordPiece(encoders.lines(encoders.packaged("vocab.txt")))


# --- texts -----------------------------------------------------------------------------------


def test_a_mean_takes_little_memory_and_is_the_same(static: Static) -> None:
    ids = np.random.default_rng(0).integers(0, 30_000, 100_000).tolist()
    tracemalloc.start()
    found = static.mean(ids)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    counts = np.bincount(ids, minlength=len(static._rows)) * static._row_scales.astype(np.float64)
    expected = counts @ static._rows
    assert peak < 8 * MEGABYTE
    assert encoders.normalised(found) == pytest.approx(encoders.normalised(expected), abs=1e-6)
    assert (static.mean(ids) == found).all()


def test_only_the_beginning_of_a_text_is_read(
    static: Static, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    ids = static._wordpiece.ids

    def spied(text: str) -> list[int]:
        read.append(text)
        return ids(text)

    monkeypatch.setattr(static._wordpiece, "ids", spied)
    beginning = ("where is my card? " * 200)[: bounds.LONGEST]
    same = static.vectors([beginning, beginning + LATE * 40_000])
    assert (same[0] == same[1]).all()
    assert {len(text) for text in read} == {bounds.LONGEST}


def test_earlier_turns_are_read_as_long_as_the_last_one_together() -> None:
    class Fake:
        model, scale, floor, truth, blocking = "fake", 1.0, 0.0, (1.0, 0.0), False

        def vectors(self, texts: Any) -> encoders.Vectors:
            read.extend(map(len, texts))
            return np.ones((len(texts), 2), np.float32)

    read: list[int] = []
    Reader(Fake()).state(Said("x" * MEGABYTE, ("y" * MEGABYTE,) * 4))
    assert sum(read[1:]) <= bounds.LONGEST


def test_a_very_long_word_is_unknown_and_not_remembered(words: wordpiece.WordPiece) -> None:
    assert words.ids("q" * MEGABYTE) == [100]
    assert words.ids("card " + "q" * 101) == [*words.ids("card"), 100]
    assert max(map(len, words._words)) <= wordpiece.LONGEST_WORD


def test_made_up_words_and_signs_do_not_keep_others_out(
    words: wordpiece.WordPiece, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full cache that stays full would make everybody slow for good."""
    monkeypatch.setattr(wordpiece, "CACHED_WORDS", 10)
    monkeypatch.setattr(wordpiece, "CACHED_CHARACTERS", 10)
    words.ids(" ".join(f"x{number}" for number in range(100)) + "".join(map(chr, range(256, 400))))
    words.ids("é")
    assert "e" in words._words
    assert ord("é") in words._characters
    assert len(words._words) <= 10
    assert len(words._characters) <= 10


# --- states ----------------------------------------------------------------------------------

HUGE: dict[str, Any] = {
    "text": "some words " * 100_000,
    "blanks": " \n" * 500_000,
    "transcript": "User: hello you\nAgent: yes?\n" * 40_000,
    "one turn": "User: " + "some words " * 100_000,
    "JSON": json.dumps(["hi you"] * 100_000),
    "brackets": "[" * MEGABYTE,
    "messages": [{"role": "user", "content": "hello you"}] * 40_000,
    "leaves": ["hello you"] * 100_000,
    "fields": {f"field{number}": "hello you" for number in range(50_000)},
    "long leaves": [["some words " * 1_000] * 10] * 10,
    "empty": [[[[[]] * 100] * 100] * 100],
    "history": {"message": "x", "history": ["some words " * 1_000] * 1_000},
}


@pytest.mark.parametrize("state", HUGE.values(), ids=HUGE)
def test_a_huge_state_is_little_to_read(state: Any) -> None:
    small = bounds.bounded(state, lambda text: text[: bounds.LONGEST])
    assert len(json.dumps(small)) < 2 * bounds.MOST
    found = said(state)
    assert len(found.last) < 2 * bounds.MOST
    assert len(found.earlier) <= 4


def test_what_was_said_last_is_found_in_a_huge_state() -> None:
    turns = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "yes?"}]
    last = {"role": "user", "content": LATE}
    assert said([*turns * 10_000, last]).last == LATE
    assert said("User: hello\nAgent: yes?\n" * 10_000 + f"User: {LATE}").last == LATE
    catalogue = [{"id": number, "note": "some words " * 1_000} for number in range(1_000)]
    assert said({"a_catalogue": catalogue, "message": LATE}).last == LATE
    newest_first = {"message": "x", "history_newest_first": [LATE, *["old one"] * 10_000]}
    assert said(newest_first).earlier[-1] == LATE
    assert said({"message": "x", "history": [*["old one"] * 10_000, LATE]}).earlier[-1] == LATE


small_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=50),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(deadline=None)  # the garbage of the huge states may be collected meanwhile
@given(small_json)
def test_a_state_of_usual_size_is_read_whole(state: Any) -> None:
    before = json.dumps(state)
    assert bounds.bounded(state, lambda text: text) == state
    assert json.dumps(state) == before


# --- menus -----------------------------------------------------------------------------------


def test_few_menus_are_kept_and_their_texts_are_short() -> None:
    """Open options come with the state: 1,024 menus of 255 options took 290 MB."""
    with Gateway.from_env({"DECISION_LOG": "off"}) as gateway:
        local = gateway.provider("local")
        assert isinstance(local, Local)
        tracemalloc.start()
        for number in range(70):
            options = {f"a{number}": "x" * MEGABYTE, "b": "something else"}
            local.answer(Ask("hello", {"q": Choice("Which?", options)}), Call(point="P"))
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        kept = local._plain.cache_info()
    assert kept.currsize == kept.maxsize == 64
    assert held < 10 * MEGABYTE
