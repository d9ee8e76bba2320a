"""What the host brings to a decision, and what its point has of its own where it brings nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from .calculators import After, Calculator, Given, Unfit, fit, state_of
from .cases import Once, Rule, Supplied
from .current import Current
from .errors import NothingToAsk, SetupError
from .plugins import Call
from .points import DecisionPoint
from .questions import Ask, Outcome, Question
from .returns import Read, Write, reader
from .state import State
from .telemetry import Telemetry

if TYPE_CHECKING:
    from .wiring import Wiring

Draws = Callable[[Given, Outcome], Any]
"""State and a provider's outcome → the point's value."""


class Hosted(msgspec.Struct, frozen=True, kw_only=True):
    """
    What the host brings to one decision.

    Attributes:
        current: Its own path; None if it has none.
        read: Host's value → outcome.
        write: Outcome → host's value.
        subject: Who it is about.
        within: The call that this one is nested in.
        supply: Its value → what is asked about it, for a hybrid point.
        once: The call whose decision stands.
        closes: Without a fallback too it ends as the point does in doubt.
        carries: A state that is no JSON ends as where a provider fails, in `current` or as the
            point does in doubt; else it is the caller's error.
        state: As it was given, where the ask holds only what deciders see; None: the ask's.
        rule: What a provider's outcome is held to; None: to nothing.

    """

    current: Current | None = None
    read: Read | None = None
    write: Write | None = None
    subject: str | None = None
    within: Call | None = None
    supply: Callable[[Any], Supplied] | None = None
    once: Once | None = None
    closes: bool = False
    carries: bool = False
    state: State | None = None
    rule: Rule | None = None

    def at(
        self,
        point: DecisionPoint,
        ask: Ask | State,
        telemetry: Telemetry,
        *,
        calculates: bool = True,
    ) -> Hosted:
        """
        Give the same with what *point* has of its own: its rule, and its calculator as `current`.

        Raises:
            DeclarationError: It calculates, or has a rule, and the state is no mapping.

        """
        current = point.current if self.current is None and calculates else None
        if point.after is None and current is None:
            return self
        given = state_of(point.name, ask if self.state is None else self.state)
        own = Own(telemetry, point.name, given)
        rule = None if point.after is None else partial(ruled, own, point.after)
        held = msgspec.structs.replace(self, rule=rule)
        return held if current is None else held.calculating(current, own)

    def calculating(self, calculator: Calculator, own: Own) -> Hosted:
        """Give the same with a calculator in the place of the host's own path."""
        return msgspec.structs.replace(
            self,
            current=Current(calculator.decide, (own.given,)),
            read=self.read or calculator.read,
            write=self.write or partial(drawn_up, own, calculator.write),
        )


class Own(msgspec.Struct, frozen=True):
    """
    What a point's own functions are called with, and who is told where they fail.

    Attributes:
        telemetry: Is told.
        name: The point's.
        given: The state.

    """

    telemetry: Telemetry
    name: str
    given: Given

    @contextmanager
    def fitting(self) -> Generator[None]:
        """
        Let a fault of such a function be as if nobody had answered.

        Raises:
            Unfit: It raises, or gives what is no answer; it is told.

        """
        try:
            yield
        except SetupError:
            raise
        except Exception as error:
            self.telemetry.read_failed(self.name, error)
            raise Unfit from error


def ruled(own: Own, after: After, questions: Mapping[str, Question], outcome: Outcome) -> Outcome:
    """
    Hold a provider's outcome to what the point's rule says of this state.

    Raises:
        Unfit: The rule raises, or answers something else than was asked.

    """
    with own.fitting():
        return fit(questions, after(own.given, outcome), outcome)


def drawn_up(own: Own, write: Draws, outcome: Outcome) -> Any:  # noqa: ANN401 - the point's
    """
    Write a provider's outcome as the point's calculator would have it.

    Raises:
        Unfit: It cannot.

    """
    with own.fitting():
        return write(own.given, outcome)


def read_in(point: DecisionPoint, host: Hosted, wiring: Wiring) -> Hosted:
    """Let what current says be read in the point's own words, where no ask says in which."""
    if host.read is not None or point.hybrid is not None:
        return host
    language = wiring.settings.globals.language
    return msgspec.structs.replace(host, read=partial(_in_words, point, language))


def _in_words(point: DecisionPoint, language: str, value: object) -> Outcome:
    return reader(point.spoken(language))(value)  # type: ignore[no-any-return]


def told(
    supply: Callable[[Any], Supplied], telemetry: Telemetry, point: str, value: object
) -> Supplied:
    """Tell where the host's value supplies nothing that can be asked about."""
    try:
        return supply(value)
    except (NothingToAsk, SetupError):
        raise
    except Exception as error:
        telemetry.read_failed(point, error)
        raise


def careful(
    read: Read | None, ask: Ask | None, telemetry: Telemetry, point: str, value: object
) -> Outcome:
    """The host's value is already its answer: failing to read it must not cost it."""
    if ask is None and read is None:
        return None
    try:
        return (read or reader(ask.questions if ask else {}))(value)  # type: ignore[no-any-return]
    except Exception as error:  # noqa: BLE001 - a user's function may raise anything
        telemetry.read_failed(point, error)
        return None


def apart(state: Any) -> Any:  # noqa: ANN401 - the host's own
    """Copy what the host's own path, which runs before anybody is asked, may write into."""
    try:
        return copy.deepcopy(state)
    except Exception:  # noqa: BLE001 - a user's object; what cannot be copied is shown as it is
        return state


def same(outcome: Any) -> Any:  # noqa: ANN401 - passes through
    """Give the outcome itself, where nobody says how it is written."""
    return outcome
