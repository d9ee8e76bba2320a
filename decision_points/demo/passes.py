"""The three passes: what is changed between them, and nothing else."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

import msgspec

from ...gateway.errors import Reason
from ...gateway.settings import PREFIX
from .conversation import meant
from .desk import Made, Replay

POINTS = ("GUARDRAIL_PINJ", "ROUTE_CONTINUITY", "ROUTER", "JUDGE_RQLT")
VARIABLE = f"{PREFIX}PROVIDER"


class Tally(msgspec.Struct, frozen=True):
    """
    One point in one pass, beside the first pass.

    Attributes:
        asked: How many decisions.
        took: How many the provider decided itself.
        changed: How many outcomes differ from the first pass.
        before: How many outcomes of the first pass are as the author meant.
        after: The same for this pass.
        noted: How many have an author's note to compare with.
        sure: The provider's confidences, lowest first.

    """

    asked: int
    took: int
    changed: int
    before: int
    after: int
    noted: int
    sure: list[float]


def tally(first: Replay, then: Replay, point: str) -> Tally:
    """Compare *then* with the *first* pass at one point."""
    old = first.by_place()
    pairs = [(old[place], made) for place, made in then.by_place().items() if place[1] == point]
    noted = [pair for pair in pairs if as_meant(pair[0]) is not None]
    return Tally(
        asked=len(pairs),
        took=sum(1 for _, made in pairs if believed(made)),
        changed=sum(1 for was, made in pairs if was.decision.value != made.decision.value),
        before=sum(1 for was, _ in noted if as_meant(was)),
        after=sum(1 for _, made in noted if as_meant(made)),
        noted=len(noted),
        sure=sorted(made.decision.attempts[0].confidence for _, made in pairs),
    )


def believed(made: Made) -> bool:
    """Whether the provider that was asked first decided."""
    return made.decision.attempts[0].reason is Reason.OK and not made.decision.record.fallback


def as_meant(made: Made) -> bool | None:
    """Compare an outcome with the author's note; None where there is none."""
    note = meant(made.turn, made.decision.record.point)
    return None if note is None else bool(made.decision.value == note)


def held(made: Made) -> Any:  # noqa: ANN401 - an option, a truth, a number
    """Give what the provider held most likely, believed or not."""
    answers = made.decision.attempts[0].answers
    return next(iter(answers.values())).value if answers else None


def reasons(replay: Replay) -> dict[str, int]:
    """Count why the provider that was asked first was not believed."""
    counted: dict[str, int] = {}
    for made in replay.made:
        first = made.decision.attempts[0].reason
        if first is not Reason.OK:
            counted[first.value] = counted.get(first.value, 0) + 1
    return counted


def switched(values: Mapping[str, str], provider: str) -> dict[str, str]:
    """Keep what configures providers, drop every plan, and set the one variable."""
    kept = {name: value for name, value in values.items() if not name.startswith(PREFIX)}
    return {**kept, VARIABLE: provider}


def down() -> dict[str, str]:
    """Select a hosted provider at a port of this machine where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return {
        VARIABLE: "jev",
        "JEV_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "AI_GATEWAY_API_KEY": "none-is-needed",
    }
