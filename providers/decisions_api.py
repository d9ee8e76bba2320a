"""
Hosted decision APIs: one client, and a table of endpoints.

An endpoint is keyed by host and path, since the path alone does not tell the dialect.
`jev` is TypeSafe's model through Vercel AI Gateway, in the OpenAI dialect.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import msgspec
from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings

from ..gateway.answers import Reply, Usage
from ..gateway.errors import NoAnswer, Reason
from ..gateway.http import reason_of
from ..gateway.plugins import HttpRequest, HttpResponse, Limits
from ..gateway.wire import openai

if TYPE_CHECKING:
    from ..gateway.plugins import Call, Setup
    from ..gateway.questions import Ask

USD_PER_TOKEN = {"typesafe-ai/jev": 0.042e-6}  # Vercel's list price for input; output is free
JEV_CHARACTERS = 120_000  # 30,000 tokens of state at four characters each: refuse, not truncate


def _whole(url: str) -> str:
    parts = urlsplit(url)
    blank = any(character.isspace() for character in url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or blank:
        raise ValueError("give a whole URL: https://host/path")
    if parts.username is not None or parts.password is not None:
        raise ValueError("give a URL without a user or password; the key has its own variable")
    if "?" in url or "#" in url:
        raise ValueError("give a URL without a query or fragment")
    return url


def _sendable(key: SecretStr) -> SecretStr:
    """A header takes no more; found here, it is one fault at start, not one at each decision."""
    if not all("!" <= character <= "~" for character in key.get_secret_value()):
        raise ValueError("a key is printable ASCII without blanks; was it copied whole?")
    return key


Url = Annotated[str, AfterValidator(_whole)]
Key = Annotated[SecretStr, AfterValidator(_sendable)]


class JevSettings(BaseSettings):
    """The variables of `jev`; an instance `jev/eu` reads `JEV__EU__…` first."""

    api_key: Key = Field(alias="AI_GATEWAY_API_KEY")
    model: str = "typesafe-ai/jev"
    base_url: Url = "https://ai-gateway.vercel.sh/v1"
    timeout_seconds: float = Field(15, gt=0, allow_inf_nan=False)
    max_attempts: int = Field(2, ge=1, le=5)


class DecisionsApi:
    """
    One endpoint of the OpenAI dialect.

    Attributes:
        name: As selected, with its instance.
        model: As configured; the served one may carry a dated suffix.
        timeout: Seconds for all attempts together.
        attempts: How often a request may be sent.

    """

    limits = Limits(options=255, levels=10, questions=400, characters=JEV_CHARACTERS)

    def __init__(self, name: str, settings: JevSettings) -> None:
        self.name = name
        self.model = settings.model
        self.timeout = settings.timeout_seconds
        self.attempts = settings.max_attempts
        self._url = f"{settings.base_url.rstrip('/')}/decisions"
        self._key = settings.api_key
        # the gateway owns the single fallback: its vendor may not fall back to another one
        vendor = settings.model.rpartition("/")[0].partition("/")[0]
        self._options = {"gateway": {"only": [vendor]}} if vendor else {}

    def exchange(self, ask: Ask, call: Call) -> Generator[HttpRequest, HttpResponse, Reply]:
        """
        Ask by one POST.

        Raises:
            NoAnswer: With the reason of the status, of the body, or `mismatched` where
                another model answered.

        """
        response = yield HttpRequest("POST", self._url, self._headers(), self._body(ask))
        if response.status != 200:  # noqa: PLR2004 - the only success of this call
            raise _refused(response)
        try:
            reply = self._completed(openai.decode(ask, response.content), response)
        except NoAnswer as fault:
            billed = None if fault.reply is None else self._completed(fault.reply, response)
            raise NoAnswer(fault.reason, reply=billed) from None
        fell_back = response.headers.get("x-ai-gateway-decision-fallback-triggered") == "true"
        if fell_back or not _is_asked(self.model, reply.model):
            raise NoAnswer(Reason.MISMATCHED, reply=reply)
        return reply

    def _completed(self, reply: Reply, response: HttpResponse) -> Reply:
        usage = None if reply.usage is None else _priced(reply.usage, self.model)
        request_id = response.headers.get("x-request-id")
        model = reply.model or self.model
        return msgspec.structs.replace(reply, usage=usage, request_id=request_id, model=model)

    def _headers(self) -> dict[str, str]:
        return {
            "authorization": f"Bearer {self._key.get_secret_value()}",
            "content-type": "application/json",
        }

    def _body(self, ask: Ask) -> bytes:
        return openai.encode(ask, self.model, self._options)


def jev(setup: Setup) -> DecisionsApi:
    """
    Make `jev`.

    Raises:
        SetupError: The key is missing, or a number is out of range.

    """
    return DecisionsApi(setup.name, setup.read(JevSettings))


class _Error(msgspec.Struct, frozen=True):
    code: str | int | None = None
    type: str | None = None


class _ErrorBody(msgspec.Struct, frozen=True):
    error: _Error | None = None


def _refused(response: HttpResponse) -> NoAnswer:
    """Read an error's status, and the codes that say more than it; never its message."""
    try:
        error = msgspec.json.decode(response.content, type=_ErrorBody).error or _Error()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        error = _Error()
    said = {str(error.code), str(error.type)}
    if "insufficient_quota" in said:
        return NoAnswer(Reason.PAYMENT)
    if "model_not_found" in said or response.status == 404:  # noqa: PLR2004
        return NoAnswer(Reason.REJECTED, operator=True)
    # gateways wrap a vendor's error in their own message, so the code is looked for in the text
    if response.status in (400, 422) and b"max_tokens_exceeded" in response.content:
        return NoAnswer(Reason.TOO_LARGE)
    return NoAnswer(reason_of(response.status))


def _is_asked(asked: str, served: str) -> bool:
    """Whether *served* is the model *asked* for: the same, or with a version behind it."""
    vendor, _, asked = asked.rpartition("/")
    server, _, served = served.rpartition("/")
    if vendor and server and vendor != server:
        return False
    return served == asked or served.startswith(f"{asked}-")


def _priced(usage: Usage, model: str) -> Usage:
    """Estimate a cost that is absent, or 0 while free credit lasts, from the list price."""
    if usage.cost_usd:
        return usage
    price = next((usd for known, usd in USD_PER_TOKEN.items() if model.startswith(known)), None)
    if price is None:
        return usage
    cost = usage.input_tokens * price
    return Usage(usage.input_tokens, usage.output_tokens, cost, estimated=True)
