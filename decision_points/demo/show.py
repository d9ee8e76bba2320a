"""What the demo prints; every number comes from this very run."""

from __future__ import annotations

from rich.text import Text

from ...gateway.cli import screen
from ...gateway.settings import CURRENT
from .command import command_name
from .desk import Made, Replay
from .passes import POINTS, Tally, as_meant, believed, held, reasons, tally

WIDE = 100  # columns from which whole messages fit
CHOICES = ("ROUTE_CONTINUITY", "ROUTER")  # points whose answers need a language to be read
CUT = 26  # characters of a message where they do not

# Each command is written for a shell; `pointsman` becomes what starts this very installation.
NEXT = (
    ("pointsman points", "every decision point, who decides it, and which variable said so"),
    (
        "DECISION_ROUTER_PROVIDER=local pointsman points ROUTER --explain",
        "one point's questions, and where its plan comes from",
    ),
    (
        'pointsman ask ROUTER --text "my internet is down" --options billing,internet,delivery',
        "one decision, with every attempt behind it",
    ),
    (
        "LOCAL_ENCODER=e5 pointsman demo",
        'after pip install "pointsman[local-multilingual]": knows Portuguese, and takes its time',
    ),
    (
        "AI_GATEWAY_API_KEY=your-key pointsman demo --provider jev",
        "the second pass with a hosted decision model, if you have a key",
    ),
)


def heading(number: int, title: str, variable: str) -> None:
    """Begin a pass."""
    screen.line()
    screen.line((f"{number}  {title}", "bold"))
    screen.line("   ", (variable, f"bold {screen.GOOD}"))


def say(*lines: str) -> None:
    """Say something between the tables."""
    for line in lines:
        screen.out().print(Text(line))


def opening(turns: int, customers: int) -> None:
    """Say what is about to be seen."""
    screen.out().print(Text("A service desk, and who decides for it", "bold"))
    say(
        f"{turns} recorded turns of {customers} customers, in English and Portuguese. The desk "
        "makes up to four decisions a turn: is it an attack, does the active agent go on, which "
        "intent is it, how good was the reply. Each is a plain function with the gateway around "
        "it. The conversation, the rules and the notes on what was meant were written for this "
        "demo: see decision_points/demo."
    )


def first_pass(replay: Replay) -> None:
    """Print the pass in which today's functions decide."""
    listed = screen.table("decision point", "asked", "decided by", "as meant", right=("asked",))
    for point in POINTS:
        counted = tally(replay, replay, point)
        listed.add_row(
            point, str(counted.asked), "your function (rules)", _share(counted.before, counted)
        )
    screen.show(listed)
    say(f"{len(replay.made)} decisions in {screen.duration(replay.seconds)}.")


def switch(first: Replay, then: Replay, provider: str) -> None:
    """Print the pass in which one variable was changed."""
    headings = ("decision point", "asked", provider, "rules", "changed", "sure", "as meant")
    listed = screen.table(*headings, right=("asked", provider, "rules", "changed"))
    for point in POINTS:
        counted = tally(first, then, point)
        listed.add_row(
            point,
            str(counted.asked),
            Text(str(counted.took), screen.GOOD if counted.took else screen.FAINT),
            Text(str(counted.asked - counted.took), screen.OTHER),
            str(counted.changed),
            _range(counted),
            _moved(counted),
        )
    screen.show(listed)
    say(f"{len(then.made)} decisions in {screen.duration(then.seconds)}.")


def routed(first: Replay, then: Replay, provider: str) -> None:
    """Print the routing decisions one by one."""
    out = screen.out()
    out.print()
    out.print(Text("Every message that begins a new subject, and where ROUTER sends it", "bold"))
    headings = ("", "message", "rules", provider, "sure", "sent to")
    listed = screen.table(*headings, right=("sure",), loose=("message",))
    was = first.by_place()
    for made in then.made:
        if made.decision.record.point == "ROUTER":
            listed.add_row(*_route(made, was[made.number, "ROUTER"], wide=out.width >= WIDE))
    screen.show(listed)
    said = f"✓ sure enough: {provider} decided. Else the rules did. "
    out.print(
        Text.assemble(
            (said, screen.FAINT), ("✗", screen.BAD), (" not what was meant.", screen.FAINT)
        )
    )


def _route(made: Made, was: Made, *, wide: bool) -> tuple[str | Text, ...]:
    sure = made.decision.attempts[0].confidence
    return (
        Text(f"{made.number} {made.turn.language}", screen.FAINT),
        made.turn.user if wide else _cut(made.turn.user),
        str(was.decision.value),
        Text(str(held(made) or "–"), "" if believed(made) else screen.FAINT),
        Text(f"{sure:.2f} {'✓' if believed(made) else ' '}", screen.GOOD if believed(made) else ""),
        _outcome(made),
    )


def _outcome(made: Made) -> Text:
    style = screen.GOOD if believed(made) else screen.OTHER
    wrong = as_meant(made) is False
    return Text.assemble((str(made.decision.value), style), (" ✗" if wrong else "", screen.BAD))


def languages(first: Replay, then: Replay, provider: str) -> None:
    """Say how the provider did in each language; the embedded table is English."""
    for language, name in (("en", "English"), ("pt", "Portuguese")):
        one = _spoken(first, language), _spoken(then, language)
        counts = [tally(*one, point) for point in CHOICES]
        took, asked = sum(one.took for one in counts), sum(one.asked for one in counts)
        right = sum(
            1
            for made in one[1].made
            if made.decision.record.point in CHOICES and believed(made) and as_meant(made)
        )
        told = f", {right} of them as meant" if took else ""
        say(f"   {name}: {provider} decided {took} of {asked} choices{told}.")
    if provider == "local":
        say("   The table inside local was made from English: in other languages, measure first.")


def _spoken(replay: Replay, language: str) -> Replay:
    return Replay([made for made in replay.made if made.turn.language == language], 0.0)


def fallen(first: Replay, then: Replay) -> None:
    """Print the pass in which the provider is down."""
    listed = screen.table("why the provider was not believed", "decisions", right=("decisions",))
    for reason, count in reasons(then).items():
        listed.add_row(Text(reason, screen.OTHER), str(count))
    screen.show(listed)
    changed = sum(tally(first, then, point).changed for point in POINTS)
    fell = sum(1 for made in then.made if made.decision.provider == CURRENT)
    say(
        f"{len(then.made)} decisions in {screen.duration(then.seconds)}: your functions made "
        f"{fell} of them, in one fallback each, and {changed} outcomes differ from the first pass."
    )


def _share(part: int, counted: Tally) -> str:
    return f"{part} of {counted.noted}" if counted.noted else "–"


def _range(counted: Tally) -> str:
    return f"{counted.sure[0]:.2f}–{counted.sure[-1]:.2f}" if counted.sure else "–"


def _moved(counted: Tally) -> Text:
    if not counted.noted:
        return Text("–", screen.FAINT)
    better = counted.after - counted.before
    style = screen.GOOD if better > 0 else screen.BAD if better < 0 else ""
    return Text(f"{counted.before} → {counted.after} of {counted.noted}", style)


def _cut(message: str) -> str:
    return message if len(message) <= CUT else f"{message[: CUT - 1]}…"


def closing(better: list[str], worse: list[str], provider: str) -> None:
    """Say what follows from the run, and what to try next."""
    screen.line()
    for point in better:
        say(f"{point} did better with {provider}: DECISION_{point}_PROVIDER={provider} keeps it.")
    for point in worse:
        say(f"{point} did worse with {provider}: DECISION_{point}_PROVIDER=current leaves it.")
    if better or worse:
        say("That is why each point has a variable of its own.")
        screen.line()
    screen.line(("Try next", "bold"))
    for command, why in next_steps():
        screen.line("   ", (command, screen.GOOD))
        screen.line((f"      {why}", screen.FAINT))


def next_steps() -> list[tuple[str, str]]:
    """Give the commands to try next, as they can be copied into this very shell."""
    name = command_name()
    return [(command.replace("pointsman", name, 1), why) for command, why in NEXT]
