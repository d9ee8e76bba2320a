"""What of a graph's state deciders are shown, and whose run it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ...errors import DeclarationError
from ...settings import CURRENT
from ...wrapping import wrapped_in
from .. import needs

try:
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
    from langchain_core.messages.utils import convert_to_messages
    from langgraph.config import get_config
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...gateway import Gateway
    from ...state import State

_ROLES = {"human": "user", "ai": "assistant"}


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


def current_decides(gateway: Gateway, wrapped: Callable[..., Any]) -> bool:
    """Whether nobody but the wrapped function decides now: it can be called as it is."""
    return gateway.plan(wrapped_in(gateway, wrapped)[0].point).provider == CURRENT


def last_user_text(*args: object, **kwargs: object) -> str:
    """
    Give what a user said last, of the first argument that has messages.

    Raises:
        DeclarationError: There are no messages, or a user's last one has no text.

    """
    said = (one for one in reversed(messages_of(*args, **kwargs)) if isinstance(one, HumanMessage))
    last = next(said, None)
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
    for one in (*args, *kwargs.values()):
        listed = one if isinstance(one, list) else value_of(one, "messages")
        if listed:
            return convert_to_messages(cast("Any", listed))
    how = 'lens=showing(EDGE, "key")'
    raise DeclarationError(f"the state has no messages; say which keys are shown: {how}")


def value_of(state: object, key: str) -> Any:  # noqa: ANN401 - a host's own state
    """Give what stands under *key* in a state that is a mapping or an object; None: nothing."""
    if isinstance(state, Mapping):
        return cast("Mapping[str, Any]", state).get(key)
    return getattr(state, key, None)


def text_of(message: BaseMessage) -> str:
    """Give a message's text, without images, reasoning and tool calls."""
    return str(message.text)


def as_data(message: BaseMessage) -> dict[str, Any]:
    """Give a message as a role, a text, and the tools it calls."""
    said: dict[str, Any] = {
        "role": _ROLES.get(message.type, message.type),
        "content": text_of(message),
    }
    if isinstance(message, AIMessage) and message.tool_calls:
        called = ({"name": one["name"], "args": one["args"]} for one in message.tool_calls)
        said["tool_calls"] = list(called)
    return said
