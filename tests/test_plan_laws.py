"""Plan resolution equals a naive model of the documented order, over random environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman import Choice, DecisionPoint, Gateway, Plan, Settings, hookimpl, scripted
from pointsman.gateway.plugins import Offer, Provider

TEAM = Choice("Which team?", ["billing", "tech"])
NAMES = ("A", "A_B", "A_B_C", "PROVIDER", "SHADOW", "MIN_CONFIDENCE")
PROVIDERS = ("current", "one", "one/eu", "two", "two/a-b", "t-three")
NUMBERS = ("", " ", "0", "0.25", "1", "1e-3", " 0.5 ")
TRUTHS = ("", "true", "false", "0", "1", "no")
SECONDS = ("", "0.5", "30")


class Expected(NamedTuple):
    """What a plan should say."""

    provider: str
    minimum: float
    fallback: bool
    deadline: float | None
    why: tuple[str, str, str, str]


def naive(environ: Mapping[str, str], point: DecisionPoint) -> Expected:
    """Read the documented order aloud, one variable after another."""

    def said(*variables: str, otherwise: str) -> tuple[str, str]:
        for variable in variables:
            if environ.get(variable, "").strip():
                return environ[variable].strip(), variable
        return otherwise, "default"

    chain = [point.name, *point.chain]
    everywhere = [] if point.internal else ["DECISION_PROVIDER"]
    provider, why = said(
        *(f"DECISION_{n}_PROVIDER" for n in chain), *everywhere, otherwise="current"
    )
    name, _, instance = provider.upper().replace("-", "_").partition("/")
    own = [f"{name}_MIN_CONFIDENCE"]
    if instance:
        own.insert(0, f"{name}__{instance.replace('/', '_')}__MIN_CONFIDENCE")
    least, why_least = said(*(f"DECISION_{n}_MIN_CONFIDENCE" for n in chain), *own, otherwise="0.7")
    back, why_back = said(
        *(f"DECISION_{n}_FALLBACK_TO_CURRENT" for n in chain),
        "DECISION_FALLBACK_TO_CURRENT",
        otherwise="true",
    )
    until, why_until = said(*(f"DECISION_{n}_DEADLINE_SECONDS" for n in chain), otherwise="")
    return Expected(
        provider,
        float(least),
        back in ("true", "1"),
        float(until) if until else None,
        (why, why_least, why_back, why_until),
    )


def seen(plan: Plan) -> Expected:
    """The same of a real plan."""
    why = plan.why
    return Expected(
        plan.provider,
        plan.gate.minimum,
        plan.fallback,
        plan.deadline,
        (why["provider"], why["minimum"], why["fallback"], why["deadline"]),
    )


def variables() -> st.SearchStrategy[dict[str, str]]:
    """Environments with values that are valid, empty or blank."""
    table: dict[str, st.SearchStrategy[str]] = {
        "DECISION_PROVIDER": st.sampled_from(("", *PROVIDERS)),
        "DECISION_FALLBACK_TO_CURRENT": st.sampled_from(TRUTHS),
    }
    for name in NAMES:
        table[f"DECISION_{name}_PROVIDER"] = st.sampled_from(("", *PROVIDERS))
        table[f"DECISION_{name}_MIN_CONFIDENCE"] = st.sampled_from(NUMBERS)
        table[f"DECISION_{name}_FALLBACK_TO_CURRENT"] = st.sampled_from(TRUTHS)
        table[f"DECISION_{name}_DEADLINE_SECONDS"] = st.sampled_from(SECONDS)
    for name in ("ONE", "ONE__EU", "TWO", "TWO__A_B", "T_THREE", "CURRENT"):
        mark = "__" if "__" in name else "_"
        table[f"{name}{mark}MIN_CONFIDENCE"] = st.sampled_from(NUMBERS)
    return st.fixed_dictionaries({}, optional=table)


@st.composite
def points(draw: st.DrawFn) -> DecisionPoint:
    """A point with a random chain over the same few names."""
    name, *chain = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    return DecisionPoint(
        name=name,
        questions={"": {"decision": TEAM}},
        chain=tuple(chain),
        internal=draw(st.booleans()),
    )


@given(environ=variables(), point=points())
@settings(derandomize=True, deadline=None, max_examples=250)
def test_a_plan_is_what_the_table_says(environ: dict[str, str], point: DecisionPoint) -> None:
    assert seen(Settings.read(environ).plan(point)) == naive(environ, point)


class Strangers:
    """Offers `one`, `two` and `t-three`, which answer as they are told."""

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        return [Offer(name, lambda: _make) for name in ("one", "two", "t-three")]


def _make(_: object) -> Provider:
    return scripted("tech")


def _billing(message: str) -> str:
    return "billing" if message else "tech"


def _story(environ: Mapping[str, str], declared: list[DecisionPoint]) -> dict[str, Any]:
    """Declare the points in this order, and tell all that can be known of each."""
    gateway = Gateway.from_env({"DECISION_LOG": "off", **environ}, plugins=[Strangers()])
    wrapped = {one.name: gateway.point(one)(_billing) for one in declared}
    odd = {str(fault) for fault in gateway.check()}
    told = {
        name: (seen(gateway.plan(name)), gateway.decide_sync(function, "x").record.outcome)
        for name, function in wrapped.items()
    }
    return {"odd": odd, **told}


@given(
    environ=variables(),
    declared=st.lists(points(), max_size=4, unique_by=lambda point: point.name),
    order=st.randoms(use_true_random=False),
)
@settings(derandomize=True, deadline=None, max_examples=40)
def test_the_order_of_declaring_points_changes_nothing(
    environ: dict[str, str], declared: list[DecisionPoint], order: Any
) -> None:
    shuffled = list(declared)
    order.shuffle(shuffled)

    assert _story(environ, declared) == _story(environ, shuffled)


@given(environ=variables(), point=points())
@settings(derandomize=True, deadline=None, max_examples=40)
def test_a_gateway_plans_as_its_settings_do(environ: dict[str, str], point: DecisionPoint) -> None:
    """Whenever the point is declared: before the first decision or after."""
    gateway = Gateway.from_env({"DECISION_LOG": "off", **environ}, plugins=[Strangers()])

    assert seen(gateway.plan(point)) == naive(environ, point)


names = st.from_regex(r"X_[A-Z_]{1,9}", fullmatch=True)  # no provider is called X
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)


@given(environ=variables(), others=st.dictionaries(names, texts))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_variables_of_others_change_nothing(
    environ: dict[str, str], others: dict[str, str]
) -> None:
    """Whatever else stands in the environment of a process."""
    point = DecisionPoint(name="A", questions={"": {"decision": TEAM}}, chain=("A_B",))

    assert Settings.read({**others, **environ}).plan(point) == Settings.read(environ).plan(point)
