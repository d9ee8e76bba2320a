"""A decision API of our own on a real server: what it answers, and the ways in which it fails."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from typing import Any

from faulty import Does, Server, Visit, replies

KEY = "zq7-planted-key"  # whoever finds it outside of a header has found a leak
WAYS = ("refused connection", "500", "garbage", "low confidence")
SURE, UNSURE = 0.97, 0.55


def hosted(url: str, *points: str) -> dict[str, str]:
    """Give the variables that let a decision API at *url* decide *points*, asked once each."""
    providers = {f"DECISION_{point}_PROVIDER": "jev" for point in points}
    return {
        **providers,
        "AI_GATEWAY_API_KEY": KEY,
        "JEV_BASE_URL": url,
        "JEV_MAX_ATTEMPTS": "1",
        "JEV_TIMEOUT_SECONDS": "10",
    }


def decides(said: object, *, sure: float = SURE) -> Does:
    """
    Let the server answer whatever it is asked with *said*.

    Args:
        said: A value for every question (an option, a truth, a level's index), or question →
            value.
        sure: Its confidence; of a truth, the probability of what is said.

    """

    async def does(visit: Visit) -> bool:
        questions = json.loads(visit.seen.body)["questions"]
        named = dict(said) if isinstance(said, Mapping) else {}
        answers = [_answer(one, named.get(one["name"], said), sure) for one in questions]
        return await replies({"answers": answers, "model": "typesafe-ai/jev-1.13.0"})(visit)

    return does


def _answer(question: Mapping[str, Any], value: Any, sure: float) -> dict[str, object]:
    kind, name = question["type"], question["name"]
    if kind == "predicate":
        return {"type": kind, "name": name, "probability": sure if value else 1.0 - sure}
    if kind == "score":
        return {"type": kind, "name": name, "score": value, "confidence": sure}
    options = [one["value"] for one in question["choices"]]
    rest = (1.0 - sure) / max(1, len(options) - 1)
    spread = [{"value": one, "probability": sure if one == value else rest} for one in options]
    return {
        "type": kind,
        "name": name,
        "choice": value,
        "confidence": sure,
        "probabilities": spread,
    }


def asked(server: Server) -> list[dict[str, Any]]:
    """Give the bodies that reached the server, in order."""
    return [json.loads(one.body) for one in server.seen]


def failing(server: Server, way: str, point: str, said: object) -> dict[str, str]:
    """
    Give the variables under which the provider of *point* fails in one of `WAYS`.

    *said* is what it would have answered: the host must not get it.
    """
    does = {
        "refused connection": replies(),
        "500": replies({"error": {"type": "server_error"}}, 500),
        "garbage": replies(b"<html>"),
        "low confidence": decides(said, sure=UNSURE),
    }
    server.does(does[way])
    return hosted(_nowhere() if way == "refused connection" else server.url, point)


def failing_ways(server: Server, point: str, said: object) -> list[tuple[str, dict[str, str]]]:
    """Give all of `WAYS` at once, each with its variables; the server tells them apart by path."""

    async def does(visit: Visit) -> bool:
        if "/500/" in visit.seen.path:
            return await replies({"error": {"type": "server_error"}}, 500)(visit)
        if "/garbage/" in visit.seen.path:
            return await replies(b"<html>")(visit)
        return await decides(said, sure=UNSURE)(visit)

    server.does(does)
    urls = {
        "refused connection": _nowhere(),
        "500": f"{server.url}/500",
        "garbage": f"{server.url}/garbage",
        "low confidence": server.url,
    }
    return [(way, hosted(urls[way], point)) for way in WAYS]


def _nowhere() -> str:
    """An address of this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    return f"http://127.0.0.1:{port}/v1"
