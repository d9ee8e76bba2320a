"""Times as people give and read them: `90d`, `2026-11-30`; all of them in UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ...errors import SetupError

AGE = re.compile(r"(\d{1,6})([hdw])")
SECONDS = {"h": 3600, "d": 86_400, "w": 604_800}


def age(text: str, option: str) -> float:
    """
    Read how long ago, in seconds: hours, days or weeks.

    Raises:
        SetupError: It is no such text.

    """
    match = AGE.fullmatch(text.strip())
    if match is None:
        raise SetupError.of(
            option, f"{text!r} is no age", "Write hours, days or weeks: 12h, 90d, 4w"
        )
    return float(match[1]) * SECONDS[match[2]]


def moment(text: str, option: str, now: float) -> float:
    """
    Read an age before *now*, or a date with or without a time; UTC where it says no zone.

    Raises:
        SetupError: It is neither.

    """
    if AGE.fullmatch(text.strip()):
        return now - age(text, option)
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        fix = "Write a date, 2026-11-30 or 2026-11-30T08:00, or an age: 12h, 90d, 4w"
        raise SetupError.of(option, f"{text!r} is no time", fix) from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def clock(at: float) -> str:
    """Write a time to the second."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):  # a row from elsewhere may say anything
        return f"{at:.0f}"
