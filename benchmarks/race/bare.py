"""What everything else is compared with: a call, and one POST by the bare client."""

from __future__ import annotations

import asyncio

from .decision import ANSWER, KEY, openai_request
from .entries import Ways


def route(message: str) -> str:
    """Decide as a host does that has a rule."""
    return ANSWER if "invoice" in message else "tech"


async def route_async(message: str) -> str:
    """Decide the same, awaited."""
    return ANSWER if "invoice" in message else "tech"


def call(_base: str) -> Ways:
    """Make the bare calls; the upstream is not asked."""
    return Ways(lambda: route("my invoice"), lambda: route_async("my invoice"))


def bare_httpx(base: str) -> Ways:
    """Make one POST of bytes that are ready, and read the answer from its JSON."""
    import httpx

    body, url = openai_request("typesafe-ai/jev"), f"{base}/team/v1/decisions"
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    client = httpx.Client()
    clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    def sync() -> str:
        told = client.post(url, content=body, headers=headers).json()
        return str(told["answers"][0]["choice"])

    async def asynchronous() -> str:
        loop = asyncio.get_running_loop()
        if loop not in clients:
            clients[loop] = httpx.AsyncClient()
        told = (await clients[loop].post(url, content=body, headers=headers)).json()
        return str(told["answers"][0]["choice"])

    return Ways(sync, asynchronous)
