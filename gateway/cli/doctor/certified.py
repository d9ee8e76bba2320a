"""Certified thresholds that cannot be in force: what they were made for is not asked any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from ... import certificates
from ...certificates import VARIABLE, Certificate, Key
from ...errors import Fault
from ...keys import QuestionKey, keys_of, spoken_language
from ...kinds import Choice
from ...points import DecisionPoint, find
from ...register import cut_of
from ...settings import CURRENT, Plan
from .findings import Findings

if TYPE_CHECKING:
    from ...gateway import Gateway

OLD = 90  # days after which a promise is worth a look: texts, callers and models drift
AGAIN = "Certify it again with `pointsman calibrate`"
PARTS = {"template": "words", "options": "options", "language": "language"}


def stale(gateway: Gateway, served: Mapping[tuple[str, str], str], found: Findings) -> None:
    """
    Find what is wrong with the file of thresholds.

    Args:
        gateway: Whose plans count.
        served: Point and provider → the model that answered last, where a journal tells.
        found: Takes it.

    """
    path = gateway.settings.globals.thresholds
    if path is None:
        return
    held = certificates.read(path).certificates
    points = gateway.points
    for name, those in _by_point(held).items():
        point = find(name, points)
        if point is None or point.name != name:
            found.add(hints=[_unknown(name)])
        else:
            _point(gateway, point, those, served, found)
    found.add(hints=_uncertified(gateway, held))
    found.good("thresholds", f"{len(held):,} certificate{'' if len(held) == 1 else 's'}")


def _point(
    gateway: Gateway,
    point: DecisionPoint,
    those: list[Certificate],
    served: Mapping[tuple[str, str], str],
    found: Findings,
) -> None:
    plan = gateway.settings.plan(point)
    asked = _asked(plan)
    language = gateway.settings.globals.language
    good = {_where(one) for one in those if not _lapsed(one, point, language, served)}
    for one in those:
        provider = one.key.provider
        where = _where(one)
        if provider not in asked:
            found.add(hints=[Fault(where, _idle(one, plan), "Keep it for the way back, or go on")])
        elif not plan.certifiable:
            continue  # a variable overrules it, which is told elsewhere
        elif lapsed := _lapsed(one, point, language, served):
            if where not in good:
                found.add([Fault(where, f"{lapsed}: it is not in force", AGAIN)])
            elif one.key.language == spoken_language(point, language):
                fix = "Take it out: another one is in force beside it"
                found.add(hints=[Fault(where, f"{lapsed}: it is not in force", fix)])
        else:
            found.add(hints=_worth_knowing(one, where))


def _where(one: Certificate) -> str:
    return f"{VARIABLE}, {one.key.point} {one.key.question} by {one.key.provider}"


def _lapsed(
    one: Certificate,
    point: DecisionPoint,
    language: str,
    served: Mapping[tuple[str, str], str],
) -> str:
    """Say why it cannot be in force as things are; empty: it is, as far as can be known."""
    if differing := _differing(one.key, point, language):
        return f"the question's {' and '.join(differing)} changed since {one.date}"
    now = served.get((point.name, one.key.provider), one.key.model)
    if now == one.key.model:
        return ""
    return f"it is for the model {one.key.model}, and {now} answers now"


def _worth_knowing(one: Certificate, where: str) -> Iterator[Fault]:
    if cut_of(one, one.risk) is None:
        used = one.used
        more = f" with about {used.needed:,} more labels" if used and used.needed else ""
        yield Fault(where, "nothing could be certified", f"Try again{more}, or another provider")
    elif (days := _age(one)) > OLD:
        fix = "See whether it holds: `pointsman calibrate check`"
        yield Fault(where, f"it was certified {days:,} days ago", fix)


def _differing(certified: Key, point: DecisionPoint, language: str) -> list[str]:
    """Name what the point asks otherwise than was certified, as far as a call need not tell."""
    spoken = spoken_language(point, language)
    if certified.language != spoken:
        return [PARTS["language"]]
    questions = point.questions.get(spoken, {})
    key = keys_of(point, questions, spoken).get(certified.question)
    if key is None:  # made by the call, or gone
        return [] if point.needs or not questions else ["name"]
    return [PARTS[part] for part in _parts(certified, key, point, questions)]


def _parts(
    certified: Key, key: QuestionKey, point: DecisionPoint, questions: Mapping[str, object]
) -> Iterator[str]:
    if key.template != certified.template:
        yield "template"
    question = questions[certified.question]
    by_call = isinstance(question, Choice) and (question.open or bool(point.needs))
    if not by_call and key.options != certified.options:
        yield "options"


def _uncertified(gateway: Gateway, held: Iterable[Certificate]) -> Iterator[Fault]:
    """Hint at deciders that are believed from a number on that nobody certified."""
    known = {(one.key.point, one.key.provider) for one in held}
    plans = [gateway.settings.plan(point) for point in gateway.points.values()]
    lacking = [
        plan.point
        for plan in plans
        if plan.certifiable and any((plan.point, one) not in known for one in _asked(plan))
    ]
    if lacking:
        shown = ", ".join(lacking[:3]) + (f" and {len(lacking) - 3} more" if lacking[3:] else "")
        problem = f"it has no certificate for who decides {shown}"
        yield Fault(VARIABLE, problem, "Certify them with `pointsman calibrate`, or go on")


def _asked(plan: Plan) -> set[str]:
    return ({arm.provider for arm in plan.arms} or {plan.provider}) - {CURRENT}


def _idle(one: Certificate, plan: Plan) -> str:
    return f"{plan.provider} decides this point, so {one.key.provider}'s threshold is not used"


def _unknown(name: str) -> Fault:
    problem = f"it certifies {name}, and no such point is known here"
    fix = "Take it out if the point is gone; your own points are known with --app module:gateway"
    return Fault(VARIABLE, problem, fix)


def _by_point(held: Iterable[Certificate]) -> dict[str, list[Certificate]]:
    points: dict[str, list[Certificate]] = {}
    for one in held:
        points.setdefault(one.key.point, []).append(one)
    return points


def _age(one: Certificate) -> int:
    """Days since it was computed; a date that is none is as new as can be."""
    try:
        return (datetime.now(UTC).date() - date.fromisoformat(one.date)).days
    except ValueError:
        return 0
