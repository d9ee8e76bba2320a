"""Steps of a LlamaIndex workflow: branches, approvals, and a person's answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from pydantic_core import to_jsonable_python
from workflows import Context
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent

from ...errors import DeclarationError, HumanNeeded, SetupError
from ...guarding import Guard
from ...lens import Lens, OnceOf
from ...standing.exact import written
from ...state import State
from ..words import BY_A_PERSON

APPROVE: Final = "Do you approve this call? Answer yes or no."
YES: Final = ("yes", "y", "true", "sim")


class PersonNeeded(InputRequiredEvent):
    """
    Asks a person what nobody else decided. It holds plain data, and of the state only a digest.

    Attributes:
        prefix: What the person is told.
        point: The decision point.
        waiter: What the `HumanResponseEvent` must repeat, where one is awaited.

    """

    prefix: str = BY_A_PERSON
    point: str = ""
    waiter: str = ""


def person_needed(needed: HumanNeeded, prefix: str = BY_A_PERSON) -> PersonNeeded:
    """Ask a person, as the event that a step returns where its decision point raised *needed*."""
    return PersonNeeded(prefix=prefix, point=needed.point)


def branch(
    events: Mapping[Any, Callable[[], Event]],
    *,
    field: str | None = None,
    session: str | None = None,
) -> Lens:
    """
    Make the lens of a step that branches by the event it returns; it goes under `@step`.

    The event that the step takes is shown. The events that it may return are its annotation's,
    as ever, which LlamaIndex checks.

    Args:
        events: Outcome → the event that it becomes, made without arguments. Where events carry
            more, let the step call a wrapped function of its own, and make them itself.
        field: Of the event it takes, which alone is shown; absent: all of them. An event that
            lacks it is left to the step.
        session: The field with the subject; absent: the session's that is bound around the run.

    """
    kinds = {event: outcome for outcome, event in events.items()}

    def shown(*args: Any, **kwargs: Any) -> State:  # noqa: ANN401 - the step's own
        event = taken(args, kwargs)
        return fields(event) if field is None else _held(event, field)

    def subject(*args: Any, **kwargs: Any) -> str | None:  # noqa: ANN401 - the step's own
        return None if session is None else taken(args, kwargs).get(session)

    return Lens(
        state=shown,
        session=subject,
        read=lambda event: kinds.get(type(event)),
        write=lambda outcome: events[outcome](),
    )


def event_call(field: str) -> OnceOf:
    """
    Name a step's decision by a *field* of the event it takes, for `once=`.

    A step that waits for an event is run again from its first line when it comes, and a workflow
    that is resumed runs again what was in flight: such a step decides once only so. All fields of
    the event count as the call's exact arguments.

    Raises:
        SetupError: When called: the event has no such field, or it names nothing.
        DeclarationError: When called: what another field holds has no exact form.

    """

    def call(*args: Any, **kwargs: Any) -> tuple[str, object]:  # noqa: ANN401 - the step's own
        given = _given(taken(args, kwargs))
        said = given.get(field)
        named = isinstance(said, str | int | UUID) and not isinstance(said, bool)
        if not named or not str(said):
            problem = f"the event's {field!r} names no call, so that it is like any other"
            fix = "Let `event_call` name a field with the call's id: a text, a number or a UUID"
            raise SetupError.of("once", problem, fix)
        return str(said), given

    return call


async def approved(
    ctx: Context, guard: Guard, state: State, *, call: str, prefix: str = APPROVE
) -> bool:
    """
    Say whether a call may be made; ask a person where nobody decides and *guard* wants one.

    The person is asked by a `PersonNeeded`, and answers with a `HumanResponseEvent` that has
    its `waiter` and a `response`: `yes` approves, and nothing else does. The ruling stands:
    run again, the same comes out, whoever would decide by then.

    Args:
        ctx: Of the step or tool that makes the call.
        guard: What it blocks is not approved.
        state: What deciders are shown: the tool and its arguments.
        call: Id of the call, unique within its session and the same when resumed. Two that are
            under way at a time need ids of their own.
        prefix: What the person is told.

    Raises:
        SetupError: No session is bound around the run.
        DeclarationError: Something in *state* has no exact form.

    """
    try:
        ruling = await guard.rule(state, once=(call, state))
    except HumanNeeded as needed:
        # LlamaIndex gives whoever waits under the same name the same answer
        waiter = f"{needed.point}/{call}/{_digest(state)}"
        asks = PersonNeeded(prefix=prefix, point=needed.point, waiter=waiter)
        said = await ctx.wait_for_event(
            HumanResponseEvent,
            waiter_event=asks,
            waiter_id=waiter,
            requirements={"waiter": waiter},
            timeout=None,
        )
        return str(said.get("response")).strip().casefold() in YES
    return not ruling.blocked


def taken(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Event:
    """
    Find the event that a step takes.

    Raises:
        SetupError: It takes none.

    """
    for one in (*args, *kwargs.values()):
        if isinstance(one, Event):
            return one
    raise SetupError.of("step", "it takes no event", "Put the decision point under `@step`")


def fields(event: Event) -> dict[str, Any]:
    """Show an event's fields, declared or not, as JSON; what JSON cannot say by its type."""
    given: dict[str, Any] = to_jsonable_python(_given(event), fallback=_named, bytes_mode="base64")
    return given


def _given(event: Event) -> dict[str, Any]:
    declared = {name: getattr(event, name) for name in type(event).model_fields}
    return {**declared, **event}


def _held(event: Event, field: str) -> Any:  # noqa: ANN401 - the host's own
    given = _given(event)
    if given.get(field) is None:
        raise DeclarationError(f"the event has no {field!r} to show")
    return given[field]


def _digest(state: State) -> str:
    return hashlib.sha256(written(state).encode()).hexdigest()[:32]


def _named(value: object) -> str:
    return type(value).__name__
