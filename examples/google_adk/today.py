"""A service desk on Google ADK, as it runs today: a language model sorts each message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.labs.classifiers import Choice, ClassifierNode, LlmClassifier
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.workflow import START, Workflow
from google.genai import types

MESSAGES = [
    "The invoice shows an amount twice as high; please refund me.",
    "My internet connection does not work: the router has a fault.",
    "Please refund the payment that I made twice.",
]
TEAM = Choice(
    instructions="Which team should handle this message?",
    criteria={
        "billing": "Invoices, amounts, payments and refunds",
        "technical": "Faults, outages, a connection that does not work",
    },
)


class Offline(BaseLlm):
    """Stands in for the hosted model: it sorts by a word, and answers with a sentence."""

    model: str = "offline"
    says: str = ""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - ADK's own signature
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer once."""
        text = self.says
        if not text:
            sure = 0.9 if "invoice" in str(llm_request.contents) else 0.1
            text = json.dumps({"route": {"billing": sure, "technical": 1 - sure}})
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


team = LlmClassifier(model=Offline())
pick = ClassifierNode(name="pick", classifier=team, question=TEAM)
billing = LlmAgent(name="billing", model=Offline(says="We look into your invoice."))
technical = LlmAgent(name="technical", model=Offline(says="We test your line."))
desk = Workflow(name="desk", edges=[(START, pick, {"billing": billing, "technical": technical})])
app = App(name="service_desk", root_agent=desk)


async def main() -> None:
    """Send each message in a session of its own."""
    runner = InMemoryRunner(app=app)
    for number, text in enumerate(MESSAGES):
        session = await runner.session_service.create_session(
            app_name=app.name, user_id="customer", session_id=f"conversation-{number}"
        )
        async for event in runner.run_async(
            user_id="customer", session_id=session.id, new_message=types.UserContent(text)
        ):
            if event.author in ("billing", "technical") and event.is_final_response():
                print(f"{event.author}: {event.content.parts[0].text}")


if __name__ == "__main__":
    asyncio.run(main())
