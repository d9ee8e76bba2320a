"""
What roles cite of look-ups, wherever they cite it, and what is left where nobody retrieved it.

A citation is a claim that somebody can check; one without a passage behind it is taken out of the
text that goes on, and stays in the transcript as it was said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from .retrieval import CITATION, unfounded

OWN = ("recommendation", "queries", "label", "about", "kind", "keeps")
"""Fields that claim nothing: words of a closed list, and what is yet to be looked up."""

T = TypeVar("T")


def claims(said: object) -> Iterator[str]:
    """Give all texts of what was *said* that may cite something."""
    if isinstance(said, str):
        yield said
    elif isinstance(said, Mapping):
        for name, one in cast("Mapping[str, Any]", said).items():
            if name not in OWN:
                yield from claims(one)
    elif isinstance(said, list | tuple):
        for one in cast("Sequence[Any]", said):
            yield from claims(one)


def ghosts(said: object, known: frozenset[str]) -> list[str]:
    """List what is cited anywhere in what was *said* although nobody retrieved it (BR-21)."""
    return unfounded(claims(said), known)


def founded(said: T, known: frozenset[str]) -> T:
    """Give what was *said* without what nobody retrieved: evidence is dropped, prose loses it."""
    return cast("T", _founded(said, known, "")) if ghosts(said, known) else said


def _founded(said: object, known: frozenset[str], field: str) -> object:
    if field in OWN:
        return said
    if isinstance(said, str):
        return _stripped(said, known)
    if isinstance(said, Mapping):
        given = cast("Mapping[str, Any]", said)
        return {name: _founded(one, known, name) for name, one in given.items()}
    if isinstance(said, list | tuple):
        return [
            _founded(one, known, "")
            for one in cast("Sequence[Any]", said)
            if not _gone(one, known, field)
        ]
    return said


def _gone(one: object, known: frozenset[str], field: str) -> bool:
    """Whether nothing is left of an entry: evidence for nothing, or a bare citation."""
    if not isinstance(one, str) or not unfounded((one,), known):
        return False
    return field == "evidence" or not _stripped(one, known)


def _stripped(text: str, known: frozenset[str]) -> str:
    if not unfounded((text,), known):
        return text
    kept = CITATION.sub(lambda one: one[0] if one[1] in known else "", text)
    return " ".join(kept.split())
