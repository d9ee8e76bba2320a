"""What is written down of a debate: each round once it has been held, and what it all comes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ....gateway.errors import Reason
from .critiques import Critiques
from .penalties import Adjusted
from .stands import Stands


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """
    One round, once it has been held.

    Attributes:
        number: From 1.
        kind: `posicoes_iniciais`, `rebatidas` or `refinamento`.
        fresh: Where the roles stand that answered.
        stands: What the checkpoint counts; with those that are carried into it, if the rules
            say so.
        silent: Members without a usable answer → why.
        timeouts: Members that ran out of time, with a partial answer or none.
        seconds: How long it took.
        over: `timeout_total` or `budget` where the whole was used up in it; else empty.
        moved: Roles that hold another position than in the round before.
        refined: Whether roles had to be asked again, which is a refinement.
        signs: Of a loop (DD-74).
        hash: Of the positions that are fresh.
        critiques: What the roles that answered made of each other.
        check: The value of CONVERGENCE; None where it was not asked.

    """

    number: int
    kind: str
    fresh: Stands
    stands: Stands
    silent: Mapping[str, Reason]
    timeouts: tuple[str, ...]
    seconds: float
    over: str = ""
    moved: int = 0
    refined: bool = False
    signs: tuple[str, ...] = ()
    hash: str = ""
    critiques: Critiques = {}
    check: Mapping[str, Any] | None = None


class Synthesis(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a debate comes to.

    Attributes:
        recommendation: One of the options; empty where the roles are tied.
        tied: The options that share the lead; empty where one leads.
        votes: Option → weight of the roles behind it.
        confidence: Before and after the penalties.
        consensus: Criteria that are agreed on.
        divergences: What is still disputed, by the names of the roles.
        conflict: Roles that recommend something else.
        stale: Roles whose position is from an earlier round (AM-38).
        tags: `REDUCED BY TIMEOUT` (DD-70).
        summary: A readable account; empty where nobody wrote one.

    """

    recommendation: str
    tied: tuple[str, ...] = ()
    votes: Mapping[str, float] = {}
    confidence: Adjusted = Adjusted(0.0, 0.0)
    consensus: tuple[str, ...] = ()
    divergences: tuple[Mapping[str, Any], ...] = ()
    conflict: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    summary: str = ""
