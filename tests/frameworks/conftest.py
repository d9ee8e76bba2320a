"""What the suites of all frameworks share: there the framework asks the person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pointsman import Gateway


@pytest.fixture
def gateway_of() -> Iterator[Callable[..., Gateway]]:
    """Make gateways from variables alone, whose questions to persons are not kept; close them."""
    made: list[Gateway] = []
    quiet = {"DECISION_LOG": "off", "DECISION_INBOX": "off"}

    def make(environ: dict[str, str] | None = None, **given: Any) -> Gateway:
        made.append(Gateway.from_env({**quiet, **(environ or {})}, **given))
        return made[-1]

    yield make
    for gateway in made:
        gateway.close()
