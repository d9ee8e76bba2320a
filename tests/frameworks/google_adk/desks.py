"""A service desk on ADK for these tests: its own test double for the model, and how it is run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.events import Event
from google.adk.labs.classifiers import (
    Answer,
    BaseClassifier,
    BinaryAnswer,
    ChoiceAnswer,
    ClassifierInput,
    ClassifierResponse,
    Question,
    ScoreAnswer,
)
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner, Runner
from google.genai import types

from pointsman import Ask, Call, Reply, scripted

USER, SESSION = "customer", "conversation-7"
CONFIRMATION = "adk_request_confirmation"
YES, NO = True, False  # answers to a predicate


class Llm(BaseLlm):
    """ADK's own kind of double: says its lines in order, the last one again; counts its calls."""

    model: str = "double"
    lines: list[str | types.FunctionCall] = []  # noqa: RUF012 - pydantic copies it
    calls: int = 0

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - ADK's own signature
    ) -> AsyncGenerator[LlmResponse, None]:
        line = self.lines[min(self.calls, len(self.lines) - 1)]
        self.calls += 1
        if not isinstance(line, str):
            yield responded(types.Part(function_call=line.model_copy()))
            return
        if stream:
            for word in line.split():
                yield responded(types.Part(text=f"{word} "), partial=True)
        yield responded(types.Part(text=line), partial=False if stream else None)


def responded(*parts: types.Part, partial: bool | None = None) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=list(parts)), partial=partial)


class Words(BaseClassifier):
    """The classifier of today: looks for a word, and counts its calls."""

    model: str = "words"
    calls: int = 0
    given: ClassifierResponse | None = None

    async def classify(
        self,
        *,
        input: ClassifierInput,  # noqa: A002 - ADK's name
        questions: Mapping[str, Question],
    ) -> ClassifierResponse:
        self.calls += 1
        answers = {name: self._answer(str(input), one) for name, one in questions.items()}
        self.given = ClassifierResponse(answers=answers, model_version="words-1")
        return self.given

    def _answer(self, text: str, question: Question) -> Answer:
        if question.type == "binary":
            return BinaryAnswer(probability=0.75)
        if question.type == "score":
            return ScoreAnswer(score=0.0, probabilities={0: 1.0})
        label = "billing" if "invoice" in text else "technical"
        return ChoiceAnswer(choice=label, probabilities={label: 1.0})


def call(name: str, /, *, its_id: str | None = None, **args: Any) -> types.FunctionCall:
    return types.FunctionCall(name=name, args=args, id=its_id)


def agent(llm: Llm, **given: Any) -> LlmAgent:
    return LlmAgent(**{"name": "desk", "model": llm, **given})


def confirming(event_call: types.FunctionCall, *, confirmed: bool) -> types.Content:
    """What a person says to ADK's request for confirmation."""
    said = types.FunctionResponse(
        id=event_call.id, name=event_call.name, response={"confirmed": confirmed}
    )
    return types.Content(role="user", parts=[types.Part(function_response=said)])


def asks(events: list[Event]) -> list[types.FunctionCall]:
    """The requests for confirmation among *events*."""
    calls = [one for event in events for one in event.get_function_calls()]
    return [one for one in calls if one.name == CONFIRMATION]


def results(events: list[Event]) -> list[Any]:
    """What tools gave."""
    return [one.response for event in events for one in event.get_function_responses()]


def texts(events: list[Event]) -> list[str]:
    """Every text that reached whoever reads the run, in order, chunks too."""
    contents = [event.content for event in events if event.content is not None]
    parts = [part for content in contents for part in content.parts or []]
    return [part.text for part in parts if part.text]


class Desk:
    """An app with a session; what is said to it runs to the end."""

    def __init__(self, root: Any, *, plugins: Any = (), service: Any = None) -> None:
        app = App(name="desk", root_agent=root, plugins=list(plugins))
        if service is None:
            self.runner: Runner = InMemoryRunner(app=app)
        else:
            self.runner = Runner(app=app, session_service=service)

    async def begun(self, session: str = SESSION) -> Desk:
        await self.runner.session_service.create_session(
            app_name="desk", user_id=USER, session_id=session
        )
        return self

    async def said(
        self, what: str | types.Content, *, session: str = SESSION, stream: bool = False
    ) -> list[Event]:
        content = types.UserContent(what) if isinstance(what, str) else what
        mode = StreamingMode.SSE if stream else StreamingMode.NONE
        run = self.runner.run_async(
            user_id=USER,
            session_id=session,
            new_message=content,
            run_config=RunConfig(streaming_mode=mode),
        )
        return [event async for event in run]

    async def session(self, session: str = SESSION) -> Any:
        return await self.runner.session_service.get_session(
            app_name="desk", user_id=USER, session_id=session
        )


class Watching:
    """A provider that says what it was told, and remembers who it was asked about."""

    name = "watching"

    def __init__(self, *says: Any) -> None:
        self.says = scripted(*says)
        self.subjects: list[str | None] = []
        self.limits, self.model = self.says.limits, self.says.model

    def answer(self, ask: Ask, call: Call) -> Reply:
        self.subjects.append(call.subject)
        return self.says.answer(ask, call)
