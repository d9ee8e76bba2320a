"""A call that may need a person, asked about in both colours: what tests of `once` share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pointsman import Ask, Decision, Gateway, Guard, Predicate

COLOURS = pytest.mark.parametrize("colour", ["sync", "async"])
YES, NO = True, False
ASK = Ask("delete_account(id=7)", {"may": Predicate("May this call run without a person?")})
CALL = ("call-1", {"id": 7})
VARIABLE = "DECISION_APPROVAL_PROVIDER"


def approve(gateway: Gateway, colour: str = "sync", /, **how: Any) -> Decision[Any]:
    """Ask whether the call may run; today's own path says yes."""
    how = {"current": lambda: True, "subject": "session-1", "once": CALL, **how}
    if colour == "sync":
        return gateway.ask_sync("APPROVAL", ASK, **how)
    return asyncio.run(gateway.ask("APPROVAL", ASK, **how))


def consult(gateway: Gateway, colour: str = "sync", /) -> Decision[Any] | None:
    """Consult about it."""
    how: dict[str, Any] = {"subject": "session-1", "once": CALL}
    if colour == "sync":
        return gateway.consult_sync("APPROVAL", ASK, **how)
    return asyncio.run(gateway.consult("APPROVAL", ASK, **how))


def blocks(guard: Guard, colour: str = "sync", /) -> bool:
    """Ask a guardrail about it."""
    how: dict[str, Any] = {"subject": "session-1", "once": CALL}
    if colour == "sync":
        return guard.rule_sync(ASK.state, **how).blocked
    return asyncio.run(guard.rule(ASK.state, **how)).blocked
