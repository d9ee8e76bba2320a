"""When a provider is left alone: after failures in a row, or until somebody mends a key."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from .errors import NoAnswer, Reason
from .forks import Lock

if TYPE_CHECKING:
    from collections.abc import Callable

FAILURES = 5  # in a row, until a breaker opens
PAUSE = 30.0  # seconds that a failing provider is left alone
OPERATOR_PAUSE = 300.0  # seconds after a bad key or an empty purse: nothing heals by itself

FAILING = frozenset({Reason.TRANSPORT, Reason.TIMEOUT, Reason.RATE_LIMITED, Reason.PROVIDER_ERROR})
OPERATOR = frozenset({Reason.AUTH, Reason.PAYMENT})
NOTHING_SEEN = frozenset(
    {
        Reason.BREAKER_OPEN,
        Reason.OVER_BUDGET,
        Reason.UNSUPPORTED,
        Reason.NESTED,
        Reason.SKIPPED,
        Reason.CANCELLED,
    }
)
"""Ends of an ask that say nothing about whether the provider works."""


class Breaker:
    """
    Leaves a failing provider alone for a while, then lets one probe through.

    Five transport, timeout, rate-limit or server failures in a row open it for 30 seconds; a
    bad key or an empty purse at once, for 5 minutes. Any answer closes it, a rejected one
    too: the provider works.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._failures = 0
        self._open_until: float | None = None
        self._probing = False
        self._operator = False  # open until somebody mends a key or a purse

    @property
    def is_open(self) -> bool:
        """Whether asks are refused now."""
        return self._open_until is not None and self._clock() < self._open_until

    @property
    def remaining(self) -> float | None:
        """Seconds until it lets a probe through; None: it is closed."""
        until = self._open_until
        return None if until is None else max(0.0, until - self._clock())

    def enter(self) -> bool:
        """
        Ask for leave to ask; return True for the one probe.

        Raises:
            NoAnswer: The breaker is open, or its one probe is under way.

        """
        return self._open_until is not None and self._probe()

    def _probe(self) -> bool:
        with self._lock:
            if self._probing or self.is_open:
                raise NoAnswer(Reason.BREAKER_OPEN)
            self._probing = self._open_until is not None  # it may have closed meanwhile
            return self._probing

    def pause(self, seconds: float) -> None:
        """Refuse asks for *seconds*, whatever was seen."""
        with self._lock:
            self._open_until = max(self._clock() + seconds, self._open_until or 0.0)

    def saw(self, reason: Reason, *, probe: bool = True) -> bool:
        """
        Learn how an ask that was let through ended.

        Args:
            reason: How.
            probe: Whether it was the probe, as `enter` said.

        Returns:
            True if the breaker opened by it, or must now wait for the operator.

        """
        if reason is Reason.OK and not self._failures and self._open_until is None:
            return False
        if reason in NOTHING_SEEN:
            with self._lock:
                self._probing = self._probing and not probe  # the next ask is the probe
            return False
        if reason not in FAILING and reason not in OPERATOR:
            if self._failures or self._open_until is not None:
                self._close()
            return False
        return self._failed(reason)

    def _close(self) -> None:
        with self._lock:
            self._failures, self._open_until, self._probing = 0, None, False

    def _failed(self, reason: Reason) -> bool:
        with self._lock:
            self._failures += 1
            at_once = reason in OPERATOR or self._probing
            self._probing = False
            if not at_once and self._failures < FAILURES:
                return False
            known = self.is_open and (self._operator or reason not in OPERATOR)
            self._operator = reason in OPERATOR or (self._operator and self.is_open)
            pause = OPERATOR_PAUSE if reason in OPERATOR else PAUSE
            self._open_until = max(self._clock() + pause, self._open_until or 0.0)
            return not known
