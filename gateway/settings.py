"""
The only reader of the environment: variables in, a frozen `Settings` out, plans from it.

Names are mapped to values by our own parser (longest known suffix first; empty is unset;
names of global variables are reserved), since a point's variables carry the point's name.
pydantic-settings then validates the globals, each point's group and each provider's model.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from .environment import Environment, validated, variables_of
from .errors import Fault, raise_all
from .gates import Gate
from .trials import Arm, arms_of, is_split
from .variables import CURRENT, GLOBALS, PREFIX, SUFFIXES, Globals, PointVariables, parse

if TYPE_CHECKING:
    from .plugins import Offer
    from .points import DecisionPoint

__all__ = ["CURRENT", "GLOBALS", "PREFIX", "SUFFIXES", "Plan", "Settings", "parse"]

DEFAULT = "default"
MIN_CONFIDENCE = 0.7  # where nobody said otherwise; the hosts' own gates stand at 0.65–0.9
EXPERIMENT = "1"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """
    For one point, now: who answers, what is believed, what happens otherwise, and why.

    Attributes:
        point: Name of the point.
        provider: Who is asked; `current` for what the host runs today; a split as written.
        gate: What its answer has to clear, unless a certificate says otherwise.
        fallback: Whether `current` decides when it does not.
        deadline: Seconds for the whole decision; None: none.
        share: Part of the deadline that is kept for the fallback.
        why: Field → the variable that decided, or `default`.
        arms: Of a split, the candidates in their order, then `current`; else none.
        experiment: Id of the split.
        shadows: Who is asked in the background, never acted on.
        sample: Share of the decisions that are shadowed, in [0, 1].
        cache_seconds: How long a believed answer is kept for the same ask; None: not at all.
        inbox_wait: Seconds that the caller waits for a person; 0: nobody waits.

    """

    point: str
    provider: str
    gate: Gate
    fallback: bool
    deadline: float | None
    share: float
    why: Mapping[str, str]
    arms: tuple[Arm, ...] = ()
    experiment: str = EXPERIMENT
    shadows: tuple[str, ...] = ()
    sample: float = 1.0
    cache_seconds: float | None = None
    inbox_wait: float = 0.0

    @property
    def certifiable(self) -> bool:
        """Whether a certificate may set the threshold: no variable of the point does."""
        return not self.why["minimum"].startswith(PREFIX)


class Settings(msgspec.Struct, frozen=True):
    """
    All variables, read once.

    Attributes:
        variables: The raw names and values with their origins.
        globals: The ones that hold for all points.
        points: Suffix → its variables, also of points that nobody has declared yet.
        faults: What is wrong with them; a gateway raises it with what else it finds.
        read_of_providers: The variables that selected providers looked for, as they are made.
        minimums: Provider → the least confidence that its plug-in declares for it.

    """

    variables: Environment
    globals: Globals
    points: Mapping[str, PointVariables]
    faults: tuple[Fault, ...] = ()
    read_of_providers: set[str] = msgspec.field(default_factory=set[str])
    minimums: Mapping[str, float] = {}

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
        faults = list(variables.faults)
        read = validated(Globals, {name: name for name in GLOBALS}, variables.values, faults)
        points = {
            name: validated(PointVariables, group, variables.values, faults)
            for name, group in _grouped(variables.values).items()
        }
        return cls(variables, read, points, tuple(faults))

    def plan(self, point: DecisionPoint, provider: str | None = None) -> Plan:
        """
        Resolve the plan of *point*: the most specific name of its chain first.

        Args:
            point: The point.
            provider: One arm of its split, or one of its shadows; absent: whom its variables
                name.

        """
        names = point.names
        named, why_provider = self._first(names, "provider") or self._global(point)
        arms = arms_of(named) if provider is None and is_split(named) else ()
        named = named if provider is None else provider
        minimum, why_minimum = self._minimum(names, named, arms)
        fallback, why_fallback = self._first(names, "fallback_to_current") or (
            self.globals.fallback,
            self._said("DECISION_FALLBACK_TO_CURRENT"),
        )
        deadline, why_deadline = self._first(names, "deadline_seconds") or (None, DEFAULT)
        experiment, why_experiment = self._first(names, "experiment") or (EXPERIMENT, DEFAULT)
        shadow, why_shadow = self._first(names, "shadow") or ("", DEFAULT)
        cache, why_cache = self._first(names, "cache_seconds") or (None, DEFAULT)
        wait, why_wait = self._first(names, "inbox_wait_seconds") or (
            self.globals.inbox_wait,
            self._said("DECISION_INBOX_WAIT_SECONDS"),
        )
        return Plan(
            point=point.name,
            provider=named,
            gate=Gate(minimum, self.globals.scale),
            fallback=fallback,
            deadline=deadline,
            share=self.globals.share,
            arms=arms,
            experiment=experiment,
            shadows=tuple(shadow.split(",")) if shadow else (),
            sample=(self._first(names, "shadow_sample") or (1.0, DEFAULT))[0],
            cache_seconds=cache,
            inbox_wait=wait,
            why={
                "provider": why_provider,
                "minimum": why_minimum,
                "fallback": why_fallback,
                "deadline": why_deadline,
                **({"experiment": why_experiment} if arms else {}),
                **({"shadow": why_shadow} if shadow else {}),
                **({} if cache is None else {"cache": why_cache}),
                **({"inbox_wait": why_wait} if wait else {}),
            },
        )

    def own_minimum(self, provider: str) -> tuple[float, str]:
        """
        A provider's own threshold and who says so, whatever the point.

        A variable, else the plug-in that offers it (`default of committee`), else `default`.

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
        offered = provider.partition("/")[0]
        if offered in self.minimums:
            return self.minimums[offered], f"{DEFAULT} of {offered}"
        return MIN_CONFIDENCE, DEFAULT

    def knowing(self, offers: Mapping[str, Offer]) -> Settings:
        """Give the same where it is known which minimums providers declare for themselves."""
        minimums = {name: one.minimum for name, one in offers.items() if one.minimum is not None}
        return msgspec.structs.replace(self, minimums=minimums) if minimums else self

    def selected(self) -> list[tuple[str, str]]:
        """Give each variable that selects a provider, and the provider's name."""
        chosen = [
            (f"{PREFIX}{name}_{field.upper()}", value)
            for name, group in self.points.items()
            for field in ("provider", "shadow")
            if (value := getattr(group, field)) is not None
        ]
        chosen.append(("DECISION_PROVIDER", self.globals.provider))
        each = [(variable, one) for variable, value in chosen for one in _named(value)]
        return [(variable, name) for variable, name in each if name != CURRENT]

    def unread(self, points: Iterable[DecisionPoint]) -> list[Fault]:
        """List the `DECISION_` variables that no point among *points* reads."""
        from .misspelt import unread

        return list(unread(self.variables.values, {one for point in points for one in point.names}))

    def _minimum(
        self, names: Sequence[str], provider: str, arms: Sequence[Arm]
    ) -> tuple[float, str]:
        """Of a split each arm has its own; the first candidate's stands for them."""
        own = arms[0].provider if arms else provider
        return self._first(names, "min_confidence") or self.own_minimum(own)

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


def _named(value: str) -> list[str]:
    """Name the providers in a variable's value: one, a split, or a list of shadows."""
    if ":" in value:
        return [arm.provider for arm in arms_of(value)]
    return value.split(",")


def _grouped(values: Mapping[str, str]) -> dict[str, dict[str, str]]:
    groups: dict[str, dict[str, str]] = {}
    for variable in values:
        if (parsed := parse(variable)) and parsed[1].lower() in PointVariables.model_fields:
            groups.setdefault(parsed[0], {})[parsed[1].lower()] = variable
    return groups
