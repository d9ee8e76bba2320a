"""
The names of all that is traced: literals, since those of generative AI move between packages.

`gen_ai.*` are OpenTelemetry's (in development), `feature_flag.*` its own for flags, `decision.*`,
`input.*`, `output.*` and `openinference.*` OpenInference's; `pointsman.*` are ours.
"""

from __future__ import annotations

from typing import Final

SCOPE: Final = "pointsman"
DECIDE: Final = "decide"  # the operation, as Pydantic AI names it too
ENV: Final = "env"
DECISION: Final = "DECISION"
CHAIN: Final = "CHAIN"  # what the host runs by itself
JSON: Final = "application/json"
INPUT: Final = "input"
OUTPUT: Final = "output"

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
CONVERSATION: Final = "gen_ai.conversation.id"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 - a name
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
ERROR: Final = "error.type"

EVALUATED: Final = "gen_ai.evaluation.result"
EVALUATION: Final = "gen_ai.evaluation.name"
EVALUATION_SCORE: Final = "gen_ai.evaluation.score.value"
EVALUATION_LABEL: Final = "gen_ai.evaluation.score.label"

FLAG: Final = "feature_flag.key"
FLAG_PROVIDER: Final = "feature_flag.provider.name"
FLAG_VARIANT: Final = "feature_flag.result.variant"
FLAG_REASON: Final = "feature_flag.result.reason"
FLAG_CONTEXT: Final = "feature_flag.context.id"

SPAN_KIND: Final = "openinference.span.kind"
DECISION_SYSTEM: Final = "decision.system"
DECISION_PROVIDER: Final = "decision.provider"
DECISION_MODEL: Final = "decision.model_name"
DECISION_REQUEST_MODEL: Final = "decision.request.model_name"
DECISION_RESPONSE_MODEL: Final = "decision.response.model_name"
DECISION_INPUT_TOKENS: Final = "decision.token_count.input"
DECISION_OUTPUT_TOKENS: Final = "decision.token_count.output"
INPUT_VALUE: Final = "input.value"
INPUT_TYPE: Final = "input.mime_type"
OUTPUT_VALUE: Final = "output.value"
OUTPUT_TYPE: Final = "output.mime_type"

POINT: Final = "pointsman.point"
ID: Final = "pointsman.decision.id"
QUESTION: Final = "pointsman.question.type"
ANSWER: Final = "pointsman.answer"
CONFIDENCE: Final = "pointsman.confidence"
THRESHOLD: Final = "pointsman.threshold"
REASON: Final = "pointsman.reason"
CACHED: Final = "pointsman.cached"
FORM: Final = "pointsman.form"
STANDING: Final = "pointsman.standing"
UNDECIDED: Final = "pointsman.undecided"
FALLBACK: Final = "pointsman.fallback"
FALLBACK_REASON: Final = "pointsman.fallback.reason"
AGREE: Final = "pointsman.shadow.agree"
LANE: Final = "pointsman.lane"

SYSTEMS: Final = {"systemone": "typesafe", "openai": "openai"}
"""How a dialect is called by OpenInference: after who speaks it first."""
