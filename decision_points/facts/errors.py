"""
What facts raise, ordered by who must act.

FactsError
├── Refused        the writer: what was written is no value, is ambiguous, or may not be written
├── NotResolved    the reader: `require` found no resolved and fresh value
└── Superseded     the resolver: others were there first, or the candidates are no longer the same

Faults of files and variables are `SetupError`; a database that is down is `StoreDown`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...gateway.errors import PointsmanError

if TYPE_CHECKING:
    from .entries import Receipt


class FactsError(PointsmanError):
    """Anything that facts refuse."""


class Refused(FactsError):
    """
    It is not written, and nothing else is lost.

    Args:
        code: A short name of the fault, as `not_a_value`; of a closed list in docs/facts.md.
        problem: What is wrong, without the value's text.
        fix: What to do.

    """

    def __init__(self, code: str, problem: str, fix: str = "") -> None:
        self.code, self.problem, self.fix = code, problem, fix
        super().__init__(f"{code}: {problem}. {fix}" if fix else f"{code}: {problem}")


class NotResolved(FactsError):
    """
    There is no resolved and fresh value.

    Args:
        reading: What there is instead.

    """

    def __init__(self, reading: Any) -> None:  # noqa: ANN401 - a `Reading`, which is above this
        self.reading = reading
        super().__init__(f"{reading.key} is {reading.standing}")


class Superseded(FactsError):
    """
    A resolution came too late; nothing was written.

    Args:
        problem: What happened meanwhile.
        present: Ids of the candidates now; empty: the dispute is over.
        receipt: The one that counts, where somebody was first.

    """

    def __init__(
        self, problem: str, present: tuple[str, ...] = (), receipt: Receipt | None = None
    ) -> None:
        self.present, self.receipt = present, receipt
        super().__init__(problem)
