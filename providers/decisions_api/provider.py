"""The one client of all hosted decision APIs: it speaks as its row of the table says."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from pydantic import SecretBytes

from ...gateway.answers import Reply
from ...gateway.errors import NoAnswer, Reason
from ...gateway.plugins import HttpRequest, HttpResponse
from ...gateway.remote import is_served_as_asked
from ...gateway.state import clean
from ...gateway.wire.bills import money
from ...gateway.wire.envelope import unwrapped
from ...gateway.wire.faults import fault_of, is_final
from .endpoints import IDENTIFIER
from .naming import Names
from .prices import known, priced
from .routed import went_elsewhere

if TYPE_CHECKING:
    from ...gateway.plugins import Call, Limits
    from ...gateway.questions import Ask
    from .reaching import Reached
    from .variables import Hosted

_NO = frozenset({"", "0", "false", "False", "none", "None"})  # how headers say that nothing was
_PURPOSE = b"pointsman-safety"  # so that the journal's hash of a subject is another one


class DecisionsApi:
    """
    One endpoint.

    Attributes:
        name: As selected, with its instance.
        model: As configured; the served one may carry a version.
        url: Where it asks.
        dialect: How: `openai` or `systemone`.
        limits: What endpoint and model take.
        timeout: Seconds for all attempts together.
        attempts: How often a request may be sent.

    """

    def __init__(
        self, name: str, settings: Hosted, there: Reached, model: str, hash_key: bytes
    ) -> None:
        self.name = name
        self.model = model
        self.timeout = settings.timeout_seconds
        self.attempts = settings.max_attempts
        self._settings = settings
        self._row = there.row
        self.url = there.url
        self.dialect = there.row.dialect
        self._wire = _wire(there.row.dialect)
        self._names = Names(there.row.ids)
        self._hash_key = SecretBytes(hash_key)  # shown by no debugger
        self._sent_model = model.rpartition("/")[2] if there.row.enveloped else model
        # the gateway owns the single fallback: a vendor may not fall back to another one
        self._vendor = model.removeprefix("~").rpartition("/")[0].partition("/")[0]
        routing = there.row.routing if self._vendor else None
        self._extra = {} if routing is None else routing(self._vendor)
        self.limits = self._limits()

    def __repr__(self) -> str:
        return f"DecisionsApi({self.name!r}, {self.url!r})"

    def exchange(self, ask: Ask, call: Call) -> Generator[HttpRequest, HttpResponse, Reply]:
        """
        Ask by one POST.

        Raises:
            NoAnswer: With the reason of the status, of the body, or `mismatched` where
                another model answered.

        """
        asked = self._names.sent(ask)
        body = self._wire.encode(asked, self._sent_model, self._beside(call))
        response = yield HttpRequest("POST", self.url, self._headers(), body, is_final)
        if response.status != 200:  # noqa: PLR2004 - the only success of this call
            raise fault_of(response)
        reply = self._names.back(ask, asked, self._read(asked, response))
        if self._fell_back(reply, response):
            raise NoAnswer(Reason.MISMATCHED, reply=self._completed(reply, response))
        return self._completed(reply, response)

    def _read(self, asked: Ask, response: HttpResponse) -> Reply:
        body = unwrapped(response.content) if self._row.enveloped else response.content
        try:
            reply: Reply = self._wire.decode(asked, body)
        except NoAnswer as fault:
            billed = None if fault.reply is None else self._completed(fault.reply, response)
            raise NoAnswer(fault.reason, operator=fault.operator, reply=billed) from None
        return reply

    def _beside(self, call: Call) -> Mapping[str, Any]:
        """Say what goes beside the dialect's own fields; the subject as a hash, never itself."""
        if call.subject is None or not self._row.subject:
            return self._extra
        return {
            **self._extra,
            self._row.subject: identifier(call.subject, self._hash_key.get_secret_value()),
        }

    def _headers(self) -> dict[str, str]:
        return {"content-type": "application/json", **self._row.headers(self._settings)}

    def _fell_back(self, reply: Reply, response: HttpResponse) -> bool:
        """Whether a server put another model, or another vendor, in the place of ours."""
        row = self._row
        if any(response.headers.get(name, "0") not in _NO for name in row.fallbacks):
            return True
        if row.routed and went_elsewhere(self._vendor, response.content):
            return True
        if not row.compares or not reply.model:
            return False
        also = row.also.get(self.model, self.model)
        return not any(is_served_as_asked(one, reply.model) for one in (self._compared(), also))

    def _compared(self) -> str:
        return self._sent_model if self._row.enveloped else self.model

    def _completed(self, reply: Reply, response: HttpResponse) -> Reply:
        headers, row = response.headers, self._row
        usage = reply.usage
        if usage is not None and usage.cost_usd is None and row.cost in headers:
            usage = msgspec.structs.replace(usage, cost_usd=money(headers[row.cost]))
        if usage is not None and row.priced:
            usage = priced(usage, reply.model, self.model)
        ids = (headers[name] for name in row.request_ids if name in headers)
        return msgspec.structs.replace(
            reply,
            usage=usage,
            request_id=next(ids, reply.request_id),
            model=reply.model or self.model,
        )

    def _limits(self) -> Limits:
        model = known(self.model) if self._row.priced else None
        if model is None or model.characters is None:
            return self._row.limits
        return msgspec.structs.replace(self._row.limits, characters=model.characters)


def _wire(dialect: str) -> Any:  # noqa: ANN401 - a module: `encode` and `decode`
    if dialect == "openai":
        from ...gateway.wire import openai

        return openai
    from ...gateway.wire import systemone

    return systemone


def identifier(subject: str, key: bytes) -> str:
    """Hash *subject* for a vendor: 64 hexadecimal digits, which need the key to be guessed."""
    told = clean(subject).encode()
    return hashlib.blake2b(told, digest_size=IDENTIFIER // 2, key=key, person=_PURPOSE).hexdigest()
