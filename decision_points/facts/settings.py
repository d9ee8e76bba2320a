"""The variables of facts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from ...gateway.environment import Environment, validated
from ...gateway.errors import Fault, raise_all
from ...gateway.misspelt import unread_of_providers

PREFIX = "FACTS_"


class FactsSettings(BaseModel):
    """
    The variables of facts; where they are kept is the journal's `DECISION_JOURNAL`.

    Attributes:
        policy: `FACTS_POLICY`: the file that declares attributes; absent: what was adopted.
        registry: `FACTS_REGISTRY`: the file that ranks sources; absent: what was adopted.
        namespace: `FACTS_NAMESPACE`: whose facts; nothing of one is seen from another.
        source: `FACTS_SOURCE`: whose word it is that tools and adapters write down.
        writer: `FACTS_WRITER`: who read it there.

    """

    model_config = ConfigDict(frozen=True)

    policy: Path | None = None
    registry: Path | None = None
    namespace: str = Field("default", min_length=1, max_length=200)
    source: str = Field("", max_length=200)
    writer: str = Field("", max_length=200)


def facts_settings(
    environ: Mapping[str, str] | None = None, env_file: str | os.PathLike[str] | None = None
) -> FactsSettings:
    """
    Read the variables of *environ*, or of the process; they win over *env_file*.

    Raises:
        SetupError: One cannot be read, or is misspelt; with every fault at once.

    """
    read = Environment.read(environ, env_file)
    faults = list(read.faults)
    group = {name: f"{PREFIX}{name.upper()}" for name in FactsSettings.model_fields}
    made = validated(FactsSettings, group, read.values, faults)
    raise_all([*faults, *_misspelt(read.values, group.values())])
    return made


def _misspelt(values: Mapping[str, str], read: Iterable[str]) -> Iterable[Fault]:
    for fault in unread_of_providers(values, set(read), (PREFIX,)):
        yield msgspec.structs.replace(fault, problem="nothing reads this variable")
