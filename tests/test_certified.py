"""Certified thresholds in force: applied where every part of their key matches, nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from faulty import ASK, TEAM
from pointsman import (
    Ask,
    Choice,
    DecisionPoint,
    Gateway,
    OptionsFrom,
    Predicate,
    Reason,
    Reply,
    Score,
    SetupError,
    When,
    scripted,
)
from pointsman.gateway.answers import Chosen, Held
from pointsman.gateway.certificates import AtRisk, Certificate, Key, Thresholds, written
from pointsman.gateway.keys import QuestionKey, digest, keys_of
from pointsman.gateway.questions import Question
from telling import RAILS, STATE, Teller
from trialling import POINT, Kept, offering

PROVIDER = f"DECISION_{POINT}_PROVIDER"
MINIMUM = f"DECISION_{POINT}_MIN_CONFIDENCE"
THRESHOLDS = "DECISION_THRESHOLDS"
USUAL = 0.7
CERTIFIED = 0.42
SCRIPTED = {"provider": "nova", "model": "scripted-1"}


def team(name: str = POINT, **said: Any) -> DecisionPoint:
    """The point that certificates are made for, or one that differs in a part."""
    given = {"en": {"team": TEAM}, "pt": {"team": TEAM}}
    return DecisionPoint(name=name, **{"questions": given, "safe": "none", **said})


def key(point: DecisionPoint, asked: Ask = ASK, question: str = "team", **said: Any) -> Key:
    """The key under which *point* asks, in English and alone."""
    of = keys_of(point, asked.questions, "en")[question]
    given = {"language": "en", "form": "single", "scale": "reported", **SCRIPTED, **said}
    return Key(
        point=point.name, question=of.question, template=of.template, options=of.options, **given
    )


def certificate(of: Key, **said: Any) -> Certificate:
    """A certificate that says what is named, at the error rate that is used."""
    sided = said.pop("two_sided", False)
    level = AtRisk(alpha=0.05, **{"minimum": CERTIFIED, **said})
    other = AtRisk(alpha=0.01, minimum=0.99)
    return Certificate(
        key=of,
        risk=0.05,
        levels=(other, level),
        delta=0.05,
        method="learn-then-test",
        labels="gold",
        rows=1000,
        seed=1,
        data="0" * 12,
        date="2026-11-30",
        two_sided=sided,
    )


@pytest.fixture
def filed(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Write certificates into a file; give the variables that put them in force."""

    def write(*certificates: Certificate, **variables: str) -> dict[str, str]:
        path = tmp_path / "thresholds.json"
        path.write_bytes(written(Thresholds(certificates=certificates)))
        return {PROVIDER: "nova", THRESHOLDS: str(path), **variables}

    return write


Filed = Callable[..., dict[str, str]]


def attempt(gateway: Gateway, point: DecisionPoint | None = None, asked: Ask = ASK) -> Any:
    """Ask once; give the provider's attempt."""
    decision = gateway.ask_sync(point or team(), asked, current=lambda: "billing")
    return decision.record.attempts[0]


def refusals(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """Give question and difference of each threshold that was refused."""
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    refused = [one for one in told if one["event"] == "decision.threshold_refused"]
    return [(one["question"], one["differs"]) for one in refused]


# --- when it applies -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sure", "reason"), [(0.42, Reason.OK), (0.4199, Reason.LOW_CONFIDENCE), (0.6, Reason.OK)]
)
def test_a_certified_threshold_counts_where_its_key_matches(
    sure: float, reason: Reason, filed: Filed
) -> None:
    """In place of 0.7; inclusive; the attempt says what had to be reached."""
    with offering(filed(certificate(key(team()))), nova=scripted("tech", confidence=sure)) as one:
        seen = attempt(one)

    assert (seen.minimum, seen.reason) == (CERTIFIED, reason)


WORDS = msgspec.structs.replace(TEAM, instructions="Who takes it?")
DESCRIBED = msgspec.structs.replace(TEAM, options={**TEAM.options, "tech": "Broken things"})
FEWER = Choice(TEAM.instructions, {"tech": "Faults", "none": "Neither"})
MORE = Choice(TEAM.instructions, {**TEAM.options, "sales": "Offers"})
ORDINARY = msgspec.structs.replace(TEAM, sentinel="none")


def asking(question: Choice) -> dict[str, Any]:
    """The same point and ask, with another question in the place of its own."""
    return {
        "point": team(questions={"en": {"team": question}}),
        "asked": Ask(ASK.state, {"team": question}),
    }


@pytest.mark.parametrize(
    ("given", "differs"),
    [
        (asking(WORDS), "template"),
        (asking(ORDINARY), "template"),
        (asking(DESCRIBED), "options"),
        (asking(FEWER), "options"),
        (asking(MORE), "options"),
        ({"variables": {"DECISION_LANGUAGE": "pt"}}, "language"),
        ({"of": {"form": "shared:0123456789ab"}}, "form"),
        ({"of": {"provider": "nova/eu"}}, "provider"),
        ({"of": {"model": "scripted-2"}}, "model"),
        ({"of": {"model": "scripted"}}, "model"),
        ({"of": {"provider": "jev", "model": "x"}}, "provider and model"),
        ({"reply": Reply({"team": Chosen("tech", None, 0.6)}, "scripted-1-0815")}, "model"),
    ],
)
def test_any_difference_leaves_it_to_the_next_rule_and_is_said_once(
    given: Mapping[str, Any], differs: str, filed: Filed, capsys: pytest.CaptureFixture[str]
) -> None:
    """A threshold holds for the very question that was measured, asked of the very model."""
    variables = filed(
        certificate(key(team(), **given.get("of", {}))),
        DECISION_LOG="json",
        **given.get("variables", {}),
    )
    nova = scripted(given.get("reply", "tech"), confidence=0.6)
    with offering(variables, nova=nova) as gateway:
        asked = given.get("point", team()), given.get("asked", ASK)
        seen = [attempt(gateway, *asked) for _ in range(3)]

    assert {(one.minimum, one.reason) for one in seen} == {(USUAL, Reason.LOW_CONFIDENCE)}
    assert refusals(capsys) == [("team", differs)]


def test_another_point_with_the_same_question_is_not_certified(filed: Filed) -> None:
    """Its traffic is another, so nothing was measured there."""
    point = team("TEAM_EU", chain=(POINT,))
    with offering(filed(certificate(key(team()))), nova=scripted("tech")) as gateway:
        assert attempt(gateway, point).minimum == USUAL
        assert attempt(gateway).minimum == CERTIFIED


def test_the_one_that_matches_counts_among_several(filed: Filed) -> None:
    """One file serves several models and languages."""
    held = [
        certificate(key(team(), model="scripted-0"), minimum=0.1),
        certificate(key(team(), language="pt"), minimum=0.2),
        certificate(key(team()), minimum=0.3),
    ]
    with offering(filed(*held), nova=scripted("tech")) as gateway:
        assert attempt(gateway).minimum == 0.3


def test_each_arm_of_a_split_has_its_own(filed: Filed) -> None:
    held = [
        certificate(key(team()), minimum=0.3),
        certificate(key(team(), provider="other"), minimum=0.4),
    ]
    variables = filed(*held, **{PROVIDER: "nova:50,other:50"})
    with offering(variables, nova=scripted("tech"), other=scripted("tech")) as gateway:
        seen = {(one.provider, one.minimum) for one in (attempt(gateway) for _ in range(60))}

    assert seen == {("nova", 0.3), ("other", 0.4)}


def test_a_shadow_meets_the_gate_that_it_would_meet_live(filed: Filed, tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    said = {PROVIDER: "current", f"DECISION_{POINT}_SHADOW": "nova", **kept.variables}
    with offering(filed(certificate(key(team())), **said), nova=scripted("tech")) as gateway:
        attempt(gateway)

    (trail,) = kept.trails()
    assert [one.shadow.attempt.minimum for one in trail.shadows] == [CERTIFIED]


def test_a_shared_call_needs_a_certificate_of_its_form(filed: Filed) -> None:
    """An answer may depend on its company: measured alone, it says nothing of a turn's call."""

    def minimum(*held: Certificate) -> tuple[float | None, str]:
        variables = filed(*held, DECISION_PROVIDER="nova")
        with offering(variables, nova=Teller()) as gateway:

            async def turn() -> Any:
                async with gateway.turn() as turn:
                    return await turn.ask(*RAILS, state=STATE)

            (seen, *_) = asyncio.run(turn())[RAILS[0].name].record.attempts
        return seen.minimum, seen.form

    asked = RAILS[0].ask(STATE)
    of = {"question": "bad", "model": "teller-1"}
    _, form = minimum()
    assert form.startswith("shared:")
    assert minimum(certificate(key(RAILS[0], asked, **of))) == (USUAL, form)
    assert minimum(certificate(key(RAILS[0], asked, **of, form=form))) == (CERTIFIED, form)


# --- order -----------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", [MINIMUM, "DECISION_CREW_MIN_CONFIDENCE"])
def test_a_variable_of_the_point_counts_before_it(variable: str, filed: Filed) -> None:
    """Its own or one of its chain; the operator is told at start that the certificate rests."""
    point = team(chain=("CREW",))
    variables = filed(certificate(key(point)), **{variable: "0.55", "NOVA_MIN_CONFIDENCE": "0.5"})
    with offering(variables, nova=scripted("tech")) as gateway:
        gateway.point(point)(_returns_billing)
        assert attempt(gateway, point).minimum == 0.55
        (odd,) = gateway.check()

    assert odd.where == variable
    assert "certified" in odd.problem


def test_it_counts_before_the_provider_s_own(filed: Filed) -> None:
    variables = filed(certificate(key(team())), NOVA_MIN_CONFIDENCE="0.5")
    with offering(variables, nova=scripted("tech")) as gateway:
        assert attempt(gateway).minimum == CERTIFIED
        assert attempt(gateway, team("OTHER", chain=(POINT,))).minimum == 0.5
        assert gateway.check() == ()


def _returns_billing(text: str) -> str:  # noqa: ARG001 - as hosts are called
    return "billing"


# --- what it compares ------------------------------------------------------------------------

UNSURE = Reply({"team": Chosen("tech", {"billing": 0.3, "tech": 0.6, "none": 0.1}, 0.95)})


@pytest.mark.parametrize("configured", ["reported", "probability"])
@pytest.mark.parametrize(("scale", "compared"), [("reported", 0.95), ("probability", 0.6)])
def test_it_brings_its_own_scale(
    scale: str, compared: float, configured: str, filed: Filed
) -> None:
    """A threshold on one scale says nothing on another, whatever is configured."""
    held = certificate(key(team(), scale=scale), minimum=0.65)
    variables = filed(held, DECISION_CONFIDENCE=configured)
    with offering(variables, nova=scripted(UNSURE)) as gateway:
        seen = attempt(gateway)

    assert seen.confidence == compared
    assert seen.reason is (Reason.OK if compared >= 0.65 else Reason.LOW_CONFIDENCE)
    assert seen.answers["team"].source == scale


SEVERAL: dict[str, Any] = {"team": TEAM, "angry": Predicate("Is the customer angry?")}


@pytest.mark.parametrize(
    ("of_team", "of_angry", "reason"),
    [
        (0.5, 0.8, Reason.OK),
        (0.4, 0.8, Reason.LOW_CONFIDENCE),
        (0.5, 0.65, Reason.LOW_CONFIDENCE),
        (0.9, 0.7, Reason.OK),
    ],
)
def test_each_question_has_its_own(
    of_team: float, of_angry: float, reason: Reason, filed: Filed
) -> None:
    """One is certified at 0.42, the other keeps 0.7; every one has to clear its own."""
    point = team(questions={"en": SEVERAL}, safe=None)
    asked = Ask(ASK.state, SEVERAL)
    reply = {"team": Chosen("tech", None, of_team), "angry": Held(of_angry)}
    with offering(filed(certificate(key(point, asked))), nova=scripted(reply)) as gateway:
        seen = attempt(gateway, point, asked)

    assert seen.reason is reason
    assert seen.confidence == min(of_team, of_angry)
    assert seen.minimum == (CERTIFIED if of_team < of_angry else USUAL)


RAIL = DecisionPoint(name=POINT, questions={"en": {"bad": Predicate("Is it bad?")}}, safe=True)
ASKED = RAIL.ask("hello")


@pytest.mark.parametrize(
    ("probability", "believed"),
    [
        (0.0, True),
        (0.19, True),
        (0.2, False),
        (0.3, False),
        (0.49, False),
        (0.51, False),
        (0.89, False),
        (0.9, True),
        (1.0, True),
    ],
)
def test_a_predicate_s_sides_have_thresholds_of_their_own(
    probability: float,
    believed: bool,  # noqa: FBT001 - a table
    filed: Filed,
) -> None:
    """*False* below 0.2, *true* from 0.9 on; between them `current` decides."""
    held = certificate(
        key(RAIL, ASKED, "bad"), minimum=None, no_below=0.2, yes_from=0.9, two_sided=True
    )
    with offering(filed(held), nova=scripted(Held(probability))) as gateway:
        seen = attempt(gateway, RAIL, ASKED)

    assert (seen.reason is Reason.OK) == believed
    assert seen.minimum == (0.9 if probability > 0.5 else 0.8)


@pytest.mark.parametrize(
    ("side", "probability", "believed"),
    [
        ({"yes_from": 0.6}, 0.7, True),
        ({"yes_from": 0.6}, 0.0, False),
        ({"no_below": 0.4}, 0.1, True),
        ({"no_below": 0.4}, 1.0, False),
    ],
)
def test_a_side_without_a_threshold_is_never_believed(
    side: dict[str, float],
    probability: float,
    believed: bool,  # noqa: FBT001 - a table
    filed: Filed,
) -> None:
    """However sure: nothing could be promised of it."""
    held = certificate(key(RAIL, ASKED, "bad"), minimum=None, two_sided=True, **side)
    with offering(filed(held), nova=scripted(Held(probability))) as gateway:
        assert (attempt(gateway, RAIL, ASKED).reason is Reason.OK) == believed


def test_only_one_side_s_minimum_counts_where_it_is_not_two_sided(filed: Filed) -> None:
    held = certificate(key(RAIL, ASKED, "bad"), minimum=0.6, no_below=0.2, yes_from=0.9)
    with offering(filed(held), nova=scripted(Held(0.35))) as gateway:
        seen = attempt(gateway, RAIL, ASKED)

    assert (seen.reason, seen.minimum) == (Reason.OK, 0.6)


@pytest.mark.parametrize("said", [{"minimum": None}, {"minimum": 0.1, "two_sided": True}])
def test_where_nothing_could_be_certified_the_next_rule_decides(
    said: dict[str, Any], filed: Filed, capsys: pytest.CaptureFixture[str]
) -> None:
    held = certificate(key(RAIL, ASKED, "bad"), **said)
    variables = filed(held, DECISION_LOG="json")
    with offering(variables, nova=scripted(Held(0.69))) as gateway:
        seen = [attempt(gateway, RAIL, ASKED) for _ in range(2)]

    assert {(one.minimum, one.reason) for one in seen} == {(USUAL, Reason.LOW_CONFIDENCE)}
    assert refusals(capsys) == [("bad", "nothing could be certified")]


def test_a_risk_that_no_level_was_tried_at_is_refused_at_start(filed: Filed) -> None:
    """An edited file must not fall back to another error rate."""
    held = msgspec.structs.replace(certificate(key(team())), risk=0.02)

    with pytest.raises(SetupError, match="none of its levels"):
        offering(filed(held), nova=scripted("tech"))


# --- open catalogues -------------------------------------------------------------------------

OPEN = DecisionPoint(
    name=POINT,
    questions={"en": {"dish": Choice("Which dish?", {"none": "No dish"}, "none", open=True)}},
    reads=("text", "dishes"),
    words="text",
    options={"dish": OptionsFrom("dishes", "name", "about")},
    safe="none",
)


def menu(size: int, first: str = "dish") -> Ask:
    """Ask about so many options, the declared one among them."""
    dishes = [{"name": f"{first}-{n}", "about": f"{first} {n}"} for n in range(size - 1)]
    return OPEN.ask({"text": "soup", "dishes": dishes})


@pytest.mark.parametrize(
    ("asked", "minimum"),
    [
        (menu(6), CERTIFIED),
        (menu(5), CERTIFIED),
        (menu(8, "soup"), CERTIFIED),
        (menu(4), USUAL),
        (menu(9), USUAL),
        (menu(16), USUAL),
    ],
    ids=["six", "five", "eight others", "four", "nine", "sixteen"],
)
def test_an_open_catalogue_is_certified_for_about_as_many(
    asked: Ask, minimum: float, filed: Filed
) -> None:
    """Which options they are comes with each call; from five to eight are alike."""
    held = certificate(key(OPEN, menu(6), "dish"))
    with offering(filed(held), nova=scripted("none", confidence=0.9)) as gateway:
        assert attempt(gateway, OPEN, asked).minimum == minimum


# --- keys that outlive a release ---------------------------------------------------------------

RISK = Score("How risky?", ["none", "some", "high"], when=When("angry", (True,)))


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        (
            {"team": Choice("Which team takes it?", {"billing": "Amounts", "tech": "Faults"})},
            {"team": QuestionKey("team", "9227accd5702", "2c1e1aaccf86")},
        ),
        (
            {"angry": Predicate("Is the customer angry?"), "risk": RISK},
            {
                "angry": QuestionKey("angry", "8c1a3cb400d0"),
                "risk": QuestionKey("risk", "569f4439580d"),
            },
        ),
    ],
    ids=["choice", "predicate and score"],
)
def test_the_digests_of_a_question_never_change(
    questions: dict[str, Any], expected: dict[str, QuestionKey]
) -> None:
    """Else a release would silently void every certificate that users hold."""
    point = DecisionPoint(name=POINT, questions={"en": questions})

    assert keys_of(point, point.ask("hello").questions, "en") == expected


def test_the_digests_of_an_open_catalogue_never_change() -> None:
    expected = QuestionKey("dish", "b3c42b3ce38a", "open:4f53c46d5635:8")
    assert keys_of(OPEN, menu(6).questions, "en") == {"dish": expected}


@pytest.mark.parametrize(
    ("declared", "asked"),
    [
        (Score("How bad?", ["low", "high"]), Score("How bad?", ["high", "low"])),
        (Score("How bad?", ["low", "high"]), Score("How bad?", ["low", "mid", "high"])),
        (Score("How bad?", ["low", "high"]), Score("How bad?", ["low", "high"], high=10)),
        (Predicate("Bad?", true="hate speech"), Predicate("Bad?", true="rude words")),
        (Predicate("Bad?", tie=False), Predicate("Bad?", tie=True)),
        (Predicate("Bad?"), Predicate("Bad?", advisory=True)),
    ],
    ids=["turned round", "more levels", "range", "meaning", "tie", "advisory"],
)
def test_a_call_that_asks_the_same_words_otherwise_has_another_key(
    declared: Question, asked: Question
) -> None:
    point = DecisionPoint(name=POINT, questions={"en": {"q": declared}})
    before = keys_of(point, point.ask("hello").questions, "en")

    assert keys_of(point, Ask("hello", {"q": asked}).questions, "en") != before


def test_a_digest_is_of_canonical_json() -> None:
    """Not of the order in which somebody wrote the options, nor of an interpreter's hashes."""
    assert digest({"b": 1, "a": "é"}) == digest({"a": "é", "b": 1}) == "aa58fba84836"


# --- the file --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"", "holds no certificates"),
        (b"{", "holds no certificates"),
        (b"[]", "holds no certificates"),
        (b'{"certificates": [{"key": {}}]}', "holds no certificates"),
        (b'{"certificates": [], "format": 2}', "format 2; this version reads 1"),
    ],
)
def test_a_file_that_says_nothing_is_a_fault_at_start(
    content: bytes | None, said: str, tmp_path: Path
) -> None:
    """Named by its variable; where it lies is nobody's business."""
    path = tmp_path / "thresholds.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(SetupError, match=said) as caught:
        offering({THRESHOLDS: str(path)})

    assert [fault.where for fault in caught.value.faults] == [THRESHOLDS]
    assert str(tmp_path) not in str(caught.value)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=THRESHOLDS):
        offering({THRESHOLDS: str(tmp_path)})


def test_what_was_written_is_read_again_on_reload(filed: Filed) -> None:
    """A new file counts from the next decision on, without a restart."""
    variables = filed(certificate(key(team())))
    with offering(variables, nova=scripted("tech")) as gateway:
        before = attempt(gateway).minimum
        filed(certificate(key(team()), minimum=0.31))
        unread = attempt(gateway).minimum
        gateway.reload({**variables, "DECISION_LOG": "off"})
        after = attempt(gateway).minimum

    assert (before, unread, after) == (CERTIFIED, CERTIFIED, 0.31)


def test_an_override_brings_no_certificate_of_another_provider(filed: Filed) -> None:
    with (
        offering(filed(certificate(key(team()))), nova=scripted("tech")) as gateway,
        gateway.override({POINT: scripted("tech")}),
    ):
        assert attempt(gateway).minimum == USUAL
