"""Pointsman as a library: `current`, an in-process provider, a cached answer, and over HTTP."""

from __future__ import annotations

import os
import sys
from typing import Any

from fixed import Fixed

from pointsman import Choice, Gateway, Record

from .bare import route, route_async
from .decision import INSTRUCTIONS, KEY, OPTIONS, TEXT
from .entries import Ways

QUESTION = Choice(INSTRUCTIONS, OPTIONS)
_CACHED_SECONDS = "3600"  # longer than any race


def current(_base: str) -> Ways:
    """Wrap a function that goes on deciding."""
    gateway = Gateway.from_env({"DECISION_LOG": "off"})  # no observer: nothing is looked at
    decided = gateway.point("TEAM", QUESTION)(route)
    decided_async = gateway.point("TEAM_ASYNC", QUESTION)(route_async)
    return Ways(lambda: decided("my invoice"), lambda: decided_async("my invoice"))


def in_process(_base: str) -> Ways:
    """Ask a provider that costs nothing, and write one event for each decision."""
    _quiet()
    return _wrapped({"DECISION_PROVIDER": "fixed", "DECISION_LOG": "json"}, asked="fixed")


def cached(base: str) -> Ways:
    """Ask a hosted provider once, and its cached answer from then on."""
    kept = {"DECISION_TEAM_CACHE_SECONDS": _CACHED_SECONDS}
    kept["DECISION_TEAM_ASYNC_CACHE_SECONDS"] = _CACHED_SECONDS
    return _wrapped({**_hosted(base), **kept, "DECISION_LOG": "off"}, asked="jev")


def over_http(base: str) -> Ways:
    """Ask a hosted provider."""
    return _wrapped({**_hosted(base), "DECISION_LOG": "off"}, asked="jev")


def over_http_told(base: str) -> Ways:
    """Ask a hosted provider, and write one event for each decision."""
    _quiet()
    return _wrapped({**_hosted(base), "DECISION_LOG": "json"}, asked="jev")


def _hosted(base: str) -> dict[str, str]:
    url = f"{base}/decision/v1"  # how a point's only question is named on the wire
    return {"AI_GATEWAY_API_KEY": KEY, "JEV_BASE_URL": url, "DECISION_PROVIDER": "jev"}


def _wrapped(variables: dict[str, str], *, asked: str) -> Ways:
    gateway = Gateway.from_env(variables, plugins=[Fixed()], observers=[_forget])
    decided = gateway.point("TEAM", QUESTION)(route)
    decided_async = gateway.point("TEAM_ASYNC", QUESTION)(route_async)
    given: Any = gateway.decide_sync(decided, TEXT)
    if given.provider != asked:  # the fallback must not be what is measured
        raise ValueError(f"asked {asked}, given {given.provider}: {given.reason}")
    return Ways(lambda: decided(TEXT), lambda: decided_async(TEXT))


def _forget(record: Record) -> None:
    """Take a record as a recorder does, and keep nothing, so that a long run does not grow."""


def _quiet() -> None:
    """Let the events be written, where nobody reads them."""
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - for its life
