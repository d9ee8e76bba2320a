"""`pointsman calibrate check`: whether promises hold on what was labelled since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace
from rich.text import Text

from ...certificates import Certificate, Key, read
from ...errors import SetupError
from ...evaluation.calibration.checking import Against, Checked, since
from ...evaluation.calibration.checking import check as checked
from ...evaluation.calibration.collecting import Wanted, collect
from ...evaluation.calibration.labelling import (
    Labels,
    Teller,
    from_current,
    from_feedback,
    from_labels,
)
from ...evaluation.calibration.samples import Sample, by_key
from .. import screen
from ..session import Session
from .file import read_labels
from .gathering import Request, gathered, known, opened
from .words import WORDS, title
from .words import told as told_

if TYPE_CHECKING:
    from ...gateway import Gateway

BROKEN = 1  # exit code
FAILED = ("broken", "none matches")
STYLES = {"holds": screen.GOOD, "broken": screen.BAD, "none matches": screen.BAD}


def check(
    ctx: typer.Context,
    *,
    thresholds: Annotated[
        Path | None, typer.Option(help="File of thresholds; absent: DECISION_THRESHOLDS.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Labels to hold them against; absent: new feedback.")
    ] = None,
    options: Annotated[
        str | None, typer.Option(help="With states: a,b,c or a JSON file, label → description.")
    ] = None,
    question: Annotated[
        str | None, typer.Option("--question", "-q", help="With states: a question of your own.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Hold thresholds against labels newer than they are; exit with 1 if a promise is broken."""
    session: Session = ctx.obj
    with session.by_option({}) as gateway:
        path = thresholds or gateway.settings.globals.thresholds
        if path is None:
            problem, fix = "no file of thresholds is named", "Give --thresholds, or set it"
            raise SetupError.of("DECISION_THRESHOLDS", problem, fix)
        certificates = read(path).certificates
        lines = None if labels is None else read_labels(labels)
        if lines is not None and lines[0].state is not None:
            assert labels is not None
            asking = Request(point="", labels=labels, options=options, question=question)
            found = _asked(session, certificates, asking)
        else:
            told = None if lines is None else from_labels({row.id: row.label for row in lines})
            found = _journalled(gateway, certificates, told)
    if as_json:
        screen.data({"checks": found})
    else:
        _show(found, path)
    if any(one.verdict in FAILED for one in found):
        raise typer.Exit(BROKEN)


def _journalled(
    gateway: Gateway, certificates: Sequence[Certificate], told: Teller | None
) -> list[Checked]:
    found: list[Checked] = []
    with closing(opened(gateway)) as store:
        for (name, provider, labels), group in _grouped(certificates).items():
            teller = told or TELLERS[labels]
            wanted = Wanted(provider, teller, known(gateway, name))
            samples = collect(store.trails(point=name), wanted).samples
            for one in group:
                new = samples if told is not None else since(samples, one.date)
                held: Labels = "gold" if told is not None else labels
                found += checked(one, _against(new, one, held, certificates))
    return found


TELLERS: Mapping[Labels, Teller] = {"gold": from_feedback, "agreement": from_current}


def _against(
    samples: Iterable[Sample], one: Certificate, labels: Labels, every: Iterable[Certificate]
) -> Against:
    certified = frozenset(each.key.unscaled for each in every)
    return Against(by_key(samples, one.key.scale), labels, certified)


def _grouped(
    certificates: Iterable[Certificate],
) -> Mapping[tuple[str, str, Labels], list[Certificate]]:
    groups: dict[tuple[str, str, Labels], list[Certificate]] = {}
    for one in certificates:
        groups.setdefault((one.key.point, one.key.provider, one.labels), []).append(one)
    return groups


def _asked(session: Session, certificates: Sequence[Certificate], asking: Request) -> list[Checked]:
    """Ask the providers of all certificates about the states of a file."""
    found: list[Checked] = []
    for (name, provider, _), group in _grouped(certificates).items():
        got = gathered(session, replace(asking, point=name, provider=provider))
        for one in group:
            found += checked(one, _against(got.collected.samples, one, "gold", certificates))
    return found


def _show(found: Sequence[Checked], path: Path) -> None:
    if not found:
        screen.note(f"{path} holds no thresholds.")
    before: Key | None = None
    for one in found:
        if one.key != before:
            title(one.key)
            before = one.key
        screen.pairs([(_promise(one), _kept(one))])
        for said in _notes(one):
            told_(("! ", screen.OTHER), said)


def _promise(one: Checked) -> str:
    words = WORDS[one.labels]
    what = {"decided": words.wrong, "no": words.missed, "yes": words.alarms}[one.what]
    return f"{what} ≤ {100 * one.alpha:g} %"


def _notes(one: Checked) -> list[str]:
    """Say what a reader has to know beside the numbers."""
    notes = [
        f"{count:,} new labels are about no certificate of this file; different: {what}"
        for what, count in one.unmatched.items()
    ]
    if one.promised != one.labels:
        notes.append(
            "This certificate was made by agreement with current, which is no truth; here its"
            " answers are held against labels, about which it promised nothing."
        )
    if one.doubtful:
        notes.append(
            f"{one.doubtful:,} of the wrong ones are in doubt: what was decided was wrong, and"
            " nobody said what would have been right. They break no promise."
        )
    if one.verdict == "no rows":
        notes.append(
            "Labels count from the day after the certificate's on; to hold it against others,"
            " name a file with --labels."
        )
    return notes


def _kept(one: Checked) -> Text:
    verdict = (one.verdict, STYLES.get(one.verdict, screen.OTHER))
    if not one.of:
        return Text.assemble(verdict, (f"  {one.rows:,} new labels", screen.FAINT))
    interval = f"[{100 * one.low:.1f}, {100 * one.high:.1f}]"
    counted = f"{one.errors:,} of {one.of:,}; {one.rows:,} new labels"
    rate = f"{screen.percent(one.errors, one.of)} {interval}"
    return Text.assemble(verdict, f"  {rate}", (f"  {counted}", screen.FAINT))
