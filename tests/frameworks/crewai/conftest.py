"""What CrewAI's tests share: no network, no hook that outlives its test, and a model of ours."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

with contextlib.suppress(importlib.metadata.PackageNotFoundError):
    importlib.metadata.version("crewai")  # elsewhere these would silence the spans of other tests
    os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("CREWAI_DISABLE_TRACKING", "true")
    os.environ.setdefault("OTEL_SDK_DISABLED", "true")
    os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

HERE = ("127.0.0.1", "::1", "localhost")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """CrewAI makes no network call: one would be refused here, and found."""
    tried: list[object] = []
    connect = socket.socket.connect

    def careful(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in HERE:
            tried.append(address)
            raise OSError("offline")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", careful)
    yield
    assert tried == []


@pytest.fixture(autouse=True)
def _no_hooks() -> Iterator[None]:
    yield
    if importlib.util.find_spec("crewai") is not None:
        from crewai.hooks.dispatch import clear_all

        clear_all()
