"""
BERT's uncased word pieces in plain Python.

Same ids as Hugging Face's `BertWordPieceTokenizer(lowercase=True)`, with two deliberate limits:

* Text is only ever text. The reference turns a literal `[MASK]` in a message into the special
  id 103 unless told otherwise; here it is a bracket, a word and a bracket, so that nobody can
  type a control symbol into the model. (`encode_special_tokens = True` makes the reference do
  the same.)
* The reference carries its own, older Unicode tables. Of 1.1 million code points some 600 rare
  ones, mostly marks and signs added since Unicode 8, are classed differently by Python; a word
  that holds one is `[UNK]` there, and here its other letters may still be read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

UNKNOWN = "[UNK]"
LONGEST_WORD = 100  # characters; the reference gives up on longer ones
CACHED_WORDS = 50_000  # some 10 MB at most
CACHED_CHARACTERS = 20_000  # more distinct ones than any natural text holds

_CJK = (  # read as one word each; the reference's own ranges, 2B920 for 2B820 included
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
_REMOVED = {"Cc", "Cf", "Co", "Cs"}  # control, format, private use, half a surrogate pair


class WordPiece:
    """
    Split text into the numbers of its word pieces.

    Args:
        vocabulary: The pieces; a piece's position is its id. Must hold `[UNK]`.

    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: position for position, piece in enumerate(vocabulary)}
        self._unknown = [self._ids[UNKNOWN]]
        self._longest = max(map(len, vocabulary))
        self._characters = _Characters()
        self._words: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """Return the ids of *text*, without `[CLS]` and `[SEP]`; empty if it says nothing."""
        found: list[int] = []
        for word in text.translate(self._characters).split():
            found += self._words.get(word) or self._new(word)
        return found

    def _new(self, word: str) -> list[int]:
        pieces = self._pieces(word)
        if len(self._words) < CACHED_WORDS:
            self._words[word] = pieces
        return pieces

    def _pieces(self, word: str) -> list[int]:
        """Take the longest known piece, again and again; one gap spoils the whole word."""
        if len(word) > LONGEST_WORD:
            return self._unknown
        pieces: list[int] = []
        start = 0
        while start < len(word):
            end = self._end_of_piece(word, start)
            if end is None:
                return self._unknown
            pieces.append(self._ids[_piece(word, start, end)])
            start = end
        return pieces

    def _end_of_piece(self, word: str, start: int) -> int | None:
        longest = min(len(word), start + self._longest)
        ends = range(longest, start, -1)
        return next((end for end in ends if _piece(word, start, end) in self._ids), None)


class _Characters(dict[int, str]):
    """What becomes of a character, for `str.translate`; filled as characters turn up."""

    def __missing__(self, code: int) -> str:
        plain = _plain(chr(code))
        if len(self) < CACHED_CHARACTERS:
            self[code] = plain
        return plain


def _plain(character: str) -> str:
    """Clean, lower-case and strip one character; blanks round it mean a word of its own."""
    if character in "\t\n\r":
        return " "
    if unicodedata.category(character) in _REMOVED or character == "\ufffd":
        return ""
    if character.isspace():
        return " "
    bases = (c for c in unicodedata.normalize("NFD", character) if unicodedata.category(c) != "Mn")
    plain = "".join(_spaced(small) for base in bases for small in base.lower())
    return f" {plain} " if _is_cjk(ord(character)) else plain


def _spaced(character: str) -> str:
    """Punctuation, and every sign of ASCII, is a word of its own."""
    sign = character.isascii() and not character.isalnum()
    return f" {character} " if sign or unicodedata.category(character)[0] == "P" else character


def _is_cjk(code: int) -> bool:
    return any(first <= code <= last for first, last in _CJK)


def _piece(word: str, start: int, end: int) -> str:
    return word[start:end] if start == 0 else f"##{word[start:end]}"
