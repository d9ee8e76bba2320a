"""What can be asked, in the shapes that both dialects' clients read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from .house import POINT, House
from .matching import KINDS
from .visits import Response, Visit

if TYPE_CHECKING:
    from ..points import DecisionPoint


class Models:
    """Lists the points and the providers that a client may name as a model."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def __call__(self, visit: Visit, body: bytes) -> Response:
        """Answer `GET /v1/models`."""
        since = self._house.since
        day = dt.datetime.fromtimestamp(since, dt.UTC).date().isoformat()
        listed = list(self._listed())
        data = [
            {"id": name, "object": "model", "created": int(since), "owned_by": owner}
            for name, owner, _ in listed
        ]
        models = [
            {"name": name, "description": text, "release_date": day} for name, _, text in listed
        ]
        said: dict[str, Any] = {"object": "list", "data": data, "models": models}
        return Response(200, msgspec.json.encode(said))

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
