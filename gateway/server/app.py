"""
The application that an ASGI server runs: routes, and what lives as long as the worker.

`/v1/decisions`  the OpenAI dialect       `/healthz`       alive
`/v1/systemone`  the TypeSafe dialect     `/readyz`        to be sent requests
`/v1/models`     what can be asked        `/metrics`       counted, for Prometheus
`/v1/models/…`   one of it
`/v1/feedback`   what was found out       `/openapi.json`  all of this, for machines
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response as StarletteResponse
from starlette.routing import Route

from .bodies import Receive
from .deciding import Deciding
from .dialects import OPENAI, SYSTEMONE
from .endpoint import Endpoint, Scope, Send, tell_elsewhere
from .faults import Problem, in_openai
from .feedback import Feedback
from .house import House
from .models import ONE, Models
from .pages import Pages

PLAIN = "there is no such path; see /openapi.json"
NOWHERE: Mapping[str, str] = {
    "decisions": "there is no such path; the base URL of an OpenAI client ends with /v1",
    "systemone": "there is no such path; the base URL of a TypeSafe client ends before /v1",
}
"""By the end of a path: what a client that asks there was set up with."""


class Application(Starlette):
    """
    Starlette, which the ways that are taken most go past.

    Args:
        hot: Path → its endpoint; asked with POST.
        given: Starlette's own.

    """

    def __init__(self, hot: Mapping[str, Endpoint], **given: Any) -> None:  # noqa: ANN401
        super().__init__(**given)
        self.router.redirect_slashes = False  # to a place that the client's own `Host` names
        self._hot = hot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's event stream, as ASGI says."""
        if scope["type"] == "http" and scope["method"] == "POST":
            endpoint = self._hot.get(scope["path"])
            if endpoint is not None:
                return await endpoint(scope, receive, send)
        return await super().__call__(scope, receive, send)


def application(house: House) -> Application:
    """
    Make the application of one worker.

    Its lifespan follows the keys; at its end the gateway is closed, with the journal written.
    """
    posts = {
        "/v1/decisions": _endpoint(house, "/v1/decisions", "decide", Deciding(house, OPENAI)),
        "/v1/systemone": Endpoint(
            house, "/v1/systemone", "decide", Deciding(house, SYSTEMONE), SYSTEMONE.fails
        ),
        "/v1/feedback": _endpoint(house, "/v1/feedback", "feedback", Feedback(house)),
    }
    pages, models = Pages(house), Models(house)
    gets = {
        "/v1/models": _endpoint(house, "/v1/models", "decide", models),
        ONE: _endpoint(house, "/v1/models/{id}", "decide", models.one),
        "/metrics": _endpoint(house, "/metrics", "admin", pages.metrics),
        "/openapi.json": _endpoint(house, "/openapi.json", "", pages.openapi),
        "/healthz": _endpoint(house, "/healthz", "", pages.alive),
        "/readyz": _endpoint(house, "/readyz", "", pages.ready),
    }
    routes = [
        *(Route(path, one, methods=["POST"]) for path, one in posts.items()),
        *(Route(path, one, methods=["GET"]) for path, one in gets.items()),
    ]
    return Application(
        posts,
        routes=routes,
        lifespan=_lifespan(house),
        exception_handlers={HTTPException: functools.partial(_elsewhere, house)},
    )


def _endpoint(house: House, route: str, scope: str, handle: Any) -> Endpoint:  # noqa: ANN401
    return Endpoint(house, route, scope, handle, in_openai)


def _lifespan(house: House) -> Any:  # noqa: ANN401 - as Starlette has it
    @contextlib.asynccontextmanager
    async def lived(_: Starlette) -> AsyncGenerator[None]:
        await asyncio.to_thread(house.gateway.directory)  # imports what providers need
        following = None if house.keys is None else asyncio.create_task(house.keys.follow())
        try:
            yield
        finally:
            house.draining = True
            if following is not None:
                following.cancel()
                await asyncio.wait([following])
            await house.gateway.aclose()
            if house.keys is not None:
                house.keys.close()

    return lived


async def _elsewhere(house: House, request: Request, error: Exception) -> StarletteResponse:
    """Answer what no route takes, in the shape that a client of that path reads."""
    assert isinstance(error, HTTPException)
    codes = {404: "not_found", 405: "method_not_allowed"}
    meant = request.url.path.rstrip("/").rpartition("/")[2]
    words = {404: NOWHERE.get(meant, PLAIN), 405: "this path takes another method"}
    status = error.status_code
    tell_elsewhere(house, request.method, status)
    problem = Problem(status, codes.get(status, "http_error"), words.get(status, error.detail))
    headers = {**(error.headers or {}), "content-type": "application/json"}
    written = SYSTEMONE.fails if meant == "systemone" else in_openai
    return StarletteResponse(written(problem), status, headers)
