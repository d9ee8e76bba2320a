"""What of a graph's state deciders are shown, and whose run it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, cast

from ...errors import DeclarationError
from .. import needs

try:
    from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage
    from langchain_core.messages.utils import convert_to_messages
    from langgraph.config import get_config
    from pydantic import BaseModel
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from ...state import State

_ROLES = {"ai": "assistant"}
_USERS = ("human", "user")
_OTHERS = ("ai", "assistant", "developer", "function", "model", "system", "tool")
_WORDS = ("text", "title", "context", "content", "source", "value", "refusal", "data")


def thread(*_: object, **__: object) -> str | None:
    """Give the `thread_id` of the run around this call; None: there is none."""
    found = configured().get("thread_id")
    return None if found is None else str(found) or None


def configured() -> Mapping[str, Any]:
    """Give what the run around this call is configured with; nothing outside of one."""
    try:
        return get_config().get("configurable", {})
    except RuntimeError:  # called by hand
        return {}


def last_user_text(*args: object, **kwargs: object) -> str:
    """
    Give what a user said last, of the first argument that has messages.

    Raises:
        DeclarationError: There are no messages, or a user's last one has no text.

    """
    last = next(filter(is_user, reversed(messages_of(*args, **kwargs))), None)
    if last is None or not text_of(last):
        raise DeclarationError("the state has no message of a user's, or its last has no text")
    return text_of(last)


def conversation(*args: object, **kwargs: object) -> State:
    """
    Give all messages as data, of the first argument that has some.

    Raises:
        DeclarationError: There are none.

    """
    return [as_data(message) for message in messages_of(*args, **kwargs)]


def messages_of(*args: object, **kwargs: object) -> Sequence[BaseMessage]:
    """
    Find the messages of a call, whatever form its state has.

    Raises:
        DeclarationError: No argument has any.

    """
    for one in states(*args, **kwargs):
        listed = one if isinstance(one, list) else value_of(one, "messages")
        if listed:
            return convert_to_messages(cast("Any", listed))
        if listed is not None:
            break  # it is the state, and it has none
    how = 'lens=showing(EDGE, "key")'
    raise DeclarationError(f"the state has no messages; say which keys are shown: {how}")


def states(*args: object, **kwargs: object) -> Sequence[object]:
    """
    List the arguments of a call, the likeliest to be the graph's state first.

    LangGraph gives it as the last positional one: the object of a method stands before it.
    """
    own = args[1:] if len(args) > 1 and not _is_data(args[0]) else args
    return (*reversed(own), *kwargs.values())


def _is_data(value: object) -> bool:
    return isinstance(value, Mapping | Sequence | BaseModel) or is_dataclass(value)


def is_user(message: BaseMessage) -> bool:
    """Whether a user said it, in any form in which a message says so."""
    if isinstance(message, ChatMessage):
        return message.role.casefold() in _USERS
    return isinstance(message, HumanMessage)


def is_outside(message: BaseMessage) -> bool:
    """Whether a user said it, or somebody whose role no model provider knows."""
    unknown = isinstance(message, ChatMessage) and message.role.casefold() not in _OTHERS
    return unknown or is_user(message)


def value_of(state: object, key: str) -> Any:  # noqa: ANN401 - a host's own state
    """Give what stands under *key* in a state that is a mapping or an object; None: nothing."""
    if isinstance(state, Mapping):
        return cast("Mapping[str, Any]", state).get(key)
    return getattr(state, key, None)


def text_of(message: BaseMessage) -> str:
    """Give a message's text, without images, reasoning and tool calls."""
    return str(message.text)


def words_of(message: BaseMessage) -> str:
    """Give all text of a message, in whatever blocks: a provider shows it to its model."""
    plain, content = text_of(message), message.content
    if isinstance(content, str):
        return plain
    others = (words for block in content if not _is_plain(block) for words in _words(block))
    return "\n\n".join(filter(None, (plain, *others)))


def _is_plain(block: object) -> bool:
    """Whether LangChain itself takes it for text."""
    return isinstance(block, str) or (isinstance(block, Mapping) and block.get("type") == "text")


def _words(block: object) -> Iterator[str]:
    if isinstance(block, str):
        yield block
    elif isinstance(block, list):
        for one in block:
            yield from _words(one)
    elif isinstance(block, Mapping):
        for key in _WORDS:
            if key != "data" or "text" in (block.get("type"), block.get("source_type")):
                yield from _words(block.get(key))


def as_data(message: BaseMessage) -> dict[str, Any]:
    """Give a message as a role, a text, and the tools it calls."""
    role = message.role if isinstance(message, ChatMessage) else message.type
    if is_user(message):
        role = "user"
    said: dict[str, Any] = {
        "role": _ROLES.get(role, role),
        "content": text_of(message),
    }
    if isinstance(message, AIMessage) and message.tool_calls:
        called = ({"name": one["name"], "args": one["args"]} for one in message.tool_calls)
        said["tool_calls"] = list(called)
    return said
