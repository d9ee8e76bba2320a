"""
Arms of a split: whether the traffic fell as it should, and how the arms did, by arm assigned.

The numbers are always valid: they may be looked at after every decision. A fallback belongs to
the arm that was assigned, because the arm is what is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ..statistics.comparing import msprt_p
from .accuracy import EFFECT, Better, Share, share_of
from .always_valid import Sum, apart, needed, summed
from .ratios import Ratio, days, latest, ratio, recorded, served
from .reading import Seen

ALARM = 0.001  # p of the sample ratio below which nothing is compared
FEWEST = 50  # labelled subjects of an arm from which its mean is near enough to normal


class Arm(msgspec.Struct, frozen=True):
    """
    One arm.

    Attributes:
        variant: Whom it assigns.
        share: Planned part of the subjects, in [0, 1]; None if unknown.
        subjects: Distinct ones in this arm only.
        decisions: Theirs.
        right: Share of their labelled decisions that was right.

    """

    variant: str
    share: float | None
    subjects: int
    decisions: int
    right: Share


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """
    A split of traffic between A, B and maybe others.

    Attributes:
        experiment: Its id.
        arms: Of all that were assigned.
        ratio: Whether subjects fell as planned; None where that cannot be tested.
        days: The same for each day, where it failed.
        served: Arm → model as served → subjects, by the first decision of each, where it failed.
        plans: Arm → share under which its decisions were assigned, as recorded; several where
            the shares were changed while it ran. Only decisions under the latest are compared.
        crossed: Subjects that were seen in two arms under them, and are left out.
        unsticky: Decisions without a subject, drawn by lot and left out.
        earlier: Decisions that were assigned under other shares, left out.
        others: Decisions of other experiments, left out.
        effect: Least difference that matters, in shares.
        difference: B's share of right decisions less A's; None where it cannot be told.
        low: Lower end of its always-valid 95 % interval, clustered by subject.
        high: Upper end.
        p: Always-valid p of "no difference" (mixture SPRT).
        better: `a` or `b` where the interval leaves out zero; else empty.
        needed: About how many more labelled decisions tell a difference as large as the one
            measured, or as the least that matters, whichever is larger; 0 where it is told,
            None where nobody can say.
        why: Why nothing is compared; empty if something is.

    """

    experiment: str
    arms: tuple[Arm, ...]
    ratio: Ratio | None
    days: tuple[Ratio, ...]
    served: Mapping[str, Mapping[str, int]]
    plans: tuple[Mapping[str, float], ...]
    crossed: int
    unsticky: int
    earlier: int
    others: int
    effect: float
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    better: Better = ""
    needed: int | None = None
    why: str = ""

    @property
    def failed(self) -> bool:
        """Whether subjects fell otherwise than planned, so that no comparison means anything."""
        return self.ratio is not None and self.ratio.p < ALARM


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is compared.

    Attributes:
        a: One arm.
        b: The other.
        experiment: Id of the split; None: the one seen last.
        shares: Arm → planned share, in all 1; empty: as its latest decisions recorded it.
        set: The same as it is set now, for where nothing is recorded.
        effect: Least difference of shares that matters.

    """

    a: str
    b: str
    experiment: str | None = None
    shares: Mapping[str, float] = {}
    set: Mapping[str, float] = {}
    effect: float = EFFECT


def split(seen: Sequence[Seen], plan: Plan) -> Split | None:
    """Compare the arms of a split; None where no decision was split."""
    exposed = [one for one in seen if one.exposure is not None]
    if not exposed:
        return None
    experiment = plan.experiment or _experiment(max(exposed, key=lambda one: one.at))
    rows = [one for one in exposed if _experiment(one) == experiment]
    kept = latest(rows, plan.shares)
    sticky = [one for one in kept if one.subject is not None and _is_sticky(one)]
    first, crossed = _placed(sticky)
    of_one = [one for one in sticky if one.subject not in crossed]
    shares = plan.shares or next(iter(recorded(kept)), plan.set)
    found = Split(
        experiment=experiment,
        arms=_arms(of_one, shares),
        ratio=ratio("all", first.values(), shares),
        days=(),
        served={},
        plans=recorded(rows),
        crossed=len(crossed),
        unsticky=len(kept) - len(sticky),
        earlier=len(rows) - len(kept),
        others=len(exposed) - len(rows),
        effect=plan.effect,
    )
    if found.failed:
        of_days, models = days(sticky, first, shares), served(sticky)
        why = "the subjects did not fall into the arms as planned"
        return msgspec.structs.replace(found, days=of_days, served=models, why=why)
    if found.ratio is None:
        return msgspec.structs.replace(found, why=_untested(kept, sticky))
    return _compared(found, _sums(of_one, plan.a), _sums(of_one, plan.b))


def _untested(kept: Sequence[Seen], sticky: Sequence[Seen]) -> str:
    """Say why the sample ratio cannot be tested."""
    if not kept:
        return "no decision was assigned by it in that time"
    if not sticky and any(map(_is_sticky, kept)):
        return "the journal kept no subject of its decisions"
    if not sticky:
        return (
            f"none of its {len(kept):,} decisions has a subject, and a split is sticky by subject: "
            "name it with `subject=`, or `gateway.session(…)`"
        )
    return "the planned shares are not known, so that the sample ratio cannot be tested"


def _experiment(one: Seen) -> str:
    return "" if one.exposure is None else one.exposure.experiment


def _is_sticky(one: Seen) -> bool:
    return one.exposure is not None and one.exposure.sticky


def _placed(rows: Iterable[Seen]) -> tuple[dict[str, str], set[str]]:
    """Give subject → first arm, and the subjects seen in another one too."""
    first, crossed = dict[str, str](), set[str]()
    for one in sorted(rows, key=lambda one: one.at):
        subject = one.subject or ""
        if first.setdefault(subject, one.variant) != one.variant:
            crossed.add(subject)
    return first, crossed


def _arms(kept: Sequence[Seen], shares: Mapping[str, float]) -> tuple[Arm, ...]:
    of_arm: dict[str, list[Seen]] = {variant: [] for variant in shares}
    for one in kept:
        of_arm.setdefault(one.variant, []).append(one)
    return tuple(
        Arm(
            variant,
            shares.get(variant),
            len({one.subject for one in rows}),
            len(rows),
            share_of(
                sum(one.right is True for one in rows),
                sum(one.right is not None for one in rows),
            ),
        )
        for variant, rows in of_arm.items()
    )


def _sums(kept: Iterable[Seen], variant: str) -> list[Sum]:
    return summed(
        (one.subject, float(one.right))
        for one in kept
        if one.variant == variant and one.right is not None
    )


def _compared(found: Split, a: Sequence[Sum], b: Sequence[Sum]) -> Split:
    if min(len(a), len(b)) < FEWEST:
        why = f"fewer than {FEWEST} subjects of an arm have a labelled decision"
        return msgspec.structs.replace(found, why=why)
    difference, low, high, variance = apart(a, b, found.effect)
    better: Better = "b" if low > 0.0 else "a" if high < 0.0 else ""
    rows = sum(one.rows for one in (*a, *b))
    return msgspec.structs.replace(
        found,
        difference=difference,
        low=low,
        high=high,
        p=msprt_p(difference, variance, 1, found.effect**2),
        better=better,
        needed=0 if better else needed(rows, variance, difference, found.effect),
    )
