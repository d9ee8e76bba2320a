"""What one arm made of one case, as it is written down: outcomes and costs, and nothing said."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ....gateway.questions import Value

Values = Mapping[str, Value | None]
"""Question → answer; None: not live."""


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """
    What turns of one kind cost.

    Attributes:
        calls: How many there were.
        tokens: Read and written, of those that told.
        usd: US dollars, of those that told.
        untold: Calls whose tokens nobody told.
        unpriced: Calls whose price nobody told.

    """

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    untold: int = 0
    unpriced: int = 0

    def __add__(self, other: Part) -> Part:
        return Part(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.usd + other.usd,
            self.untold + other.untold,
            self.unpriced + other.unpriced,
        )

    def in_unit(self, unit: str) -> float | None:
        """Give the cost in `calls`, `tokens` or `money`; None where it is not wholly known."""
        if unit == "calls":
            return float(self.calls)
        if unit == "tokens":
            return None if self.untold else float(self.tokens)
        return None if self.unpriced else self.usd


class Maker(msgspec.Struct, frozen=True, omit_defaults=True):
    """
    Who a provider was when it was asked.

    Attributes:
        model: As configured; empty: it names none.
        minimum: The confidence from which it is believed, by its own variable or by default.
        served: The model as served; empty: nobody said.

    """

    model: str = ""
    minimum: float = 0.0
    served: str = ""


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    One arm on one case.

    Attributes:
        case: Its id.
        digest: Of the case: another question or another gold is another case.
        arm: The arm's name.
        given: Its outcome; None: it gave none.
        why: `ok`, or why there is none.
        sure: Confidence of the outcome, in [0, 1]; None where it has none.
        first: Outcome of its own first answers; None: none, or the arm has no second ones.
        opening: Member → its first answers.
        ending: Member → its last answers.
        parts: Kind of turn → what those cost.
        seconds: From the first ask to the outcome.
        rounds: Of a debate, that were run.
        stop: Why it ended, of a protocol.
        k: Samples of a matched arm.
        matched: What k was really found by; empty: nothing.
        against: The debate that k was found by, as it was run; empty: by calls as planned.
        ratios: Cost of this arm over the debate's on the same case: `calls`, `tokens`,
            `money`; one that is not known is left out.
        asked: Provider → who that was.
        unsure: Provider → its answers that were below its minimum, and so did not count.
        uncriticised: A placebo of content for which no critiques of another case were there.

    """

    case: str
    digest: str
    arm: str
    given: Values | None = None
    why: str = "ok"
    sure: float | None = None
    first: Values | None = None
    opening: Mapping[str, Values] = {}
    ending: Mapping[str, Values] = {}
    parts: Mapping[str, Part] = {}
    seconds: float = 0.0
    rounds: int = 0
    stop: str = ""
    k: int = 0
    matched: str = ""
    against: str = ""
    ratios: Mapping[str, float] = {}
    asked: Mapping[str, Maker] = {}
    unsure: Mapping[str, int] = {}
    uncriticised: bool = False

    @property
    def cost(self) -> Part:
        """What all of its turns cost."""
        return sum(self.parts.values(), Part())
