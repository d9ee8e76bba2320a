"""The inbox of one gateway: what it puts to persons, and what they said."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ..chance import new_id
from ..errors import DeclarationError, Fault
from ..questions import Choice, Question, Score
from ..state import clean
from .entries import LONGEST, Entry, Resolution, Tried, Why
from .fitting import fitting

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..cases import Case
    from ..errors import PointsmanError
    from ..journal.journal import Journal
    from ..journal.store import Store
    from ..points import DecisionPoint
    from ..settings import Settings
    from ..standing.waiters import Waiters
    from ..telemetry import Telemetry
    from ..wiring import Wiring

JOURNAL = "DECISION_JOURNAL"
NOTE = 4000  # characters that a person may write beside a resolution
BY = 200  # characters of a name
ID = re.compile(r"[0-9a-f]{32}")  # of a decision


class Inbox:
    """
    Files what waits for a person, and finds what was said.

    Args:
        journal: Keeps it.
        telemetry: Is told, without content.
        waiters: Wait for the journal's database.

    Attributes:
        waiters: As given.

    """

    def __init__(self, journal: Journal, telemetry: Telemetry, waiters: Waiters) -> None:
        self._journal = journal
        self._telemetry = telemetry
        self.waiters = waiters
        self._altered: set[str] = set()  # entries whose resolution cannot be read, told once

    def file(self, case: Case, why: Why) -> Resolution | None:
        """
        Write down that *case* waits for a person; give what was said to it already.

        On a thread that may wait.

        Raises:
            StoreDown: The database cannot be reached.
            SetupError: It cannot be used, or the key's file holds no key.
            OSError: The key can be neither read nor made.

        """
        return self._journal.store().inbox().file(self._entry(case, why))

    def said(self, id: str) -> Future[Resolution]:  # noqa: A002 - the decision's
        """Wait for what a person says; cancelling the future ends that."""
        return self._journal.watch.wait(id, self._looked)

    def _looked(self, ids: Sequence[str]) -> Mapping[str, Resolution]:
        """Look for what was said, on the thread of those who wait."""
        found, altered = self._journal.store().inbox().resolutions(ids)
        for id_ in altered:
            if id_ not in self._altered:
                self._altered.add(id_)
                self._telemetry.said("error", "decision.resolution_unread", {"id": id_})
        return found

    def resolution(self, id: str) -> Resolution | None:  # noqa: A002 - the decision's
        """
        Read what a person said; None: nothing yet, or nobody was asked.

        Raises:
            StoreDown: The database cannot be reached.
            SetupError: It cannot be used.

        """
        return self._journal.store().inbox().resolution(id) if is_id(id) else None

    def resolve(self, id: str, given: object, by: str, note: str) -> Resolution:  # noqa: A002
        """
        Give a person's word; of several the first one counts.

        Raises:
            DeclarationError: There is no such entry, or it is no answer to it.
            StoreDown: The database cannot be reached.
            SetupError: It cannot be used.

        """
        found = resolved(self._journal.store(), id, given, by, note)
        self._journal.watch.tell(id, found[1])
        if found[1].first:
            self.told("decision.resolved", found[0].point, id)
        return found[1]

    def told(self, event: str, point: str, id: str, **more: object) -> None:  # noqa: A002
        """Tell an *event*, without a word of what is asked or said."""
        self._telemetry.said("info", event, {"point": point, "id": id, **more})

    def lost(self, case: Case, down: PointsmanError) -> None:
        """Tell that an escalation could not be kept; the decision goes on without a person."""
        problem = getattr(down, "problem", None) or type(down).__name__
        said = {"point": case.point.name, "id": case.id, "problem": problem}
        self._telemetry.said("error", "decision.escalation_lost", said)

    def _entry(self, case: Case, why: Why) -> Entry:
        kept = self._journal.kept(case.ask, case.call.subject)
        full = self._journal.settings.content == "full"
        return Entry(
            id=case.id,
            at=time.time(),
            point=case.point.name,
            why=why,
            questions=asked(case, whole=full),
            language=case.language,
            subject=kept.subject,
            state=kept.state,
            structured=kept.structured,
            declared=case.ask is None,
        )


def is_id(given: object) -> bool:
    """Whether it is a decision's id at all; nothing else is asked of a database."""
    return isinstance(given, str) and ID.fullmatch(given) is not None


def resolved(
    store: Store,
    id: str,  # noqa: A002 - the decision's
    given: object,
    by: str = "",
    note: str = "",
) -> tuple[Entry, Resolution]:
    """
    Give a person's word to an entry; of several the first one counts.

    Returns:
        The entry, and what counts: `first` says whether it is this word.

    Raises:
        DeclarationError: There is no such entry, it is no answer to what was asked, or who said
            it, or the note, is too long or no text that can be written.
        StoreDown: The database cannot be reached.
        SetupError: It cannot be used.

    """
    from ..journal.rows import FeedbackRow  # nothing of a journal is loaded before there is one

    box = store.inbox()
    item = next(iter(box.items(ids=[id])), None) if is_id(id) else None
    if item is None:
        raise DeclarationError(f"no question to a person has the id {id!r}")
    value = fitting(item.entry.questions, given)
    _writable("who said it", by, BY)
    _writable("the note", note, NOTE)
    now = time.time()
    said = Resolution(value=value, by=by, note=note, at=now)
    counts = box.resolve(id, said, FeedbackRow(id=new_id(), of=id, at=now, label=value))
    if counts is None:
        raise DeclarationError(f"the question {id!r} was removed meanwhile")
    return item.entry, counts


def why_of(case: Case, kind: str) -> Why:
    """Say why a person is asked; of a provider's own word what is short enough to be one."""
    said: Mapping[str, Any] = case.escalated or {}
    if len(msgspec.json.encode(said)) > LONGEST:
        said = {}
    tried = tuple(Tried.of(one) for one in case.attempts)
    return Why(kind="escalated" if kind == "escalated" else "undecided", tried=tried, said=said)


def asked(case: Case, *, whole: bool) -> Mapping[str, Question]:
    """
    Give what is asked; a person sees the questions as the deciders did.

    Args:
        case: The case.
        whole: With what the call says of its answers, too; else only what the point declares: a
            description that a call brings may hold what the state holds.

    """
    ask = case.ask
    questions = case.point.spoken(case.language) if ask is None else ask.questions
    if whole:
        return dict(questions)
    spoken = () if case.point.adhoc else case.point.questions.values()
    declared = {pair for named in spoken for one in named.values() for pair in _texts(one).items()}
    return {name: _bare(one, declared) for name, one in questions.items()}


def homeless(settings: Settings, points: Iterable[DecisionPoint]) -> list[Fault]:
    """List those of *points* that are left to a person where their questions cannot wait."""
    left = [one.name for one in points if one.on_undecided == "human"]
    return [fault for name in left for fault in unkept(settings, name)]


def unkept(settings: Settings, point: str) -> list[Fault]:
    """Say that nothing keeps a question to a person about *point*; nothing where something does."""
    if settings.globals.journaled or not settings.globals.inbox:
        return []
    problem = f"{point} is left to a person where nobody decides, and nothing keeps the question"
    fix = "Set it, as in sqlite:///decisions.db, or DECISION_INBOX=off where your own code asks"
    return [Fault(JOURNAL, problem, fix)]


def inbox_of(wiring: Wiring, journal: Journal | None) -> Inbox | None:
    """Make the inbox of a gateway; None where nothing is kept, or where it is off."""
    if journal is None or not wiring.settings.globals.inbox:
        return None
    return Inbox(journal, wiring.telemetry, wiring.standing.waiters)


def _texts(question: Question) -> Mapping[str, str]:
    """Give what is said of each of its answers."""
    if isinstance(question, Choice):
        return question.options
    if isinstance(question, Score):
        return question.levels
    return {"true": question.true, "false": question.false}


def _bare(question: Question, declared: set[tuple[str, str]]) -> Question:
    """Leave out what is said of its answers, unless the point has declared it."""
    texts = {
        name: text if (name, text) in declared else "" for name, text in _texts(question).items()
    }
    if isinstance(question, Choice):
        return msgspec.structs.replace(question, options=texts)
    if isinstance(question, Score):
        return msgspec.structs.replace(question, levels=texts)
    return msgspec.structs.replace(question, **texts)


def _writable(what: str, text: object, most: int) -> None:
    if not isinstance(text, str) or len(text) > most or "\0" in text or clean(text) != text:
        raise DeclarationError(f"{what} is a text of at most {most:,} characters")
