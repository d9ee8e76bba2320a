"""What a judge is shown of a case: in the fields of its point."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

_ASKED = ("input", "query", "question", "message", "text")
_GIVEN = ("output", "response", "answer")


def fitted(
    fields: Collection[str], *, asked: object, given: object, others: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Show a case in a point's own *fields*, each by its name; what is None is left out.

    What was *asked* is its `question`, `message`, `text`, `query` or `input`, what was *given* for
    an answer its `answer`, `response` or `output`; any other is that of the same name in *others*.
    """
    known = {**others, **dict.fromkeys(_ASKED, asked), **dict.fromkeys(_GIVEN, given)}
    return {name: one for name in fields if (one := known.get(name)) is not None}
