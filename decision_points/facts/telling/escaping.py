"""
Texts of others, made safe to be shown.

Values, reasons, references and names of sources are data, whoever wrote them: they are shown on
one line, cut where they are long, without what would steer a terminal or turn the direction of
what follows. In a prompt they stand in quotation marks that they cannot end.
"""

from __future__ import annotations

import re

SHORT = 120  # characters of a value, a reason, a reference that stands among others
NAME = 60  # … of a name
KEY = 200  # … of a key
CUT = "…"

_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # titles
    r"|\x1b."
)
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
    shown = "".join(one if one.isprintable() else "\ufffd" for one in flat)
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
    return text if len(text) <= limit and _BARE.fullmatch(text) else quoted(text, limit)
