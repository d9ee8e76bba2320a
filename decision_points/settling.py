"""What a decision about a transaction makes the host do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

import msgspec

from .menus import normal
from .reading import Said, clears, word, words
from .routing import Intent
from .transaction import TRANSACTION_INTENT_SHIFT, TRANSACTION_PARAMETER_RELEVANCE


class Confirmation(StrEnum):
    """
    What becomes of a pending action.

    `CONFIRM` lets the host execute it, once, after its own checks. `REJECT` cancels it.
    `PENDING` executes nothing: a change of intent is looked for, else the host asks again.
    """

    CONFIRM = "CONFIRM"
    REJECT = "REJECT"
    PENDING = "PENDING"


def confirmation(
    outcome: Said, confirm_values: Sequence[str], reject_values: Sequence[str]
) -> Confirmation:
    """
    Read a decision of TRANSACTION_CONFIRMATION as the host does.

    Only membership in one of the two lists counts, compared without blanks and case; a value
    of both is neither.

    Args:
        outcome: What was decided.
        confirm_values: What lets the action be executed.
        reject_values: What cancels it.

    """
    said = {normal(one) for one in words(outcome)} - {""}
    confirms = not said.isdisjoint(map(normal, confirm_values))
    rejects = not said.isdisjoint(map(normal, reject_values))
    if confirms is rejects:
        return Confirmation.PENDING
    return Confirmation.CONFIRM if confirms else Confirmation.REJECT


def relevance(outcome: Said, confidence: float | None) -> bool | None:
    """
    Read a decision of TRANSACTION_PARAMETER_RELEVANCE as the host does.

    True: the extractor runs and the transaction keeps the turn. False: a change of intent is
    looked for. None, below the host's own threshold or without a label: it is unknown, and
    the extractor runs first.

    Args:
        outcome: What was decided.
        confidence: Of the decision, 0 where none is known; None (`confidence_of`): the host's
            own path decided, and no threshold is applied again.

    """
    if not clears(TRANSACTION_PARAMETER_RELEVANCE, confidence):
        return None
    labels: Mapping[str, bool] = {"RELEVANT": True, "NOT_RELEVANT": False}
    return labels.get(word(outcome, labels))


class ShiftKind(StrEnum):
    """
    How a message relates to the transaction in progress.

    `CONTINUE` leaves the turn to the transaction. `REPLACE` cancels it and routes the same
    intent anew. `SHIFT` closes it as cancelled and routes another intent. `ABANDON` closes it
    and routes the new intent, if one was said; else nothing is routed and no tool is called.
    """

    CONTINUE = "CONTINUE"
    REPLACE = "REPLACE"
    SHIFT = "SHIFT"
    ABANDON = "ABANDON"


class Shift(msgspec.Struct, frozen=True):
    """
    What becomes of the transaction in progress.

    Attributes:
        kind: How the message relates to it.
        intent: Where the message goes instead; empty: nowhere.
        agent: Who serves that intent, from the catalogue.
        effect: The host's own word for it; empty: the transaction keeps the turn.

    """

    kind: ShiftKind
    intent: str = ""
    agent: str = ""
    effect: str = ""


STAYS: Final = Shift(ShiftKind.CONTINUE)

_EFFECTS: Final[Mapping[ShiftKind, str]] = {
    ShiftKind.REPLACE: "same_intent_replacement",
    ShiftKind.SHIFT: "intent_shift",
    ShiftKind.ABANDON: "explicit_abandonment",
}


def shift(
    outcome: Said,
    confidence: float | None,
    transaction: Mapping[str, Any],
    allowed_intents: Sequence[Intent],
    *,
    abandon_only: bool = False,
) -> Shift:
    """
    Read a decision of TRANSACTION_INTENT_SHIFT as the host does.

    Whatever is not plainly something else continues: below the host's own threshold, a
    replacement by another intent, a shift to the same one, a destination without an agent.

    Args:
        outcome: What was decided, `kind` and `destination`.
        confidence: Of the decision, 0 where none is known; None (`confidence_of`): the host's
            own path decided, and no threshold is applied again.
        transaction: The one in progress; its `current_intent` is compared.
        allowed_intents: The enabled intents and their agents.
        abandon_only: Only an abandonment counts: the same answers, read in the first of the
            host's two modes (A14).

    """
    kind, intent = _read(outcome, allowed_intents)
    wanted = kind is ShiftKind.ABANDON or not abandon_only
    if kind is ShiftKind.CONTINUE or not wanted:
        return STAYS
    if not clears(TRANSACTION_INTENT_SHIFT, confidence):
        return STAYS
    if kind is ShiftKind.ABANDON and not intent:
        return Shift(kind, effect="state:TRANSACTION_ABANDONED")
    agent = _agent(intent, allowed_intents)
    same = intent == transaction.get("current_intent")
    if not agent or (kind is not ShiftKind.ABANDON and same is not (kind is ShiftKind.REPLACE)):
        return STAYS
    return Shift(kind, intent, agent, _EFFECTS[kind])


def _read(outcome: Said, allowed_intents: Sequence[Intent]) -> tuple[ShiftKind, str]:
    answers: Mapping[str, Any] = outcome if isinstance(outcome, Mapping) else {"kind": outcome}
    kind = word(answers.get("kind"), ShiftKind)
    said = words(answers.get("destination"))
    known = word(answers.get("destination"), [entry["intent"] for entry in allowed_intents])
    nowhere = not said or not said[0] or "NONE" in said
    return ShiftKind(kind or "CONTINUE"), "" if nowhere else known or said[0]


def _agent(intent: str, allowed_intents: Sequence[Intent]) -> str:
    found = (entry.get("agent") or "" for entry in allowed_intents if entry["intent"] == intent)
    return next(found, "")
