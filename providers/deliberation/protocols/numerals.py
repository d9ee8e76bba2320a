"""Numbers as people write them in texts, in English and in Portuguese."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence

import msgspec

__all__ = ["Numeral", "numerals"]

_SCALES = {
    1e3: ("k", "thousand", "mil"),
    1e6: ("m", "mn", "mi", "mio", "million", "millions", "milhão", "milhões"),
    1e9: ("bn", "bi", "billion", "billions", "bilhão", "bilhões"),
    1e12: ("tn", "trillion", "trillions", "trilhão", "trilhões"),
}
FACTORS = {word: factor for factor, words in _SCALES.items() for word in words}

UNITS = ("k", "m", "mi")  # "45 m" may be metres, "45 K" kelvins, "45 mi" miles …
ATTACHED = ("k", "K", "M")  # … but not these, written onto their number

_WORDS = "|".join(sorted(FACTORS, key=len, reverse=True))
_NUMERAL = re.compile(
    r"(?:(?<![\w.,])|(?<=\b(?:USD|EUR|GBP|BRL|CHF|JPY|CAD|AUD|MXN|INR|CNY)))"
    r"(?P<sign>[-+]?)"
    r"(?P<digits>\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d.,']*\d)|"  # groups of three, set apart
    r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+[.,]\d{1,2}(?!\d)|"  # with cents
    r"\d(?:[\d.,']*\d)?)"
    r"(?P<power>[eE][-+]?\d{1,3}(?!\w))?"
    rf"(?:(?P<blank>[ \u00a0\u202f]?)(?P<word>{_WORDS})(?!\w))?",
    re.IGNORECASE,
)
_BLANK = re.compile(r"[ \u00a0\u202f]")


class Numeral(msgspec.Struct, frozen=True, kw_only=True):
    """
    One number in a text.

    Attributes:
        text: As it is written.
        plain: What its digits can mean: 1.234 is both 1234 and 1.234.
        factors: What the word behind it may multiply them by, at least one.
        parts: What it is where its blanks set apart several numbers, not one's thousands.

    """

    text: str
    plain: tuple[float, ...]
    factors: tuple[float, ...] = (1.0,)
    parts: tuple[Numeral, ...] = ()

    @property
    def readings(self) -> tuple[float, ...]:
        """Every number that it can be as a whole."""
        scaled = (one * factor for one in self.plain for factor in self.factors)
        return tuple(one for one in scaled if math.isfinite(one))

    @property
    def all(self) -> tuple[float, ...]:
        """Every number that it or a part of it can be."""
        return (*self.readings, *(one for part in self.parts for one in part.all))

    def counts(self, most: float) -> bool:
        """Whether it is a whole number up to *most*, read without what it may be scaled by."""
        least = (one * self.factors[0] for one in self.plain)
        return all(one == int(one) and abs(one) <= most for one in least if math.isfinite(one))


def numerals(text: str) -> Iterator[Numeral]:
    """Find the numbers of *text*, from left to right."""
    for found in _NUMERAL.finditer(text):
        sign, digits, power = found["sign"], found["digits"], found["power"] or ""
        groups = _BLANK.split(digits)
        yield Numeral(
            text=" ".join(found[0].split()),
            plain=_plain(sign, "".join(groups), power),
            factors=_factors(found["word"], found["blank"]),
            parts=() if _one(groups) else tuple(_parts(found[0])),
        )


def _one(groups: Sequence[str]) -> bool:
    """Whether digits cannot be several numbers: none begins with a zero."""
    return len(groups) == 1 or any(one.startswith("0") for one in groups)


def _parts(text: str) -> Iterator[Numeral]:
    """Read what blanks set apart one by one; the word behind belongs to the last one."""
    words = _BLANK.split(text)
    last = len(words) - 1 if words[-1].lower() in FACTORS else len(words)
    heads = words[: last - 1]
    tail = " ".join(words[last - 1 :])
    yield from itertools.chain.from_iterable(numerals(one) for one in (*heads, tail))


def _plain(sign: str, digits: str, power: str) -> tuple[float, ...]:
    given = digits.replace("'", "")
    forms = {given.replace(",", ""), given.replace(".", "").replace(",", ".")}
    read = [float(f"{sign}{one}{power}") for one in sorted(forms) if one.count(".") <= 1]
    return tuple(one for one in read if math.isfinite(one))  # none is too long to be written


def _factors(word: str | None, blank: str | None) -> tuple[float, ...]:
    if word is None:
        return (1.0,)
    factor = FACTORS.get(word.lower(), 1.0)
    certain = word.lower() not in UNITS or (not blank and word in ATTACHED)
    return (factor,) if certain else (1.0, factor)
