"""Laws of putting ballots together: they hold for all panels, in any order."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

import virtual
from pointsman import Ask, Choice, Gateway, Predicate, Score
from pointsman.gateway.acceptance import check
from pointsman.gateway.answers import Answer, Chosen, Held, Scored
from pointsman.gateway.questions import Question
from pointsman.providers.deliberation import members
from pointsman.providers.deliberation.committee.ballots import Ballot, ballot_of
from pointsman.providers.deliberation.committee.deciding import Finding, Policy, found

TEAM = Choice("Which team?", ["billing", "tech", "none"])
SAFE = Predicate("Is it safe?")
RISK = Score("How risky?", low=0, high=10)

votes = some.sampled_from(list(TEAM.options)).map(Ballot)
truths = some.booleans().map(Ballot)
likely = some.floats(0, 1).map(lambda p: Ballot(p > 0.5, p))
numbers = some.floats(0, 10).map(Ballot)
rankings = some.permutations(list(TEAM.options)).map(lambda r: Ballot(r[0], None, tuple(r)))

ASKED: Sequence[tuple[Question, some.SearchStrategy[Ballot]]] = (
    (TEAM, votes),
    (TEAM, rankings),
    (SAFE, truths),
    (SAFE, likely),
    (SAFE, truths | likely),
    (RISK, numbers),
)
asked = some.sampled_from(ASKED).flatmap(
    lambda pair: some.tuples(some.just(pair[0]), some.lists(pair[1], max_size=9))
)
policies = some.builds(
    Policy,
    quorum=some.integers(1, 4),
    rule=some.sampled_from(["majority", "plurality", "borda", "judge"]),
    predicate_rule=some.sampled_from(["median", "odds"]),
    both_sides=some.sampled_from(["answer", "abstain"]),
    max_spread=some.none() | some.floats(0, 1),
)


def _confidence(question: Question, finding: Finding) -> float:
    """What acceptance holds against the gate; 0 where the committee abstains."""
    if finding.answer is None:
        return 0.0
    return check(question, finding.answer, "reported").confidence


@given(asked, some.integers(0, 5), policies, some.randoms(use_true_random=False))
def test_who_speaks_first_changes_nothing(
    given: tuple[Question, list[Ballot]], absent: int, policy: Policy, lot: object
) -> None:
    """BR-25, BR-11: no tie is broken by order or by a hash, as AutoGen's notebook breaks it."""
    question, ballots = given
    shuffled = sorted(ballots, key=lambda _: lot.random())  # type: ignore[attr-defined]

    one, other = (
        found(question, order, len(ballots) + absent, policy) for order in (ballots, shuffled)
    )

    assert one.why == other.why
    assert (one.answer is None) == (other.answer is None)
    assert _confidence(question, one) == pytest.approx(_confidence(question, other), abs=1e-12)
    if isinstance(one.answer, Chosen):
        assert one.answer == other.answer


@given(asked, some.integers(0, 5), policies)
def test_what_comes_of_it_is_a_valid_answer(
    given: tuple[Question, list[Ballot]], absent: int, policy: Policy
) -> None:
    """D.1.1, BR-11: nothing is invented: one of the options said, a confidence in [0, 1]."""
    question, ballots = given

    finding = found(question, ballots, len(ballots) + absent, policy)

    assert 0.0 <= _confidence(question, finding) <= 1.0
    assert (finding.answer is None) == bool(finding.why)
    if isinstance(finding.answer, Chosen):
        assert finding.answer.option in {one.value for one in ballots}


@given(asked, some.integers(0, 5), some.integers(1, 5), policies)
def test_whoever_abstains_makes_nothing_surer(
    given: tuple[Question, list[Ballot]], absent: int, more: int, policy: Policy
) -> None:
    """BR-11: who abstains stays in the denominator."""
    question, ballots = given
    expected = len(ballots) + absent

    before = found(question, ballots, expected, policy)
    after = found(question, ballots, expected + more, policy)

    assert _confidence(question, after) <= _confidence(question, before) + 1e-12


@given(some.lists(votes | truths, min_size=1, max_size=9), some.integers(1, 5))
def test_one_more_who_agrees_lowers_nothing(ballots: list[Ballot], absent: int) -> None:
    """BR-25: one who abstained and now agrees with the winner keeps it, and makes it surer."""
    question: Question = SAFE if isinstance(ballots[0].value, bool) else TEAM
    ballots = [one for one in ballots if type(one.value) is type(ballots[0].value)]
    expected, policy = len(ballots) + absent, Policy(rule="plurality")
    before = found(question, ballots, expected, policy)
    assume(before.answer is not None)
    assert before.answer is not None
    winner = check(question, before.answer, "reported")
    assert winner.value is not None

    after = found(question, [*ballots, Ballot(winner.value)], expected, policy)

    assert after.answer is not None
    told = check(question, after.answer, "reported")
    assert told.value == winner.value
    assert told.confidence > winner.confidence


@given(some.lists(likely, min_size=1, max_size=9), some.floats(0, 1))
def test_one_more_probability_above_pulls_up(ballots: list[Ballot], above: float) -> None:
    """BR-25, for predicates: a voter at or above the aggregate never lowers it."""
    for rule in ("median", "odds"):
        policy = Policy(predicate_rule=rule)
        before = found(SAFE, ballots, 20, policy).answer
        assert isinstance(before, Held)
        assume(above >= before.probability)
        after = found(SAFE, [*ballots, Ballot(value=True, probability=above)], 20, policy).answer
        assert isinstance(after, Held)
        assert after.probability >= before.probability - 1e-12


@given(some.lists(votes, max_size=9), some.integers(0, 9))
def test_a_majority_is_more_than_half_of_all_expected(ballots: list[Ballot], absent: int) -> None:
    """D.1.1, FV-25: half is none, as it is in MALLM, whose `>=` lets 2 of 4 be a majority."""
    expected = len(ballots) + absent
    most = max((ballots.count(one) for one in ballots), default=0)

    finding = found(TEAM, ballots, expected, Policy())

    assert (finding.answer is not None) == (2 * most > expected)
    if isinstance(finding.answer, Chosen):
        assert finding.answer.confidence == pytest.approx((most + 1) / (expected + 2), abs=1e-12)


@given(some.lists(numbers, min_size=2, max_size=9))
def test_a_score_is_the_median_and_as_sure_as_scores_are_close(ballots: list[Ballot]) -> None:
    """D.1.1: median; 1 − IQR/range."""
    values = sorted(float(one.value) for one in ballots)
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")

    answer = found(RISK, ballots, len(ballots), Policy()).answer

    assert isinstance(answer, Scored)
    assert RISK.value(answer.score) == pytest.approx(statistics.median(values), abs=1e-9)
    assert answer.confidence == pytest.approx(1 - (high - low) / 10, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    some.lists(some.sampled_from([*TEAM.options, None, "nobody"]), min_size=2, max_size=5),
    some.permutations(range(5)),
)
def test_the_order_of_the_seats_changes_nothing(said: list[str | None], order: list[int]) -> None:
    """BR-25: whoever sits first, and whoever answers first."""
    names = "abcde"[: len(said)]
    seats = [names[n] for n in order if n < len(said)]
    functions = {
        name: virtual.obedient(one, seconds=seats.index(name))
        for name, one in zip(names, said, strict=True)
    }
    decided = []
    for panel in (names, seats):
        environ = {
            "DECISION_LOG": "off",
            "DECISION_TEAM_PROVIDER": "committee",
            "COMMITTEE_MEMBERS": ",".join(panel),
            "COMMITTEE_MIN_CONFIDENCE": "0",
        }
        with Gateway.from_env(environ, plugins=[members(**functions)]) as gateway:
            asked = gateway.ask("TEAM", Ask("hello", {"team": TEAM}), current=lambda: "current")
            decided.append(virtual.run(asked))

    one, other = (decision.record for decision in decided)
    assert (one.outcome, one.provider, one.reason) == (other.outcome, other.provider, other.reason)
    assert one.confidence == other.confidence
    assert one.attempts[0].notes == other.attempts[0].notes
    assert one.attempts[0].notes is not None
    assert one.attempts[0].notes["calls"] <= len(said)


@pytest.mark.parametrize(
    ("cast", "winner"),
    [
        (["C", None, "I"], None),
        (["C", "C", None], "C"),
        ([None, None, "C"], None),
        (["C", "C", "I", "I"], None),
        (["C", "C", None, None], None),
    ],
)
def test_fv_25_strict_majorities(cast: list[str | None], winner: str | None) -> None:
    """FV-25: who abstains stays in the denominator."""
    question = Choice("Correct?", ["C", "I"])
    ballots = [Ballot(one) for one in cast if one is not None]

    answer = found(question, ballots, len(cast), Policy()).answer

    assert (answer.option if isinstance(answer, Chosen) else None) == winner


@pytest.mark.parametrize(
    ("votes", "voters", "sure"), [(3, 3, 0.8), (5, 5, 0.857142857), (20, 20, 0.954545455)]
)
def test_fv_25_few_who_agree_are_weak_evidence(votes: int, voters: int, sure: float) -> None:
    """FV-25, D.1.1: (v + 1)/(n + 2), whatever the number of options."""
    for question in (TEAM, Choice("Two?", ["billing", "tech"])):
        answer = found(question, [Ballot("tech")] * votes, voters, Policy()).answer
        assert isinstance(answer, Chosen)
        assert answer.confidence == pytest.approx(sure, abs=1e-9)


def test_fv_25_plurality_and_borda_disagree() -> None:
    """FV-25: 3×(A>B>C), 2×(B>C>A), and two who abstain: A by plurality, B by ranks."""
    question = Choice("Which?", ["A", "B", "C"])
    ballots = [Ballot("A", None, ("A", "B", "C"))] * 3 + [Ballot("B", None, ("B", "C", "A"))] * 2

    for rule, winner in (("majority", None), ("plurality", "A"), ("borda", "B")):
        answer = found(question, ballots, 7, Policy(rule=rule)).answer  # type: ignore[arg-type]
        assert (answer.option if isinstance(answer, Chosen) else None) == winner

    assert found(question, [*ballots[:3], Ballot("B")], 7, Policy(rule="borda")).answer is None


@pytest.mark.parametrize(
    ("ps", "rule", "true"),
    [
        ((0.6, 0.7, 0.8, 0.9), "median", 0.75),
        ((0.6, 0.7, 0.8, 0.9), "odds", 0.7701344393),
        ((0.9, 0.9, 0.2), "odds", 0.7316),
        ((1.0, 0.6, 0.7), "odds", 0.8753696691),
        ((0.9, 0.7, 0.4), "odds", 0.7068),
        ((0.3, 0.2, 0.45), "odds", 0.3076),
    ],
)
def test_fv_23_fv_24_probabilities(ps: tuple[float, ...], rule: str, true: float) -> None:
    """FV-23, FV-24: the median, or the geometric mean of odds, clipped first."""
    ballots = [Ballot(p > 0.5, p) for p in ps]

    answer = found(SAFE, ballots, len(ps), Policy(predicate_rule=rule)).answer  # type: ignore[arg-type]

    assert isinstance(answer, Held)
    assert answer.probability == pytest.approx(true, abs=1e-9 if len(str(true)) > 8 else 5e-5)


def test_b_5_scores() -> None:
    """B.5: 7, 7.5, 8, 6 on 0–10: median 7.25, confidence 0.9125."""
    ballots = [Ballot(one) for one in (7.0, 7.5, 8.0, 6.0)]

    answer = found(RISK, ballots, 4, Policy()).answer

    assert isinstance(answer, Scored)
    assert RISK.value(answer.score) == pytest.approx(7.25, abs=1e-9)
    assert answer.confidence == pytest.approx(0.9125, abs=1e-9)


def test_one_score_lies_apart_from_none_so_that_nothing_is_sure() -> None:
    answer = found(RISK, [Ballot(7.0)], 1, Policy()).answer

    assert answer == Scored(RISK.index(7.0), confidence=None)


@pytest.mark.parametrize(
    ("ballots", "policy", "why"),
    [
        ([], Policy(), "no_quorum"),
        ([Ballot("tech")], Policy(quorum=2), "no_quorum"),
        ([Ballot("tech"), Ballot("none")], Policy(), "tie"),
        ([Ballot("tech"), Ballot("tech")], Policy(), "no_majority"),
        ([Ballot("tech"), Ballot("none")], Policy(rule="plurality"), "tie"),
        ([Ballot("tech"), Ballot("none")], Policy(rule="judge"), "tie"),
    ],
)
def test_why_a_choice_comes_to_nothing(ballots: list[Ballot], policy: Policy, why: str) -> None:
    """D.1.1: no majority, a tie, no quorum; BR-11: a tie is an outcome."""
    assert found(TEAM, ballots, 4, policy) == Finding(None, why)  # type: ignore[arg-type]


def test_both_sides_of_a_predicate_may_be_an_abstention() -> None:
    """D.1.1: a third of the answers on either side, where the policy says so."""
    ballots = [Ballot(value=True, probability=0.9)] * 2 + [Ballot(value=False, probability=0.1)]
    divided = Policy(both_sides="abstain")

    assert found(SAFE, ballots, 3, divided).why == "both_sides"
    assert found(SAFE, ballots, 3, Policy()).answer == Held(0.9)
    assert found(SAFE, [*ballots, ballots[0]], 4, divided).answer == Held(0.9)


def test_a_score_that_lies_too_far_apart_is_an_abstention() -> None:
    """D.1.1: an IQR above the bound."""
    ballots = [Ballot(0.0), Ballot(10.0)]

    assert found(RISK, ballots, 2, Policy(max_spread=0.4)).why == "spread"
    assert found(RISK, ballots, 2, Policy(max_spread=0.5)).answer is not None


def test_a_truth_without_a_probability_makes_it_a_vote() -> None:
    """D.1.1: no number is made up for what a member only states."""
    ballots = [Ballot(value=True), Ballot(value=True), Ballot(value=False, probability=0.01)]

    assert found(SAFE, ballots, 3, Policy()).answer == Held(0.6)
    assert found(SAFE, ballots, 4, Policy(rule="plurality")).why == "no_majority"


def test_a_judge_is_one_more_voter_where_no_majority_decides() -> None:
    ballots, policy = [Ballot("tech"), Ballot("none")], Policy(rule="judge")

    finding = found(TEAM, ballots, 2, policy, Ballot("none"))

    assert finding.answer == Chosen("none", confidence=3 / 5)
    assert finding.notes == {"vote_share": 2 / 3}
    sure = found(TEAM, [*ballots, Ballot("tech")], 3, policy, Ballot("none"))
    assert sure.answer == Chosen("tech", confidence=3 / 5)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (TEAM, "nobody"),
        (TEAM, True),
        (TEAM, None),
        (SAFE, "true"),
        (SAFE, 1.0),
        (RISK, 10.5),
        (RISK, -1.0),
        (RISK, math.nan),
        (RISK, math.inf),
        (RISK, True),
        (RISK, "7"),
    ],
)
def test_what_is_no_answer_is_no_ballot(question: Question, value: object) -> None:
    """BR-11: an option that is not declared, a number out of range, NaN: that member abstains."""
    assert ballot_of(question, Answer(value=value)) is None  # type: ignore[arg-type]


def test_options_of_one_probability_are_in_no_order() -> None:
    """BR-11, C.2: names rank nothing."""
    ranked = Answer(value="tech", distribution={"tech": 0.6, "none": 0.3, "billing": 0.1})
    tied = Answer(value="tech", distribution={"tech": 0.6, "none": 0.2, "billing": 0.2})
    partial = Answer(value="tech", distribution={"tech": 0.6, "none": 0.4})

    assert ballot_of(TEAM, ranked) == Ballot("tech", None, ("tech", "none", "billing"))
    assert ballot_of(TEAM, tied) == Ballot("tech")
    assert ballot_of(TEAM, partial) == Ballot("tech", None, ("tech", "none", "billing"))
