"""
The rounds of one call.

Since the protocol of 2026-07-28 a server asks the person behind a client by ending the request:
the client asks, and sends the call again with the answer and a state that the server gave it.
Each round is a request of its own, so that what makes them one call travels in that state.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

import msgspec

KEY = "pointsman"  # of our question among those of a round, and of our part of the state
PROCEED = "proceed"

Said: TypeAlias = Literal["yes", "no"] | None
"""What a person answered; None: nobody was asked yet."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """
    One round of a call.

    Attributes:
        call: Id of the call, the same in all of its rounds.
        said: What the person said, in this round or before.
        state: The tool's own, as it gave it; None: it gave none.
        answers: To the tool's own questions; None: it asked none.

    """

    call: str
    said: Said = None
    state: str | None = None
    answers: Mapping[str, Any] | None = None

    def carried(self, state: str | None) -> str:
        """Write the state that the next round brings back, around the tool's own *state*."""
        ours = {"call": self.call, "said": self.said}
        return json.dumps({KEY: ours, "state": state})


def opened(state: object, answers: object) -> Round:
    """
    Read the round that a client's state and answers belong to.

    A forged state gains nothing: with an id that nobody gave, the decision is made anew, and what
    the person is claimed to have said is the client's word in either case.
    """
    ours, inner = _opened(state)
    given = dict(cast("Mapping[str, Any]", answers)) if isinstance(answers, Mapping) else None
    reply = given.pop(KEY, None) if given is not None else None
    said = ours.get("said")
    call = ours.get("call")
    return Round(
        call=call if isinstance(call, str) else secrets.token_hex(16),
        said=said if said in ("yes", "no") else _said(reply),
        state=inner,
        answers=given or None,
    )


def _opened(state: object) -> tuple[Mapping[str, Any], str | None]:
    """Part our own share of a state from the tool's."""
    if not isinstance(state, str):
        return {}, None
    try:
        whole = json.loads(state)
        ours, inner = whole[KEY], whole["state"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}, state  # the tool's own, from a round before the gate stood here
    known = isinstance(ours, dict) and (inner is None or isinstance(inner, str))
    return (ours, inner) if known else ({}, state)


def _said(reply: Any) -> Said:  # noqa: ANN401 - a client's
    """Read a person's answer; anything but a clear yes is a no."""
    if reply is None:
        return None
    told = reply if isinstance(reply, Mapping) else getattr(reply, "__dict__", {})
    return agreed(told.get("action"), told.get("content"))


def agreed(action: object, content: object) -> Literal["yes", "no"]:
    """Say whether a form came back with a clear yes."""
    proceeds = isinstance(content, Mapping) and content.get(PROCEED) is True
    return "yes" if action == "accept" and proceeds else "no"
