"""
The only reader of the environment: variables in, a frozen `Settings` out, plans from it.

Names are mapped to values by our own parser (longest known suffix first; empty is unset;
names of global variables are reserved), since a point's variables carry the point's name.
pydantic-settings then validates the globals, each point's group and each provider's model.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from . import unbuilt
from .acceptance import Gate, Scale
from .environment import Environment, ProviderName, validated, variables_of
from .errors import Fault, raise_all

if TYPE_CHECKING:
    from .points import DecisionPoint

CURRENT = "current"
"""The word for what the host runs today; a provider of this name stands in for it."""

PREFIX = "DECISION_"
DEFAULT = "default"
MIN_CONFIDENCE = 0.7  # where nobody said otherwise; the hosts' own gates stand at 0.65–0.9

M = TypeVar("M", bound=BaseModel)


class Globals(BaseSettings):
    """The variables that hold for all points."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", defer_build=True)

    provider: ProviderName = Field(CURRENT, alias="DECISION_PROVIDER")
    fallback: bool = Field(True, alias="DECISION_FALLBACK_TO_CURRENT")  # noqa: FBT003
    share: float = Field(0.5, alias="DECISION_FALLBACK_SHARE", gt=0, lt=1)
    scale: Scale = Field("reported", alias="DECISION_CONFIDENCE")
    strict: bool = Field(False, alias="DECISION_STRICT")  # noqa: FBT003
    plugins: str | None = Field(None, alias="DECISION_PLUGINS")
    log: Literal["console", "json", "off"] | None = Field(None, alias="DECISION_LOG")
    language: Annotated[str, AfterValidator(str.lower)] = Field("en", alias="DECISION_LANGUAGE")

    @property
    def allowed(self) -> tuple[str, ...] | None:
        """The plug-ins that may be loaded; None: all."""
        return (
            None
            if self.plugins is None
            else tuple(part.strip() for part in self.plugins.split(",") if part.strip())
        )


class PointVariables(BaseModel):
    """The variables of one name in a point's chain; each field is a suffix."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    provider: ProviderName | None = None
    min_confidence: float | None = Field(None, ge=0, le=1)
    fallback_to_current: bool | None = None
    deadline_seconds: float | None = Field(None, gt=0, allow_inf_nan=False)


GLOBALS = frozenset(str(field.alias) for field in Globals.model_fields.values())
SUFFIXES = tuple(
    sorted((*map(str.upper, PointVariables.model_fields), *unbuilt.SUFFIXES), key=len)
)[::-1]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """
    For one point, now: who answers, what is believed, what happens otherwise, and why.

    Attributes:
        point: Name of the point.
        provider: Who is asked; `current` for what the host runs today.
        gate: What its answer has to clear.
        fallback: Whether `current` decides when it does not.
        deadline: Seconds for the whole decision; None: none.
        share: Part of the deadline that is kept for the fallback.
        why: Field → the variable that decided, or `default`.

    """

    point: str
    provider: str
    gate: Gate
    fallback: bool
    deadline: float | None
    share: float
    why: Mapping[str, str]


class Settings(msgspec.Struct, frozen=True):
    """
    All variables, read once.

    Attributes:
        variables: The raw names and values with their origins.
        globals: The ones that hold for all points.
        points: Suffix → its variables, also of points that nobody has declared yet.
        faults: What is wrong with them; a gateway raises it with what else it finds.
        read_of_providers: The variables that selected providers looked for, as they are made.

    """

    variables: Environment
    globals: Globals
    points: Mapping[str, PointVariables]
    faults: tuple[Fault, ...] = ()
    read_of_providers: set[str] = msgspec.field(default_factory=set[str])

    @classmethod
    def read(
        cls,
        environ: Mapping[str, str] | None = None,
        env_file: str | os.PathLike[str] | None = None,
    ) -> Settings:
        """
        Read and validate everything that needs no plug-in.

        Raises:
            SetupError: With every fault found.

        """
        settings = cls.gathered(environ, env_file)
        raise_all(settings.faults)
        return settings

    @classmethod
    def gathered(
        cls,
        environ: Mapping[str, str] | None = None,
        env_file: str | os.PathLike[str] | None = None,
    ) -> Settings:
        """As `read`, but what is wrong stays in `faults`."""
        variables = Environment.read(environ, env_file)
        faults = [*variables.faults, *_not_built(variables.values)]
        read = validated(Globals, {name: name for name in GLOBALS}, variables.values, faults)
        points = {
            name: validated(PointVariables, group, variables.values, faults)
            for name, group in _grouped(variables.values).items()
        }
        return cls(variables, read, points, tuple(faults))

    def plan(self, point: DecisionPoint) -> Plan:
        """Resolve the plan of *point*: the most specific name of its chain first."""
        provider, why_provider = self._first(point.names, "provider") or self._global(point)
        minimum, why_minimum = self._minimum(point.names, provider)
        fallback, why_fallback = self._first(point.names, "fallback_to_current") or (
            self.globals.fallback,
            self._said("DECISION_FALLBACK_TO_CURRENT"),
        )
        deadline, why_deadline = self._first(point.names, "deadline_seconds") or (None, DEFAULT)
        return Plan(
            point=point.name,
            provider=provider,
            gate=Gate(minimum, self.globals.scale),
            fallback=fallback,
            deadline=deadline,
            share=self.globals.share,
            why={
                "provider": why_provider,
                "minimum": why_minimum,
                "fallback": why_fallback,
                "deadline": why_deadline,
            },
        )

    def own_minimum(self, provider: str) -> tuple[float, str]:
        """
        A provider's own threshold and the variable that says so, whatever the point.

        Raises:
            SetupError: The variable is no number in [0, 1].

        """
        for variable in variables_of(provider, "MIN_CONFIDENCE"):
            if variable in self.variables.values:
                faults: list[Fault] = []
                group = {"min_confidence": variable}
                read = validated(PointVariables, group, self.variables.values, faults)
                raise_all(faults)
                return read.min_confidence or 0.0, variable
        return MIN_CONFIDENCE, DEFAULT

    def selected(self) -> dict[str, str]:
        """Give each variable that selects a provider, and the provider's name."""
        chosen = {
            f"{PREFIX}{name}_PROVIDER": group.provider or CURRENT
            for name, group in self.points.items()
        }
        chosen["DECISION_PROVIDER"] = self.globals.provider
        return {variable: name for variable, name in chosen.items() if name != CURRENT}

    def unread(self, points: Iterable[DecisionPoint]) -> list[Fault]:
        """List the `DECISION_` variables that no point among *points* reads."""
        from .misspelt import unread

        return list(unread(self.variables.values, {one for point in points for one in point.names}))

    def _minimum(self, names: Sequence[str], provider: str) -> tuple[float, str]:
        return self._first(names, "min_confidence") or self.own_minimum(provider)

    def _first(self, names: Sequence[str], field: str) -> tuple[Any, str] | None:
        for name in names:
            if name in self.points and (value := getattr(self.points[name], field)) is not None:
                return value, f"{PREFIX}{name}_{field.upper()}"
        return None

    def _global(self, point: DecisionPoint) -> tuple[str, str]:
        if point.internal:
            return CURRENT, DEFAULT
        return self.globals.provider, self._said("DECISION_PROVIDER")

    def _said(self, variable: str) -> str:
        return variable if variable in self.variables.values else DEFAULT


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


def _grouped(values: Mapping[str, str]) -> dict[str, dict[str, str]]:
    groups: dict[str, dict[str, str]] = {}
    for variable in values:
        if (parsed := parse(variable)) and parsed[1].lower() in PointVariables.model_fields:
            groups.setdefault(parsed[0], {})[parsed[1].lower()] = variable
    return groups


def _not_built(values: Mapping[str, str]) -> Iterable[Fault]:
    for variable, value in values.items():
        _, suffix = parse(variable) or ("", "")
        if (fault := unbuilt.of_variable(variable, value, suffix)) is not None:
            yield fault
