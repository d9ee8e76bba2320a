"""`DECISION_<POINT>_CACHE_SECONDS`: what is kept, for whom, and what is asked only once."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty import PATIENCE, Server, hangs, replies, waits
from pointsman import (
    Ask,
    Call,
    Choice,
    Decision,
    DecisionPoint,
    Gateway,
    Held,
    NoAnswer,
    Offer,
    Predicate,
    Reason,
    Recorder,
    Refused,
    Reply,
    Score,
    SetupError,
    Usage,
    hookimpl,
    scripted,
)
from pointsman.gateway import flights
from pointsman.gateway.answers import Chosen, RawAnswer, Scored
from pointsman.gateway.caching import Cache
from pointsman.gateway.certificates import AtRisk, Certificate, Key, Thresholds, written
from pointsman.gateway.deciding import run_sync
from pointsman.gateway.engine import decide
from pointsman.gateway.keys import keys_of
from pointsman.gateway.making import Hosted
from pointsman.gateway.questions import Question
from telling import (
    STATE,
    AsyncTeller,
    HttpTeller,
    Offers,
    Teller,
    in_loop,
    rail,
    telling,
)

A, B, C = (rail(name) for name in "ABC")
TEAM = Choice("Which team?", {"billing": "Amounts", "tech": "Faults"})
POINT, OTHER = (
    DecisionPoint(name=name, questions={"en": {"team": TEAM}}, safe="tech")
    for name in ("TEAM", "OTHER")
)
KEPT = {"DECISION_TEAM_CACHE_SECONDS": "60"}
ALL = {f"DECISION_{name}_CACHE_SECONDS": "60" for name in "ABC"}
TEXT = "my invoice doubled"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let time pass at once."""
    passed = [0.0]
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + passed[0])

    def passes(seconds: float) -> None:
        passed[0] += seconds

    return passes


class Spread(Teller):
    """Answers a choice with a distribution of its own, and says which model it is."""

    def __init__(self, model: str = "model-1") -> None:
        super().__init__()
        self.served = model
        self.sure = 0.9

    def told(self, ask: Ask, call: Call) -> Reply:
        """Note the ask; choose the first option."""
        super().told(ask, call)
        answers: dict[str, RawAnswer] = {}
        for name, question in ask.questions.items():
            assert isinstance(question, Choice)
            first, *others = question.options
            rest = (1.0 - self.sure) / len(others)
            spread = {first: self.sure, **dict.fromkeys(others, rest)}
            answers[name] = Chosen(first, spread, self.sure)
        return Reply(answers, self.served, Usage(1000, 11, 0.01), "request-1")


def cached(*decisions: Decision[Any]) -> list[bool]:
    return [one.attempts[0].cached for one in decisions]


# --- the variable ------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan", "soon", "1e999"])
def test_it_is_a_number_of_seconds_above_zero(value: str) -> None:
    with pytest.raises(SetupError) as caught:
        Gateway.from_env({"DECISION_TEAM_CACHE_SECONDS": value})

    assert [fault.where for fault in caught.value.faults] == ["DECISION_TEAM_CACHE_SECONDS"]


def test_it_is_found_along_the_chain_of_names_and_says_where() -> None:
    environ = {
        "DECISION_GUARDRAIL_DLEX_OUT_CACHE_SECONDS": "30",
        "DECISION_GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK_CACHE_SECONDS": "0.5",
    }
    with telling(Teller(), environ) as gateway:
        plans = [
            gateway.plan(name)
            for name in (
                "GUARDRAIL_DLEX_OUT",
                "GUARDRAIL_DLEX_OUT_PROTOCOL_AUTHORIZATION_RECHECK",
                "ROUTER",
            )
        ]

    assert [plan.cache_seconds for plan in plans] == [30.0, 0.5, None]
    assert [plan.why.get("cache") for plan in plans] == [*environ, None]


# --- what is kept, and for whom ----------------------------------------------------------


def test_a_hit_is_recorded_as_one_and_costs_nothing() -> None:
    teller, recorder = Teller(), Recorder()
    with telling(teller, KEPT, observers=[recorder]) as gateway:
        first, again = [gateway.ask_sync(POINT, TEXT) for _ in range(2)]

    assert len(teller.asked) == 1
    assert cached(first, again) == [False, True]
    assert again.value == first.value
    assert again.provider == "teller"
    (hit,) = again.attempts
    assert hit.usage == Usage(0, 0, 0.0)
    assert hit.request_id is None
    assert (hit.model, hit.reason, hit.confidence) == ("teller-1", Reason.OK, 0.9)
    assert [one.cost_usd for one in recorder.records] == [0.01, 0.0]


def test_a_point_without_the_variable_is_always_asked() -> None:
    teller = Teller()
    with telling(teller, KEPT) as gateway:
        others = [gateway.ask_sync(OTHER, TEXT) for _ in range(2)]

    assert cached(*others) == [False, False]
    assert len(teller.asked) == 2


@in_loop
async def test_an_answer_is_kept_in_both_colours_of_caller_and_across_loops() -> None:
    teller = Teller()
    with telling(teller, KEPT) as gateway:
        one = await gateway.ask(POINT, TEXT)
        two = await asyncio.to_thread(gateway.ask_sync, POINT, TEXT)
        three = await asyncio.to_thread(lambda: asyncio.run(gateway.ask(POINT, TEXT)))

    assert cached(one, two, three) == [False, True, True]


def test_it_holds_as_long_as_the_variable_says(clock: Callable[[float], None]) -> None:
    teller = Teller()
    with telling(teller, KEPT) as gateway:
        gateway.ask_sync(POINT, TEXT)
        clock(59.0)
        young = gateway.ask_sync(POINT, TEXT)  # a hit makes no entry younger
        clock(2.0)
        old = gateway.ask_sync(POINT, TEXT)

    assert cached(young, old) == [True, False]


@pytest.mark.parametrize(
    "says",
    [Refused(), Chosen("sales", None, 0.9), Chosen("billing", None, 0.3), Chosen("billing")],
    ids=["refused", "undeclared", "unsure", "no confidence"],
)
def test_what_was_not_believed_is_never_kept(says: Any) -> None:
    teller = Teller(lambda _, __: says)
    with telling(teller, KEPT) as gateway:
        decisions = [gateway.ask_sync(POINT, TEXT) for _ in range(2)]

    assert cached(*decisions) == [False, False]
    assert len(teller.asked) == 2


def test_an_advisory_question_that_was_refused_keeps_nothing() -> None:
    """The next call might say it."""
    asked: dict[str, Question] = {
        "team": TEAM,
        "angry": Predicate("Is the customer angry?", advisory=True),
    }
    teller = Teller(lambda name, _: Refused() if name == "angry" else Chosen("tech", None, 0.9))
    with telling(teller, KEPT) as gateway:
        decisions = [gateway.ask_sync("TEAM", Ask(TEXT, asked), current=str) for _ in range(2)]

    assert [one.provider for one in decisions] == ["teller", "teller"]
    assert cached(*decisions) == [False, False]


TURNED = {name: TEAM.options[name] for name in reversed(list(TEAM.options))}
OTHERS = [
    ("the words", Choice("Which team then?", TEAM.options)),
    ("a description", Choice("Which team?", {"billing": "Amounts.", "tech": "Faults"})),
    ("the order", Choice("Which team?", TURNED)),
    ("the sentinel", Choice("Which team?", TEAM.options, "tech")),
    ("the kind", Predicate("Which team?")),
    ("a scale", Score("Which team?", TEAM.options)),
]


@pytest.mark.parametrize("other", [one for _, one in OTHERS], ids=[name for name, _ in OTHERS])
def test_another_question_is_another_ask(other: Any) -> None:
    def says(_: str, question: Any) -> Any:
        if isinstance(question, Score):
            return Scored(0.0, None, 0.9)
        return Held(0.9) if isinstance(question, Predicate) else Chosen("tech", None, 0.9)

    teller = Teller(says)
    asks = [Ask(TEXT, {"team": question}) for question in (TEAM, other, TEAM, other)]
    with telling(teller, KEPT) as gateway:
        decisions = [gateway.ask_sync("TEAM", ask, current=str) for ask in asks]

    assert cached(*decisions) == [False, False, True, True]


@given(
    st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-1, 1) | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(st.text(max_size=2), inner, max_size=2)
            ),
            max_leaves=4,
        ),
        min_size=1,
        max_size=5,
    )
)
@settings(max_examples=60, deadline=None)
def test_an_answer_is_given_again_for_what_was_asked_and_for_nothing_else(
    states: list[Any],
) -> None:
    """A text is another state than the JSON that is written alike."""
    seen: set[tuple[bool, str]] = set()
    teller = Teller()
    with telling(teller, KEPT) as gateway:
        for state in states:
            ask = Ask(state, POINT.questions["en"])
            written = type(ask.state) is str, ask.text
            assert cached(gateway.ask_sync(POINT, ask)) == [written in seen]
            seen.add(written)

    assert len(teller.asked) == len(seen)


def test_points_and_languages_do_not_answer_for_each_other() -> None:
    """A provider may know the point by name."""
    spoken = {"en": {"team": TEAM}, "pt": {"team": Choice("Qual equipe?", TEAM.options)}}
    point = DecisionPoint(name="TEAM", questions=spoken, safe="tech")
    teller = Teller()
    environ = {**KEPT, "DECISION_OTHER_CACHE_SECONDS": "60"}
    with telling(teller, environ) as gateway:
        english = [gateway.ask_sync(one, TEXT) for one in (point, point.called("OTHER"))]
        gateway.reload({**environ, "DECISION_PROVIDER": "teller", "DECISION_LANGUAGE": "pt"})
        portuguese = gateway.ask_sync(point, TEXT)

    assert cached(*english, portuguese) == [False, False, False]


def test_a_reload_keeps_nothing() -> None:
    """Another key, address, model or mask may stand behind the same name."""
    teller = Teller()
    environ = {"DECISION_PROVIDER": "teller", "DECISION_LOG": "off", **KEPT}
    with telling(teller, environ) as gateway:
        gateway.ask_sync(POINT, TEXT)
        gateway.reload(environ)
        after = [gateway.ask_sync(POINT, TEXT) for _ in range(2)]
        gateway.reload({**environ, "DECISION_TEAM_CACHE_SECONDS": ""})
        never = gateway.ask_sync(POINT, TEXT)

    assert cached(*after, never) == [False, True, False]


def test_a_closed_gateway_keeps_nothing_and_can_begin_again() -> None:
    teller = Teller()
    gateway = telling(teller, KEPT)
    gateway.ask_sync(POINT, TEXT)
    gateway.close()
    again = gateway.ask_sync(POINT, TEXT)
    gateway.close()

    assert cached(again) == [False]


def test_an_answer_that_comes_after_the_end_is_not_kept(server: Server) -> None:
    server.does(waits(replies()))
    teller = HttpTeller(server.url)
    gateway = telling(teller, KEPT)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(gateway.ask_sync, POINT, TEXT)
        server.wait()
        cache = gateway._wiring.cache
        assert cache is not None
        cache.clear()  # as `close` does, which would also end the client that still waits
        server.let_go()
        assert asked.result(PATIENCE).provider == "teller"
    again = gateway.ask_sync(POINT, TEXT)
    gateway.close()

    assert cached(again) == [False]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_begins_with_nothing() -> None:
    teller = Teller()
    with telling(teller, KEPT) as gateway:
        gateway.ask_sync(POINT, TEXT)
        child = os.fork()
        if child == 0:
            hit = gateway.ask_sync(POINT, TEXT).attempts[0].cached
            os._exit(1 if hit else 0)
        _, ended = os.waitpid(child, 0)
        here = gateway.ask_sync(POINT, TEXT)

    assert os.waitstatus_to_exitcode(ended) == 0
    assert cached(here) == [True]


# --- the served model --------------------------------------------------------------------


def test_once_another_model_is_served_nothing_older_is_given() -> None:
    """Also when the alias moves back: what it is now is not known to be what it was."""
    teller = Spread("model-1")
    with telling(teller, KEPT) as gateway:
        gateway.ask_sync(POINT, "one")
        teller.served = "model-2"
        gateway.ask_sync(POINT, "two")
        moved = gateway.ask_sync(POINT, "one")
        teller.served = "model-1"
        gateway.ask_sync(POINT, "three")
        back = gateway.ask_sync(POINT, "one")
        stayed = gateway.ask_sync(POINT, "one")

    assert cached(moved, back, stayed) == [False, False, True]
    assert moved.attempts[0].model == "model-2"


@pytest.mark.parametrize("which", ["rejected", "of a point without a cache"])
def test_whatever_a_reply_is_worth_it_tells_which_model_is_served(which: str) -> None:
    teller = Spread("model-1")
    with telling(teller, KEPT) as gateway:
        gateway.ask_sync(POINT, "one")
        teller.served = "model-2"
        if which == "rejected":
            teller.sure = 0.6
            assert gateway.ask_sync(POINT, "two").undecided
        else:
            gateway.ask_sync(OTHER, "two")
        teller.sure = 0.9
        after = gateway.ask_sync(POINT, "one")

    assert cached(after) == [False]


def test_a_reply_that_names_no_model_says_nothing_of_it() -> None:
    teller = Spread("model-1")
    with telling(teller, KEPT) as gateway:
        gateway.ask_sync(POINT, "one")
        teller.served = ""
        gateway.ask_sync(POINT, "two")
        hit = gateway.ask_sync(POINT, "one")

    assert cached(hit) == [True]


# --- what a host does with an answer -----------------------------------------------------


class Noting(Teller):
    """Answers every kind of question with a distribution, and with a number beside."""

    asks: Mapping[str, Question] = {
        "team": TEAM,
        "angry": Predicate("Is the customer angry?"),
        "urgent": Score("How urgent is it?", {"not": "", "very": ""}),
    }
    spreads = (
        {"billing": 0.9, "tech": 0.1},
        {"true": 0.9, "false": 0.1},
        {"not": 0.1, "very": 0.9},
    )

    def told(self, ask: Ask, call: Call) -> Reply:
        """Note the ask; give new objects each time."""
        super().told(ask, call)
        answers: dict[str, RawAnswer] = {
            "team": Chosen("billing", dict(self.spreads[0]), 0.9),
            "angry": Held(0.9),
            "urgent": Scored(0.9, [0.1, 0.9], 0.9),
        }
        return Reply(answers, "model-1", notes={"team:cosine": 0.8})


def test_nobody_can_write_into_what_others_are_given() -> None:
    """Neither the first, who was asked for, nor one who was given what was kept."""
    teller = Noting()
    with telling(teller, KEPT) as gateway:
        for _ in range(4):
            decision = gateway.ask_sync("TEAM", Ask(TEXT, Noting.asks), current=str)
            answers: Any = decision.answers
            notes: Any = decision.attempts[0].notes
            assert tuple(one.distribution for one in answers.values()) == Noting.spreads
            assert notes == {"team:cosine": 0.8}
            for answer in answers.values():
                answer.distribution.clear()
            answers.clear()
            notes.clear()

    assert len(teller.asked) == 1


# --- whether a kept answer is believed ---------------------------------------------------

GATES = {"LAX": 0.2, "USUAL": 0.7, "STRICT": 0.95}
GATED = {f"DECISION_{name}_MIN_CONFIDENCE": str(least) for name, least in GATES.items()}


@given(st.lists(st.sampled_from(sorted(GATES)), min_size=2, max_size=6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_kept_answer_is_believed_where_the_same_answer_would_be(
    names: list[str],
    spread: bool,  # noqa: FBT001 - drawn
) -> None:
    """Declarations of one name may have other thresholds: what is kept is judged by each."""
    points = [
        DecisionPoint(name="TEAM", questions={"en": {"team": TEAM}}, safe="tech", chain=(name,))
        for name in names
    ]
    with telling(Spread() if spread else Teller(), {**GATED, **KEPT}) as gateway:
        kept = [gateway.ask_sync(point, TEXT) for point in points]
    with telling(Spread() if spread else Teller(), GATED) as gateway:
        asked = [gateway.ask_sync(point, TEXT) for point in points]

    believed = [name for name in names if GATES[name] <= 0.9]
    first = names.index(believed[0]) if believed else len(names)
    assert cached(*kept) == [at > first for at in range(len(names))]
    for one, other in zip(kept, asked, strict=True):
        assert (one.value, one.answers) == (other.value, other.answers)
        assert _judged(one) == _judged(other)


def _judged(decision: Decision[Any]) -> tuple[object, ...]:
    (attempt,) = decision.attempts
    return attempt.reason, attempt.answers, attempt.confidence, attempt.minimum


def test_a_certificate_counts_for_a_kept_answer(tmp_path: Path) -> None:
    """A declaration with a variable in its chain, and one that is certified and else alike."""
    path = tmp_path / "thresholds.json"
    of = Key(
        point="TEAM",
        language="en",
        form="single",
        scale="reported",
        provider="teller",
        model="teller-1",
        **msgspec.structs.asdict(keys_of(POINT, POINT.questions["en"], "en")["team"]),
    )
    held = Certificate(
        key=of,
        risk=0.05,
        levels=(AtRisk(alpha=0.05, minimum=0.95),),
        delta=0.05,
        method="learn-then-test",
        labels="gold",
        rows=1000,
        seed=1,
        data="0" * 12,
        date="2026-11-30",
    )
    path.write_bytes(written(Thresholds(certificates=(held,))))
    usual = DecisionPoint(name="TEAM", questions=POINT.questions, safe="tech", chain=("USUAL",))
    with telling(Teller(), {**GATED, **KEPT, "DECISION_THRESHOLDS": str(path)}) as gateway:
        decisions = [gateway.ask_sync(point, TEXT) for point in (usual, POINT) * 2]

    assert cached(*decisions) == [False, True, True, True]
    assert [one.attempts[0].minimum for one in decisions] == [0.7, 0.95] * 2
    assert [one.attempts[0].reason for one in decisions] == [Reason.OK, Reason.LOW_CONFIDENCE] * 2


def test_a_reload_judges_by_the_thresholds_that_it_read() -> None:
    variable = "DECISION_TEAM_MIN_CONFIDENCE"
    environ = {"DECISION_PROVIDER": "teller", "DECISION_LOG": "off", **KEPT}
    with telling(Teller(), {**KEPT, variable: "0.5"}) as gateway:
        believed = [gateway.ask_sync(POINT, TEXT) for _ in range(2)]
        gateway.reload({**environ, variable: "0.95"})
        doubted = [gateway.ask_sync(POINT, TEXT) for _ in range(2)]

    assert [one.undecided for one in (*believed, *doubted)] == [False, False, True, True]
    assert cached(*believed, *doubted) == [False, True, False, False]


def test_what_was_said_under_one_gate_is_not_found_out_again() -> None:
    """Most of what a hit would cost."""
    with telling(Teller(), KEPT) as gateway:
        cache = gateway._wiring.cache
        assert cache is not None
        for _ in range(2):
            gateway.ask_sync(POINT, TEXT)
        (entry,) = cache._entries.values()
        said = entry.judged
        gateway.ask_sync(POINT, TEXT)

    assert said is not None
    assert entry.judged is said


# --- beside what else a point has --------------------------------------------------------


def test_a_hit_needs_no_breaker_and_no_budget() -> None:
    said: list[Any] = [Chosen("billing", None, 0.9), *[NoAnswer(Reason.TRANSPORT)] * 9]

    def says(*_: object) -> Any:
        line = said.pop(0)
        if isinstance(line, NoAnswer):
            raise line
        return line

    environ = {**KEPT, "TELLER_BUDGET_USD_PER_DAY": "0.005"}
    with telling(Teller(says), environ) as gateway:
        gateway.ask_sync(POINT, TEXT)
        poor = gateway.ask_sync(POINT, "another")
        hit = gateway.ask_sync(POINT, TEXT)
    assert poor.record.reason is Reason.OVER_BUDGET
    assert cached(hit) == [True]

    said.insert(0, Chosen("billing", None, 0.9))
    with telling(Teller(says), KEPT) as gateway:
        gateway.ask_sync(POINT, TEXT)
        failed = [gateway.ask_sync(POINT, str(at)).record.reason for at in range(6)]
        hit = gateway.ask_sync(POINT, TEXT)
        still = gateway.ask_sync(POINT, "6")

    assert failed == [Reason.TRANSPORT] * 5 + [Reason.BREAKER_OPEN]
    assert cached(hit) == [True]
    assert still.record.reason is Reason.BREAKER_OPEN  # a hit says nothing of the provider


def test_a_turn_gives_what_it_knows_while_the_breaker_is_open() -> None:
    fails = [False]

    def says(*_: object) -> Any:
        if fails[0]:
            raise NoAnswer(Reason.AUTH)
        return Held(0.9)

    with telling(Teller(says)) as gateway, gateway.turn():
        gateway.ask_sync(A, STATE)
        fails[0] = True
        refused = [gateway.ask_sync(B, STATE).record.reason for _ in range(2)]
        known = gateway.ask_sync(A, STATE)

    assert refused == [Reason.AUTH, Reason.BREAKER_OPEN]
    assert cached(known) == [True]


def test_each_arm_of_a_split_has_its_own_answers() -> None:
    class Named(Teller):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Both:
        @hookimpl
        def pointsman_providers(self) -> list[Offer]:
            return [offer(one) for one in made]

    def offer(name: str) -> Offer:
        return Offer(name, lambda: lambda _: made[name])

    made = {one: Named(one) for one in ("left", "right")}
    environ = {"DECISION_TEAM_PROVIDER": "left:50,right:50", "DECISION_LOG": "off", **KEPT}
    with Gateway.from_env(environ, plugins=[Both()]) as gateway:
        for at in range(40):
            decision = gateway.ask_sync(POINT, TEXT, subject=f"s{at % 20}")
            assert decision.provider == decision.record.variant
            assert decision.record.exposure is not None

    assert [len(one.asked) for one in made.values()] == [1, 1]


def test_what_stands_in_another_place_for_a_test_is_always_asked() -> None:
    teller, double = Teller(), scripted("tech", "billing")
    with telling(teller, KEPT) as gateway:
        gateway.ask_sync(POINT, TEXT)
        with gateway.override({"TEAM": double}):
            said = [gateway.ask_sync(POINT, TEXT).value for _ in range(2)]
        hit = gateway.ask_sync(POINT, TEXT)

    assert said == ["tech", "billing"]
    assert cached(hit) == [True]


def test_a_shadow_is_always_asked() -> None:
    """Its record says what it would say now, also where it is the one that answered live."""
    teller = Teller()
    environ = {**KEPT, "DECISION_TEAM_PROVIDER": "current", "DECISION_TEAM_SHADOW": "teller"}
    gateway = telling(teller, environ)
    for _ in range(3):
        gateway.ask_sync(POINT, TEXT, current=lambda: "billing")
    gateway.close()

    assert len(teller.asked) == 3


def test_nothing_of_the_state_is_kept() -> None:
    canary = "canary-5f2b9e"
    with telling(Teller(), KEPT) as gateway:
        gateway.ask_sync(POINT, canary * 20)
        cache = gateway._wiring.cache
        held_there = [one for one in _reached(cache) if isinstance(one, str | bytes)]

    assert held_there
    assert not [one for one in held_there if canary[:8] in repr(one)]


def _reached(root: object) -> Iterator[object]:
    """Everything that the entries of a cache hold."""
    todo: list[object] = [vars(root)["_entries"]]
    while todo:
        one = todo.pop()
        yield one
        if isinstance(one, dict):
            todo += [*one.keys(), *one.values()]
        elif isinstance(one, tuple | list):
            todo += one
        elif isinstance(one, msgspec.Struct):
            todo += msgspec.structs.astuple(one)


def test_a_mask_sees_what_leaves_and_a_hit_needs_none() -> None:
    class Masks(Offers):
        @hookimpl
        def pointsman_masks(self) -> list[Any]:
            from pointsman.gateway.masking import MaskOffer

            return [MaskOffer("hides", lambda: mask)]

    seen: list[str] = []

    def mask(text: str) -> str:
        seen.append(text)
        return text.replace("invoice", "***")

    teller = Teller()
    environ = {"DECISION_PROVIDER": "teller", "DECISION_LOG": "off", "TELLER_MASK": "hides"}
    with Gateway.from_env({**environ, **KEPT}, plugins=[Masks(teller)]) as gateway:
        decisions = [gateway.ask_sync(POINT, TEXT) for _ in range(2)]

    assert cached(*decisions) == [False, True]
    assert seen == [TEXT]
    assert [one.text for one in teller.asked] == ["my *** doubled"]


def test_a_provider_that_looked_at_the_hosts_own_path_is_asked_again() -> None:
    """Its answer speaks of what this host does, and the next host may do something else."""

    class Second(Teller):
        def answer(self, ask: Ask, call: Call) -> Reply:
            assert call.current is not None
            self.told(ask, call)
            return Reply({"team": Chosen(call.current(), None, 0.9)})

    with telling(Second(), KEPT) as gateway:
        said = [gateway.ask_sync(POINT, TEXT, current=partial(str, one)) for one in TEAM.options]

    assert [one.value for one in said] == [*TEAM.options]
    assert cached(*said) == [False, False]


def test_what_may_not_be_nested_is_not_answered_from_memory() -> None:
    class Committee(Teller):
        deliberates = True

    with telling(Committee(), KEPT) as gateway:
        gateway.ask_sync(POINT, TEXT)
        deeper = Call(point="OUTER", depth=0, asking=("debate",))
        within = gateway.ask_sync(POINT, TEXT, within=deeper, current=lambda: "tech")
        again = gateway.ask_sync(POINT, TEXT)

    assert within.record.reason is Reason.NESTED
    assert cached(again) == [True]


# --- turns -------------------------------------------------------------------------------


@in_loop
async def test_turns_find_what_was_kept_and_ask_the_rest_together() -> None:
    teller = Teller()
    with telling(teller, ALL) as gateway:
        await gateway.ask(A, STATE)
        async with gateway.turn() as turn:
            asked = await turn.ask(A, B, C, state=STATE)
        async with gateway.turn() as turn:
            sync = await asyncio.to_thread(turn.ask_sync, A, B, C, state=STATE)

    assert cached(*asked.values()) == [True, False, False]
    assert [one.attempts[0].form[:6] for one in asked.values()] == ["single", "shared", "shared"]
    assert cached(*sync.values()) == [True, False, False]
    assert [[*one.questions] for one in teller.asked] == [["bad"], *[["B.bad", "C.bad"]] * 2]


@in_loop
async def test_an_answer_of_a_shared_call_is_not_kept_beyond_its_turn() -> None:
    """Who answered it read the other points' fields too, which may be anybody's words."""
    teller = Teller()
    with telling(teller, ALL) as gateway:
        async with gateway.turn() as turn:
            await turn.ask(A, B, state=STATE)
            within = await gateway.ask(A, STATE)
        after = await gateway.ask(A, STATE)

    assert cached(within, after) == [True, False]
    assert after.attempts[0].form == "single"


@in_loop
async def test_a_turn_remembers_what_the_cache_forgets(clock: Callable[[float], None]) -> None:
    with telling(Teller(), ALL) as gateway:
        await gateway.ask(A, STATE)
        async with gateway.turn():
            first = await gateway.ask(A, STATE)
            clock(61.0)
            later = await gateway.ask(A, STATE)
        outside = await gateway.ask(A, STATE)

    assert cached(first, later, outside) == [True, True, False]


# --- the size ----------------------------------------------------------------------------


@in_loop
async def test_the_least_recently_used_goes_first() -> None:
    with telling(Teller(), KEPT) as gateway:
        gateway._wiring.cache = Cache(entries=2)
        for text in ("one", "two", "one", "three"):
            await gateway.ask(POINT, text)
        hits = [await gateway.ask(POINT, text) for text in ("one", "three", "two")]

    assert cached(*hits) == [True, True, False]


def test_bytes_are_bounded_and_what_is_too_large_is_not_kept() -> None:
    wide = Choice("Which?", {f"option-{at:03}": "text" for at in range(255)})
    with telling(Spread(), KEPT) as gateway:
        gateway._wiring.cache = Cache(size=2_000)
        gateway.ask_sync(POINT, "small")
        large = [gateway.ask_sync("TEAM", Ask(TEXT, {"t": wide}), current=str) for _ in range(2)]
        small = gateway.ask_sync(POINT, "small")
        for at in range(100):
            gateway.ask_sync(POINT, str(at))
        old, young = gateway.ask_sync(POINT, "small"), gateway.ask_sync(POINT, "99")

    assert cached(*large) == [False, False]
    assert cached(small, old, young) == [True, False, True]


def test_many_different_asks_need_no_more_memory_than_a_few() -> None:
    with telling(Teller(), KEPT) as gateway:
        gateway._wiring.cache = Cache(entries=100)
        for at in range(300):
            gateway.ask_sync(POINT, f"warm {at}")
        gc.collect()
        tracemalloc.start()
        teller = gateway.provider("teller")
        assert isinstance(teller, Teller)
        for at in range(2_000):
            gateway.ask_sync(POINT, f"state {at}")
            teller.asked.clear()
            teller.calls.clear()
        gc.collect()
        grown, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert grown < 500_000  # bytes; 2,000 entries that stay would need more


# --- one call for what is asked at the same time -----------------------------------------


def _kept(server: Server, **more: str) -> Gateway:
    environ = {
        "DECISION_LOG": "off",
        "DECISION_PROVIDER": "teller",
        **KEPT,
        **more,
    }
    return Gateway.from_env(environ, plugins=[Offers(HttpTeller(server.url))])


def _waiters(gateway: Gateway) -> int:
    """How many wait for what is under way."""
    cache = gateway._wiring.cache
    assert cache is not None
    return sum(len(one.waiters) for one in [*cache.flights._flights.values()])


async def _until(holds: Callable[[], bool]) -> None:
    end = time.perf_counter() + PATIENCE
    while not holds():
        assert time.perf_counter() < end
        await asyncio.sleep(0.001)


def _until_sync(holds: Callable[[], bool]) -> None:
    asyncio.run(_until(holds))


def _paid_once(decisions: list[Decision[Any]]) -> None:
    assert {one.provider for one in decisions} == {"teller"}
    assert sorted(cached(*decisions)) == [False] + [True] * (len(decisions) - 1)
    assert sum(one.record.cost_usd for one in decisions) == 0.01
    assert sum(one.record.tokens for one in decisions) == 1000


@in_loop
async def test_the_same_asked_by_many_tasks_is_sent_once(server: Server) -> None:
    server.does(waits(replies()))
    async with _kept(server) as gateway:
        tasks = [asyncio.create_task(gateway.ask(POINT, TEXT)) for _ in range(100)]
        await server.reached()
        await _until(lambda: _waiters(gateway) == 100)
        server.let_go()
        _paid_once(list(await asyncio.gather(*tasks)))
        assert cached(await gateway.ask(POINT, TEXT)) == [True]

    assert len(server.seen) == 1


def test_the_same_asked_by_many_threads_is_sent_once(server: Server) -> None:
    server.does(waits(replies()))
    with _kept(server) as gateway, ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(gateway.ask_sync, POINT, TEXT) for _ in range(20)]
        _until_sync(lambda: _waiters(gateway) == 19)
        server.let_go()
        _paid_once([one.result(PATIENCE) for one in asked])

    assert len(server.seen) == 1


@pytest.mark.parametrize("first", ["thread", "loop"])
def test_threads_and_loops_share_one_call(server: Server, first: str) -> None:
    server.does(waits(replies()))

    async def many() -> list[Decision[Any]]:
        return list(await asyncio.gather(*[gateway.ask(POINT, TEXT) for _ in range(3)]))

    def in_a_loop() -> list[Decision[Any]]:
        return asyncio.run(many())

    def on_a_thread() -> list[Decision[Any]]:
        return [gateway.ask_sync(POINT, TEXT)]

    leads, follows = (on_a_thread, in_a_loop) if first == "thread" else (in_a_loop, on_a_thread)
    with _kept(server) as gateway, ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(leads)]
        server.wait()
        asked += [pool.submit(one) for one in (follows, in_a_loop, on_a_thread)]
        _until_sync(lambda: _waiters(gateway) == (7 if first == "thread" else 8))
        server.let_go()
        _paid_once([one for some in asked for one in some.result(PATIENCE)])

    assert len(server.seen) == 1


@in_loop
async def test_who_leaves_affects_nobody_and_the_last_one_ends_the_call(server: Server) -> None:
    server.does(hangs(), replies())
    async with _kept(server) as gateway:
        tasks = [asyncio.create_task(gateway.ask(POINT, TEXT)) for _ in range(3)]
        await server.reached()
        await _until(lambda: _waiters(gateway) == 3)
        for task in tasks[:2]:  # the one that began it, too
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert not server.left.is_set()
        assert not tasks[2].done()
        tasks[2].cancel()
        await server.abandoned()
        with pytest.raises(asyncio.CancelledError):
            await tasks[2]
        after = await gateway.ask(POINT, TEXT)

    assert cached(after) == [False]
    assert len(server.seen) == 2


@in_loop
async def test_the_one_that_stays_has_what_was_paid(server: Server) -> None:
    server.does(waits(replies()))
    recorder = Recorder()
    environ = {"DECISION_LOG": "off", "DECISION_PROVIDER": "teller", **KEPT}
    teller = HttpTeller(server.url)
    async with Gateway.from_env(environ, plugins=[Offers(teller)], observers=[recorder]) as gateway:
        first, second = [asyncio.create_task(gateway.ask(POINT, TEXT)) for _ in range(2)]
        await _until(lambda: _waiters(gateway) == 2)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        server.let_go()
        stayed = await second
        hit = await gateway.ask(POINT, TEXT)

    assert cached(stayed, hit) == [False, True]
    assert sum(one.cost_usd for one in recorder.records) == 0.01


@in_loop
async def test_each_waiter_has_its_own_deadline(
    server: Server, clock: Callable[[float], None]
) -> None:
    """A hurried one goes without; the patient one gets the answer of the same call."""
    server.does(waits(replies()))
    async with _kept(server, DECISION_TEAM_DEADLINE_SECONDS="2000") as gateway:
        teller: Any = gateway.provider("teller")
        teller.timeout = 1e6  # seconds
        hurried = asyncio.create_task(gateway.ask(POINT, TEXT))
        await server.reached()
        clock(600.0)
        patient = asyncio.create_task(gateway.ask(POINT, TEXT))
        await _until(lambda: _waiters(gateway) == 2)
        clock(600.0)  # half of the deadline is the fallback's
        assert (await hurried).record.reason is Reason.TIMEOUT
        assert not patient.done()
        server.let_go()
        assert (await patient).provider == "teller"

    assert len(server.seen) == 1


def _failing(server: Server) -> None:
    server.does(waits(replies(status=503)))


@in_loop
async def test_a_call_that_fails_fails_all_and_is_told_and_kept_by_none(server: Server) -> None:
    """Five failures in a row open a breaker: these are one."""
    _failing(server)
    async with _kept(server) as gateway:
        for _ in range(4):
            tasks = [asyncio.create_task(gateway.ask(POINT, TEXT)) for _ in range(5)]
            await _until(lambda: _waiters(gateway) == 5)
            server.let_go()
            ended = await asyncio.gather(*tasks)
            assert {one.record.reason for one in ended} == {Reason.PROVIDER_ERROR}
            assert {one.provider for one in ended} == {""}
            _failing(server)
        server.does(replies())
        good = await gateway.ask(POINT, TEXT)

    assert good.provider == "teller"
    assert cached(good) == [False]


def test_a_thread_that_dies_leaves_the_others_a_call_of_their_own() -> None:
    class Dies(Teller):
        def answer(self, ask: Ask, call: Call) -> Reply:
            reply = self.told(ask, call)
            if len(self.asked) == 1:
                begun.set()
                assert go.wait(PATIENCE)
                raise SystemExit
            return reply

    begun, go = threading.Event(), threading.Event()
    with telling(Dies(), KEPT) as gateway, ThreadPoolExecutor(3) as pool:
        dies = pool.submit(gateway.ask_sync, POINT, TEXT)
        assert begun.wait(PATIENCE)
        others = [pool.submit(gateway.ask_sync, POINT, TEXT) for _ in range(2)]
        _until_sync(lambda: _waiters(gateway) == 2)
        go.set()
        with pytest.raises(SystemExit):
            dies.result(PATIENCE)
        _paid_once([one.result(PATIENCE) for one in others])


def test_a_hurried_thread_does_not_end_what_a_patient_one_waits_for(server: Server) -> None:
    """On a thread nobody can go on with another's call: the patient one asks again."""
    server.does(waits(replies()), replies())
    with _kept(server) as gateway, ThreadPoolExecutor(2) as pool:
        hurried = pool.submit(_asked_within, gateway, 0.6)
        server.wait()
        patient = pool.submit(gateway.ask_sync, POINT, TEXT)
        _until_sync(lambda: _waiters(gateway) == 1)
        assert hurried.result(PATIENCE).record.reason is Reason.TIMEOUT
        assert patient.result(PATIENCE).provider == "teller"
        server.let_go()

    assert len(server.seen) == 2


def _asked_within(gateway: Gateway, seconds: float) -> Decision[Any]:
    """Ask with a deadline of this call's own; half of it is the fallback's."""
    wiring, case = gateway._asked_case(POINT, TEXT, Hosted())
    until = time.monotonic() + seconds
    case.call = msgspec.structs.replace(case.call, deadline=until)
    return run_sync(wiring, decide, case)


@in_loop
async def test_a_hurried_waiter_on_a_thread_tells_the_breaker_for_all(server: Server) -> None:
    server.does(waits(replies()))
    async with _kept(server) as gateway:
        leads = asyncio.create_task(gateway.ask(POINT, TEXT))
        await server.reached()
        hurried = await asyncio.to_thread(_asked_within, gateway, 0.2)
        assert hurried.record.reason is Reason.TIMEOUT
        assert not leads.done()
        server.let_go()
        assert (await leads).provider == "teller"

    assert len(server.seen) == 1


@pytest.mark.parametrize("joins", ["before", "after"])
def test_a_loop_that_stands_still_holds_nobody_up(
    server: Server, joins: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host runs its loop only now and then: `run_until_complete`, again and again."""
    monkeypatch.setattr(flights, "TICK", 0.01)
    server.does(waits(replies()), replies())
    loop = asyncio.new_event_loop()
    with _kept(server) as gateway, ThreadPoolExecutor(1) as pool:
        leads = loop.create_task(gateway.ask(POINT, TEXT))
        loop.run_until_complete(server.reached())
        if joins == "before":

            async def joined() -> Any:
                asked = pool.submit(gateway.ask_sync, POINT, TEXT)
                await _until(lambda: _waiters(gateway) == 2)
                return asked

            asked = loop.run_until_complete(joined())
        else:
            asked = pool.submit(gateway.ask_sync, POINT, TEXT)
        assert cached(asked.result(PATIENCE)) == [False]
        server.let_go()
        assert loop.run_until_complete(leads).provider == "teller"
        loop.run_until_complete(gateway.aclose())
    loop.close()

    assert len(server.seen) == 2


@in_loop
async def test_a_sync_ask_inside_a_loop_never_waits_for_that_loop(server: Server) -> None:
    """It would wait for ever: nothing goes on there meanwhile."""
    server.does(waits(replies()), replies())
    async with _kept(server) as gateway:
        leads = asyncio.create_task(gateway.ask(POINT, TEXT))
        await server.reached()
        inside = gateway.ask_sync(POINT, TEXT)
        server.let_go()
        await leads

    assert cached(inside) == [False]


def test_the_end_of_a_loop_leaves_others_a_call_of_their_own(server: Server) -> None:
    """`asyncio.run` ends what is under way in it."""
    server.does(waits(replies()), replies())

    async def begins() -> None:
        task = asyncio.create_task(gateway.ask(POINT, TEXT))
        await server.reached()
        others.append(pool.submit(gateway.ask_sync, POINT, TEXT))
        await _until(lambda: _waiters(gateway) == 2)
        task.cancel()

    others: list[Any] = []
    with _kept(server) as gateway, ThreadPoolExecutor(1) as pool:
        asyncio.run(begins())
        assert cached(others[0].result(PATIENCE)) == [False]
        server.let_go()

    assert len(server.seen) == 2


@in_loop
async def test_closing_ends_what_is_under_way(server: Server) -> None:
    server.does(waits(replies()))
    gateway = _kept(server)
    tasks = [asyncio.create_task(gateway.ask(POINT, TEXT)) for _ in range(3)]
    await server.reached()
    await _until(lambda: _waiters(gateway) == 3)
    await gateway.aclose()
    ended = await asyncio.gather(*tasks)
    server.let_go()

    assert {one.record.reason for one in ended} == {Reason.CANCELLED}
    assert len(server.seen) == 1


class Untidy(Spread):
    """Takes its time to clean up, whoever waits for that."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.cleans, self.tidy = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def answer(self, ask: Ask, call: Call) -> Reply:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cleans.set()
            await self.tidy.wait()
        raise AssertionError


@in_loop
async def test_nobody_waits_for_ever_for_a_call_to_clean_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The call is the gateway's, which ends it at the latest when it is closed."""
    monkeypatch.setattr(flights, "GRACE", 0.01)
    untidy = Untidy()
    gateway = telling(untidy, KEPT)
    task = asyncio.create_task(gateway.ask(POINT, TEXT))
    await untidy.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert untidy.cleans.is_set()
    untidy.tidy.set()
    await gateway.aclose()


@in_loop
async def test_who_comes_between_an_answer_and_its_keeping_is_not_sent_again() -> None:
    """An async provider; each new caller begins as soon as the last one is served."""
    teller = AsyncTeller()
    teller.gate.clear()
    with telling(teller, KEPT) as gateway:

        async def follows(_: object) -> Decision[Any]:
            return await gateway.ask(POINT, TEXT)

        first = asyncio.create_task(gateway.ask(POINT, TEXT))
        later: list[asyncio.Task[Decision[Any]]] = []
        await teller.begun.wait()
        loop = asyncio.get_running_loop()

        def again(passes: int) -> None:
            later.append(loop.create_task(follows(passes)))
            if passes:
                loop.call_soon(again, passes - 1)

        teller.gate.set()
        again(20)
        await first
        await _until(lambda: len(later) == 21)
        _paid_once([first.result(), *await asyncio.gather(*later)])

    assert len(teller.asked) == 1


@in_loop
async def test_different_asks_do_not_wait_for_each_other(server: Server) -> None:
    server.does(waits(replies()), replies())
    async with _kept(server) as gateway:
        one = asyncio.create_task(gateway.ask(POINT, TEXT))
        await server.reached()
        other = await gateway.ask(POINT, "another")
        assert not one.done()
        server.let_go()
        await one

    assert cached(other) == [False]


@in_loop
async def test_what_failed_is_billed_to_one() -> None:
    class Bills(AsyncTeller):
        async def answer(self, ask: Ask, call: Call) -> Reply:
            reply = await super().answer(ask, call)
            raise NoAnswer(Reason.MALFORMED, reply=reply)

    teller = Bills()
    teller.gate.clear()
    with telling(teller, KEPT) as gateway:
        tasks = [asyncio.create_task(gateway.ask(POINT, TEXT)) for _ in range(4)]
        await _until(lambda: _waiters(gateway) == 4)
        teller.gate.set()
        ended = await asyncio.gather(*tasks)

    assert {one.record.reason for one in ended} == {Reason.MALFORMED}
    assert sum(one.record.cost_usd for one in ended) == 0.01
    assert not any(cached(*ended))


def test_loops_and_threads_that_come_and_go_pay_exactly_what_was_billed() -> None:
    """Answers good and bad, waiters that are cancelled, entries that expire meanwhile."""
    chance, lock = random.Random(7), threading.Lock()

    class Bills(Teller):
        completed = 0

        async def answer(self, ask: Ask, call: Call) -> Reply:
            with lock:
                seconds, sure = chance.random() / 500, 0.9 if chance.random() < 0.7 else 0.1
            await asyncio.sleep(seconds)
            with lock:
                Bills.completed += 1
            return Reply({"team": Chosen("tech", None, sure)}, "m", Usage(1, 1, 1.0))

    def text() -> str:
        with lock:
            return str(chance.randrange(4))

    async def tasks() -> None:
        for at in range(40):
            task = asyncio.create_task(gateway.ask(POINT, text()))
            if at % 5 == 0:
                await asyncio.sleep(0)
                task.cancel()
            await asyncio.wait([task])

    async def many() -> None:
        await asyncio.gather(*[tasks() for _ in range(10)])

    def thread() -> None:
        for _ in range(60):
            gateway.ask_sync(POINT, text())

    recorder = Recorder()
    environ = {"DECISION_TEAM_CACHE_SECONDS": "0.005"}
    with telling(Bills(), environ, observers=[recorder]) as gateway:
        with ThreadPoolExecutor(5) as pool:
            work = [pool.submit(asyncio.run, many()) for _ in range(2)]
            work += [pool.submit(thread) for _ in range(3)]
            for one in work:
                one.result(PATIENCE)
        cache = gateway._wiring.cache
        assert cache is not None
        assert not cache.flights._flights

    assert len(recorder.records) == 2 * 10 * 40 + 3 * 60
    assert sum(one.cost_usd for one in recorder.records) == Bills.completed
    assert Bills.completed < len(recorder.records)


def test_a_point_whose_answers_cannot_be_kept_is_told() -> None:
    """`current` is the host's own path: the variable would be set in good faith, and do nothing."""
    environ = {"DECISION_TOPIC_CACHE_SECONDS": "60", "DECISION_LOG": "off"}
    gateway = Gateway.from_env(environ)

    @gateway.point("TOPIC", Choice("What about?", ["a", "b"]))
    def topic(text: str) -> str:
        return text

    (odd,) = gateway.check()
    assert odd.where == "DECISION_TOPIC_CACHE_SECONDS"


class Echo(AsyncTeller):
    """Answers what each caller's own path says."""

    def __init__(self, *, hears_current: bool) -> None:
        super().__init__()
        self.hears_current = hears_current

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """Hear it, after a while."""
        self.calls.append(call)
        await asyncio.sleep(0)
        assert call.current is not None
        said = call.current()
        return Reply({"team": Chosen(said, None, 0.9)})


@pytest.mark.parametrize("hears_current", [True, False])
@pytest.mark.parametrize("turn", [True, False])
@in_loop
async def test_nobody_gets_what_was_made_of_another_callers_path(
    *, turn: bool, hears_current: bool
) -> None:
    """In a turn, in a call under way, and later: the same ask has hosts of different minds."""
    echo = Echo(hears_current=hears_current)
    gateway = telling(echo, {} if turn else KEPT)
    group = contextlib.nullcontext() if not turn else gateway.turn(subject="s")

    async def asked(says: str) -> Decision[Any]:
        return await gateway.ask(POINT, TEXT, current=lambda: says)

    with group:
        first = await asyncio.gather(*map(asked, ("billing", "tech", "billing")))
        later = [await asked(says) for says in ("tech", "billing")]

    assert [one.value for one in first] == ["billing", "tech", "billing"]
    assert [one.value for one in later] == ["tech", "billing"]
    assert len(echo.calls) >= 5
    await gateway.aclose()
