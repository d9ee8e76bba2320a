"""The variables of `chat`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings

from ...gateway.remote import Key, Url

Confidence: TypeAlias = Literal["log_probabilities", "self_reported", "none"]
Format: TypeAlias = Literal["schema", "object", "text"]

OWN = ("model", "messages", "response_format", "logprobs", "stream", "n", "tools")
"""Fields that no variable may change: answers are read as they say."""


def extras(text: str) -> dict[str, Any]:
    """
    Read further fields of a request's body.

    Raises:
        ValueError: It is no JSON object, or has a field that is not to be changed.

    """
    try:
        fields = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise ValueError('it must be a JSON object, like {"seed": 7}') from None
    if taken := sorted(fields.keys() & set(OWN)):
        raise ValueError(f"`{taken[0]}` is not to be changed here")
    return fields


def _readable(text: str) -> str:
    extras(text)
    return text


class ChatSettings(BaseSettings):
    """
    The variables of `chat`; an instance `chat/fast` reads `CHAT__FAST__…` first.

    Attributes:
        model: As the server calls it.
        api_key: Sent as a bearer token; absent: no header at all, as local servers like it.
        allow_http: A key may go over plain http to another machine.
        served_as: What the server calls the model in its answers, where that is another name
            (a deployment, a file); absent: `model`, with a version or date behind it or not.
        timeout_seconds: For all attempts together.
        max_attempts: How often a request may be sent.
        write_timeout_seconds: As `timeout_seconds`, where a text is written instead of an answer.
        write_temperature: Of texts that are written, so that two of one draft may differ; absent:
            the server's own. Answers are asked for at 0.
        sample_temperature: Of further samples of one question, which are to differ; the first one
            is asked for at 0.
        confidence: Where numbers come from.
        top_logprobs: How many alternatives of a token are asked for; OpenAI lists up to 20,
            others up to 5 or 8.
        format: How the form of an answer is kept: by a JSON schema, as a JSON object, or by
            the words of the question alone.
        max_tokens: Most tokens that may be written; absent: the server's own bound.
        extra: Further fields of the body as a JSON object; null takes one of ours out.
        price_input: US dollars for a million tokens read.
        price_output: US dollars for a million tokens written.

    """

    model: str
    base_url: Url = "https://api.openai.com/v1"
    api_key: Key | None = None
    allow_http: bool = False
    served_as: str | None = None
    timeout_seconds: float = Field(15, gt=0, allow_inf_nan=False)
    max_attempts: int = Field(2, ge=1, le=5)
    write_timeout_seconds: float = Field(60, gt=0, allow_inf_nan=False)
    write_temperature: float | None = Field(None, ge=0, le=2, allow_inf_nan=False)
    sample_temperature: float = Field(0.7, gt=0, le=2, allow_inf_nan=False)
    confidence: Confidence = "log_probabilities"
    top_logprobs: int = Field(20, ge=1, le=20)
    format: Format = "schema"
    max_tokens: int | None = Field(None, ge=1)
    extra: Annotated[str, AfterValidator(_readable)] = "{}"
    price_input: float | None = Field(None, ge=0, allow_inf_nan=False)
    price_output: float | None = Field(None, ge=0, allow_inf_nan=False)
