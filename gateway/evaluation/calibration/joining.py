"""
Several questions of one ask: what is promised of each, and how they did together.

A decision is believed where every answer clears its own threshold. What was certified is the error
rate of each question among the answers that clear *its own*. Among the decisions that clear
them all it may be higher, and a decision is wrong as soon as one of its answers is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from ...certificates import Certificate, Key
from ...gates import Scale
from ..statistics.numerics import exact_upper
from .findings import Calibration
from .samples import Sample, by_key
from .slices import decides
from .thinning import one_each


class Joint(msgspec.Struct, frozen=True, kw_only=True):
    """
    Decisions over all certified questions of one ask.

    Attributes:
        point: The decision point.
        provider: Whose answers.
        model: The model as served.
        language: What was asked in.
        questions: Those that are certified.
        rows: Decisions of which every answer is labelled and certified; at most one of each
            subject.
        decided: Those of which every answer clears its own threshold.
        errors: Those of them with a wrong answer.
        bound: Exact upper bound of their share, as if the thresholds had not been chosen on
            these very rows: a description, no promise.
        promised: Sum of the error rates of a decision's questions: of *all* decisions at most
            that share is decided with a wrong answer in it (union bound).
        delta: Sum of the chances that a question's promise is broken.

    """

    point: str
    provider: str
    model: str
    language: str
    questions: tuple[str, ...]
    rows: int
    decided: int
    errors: int
    bound: float
    promised: float
    delta: float


Asked: TypeAlias = tuple[str, str, str, str, str]
"""Point, language, form, provider and model: what questions of one ask have in common."""


def joined(
    samples: Sequence[Sample], calibrations: Sequence[Calibration], scale: Scale
) -> tuple[Joint, ...]:
    """Count decisions of several questions; nothing where each ask has only one."""
    parts: defaultdict[Asked, dict[Key, Certificate]] = defaultdict(dict)
    for one in calibrations:
        if one.certified:
            parts[_asked(one.key)][one.key] = one.certificate
    groups: defaultdict[Asked, dict[str, list[tuple[Key, Sample]]]] = defaultdict(dict)
    for key, group in by_key(samples, scale).items():
        for sample in group:
            groups[_asked(key)].setdefault(sample.id, []).append((key, sample))
    found = [_joint(asked, groups[asked], held) for asked, held in parts.items()]
    return tuple(one for one in found if one is not None)


def _asked(key: Key) -> Asked:
    return key.point, key.language, key.form, key.provider, key.model


Answers: TypeAlias = Sequence[tuple[Key, Sample]]


def _joint(
    asked: Asked, decisions: Mapping[str, Answers], held: Mapping[Key, Certificate]
) -> Joint | None:
    seed, delta = next((one.seed, one.delta) for one in held.values())
    known = [
        answers
        for answers in decisions.values()
        if all(key in held and sample.labelled for key, sample in answers)
    ]
    if max(map(len, known), default=0) < 2:  # noqa: PLR2004 - what several are
        return None
    kept = {one.id for one in one_each([answers[0][1] for answers in known], seed)[0]}
    known = [answers for answers in known if answers[0][1].id in kept]
    believes = {key: _believes(one) for key, one in held.items()}
    decided = [each for each in known if all(believes[key](one) for key, one in each)]
    errors = sum(not all(sample.right for _, sample in answers) for answers in decided)
    return Joint(
        point=asked[0],
        language=asked[1],
        provider=asked[3],
        model=asked[4],
        questions=tuple(sorted({key.question for key in held})),
        rows=len(known),
        decided=len(decided),
        errors=errors,
        bound=exact_upper(errors, len(decided), delta) if decided else 1.0,
        promised=sum(held[key].risk for each in known for key, _ in each) / len(known),
        delta=sum(one.delta for one in held.values()),
    )


def _believes(certificate: Certificate) -> Callable[[Sample], bool]:
    level, scale = certificate.used, certificate.key.scale
    assert level is not None
    clears = decides(level, two_sided=certificate.two_sided)

    def believed(one: Sample) -> bool:
        confidence = one.confidence(scale)
        return one.answered and confidence is not None and clears(one, confidence)

    return believed
