"""Steps of a LlamaIndex workflow: branches, approvals, and a person's answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic_core import to_jsonable_python
from workflows import Context
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent

from ...errors import HumanNeeded, SetupError
from ...guarding import Guard
from ...lens import Lens, OnceOf
from ...state import State

BY_A_PERSON: Final = "Nobody else could decide. What is to be done?"
APPROVE: Final = "Do you approve this call? Answer yes or no."
YES: Final = ("yes", "y", "true", "sim")


class PersonNeeded(InputRequiredEvent):
    """
    Asks a person what nobody else decided. It holds plain data, and nothing of the state.

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
        field: Of the event it takes, which alone is shown; absent: all of them.
        session: The field with the subject; absent: the session's that is bound around the run.

    """
    kinds = {event: outcome for outcome, event in events.items()}

    def shown(*args: Any, **kwargs: Any) -> State:  # noqa: ANN401 - the step's own
        event = taken(args, kwargs)
        return event.get(field) if field is not None else fields(event)  # type: ignore[no-any-return]

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
    that is resumed runs again what was in flight: such a step decides once only so.
    """

    def call(*args: Any, **kwargs: Any) -> tuple[str, object]:  # noqa: ANN401 - the step's own
        event = taken(args, kwargs)
        return str(event.get(field)), fields(event)

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
        call: Id of the call, unique within its session and the same when resumed.
        prefix: What the person is told.

    Raises:
        SetupError: No session is bound around the run.

    """
    try:
        ruling = await guard.rule(state, once=(call, state))
    except HumanNeeded as needed:
        waiter = f"{needed.point}/{call}"
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
    """Give an event's fields, declared or not, as JSON; what JSON cannot say by its type."""
    declared = {name: getattr(event, name) for name in type(event).model_fields}
    given: dict[str, Any] = to_jsonable_python({**declared, **event}, fallback=_named)
    return given


def _named(value: object) -> str:
    return type(value).__name__
