"""A person's review, through LangGraph's own `interrupt`."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

from .. import needs
from .seeing import configured, thread

try:
    from langchain.agents.middleware.human_in_the_loop import ApproveDecision, RejectDecision
    from langgraph.types import interrupt
    from pydantic import Discriminator
except ImportError as missing:
    raise needs("langgraph", "LangChain and LangGraph") from missing

if TYPE_CHECKING:
    from ...errors import HumanNeeded
    from ...guarding import Guard
    from ...records import Record

# the framework takes a union where its types say a class
_REVIEWED = cast("type[Any]", Annotated[ApproveDecision | RejectDecision, Discriminator("type")])
_SCRATCHPAD = "__pregel_scratchpad"  # where LangGraph keeps a task's resume values
_MOST = 10_000  # calls whose review is remembered


def rejection(needed: HumanNeeded, shown: Mapping[str, Any]) -> str | None:
    """
    Interrupt the run until a person has decided, as `HumanInTheLoopMiddleware` does per call.

    They answer `Command(resume={"type": "approve"})` or `{"type": "reject", "message": …}`.

    Returns:
        None if they approve; else what they say, which may be nothing.

    """
    return _reviewed(needed.point, needed.id, shown)


def _reviewed(point: str, decision: str, shown: Mapping[str, Any]) -> str | None:
    value = {**shown, "point": point, "decision": decision}
    answer = interrupt(value, response_schema=_REVIEWED)
    return None if answer["type"] == "approve" else str(answer.get("message", ""))


class Reviews:
    """
    Which calls a person reviews: those that nobody decides, and those they have answered.

    A run that is resumed rules again. In a process that does not know what was ruled, without a
    journal, a provider may let pass by now what a person has rejected: their answer, which is in
    the checkpoint, comes first.

    Args:
        point: Who is asked for what a person might be needed for.

    """

    def __init__(self, point: str) -> None:
        self._point = point
        self._asked: OrderedDict[tuple[str | None, str], None] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def of(cls, guard: Guard) -> Reviews | None:
        """Make them for *guard*, if it ever leaves anything to a person."""
        return cls(guard.point.name) if guard.point.on_undecided == "human" else None

    def due(self, record: Record, since: float, call: str | None) -> bool:
        """
        Whether a person answers about *call* although nobody needs one by now.

        Args:
            record: What came of it now.
            since: When it was asked for, in seconds since the epoch.
            call: Its id, within the thread; None: the run cannot be resumed.

        """
        if call is None:
            return False
        anew = record.at >= since  # else it stands, and was not left to a person
        with self._lock:
            return (thread(), call) in self._asked or (anew and _answered())

    def note(self, call: str | None) -> None:
        """Remember that *call* is a person's to decide, however often its task is run again."""
        if call is None:
            return
        with self._lock:
            self._asked[thread(), call] = None
            if len(self._asked) > _MOST:
                self._asked.popitem(last=False)

    def rejection(self, id: str, call: str | None, shown: Mapping[str, Any]) -> str | None:  # noqa: A002 - the record's word
        """As the function, about *call* and the decision of that *id*."""
        self.note(call)
        return _reviewed(self._point, id, shown)


def now() -> float:
    """Give the time as records do."""
    return time.time()


def _answered() -> bool:
    """
    Whether this task is resumed with an answer, of whatever form: the review's schema judges it.

    An answer to the whole run becomes the task's, as `interrupt` makes it: LangGraph goes on
    showing one that is used up, and in a graph within a graph every later call would be asked.
    """
    pad = configured().get(_SCRATCHPAD)
    if pad is None:
        return False
    use_up = True
    if not pad.resume and (answer := pad.get_null_resume(use_up)) is not None:
        pad.resume.append(answer)
    return bool(pad.resume)
