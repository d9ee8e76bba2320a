"""Guardrails: one predicate, one of whose answers blocks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from .cases import Once
from .current import path
from .errors import SetupError
from .lens import passes
from .making import Hosted
from .parameters import called
from .points import DecisionPoint, OnUndecided
from .questions import Question
from .records import Decision
from .returns import Write
from .state import State

if TYPE_CHECKING:
    from .gateway import Gateway
    from .preparing import Prepared


class Ruling(msgspec.Struct, frozen=True):
    """
    What a guardrail came to.

    Attributes:
        blocked: What it looked at must not pass.
        decision: How that came about.

    """

    blocked: bool
    decision: Decision[Any]


class Guard:
    """
    A guardrail: a predicate point whose one answer blocks.

    What blocks is the answer that the point says blocks (`point.blocks`): a truth, unless it is
    a generic rail of the catalogue, which asks what may pass.

    Args:
        gateway: Decides who decides.
        point: A name or a declaration; the catalogue's too.
        question: A predicate, for a point of your own; others may go with it as `advisory`.
        on_undecided: Without a guardrail of today's: `block`, `allow`, or `human`, where
            nobody decides. There is no silent default. `human` needs a journal, where the
            question waits for a person, or `DECISION_INBOX=off`.
        current: Your guardrail of today, the only fallback: state → outcome, or an awaitable
            of it. An outcome that is no truth blocks.
        write: Outcome → the decision's value, where it is not current that decides.

    Attributes:
        gateway: As given.
        point: Its declaration, with what happens where nobody decides.

    Raises:
        SetupError: Not exactly one of *on_undecided* and *current* is given, or the point is
            no predicate; a person is wanted, and nothing keeps the question.
        DeclarationError: One of them is given as something else.

    """

    def __init__(
        self,
        gateway: Gateway,
        point: str | DecisionPoint,
        question: Question | Mapping[str, Question] | None = None,
        *,
        on_undecided: OnUndecided | None = None,
        current: Callable[[Any], Any] | None = None,
        write: Write | None = None,
    ) -> None:
        name = point if isinstance(point, str) else point.name
        if (on_undecided is None) is (current is None):
            problem = "a guardrail needs either what happens where nobody decides, or a current"
            fix = 'Pass `on_undecided="block"`, "allow" or "human", or else `current=`'
            raise SetupError.of(name, problem, fix)
        called(name, current)
        self.gateway = gateway
        self._current, self._write = current, write
        self.point = gateway.asks(point, question, on_undecided)
        if self.point.predicate is None:
            fix = "Let it ask one Predicate; what else it asks goes with it as `advisory`"
            raise SetupError.of(name, "a guardrail asks whether something is so", fix)

    async def rule(
        self,
        state: State,
        *,
        subject: str | None = None,
        once: tuple[str, object] | None = None,
    ) -> Ruling:
        """
        Say whether *state* is blocked.

        Args:
            state: What the point's deciders are shown.
            subject: Who it is about; absent: the session's.
            once: A call's id and its exact arguments: the ruling stands for this subject.

        Raises:
            HumanNeeded: Nobody decided, and `on_undecided` is `human`.
            NoAnswer: The provider is not believed, the plan has no fallback, and
                `on_undecided` does not say what happens then.
            SetupError: *once* without a subject.

        """
        return self._ruled(await self._prepared(state, subject, once, self._current).made())

    def rule_sync(
        self,
        state: State,
        *,
        subject: str | None = None,
        once: tuple[str, object] | None = None,
    ) -> Ruling:
        """
        As `rule`, on this thread; *current* must not be async.

        Raises:
            SetupError: It is.

        """
        current = None if self._current is None else self._at_once
        return self._ruled(self._prepared(state, subject, once, current).made_sync())

    def _prepared(
        self,
        state: State,
        subject: str | None,
        once: tuple[str, object] | None,
        current: Callable[[Any], Any] | None,
    ) -> Prepared:
        host = Hosted(
            current=None if current is None else path(partial(current, state)),
            write=self._write,
            subject=subject,
            once=Once.of(once, self.point.name),
            closes=self._current is None,
            carries=True,
        )
        return self.gateway.hosted(self.point, state, host)

    def _at_once(self, state: Any) -> Any:  # noqa: ANN401 - the host's own
        assert self._current is not None
        value = self._current(state)
        if not inspect.isawaitable(value):
            return value
        if inspect.iscoroutine(value):
            value.close()
        fix = "Use `await guard.rule(…)`"
        raise SetupError.of(self.point.name, "its current is async, and nothing awaits it", fix)

    def _ruled(self, decision: Decision[Any]) -> Ruling:
        return Ruling(not passes(self.point, decision.record.outcome), decision)
