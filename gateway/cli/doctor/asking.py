"""A real question for a provider, to see whether it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import Reason
from ...points import DecisionPoint
from ...questions import Choice

if TYPE_CHECKING:
    from ...gateway import Gateway
    from ...records import Attempt

PROBE = DecisionPoint(
    name="DOCTOR",
    questions={
        "": {
            "team": Choice(
                "Which team should handle this message?",
                {
                    "billing": "Invoices, amounts, payments and refunds",
                    "technical": "Faults, outages, a connection that does not work",
                },
            )
        }
    },
    safe="billing",
)
PROBED = "My last invoice was twice as high as usual, and I would like a refund."

# An answer that is too unsure is no failure.
WORKS = frozenset({Reason.OK, Reason.LOW_CONFIDENCE, Reason.CONFIDENCE_MISSING, Reason.ABSTAINED})


def asked(gateway: Gateway, name: str) -> Attempt:
    """Ask the provider *name*, and give what it came to."""
    with gateway.override({PROBE.name: name}):
        return gateway.ask_sync(PROBE, PROBED, current=_nobody).attempts[0]


def _nobody() -> str:
    """Stand behind the probe, so that a failure ends here."""
    return "billing"
