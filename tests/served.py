"""A running server of ours: the real application under a real uvicorn, on a thread."""

from __future__ import annotations

import functools
import ssl
import threading
from typing import Any, Self

import httpx
import uvicorn

from faulty import PATIENCE
from pointsman import Ask, Call, Gateway, Limits, Reply, scripted
from pointsman.gateway.server.app import application
from pointsman.gateway.server.endpoint import tell_elsewhere
from pointsman.gateway.server.house import House
from pointsman.gateway.server.protocol import bounded
from pointsman.gateway.server.settings import ServerLimits
from trialling import Offers

JSON = {"content-type": "application/json"}


class Uvicorn(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listens.set()


class Running:
    """
    Serves a house on 127.0.0.1 until it is left; the gateway is closed then.

    Attributes:
        house: What is served.
        client: Talks to it.

    """

    def __init__(self, house: House) -> None:
        self.house = house
        config = uvicorn.Config(
            application(house),
            host="127.0.0.1",
            port=0,
            log_config=None,
            access_log=False,  # it repeats what stands behind the path
            http=bounded(house.limits, functools.partial(tell_elsewhere, house, "")),
            ws="none",
            lifespan="on",
        )
        self._server = Uvicorn(config)
        self._thread = threading.Thread(target=self._server.run, name="served", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._server.listens.wait(PATIENCE)
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        plain = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # to load certificates takes 50 ms
        self.client = httpx.Client(
            base_url=self.url, timeout=PATIENCE, trust_env=False, verify=plain
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def openai(self, body: object, **given: Any) -> httpx.Response:
        """Ask in the OpenAI dialect."""
        return self.client.post("/v1/decisions", json=body, **given)

    def systemone(self, body: object, **given: Any) -> httpx.Response:
        """Ask in the TypeSafe dialect."""
        return self.client.post("/v1/systemone", json=body, **given)


class Told:
    """A provider of a server that lives on: what it says is told for each test."""

    name = "told"
    limits = Limits()

    def __init__(self) -> None:
        self.says("tech")

    def says(self, *script: Any, confidence: float | None = None) -> None:
        """Say *script* from now on, as `scripted` does, and forget what was asked."""
        self._said = scripted(*script, confidence=confidence)

    @property
    def asked(self) -> list[Ask]:
        """What was asked since."""
        return self._said.asked

    def answer(self, ask: Ask, call: Call) -> Reply:
        """Give the next line."""
        return self._said.answer(ask, call)


def house_of(
    environ: dict[str, str] | None = None,
    /,
    *,
    limits: dict[str, Any] | None = None,
    observers: Any = (),
    keys: Any = None,
    **providers: Any,
) -> House:
    """Make a house from variables alone, whose gateway knows *providers* by name."""
    current = {"CURRENT_PROVIDER": "told"} if "told" in providers else {}  # `local` loads a table
    said = {"DECISION_LOG": "off", **current, **(environ or {})}
    plugins = [Offers(providers)]
    gateway = Gateway.from_env(said, plugins=plugins, observers=observers, stand_in=True)
    return House(gateway=gateway, limits=ServerLimits(**(limits or {})), keys=keys)


def running(environ: dict[str, str] | None = None, /, **given: Any) -> Running:
    """As `house_of`, and serve it."""
    return Running(house_of(environ, **given))


TEAM = {
    "type": "choice",
    "name": "team",
    "instructions": "Which team takes it?",
    "choices": [{"value": "billing"}, {"value": "tech"}, {"value": "none"}],
}
ANGRY = {"type": "predicate", "name": "angry", "instructions": "Is the writer angry?"}
URGENCY = {
    "type": "score",
    "name": "urgency",
    "instructions": "How urgent is it?",
    "levels": [{"label": "low"}, {"label": "medium"}, {"label": "high"}],
}


def asking(model: str, *questions: object, **others: object) -> dict[str, object]:
    """Write a request of the OpenAI dialect."""
    return {"model": model, "input": "my router is dead", "questions": list(questions), **others}


MAP = {
    "angry": {"type": "noul", "instructions": "Is the writer angry?"},
    "team": {
        "type": "choice",
        "instructions": "Which team takes it?",
        "criteria": {"billing": "Amounts", "tech": None, "none": None},
    },
    "urgency": {
        "type": "score",
        "instructions": "How urgent is it?",
        "criteria": ["low", "medium", "high"],
    },
}


def mapped(model: str, **others: object) -> dict[str, object]:
    """Write a request of the TypeSafe dialect, with one question of each type."""
    return {"model": model, "state": "my router is dead", "questions": MAP, **others}
