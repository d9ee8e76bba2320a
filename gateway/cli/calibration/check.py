"""`pointsman calibrate check`: whether promises hold on what was labelled since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from msgspec.structs import replace
from rich.text import Text

from ...certificates import VARIABLE, Certificate, Key, read
from ...errors import SetupError
from ...evaluation.calibration.checking import Against, Checked, since
from ...evaluation.calibration.checking import check as checked
from ...evaluation.calibration.collecting import Collected, Wanted, collect
from ...evaluation.calibration.labelling import (
    Labels,
    Teller,
    from_current,
    from_feedback,
    from_labels,
)
from ...evaluation.calibration.samples import Sample, by_key
from ...evaluation.calibration.vocabulary import Strange, among, need_meaning
from .. import screen
from ..session import Session
from .file import Labelled, read_labels
from .gathering import Request, gathered, known, opened
from .naming import found_in, need_used, resolved, told
from .words import WORDS, left, title
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
    given = {} if thresholds is None else {VARIABLE: (str(thresholds), "--thresholds")}
    lines = None if labels is None else read_labels(labels)
    with session.by_option(given) as gateway:
        path = thresholds or gateway.settings.globals.thresholds
        if path is None:
            problem, fix = "no file of thresholds is named", "Give --thresholds, or set it"
            raise SetupError.of(VARIABLE, problem, fix)
        certificates = read(path, VARIABLE if thresholds is None else "--thresholds").certificates
        if lines is None or lines[0].state is None:
            found = _journalled(gateway, certificates, lines)
        else:
            found = None
    if found is None:  # the program takes other variables for each provider
        asking = Request(point="", labels=labels, options=options, question=question)
        found = _asked(session, certificates, asking)
    if as_json:
        screen.data(found)
    else:
        _show(found, path)
    if any(one.verdict in FAILED for one in found.checks):
        raise typer.Exit(BROKEN)


class Found(msgspec.Struct, frozen=True):
    """
    What came of a check.

    Attributes:
        checks: How each promise did.
        strange: Labels that name nothing that can be answered.
        unknown: Ids of the file of labels that are no decision's.

    """

    checks: list[Checked]
    strange: list[Strange]
    unknown: tuple[str, ...] = ()


def _journalled(
    gateway: Gateway, certificates: Sequence[Certificate], lines: Sequence[Labelled] | None
) -> Found:
    found, every = Found([], []), list[Sample]()
    with opened(gateway) as store:
        named = None if lines is None else resolved(store, lines)
        for (name, provider, labels), group in _grouped(certificates).items():
            teller = TELLERS[labels] if named is None else from_labels(named.labels)
            wanted = Wanted(provider, teller, known(gateway, name))
            collected = collect(store.trails(point=name), wanted)
            held: Labels = labels if named is None else "gold"
            _hold(found, collected, group, (held, certificates), late=named is None)
            every += [] if named is None else collected.samples
        named = None if named is None else found_in(store, named, every)
    if named is None or not certificates:
        return found
    need_used(named, every)
    return msgspec.structs.replace(found, unknown=named.unknown)


def _hold(
    found: Found,
    collected: Collected,
    group: Sequence[Certificate],
    against: tuple[Labels, Sequence[Certificate]],
    *,
    late: bool = False,
) -> None:
    """Hold each certificate of a *group* against what was collected, or what is *late* of it."""
    first = min(one.date for one in group)
    recent = since(collected.samples, first) if late else collected.samples
    strange = among(collected.strange, recent)
    need_meaning(strange)
    found.strange.extend(one for one in strange if one not in found.strange)
    held, certificates = against
    for one in group:
        new = since(collected.samples, one.date) if late else collected.samples
        found.checks.extend(checked(one, _against(new, one, held, certificates)))


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


def _asked(session: Session, certificates: Sequence[Certificate], asking: Request) -> Found:
    """
    Ask the providers of all certificates about the states of a file.

    Raises:
        SetupError: Nobody answered.

    """
    found, used = Found([], []), not certificates
    for (name, provider, _), group in _grouped(certificates).items():
        got = gathered(session, replace(asking, point=name, provider=provider)).collected
        _hold(found, got, group, ("gold", certificates))
        used = used or any(one.right is not None or one.strange for one in got.samples)
    if not used:
        problem = "none of its labels can be used: no state was answered"
        raise SetupError.of("--labels", problem, "`pointsman ask` shows why")
    return found


def _show(found: Found, path: Path) -> None:
    if not found.checks:
        screen.note(f"{path} holds no thresholds.")
    for said in (*map(left, found.strange), *([told(found.unknown)] if found.unknown else [])):
        told_(("! ", screen.OTHER), said)
    before: Key | None = None
    for one in found.checks:
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
