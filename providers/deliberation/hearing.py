"""What is heard from one member in its turn, and how the turn ends by that."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, cast

import msgspec

from ...gateway.answers import Usage
from ...gateway.errors import NoAnswer, Reason, SetupError
from ...gateway.plugins import Call, Voices, Written
from ...gateway.records import Attempt
from .drafts import handed, handed_ask, plain_of, read
from .scopes import Scope
from .turns import ENDED, Turn, Wanted

NEARLY = 0.05  # seconds before a deadline from which on the gateway asks nobody any more
UNASKED = "unasked"
ANSWERED = ("ok", "abstained", "invalid")


class Heard(msgspec.Struct):
    """
    What came from a member so far; filled in while it speaks.

    Attributes:
        attempt: How typed questions were answered.
        written: What was written, whole.
        part: What was written up to now.
        reason: Why there is neither.
        usage: What it used, where that is known.
        model: The model, as served.
        raised: The type of what was raised and may not be.
        overdue: Its time was up before it ended.
        at: When it answered, on the loop's clock.

    """

    attempt: Attempt | None = None
    written: Written | None = None
    part: Written | None = None
    reason: Reason = Reason.TIMEOUT
    usage: Usage | None = None
    model: str = ""
    raised: str = ""
    overdue: bool = False
    at: float | None = None

    @property
    def answered(self) -> bool:
        """Whether it came to an end by itself, with something said."""
        said = self.attempt is not None and ENDED.get(self.reason, "failed") in ANSWERED
        return said or self.written is not None

    def writes(self, written: Written) -> None:
        """Take what is written up to now; it replaces what was."""
        self.part = written
        self.usage, self.model = written.usage or self.usage, written.model or self.model


async def listen(voices: Voices, wanted: Wanted, call: Call, heard: Heard) -> None:
    """
    Ask, and fill in *heard*; whatever else is raised on the way ends this turn alone.

    Raises:
        SetupError: The operator must act; no turn hides that.
        KeyboardInterrupt, SystemExit: Somebody ends the program.

    """
    try:
        await _asked(voices, wanted, call, heard)
    except NoAnswer as fault:
        heard.reason = fault.reason
        if fault.reply is not None:
            heard.usage, heard.model = fault.reply.usage or heard.usage, fault.reply.model
    except SetupError:
        raise
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        heard.reason, heard.raised = Reason.PROVIDER_ERROR, "CancelledError"  # of its own
    except BaseException as bug:  # one member's fault never ends the turns of others
        if _ends(bug):
            raise
        heard.reason, heard.raised = Reason.PROVIDER_ERROR, type(bug).__name__


def _ends(bug: BaseException) -> bool:
    """Whether somebody ends the program, be it in one of several tasks."""
    if isinstance(bug, BaseExceptionGroup):
        several: Sequence[BaseException] = cast("Any", bug).exceptions
        return any(map(_ends, several))
    return isinstance(bug, KeyboardInterrupt | SystemExit)


async def _asked(voices: Voices, wanted: Wanted, call: Call, heard: Heard) -> None:
    name = wanted.member.provider
    if wanted.ask is not None:
        attempt = await voices.hear(name, handed_ask(wanted.ask), within=call)
        heard.at = asyncio.get_running_loop().time()
        heard.attempt, heard.reason = attempt, attempt.reason
        heard.usage, heard.model = attempt.usage, attempt.model
        return
    assert wanted.draft is not None
    draft = handed(wanted.draft)
    written = await voices.write(name, draft, within=call, partial=heard.writes)
    heard.at = asyncio.get_running_loop().time()
    heard.written, heard.reason = written, Reason.OK
    heard.usage, heard.model = written.usage or heard.usage, written.model or heard.model


def judged(wanted: Wanted, scope: Scope, blank: Turn, heard: Heard) -> Turn:
    """Say how a turn ended by what was *heard* in it, and keep of that what counts."""
    turn = msgspec.structs.replace(blank, usage=heard.usage, model=heard.model)
    nearly = scope.left is not None and scope.left < NEARLY
    if heard.overdue and heard.answered:
        return ended(turn, Reason.TIMEOUT, _limit(scope), ending="late")
    if heard.overdue or (nearly and heard.reason in (Reason.TIMEOUT, Reason.SKIPPED)):
        return _cut(wanted, ended(turn, Reason.TIMEOUT, _limit(scope)), heard.part)
    if heard.reason is Reason.TIMEOUT:
        return _cut(wanted, ended(turn, Reason.TIMEOUT, "limit:provider"), heard.part)
    if heard.attempt is not None:
        told = ended(turn, heard.reason)
        return msgspec.structs.replace(told, answers=heard.attempt.answers)
    if heard.written is None:
        return ended(turn, heard.reason, *([f"raised:{heard.raised}"] if heard.raised else ()))
    return _read(wanted.form, turn, heard.written)


def ended(turn: Turn, reason: Reason, *notes: str, ending: Any = None) -> Turn:  # noqa: ANN401
    """Say how *turn* ended; absent: as the reason has it."""
    how = ending or ENDED.get(reason, "failed")
    return msgspec.structs.replace(turn, ending=how, reason=reason, notes=notes)


def _limit(scope: Scope) -> str:
    return f"limit:{scope.limit}"


def _read(form: type[msgspec.Struct] | None, turn: Turn, written: Written) -> Turn:
    assert form is not None
    try:
        said = plain_of(read(written.text, form))
    except NoAnswer as fault:
        return ended(turn, fault.reason)
    return msgspec.structs.replace(ended(turn, Reason.OK), said=said)


def _cut(wanted: Wanted, turn: Turn, part: Written | None) -> Turn:
    """Use what was there when the time was up, if it fits; else it is nothing."""
    if part is None:
        return turn
    found = _read(wanted.partial_form or wanted.form, turn, part)
    if found.said is None:
        return turn
    return msgspec.structs.replace(turn, ending="partial", said=found.said)


async def let_go(strays: Collection[asyncio.Task[None]], seconds: float) -> None:
    """Cancel tasks that did not stop once more, and wait for them a little."""
    for task in strays:
        task.cancel()
    if strays:
        await asyncio.wait(strays, timeout=seconds)
