"""One decision, whole: what was asked, every attempt, what stood beside it, what came after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec
from rich.text import Text

from ...errors import Reason
from .. import screen
from .times import clock

if TYPE_CHECKING:
    from ...answers import Answer, Usage
    from ...journal.rows import DecisionRow, FeedbackRow, ShadowRow, Trail
    from ...records import Attempt, Record

Pairs: TypeAlias = "Iterator[tuple[str, str | Text]]"

LIKELIEST = 3  # outcomes of a distribution that are shown


def shown(trail: Trail) -> None:
    """Print a trail; it reads well at 80 columns."""
    row = trail.decision
    record = row.record
    screen.line((record.point, "bold"), "  ", (said(record.outcome), _style(record)))
    screen.pairs(_about(row))
    for number, attempt in enumerate(record.attempts, 1):
        _headed(f"Attempt {number}", attempt.provider, attempt.model)
        screen.pairs(_attempted(attempt))
    for one in trail.shadows:
        _headed("Beside it, never acted on", one.shadow.provider, one.shadow.attempt.model)
        screen.pairs(_beside(one))
    for later in trail.feedback:
        _headed("Found out later", clock(later.at))
        screen.pairs(_found(later))
    if row.kept.state is not None:
        _headed("State", "JSON" if row.kept.structured else "words")
        screen.pairs([("", printable(row.kept.state))])


def said(outcome: object) -> str:
    """Write an outcome: words as they are, all else as JSON; a dash where it says no more."""
    if outcome is None:
        return "–"
    if isinstance(outcome, str):
        return printable(outcome)
    if isinstance(outcome, Mapping):
        each = cast("Mapping[str, object]", outcome)
        return ", ".join(f"{printable(name)} {said(one)}" for name, one in each.items())
    return msgspec.json.encode(outcome).decode()


def printable(text: str) -> str:
    """Leave out what would steer a terminal."""
    return "".join(one if one.isprintable() or one == "\n" else "\ufffd" for one in text)


def replayed(record: Record) -> bool:
    """Whether it is a row of a replayed file, about which nobody was asked to decide."""
    return not record.variant and not record.provider and not record.undecided


def who(record: Record) -> str:
    """Name who decided."""
    if replayed(record):
        return "replayed row"
    if record.undecided:
        return "nobody"
    return record.provider or "nobody"


def _style(record: Record) -> str:
    if replayed(record):
        return screen.FAINT
    if record.undecided or not record.provider:
        return screen.BAD
    return screen.OTHER if record.fallback else screen.GOOD


def _headed(title: str, *more: str) -> None:
    screen.line()
    parts = [(f"  {printable(one)}", "") for one in more if one]
    screen.line((title, screen.FAINT), *parts)


def _about(row: DecisionRow) -> Pairs:
    record = row.record
    yield "id", record.id
    yield "time", f"{clock(record.at)} UTC, after {screen.duration(record.seconds)}"
    yield "decided by", _by(record)
    yield "assigned", _assigned(record)
    yield "cost", _cost(record)
    yield "language", row.language or "–"
    for name, key in row.keys.items():
        options = f", options {key.options}" if key.options else ""
        yield "question", f"{printable(name)}  words {key.template}{options}"
    if row.kept.subject is not None:
        yield "subject", f"{row.kept.subject} (hash)"
    if row.kept.digest is not None:
        yield "state", f"{row.kept.digest} (hash)"


def _by(record: Record) -> Text:
    if record.undecided:
        return Text("nobody: the point's safe outcome stands", screen.BAD)
    if replayed(record):
        return Text("nobody: it is a row of a replayed file", screen.FAINT)
    if not record.provider:
        return Text("nobody: no answer, and no fallback", screen.BAD)
    sure = f", confidence {record.confidence:.3f}" if record.confidence else ""
    because = f", since {record.variant} ended in {record.reason}" if record.fallback else ""
    return Text(f"{record.provider}{sure}{because}", _style(record))


def _assigned(record: Record) -> str:
    if replayed(record):
        return "–"
    if record.exposure is None:
        return f"{record.variant}, by the plan"
    one = record.exposure
    how = f"bucket {one.bucket:,}" if one.sticky and one.bucket is not None else "drawn by lot"
    return f"{record.variant}, by experiment {printable(one.experiment)}, {how}"


def _cost(record: Record) -> str:
    used = [one.usage for one in record.attempts if one.usage is not None]
    unknown = any(one.cost_usd is None for one in used)
    return f"{screen.cost(record.cost_usd)}{', in part unknown' if unknown else ''}"


def _attempted(attempt: Attempt) -> Pairs:
    good = attempt.reason == Reason.OK
    flags = [name for name in ("late", "cached") if getattr(attempt, name)]
    form = [] if attempt.form == "single" else [attempt.form]
    ended = ", ".join([str(attempt.reason), *flags, *form])
    yield "ended", Text(ended, screen.GOOD if good else screen.OTHER)
    if attempt.minimum is not None:
        yield "confidence", f"{attempt.confidence:.3f}, believed from {attempt.minimum:.3f}"
    yield "took", screen.duration(attempt.seconds)
    if attempt.usage is not None:
        yield "used", _used(attempt.usage)
    if attempt.request_id:
        yield "request", printable(attempt.request_id)
    for name, answer in attempt.answers.items():
        yield printable(name), _answer(answer)
    for name, number in (attempt.notes or {}).items():
        yield printable(name), f"{number:g}"


def _used(usage: Usage) -> str:
    tokens = f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens"
    if usage.cost_usd is None:
        return f"{tokens}, cost unknown"
    return f"{tokens}, {screen.cost(usage.cost_usd)}{' (estimated)' if usage.estimated else ''}"


def _answer(answer: Answer) -> str:
    parts = [said(answer.value), f"confidence {answer.confidence:.3f} ({answer.source})"]
    if answer.reported is not None and answer.source != "reported":
        parts.append(f"reported {answer.reported:.3f}")
    likely = sorted((answer.distribution or {}).items(), key=lambda one: -one[1])
    told = [f"{printable(name)} {share:.3f}" for name, share in likely[:LIKELIEST]]
    more = [f"{len(likely) - LIKELIEST:,} more"] if len(likely) > LIKELIEST else []
    return f"{', '.join(parts)}{': ' if told else ''}{', '.join([*told, *more])}"


def _beside(row: ShadowRow) -> Pairs:
    shadow = row.shadow
    yield "answered", f"{said(shadow.outcome)}, where {said(shadow.beside)} was decided"
    yield "when", f"{clock(shadow.at)} UTC, {shadow.source}"
    yield from _attempted(shadow.attempt)


def _found(row: FeedbackRow) -> Pairs:
    if row.label is not None:
        yield "label", said(row.label)
    if row.right is not None:
        yield "decided", "right" if row.right else "wrong"
