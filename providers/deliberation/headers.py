"""The header of a transcript: what the deliberation is, and under which form it is written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

import msgspec

from ...gateway.state import frozen
from .chain import VERSION, Mismatch


def headed(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write a header as it is recorded: with the version of the form and of the program."""
    given = frozen(msgspec.to_builtins(header))[0]
    return {**given, "format": VERSION, "pointsman": _version()}


@cache
def _version() -> str:
    return version("pointsman")


def same_header(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """
    Hold the header of a transcript against what it is to be gone on with as.

    Raises:
        Mismatch: They differ; the version of the program may.

    """
    names = sorted({*recorded, *wanted} - {"pointsman"})
    differs = [name for name in names if recorded.get(name) != wanted.get(name)]
    if differs:
        raise Mismatch.at_key("header", f"it is another deliberation's: {', '.join(differs)}")
