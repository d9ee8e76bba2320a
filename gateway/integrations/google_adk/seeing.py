"""What of Google ADK's values deciders are shown, and who a call is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from google.adk.agents import Context
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic_core import to_jsonable_python


def text_of(content: types.Content | None) -> str:
    """Give what was said: the text parts, without the model's thoughts."""
    parts = [] if content is None else content.parts or []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """Give a value of a call as JSON: content by its text, what JSON cannot say by its type."""
    if isinstance(value, types.Content):
        return text_of(value)
    return to_jsonable_python(value, fallback=_named)


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
