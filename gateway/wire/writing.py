"""What both dialects of our server write alike: answers, money, and what stands beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..answers import Chosen, Scored, Usage
from ..confidence import choice_confidence, score_confidence
from ..questions import Choice, Question

encoder = msgspec.json.Encoder()


def joined(body: msgspec.Struct, extra: Mapping[str, Any] | None) -> bytes:
    """Encode *body* with *extra* fields beside its own; they do not meet."""
    written = encoder.encode(body)
    if not extra:
        return written
    return written[:-1] + b"," + encoder.encode(extra)[1:]


def confidence(question: Question, answer: Chosen | Scored) -> float:
    """
    Say how sure an answer is: clients require a number.

    The provider's own; else TypeSafe's formula over its distribution, which is what the number
    means in both dialects; else 0, which without a distribution says that there is none.
    """
    if answer.confidence is not None:
        return answer.confidence
    spread = answer.probabilities
    if not spread:
        return 0.0
    if isinstance(answer, Scored):
        return min(1.0, score_confidence(list(answer.probabilities or ())))
    assert isinstance(question, Choice)
    top = (answer.probabilities or {}).get(answer.option, 0.0)
    return min(1.0, choice_confidence(top, len(question.options)))


def completed(question: Question, answer: Chosen) -> dict[str, float]:
    """
    Give the distribution with every declared option in it, in the order of the question.

    One that is left out has 0, as acceptance counts it: clients that check want all of them. An
    absent distribution stays empty.
    """
    spread = answer.probabilities
    if not spread:
        return {}
    assert isinstance(question, Choice)
    return {option: spread.get(option, 0.0) for option in question.options}


def beside(usage: Usage | None, extra: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Put what the call cost beside the answers, as a decimal string, where it is known."""
    if usage is None or usage.cost_usd is None:
        return extra or {}
    metadata: Mapping[str, Any] = (extra or {}).get("provider_metadata", {})
    gateway = {"cost": decimal(usage.cost_usd), **metadata.get("gateway", {})}
    return {**(extra or {}), "provider_metadata": {**metadata, "gateway": gateway}}


def decimal(usd: float) -> str:
    """Write US dollars: at most twelve decimals, no exponent."""
    return f"{usd:.12f}".rstrip("0").rstrip(".")
