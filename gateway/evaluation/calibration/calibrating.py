"""
From samples to certificates: one calibration for each question, option set, model and language.

Nothing is applied by itself: what comes out is a file that a person reads and puts into force.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from ...certificates import AtRisk, Certificate, Key, Recalibrator, Thresholds
from ...errors import SetupError
from ...gates import Scale
from .columns import Rows, data, rows_of
from .describing import FEWEST, counts, gap, quality, scores, selection
from .descriptions import Remap, Share
from .findings import Calibration, Economy, Kind, Refused, Settings, Slices
from .levels import levels, minima, sides
from .pricing import economy, narrowed
from .remapping import remap
from .samples import Sample, by_key
from .selecting import withheld
from .slices import Row, decides, sliced
from .stability import stability

Result: TypeAlias = Calibration | Refused


class Asked(msgspec.Struct, frozen=True):
    """
    What was measured by asking rows anew, and which fields rows are told apart by.

    Attributes:
        repeated: Key → rows whose answers differ when asked again.
        shuffled: Key → rows whose answer differs with the options in another order.
        fields: Names of slices.

    """

    repeated: Mapping[Key, Share] = {}
    shuffled: Mapping[Key, Share] = {}
    fields: tuple[str, ...] = ()


def calibrate(
    samples: Sequence[Sample], settings: Settings, asked: Asked | None = None
) -> tuple[Result, ...]:
    """
    Calibrate each key that *samples* hold, apart from all others.

    Raises:
        SetupError: No answer has the number that is to be compared.

    """
    measured = asked or Asked()
    need_numbers(samples, settings.scale)
    groups = by_key(samples, settings.scale)
    return tuple(_result(key, group, settings, measured) for key, group in groups.items())


def need_numbers(samples: Sequence[Sample], scale: Scale) -> None:
    """
    Make sure that there is a confidence to put a threshold on.

    Raises:
        SetupError: No answer has one of this *scale*.

    """
    answered = [one for one in samples if one.answered]
    if not answered or any(one.confidence(scale) is not None for one in answered):
        return
    if scale == "probability":
        problem = "no answer has a distribution, so none has a probability"
        fix = "Calibrate the provider's own number with --scale reported"
    else:
        problem = "no answer has a confidence of the provider's own"
        fix = "Calibrate the probability of the answer with --scale probability"
    raise SetupError.of(f"--scale {scale}", problem, fix)


def _result(key: Key, group: Sequence[Sample], settings: Settings, asked: Asked) -> Result:
    rows = rows_of(group, settings.scale, settings.seed)
    judged = len(rows.judged)
    if judged >= FEWEST:
        return _calibrated(key, rows, settings, asked)
    apart = " of different subjects or texts" if rows.aside else ""
    why = f"{judged} labelled answers{apart}; below {FEWEST} nothing can be said"
    return Refused(key=key, rows=len(group), judged=judged, why=why, needed=FEWEST - judged)


def _calibrated(key: Key, rows: Rows, settings: Settings, asked: Asked) -> Calibration:
    mapped, chances = remap(rows, settings.seed)
    cuts = sides(rows, settings)
    certified, selection_ = withheld(rows, levels(rows, cuts, settings), settings)
    level = next(one for one in certified if one.alpha == settings.risk)
    cost = economy(rows, chances, level, settings)
    used = level if cost is None else narrowed(level, cost.optimal, rows, settings)
    return Calibration(
        key=key,
        kind=_kind(rows),
        labels=settings.labels,
        counts=counts(rows),
        quality=quality(rows),
        scores=scores(rows),
        gap=gap(rows, settings.seed),
        remap=mapped,
        selective=selection(rows),
        levels=certified,
        minima=minima(rows, settings) if rows.predicate and settings.two_sided else (),
        sides=cuts,
        economy=cost,
        slices=_slices(rows, used, settings, asked.fields),
        stability=stability(rows, settings, asked.repeated.get(key), asked.shuffled.get(key)),
        certificate=msgspec.structs.replace(
            _certificate(key, rows, (certified, used, cost, mapped), settings),
            selection=selection_,
        ),
    )


def _kind(rows: Rows) -> Kind:
    if rows.predicate:
        return "predicate"
    return "score" if rows.score else "choice"


def _slices(rows: Rows, used: AtRisk, settings: Settings, fields: Sequence[str]) -> Slices:
    decided = decides(used, two_sided=rows.predicate and settings.two_sided)
    listed = [
        Row(one, confidence, decided(one, confidence))
        for one, confidence in zip(rows.judged, rows.confidences, strict=True)
    ]
    return sliced(listed, settings.risk, settings.delta, fields)


Found: TypeAlias = tuple[Sequence[AtRisk], AtRisk, Economy | None, Remap]


def _certificate(key: Key, rows: Rows, found: Found, settings: Settings) -> Certificate:
    certified, used, cost, mapped = found
    sided = rows.predicate and settings.two_sided
    method = "two-sided, exact order statistics" if sided else "learn-then-test, four starts"
    costly = cost is not None and cost.stricter
    return Certificate(
        key=key,
        risk=settings.risk,
        levels=tuple(used if one.alpha == settings.risk else one for one in certified),
        delta=settings.delta,
        method=f"{method}; the stricter of it and the costs" if costly else method,
        labels=settings.labels,
        rows=len(rows.judged),
        seed=settings.seed,
        data=data(rows),
        date=settings.date,
        two_sided=sided,
        recalibrator=Recalibrator(mapped.kind, mapped.parameters) if mapped.kept else None,
        aside=len(rows.aside),
        doubtful=sum(one.doubtful for one in rows.judged),
        strange=sum(bool(one.strange) and not one.labelled for one in rows.all),
    )


def merged(before: Thresholds, results: Sequence[Result], *, replace: bool = False) -> Thresholds:
    """
    Put what was calibrated in the place of certificates with the same keys; others stay.

    Raises:
        SetupError: As `Thresholds.with_`.

    """
    made = [one.certificate for one in results if isinstance(one, Calibration)]
    return before.with_({one.key: one for one in made}, replace=replace)
