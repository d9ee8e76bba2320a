"""How the race is run, in the words of its page; and to whom it is unfair."""

from __future__ import annotations

from .serving import CONNECTIONS

INTRODUCTION = (
    "Written by `{command}`; no number here is typed by hand. To run it again, first install the "
    "peers with `python benchmarks/race.py --install DIR`; their versions stand in "
    "`benchmarks/race/peers.txt`."
)

_DECISION = (
    "All contestants take one decision: one question with three options about one sentence. One "
    "upstream answers all of them with bytes that it has ready, in the dialect that each speaks. "
    "A model's own time is in no figure."
)
_TURNS = (
    "Every contestant runs in a process of its own, in its own environment, by the interface that "
    "it documents. They take their rounds in turn, so a machine that slows down slows all."
)
_CPU = (
    "CPU is that of the whole process, with all its threads. *Least* is the quietest round, since "
    "other programs only ever add; *added* is the difference of the leasts; *wall* is a median."
)
_CHECKED = (
    "Every answer is checked. A wrong one of a library is told beside its name; a wrong or missing "
    "one of a server is an error."
)
_BARE = (
    "*Bare httpx* posts bytes that it has ready and reads the JSON; it checks nothing. Pointsman "
    "writes the body, checks the answer, judges its confidence and makes a record."
)
_RECORDED = (
    "Unfair to decision-gateway: it writes every decision to SQLite before it answers, and "
    "Pointsman's library rows have no journal. Unfair to langgraph-jev-router: its cache, on by "
    "default, is off, as all are but in the row that says so."
)
_LARGER = (
    "Unfair to LiteLLM and pydantic-ai: they do much more than decisions, and pay for it in every "
    "call. LiteLLM's proxy runs without keys and without a database, with the HTTP parser that its "
    "own install brings."
)
_RUST = (
    "Unfair to Pointsman: TensorZero's core and HTTP client are Rust, so it can cost less than "
    "bare httpx does. It is not counted as a Python peer."
)
_CHAT = (
    "Unfair to nobody in particular: TensorZero and Portkey know no decisions. They are asked as "
    "chat models with a JSON schema, and Portkey's answer is passed on unread."
)
_SERVERS = (
    f"Servers have one worker and {CONNECTIONS} connections that ask without a pause, so p50 and "
    "p99 are those of a full server. Upstream and load share a core: *nothing between* is what "
    "these two can do alone."
)
METHOD = (
    _DECISION,
    _TURNS,
    _CPU,
    _CHECKED,
    _BARE,
    _RECORDED,
    _LARGER,
    _RUST,
    _CHAT,
    _SERVERS,
)
