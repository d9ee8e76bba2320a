"""A help desk's flow as it is today: an LLM says which team takes a message."""

import os
from typing import Literal

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")  # nothing here needs a network
os.environ.setdefault("OTEL_SDK_DISABLED", "true")

from crewai import BaseLLM
from crewai.flow.flow import Flow, listen, router, start

MESSAGES = ("my invoice doubled", "the router blinks red")


class Model(BaseLLM):
    """Stands for the model, as CrewAI's own tests do."""

    def call(self, messages: object, *_: object, **__: object) -> str:
        """Answer as the model does today."""
        return "billing" if "invoice" in str(messages) else "tech"


model = Model(model="offline")


class Desk(Flow):
    """One message, from its arrival to the team that takes it."""

    @start()
    def arrive(self) -> str:
        """Take the message in."""
        return str(self.state["message"])

    @router(arrive)
    def route(self, message: str) -> Literal["billing", "tech"]:
        """Ask the model which team takes it."""
        return model.call(f"Which team takes this, billing or tech? {message}")

    @listen("billing")
    def bill(self) -> str:
        """Let billing take it."""
        return "billing looks at the amounts"

    @listen("tech")
    def repair(self) -> str:
        """Let the technicians take it."""
        return "tech looks at the line"


for text in MESSAGES:
    print(f"{text}: {Desk(suppress_flow_events=True).kickoff(inputs={'message': text})}")
