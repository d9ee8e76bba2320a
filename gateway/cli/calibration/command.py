"""`pointsman calibrate`: from which confidence on a provider may decide, with a promise."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ...errors import SetupError
from ...evaluation.calibration.calibrating import Asked, calibrate
from ...evaluation.calibration.checking import day
from ...evaluation.calibration.collecting import TENANT
from ...evaluation.calibration.findings import Calibration, Costs, Settings
from ...evaluation.calibration.joining import Joint, joined
from ...evaluation.calibration.vocabulary import need_meaning
from .. import screen
from ..session import Session
from . import check as calibration_check
from . import promises as calibration_promises
from . import tables as calibration_tables
from .gathering import AGAINST, Gathered, Request, gathered
from .output import Outputs, need_folders, put
from .words import WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...evaluation.calibration.calibrating import Result
    from ...gates import Scale

OTHERWISE = "point"  # the sub-command that is meant where none is named


class Calibrate(TyperGroup):
    """`calibrate check …`, or `calibrate POINT …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own signature
        """Read *args*; what begins with no sub-command is about a point."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [OTHERWISE, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=Calibrate,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help=(
        "Find from which confidence on a provider may decide, with a promise."
        " `calibrate POINT` is short for `calibrate point POINT`."
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(OTHERWISE)
def point_(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    point: Annotated[str, typer.Argument(help="A decision point.")],
    *,
    provider: Annotated[
        str | None, typer.Option(help="Whose answers; absent: the point's provider or shadow.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="JSON lines: id of a decision and label, or state and label."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="current", help="Hold answers against what current decided."),
    ] = None,
    risk: Annotated[float, typer.Option(help="Error rate not to be exceeded.")] = 0.05,
    delta: Annotated[float, typer.Option(help="Chance that a promise is broken.")] = 0.05,
    scale: Annotated[str, typer.Option(help="probability, or reported by the provider.")] = (
        "probability"
    ),
    symmetric: Annotated[
        bool, typer.Option(help="One minimum for both answers of a predicate.")
    ] = False,
    error_cost: Annotated[
        float | None, typer.Option(help="What a wrong answer costs, in any unit.")
    ] = None,
    fallback_cost: Annotated[
        float, typer.Option(min=0, help="What asking current costs, in the same.")
    ] = 0.0,
    fallback_error: Annotated[
        float, typer.Option(min=0, max=1, help="Share of wrong answers of current.")
    ] = 0.0,
    slices: Annotated[
        list[str] | None, typer.Option("--slice", help="A field to tell rows apart by.")
    ] = None,
    options: Annotated[
        str | None, typer.Option(help="With states: a,b,c or a JSON file, label → description.")
    ] = None,
    question: Annotated[
        str | None, typer.Option("--question", "-q", help="With states: a question of your own.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="With states: en or pt, this once.")] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1000, help="With states: rows that are asked at once.")
    ] = 8,
    repeat: Annotated[
        int, typer.Option(min=0, max=20, help="With states: ask each so often again.")
    ] = 0,
    shuffle: Annotated[
        bool, typer.Option(help="With states: ask again with options in another order.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of what is drawn by lot.")] = 0,
    out: Annotated[
        Path, typer.Option(help="File of thresholds; those of other keys stay in it.")
    ] = Path("thresholds.json"),
    replace: Annotated[
        bool, typer.Option(help="Agreement may take the place of gold in that file.")
    ] = False,
    accept_selection: Annotated[
        bool, typer.Option(help="Certify also where the harder rows lack labels.")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with drawings.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Folder for the drawings alone.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Find from which confidence on the answers of a provider may be believed."""
    session: Session = ctx.obj
    _within("--risk", risk)
    _within("--delta", delta)
    request = Request(
        point=point,
        provider=provider,
        labels=labels,
        against=_against(against, labels),
        scale=_scale(scale),
        fields=tuple(slices or ()),
        options=options,
        question=question,
        language=language,
        concurrency=concurrency,
        repeat=repeat,
        shuffle=shuffle,
        seed=seed,
    )
    costs = _costs(error_cost, fallback_cost, fallback_error)
    outputs = Outputs(out, html, svg, replace)
    need_folders(outputs)
    found = gathered(session, request)
    need_meaning(found.collected.strange)
    settings = Settings(
        date=day(time.time()),
        scale=request.scale,
        risk=risk,
        delta=delta,
        two_sided=not symmetric,
        labels="agreement" if request.against else "gold",
        costs=costs,
        force=found.force,
        seed=seed,
        accept_selection=accept_selection,
    )
    asked = Asked(found.repeated, found.shuffled, _fields(found, request))
    results = calibrate(found.collected.samples, settings, asked)
    written = put(results, outputs)
    made = [one for one in results if isinstance(one, Calibration)]
    together = joined(found.collected.samples, made, request.scale)
    _told(found, results, (together, written), as_json=as_json)
    if not written:
        raise typer.Exit(1)


app.command("check")(calibration_check.check)


def _told(
    found: Gathered,
    results: Sequence[Result],
    outcome: tuple[Sequence[Joint], Sequence[Path]],
    *,
    as_json: bool,
) -> None:
    together, written = outcome
    made = [one for one in results if isinstance(one, Calibration)]
    left = [one for one in results if not isinstance(one, Calibration)]
    if as_json:
        counts = {name: getattr(found.collected, name) for name in _COUNTED}
        where = [str(path) for path in written]
        strange = {"strange": found.collected.strange, "unknown": found.unknown}
        data = {"calibrations": made, "refused": left, "together": together, "rows": counts}
        screen.data({**data, **strange, "written": where})
        return
    calibration_tables.rows(found)
    for calibration in made:
        calibration_tables.calibration(calibration)
    for refusal in left:
        calibration_tables.refused(refusal)
    for joint in together:
        calibration_promises.together(joint, WORDS[made[0].labels])
    calibration_tables.afterwards(results, found, written)


def _fields(found: Gathered, request: Request) -> tuple[str, ...]:
    """Name the fields to tell rows apart by: also a tenant, if there is one."""
    known = any(TENANT in one.slices for one in found.collected.samples)
    return (*request.fields, TENANT) if known else request.fields


_COUNTED = ("decisions", "unasked", "unplaced", "wrong_only", "unclear")


def _within(option: str, value: float) -> None:
    if not 0.0 < value < 1.0:
        raise SetupError.of(option, f"{value:g} is not between 0 and 1", "Correct it")


def _against(given: str | None, labels: Path | None) -> bool:
    if given is None:
        return False
    if given != AGAINST:
        problem = f"{given!r} cannot be held against"
        raise SetupError.of("--against", problem, f"Only {AGAINST} can: --against {AGAINST}")
    if labels is not None:
        raise SetupError.of("--against", "there are --labels too", "Give one of them")
    return True


def _scale(given: str) -> Scale:
    scales: dict[str, Scale] = {"probability": "probability", "reported": "reported"}
    if given in scales:
        return scales[given]
    problem = f"{given!r} is no scale of confidence"
    raise SetupError.of("--scale", problem, "Choose probability or reported")


def _costs(error: float | None, fallback: float, fallback_error: float) -> Costs | None:
    if error is None:
        if fallback or fallback_error:
            problem = "it says nothing without the cost of an error"
            raise SetupError.of("--fallback-cost", problem, "Give --error-cost too")
        return None
    if not error > 0:
        raise SetupError.of("--error-cost", f"{error:g} is no cost", "Give a number above 0")
    return Costs(error, fallback, fallback_error)
