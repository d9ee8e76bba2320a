"""
Budgets: what one provider may cost in a day, in one process.

`<PROVIDER>_BUDGET_USD_PER_DAY` counts what attempts are known or estimated to cost, from
midnight to midnight UTC; answers whose cost nobody knows count nothing. What is asked beside
`current` has a purse of its own, as large.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from .environment import validated, variables_of
from .errors import Fault, raise_all
from .forks import Lock

if TYPE_CHECKING:
    from .settings import Settings

SUFFIX = "BUDGET_USD_PER_DAY"
DAY = 86_400.0  # seconds


class Budget:
    """
    A purse that is full again at midnight UTC.

    An ask takes what the asks so far cost on average out of it, until it is known what it did
    cost: many at once do not overdraw it. The very first ones, whose cost nobody can guess, may.

    Args:
        usd_per_day: US dollars.
        clock: Seconds since the epoch.

    """

    def __init__(self, usd_per_day: float, clock: Callable[[], float] = time.time) -> None:
        self.limit, self._clock = usd_per_day, clock
        self._lock = Lock()
        self._day: float = 0.0
        self._spent: float = 0.0
        self._told = False
        self._under_way = 0
        self._mean: float = 0.0
        self._known = 0

    def take(self) -> bool:
        """Whether there is enough for one more ask; `paid` has to follow."""
        with self._lock:
            if self.is_empty:
                return False
            self._under_way += 1
            return True

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing left for one more ask today; takes nothing."""
        with self._lock:
            self._turn()
            return self._spent + self._under_way * self._mean >= self.limit

    def paid(self, usd: float | None) -> None:
        """Learn that an ask has ended, and what it cost; None where nobody knows."""
        with self._lock:
            self._turn()
            self._under_way -= 1
            if usd is not None:
                self._spent += usd
                self._known += 1
                self._mean += (usd - self._mean) / self._known

    def first_told(self) -> bool:
        """Whether nobody has been told today that it is empty; from now on, somebody has."""
        with self._lock:
            first, self._told = not self._told, True
            return first

    def _turn(self) -> None:
        day = self._clock() // DAY
        if day != self._day:
            self._day, self._spent, self._told = day, 0.0, False


class Purses:
    """The purses of one gateway in one process: reading the variables again refills none."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[tuple[str, bool], Budget] = {}

    def of(self, provider: str, settings: Settings, *, trial: bool = False) -> Budget | None:
        """
        Give the purse of *provider*, or of what is asked of it for trial.

        Raises:
            SetupError: The variable is no amount.

        """
        wanted = budget_of(provider, settings)
        if wanted is None:
            return None
        with self._lock:
            held = self._held.setdefault((provider, trial), wanted)
            held.limit = wanted.limit
            return held


class _Purse(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    budget: float | None = Field(None, ge=0, allow_inf_nan=False)


def budget_of(provider: str, settings: Settings) -> Budget | None:
    """
    Give a purse for *provider*; None where its variable is unset.

    Raises:
        SetupError: The variable is no amount.

    """
    candidates = variables_of(provider, SUFFIX)
    settings.read_of_providers.update(candidates)
    values = settings.variables.values
    variable = next((one for one in candidates if one in values), None)
    if variable is None:
        return None
    faults: list[Fault] = []
    purse = validated(_Purse, {"budget": variable}, values, faults)
    raise_all(faults)
    return None if purse.budget is None else Budget(purse.budget)
