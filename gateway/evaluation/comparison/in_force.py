"""The certificates of one decider: which of them count for its answers, and at what error rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from ...answers import Answer
from ...certificates import AtRisk, Certificate, Key
from ...gates import Cut
from ...register import cut_of
from ..calibration.labelling import TRUE
from .answering import Given

ALPHA = 0.05  # where nothing is certified, and nobody says otherwise

Cuts: TypeAlias = Mapping[Key, Cut | None]
Certificates: TypeAlias = Mapping[Key, Certificate]
"""Key, with the scale `reported`, → the certificate that counts for it."""


def held_for(certificates: Iterable[Certificate], provider: str) -> Certificates:
    """
    Give key → the certificate of *provider* that counts; a key without its scale.

    A certificate brings its own scale; of two that differ in nothing else the first counts.
    """
    found: dict[Key, Certificate] = {}
    for one in certificates:
        if one.key.provider == provider:
            found.setdefault(one.key.unscaled, one)
    return found


def risk_of(rows: Iterable[Given], file: Certificates, otherwise: float = ALPHA) -> float:
    """Give the error rate that most of *rows* are certified for; the strictest of equals."""
    risks = Counter(held.risk for one in rows if (held := file.get(one.key)) is not None)
    if risks:
        return min(risks, key=lambda risk: (-risks[risk], risk))
    return min((one.risk for one in file.values()), default=otherwise)


def by_risk(
    rows: Sequence[Given], file: Certificates, otherwise: float
) -> dict[float, list[Given]]:
    """
    Part the rows of one question by the error rate that their certificate is used for.

    Rows without one, as those without a valid answer, go with most others of the question.
    """
    question = rows[0].key.question
    mine = {key: one for key, one in file.items() if key.question == question}
    usual, found = risk_of(rows, mine, otherwise), dict[float, list[Given]]()
    for one in rows:
        held = mine.get(one.key)
        found.setdefault(usual if held is None else held.risk, []).append(one)
    return found


def matching(rows: Sequence[Given], file: Certificates) -> Certificates:
    """Keep what these rows were asked under; where nothing matches, all of the question."""
    asked, question = {one.key for one in rows}, rows[0].key.question
    mine = {key: one for key, one in file.items() if key.question == question}
    return {key: one for key, one in mine.items() if key in asked} or mine


def labels_of(mine: Certificates, cuts: Cuts) -> str:
    """Say what was certified against: where any of it was agreement, all of it counts as that."""
    used = [one.labels for key, one in mine.items() if cuts[key]]
    named = used or [one.labels for one in mine.values()]
    return "agreement" if "agreement" in named else "gold" if named else ""


def cuts_of(file: Certificates, alpha: float | None) -> Cuts:
    """Give key → threshold for *alpha*; None: each for the error rate that it is used for."""
    return {key: cut_of(one, one.risk if alpha is None else alpha) for key, one in file.items()}


def level(certificate: Certificate, alpha: float) -> AtRisk | None:
    """Give what was certified for *alpha*; None where that was not tried."""
    return next((one for one in certificate.levels if one.alpha == alpha), None)


def passes(one: Given, cuts: Cuts) -> bool:
    """Whether an answer would be decided: it is valid, and clears what was certified for it."""
    cut = cuts.get(one.key)
    if cut is None or one.name is None:
        return False
    return cut.clears(Answer(value=one.name == TRUE, confidence=one.number(cut.scale)))
