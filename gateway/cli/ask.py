"""`pointsman ask`: one question, and the whole story of its answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from rich.text import Text

from ..errors import Reason, SetupError
from ..settings import CURRENT
from ..turnout import turnout
from . import screen
from .describing import word
from .doctor import WORKS
from .points import warned
from .reading import NotJson, TooDeep, json_file, parsed, whole
from .session import Session, chosen, heeded
from .target import Target, target

if TYPE_CHECKING:
    from ..answers import Answer
    from ..gateway import Gateway
    from ..questions import Ask
    from ..records import Attempt, Decision

NO_NUMBER = Reason.CONFIDENCE_MISSING
SHOWN = 5  # most likely outcomes that are worth a line
BAR = 20  # characters of a whole bar
FAILED = {
    Reason.AUTH: "did not take its key",
    Reason.PAYMENT: "wants to be paid",
    Reason.REJECTED: "rejected the request",
    Reason.RATE_LIMITED: "was asked too often",
    Reason.TIMEOUT: "did not answer in time",
    Reason.TRANSPORT: "could not be reached",
    Reason.BREAKER_OPEN: "is left alone for now, after faults",
    Reason.OVER_BUDGET: "has used up its budget",
    Reason.PROVIDER_ERROR: "failed",
    Reason.TOO_LARGE: "does not take so much",
    Reason.UNSUPPORTED: "cannot answer such a question",
}
"""How an ask ended that nobody answered."""


def ask(  # noqa: PLR0913 - options of a command
    ctx: typer.Context,
    point: Annotated[str, typer.Argument(help="A decision point, or any name with --question.")],
    *,
    state: Annotated[Path | None, typer.Option(help="JSON file with what deciders see.")] = None,
    text: Annotated[str | None, typer.Option(help="The words to be judged.")] = None,
    question: Annotated[
        str | None, typer.Option("--question", "-q", help="A question of your own.")
    ] = None,
    options: Annotated[
        str | None, typer.Option(help="Options: a,b,c or a JSON file, label → description.")
    ] = None,
    provider: Annotated[str | None, typer.Option(help="Who is asked, this once.")] = None,
    language: Annotated[str | None, typer.Option(help="en or pt, this once.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> None:
    """Ask one question; the state comes from --state, --text or standard input."""
    session: Session = ctx.obj
    variables = chosen(point, provider, language)
    with session.by_option(variables) as gateway:
        warned(session, gateway)
        meant = target(gateway, point, question, options)
        heeded(gateway, meant.point, provider)
        given = _state(state, text)
        asked = meant.about(_seen(meant, given))
        decision = _decided(gateway, meant, asked, given, own=session.own)
    if as_json:
        screen.data(decision.record)
    else:
        _told(asked, decision, calculates=meant.point.current is not None)


def _decided(
    gateway: Gateway, meant: Target, asked: Ask, given: object, *, own: bool
) -> Decision[Any]:
    if meant.point.current is not None:
        return gateway.prepared(meant.point, asked, state=given).made_sync()
    # a program's own function is not run from here: it needs the program around it
    return gateway.ask_sync(meant.point, asked, current=None if own else _nothing)


def _nothing() -> None:
    """Stand where a program's own function would decide."""


def _state(state: Path | None, text: str | None) -> object:
    if state is not None and text is not None:
        raise SetupError.of("--text", "there is --state too", "Give one of them")
    if text is not None:
        return whole(text)
    if state is not None:
        fix = "Correct it, or use --text for plain words"
        return json_file(state, f"--state {state}", fix)
    return _piped(_standard_input())


def _standard_input() -> str:
    """
    Read what is piped.

    Raises:
        SetupError: Nothing is, it is closed, or it is no text.

    """
    stream: TextIO | None = sys.stdin  # None where a shell closed it: `<&-`
    try:
        words = "" if stream is None or stream.isatty() else stream.read().strip()
    except UnicodeDecodeError as error:
        problem = f"it is not {error.encoding.upper()} (byte {error.start})"
        raise SetupError.of("standard input", problem, "Convert it") from None
    if not words:
        raise SetupError.of("ask", "nothing is asked about", "Give --text or --state, or pipe it")
    return whole(words)


def _piped(words: str) -> object:
    """Read JSON where it is an object or a list; anything else is plain words."""
    if not words.startswith(("{", "[")):
        return words
    try:
        return parsed(words)
    except TooDeep as error:
        raise SetupError.of("standard input", str(error), "Pipe less, or use --text") from None
    except NotJson:
        return words


def _seen(meant: Target, state: object) -> object:
    """Check the state against what the point reads, and tell what it takes no notice of."""
    unread = meant.unread(state)
    if unread:
        reads = f"{meant.point.name} reads {', '.join(meant.point.reads)}"
        screen.note(("! ", screen.OTHER), f"not read: {', '.join(unread)}. {reads}")
    return state


def _told(asked: Ask, decision: Decision[Any], *, calculates: bool) -> None:
    record = decision.record
    screen.line((f"{record.point}  ", "bold"), (_outcome(decision), _style(decision)))
    screen.line((_who(decision, calculates=calculates), screen.FAINT))
    first = record.attempts[0] if record.attempts else None
    if first is not None and first.answers:
        _likely(asked, first.answers)
    if record.attempts:
        _attempts(record.attempts)


def _outcome(decision: Decision[Any]) -> str:
    outcome = decision.record.outcome
    if isinstance(outcome, dict):
        several: dict[str, Any] = outcome
        return ", ".join(f"{name}: {word(value)}" for name, value in several.items())
    return word(outcome)


def _style(decision: Decision[Any]) -> str:
    if decision.undecided or decision.record.fallback:
        return f"bold {screen.OTHER}"
    return f"bold {screen.GOOD}"


def _who(decision: Decision[Any], *, calculates: bool) -> str:
    if decision.undecided:
        return f"{_doubt(decision.record.attempts)}: this is the point's own outcome in doubt."
    if decision.provider == CURRENT and calculates:
        return "The point's own calculator decides here."
    if decision.provider == CURRENT:
        return "Your program's own function decides here."
    return f"{decision.provider}, confidence {decision.confidence:.3f}"


def _doubt(attempts: tuple[Attempt, ...]) -> str:
    """Say why nobody decided: answers that were too unsure, or a provider that gave none."""
    asked = [one for one in attempts if one.provider != CURRENT]
    failed = next((one for one in asked if one.reason not in WORKS), None)
    if failed is None:
        return "Nobody was sure enough"
    how = FAILED.get(failed.reason, "gave no answer that can be believed")
    told = f"{failed.provider} {how} (`pointsman doctor --live` says what to do)"
    others = any(one.reason in WORKS for one in asked)
    return f"{told}, and nobody else was sure enough" if others else told


def _likely(asked: Ask, answers: Any) -> None:  # noqa: ANN401 - question → answer
    for name, answer in answers.items():
        if answer.distribution:
            title = "" if len(asked.questions) == 1 else name
            if title:
                screen.line((title, screen.FAINT))
            _bars(answer)


def _bars(answer: Answer) -> None:
    spread = sorted((answer.distribution or {}).items(), key=lambda pair: -pair[1])
    rows = [
        (f"  {name}", Text(f"{'█' * round(BAR * p):{BAR}} {p:.3f}", "" if p else "dim"))
        for name, p in spread[:SHOWN]
    ]
    if len(spread) > SHOWN:
        rest = sum(p for _, p in spread[SHOWN:])
        rows.append((f"  {len(spread) - SHOWN} others", Text(f"{'':{BAR}} {rest:.3f}", "dim")))
    screen.pairs(rows)


def _attempts(attempts: tuple[Attempt, ...]) -> None:
    headings = ("asked", "verdict", "confidence", "time", "cost")
    tried = screen.table(*headings, right=("time", "cost"), loose=("asked",))
    for one in attempts:
        told = one.minimum is not None and one.answers and one.reason is not NO_NUMBER
        sure = f"{one.confidence:.3f} of {one.minimum:.2f}" if told else "–"
        usd = None if one.usage is None else one.usage.cost_usd
        style = screen.GOOD if one.reason is Reason.OK else screen.OTHER
        tried.add_row(
            Text.assemble(one.provider, (f"  {one.model}", "dim")),
            Text(one.reason.value, style),
            sure,
            screen.duration(one.seconds),
            "–" if usd is None else screen.cost(usd),
        )
    screen.show(tried)
    heard = turnout(attempts)
    if heard is not None:
        screen.line((str(heard), screen.FAINT))
