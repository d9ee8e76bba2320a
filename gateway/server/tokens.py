"""
Bearer keys as text: how one is made, what it looks like, and what is kept of it.

`pm_<id>_<secret><checksum>`: the id is public and names the key in lists and logs; the secret
has 256 random bits; the checksum lets scanners of repositories, and people who mistype, know a
key without asking anybody. All of it is letters, digits and `_`, so that a double click takes
the whole.
"""

from __future__ import annotations

import hmac
import re
import secrets
import string
import zlib

PREFIX = "pm_"
NAMES = "23456789abcdefghjkmnpqrstuvwxyz"  # of ids: without those that are read for one another
DIGITS = string.digits + string.ascii_letters
ID = 8  # characters; 39 bits: told apart by the table's primary key, not by chance
SECRET = 43  # digits to the base of 62 that 256 bits need
CHECK = 6  # and 32 bits
LENGTH = len(PREFIX) + ID + 1 + SECRET + CHECK
FORM = re.compile(rf"{PREFIX}[{NAMES}]{{{ID}}}_[{DIGITS}]{{{SECRET + CHECK}}}")
CONTEXT = b"pointsman bearer key"
"""Keys the hash, so that it is good for nothing else that hashes the same text."""


def minted() -> str:
    """Make a key that nobody has seen."""
    name = "".join(secrets.choice(NAMES) for _ in range(ID))
    begun = f"{PREFIX}{name}_{_written(secrets.randbits(256), SECRET)}"
    return begun + _checksum(begun)


def id_of(token: str) -> str:
    """Give the public part of *token*; of a text that is no key, whatever stands there."""
    return token[len(PREFIX) : len(PREFIX) + ID]


def well_formed(token: str) -> bool:
    """Whether *token* is one that was made here, for all that can be told by looking at it."""
    return bool(FORM.fullmatch(token)) and _checksum(token[:-CHECK]) == token[-CHECK:]


def digest(token: str) -> bytes:
    """
    Give what is kept of *token*: its keyed SHA-256, 32 bytes.

    Nothing slower is needed: 256 random bits cannot be guessed from it.
    """
    return hmac.digest(CONTEXT, token.encode("utf-8", "surrogatepass"), "sha256")


def _checksum(begun: str) -> str:
    return _written(zlib.crc32(begun.encode()), CHECK)


def _written(number: int, length: int) -> str:
    written = ""
    for _ in range(length):
        number, digit = divmod(number, len(DIGITS))
        written = DIGITS[digit] + written
    return written
