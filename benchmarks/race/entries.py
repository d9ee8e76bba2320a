"""
Who takes part as a library: one line each, and what a contestant offers.

Only the standard library: the workers of the peers read it in their own environments.
"""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

PEER, OURS, BARE = "race.peers", "race.ours", "race.bare"


class Ways(NamedTuple):
    """How a contestant takes the decision: each gives the answer, or None where it has no such."""

    sync: Callable[[], str] | None
    asynchronous: Callable[[], Awaitable[str]] | None


class Library(NamedTuple):
    """
    One contestant.

    Attributes:
        title: As printed.
        module: Where its maker stands.
        maker: Makes its `Ways` from the upstream's base URL.
        environment: The folder with its packages; empty for the project's own.
        package: The distribution whose version is told; empty for Python itself.
        beside: What it is compared with: the key of a bare contestant.
        times: Decisions of one round: more where one takes microseconds.

    """

    title: str
    module: str
    maker: str
    environment: str
    package: str
    beside: str
    times: int


LIBRARIES = {
    "call": Library("a bare call", BARE, "call", "", "", "call", 5000),
    "httpx": Library("bare httpx", BARE, "bare_httpx", "", "httpx", "httpx", 200),
    "current": Library("Pointsman, `current`", OURS, "current", "", "pointsman", "call", 5000),
    "in-process": Library(
        "Pointsman, in-process, with its event", OURS, "in_process", "", "pointsman", "call", 500
    ),
    "cached": Library("Pointsman, cached answer", OURS, "cached", "", "pointsman", "call", 500),
    "http": Library("Pointsman, over HTTP", OURS, "over_http", "", "pointsman", "httpx", 200),
    "http-event": Library(
        "Pointsman, over HTTP, with its event",
        OURS,
        "over_http_told",
        "",
        "pointsman",
        "httpx",
        200,
    ),
    "tensorzero": Library(
        "TensorZero embedded", PEER, "tensorzero", "tensorzero", "tensorzero", "httpx", 100
    ),
    "pydecide": Library("pydecide", PEER, "pydecide", "pydecide", "pydecide", "httpx", 100),
    "decision-gateway": Library(
        "decision-gateway", PEER, "decision_gateway", "dg", "decision-gateway", "httpx", 50
    ),
    "langgraph-jev-router": Library(
        "langgraph-jev-router", PEER, "jev_router", "ljr", "langgraph-jev-router", "httpx", 50
    ),
    "pydantic-ai": Library(
        "pydantic-ai", PEER, "pydantic_ai", "pai", "pydantic-ai-slim", "httpx", 50
    ),
    "litellm": Library("LiteLLM SDK", PEER, "litellm_sdk", "litellm", "litellm", "httpx", 50),
    "litellm-router": Library(
        "LiteLLM Router", PEER, "litellm_router", "litellm", "litellm", "httpx", 50
    ),
}


def version_of(package: str) -> str:
    """Tell which version is installed here; Python's own where there is no package."""
    try:
        return version(package) if package else platform.python_version()
    except PackageNotFoundError:
        return ""
