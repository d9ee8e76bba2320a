"""
Clients that are not Python libraries of this environment, unmodified, against a running server.

The AI SDK is installed by npm for the run (or looked up in `NODE_CLIENTS`); LiteLLM has an
environment of its own (`tests/clients/requirements.txt`), whose Python `POINTSMAN_TEST_LITELLM`
names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pointsman import Chosen, Held, NoAnswer, Reason, Refused, Reply, Scored, scripted
from served import running

CLIENTS = Path(__file__).parent / "clients"
PATIENCE = 50.0  # seconds that an installation or a client may take

GOOD: Mapping[str, Any] = {
    "angry": Held(0.93),
    "team": Chosen("billing", {"billing": 0.96, "tech": 0.01, "other": 0.02}, 0.94),  # sums to 0.99
    "risk": Scored(1.7, (0.05, 0.2, 0.75), 0.55),
}
PROBABILITIES = {"billing": 0.96, "tech": 0.01, "other": 0.02}


ANSWERS: Mapping[str, Any] = {
    "good": Reply(GOOD, "told-1"),
    "sparse": Reply({**GOOD, "team": Chosen("billing", {"billing": 0.98, "tech": 0.02}, 0.97)}),
    "bare": Reply({**GOOD, "team": Chosen("billing", None, 0.97)}),
    "refuses": Reply({**GOOD, "angry": Refused()}, "told-1"),
    "limited": NoAnswer(Reason.RATE_LIMITED),
}


def said_to(*command: str, **environ: str) -> Any:
    """Let a client ask each model of a running server, and read what it prints."""
    with running(**{name: scripted(one) for name, one in ANSWERS.items()}) as server:
        run = subprocess.run(
            [*command, server.url, "any-key", *ANSWERS],
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env={**os.environ, **environ},
        )
    return json.loads(run.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the AI SDK is installed."""
    if "NODE_CLIENTS" in os.environ:
        return Path(os.environ["NODE_CLIENTS"])
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("Node is not installed: the AI SDK is not tried")
    folder = tmp_path_factory.mktemp("node")
    shutil.copy(CLIENTS / "package.json", folder)
    command = ("npm", "install", "--no-audit", "--no-fund", "--loglevel=error")
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("npm cannot install the AI SDK here: it is not tried")
    return folder


@pytest.fixture(scope="module")
def litellm() -> str:
    """Give the Python that has LiteLLM."""
    if "POINTSMAN_TEST_LITELLM" not in os.environ:
        pytest.skip("POINTSMAN_TEST_LITELLM names no Python that has LiteLLM: it is not tried")
    return os.environ["POINTSMAN_TEST_LITELLM"]


@pytest.fixture(scope="module")
def by_sdk(node: Path) -> Any:
    """What the AI SDK makes of each model, in both dialects."""
    return said_to("node", str(CLIENTS / "decide.mjs"), NODE_CLIENTS=str(node))


@pytest.fixture(scope="module")
def by_litellm(litellm: str) -> Any:
    """What LiteLLM makes of each model; its map of prices would be fetched from elsewhere."""
    script = str(CLIENTS / "decide_litellm.py")
    return said_to(litellm, script, LITELLM_LOCAL_MODEL_COST_MAP="True")


SEEN = {
    "angry": {"type": "boolean", "probability": 0.93},
    "team": {"type": "choice", "choice": "billing", "probabilities": PROBABILITIES},
    "risk": {"type": "score", "score": 1.7, "probabilities": {"0": 0.05, "1": 0.2, "2": 0.75}},
}


def test_the_ai_sdk_takes_every_type_in_both_dialects(by_sdk: Any) -> None:
    """Protocols §9: its strict validation believes two-decimal answers of ours."""
    assert by_sdk["good"] == {"openai": {"answers": SEEN}, "typesafe": {"answers": SEEN}}


def test_the_ai_sdk_takes_a_distribution_that_leaves_options_out(by_sdk: Any) -> None:
    """Protocols §9: it wants every option; what is left out counts as 0, and is told so."""
    spread = {"billing": 0.98, "tech": 0.02, "other": 0}
    seen = {**SEEN, "team": {"type": "choice", "choice": "billing", "probabilities": spread}}

    assert by_sdk["sparse"] == {"openai": {"answers": seen}, "typesafe": {"answers": seen}}


def test_the_ai_sdk_takes_no_answer_without_a_distribution(by_sdk: Any) -> None:
    """Protocols §9: both other clients require the field, so that it is empty, never absent."""
    said = {one["error"] for one in by_sdk["bare"].values()}

    assert said == {"AI_InvalidResponseDataError"}


def test_the_ai_sdk_sees_a_refusal(by_sdk: Any) -> None:
    """Protocols §9: as `DecisionRefusalError`; the other dialect has an error for it (§11.2)."""
    said = by_sdk["refuses"]

    assert said["openai"]["error"] == "AI_DecisionRefusalError"
    assert said["openai"]["questions"] == ["angry"]
    assert (said["typesafe"]["error"], said["typesafe"]["status"]) == ("AI_APICallError", 422)


def test_the_ai_sdk_sees_the_status_of_an_error(by_sdk: Any) -> None:
    """Protocols §11.3: bodies are read, so the error is one of the API's and has its status."""
    said = {(one["error"], one["status"]) for one in by_sdk["limited"].values()}

    assert said == {("AI_APICallError", 429)}


def test_litellm_takes_every_type(by_litellm: Any) -> None:
    """Protocols §8: `litellm.decisions` with the base of this server."""
    said = by_litellm["good"]["answers"]

    assert [one["type"] for one in said] == ["predicate", "choice", "score"]
    assert said[0]["probability"] == 0.93
    assert (said[1]["choice"], said[1]["confidence"]) == ("billing", 0.94)
    assert said[2]["score"] == 1.7


def test_litellm_keeps_a_refusal(by_litellm: Any) -> None:
    """Protocols §8: as `refusal` among the other answers."""
    kinds = [one["type"] for one in by_litellm["refuses"]["answers"]]

    assert kinds == ["refusal", "choice", "score"]


def test_litellm_sees_the_status_of_an_error(by_litellm: Any) -> None:
    """Protocols §11.3."""
    assert by_litellm["limited"] == {"error": "RateLimitError", "status": 429}
