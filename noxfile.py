"""Each framework in an environment of its own, with the versions that it was tested with."""

from __future__ import annotations

from pathlib import Path

import nox

# integration → the extra that a user installs
EXTRAS = {
    "langgraph": "langgraph",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai",
    "mcp": "mcp",
    "crewai": "crewai",
    "google_adk": "google-adk",
    "llama_index": "llama-index",
    "agent_framework": "agent-framework",
}

# integrations that other rooms bring: name → their extras, and the modules that stand beside it
FACTS = Path("src/pointsman/decision_points/facts/agents")
MORE = {"langgraph": ("facts",), "mcp": ("facts",)}
BESIDE = {"langgraph": (FACTS / "langgraph.py",), "mcp": (FACTS / "tools.py",)}

nox.options.default_venv_backend = "uv"
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = True


@nox.session
@nox.parametrize("name", list(EXTRAS), ids=list(EXTRAS))
def framework(session: nox.Session, name: str) -> None:
    """Install one framework, check the types of its module, and run its tests."""
    _install(session, name)
    # a cache of its own: elsewhere the framework is missing, and its types are unknown
    cache = str(Path(session.create_tmp()) / "mypy")
    session.run("mypy", "--cache-dir", cache, *_sources(name), env={"MYPYPATH": "src"})
    given = session.posargs or [str(_tests(name))]
    # a test that hangs ends all: none of the eight takes three minutes
    session.run("pytest", "--quiet", "-W", "default", "--session-timeout=180", *given)


@nox.session(default=False)
@nox.parametrize("name", list(EXTRAS), ids=list(EXTRAS))
def inside(session: nox.Session, name: str) -> None:
    """Measure what a decision costs inside one framework; fails where a bar is missed."""
    _install(session, name)
    session.run("python", "benchmarks/inside.py", name, *session.posargs)


def _tests(name: str) -> Path:
    return Path("tests/frameworks") / name


def _install(session: nox.Session, name: str) -> None:
    pinned = str(_tests(name) / "requirements.txt")
    extras = ",".join(("cli", "journal", "local", "otel", EXTRAS[name], *MORE.get(name, ())))
    session.install("--requirement", pinned, "--editable", f".[{extras}]")


def _sources(name: str) -> tuple[str, ...]:
    package = Path("src/pointsman/gateway/integrations") / name
    own = package if package.is_dir() else package.with_suffix(".py")
    return tuple(map(str, (own, *BESIDE.get(name, ()))))
