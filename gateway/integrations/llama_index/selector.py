"""`PointsmanSelector`: the gateway as the selector of a query engine's or retriever's router."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolMetadata

from ...errors import DeclarationError
from ...gateway import Gateway
from ...lens import Lens
from ...points import DecisionPoint
from ...questions import Choice
from .prompts import TodaysPrompts

WHICH: Final = "Which source can answer the query?"
BY_PROVIDER: Final = "Chosen by the decision point"


class _Query(NamedTuple):
    """What there is to choose from, and for what."""

    choices: Sequence[ToolMetadata]
    query: QueryBundle


class _Selected(NamedTuple):
    """What today's selector gave, and the choices that it gave it for."""

    result: SelectorResult
    choices: Sequence[ToolMetadata]


class PointsmanSelector(TodaysPrompts, BaseSelector):
    """
    Selects by whoever the variables name, else by *current*; sync and async.

    The options are the names of the tools that come with the call; where those are absent or
    not one each, their numbers, from 1. A provider selects one; *current* alone is asked where
    there are fewer than two choices, or more than a choice may have, or a query of no words or
    with a picture.

    Args:
        gateway: Decides who selects.
        point: Suffix of the point's variables, or a declaration.
        current: The selector of today.
        question: What is asked about the query.
        reason: What a selection by a provider gives as its reason.

    """

    def __init__(
        self,
        gateway: Gateway,
        point: str | DecisionPoint,
        *,
        current: BaseSelector,
        question: str = WHICH,
        reason: str = BY_PROVIDER,
    ) -> None:
        def asked(call: _Query) -> Choice:
            names = options(call.choices)
            said = [one.description or "" for one in call.choices]
            return Choice(question, dict(zip(names, said, strict=True)))

        def selected(call: _Query) -> _Selected | str:
            return _Selected(current.select(call.choices, call.query), call.choices)

        async def aselected(call: _Query) -> _Selected | str:
            result = await current.aselect(call.choices, call.query)
            return _Selected(result, call.choices)

        decided = gateway.point(point, asked, lens=_LENS)
        self._current, self._reason = current, reason
        self._selected: Callable[[_Query], _Selected | str] = decided(selected)
        self._aselected: Callable[[_Query], Awaitable[_Selected | str]] = decided(aselected)

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return self._result(choices, self._selected(_Query(choices, query)))

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return self._result(choices, await self._aselected(_Query(choices, query)))

    def _result(self, choices: Sequence[ToolMetadata], said: _Selected | str) -> SelectorResult:
        if isinstance(said, _Selected):
            return said.result
        index = options(choices).index(said)
        return SelectorResult(selections=[SingleSelection(index=index, reason=self._reason)])


def options(choices: Sequence[ToolMetadata]) -> list[str]:
    """Name the choices: by their tools' names, else by their numbers."""
    names = [one.name or "" for one in choices]
    if all(name.strip() for name in names) and len(set(names)) == len(names):
        return names
    return [str(number) for number, _ in enumerate(choices, start=1)]


def _shown(call: _Query) -> str:
    if call.query.image_path or not call.query.query_str.strip():
        raise DeclarationError("the query holds more than words, or none")
    return call.query.query_str


def _outcome(said: _Selected) -> str | None:
    """Read what today's selector gave; several at once are no word of the point."""
    chosen = said.result.selections
    known = len(chosen) == 1 and 0 <= chosen[0].index < len(said.choices)
    return options(said.choices)[chosen[0].index] if known else None


_LENS = Lens(state=_shown, read=_outcome, write=str)
