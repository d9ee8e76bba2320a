"""`Lens`: how the call of an agent framework is seen as a decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import msgspec

from .errors import SetupError
from .points import DecisionPoint
from .questions import Outcome, Predicate, Question, principal
from .returns import Read, Write
from .state import State

Asks: TypeAlias = Callable[..., Question | Mapping[str, Question]]
"""The call's own arguments → what is asked: options that are known only then."""

OnceOf: TypeAlias = Callable[..., tuple[str, object] | None]
"""The call's own arguments → call id and exact arguments; None: nothing is remembered."""


class Lens(msgspec.Struct, frozen=True, kw_only=True):
    """
    How the call of a framework is seen as a decision: four pure functions.

    Those that see the call are given its own arguments, a method's object included.

    Attributes:
        state: The call → what deciders are shown: a text, messages or a mapping.
        session: The call → the subject, or None where it has none.
        read: The framework's value → outcome: an option, a truth, a number.
        write: Outcome → the framework's value.
        blocks: For a seam that stops something: the truth that stops it there. A declaration says
            itself which of its answers blocks, and is turned around where the two differ; of a
            question of your own, the truth that stops is the seam's. None: it stops nothing.

    """

    state: Callable[..., State]
    session: Callable[..., str | None] | None = None
    read: Read | None = None
    write: Write | None = None
    blocks: bool | None = None

    @property
    def functions(self) -> dict[str, object]:
        """The four, by name."""
        return {name: getattr(self, name) for name in ("state", "session", "read", "write")}

    def completing(self, point: DecisionPoint, given: Mapping[str, Any]) -> dict[str, Any]:
        """
        Put into what a *point* is *given* explicitly what the lens supplies besides.

        Raises:
            SetupError: It stops something, and the point asks no predicate.

        """
        said = {name: one for name, one in given.items() if one is not None}
        own: dict[str, Any] = {"state": self.state, "subject": self.session}
        own |= {"read": self.read, "write": self.write}
        if self.blocks is not None and not {"read", "write"} <= said.keys():
            own |= self._stopping(self.blocks, point, said)
        return {**own, **said}

    def _stopping(
        self,
        blocks: bool,  # noqa: FBT001 - the seam's
        point: DecisionPoint,
        said: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Read and write the seam's truth as the point's answer, which may be the opposite."""
        turned, asked = point.blocks is not blocks, next(iter(point.questions.values()))
        if self.read is None and self.write is None and not turned:
            return {}  # by the return annotation, which is held against what is asked
        main = ""
        if not {"ask", "question"} & said.keys():  # else what is asked comes with the call
            main = predicate_of(point, asked)
        several = main if len(asked) > 1 else ""
        return {
            "read": partial(_read, self.read, turned, several, point),
            "write": partial(_written, self.write, blocks, point),
            "truth": "write" not in said,
        }

    def framing(self, point: DecisionPoint) -> DecisionPoint:
        """Give a *point* that asks a question of the user's own: what stops is the seam's truth."""
        if self.blocks is None or self.blocks is point.blocks:
            return point
        return msgspec.structs.replace(point, blocks=self.blocks)


def passes(point: DecisionPoint, outcome: Outcome, main: str | None = None) -> bool:
    """Whether an *outcome* lets pass; one that is no truth does not."""
    if isinstance(outcome, Mapping):
        outcome = outcome.get(main or point.predicate or "")
    return isinstance(outcome, bool) and outcome is not point.blocks


def predicate_of(point: DecisionPoint, questions: Mapping[str, Question]) -> str:
    """
    Name the predicate among *questions* whose truth a seam takes.

    Raises:
        SetupError: They ask something else.

    """
    main = principal(questions)
    if main is not None and isinstance(questions[main], Predicate):
        return main
    fix = "Ask one Predicate, what else is asked being `advisory`; or pass `read=` and `write=`"
    raise SetupError.of(point.name, "its lens takes a truth, and it asks something else", fix)


def alone(write: Write, main: str, outcome: Outcome) -> Any:  # noqa: ANN401 - the framework's own
    """Write what *main* was answered, without what goes with it."""
    return write(outcome[main] if isinstance(outcome, Mapping) else outcome)


def _written(
    write: Write | None,
    blocks: bool,  # noqa: FBT001 - the seam's
    point: DecisionPoint,
    outcome: Outcome,
) -> Any:  # noqa: ANN401 - the framework's own
    truth = blocks is not passes(point, outcome)
    return truth if write is None else write(truth)


def _read(
    read: Read | None,
    turned: bool,  # noqa: FBT001 - whether the seam's truth is the opposite answer
    main: str,
    point: DecisionPoint,
    value: object,
) -> Outcome:
    said = value if read is None else read(value)
    if not isinstance(said, bool):
        return None
    answer = said is not turned
    if not main:
        return answer
    return {**dict.fromkeys(next(iter(point.questions.values()))), main: answer}
