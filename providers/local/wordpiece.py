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
CACHED_WORDS = 20_000  # 4 MB of natural words, 20 MB of the worst; then it starts anew, since
CACHED_CHARACTERS = 20_000  # made-up ones must not keep the natural ones out for good

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
        ids = {piece: position for position, piece in enumerate(vocabulary)}
        self._unknown = [ids[UNKNOWN]]
        self._first = _Pieces(ids)
        self._later = _Pieces({piece[2:]: at for piece, at in ids.items() if piece[:2] == "##"})
        self._characters = _Characters()
        self._words: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """Return the ids of *text*, without `[CLS]` and `[SEP]`; empty if it says nothing."""
        found: list[int] = []
        for word in text.translate(self._characters).split():
            found += self._words.get(word) or self._new(word)
        return found

    def _new(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return self._unknown  # never remembered: a few of 1 MB would stay for good
        if len(self._words) >= CACHED_WORDS:
            self._words.clear()
        self._words[word] = pieces = self._pieces(word)
        return pieces

    def _pieces(self, word: str) -> list[int]:
        """Take the longest known piece, again and again; one gap spoils the whole word."""
        pieces: list[int] = []
        known, rest = self._first, word
        while rest:
            piece = known.longest(rest)
            if not piece:
                return self._unknown
            pieces.append(known.ids[piece])
            known, rest = self._later, rest[len(piece) :]
        return pieces


class _Pieces:
    """The pieces that may stand in one place: at the beginning of a word, or later in it."""

    def __init__(self, ids: dict[str, int]) -> None:
        self.ids = ids
        self._lengths: dict[str, int] = {}  # three letters → of the longest piece with them
        for piece in ids:
            self._lengths[piece[:3]] = max(len(piece), self._lengths.get(piece[:3], 0))

    def longest(self, rest: str) -> str:
        """Find the longest piece that *rest* begins with; empty if there is none."""
        piece = rest[: self._lengths.get(rest[:3], 2)]  # made-up words would try 18 lengths
        while piece and piece not in self.ids:
            piece = piece[:-1]
        return piece


class _Characters(dict[int, str]):
    """What becomes of a character, for `str.translate`; filled as characters turn up."""

    def __missing__(self, code: int) -> str:
        if len(self) >= CACHED_CHARACTERS:
            self.clear()
        self[code] = plain = _plain(chr(code))
        return plain


def _plain(character: str) -> str:
    """Clean, lower-case and strip one character; blanks round it mean a word of its own."""
    if character in "\t\n\r":
        return " "
    if character == "\ufffd" or unicodedata.category(character) in _REMOVED:
        return ""
    if character.isspace():
        return " "
    bases = [c for c in unicodedata.normalize("NFD", character) if unicodedata.category(c) != "Mn"]
    plain = "".join([_spaced(small) for base in bases for small in base.lower()])
    return f" {plain} " if _is_cjk(ord(character)) else plain


def _spaced(character: str) -> str:
    """Punctuation, and every sign of ASCII, is a word of its own."""
    sign = character.isascii() and not character.isalnum()
    return f" {character} " if sign or unicodedata.category(character)[0] == "P" else character


def _is_cjk(code: int) -> bool:
    return code >= _CJK[0][0] and any(first <= code <= last for first, last in _CJK)
