"""A new approval: where no decider is sure, the person behind the client is asked."""

import asyncio
import os

from mcp import Client, MCPError
from mcp.client.context import ClientRequestContext
from mcp.server.mcpserver import MCPServer
from mcp_types import ElicitRequestParams, ElicitResult

from pointsman import Gateway, Guard, Predicate
from pointsman.gateway.integrations.mcp import ToolGate

gateway = Gateway.from_env({"DECISION_INBOX": "off", **os.environ})  # the client asks the person
guard = Guard(
    gateway,
    "TOOL_APPROVAL",
    Predicate("Does this call do harm that cannot be undone?"),
    on_undecided="human",
)
server = MCPServer("files", log_level="ERROR", middleware=[ToolGate(guard, tools=["delete"])])


@server.tool()
def delete(path: str) -> str:
    """Delete a file."""
    return f"{path} is gone"


async def person(_: ClientRequestContext, form: ElicitRequestParams) -> ElicitResult:
    """Stand for the client's dialogue: this person lets temporary files go."""
    print(form.message)
    return ElicitResult(action="accept", content={"proceed": ".tmp" in form.message})


async def main() -> None:
    """Call the tool twice; no variable names a provider, so that the person decides."""
    async with Client(server, elicitation_callback=person) as client:
        for path in ("notes.tmp", "thesis.odt"):
            try:
                result = await client.call_tool("delete", {"path": path})
                print(f"-> {result.structured_content['result']}")
            except MCPError as stopped:
                print(f"-> {stopped}")


asyncio.run(main())
