"""
Certified thresholds: written by `calibrate`, held here against what a decision really is.

A certificate belongs to one question in one form, asked of one provider whose served model is
known. Where any part of that differs it says nothing, and the next rule decides.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from .errors import Fault, SetupError
from .gates import Scale

VARIABLE = "DECISION_THRESHOLDS"
FORMAT = 1
FIX = "Correct it, or unset the variable"
OTHER = "Correct it, or name another file"

Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Rate: TypeAlias = Annotated[float, Meta(gt=0, lt=1)]
Low: TypeAlias = Annotated[float, Meta(ge=0, le=0.5)]
High: TypeAlias = Annotated[float, Meta(ge=0.5, le=1)]


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a certificate holds for; every part must be equal.

    Its scale is the one that the certificate brings along: of two that differ in nothing else
    only one can be in force, so a file has but one of them.

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

    @property
    def unscaled(self) -> Key:
        """The same for every scale, to tell certificates apart that can be in force together."""
        return msgspec.structs.replace(self, scale="reported")


class Beyond(msgspec.Struct, frozen=True, kw_only=True):
    """
    What one of a predicate's two cut-points does.

    Attributes:
        errors: Rows of the other truth that are answered so.
        of: Rows of the other truth.
        bound: Exact upper bound of their share.
        coverage: Share of all rows that is answered so.

    """

    errors: int
    of: int
    bound: Share
    coverage: Share


class AtRisk(msgspec.Struct, frozen=True, kw_only=True):
    """
    What was certified for one error rate.

    Attributes:
        alpha: The error rate that is promised not to be exceeded.
        minimum: Least confidence; None if no threshold could be certified, or if two cut-points
            take its place.
        accepted: Rows that are decided.
        errors: Wrong ones among them.
        bound: Exact upper bound of what is promised: of the error rate among the accepted; with
            two cut-points the greater of theirs.
        coverage: Share of all rows that is accepted.
        no_below: For a predicate: *false* is believed below this probability of *true*; at most
            0.5.
        yes_from: For a predicate: *true* is believed from this probability on; at least 0.5.
        no: What the former does; None where it is not used.
        yes: What the latter does.
        why: Why nothing was certified; empty if something was.
        needed: About how many more labels could change that; None if none would.

    """

    alpha: Rate
    minimum: Share | None = None
    accepted: int = 0
    errors: int = 0
    bound: Share = 1.0
    coverage: Share = 0.0
    no_below: Low | None = None
    yes_from: High | None = None
    no: Beyond | None = None
    yes: Beyond | None = None
    why: str = ""
    needed: int | None = None


class Recalibrator(msgspec.Struct, frozen=True):
    """
    A map from raw to calibrated probability; thresholds never use it.

    Attributes:
        kind: `temperature` (each probability to the power 1/T, and these divided by their sum),
            `platt`, `beta` or `isotonic`.
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
        rows: Answers that are known to be right or wrong, at most one of each subject.
        aside: Labelled rows that were set aside: others of the same subject, or with the same
            text.
        doubtful: Rows among `rows` that count as wrong because nobody knows: what was decided
            was wrong, and this answer is another one.
        strange: Labelled rows that were left out: their labels name nothing that can be answered.
        selection: How rows were chosen for labels, where that may have hidden errors.
        replaced: Which certificate it took the place of against the rule, if it did.
        seed: Of everything drawn by lot.
        data: Digest of the labelled rows.
        date: ISO day on which it was computed.
        two_sided: The cut-points of a predicate are used, not its minimum.
        recalibrator: A map that made the probabilities better, if one did.

    """

    key: Key
    risk: Rate
    levels: tuple[AtRisk, ...]
    delta: Rate
    method: str
    labels: Literal["gold", "agreement"]
    rows: int
    seed: int
    data: str
    date: str
    two_sided: bool = False
    recalibrator: Recalibrator | None = None
    aside: int = 0
    doubtful: int = 0
    strange: int = 0
    selection: str = ""
    replaced: str = ""

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

    def with_(
        self, certificates: Mapping[Key, Certificate], *, replace: bool = False
    ) -> Thresholds:
        """
        Give the same file with *certificates* in the place of those with their keys.

        One on another scale is replaced too. Agreement takes the place of gold only where the
        caller says so, and then bears that.

        Raises:
            SetupError: A certificate by agreement would replace one by gold.

        """
        before = {one.key.unscaled: one for one in self.certificates}
        made = {key.unscaled: one for key, one in certificates.items()}
        lesser = [one for key, one in made.items() if _lesser(one, before.get(key))]
        if lesser and not replace:
            raise SetupError(*(_worth_more(before[one.key.unscaled]) for one in lesser))
        for one in lesser:
            key = one.key.unscaled
            made[key] = msgspec.structs.replace(one, replaced=f"gold of {before[key].date}")
        ordered = sorted(
            {**before, **made}.values(), key=lambda one: msgspec.structs.astuple(one.key)
        )
        return msgspec.structs.replace(self, certificates=tuple(ordered))


def _lesser(one: Certificate, before: Certificate | None) -> bool:
    return before is not None and before.labels == "gold" and one.labels == "agreement"


def _worth_more(gold: Certificate) -> Fault:
    where = f"{gold.key.point} {gold.key.question}"
    problem = f"the file has a certificate by gold of {gold.date}, and agreement is no truth"
    fix = "Nothing was written. Name another file with --out, or give --replace"
    return Fault(where, problem, fix)


def read(path: str | os.PathLike[str], where: str = VARIABLE) -> Thresholds:
    """
    Read a file of certificates.

    Args:
        path: Of the file.
        where: The variable or option that named it.

    Raises:
        SetupError: It is missing, no JSON, of another layout, or holds a number out of its range,
            an error rate that was not tried, or two certificates of which only one can be in
            force.

    """
    try:
        text = Path(path).read_bytes()
        parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        thresholds = msgspec.json.decode(text, type=Thresholds)
        foreign = parts and "certificates" not in parts  # an empty file is one to be filled
        lacking = ["the file has no list of certificates"] if foreign else []
        problem = "; ".join([*lacking, *_problems(thresholds)])
        if not problem:
            return thresholds
    except OSError as error:
        problem = f"the file cannot be read ({error.strerror})"
    except msgspec.MsgspecError as error:
        problem = f"the file holds no certificates ({error})"
    fix = FIX if where == VARIABLE else OTHER
    raise SetupError.of(where, f"{_named(Path(path))}: {problem}", fix)


def _named(path: Path) -> str:
    """Name a file as it was given, though not where it lies on this machine."""
    return path.name if path.is_absolute() else str(path)


def _problems(thresholds: Thresholds) -> list[str]:
    """Say what is wrong beyond the layout, so that it is not clear what is in force."""
    if thresholds.format != FORMAT:
        return [f"the file has format {thresholds.format}; this version reads {FORMAT}"]
    seen: dict[Key, Certificate] = {}
    problems: list[str] = []
    for one in thresholds.certificates:
        which = f"{one.key.point} {one.key.question} by {one.key.provider} ({one.key.model})"
        if one.used is None:
            problems.append(f"risk {one.risk:g} of {which} is none of its levels")
        other = seen.setdefault(one.key.unscaled, one)
        if other is not one:
            both = f"{other.key.scale} of {other.date} and {one.key.scale} of {one.date}"
            problems.append(f"two certificates for {which}: {both}; take one of them out")
    return problems


def written(thresholds: Thresholds) -> bytes:
    """Write *thresholds* as JSON for people and for `read`."""
    return (
        msgspec.json.format(msgspec.json.encode(thresholds, order="deterministic"), indent=2)
        + b"\n"
    )
