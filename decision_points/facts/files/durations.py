"""Lengths of time as people write them in files, `30d`, `1h30m`, and as the fold counts them."""

from __future__ import annotations

import re

MICROSECONDS = {
    "w": 604_800_000_000,
    "d": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}
UNITS = ("d", "h", "m", "s", "ms", "us")  # in which a length is written: weeks only when read
LONGEST = 100 * 366 * MICROSECONDS["d"]  # a hundred years: what is longer is a slip

_PART = re.compile(r"\s*(\d+)\s*(ms|us|w|d|h|m|s)(?![a-z])\s*")


def duration(text: str) -> int:
    """
    Read a length of time.

    Args:
        text: Numbers with units, the sum of which counts: `5m`, `30d`, `1h30m`. Units are `w`,
            `d`, `h`, `m` (minutes), `s`, `ms` and `us`.

    Returns:
        Microseconds, from 0.

    Raises:
        ValueError: It is no duration, or longer than a hundred years.

    """
    total, at = 0, 0
    for part in _PART.finditer(_spaced(text)):
        if part.start() != at:
            break
        total, at = total + int(part[1]) * MICROSECONDS[part[2]], part.end()
    if not at or at != len(_spaced(text)):
        raise ValueError("it is no duration such as 30d, 2h or 1h30m")
    if total > LONGEST:
        raise ValueError("it is longer than a hundred years")
    return total


def spelt(microseconds: int) -> str:
    """Write a length of time in the one way that `duration` reads back as the same number."""
    if not microseconds:
        return "0s"
    written, rest = "", microseconds
    for unit in UNITS:
        count, rest = divmod(rest, MICROSECONDS[unit])
        written += f"{count}{unit}" if count else ""
    return written


def _spaced(text: str) -> str:
    # a unit ends where the next number starts, so that `1h30m` is read like `1h 30m`
    return re.sub(r"(?<=[a-z])(?=\d)", " ", text[:100].strip().lower())
