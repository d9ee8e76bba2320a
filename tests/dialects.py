"""
Every hosted decider as a local server speaks it, well and badly: composed, not recorded.

Bodies are put together from plain dicts by the vendors' documentation, never by our own encoders.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from faulty import (
    Does,
    Visit,
    chosen,
    cuts,
    drips,
    drops,
    failed,
    floods,
    hangs,
    replies,
)
from pointsman import Reason, Usage

TOKENS = 212
COST = 0.0000089  # US dollars, where a vendor tells them
BEARER = {"authorization": "Bearer zq7-key"}
HTML = b"<html>Bad gateway</html>"


class Pairs(list[tuple[str, Any]]):
    """A JSON object in which a name may come twice."""


class Vendor(msgspec.Struct, frozen=True, kw_only=True):
    """
    One row of the table of endpoints, as its server behaves.

    Attributes:
        id: Of the tests.
        provider: What selects it.
        dialect: `openai` or `systemone`.
        path: Where asks arrive.
        model: As asked for where no variable names one; empty: it must be named.
        served: What the server calls it.
        variables: What it needs besides its base URL.
        base: Its base URL; `{here}` is the local server, any other host is reached by a proxy.
        enveloped: Whether bodies come in Cloudflare's envelope.
        cost: Where money is told: `metadata`, `usage`, `header`, or nowhere.
        usd_per_million: List price of input; 0: nobody knows.
        request_id: The header of a request's id.
        fallback: A header which says that another model answered.
        compares: Whether the model served must be the one asked for.
        subject: Field of the safety identifier.
        headers: What must arrive with each request.
        beside: What must stand beside the dialect's own fields.

    """

    id: str
    provider: str
    dialect: str
    path: str
    model: str = ""
    served: str = "jev-1.13.0"
    variables: Mapping[str, str] = {}
    base: str = "http://{here}/v1"
    enveloped: bool = False
    cost: str = ""
    usd_per_million: float = 0.0
    request_id: str = "x-request-id"
    fallback: str = ""
    compares: bool = True
    subject: str = ""
    headers: Mapping[str, str] = msgspec.field(default_factory=lambda: dict(BEARER))
    beside: Mapping[str, Any] = {}

    @property
    def billed(self) -> Usage:
        """What each of its successes costs."""
        if self.cost:
            return Usage(TOKENS, 0, COST)
        if not self.usd_per_million:
            return Usage(TOKENS, 0)
        return Usage(TOKENS, 0, TOKENS * self.usd_per_million * 1e-6, estimated=True)

    def environ(self, here: str) -> dict[str, str]:
        """Give the variables that select it for everything, *here* being the local server."""
        prefix = self.provider.upper()
        base = self.base.format(here=here)
        allowed = {} if "{here}" in self.base else {f"{prefix}_ALLOW_HTTP": "true"}
        return {
            "DECISION_PROVIDER": self.provider,
            f"{prefix}_BASE_URL": base,
            **allowed,
            **self.variables,
        }

    def answered(self, *answers: Mapping[str, Any], **said: Any) -> bytes:
        """Write a success of *answers* in the words of `faulty.chosen`; *said* replaces fields."""
        given = list(answers) if answers or said.pop("empty", False) else [chosen()]
        usage: dict[str, Any] = {"input_tokens": TOKENS, "output_tokens": 0}
        body: dict[str, Any] = {"answers": self._answers(given), "model": self.served}
        if self.cost == "usage":
            usage["cost"] = COST
        elif self.cost == "metadata":
            gateway = {"generationId": "gen_x", "cost": "0.0000089"}
            body["provider_metadata"] = {"gateway": gateway}
        return self.wrapped({**body, "usage": usage, **said})

    def wrapped(self, body: object) -> bytes:
        """Put a body into the envelope, where there is one."""
        if self.enveloped:
            body = {"result": body, "success": True, "errors": [], "messages": []}
        return written(body).encode()

    def replies(self, body: bytes, status: int = 200, **headers: str) -> Does:
        """Reply as this server does, with its request id and its cost."""
        told = {"x-litellm-response-cost": str(COST)} if self.cost == "header" else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return replies(body, status, {self.request_id: "req_1", **told, **named})

    def says(self, *answers: Mapping[str, Any], **said: Any) -> Does:
        """Reply with a success of *answers*."""
        return self.replies(self.answered(*answers, **said))

    def speaks(self) -> Does:
        """Answer what is asked: the first option, yes, the middle level."""

        async def does(visit: Visit) -> bool:
            body = json.loads(visit.seen.body)
            asked = body["questions"]
            pairs = asked.items() if isinstance(asked, dict) else [(q["name"], q) for q in asked]
            answers = [_good(name, question) for name, question in pairs]
            return await self.says(*answers)(visit)

        return does

    def _answers(self, given: Sequence[Mapping[str, Any]]) -> object:
        if self.dialect == "openai":
            return list(given)
        return Pairs((str(one["name"]), _systemone(one)) for one in given)


def _systemone(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Say an answer of the OpenAI dialect in the TypeSafe dialect."""
    said = {name: value for name, value in answer.items() if name != "name"}
    if said["type"] == "predicate":
        return {"type": "noul", "noul": said["probability"]}
    if isinstance(spread := said.get("probabilities"), list):
        said["probabilities"] = Pairs((str(one["value"]), one["probability"]) for one in spread)
        if said["type"] == "score":
            said["legend"] = {str(one["value"]): one["label"] for one in spread}
    return said


def _good(name: str, question: Mapping[str, Any]) -> dict[str, Any]:
    kind = {"noul": "predicate"}.get(question["type"], question["type"])
    if kind == "predicate":
        return {"type": kind, "name": name, "probability": 0.9}
    if kind == "choice":
        options = _options(question)
        rest = [round(0.1 / (len(options) - 1), 4)] * (len(options) - 1)
        spread = dict(zip(options, [0.9, *rest], strict=True))
        return chosen(options[0], name=name, spread=spread, confidence=0.9)
    labels = [one["label"] for one in question["levels"]] if "levels" in question else None
    levels = labels or list(question["criteria"])
    middle = (len(levels) - 1) / 2
    shares = [1.0 if at == middle else 0.5 * (abs(at - middle) < 1) for at in range(len(levels))]
    listed = [
        {"value": at, "label": label, "probability": p}
        for at, (label, p) in enumerate(zip(levels, shares, strict=True))
    ]
    said = {"score": middle, "confidence": 0.9, "probabilities": listed}
    return {"type": "score", "name": name, **said}


def _options(question: Mapping[str, Any]) -> list[str]:
    if "choices" in question:
        return [one["value"] for one in question["choices"]]
    return list(question["criteria"])


def written(value: object) -> str:
    """Write JSON; `Pairs` are objects whose names may come twice."""
    if isinstance(value, Pairs):
        entries: Iterable[tuple[str, Any]] = value
    elif isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list):
        return f"[{','.join(map(written, value))}]"
    else:
        return json.dumps(value)
    return "{" + ",".join(f"{json.dumps(name)}:{written(one)}" for name, one in entries) + "}"


# --- the vendors -------------------------------------------------------------------------

JEV = Vendor(
    id="jev",
    provider="jev",
    dialect="openai",
    path="/v1/decisions",
    model="typesafe-ai/jev",
    served="typesafe-ai/jev-1.13.0",
    variables={"AI_GATEWAY_API_KEY": "zq7-key"},
    cost="metadata",
    fallback="x-ai-gateway-decision-fallback-triggered",
    subject="safety_identifier",
    beside={"providerOptions": {"gateway": {"only": ["typesafe-ai"]}}},
)

VENDORS = (
    JEV,
    Vendor(
        id="openai",
        provider="openai",
        dialect="openai",
        path="/v1/decisions",
        model="gpt-6-luna",
        served="gpt-6-luna-2026-10-06",
        variables={"OPENAI_API_KEY": "zq7-key"},
        usd_per_million=0.10,
        subject="safety_identifier",
    ),
    Vendor(
        id="typesafe",
        provider="typesafe",
        dialect="systemone",
        path="/v1/systemone",
        model="jev-1.13.0",
        variables={"TYPESAFE_API_KEY": "zq7-key"},
        usd_per_million=0.042,
        request_id="x-typesafe-request-id",
    ),
    Vendor(
        id="openrouter",
        provider="openrouter",
        dialect="systemone",
        path="/api/alpha/decisions",
        base="http://{here}/api/alpha",
        model="typesafe/jev-1.13",
        served="typesafe/jev-1.13-20260917",
        variables={"OPENROUTER_API_KEY": "zq7-key"},
        cost="usage",
        subject="user",
        beside={"provider": {"only": ["typesafe"], "allow_fallbacks": False}},
    ),
    Vendor(
        id="openrouter, systemone",
        provider="openrouter",
        dialect="systemone",
        path="http://openrouter.ai/api/v1/systemone",
        base="http://openrouter.ai/api/v1",
        model="typesafe/jev-1.13",
        served="typesafe/jev-1.13-20260917",
        variables={"OPENROUTER_API_KEY": "zq7-key"},
        cost="usage",
        subject="user",
        beside={"provider": {"only": ["typesafe"], "allow_fallbacks": False}},
    ),
    Vendor(
        id="portkey",
        provider="portkey",
        dialect="systemone",
        path="/v1/decisions",
        model="jev-1.13.0",
        variables={"PORTKEY_API_KEY": "zq7-portkey", "PORTKEY_PROVIDER_KEY": "zq7-key"},
        usd_per_million=0.042,
        headers={
            "authorization": "Bearer zq7-key",
            "x-portkey-api-key": "zq7-portkey",
            "x-portkey-provider": "typesafe",
        },
    ),
    Vendor(
        id="portkey, AIRS",
        provider="portkey",
        dialect="systemone",
        path="http://aigw.portkey.ai/v1/decisions",
        base="http://aigw.portkey.ai/v1",
        model="jev-1.13.0",
        variables={"PORTKEY_API_KEY": "zq7-key"},
        usd_per_million=0.042,
        headers={"authorization": "Bearer zq7-key", "x-portkey-provider": "typesafe"},
    ),
    Vendor(
        id="clef",
        provider="clef",
        dialect="systemone",
        path="/client/v4/accounts/acc0/ai/run/@cf/cloudflare/clef",
        base="http://{here}/client/v4",
        model="clef",
        served="clef",
        variables={"CLOUDFLARE_API_TOKEN": "zq7-key", "CLOUDFLARE_ACCOUNT_ID": "acc0"},
        enveloped=True,
        usd_per_million=0.24,
        request_id="cf-ray",
    ),
    Vendor(
        id="perplexity",
        provider="perplexity",
        dialect="systemone",
        path="/v1/decisions",
        model="pplx-decider-v1.2",
        served="pplx-decider-v1.2",
        variables={"PERPLEXITY_API_KEY": "zq7-key"},
        usd_per_million=0.02,
    ),
    Vendor(
        id="litellm",
        provider="litellm",
        dialect="openai",
        path="/v1/decisions",
        model="fast",
        served="typesafe/jev-1.13.0",
        variables={"LITELLM_MODEL": "fast", "LITELLM_API_KEY": "zq7-key"},
        cost="header",
        request_id="x-litellm-call-id",
        fallback="x-litellm-attempted-fallbacks",
        compares=False,
    ),
    Vendor(
        id="decisions",
        provider="decisions",
        dialect="openai",
        path="/v1/decisions",
        served="what-the-server-says",
        subject="safety_identifier",
        compares=False,
        headers={},
    ),
    Vendor(
        id="systemone",
        provider="systemone",
        dialect="systemone",
        path="/v1/systemone",
        served="what-the-server-says",
        compares=False,
        headers={},
    ),
    Vendor(
        id="systemone, Vercel",
        provider="systemone",
        dialect="systemone",
        path="http://ai-gateway.vercel.sh/typesafe/v1/systemone",
        base="http://ai-gateway.vercel.sh/typesafe/v1",
        model="typesafe-ai/jev",
        served="typesafe-ai/jev-1.13.0",
        variables={"SYSTEMONE_API_KEY": "zq7-key", "SYSTEMONE_MODEL": "typesafe-ai/jev"},
        cost="metadata",
        fallback="x-ai-gateway-decision-fallback-triggered",
    ),
    Vendor(
        id="systemone, Azure",
        provider="systemone",
        dialect="systemone",
        path="http://ours.services.ai.azure.com/providers/microsoft/v1/systemone",
        base="http://ours.services.ai.azure.com",
        model="deployed",
        served="Microsoft-Decision-1",
        variables={"SYSTEMONE_API_KEY": "zq7-key", "SYSTEMONE_MODEL": "deployed"},
        usd_per_million=0.042,
        compares=False,
    ),
    Vendor(
        id="systemone, Merge",
        provider="systemone",
        dialect="systemone",
        path="http://api-gateway.merge.dev/v1/decisions",
        base="http://api-gateway.merge.dev/v1",
        model="jev-1.13.0",
        variables={"SYSTEMONE_API_KEY": "zq7-key", "SYSTEMONE_MODEL": "jev-1.13.0"},
        usd_per_million=0.042,
    ),
)

# --- what they do wrong ------------------------------------------------------------------


class Fault(msgspec.Struct):
    """
    One row of the table of faults.

    Attributes:
        does: What the server does.
        reason: How the attempt is recorded.
        calls: How many requests reach the server: retries are bounded by two attempts.
        billed: Whether the rejected answer says what it cost.
        seconds: The provider's timeout.
        url: Where the provider is sent; `here` is the server.

    """

    does: Does
    reason: Reason
    calls: int = 1
    billed: bool = False
    seconds: float = 10.0
    url: str = "{here}"


def faults_of(vendor: Vendor) -> dict[str, Fault]:
    """Give what a server of *vendor* may do wrong, and how it is recorded."""
    return {**UNSAID, **_said(vendor), **_of_row(vendor)}


def status(code: int, reason: Reason, calls: int = 1, body: object = None, **headers: str) -> Fault:
    """A row that is no success."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(replies(body or failed("some_error"), code, named), reason, calls)


UNSAID: dict[str, Fault] = {
    # nobody there
    "refused connection": Fault(replies(), Reason.TRANSPORT, 0, url="{refused}"),
    "DNS failure": Fault(replies(), Reason.TRANSPORT, 0, url="https://nowhere.invalid/v1"),
    "TLS failure": Fault(replies(), Reason.TRANSPORT, 0, url="https://127.0.0.1:{port}/v1"),
    "hung up": Fault(drops(), Reason.TRANSPORT),
    "cut off": Fault(cuts(), Reason.TRANSPORT),
    # nobody in time
    "read timeout": Fault(hangs(), Reason.TIMEOUT, seconds=0.3),
    "slow drip, head": Fault(drips("head"), Reason.TIMEOUT, seconds=0.3),
    "slow drip, body": Fault(drips("body"), Reason.TIMEOUT, seconds=0.3),
    # no success
    "307": status(307, Reason.REJECTED, location="/v1/elsewhere"),
    "400": status(400, Reason.REJECTED),
    "400, too long": status(400, Reason.TOO_LARGE, body=failed("e", None, "max_tokens_exceeded")),
    "401": status(401, Reason.AUTH),
    "402": status(402, Reason.PAYMENT),
    "403": status(403, Reason.AUTH),
    "404": status(404, Reason.REJECTED, body=failed("model_not_found")),
    "408": status(408, Reason.TIMEOUT, 2),
    "413": status(413, Reason.TOO_LARGE),
    "422": status(422, Reason.REJECTED),
    "424": status(424, Reason.PROVIDER_ERROR),
    "429": status(429, Reason.RATE_LIMITED),
    "429, quota": status(429, Reason.PAYMENT, body=failed("insufficient_quota")),
    "429, Retry-After fits": status(429, Reason.RATE_LIMITED, 2, retry_after="0"),
    "429, Retry-After does not": status(429, Reason.RATE_LIMITED, retry_after="3600"),
    "429, quota, Retry-After": status(
        429, Reason.PAYMENT, body=failed("insufficient_quota"), retry_after="0"
    ),
    "500": status(500, Reason.PROVIDER_ERROR, 2),
    "503": status(503, Reason.PROVIDER_ERROR, 2),
    "529": status(529, Reason.PROVIDER_ERROR, 2),
    # no decision
    "empty": Fault(replies(b""), Reason.MALFORMED),
    "not JSON": Fault(replies(HTML), Reason.MALFORMED),
    "a page": Fault(replies(HTML, 200, {"content-type": "text/html"}), Reason.MALFORMED),
    "not UTF-8": Fault(replies(b'{"answers": "\xff"}'), Reason.MALFORMED),
    "oversized body": Fault(floods(9 * 1024 * 1024), Reason.MALFORMED),
}
"""What a server may do wrong before it says anything in its dialect."""

_TWICE = [{"value": "tech", "probability": 0.5}, {"value": "tech", "probability": 0.5}]


def spread(billing: float, tech: float, none: float) -> dict[str, object]:
    """Answer `TEAM` with a distribution."""
    return chosen(spread={"billing": billing, "tech": tech, "none": none})


def _said(vendor: Vendor) -> dict[str, Fault]:
    def says(reason: Reason, *answers: Mapping[str, Any], **said: Any) -> Fault:
        """A row whose answer is readable, costs money, and may not be believed."""
        return Fault(vendor.says(*answers, **said), reason, billed=True)

    def literal(number: str) -> Fault:
        """A row with a number that Python would write, and JSON does not know."""
        body = vendor.answered().replace(b"0.93", number.encode())
        return Fault(vendor.replies(body), Reason.INVALID_NUMBER, billed=True)

    no_kind = Reason.REFUSED if vendor.dialect == "openai" else Reason.MALFORMED
    held = {"type": "predicate", "name": "team", "probability": 1}
    return {
        "truncated JSON": Fault(vendor.replies(vendor.answered()[:-9]), Reason.MALFORMED),
        "wrong shape": says(Reason.MALFORMED, answers={"team": "tech"}),
        "wrong shape inside": says(Reason.MALFORMED, chosen(confidence="high")),
        "unknown kind": says(Reason.MALFORMED, chosen(type="ranking")),
        "error inside 200": says(Reason.PROVIDER_ERROR, **failed("server_error")),
        # another decision
        "wrong type": says(Reason.WRONG_TYPE, held),
        "missing answer": says(Reason.INCOMPLETE, empty=True),
        "extra answer": says(Reason.MISMATCHED, chosen(), chosen(name="mood")),
        "renamed answer": says(Reason.MISMATCHED, chosen(name="squad")),
        "duplicate name": says(Reason.MISMATCHED, chosen(), chosen()),
        # numbers and options
        "undeclared option": says(Reason.UNDECLARED_OPTION, chosen("sales")),
        "undeclared in spread": says(Reason.UNDECLARED_OPTION, chosen(spread={"sales": 1.0})),
        "NaN": literal("NaN"),
        "Infinity": literal("-Infinity"),
        "1.7": says(Reason.INVALID_NUMBER, chosen(confidence=1.7)),
        "1.7 in spread": says(Reason.INVALID_NUMBER, spread(0.0, 1.7, 0.0)),
        "percent": says(Reason.INVALID_NUMBER, chosen(confidence=93)),
        "negative": says(Reason.INVALID_NUMBER, chosen(confidence=-0.1)),
        "negative in spread": says(Reason.INVALID_NUMBER, spread(-0.03, 0.95, 0.08)),
        "sum of 0.8": says(Reason.INCONSISTENT, spread(0.1, 0.6, 0.1)),
        "sum of 1.2": says(Reason.INCONSISTENT, spread(0.1, 0.8, 0.3)),
        "option twice in spread": says(Reason.INCONSISTENT, chosen(probabilities=_TWICE)),
        "chosen is not maximal": says(Reason.INCONSISTENT, chosen("billing")),
        # valid, and not to be acted on
        "missing confidence": says(Reason.CONFIDENCE_MISSING, chosen(confidence=None)),
        "sentinel": says(Reason.CONFIDENCE_MISSING, chosen(confidence=0, spread={})),
        "low confidence": says(Reason.LOW_CONFIDENCE, chosen(confidence=0.69)),
        "refusal": says(no_kind, {"type": "refusal", "name": "team"}),
    }


def _of_row(vendor: Vendor) -> dict[str, Fault]:
    """What is wrong only where a vendor promises the model that was asked for."""
    rows: dict[str, Fault] = {}
    if vendor.fallback:
        fell = vendor.replies(vendor.answered(), 200, **{vendor.fallback: "true"})
        rows["vendor's fallback"] = Fault(fell, Reason.MISMATCHED, billed=True)
    if vendor.compares:
        others = {"another model": "acme/other", "another model, near": f"{vendor.served}elin"}
        for name, model in others.items():
            does = vendor.says(model=model)
            rows[name] = Fault(does, Reason.MISMATCHED, billed=True)
    return rows
