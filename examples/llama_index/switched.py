"""The help centre of today.py, switched by a variable alone: DECISION_SOURCE_PROVIDER=local."""

from __future__ import annotations

import asyncio

from llama_index.core import MockEmbedding, Settings
from llama_index.core.llms import CompletionResponse, MockLLM
from llama_index.core.query_engine import CustomQueryEngine, RouterQueryEngine
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool

from pointsman import Gateway
from pointsman.gateway.integrations.llama_index import PointsmanSelector

Settings.llm, Settings.embed_model = MockLLM(), MockEmbedding(embed_dim=8)

QUERIES = [
    "Why does my invoice show an amount twice as high?",
    "My internet connection does not work: the router has a fault.",
    "How is a payment refunded that I made twice?",
]


class Sorter(MockLLM):
    """Stands in for the hosted model that sorts: it knows one word."""

    def complete(self, prompt: str, **_: object) -> CompletionResponse:
        """Choose the first source for invoices, else the second."""
        query = prompt.rpartition("question: '")[2]
        choice = 1 if "invoice" in query else 2
        return CompletionResponse(text=f'[{{"choice": {choice}, "reason": "the word"}}]')


class Pages(CustomQueryEngine):
    """Stands in for an index: it says which one was asked."""

    name: str

    def custom_query(self, query_str: str) -> str:
        """Say who answers."""
        return f"{self.name}: {query_str}"


def source(name: str, description: str) -> QueryEngineTool:
    """Make a source that the router may choose."""
    return QueryEngineTool.from_defaults(Pages(name=name), name=name, description=description)


tools = [
    source("billing", "Invoices, amounts, payments and refunds"),
    source("technical", "Faults, outages, a connection that does not work"),
]
gateway = Gateway.from_env()
today = LLMSingleSelector.from_defaults(llm=Sorter())
selector = PointsmanSelector(gateway, "SOURCE", current=today)
router = RouterQueryEngine(selector=selector, query_engine_tools=tools)


async def main() -> None:
    """Ask each question; the last one in the async form."""
    for query in QUERIES[:-1]:
        print(router.query(query))
    print(await router.aquery(QUERIES[-1]))


if __name__ == "__main__":
    asyncio.run(main())
