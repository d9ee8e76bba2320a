"""Everything around the routing: supervisor, barge-in, rails, retrieval, judges."""

from __future__ import annotations

import asyncio
import re
from typing import NamedTuple

from pointsman.decision_points import (
    GLOBAL_SUPERVISOR,
    GUARDRAIL_AOFERTA,
    GUARDRAIL_COER,
    GUARDRAIL_DLEX_IN,
    GUARDRAIL_DLEX_OUT,
    GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK,
    GUARDRAIL_FRASEOLOGIA,
    GUARDRAIL_GRL,
    GUARDRAIL_GUARDRAIL,
    GUARDRAIL_OOS,
    GUARDRAIL_PINJ,
    GUARDRAIL_RAGSEC,
    GUARDRAIL_REVPREC,
    GUARDRAIL_TOX,
    JUDGE_ALUC,
    JUDGE_CSI,
    JUDGE_LLM_JUDGE,
    JUDGE_RQLT,
    JUDGE_VCTN,
    PROCESSING_INTERRUPTION,
    Action,
    Interruption,
    Judgement,
    Rail,
    backend,
    interruption,
    judged,
    on_output,
    rail,
)

from .asking import Asker, State
from .world import BACKENDS, BLOCKED, DEFAULT_BACKEND, HANDOVER, REPHRASE, Scene, Session

INPUT = (
    GUARDRAIL_PINJ,
    GUARDRAIL_COER,
    GUARDRAIL_TOX,
    GUARDRAIL_OOS,
    GUARDRAIL_DLEX_IN,
    GUARDRAIL_GUARDRAIL,
)
OUTPUT = (
    GUARDRAIL_AOFERTA,
    GUARDRAIL_REVPREC,
    GUARDRAIL_FRASEOLOGIA,
    GUARDRAIL_DLEX_OUT,
    on_output(GUARDRAIL_PINJ),
    GUARDRAIL_GRL,
)
RECHECK = GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK
JUDGES = (JUDGE_RQLT, JUDGE_ALUC, JUDGE_VCTN, JUDGE_LLM_JUDGE)
_LAST = 6  # items of a history that the supervisor is shown


async def supervise(ask: Asker, session: Session, scene: Scene) -> str:
    """Step 0: a session that has a backend keeps it; else the supervisor, else the rule."""
    if session.backend:
        return session.backend
    state = {
        "message": scene.text,
        "history": session.history[-_LAST:],
        "metadata": {},
        "backends": BACKENDS,
    }
    told = await ask(GLOBAL_SUPERVISOR, state)
    return backend(told.value, [one["id"] for one in BACKENDS]) or DEFAULT_BACKEND


async def replays(ask: Asker, session: Session, scene: Scene) -> bool:
    """Step 1: whether what was said into the agent's speech leaves it as it is."""
    if not (scene.barges_in and session.last_speech):
        return False
    state = {"original_agent": session.last_speech, "supplement_client": scene.text}
    told = await ask(PROCESSING_INTERRUPTION, state)
    return interruption(told.value) is Interruption.REPLAY


async def blocked(ask: Asker, session: Session, scene: Scene) -> str:
    """Step 3: the public line of the first input rail that objects; empty: none does."""
    state: State = {
        "text": scene.text,
        "history": session.history,
        "contract": "meaning_only",
        "stage": "input",
    }
    await ask.ahead(*INPUT, JUDGE_CSI, state=state)  # it reads only the customer's text as well
    told = await asyncio.gather(*(ask(point, state) for point in INPUT))
    for point, one in zip(INPUT, told, strict=True):
        verdict = rail(point, one.value)
        if not verdict.allowed:
            return REPHRASE if verdict.action is Action.REPHRASE else BLOCKED
    return ""


async def retrieved(ask: Asker, passages: tuple[str, ...]) -> list[str]:
    """Step 6: the passages that may be shown to the agent; inside a turn one call lists them."""
    if not passages:
        return []
    told = await asyncio.gather(*(ask(GUARDRAIL_RAGSEC, {"text": one}) for one in passages))
    pairs = zip(passages, told, strict=True)
    return [one for one, said in pairs if rail(GUARDRAIL_RAGSEC, said.value).allowed]


class Said(NamedTuple):
    """
    The answer that goes out.

    Attributes:
        text: Its words.
        changes: What the rails did to it, in order.

    """

    text: str
    changes: tuple[str, ...] = ()


async def checked(ask: Asker, session: Session, scene: Scene, answer: str) -> Said:
    """Step 7: the output rails; a rewritten answer is another text, and goes through all again."""
    worst = await _looked_at(ask, session, scene, answer)
    if worst.action is Action.REWRITE and scene.reworded:
        ask.forget()
        again = await _looked_at(ask, session, scene, scene.reworded)
        if again.allowed:
            return Said(scene.reworded, (f"rewritten: {worst.reason}",))
        return Said(HANDOVER, (f"blocked: {again.reason}",))
    return Said(answer) if worst.allowed else Said(HANDOVER, (f"{worst.action}: {worst.reason}",))


async def _looked_at(ask: Asker, session: Session, scene: Scene, answer: str) -> Rail:
    """Give the worst of what the rails say: a block, then another try, then a rewording."""
    transaction = session.transaction or {}
    state: State = {
        "answer": answer,
        "text": answer,  # for the two rails that call it so
        "history": session.history,
        "transaction_status": transaction.get("transaction_status", ""),
        "evidence": scene.evidence,
        "expected_protocols_masked": int(bool(session.own_reference)),
        "stage": "output",
    }
    await ask.ahead(*OUTPUT, state=state)
    told = await asyncio.gather(*(ask(point, state) for point in OUTPUT))
    rails = {one.name: rail(one, said.value) for one, said in zip(OUTPUT, told, strict=True)}
    leak = rails[GUARDRAIL_DLEX_OUT.name]
    if leak.code == "own_protocol" and session.own_reference:
        rails[GUARDRAIL_DLEX_OUT.name] = await _rechecked(ask, session.own_reference, answer, leak)
    order = (Action.BLOCK, Action.RETRY, Action.REWRITE, Action.ALLOW)
    return min(rails.values(), key=lambda one: order.index(one.action))


async def _rechecked(ask: Asker, reference: str, answer: str, block: Rail) -> Rail:
    """Look again without the customer's own reference; the first block stays in doubt."""
    cleared = re.sub(re.escape(reference), "[reference cleared for this customer]", answer)
    told = await ask(RECHECK, {"answer": cleared, "authorized_customer_protocol": True})
    second = rail(RECHECK, told.value)
    return second if second.allowed else block


async def judge(ask: Asker, scene: Scene, answer: str) -> dict[str, Judgement]:
    """Step 8: the judges of the final answer; the customer's sentiment was asked with the rails."""
    state = {"question": scene.text, "answer": answer, "evidence": scene.evidence}
    await ask.ahead(*JUDGES, state=state)
    told = await asyncio.gather(*(ask(point, state) for point in JUDGES))
    csi = await ask(JUDGE_CSI, {"text": scene.text})
    pairs = zip((*JUDGES, JUDGE_CSI), (*told, csi), strict=True)
    return {point.name: judged(point, said.value) for point, said in pairs}
