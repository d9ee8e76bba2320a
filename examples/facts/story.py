"""
Two agents read about one contract, and disagree. Offline.

python examples/facts/story.py            # tells it
python examples/facts/story.py --write    # puts what it tells into docs/facts-story.md

A chat message against a contract; a renegotiation with an effective date; two signed documents,
a tie-breaker, its receipt, and the fact that rested on the answer. The clock is the story's own,
so that it tells the same every time.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pointsman import Gateway, scripted
from pointsman.decision_points.facts import FactStore
from pointsman.decision_points.facts.times import instant

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "facts-story.md"
SCENE = re.compile(r"^```text\n# ([^\n]+)\n.*?^```$", re.MULTILINE | re.DOTALL)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.time = 0

    def at(self, time: str) -> str:
        """Set it, and give the hour that it shows."""
        self.time = instant(time)
        return datetime.fromtimestamp(self.time / 1e6, UTC).strftime("%H:%M")

    def __call__(self) -> int:
        """Give the time, in microseconds since the epoch."""
        return self.time


def chat_against_contract(store: FactStore, clock: Clock) -> Iterator[str]:
    """What was signed stands above what was written in a chat, however late it comes."""
    yield f"{clock.at('2026-03-02T09:02Z')}  agent-a reads the contract: R$ 100,00 a month"
    store.assert_(
        "contract:c-17",
        "price",
        "R$ 100,00",
        source="contract",
        writer="agent-a",
        observed_at="2026-01-10",
        valid_from="2026-02-01",
        source_ref="contract.pdf, page 3",
    )
    yield f"{clock.at('2026-03-02T09:04Z')}  agent-b reads the chat: R$ 90,00"
    store.assert_(
        "contract:c-17",
        "price",
        "R$ 90,00",
        source="chat",
        writer="agent-b",
        observed_at="2026-03-02T09:03Z",
        valid_from="2026-03-02",
    )
    yield ""
    yield store.explain("contract:c-17", "price").sentence()


def renegotiation(store: FactStore, clock: Clock) -> Iterator[str]:
    """A new price with an effective date follows the old one: no conflict, both are true."""
    yield f"{clock.at('2026-05-20T10:00Z')}  agent-b reads a signed e-mail: R$ 95,00 from July"
    store.assert_(
        "contract:c-17",
        "price",
        "R$ 95,00",
        source="renegotiation",
        writer="agent-b",
        observed_at="2026-05-19",
        valid_from="2026-07-01",
    )
    for month in ("2026-06-15", "2026-07-15"):
        yield ""
        yield f"on {month}:"
        yield store.explain("contract:c-17", "price", valid_at=month).sentence()


def two_signed_documents(store: FactStore, clock: Clock) -> Iterator[str]:
    """Of two of one level nobody picks one; what was concluded from it is flagged."""
    yield f"{clock.at('2026-05-21T11:00Z')}  agent-a reads the contract: a term of 12 months"
    store.assert_(
        "contract:c-17", "term", "12", source="contract", writer="agent-a", confidence=0.9
    )
    yield f"{clock.at('2026-05-21T11:01Z')}  agent-a concludes: it ends on 2027-01-31"
    conclude(store, clock, "2027-01-31")
    yield f"{clock.at('2026-05-21T11:30Z')}  agent-b reads the annex: 24 months"
    store.assert_("contract:c-17", "term", "24", source="annex", writer="agent-b", confidence=0.9)
    yield ""
    yield store.explain("contract:c-17", "term").sentence()
    yield ""
    yield store.get("contract:c-17", "end").text()


def conclude(store: FactStore, clock: Clock, end: str) -> None:
    """Write down a conclusion, with what it rests on."""
    store.assert_(
        "contract:c-17",
        "end",
        end,
        source="contract",
        writer="agent-a",
        evidence="derived",
        observed_at=clock(),
        derived_from=[store.get("contract:c-17", "term").as_input()],
    )


def tie_breaker(store: FactStore, clock: Clock) -> Iterator[str]:
    """The point FACT_DISPUTE: a provider picks a listed candidate or none; a receipt says so."""
    hour = clock.at("2026-05-21T11:45Z")
    (dispute,) = store.disputes.list()
    annex = next(one for one in dispute.candidates if "annex" in one.sources)
    decider = {"FACT_DISPUTE": scripted(annex.id)}
    with Gateway.from_env({"DECISION_LOG": "off"}) as gateway, gateway.override(decider):
        settled = store.disputes.settle_sync(gateway, dispute.id)
    receipt = settled.receipt
    assert receipt is not None
    yield f"{hour}  a receipt: the {receipt.party} {receipt.resolver} chose what the annex says"
    yield ""
    yield store.explain("contract:c-17", "term").sentence()
    yield ""
    yield store.get("contract:c-17", "end").text()
    yield ""
    yield f"{clock.at('2026-05-21T12:00Z')}  agent-a concludes anew: it ends on 2028-01-31"
    conclude(store, clock, "2028-01-31")
    yield ""
    yield store.get("contract:c-17", "end").text()


SCENES = {
    "Chat against contract": chat_against_contract,
    "A renegotiation": renegotiation,
    "Two signed documents": two_signed_documents,
    "The tie-breaker": tie_breaker,
}


def told() -> dict[str, str]:
    """Tell all scenes, in a new store; title → what was told."""
    clock = Clock()
    files = {"policy": HERE / "policy.toml", "registry": HERE / "registry.toml"}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "facts.db"
        with FactStore(place, **files, clock=clock) as store:
            return {title: "\n".join(scene(store, clock)) for title, scene in SCENES.items()}


def write(page: Path, scenes: dict[str, str]) -> None:
    """Put what was told into the page, each scene in its place."""
    text = page.read_text("utf-8")
    fresh = SCENE.sub(lambda one: f"```text\n# {one[1]}\n{scenes[one[1]]}\n```", text)
    page.write_text(fresh, "utf-8")


def main() -> None:
    """Tell it."""
    scenes = told()
    for title, said in scenes.items():
        print(f"# {title}\n{said}\n")
    if "--write" in sys.argv[1:]:
        write(PAGE, scenes)


if __name__ == "__main__":
    main()
