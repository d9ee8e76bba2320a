"""What a client of the OpenAI dialect shows: items and parts, as a state that reads well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..state import State, frozen
from .requests import BadRequest

_TEXTS = {"input_text": "text", "output_text": "text", "refusal": "refusal"}
_ROLES = ("user", "developer", "system", "assistant")
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_Item = Mapping[str, Any]


def state_of(given: str | Sequence[_Item]) -> State:
    """
    Give the state that *given* shows.

    A text is itself, and so is the text of a single user message; a single `input_json` is its
    data. Anything else is a list of messages: a call is the assistant's, its output the tool's.

    Raises:
        BadRequest: An image, a file, an unknown item, an output whose call is not there, or no
            item at all.

    """
    return given if isinstance(given, str) else _of_items(given)


def _of_items(given: Sequence[_Item]) -> State:
    if not given:
        raise BadRequest("there is nothing to judge", "input")
    if len(given) == 1 and _kind(given[0]) == "message" and given[0].get("role") == "user":
        return _alone(given[0].get("content"))
    called: dict[str, str] = {}
    return [_message(one, f"input[{at}]", called) for at, one in enumerate(given)]


def _alone(content: object) -> State:
    place = "input[0].content"
    parts = _parts(content, place)
    if len(parts) == 1 and _is_json(parts[0]):
        return _data(cast("_Item", parts[0]), f"{place}[0]")
    return text_of(content, place)


def _message(item: _Item, place: str, called: dict[str, str]) -> _Item:
    kind = _kind(item)
    if kind == "message" and item.get("role") in _ROLES:
        return {"role": item["role"], "content": text_of(item.get("content"), f"{place}.content")}
    if kind in _CALLS:
        field, name = _CALLS[kind], _text(item, "name", place)
        called[_text(item, "call_id", place)] = name
        return {"role": "assistant", "content": f"{name}({_text(item, field, place)})"}
    if kind in _OUTPUTS:
        name = _answered(item, place, called)
        content = text_of(item.get("output"), f"{place}.output")
        return {"role": "tool", "name": name, "content": content}
    raise BadRequest("is no message, call or output", place)


def _answered(item: _Item, place: str, called: Mapping[str, str]) -> str:
    call = _text(item, "call_id", place)
    if call not in called:
        raise BadRequest("belongs to no call before it", f"{place}.call_id")
    return called[call]


def text_of(content: object, place: str) -> str:
    """
    Give the text of a content: itself, or its parts, one to a line.

    Raises:
        BadRequest: An image, a file, or a part that nobody knows.

    """
    if isinstance(content, str):
        return content
    parts = enumerate(_parts(content, place))
    return "\n".join(_part(one, f"{place}[{at}]") for at, one in parts)


def _parts(content: object, place: str) -> list[object]:
    if isinstance(content, str):
        return []
    if not isinstance(content, list):
        raise BadRequest("is neither a text nor a list of parts", place)
    return cast("list[object]", content)


def _part(part: object, place: str) -> str:
    if not isinstance(part, dict):
        raise BadRequest("is no part", place)
    given = cast("_Item", part)
    kind = _kind(given)
    if _is_json(given):
        return frozen(_data(given, place))[1]
    if kind not in _TEXTS:
        raise BadRequest("only text and JSON can be judged here: `input_text`, `input_json`", place)
    return _text(given, _TEXTS[kind], place)


def _is_json(part: object) -> bool:
    return isinstance(part, dict) and cast("_Item", part).get("type") == "input_json"


def _data(part: _Item, place: str) -> State:
    data: State = part.get("data")
    if not isinstance(data, dict | list):
        raise BadRequest("is an object, or an array of objects", f"{place}.data")
    return cast("State", data)


def _kind(item: _Item) -> str:
    kind = item.get("type", "message" if "role" in item else "")
    return kind if isinstance(kind, str) else ""


def _text(item: _Item, field: str, place: str) -> str:
    text = item.get(field)
    if not isinstance(text, str):
        raise BadRequest("is no text", f"{place}.{field}")
    return text
