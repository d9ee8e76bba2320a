"""
What guards a provider: its limits, its breaker, the deadline of the call.

A `Lane` is one provider as one gateway uses it. Breaker and concurrency belong to the lane,
so that two providers, or two models of one, never open each other's breaker.
"""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from .breaker import FAILING, NOTHING_SEEN, OPERATOR, OPERATOR_PAUSE, PAUSE, Breaker
from .errors import NoAnswer, Reason
from .masking import Mask, masked, through
from .plugins import Limits
from .questions import Choice, Score
from .writers import writes

if TYPE_CHECKING:
    from collections.abc import Callable

    from .answers import Reply
    from .budgets import Budget
    from .plugins import Call, Provider
    from .questions import Ask, Question
    from .writers import Draft

Shape: TypeAlias = Literal["answer", "exchange", "async"]

DEEPEST = 2  # decisions that one may be nested in
LEAST_LEFT = 0.05  # seconds; with less until the deadline a provider is not asked at all

PAUSING = OPERATOR | {Reason.RATE_LIMITED}  # ends of an ask after which nothing is asked for trial


class Health(msgspec.Struct, frozen=True):
    """
    How a provider is seen to be by one gateway.

    Attributes:
        provider: The name it was selected by.
        model: The model as configured; empty if the provider names none.
        fault: What its operator has to see to; None: nothing that is known.
        paused: Its breaker is open: it is not asked now.

    """

    provider: str
    model: str
    fault: Reason | None
    paused: bool


class Lane:
    """
    One provider, with what guards it.

    Attributes:
        name: The name it was selected by.
        provider: The provider.
        shape: Which of the three shapes it has.
        model: The model as configured; empty if the provider names none.
        deliberates: It asks others, so it is never entered twice in one decision.
        blocking: It takes more than 1 ms of CPU.
        writes: It can be let write.
        hears_current: It reads what the host's own path says.
        breaker: Its breaker.
        mask: What takes out of a text what the provider must not see; None: nothing does.
        budget: What it may cost in a day; None: there is no limit.
        trial: The lane of the same provider whose answers are never acted on; it pauses where
            this one is told to slow down, or that a key or a purse is no good.

    `notify` is called where the operator must act: a bad key, an empty purse, an unknown
    model.

    """

    def __init__(
        self,
        name: str,
        provider: Provider,
        notify: Callable[[Lane, Reason], None],
        mask: Mask | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.name = name
        self.provider = provider
        self.shape = shape_of(provider)
        self.model: str = getattr(provider, "model", "")
        self.deliberates: bool = getattr(provider, "deliberates", False)
        self.blocking: bool = getattr(provider, "blocking", False)
        self.writes = writes(provider)
        self.hears_current: bool = getattr(provider, "hears_current", False)
        self.breaker = Breaker()
        self.mask = mask
        self.budget = budget
        self.trial: Lane | None = None
        self._notify = notify
        self._told = False
        self._fault: Reason | None = None
        self._fits: object = None  # the questions last found within the limits

    def enter(self, ask: Ask, call: Call) -> bool:
        """
        Check everything that can be known before asking; return True for a breaker's probe.

        Raises:
            NoAnswer: `nested`, `skipped`, `unsupported`, `too_large`, `over_budget` or
                `breaker_open`.

        """
        if call.depth or call.asking or call.deadline is not None or self.deliberates:
            self._in_time(call)
        limits = self.provider.limits
        if self._fits is not ask.questions or limits.characters is not None:
            check_limits(ask, limits)
            self._fits = ask.questions  # a point whose questions are fixed asks the same ones
        return self.breaker.enter() if self.budget is None else self._affords(self.budget)

    def admit(self, draft: Draft, call: Call) -> bool:
        """
        As `enter`, for one who is to write.

        Raises:
            NoAnswer: As `enter`; `unsupported` for one who does not write.

        """
        self._in_time(call)
        if not self.writes:
            raise NoAnswer(Reason.UNSUPPORTED)
        self._holds(draft)
        return self.breaker.enter() if self.budget is None else self._affords(self.budget)

    def _in_time(self, call: Call) -> None:
        if call.depth > DEEPEST or (self.deliberates and (call.asking or call.depth == DEEPEST)):
            raise NoAnswer(Reason.NESTED)
        if call.deadline is not None and call.deadline - time.monotonic() < LEAST_LEFT:
            raise NoAnswer(Reason.SKIPPED)

    def _holds(self, draft: Draft) -> None:
        most = self.provider.limits.characters
        if most is not None and len(draft.text) > most:
            raise NoAnswer(Reason.TOO_LARGE)

    def _affords(self, budget: Budget) -> bool:
        if not budget.take():
            self._fault = Reason.OVER_BUDGET
            if budget.first_told():
                self._notify(self, Reason.OVER_BUDGET)
            raise NoAnswer(Reason.OVER_BUDGET)
        try:
            return self.breaker.enter()
        except NoAnswer:
            budget.paid(None)
            raise

    def masked(self, ask: Ask) -> Ask:
        """
        Give *ask* as the provider may see it.

        Raises:
            NoAnswer: `too_large`: masked it is longer than the provider takes.
            Exception: Whatever the mask raises; nothing may be sent then.

        """
        if self.mask is None:
            return ask
        ask = masked(ask, self.mask)
        check_limits(ask, self.provider.limits)
        return ask

    def shown(self, draft: Draft) -> Draft:
        """As `masked`, for what is to be written about; the instructions stay as they are."""
        if self.mask is None:
            return draft
        draft = msgspec.structs.replace(draft, state=through(draft.state, draft.text, self.mask))
        self._holds(draft)
        return draft

    def paid(self, reply: Reply | None) -> None:
        """Learn what came back from an ask that was let through, and with it what it cost."""
        if self.budget is not None:
            usage = None if reply is None else reply.usage
            self.budget.paid(None if usage is None else usage.cost_usd)

    def saw(self, reason: Reason, *, probe: bool, operator: bool) -> None:
        """Learn how an ask ended; tell the operator once for each opening of the breaker."""
        opened = self.breaker.saw(reason, probe=probe)
        if self.trial is not None and reason in PAUSING:
            self.trial.breaker.pause(OPERATOR_PAUSE if reason in OPERATOR else PAUSE)
        if (opened and reason in OPERATOR) or (operator and not self._told):
            self._told = True
            self._notify(self, reason)
        elif reason is Reason.OK:
            self._told = False
        if operator or reason in OPERATOR:
            self._fault = reason
        elif self._fault is not None and reason not in FAILING and reason not in NOTHING_SEEN:
            self._fault = None  # an answer, if perhaps a bad one: key, purse and model are good

    @property
    def on_trial(self) -> bool:
        """Whether its answers are never acted on."""
        return self.trial is self

    @property
    def health(self) -> Health:
        """How it is seen to be; an operator's fault stands until an ask is answered again."""
        fault = self._fault
        if fault is Reason.OVER_BUDGET and (self.budget is None or not self.budget.is_empty):
            fault = None
        return Health(self.name, self.model, fault, self.breaker.is_open)


def check_limits(ask: Ask, limits: Limits) -> None:
    """
    Hold *ask* against what a provider takes.

    Raises:
        NoAnswer: `unsupported`, or `too_large` for the state.

    """
    if limits.characters is not None and len(ask.text) > limits.characters:
        raise NoAnswer(Reason.TOO_LARGE)
    many = limits.questions is not None and len(ask.questions) > limits.questions
    if many or any(_beyond(question, limits) for question in ask.questions.values()):
        raise NoAnswer(Reason.UNSUPPORTED)


def _beyond(question: Question, limits: Limits) -> bool:
    if isinstance(question, Choice):
        return len(question.options) > limits.options
    return isinstance(question, Score) and len(question.levels) > limits.levels


def shape_of(provider: Provider) -> Shape:
    """
    Tell which of the three shapes a provider has.

    Raises:
        TypeError: None of them, or its name or limits are missing.

    """
    if not isinstance(getattr(provider, "name", None), str):
        raise TypeError("a provider needs a `name`")
    if not isinstance(getattr(provider, "limits", None), Limits):
        raise TypeError("a provider needs `limits`, a `Limits`")
    if callable(getattr(provider, "exchange", None)):
        return "exchange"
    answer = getattr(provider, "answer", None)
    if not callable(answer):
        raise TypeError(f"{provider!r} has neither `answer` nor `exchange`")
    return "async" if inspect.iscoroutinefunction(answer) else "answer"
