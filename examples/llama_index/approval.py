"""A workflow that asks a person, is written down, and goes on in another run with the answer."""

from __future__ import annotations

import asyncio
import json
import os

from workflows import Context, Workflow, step
from workflows.events import HumanResponseEvent, StartEvent, StopEvent

from pointsman import Gateway, Guard, Predicate, Reason, scripted
from pointsman.gateway.integrations.llama_index import PersonNeeded, approved

gateway = Gateway.from_env({"DECISION_INBOX": "off", **os.environ})  # the workflow asks the person
RISKY = Predicate("Is this refund against the rules?")
risky = Guard(gateway, "REFUND", RISKY, on_undecided="human")


class Refund(Workflow):
    """Pays a refund that a guard, or a person, approves."""

    @step
    async def pay(self, ctx: Context, ev: StartEvent) -> StopEvent:
        """Pay, or say no."""
        call = {"tool": "refund", "amount": ev.amount}
        if not await approved(ctx, risky, call, call=ev.call_id):
            return StopEvent(result="not paid")
        return StopEvent(result=f"paid {ev.amount}")


async def asked() -> tuple[str, PersonNeeded]:
    """Run until a person is asked, and write the workflow down."""
    handler = Refund().run(call_id="call-1", amount=250)
    async for event in handler.stream_events():
        if isinstance(event, PersonNeeded):
            written = json.dumps(handler.ctx.to_dict())
            await handler.cancel_run()
            return written, event
    raise AssertionError("nobody was asked")


async def answered(written: str, event: PersonNeeded, response: str) -> str:
    """Go on from what was written, with what the person said."""
    workflow = Refund()
    handler = workflow.run(ctx=Context.from_dict(workflow, json.loads(written)))
    handler.ctx.send_event(HumanResponseEvent(waiter=event.waiter, response=response))
    return str(await handler)


async def main() -> None:
    """Reject a refund; by then a provider would allow it."""
    async with gateway.session("conversation-1"):
        with gateway.override({"REFUND": scripted(Reason.TIMEOUT)}):
            written, event = await asked()
        print(event.prefix)
        nothing = scripted({"decision": False})  # is against the rules any more
        with gateway.override({"REFUND": nothing}):
            print(await answered(written, event, "no"))


if __name__ == "__main__":
    asyncio.run(main())
