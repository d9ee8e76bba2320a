"""The certificates in force: held in acceptance against what was asked, and of whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from .certificates import VARIABLE, Certificate, Key, Thresholds
from .forks import Lock
from .gates import Cut, Gate
from .keys import Keys, keys_of, spoken_language
from .kinds import Choice

if TYPE_CHECKING:
    from .points import DecisionPoint
    from .questions import Ask
    from .settings import Plan

Tell: TypeAlias = Callable[[str, str, str, str], None]
"""Is told point, question, provider and what keeps a certificate from being applied; once."""


class Register:
    """
    The certified thresholds of one file.

    Args:
        thresholds: From `certificates.read`.
        tell: Is told once of each threshold that is not applied, and why.

    """

    def __init__(self, thresholds: Thresholds, tell: Tell) -> None:
        self._held: dict[str, dict[str, list[Certificate]]] = {}
        for one in thresholds.certificates:
            of_point = self._held.setdefault(one.key.point, {})
            of_point.setdefault(one.key.question, []).append(one)
        self._keys = Keys()
        self._tell = tell
        self._told: set[tuple[str, str, str, str]] = set()
        self._lock = Lock()

    def certificates(self, point: str) -> list[Certificate]:
        """Give what is certified for the questions of *point*."""
        return [one for held in self._held.get(point, {}).values() for one in held]

    def gate(self, gate: Gate, point: DecisionPoint, ask: Ask, served: Served) -> Gate:
        """Give *gate* with the certified thresholds of the questions that match wholly."""
        if point.name not in self._held:
            return gate
        keys = self._keys.of(point, ask.questions, served.language)
        cuts: dict[str, Cut] = {}
        for name, key in keys.items():
            asked = Key(
                point=point.name,
                question=key.question,
                template=key.template,
                options=key.options,
                language=spoken_language(point, served.language),
                form=served.form,
                scale=gate.scale,
                provider=served.provider,
                model=served.model,
            )
            if (cut := self._cut(asked)) is not None:
                cuts[name] = cut
        return msgspec.structs.replace(gate, cuts=cuts) if cuts else gate

    def _cut(self, asked: Key) -> Cut | None:
        held = self._held[asked.point].get(asked.question, ())
        if not held:
            return None
        matching = [one for one in held if not differing(one.key, asked)]
        if not matching:
            nearest = min((differing(one.key, asked) for one in held), key=len)
            self._refused(asked, " and ".join(nearest))
            return None
        if (cut := cut_of(matching[0], matching[0].risk)) is None:
            self._refused(asked, "nothing could be certified")
        return cut

    def _refused(self, asked: Key, why: str) -> None:
        told = (asked.point, asked.question, asked.provider, why)
        with self._lock:
            first = told not in self._told
            self._told.add(told)
        if first:
            self._tell(*told)


def cut_of(certificate: Certificate, alpha: float) -> Cut | None:
    """Give the threshold of *certificate* for *alpha*; None where none is certified."""
    at = next((one for one in certificate.levels if one.alpha == alpha), None)
    scale = certificate.key.scale
    if at is None:
        return None
    if not certificate.two_sided:
        return None if at.minimum is None else Cut(at.minimum, scale)
    if at.no_below is None and at.yes_from is None:
        return None
    return Cut(1.0, scale, two_sided=True, no_below=at.no_below, yes_from=at.yes_from)


class Served(msgspec.Struct, frozen=True):
    """
    How a question was asked, and who answered.

    Attributes:
        language: The language that is set.
        form: `single`, or `shared:<digest of the question set>`.
        provider: Who was asked.
        model: The model as served.

    """

    language: str
    form: str
    provider: str
    model: str


def differing(certified: Key, asked: Key) -> list[str]:
    """Name the parts in which two keys differ; a certificate brings its own scale."""
    before = msgspec.structs.asdict(certified)
    after: Mapping[str, str] = msgspec.structs.asdict(asked)
    return [name for name, value in before.items() if name != "scale" and value != after[name]]


def expected(register: Register | None, point: DecisionPoint, plan: Plan, language: str) -> Plan:
    """
    Give *plan* with the threshold that is certified for its provider, for people to see.

    Which one counts is known only with the call and the served model; of several that may, the
    strictest is shown.
    """
    if register is None or not plan.certifiable:
        return plan
    asked = {arm.provider for arm in plan.arms} or {plan.provider}
    found = [
        one
        for one in register.certificates(plan.point)
        if one.key.provider in asked and _may_count(one.key, point, language)
    ]
    least = [(number, one.key.scale) for one in found if (number := _strictest(one)) is not None]
    if not least:
        return plan
    minimum, scale = max(least)
    gate = msgspec.structs.replace(plan.gate, minimum=minimum, scale=scale)
    return msgspec.structs.replace(plan, gate=gate, why={**plan.why, "minimum": VARIABLE})


def _may_count(certified: Key, point: DecisionPoint, language: str) -> bool:
    """Whether the point asks what was certified, as far as that is known before a call."""
    spoken = spoken_language(point, language)
    if certified.language != spoken or certified.form != "single":
        return False
    questions = point.questions.get(spoken, {})
    key = keys_of(point, questions, spoken).get(certified.question)
    question = questions.get(certified.question)
    if key is None or key.template != certified.template:
        return False
    by_call = isinstance(question, Choice) and (question.open or bool(point.needs))
    return by_call or key.options == certified.options


def _strictest(certificate: Certificate) -> float | None:
    used = certificate.used
    if used is None:
        return None
    if not certificate.two_sided:
        return used.minimum
    no = None if used.no_below is None else 1.0 - used.no_below
    return max((one for one in (no, used.yes_from) if one is not None), default=None)
