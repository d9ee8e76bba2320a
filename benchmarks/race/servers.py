"""Who takes part as a server: how each is configured, started and asked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from .decision import ANSWER, KEY, NAME, chat_request, openai_request, systemone_request
from .load import Request

_CHOSEN = re.compile(rb'"choice":\s*"' + ANSWER.encode() + rb'"')
_WRITTEN = re.compile(rb'\\"' + NAME.encode() + rb'\\":\s*\\"' + ANSWER.encode())


class Place(NamedTuple):
    """Where a server runs: its folder, the upstream's base URL, and its port on 127.0.0.1."""

    folder: Path
    upstream: str
    port: int


class Server(NamedTuple):
    """
    One contestant.

    Attributes:
        title: As printed.
        environment: The folder with its packages; empty for the project's own.
        program: Inside that folder.
        package: The distribution, or the npm package, whose version is told.
        arguments: Its command line behind the program.
        variables: Of its environment.
        files: What it reads, by name in its folder.
        request: What it is asked.

    """

    title: str
    environment: str
    program: str
    package: str
    arguments: Callable[[Place], list[str]]
    variables: Callable[[Place], Mapping[str, str]]
    files: Callable[[Place], Mapping[str, str]]
    request: Callable[[Place], Request]


def _nothing(_place: Place) -> dict[str, str]:
    return {}


def _pointsman(place: Place, journal: str) -> dict[str, str]:
    return {
        "AI_GATEWAY_API_KEY": KEY,
        "JEV_BASE_URL": f"{place.upstream}/{NAME}/v1",
        "DECISION_JOURNAL": journal,
        "DECISION_LOG": "json",
        "SERVER_PORT": str(place.port),
        "SERVER_WORKERS": "1",
    }


def _journaled(place: Place) -> dict[str, str]:
    return _pointsman(place, f"sqlite:///{place.folder / 'journal.db'}")


def _unrecorded(place: Place) -> dict[str, str]:
    return _pointsman(place, "off")


def _litellm_config(place: Place) -> dict[str, str]:
    sent = {"model": "openai/gpt-6-luna", "api_base": f"{place.upstream}/{NAME}/v1"}
    models = [{"model_name": "jev", "litellm_params": {**sent, "api_key": KEY}}]
    return {"config.yaml": json.dumps({"model_list": models})}  # JSON is YAML


def _litellm(_place: Place) -> dict[str, str]:
    return {
        "LITELLM_LOG": "ERROR",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
    }


def _pydecide_config(place: Place) -> dict[str, str]:
    options = {"typesafe": {"base_url": f"{place.upstream}/{NAME}"}}
    return {"decide.json": json.dumps({"backends": ["typesafe"], "options": options})}


def _openai(_place: Place) -> Request:
    return Request("/v1/decisions", openai_request("jev", NAME), _CHOSEN)


def _systemone(_place: Place) -> Request:
    return Request("/v1/systemone", systemone_request("jev-1.13.0"), _CHOSEN)


def _chat(place: Place) -> Request:
    sent = (
        ("authorization", f"Bearer {KEY}"),
        ("x-portkey-provider", "openai"),
        ("x-portkey-custom-host", f"{place.upstream}/{NAME}/v1"),
    )
    return Request("/v1/chat/completions", chat_request("benchmark"), _WRITTEN, sent)


def _pydecide(_place: Place) -> dict[str, str]:
    return {"TYPESAFE_API_KEY": KEY}


def _portkey(_place: Place) -> dict[str, str]:
    return {"NODE_ENV": "production"}


def _portkey_line(place: Place) -> list[str]:
    return [f"--port={place.port}", "--headless"]


def _serve(_place: Place) -> list[str]:
    return ["serve"]


def _line(*before: str) -> Callable[[Place], list[str]]:
    def line(place: Place) -> list[str]:
        return [*before, "--host", "127.0.0.1", "--port", str(place.port)]

    return line


SERVERS = {
    "pointsman": Server(
        "Pointsman, SQLite journal",
        "",
        "bin/pointsman",
        "pointsman",
        _serve,
        _journaled,
        _nothing,
        _openai,
    ),
    "pointsman-unrecorded": Server(
        "Pointsman, journal off",
        "",
        "bin/pointsman",
        "pointsman",
        _serve,
        _unrecorded,
        _nothing,
        _openai,
    ),
    "litellm": Server(
        "LiteLLM proxy",
        "litellm",
        "bin/litellm",
        "litellm",
        _line("--config", "config.yaml", "--num_workers", "1"),
        _litellm,
        _litellm_config,
        _openai,
    ),
    "pydecide": Server(
        "pydecide serve",
        "pydecide",
        "bin/decide",
        "pydecide",
        _line("serve", "--config", "decide.json"),
        _pydecide,
        _pydecide_config,
        _systemone,
    ),
    "portkey": Server(
        "Portkey gateway",
        "npm",
        "node_modules/@portkey-ai/gateway/build/start-server.js",
        "@portkey-ai/gateway",
        _portkey_line,
        _portkey,
        _nothing,
        _chat,
    ),
}

DIRECT = Request("/team/v1/decisions", openai_request("jev", NAME), _CHOSEN)
"""What the upstream is asked with nothing between: what the load itself can do."""


def environment(place: Place, server: Server) -> dict[str, str]:
    """Give a server its own variables and nothing of ours: keys and proxies stay out."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "HOME": str(place.folder), **server.variables(place)}
