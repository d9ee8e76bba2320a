"""What all tests share: a server that misbehaves when told, and gateways that are closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from faulty import Server
from pointsman import Gateway


@pytest.fixture(scope="session")
def one_server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def server(one_server: Server) -> Server:
    """A server that answers well until told otherwise; it has forgotten earlier tests."""
    one_server.does()
    return one_server


@pytest.fixture
def gateway_of() -> Iterator[Callable[..., Gateway]]:
    """Make gateways from variables alone, and close them."""
    made: list[Gateway] = []

    def make(environ: dict[str, str] | None = None, **given: Any) -> Gateway:
        made.append(Gateway.from_env({"DECISION_LOG": "off", **(environ or {})}, **given))
        return made[-1]

    yield make
    for gateway in made:
        gateway.close()
