"""
Step 5: who takes the message.

Each branch is written as the host runs it today, one question after the other. What `ahead`
adds is one line: the branch's share group, asked at once. Its answers are then known.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pointsman.decision_points import (
    MULTI_INTENT,
    ROUTE_CONTINUITY,
    ROUTER,
    TRANSACTION_CONFIRMATION,
    TRANSACTION_INTENT_SHIFT,
    TRANSACTION_PARAMETER_RECONCILIATION,
    TRANSACTION_PARAMETER_RELEVANCE,
    WORKFLOW_EXPECTED_INPUT,
    WORKFLOW_REENTRY,
    Candidate,
    Confirmation,
    Continuity,
    Goal,
    GoalPlan,
    Parameters,
    Reenter,
    Reentry,
    Reprompt,
    Shift,
    confirmation,
    continuity,
    destination,
    expected_input,
    reentry,
    relevance,
    shift,
    usable,
)

from .asking import Asker, State
from .rules import has, intent_in
from .world import FALLBACK_AGENT, INTENTS, KEYWORDS, PENDING_PROMPT, Session

CONFIRMS, REJECTS = ("YES", "SIM"), ("NO", "NAO", "NÃO")


class Routed(NamedTuple):
    """
    Where a message went.

    Attributes:
        effect: What the host does, in a word.
        agent: Who takes it; empty: nobody.
        pending: Intents of the same message that are run afterwards.

    """

    effect: str
    agent: str = ""
    pending: tuple[str, ...] = ()


async def route(ask: Asker, session: Session, text: str) -> Routed:
    """Route *text*: a pause and a transaction come before anything else."""
    if session.paused is not None:
        return await _paused(ask, session, text)
    if session.transaction is not None:
        awaits = session.transaction["transaction_status"] == "AWAITING_CONFIRMATION"
        return await (_awaiting if awaits else _collecting)(ask, session, text)
    return await _free(ask, session, text)


def _base(session: Session, text: str) -> dict[str, object]:
    """Build what all points of this group see, each under the name that it knows."""
    return {
        "message": text,
        "current_message": text,
        "user_input": text,
        "active_agent": session.active_agent,
        "previous_intent": session.previous_intent,
        "recent_history": session.history,
        "allowed_intents": INTENTS,
        "session_context": {},
    }


# --- 5.2 a paused workflow ---------------------------------------------------------------


async def _paused(ask: Asker, session: Session, text: str) -> Routed:
    contract = session.paused or {}
    if text.strip().upper() in contract["allowed_values"]:
        return Routed(f"resume with {text}", session.active_agent)
    state = {**_base(session, text), **contract}
    # asked ahead, REENTRY cannot be told as which option the reply was read: it sees them all
    group = (ROUTE_CONTINUITY, WORKFLOW_EXPECTED_INPUT, WORKFLOW_REENTRY, ROUTER)
    await ask.ahead(*group, state=state)
    probe = await ask(ROUTE_CONTINUITY, state)
    stays = continuity(*probe, active_agent=session.active_agent, probe=True)
    if stays is Continuity.HUMAN_HANDOFF:
        return Routed("human handoff")
    told = await ask(WORKFLOW_EXPECTED_INPUT, state)
    option = expected_input(told.value, state)
    if isinstance(option, Reprompt):
        return Routed("stay paused, ask again", session.active_agent)
    if isinstance(option, Reenter) or await _reenters(ask, state, option.value):
        return await _routed(ask, state)
    return Routed(f"resume with {option.value}", session.active_agent)


async def _reenters(ask: Asker, state: State, option: str) -> bool:
    told = await ask(WORKFLOW_REENTRY, {**state, "classified_option": option})
    return reentry(told.value) is Reentry.REENTER


# --- 5.3 a transaction -------------------------------------------------------------------


async def _collecting(ask: Asker, session: Session, text: str) -> Routed:
    state = {**_base(session, text), "transaction": session.transaction}
    await ask.ahead(TRANSACTION_PARAMETER_RELEVANCE, TRANSACTION_INTENT_SHIFT, state=state)
    relevant = relevance(*await ask(TRANSACTION_PARAMETER_RELEVANCE, state))
    if relevant is not False and (values := await _parameters(ask, session, text)):
        given = ", ".join(f"{field}={value}" for field, value in values.items())
        return Routed(f"consumed: {given}", session.active_agent)
    if relevant:
        return Routed("keep, and ask again", session.active_agent)
    return await _shifted(ask, session, state)


async def _parameters(ask: Asker, session: Session, text: str) -> dict[str, object]:
    """Extract today's way; a provider says which candidates hold, and never writes a value."""
    transaction = session.transaction or {}
    state = {
        "current_user_message": text,
        "tool_name": transaction["tool_name"],
        "parameter_schema": transaction["parameter_schema"],
        "known_arguments": transaction["known_arguments"],
    }
    told = await ask(TRANSACTION_PARAMETER_RECONCILIATION, state, lambda: _extracted(text))
    return dict(told.value.values)


def _extracted(text: str) -> Parameters:
    found = re.search(r"\b(broken|too \w+|wrong)\b", text)
    candidates = {"reason": Candidate(found[0], "current")} if found else {}
    values = {"reason": found[0]} if found else {}
    return Parameters(candidates, values=values, unresolved=() if found else ("reason",))


async def _awaiting(ask: Asker, session: Session, text: str) -> Routed:
    state: State = {
        **_base(session, text),
        "transaction": session.transaction,
        "pending_prompt": PENDING_PROMPT,
    }
    parsed = _parsed(text)
    agreed, rest = _remainder(text)
    settles = parsed or (agreed and rest)  # then nobody needs to be asked what it amounts to
    group = () if settles else (TRANSACTION_CONFIRMATION,)
    await ask.ahead(TRANSACTION_INTENT_SHIFT, *group, state=state)
    left = await _shift(ask, state, abandon_only=True)
    if left.effect:
        return Routed(left.effect, left.agent)
    if agreed and rest:
        pending = (await _goals(ask, rest, secondary=True))[:1]
        return Routed("confirmed, executed once", session.active_agent, pending)
    said = parsed or (await ask(TRANSACTION_CONFIRMATION, state)).value
    answer = confirmation(said, CONFIRMS, REJECTS)
    if answer is not Confirmation.PENDING:
        effect = "confirmed, executed once" if answer is Confirmation.CONFIRM else "cancelled"
        return Routed(effect, session.active_agent)
    return await _shifted(ask, session, state, abandon=False)


def _parsed(text: str) -> str:
    """Read a plain yes or no, as the host's explicit parser does."""
    word = text.strip(" .!").upper()
    return word if word in (*CONFIRMS, *REJECTS) else ""


def _remainder(text: str) -> tuple[bool, str]:
    found = re.match(r"(?:yes|sim),? (?:and|e) (.+)", text, re.IGNORECASE)
    return found is not None, found[1] if found else ""


async def _shifted(ask: Asker, session: Session, state: State, *, abandon: bool = True) -> Routed:
    """Read a change of intent in both of the host's modes; inside a turn it is one answer."""
    modes = (True, False) if abandon else (False,)
    for abandon_only in modes:
        left = await _shift(ask, state, abandon_only=abandon_only)
        if left.effect:
            return Routed(left.effect, left.agent)
    return Routed("the transaction keeps the turn", session.active_agent)


async def _shift(ask: Asker, state: State, *, abandon_only: bool) -> Shift:
    told = await ask(TRANSACTION_INTENT_SHIFT, state)
    return shift(*told, state["transaction"], INTENTS, abandon_only=abandon_only)


# --- 5.4 to 5.9 a free turn --------------------------------------------------------------


async def _free(ask: Asker, session: Session, text: str) -> Routed:
    keywords = [intent for intent, word in KEYWORDS.items() if has(rf"\b{word}\b", text)]
    if " and " in text and len(keywords) == 1:  # compound, with a gap in the keyword plan
        first, *pending = await _goals(ask, text) or ("",)
        if first:
            return Routed(first, _agent(first), tuple(pending))
    if keywords:
        return Routed(keywords[0], _agent(keywords[0]))
    state = _base(session, text)
    await ask.ahead(ROUTE_CONTINUITY, ROUTER, state=state)
    told = await ask(ROUTE_CONTINUITY, state)
    stays = continuity(*told, active_agent=session.active_agent)
    if stays is Continuity.CONTINUE:
        return Routed("continue", session.active_agent)
    if stays is not Continuity.ROUTE:
        return Routed(stays.lower().replace("_", " "))
    return await _routed(ask, state)


async def _routed(ask: Asker, state: State) -> Routed:
    told = await ask(ROUTER, state)
    found = destination(told.value, INTENTS, FALLBACK_AGENT)
    return Routed(found.intent, found.agent)


async def _goals(ask: Asker, text: str, *, secondary: bool = False) -> tuple[str, ...]:
    """Plan several goals: today's path cuts them out, a provider says what each pursues."""
    state = {"message": text, "allowed_intents": INTENTS, "secondary_only": secondary}
    told = await ask(MULTI_INTENT, state, lambda: _cut(text))
    return tuple(goal.intent for goal in told.value.goals) if usable(told.value) else ()


def _cut(text: str) -> GoalPlan:
    parts = re.split(r" and ", text.strip(" .!?"))
    goals = tuple(Goal(part, intent_in(part, "UNSUPPORTED")) for part in parts)
    return GoalPlan(goals, 0.9)


def _agent(intent: str) -> str:
    return destination(intent, INTENTS, FALLBACK_AGENT).agent
