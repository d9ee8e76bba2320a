"""
The table: how each known address is spoken to.

A row is keyed by host *and* path: `/v1/decisions` is the OpenAI dialect at OpenAI, Vercel and
LiteLLM, and the TypeSafe dialect at Portkey and Perplexity. The first row of a provider's name
is where it goes unless its base URL says otherwise. To add a vendor, add a row, and its name to
`HOSTED` in `providers/__init__.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from pydantic import SecretStr

from ...gateway.plugins import Limits
from .prices import JEV
from .variables import ClefSettings, Hosted, JevSettings, PortkeySettings

Dialect: TypeAlias = Literal["openai", "systemone"]
Headers: TypeAlias = Callable[[Any], dict[str, str]]

DIALECTS: Mapping[Dialect, str] = {"openai": "OpenAI", "systemone": "TypeSafe"}
IDENTIFIER = 64  # characters of a safety identifier; Vercel cuts off what is longer


def bearer(settings: Hosted) -> dict[str, str]:
    """Send the key as a bearer token; no key, no header: an empty one is worse than none."""
    return _as_bearer(settings.api_key)


def _as_bearer(key: SecretStr | None) -> dict[str, str]:
    return {} if key is None else {"authorization": f"Bearer {key.get_secret_value()}"}


def _portkey(settings: PortkeySettings) -> dict[str, str]:
    key = "" if settings.api_key is None else settings.api_key.get_secret_value()
    own = {"x-portkey-api-key": key, "x-portkey-provider": settings.provider}
    return {**own, **_as_bearer(settings.provider_key)}


def _airs(settings: PortkeySettings) -> dict[str, str]:
    return {**bearer(settings), "x-portkey-provider": settings.provider}


def _vercel(vendor: str) -> dict[str, Any]:
    return {"providerOptions": {"gateway": {"only": [vendor]}}}


def _openrouter(vendor: str) -> dict[str, Any]:
    return {"provider": {"only": [vendor], "allow_fallbacks": False}}


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """
    One row.

    Attributes:
        provider: The name that selects it.
        host: Lower case; `*` stands for one label or more; empty: wherever the operator says.
        prefix: The path in front of `tail`.
        tail: The path's end; `{account}` and `{model}` are filled in.
        dialect: Of bodies.
        settings: Its variables.
        needs: Those of them that must be set.
        headers: What it wants to know of who asks.
        model: Where the operator names none. Pinned where the vendor's own default moves. Empty
            where `compares`: the operator must name one.
        limits: What it takes; longest states are those of the model, where it is known.
        ids: What a question may be called; others are renamed on the wire and back.
        enveloped: Bodies come in Cloudflare's envelope.
        routing: Vendor → what keeps its gateway from asking another one.
        routed: Bodies tell which vendor answered, behind a gateway of several.
        subject: Where a hash of the subject goes; empty: nowhere.
        request_ids: Headers that may hold the request's id, the best first.
        cost: A header with US dollars.
        fallbacks: Headers which say that another model answered.
        compares: Whether the model served must be the one asked for. Not where names are
            aliases that the server's operator made up.
        also: Model asked for → another name that it is served under.
        priced: Whether list prices hold: not on one's own machines.
        behind: Whether the key of a vendor behind it is needed too.

    """

    provider: str
    host: str = ""
    prefix: str = "/v1"
    tail: str
    dialect: Dialect
    settings: type[Hosted] = Hosted
    needs: tuple[str, ...] = ("api_key",)
    headers: Headers = bearer
    model: str = ""
    limits: Limits = Limits()
    ids: str = ""
    enveloped: bool = False
    routing: Callable[[str], dict[str, Any]] | None = None
    routed: bool = False
    subject: str = ""
    request_ids: tuple[str, ...] = ("x-request-id",)
    cost: str = ""
    fallbacks: tuple[str, ...] = ()
    compares: bool = True
    also: Mapping[str, str] = {}
    priced: bool = True
    behind: bool = False

    @property
    def path(self) -> str:
        """The whole path."""
        return self.prefix + self.tail

    def stands_at(self, host: str) -> bool:
        """Whether it is found at *host*."""
        label = re.escape(self.host).replace(r"\*", ".+")
        return bool(self.host) and re.fullmatch(label, host) is not None

    def covers(self, path: str) -> bool:
        """Whether it is what answers at *path* of its host."""
        pattern = re.sub(r"\\\{\w+\\\}", ".+", re.escape(self.path))
        return re.fullmatch(pattern, path) is not None


_FALLEN = (
    "x-ai-gateway-decision-fallback-triggered",
    "x-ai-gateway-evaluation-fallback-triggered",  # its older name, still sent
)
_JEV = JEV.characters

ENDPOINTS = (
    Endpoint(
        provider="jev",
        host="ai-gateway.vercel.sh",
        tail="/decisions",
        dialect="openai",
        settings=JevSettings,
        model="typesafe-ai/jev",  # moves with its versions; certificates name the one served
        limits=Limits(questions=400, characters=_JEV),
        routing=_vercel,
        routed=True,
        subject="safety_identifier",
        fallbacks=_FALLEN,
    ),
    Endpoint(
        provider="systemone",
        host="ai-gateway.vercel.sh",
        prefix="/typesafe/v1",
        tail="/systemone",
        dialect="systemone",
        limits=Limits(characters=_JEV),
        routed=True,
        fallbacks=_FALLEN,
    ),
    Endpoint(
        provider="openai",
        host="api.openai.com",
        tail="/decisions",
        dialect="openai",
        model="gpt-6-luna",
        limits=Limits(questions=400),
        subject="safety_identifier",
        also={"gpt-6-luna": "gpt-6-luna-decisions"},  # what gateways call the same model
    ),
    Endpoint(
        provider="typesafe",
        host="api.typesafe.ai",
        tail="/systemone",
        dialect="systemone",
        model="jev-1.13.0",  # `jev-latest` moves under calibrated thresholds
        limits=Limits(characters=_JEV),
        request_ids=("x-typesafe-request-id", "x-request-id"),
    ),
    Endpoint(
        provider="openrouter",
        host="openrouter.ai",
        prefix="/api/alpha",
        tail="/decisions",
        dialect="systemone",
        model="typesafe/jev-1.13",
        limits=Limits(questions=200),
        routing=_openrouter,
        routed=True,
        subject="user",
    ),
    Endpoint(
        provider="openrouter",
        host="openrouter.ai",
        prefix="/api/v1",
        tail="/systemone",
        dialect="systemone",
        model="typesafe/jev-1.13",
        limits=Limits(questions=200),
        routing=_openrouter,
        routed=True,
        subject="user",
    ),
    Endpoint(
        provider="portkey",
        host="api.portkey.ai",
        tail="/decisions",
        dialect="systemone",
        settings=PortkeySettings,
        headers=_portkey,
        behind=True,
        model="jev-1.13.0",
        limits=Limits(characters=_JEV),
        request_ids=("x-portkey-trace-id", "x-request-id"),
    ),
    Endpoint(
        provider="portkey",
        host="aigw.portkey.ai",
        tail="/decisions",
        dialect="systemone",
        settings=PortkeySettings,
        headers=_airs,  # there `authorization` is Portkey's own key
        limits=Limits(characters=_JEV),
        request_ids=("x-portkey-trace-id", "x-request-id"),
    ),
    Endpoint(
        provider="clef",
        host="api.cloudflare.com",
        prefix="/client/v4",
        tail="/accounts/{account}/ai/run/@cf/cloudflare/{model}",
        dialect="systemone",
        settings=ClefSettings,
        needs=("api_key", "account"),
        model="clef",
        limits=Limits(questions=64),
        ids="[A-Za-z0-9_.-]{1,100}",
        enveloped=True,
        request_ids=("cf-ai-req-id", "cf-ray"),
    ),
    Endpoint(
        provider="perplexity",
        host="api.perplexity.ai",
        tail="/decisions",
        dialect="systemone",
        model="pplx-decider-v1.2",
        limits=Limits(questions=128),
    ),
    Endpoint(
        provider="litellm",
        tail="/decisions",
        dialect="openai",
        needs=("base_url", "model"),  # what models it knows, its operator made up
        limits=Limits(questions=128),
        request_ids=("x-litellm-call-id", "x-request-id"),
        cost="x-litellm-response-cost",
        fallbacks=("x-litellm-attempted-fallbacks",),
        compares=False,
    ),
    Endpoint(
        provider="decisions",
        tail="/decisions",
        dialect="openai",
        needs=("base_url",),
        limits=Limits(questions=400),
        subject="safety_identifier",
        compares=False,
        priced=False,
    ),
    Endpoint(
        provider="systemone",
        tail="/systemone",
        dialect="systemone",
        needs=("base_url",),
        compares=False,
        priced=False,
    ),
    # known addresses that `systemone` is sent to
    Endpoint(
        provider="systemone",
        host="*.services.ai.azure.com",
        prefix="/providers/microsoft/v1",
        tail="/systemone",
        dialect="systemone",
        compares=False,  # the model is the name of a deployment
    ),
    Endpoint(
        provider="systemone",
        host="api-gateway.merge.dev",
        tail="/decisions",
        dialect="systemone",
    ),
)
