"""The server, described for machines: OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from .deciding import LONGEST
from .schemas import TEXT, Schema, components, ref

if TYPE_CHECKING:
    from .house import House

KEY = "key"
STATUSES: Mapping[int, str] = {
    400: "The body is not what the route takes, or what the point asks.",
    401: "No key, or one that is not valid.",
    402: "The key's budget is used up for today.",
    403: "The key may not do that; or, without keys, the request names no loopback host.",
    404: "There is no such thing.",
    408: "The body did not arrive in time.",
    409: "Nothing is kept here that could be added to.",
    413: "The body, or the state, is longer than what is taken.",
    415: "The body is no JSON in UTF-8, or packed by something else than zstd or gzip.",
    422: "Nobody was sure enough, or the provider refused.",
    424: "An answer came that is not believed, or no repetition helps; the code is the reason.",
    429: "Too much is asked; `retry-after` says when to try again.",
    500: "A bug of the server.",
    502: "The provider could not be reached, or failed; the code is its reason.",
    503: "Not now: too much at once, the provider is left alone, or the server is not set up.",
    504: "It was not decided in time.",
}
BODY = (400, 408, 413, 415)
DOOR = (400, 401, 403, 429, 503)
DECIDING = (402, 404, 424, 500, 502, 504)


def document(house: House) -> dict[str, Any]:
    """Describe the server as *house* serves it: its limits, and whether it asks for a key."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Pointsman",
            "version": version("pointsman"),
            "description": "Decisions in the dialects of OpenAI and TypeSafe, by whoever decides.",
        },
        "servers": [{"url": "/"}],
        "paths": {
            "/v1/decisions": {"post": _deciding("openai", "OpenAI", house)},
            "/v1/systemone": {"post": _deciding("systemone", "TypeSafe", house)},
            "/v1/feedback": {"post": _feedback(house)},
            "/v1/models": {"get": _models(house)},
            "/v1/models/{id}": {"get": _model(house)},
            "/metrics": {"get": _metrics(house)},
            "/healthz": {"get": _page("healthz", "The server is alive.", "Health")},
            "/readyz": {"get": _ready()},
            "/openapi.json": {"get": _openapi()},
        },
        "components": {
            "schemas": components(house.limits),
            "securitySchemes": {KEY: {"type": "http", "scheme": "bearer"}},
        },
    }


def _deciding(dialect: str, name: str, house: House) -> Schema:
    statuses = {*BODY, *DOOR, *DECIDING} | (set[int]() if dialect == "openai" else {422})
    return {
        "operationId": dialect,
        "summary": f"Ask for a decision in the dialect of {name}.",
        "description": "No questions mean the point's own. Bodies may be packed by zstd or gzip.",
        "parameters": [_SUBJECT],
        "requestBody": _body(f"{dialect}.Request"),
        "responses": {
            "200": {**_json("Decided.", f"{dialect}.Response"), "headers": _HEADERS},
            **_errors(statuses, f"{dialect}.Error"),
        },
        **_locked(house),
    }


def _feedback(house: House) -> Schema:
    return {
        "operationId": "feedback",
        "summary": "Tell what was found out about a decision.",
        "requestBody": _body("feedback.Told"),
        "responses": {
            "200": _json("Taken.", "Feedback"),
            **_errors({*BODY, *DOOR, 404, 409, 500, 504}, "openai.Error"),
        },
        **_locked(house),
    }


def _models(house: House) -> Schema:
    page = _page("models", "What can be asked, in the shapes of both dialects.", "Models")
    page["responses"].update(_errors({*DOOR, 500, 504}, "openai.Error"))
    return {**page, **_locked(house)}


def _model(house: House) -> Schema:
    page = _page("model", "One of what can be asked.", "Model")
    page["responses"].update(_errors({*DOOR, 404, 500, 504}, "openai.Error"))
    return {**page, "parameters": [_ID], **_locked(house)}


def _metrics(house: House) -> Schema:
    return {
        "operationId": "metrics",
        "summary": "Counters in the text format of Prometheus.",
        "responses": {
            "200": {"description": "Counted.", "content": {"text/plain": {"schema": TEXT}}},
            **_errors({*DOOR, 500, 504}, "openai.Error"),
        },
        **_locked(house),
    }


def _ready() -> Schema:
    page = _page("readyz", "Whether requests may be sent here.", "Readiness")
    page["responses"]["503"] = _json("The server is being shut down.", "Readiness")
    return page


def _openapi() -> Schema:
    content = {"application/json": {"schema": {"type": "object"}}}
    return {
        "operationId": "openapi",
        "summary": "This document.",
        "responses": {
            "200": {"description": "OpenAPI 3.1.", "content": content},
            **_errors({400}, "openai.Error"),
        },
    }


def _page(operation: str, summary: str, schema: str) -> Schema:
    return {
        "operationId": operation,
        "summary": summary,
        "responses": {"200": _json(summary, schema), **_errors({400}, "openai.Error")},
    }


def _locked(house: House) -> Schema:
    """Ask for a key where there are keys; else take one, and not look at it."""
    return {"security": [{KEY: []}] if house.keyed else [{}, {KEY: []}]}


def _body(schema: str) -> Schema:
    return {"required": True, "content": {"application/json": {"schema": ref(schema)}}}


def _json(description: str, schema: str) -> Schema:
    return {
        "description": description,
        "content": {"application/json": {"schema": ref(schema)}},
    }


def _errors(statuses: AbstractSet[int], schema: str) -> Schema:
    return {str(status): _json(STATUSES[status], schema) for status in sorted(statuses)}


_SUBJECT: Schema = {
    "name": "X-Pointsman-Subject",
    "in": "header",
    "description": "Who it is about; wins over the body. One subject stays in one arm of a split.",
    "schema": {**TEXT, "maxLength": LONGEST},
}
_ID: Schema = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "As it is listed; slashes and colons may stand as they are.",
    "schema": {**TEXT, "minLength": 1},
}
_HEADERS: Schema = {
    "x-request-id": {"description": "Id of the decision.", "schema": TEXT},
    "x-pointsman-provider": {"description": "Who decided; absent if nobody did.", "schema": TEXT},
}
