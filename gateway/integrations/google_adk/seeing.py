"""What of Google ADK's values deciders are shown, and who a call is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from google.adk.agents import Context
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from ...errors import DeclarationError
from ...points import DecisionPoint
from ...state import State
from ..rails import input_state

_WRITTEN: Final = ("text/", "application/json", "application/xml", "application/yaml")
_UNSEEN: Final = (types.Blob, types.FileData, types.File, bytes, bytearray)


def text_of(content: types.Content | None) -> str:
    """Give what was said: the text parts, without the model's thoughts."""
    parts = [] if content is None else content.parts or []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def words_of(content: types.Content | None) -> str:
    """Give every word that whoever reads *content* sees: thoughts, code and documents too."""
    parts = [] if content is None else content.parts or []
    return "\n".join(word for part in parts for word in _words(part) if word)


def response_words(response: LlmResponse) -> str:
    """Give every word of a model's answer: its content's, of its sound's, and of its error."""
    sound = response.output_transcription
    given = (words_of(response.content), sound and sound.text, response.error_message)
    return "\n".join(one for one in given if one)


def heard(point: DecisionPoint, context: Context, said: str) -> State:
    """Show what the user has *said*; to a point that reads `text`, earlier invocations besides."""
    if "text" not in point.reads:
        return said
    before = [
        {"role": "user" if event.author == "user" else "assistant", "content": words}
        for event in context.session.events
        if event.invocation_id != context.invocation_id and (words := words_of(event.content))
    ]
    return input_state(point, [*before, {"role": "user", "content": said}])


def _words(part: types.Part) -> Iterator[str | None]:
    yield part.text
    if part.executable_code is not None:
        yield part.executable_code.code
    if part.code_execution_result is not None:
        yield part.code_execution_result.output
    if part.audio_transcription is not None:
        yield part.audio_transcription.text
    for ran in (part.tool_call, part.tool_response):  # by the model's server: no tool of the host
        yield None if ran is None else worded(ran.model_dump(mode="json", exclude_none=True))
    if (held := part.inline_data) is not None and (held.mime_type or "").startswith(_WRITTEN):
        yield (held.data or b"").decode(errors="replace")


def readable(value: object) -> State:
    """
    Give what is to be decided about as JSON, content by its text.

    Raises:
        DeclarationError: It holds more than words, or none.

    """
    shown: State = plain(_read(value))
    if shown is None or (isinstance(shown, str) and not shown.strip()):
        raise DeclarationError("the input holds no words")
    return shown


def _read(value: object) -> object:
    if isinstance(value, types.Part):
        return _read(types.Content(parts=[value]))
    if isinstance(value, types.Content):
        if not all(part.text for part in value.parts or []):
            raise DeclarationError("the input holds more than words")
        return text_of(value)
    if isinstance(value, _UNSEEN):
        raise DeclarationError("the input holds more than words")
    if isinstance(value, Mapping):
        return {name: _read(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_read(one) for one in value]
    if isinstance(value, BaseModel):
        _read(dict(value))
    return value


def plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """Give a value of a call as JSON: content by its text, what JSON cannot say by its type."""
    if isinstance(value, types.Content):
        return text_of(value)
    return to_jsonable_python(value, fallback=_named, bytes_mode="base64")


def _named(value: object) -> str:
    return type(value).__name__


def worded(said: object) -> str:
    """Write an instruction or a description, which ADK also takes as JSON, on one line."""
    if said is None:
        return ""
    text = said if isinstance(said, str) else json.dumps(plain(said), ensure_ascii=False)
    return " ".join(text.split())


def context_of(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Context | None:
    """Find ADK's context among a call's own arguments."""
    given = (*args, *kwargs.values())
    return next((one for one in given if isinstance(one, Context)), None)


def reply(message: str) -> LlmResponse:
    """Answer in the model's place."""
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=message)]))
