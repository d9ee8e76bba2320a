"""
A service desk that asks every decision point of the catalogue, in the order of a turn.

    python examples/service_desk.py [--provider NAME]

Offline: the desk's "models" are word rules, and so is the provider that stands in for a
decision API, `words`. It shows what is decided in each turn, by whom, and how many provider
calls that takes: with one call for each share group, and without.

`--provider` is `words`, `local`, `current`, `jev` (which needs its key) or any other.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import textwrap
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

from desk.asking import Asker, Line
from desk.rails import blocked, checked, judge, replays, retrieved, supervise
from desk.routing import Routed, route
from desk.words import Words
from desk.world import SCENES, Scene, Session

from pointsman import Gateway, PointsmanError, decision_points
from pointsman.decision_points import Judgement, judged, rail

STEPS = {
    "0": "supervisor",
    "1": "barge-in",
    "3": "input rails",
    "5": "routing",
    "6": "retrieval",
    "7": "output rails",
    "8": "judges",
}
WIDTH = 80  # columns
OWN_REFERENCE = "P-204881"


@dataclass
class Told:
    """What became of one turn."""

    scene: Scene
    asker: Asker
    routed: Routed | None = None
    dropped: int = 0
    answer: str = ""
    changes: tuple[str, ...] = ()
    judgements: Mapping[str, Judgement] = field(default_factory=dict)

    def calls(self, step: str = "") -> int:
        """Count provider calls, of the whole turn or of one *step*."""
        made = self.asker.calls
        return len(made.get(step, ())) if step else sum(map(len, made.values()))


def desk(variables: Mapping[str, str], words: Words | None = None) -> Gateway:
    """Make the desk's gateway; *words* is the example's own provider."""
    return Gateway.from_env({"DECISION_LOG": "off", **variables}, plugins=[words or Words()])


async def play(gateway: Gateway, scene: Scene, *, shares: bool = True) -> Told:
    """Take one scripted turn; without *shares* every point is asked by itself."""
    session = Session(**scene.before, own_reference=OWN_REFERENCE)
    turn = gateway.turn(subject=scene.title) if shares else None
    async with turn or nullcontext():
        told = Told(scene, Asker(gateway, turn))
        await _taken(told, session)
    return told


async def _taken(told: Told, session: Session) -> None:
    """Go through the steps of a turn; an end skips the rest."""
    ask, scene = told.asker, told.scene
    ask.step = "0"
    session.backend = await supervise(ask, session, scene)
    ask.step = "1"
    if await replays(ask, session, scene):
        told.answer, told.changes = session.last_speech, ("replayed",)
        return
    session.history.append({"role": "user", "content": scene.text})
    ask.step = "3"
    if line := await blocked(ask, session, scene):
        ask.step = "7"
        told.answer, _ = await checked(ask, session, scene, line)
        told.changes = ("blocked on input",)
        return
    ask.step = "5"
    told.routed = await route(ask, session, scene.text)
    ask.step = "6"
    kept = await retrieved(ask, scene.passages)
    told.dropped = len(scene.passages) - len(kept)
    ask.step = "7"
    told.answer, told.changes = await checked(ask, session, scene, scene.draft)
    ask.step = "8"
    told.judgements = await judge(ask, scene, told.answer)


# --- what is printed ---------------------------------------------------------------------


def show(told: Told, number: int) -> None:
    """Print one turn: each step's decisions, who made them, and the calls that they took."""
    print(f"\n{number:2}  {told.scene.title}")
    print(f"    customer: {told.scene.text}")
    for step, name in STEPS.items():
        lines = [line for line in told.asker.lines if line.step == step]
        if lines:
            print(f"  {name}, {_calls(told.calls(step))}")
            _show_lines(lines)
    for said in _effects(told):
        print(textwrap.fill(said, WIDTH, initial_indent="  ", subsequent_indent=" " * 4))


def _show_lines(lines: list[Line]) -> None:
    """Print decisions; those that let something pass on one line for each who said so."""
    passed: dict[str, list[str]] = {}
    shown: set[str] = set()
    for line in lines:
        record = line.decision.record
        if _passes(line):
            passed.setdefault(_by(line), []).append(_named(line))
        elif record.id not in shown:  # read twice, decided once
            by = f"{_by(line)} {line.confidence:.2f}"
            print(f"    {_short(record.point):24} {_said(line):32} {by}")
            if record.fallback:
                print(f"      {record.variant} was not believed: {record.reason}")
        shown.add(record.id)
    for by, names in passed.items():
        head = f"    {by} passes "
        print(
            textwrap.fill(", ".join(names), WIDTH, initial_indent=head, subsequent_indent=" " * 6)
        )


def _passes(line: Line) -> bool:
    """Whether it is of a rail or a judge that has nothing to say against it."""
    name, value = line.decision.record.point, line.decision.value
    point = getattr(decision_points, name.removesuffix("_OUTPUT"))
    if name.startswith("JUDGE_"):
        return judged(point, value, undecided=line.decision.undecided).allowed
    return name.startswith("GUARDRAIL_") and rail(point, value).allowed


def _named(line: Line) -> str:
    """Name a point; of a judge, with what it said."""
    name = line.decision.record.point
    return f"{_short(name)} {_said(line)}" if name.startswith("JUDGE_") else _short(name)


def _effects(told: Told) -> list[str]:
    effects = [f"→ {change}" for change in told.changes]
    if told.routed is not None:
        to = f", {told.routed.agent}" if told.routed.agent else ""
        then = f"; then {', '.join(told.routed.pending)}" if told.routed.pending else ""
        effects.insert(0, f"→ {told.routed.effect}{to}{then}")
    if told.dropped:
        effects.append(f"→ passages not used: {told.dropped}")
    if failed := [name for name, one in told.judgements.items() if not one.allowed]:
        effects.append(f"→ not passed: {', '.join(failed)}")
    return [*effects, f'agent: "{told.answer}"']


def _calls(count: int) -> str:
    return f"{count} call{'' if count == 1 else 's'}"


def _short(point: str) -> str:
    prefix = point.partition("_")[0] + "_"
    shortened = prefix in ("GUARDRAIL_", "TRANSACTION_", "JUDGE_")
    return point.removeprefix(prefix if shortened else "").removesuffix("_AUTHORIZATION_RECHECK")


def _said(line: Line) -> str:
    outcome = line.decision.record.outcome
    values = outcome.values() if isinstance(outcome, Mapping) else (outcome,)
    return " ".join(_written(one) for one in values if one is not None)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _by(line: Line) -> str:
    return line.decision.provider or "nobody"


def compare(together: list[Told], apart: list[Told]) -> None:
    """Print how many provider calls the turns took, with and without sharing."""
    print(f"\n{'provider calls':44}{'routing':>16}{'whole turn':>18}")
    print(f"{'':44}{'alone  shared':>16}{'alone  shared':>18}")
    for one, other in zip(together, apart, strict=True):
        routing = f"{other.calls('5'):5}  {one.calls('5'):6}"
        whole = f"{other.calls():5}  {one.calls():6}"
        print(f"{one.scene.title:44}{routing:>16}{whole:>18}")
    alone, shared = (sum(told.calls() for told in all_) for all_ in (apart, together))
    print(f"{'all turns':44}{'':16}{f'{alone:5}  {shared:6}':>18}")


async def run(provider: str) -> None:
    """Take all turns twice, with one call for each share group and without; print both."""
    chosen = {**os.environ, "DECISION_PROVIDER": provider}
    async with desk(chosen) as gateway:
        together = [await play(gateway, scene) for scene in SCENES]
        apart = [await play(gateway, scene, shares=False) for scene in SCENES]
    print(f"Decided by {provider} (DECISION_PROVIDER={provider}); below its minimum, by current.")
    for number, told in enumerate(together, 1):
        show(told, number)
    compare(together, apart)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="A service desk over the whole catalogue.")
    parser.add_argument("--provider", default="words", help="who decides; default: %(default)s")
    try:
        asyncio.run(run(parser.parse_args().provider))
    except PointsmanError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
