"""Panels that deliberate on the real floor, through a real gateway, in virtual time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import virtual
from pointsman import Choice, Gateway, Predicate, Score
from pointsman.gateway.plugins import Call, Draft, Written
from pointsman.providers.deliberation import Member, members
from pointsman.providers.deliberation.allowance import Allowance
from pointsman.providers.deliberation.floor import Floor
from pointsman.providers.deliberation.protocols import (
    Deliberated,
    Form,
    Item,
    Numeric,
    Packet,
    Terms,
    Typed,
    structured_debate,
)
from pointsman.providers.deliberation.protocols.rerunning import header
from pointsman.providers.deliberation.roles import Role, get_role
from pointsman.providers.deliberation.scopes import Scope
from pointsman.providers.deliberation.transcript import Transcript

PACKET = Packet(
    subject="TX-1",
    question="What is the monthly income?",
    items=(
        Item("E1", "Bank statements show 310 a month.", ("bank",)),
        Item("E2", "The employer says 355.", ("employer",)),
        Item("E3", "Sector median: 400."),
    ),
    unit="thousands",
)

LANES = Choice("Which lane?", {"billing": "money", "sales": "new business", "other": "the rest"})
TYPED = Typed({"lane": LANES})
THREE = Typed(
    {
        "lane": LANES,
        "safe": Predicate("Is it safe?"),
        "risk": Score("How risky?", low=0.0, high=10.0),
    }
)


class Ended(NamedTuple):
    """What a deliberation came to."""

    found: Deliberated
    transcript: Transcript
    drafts: list[Draft]
    """What members were shown, in the order in which they were asked."""


def estimate(point: float, **changes: Any) -> dict[str, Any]:
    """An estimate that validates."""
    quantiles = {"q05": 0.8, "q25": 0.9, "q50": 1.0, "q75": 1.1, "q95": 1.2}
    values = sorted(round(point * factor, 6) for factor in quantiles.values())
    made = dict(zip(quantiles, values, strict=True))
    said = {"point_estimate": point, "evidence": ["E1"], "rationale": "It follows from E1."}
    return {**said, **made, **changes}


def others(draft: Draft) -> list[Mapping[str, Any]]:
    """The rows of the table that a reader is shown, without its own."""
    rows = draft.state.get("committee", {}).get("members", []) if _is_map(draft.state) else []
    return [row for row in rows if not row["yours"]]


def own(draft: Draft) -> Mapping[str, Any]:
    """The reader's own row."""
    return next(row for row in draft.state["committee"]["members"] if row["yours"])


def critiques(draft: Draft, **changes: Any) -> dict[str, Any]:
    """One critique of every other row."""
    said = {
        "agree": False,
        "points": ["It is too far off."],
        "evidence_ids_cited": ["E1"],
        "suggested_value": None,
    }
    rows = others(draft) or draft.state["committee"]["members"]
    return {"critiques": [{**said, "target_role": row["member"], **changes} for row in rows]}


def numbers(point: float, pull: float = 0.0) -> Callable[[Draft], Any]:
    """
    Say *point* at first; in a revision move the share *pull* of the way to the others' mean.

    It depends on what it is shown and on nothing else.
    """

    def says(draft: Draft) -> Any:
        if "critique" in draft.task:
            return critiques(draft)
        rows = [row["point_estimate"] for row in others(draft)]
        if draft.task != "revision" or not rows:
            return estimate(point)
        mine = own(draft)["point_estimate"] if _has_own(draft) else point
        return estimate(round(mine + pull * (sum(rows) / len(rows) - mine), 6))

    return says


def _has_own(draft: Draft) -> bool:
    return any(row["yours"] for row in draft.state["committee"]["members"])


def _is_map(state: object) -> bool:
    return isinstance(state, Mapping)


def seats(names: Sequence[str], **roles: Role) -> list[Member]:
    """Seat functions by their names, under a role of their own or the generalist's."""
    general = get_role("generalist")
    return [Member(name=one, provider=one, role=roles.get(one, general)) for one in names]


def overhearing(function: virtual.Member, drafts: list[Draft]) -> virtual.Member:
    """Write down what *function* is shown before it speaks."""
    if hasattr(function, "__code__") and function.__code__.co_flags & 0x200:  # it streams

        async def streams(draft: Draft) -> Any:
            drafts.append(draft)
            async for one in function(draft):
                yield one

        return streams

    async def speaks(draft: Draft) -> Any:
        drafts.append(draft)
        return await function(draft)

    return speaks


Protocol = Callable[..., Awaitable[Deliberated]]  # one of `PROTOCOLS`


async def deliberate(
    protocol: Protocol,
    functions: Mapping[str, virtual.Member],
    panel: Sequence[Member] | Member | None = None,
    *,
    packet: Packet = PACKET,
    form: Form | None = None,
    seconds: float | None = 1_000.0,
    allowance: Allowance | None = None,
    path: Path | None = None,
    transcript: Transcript | None = None,
    more: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    plugins: Sequence[object] = (),
    **settings: Any,
) -> Ended:
    """Let *functions* deliberate by *protocol*."""
    drafts: list[Draft] = []
    heard = {name: overhearing(one, drafts) for name, one in functions.items()}
    seated = list(seats(list(functions))) if panel is None else panel
    form = form or Numeric()
    gateway = Gateway.from_env(
        environ or {}, plugins=[*([members(**heard)] if heard else []), *plugins]
    )
    call = Call(point="INCOME")
    if transcript is None:
        shown = [seated] if isinstance(seated, Member) else seated
        told = header(
            protocol.__name__,
            packet,
            shown,
            form=form,
            voices=gateway,
            terms=Terms(**settings),
            texts=True,
        )
        transcript = Transcript.begin(path, told)
    scope = Scope.opened("total", seconds, call)
    floor = Floor(gateway, call, scope, allowance or Allowance(), transcript)
    async with gateway, floor:
        found = await protocol(packet, seated, floor, form=form, **(more or {}), **settings)
    return Ended(found, transcript, drafts)


def debated(functions: Mapping[str, virtual.Member], **settings: Any) -> Ended:
    """Let *functions* hold a structured debate."""
    return virtual.run(deliberate(structured_debate, functions, **settings))


def ran(protocol: Protocol, functions: Mapping[str, virtual.Member], **settings: Any) -> Ended:
    """Let *functions* deliberate by *protocol*, in virtual time."""
    return virtual.run(deliberate(protocol, functions, **settings))


def panel_of(*points: float, pull: float = 0.0) -> dict[str, virtual.Member]:
    """Make a member for each point: m0, m1 …"""
    return {
        f"m{at}": virtual.obedient(numbers(point, pull), seconds=1.0)
        for at, point in enumerate(points)
    }


def votes(*said: str) -> Callable[[Draft], Any]:
    """Vote for one option after the other, the last one for ever; criticise everybody."""
    left = list(said)

    def says(draft: Draft) -> Any:
        if "critique" in draft.task:
            return critiques(draft)
        return left.pop(0) if len(left) > 1 else left[0]

    return says


def voters(*said: Sequence[str]) -> dict[str, virtual.Member]:
    """Make a voter for each list of votes: m0, m1 …"""
    return {f"m{at}": virtual.obedient(votes(*one), seconds=1.0) for at, one in enumerate(said)}


def written(said: Any, **usage: Any) -> Written:
    """Something written by a model that is billed for it."""
    import json

    from pointsman.gateway.answers import Usage

    return Written(text=json.dumps(said), model="model-x", usage=Usage(**usage))
