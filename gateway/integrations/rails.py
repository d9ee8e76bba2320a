"""What a guardrail is shown of a conversation: in the fields of a rail, or plainly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..points import DecisionPoint
from ..state import State


def input_state(point: DecisionPoint, said: Sequence[Mapping[str, str]]) -> State:
    """
    Show what came in, given as messages, oldest first.

    A point that reads `text` gets what the user has just said, in as many messages as that took,
    and the rest as `history`. Any other gets the text of a single message, else all of them.
    """
    users = [at for at, one in enumerate(said) if one["role"] == "user"]
    if "text" not in point.reads or not users:
        return said[0]["content"] if len(said) == len(users) == 1 else list(said)
    first = last = users[-1]
    while first > 0 and said[first - 1]["role"] == "user":
        first -= 1
    text = "\n\n".join(one["content"] for one in said[first : last + 1])
    history = [*said[:first], *said[last + 1 :]]
    return {"text": text, "stage": "input", **({"history": history} if history else {})}


def output_state(point: DecisionPoint, output: object) -> State:
    """Show an agent's output: a text plainly, unless the point names a field for it."""
    if point.words:
        return {point.words: output, "stage": "output"}
    return output if isinstance(output, str) else {"answer": output}
