"""What deciders are shown of an agent's input: words, as messages; nothing of the SDK's own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from ...state import State

Items: TypeAlias = str | Sequence[Any]

_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_TEXTS = ("text", "refusal")


def shown(given: Items) -> State:
    """
    Show an agent's input: a text as it is, items as messages, a single user message as its text.

    A call is the assistant's words, its output the tool's. What is no text leaves its kind in
    brackets, `[input_image]`, so that nobody takes the rest for the whole.
    """
    if isinstance(given, str):
        return given
    said = messages(given)
    alone = len(said) == 1 and said[0]["role"] == "user"
    return said[0]["content"] if alone else said


def messages(given: Items) -> list[dict[str, str]]:
    """Give *given* as messages, oldest first."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [one for item in given if (one := _message(_plain(item))) is not None]


def user_spoke_last(given: Items) -> bool:
    """Whether the newest item is the user's own: only then is there something new to route."""
    return isinstance(given, str) or (bool(given) and _plain(given[-1]).get("role") == "user")


def arguments(written: str) -> Any:  # noqa: ANN401 - JSON
    """Read the arguments that a model wrote; as they are written where they are no JSON."""
    try:
        return json.loads(written)
    except ValueError:
        return written


def _plain(item: object) -> Mapping[str, Any]:
    dump = getattr(item, "model_dump", None)  # items of a result are objects, those of a call dicts
    return cast("Mapping[str, Any]", item if dump is None else dump(exclude_unset=True))


def _message(item: Mapping[str, Any]) -> dict[str, str] | None:
    kind = item.get("type", "message")
    if kind == "message":
        return {"role": str(item.get("role", "user")), "content": _words(item.get("content"))}
    if kind == "reasoning":
        return None
    if kind == "function_call":
        return {"role": "assistant", "content": f"{item.get('name')}({item.get('arguments')})"}
    if kind in _OUTPUTS:
        return {"role": "tool", "content": _words(item.get("output"))}
    return {"role": "assistant", "content": f"[{kind}]"}


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = cast("Sequence[object]", content) if isinstance(content, list | tuple) else ()
    return "\n".join(_part(_plain(one)) for one in parts)


def _part(part: Mapping[str, Any]) -> str:
    texts = (part[field] for field in _TEXTS if isinstance(part.get(field), str))
    return next(texts, f"[{part.get('type', 'part')}]")
