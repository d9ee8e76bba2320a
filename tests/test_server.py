"""The HTTP gateway's application: who is asked, what comes back, and every way to be refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from faulty import Server, failed, replies
from pointsman import (
    Choice,
    Chosen,
    DecisionPoint,
    Held,
    Predicate,
    Reason,
    Recorder,
    Refused,
    Reply,
    Score,
    Scored,
    Usage,
    scripted,
)
from pointsman.gateway.answers import RawAnswer, Stated
from pointsman.gateway.offering import OptionsFrom
from pointsman.gateway.questions import When
from served import ANGRY, JSON, MAP, TEAM, URGENCY, Running, asking, mapped, running

ALL: dict[str, RawAnswer] = {
    "team": Chosen("tech", {"billing": 0.03, "tech": 0.95, "none": 0.02}, 0.93),
    "angry": Held(0.2),
    "urgency": Scored(1.7, (0.05, 0.2, 0.75), 0.55),
}
BILLED = Reply(ALL, "told-1", Usage(212, 3, 0.0000089))

TOPIC = DecisionPoint(
    name="TOPIC",
    questions={
        "en": {
            "topic": Choice("What is it about?", {"money": "", "faults": "", "other": ""}, "other"),
            "urgent": Predicate("Is it urgent?", when=When("topic", ("faults",))),
        }
    },
    reads=("message", "history"),
    words="message",
    safe={"topic": "other"},
)
LISTED = DecisionPoint(
    name="LISTED",
    questions={"en": {"tool": Choice("Which tool?", {"none": ""}, "none", open=True)}},
    reads=("message",),
    words="message",
    options={"tool": OptionsFrom("tools", "name", "about")},
    brings=("tools",),
    safe="none",
)
GENERIC = DecisionPoint(
    name="RULE", questions={"en": {"ok": Predicate("Is it fine?")}}, prefix="RULE_", safe=False
)


def declaring(environ: dict[str, str] | None = None, /, **given: Any) -> Running:
    """As `running`, with points of its own."""
    made = running(environ, **given)
    for point in (TOPIC, LISTED, GENERIC):
        made.house.gateway._note(point, point.name)
    return made


# --- a provider, asked directly ----------------------------------------------------------


def test_every_type_in_the_openai_dialect() -> None:
    """Protocols §3.2: in the order of the questions, names echoed, null where there is none."""
    nameless = {key: value for key, value in ANGRY.items() if key != "name"}
    answers = {"team": ALL["team"], "1": ALL["angry"], "urgency": ALL["urgency"]}
    with running(told=scripted(msgspec.structs.replace(BILLED, answers=answers))) as server:
        reply = server.openai(asking("told", TEAM, nameless, URGENCY))

    assert reply.status_code == 200
    body = reply.json()
    said = body["provider_metadata"]["pointsman"]
    assert body["answers"] == [
        {
            "type": "choice",
            "name": "team",
            "choice": "tech",
            "confidence": 0.93,
            "probabilities": [
                {"value": "billing", "probability": 0.03},
                {"value": "tech", "probability": 0.95},
                {"value": "none", "probability": 0.02},
            ],
        },
        {"type": "predicate", "name": None, "probability": 0.2},
        {
            "type": "score",
            "name": "urgency",
            "score": 1.7,
            "confidence": 0.55,
            "probabilities": [
                {"value": 0, "label": "low", "probability": 0.05},
                {"value": 1, "label": "medium", "probability": 0.2},
                {"value": 2, "label": "high", "probability": 0.75},
            ],
        },
    ]
    assert body["model"] == "told-1"
    assert body["usage"]["total_tokens"] == 215
    assert body["provider_metadata"]["gateway"] == {"cost": "0.0000089"}
    assert reply.headers["x-request-id"] == said.pop("decision")
    assert reply.headers["x-pointsman-provider"] == "told"
    assert said == {
        "provider": "told",
        "model": "told-1",
        "reason": "ok",
        "fallback": False,
        "undecided": False,
        "cached": False,
    }


def test_every_type_in_the_typesafe_dialect() -> None:
    """Protocols §4.2: a map, with a legend for scores."""
    with running(told=scripted(BILLED)) as server:
        reply = server.systemone(mapped("told"))

    assert reply.status_code == 200
    assert reply.json()["answers"] == {
        "angry": {"type": "noul", "noul": 0.2},
        "team": {
            "type": "choice",
            "choice": "tech",
            "confidence": 0.93,
            "probabilities": {"billing": 0.03, "tech": 0.95, "none": 0.02},
        },
        "urgency": {
            "type": "score",
            "score": 1.7,
            "confidence": 0.55,
            "legend": {"0": "low", "1": "medium", "2": "high"},
            "probabilities": {"0": 0.05, "1": 0.2, "2": 0.75},
        },
    }
    assert reply.headers["x-typesafe-request-id"] == reply.headers["x-request-id"]


def test_asked_directly_any_confidence_counts_and_a_missing_one_is_the_sentinel() -> None:
    """Protocols §2.4: confidence 0 with an empty distribution says that there is none."""
    unsure = scripted({"team": Chosen("tech", None, 0.01)}, {"team": Chosen("tech")})
    with running({"DECISION_TEAM_MIN_CONFIDENCE": "0.99"}, told=unsure) as server:
        first = server.openai(asking("told", TEAM)).json()["answers"][0]
        second = server.openai(asking("told", TEAM)).json()["answers"][0]

    assert (first["choice"], first["confidence"]) == ("tech", 0.01)
    assert (second["choice"], second["confidence"], second["probabilities"]) == ("tech", 0.0, [])


def test_a_decision_asked_directly_is_recorded_under_a_name_of_its_own() -> None:
    recorder = Recorder()
    with running(told=scripted("tech"), observers=[recorder]) as server:
        server.openai(asking("told", TEAM), headers={"x-pointsman-subject": "ana"})

    (record,) = recorder.records
    assert (record.point, record.variant, record.provider) == ("POINTSMAN_DIRECT", "told", "told")


@pytest.mark.parametrize(
    "model",
    [
        "tolt",
        "told/eu",
        "point:TOLD",
        "point:RULE_17",
        "point:",
        "POINT:TOPIC",
        "jev",
        "a/b/c",
        "é",
    ],
)
def test_an_unknown_model_is_not_found_and_nothing_is_made_for_it(model: str) -> None:
    """A client's text makes neither lane nor plan; `RULE_17` is covered by a prefix alone."""
    with declaring(told=scripted("tech")) as server:
        wiring = server.house.gateway._wiring
        server.house.gateway.directory()
        before = (len(wiring._lanes), len(wiring._wired))
        told = server.openai(asking(model, TEAM))
        mapped_ = server.systemone(mapped(model))
        assert (len(wiring._lanes), len(wiring._wired)) == before

    assert (told.status_code, mapped_.status_code) == (404, 404)
    assert told.json()["error"]["code"] == "model_not_found"
    assert told.json()["error"]["param"] == "model"
    assert mapped_.json()["detail"]["error_type"] == "model_not_found"


def test_what_is_not_configured_is_told_to_the_operator_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A hosted decider without its key exists for nobody; the log names the variable."""
    with running({"DECISION_LOG": "json"}) as server:
        listed = {one["id"] for one in server.client.get("/v1/models").json()["data"]}
        replied = [server.openai(asking("jev", TEAM)).status_code for _ in range(3)]

    events = [line for line in capfd.readouterr().err.splitlines() if "not_configured" in line]
    assert "jev" not in listed
    assert replied == [404, 404, 404]
    assert len(events) == 1
    assert "AI_GATEWAY_API_KEY" in events[0]


def test_a_reload_changes_who_can_be_asked() -> None:
    with running(told=scripted("tech")) as server:
        assert server.openai(asking("jev", TEAM)).status_code == 404
        server.house.gateway.reload({"DECISION_LOG": "off", "AI_GATEWAY_API_KEY": "k"})
        listed = {one["id"] for one in server.client.get("/v1/models").json()["data"]}

    assert {"jev", "told"} <= listed


# --- failures, by their reasons ----------------------------------------------------------

STATUSES = {
    "unsupported": 400,
    "too_large": 413,
    "transport": 502,
    "provider_error": 502,
    "timeout": 504,
    "rate_limited": 429,
    "breaker_open": 503,
    "over_budget": 503,
    "skipped": 503,
    "cancelled": 503,
}
AN_ANSWER = {"refused", "abstained", "low_confidence", "confidence_missing"}
FAILURES = [one for one in Reason if one not in (Reason.OK, Reason.NESTED)]  # it has no outer


@pytest.mark.parametrize("reason", FAILURES, ids=str)
def test_a_providers_failure_is_told_by_its_reason(reason: Reason) -> None:
    """
    Never 401 or 403, which say that the client's own key is wrong; no 500 either.

    What was billed and is not believed is 424: the AI SDK and typesafe-sdk send every 5xx again.
    """
    with running(told=scripted(reason), other=scripted(reason)) as server:
        openai = server.openai(asking("told", TEAM))
        systemone = server.systemone(mapped("other"))  # a bad key opens a breaker at once

    detail = systemone.json()["detail"]
    expected = 422 if reason in AN_ANSWER else STATUSES.get(reason, 424)
    assert (systemone.status_code, detail["error_type"]) == (expected, reason.value)
    assert len(systemone.headers["x-request-id"]) == 32
    if reason in AN_ANSWER:
        said = openai.json()["provider_metadata"]["pointsman"]
        assert openai.status_code == 200
        assert openai.json()["answers"] == [{"type": "refusal", "name": "team"}]
        assert (said["reason"], said["provider"]) == (reason.value, "")
        assert said["decision"] == openai.headers["x-request-id"]
    else:
        assert openai.status_code == expected
        assert openai.json()["error"]["code"] == reason.value


def test_one_refused_question_leaves_the_others_answered() -> None:
    """Protocols §3.2; the TypeSafe dialect has no word for it, and fails as a whole."""
    said: dict[str, RawAnswer] = {**ALL, "angry": Refused()}
    with running(told=scripted(Reply(said))) as server:
        openai = server.openai(asking("told", TEAM, ANGRY, URGENCY))
        systemone = server.systemone(mapped("told"))

    assert [one["type"] for one in openai.json()["answers"]] == ["choice", "refusal", "score"]
    assert systemone.status_code == 422
    assert systemone.json()["detail"]["error_type"] == "refused"


@pytest.mark.parametrize(
    ("status", "body", "expected", "again"),
    [
        (401, failed("authentication_error"), (424, "auth"), False),
        (402, failed("payment"), (424, "payment"), False),
        (403, failed("forbidden"), (424, "auth"), False),
        (404, failed("not_found"), (424, "rejected"), False),
        (429, failed("rate_limit_exceeded"), (429, "rate_limited"), True),
        (500, failed("internal_server_error"), (502, "provider_error"), False),
    ],
)
def test_an_upstreams_status_is_not_ours(
    server: Server, status: int, body: object, expected: tuple[int, str], *, again: bool
) -> None:
    """
    What cannot fare better is marked, so that clients do not pay twice by retrying.

    Nor is sent again what was tried as often as it is worth: 3 retries of 2 attempts are 6 calls.
    """
    server.does(replies(body, status))
    environ = {
        "AI_GATEWAY_API_KEY": "k",
        "JEV_BASE_URL": server.url,
        "JEV_MAX_ATTEMPTS": "1",
        "DECISION_PROVIDER": "jev",
    }
    with running(environ) as here:
        reply = here.openai(asking("jev", TEAM))

    assert (reply.status_code, reply.json()["error"]["code"]) == expected
    assert (reply.headers.get("x-should-retry") != "false") is again


def test_a_client_is_told_when_to_come_again(server: Server) -> None:
    """RFC 9110 §10.2.3: soon where the provider is asked too often, else when its pause ends."""
    server.does(*[replies(failed("rate_limit_exceeded"), 429)] * 5)
    environ = {"AI_GATEWAY_API_KEY": "k", "JEV_BASE_URL": server.url, "JEV_MAX_ATTEMPTS": "1"}
    with running(environ) as here:
        limited = [here.openai(asking("jev", TEAM)) for _ in range(5)]
        left_alone = here.systemone(mapped("jev"))

    assert {one.headers["retry-after"] for one in limited} == {"1"}
    assert left_alone.json()["detail"]["error_type"] == "breaker_open"
    assert 1 <= int(left_alone.headers["retry-after"]) <= 30
    assert "x-should-retry" not in left_alone.headers


def test_what_is_refused_is_told_as_it_is_recorded() -> None:
    """No safe outcome stands in where a provider was asked directly: it is not `undecided`."""
    recorder = Recorder()
    with running(told=scripted(Reason.LOW_CONFIDENCE), observers=[recorder]) as server:
        said = server.openai(asking("told", TEAM)).json()["provider_metadata"]["pointsman"]

    (record,) = recorder.records
    assert (said["undecided"], said["provider"]) == (record.undecided, record.provider)
    assert (said["undecided"], said["reason"]) == (False, "low_confidence")


# --- what an answer says -----------------------------------------------------------------


def test_a_truth_without_a_probability_is_never_told_as_a_certain_one() -> None:
    """Protocols §11.2: no dialect has a word for it; what was said stands beside the refusal."""
    said: dict[str, RawAnswer] = {**ALL, "angry": Stated(holds=False)}
    with running(told=scripted(Reply(said))) as server:
        openai = server.openai(asking("told", TEAM, ANGRY, URGENCY)).json()
        systemone = server.systemone(mapped("told"))

    told = openai["provider_metadata"]["pointsman"]
    assert openai["answers"][1] == {"type": "refusal", "name": "angry"}
    assert told["outcome"]["angry"] is False
    assert (told["sources"]["angry"], told["reason"]) == ("missing", "ok")
    assert systemone.status_code == 422
    assert systemone.json()["detail"]["error_type"] == "confidence_missing"


def test_what_a_distribution_leaves_out_is_told_as_zero() -> None:
    """Protocols §9: the AI SDK wants every option; acceptance counts an omitted one as 0."""
    sparse: dict[str, RawAnswer] = {**ALL, "team": Chosen("tech", {"tech": 1.0}, 0.9)}
    with running(told=scripted(Reply(sparse))) as server:
        openai = server.openai(asking("told", TEAM, ANGRY, URGENCY)).json()["answers"][0]
        systemone = server.systemone(mapped("told")).json()["answers"]["team"]

    spread = {"billing": 0.0, "tech": 1.0, "none": 0.0}
    assert {one["value"]: one["probability"] for one in openai["probabilities"]} == spread
    assert systemone["probabilities"] == spread


def test_sources_are_named_as_the_client_names_its_questions() -> None:
    """By position where it gives no name, whatever the point calls them."""
    said: dict[str, RawAnswer] = {"topic": Chosen("faults", None, 0.9), "urgent": Held(0.9)}
    told = scripted(Reply(said, source="self_reported"))
    unnamed = [nameless(TOPIC_ASKED), nameless(URGENT_ASKED)]
    with declaring({"DECISION_TOPIC_PROVIDER": "told"}, told=told) as server:
        by_position = server.openai(asking("point:TOPIC", *unnamed)).json()
        by_name = server.openai(asking("point:TOPIC", URGENT_ASKED, TOPIC_ASKED)).json()

    sources = [one["provider_metadata"]["pointsman"]["sources"] for one in (by_position, by_name)]
    assert sources[0] == {"0": "self_reported", "1": "self_reported"}
    assert list(sources[1]) == ["urgent", "topic"]


@pytest.mark.parametrize("stream", [True, "yes", 1])
def test_a_stream_is_refused_and_not_ignored(stream: object) -> None:
    with running(told=scripted(BILLED)) as server:
        openai = server.openai(asking("told", TEAM, stream=stream))
        systemone = server.systemone(mapped("told", stream=stream))
        whole = server.openai(asking("told", TEAM, ANGRY, URGENCY, stream=False))

    assert (openai.status_code, openai.json()["error"]["param"]) == (400, "stream")
    assert (systemone.status_code, whole.status_code) == (400, 200)


def test_an_empty_text_is_a_state_and_no_item_is_none() -> None:
    """A host may be asked about nothing; a list of items that holds none is a mistake."""
    with running(told=scripted(BILLED)) as server:
        openai = server.openai(asking("told", TEAM, ANGRY, URGENCY, input=""))
        systemone = server.systemone(mapped("told", state=""))
        none = server.openai(asking("told", TEAM, input=[]))

    assert (openai.status_code, systemone.status_code) == (200, 200)
    assert (none.status_code, none.json()["error"]["param"]) == (400, "input")


def test_parts_of_text_are_one_text_in_both_dialects() -> None:
    """The AI SDK sends every state as parts; what else stands in a part is data."""
    told = scripted(BILLED)
    parts = [{"type": "text", "text": "my router"}, {"type": "text", "text": "is dead"}]
    typed = [{"type": "input_text", "text": one["text"]} for one in parts]
    more = [*parts, {"type": "text", "text": "now", "at": 3}]
    with running(told=told) as server:
        server.systemone(mapped("told", state=parts))
        message = [{"role": "user", "content": typed}]
        server.openai(asking("told", TEAM, ANGRY, URGENCY, input=message))
        server.systemone(mapped("told", state=more))

    assert [ask.state for ask in told.asked] == ["my router\nis dead"] * 2 + [more]


def test_a_bug_is_told_by_its_number_and_logged_by_its_place(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client sees an opaque id; the log has type and place, never the message."""
    with running({"DECISION_LOG": "json"}, told=scripted("tech")) as server:

        def breaks(*_: object, **__: object) -> object:
            raise ZeroDivisionError("secret zq7")

        monkeypatch.setattr(server.house.gateway, "directly", breaks)
        openai = server.openai(asking("told", TEAM))
        systemone = server.systemone(mapped("told"))

    written = capfd.readouterr().err
    assert (openai.status_code, systemone.status_code) == (500, 500)
    assert openai.json()["error"]["code"] == "internal_error"
    assert openai.headers["x-request-id"] in openai.json()["error"]["message"]
    assert systemone.json()["detail"]["error_type"] == "internal_error"
    assert '"error":"ZeroDivisionError"' in written
    assert "zq7" not in written + openai.text + systemone.text


# --- a decision point --------------------------------------------------------------------


def test_a_points_plan_decides_and_its_stand_in_stands_behind() -> None:
    """Split, threshold and fallback are the point's; the one that assigned stays `variant`."""
    environ = {"DECISION_TOPIC_PROVIDER": "unsure", "CURRENT_PROVIDER": "sure"}
    recorder = Recorder()
    both = {"topic": "money", "urgent": False}
    unsure, sure = scripted(both, confidence=0.2), scripted(both, confidence=0.9)
    with declaring(environ, unsure=unsure, sure=sure, observers=[recorder]) as server:
        reply = server.openai(asking("point:TOPIC"))

    said = reply.json()["provider_metadata"]["pointsman"]
    assert (said["provider"], said["fallback"], said["reason"]) == ("sure", True, "low_confidence")
    assert reply.headers["x-pointsman-provider"] == "sure"
    (record,) = recorder.records
    assert (record.point, record.variant) == ("TOPIC", "unsure")


def test_no_questions_mean_the_points_own_about_the_fields_it_reads() -> None:
    """An object's fields are the state; a text is what the point judges, even one like JSON."""
    told = scripted({"topic": "faults", "urgent": True})
    with declaring({"DECISION_TOPIC_PROVIDER": "told"}, told=told) as server:
        fields = {"message": "it is down", "history": ["hi"], "secret": 1}
        mapping = server.systemone({"model": "point:TOPIC", "state": fields, "questions": {}})
        words = server.openai({"model": "point:topic", "input": '{"history": 1}', "questions": []})

    assert mapping.json()["answers"]["topic"]["choice"] == "faults"
    assert [one["name"] for one in words.json()["answers"]] == ["topic", "urgent"]
    assert told.asked[0].state == {"message": "it is down", "history": ["hi"]}
    assert told.asked[1].state == {"message": '{"history": 1}'}


TOPIC_ASKED: dict[str, object] = {
    "type": "choice",
    "name": "topic",
    "instructions": "About what?",
    "choices": [{"value": "money"}, {"value": "faults"}],
}
URGENT_ASKED: dict[str, object] = {"type": "predicate", "name": "urgent", "instructions": "Now?"}


def nameless(question: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in question.items() if key != "name"}


@pytest.mark.parametrize(
    "questions",
    [
        [TOPIC_ASKED, URGENT_ASKED],
        [URGENT_ASKED, TOPIC_ASKED],
        [nameless(TOPIC_ASKED), nameless(URGENT_ASKED)],
    ],
    ids=["named", "in another order", "by position"],
)
def test_a_requests_questions_are_the_points_in_its_own_words(
    questions: list[dict[str, object]],
) -> None:
    """Words and options are the request's; what waits for what stays the point's."""
    told = scripted({"topic": "money", "urgent": True}, confidence=0.9)
    with declaring({"DECISION_TOPIC_PROVIDER": "told"}, told=told) as server:
        reply = server.openai(asking("point:TOPIC", *questions))

    (ask,) = told.asked
    assert list(ask.questions) == ["topic", "urgent"]
    assert [one.instructions for one in ask.questions.values()] == ["About what?", "Now?"]
    answers = reply.json()["answers"]
    assert [one["name"] for one in answers] == [one.get("name") for one in questions]
    types = {"choice": "choice", "predicate": "refusal"}  # it is not live: money is no fault
    assert [one["type"] for one in answers] == [types[str(one["type"])] for one in questions]


@pytest.mark.parametrize(
    "questions",
    [
        [TOPIC_ASKED],
        [TOPIC_ASKED, URGENT_ASKED, ANGRY],
        [TOPIC_ASKED, ANGRY],
        [TOPIC_ASKED, {**TOPIC_ASKED, "name": "urgent"}],
        [TOPIC_ASKED, TOPIC_ASKED],
        [TOPIC_ASKED, nameless(URGENT_ASKED)],
        [nameless(TOPIC_ASKED)],
        [nameless(URGENT_ASKED), nameless(TOPIC_ASKED)],
        [{**TOPIC_ASKED, "choices": TEAM["choices"]}, URGENT_ASKED],
    ],
    ids=[
        "one is missing",
        "one too many",
        "another name",
        "another type",
        "twice",
        "half named",
        "too few positions",
        "other types by position",
        "what another waits for cannot be answered",
    ],
)
def test_questions_that_are_not_the_points_are_refused(questions: list[object]) -> None:
    told = scripted({"topic": "billing", "urgent": True})
    with declaring({"DECISION_TOPIC_PROVIDER": "told"}, told=told) as server:
        reply = server.openai(asking("point:TOPIC", *questions))

    if questions[0] == {**TOPIC_ASKED, "choices": TEAM["choices"]}:  # merely never live
        assert reply.status_code == 200
        return
    error = reply.json()["error"]
    assert (reply.status_code, error["code"], error["param"]) == (
        400,
        "questions_mismatch",
        "questions",
    )
    assert "topic (choice), urgent (predicate)" in error["message"]
    assert told.asked == []


@pytest.mark.parametrize(
    ("model", "state"),
    [
        ("point:TOPIC", {"other": 1}),
        ("point:TOPIC", {"history": []}),
        ("point:LISTED", "hello"),
        ("point:LISTED", {"message": "hello", "tools": "hammer"}),
        ("point:LISTED", {"message": "hello", "tools": []}),
    ],
)
def test_a_state_that_a_point_cannot_be_asked_about_is_refused(model: str, state: object) -> None:
    with declaring(told=scripted("tech")) as server:
        reply = server.systemone({"model": model, "state": state, "questions": {}})

    assert (reply.status_code, reply.json()["detail"]["error_type"]) == (400, "state_mismatch")


def test_an_open_choice_takes_its_options_from_the_state_or_from_the_request() -> None:
    told = scripted("saw", confidence=0.9)
    with declaring({"DECISION_LISTED_PROVIDER": "told"}, told=told) as server:
        tools = [{"name": "saw", "about": "cuts"}, {"name": "hammer"}]
        state = {"message": "cut it", "tools": tools}
        own = server.systemone({"model": "point:LISTED", "state": state, "questions": {}})
        asked = {"tool": {"type": "choice", "criteria": {"saw": None, "axe": None}}}
        given = server.systemone({"model": "point:LISTED", "state": "cut it", "questions": asked})

    assert own.json()["answers"]["tool"]["choice"] == "saw"
    assert list(given.json()["answers"]) == ["tool"]
    options = [list(ask.questions["tool"].options) for ask in told.asked]  # type: ignore[union-attr]
    assert options == [["saw", "hammer", "none"], ["saw", "axe"]]


def test_undecided_is_a_refusal_or_a_status_and_names_the_safe_outcome() -> None:
    """A low-confidence answer of the stand-in is never given out."""
    told = scripted({"topic": "money", "urgent": False}, confidence=0.2)
    with declaring({"CURRENT_PROVIDER": "told"}, told=told) as server:
        openai = server.openai(asking("point:TOPIC"))
        systemone = server.systemone({"model": "point:TOPIC", "state": "x", "questions": {}})

    said = openai.json()["provider_metadata"]["pointsman"]
    assert [one["type"] for one in openai.json()["answers"]] == ["refusal", "refusal"]
    assert (said["undecided"], said["outcome"]) == (True, {"topic": "other", "urgent": None})
    assert "x-pointsman-provider" not in openai.headers
    assert (systemone.status_code, systemone.json()["detail"]["error_type"]) == (422, "undecided")


def test_every_point_of_the_catalogue_answers_or_says_what_it_needs() -> None:
    """Hybrids and lists too: 200, 422, or a 400 that names its fields; never a 5xx."""
    with running(told=scripted("tech")) as server:
        ids = [one["id"] for one in server.client.get("/v1/models").json()["data"]]
        points = [one for one in ids if one.startswith("point:")]
        replied = {
            (name, server.systemone({"model": name, "state": state, "questions": {}}).status_code)
            for name in points
            for state in ("hello", {}, {"message": "hello"}, [1], {"candidates": {"a": 1}})
        }

    assert len(points) > 20
    assert {status for _, status in replied} <= {200, 400, 422}


def test_a_score_on_a_points_own_scale_is_an_index_on_the_wire() -> None:
    point = DecisionPoint(
        name="GRADE",
        questions={"en": {"grade": Score("How good?", low=0.0, high=10.0)}},
        safe=0.0,
    )
    environ = {"DECISION_GRADE_PROVIDER": "told"}
    with running(environ, told=scripted(8.0, confidence=0.9)) as server:
        server.house.gateway._note(point, point.name)
        reply = server.systemone({"model": "point:GRADE", "state": "x", "questions": {}})

    assert reply.json()["answers"]["grade"]["score"] == pytest.approx(4.0)


def test_the_subject_comes_from_the_header_or_the_body() -> None:
    """It sticks to its arm of a split, whichever way it comes; a blank header says nothing."""
    environ = {"DECISION_TOPIC_PROVIDER": "one:50,two:50"}
    both = {"topic": "money", "urgent": False}
    one, two = scripted(both), scripted(both)
    recorder = Recorder()
    with declaring(environ, one=one, two=two, observers=[recorder]) as server:
        body = {"model": "point:TOPIC", "state": "x", "questions": {}}
        for subject in ("ana", "bob", "eve"):
            server.systemone(body, headers={"x-pointsman-subject": subject})
            server.systemone({**body, "user": subject})
            server.openai(asking("point:TOPIC", safety_identifier=subject))
        server.systemone({**body, "user": "bob"}, headers={"x-pointsman-subject": "ana"})
        server.systemone({**body, "user": "ana"}, headers={"x-pointsman-subject": ""})

    arms = [record.variant for record in recorder.records]
    assert all(record.exposure and record.exposure.sticky for record in recorder.records)
    assert [len(set(arms[at : at + 3])) for at in (0, 3, 6)] == [1, 1, 1]
    assert arms[9] == arms[10] == arms[0]


# --- what can be asked -------------------------------------------------------------------


def test_the_models_are_listed_for_both_clients() -> None:
    """One body: OpenAI reads `data`, TypeSafe reads `models`."""
    environ = {"DECISION_TOPIC_PROVIDER": "told"}
    with declaring(environ, told=scripted("tech")) as server:
        body = server.client.get("/v1/models").json()

    ids = [one["id"] for one in body["data"]]
    names = {one["name"]: one["description"] for one in body["models"]}
    assert body["object"] == "list"
    assert set(ids) == set(names)
    assert {"point:TOPIC", "told", "local"} <= set(ids)
    assert names["point:TOPIC"] == (
        "Decision point: asks topic (choice), urgent (predicate). Decided by told."
    )
    assert all({"id", "object", "created", "owned_by"} == one.keys() for one in body["data"])


def test_one_model_is_told_by_its_id() -> None:
    """As it is listed, quoted or not; clients of OpenAI look one up."""
    environ = {"DECISION_TOPIC_PROVIDER": "told", "SYSTEMONE__EU__BASE_URL": "https://eu.test"}
    with declaring(environ, told=scripted("tech")) as server:
        listed = {one["id"]: one for one in server.client.get("/v1/models").json()["data"]}
        ways = ("point:TOPIC", "point%3ATOPIC", "systemone/eu", "systemone%2Feu", "told")
        found = [server.client.get(f"/v1/models/{way}").json() for way in ways]
        absent = [server.client.get(f"/v1/models/{way}") for way in ("jev", "point:X", "")]

    assert [listed[one["id"]].items() <= one.items() for one in found] == [True] * 5
    assert found[0]["name"] == "point:TOPIC"
    codes = {(one.status_code, one.json()["error"]["code"]) for one in absent}
    assert codes == {(404, "model_not_found")}


def test_what_is_elsewhere_is_told_in_the_same_shape() -> None:
    with running() as server:
        absent = server.client.get("/v2/decisions")
        other = server.client.get("/v1/decisions")
        sent = server.client.post("/v1/models", json={})
        pre = server.client.options("/v1/decisions", headers={"origin": "https://evil.test"})

    assert (absent.status_code, absent.json()["error"]["code"]) == (404, "not_found")
    assert (other.status_code, other.headers["allow"]) == (405, "POST")
    assert (sent.status_code, sent.json()["error"]["code"]) == (405, "method_not_allowed")
    assert pre.status_code == 405
    assert not [name for name in pre.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/v1/v1/systemone", "before /v1"),
        ("/systemone", "before /v1"),
        ("/v1/systemone/", "before /v1"),
        ("/v1/v1/decisions", "with /v1"),
        ("/decisions", "with /v1"),
        ("/v1/decisions/", "with /v1"),
    ],
)
def test_a_wrong_base_url_is_told_in_the_clients_own_dialect(path: str, says: str) -> None:
    """And never by a redirect, which would lead wherever the request's `Host` says."""
    with running(told=scripted("tech")) as server:
        reply = server.client.post(path, json={}, headers={"host": "evil.example"})

    body = reply.json()
    typesafe = path.strip("/").endswith("systemone")
    said = body["detail"] if typesafe else body["error"]
    assert (reply.status_code, "location" in reply.headers) == (404, False)
    assert said["error_type" if typesafe else "code"] == "not_found"
    assert says in said["message"]


WRONG: dict[str, tuple[bytes, str, str]] = {
    "beyond floats": (
        b'"state": [1e999], "questions": {}',
        "invalid_request",
        "state[0]: a number",
    ),
    "5,000 digits": (
        b'"state": {"a": ' + b"9" * 5000 + b'}, "questions": {}',
        "invalid_request",
        "state[...]: a number is out of range",
    ),
    "a type": (
        b'"state": "x", "questions": {"a": {"type": "noul", "instructions": ""}, "b": {"type": 1}}',
        "invalid_request",
        "the 2nd question, type: expected",
    ),
    "a field twice": (
        b'"model": "jev", "state": "x", "questions": {}',
        "invalid_request",
        "a field comes twice",
    ),
    "256 options": (
        b'"state": "x", "questions": {"a": {"type": "choice", "criteria": {'
        + b",".join(b'"%d": null' % at for at in range(256))
        + b"}}}",
        "too_many_options",
        "the 1st question, criteria: at most 255",
    ),
}


@pytest.mark.parametrize(("body", "code", "says"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_where_it_is(body: bytes, code: str, says: str) -> None:
    """A map has no index: its questions are counted; numbers are no question's type."""
    with running(told=scripted("tech")) as server:
        content = b'{"model": "told", ' + body + b"}"
        reply = server.client.post("/v1/systemone", content=content, headers=JSON)

    detail = reply.json()["detail"]
    assert (reply.status_code, detail["error_type"]) == (400, code)
    assert detail["message"].startswith(says)


def test_it_is_alive_and_ready_and_says_when_it_drains() -> None:
    with running() as server:
        alive, ready = server.client.get("/healthz"), server.client.get("/readyz")
        server.house.draining = True
        draining = server.client.get("/readyz")

    assert (alive.status_code, ready.json()) == (200, {"status": "ok"})
    assert (draining.status_code, draining.json()) == (503, {"status": "draining"})
    assert draining.headers["connection"] == "close"


def test_a_decision_needs_a_model_and_a_provider_needs_questions() -> None:
    with running(told=scripted("tech")) as server:
        without = server.client.post("/v1/systemone", json={"state": "x", "questions": MAP})
        empty = server.openai(asking("told"))
        no_json = server.client.post("/v1/decisions", content=b"{", headers=JSON)

    assert (without.status_code, without.json()["detail"]["error_type"]) == (400, "model_missing")
    assert (empty.status_code, empty.json()["error"]["code"]) == (400, "questions_missing")
    assert (no_json.status_code, no_json.json()["error"]["code"]) == (400, "invalid_request")
