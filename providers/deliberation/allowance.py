"""
What one deliberation may use: calls, tokens, money.

Something is reserved before each call and settled after it. What is used up stops the next call,
and never takes away an answer in hand.
"""

from __future__ import annotations

import math

import msgspec

from ...gateway.answers import Usage
from ...gateway.errors import DeclarationError

CHARACTERS = 4  # of a prompt that make about one token of it
WRITTEN = 512  # tokens reserved for an answer where nobody says how long it may be
SLACK = 1e-9  # US dollars; sums of exact decimals miss by an ulp


class Spent(msgspec.Struct, frozen=True):
    """
    What was used.

    Attributes:
        calls: Calls made.
        tokens: Read and written together; of a call that did not tell, what was reserved for it.
        usd: US dollars; of a call that did not tell, what was reserved for it.
        unknown: Calls of which nobody knows what they used.

    """

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unknown: int = 0


class Reservation(msgspec.Struct, frozen=True):
    """What is set aside for a call under way."""

    tokens: int
    usd: float


class Allowance:
    """
    What may be used, and what was.

    Money is reserved as the dearest call so far: of the very first ones, whose price nobody can
    guess, as many as begin together may overdraw it. A call whose price nobody tells counts as the
    dearest; while no price is known that it could count as, nothing further is begun.

    Args:
        calls: Most calls; None: any number.
        tokens: Most tokens, read and written together; None: any number.
        usd: Most US dollars; None: any amount.
        reserve: Share of each, in [0, 1), that only closing turns may use; of calls, whole ones.

    Raises:
        DeclarationError: A limit is negative or no number, or the share is none.

    """

    def __init__(
        self,
        calls: int | None = None,
        tokens: int | None = None,
        usd: float | None = None,
        reserve: float = 0.1,
    ) -> None:
        limits = [one for one in (calls, tokens, usd) if one is not None]
        if not all(0 <= one < math.inf for one in limits) or not 0 <= reserve < 1:
            raise DeclarationError("an allowance is of numbers from 0, its reserve in [0, 1)")
        self.calls, self.tokens, self.usd, self.reserve = calls, tokens, usd, reserve
        self._spent = Spent()
        self._out: list[Reservation] = []
        self._dearest = 0.0
        self._unpriced = False

    def take(
        self, characters: int = 0, written: int | None = None, *, closing: bool = False
    ) -> Reservation | None:
        """
        Set something aside for one more call; None: it may not be made.

        Args:
            characters: Of what is sent.
            written: Most tokens of the answer; None: not known.
            closing: The call may use what is held back.

        """
        if self.empty(closing=closing):
            return None
        taken = self._priced(characters, written)
        self._out.append(taken)
        return taken

    def settle(self, taken: Reservation, usage: Usage | None) -> None:
        """Learn what a call used; where nobody knows, it is what was reserved."""
        self._out.remove(taken)
        self._learn(taken, usage)

    def recall(self, characters: int, written: int | None, usage: Usage | None) -> None:
        """Count a call that was made before, in a part of the deliberation that is resumed."""
        self._learn(self._priced(characters, written), usage)

    def empty(self, *, closing: bool = False) -> bool:
        """Whether no further call may be made."""
        made = self._spent.calls + len(self._out)
        tokens = self._spent.tokens + sum(one.tokens for one in self._out)
        usd = self._spent.usd + sum(one.usd for one in self._out)
        guessed = self._unpriced and not self._dearest
        share = 0.0 if closing else self.reserve
        return (
            (self.calls is not None and made >= self.calls - math.floor(self.calls * share))
            or (self.tokens is not None and tokens >= self.tokens * (1.0 - share))
            or (self.usd is not None and (guessed or usd >= self.usd * (1.0 - share) - SLACK))
        )

    @property
    def spent(self) -> Spent:
        """What was used by the calls that have ended."""
        return self._spent

    def _priced(self, characters: int, written: int | None) -> Reservation:
        read = math.ceil(characters / CHARACTERS)
        return Reservation(read + (WRITTEN if written is None else written), self._dearest)

    def _learn(self, taken: Reservation, usage: Usage | None) -> None:
        tokens, usd = taken.tokens, taken.usd
        if usage is not None:
            tokens = usage.input_tokens + usage.output_tokens
        if usage is not None and usage.cost_usd is not None:
            usd = usage.cost_usd
            self._dearest = max(self._dearest, usd)
        else:
            self._unpriced = True
        before = self._spent
        self._spent = Spent(
            before.calls + 1,
            before.tokens + tokens,
            before.usd + usd,
            before.unknown + (usage is None),
        )
