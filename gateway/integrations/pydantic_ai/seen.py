"""What deciders are shown of a run's messages: words, and nothing of the framework's own."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pydantic_ai import RunContext
from pydantic_ai.messages import (
    BaseToolReturnPart,
    CachePoint,
    FilePart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    StructuredContent,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    is_multi_modal_content,
)

from ...state import State

_BLOCKED_BY: Final = "blocked_by"
_MADE_UP: Final = 7  # the version of the framework's own ids, whose order is that of time


def shown(given: Sequence[ModelMessage]) -> State:
    """
    Show a run's messages: a single prompt as its text, else as messages, oldest first.

    A call is the assistant's words, its return the tool's. What is no text leaves its kind in
    brackets, `[image-url]`, so that nobody takes the rest for the whole.
    """
    said = messages(given)
    alone = len(said) == 1 and said[0]["role"] == "user"
    return said[0]["content"] if alone else said


def messages(given: Iterable[ModelMessage]) -> list[dict[str, str]]:
    """Give *given* as messages, without system prompts and what a model thought."""
    parts = (part for message in given for part in message.parts)
    return [one for part in parts if (one := _message(part)) is not None]


def user_spoke_last(given: Sequence[ModelMessage]) -> bool:
    """Whether the newest message is the user's own: only then is there something new to judge."""
    newest = given[-1] if given else None
    parts = newest.parts if isinstance(newest, ModelRequest) else ()
    return any(isinstance(one, UserPromptPart) for one in parts)


def refusal(text: str, point: str) -> ModelResponse:
    """Answer in place of the model, and say in the history which point blocked."""
    return ModelResponse([TextPart(text)], metadata={_BLOCKED_BY: point})


def refused(ctx: RunContext[Any], point: str) -> bool:
    """Whether *point* has blocked before in this run."""
    said = (one for one in ctx.messages if isinstance(one, ModelResponse))
    ours = (one for one in said if one.run_id == ctx.run_id and one.metadata is not None)
    return any(one.metadata.get(_BLOCKED_BY) == point for one in ours if one.metadata)


def holds_files(given: Iterable[ModelMessage]) -> bool:
    """Whether a message holds what is no text: an image, a document, a recording."""
    return any(_is_file(part) for message in given for part in message.parts)


def _is_file(part: object) -> bool:
    if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
        return any(is_multi_modal_content(one) for one in part.content)
    returned = isinstance(part, BaseToolReturnPart) and bool(part.files)
    return returned or isinstance(part, FilePart)


def call_of(given: Sequence[ModelMessage], call_id: str) -> str:
    """
    Name a tool call so that no other of the conversation has its name.

    Models may use an id again in a later response. How often it was used by then is the same
    however often a run is resumed, and by whomever its history was written down.
    """
    return f"{call_id}/{sum(_calls(message, call_id) for message in given)}"


def conversation_of(ctx: RunContext[Any], call_id: str) -> str | None:
    """
    Name the conversation of a tool call, where it will have the same name later on.

    That is the one which the call was written down in, else the one that the host names. An id
    that the framework made up for this run alone, over a history that has lost its own, would
    make of every resumed run another conversation: None.
    """
    wrote = (one for one in reversed(ctx.messages) if _calls(one, call_id))
    written = next((one.conversation_id for one in wrote), None)
    named = ctx.conversation_id
    return written or (None if named is None or _made_up(named) else named)


def _made_up(conversation_id: str) -> bool:
    try:
        return uuid.UUID(conversation_id).version == _MADE_UP
    except ValueError:
        return False


def words(content: object) -> str:
    """Give the text of a content, and the kinds of what is no text."""
    if isinstance(content, str):
        return content
    items: Sequence[Any] = content if isinstance(content, Sequence) else ()
    return "\n".join(_item(one) for one in items if not isinstance(one, CachePoint))


def _calls(message: ModelMessage, call_id: str) -> bool:
    calls = (one for one in message.parts if isinstance(one, ToolCallPart))
    return any(one.tool_call_id == call_id for one in calls)


def _item(item: object) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, TextContent):
        return item.content
    if isinstance(item, StructuredContent):
        return str(item.value)
    return f"[{getattr(item, 'kind', type(item).__name__)}]"


def _message(part: object) -> dict[str, str] | None:
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": words(part.content)}
    if isinstance(part, TextPart):
        return {"role": "assistant", "content": part.content}
    if isinstance(part, ToolCallPart):
        return {"role": "assistant", "content": f"{part.tool_name}({part.args_as_json_str()})"}
    if isinstance(part, ToolReturnPart):
        return {"role": "tool", "content": part.model_response_str()}
    return None
