"""The variables of `committee`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings

from ....gateway.variables import ProviderName
from ..panel import seated

Protocol: TypeAlias = Literal["independent", "debate", "skeptic", "placebo", "cost_matched"]
Rule: TypeAlias = Literal["majority", "plurality", "borda", "judge"]
OnPartial: TypeAlias = Literal["accept", "fallback", "reject"]
PredicateRule: TypeAlias = Literal["median", "odds"]
BothSides: TypeAlias = Literal["answer", "abstain"]

ROUNDS = 2  # of a debate that is not told how many (DP-10)
MOST_ROUNDS = 10
MOST_SAMPLES = 64


def _seatable(text: str) -> str:
    seated(text)
    return text


class CommitteeSettings(BaseSettings):
    """
    The variables of `committee`; an instance `committee/legal` reads `COMMITTEE__LEGAL__…` first.

    Attributes:
        members: Who is asked: references to providers, each with a name of its own where wanted,
            as in `jev,local,cfo=chat/fast`; `current` is the host's own path.
        protocol: How they come to their answers. `independent`: each once, without seeing the
            others; `debate`: with critiques and revisions; `skeptic`: a debate with one member
            kept blind to it, and checks of evidence; `placebo`: a debate whose members have
            empty roles; `cost_matched`: one member, many times.
        rounds: Rounds after the first answers; absent: none for `independent`, 2 for a debate.
        samples: How often the one member of `cost_matched` is asked.
        skeptic_votes: Whether the skeptic's answer is one of the votes.
        quorum: Fewest usable answers to a question; absent: half of the members, at least 2 where
            there are 2.
        rule: What decides a choice that no strict majority decides.
        judge: A provider whose vote is cast then, where the rule is `judge`.
        predicate_rule: How probabilities are put together: the median, or the geometric mean of
            the odds.
        both_sides: What a predicate on whose both sides at least a third of the answers stand
            comes to.
        max_spread: Largest interquartile range of a score, as a share of its range.
        on_partial: What the answer of a panel in which somebody failed is worth.
        max_calls: Most asks of members in one decision.
        max_tokens: Most tokens, read and written.
        max_cost_usd: Most US dollars.
        timeout_per_member_seconds: For one ask of a member.
        timeout_seconds: For the whole; the caller's deadline cuts it shorter.
        seed: Orders what members are shown of each other.
        roles: A TOML file of roles: name → `instructions`, `description`, `evidence`.
        transcripts: A folder that keeps what was said; absent: nothing is kept.
        transcript_texts: What members were shown is kept there, too; then one can be replayed.

    """

    members: Annotated[str, AfterValidator(_seatable)]
    protocol: Protocol = "independent"
    rounds: int | None = Field(None, ge=0, le=MOST_ROUNDS)
    samples: int = Field(5, ge=1, le=MOST_SAMPLES)
    skeptic_votes: bool = True
    quorum: int | None = Field(None, ge=1)
    rule: Rule = "majority"
    judge: ProviderName | None = None
    predicate_rule: PredicateRule = "median"
    both_sides: BothSides = "answer"
    max_spread: float | None = Field(None, ge=0, le=1)
    on_partial: OnPartial = "accept"
    max_calls: int | None = Field(None, ge=1)
    max_tokens: int | None = Field(None, ge=1)
    max_cost_usd: float | None = Field(None, gt=0, allow_inf_nan=False)
    timeout_per_member_seconds: float = Field(30, gt=0, allow_inf_nan=False)
    timeout_seconds: float = Field(300, gt=0, allow_inf_nan=False)
    seed: int = 0
    roles: Path | None = None
    transcripts: Path | None = None
    transcript_texts: bool = False

    @property
    def rounds_planned(self) -> int:
        """Rounds after the first answers."""
        default = 0 if self.protocol in ("independent", "cost_matched") else ROUNDS
        return default if self.rounds is None else self.rounds
