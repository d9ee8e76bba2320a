"""Whether an agent is run again: the judge of `AgentLoopMiddleware`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_framework import AgentResponse, AgentSession, Message

from ...lens import Lens
from .seeing import session_id, shown


def _looked_at(
    *,
    last_result: AgentResponse[Any],
    original_messages: Sequence[Message] = (),
    **_: object,
) -> dict[str, Any]:
    return {"request": shown(original_messages), "answer": last_result.text}


def _session(*, session: AgentSession | None = None, **_: object) -> str | None:
    return session_id(session)


def _goes_on(value: bool | tuple[bool, str | None]) -> bool:  # noqa: FBT001 - as it returns it
    return value[0] if isinstance(value, tuple) else value


LOOP = Lens(state=_looked_at, session=_session, read=_goes_on, write=bool, blocks=True)
"""
A `should_continue` of `AgentLoopMiddleware`: what was asked for, and the latest answer.

True holds the answer back, and the agent is run again.
"""
