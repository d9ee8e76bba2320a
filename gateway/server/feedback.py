"""What was found out about a decision, told from elsewhere."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from ..errors import DeclarationError, SetupError
from ..questions import Value
from .faults import Problem
from .visits import Response, Visit

if TYPE_CHECKING:
    from .house import House


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """
    The body of a request.

    Attributes:
        decision: Its id, as `x-request-id` gave it.
        right: Whether what was decided was right.
        label: What would have been right, in the point's vocabulary; question → value of several.

    """

    decision: str
    right: bool | None = None
    label: Value | dict[str, Value | None] | None = None


_decoder = msgspec.json.Decoder(Told)


class Feedback:
    """Takes what was found out about decisions of this journal, whoever made them."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def __call__(self, visit: Visit, body: bytes) -> Response:
        """
        Answer `POST /v1/feedback`.

        Raises:
            Problem: It says nothing, of no decision that is known, or nothing is kept.

        """
        told = _read(body)
        gateway = self._house.gateway
        try:
            known = await asyncio.to_thread(gateway.knows, told.decision)
            if not known:
                message = "the journal has no such decision"
                raise Problem(404, "decision_not_found", message, param="decision")
            gateway.feedback(told.decision, right=told.right, label=told.label)
        except DeclarationError as error:
            raise Problem(400, "invalid_request", str(error)) from None
        except SetupError:
            message = "this server keeps no journal, so that feedback would be lost"
            raise Problem(409, "no_journal", message) from None
        visit.decision = told.decision
        return Response(200, msgspec.json.encode({"object": "feedback", "decision": told.decision}))


def _read(body: bytes) -> Told:
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        how = "send an object with decision, and right (true or false) or label"
        raise Problem(400, "invalid_request", how) from None
