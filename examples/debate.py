"""
Three ways to decide a claim: alone, by a committee, and by a debate. Offline.

python examples/debate.py [FOLDER]

The members are functions of this file, each with its own small rules and its own part of the
evidence, and `local`, the embedded decider (`pip install "pointsman[local]"`). Put a chat model in
the place of any of them: `COMMITTEE_MEMBERS=chat/fast,…`. Each debate's transcript goes to FOLDER:
`pointsman debate show FILE` reads it to you, and `pointsman debate replay FILE` runs it again
without asking anybody.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pointsman import Choice, Decision, DecisionPoint, Draft, Gateway
from pointsman.providers.deliberation import members

CLAIM = DecisionPoint(
    name="CLAIM",
    questions={
        "en": {
            "decision": Choice(
                "What happens to this insurance claim?",
                {
                    "pay": "The policy covers it and nothing speaks against it",
                    "inspect": "Somebody has to look at it first",
                    "refuse": "The policy does not cover it",
                },
            )
        }
    },
    reads=("text", "amount", "photos", "claims_last_year"),
)
CLAIMS: tuple[Mapping[str, Any], ...] = (
    {
        "text": "The pipe under the sink burst and ruined the floor. The policy covers that, and "
        "nothing speaks against it: the plumber's bill is in.",
        "amount": 1_400,
        "photos": 5,
        "claims_last_year": 0,
    },
    {
        "text": "The pipe under the sink burst while we were away for a month.",
        "amount": 9_800,
        "photos": 0,
        "claims_last_year": 1,
    },
    {
        "text": "My laptop was stolen from the car. Again.",
        "amount": 4_000,
        "photos": 0,
        "claims_last_year": 4,
    },
)
LIMIT = 5_000  # what is paid without a second look

Says: TypeAlias = tuple[str, list[str], list[str]]
"""Recommendation, premises, risks."""


def policy(claim: Mapping[str, Any]) -> Says:
    """Say what is covered."""
    if "pipe" in claim["text"]:
        return "pay", ["water damage is covered"], ["the bill is not checked"]
    return "inspect", ["theft is covered at home only"], ["it may not be covered"]


def fraud(claim: Mapping[str, Any]) -> Says:
    """Say what the signs of fraud are."""
    if claim["claims_last_year"] > 3:  # noqa: PLR2004 - more than one in a season
        return "refuse", ["too many claims in a year"], ["it may not be covered"]
    if not claim["photos"]:
        return "inspect", ["nothing shows the damage"], ["the bill is not checked"]
    return "pay", ["water damage is covered"], ["the bill is not checked"]


def customer(claim: Mapping[str, Any]) -> Says:
    """Say what is fair to somebody who has paid for years."""
    if claim["amount"] > LIMIT:
        return "inspect", ["nothing shows the damage"], ["the bill is not checked"]
    return "pay", ["water damage is covered"], ["the bill is not checked"]


def speaker(rule: Callable[[Mapping[str, Any]], Says]) -> Callable[[Draft], Awaitable[object]]:
    """
    Let *rule* speak: answer, take a position, and answer to the positions of others.

    A chat model would be sent the same draft: instructions, a state that is data, and the schema of
    what it may write.
    """

    async def speak(draft: Draft) -> object:
        state: Any = draft.state
        if draft.task == "answer":
            return rule(state)[0]
        mine = rule(state["case"])
        says = persuaded(mine, state.get("positions", []))
        kept = state.get("yours", says[0]) == says[0]
        said = {
            "recommendation": says[0],
            "position": f"{says[0]}, since {' and '.join(says[1])}.",
            "premises": says[1],
            "risks": says[2],
            "timing": "now",
            "confidence": 85.0 if says is mine else 75.0,
            "keeps": "yes" if kept else "no",
            "reasoning": "By the rules of this file.",
        }
        return {name: said.get(name, []) for name in draft.schema["properties"]}

    return speak


def persuaded(mine: Says, others: list[Mapping[str, Any]]) -> Says:
    """Follow whoever wants to look first: what they have not seen, nobody here has seen."""
    careful = [one for one in others if one["recommendation"] == "inspect"]
    if mine[0] != "pay" or not careful:
        return mine
    return "inspect", [bare(one) for one in careful[0]["premises"]], mine[2]


def bare(fenced: str) -> str:
    """Take off the fence in which others' words come."""
    return fenced.strip("~\n")


async def decide(claim: Mapping[str, Any], **variables: str) -> Decision[Any]:
    """Decide one claim as *variables* say; `current` leaves it to a clerk."""
    rules = members(policy=speaker(policy), fraud=speaker(fraud), customer=speaker(customer))
    environ = {"DECISION_LOG": "off", **variables}
    async with Gateway.from_env(environ, plugins=[rules]) as gateway:
        return await gateway.ask(CLAIM, claim, current=lambda: "inspect")


def told(decision: Decision[Any]) -> str:
    """Say what came of it in one line."""
    first = decision.attempts[0]
    sure = f"{decision.confidence:.2f}" if decision.confidence else "    "
    why = "" if first.reason.value == "ok" else f"   ({first.provider}: {first.reason.value})"
    return f"{decision.value:8} {sure}  by {decision.provider}{why}"


def kept(folder: Path) -> set[Path]:
    """List the transcripts that *folder* holds."""
    return set(folder.glob("*.jsonl"))


async def main(folder: Path) -> None:
    """Decide every claim in each way."""
    panel = "policy,fraud,customer"
    ways: Mapping[str, dict[str, str]] = {
        "local alone": {"DECISION_CLAIM_PROVIDER": "local"},
        "a committee of four": {
            "DECISION_CLAIM_PROVIDER": "committee",
            "COMMITTEE_MEMBERS": f"{panel},local",
        },
        "a debate of three": {
            "DECISION_CLAIM_PROVIDER": "debate",
            "DEBATE_MEMBERS": ",".join(f"{one}={one}" for one in panel.split(",")),
            "DEBATE_TRANSCRIPTS": str(folder),
            "DEBATE_TRANSCRIPT_TEXTS": "true",  # so that the file alone can be replayed
        },
    }
    for claim in CLAIMS:
        print(claim["text"])
        before = kept(folder)
        for name, variables in ways.items():
            print(f"    {name:20} {told(await decide(claim, **variables))}")
        for file in kept(folder) - before:
            print(f"    {'what was said':20} pointsman debate show {file}")


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    where.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(where))
