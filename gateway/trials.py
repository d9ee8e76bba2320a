"""
Who is asked where a variable names several: splits of the traffic, sticky by subject.

`current:90,jev:10` asks `jev` about one subject in ten. Candidates are carved in the order in
which they are listed: a subject goes to a candidate if its bucket under
`<POINT>/<EXPERIMENT>/<candidate>` falls below the candidate's share of what is left. `current` is
what remains. So growing the last candidate, or appending one, moves only subjects of `current`;
growing an earlier one may also take subjects from those listed after it; nobody returns to
`current` while shares only grow. The hash is the memory: every process decides alike.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import msgspec

from .chance import chance
from .records import Exposure

CURRENT = "current"
"""The word for what the host runs today; a provider of this name stands in for it."""

BUCKETS = 10_000
WHOLE = 100.0  # percent
FORM = "Write it as current:90,jev:10"


class Arm(msgspec.Struct, frozen=True):
    """
    One arm of a split.

    Attributes:
        provider: Who is asked; `current` for what the host runs today.
        weight: Percent of the subjects, in [0, 100].

    """

    provider: str
    weight: float


def is_split(text: str) -> bool:
    """Whether *text* names several providers; a colon only ever introduces a weight."""
    return ":" in text or "," in text


def arms_of(text: str) -> tuple[Arm, ...]:
    """
    Read the arms of a split; what the weights leave is `current`'s, which comes last.

    Raises:
        ValueError: A part has no weight, a weight is no share of 100, a name comes twice, or
            they do not add up.

    """
    arms = [_arm(part.strip()) for part in text.split(",")]
    names = [arm.provider for arm in arms]
    if len(set(names)) < len(names):
        raise ValueError(f"it names a provider twice. {FORM}")
    total = math.fsum(arm.weight for arm in arms)
    candidates = tuple(arm for arm in arms if arm.provider != CURRENT)
    left = WHOLE - math.fsum(arm.weight for arm in candidates)
    if total > WHOLE + 1e-9 or (len(candidates) < len(arms) and total < WHOLE - 1e-9):
        raise ValueError(f"its weights add up to {total:g} and not to 100. {FORM}")
    return (*candidates, Arm(CURRENT, max(0.0, left)))


def _arm(part: str) -> Arm:
    provider, colon, weight = part.partition(":")
    try:
        share = float(weight) if colon else math.nan
    except ValueError:
        share = math.nan
    if not provider.strip() or not 0.0 <= share <= WHOLE:
        raise ValueError(f"every provider of a split has a weight from 0 to 100. {FORM}")
    return Arm(provider.strip(), share)


def bucket(salt: str, unit: str, buckets: int = BUCKETS) -> int:
    """
    Give the bucket of *unit* under *salt*, evenly spread over 0 … *buckets* − 1.

    The first eight bytes of SHA-256 over `salt:unit`, read big-endian, modulo *buckets*.
    """
    digest = hashlib.sha256(f"{salt}:{unit}".encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % buckets


def assigned(
    point: str, experiment: str, arms: Sequence[Arm], subject: str | None
) -> tuple[str, Exposure]:
    """
    Say which arm of a split *subject* belongs to; without a subject, by lot.

    Args:
        point: Name of the decision point, so that two points' splits are independent.
        experiment: Id of the split; a new one draws new buckets.
        arms: From `arms_of`: the candidates in their order, then `current`.
        subject: Session or customer.

    Returns:
        The provider assigned, and what is recorded of it.

    """
    shares = {arm.provider: arm.weight for arm in arms}
    if subject is None:
        drawn = chance.choices(arms, [arm.weight for arm in arms])[0]
        return drawn.provider, Exposure(experiment, None, False, shares)  # noqa: FBT003
    left, seen = WHOLE, None
    for arm in arms[:-1]:
        seen = bucket(f"{point}/{experiment}/{arm.provider}", subject)
        if left > 0 and seen < arm.weight / left * BUCKETS:
            return arm.provider, Exposure(experiment, seen, shares=shares)
        left -= arm.weight
    return arms[-1].provider, Exposure(experiment, seen, shares=shares)
