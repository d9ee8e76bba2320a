"""
Texts of others, made safe to be shown.

Values, reasons, references and names of sources are data, whoever wrote them: they are shown on
one line, cut where they are long, without what would steer a terminal or turn the direction of
what follows. In a prompt they stand in quotation marks that they cannot end.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile

SHORT = 120  # characters of a value, a reason, a reference that stands among others
NAME = 60  # … of a name
KEY = 200  # … of a key
CUT = "…"

_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # titles
    r"|\x1b."
)
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0"  # fillers, blanks
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # which form of a sign is meant
    "\U000e0000-\U000e007f]"  # letters that only machines see
)
_GONE = "\ufffd"
_BARE = re.compile(r"[\w.,@+:/?=&%|-]+")
_MARKUP = {ord(one): f"\\u{ord(one):04x}" for one in "<>[]`"}
_QUOTED = {ord('"'): '\\"', ord("\\"): "\\\\", **_MARKUP}


def escaped(text: str, limit: int = SHORT) -> str:
    """
    Give *text* on one line, in at most *limit* characters, of which none steers anything.

    Args:
        text: Data, from anywhere.
        limit: In characters, from 1; what is longer is cut and ends in `…`.

    """
    flat = " ".join(_SEQUENCES.sub("", text[: 8 * limit + 4096]).split())
    seen = flat if flat.isascii() else _UNSEEN.sub(_GONE, flat)
    shown = "".join(one if one.isprintable() else _GONE for one in seen)
    longer = len(shown) > limit or len(text) > 8 * limit + 4096
    return f"{shown[: limit - 1]}{CUT}" if longer else shown


def quoted(text: str, limit: int = SHORT) -> str:
    """
    Give *text* as a JSON string without markup, for a prompt.

    It ends where its quotation marks do: quotes and backslashes of its own are escaped, and so
    are the characters of tags, links and code.
    """
    return f'"{escaped(text, limit).translate(_QUOTED)}"'


def named(text: str, limit: int = NAME) -> str:
    """Give a name for a prompt: as it is where it is one word, else in quotation marks."""
    bare = _BARE.fullmatch(text) and escaped(text, limit) == text
    return text if bare else quoted(text, limit)


def apart(texts: Sequence[str], limit: int = SHORT) -> tuple[str, ...]:
    """
    Give *texts* as `escaped` does, so that two that differ do not look the same.

    Of those that a cut makes alike, the part around their first difference is shown. What differs
    in nothing that is shown stays alike.

    Args:
        texts: Data, in any order.
        limit: In characters, from 2 for what is cut.

    """
    shown = dict.fromkeys(texts, "")
    whole = {one: escaped(one, max(len(one), limit)) for one in shown}
    shown.update({one: escaped(one, limit) for one in shown})
    for _ in shown:  # each round takes apart some that the one before left
        left = _looking_same(shown, whole)
        for several in left:
            at = _shared([whole[one] for one in several])
            shown.update({one: _around(whole[one], at, limit) for one in several})
        if not left:
            break
    return tuple(shown[one] for one in texts)


def _looking_same(shown: Mapping[str, str], whole: Mapping[str, str]) -> list[list[str]]:
    """Group what looks the same, but would not as a whole."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for one, look in shown.items():
        groups[look].append(one)
    return [each for each in groups.values() if len({whole[one] for one in each}) > 1]


def _shared(texts: Sequence[str]) -> int:
    """Count the characters with which all of *texts* begin."""
    pairs = zip(min(texts), max(texts), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _around(whole: str, at: int, limit: int) -> str:
    """Cut *whole* so that the character at *at* is seen."""
    start = max(0, at - limit // 3)
    if not start:
        return escaped(whole, limit)
    return escaped(f"{CUT}{whole[start:]}", limit)
