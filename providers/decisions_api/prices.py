"""What is known of each model, whoever serves it: its list price, and how much it reads."""

from __future__ import annotations

import msgspec

from ...gateway.answers import Usage

PER_TOKEN = 1e-6  # prices are quoted for a million tokens of input; output is free everywhere


class Known(msgspec.Struct, frozen=True):
    """
    One model.

    Attributes:
        usd_per_million: List price of a million tokens of input, in US dollars.
        characters: Longest state, at four characters a token: refuse it here, where the
            model would cut it off or answer 400 after it was sent; None: no limit is known.

    """

    usd_per_million: float
    characters: int | None = None


JEV = Known(0.042, 120_000)  # docs.typesafe.ai: 32k tokens of state and longest question
MODELS = {
    "jev": JEV,
    "gpt-6-luna": Known(0.10, 3_600_000),  # OpenAI's model page: 922k tokens of input
    "clef": Known(0.24, 240_000),  # Workers AI's pricing page; 65,536 tokens for all
    "clef-flash": Known(0.09, 240_000),
    "clef-omni": Known(0.15, 240_000),
    "pplx-decider": Known(0.02, 1_000_000),  # docs.perplexity.ai: below 262,144 tokens
    "pplx-decider-flash": Known(0.01, 1_000_000),
    "microsoft-decision-1": Known(0.042, 120_000),  # 32,768 tokens
}


def known(model: str) -> Known | None:
    """Tell what is known of *model*, whatever vendor and version stand around its name."""
    name = model.removeprefix("~").rpartition("/")[2].lower()
    fitting = [one for one in MODELS if name == one or name.startswith(f"{one}-")]
    return MODELS[max(fitting, key=len)] if fitting else None


def priced(usage: Usage, *models: str) -> Usage:
    """
    Estimate a cost that is absent, or 0 while free credit lasts, from the list price.

    Args:
        usage: As told.
        models: Who may have been paid, the likeliest first; the first one known counts.

    Returns:
        The usage; its cost is None where it was not told and nobody knows the price.

    """
    if usage.cost_usd:
        return usage
    model = next((one for name in models if (one := known(name)) is not None), None)
    if model is None:
        return Usage(usage.input_tokens, usage.output_tokens)
    cost = usage.input_tokens * model.usd_per_million * PER_TOKEN
    return Usage(usage.input_tokens, usage.output_tokens, cost, estimated=True)
