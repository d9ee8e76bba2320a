"""Who sits on a committee: read from its variables and checked before anybody is asked."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ....gateway.environment import variables_of
from ....gateway.errors import Fault, SetupError, raise_all
from ....gateway.plugins import Limits, Provider, Setup
from ....gateway.remote import variable_of
from ....gateway.variables import CURRENT
from ..panel import Member, seated
from ..roles import get_role, read_roles
from .settings import CommitteeSettings

DELIBERATING = ("committee", "debate")  # known by name, so that none is made to find it out
SKEPTIC = "skeptic"
JUDGE = "judge"
DEBATES = ("debate", "skeptic", "placebo")


class Seats(msgspec.Struct, frozen=True, kw_only=True):
    """
    Who takes part.

    Attributes:
        members: Those who answer, in the order of the variable.
        judge: Whose vote is cast where no majority decides; None: nobody's.
        models: Member → its model as configured; empty where it names none.
        limits: What all of them take.
        minimums: Member → the least confidence from which it is believed, where it has one.
        alike: Providers of which several votes are one: they sit twice in one role, and say the
            same each time.

    """

    members: tuple[Member, ...]
    judge: Member | None
    models: Mapping[str, str]
    limits: Limits
    minimums: Mapping[str, float] = {}
    alike: tuple[str, ...] = ()

    @property
    def everybody(self) -> tuple[Member, ...]:
        """The members and the judge."""
        return self.members if self.judge is None else (*self.members, self.judge)

    @property
    def has_current(self) -> bool:
        """Whether the host's own path is one of them."""
        return any(one.provider == CURRENT for one in self.everybody)


def seats_of(setup: Setup, settings: CommitteeSettings) -> Seats:
    """
    Seat the committee that *settings* describe.

    Raises:
        SetupError: With everything that is wrong: a role's file, a member that is not installed
            or not set up, one that deliberates itself, too few for the protocol.

    """
    faults: list[Fault] = []
    roles = read_roles(settings.roles, variable_of(setup, "ROLES"), faults)
    members = _cast(seated(settings.members, roles), settings)
    judge = None
    if settings.judge is not None:
        judge = Member(name=JUDGE, provider=settings.judge, role=get_role("generalist"))
    seats = Seats(members=members, judge=judge, models={}, limits=Limits())
    faults += _unfit(setup, settings, seats)
    made = dict(_made(setup, seats, faults))
    raise_all(dict.fromkeys(faults))
    return msgspec.structs.replace(
        seats,
        models={name: str(getattr(one, "model", "")) for name, one in made.items()},
        limits=_narrowest(made.values()),
        minimums=_minimums(setup, seats),
        alike=_alike(settings, members, made),
    )


def _minimums(setup: Setup, seats: Seats) -> dict[str, float]:
    stands = {CURRENT: _stand_in(setup)}
    asked = {one.name: stands.get(one.provider, one.provider) for one in seats.everybody}
    return {name: setup.settings.own_minimum(who)[0] for name, who in asked.items() if who}


def _alike(
    settings: CommitteeSettings, members: tuple[Member, ...], made: Mapping[str, Provider]
) -> tuple[str, ...]:
    """Name those who compute their answer in-process: nothing differs when they are asked again."""
    times = settings.samples if settings.protocol == "cost_matched" else 1
    seated_as = Counter((one.provider, one.role) for one in members if computes(made.get(one.name)))
    return tuple(dict.fromkeys(name for (name, _), many in seated_as.items() if many * times > 1))


def computes(provider: object) -> bool:
    """Whether it answers in-process, so that it says the same each time."""
    answer = getattr(provider, "answer", None)
    return answer is not None and not inspect.iscoroutinefunction(answer)


def _cast(members: tuple[Member, ...], settings: CommitteeSettings) -> tuple[Member, ...]:
    """A placebo debate has the same panel without anybody's point of view."""
    if settings.protocol != "placebo":
        return members
    return tuple(
        msgspec.structs.replace(member, role=get_role(f"placebo_{number}"))
        for number, member in enumerate(members, 1)
    )


def _unfit(setup: Setup, settings: CommitteeSettings, seats: Seats) -> Iterator[Fault]:
    """What contradicts itself whoever the members are."""
    members, protocol = seats.members, settings.protocol
    providers = [one.provider for one in members]
    told = variable_of(setup, "MEMBERS")
    if providers.count(CURRENT) > 1:
        yield Fault(told, "`current` sits on it twice, and runs once", "Name it once")
    if CURRENT in providers and _base(_stand_in(setup)) in DELIBERATING:
        problem = f"`current` is {_stand_in(setup)} where the host has no path of its own"
        yield Fault(told, problem, "Leave one of both out")
    skeptics = [one for one in members if one.name == SKEPTIC]
    if protocol == "skeptic" and not skeptics:
        fix = "Name one of them so: jev,local,skeptic=chat/fast"
        yield Fault(told, "the protocol needs a member called `skeptic`", fix)
    debaters = len(members) - (len(skeptics) if protocol == "skeptic" else 0)
    if protocol in DEBATES and debaters < 2:  # noqa: PLR2004 - one alone debates nothing
        yield Fault(told, f"a debate takes two members; {debaters} is named", "Name another")
    if protocol == "cost_matched" and len(members) != 1:
        fix = "Name one, whose samples are compared with a debate of many"
        yield Fault(told, f"`cost_matched` asks one member; {len(members)} are named", fix)
    yield from _impossible(setup, settings, members)
    yield from _misjudged(setup, settings, providers)


def _impossible(
    setup: Setup, settings: CommitteeSettings, members: tuple[Member, ...]
) -> Iterator[Fault]:
    """Numbers that no panel of this size can meet."""
    many = voters(settings, members)
    least = settings.quorum or quorum_of(many)
    if least > many:
        problem = f"{least} answers are wanted of {many} voters"
        yield Fault(variable_of(setup, "QUORUM"), problem, "Lower it, or name more members")
    elif settings.max_calls is not None and settings.max_calls < least + bool(settings.judge):
        judge = " and a judge" if settings.judge else ""
        problem = f"{settings.max_calls} calls never make a quorum of {least}{judge}"
        yield Fault(variable_of(setup, "MAX_CALLS"), problem, "Raise it, or lower the quorum")
    if settings.transcripts is not None and not settings.transcripts.is_dir():
        told = variable_of(setup, "TRANSCRIPTS")
        yield Fault(told, "there is no folder of this name", "Make it, or name another")
    if settings.rounds and settings.protocol in ("independent", "cost_matched"):
        problem = f"`{settings.protocol}` has no rounds"
        fix = f"Unset it, or say {variables_of(setup.name, 'PROTOCOL')[0]}=debate"
        yield Fault(variable_of(setup, "ROUNDS"), problem, fix)


def _misjudged(setup: Setup, settings: CommitteeSettings, providers: list[str]) -> Iterator[Fault]:
    told, rule = variable_of(setup, "JUDGE"), variable_of(setup, "RULE")
    if settings.rule == "judge" and settings.judge is None:
        yield Fault(told, f"{rule} says `judge`, and none is named", "Name a provider")
    if settings.rule != "judge" and settings.judge is not None:
        yield Fault(told, "it judges nothing", f"Unset it, or say {rule}=judge")
    if settings.judge in providers:
        yield Fault(told, "a member would vote twice", "Name another provider")


def _stand_in(setup: Setup) -> str:
    return setup.settings.variables.values.get("CURRENT_PROVIDER", "")


def _base(provider: str) -> str:
    return provider.partition("/")[0]


def voters(settings: CommitteeSettings, members: tuple[Member, ...]) -> int:
    """Count whose answers are expected: members, or the samples of one and its second thought."""
    if settings.protocol == "cost_matched":
        return settings.samples + 1
    silent = settings.protocol == "skeptic" and not settings.skeptic_votes
    return len(members) - (sum(one.name == SKEPTIC for one in members) if silent else 0)


def quorum_of(expected: int) -> int:
    """Fewest usable answers of *expected* voters: half of them, and 2 where there are 2."""
    return max(min(2, expected), (expected + 1) // 2)


def _made(setup: Setup, seats: Seats, faults: list[Fault]) -> Iterator[tuple[str, Provider]]:
    """Make everybody's provider, each once, so that what is wrong with it is known at start."""
    for member in seats.everybody:
        told = variable_of(setup, "JUDGE" if member is seats.judge else "MEMBERS")
        if _base(member.provider) in (*DELIBERATING, _base(setup.name)):
            faults.append(_deliberates(told, member.provider))
        elif member.provider != CURRENT:
            provider = _provider(setup, member.provider, told, faults)
            if provider is not None:
                yield member.name, provider


def _provider(setup: Setup, name: str, told: str, faults: list[Fault]) -> Provider | None:
    try:
        provider = setup.provider(name)
        setup.settings.own_minimum(name)
    except SetupError as error:
        for fault in error.faults:  # what names no variable is ours, that named it
            own = fault.where == name or fault.where.islower()
            faults.append(msgspec.structs.replace(fault, where=told) if own else fault)
        return None
    if getattr(provider, "deliberates", False):
        faults.append(_deliberates(told, name))
    return provider


def _deliberates(told: str, name: str) -> Fault:
    fix = "Name providers that decide by themselves"
    return Fault(told, f"`{name}` deliberates itself, and is entered once in a decision", fix)


def _narrowest(providers: Iterable[Provider]) -> Limits:
    given = [one.limits for one in providers]
    questions = [one.questions for one in given if one.questions is not None]
    characters = [one.characters for one in given if one.characters is not None]
    return Limits(
        options=min([one.options for one in given], default=Limits().options),
        levels=min([one.levels for one in given], default=Limits().levels),
        questions=min(questions, default=None),
        characters=min(characters, default=None),
    )
