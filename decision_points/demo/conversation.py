"""The demo's conversation: forty turns of four customers, in English and Portuguese."""

from __future__ import annotations

from importlib.resources import files

import msgspec

FILE = "conversation.jsonl"

# What the desk can do; the descriptions are what a decider is shown.
INTENTS = {
    "billing": "Questions about an invoice, a bill, a charge, a payment or a refund",
    "internet": "The internet or wifi at home is slow, drops, or does not load pages",
    "plan": "Change the mobile plan or tariff: price, data allowance, roaming abroad",
    "delivery": "Where a parcel or an ordered phone is, its delivery and its address",
    "returns": "Send back, exchange or replace a device that arrived broken or is unwanted",
    "visit": "Book, move or cancel the appointment of a technician at home",
}


class Turn(msgspec.Struct, frozen=True):
    """
    One turn as it was recorded.

    Attributes:
        customer: Who speaks.
        language: Of what is said: `en` or `pt`.
        active: The intent that the desk is handling; empty at the beginning.
        user: What the customer says.
        reply: What the desk answered.
        meant: The author's note: an intent or `fallback` for a new subject, else `continue`,
            `human`, `end` or `attack`.

    """

    customer: str
    language: str
    active: str
    user: str
    reply: str
    meant: str


def conversation() -> list[Turn]:
    """Read the conversation."""
    content = files(__name__.rpartition(".")[0]).joinpath(FILE).read_bytes()
    return [msgspec.json.decode(line, type=Turn) for line in content.splitlines()]


def meant(turn: Turn, point: str) -> object:
    """Write the author's note in the words of *point*; None where it says nothing."""
    handling = {"continue": "CONTINUE", "human": "HUMAN_HANDOFF", "end": "END_SESSION"}
    if point == "GUARDRAIL_PINJ":
        return turn.meant == "attack"
    if point == "ROUTE_CONTINUITY":
        return handling.get(turn.meant, None if turn.meant == "attack" else "ROUTE")
    if point == "ROUTER" and turn.meant in (*INTENTS, "fallback"):
        return turn.meant
    return None
