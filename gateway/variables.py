"""
The variables: those that hold for all points, and those that each point has.

A field of `Globals` names its variable; a field of `PointVariables` is the suffix of one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from .gates import Scale
from .trials import CURRENT, arms_of, is_split

__all__ = ["CURRENT", "GLOBALS", "PREFIX", "SUFFIXES", "Globals", "PointVariables", "parse"]

PREFIX = "DECISION_"
YEAR = 365 * 86_400  # seconds; no clock that waits can be set to much more
OFF = "off"


def _provider(name: str) -> str:
    provider, slash, instance = name.partition("/")
    if ":" in name or "," in name:
        raise ValueError("a colon introduces a weight, which belongs into a split")
    if slash and provider == CURRENT:
        raise ValueError("`current` is what the host runs; it takes no instance")
    if slash and not re.fullmatch("[A-Za-z0-9_-]+", instance):
        raise ValueError("an instance is letters, digits, - and _, as in jev/eu")
    return name


def _providers(text: str) -> str:
    if not is_split(text):
        return _provider(text)
    arms = arms_of(text)
    for arm in arms:
        _provider(arm.provider)
    return text.replace(" ", "")


def _shadows(text: str) -> str:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if not name or _provider(name) == CURRENT:
            raise ValueError("it names providers that are asked beside `current`: jev or jev,other")
    if len(set(names)) < len(names):
        raise ValueError("it names a provider twice")
    return ",".join(names)


ProviderName = Annotated[str, AfterValidator(_provider)]
"""How a variable names one provider: `jev`, or `jev/eu` for an instance of it."""

ProviderNames = Annotated[str, AfterValidator(_providers)]
"""How a variable names who answers: one provider, or a split such as `current:90,jev:10`."""


class Globals(BaseSettings):
    """The variables that hold for all points."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", defer_build=True)

    provider: ProviderNames = Field(CURRENT, alias="DECISION_PROVIDER")
    fallback: bool = Field(True, alias="DECISION_FALLBACK_TO_CURRENT")  # noqa: FBT003
    share: float = Field(0.5, alias="DECISION_FALLBACK_SHARE", gt=0, lt=1)
    scale: Scale = Field("reported", alias="DECISION_CONFIDENCE")
    thresholds: Path | None = Field(None, alias="DECISION_THRESHOLDS")
    strict: bool = Field(False, alias="DECISION_STRICT")  # noqa: FBT003
    plugins: str | None = Field(None, alias="DECISION_PLUGINS")
    log: Literal["console", "json", "off"] | None = Field(None, alias="DECISION_LOG")
    language: Annotated[str, AfterValidator(str.lower)] = Field("en", alias="DECISION_LANGUAGE")
    journal: str = Field(OFF, alias="DECISION_JOURNAL")
    journal_content: Literal["none", "hash", "full"] = Field(
        "hash", alias="DECISION_JOURNAL_CONTENT"
    )
    journal_key: SecretStr | None = Field(None, alias="DECISION_JOURNAL_KEY")
    journal_redact: bool = Field(True, alias="DECISION_JOURNAL_REDACT")  # noqa: FBT003
    journal_spool: Path | None = Field(None, alias="DECISION_JOURNAL_SPOOL")
    inbox: bool = Field(True, alias="DECISION_INBOX")  # noqa: FBT003
    inbox_wait: float = Field(0.0, alias="DECISION_INBOX_WAIT_SECONDS", ge=0, le=YEAR)
    otel: bool = Field(False, alias="DECISION_OTEL")  # noqa: FBT003
    otel_content: bool = Field(False, alias="DECISION_OTEL_CONTENT")  # noqa: FBT003

    @property
    def allowed(self) -> tuple[str, ...] | None:
        """The plug-ins that may be loaded; None: all."""
        return (
            None
            if self.plugins is None
            else tuple(part.strip() for part in self.plugins.split(",") if part.strip())
        )

    @property
    def journaled(self) -> bool:
        """Whether records are kept."""
        return self.journal.lower() != OFF


class PointVariables(BaseModel):
    """The variables of one name in a point's chain; each field is a suffix."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    provider: ProviderNames | None = None
    experiment: str | None = None
    shadow: Annotated[str, AfterValidator(_shadows)] | None = None
    shadow_sample: float | None = Field(None, ge=0, le=1)
    min_confidence: float | None = Field(None, ge=0, le=1)
    fallback_to_current: bool | None = None
    deadline_seconds: float | None = Field(None, gt=0, allow_inf_nan=False)
    cache_seconds: float | None = Field(None, gt=0, allow_inf_nan=False)
    inbox_wait_seconds: float | None = Field(None, ge=0, le=YEAR)


GLOBALS = frozenset(str(field.alias) for field in Globals.model_fields.values())
SUFFIXES = tuple(sorted(map(str.upper, PointVariables.model_fields), key=len))[::-1]


def parse(variable: str) -> tuple[str, str] | None:
    """Split a point's *variable* into point and suffix, the longest known suffix first."""
    if not variable.startswith(PREFIX) or variable in GLOBALS:
        return None
    rest = variable.removeprefix(PREFIX)
    for suffix in SUFFIXES:
        point = rest.removesuffix(f"_{suffix}")
        if point and point != rest:
            return point, suffix
    return None
