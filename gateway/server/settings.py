"""The variables of the server, each `SERVER_` and the name of a field."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from ..environment import validated
from ..errors import Fault, raise_all
from ..misspelt import unread_of_providers
from ..settings import Settings

PREFIX = "SERVER_"


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """
    What one worker takes from its clients.

    Attributes:
        max_body_bytes: Of a request, packed or unpacked.
        max_questions: Of one request.
        max_options: Of one choice.
        max_depth: How deep brackets may be nested in a body.
        max_seconds: For one request, from its whole head to its answer.
        max_concurrent: Requests that are answered at once.
        max_connections: That are open at once.
        header_seconds: Until the head of a request is complete.
        max_header_bytes: Of a request's line and headers together.
        max_headers: Of one request.
        keep_alive_seconds: That a connection may wait for its next request.
        drain_seconds: For the requests under way, once the server is told to end.

    """

    max_body_bytes: int = 1_048_576
    max_questions: int = 400
    max_options: int = 255
    max_depth: int = 32
    max_seconds: float = 30.0
    max_concurrent: int = 1000
    max_connections: int = 4000
    header_seconds: float = 10.0
    max_header_bytes: int = 32_768
    max_headers: int = 100
    keep_alive_seconds: int = 75
    drain_seconds: int = 20


class ServerSettings(BaseModel):
    """
    Where the server listens, with how many workers, and what it takes.

    The defaults of the limits: a decision's state rarely exceeds some kilobytes, and a megabyte
    is twice the largest that a hosted decider takes; 400 questions of 255 options are what those
    APIs take at most. Balancers keep connections for 60 s, so ours last longer (75 s): else
    one is closed just as the next request is sent on it.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    host: str = "127.0.0.1"
    port: int = Field(8080, ge=0, le=65535)
    workers: int = Field(1, ge=1, le=256)
    max_body_bytes: int = Field(1_048_576, ge=1024, le=67_108_864)
    max_questions: int = Field(400, ge=1, le=1000)
    max_options: int = Field(255, ge=2, le=255)  # no choice of the engine takes more
    max_depth: int = Field(32, ge=4, le=500)
    max_seconds: float = Field(30.0, gt=0, le=3600)
    max_concurrent: int = Field(1000, ge=1, le=100_000)
    max_connections: int = Field(4000, ge=1, le=100_000)
    header_seconds: float = Field(10.0, gt=0, le=600)
    max_header_bytes: int = Field(32_768, ge=1024, le=1_048_576)
    max_headers: int = Field(100, ge=10, le=10_000)
    keep_alive_seconds: int = Field(75, ge=1, le=3600)
    drain_seconds: int = Field(20, ge=1, le=3600)

    @classmethod
    def of(cls, settings: Settings) -> ServerSettings:
        """
        Read the variables.

        Raises:
            SetupError: With every fault, each naming its variable.

        """
        faults: list[Fault] = []
        group = {name: f"{PREFIX}{name.upper()}" for name in cls.model_fields}
        read = validated(cls, group, settings.variables.values, faults)
        raise_all(faults)
        return read

    @property
    def limits(self) -> ServerLimits:
        """What one worker takes."""
        return msgspec.convert(self.model_dump(exclude={"host", "port", "workers"}), ServerLimits)

    @staticmethod
    def strayed(settings: Settings) -> Iterable[Fault]:
        """List variables that look like one of the server's, but are none."""
        read = {f"{PREFIX}{name.upper()}" for name in ServerSettings.model_fields}
        for fault in unread_of_providers(settings.variables.values, read, (PREFIX,)):
            yield msgspec.structs.replace(fault, problem="the server does not read this variable")
