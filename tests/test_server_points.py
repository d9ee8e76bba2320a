"""Questions that a client of the server brings for a decision point: what stays the point's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pointsman import Choice, DecisionPoint, Held, Predicate, Reply, Score, scripted
from pointsman.gateway.certificates import AtRisk, Certificate, Key, Thresholds, written
from pointsman.gateway.keys import keys_of
from served import Running, asking, running
from trialling import Kept

BEFORE, AFTER = "they write that it is", "it can wait"
GUARD = DecisionPoint(
    name="GUARD",
    questions={"en": {"urgent": Predicate("Is it urgent?", BEFORE, AFTER)}},
    reads=("message", "history"),
    words="message",
    safe=False,
)
GUARDED = {"type": "predicate", "name": "urgent", "instructions": "Is it urgent?"}


def guarding(folder: Path, told: Any) -> Running:
    """Serve `GUARD`, whose answers of 0.55 clear no threshold but a certified one."""
    key = keys_of(GUARD, GUARD.questions["en"], "en")["urgent"]
    of = Key(
        point="GUARD",
        question="urgent",
        template=key.template,
        options=key.options,
        language="en",
        form="single",
        scale="reported",
        provider="told",
        model="scripted-1",
    )
    certificate = Certificate(
        key=of,
        risk=0.05,
        levels=(AtRisk(alpha=0.05, minimum=0.52),),
        delta=0.05,
        method="learn-then-test",
        labels="gold",
        rows=1000,
        seed=1,
        data="0" * 12,
        date="2026-11-30",
    )
    file = folder / "thresholds.json"
    file.write_bytes(written(Thresholds(certificates=(certificate,))))
    environ = {"DECISION_GUARD_PROVIDER": "told", "DECISION_THRESHOLDS": str(file)}
    made = running(environ, told=told)
    made.house.gateway._note(GUARD, GUARD.name)
    return made


FIELDS = {"message": "it is down", "history": ["hi"]}


@pytest.mark.parametrize(
    ("state", "shown", "certified"),
    [
        ("it is down", {"message": "it is down"}, True),
        ({**FIELDS, "secret": 1}, FIELDS, True),
        ({"history": ["hi"]}, {"history": ["hi"]}, False),
        ({"ticket": "it is down"}, {"ticket": "it is down"}, False),
        ([{"role": "user", "content": "hi"}], [{"role": "user", "content": "hi"}], False),
    ],
    ids=["a text", "its fields and another", "without the words", "foreign", "messages"],
)
def test_brought_questions_are_asked_about_what_the_point_shows(
    tmp_path: Path, state: object, shown: object, *, certified: bool
) -> None:
    """A certificate holds for words about what was shown; nothing else is sent under it."""
    told = scripted(Reply({"urgent": Held(0.55)}, "scripted-1"))
    with guarding(tmp_path, told) as server:
        questions = {"urgent": {"type": "noul", "instructions": "Is it urgent?"}}
        reply = server.systemone({"model": "point:GUARD", "state": state, "questions": questions})

    assert [ask.state for ask in told.asked][:1] == [shown]
    assert (reply.status_code == 200) is certified


@pytest.mark.parametrize(
    ("criteria", "kept"),
    [
        (None, (BEFORE, AFTER)),
        ({"true": "it burns"}, ("it burns", "")),
    ],
)
def test_a_predicates_meanings_stay_the_points_where_the_request_gives_none(
    criteria: object, kept: tuple[str, str], tmp_path: Path
) -> None:
    """Protocols §11.1: the OpenAI dialect has no place for them."""
    told = scripted(Reply({"urgent": Held(0.9)}))
    asked = {"type": "noul", "instructions": "Is it urgent?", "criteria": criteria}
    with guarding(tmp_path, told) as server:
        server.openai(asking("point:GUARD", GUARDED))
        server.systemone({"model": "point:GUARD", "state": "x", "questions": {"urgent": asked}})

    seen: list[Any] = [ask.questions["urgent"] for ask in told.asked]
    assert [(one.true, one.false) for one in seen] == [(BEFORE, AFTER), kept]


# --- what was found out ----------------------------------------------------------------------

DESK = DecisionPoint(
    name="DESK",
    questions={
        "en": {
            "team": Choice("Which team?", ["billing", "tech", "none"], "none"),
            "angry": Predicate("Angry?"),
            "mood": Score("What mood?", low=0, high=10),
        }
    },
    safe={"team": "none"},
)
WHOLE = {"team": "tech", "angry": True, "mood": 3.0}
LABELS: list[tuple[Any, str]] = [
    (WHOLE, ""),
    ({"team": "billing"}, ""),
    ({"angry": False, "mood": 10}, ""),
    ({"team": "zzz"}, "is one of billing, tech, none for team"),
    ({"team": True}, "is one of billing, tech, none for team"),
    ({"angry": "zzz"}, "is true or false for angry"),
    ({"mood": 11}, "is a number from 0 to 10 for mood"),
    ({"mood": True}, "is a number from 0 to 10 for mood"),
    ({"nope": "x"}, "names what is not asked; asked is team, angry, mood"),
    ("tech", "is an object of team, angry, mood"),
]


def test_a_label_is_an_answer_to_what_was_asked(tmp_path: Path) -> None:
    """Else it is counted as an error of whoever decided; the sentence says what would be."""
    kept = Kept(tmp_path)
    environ = {**kept.variables, "DECISION_DESK_PROVIDER": "told"}
    with running(environ, told=scripted(WHOLE)) as server:
        server.house.gateway._note(DESK, DESK.name)
        decision = server.openai(asking("point:DESK")).headers["x-request-id"]
        replied = [
            server.client.post("/v1/feedback", json={"decision": decision, "label": label})
            for label, _ in LABELS
        ]

    for reply, (label, problem) in zip(replied, LABELS, strict=True):
        error = reply.json().get("error", {})
        said = (error.get("code"), error.get("message")) if error else ("", "")
        assert (label, *said) == (label, "label_mismatch" if problem else "", problem)
        assert reply.status_code == (400 if problem else 200)


def test_a_label_may_be_an_option_that_the_request_brought(tmp_path: Path) -> None:
    """Its options are the request's; the record alone knows of them."""
    told = scripted({"team": "sales", "angry": True, "mood": 3.0}, confidence=0.9)
    brought = {
        "team": {"type": "choice", "criteria": {"sales": None, "none": None, "law": None}},
        "angry": {"type": "noul", "instructions": "Angry?"},
        "mood": {"type": "score", "criteria": ["low", "high"]},
    }
    environ = {**Kept(tmp_path).variables, "DECISION_DESK_PROVIDER": "told"}
    with running(environ, told=told) as server:
        server.house.gateway._note(DESK, DESK.name)
        asked = server.systemone({"model": "point:DESK", "state": "x", "questions": brought})
        feedback = {"decision": asked.headers["x-request-id"], "label": {"team": "law"}}
        reply = server.client.post("/v1/feedback", json=feedback)

    assert (reply.status_code, reply.json()["object"]) == (200, "feedback")


def test_where_a_person_must_decide_a_client_is_told_that_nobody_did() -> None:
    """`on_undecided="human"` of a user's own point: no fault of the server, and no answer."""
    point = DecisionPoint(name="ASKS", questions=GUARD.questions, on_undecided="human")
    environ = {"DECISION_ASKS_PROVIDER": "told", "DECISION_INBOX": "off"}
    made = running(environ, told=scripted(Held(0.5)))
    made.house.gateway._note(point, point.name)
    with made as server:
        reply = server.openai(asking("point:ASKS", GUARDED))

    assert reply.status_code == 422
    assert reply.json()["error"]["code"] == "undecided"
