"""What can be said of variables only once the points are declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .certificates import VARIABLE as THRESHOLDS
from .environment import variables_of
from .errors import DeclarationError, Fault, SetupError
from .misspelt import unread_of_providers
from .offering import OptionsFrom
from .returns import CannotHold, holds_fields, return_hint
from .settings import CURRENT, GLOBALS, PREFIX, SUFFIXES

if TYPE_CHECKING:
    from .points import DecisionPoint
    from .settings import Settings
    from .wiring import Wiring
    from .wrapping import Wrapped

SHORTEST = 0.05  # seconds; a hosted decider needs several times as much


def faults(
    wiring: Wiring, wrapped: Iterable[Wrapped], spellings: Mapping[str, set[str]]
) -> Iterable[Fault]:
    """List what keeps a declared point from working."""
    for suffix, names in list(spellings.items()):  # other threads may declare meanwhile
        if len(names) > 1:
            problem = f"{' and '.join(sorted(map(repr, names)))} share these variables"
            yield Fault(f"{PREFIX}{suffix}_…", problem, "Rename one of the points")
        if any(f"{PREFIX}{suffix}_{ending}" in GLOBALS for ending in SUFFIXES):
            yield Fault(suffix, "a global variable has this name", "Rename the point")
    wrapped = tuple(wrapped)
    told = [fault for one in wrapped for fault in unspoken(wiring.settings, (one.point,))]
    yield from dict.fromkeys(told)
    for one in wrapped:
        if wiring.wired(one.point).plan.provider != CURRENT:
            yield from _misfits(one, wiring.settings.globals.language)


def oddities(
    wiring: Wiring, asked: Mapping[str, DecisionPoint], wrapped: Iterable[Wrapped] = ()
) -> list[Fault]:
    """List what is odd, but no error unless `DECISION_STRICT` is set."""
    asked = dict(asked)
    known = {**wiring.plugins.points, **asked}
    return [
        *wiring.settings.unread(known.values()),
        *_strayed(wiring.settings),
        *_idle(wiring, asked),
        *_masked(wiring, asked or known),
        *_hurried(wiring, known),
        *_stopped(wiring, asked or known),
        *_twofold(wrapped),
        *_overruled(wiring, known),
        *_tried(wiring, known),
        *_unkept(wiring, known),
        *_doubtful(wiring),
    ]


def unspoken(settings: Settings, points: Iterable[DecisionPoint]) -> Iterable[Fault]:
    """
    Say that none of *points* speaks the language that is set; one that speaks one is asked in it.

    At start the points are those that plug-ins offer: a user's own are not declared yet.
    """
    spoken = {
        one.lower() for point in points if len(point.questions) > 1 for one in point.questions
    }
    if spoken and settings.globals.language not in spoken:
        problem = "no decision point speaks this language"
        yield Fault("DECISION_LANGUAGE", problem, f"Set one of: {', '.join(sorted(spoken))}")


IN_DOUBT = {"block": "blocked", "allow": "allowed", "human": "left to a person"}


def unasked(wiring: Wiring, doubted: Iterable[DecisionPoint]) -> list[Fault]:
    """List points whose plan is `current` where the host has none: nobody decides them."""
    return [
        Fault(
            f"{PREFIX}{point.name}_PROVIDER",
            f"nobody decides {point.name}: every call is {IN_DOUBT[point.on_undecided or 'block']}",
            "Set it to a provider, or pass `current=`",
        )
        for point in doubted
        if point.current is None
        and wiring.settings.plan(point).provider == CURRENT
        and not wiring.stands_in
    ]


def broken(wiring: Wiring) -> list[Fault]:
    """List the plug-ins that cannot be loaded and that nobody needs."""
    fix = "Repair or uninstall it, or leave it out of DECISION_PLUGINS"
    return [
        Fault(name, f"this plug-in cannot be loaded ({why})", fix)
        for name, why in wiring.plugins.broken.items()
    ]


def _idle(wiring: Wiring, asked: Mapping[str, DecisionPoint]) -> Iterable[Fault]:
    """Catalogue names with a provider of their own that nothing here asks."""
    if wiring.stands_in:  # the command and servers are asked at run time, for hosts elsewhere
        return
    reached = {name for point in asked.values() for name in point.names}
    for name, group in wiring.settings.points.items():
        unasked = name in wiring.plugins.points and name not in reached
        if unasked and group.provider not in (None, CURRENT):
            problem = "nothing in this process asks this point"
            yield Fault(f"{PREFIX}{name}_PROVIDER", problem, "Wrap it, or unset the variable")


def _masked(wiring: Wiring, asked: Mapping[str, DecisionPoint]) -> Iterable[Fault]:
    """A global provider that no asked point takes, since each has a line of its own."""
    settings = wiring.settings
    chosen = settings.globals.provider
    if chosen == CURRENT or not asked:
        return
    if all(settings.plan(one).why["provider"] != "DECISION_PROVIDER" for one in asked.values()):
        problem = f"{chosen!r} changes nothing: every point has a provider line of its own"
        yield Fault(
            "DECISION_PROVIDER", problem, "Unset the lines of the points that should inherit"
        )


def _hurried(wiring: Wiring, known: Mapping[str, DecisionPoint]) -> Iterable[Fault]:
    """Deadlines of which the fallback's share leaves the provider no time to be asked in."""
    for point in known.values():
        plan = wiring.settings.plan(point)
        if plan.provider == CURRENT or plan.deadline is None:
            continue
        left = plan.deadline * (1.0 - plan.share)
        if left < SHORTEST:
            problem = f"it leaves {plan.provider!r} {left:.3f} s, in which hardly any answers"
            fix = "Allow more seconds, or a smaller DECISION_FALLBACK_SHARE"
            yield Fault(plan.why["deadline"], problem, fix)


def _twofold(wrapped: Iterable[Wrapped]) -> Iterable[Fault]:
    """Names that two functions give different meanings: asked by name, the later one counts."""
    first: dict[str, DecisionPoint] = {}
    for one in tuple(wrapped):
        point = first.setdefault(one.point.name, one.point)
        if point is not one.point and point != one.point:
            problem = "two functions are wrapped under this name with different declarations"
            yield Fault(point.name, problem, "Give one of them a name of its own (`called`)")


def _stopped(wiring: Wiring, asked: Mapping[str, DecisionPoint]) -> Iterable[Fault]:
    """Points without fallback whose host blocks where nobody answers."""
    for point in asked.values():
        plan = wiring.settings.plan(point)
        if point.fails_closed and plan.provider != CURRENT and not plan.fallback:
            problem = f"{point.name} blocks where nobody answers: an outage of {plan.provider!r}"
            fix = "Switch the fallback on for it, or accept that"
            yield Fault(plan.why["fallback"], f"{problem} blocks everything", fix)


def _overruled(wiring: Wiring, known: Mapping[str, DecisionPoint]) -> Iterable[Fault]:
    """Certified thresholds that a variable overrules, or that promise agreement and no more."""
    for point in known.values() if wiring.register is not None else ():
        plan = wiring.settings.plan(point)
        held = wiring.register.certificates(point.name) if wiring.register else ()
        if held and not plan.certifiable:
            problem = f"it sets the threshold of {point.name} in place of the certified one"
            yield Fault(plan.why["minimum"], problem, "Unset it to use the certified threshold")
        elif any(one.labels == "agreement" for one in held):
            problem = f"that of {point.name} is certified by agreement with current, not by truth"
            yield Fault(THRESHOLDS, problem, "Certify it with labels before you rely on it")


def _tried(wiring: Wiring, known: Mapping[str, DecisionPoint]) -> Iterable[Fault]:
    """Shadows that nothing keeps, and experiments without a split."""
    plans = [wiring.settings.plan(point) for point in known.values()]
    for plan in plans if not wiring.settings.globals.journaled else ():
        if plan.shadows:
            problem = "nothing keeps what it answers: it is only logged"
            yield Fault(plan.why["shadow"], problem, "Set DECISION_JOURNAL")
    read = {plan.why.get("experiment") for plan in plans}
    for name, group in wiring.settings.points.items():
        variable = f"{PREFIX}{name}_EXPERIMENT"
        if group.experiment and variable not in read:
            problem = "no traffic is split under it"
            fix = f"Split it, as in {PREFIX}{name}_PROVIDER=current:90,jev:10, or unset it"
            yield Fault(variable, problem, fix)


def _unkept(wiring: Wiring, known: Mapping[str, DecisionPoint]) -> Iterable[Fault]:
    """Answers to be kept of points where no provider answers."""
    for point in known.values() if not wiring.stands_in else ():
        plan = wiring.settings.plan(point)
        if plan.cache_seconds is not None and plan.provider == CURRENT:
            problem = f"{point.name} is `current`, whose answers are never kept"
            yield Fault(plan.why["cache"], problem, "Select a provider for it, or unset it")


def _doubtful(wiring: Wiring) -> Iterable[Fault]:
    """What providers say of their own variables: legal, but it will hardly work."""
    told = [fault for lane in wiring.lanes for fault in getattr(lane.provider, "doubts", ())]
    return dict.fromkeys(told)


def _strayed(settings: Settings) -> Iterable[Fault]:
    read = set(settings.read_of_providers)
    chosen = {name for _, name in settings.selected()}
    read |= {one for name in chosen for one in variables_of(name, "MIN_CONFIDENCE")}
    prefixes = {one for name in chosen for one in variables_of(name, "")}
    return unread_of_providers(settings.variables.values, read, prefixes) if chosen else ()


def _misfits(wrapped: Wrapped, language: str) -> list[Fault]:
    """List what the return type cannot hold, for a plan that needs it."""
    if wrapped.point.hybrid is not None:
        return _unfit_hybrid(wrapped)
    questions = wrapped.point.questions
    spoken = questions.get(language) or next(iter(questions.values()))
    made = [one for one in wrapped.point.options.values() if not isinstance(one, OptionsFrom)]
    if made or wrapped.question is not None:  # what is asked is known with the call
        return []
    try:
        wrapped.writes(spoken)
    except SetupError as error:
        return list(error.faults)
    except DeclarationError as error:
        return [Fault(wrapped.where, str(error), "Correct the point's declaration")]
    return []


def _unfit_hybrid(wrapped: Wrapped) -> list[Fault]:
    """A hybrid's function returns the point's own type or a dict, unless told how to write."""
    if wrapped.write is not None:
        return []
    try:
        hint = return_hint(wrapped.function)
    except CannotHold as why:
        return [Fault(wrapped.where, str(why), "Pass `write=` to the point")]
    if holds_fields(hint):
        return []
    problem = "its return type cannot hold what is extracted"
    return [
        Fault(wrapped.where, problem, "Return a dict or the point's own type, or pass `write=`")
    ]
