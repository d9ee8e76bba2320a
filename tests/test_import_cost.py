"""`import pointsman` costs what its settings cost; what is optional waits for its first use."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

LATER = (
    "httpx",
    "httpcore",
    "structlog",
    "tenacity",
    "numpy",
    "phonenumbers",
    "stdnum",
    "typer",
    "rich",
    "dotenv",
    "ssl",
    "sqlalchemy",
    "alembic",
    "psycopg",
    "pyarrow",
    "starlette",
    "uvicorn",
    "httptools",
    "uvloop",
    "zstandard",
    "prometheus_client",
    "anyio",
    "onnxruntime",
)

PROGRAM = """
import json, sys
{lines}
print(json.dumps(sorted({{name for name in sys.modules}})))
"""


def loaded(*lines: str) -> set[str]:
    """Which modules a fresh interpreter holds after these lines."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(lines="\n".join(lines))],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("pointsman.")}


@pytest.fixture(scope="module")
def imported() -> set[str]:
    return loaded("import pointsman")


@pytest.mark.parametrize("library", LATER)
def test_importing_the_package_pulls_nothing_that_can_wait(
    imported: set[str], library: str
) -> None:
    assert library not in imported - loaded("import pydantic_settings, msgspec, pluggy")


def test_importing_the_package_loads_no_provider_but_the_scripted_one(imported: set[str]) -> None:
    """And no catalogue: both come through the seam, when a gateway is made."""
    assert {name for name in ours(imported) if "providers" in name} == {
        "pointsman.providers",
        "pointsman.providers.scripted",
    }
    assert not {name for name in ours(imported) if "decision_points" in name}
    assert not {name for name in ours(imported) if "cli" in name}


def test_a_gateway_on_current_loads_no_provider_either() -> None:
    made = loaded(
        "import pointsman",
        "gateway = pointsman.Gateway.from_env({})",
        "@gateway.point('TEAM', pointsman.Choice('?', ['a', 'b']))",
        "def team(message: str) -> str: return 'a'",
        "assert team('x') == 'a'",
    )

    assert not made & {"pointsman.providers.decisions_api", "pointsman.providers.local"}
    assert not made & {"httpx", "structlog", "tenacity", "numpy"}


def test_only_the_selected_provider_is_loaded() -> None:
    made = loaded(
        "import pointsman",
        "environ = {'DECISION_PROVIDER': 'jev', 'AI_GATEWAY_API_KEY': 'k'}",
        "gateway = pointsman.Gateway.from_env(environ)",
    )

    assert "pointsman.providers.decisions_api" in made
    assert not made & {"pointsman.providers.local", "httpx", "numpy"}
