"""What an operator does about an answer that was not believed."""

from __future__ import annotations

from ...errors import Reason

MAKERS = "Its replies cannot be believed: tell its makers"

REMEDIES = {
    Reason.AUTH: "Check the provider's key",
    Reason.PAYMENT: "Top up the account of the provider's key",
    Reason.TRANSPORT: "Check the provider's base URL, and this machine's network or proxy",
    Reason.TIMEOUT: "Try again; if it stays, raise the provider's TIMEOUT_SECONDS",
    Reason.RATE_LIMITED: "Wait, or ask the provider for a higher limit",
    Reason.REJECTED: "Check the provider's model and base URL",
    Reason.BREAKER_OPEN: "Wait half a minute, and try again",
    Reason.PROVIDER_ERROR: "The provider is at fault: try again, or tell its makers",
}
"""For one question that was asked just now."""

LASTING = {
    Reason.LOW_CONFIDENCE: (
        "Certify a threshold with `pointsman calibrate`, or say more in the options' descriptions"
    ),
    Reason.CONFIDENCE_MISSING: (
        "It gives no confidence here: choose one that does, or a minimum of 0 for the point"
    ),
    Reason.ABSTAINED: "It finds that none of the options fits: declare the one that is missing",
    Reason.REFUSED: "It refuses to judge such texts: choose another provider for this point",
    Reason.MISMATCHED: "Another model answers than the one asked for: correct the provider's MODEL",
    Reason.UNSUPPORTED: "The question goes beyond its limits: fewer options, or another provider",
    Reason.TOO_LARGE: "The state goes beyond its limits: show it less, or choose another provider",
    Reason.TIMEOUT: "Raise the provider's TIMEOUT_SECONDS, or the point's DEADLINE_SECONDS",
    Reason.SKIPPED: "The deadline leaves no time to ask: raise the point's DEADLINE_SECONDS",
    Reason.OVER_BUDGET: "Raise the provider's BUDGET_USD_PER_DAY, or let fewer points ask it",
    Reason.RATE_LIMITED: "Ask the provider for a higher limit, or let fewer points ask it",
    Reason.NESTED: "It is asked within its own decision: choose another provider for this point",
    Reason.BREAKER_OPEN: "It failed so often that it is left alone: see `pointsman doctor --live`",
    Reason.CANCELLED: "Callers give up before it answers: be patient, or ask a faster one",
    Reason.PROVIDER_ERROR: "The provider is at fault: see `pointsman doctor --live`",
}
"""For what a journal shows to go on for long; where it has none, as for one question."""


def lasting(reason: Reason) -> str:
    """Say what to do about answers that are never believed, for this *reason*."""
    return LASTING.get(reason) or REMEDIES.get(reason, MAKERS)
