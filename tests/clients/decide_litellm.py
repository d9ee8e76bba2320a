"""
Ask a running server by LiteLLM's decisions call, unmodified; writes one JSON object.

`python decide_litellm.py BASE_URL KEY MODEL…`, in an environment that has LiteLLM; each model is
asked once.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import litellm  # type: ignore[import-not-found,unused-ignore]

INPUT = "Refund me or I call my bank."
QUESTIONS = [
    {"type": "predicate", "name": "angry", "instructions": "Is the writer angry?"},
    {
        "type": "choice",
        "name": "team",
        "instructions": "Who takes it?",
        "choices": [
            {"value": "billing", "description": "Money matters"},
            {"value": "tech", "description": "Defects"},
            {"value": "other", "description": "Anything else"},
        ],
    },
    {
        "type": "score",
        "name": "risk",
        "instructions": "How likely will they leave?",
        "levels": [{"label": "none"}, {"label": "some"}, {"label": "high"}],
    },
]


def asked(base: str, key: str, model: str) -> Any:
    """Ask once; an error is told as its class and status."""
    try:
        reply: Any = litellm.decisions(  # type: ignore[attr-defined,unused-ignore]
            model=f"openai/{model}",
            input=INPUT,
            questions=QUESTIONS,
            api_base=f"{base}/v1",
            api_key=key,
        )
        return {"answers": reply.model_dump(mode="json")["answers"]}
    except Exception as error:  # noqa: BLE001 - whatever the client makes of it is what is tested
        return {"error": type(error).__name__, "status": getattr(error, "status_code", None)}


if __name__ == "__main__":
    base, key, *models = sys.argv[1:]
    sys.stdout.write(json.dumps({model: asked(base, key, model) for model in models}))
