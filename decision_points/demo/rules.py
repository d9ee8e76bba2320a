"""
What the demo's desk runs today: plain keyword rules, written for this demo and nothing else.

They stand where your own LLM calls stand. Each is an ordinary function; `desk.py` puts the
gateway around it, and it becomes `current`: today's path, and the only fallback.
"""

from __future__ import annotations

import re
from typing import Any

ATTACK = r"\b(ignore|ignora|pretend|system administrator|hidden instructions|jailbreak)\b"
HUMAN = r"\b(human|real person|speak to (someone|a person)|falar com uma pessoa|atendente)\b"
END = r"\b(bye|goodbye|that's all|have a good day|é só isso|até à próxima)\b"
NEW = r"\b(the other thing|another (thing|question)|já agora|afinal|queria também|also)\b"

KEYWORDS = {
    "billing": r"invoice|bill|charge|refund|fatura|conta|cobrar|débito|reembolso",
    "internet": r"wifi|internet|router|connection|rede|ligação",
    "plan": r"plan|data|roaming|tariff|tarifário|gigas|plano",
    "delivery": r"parcel|deliver|order|encomenda|entrega|morada",
    "returns": r"return|send back|exchange|devolver|devolução|troca",
    "visit": r"technician|engineer|appointment|técnico|visita",
}

APOLOGY, LONG, SHORT = r"\b(cannot|sorry|não posso)\b", 60, 25


def is_attack(text: str) -> bool:
    """Look for words that attacks like to use."""
    return _has(ATTACK, text)


def handling(
    current_message: str,
    active_agent: str,
    active_agent_capabilities: str,  # noqa: ARG001 - deciders are shown it; rules cannot read
    recent_history: list[dict[str, str]],  # noqa: ARG001 - the same
) -> str:
    """Stay with what is being handled, unless some word says otherwise."""
    if _has(HUMAN, current_message):
        return "HUMAN_HANDOFF"
    if _has(END, current_message):
        return "END_SESSION"
    found = _intent(current_message)
    moved = _has(NEW, current_message) or (found is not None and found != active_agent)
    return "ROUTE" if moved or not active_agent else "CONTINUE"


def intent(message: str, allowed_intents: list[dict[str, Any]]) -> str:  # noqa: ARG001 - the same
    """Take the first intent that has a keyword in the message."""
    return _intent(message) or "fallback"


def quality(question: str, answer: str) -> float:  # noqa: ARG001 - the same
    """Like long answers with a number in them, and dislike apologies."""
    score = 6.0 + (len(answer) > LONG) - 2 * (len(answer) < SHORT)
    return score + _has(r"\d", answer) - 2 * _has(APOLOGY, answer)


def _intent(message: str) -> str | None:
    return next((name for name, words in KEYWORDS.items() if _has(words, message)), None)


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None
