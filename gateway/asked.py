"""Asking without a wrapped function: for a decision, or beside the host's own path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .cases import Case, Once
from .consulting import Consultation
from .current import path
from .deciding import run_async, run_sync
from .engine import decide
from .errors import Reason, SetupError
from .hearing import Hearing
from .inbox.inbox import JOURNAL, Inbox, why_of
from .making import Hosted, built_by, case_of, untouched_case
from .parameters import called
from .plugins import Call
from .points import DecisionPoint, OnUndecided
from .questions import Ask
from .records import Decision
from .returns import Read, Write
from .standing.confirming import PATIENCE, confirmed
from .state import State
from .wiring import Wiring

if TYPE_CHECKING:
    from .inbox.entries import Resolution

SAYS = "what a person said can be neither read nor written"


class Asked(Hearing):
    """A gateway that is asked, and consulted."""

    async def ask(  # noqa: PLR0913 - what a host may bring
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        *,
        current: Callable[[], Any] | None = None,
        read: Read | None = None,
        write: Write | None = None,
        subject: str | None = None,
        on_undecided: OnUndecided | None = None,
        within: Call | None = None,
        once: tuple[str, object] | None = None,
    ) -> Decision[Any]:
        """
        Decide without a wrapped function.

        Args:
            point: A declaration, or the name of one, or any name if *ask* is an `Ask`.
            ask: An `Ask`, or the state for the point's own questions.
            current: What the host runs today, without arguments.
            read: Current's value → outcome in the point's vocabulary; absent: by its type.
            write: Outcome → the decision's value, where it is not current that decides;
                absent: the outcome itself.
            subject: Who it is about; absent: the session's.
            on_undecided: What happens when nobody decides: `block` or `allow` for a point of
                one predicate, `human` for any: the question waits in the inbox.
            within: The call that this one is nested in.
            once: A call's id and its exact arguments: decided once for this subject, the
                decision stands however often the call is asked about again.

        Raises:
            NoAnswer: The provider is not believed, and the plan has no fallback.
            HumanNeeded: Nobody decides, and *on_undecided* is `human`; with an inbox, no person
                has either, in the time that the plan has for one.
            JournalDown: The question to a person cannot be kept.
            SetupError: Nothing decides when a provider cannot; *once* without a subject; a person
                is wanted, and nothing keeps the question.

        """
        given = (current, read, write, subject, within, once)
        wiring, case = self._hosted_case(point, ask, given, on_undecided)
        return await run_async(wiring, decide, case)

    def ask_sync(  # noqa: PLR0913 - what a host may bring
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        *,
        current: Callable[[], Any] | None = None,
        read: Read | None = None,
        write: Write | None = None,
        subject: str | None = None,
        on_undecided: OnUndecided | None = None,
        within: Call | None = None,
        once: tuple[str, object] | None = None,
    ) -> Decision[Any]:
        """As `ask`, on this thread."""
        given = (current, read, write, subject, within, once)
        wiring, case = self._hosted_case(point, ask, given, on_undecided)
        return run_sync(wiring, decide, case)

    def _hosted_case(
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        given: tuple[Any, ...],
        on_undecided: OnUndecided | None,
    ) -> tuple[Wiring, Case]:
        current, read, write, subject, within, once = given
        called(_named(point), current)
        host = Hosted(
            current=path(current),
            read=read,
            write=write,
            subject=subject,
            within=within,
            once=Once.of(once, _named(point)),
            carries=True,
        )
        return self._asked_case(point, ask, host, on_undecided)

    async def consult(
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        *,
        subject: str | None = None,
        once: tuple[str, object] | None = None,
    ) -> Decision[Any] | None:
        """
        Ask the planned provider beside the host's own path; None: current carries on.

        Args:
            point: A declaration, or the name of one, or any name if *ask* is an `Ask`.
            ask: An `Ask`, or the state for the point's own questions.
            subject: Who it is about; absent: the session's.
            once: As in `ask`; that current carries on stands too.

        Raises:
            NoAnswer: The provider is not believed, and the plan has no fallback.
            SetupError: *once* without a subject.

        """
        return await self.consultation(point, ask, subject=subject, once=once).ask()

    def consult_sync(
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        *,
        subject: str | None = None,
        once: tuple[str, object] | None = None,
    ) -> Decision[Any] | None:
        """As `consult`, on this thread."""
        return self.consultation(point, ask, subject=subject, once=once).ask_sync()

    def consultation(
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        *,
        subject: str | None = None,
        within: Call | None = None,
        once: tuple[str, object] | None = None,
    ) -> Consultation:
        """Prepare a consultation whose handle can be told what current decided."""
        once_for = Once.of(once, _named(point))
        host = Hosted(subject=subject, within=within, once=once_for, carries=True)
        wiring, _, asked = self._resolved(point, ask)
        host = host.at(asked, ask, wiring.telemetry, calculates=False)
        wired = self._touching(wiring, asked, host.once)
        if wired is None:
            return Consultation(wiring, untouched_case(wiring, asked, host))
        built = built_by(asked, ask, wiring, host)
        return Consultation(wiring, case_of(wiring, wired, asked, built, host))

    def resolution(self, decision: str) -> Resolution | None:
        """
        Read what a person said to a decision that was left to one; on a thread that may wait.

        Args:
            decision: Its id, as in its record or in `HumanNeeded`.

        Returns:
            What was said; None: nothing yet, or nobody was asked.

        Raises:
            JournalDown: The journal's database does not answer.
            SetupError: There is no inbox.

        """
        inbox = self._inbox()
        with confirmed("inbox", PATIENCE, SAYS):
            return inbox.resolution(decision)

    def resolve(self, decision: str, value: object, *, by: str = "", note: str = "") -> Resolution:
        """
        Give a person's word to a decision that was left to one; on a thread that may wait.

        The first word counts. Whoever waits for it gets it as the decision, and it is feedback: a
        label for that decision.

        Args:
            decision: Its id, as in its record or in `HumanNeeded`.
            value: In the point's vocabulary: an option, a truth, a number or a level; question →
                value for several questions.
            by: Who says so.
            note: Why, in the person's own words.

        Returns:
            What counts; its `first` says whether that is this word.

        Raises:
            DeclarationError: Nobody was asked about this decision, or it is no answer.
            JournalDown: The journal's database does not answer.
            SetupError: There is no inbox.

        """
        inbox = self._inbox()
        with confirmed("inbox", PATIENCE, SAYS):
            return inbox.resolve(decision, value, by, note)

    def leave(
        self,
        point: str | DecisionPoint,
        ask: Ask | State,
        *,
        decision: Decision[Any] | None = None,
        reasons: Sequence[str] = (),
        subject: str | None = None,
    ) -> str:
        """
        Leave a question to a person, whoever has decided meanwhile; on a thread that may wait.

        Nobody is asked, and nobody waits: what the person says is read with `resolution`.

        Args:
            point: A declaration, or the name of one, or any name if *ask* is an `Ask`.
            ask: An `Ask`, or the state for the point's own questions.
            decision: What was decided about it meanwhile; it is shown with the question.
            reasons: Why a person is asked: codes, and no content.
            subject: Who it is about; absent: the session's.

        Returns:
            The id that it waits under: the decision's, where there is one.

        Raises:
            JournalDown: The question cannot be kept.
            SetupError: There is no inbox.

        """
        inbox = self._inbox()
        given = (None, None, None, subject, None, None)
        _, case = self._hosted_case(point, ask, given, None)
        case.escalated = {"reasons": list(reasons)} if reasons else None
        if decision is not None:
            case.id = decision.record.id
            case.attempts = [one for one in decision.attempts if one.reason is not Reason.OK]
        with confirmed("inbox", PATIENCE, SAYS):
            inbox.file(case, why_of(case, "undecided"))
        inbox.told("decision.escalated", case.point.name, case.id, why="undecided")
        return case.id

    def _inbox(self) -> Inbox:
        inbox = self._wiring.keeper.inbox
        if inbox is None:
            off = not self.settings.globals.inbox
            where, fix = ("DECISION_INBOX", "Set it to on") if off else (JOURNAL, "Set it")
            raise SetupError.of(where, "no question waits for a person", fix)
        return inbox


def _named(point: str | DecisionPoint) -> str:
    return point if isinstance(point, str) else point.name
