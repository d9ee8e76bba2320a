"""
Any OpenAI-compatible chat model as a decider: `POST {base}/chat/completions`.

The model is asked for one JSON object with a short code for each question, so that an answer is
told by one token and the alternatives to it say how likely it was. No number is made up: where a
server lists no log-probabilities, the confidence is missing.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from ...gateway.answers import Reply, Usage
from ...gateway.errors import NoAnswer, Reason, SetupError
from ...gateway.plugins import HttpRequest, HttpResponse, Limits, Written
from ...gateway.remote import is_served_as_asked, kept_from_the_clear, variable_of
from ...gateway.wire.faults import fault_of, is_final
from .completions import bare, bill, written
from .prompts import messages, schema, told
from .reading import reply_of
from .settings import ChatSettings, extras
from .slots import slots_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...gateway.plugins import Call, Draft, Setup
    from ...gateway.questions import Ask
    from .slots import Slot

QUESTIONS = 100  # a schema may have 1,000 enumerated values in all at OpenAI, ten levels each
MILLION = 1_000_000  # tokens, which prices are given for
BY_OPENAI = (".openai.com", ".openai.azure.com")  # hosts that have renamed `max_tokens`


class Chat:
    """
    One model of one server.

    Attributes:
        name: As selected, with its instance.
        model: As configured.
        url: Where it asks.
        timeout: Seconds for all attempts together.
        write_timeout: As `timeout`, for a text.
        attempts: How often a request may be sent.

    """

    limits = Limits(options=255, levels=10, questions=QUESTIONS)

    def __init__(self, name: str, settings: ChatSettings) -> None:
        self.name = name
        self.model = settings.model
        self.timeout = settings.timeout_seconds
        self.write_timeout = settings.write_timeout_seconds
        self.attempts = settings.max_attempts
        self._settings = settings
        self.url = f"{settings.base_url.rstrip('/')}/chat/completions"
        self._fixed = _fixed(settings)
        self._extra = extras(settings.extra)

    def exchange(self, ask: Ask, call: Call) -> Generator[HttpRequest, HttpResponse, Reply]:
        """
        Ask by one POST.

        Raises:
            NoAnswer: With the reason of the status or of the body, or `mismatched` where
                another model answered.

        """
        slots = slots_of(ask)
        response, billed = yield from self._posted(self._body(ask, slots, call.sample))
        with _charged(billed):
            wrote, numbers = written(response.content), self._settings.confidence
            reply = reply_of(wrote, slots, numbers, sampled=call.sample > 0)
        return msgspec.structs.replace(
            reply, model=billed.model, usage=billed.usage, request_id=billed.request_id
        )

    def write(self, draft: Draft, call: Call) -> Generator[HttpRequest, HttpResponse, Written]:
        """
        Write by one POST.

        Raises:
            NoAnswer: As `exchange`; `incomplete` where the text was cut off.

        """
        response, billed = yield from self._posted(self._draft_body(draft, call.sample))
        with _charged(billed):
            text = bare(written(response.content).text)
        return Written(
            text=text, model=billed.model, usage=billed.usage, request_id=billed.request_id
        )

    def _posted(
        self, body: Mapping[str, Any]
    ) -> Generator[HttpRequest, HttpResponse, tuple[HttpResponse, Reply]]:
        """Send *body*; give what came back, and what it cost."""
        content = msgspec.json.encode(body)
        response = yield HttpRequest("POST", self.url, self._headers(), content, is_final)
        if response.status != 200:  # noqa: PLR2004 - the only success of this call
            raise fault_of(response)
        billed = self._billed(response)
        if not is_served_as_asked(self._settings.served_as or self.model, billed.model):
            raise NoAnswer(Reason.MISMATCHED, reply=billed)
        return response, billed

    def _headers(self) -> Mapping[str, str]:
        key, plain = self._settings.api_key, {"content-type": "application/json"}
        if key is None:
            return plain
        return {"authorization": f"Bearer {key.get_secret_value()}", **plain}

    def _body(self, ask: Ask, slots: Sequence[Slot], sample: int) -> Mapping[str, Any]:
        sure = self._settings.confidence == "self_reported"
        body = {**self._fixed, "messages": messages(ask, slots, sure=sure)}
        if sample:
            body["temperature"] = self._settings.sample_temperature
        return self._finished(body, "decision", schema(slots, sure=sure), sample)

    def _draft_body(self, draft: Draft, sample: int) -> Mapping[str, Any]:
        said = self._settings
        body = {**self._fixed, "messages": told(draft, whole=said.format != "schema")}
        for name in ("logprobs", "top_logprobs"):
            body.pop(name, None)
        same = sample and said.write_temperature == 0
        body["temperature"] = said.sample_temperature if same else said.write_temperature
        bounds = [one for one in (said.max_tokens, draft.max_tokens) if one is not None]
        if bounds:
            body[_bound(said)] = min(bounds)
        return self._finished(body, draft.task, draft.schema, sample)

    def _finished(
        self, body: dict[str, Any], name: str, schema: Mapping[str, Any], sample: int
    ) -> Mapping[str, Any]:
        """Add the form that the server is to keep, and what the operator adds or takes out."""
        if self._settings.format == "schema":
            named = {"name": name, "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        body.update(self._extra)
        if sample and isinstance(seed := body.get("seed"), int):
            body["seed"] = seed + sample  # under one seed all samples would be the same
        return {name: value for name, value in body.items() if value is not None}

    def _billed(self, response: HttpResponse) -> Reply:
        billed = bill(response.content)
        return msgspec.structs.replace(
            billed,
            model=billed.model or self._settings.served_as or self.model,
            usage=None if billed.usage is None else _priced(billed.usage, self._settings),
            request_id=response.headers.get("x-request-id"),
        )


def _fixed(settings: ChatSettings) -> Mapping[str, Any]:
    """Write what is the same in every request."""
    body: dict[str, Any] = {"model": settings.model, "temperature": 0}
    if settings.confidence == "log_probabilities":
        body |= {"logprobs": True, "top_logprobs": settings.top_logprobs}
    if settings.format == "object":
        body["response_format"] = {"type": "json_object"}
    if settings.max_tokens is not None:
        body[_bound(settings)] = settings.max_tokens
    return body


def _bound(settings: ChatSettings) -> str:
    """Name the field that bounds what is written."""
    host = f".{urlsplit(settings.base_url).hostname}"
    return "max_completion_tokens" if host.endswith(BY_OPENAI) else "max_tokens"


@contextmanager
def _charged(billed: Reply) -> Generator[None]:
    """Let what is no answer be paid for, too."""
    try:
        yield
    except NoAnswer as fault:
        raise NoAnswer(fault.reason, operator=fault.operator, reply=billed) from None


def _priced(usage: Usage, settings: ChatSettings) -> Usage:
    """Estimate a cost that is absent or 0 from the prices that the operator gives."""
    price_in, price_out = settings.price_input, settings.price_output
    if usage.cost_usd or price_in is None or price_out is None:
        return usage
    cost = (usage.input_tokens * price_in + usage.output_tokens * price_out) / MILLION
    return Usage(usage.input_tokens, usage.output_tokens, cost, estimated=True)


def chat(setup: Setup) -> Chat:
    """
    Make `chat`, or an instance of it.

    Raises:
        SetupError: The model is missing, a value is out of range, only one of two prices is
            given, or a key would go over plain http to another machine.

    """
    settings = setup.read(ChatSettings)
    if (settings.price_input is None) is not (settings.price_output is None):
        lacking = "PRICE_INPUT" if settings.price_input is None else "PRICE_OUTPUT"
        problem = "only one of two prices is given, so that a cost would be too low"
        raise SetupError.of(variable_of(setup, lacking), problem, "Set both, or none")
    if settings.api_key is not None:
        kept_from_the_clear(setup, settings.base_url, allowed=settings.allow_http)
    return Chat(setup.name, settings)
