"""
Certified thresholds: written by `calibrate`, held here against what a decision really is.

A certificate belongs to one question in one form, asked of one provider whose served model is
known. Where any part of that differs it says nothing, and the next rule decides.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from .errors import SetupError
from .gates import Scale

VARIABLE = "DECISION_THRESHOLDS"
FORMAT = 1
FIX = "Write it anew with `pointsman calibrate`, or unset the variable"


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a certificate holds for; every part must be equal.

    Attributes:
        point: The decision point.
        question: The question's name.
        template: Digest of its words.
        options: Digest of its options, or template and size of an open catalogue.
        language: What it is asked in.
        form: `single`, or `shared:<digest of the question set>`.
        scale: Which number is compared.
        provider: Who is asked.
        model: The model as served.

    """

    point: str
    question: str
    template: str
    options: str
    language: str
    form: str
    scale: Scale
    provider: str
    model: str


class AtRisk(msgspec.Struct, frozen=True, kw_only=True):
    """
    What was certified for one error rate.

    Attributes:
        alpha: The error rate that is promised not to be exceeded.
        minimum: Least confidence; None if no threshold could be certified. For a predicate
            both sides together.
        accepted: Rows at or above it.
        errors: Wrong ones among them.
        bound: Exact upper bound of the error rate among the accepted.
        coverage: Share of all rows that is accepted.
        no_below: For a predicate: *false* is believed below this probability of *true*.
        yes_from: For a predicate: *true* is believed from this probability on.
        why: Why nothing was certified; empty if something was.
        needed: About how many more labels could change that; None if none would.

    """

    alpha: float
    minimum: float | None = None
    accepted: int = 0
    errors: int = 0
    bound: float = 1.0
    coverage: float = 0.0
    no_below: float | None = None
    yes_from: float | None = None
    why: str = ""
    needed: int | None = None


class Recalibrator(msgspec.Struct, frozen=True):
    """
    A map from raw to calibrated probability; thresholds never use it.

    Attributes:
        kind: `temperature`, `platt`, `beta` or `isotonic`.
        parameters: Of the formula, by position.

    """

    kind: str
    parameters: tuple[float, ...]


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """
    What is known of one question, and which threshold follows.

    Attributes:
        key: What it holds for.
        risk: The one of `levels` that is to be used, by its alpha.
        levels: Every error rate that was tried.
        delta: Chance that a promise is broken.
        method: How it was certified.
        labels: `gold`, or `agreement` with what the host runs today, which is no accuracy.
        rows: Labelled rows.
        seed: Of everything drawn by lot.
        data: Digest of the labelled rows.
        date: ISO day on which it was computed.
        two_sided: The cut-points of a predicate are used, not its minimum.
        recalibrator: A map that made the probabilities better, if one did.

    """

    key: Key
    risk: float
    levels: tuple[AtRisk, ...]
    delta: float
    method: str
    labels: Literal["gold", "agreement"]
    rows: int
    seed: int
    data: str
    date: str
    two_sided: bool = False
    recalibrator: Recalibrator | None = None

    @property
    def used(self) -> AtRisk | None:
        """What was certified for the error rate that is to be used."""
        return next((one for one in self.levels if one.alpha == self.risk), None)


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """
    A file of certificates.

    Attributes:
        certificates: One for each key.
        format: Version of this layout.

    """

    certificates: tuple[Certificate, ...] = ()
    format: int = FORMAT

    def with_(self, certificates: Mapping[Key, Certificate]) -> Thresholds:
        """Give the same file with *certificates* in the place of those with their keys."""
        kept = [one for one in self.certificates if one.key not in certificates]
        ordered = sorted(
            [*kept, *certificates.values()], key=lambda one: msgspec.structs.astuple(one.key)
        )
        return msgspec.structs.replace(self, certificates=tuple(ordered))


def read(path: str | os.PathLike[str]) -> Thresholds:
    """
    Read a file of certificates.

    Raises:
        SetupError: It is missing, no JSON, or of another layout.

    """
    try:
        thresholds = msgspec.json.decode(Path(path).read_bytes(), type=Thresholds)
    except OSError as error:
        raise SetupError.of(VARIABLE, f"the file cannot be read ({error.strerror})", FIX) from None
    except msgspec.MsgspecError as error:
        raise SetupError.of(VARIABLE, f"the file holds no certificates ({error})", FIX) from None
    if thresholds.format != FORMAT:
        problem = f"the file has format {thresholds.format}; this version reads {FORMAT}"
        raise SetupError.of(VARIABLE, problem, FIX)
    return thresholds


def written(thresholds: Thresholds) -> bytes:
    """Write *thresholds* as JSON for people and for `read`."""
    return (
        msgspec.json.format(msgspec.json.encode(thresholds, order="deterministic"), indent=2)
        + b"\n"
    )
