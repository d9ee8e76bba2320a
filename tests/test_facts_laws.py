"""Laws of the fold: whatever is drawn, they hold; and two simpler designs that break them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, assume, find, given, settings
from hypothesis import strategies as st

from facts_strategies import (
    KEY,
    LEVELS,
    MINUTE,
    assertions,
    attribute_of,
    policies,
    read_by,
    registries,
    said,
    scenes,
)
from pointsman.decision_points.facts import folding
from pointsman.decision_points.facts.assertions import Assertion, Recorded, Value, When, recorded
from pointsman.decision_points.facts.entries import AnyEntry, Asserted, Receipt, Retracted, Stored
from pointsman.decision_points.facts.folding import Living, beats, due, fold, living, rules_of
from pointsman.decision_points.facts.outcomes import Outcome, dispute_id
from pointsman.decision_points.facts.policy import Policy
from pointsman.decision_points.facts.registry import Registry

Scene = tuple[tuple[Recorded, ...], Policy, Registry]

NOW = 130 * MINUTE  # behind all times that are drawn
NEW = "newcomer"  # a source that has not spoken, whose level is drawn

laws = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)

READINGS: dict[str, dict[str, Any]] = {
    "text": {"type": "text"},
    "nested": {"type": "place", "hierarchy": "places"},
    "near": {"type": "number", "tolerance": "1"},
}
WRITTEN = {
    "nested": {"x": "milan", "y": "lombardy", "z": "bergamo"},
    "near": {"x": "1", "y": "2", "z": "3"},
}
PLACES = {"places": {"milan": "lombardy", "bergamo": "lombardy", "lombardy": "italy"}}


@st.composite
def any_scene(draw: st.DrawFn, /, **fixed: Any) -> Scene:
    """Draw a scene of one of three types of values: plain, nested, and with a tolerance."""
    reading = draw(st.sampled_from(sorted(READINGS)))
    declared = draw(policies(**fixed))
    table = {**attribute_of(declared).plain(), **READINGS[reading]}
    policy = Policy.of({"attributes": {KEY.attribute: table}, "hierarchies": PLACES})
    plain = draw(said(declared))
    if reading == "text":
        return plain, declared, draw(registries())
    written = WRITTEN[reading]
    several = [_rewritten(one, policy, written) for one in plain if not one.assertion.corrects]
    return tuple({one.id: one for one in several}.values()), policy, draw(registries())


def _rewritten(one: Recorded, policy: Policy, written: dict[str, str]) -> Recorded:
    raw = written.get(one.assertion.raw, "")
    return recorded(read_by(policy, msgspec.structs.replace(one.assertion, raw=raw)))


def bytes_of(outcome: Outcome) -> bytes:
    return msgspec.json.encode(outcome)


def folded(these: Iterable[Recorded], policy: Policy, registry: Registry) -> Outcome:
    return fold(KEY, tuple(these), policy, registry, NOW)


def said_as(one: Recorded, policy: Policy) -> Value | None:
    return folding.said(one, policy)


def with_new_source(registry: Registry, level: str) -> Registry:
    tables = registry.plain()
    return Registry.of({**tables, "sources": {**tables["sources"], NEW: {"level": level}}})


def logged(entries: Iterable[AnyEntry]) -> list[Stored]:
    return [
        Stored(position=at, id=one.id, recorded_at=at * MINUTE, entry=one)
        for at, one in enumerate(entries, 1)
    ]


@laws
@given(any_scene(), st.randoms(use_true_random=False))
def test_order_and_repetition_change_no_byte(scene: Scene, chance: Any) -> None:
    """RF-23, RF-45: a late arrival equals an early one; RF-08: so does a second one."""
    these, policy, registry = scene
    shuffled = [*these, *these[: len(these) // 2]]
    chance.shuffle(shuffled)
    assert bytes_of(folded(shuffled, policy, registry)) == bytes_of(folded(these, policy, registry))


@laws
@given(scenes(), st.data())
def test_union_of_two_stores_is_one_store(scene: Scene, data: st.DataObject) -> None:
    """RF-23, RF-77: split in two with an overlap, in whatever order, and put together."""
    these, policy, registry = scene
    log = logged(Asserted(assertion=one.assertion) for one in these)
    sides = [data.draw(st.sampled_from(("left", "right", "both"))) for _ in log]
    left = [one for one, side in zip(log, sides, strict=True) if side != "right"]
    right = [one for one, side in zip(log, sides, strict=True) if side != "left"]
    whole = fold(KEY, living(log, registry), policy, registry, NOW)
    for union in ([*left, *right], [*right, *left]):
        merged = fold(KEY, living(union, registry), policy, registry, NOW)
        assert bytes_of(merged) == bytes_of(whole)


@laws
@given(any_scene())
def test_no_value_comes_out_that_nobody_asserted(scene: Scene) -> None:
    """RF-35."""
    these, policy, registry = scene
    outcome = folded(these, policy, registry)
    spoken = {one.assertion.value for one in these}
    assert outcome.value is None or outcome.value in spoken
    for one in outcome.candidates:
        assert one.value in spoken or one.value.form == "kind"


@laws
@given(any_scene())
def test_one_value_resolves_whatever_is_missing(scene: Scene) -> None:
    """RF-25."""
    these, policy, registry = scene
    spoken = [one for one in these if one.assertion.kind == "value" and not one.assertion.corrects]
    same = [one for one in spoken if one.assertion.value == spoken[0].assertion.value]
    outcome = folded(same, policy, registry)
    assert outcome.status in {"resolved", "absent", "not_yet", "ended"}
    if outcome.status == "resolved":
        assert outcome.decided_by == "unanimous"


@laws
@given(any_scene(), st.sampled_from(LEVELS), assertions(source=NEW, kind="value"))
def test_new_source_that_agrees_never_hurts(scene: Scene, level: str, like: Assertion) -> None:
    """RF-34: under every policy that loads, with guards, tolerances and corroboration too."""
    these, policy, registry = scene
    registry = with_new_source(registry, level)
    before = folded(these, policy, registry)
    assume(before.status == "resolved" and before.value is not None)
    raw = next(one.assertion.raw for one in these if one.assertion.value == before.value)
    agreeing = recorded(read_by(policy, msgspec.structs.replace(like, raw=raw)))
    after = folded([*these, agreeing], policy, registry)
    assert (after.status, after.value) == (before.status, before.value)


@laws
@given(any_scene(dissent="show"), st.data())
def test_taking_away_a_loser_never_changes_the_answer(scene: Scene, data: st.DataObject) -> None:
    """
    RF-34.

    A loser is beaten and says something else. One that spoke more than once is none: it may have
    corrected, confirmed or dated another word of its own source. A guard counts losers by design.
    """
    these, policy, registry = scene
    before = folded(these, policy, registry)
    won = before.candidates[0].value if len(before.candidates) == 1 else None
    spoken = [one.assertion.source for one in these]
    lost = {one.lost for one in before.trace.beaten if one.on != "correction"}
    losers = [
        one
        for one in these
        if one.id in lost
        and spoken.count(one.assertion.source) == 1
        and said_as(one, policy) != won
        and not one.assertion.corrects
    ]
    decided = won is not None or attribute_of(policy).corroboration is None
    assume(losers and decided)
    loser = data.draw(st.sampled_from(losers))
    after = folded([one for one in these if one is not loser], policy, registry)
    assert (after.status, after.value, after.dispute) == (
        before.status,
        before.value,
        before.dispute,
    )


@laws
@given(
    any_scene(dissent="show", corroboration=None), st.sampled_from(LEVELS), assertions(source=NEW)
)
def test_newcomer_that_is_beaten_changes_nothing(scene: Scene, level: str, new: Assertion) -> None:
    """RF-26: it is in the history, with the reason (RF-46)."""
    these, policy, registry = scene
    registry = with_new_source(registry, level)
    before = folded(these, policy, registry)
    reader = {"text": "x", "place": "milan", "number": "1"}[attribute_of(policy).type]
    written = msgspec.structs.replace(new, raw=reader if new.kind == "value" else "")
    newcomer = recorded(read_by(policy, written))
    after = folded([*these, newcomer], policy, registry)
    assume(newcomer.id in {one.lost for one in after.trace.beaten})
    assert after.hash == before.hash
    assert [one.id for one in after.candidates] == [one.id for one in before.candidates]
    assert after.dispute == before.dispute


@laws
@given(scenes(), st.data())
def test_retracted_is_as_never_said(scene: Scene, data: st.DataObject) -> None:
    """RF-47: a retraction by its source, also one that came first; RF-49: itself retracted."""
    these, policy, registry = scene
    assume(these)
    gone = data.draw(st.sampled_from(these))
    source = gone.assertion.source
    said_: list[AnyEntry] = [Asserted(assertion=one.assertion) for one in these]
    back = Retracted(key=KEY, target=gone.id, by=source, reason="wrong page")
    never = folded([one for one in these if one is not gone], policy, registry)
    orders: tuple[list[AnyEntry], ...] = ([*said_, back], [back, *said_])
    for entries in orders:
        there = living(logged(entries), registry)
        assert bytes_of(fold(KEY, there, policy, registry, NOW)) == bytes_of(never)
    again = Retracted(key=KEY, target=back.id, by=source, reason="right after all")
    there = living(logged([again, *said_, back]), registry)
    whole = folded(these, policy, registry)
    assert bytes_of(fold(KEY, there, policy, registry, NOW)) == bytes_of(whole)


@laws
@given(scenes(), st.data())
def test_what_was_known_then_is_what_was_answered_then(scene: Scene, data: st.DataObject) -> None:
    """RF-41: `known_at` filters by when something was recorded, which decides nothing else."""
    these, policy, registry = scene
    entries: list[AnyEntry] = [Asserted(assertion=one.assertion) for one in these]
    if these:
        one = data.draw(st.sampled_from(these))
        entries.append(
            Retracted(key=KEY, target=one.id, by=one.assertion.source, reason="wrong page")
        )
    log = logged(data.draw(st.permutations(entries)))
    for known in range(len(log) + 1):
        then = fold(KEY, living(log[:known], registry), policy, registry, NOW)
        seen = living(log, registry, known_at=known * MINUTE)
        assert bytes_of(fold(KEY, seen, policy, registry, NOW)) == bytes_of(then)


@laws
@given(policies(), registries(), st.data())
def test_beats_is_a_strict_partial_order(
    policy: Policy, registry: Registry, data: st.DataObject
) -> None:
    """RF-24: for every policy and registry that load."""
    rules = rules_of(KEY.attribute, policy, registry)
    assert rules is not None
    three = [recorded(read_by(policy, data.draw(assertions(valid_to=None)))) for _ in range(3)]
    for a, b, c in permutations(three):
        assert beats(a, a, rules, NOW) is None
        assert not (beats(a, b, rules, NOW) and beats(b, a, rules, NOW))
        if beats(a, b, rules, NOW) and beats(b, c, rules, NOW):
            assert beats(a, c, rules, NOW)


@laws
@given(any_scene())
def test_trace_accounts_for_everything_that_holds(scene: Scene) -> None:
    """RF-37, RF-46: each is unbeaten or has one witness, which is unbeaten or corrects it."""
    these, policy, registry = scene
    outcome = folded(these, policy, registry)
    trace = outcome.trace
    lost = {one.lost for one in trace.beaten}
    assert lost.isdisjoint(trace.unbeaten)
    assert len(lost) == len(trace.beaten)
    assert {one.to for one in trace.beaten if one.on != "correction"} <= set(trace.unbeaten)
    assert {name for one in outcome.candidates for name in one.assertions} <= set(
        trace.unbeaten
    ) | (lost if outcome.reason == "dissent" else set())


@laws
@given(any_scene(), st.data())
def test_resolution_outlives_what_agrees_with_it(scene: Scene, data: st.DataObject) -> None:
    """RF-53, RF-50: a new source that confirms the choice, of whatever rank, never reopens it."""
    these, policy, registry = scene
    registry = with_new_source(registry, data.draw(st.sampled_from(LEVELS)))
    before = folded(these, policy, registry)
    assume(before.status == "disputed")
    ids = tuple(one.id for one in before.candidates)
    assert before.dispute == dispute_id(KEY, ids[::-1])
    chosen = data.draw(st.sampled_from(before.candidates))
    assume(chosen.value.form != "kind")
    receipt = Receipt(
        key=KEY,
        dispute=before.dispute,
        seen=ids,
        choice=chosen.id,
        resolver="maria",
        party="person",
        at=NOW,
    )
    there = Living(assertions=these, receipts=(receipt,))
    resolved = fold(KEY, there, policy, registry, NOW)
    assert (resolved.status, resolved.value) == ("resolved", chosen.value)
    raw = next(one.assertion.raw for one in these if one.assertion.value == chosen.value)
    new = data.draw(assertions(source=NEW, kind="value"))
    more = (*these, recorded(read_by(policy, msgspec.structs.replace(new, raw=raw))))
    after = fold(KEY, Living(assertions=more, receipts=(receipt,)), policy, registry, NOW)
    assert (after.status, after.value) == ("resolved", chosen.value)


@laws
@given(scenes(), st.integers(0, 40))
def test_outcome_stands_until_it_is_due(scene: Scene, start: int) -> None:
    """RF-43: between two due times nothing changes by itself."""
    these, policy, registry = scene
    there = Living(assertions=these)
    at = start * MINUTE
    next_ = due(there, policy, registry, at)
    last = (next_ or at + 100 * MINUTE) - 1
    assert next_ is None or next_ > at
    assert bytes_of(fold(KEY, there, policy, registry, at)) == bytes_of(
        fold(KEY, there, policy, registry, last)
    )


@laws
@given(scenes(most=4), st.integers(2, 30))
def test_flood_of_one_source_is_one_voice(scene: Scene, times: int) -> None:
    """RF-80: the same word again and again, by other readers, moves no outcome and no count."""
    these, policy, registry = scene
    assume(attribute_of(policy).basis != "confirmed")
    before = folded(these, policy, registry)
    flood = [
        recorded(msgspec.structs.replace(one.assertion, writer=f"bot {n}", corrects=""))
        for one in these
        if not one.assertion.corrects
        for n in range(times)
    ]
    after = folded([*these, *flood], policy, registry)
    assert after.hash == before.hash or any(one.assertion.corrects for one in these)


# Two simpler designs. They stay here, so that who simplifies the fold to one of them sees it fail.


class Pair(msgspec.Struct, frozen=True):
    """Somebody's word as the two designs know it: what they compare, and a value."""

    source: str
    value: str
    level: int | None = 0  # the higher, the better; None: not ranked
    confidence: float = 0.5
    at: int = 0


SKEW = 5


def newer_or_surer(one: Pair, other: Pair) -> bool:
    """Compare on one level, with a skew."""
    if one.confidence != other.confidence:
        return one.confidence > other.confidence
    return one.at - other.at > SKEW


def pairwise(arrived: Iterable[Pair]) -> str | None:
    """Hold each newcomer against the winner so far; where neither wins it is disputed: None."""
    current: Pair | None = None
    disputed = False
    for one in arrived:
        if current is None or newer_or_surer(one, current):
            current, disputed = one, False
        elif one.value != current.value and not newer_or_surer(current, one):
            disputed = True
    return None if disputed or current is None else current.value


def chain(said_: Iterable[Pair]) -> str | None:
    """Keep what no level is above, of those the surest, of those the newest."""
    left = list(said_)
    left = [a for a in left if not any(_above(b, a) for b in left)]
    left = [a for a in left if a.confidence == max(b.confidence for b in left)]
    left = [a for a in left if not any(b.at - a.at > SKEW for b in left)]
    return left[0].value if len({one.value for one in left}) == 1 else None


def _above(one: Pair, other: Pair) -> bool:
    return one.level is not None and other.level is not None and one.level > other.level


pairs = st.builds(
    Pair,
    source=st.sampled_from(("crm", "email", "erp", "partner")),
    value=st.sampled_from("XY"),
    level=st.sampled_from((None, 0, 1)),
    confidence=st.sampled_from((0.3, 0.5, 0.65)),
    at=st.integers(0, 12),
)
groups = st.lists(pairs, min_size=1, max_size=4, unique_by=lambda one: one.source).map(tuple)
quickly = settings(
    max_examples=5_000, derandomize=True, database=None, deadline=None, phases=[Phase.generate]
)


def test_newcomer_against_winner_depends_on_the_order() -> None:
    """RF-23: hypothesis finds orders of arrival that give different answers, nothing missing."""

    def unstable(these: tuple[Pair, ...]) -> bool:
        level = tuple(msgspec.structs.replace(one, level=0, confidence=0.5) for one in these)
        return len({pairwise(order) for order in permutations(level)}) > 1

    assert find(groups, unstable, settings=quickly)


def test_chain_of_filters_lets_an_agreeing_newcomer_flip_the_answer() -> None:
    """RF-24, RF-34: hypothesis finds a new source that agrees, after which the answer is other."""

    def flipped(these: tuple[Pair, ...]) -> bool:
        *before, newcomer = these
        answer = chain(before)
        return answer is not None and newcomer.value == answer and chain(these) != answer

    assert find(groups, flipped, settings=quickly)


def test_chain_of_filters_lets_a_loser_matter() -> None:
    """RF-34: taking away what lost changes the answer of the chain."""

    def moved(these: tuple[Pair, ...]) -> bool:
        answer = chain(these)
        losers = [one for one in these if answer is not None and one.value != answer]
        return any(chain([one for one in these if one is not gone]) != answer for gone in losers)

    assert find(groups, moved, settings=quickly)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_two_of_one_time_and_the_later_one_in_every_order(order: tuple[int, ...]) -> None:
    """RF-23: what breaks newcomer-against-winner: email and erp are newer than nothing for sure."""
    registry = Registry.of(
        {
            "order": ["one"],
            "skew": "5m",
            "sources": {name: {"level": "one"} for name in ("crm", "email", "erp")},
        }
    )
    policy = Policy.of({"attributes": {KEY.attribute: {"change": "over_time"}}})
    three = [
        spoken("crm", "X", minute=1),
        spoken("email", "X", minute=0),
        spoken("erp", "Y", minute=6),
    ]
    outcome = folded([three[at] for at in order], policy, registry)
    assert (outcome.status, outcome.reason) == ("disputed", "tie")
    assert {one.lost for one in outcome.trace.beaten} == {three[1].id}
    naive = [Pair("crm", "X", at=1), Pair("email", "X", at=0), Pair("erp", "Y", at=6)]
    assert pairwise(naive) is None
    assert pairwise([naive[1], naive[0], naive[2]]) == "Y"


def test_agreeing_contract_does_not_hand_the_answer_to_the_partner() -> None:
    """RF-24: what breaks the chain: its contract pushes out the crm, and the partner wins."""
    registry = Registry.of(
        {
            "above": [["contract", "crm"]],
            "levels": ["partner"],
            "sources": {name: {"level": name} for name in ("contract", "crm", "partner")},
        }
    )
    policy = Policy.of({"attributes": {KEY.attribute: {}}})
    two = [spoken("crm", "X", confidence=0.65), spoken("partner", "Y", confidence=0.5)]
    three = [*two, spoken("contract", "X", confidence=0.3)]
    assert folded(two, policy, registry).reason == folded(three, policy, registry).reason
    assert folded(three, policy, registry).reason == "unranked"
    naive = [Pair("crm", "X", 0, 0.65), Pair("partner", "Y", None, 0.5)]
    assert chain(naive) == "X"
    assert chain([*naive, Pair("contract", "X", 1, 0.3)]) == "Y"


def spoken(source: str, value: str, *, minute: int = 0, confidence: float = 0.9) -> Recorded:
    at = When(minute * MINUTE, minute * MINUTE)
    return recorded(
        Assertion(
            key=KEY,
            value=Value("text", value),
            source=source,
            confidence=confidence,
            observed_at=at,
        )
    )
