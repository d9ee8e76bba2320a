"""What can be asked, in the shapes that both dialects' clients read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from .faults import unknown
from .house import POINT, House
from .matching import KINDS
from .visits import Response, Visit

if TYPE_CHECKING:
    from ..points import DecisionPoint


BEFORE = "/v1/models/"
ONE = f"{BEFORE}{{id:path}}"  # as Starlette routes it


class Models:
    """Lists the points and the providers that a client may name as a model."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def __call__(self, visit: Visit, body: bytes) -> Response:
        """Answer `GET /v1/models`."""
        listed = list(self._listed())
        data = [self._as_openai(*one) for one in listed]
        models = [self._as_typesafe(*one) for one in listed]
        said: dict[str, Any] = {"object": "list", "data": data, "models": models}
        return Response(200, msgspec.json.encode(said))

    async def one(self, visit: Visit, body: bytes) -> Response:
        """
        Answer `GET /v1/models/{id}`; an id may hold slashes and colons.

        Raises:
            Problem: There is no such model.

        """
        wanted = visit.path.removeprefix(BEFORE)
        for one in self._listed():
            if one[0] == wanted:
                return Response(
                    200, msgspec.json.encode({**self._as_openai(*one), **self._as_typesafe(*one)})
                )
        raise unknown()

    def _as_openai(self, name: str, owner: str, _: str) -> dict[str, Any]:
        created = int(self._house.since)
        return {"id": name, "object": "model", "created": created, "owned_by": owner}

    def _as_typesafe(self, name: str, _: str, text: str) -> dict[str, Any]:
        day = dt.datetime.fromtimestamp(self._house.since, dt.UTC).date().isoformat()
        return {"name": name, "description": text, "release_date": day}

    def _listed(self) -> Iterable[tuple[str, str, str]]:
        gateway = self._house.gateway
        language = gateway.settings.globals.language
        for name, point in sorted(gateway.points.items()):
            plan = gateway.plan(point).provider
            yield f"{POINT}{name}", "pointsman", f"{_asks(point, language)} Decided by {plan}."
        for name, wired in gateway.directory().providers.items():
            lane = wired.planned
            model = "" if lane is None or not lane.model else f", model {lane.model}"
            yield name, name.partition("/")[0], f"Asked directly{model}."


def _asks(point: DecisionPoint, language: str) -> str:
    kinds = ", ".join(
        f"{name} ({KINDS[type(one)]})" for name, one in point.spoken(language).items()
    )
    return f"Decision point: asks {kinds}."
