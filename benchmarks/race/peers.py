"""
The peers as libraries: the same decision by the interface that each one documents.

Each function runs in the environment of its own peer; nothing here is imported elsewhere. Caches
are off, retries and records are each peer's default.
"""
# mypy: ignore-errors

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Literal

from .decision import INSTRUCTIONS, KEY, NAME, OPTIONS, TEXT, chat_schema, openai_question
from .entries import Ways


def litellm_sdk(base: str) -> Ways:
    """`litellm.decisions` and `litellm.adecisions`."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # no download at its start
    import litellm

    asked = {
        "model": "openai/gpt-6-luna",
        "input": TEXT,
        "questions": [openai_question()],
        "api_base": f"{base}/{NAME}/v1",
        "api_key": KEY,
    }

    async def asynchronous() -> str:
        return (await litellm.adecisions(**asked)).answers[0].choice

    return Ways(lambda: litellm.decisions(**asked).answers[0].choice, asynchronous)


def litellm_router(base: str) -> Ways:
    """`Router.decisions` and `Router.adecisions`, with one deployment."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from litellm import Router

    sent = {"model": "openai/gpt-6-luna", "api_base": f"{base}/{NAME}/v1", "api_key": KEY}
    router = Router(model_list=[{"model_name": "jev", "litellm_params": sent}])
    asked = {"model": "jev", "input": TEXT, "questions": [openai_question()]}

    async def asynchronous() -> str:
        return (await router.adecisions(**asked)).answers[0].choice

    return Ways(lambda: router.decisions(**asked).answers[0].choice, asynchronous)


def decision_gateway(base: str) -> Ways:
    """The TypeSafe client through its gateway, recorded in its SQLite store."""
    os.environ["TYPESAFE_API_KEY"] = KEY
    from decision_gateway import Gateway, SQLiteStore, config
    from typesafe_sdk import Choice

    models = config.from_config(
        {"models": {"jev": {"base_url": base + f"/{NAME}", "model": "jev-1.13.0", "cache": False}}}
    )
    store = SQLiteStore(str(Path(tempfile.mkdtemp(prefix="race-")) / "decisions.sqlite"))
    gateway = Gateway(models, store)
    client, awaited = gateway.client("jev"), gateway.async_client("jev")
    asked = {
        "state": TEXT,
        "questions": {NAME: Choice(instructions=INSTRUCTIONS, criteria=OPTIONS)},
    }

    async def asynchronous() -> str:
        return (await awaited.system_one(**asked)).choices[NAME].choice

    return Ways(lambda: client.system_one(**asked).choices[NAME].choice, asynchronous)


def jev_router(base: str) -> Ways:
    """`jev_first` on a routing function, as on a conditional edge."""
    from langgraph_jev_router import configure, jev_first
    from langgraph_jev_router.backends import TypeSafeBackend

    configure(cache_size=0, backend=TypeSafeBackend(api_key=KEY, base_url=f"{base}/route"))
    state = {"messages": [("user", TEXT)]}

    @jev_first(routes=OPTIONS, question=INSTRUCTIONS)
    def route(_state: object) -> str:
        return "the router's own, so a wrong answer"

    @jev_first(routes=OPTIONS, question=INSTRUCTIONS)
    async def route_async(_state: object) -> str:
        return "the router's own, so a wrong answer"

    return Ways(lambda: route(state), lambda: route_async(state))


def pydecide(base: str) -> Ways:
    """Its client with one hosted backend."""
    from decide import AsyncClient, Choice, Client
    from decide.backends.typesafe import TypeSafeBackend

    asked = {NAME: Choice(INSTRUCTIONS, OPTIONS)}
    client = Client([TypeSafeBackend(KEY, base_url=f"{base}/{NAME}")])
    awaited = AsyncClient([TypeSafeBackend(KEY, base_url=f"{base}/{NAME}")])

    async def asynchronous() -> str:
        return (await awaited.decide(TEXT, asked)).choices[NAME].choice

    return Ways(lambda: client.decide(TEXT, asked).choices[NAME].choice, asynchronous)


def pydantic_ai(base: str) -> Ways:
    """An agent on its Decisions model, whose output type is the question."""
    from pydantic import Field, create_model
    from pydantic_ai import Agent
    from pydantic_ai.models.openai_decisions import OpenAIDecisionsModel
    from pydantic_ai.providers.openai import OpenAIProvider

    field = (Literal[tuple(OPTIONS)], Field(description=INSTRUCTIONS))
    output = create_model("Route", **{NAME: field})
    provider = OpenAIProvider(base_url=f"{base}/{NAME}/v1", api_key=KEY)
    agent = Agent(OpenAIDecisionsModel("gpt-6-luna", provider=provider), output_type=output)

    async def asynchronous() -> str:
        return getattr((await agent.run(TEXT)).output, NAME)

    return Ways(lambda: getattr(agent.run_sync(TEXT).output, NAME), asynchronous)


_TENSORZERO = """
[gateway]
observability.enabled = false

[models.chat]
routing = ["upstream"]

[models.chat.providers.upstream]
type = "openai"
model_name = "benchmark"
api_base = "{base}/{name}/v1/"
api_key_location = "none"

[functions.route]
type = "json"
output_schema = "schema.json"

[functions.route.variants.only]
type = "chat_completion"
model = "chat"
json_mode = "strict"
"""


def tensorzero(base: str) -> Ways:
    """A JSON function of an embedded gateway: it has no decisions, so a chat model is asked."""
    import asyncio
    import json

    from tensorzero import AsyncTensorZeroGateway, TensorZeroGateway

    folder = Path(tempfile.mkdtemp(prefix="race-"))
    (folder / "schema.json").write_text(json.dumps(chat_schema()), "utf-8")
    config = folder / "tensorzero.toml"
    config.write_text(_TENSORZERO.format(base=base, name=NAME), "utf-8")
    told = f"{INSTRUCTIONS} {json.dumps(OPTIONS)}"
    asked = {"system": told, "messages": [{"role": "user", "content": TEXT}]}
    client = TensorZeroGateway.build_embedded(config_file=str(config))
    awaited: dict[object, AsyncTensorZeroGateway] = {}

    async def asynchronous() -> str:
        loop = asyncio.get_running_loop()
        if loop not in awaited:
            awaited[loop] = await AsyncTensorZeroGateway.build_embedded(config_file=str(config))
        given = await awaited[loop].inference(function_name="route", input=asked)
        return given.output.parsed[NAME]

    return Ways(
        lambda: client.inference(function_name="route", input=asked).output.parsed[NAME],
        asynchronous,
    )
