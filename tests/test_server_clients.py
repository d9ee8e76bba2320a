"""Unmodified clients of others against a running server: every type, refusals, errors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import openai
import pytest
import typesafe_sdk
from openai import AsyncOpenAI, OpenAI

from pointsman import Chosen, Held, Reason, Refused, Reply, Scored, Usage, scripted
from pointsman.gateway.answers import RawAnswer
from served import ANGRY, TEAM, URGENCY, Running, running

TEAM_ANSWER = Chosen("tech", {"billing": 0.03, "tech": 0.95, "none": 0.02}, 0.93)
ANSWERS: dict[str, RawAnswer] = {
    "team": TEAM_ANSWER,
    "angry": Held(0.2),
    "urgency": Scored(1.7, (0.05, 0.2, 0.75), 0.55),
}
FAILURES = {
    "unsupported": openai.BadRequestError,
    "too_large": openai.APIStatusError,
    "rate_limited": openai.RateLimitError,
    "auth": openai.APIStatusError,
    "malformed": openai.APIStatusError,
    "transport": openai.InternalServerError,
    "timeout": openai.InternalServerError,
    "over_budget": openai.InternalServerError,
}


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    offered: dict[str, Any] = {name: scripted(Reason(name)) for name in FAILURES}
    offered["told"] = scripted(Reply(ANSWERS, "told-1", Usage(212, 3, 0.0000089)))
    offered["refuses"] = scripted(Reply({**ANSWERS, "angry": Refused()}))
    offered["boolean"] = scripted({"flag": Chosen("true", {"true": 0.9, "false": 0.1}, 0.8)})
    offered["unsure"] = scripted(Reason.LOW_CONFIDENCE)
    with running(**offered) as here:
        yield here


@pytest.fixture
def client(server: Running) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0) as made:
        yield made


def questions() -> Any:
    return [TEAM, ANGRY, URGENCY]


# --- openai-python -----------------------------------------------------------------------


def check(decision: Any) -> None:
    team, angry, urgency = decision.answers
    assert (team.type, team.name, team.choice, team.confidence) == ("choice", "team", "tech", 0.93)
    assert [(one.value, one.probability) for one in team.probabilities][1] == ("tech", 0.95)
    assert (angry.type, angry.probability) == ("predicate", 0.2)
    assert (urgency.type, urgency.score, urgency.probabilities[2].label) == ("score", 1.7, "high")
    assert (decision.model, decision.usage.total_tokens) == ("told-1", 215)
    assert len(decision._request_id) == 32


def test_openai_asks_every_type(client: OpenAI) -> None:
    check(client.decisions.create(model="told", input="dead", questions=questions()))


def test_openai_asks_every_type_without_blocking(server: Running) -> None:
    async def asked() -> Any:
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0) as made:
            return await made.decisions.create(model="told", input="dead", questions=questions())

    check(asyncio.run(asked()))


def test_openai_sends_messages_and_parts(client: OpenAI) -> None:
    items: Any = [
        {"role": "user", "content": [{"type": "input_text", "text": "my router"}]},
        {"role": "assistant", "content": "What about it?"},
        {"role": "user", "content": [{"type": "input_json", "data": {"state": "dead"}}]},
    ]
    check(
        client.decisions.create(
            model="told", input=items, questions=questions(), safety_identifier="ana"
        )
    )


def test_openai_gets_a_boolean_choice_as_a_boolean(client: OpenAI) -> None:
    """Protocols §3.1: `true` and `"true"` are different choices."""
    flag: Any = {
        "type": "choice",
        "name": "flag",
        "instructions": "Is it?",
        "choices": [{"value": True}, {"value": False}],
    }
    decision = client.decisions.create(model="boolean", input="x", questions=[flag])

    assert decision.answers[0].choice is True  # type: ignore[union-attr]


def test_openai_reads_refusals(client: OpenAI) -> None:
    one = client.decisions.create(model="refuses", input="x", questions=questions())
    every = client.decisions.create(model="unsure", input="x", questions=questions())

    assert [answer.type for answer in one.answers] == ["choice", "refusal", "score"]
    assert [answer.type for answer in every.answers] == ["refusal"] * 3
    assert every.answers[1].name == "angry"


@pytest.mark.parametrize("reason", FAILURES)
def test_openai_raises_what_the_status_means(client: OpenAI, reason: str) -> None:
    with pytest.raises(FAILURES[reason]) as caught:
        client.decisions.create(model=reason, input="x", questions=questions())

    assert caught.value.code == reason


def test_openai_raises_for_an_unknown_model(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.decisions.create(model="gpt-6-luna", input="x", questions=questions())

    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")
    assert caught.value.request_id is None


@pytest.mark.parametrize("reason", [Reason.MISMATCHED, Reason.PROVIDER_ERROR, Reason.TIMEOUT])
def test_openai_does_not_pay_twice_for_what_stays_wrong(reason: Reason) -> None:
    """Its own two retries are told off by `x-should-retry` where they could only cost more."""
    made = scripted(reason)
    with (
        running(told=made) as here,
        OpenAI(base_url=f"{here.url}/v1", api_key="any") as client,
        pytest.raises(openai.APIStatusError),
    ):
        client.decisions.create(model="told", input="x", questions=questions())

    assert len(made.asked) == 1


def test_openai_lists_the_models(client: OpenAI) -> None:
    listed = {model.id: model.owned_by for model in client.models.list()}

    assert listed["told"] == "told"
    assert listed["point:GUARDRAIL_PINJ"] == "pointsman"
    assert client.models.retrieve("point:GUARDRAIL_PINJ").owned_by == "pointsman"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-6-luna")


# --- typesafe-sdk ------------------------------------------------------------------------

RAISED = {
    "unsupported": typesafe_sdk.TypeSafeBadRequestError,
    "rate_limited": typesafe_sdk.TypeSafeRateLimitError,
    "auth": typesafe_sdk.TypeSafeAPIError,
    "transport": typesafe_sdk.TypeSafeInternalServerError,
    "timeout": typesafe_sdk.TypeSafeInternalServerError,
    "refuses": typesafe_sdk.TypeSafeUnprocessableEntityError,
    "unsure": typesafe_sdk.TypeSafeUnprocessableEntityError,
    "unknown": typesafe_sdk.TypeSafeNotFoundError,
}
ONCE = typesafe_sdk.RetryPolicy(max_retries=0)
MAPPED: dict[str, typesafe_sdk.Question] = {
    "team": typesafe_sdk.Choice(
        instructions="Which team?", criteria={"billing": "Amounts", "tech": None, "none": None}
    ),
    "angry": typesafe_sdk.Noul(
        instructions="Angry?", criteria={"true": "Insults", "false": "Polite"}
    ),
    "urgency": typesafe_sdk.Score(instructions="How urgent?", criteria=["low", "medium", "high"]),
}


@pytest.fixture
def typed(server: Running) -> Iterator[typesafe_sdk.TypeSafeClient]:
    made = typesafe_sdk.TypeSafeClient(api_key="any", base_url=server.url, retry=ONCE)
    yield made
    made.close()


def check_typed(response: typesafe_sdk.SystemOneResponse) -> None:
    assert response.nouls["angry"].noul == 0.2
    assert response.choices["team"].choice == "tech"
    assert response.choices["team"].probabilities["tech"] == 0.95
    assert response.scores["urgency"].score == 1.7
    assert response.scores["urgency"].legend == {0: "low", 1: "medium", 2: "high"}
    assert (response.model, response.usage.input_tokens) == ("told-1", 212)


def test_typesafe_asks_every_type(typed: typesafe_sdk.TypeSafeClient) -> None:
    check_typed(typed.system_one("my router is dead", MAPPED, model="told"))


def test_typesafe_asks_every_type_without_blocking(server: Running) -> None:
    async def asked() -> typesafe_sdk.SystemOneResponse:
        made = typesafe_sdk.AsyncTypeSafeClient(api_key="any", base_url=server.url, retry=ONCE)
        try:
            return await made.system_one({"message": "dead"}, MAPPED, model="told")
        finally:
            await made.aclose()

    check_typed(asyncio.run(asked()))


def test_typesafe_sends_what_is_long(typed: typesafe_sdk.TypeSafeClient) -> None:
    check_typed(typed.system_one({"message": "dead " * 1000}, MAPPED, model="told"))


@pytest.mark.parametrize("model", RAISED)
def test_typesafe_raises_what_the_status_means(
    typed: typesafe_sdk.TypeSafeClient, model: str
) -> None:
    with pytest.raises(RAISED[model]) as caught:
        typed.system_one("x", MAPPED, model=model)

    error = caught.value
    assert isinstance(error, typesafe_sdk.TypeSafeAPIError)
    assert isinstance(error.body["detail"]["message"], str)
    assert (error.request_id is None) is (model == "unknown")


def test_typesafe_does_not_pay_twice_for_an_answer_that_is_not_believed() -> None:
    """It looks at nothing but the status, and sends 5xx again: what was billed is none."""
    made = scripted(Reason.MISMATCHED)
    with running(told=made) as here:
        client = typesafe_sdk.TypeSafeClient(api_key="any", base_url=here.url)
        with pytest.raises(typesafe_sdk.TypeSafeAPIError):
            client.system_one("x", MAPPED, model="told")
        client.close()

    assert len(made.asked) == 1


def test_typesafe_lists_the_models(typed: typesafe_sdk.TypeSafeClient) -> None:
    names = [one.name for one in typed.models.list().models]

    assert {"told", "point:GUARDRAIL_PINJ"} <= set(names)
