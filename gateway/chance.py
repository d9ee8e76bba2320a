"""Ids and numbers drawn by lot: apart from a host that seeds `random`, anew in a forked child."""

from __future__ import annotations

import os
import random
import time

chance = random.Random()  # noqa: S311 - unique or fair, not secret
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=chance.seed)


def new_id() -> str:
    """Make an id of 32 hexadecimal digits that sorts by time."""
    return f"{time.time_ns() << 64 | chance.getrandbits(64):032x}"
