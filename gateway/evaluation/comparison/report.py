"""
A held against B at one decision point: one pure value, computed from the journal's trails.

What is shown follows from what is known. Without labels there is agreement and cost; with them,
who is right; with certificates, both at equal certified risk; with a split, its arms.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from ...certificates import Thresholds
from ...journal.rows import Trail
from ...points import DecisionPoint
from .accuracy import EFFECT, Judged, judged
from .agreement import Agreement, agreement
from .answering import Given, given
from .arms import Plan, Split, split
from .costs import Assigned, Effort, Rescue, assigned, effort, rescue
from .equal_risk import Guarded, Together, guarded, together
from .evidence import Evidence
from .handover import Handover, handover
from .in_force import Certificates, by_risk, cuts_of, held_for, risk_of
from .naming import Naming
from .pairing import Pair, both, is_selected, pairs
from .raw_thresholds import Spread, spread
from .reading import Reader, Seen
from .truths import Strange
from .verdict import Verdict, verdict

T = TypeVar("T")

CURRENT = "current"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is compared.

    Attributes:
        point: The decision point's name.
        a: Who decides today.
        b: Who might; None: whoever answered most decisions beside A.
        alpha: The error rate that is allowed among what B decides; None: for each answer the
            one that its certificate is used for, else 5 %.
        effect: Least difference of right decisions that matters, as a share.
        thresholds: The certificates in force.
        experiment: Id of the split; None: the one seen last.
        shares: Arm → planned share; empty: as recorded.
        set: The same as it is set now, for where nothing is recorded.
        running: Id of the split that is set now; None for none.
        declared: The point's declaration, where it is known: its scales and its advice.

    """

    point: str
    a: str = CURRENT
    b: str | None = None
    alpha: float | None = None
    effect: float = EFFECT
    thresholds: Thresholds = Thresholds()
    experiment: str | None = None
    shares: Mapping[str, float] = {}
    set: Mapping[str, float] = {}
    running: str | None = None
    declared: DecisionPoint | None = None


class Asked(msgspec.Struct, frozen=True):
    """One wording of a question, by digests of words and options, and how often it was asked."""

    question: str
    template: str
    options: str
    language: str
    decisions: int


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """
    A and B at one decision point.

    Attributes:
        point: Its name.
        a: Who decides today.
        b: Who might; empty if nobody else ever answered.
        since: Of the first decision, in seconds since the epoch; None without any.
        until: Of the last.
        decisions: All that were read.
        labelled: Those with feedback that says anything.
        strange: Labels that name nothing that could have been answered, by question.
        beside: Decisions that A and B answered independently of each other.
        after: Decisions that one answered only because the other was not believed: the harder
            ones, which stand for no others and are counted in `rescues` alone.
        others: Other deciders → decisions they answered.
        asked: Wordings that B was asked in; several of one question and language are a warning.
        agreements: By question.
        judgements: By question, where labels are.
        experiments: Splits that decisions were assigned by → decisions; empty for none.
        alpha: The error rate that is allowed among what is decided; where the certificates in
            force are used for several, that of most of B's answers.
        guarded: Each decider at its own certified threshold, by question; B's also by error rate.
        together: Decisions that B would decide where several questions are asked; None for one.
        spreads: Each over all thresholds, by question.
        handovers: B in front of A, by question.
        efforts: What asking each takes.
        assigned: Decisions by whom they were assigned to.
        rescues: What the fallback fixed and broke, by question.
        split: The arms of a split; None without one.
        verdict: What to do.

    """

    point: str
    a: str
    b: str
    since: float | None
    until: float | None
    decisions: int
    labelled: int
    strange: tuple[Strange, ...]
    beside: int
    after: int
    others: Mapping[str, int]
    asked: tuple[Asked, ...]
    experiments: Mapping[str, int]
    agreements: tuple[Agreement, ...]
    judgements: tuple[Judged, ...]
    alpha: float
    guarded: tuple[Guarded, ...]
    together: Together | None
    spreads: tuple[Spread, ...]
    handovers: tuple[Handover, ...]
    efforts: tuple[Effort, ...]
    assigned: tuple[Assigned, ...]
    rescues: tuple[Rescue, ...]
    split: Split | None
    verdict: Verdict


def compare(trails: Iterable[Trail], wanted: Wanted) -> Report:
    """
    Hold two deciders against each other.

    Trails are read once and kept small: about three kilobytes of memory each.
    """
    naming = Naming(wanted.declared)
    reader = Reader(naming)
    seen = reader.read(one for one in trails if one.decision.record.point == wanted.point)
    a, b = wanted.a, wanted.b or _busiest(seen, wanted.a)
    shared = [one for one in seen if both(one, a, b)] if b else []
    after = [one for one in shared if is_selected(one, a, b)]
    beside = [one for one in shared if not is_selected(one, a, b)]
    rows, answers = _by_question(pairs(beside, a, b)), _answers(seen, (a, b), naming)
    of_a, of_b = _held(wanted, a), _held(wanted, b)
    alpha = wanted.alpha or risk_of(chain.from_iterable(answers), of_b)
    cuts = cuts_of(of_b, wanted.alpha)
    mine = [part for part in answers if part[0].key.provider == b]
    held = [guarded(part, of_a, alpha) for part in answers if part[0].key.provider == a]
    held += _guarded(mine, of_b, wanted.alpha, alpha)
    spreads = tuple(spread(part, alpha) for part in answers)
    evidence = Evidence(
        point=wanted.point,
        a=a,
        b=b,
        alpha=alpha,
        effect=wanted.effect,
        judged=_kept(judged(name, part, wanted.effect) for name, part in rows.items()),
        guarded=[one for one in held if one.provider == b],
        spreads=[one for one in spreads if one.provider == b],
        handovers=_kept(handover(name, part, cuts, wanted.effect) for name, part in rows.items()),
        split=split(seen, _plan(wanted, b)),
        running=wanted.running,
        strange=reader.strange,
    )
    return Report(
        point=wanted.point,
        a=a,
        b=b,
        since=min((one.at for one in seen), default=None),
        until=max((one.at for one in seen), default=None),
        decisions=len(seen),
        labelled=sum(bool(one.truths) or one.right is not None for one in seen),
        strange=tuple(evidence.strange),
        beside=len(beside),
        after=len(after),
        others=_others(seen, (a, b)),
        asked=_wordings(seen, b),
        experiments=_experiments(seen),
        agreements=tuple(agreement(question, part) for question, part in rows.items()),
        judgements=tuple(evidence.judged),
        alpha=alpha,
        guarded=tuple(held),
        together=together(mine, cuts),
        spreads=spreads,
        handovers=tuple(evidence.handovers),
        efforts=tuple(effort(seen, one) for one in (a, b) if one),
        assigned=_assigned(seen),
        rescues=_rescues(after, a, b),
        split=evidence.split,
        verdict=verdict(evidence),
    )


def _held(wanted: Wanted, provider: str) -> Certificates:
    file = wanted.thresholds.certificates
    return held_for((one for one in file if one.key.point == wanted.point), provider)


def _guarded(
    parts: Sequence[Sequence[Given]], of_b: Certificates, asked: float | None, usual: float
) -> list[Guarded]:
    """Hold each question, and each error rate that its certificates are used for, by itself."""
    if asked is not None:
        return [guarded(part, of_b, asked) for part in parts]
    return [
        guarded(rows, of_b, alpha)
        for part in parts
        for alpha, rows in sorted(by_risk(part, of_b, usual).items())
    ]


def _kept(found: Iterable[T | None]) -> tuple[T, ...]:
    return tuple(one for one in found if one is not None)


def _plan(wanted: Wanted, b: str) -> Plan:
    return Plan(
        a=wanted.a,
        b=b,
        experiment=wanted.experiment,
        shares=wanted.shares,
        set=wanted.set,
        effect=wanted.effect,
    )


def _busiest(seen: Sequence[Seen], a: str) -> str:
    """Name whoever answered most decisions beside *a*, else most at all; the first by name."""
    beside, at_all = Counter[str](), Counter[str]()
    for one in seen:
        others = [name for name in one.said if name != a]
        at_all.update(others)
        beside.update(name for name in others if both(one, a, name))
    ranked = sorted(at_all, key=lambda name: (-beside[name], -at_all[name], name))
    return ranked[0] if ranked else ""


def _by_question(rows: Iterable[Pair]) -> dict[str, list[Pair]]:
    found: defaultdict[str, list[Pair]] = defaultdict(list)
    for one in rows:
        found[one.question].append(one)
    return dict(found)


def _answers(seen: Sequence[Seen], who: Sequence[str], naming: Naming) -> list[list[Given]]:
    return [part for one in who for part in given(seen, one, naming).values()]


def _others(seen: Sequence[Seen], but: Sequence[str]) -> Mapping[str, int]:
    counted = Counter(name for one in seen for name in one.said if name not in but)
    return dict(counted.most_common())


def _wordings(seen: Sequence[Seen], b: str) -> tuple[Asked, ...]:
    counted = Counter(
        (key.question, key.template, key.options, said.language)
        for one in seen
        if (said := one.said.get(b)) is not None
        for key in set(said.asked.values())
    )
    return tuple(Asked(*wording, count) for wording, count in counted.most_common())


def _assigned(seen: Sequence[Seen]) -> tuple[Assigned, ...]:
    """Sum up by whom decisions were assigned to; rows of a replayed file were to nobody."""
    variants = Counter(one.variant for one in seen if one.variant)
    return _kept(assigned(seen, variant) for variant, _ in variants.most_common())


def _experiments(seen: Sequence[Seen]) -> Mapping[str, int]:
    counted = Counter(one.exposure.experiment for one in seen if one.exposure is not None)
    return dict(counted.most_common())


def _rescues(after: Sequence[Seen], a: str, b: str) -> tuple[Rescue, ...]:
    """Take the decisions that B was asked to make and A made."""
    rescued = [one for one in after if one.variant == b and one.provider == a]
    rows = _by_question(pairs(rescued, a, b))
    return tuple(rescue(question, part) for question, part in rows.items())
