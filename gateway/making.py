"""From a call, or what the host asks, to a `Case`."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, NamedTuple

import msgspec

from . import context
from .calculators import state_of
from .cases import Case
from .chance import new_id
from .current import Current
from .errors import DeclarationError, NoJson, SetupError
from .hosting import Hosted, Own, apart, careful, read_in, ruled, same, told
from .plugins import Call
from .points import DecisionPoint
from .questions import Ask
from .records import Exposure
from .settings import CURRENT
from .state import State
from .supplying import outcome_reader, supplying
from .wired import Wired
from .wiring import Wiring
from .wrapping import Arguments, Wrapped

__all__ = [
    "Hosted",
    "asked_case",
    "built_by",
    "case_of",
    "must_end",
    "untouched_case",
    "wrapped_case",
]

OWNERLESS = (  # what is wrong with a decision that stands for nobody, and what to do
    "a decision that is made `once` stands for a subject, and none is known here",
    "Pass `subject=`, a lens with `session`, or enter `gateway.session(id)`",
)


def wrapped_case(wiring: Wiring, wired: Wired, wrapped: Wrapped, given: Arguments) -> Case:
    """
    Put together what the engine needs for one call of a wrapped function.

    Where it is `current` that decides, whatever else fails never reaches the host.
    """
    point, language = wrapped.point, wiring.settings.globals.language
    current, once = Current(wrapped.function, *given), wrapped.standing(given)
    ask = supply = subject = rule = None
    drawn = Drawn(wired.arms.get(CURRENT, wired), None)
    try:
        subject = wrapped.about(given)
        drawn = _drawn(wiring, wired, Hosted(subject=subject))
        if point.hybrid is None:
            ask = wrapped.build(given, language)
            if point.after is not None:
                state = state_of(point.name, wrapped.given(given))
                rule = partial(ruled, Own(wiring.telemetry, point.name, state), point.after)
        else:
            state = apart(wrapped.given(given))
            supply = supplying(point, state, language, wrapped.read, wrapped.write)
    except Exception as error:
        if drawn.wired.planned is not None and not isinstance(error, DeclarationError):
            raise
        wiring.telemetry.read_failed(point.name, error)
        host = Hosted(current=current, write=wrapped.write, subject=subject, once=once)
        return _case(wiring, drawn, point, None, host)
    written = ask is not None and (drawn.wired.planned is not None or once is not None)
    host = Hosted(
        current=current,
        read=wrapped.read,
        write=wrapped.writes(ask.questions) if ask is not None and written else None,
        subject=subject,
        supply=supply,
        once=once,
        rule=rule,
    )
    return _case(wiring, drawn, point, ask, host)


def untouched_case(wiring: Wiring, point: DecisionPoint, host: Hosted) -> Case:
    """
    Put together what runs `current` alone, where nobody looks on.

    No state is built, no question asked of it, and whose decision it is does not matter. What
    current says is read into the point's own words, without the options of this call.
    """
    own = read_in(point, host, wiring)
    case = _case(wiring, Drawn(wiring.wired(point), None), point, None, own)
    case.untouched, case.besides = True, ()
    return case


def asked_case(
    wiring: Wiring, wired: Wired, point: DecisionPoint, ask: Ask | State, host: Hosted
) -> Case:
    """
    Put together what the engine needs to be asked without a wrapped function.

    Raises:
        SetupError: Nothing decides when a provider cannot.

    """
    if host.current is None:
        must_end(point, wired)
        ends = point.undecided is not None or point.on_undecided is not None
        host = msgspec.structs.replace(host, carries=host.carries and ends)
    elif point.hybrid is not None and not isinstance(ask, Ask):
        supply = supplying(point, apart(ask), wiring.settings.globals.language)
        host = msgspec.structs.replace(host, supply=supply)
        return case_of(wiring, wired, point, None, host)
    return case_of(wiring, wired, point, built_by(point, ask, wiring, host), host)


def built_by(point: DecisionPoint, ask: Ask | State, wiring: Wiring, host: Hosted) -> Ask | None:
    """
    Give *ask* as it is, or the point's own questions about a state.

    None: it cannot be asked about, and the decision ends nonetheless.

    Raises:
        DeclarationError: It cannot, and does not; or it lacks what the questions need.

    """
    if isinstance(ask, Ask):
        return ask
    try:
        return point.ask(ask, wiring.settings.globals.language)
    except NoJson as error:
        if not host.carries:
            raise
        wiring.telemetry.read_failed(point.name, error)
        return None


class Drawn(NamedTuple):
    """The arm that a decision's subject belongs to, and what is recorded of it."""

    wired: Wired
    exposure: Exposure | None


def _drawn(wiring: Wiring, wired: Wired, host: Hosted) -> Drawn:
    if not wired.arms:
        return Drawn(wired, None)
    subject = _subject(wiring, host, _within(wiring, host))
    if subject is None:
        wiring.telemetry.not_sticky(wired.point.name)
    return Drawn(*wired.assigned(subject))


def _subject(wiring: Wiring, host: Hosted, within: Call | None) -> str | None:
    told = host.within and host.within.subject
    outer = within and within.subject  # where nobody said so, a session inside is nearer
    subject: Any = host.subject or told or context.subject(wiring.gateway) or outer
    if subject is None or isinstance(subject, str):
        return subject
    kind = type(subject).__name__
    raise DeclarationError(f"the subject is a {kind} and no text: give the id's text")


def case_of(
    wiring: Wiring, wired: Wired, point: DecisionPoint, ask: Ask | None, host: Hosted
) -> Case:
    """Put together what the engine needs, for the arm that the subject belongs to."""
    if ask is None:
        host = read_in(point, host, wiring)
    return _case(wiring, _drawn(wiring, wired, host), point, ask, host)


def _case(
    wiring: Wiring, drawn: Drawn, point: DecisionPoint, ask: Ask | None, host: Hosted
) -> Case:
    wired, within = drawn.wired, _within(wiring, host)
    subject, once = _subject(wiring, host, within), host.once
    if within is not None and within.trial:  # nothing of it is acted on, or may stand
        wired, once = wiring.tried(wired), None
    if host.once is not None and subject is None:
        raise SetupError.of(point.name, *OWNERLESS)
    alone = host.closes and wired.planned is not None and not wired.plan.fallback
    read = host.read if point.hybrid is None else outcome_reader(point.hybrid, host.read)
    reads = partial(careful, read, ask, wiring.telemetry, point.name)
    if wired.planned is not None and host.current is not None:
        host.current.read = reads
    return Case(
        point=point,
        plan=wired.plan,
        ask=ask,
        call=_call(wired, point, host.current, within, subject),
        planned=wired.planned,
        behind=None if alone else wired.behind,
        own_gate=wired.own_gate,
        read=reads,
        write=host.write or same,
        id=new_id(),
        begun=time.perf_counter(),
        attempts=[],
        supply=host.supply and partial(told, host.supply, wiring.telemetry, point.name),
        language=wiring.settings.globals.language,
        register=wired.register,
        exposure=drawn.exposure,
        besides=wired.shadowed(),
        known=wiring.asking.known,
        cache=wiring.cache,
        once=once,
        closes=host.closes,
        rule=host.rule,
    )


def must_end(point: DecisionPoint, wired: Wired) -> None:
    """
    Refuse to ask where nothing stands behind the provider.

    Raises:
        SetupError: No current, no stand-in, no declared outcome.

    """
    if wired.behind is None and point.undecided is None and point.on_undecided is None:
        fix = "Pass `current=`, or declare what happens in doubt: `on_undecided` or `safe`"
        raise SetupError.of(point.name, "nothing decides this point when a provider cannot", fix)


def _within(wiring: Wiring, host: Hosted) -> Call | None:
    """Give what it is nested in: as told, or where it is made."""
    return host.within or context.asking(wiring.gateway)


def _call(
    wired: Wired,
    point: DecisionPoint,
    current: Current | None,
    within: Call | None,
    subject: str | None,
) -> Call:
    plan = wired.plan
    deadline = None if within is None else within.deadline
    if plan.deadline is not None and plan.provider != CURRENT:
        own = time.monotonic() + plan.deadline
        deadline = own if deadline is None else min(own, deadline)
    if within is None:  # almost always, and each further word costs
        return Call(point=point.name, subject=subject, deadline=deadline, current=current)
    return Call(
        point=point.name,
        subject=subject,
        deadline=deadline,
        depth=within.depth + 1,
        asking=within.asking,
        current=current,
        trial=within.trial,
    )
