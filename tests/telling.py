"""Points that share a call, and a provider in each of the three shapes that answers by name."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Coroutine, Generator, Mapping
from typing import Any, ParamSpec

from faulty import Does, Visit, replies
from pointsman import (
    Ask,
    Call,
    Choice,
    DecisionPoint,
    Gateway,
    Held,
    HttpRequest,
    HttpResponse,
    Limits,
    Offer,
    Predicate,
    Refused,
    Reply,
    Usage,
    hookimpl,
)
from pointsman.gateway.answers import Chosen, RawAnswer
from pointsman.gateway.frames import Frame
from pointsman.gateway.questions import Question

P = ParamSpec("P")

INPUT = Frame("input", words="text")
ROUTING = Frame("routing", words="message", merges=("transaction",))
STATE = {"text": "my router is dead", "history": ["hello"]}


def rail(name: str, **said: Any) -> DecisionPoint:
    """A point of one predicate over the user's text."""
    given = {"share": INPUT, "reads": ("text", "history"), "words": "text", "safe": False, **said}
    return DecisionPoint(name=name, questions={"en": {"bad": Predicate(f"Is it {name}?")}}, **given)


def router(name: str, **said: Any) -> DecisionPoint:
    """A point of one choice over the message."""
    question = Choice("Where to?", {"billing": "Amounts", "tech": "Faults"})
    given = {"share": ROUTING, "reads": ("message", "transaction"), "words": "message", **said}
    return DecisionPoint(name=name, questions={"en": {"to": question}}, safe="tech", **given)


RAILS = [rail(name) for name in ("PINJ", "COER", "TOX", "OOS", "DLEX_IN", "CSI")]

Says = Callable[[str, Question], RawAnswer]


def agrees(name: str, question: Question) -> RawAnswer:
    """Say the first option, or yes; refuse to speak of what is called REFUSED."""
    if name.startswith("REFUSED"):
        return Refused()
    if isinstance(question, Choice):
        return Chosen(next(iter(question.options)), None, 0.9)
    return Held(0.9)


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test on a loop of its own."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


class Teller:
    """Answers where it stands, and remembers what it was asked."""

    name = "teller"

    def __init__(self, says: Says = agrees, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.says = says
        self.asked: list[Ask] = []
        self.calls: list[Call] = []

    def told(self, ask: Ask, call: Call) -> Reply:
        """Note the ask, and answer all its questions."""
        self.asked.append(ask)
        self.calls.append(call)
        answers = {name: self.says(name, one) for name, one in ask.questions.items()}
        return Reply(answers, "teller-1", Usage(1000, 11, 0.01), "request-1")

    def answer(self, ask: Ask, call: Call) -> Any:
        """Answer."""
        return self.told(ask, call)


class AsyncTeller(Teller):
    """The async shape: answers once it is let go."""

    def __init__(self, says: Says = agrees, limits: Limits | None = None) -> None:
        super().__init__(says, limits)
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()
        self.cancelled = 0

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """Answer, later."""
        reply = self.told(ask, call)
        self.begun.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return reply


class HttpTeller(Teller):
    """The HTTP shape: asks the server, which answers anything."""

    timeout = 20.0
    attempts = 1

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def exchange(self, ask: Ask, call: Call) -> Generator[HttpRequest, HttpResponse, Reply]:
        """Ask by one request."""
        response = yield HttpRequest("GET", self._url)
        assert response.status == 200
        return self.told(ask, call)


class Offers:
    """A plug-in of one provider."""

    def __init__(self, provider: Teller) -> None:
        self._provider = provider

    @hookimpl
    def pointsman_providers(self) -> list[Offer]:
        """Offer it."""
        return [Offer("teller", lambda: lambda _: self._provider)]


def telling(provider: Teller, environ: Mapping[str, str] | None = None, **given: Any) -> Gateway:
    """Make a gateway whose points all ask *provider*."""
    said = {"DECISION_LOG": "off", "DECISION_PROVIDER": "teller", **(environ or {})}
    return Gateway.from_env(said, plugins=[Offers(provider)], **given)


# --- a decision API that reads what it is asked -------------------------------------------


def decides(cost: str = "0.0000089", tokens: int = 212) -> Does:
    """Answer every predicate with 0.9, and every choice with its first option."""

    async def does(visit: Visit) -> bool:
        asked = json.loads(visit.seen.body)["questions"]
        body = {
            "answers": [_answered(one) for one in asked],
            "model": "typesafe-ai/jev-1.13.0",
            "usage": {"input_tokens": tokens, "output_tokens": 0},
            "provider_metadata": {"gateway": {"cost": cost}},
        }
        return await replies(body)(visit)

    return does


def _answered(question: Mapping[str, Any]) -> dict[str, Any]:
    said = {"type": question["type"], "name": question["name"]}
    if question["type"] == "choice":
        return {**said, "choice": question["choices"][0]["value"], "confidence": 0.9}
    return {**said, "probability": 0.9}
