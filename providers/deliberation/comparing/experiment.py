"""An experiment: which arms, of whom, on which terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from ....gateway.errors import Fault, SetupError, raise_all
from ..measures.matching import debate_calls
from ..panel import Member, seated
from ..roles import get_role
from .arms import DEBATES, MATCHED, OF_ONE, Arm, Match, arms_of, bound
from .matching import samples
from .rows import Row

if TYPE_CHECKING:
    from ....gateway.gateway import Gateway

Content = Literal["roles", "content"]
Rule = Literal["majority", "plurality"]

PAIR = 2  # members that can debate
T = TypeVar("T")


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is tried.

    Attributes:
        arms: In the order in which they are told.
        panel: Who deliberates.
        single: Who the arms of one are made of.
        skeptic: Who speaks for a skeptic that is not on the panel.
        rounds: Of a debate.
        match: What the arms of one are matched by.
        placebo: What is empty in a placebo: the `roles`, or also the `content`: peers'
            answers are then those of another case.
        rule: What decides a vote.
        seed: Of what members are shown, and of the intervals.
        turn_seconds: Limit of one turn.
        seconds: Limit of one arm on one case.

    """

    arms: tuple[Arm, ...]
    panel: tuple[Member, ...] = ()
    single: str = ""
    skeptic: str = ""
    rounds: int = 2
    match: Match = "calls"
    placebo: Content = "roles"
    rule: Rule = "majority"
    seed: int = 7
    turn_seconds: float = 60.0
    seconds: float = 600.0

    @property
    def placebo_panel(self) -> tuple[Member, ...]:
        """The panel without anybody's point of view."""
        return tuple(
            msgspec.structs.replace(member, role=get_role(f"placebo_{number}"))
            for number, member in enumerate(self.panel, start=1)
        )

    @property
    def roleless(self) -> bool:
        """Whether a placebo of roles is nearly the debate itself: nobody has a role of its own."""
        told = {get_role("generalist").instructions, ""}
        return all(member.role.instructions in told for member in self.panel)

    @property
    def again(self) -> tuple[str, ...]:
        """Providers that are asked the very same more than once: a role twice, or samples."""
        together = any(arm.way not in (*OF_ONE, "provider", "placebo") for arm in self.arms)
        seats = [(one.provider, one.role) for one in self.panel] if together else []
        twice = [provider for provider, role in seats if seats.count((provider, role)) > 1]
        sampled = any(arm.way in MATCHED for arm in self.arms)
        return tuple(dict.fromkeys([*twice, *([self.single] if sampled else [])]))

    @property
    def alone(self) -> Member:
        """Who the arms of one are made of."""
        return Member(name="single", provider=self.single, role=get_role("generalist"))

    @property
    def reference(self) -> str:
        """The debate whose cost is matched: `debate` before others; empty: there is none."""
        ways = [arm.way for arm in self.arms]  # such an arm is called as its way is
        return next((way for way in DEBATES if way in ways), "")

    @property
    def providers(self) -> tuple[str, ...]:
        """Everybody who is asked."""
        together = any(arm.way != "provider" for arm in self.arms)
        named = [one.provider for one in self.panel] if together else []
        own = [arm.provider for arm in self.arms if arm.provider]
        rest = [self.single, self.skeptic] if together else []
        return tuple(dict.fromkeys(one for one in (*named, *rest, *own) if one))

    def reserved(self, arm: Arm, debate: Row | None) -> int:
        """Most calls of *arm* on a case whose debate is known, or is as planned."""
        k = samples(arm, self.measured(debate), self.match).k
        return bound(arm, len(self.panel), self.rounds, k)

    def measured(self, debate: Row | None) -> Row | int:
        """What is matched with: the debate as it was run, else its calls as planned."""
        return debate_calls(len(self.panel), self.rounds) if debate is None else debate

    @property
    def settings(self) -> dict[str, str]:
        """Everything that an arm's answer depends on; which arms there are is none of it."""
        return {
            "--single": self.single,
            "--skeptic": self.skeptic,
            "--rounds": str(self.rounds),
            "--match": self.match,
            "--placebo": self.placebo,
            "--rule": self.rule,
            "--seed": str(self.seed),
            "--turn-seconds": str(self.turn_seconds),
            "--seconds": str(self.seconds),
        }


def experiment_of(arms: str, members: str, terms: Mapping[str, Any]) -> Experiment:
    """
    Read an experiment from its options.

    Args:
        arms: As `arms_of` reads them.
        members: As `seated` reads them; empty: there is no panel.
        terms: Further fields of `Experiment`; None: its own default.

    Raises:
        SetupError: With every option that is wrong.

    """
    faults: list[Fault] = []
    tried = _read(arms_of, arms, "--arms", faults)
    panel = _read(seated, members, "--members", faults) if members else ()
    faults += [] if faults else _lacking(tried, panel)
    faults += _endless(terms)
    raise_all(faults)
    first = panel[0].provider if panel else ""
    given: dict[str, Any] = {name: value for name, value in terms.items() if value is not None}
    fields: dict[str, Any] = {"single": first, "skeptic": first, **given}
    made = Experiment(arms=tried, panel=panel, **fields)
    raise_all(_empty(made))
    return made


def _read(
    read: Callable[[str], tuple[T, ...]], text: str, option: str, faults: list[Fault]
) -> tuple[T, ...]:
    try:
        return read(text)
    except ValueError as error:
        faults.append(Fault(option, str(error), "Nothing was asked. Correct it"))
        return ()


def _lacking(arms: Sequence[Arm], panel: Sequence[Member]) -> list[Fault]:
    """What the arms need, and is not there."""
    names = [arm.name for arm in arms if arm.way != "provider"]
    if names and not panel:
        fix = "Name one: --members jev,chat/fast"
        return [Fault("--members", f"{', '.join(names)} need a panel", fix)]
    debates = [arm.name for arm in arms if arm.way in DEBATES]
    if debates and len(panel) < PAIR:
        fix = "Name another member"
        return [Fault("--members", f"{debates[0]} takes two members; one is named", fix)]
    return []


def _endless(terms: Mapping[str, Any]) -> list[Fault]:
    """Limits that are none."""
    return [
        Fault(f"--{name.replace('_', '-')}", f"{value} is no number of seconds", "Write like 60")
        for name in ("turn_seconds", "seconds")
        if (value := terms.get(name)) is not None and not math.isfinite(value)
    ]


def _empty(experiment: Experiment) -> list[Fault]:
    """A placebo of another case's answers needs an arm that has some."""
    ways = {arm.way for arm in experiment.arms}
    alone = "placebo" in ways and not ways & {"independent", "debate", "debate_skeptic"}
    if experiment.placebo == "content" and alone:
        problem = "its peers' answers are those of another case, and no arm gives them"
        return [Fault("--placebo", problem, "Add `debate` or `independent` to --arms")]
    return []


def reachable(experiment: Experiment, gateway: Gateway) -> None:
    """
    Make sure that everybody can be asked.

    Raises:
        SetupError: With everyone who cannot, and with who is installed.

    """
    faults: list[Fault] = []
    for name in experiment.providers:
        try:
            if not gateway.knows_provider(name):
                gateway.provider(name)
        except SetupError as error:
            faults += error.faults
    raise_all(faults)
