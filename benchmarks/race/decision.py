"""
The one decision that everybody in the race takes, and what the upstream answers.

Only the standard library: the workers of the peers read it in their own environments.
"""

from __future__ import annotations

import functools
import json
from typing import Any

TEXT = "My invoice doubled this month, and nobody told me why."
INSTRUCTIONS = "Which team handles this message?"
OPTIONS = {
    "billing": "Amounts, dates, refunds",
    "tech": "Faults and outages",
    "none": "Neither fits",
}
ANSWER = "billing"
NAME = "team"  # of the question, wherever the contestant lets us name it
KEY = "benchmark"

_SHARES = {"billing": 0.94, "tech": 0.04, "none": 0.02}
_CONFIDENCE = 0.91


def openai_question(name: str = NAME) -> dict[str, Any]:
    """Write the question in the OpenAI dialect."""
    choices = [{"value": option, "description": text} for option, text in OPTIONS.items()]
    return {"type": "choice", "name": name, "instructions": INSTRUCTIONS, "choices": choices}


def openai_request(model: str, name: str = NAME) -> bytes:
    """Write the whole request in the OpenAI dialect."""
    asked = {"model": model, "input": TEXT, "questions": [openai_question(name)]}
    return json.dumps(asked).encode()


def systemone_request(model: str, name: str = NAME) -> bytes:
    """Write the whole request in the TypeSafe dialect."""
    question = {"type": "choice", "instructions": INSTRUCTIONS, "criteria": OPTIONS}
    asked = {"model": model, "state": TEXT, "questions": {name: question}}
    return json.dumps(asked).encode()


def chat_request(model: str) -> bytes:
    """Write it for a chat model, with a schema for its answer."""
    told = f"{INSTRUCTIONS} {json.dumps(OPTIONS)}"
    messages = [{"role": "system", "content": told}, {"role": "user", "content": TEXT}]
    form = {"name": NAME, "strict": True, "schema": chat_schema()}
    return json.dumps(
        {
            "model": model,
            "messages": messages,
            "response_format": {"type": "json_schema", "json_schema": form},
        }
    ).encode()


def chat_schema() -> dict[str, Any]:
    """Write the JSON schema of a chat model's answer."""
    return {
        "type": "object",
        "properties": {NAME: {"type": "string", "enum": list(OPTIONS)}},
        "required": [NAME],
        "additionalProperties": False,
    }


@functools.lru_cache(maxsize=64)
def answer_to(path: str) -> bytes | None:
    """
    Give the body for a request's *path*; None where there is nothing.

    What stands before `/v1/` is the question's name, since not every contestant lets it choose.
    """
    before, slash, call = path.partition("?")[0].partition("/v1/")
    name = before.strip("/") or NAME
    if not slash:
        return None
    write = {
        "decisions": _openai_answer,
        "systemone": _systemone_answer,
        "chat/completions": _chat_answer,
    }.get(call)
    return None if write is None else json.dumps(write(name), separators=(",", ":")).encode()


def _openai_answer(name: str) -> dict[str, Any]:
    shares = [{"value": option, "probability": share} for option, share in _SHARES.items()]
    answer = {
        "type": "choice",
        "name": name,
        "choice": ANSWER,
        "confidence": _CONFIDENCE,
        "probabilities": shares,
    }
    usage = {
        "input_tokens": 62,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 62,
    }
    return {"answers": [answer], "model": "typesafe-ai/jev-1.13.0", "usage": usage}


def _systemone_answer(name: str) -> dict[str, Any]:
    answer = {
        "type": "choice",
        "choice": ANSWER,
        "confidence": _CONFIDENCE,
        "probabilities": _SHARES,
    }
    usage = {"input_tokens": 62, "output_tokens": 0}
    return {"model": "jev-1.13.0", "answers": {name: answer}, "usage": usage}


def _chat_answer(name: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": json.dumps({name: ANSWER})}
    return {
        "id": "chatcmpl-benchmark",
        "object": "chat.completion",
        "created": 1764000000,
        "model": "benchmark",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 62, "completion_tokens": 8, "total_tokens": 70},
    }
