"""
What the desk runs today: one word rule for every decision point, written for this example.

They stand where your own LLM calls stand: each says what it decides and how sure it is of
it. The example's provider knows no better; what is shown is who is asked, and how often.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Seen: TypeAlias = Mapping[str, Any]
Guess: TypeAlias = tuple[Any, float]
"""An outcome in the point's own vocabulary, and how sure the rule is of it."""

SURE, LIKELY, UNSURE = 0.97, 0.93, 0.55

_WORDS = ("message", "current_message", "user_input", "text", "answer", "supplement_client")
_INTENTS: Final = {
    "order_tracking": r"\b(parcel|track\w*|arrive[sd]?|deliver\w*|on its way)\b",
    "invoice_explanation": r"\b(pay\w*|paid|bill|invoice|charge\w*|cloud radio)\b",
    "addon_cancel": r"\b(cancel\w*|get rid of)\b",
    "order_return": r"\b(return\w*|send (it|something) back|exchange)\b",
}
_REASONS: Final = r"\b(broken|too (small|big|late)|wrong|do(es)? not fit|no longer need)\b"
_YES, _NO = r"^\W*(yes|sim|sure|go ahead)\b", r"^\W*(no|não|nao)\b"
_COURTESY: Final = r"\b(yes|sim|no|não|please|thanks?|you|thank|por favor|obrigad[oa])\b"
_HIDDEN: Final = r"\b(password|access key|hidden instructions?|system prompt)\b"
_ORDERS: Final = r"\b(ignore|set .{1,20} aside|note to the assistant|reveal|pretend)\b"
_CURT: Final = 20  # characters
_REFERENCE: Final = r"\bP-\d{6}\b"


def has(pattern: str, text: str) -> bool:
    """Look for *pattern*, whatever the case."""
    return re.search(pattern, text, re.IGNORECASE) is not None


def said(state: Seen) -> str:
    """Give the words to be judged, under whichever field they are sent."""
    return next((str(state[field]) for field in _WORDS if state.get(field)), "")


def intent_in(text: str, default: str) -> str:
    """Find the intent that a word of *text* points to."""
    return next((name for name, words in _INTENTS.items() if has(words, text)), default)


def amounts(text: object) -> set[str]:
    """Find the numbers in a text or in evidence, as they are said: `84.2` is `84.20`."""
    return {one.rstrip("0").rstrip(".") for one in re.findall(r"\d+(?:\.\d+)?", str(text))}


def _flag(pattern: str) -> Callable[[Seen], Guess]:
    return lambda state: (has(pattern, said(state)), SURE)


def _passes(pattern: str) -> Callable[[Seen], Guess]:
    return lambda state: (not has(pattern, said(state)), SURE)


# --- routing -----------------------------------------------------------------------------


def _continuity(state: Seen) -> Guess:
    text = said(state)
    if has(r"\b(human|real person|colleague)\b", text):
        return "HUMAN_HANDOFF", SURE
    if has(r"\b(bye|that is all)\b", text):
        return "END_SESSION", SURE
    if not state.get("active_agent") or intent_in(text, ""):
        return "ROUTE", LIKELY
    return "CONTINUE", LIKELY


def _router(state: Seen) -> Guess:
    found = intent_in(said(state), "fallback")
    return found, UNSURE if found == "fallback" else LIKELY


def _expected_input(state: Seen) -> Guess:
    text = said(state)
    word = "YES" if has(_YES, text) else "NO" if has(_NO, text) else "CONTINUE"
    return (word, LIKELY) if len(text.split()) > 1 or word != "CONTINUE" else ("UNMATCHED", SURE)


def _reentry(state: Seen) -> Guess:
    rest = re.sub(_COURTESY, "", said(state), flags=re.IGNORECASE)
    return ("REENTER" if has(r"\w", rest) else "RESUME"), LIKELY


def _confirmation(state: Seen) -> Guess:
    text = said(state)
    if has(r"\?|\b(but|only|if|wait)\b", text):
        return "CONTINUE", LIKELY
    return (
        ("YES", SURE) if has(_YES, text) else ("NO", SURE) if has(_NO, text) else ("CONTINUE", 0.8)
    )


def _relevance(state: Seen) -> Guess:
    text = said(state)
    if has(_REASONS, text):
        return "RELEVANT", SURE
    return "NOT_RELEVANT", LIKELY if intent_in(text, "") else UNSURE


def _shift(state: Seen) -> Guess:
    text, running = said(state), state["transaction"]["current_intent"]
    wanted = "" if has(_YES, text) else intent_in(text, "")
    kind = "CONTINUE" if wanted in ("", running) else "SHIFT"
    if has(r"\b(forget it|leave it|never mind|esquece)\b", text):
        kind = "ABANDON"
    return {"kind": kind, "destination": wanted or "NONE"}, LIKELY


def _goals(state: Seen) -> Guess:
    goals = enumerate(state["goals"], 1)
    chosen = {f"goal_{n}": intent_in(one["source_text"], "UNSUPPORTED") for n, one in goals}
    return chosen, LIKELY


def _fields(state: Seen) -> Guess:
    candidates = state.get("candidates") or {}
    fields = state["parameter_schema"]
    return {one: "resolved" if one in candidates else "unresolved" for one in fields}, LIKELY


def _backend(state: Seen) -> Guess:
    found = intent_in(said(state), "")
    backends = {"invoice_explanation": "accounts", "addon_cancel": "accounts", "": "NONE"}
    return backends.get(found, "shop"), LIKELY


def _interruption(state: Seen) -> Guess:
    rest = re.sub(r"\b(uh-huh|okay|ok|yes|right)\b", "", said(state), flags=re.IGNORECASE)
    return has(r"\w", rest), SURE


# --- rails -------------------------------------------------------------------------------


def _gibberish(state: Seen) -> Guess:
    return not has(r"[aeiouãéá]", said(state)), SURE


def _offer(state: Seen) -> Guess:
    offers = has(r"\b(upgrade|another plan|shall I also)\b", said(state))
    return offers, SURE


def _unproven(state: Seen) -> Guess:
    claims = has(r"\b(has been cancelled|is complete)\b", said(state))
    return claims and "SUCCESS" not in str(state.get("evidence")), SURE


def _wording(state: Seen) -> Guess:
    jargon = has(r"\b\w+_\w+\b|\btool\b|\bother services\b", said(state))
    code = "vague_list" if has(r"\bother services\b", said(state)) else "internal_term"
    return {"forbidden_wording": jargon, "reason_code": code}, LIKELY


def _leaks(state: Seen) -> Guess:
    text = said(state)
    code = "own_protocol" if has(_REFERENCE, text) else "secret"
    return {"leaks": has(f"{_REFERENCE}|{_HIDDEN}", text), "reason_code": code}, LIKELY


# --- judges ------------------------------------------------------------------------------


def _sentiment(state: Seen) -> Guess:
    text = said(state)
    if has(r"\b(bothering|broken|so much more|absurd)\b", text):
        return {"sentiment": "NEGATIVE", "satisfaction": 2.5}, 0.85
    if has(r"\b(thanks?|great|lovely)\b", text):
        return {"sentiment": "POSITIVE", "satisfaction": 7.5}, 0.85
    return {"sentiment": "NEUTRAL", "satisfaction": 5.0}, 0.85


def _unsupported(state: Seen) -> Guess:
    return bool(amounts(said(state)) - amounts(state.get("evidence", ""))), LIKELY


def _quality(state: Seen) -> Guess:
    return (8.0 if len(said(state)) > _CURT else 4.0), 0.85


def _served(state: Seen) -> Guess:
    return (_quality(state)[0] / 10 if state.get("question") else 0.0), 0.85


RULES: Final[Mapping[str, Callable[[Seen], Guess]]] = {
    "GLOBAL_SUPERVISOR": _backend,
    "PROCESSING_INTERRUPTION": _interruption,
    "GUARDRAIL_PINJ": _flag(_ORDERS),
    "GUARDRAIL_PINJ_OUTPUT": _flag(_ORDERS),
    "GUARDRAIL_COER": _gibberish,
    "GUARDRAIL_TOX": _flag(r"\b(idiots?|stupid|hate you)\b"),
    "GUARDRAIL_OOS": _flag(r"\b(recipe|football|weather)\b"),
    "GUARDRAIL_DLEX_IN": _flag(_HIDDEN),
    "GUARDRAIL_GUARDRAIL": _passes(r"\b\d{13,19}\b"),
    "ROUTE_CONTINUITY": _continuity,
    "ROUTER": _router,
    "WORKFLOW_EXPECTED_INPUT": _expected_input,
    "WORKFLOW_REENTRY": _reentry,
    "TRANSACTION_CONFIRMATION": _confirmation,
    "TRANSACTION_PARAMETER_RELEVANCE": _relevance,
    "TRANSACTION_INTENT_SHIFT": _shift,
    "MULTI_INTENT": _goals,
    "TRANSACTION_PARAMETER_RECONCILIATION": _fields,
    "GUARDRAIL_RAGSEC": _flag(_ORDERS),
    "GUARDRAIL_AOFERTA": _offer,
    "GUARDRAIL_REVPREC": _unproven,
    "GUARDRAIL_FRASEOLOGIA": _wording,
    "GUARDRAIL_DLEX_OUT": _leaks,
    "GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK": _flag(_HIDDEN),
    "GUARDRAIL_GRL": _passes(_HIDDEN),
    "JUDGE_CSI": _sentiment,
    "JUDGE_VCTN": _passes(r"\b(your fault|obviously)\b"),
    "JUDGE_ALUC": _unsupported,
    "JUDGE_RQLT": _quality,
    "JUDGE_LLM_JUDGE": _served,
}
