"""
Facts that agents disagree about: what each source said, what it comes to, and what is in dispute.

An assertion goes this way: `stating` makes it of what a writer hands over (`canonical`, `values`,
`times`, under a `policy`); the `ledger` writes it into the log (`entries`) and has `folding` work
out what the fact comes to (`outcomes`, by the `registry` of sources); `disputes` keeps what nothing
decides between, and `fact_dispute` is the decision point that is asked. `store` is what users
hold: it reads (`recalling`, `reading`), looks over all of it (`overlooking`: `whatif`, `auditing`,
`dependents`) and takes back or rules anew (`keeping`). `telling`, `commands` and `agents` show it
to people, terminals and models; `treating` carries out what was decided about parameters.

Every name is loaded when it is first used: importing the catalogue opens no database's library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .assertions import Assertion, Input, Recorded, Value, When, recorded
    from .canonical import key_of
    from .disputes import Dispute, Disputes, Event
    from .entries import Receipt
    from .errors import FactsError, NotResolved, Refused, Superseded
    from .folding import fold
    from .keys import FactKey
    from .outcomes import Candidate, Outcome
    from .policy import Policy, read_policy
    from .reading import Reading
    from .registry import Registry, read_registry
    from .store import FactStore

__all__ = [
    "Assertion",
    "Candidate",
    "Dispute",
    "Disputes",
    "Event",
    "FactKey",
    "FactStore",
    "FactsError",
    "Input",
    "NotResolved",
    "Outcome",
    "Policy",
    "Reading",
    "Receipt",
    "Recorded",
    "Refused",
    "Registry",
    "Superseded",
    "Value",
    "When",
    "fold",
    "key_of",
    "read_policy",
    "read_registry",
    "recorded",
]

_ROOMS = {
    "assertions": ("Assertion", "Input", "Recorded", "Value", "When", "recorded"),
    "canonical": ("key_of",),
    "disputes": ("Dispute", "Disputes", "Event"),
    "entries": ("Receipt",),
    "errors": ("FactsError", "NotResolved", "Refused", "Superseded"),
    "folding": ("fold",),
    "keys": ("FactKey",),
    "outcomes": ("Candidate", "Outcome"),
    "policy": ("Policy", "read_policy"),
    "reading": ("Reading",),
    "registry": ("Registry", "read_registry"),
    "store": ("FactStore",),
}


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f".{room}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
