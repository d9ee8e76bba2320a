"""What a rail makes the host do, and the rails that users declare themselves."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from ..gateway.errors import DeclarationError
from ..gateway.points import DecisionPoint, suffix_of
from ..gateway.questions import principal
from . import rails_in, rails_out, reasons
from .reading import Said, plain, word
from .shares import OUTPUT


class Action(StrEnum):
    """
    What a host does with what a rail looked at.

    `ALLOW`: it passes; of a recheck, the first block is overridden. `BLOCK`: a fixed line takes
    its place. `REPHRASE`: the user is asked to say it again. `RETRY`: the answer is made
    again, a few times, then a human takes over. `REWRITE`: it is reworded once and checked
    again, then blocked. `DROP`: the passage is not used. `KEEP`: the first block stays.
    """

    ALLOW = "allow"
    BLOCK = "block"
    REPHRASE = "rephrase"
    RETRY = "retry"
    REWRITE = "rewrite"
    DROP = "drop"
    KEEP = "keep"


class Rail(msgspec.Struct, frozen=True):
    """
    What a rail decided, as a host takes it.

    Attributes:
        allowed: It may pass.
        action: What the host does.
        code: What was found, of a point that asks for it; `unspecified` if it is not known.
        reason: The fixed text for it; hosts steer by its words (A24).
        undecided: Nobody decided; this is the safe outcome.

    """

    allowed: bool
    action: Action
    code: str
    reason: str
    undecided: bool = False


_ACTIONS: Final[Mapping[str, Action]] = {
    "GUARDRAIL_COER": Action.REPHRASE,
    "GUARDRAIL_REVPREC": Action.RETRY,
    "GUARDRAIL_FRASEOLOGIA": Action.REWRITE,
    "GUARDRAIL_RAGSEC": Action.DROP,
    "GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK": Action.KEEP,
}

_TEXTS: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "GUARDRAIL_FRASEOLOGIA": reasons.FRASEOLOGIA,
    "GUARDRAIL_DLEX_OUT": reasons.DLEX_OUT,
}

CATALOGUE: Final = tuple(
    one
    for module in (rails_in, rails_out)
    for one in vars(module).values()
    if isinstance(one, DecisionPoint)
)


def rail(
    point: DecisionPoint, outcome: Said, language: str = "en", *, undecided: bool = False
) -> Rail:
    """
    Say what a rail's *outcome* makes the host do.

    What blocks is the answer that the point says blocks (`point.blocks`): a truth of most
    rails and of a predicate of your own; a false of the generic ones, which ask what may pass.

    Args:
        point: The rail that was asked.
        outcome: What was decided; None or anything unreadable is its safe outcome, undecided.
        language: Of the fixed reason.
        undecided: Whether it is the safe outcome.

    """
    main = principal(next(iter(point.questions.values())))
    said = plain(outcome.get(main or "") if isinstance(outcome, Mapping) else outcome)
    nothing = undecided or not isinstance(said, bool)
    answer = said if isinstance(said, bool) else point.undecided
    if isinstance(answer, bool) and answer is not point.blocks:
        passes = reasons.text_of(reasons.PLAIN, "undecided" if nothing else "allowed", language)
        return Rail(True, Action.ALLOW, "", passes, nothing)  # noqa: FBT003
    code, reason = _reason(point, None if nothing else outcome, language)
    action = next((_ACTIONS[name] for name in point.names if name in _ACTIONS), Action.BLOCK)
    if nothing and action is not Action.REWRITE:  # a rewriter follows the reason as an order
        reason = reasons.text_of(reasons.PLAIN, "undecided", language)
    return Rail(False, action, code, reason, nothing)  # noqa: FBT003


def _reason(point: DecisionPoint, outcome: Said, language: str) -> tuple[str, str]:
    texts = next((_TEXTS[name] for name in point.names if name in _TEXTS), None)
    if texts is None or not _asks_codes(point):
        return "", reasons.text_of(reasons.PLAIN, "blocked", language)
    said = outcome.get("reason_code") if isinstance(outcome, Mapping) else None
    code = word(said, texts) or reasons.UNSPECIFIED
    return code, reasons.text_of(texts, code, language)


def _asks_codes(point: DecisionPoint) -> bool:
    return any("reason_code" in asked for asked in point.questions.values())


def on_output(point: DecisionPoint) -> DecisionPoint:
    """
    Let an input rail such as PINJ look at answers: it rides along with the output rails.

    It is called `<NAME>_OUTPUT`, so that records tell both; the variables of the input rail
    count for it too.
    """
    return msgspec.structs.replace(point.called(f"{point.name}_OUTPUT"), share=OUTPUT)


def guardrail(name: str) -> DecisionPoint:
    """
    Declare a generic rail of the user's own, by its configured *name* or profile.

    Its variables are `DECISION_GUARDRAIL_<NAME>_…`. It asks whether the text may pass
    unchanged: True lets it pass, False blocks it. `guardrail` is the generic rail itself.

    Raises:
        DeclarationError: The name leaves no suffix, or is one of the catalogue's (A3).

    """
    return own(rails_in.GUARDRAIL_GUARDRAIL, name, CATALOGUE)


def own(generic: DecisionPoint, name: str, taken: tuple[DecisionPoint, ...]) -> DecisionPoint:
    """
    Give a *generic* point under a user's own *name*.

    Raises:
        DeclarationError: The name leaves no suffix, or one of the *taken* points has it (A3).

    """
    suffix = suffix_of(name)
    if suffix in (generic.name, generic.name.removeprefix(generic.prefix)):
        return generic
    full = suffix if suffix.startswith(generic.prefix) else generic.prefix + suffix
    for point in taken:
        if full in (*point.aliases, point.name):
            problem = f"{name!r} is reserved for the catalogue's {point.name}"
            raise DeclarationError(f"{problem}: declare that point, or choose another name")
    return generic.called(full)
