"""
When an answer is believed: the one place that decides it, as one pure function.

`accept` pairs a reply with its questions, checks every live answer, holds it against the
gate, and returns a `Verdict`: accepted, or one `Reason`. First validity in the order of
the questions, then the gates.

Bounds of a distribution over n outcomes, k of them above zero, each rounded to two decimals
by its provider: Σp ≤ 1 + 0.005·k, Σp ≥ 1 − 0.005·n, max p ≥ 1/n − 0.005; the chosen option
within 0.01 of the maximum; a score within 0.005 + Σ 0.005·i of its mean.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from .answers import Answer, Chosen, Held, RawAnswer, Refused, Reply, Scored, Stated, Unread
from .confidence import choice_confidence, score_confidence
from .errors import NoAnswer, Reason
from .gates import Gate, Scale
from .questions import Ask, Choice, Predicate, Question, Score, Value, When

_Shape: TypeAlias = tuple[float, float, Mapping[str, float]]  # top probability, recomputed, all

ROUNDING = 0.005  # half of the last digit that the hosted deciders keep
EXCESS = 1e-6  # 1.0000001 and −1e-17, as servers that reckon in 32 bits write 1 and 0
SLACK = 1e-9  # sums of exact decimals miss by an ulp


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """
    What acceptance says of a reply.

    Attributes:
        reason: `ok`, or why it is not believed.
        confidence: The minimum over live, gated questions; 1 if there is none. Also given
            for an answer that is valid and too unsure; 0 for an invalid one.
        answers: Name → checked answer; complete if the reply is valid, else empty.
        minimum: What the answer of that confidence had to reach; None if there is none.

    """

    reason: Reason
    confidence: float = 0.0
    answers: Mapping[str, Answer] = {}
    minimum: float | None = None

    @property
    def accepted(self) -> bool:
        """Whether the answers may be acted on."""
        return self.reason is Reason.OK

    def copied(self) -> Verdict:
        """Copy what whoever gets it could write into, for one that is given to several."""
        answers = {name: _copied(answer) for name, answer in self.answers.items()}
        return Verdict(self.reason, self.confidence, answers, self.minimum)


def _copied(answer: Answer) -> Answer:
    given = answer.distribution
    return answer if given is None else msgspec.structs.replace(answer, distribution={**given})


def accept(ask: Ask, reply: Reply, gate: Gate) -> Verdict:
    """Believe *reply* as the answer to *ask*, or say why not."""
    try:
        paired = _paired(ask, reply)
        checked = _checked(ask, paired, gate)
    except NoAnswer as fault:
        return Verdict(fault.reason)
    if reply.source:
        checked = {name: one.sourced(reply.source) for name, one in checked.items()}
    return _weighed(ask, checked, gate)


def _weighed(ask: Ask, checked: Mapping[str, Answer], gate: Gate) -> Verdict:
    reason, confidence, minimum = Reason.OK, 1.0, None
    for name, answer in checked.items():
        if answer.value is None or ask.questions[name].advisory:
            continue
        if minimum is None or answer.confidence < confidence:
            confidence, minimum = answer.confidence, gate.least(name, answer)
        if reason is Reason.OK and not gate.clears(name, answer):
            missing = answer.source == "missing"
            reason = Reason.CONFIDENCE_MISSING if missing else Reason.LOW_CONFIDENCE
    return Verdict(reason, confidence, checked, minimum)


def _paired(ask: Ask, reply: Reply) -> Mapping[str, RawAnswer]:
    """Match by name, or by position with the echoed names checked."""
    answers: Any = getattr(reply, "answers", None)  # a stranger's plug-in may return anything
    if type(answers) is dict or isinstance(answers, Mapping):
        return _by_name(ask.questions, answers)  # pyright: ignore[reportUnknownArgumentType]
    if type(answers) is list or type(answers) is tuple:
        return _by_position(ask.questions, answers)  # pyright: ignore[reportUnknownArgumentType]
    raise NoAnswer(Reason.MALFORMED)


def _by_name(
    asked: Mapping[str, Question], answers: Mapping[str, RawAnswer]
) -> Mapping[str, RawAnswer]:
    if not answers.keys() <= asked.keys():
        raise NoAnswer(Reason.MISMATCHED)
    if len(answers) < len(asked):
        raise NoAnswer(Reason.INCOMPLETE)
    return answers


def _by_position(asked: Mapping[str, Question], answers: Sequence[Any]) -> Mapping[str, RawAnswer]:
    if not all(_is_pair(pair) for pair in answers):
        raise NoAnswer(Reason.MALFORMED)
    if [echo or name for name, (echo, _) in zip(asked, answers, strict=False)] != list(asked) or (
        len(answers) > len(asked)
    ):
        raise NoAnswer(_why_unpaired(asked, answers))
    return {name: raw for name, (_, raw) in zip(asked, answers, strict=True)}


def _why_unpaired(asked: Mapping[str, Question], answers: Sequence[Any]) -> Reason:
    echoed = [name for name, _ in answers if name is not None]
    strange = any(name not in asked for name in echoed) or len(set(echoed)) < len(echoed)
    missing = len(answers) < len(asked)
    return Reason.INCOMPLETE if missing and not strange else Reason.MISMATCHED


def _is_pair(pair: Any) -> bool:  # noqa: ANN401 - a stranger's
    if not isinstance(pair, tuple):
        return False
    given: tuple[Any, ...] = pair  # pyright: ignore[reportUnknownVariableType]
    return len(given) == 2 and (given[0] is None or isinstance(given[0], str))  # noqa: PLR2004


def _checked(ask: Ask, paired: Mapping[str, RawAnswer], gate: Gate) -> dict[str, Answer]:
    checked: dict[str, Answer] = {}
    spared = _spared(paired) if gate.partial else ()
    for name, question in ask.questions.items():
        if name in spared or (question.when is not None and not _live(question.when, checked)):
            checked[name] = Answer(value=None)
        elif question.advisory:
            checked[name] = _advised(name, question, paired[name], gate)
        else:
            checked[name] = check(question, paired[name], gate.scale_of(name))
    return checked


def _spared(paired: Mapping[str, RawAnswer]) -> Collection[str]:
    """Name the questions that were refused among others; where all were, it is a refusal."""
    refused = [name for name, raw in paired.items() if isinstance(raw, Refused)]
    return refused if len(refused) < len(paired) else ()


def _live(when: When, checked: Mapping[str, Answer]) -> bool:
    """A question counts where nothing decides over it, or what decides says so."""
    return checked[when.question].value in when.answers


def _advised(name: str, question: Question, raw: RawAnswer, gate: Gate) -> Answer:
    try:
        answer = check(question, raw, gate.scale_of(name))
    except NoAnswer:
        return Answer(value=None)
    return answer if gate.clears(name, answer) else Answer(value=None)


def check(question: Question, raw: RawAnswer, scale: Scale) -> Answer:
    """
    Check one answer against its question.

    Raises:
        NoAnswer: It is not valid; the reason says why.

    """
    if isinstance(raw, Refused):
        raise NoAnswer(Reason.REFUSED)
    if isinstance(raw, Unread):
        raise NoAnswer(raw.reason)
    if isinstance(question, Choice) and isinstance(raw, Chosen):
        return _choice(question, raw, scale)
    if isinstance(question, Predicate) and isinstance(raw, Held):
        return _predicate(question, raw)
    if isinstance(question, Predicate) and isinstance(raw, Stated):
        return _statement(raw)
    if isinstance(question, Score) and isinstance(raw, Scored):
        return _score(question, raw, scale)
    raise NoAnswer(Reason.WRONG_TYPE)


def _choice(question: Choice, raw: Chosen, scale: Scale) -> Answer:
    _option(question, raw.option)
    given = raw.probabilities
    shape = None if _is_absent(given) else _shape(question, raw.option, _items(given))
    if question.abstains and raw.option == question.sentinel:
        raise NoAnswer(Reason.ABSTAINED)
    return _rated(raw.option, raw.confidence, shape, scale)


def _shape(question: Choice, option: str, given: Mapping[str, float]) -> _Shape:
    for name in given:
        _option(question, name)
    given = {name: _number(probability, 1.0) for name, probability in given.items()}
    _sane(list(given.values()), len(question.options))
    chosen = given.get(option, 0.0)
    if chosen < max(given.values()) - 2 * ROUNDING - SLACK:
        raise NoAnswer(Reason.INCONSISTENT)
    return chosen, choice_confidence(chosen, len(question.options)), given


def _predicate(question: Predicate, raw: Held) -> Answer:
    true = _number(raw.probability, 1.0)
    value = question.tie if true == 0.5 else true > 0.5  # noqa: PLR2004 - the tie
    selected = true if value else round(1.0 - true, 12)  # 1 − 0.45 is not quite 0.55
    return Answer(
        value=value,
        confidence=selected,
        source="probability",
        probability=selected,
        distribution={"true": true, "false": round(1.0 - true, 12)},
    )


def _statement(raw: Stated) -> Answer:
    if type(raw.holds) is not bool:
        raise NoAnswer(Reason.MALFORMED)
    return Answer(value=raw.holds)


def _score(question: Score, raw: Scored, scale: Scale) -> Answer:
    levels = len(question.levels)
    value = question.value(_number(raw.score, levels - 1))
    if _is_absent(raw.probabilities):
        return _rated(value, raw.confidence, None, scale)
    if not isinstance(raw.probabilities, list | tuple) or len(raw.probabilities) != levels:
        raise NoAnswer(Reason.MALFORMED)
    given = [_number(probability, 1.0) for probability in raw.probabilities]
    _sane(given, levels)
    mean = sum(index * probability for index, probability in enumerate(given))
    bound = ROUNDING + ROUNDING * levels * (levels - 1) / 2
    if abs(raw.score - mean) > bound + SLACK:
        raise NoAnswer(Reason.INCONSISTENT)
    spread = dict(zip(question.levels, given, strict=True))
    return _rated(value, raw.confidence, (max(given), score_confidence(given), spread), scale)


def _rated(value: Value, reported: float | None, shape: _Shape | None, scale: Scale) -> Answer:
    """Choose the number that counts; a missing one is 0."""
    if reported is not None:
        reported = _number(reported, 1.0)
    probability, recomputed, distribution = shape or (None, None, None)
    counted = reported if scale == "reported" else probability
    return Answer(
        value=value,
        confidence=0.0 if counted is None else counted,
        source="missing" if counted is None else scale,
        reported=reported,
        recomputed=recomputed,
        probability=probability,
        distribution=distribution,
    )


def _sane(given: Sequence[float], outcomes: int) -> None:
    total = sum(given)
    above = sum(1 for probability in given if probability > 0)
    if (
        total > 1.0 + ROUNDING * above + SLACK
        or total < 1.0 - ROUNDING * outcomes - SLACK
        or max(given, default=0.0) < 1.0 / outcomes - ROUNDING - SLACK
    ):
        raise NoAnswer(Reason.INCONSISTENT)


def _option(question: Choice, option: object) -> None:
    if not isinstance(option, str):
        raise NoAnswer(Reason.MALFORMED)
    if option not in question.options:
        raise NoAnswer(Reason.UNDECLARED_OPTION)


def _is_absent(given: object) -> bool:
    """An empty distribution is how some servers say that they have none."""
    return given is None or (isinstance(given, dict | list | tuple) and not given)


def _items(given: Any) -> Mapping[str, float]:  # noqa: ANN401 - a stranger's
    if not isinstance(given, Mapping):
        raise NoAnswer(Reason.MALFORMED)
    return given  # pyright: ignore[reportUnknownVariableType]


def _number(value: object, highest: float) -> float:
    if type(value) is not float and type(value) is not int:
        raise NoAnswer(Reason.MALFORMED)
    if not -EXCESS <= value <= highest + EXCESS:  # false for NaN, too
        raise NoAnswer(Reason.INVALID_NUMBER)
    return value if 0.0 <= value <= highest else max(0.0, min(value, highest))
