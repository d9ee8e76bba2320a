"""What a key may do, as people write it: scopes, `600/min`, `5.00`, `90d`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...errors import SetupError
from ...server.keyring import PERIODS, SCOPES, Rate
from ..journal.times import AGE, age, moment

RATE = re.compile(r"(\d{1,9})/(\w+)")
NAMED = {
    "s": "s", "sec": "s", "second": "s",
    "min": "min", "minute": "min",
    "h": "h", "hour": "h",
    "d": "d", "day": "d",
}  # fmt: skip
LONGEST = 64  # characters of a name
MOST = 1e6  # US dollars a day; more is a typing error, and adds up too coarsely


def name_of(text: str) -> str:
    """
    Read a name.

    Raises:
        SetupError: It is empty, too long, like an option, or would steer a terminal.

    """
    name = text.strip()
    if name and len(name) <= LONGEST and name.isprintable() and not name.startswith("-"):
        return name
    fix = (
        f"Write up to {LONGEST} printable characters that begin with no dash, such as the "
        "program that will hold it"
    )
    raise SetupError.of("NAME", "it is no name of a key", fix)


def scopes_of(given: Sequence[str]) -> tuple[str, ...]:
    """
    Read scopes, each once.

    Raises:
        SetupError: One is unknown.

    """
    for one in given:
        if one not in SCOPES:
            fix = f"Write one of {', '.join(SCOPES)}; repeat the option for several"
            raise SetupError.of("--scope", f"there is no scope {one!r}", fix)
    return tuple(one for one in SCOPES if one in given)


def rate_of(text: str | None) -> Rate | None:
    """
    Read how often.

    Raises:
        SetupError: It is no such text.

    """
    if text is None:
        return None
    match = RATE.fullmatch(text.strip().replace(" ", ""))
    period = match and NAMED.get(match[2])
    if match is None or period is None or int(match[1]) < 1:
        fix = "Write requests and a period: 600/min, 10/s, 5000/h, 20000/d"
        raise SetupError.of("--rate", f"{text!r} is no rate", fix)
    return Rate(int(match[1]), PERIODS[period])


def budget_of(usd: float | None) -> float | None:
    """
    Check an amount.

    Raises:
        SetupError: It is none that anything could be bought for.

    """
    if usd is None or 0 < usd <= MOST:
        return usd
    fix = "Write US dollars for one day, above 0: 5.00; without the option there is no limit"
    raise SetupError.of("--budget", f"it is no amount up to {MOST:,.0f}", fix)


def expiry_of(text: str | None, now: float) -> float | None:
    """
    Read when a key ends: a time from *now* on, or a date; UTC where it says no zone.

    Raises:
        SetupError: It is neither, or past.

    """
    if text is None:
        return None
    ahead = AGE.fullmatch(text.strip()) is not None
    at = now + age(text, "--expires") if ahead else moment(text, "--expires", now)
    if at <= now:
        raise SetupError.of("--expires", f"{text!r} is past", "Write one to come: 90d, 2027-01-31")
    return at
