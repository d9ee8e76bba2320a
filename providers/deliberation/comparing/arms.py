"""The arms: ways to come to an answer that are tried on the same items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec
from pydantic import TypeAdapter, ValidationError

from ....gateway.variables import ProviderName
from ..measures.matching import debate_calls, independent_calls, single_calls

Way = Literal[
    "independent",
    "self_consistency",
    "self_refine",
    "cost_matched",
    "debate",
    "debate_skeptic",
    "placebo",
    "provider",
]
Match = Literal["calls", "tokens", "money"]

NAMED: tuple[str, ...] = tuple(way for way in get_args(Way) if way != "provider")
DEBATES = ("debate", "debate_skeptic", "placebo")
OF_ONE = ("self_consistency", "self_refine", "cost_matched")
MATCHED = ("self_consistency", "cost_matched")
PREFIX = "provider="  # for a provider that is called as an arm is

TOLD: Mapping[str, str] = {
    "independent": "each member once, without seeing the others; then a vote",
    "self_consistency": "one member as often as the debate costs; then a vote",
    "self_refine": "one member, its own criticism, and its second thought",
    "cost_matched": "samples of one member and its second thought, at the debate's cost",
    "debate": "critiques and revisions in rounds; then a vote",
    "debate_skeptic": "a debate, checked evidence, and a skeptic who did not take part",
    "placebo": "a debate whose members have empty roles",
}


class Arm(msgspec.Struct, frozen=True):
    """
    One arm.

    Attributes:
        name: As it is called in what is printed.
        way: How it comes to an answer.
        provider: Who is asked, of a provider's own arm.

    """

    name: str
    way: Way
    provider: str = ""

    @property
    def early(self) -> bool:
        """Whether it runs before those that are measured by a debate's cost."""
        return self.way not in OF_ONE


def arms_of(text: str) -> tuple[Arm, ...]:
    """
    Read arms: `independent,debate,placebo,jev`.

    Raises:
        ValueError: One is empty, is said twice or is no provider's name; the text says which.

    """
    arms = tuple(_arm(one.strip()) for one in text.split(","))
    names = [arm.name for arm in arms]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{twice[0]!r} is named twice")
    return arms


def _arm(text: str) -> Arm:
    if text in NAMED:
        return Arm(text, msgspec.convert(text, Way))
    name = text.removeprefix(PREFIX)
    try:
        provider = TypeAdapter[str](ProviderName).validate_python(name)
    except ValidationError:
        provider = ""
    if not provider:
        known = ", ".join(NAMED)
        raise ValueError(f"{text!r} is neither an arm ({known}) nor a provider")
    return Arm(text, "provider", provider)


def bound(arm: Arm, members: int, rounds: int, k: int) -> int:
    """
    Most calls that an arm makes on one case.

    Args:
        arm: Which.
        members: Of the panel.
        rounds: Of a debate, planned.
        k: Samples of a matched arm.

    """
    most = {
        "independent": independent_calls(members),
        "debate": debate_calls(members, rounds),
        "placebo": debate_calls(members, rounds),
        "debate_skeptic": debate_calls(members, rounds, 1),
        "self_consistency": k,
        "cost_matched": single_calls(k),
        "self_refine": single_calls(1),
        "provider": 1,
    }
    return most[arm.way]
