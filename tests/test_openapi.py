"""The OpenAPI document says what the server does: checked by asking it whatever may be asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman import Ask, Call, Choice, Chosen, DecisionPoint, Held, Limits, Predicate, Reply
from pointsman.gateway.answers import RawAnswer, Refused, Scored, Usage
from pointsman.gateway.errors import NoAnswer, Reason
from pointsman.gateway.server.openapi import document
from pointsman.gateway.server.settings import ServerLimits
from served import JSON, Running, house_of, running

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
ROUTES = {
    "/v1/decisions": "post",
    "/v1/systemone": "post",
    "/v1/feedback": "post",
    "/v1/models": "get",
    "/v1/models/{id}": "get",
    "/metrics": "get",
    "/healthz": "get",
    "/readyz": "get",
    "/openapi.json": "get",
}
POSTS = [path for path, method in ROUTES.items() if method == "post"]
TEAM = DecisionPoint(
    name="TEAM",
    questions={
        "en": {
            "team": Choice("Which team?", {"billing": "", "tech": "", "none": ""}, "none"),
            "angry": Predicate("Is the writer angry?"),
        }
    },
    safe={"team": "none", "angry": True},
)


class Whatever:
    """Answers any question well, refuses one now and then, and fails where it is told to."""

    name, limits = "told", Limits()

    def answer(self, ask: Ask, call: Call) -> Reply:
        if "fail" in ask.text:
            raise NoAnswer(Reason.PROVIDER_ERROR)
        answers = {name: self._answer(name, one) for name, one in ask.questions.items()}
        return Reply(answers, "told-1", Usage(3, 1, 0.000001))

    def _answer(self, name: str, question: Any) -> RawAnswer:
        if "refuse" in name:
            return Refused()
        if isinstance(question, Choice):
            return Chosen(next(iter(question.options)), None, 0.9)
        if isinstance(question, Predicate):
            return Held(0.9)
        return Scored(0.0, None, 0.9)


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    few = {"max_questions": 2, "max_options": 3}  # what is drawn stays small
    with running(limits=few, told=Whatever()) as made:
        made.house.gateway._note(TEAM, TEAM.name)
        yield made


def test_every_route_is_described_and_no_other(server: Running) -> None:
    described = server.client.get("/openapi.json").json()

    assert described["openapi"] == "3.1.0"
    assert {path: next(iter(one)) for path, one in described["paths"].items()} == ROUTES
    for path, method in ROUTES.items():
        there = path.replace("{id}", "told")
        assert server.client.request(method, there, content=b"{}", headers=JSON).status_code != 404


def test_every_reference_leads_somewhere() -> None:
    said = json.dumps(document(house_of(told=Whatever())))
    described = json.loads(said)
    names = {part.partition('"')[0] for part in said.split('"#/components/schemas/')[1:]}

    assert names <= described["components"]["schemas"].keys()
    assert described["components"]["schemas"].keys() - names <= {"openai.OutputDetails"}


def test_the_limits_are_those_of_the_house() -> None:
    limits = {"max_questions": 7, "max_options": 9}
    schemas = document(house_of(limits=limits, told=Whatever()))["components"]["schemas"]

    assert schemas["openai.Request"]["properties"]["questions"]["maxItems"] == 7
    assert schemas["systemone.Request"]["properties"]["questions"]["maxProperties"] == 7
    assert schemas["openai.WireChoice"]["properties"]["choices"]["maxItems"] == 9
    assert ServerLimits().max_questions == 400


def test_a_key_is_asked_for_where_there_are_keys() -> None:
    class Keys:
        def any(self) -> bool:
            return True

    locked = document(house_of(keys=Keys(), told=Whatever()))["paths"]

    assert locked["/v1/decisions"]["post"]["security"] == [{"key": []}]
    assert "security" not in locked["/healthz"]["get"]


# --- asked by schemathesis ---------------------------------------------------------------


def operation(server: Running, path: str) -> Any:
    described = schemathesis.openapi.from_dict(server.client.get("/openapi.json").json())
    described.config.update(base_url=server.url)
    return described[path][ROUTES[path]]


def sayable(body: Any) -> bool:
    """What JSON Schema has no word for: unique by a field, calls before outputs, an empty item."""
    if not isinstance(body, dict):
        return True
    questions = body.get("questions")
    for one in questions if isinstance(questions, list) else []:
        for listed, field in (("choices", "value"), ("levels", "label")):
            given_ones = one.get(listed) if isinstance(one, dict) else None
            values = [
                json.dumps(each.get(field)) for each in given_ones or [] if isinstance(each, dict)
            ]
            if len(set(values)) < len(values):
                return False
    items = body.get("input")
    if isinstance(items, list) and len(items) == 1 and not said_by(items[0]):
        return False
    kinds = (
        [one.get("type") for one in items if isinstance(one, dict)]
        if isinstance(items, list)
        else []
    )
    return not any(str(kind).endswith("_output") for kind in kinds)


def said_by(item: Any) -> bool:
    """Whether a message that stands alone shows anything."""
    content = item.get("content", "") if isinstance(item, dict) else ""
    parts = content if isinstance(content, list) else [{"text": content}]
    said = [one.get(key) for one in parts for key in ("text", "refusal", "data") if key in one]
    return len(parts) > 1 or any(said)


def known(body: Any, model: str) -> Any:
    """The same of a model that is there."""
    if isinstance(body, dict) and isinstance(body.get("model"), str):
        return {**body, "model": model}
    return body


@pytest.mark.parametrize("path", ROUTES)
def test_what_may_be_asked_is_answered_as_the_document_says(server: Running, path: str) -> None:
    """Status, content type and body of every answer; nothing that is described is refused."""
    strategy = operation(server, path).as_strategy()

    @given(case=strategy.filter(lambda case: sayable(case.body)))
    @settings(
        derandomize=True, deadline=None, max_examples=20, suppress_health_check=list(HealthCheck)
    )
    def ask(case: Any) -> None:
        case.call_and_validate()

    ask()


@pytest.mark.parametrize("path", POSTS)
def test_what_may_not_be_asked_is_refused_as_the_document_says(server: Running, path: str) -> None:
    mode = schemathesis.GenerationMode.NEGATIVE
    strategy = operation(server, path).as_strategy(generation_mode=mode)

    @given(case=strategy)
    @settings(
        derandomize=True, deadline=None, max_examples=25, suppress_health_check=list(HealthCheck)
    )
    def ask(case: Any) -> None:
        case.call_and_validate()

    ask()


@pytest.mark.parametrize("path", ["/v1/decisions", "/v1/systemone"])
def test_whoever_is_asked_never_a_server_error(server: Running, path: str) -> None:
    """Points and providers that are there, by bodies that are valid but for the model's name."""
    strategy = operation(server, path).as_strategy()
    checks = [schemathesis.checks.not_a_server_error]
    statuses: set[int] = set()

    @given(case=strategy, model=st.sampled_from(["told", "point:TEAM", "told", "point:NONE"]))
    @settings(
        derandomize=True, deadline=None, max_examples=25, suppress_health_check=list(HealthCheck)
    )
    def ask(case: Any, model: str) -> None:
        case.body = known(case.body, model)
        statuses.add(case.call_and_validate(checks=checks).status_code)

    ask()
    assert 200 in statuses
